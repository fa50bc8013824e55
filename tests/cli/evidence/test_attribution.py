"""Vacuous and masked commands through ``flow`` itself: they never achieve a goal."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from flow.adapters.contracts import formats
from tests.support import ROOT, GitRepo, Ran, scene
from tests.support.scene import create, flow, meet, run_dir, start, status
from tests.support.start import SKIPS_FAIL
from tests.support.stops import settings, stop

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

PY = sys.executable
PYTEST = f"{PY} -B -m pytest -p no:cacheprovider"
SKIPPED = (
    "import unittest\n\n\nclass T(unittest.TestCase):\n"
    '    @unittest.skip("later")\n    def test_a(self):\n        self.fail()\n'
)
PASSES = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        pass\n"

VACUOUS = {
    **({} if SKIPS_FAIL else {"unittest, all skipped": f"{PY} -B -m unittest src/skipped.py"}),
    "pytest, all skipped": f"{PY} -B -m pytest -q -p no:cacheprovider src/skipped.py",
    "pytest, none": f"{PY} -B -m pytest -p no:cacheprovider -k unnamed src/passes.py || [ $? = 5 ]",
    "pytest, listed only": f"{PY} -B -m pytest --co -q -p no:cacheprovider src/passes.py",
    "a JUnit report": "cp src/report src/new.xml",
    "pytest, not run": f"{PYTEST} src/unrun.py",
    "pytest, expected to fail": f"{PYTEST} -q src/expected.py",
    "unittest, expected to fail": f"{PY} -B -m unittest src/expected.py",
    "pytest, quiet count": f"{PYTEST} -qq -o console_output_style=count src/skipped.py",
    "pytest, quiet classic": f"{PYTEST} -qq -o console_output_style=classic src/skipped.py",
    "pytest, no terminal": f"{PYTEST} -p no:terminal src/passes.py",
    "pytest, --setup-plan": f"{PYTEST} --setup-plan -q src/passes.py",
    "to a file outside": f"{PYTEST} -q src/passes.py > ../log",
    "to nowhere": f"{PY} -B -m unittest src/passes.py 2> /dev/null",
    "under a condition": f'if [ -n "$NO_SUCH" ]; then {PYTEST} src/passes.py; fi',
    "never called": f"check() {{ {PYTEST} src/passes.py; }}; test -d src",
    "gradle, and no tests": "bash src/gradlew test",
    "make, and a folder called like its target": "make -C src test",
    "one of two": f"{PYTEST} --version && {PY} -B -m unittest --help",
}
"""Options with which a runner runs nothing: ``tests/adapters/attribution/runner_spellings.py``."""
MASKED = {
    "or true": "grep -q please src/greet.txt || true",
    "then true": "grep -q please src/greet.txt; true",
    "then exit 0": "grep -q please src/greet.txt; exit 0",
    "in the background": "grep -q please src/greet.txt &",
    "in a condition": "if grep -q please src/greet.txt; then :; fi",
    "another shell": "bash -c 'grep -q please src/greet.txt | cat'",
    "set +e": "set -e; set +e; grep -q please src/greet.txt; echo done",
    "a runner's status": f"{PY} -B -m pytest src/passes.py; ls src",
    "the first file alone": "bash -n src/hide.sh src/broken.sh",
    "what failed before alone": f"{PY} -B -m pytest -q --lf src/passes.py",
    "a function that fails, and goes on": "die() { return 1; }; test -f src/x || die; test -d src",
    "a check before a runner": f"grep -q absent src/greet.txt; {PY} -B -m pytest src/passes.py",
    "without asserts": f"{PY} -O -c 'assert 1 == 2'",
}


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    start(repo)
    repo.write("src/skipped.py", SKIPPED)
    repo.write("src/passes.py", PASSES)
    repo.write(
        "src/expected.py",
        PASSES.replace("    def", "    @unittest.expectedFailure\n    def").replace(
            "pass", "self.fail()"
        ),
    )
    repo.write("src/unrun.py", "import pytest\n@pytest.mark.xfail(run=False)\ndef test_a(): pass\n")
    repo.write("src/fails.py", PASSES.replace("pass", "self.fail()"))
    repo.write("src/hide.sh", f"{PYTEST} -q src/fails.py\necho done\n")
    repo.write("src/broken.sh", "if\n")
    repo.write("src/report", '<testsuite tests="1"><testcase><skipped/></testcase></testsuite>\n')
    repo.write("src/gradlew", "echo '> Task :test NO-SOURCE'\n")
    repo.write("src/Makefile", "test:\n\tfalse\n")
    repo.write("src/test/data", "the folder that make takes for its target\n")
    repo.commit("tests")
    meet(repo)
    return repo


def sidecar(repo: GitRepo, criterion: str = "ac1") -> dict[str, Any]:
    path = run_dir(repo) / "evidence" / f"evidence-{criterion}-eval-1.evidence.yaml"
    body: dict[str, Any] = formats.parse_yaml(path.read_bytes(), file="x")["evidence"]
    return body


def create_all(repo: GitRepo, commands: Iterable[str]) -> Ran:
    """A goal with a criterion for each command, its numbers from 1 on."""
    rows = (f"AC{number}: x :: {command}" for number, command in enumerate(commands, 1))
    words = ("goal", "create", "greet", "--outcome", "polite", "--allow", "src/**", "--json")
    done = flow(repo, *words, *(word for row in rows for word in ("--criterion", row)))
    assert done.status == 0, done
    return done


def test_vacuous_runs_never_achieve(work: GitRepo) -> None:
    create_all(work, VACUOUS.values())
    done = flow(work, "goal", "evaluate", "greet", "--json")
    assert done.status == 1
    assert len(done.json["criterion_results"]) == len(VACUOUS)
    for number, (name, row) in enumerate(
        zip(VACUOUS, done.json["criterion_results"], strict=True), 1
    ):
        found = (row["outcome"], row["exit_code"], row["status"])
        assert found == ("inconclusive", 0, "evidence_collected"), name
        assert row["reason"].startswith("vacuous: "), name
        body = sidecar(work, f"ac{number}")
        found = (body["outcome"], body["result"], body["exit_code"])
        assert found == ("inconclusive", "exit 0", 0), name
        assert body["reason"] == row["reason"], name
        found = (body["attribution"]["kind"], body["attribution"]["tests"])
        assert found == ("vacuous", 0), name
    assert done.json["verdict"] == "not_achieved"
    assert done.json.get("proposed_transition") is None
    assert status(work) == "active"


def test_a_pass_in_which_tests_were_skipped_says_so(work: GitRepo) -> None:
    """HAZARD I163: code under test skips the tests that it fails, which no list of files shows."""
    skips = PASSES + "\n    def test_b(self):\n        raise unittest.SkipTest('not here')\n"
    work.write("src/skips.py", skips)
    work.commit("skips")
    create_all(work, [f"{PYTEST} -q src/skips.py", f"{PYTEST} -q src/passes.py"])
    done = flow(work, "goal", "evaluate", "greet", "--json")
    assert (done.status, done.json["verdict"]) == (0, "achieved")
    asked = done.json["proposed_transition"]["confirm"]["criteria"]
    shown = "Not every test ran: 1 passed, 1 skipped."
    for rows in (done.json["criterion_results"], asked):
        assert [shown in row["limitations"] for row in rows] == [True, False]
    assert shown in sidecar(work)["limitations"]


def test_masked_commands_are_told_at_creation_and_never_achieve(work: GitRepo) -> None:
    """A failure that a runner reports is hidden by the last two."""
    hidden = ["sh src/hide.sh", "! false && sh src/hide.sh"]
    made = create_all(work, [*MASKED.values(), *hidden])
    for number, name in enumerate(MASKED, 1):
        assert any(w.startswith(f"AC{number}: masked: ") for w in made.json["warnings"]), name
    done = flow(work, "goal", "evaluate", "greet", "--json")
    assert done.status == 1
    for number, row in enumerate(done.json["criterion_results"], 1):
        assert (row["outcome"], row["exit_code"]) == ("inconclusive", 0), row
        assert row["reason"].startswith("masked: "), row
        attribution = sidecar(work, f"ac{number}")["attribution"]
        if number <= len(MASKED):
            assert attribution == {"kind": "masked"}
        else:
            assert row["reason"].startswith("masked: pytest reports that 1 test failed (1 failed")
            assert (attribution["kind"], attribution["tests"]) == ("masked", 1)
    assert number == len(MASKED) + len(hidden)
    assert done.json.get("proposed_transition") is None


def test_an_answer_that_is_only_printed_never_achieves(work: GitRepo) -> None:
    """HAZARD I302."""
    create(work, criterion=f"AC1: x :: {PY} -c 'print(1 + 1 == 3)'")
    done = flow(work, "goal", "evaluate", "greet", "--json")
    (row,) = done.json["criterion_results"]
    assert (done.status, row["outcome"], row["exit_code"]) == (1, "inconclusive", 0)
    assert "it printed False and ended with 0" in row["reason"]


def test_a_search_of_nothing_never_achieves(work: GitRepo) -> None:
    """HAZARD I345."""
    commands = (
        "! git grep -q print -- src/gone",
        "! (cd src/gone 2> /dev/null && git grep -q print)",
        'test -z "$(grep -rs print src/gone)"',
        "if grep -rqs print src/gone; then exit 1; fi",
        "grep -rqs print src/gone && exit 1 || exit 0",
    )
    create_all(work, commands)
    done = flow(work, "goal", "evaluate", "greet", "--json")
    rows = [(r["exit_code"], r["reason"][:28]) for r in done.json["criterion_results"]]
    assert rows == [(0, "vacuous: grep had nothing to")] * len(commands)


def test_tests_that_nothing_runs_never_achieve(work: GitRepo) -> None:
    """HAZARD I350: a file that only defines them, and doctests whose failure is only printed."""
    tests = "def test_a():\n    assert 1 == 2\n"
    work.write("src/defined.py", tests)
    work.write("src/called.py", tests.replace("2", "1") + "test_a()\n")
    work.write("src/doc.py", '"""\n>>> 1\n2\n"""\nimport doctest\ndoctest.testmod()\n')
    files = ("src/defined.py", "src/passes.py", "src/doc.py", "src/called.py")
    create_all(work, [*(f"{PY} -B {name}" for name in files), f"cd src && {PY} -Bm defined"])
    done = flow(work, "goal", "evaluate", "greet", "--json")
    rows = [(r["outcome"], r["reason"].split(" ")[0]) for r in done.json["criterion_results"]]
    lost = ("inconclusive", "vacuous:")
    assert rows == [lost, lost, ("inconclusive", "masked:"), ("passed", ""), lost]


@pytest.mark.needs_tool("npm", "make")
def test_what_a_script_or_a_recipe_ignores_is_told(work: GitRepo) -> None:
    """HAZARD I351."""
    scripts = '"lint": "node -e 1/0+a || true", "ok": "node -e 1"'
    work.write("src/package.json", f'{{"name": "x", "scripts": {{{scripts}}}}}\n')
    work.write("src/Makefile", "lint:\n\t-false\n")
    create_all(work, ["cd src && npm run lint", "cd src && npm run ok", "make -C src lint"])
    done = flow(work, "goal", "evaluate", "greet", "--json")
    masked, passed, made = done.json["criterion_results"]
    assert masked["reason"].startswith("masked: the script lint of package.json: ")
    assert [row["outcome"] for row in (masked, passed, made)] == [
        "inconclusive",
        "passed",
        "passed",
    ]
    assert any(text.startswith("Not everything counted: make") for text in made["limitations"])


def test_asserts_that_python_takes_out_never_achieve(work: GitRepo) -> None:
    """HAZARD I343."""
    work.write("src/check.py", "assert 1 == 2\n")
    work.write("src/asks.py", PASSES.replace("pass", "assert 1 == 2"))
    commands = (f"PYTHONOPTIMIZE=1 {PY} -B src/check.py", f"{PY} -OB -m unittest src/asks.py")
    create_all(work, commands)
    done = flow(work, "goal", "evaluate", "greet", "--json")
    script, tests = done.json["criterion_results"]
    assert (script["outcome"], script["exit_code"]) == ("inconclusive", 0)
    assert "takes every assert out" in script["reason"]
    assert (tests["outcome"], tests["exit_code"]) == ("passed", 0)
    assert any(text.startswith("other code: Python ran without") for text in tests["limitations"])


def test_tests_that_import_another_checkout_are_told(
    work: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``pip install -e`` in one working tree, the work in another one (HAZARD I304)."""
    environment = tmp_path / "env"
    (environment / "lib/python3.12/site-packages").mkdir(parents=True)
    (environment / "bin").mkdir()
    (environment / "bin/python").symlink_to(PY)
    monkeypatch.setenv("PATH", f"{environment}/bin:{os.environ['PATH']}")
    work.write("src/setup.py", 'setup(name="greet")\n')
    create(work, criterion="AC1: x :: python -B -m unittest src/passes.py")
    other = tmp_path / "other"
    subprocess.run(["git", "clone", "-q", str(work.path), str(other)], check=True)
    (other / "src/setup.py").write_text('setup(name="greet")\n')
    linked = environment / "lib/python3.12/site-packages/greet.pth"
    linked.write_text(f"{other}/src\n")
    done = flow(work, "goal", "evaluate", "greet", "--json")

    (told,) = [text for text in done.json["warnings"] if "other code" in text]
    assert told.startswith("AC1: other code: Python imports this project from another checkout, ")
    (criterion,) = done.json["proposed_transition"]["confirm"]["criteria"]
    assert [text for text in criterion["limitations"] if str(other) in text]


def test_the_same_work_honestly_checked_achieves(work: GitRepo) -> None:
    tests = f"{PY} -B -m unittest src/passes.py src/skipped.py"
    create(work, "greet", "--criterion", f"AC2: y :: {tests}")
    done = flow(work, "goal", "evaluate", "greet", "--json")
    assert done.status == 0
    assert done.json["verdict"] == "achieved"
    assert "attribution" not in sidecar(work)


def test_what_failed_stays_failed(work: GitRepo) -> None:
    create(work, criterion=f"AC1: x :: {PY} -B -m unittest src/skipped.py; exit 3")
    done = flow(work, "goal", "evaluate", "greet", "--json")
    (row,) = done.json["criterion_results"]
    assert (done.status, row["outcome"], row["exit_code"]) == (1, "failed", 3)


def test_a_rule_of_the_project_can_only_hold_back(work: GitRepo) -> None:
    create(work, "greet", "--allow", ".flow/runners.yaml", criterion="AC1: x :: sh src/house.sh")
    work.write("src/house.sh", "echo house: 0 of 0\n")
    assert flow(work, "goal", "evaluate", "greet").status == 0
    work.write(
        ".flow/runners.yaml",
        "runners:\n  - name: house\n    command: [sh src/house.sh]\n"
        '    nothing_ran: ["house: 0 of *"]\n',
    )
    held = flow(work, "goal", "evaluate", "greet", "--json")
    (row,) = held.json["criterion_results"]
    assert row["reason"] == "vacuous: house reports that no test ran (house: 0 of 0)"
    work.write(".flow/runners.yaml", "runners: [{name: house, outcome: passed}]\n")
    broken = flow(work, "goal", "evaluate", "greet")
    assert broken.status == 2
    assert ".flow/runners.yaml: runners[0]" in broken.stderr


def test_a_rule_file_is_a_change_like_any_other(work: GitRepo) -> None:
    """Written or taken away, it is outside the goal's paths."""
    create(work)
    work.write(
        ".flow/runners.yaml", "runners:\n  - {name: x, command: [x], nothing_ran: [nothing]}\n"
    )
    done = flow(work, "goal", "evaluate", "greet", "--json")
    assert done.json["verdict"] == "blocked"
    assert ".flow/runners.yaml" in done.json["reason"]


def test_the_hook_lets_go_and_names_it(
    work: GitRepo, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    create(work, criterion=f"AC1: x :: {MASKED['or true']}")
    settings(home, stopHookEnforcement="block")
    answer = stop(work, capfd)
    assert answer.get("decision") != "block"
    assert "AC1" in str(answer)


def test_a_known_command_does_without_the_parser(work: GitRepo) -> None:
    create(work, criterion=f"AC1: x :: {MASKED['or true']}")
    words = [PY, "-X", "importtime", "-m", "flow", "goal", "evaluate", "greet"]
    env = {**scene.os.environ, "PYTHONPATH": ROOT}
    loaded = []
    for _ in range(2):
        done = subprocess.run(words, cwd=work.path, env=env, capture_output=True, text=True)
        assert done.returncode == 1
        loaded.append("tree_sitter" in done.stderr)
    assert loaded == [True, False]


def test_the_report_that_a_criterion_names(work: GitRepo) -> None:
    """Written into the goal file; it needs trust like any change of the contract."""
    command = f"{PYTEST} --junit-xml=src/junit.xml src/passes.py > /dev/null"
    create(work, criterion=f"AC1: x :: {command}")
    path = work.path / ".flow/goals/greet.goal.yaml"
    line = "      verification_command:"
    path.write_text(path.read_text().replace(line, f"      report: src/*.xml\n{line}"))
    assert flow(work, "trust", "record", "greet", "--yes").status == 0
    done = flow(work, "goal", "evaluate", "greet", "--json")
    (row,) = done.json["criterion_results"]
    assert (row["outcome"], row["reason"]) == ("passed", "")
    path.write_text(path.read_text().replace("src/*.xml", "src/none.xml"))
    assert flow(work, "trust", "record", "greet", "--yes").status == 0
    done = flow(work, "goal", "evaluate", "greet", "--json")
    (row,) = done.json["criterion_results"]
    assert row["outcome"] == "inconclusive"
    assert row["reason"].startswith("vacuous: the criterion's report src/none.xml is not there")
