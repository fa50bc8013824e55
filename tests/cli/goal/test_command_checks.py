"""What ``create``, ``amend``, ``baseline`` and the helpers say of commands that are handed in."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from flow.adapters.attribution.command_checks import pipes_of
from flow.adapters.attribution.shell_syntax import parse_shell
from flow.core.attribution.attribute import read_command
from flow.core.attribution.pipes import cannot_pass
from flow.core.attribution.whole_tree import takes_all_in
from tests.adapters.attribution.masking_commands import HONEST
from tests.core.attribution.honest_runs import HONEST_RUNS
from tests.support import run_helper
from tests.support.scene import create, flow, goal_file, start

if TYPE_CHECKING:
    from tests.support import GitRepo

FILE = ".flow/goals/greet.goal.yaml"
KEY = "objective.acceptance_criteria[0].verification_command"
MALFORMED = ["if", "grep -q 'please src/greet.txt", "(true", "true &&", "for x in a; do", "a | | b"]
GOAL = ("goal", "create", "greet", "--outcome", "o", "--allow", "src/**")


def changed(repo: GitRepo, command: str) -> str:
    """The goal's text with another command."""
    quoted = command.replace("'", "''")
    return re.sub(
        r"verification_command: .*", lambda _: f"verification_command: '{quoted}'", goal_file(repo)
    )


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    return start(repo)


# --- what bash cannot read -----------------------------------------------------------------------


@pytest.mark.parametrize("command", MALFORMED)
@pytest.mark.parametrize("how", ["create", "draft"])
def test_create_refuses_what_bash_refuses(work: GitRepo, command: str, how: str) -> None:
    more = ("--draft",) if how == "draft" else ()
    done = flow(work, *GOAL, "--criterion", f"AC1: x :: {command}", *more)
    assert done.status == 2, done
    assert KEY in done.stderr
    assert "AC1: bash -n refuses it: " in done.stderr
    assert "syntax error" in done.stderr or "unexpected EOF" in done.stderr
    assert not (work.path / FILE).exists()


def test_a_file_is_named_with_every_command_that_bash_refuses(work: GitRepo) -> None:
    create(work)
    text = changed(work, "if").replace("id: greet", "id: other")
    text = re.sub(r"lifecycle:\n(  .*\n)+", "lifecycle:\n  status: draft\n", text)
    text = re.sub(r"\n  (run_id|base_commit): .*", "", text)
    work.write("other.yaml", text)
    done = flow(work, "goal", "create", "--file", "other.yaml", "--draft")
    assert done.status == 2
    assert "other.yaml" in done.stderr
    assert f"{KEY}" in done.stderr
    ran = run_helper("flow-goal-record", "--create", "--goal-file", "other.yaml", cwd=work.path)
    assert ran.status == 1, ran
    assert "bash -n refuses it" in ran.stderr
    assert KEY in ran.stderr


def test_an_evidence_command_too(work: GitRepo) -> None:
    create(work)
    text = goal_file(work).replace("verification_command:", "evidence_command: 'if'\n      x_note:")
    work.write("new.yaml", text)
    done = flow(work, "goal", "amend", "greet", "--file", "new.yaml", "--yes")
    assert done.status == 2
    assert "evidence_command" in done.stderr


@pytest.mark.parametrize("command", MALFORMED[:3])
def test_amend_refuses_it_and_changes_nothing(work: GitRepo, command: str) -> None:
    create(work)
    before = goal_file(work)
    work.write("new.yaml", changed(work, command))
    done = flow(work, "goal", "amend", "greet", "--file", "new.yaml", "--yes")
    assert done.status == 2, done
    assert f"new.yaml: {KEY}" in done.stderr
    assert goal_file(work) == before


def test_by_hand_it_could_not_start(work: GitRepo) -> None:
    create(work)
    work.write(FILE, changed(work, "touch src/ran; if"))
    assert flow(work, "trust", "record", "greet", "--yes").status == 0
    done = flow(work, "goal", "evaluate", "greet", "--json")
    (row,) = done.json["criterion_results"]
    assert (done.status, row["outcome"]) == (1, "inconclusive")
    assert "could not run" in goal_file(work)
    assert row["reason"].startswith("bash -n refuses it: ")
    assert not (work.path / "src/ran").exists()
    (base,) = flow(work, "goal", "baseline", "greet", "--json").json["criteria"]
    assert base["outcome"] == "inconclusive"
    # what is right again can be amended, whatever stands there
    work.write("new.yaml", changed(work, "grep -q please src/greet.txt"))
    assert flow(work, "goal", "amend", "greet", "--file", "new.yaml", "--yes").status == 0


def test_only_reading_no_running(work: GitRepo) -> None:
    done = flow(work, *GOAL, "--criterion", "AC1: x :: touch src/ran; x=$(touch src/ran2); (")
    assert done.status == 2
    assert sorted(os.listdir(work.path / "src")) == ["greet.txt"]


# --- what is only said ---------------------------------------------------------------------------

PROG = f"{sys.executable} -B src/prog.py"
CANNOT = {
    "standard error": f"{PROG} bad 2>&1 | grep -q 'no such word'",
    "a message that says little": f"{PROG} bad 2>&1 | grep -q word",
    "by |&": f"{PROG} bad |& grep -q word",
    "through a filter": f"{PROG} bad 2>&1 | tee log | grep -q word",
    "after something else": f"true && {PROG} bad 2>&1 | grep -q word",
    "in braces": f"{{ {PROG} bad 2>&1 | grep -q word; }}",
    "a difference": "diff src/greet.txt src/prog.py | grep -q raise",
    "an end": "yes | head -1",
}  # fmt: skip


def said(repo: GitRepo, command: str) -> list[str]:
    done = flow(repo, *GOAL, "--criterion", f"AC1: x :: {command}", "--json")
    assert done.status == 0, done
    return [text for text in done.json["warnings"] if text.startswith("AC1: ")]


@pytest.mark.parametrize("command", CANNOT.values(), ids=list(CANNOT))
def test_a_pipe_that_cannot_pass_is_said_with_the_form_that_works(
    work: GitRepo, command: str
) -> None:
    work.commit("prog", **{"src/prog.py": "raise SystemExit('no such word')\n"})
    (warning,) = said(work, command)
    assert warning.startswith("AC1: pipe: ")
    base = flow(work, "goal", "baseline", "greet", "--json")
    assert warning in base.json["warnings"]
    form = re.sub(r".*write: ", "", warning)
    before, after = (subprocess.run(
        ["bash", "-o", "pipefail", "-c", text], cwd=work.path, capture_output=True
    ).returncode for text in (command, form))  # fmt: skip
    assert before != 0
    assert after == 0, form
    reading = read_command(form, parse_shell)
    assert (reading.masked_exit, reading.guarded) == ("", "")
    assert not any(map(cannot_pass, pipes_of(form)))
    # the form is no way to pass where the program does not fail, or says something else
    work.write("src/prog.py", "print('no such word')\n")
    if "prog.py bad" in command:
        assert subprocess.run(["bash", "-o", "pipefail", "-c", form], cwd=work.path).returncode
    work.write("new.yaml", changed(work, form))
    done = flow(work, "goal", "amend", "greet", "--file", "new.yaml", "--yes")
    assert "pipe:" not in done.stderr


def test_amend_says_it_as_well(work: GitRepo) -> None:
    create(work)
    work.write("new.yaml", changed(work, CANNOT["standard error"]))
    done = flow(work, "goal", "amend", "greet", "--file", "new.yaml", "--yes")
    assert done.status == 0
    assert "AC1: pipe: it passes only where" in done.stderr


MAY_PASS = """
java -version 2>&1 | grep -q 17
nginx -t 2>&1 | grep -q successful
./app --version 2>&1 | grep -q 1.2
./app --help 2>&1 | grep -qi usage
./app 2>&1 | grep -q 'tests passed'
./app 2>&1 | grep -q 'listening on'
./app 2>&1 | grep -q '0 errors'
./app 2>&1 | grep -v warning
./app | grep -q word
! ./app 2>&1 | grep -q Traceback
if ./app 2>&1 | grep -q error; then exit 1; fi
set +o pipefail; ./app bad 2>&1 | grep -q word
curl -sv localhost 2>&1 | grep -q 'HTTP/1.1 200'
docker logs x 2>&1 | grep -q started
pytest 2>&1 | grep -q '2 passed'
pytest -q | tail -1
ruff check . 2>&1 | tee log
npm run build 2>&1 | grep -q 'Compiled successfully'
ls src | grep -q greet
git diff main | grep -q '^+foo'
seq 10 | head -1
./app bad 2>&1 > /dev/null || true
{ ./app bad 2>&1; test $? -ne 0; } | grep -q word
""".strip().splitlines()


@pytest.mark.parametrize("text", [*MAY_PASS, *HONEST, *(row[0] for row in HONEST_RUNS)])
def test_nothing_is_said_of_what_may_pass(text: str) -> None:
    text = text.replace("@", "\n")
    assert [why for why in map(cannot_pass, pipes_of(text)) if why] == []


@pytest.mark.parametrize("text", [*HONEST, *(row[0] for row in HONEST_RUNS)])
def test_no_honest_command_is_guarded(text: str) -> None:
    reading = read_command(text.replace("@", "\n"), parse_shell)
    assert (reading.guarded, reading.lists) == ("", "")


@pytest.mark.parametrize(
    ("command", "warning"),
    [
        ('if [ -n "$CI" ]; then pytest; fi', "guarded: it can end with 0 without `pytest`"),
        ('[ -z "$CI" ] || pytest', "guarded: it can end with 0 without `pytest`"),
        ("pytest --co", "vacuous: `pytest --co` checks nothing"),
        ("npx jest --listTests", "vacuous: `jest --listTests` checks nothing"),
        ("go test -list . ./...", "vacuous: `go test -list` checks nothing"),
        ("tox list", "vacuous: `tox list` checks nothing"),
        ("npx eslint --version", "vacuous: `eslint --version` checks nothing"),
        ("git ls-files '*.js' | xargs -0r eslint", "guarded: `xargs -r` ends with 0"),
        ("pytest || true", "masked: "),
        ("pytest | grep -q '1 failed'", "pipe: it passes only where `pytest` ends with 0"),
    ],
)
def test_what_can_show_no_test_is_said_and_never_refused(
    work: GitRepo, command: str, warning: str
) -> None:
    assert any(text.startswith(f"AC1: {warning}") for text in said(work, command))


def test_a_hostile_command_is_visible_and_cut(work: GitRepo) -> None:
    (warning, *_) = said(work, f"./x{'y' * 5000}\u202e bad 2>&1 | grep -q word")
    assert len(warning) < 500
    assert "\u202e" not in warning


# --- checks that take Flow's own files in ---------------------------------------------------------

REST = "-- . ':!.flow' ':!.decisions'"
WHOLE_TREE = {
    "make gen && git diff --exit-code": "git diff --exit-code -- . ':!.flow' ':!.decisions'",
    "git -C . diff --quiet HEAD": "git diff --quiet -- . ':!.flow' ':!.decisions'",
    'test -z "$(git status --porcelain)"': "git status --porcelain -- . ':!.flow' ':!.decisions'",
    "prettier --check .": "(.prettierignore)",
    "npx --no-install prettier -c . --cache": "(.prettierignore)",
    "yamllint -s .": "(ignore: in .yamllint)",
    "pnpm exec biome ci": "(files.includes in biome.json)",
}
PART = (
    "git diff --exit-code -- gen", "git diff --exit-code gen", "git diff", "git diff --stat",
    "git diff --exit-code -- . ':!.flow' ':!.decisions'", "git status", "prettier --check src",
    "git diff --exit-code main -- src", "yamllint .github", "prettier --write .", "biome check src",
    "npx", "yarn --silent", "echo git diff --exit-code", "test -z \"$(git status -s docs)\"",
)  # fmt: skip


@pytest.mark.parametrize(("command", "remedy"), WHOLE_TREE.items())
def test_a_check_that_takes_flows_own_files_in_is_said(
    work: GitRepo, command: str, remedy: str
) -> None:
    done = flow(work, *GOAL, "--criterion", f"AC1: x :: {command}")
    assert done.status == 0, done
    said = " ".join(done.stderr.split())
    assert "AC1: whole tree: it sees Flow's own files, too, and fails for them: " in said
    assert remedy in said


@pytest.mark.parametrize("command", PART)
def test_a_check_of_a_part_is_not(command: str) -> None:
    assert not any(map(takes_all_in, read_command(command, parse_shell).commands))


def test_the_form_that_is_offered_passes_after_an_evaluation(work: GitRepo) -> None:
    whole = "git diff --exit-code"
    criteria = (f"AC1: x :: {whole}", f"AC2: x :: {whole} {REST}")
    flow(work, *GOAL, *(word for text in criteria for word in ("--criterion", text)))
    work.git("add", "-A")
    work.git("commit", "-qm", "goal")
    for first in ("passed", "failed"):
        done = flow(work, "goal", "evaluate", "greet", "--json")
        results = json.loads(done.stdout)["criterion_results"]
        assert [result["outcome"] for result in results] == [first, "passed"]
