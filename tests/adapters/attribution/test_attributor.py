"""Runs and reports as they are on disk: what is read, when, and what it costs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flow.adapters.attribution import attributor, shell_syntax
from flow.adapters.attribution.attributor import Attributor, attributed
from flow.adapters.attribution.report_files import LIMIT, read_report
from flow.adapters.verification.runner import CommandRunner
from flow.app.checks import Check, CheckEvents, CheckResult
from flow.errors import ContractError
from tests.support.patience import LONG
from tests.support.start import SKIPS_FAIL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

pytestmark = pytest.mark.slow

REPORTS = Path(__file__).parents[2] / "core" / "attribution" / "reports"
PY = f"{sys.executable} -m"
SKIP = "import pytest\n@pytest.mark.skip\ndef test_a():\n    pass\n"
PASS = "def test_a():\n    pass\n"
USKIP = (
    "import unittest\nclass T(unittest.TestCase):\n"
    "    @unittest.skip('x')\n    def test_a(self):\n        pass\n"
)
RULES = """\
runners:
  - name: house
    command: ["./house"]
    nothing_ran: ["house: * of 0"]
    report: [out/house.xml]
"""


def run(
    top: Path, *commands: str, cache: str | None = None, cwd: str = "", report: str = ""
) -> list[CheckResult]:
    """Run commands through the real runner, in order."""
    ids = [f"AC{number}" for number, _ in enumerate(commands)]
    each = zip(ids, commands, strict=True)
    return check(
        top, *(Check(id, text, cwd, LONG, report=report) for id, text in each), cache=cache
    )


def check(top: Path, *checks: Check, cache: str | None = None) -> list[CheckResult]:
    (top / ".flow/runs/.work").mkdir(parents=True, exist_ok=True)
    runner = CommandRunner(str(top), ".flow/runs/.work", environ=os.environ, grace=0.2)
    found: dict[str, CheckResult] = {}

    def ended(check: Check, result: CheckResult) -> None:
        found[check.criterion_id] = result

    attributed(runner, Attributor(str(top), cache, os.environ["PATH"]))(
        checks, jobs=1, events=CheckEvents(lambda _: None, ended)
    )
    return [found[check.criterion_id] for check in checks]


def said(result: CheckResult) -> tuple[str, str]:
    return result.outcome, result.reason


def program(path: Path, script: str, shell: str = "/bin/sh") -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!{shell}\n{script}\n")
    path.chmod(0o755)


def outcomes(top: Path, expected: Mapping[str, str]) -> list[CheckResult]:
    """Run each of the commands and compare; returns what was found."""
    results = run(top, *expected)
    found = dict(zip(expected, (result.outcome for result in results), strict=True))
    assert found == expected, [said(result) for result in results]
    return results


def honest(result: CheckResult) -> bool:
    return result.outcome != "inconclusive"


# --- real runners --------------------------------------------------------------------------------


def test_pytest_and_unittest_as_they_are_here(tmp_path: Path) -> None:
    for name, text in (("test_skip", SKIP), ("test_pass", PASS), ("u_skip", USKIP)):
        (tmp_path / f"{name}.py").write_text(text)
    quiet = f"{PY} pytest -q -p no:cacheprovider"
    program(tmp_path / "bin/pytest", "echo '1 passed in 0.01s'")
    results = run(
        tmp_path,
        f"{quiet} test_pass.py",
        f"{quiet} test_skip.py",
        f"{quiet} test_pass.py test_skip.py",
        f"{quiet} -k nosuch test_pass.py || [ $? -eq 5 ]",
        f"{PY} unittest u_skip",
        "bin/pytest test_pass.py || true",
    )
    skipped = "failed" if SKIPS_FAIL else "inconclusive"
    assert [result.outcome for result in results] == [
        "passed", "inconclusive", "passed", "inconclusive", skipped, "inconclusive",
    ]  # fmt: skip
    assert said(results[1])[1].startswith("vacuous: pytest reports that every test was skipped")
    assert results[1].attribution == {
        "kind": "vacuous", "runner": "pytest", "tests": 0, "skipped": 1, "source": "output"
    }  # fmt: skip
    assert SKIPS_FAIL or results[4].reason.startswith("vacuous: unittest")
    assert results[5].reason.startswith("masked: the command's exit status is 0 even where")
    assert results[5].attribution == {"kind": "masked"}


def test_pytest_junit_file_speaks_where_the_output_is_thrown_away(tmp_path: Path) -> None:
    (tmp_path / "test_skip.py").write_text(SKIP)
    (tmp_path / "test_pass.py").write_text(PASS)
    quiet = f"{PY} pytest -p no:cacheprovider"
    results = run(
        tmp_path,
        f"{quiet} --junitxml=r.xml test_skip.py > log",
        f"{quiet} --junit-xml r.xml test_pass.py > log",
        "true r.xml",
    )
    assert [result.outcome for result in results] == ["inconclusive", "passed", "passed"]
    assert results[0].attribution == {
        "kind": "vacuous", "runner": "JUnit XML", "tests": 0, "skipped": 1, "source": "r.xml"
    }  # fmt: skip


def test_a_log_speaks_where_the_output_goes_to_a_file(tmp_path: Path) -> None:
    program(
        tmp_path / "bin/pytest",
        "case $* in *skip*) echo '1 skipped in 0.01s';; *) echo '1 passed in 0.01s';; esac",
    )
    (tmp_path / "old").write_text("1 passed in 0.01s\n")
    quiet = "bin/pytest -q"
    results = run(
        tmp_path,
        f"{quiet} test_pass.py > log || {{ cat log; exit 1; }}",
        f"{quiet} test_skip.py &> log || {{ cat log; exit 1; }}",
        f"{quiet} test_pass.py 2>&1 | tee log > /dev/null",
        f"{quiet} test_pass.py > /dev/null || {{ cat old; exit 1; }}",
        f"{quiet} test_pass.py > {tmp_path.parent}/log",
    )
    assert [said(result)[0] for result in results] == [
        "passed", "inconclusive", "passed", "inconclusive", "inconclusive"
    ]  # fmt: skip
    assert "every test was skipped" in results[1].reason


NODE_TEST = "const test = require('node:test');\n"
ADDS = NODE_TEST + "test('adds', () => {});\n"


REPORTERS = ("spec", "tap", "junit")
NODE_FILES: list[tuple[dict[str, str], str]] = [
    ({"a": ""}, "inconclusive"),
    ({"a": "'use strict'; // later\n/* none\n */"}, "inconclusive"),
    ({"a": NODE_TEST}, "inconclusive"),
    ({"a": NODE_TEST + "if (process.env.NOT_HERE) test('adds', () => {});"}, "inconclusive"),
    ({"a": "", "b": NODE_TEST}, "inconclusive"),
    ({"a": ADDS}, "passed"),
    ({"a": "", "b": ADDS}, "passed"),
    ({"a": "require('node:assert').equal(1, 1);"}, "passed"),
    ({"a": "", "b": "require('node:assert').equal(1, 1);"}, "passed"),
    ({"a": f"{NODE_TEST}test('x', () => process.exit(0));", "b": ADDS}, "inconclusive"),
    ({"a": f"{NODE_TEST}exports.own = name => test(name);", "b": ADDS}, "passed"),
    ({"a": "const { mock } = require('node:test'); mock.fn()();"}, "passed"),
]
"""Files of a folder, and how their run counts."""


@pytest.mark.needs_tool("node")
@pytest.mark.parametrize(
    ("reporter", "files", "outcome"),
    [
        pytest.param(reporter, *row, marks=[pytest.mark.long] * (number % 3 != place))
        for number, row in enumerate(NODE_FILES)
        for place, reporter in enumerate(REPORTERS)
    ],
)
def test_a_file_without_tests_that_node_counts_as_one(
    tmp_path: Path, reporter: str, files: dict[str, str], outcome: str
) -> None:
    """With each reporter; in the short form with one: what each of them prints core/ reads."""
    (tmp_path / "web/test").mkdir(parents=True)
    for name, text in files.items():
        (tmp_path / f"web/test/{name}.test.js").write_text(text)
    (result,) = run(tmp_path, f"node --test --test-reporter={reporter} test", cwd="web")
    assert result.outcome == outcome, result.reason
    if outcome == "inconclusive":
        assert "node counted a file as a test that tells of none: web/test/a" in result.reason


LATER = "async () => { await new Promise(go => setTimeout(go, 20)); process.exit(0); }"
ENDS = f"{ADDS}test('ends', {LATER});\ntest('fails', () => {{ throw 1; }});\n"
ENDED = {
    "node --test": "inconclusive",
    "node --test --test-reporter=spec web": "inconclusive",
    "node --test --test-reporter=junit web/ends.test.js": "inconclusive",
    "npm test": "inconclusive",
    "node --test --test-name-pattern=adds": "passed",
    "node --test web/adds.test.js": "passed",
}


@pytest.mark.needs_tool("node")
def test_a_file_of_node_that_ends_after_its_first_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HAZARD I165: node reports those that ran, and never that there were others."""
    program(tmp_path / "bin/npm", "node --test web")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    (tmp_path / "package.json").write_text('{"scripts": {"test": "node --test web"}}')
    (tmp_path / "web").mkdir()
    (tmp_path / "web/adds.test.js").write_text(ADDS)
    (tmp_path / "web/ends.test.js").write_text(ENDS)
    inside = f"{ADDS}require('fs').writeFileSync('x', `\ntest('inner', () => {{}});\n`);\n"
    (tmp_path / "web/inside.test.js").write_text(inside)
    results = outcomes(tmp_path, ENDED)
    assert results[0].reason == "vacuous: web/ends.test.js was ended before its test `ends`"


@pytest.mark.needs_tool("node")
def test_a_script_that_starts_its_runner_itself(tmp_path: Path) -> None:
    """HAZARD I164: code under test ends it with 0, and nothing is printed."""
    main = "\nif __name__ == '__main__':\n    unittest.main()\n"
    ends = f"{NODE_TEST}test('ends', () => process.exit(0));\n"
    texts = {
        "ends.py": USKIP.replace("@unittest.skip('x')", "").replace("pass", "os._exit(0)") + main,
        "adds.py": USKIP.replace("@unittest.skip('x')", "") + main,
        "tool.py": "import unittest\ndef check():\n    unittest.main()\n",
        "ends.js": ends,
        "adds.js": ADDS,
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(f"import os\n{text}" if name.endswith("py") else text)
    expected = {
        f"{sys.executable} ends.py": "inconclusive",
        f"cd . && {sys.executable} -B ends.py -v": "inconclusive",
        "node ends.js": "inconclusive",
        f"{sys.executable} adds.py": "passed",
        f"{sys.executable} adds.py > log 2>&1": "passed",
        f"{sys.executable} tool.py": "passed",
        "node adds.js": "passed",
    }
    results = outcomes(tmp_path, expected)
    assert results[0].reason.startswith("vacuous: no report of unittest shows a test that ran: ")


MAKEFILE = """\
.PHONY: lint \\
  unit-test
check:
\t@false
test: prepared
\t@false
lint unit-test:
\t@test -d .
prepared:
\t@:
app:
\t@touch app
"""


SILENT = {
    "make -s check": "inconclusive",
    "make --silent --directory=. check": "inconclusive",
    "make -sf Makefile check": "inconclusive",
    "cd . && make -s lint check": "inconclusive",
    "make -C sub check": "inconclusive",
    "make -s": "inconclusive",
    "make -s V=1 -j2": "inconclusive",
    "make -s app": "passed",
    "make -s test": "failed",
    "make -s lint": "passed",
    "make -s unit-test": "passed",
    "make -C inc -s check": "passed",
}
"""Commands, and how their runs count."""


@pytest.mark.needs_tool("make")
def test_a_silent_make_for_whose_target_a_folder_stands(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "sub"):
        for goal in ("check", "test", "lint", "unit-test"):
            (place / goal).mkdir(parents=True)
    (tmp_path / "Makefile").write_text(MAKEFILE)
    (tmp_path / "sub/GNUmakefile").write_text("MAKEFLAGS += -s\n" + MAKEFILE)
    (tmp_path / "inc/check").mkdir(parents=True)
    (tmp_path / "inc/Makefile").write_text("  include rules.mk\ncheck:\n\t@test -d .\n")
    (tmp_path / "inc/rules.mk").write_text(".PHONY: check\n")  # HAZARD I317
    results = outcomes(tmp_path, SILENT)
    why = "make printed nothing, and check is also the name"
    assert [result for result in results if why not in result.reason and not honest(result)] == []


BESIDE = {
    "echo begins && make -s check": "inconclusive",
    "make -s lint && make -s gone-test": "inconclusive",
    "make -s lint && make -s old-test": "inconclusive",
    "make -s lint && make -s new-test": "passed",
    "make -s lint && make -s late-test": "passed",
    "make -s lint && make -s colon-test": "passed",
    "make -s lint && make -sB old-test": "passed",
    "make -s old-test --always-make": "passed",
    "make -s lint": "passed",
    "sh build.sh && make -s check": "passed",
    "make -s check && ./test": "passed",
}
"""Commands, and how their runs count."""


@pytest.mark.needs_tool("make")
def test_a_make_beside_other_output_that_surely_ran_nothing(tmp_path: Path) -> None:
    text = ".PHONY: lint\nlint:\n\t@echo linted\ncheck:\n\t@:\n"
    text += "X ::= check\n# check::\ncolon-test::\n\t@:\n"
    text += "old-test: src\n\t@:\nnew-test: src\n\t@:\nlate-test: made\n\t@:\n"
    (tmp_path / "Makefile").write_text(f"{text}made: src\n\t@touch made\n")
    (tmp_path / "build.sh").write_text("echo built\n")
    program(tmp_path / "test", "echo tested")  # HAZARD I316
    for moment, name in enumerate(("new-test", "made", "src", "late-test", "old-test")):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (moment, moment))
    for name in ("check", "colon-test", "gone-test", "lint"):
        (tmp_path / name).mkdir()
    results = outcomes(tmp_path, BESIDE)
    why = "make ran nothing, and "
    assert [result for result in results if why not in result.reason and not honest(result)] == []


@pytest.mark.needs_tool("make")
def test_code_that_ends_the_runner_of_a_makefile_with_0(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_app.py").write_text("import app\n\n\ndef test_a():\n    assert app.a\n")
    command = f"PYTHONPATH=. {PY} pytest -q -p no:cacheprovider tests"
    (tmp_path / "Makefile").write_text(f".PHONY: test\ntest:\n\t{command}\n")
    (tmp_path / "app.py").write_text("import os\nos._exit(0)\n")
    (result,) = run(tmp_path, "make test")
    assert said(result)[0] == "inconclusive"
    assert "no report of pytest shows a test that ran" in result.reason
    program(tmp_path / "bin/npm", "exit 0")
    program(tmp_path / "bin/pytest", "grep -q _exit app.py || echo '1 passed in 0.01s'")
    command = "bin/pytest -q tests"
    (tmp_path / "package.json").write_text(json.dumps({"scripts": {"test": command}}))
    (tmp_path / "quiet.mk").write_text(f"all: test\ntest:\n\t@{command}\n")
    silent = ("make -s test", "make -f quiet.mk test", "make -sf quiet.mk test", "bin/npm test")
    more = json.dumps({"scripts": {"unit": command, "test": "test -d . && npm run unit"}})
    (tmp_path / "more").mkdir()
    (tmp_path / "more/package.json").write_text(more)
    program(tmp_path / "bin/check", f"set -e\ncd .\n{command}\necho ok", "/usr/bin/env bash")
    program(tmp_path / "bin/other", "pytest -q", "/bin/cat")
    scripts = ("bin/check", "sh -e bin/check", "bash -o errexit bin/check > log")
    assert said(run(tmp_path, "bin/other")[0]) == ("passed", "")
    there = ("cd more && ../bin/npm test", "bin/npm --prefix more test", "bin/npm t --prefix=more")
    for result in run(tmp_path, *silent, *there, *scripts):
        assert "no report of pytest shows a test that ran" in result.reason, result
    (tmp_path / "app.py").write_text("a = 1\n")
    (tmp_path / "plain.mk").write_text("test:\n\t@test -f app.py\n")
    for result in run(tmp_path, "make test", *silent[:3], "make -f plain.mk test", *scripts[:2]):
        assert said(result) == ("passed", "")


@pytest.mark.needs_tool("make")
def test_a_make_without_a_word(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("app:\n\t@echo made\n")
    program(tmp_path / "configure", "echo configured")
    for result in run(tmp_path, "make", "make && echo built", "./configure && make"):
        assert said(result) == ("passed", "")


def test_a_checker_whose_files_are_gone(tmp_path: Path) -> None:
    """Linters that print nothing, and pass on nothing."""
    for name in ("flake8", "ruff"):
        program(tmp_path / f"bin/{name}", "exit 0")
    (tmp_path / "src/deep").mkdir(parents=True)
    (tmp_path / "src/notes.txt").touch()
    (tmp_path / "src/node_modules").mkdir()
    (tmp_path / "src/node_modules/a.py").touch()
    commands = ("bin/flake8 src", "bin/ruff check -q src", "bin/flake8 src/notes.txt")
    results = [said(result) for result in run(tmp_path, *commands)]
    why = "vacuous: {} had nothing to check: no file like *.py, *.pyi, *.pyw, *.ipynb is in src"
    assert results[0] == ("inconclusive", why.format("flake8"))
    assert results[1] == ("inconclusive", why.format("ruff"))
    assert results[2] == ("passed", ""), "a file that is named is checked"
    (tmp_path / "src/deep/a.py").touch()
    assert [said(result) for result in run(tmp_path, *commands)] == [("passed", "")] * 3


ELSEWHERE = {
    "bin/ruff check --select E": "passed",
    "bin/ruff check --line-length 100 --output-format concise": "passed",
    "bin/ruff check lib/pkg/mod_*.py": "passed",
    "bin/mypy -p pkg": "passed",
    "bin/pylint pkg.mod_a": "passed",
    "bin/ruff check .github": "passed",
    "bin/yamllint .": "passed",
    "bin/staticcheck ./...": "passed",
    "bin/staticcheck ./lib/... ./empty/...": "passed",
    "bin/staticcheck example.com/app/lib": "passed",
    "cd lib && ../bin/staticcheck ...": "passed",
    "bin/staticcheck ./empty/...": "inconclusive",
    "bin/ruff check tools/*": "passed",
    "cd tools && ../bin/ruff check r*": "passed",
    "bin/eslint 'docs/**/*.md'": "passed",
    "bin/eslint 'docs/*.json'": "inconclusive",
    "bin/eslint 'docs/**'": "inconclusive",
    "bin/eslint --ext .json,.md docs": "passed",
    "bin/eslint docs --ext=.md": "passed",
    "bin/eslint --ext .json docs": "inconclusive",
    "bin/ruff check -q empty": "inconclusive",
    "bin/ruff check --select E empty": "inconclusive",
    "bin/ruff check empty/mod_*.py": "inconclusive",
    "bin/rubocop --format progress": "inconclusive",
    "find lib -name '*.go' -exec cat {} +": "passed",
    "find lib -name '*.rs' -exec cat {} +": "inconclusive",
    "! grep -q x lib/a.go": "passed",
    "! grep -rq x lib nowhere": "passed",
    "! grep -q x lib/b.go": "inconclusive",
    "! grep -rq x empty/.venv/deep nowhere/*.go": "inconclusive",
    "! grep -rq x --include='*.rs' lib": "inconclusive",
}
"""Commands of checkers, and how their runs count."""


def test_words_of_a_checker_that_are_no_folders(tmp_path: Path) -> None:
    """Values of options, modules, patterns and hidden folders: its files are elsewhere."""
    for name in ("bin", "lib/pkg", ".github", "empty/.venv", "tools", "docs"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("ruff", "mypy", "pylint", "yamllint", "rubocop", "staticcheck", "eslint"):
        program(tmp_path / "bin" / name, "exit 0")
    names = ("lib/pkg/mod_a.py", "lib/a.go", ".github/a.py", ".github/a.yml", "empty/.venv/a.py")
    for name in (*names, "tools/run", "docs/a.md"):
        (tmp_path / name).touch()
    outcomes(tmp_path, ELSEWHERE)


FIRST_ONLY = {
    "bash -n sh/*.sh": "inconclusive",
    "cd sh && timeout 60 sh -n [ab].sh": "inconclusive",
    "bash sh/*.sh": "inconclusive",
    "bash -n sh/a.sh sh/b.sh": "inconclusive",
    "printf '%s ' sh/a.sh sh/b.sh | xargs bash -n": "inconclusive",
    f"{sys.executable} py/*.py": "inconclusive",
    "bash -n sh/a*.sh": "passed",
    "bash sh/a.sh sh/*.sh": "passed",
    'for f in sh/a*.sh; do bash -n "$f" || exit 1; done': "passed",
    "printf '%s ' sh/a.sh | xargs -n1 bash -n": "passed",
    f"{sys.executable} -m compileall -q sh py/*.py": "passed",
}
"""Commands whose first file is in order, and each other one is not."""


def test_a_program_that_reads_only_the_first_of_its_files(tmp_path: Path) -> None:
    """HAZARD I160"""
    for name, text in {"sh/a.sh": "", "sh/b.sh": "if", "py/a.py": "", "py/b.py": "0/0"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n")
    results = outcomes(tmp_path, FIRST_ONLY)
    why = "masked: `bash -n` reads only the first of the 2 files that it gets, "
    assert results[0].reason.startswith(why)


UNFED = {
    "find src -name '*.rs' | xargs -r bin/ruff check": "inconclusive",
    "find src -name '*.rs' -print0 | xargs -0r -P 2 bin/ruff check --select E": "inconclusive",
    "find src -name '*.rs' | xargs --no-run-if-empty bin/ruff check --diff": "inconclusive",
    "find src -name '*.py' | xargs -r bin/ruff check": "passed",
    "find src -name '*.rs' | xargs -r bin/ruff check -q": "passed",
    "find src -name '*.rs' | xargs -r bin/flake8": "passed",
    "find src -name '*.rs' | xargs bin/ruff check": "passed",
}
"""Commands that start a checker only if there are files; of a quiet one nothing shows that."""


def test_a_checker_that_xargs_did_not_start(tmp_path: Path) -> None:
    """HAZARD I167"""
    program(tmp_path / "bin/ruff", 'case "$*" in *-q*) ;; *) echo "All checks passed!" ;; esac')
    program(tmp_path / "bin/flake8", "exit 0")
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.py").touch()
    results = outcomes(tmp_path, UNFED)
    why = "vacuous: ruff was not started: `xargs -r` was given no file"
    assert results[0].reason == why


UNWRITTEN = {
    "npm run types --if-present": "inconclusive",
    "npm run --if-present types": "inconclusive",
    "cd web && npm run lint --if-present": "inconclusive",
    "/bin/echo types && npm run types --if-present": "inconclusive",
    "npm --prefix web run types --if-present && npm run none --if-present": "inconclusive",
    f"{sys.executable} -m doctest none.py": "inconclusive",
    f"cd web && {sys.executable} -m doctest ../none.py": "inconclusive",
    "npm run lint --if-present": "passed",
    "npm run types --if-present && npm run lint": "passed",
    "npm run types --if-present && ./echo": "passed",
    "npm run types --if-present && test -e none.py": "passed",
    'npm run "types$N" --if-present': "passed",
    "npm run types --if-present --workspaces": "passed",
    f"{sys.executable} -m doctest none.py some.py": "passed",
    f"{sys.executable} -m doctest some.py": "passed",
}
"""Commands that ask for a script or doctests, and how they count as long as some are missing."""


def test_scripts_and_doctests_that_are_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HAZARD I162, I316"""
    program(tmp_path / "bin/npm", "exit 0")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    program(tmp_path / "echo", "exit 0")
    (tmp_path / "web").mkdir()
    (tmp_path / "web/package.json").write_text("{}")
    (tmp_path / "package.json").write_text(json.dumps({"scripts": {"lint": "true"}}))
    (tmp_path / "none.py").write_text("A = 1\n")
    (tmp_path / "some.py").write_text('"""\n>>> 1 + 1\n2\n"""\n')
    results = outcomes(tmp_path, UNWRITTEN)
    assert results[0].reason == "vacuous: it ran nothing: package.json has no script types"
    assert results[5].reason == "vacuous: it ran nothing: none.py has no doctest"


PASSED_BY_FAILING = [
    "test -z \"$(find nowhere -name '*.py')\"",
    '[ -z "$(program-nosuch --list)" ]',
    'test -z "$(program-nosuch -l . 2>/dev/null)"',
    "! program-nosuch -q word lib",
    "! program-nosuch -q word lib 2>/dev/null",
    "if program-nosuch word lib; then exit 1; fi",
    "program-nosuch word lib; test $? -ne 0",
    "program-nosuch word lib && exit 1 || exit 0",
    "! sh -c 'program-nosuch word lib'",
    "! python3 nowhere.py --bad",
    "test -f a.txt && ! grep -q other nowhere a.txt",
    "! git -C nowhere grep -q word",
    "! grep -q 'word\\(' a.txt",
    "! diff -q nowhere a.txt",
    "! cat nowhere | grep -q other",
    "! find nowhere -name '*.orig' | grep -q .",
    "! program-nosuch word lib | grep -v old",
    'grep -q "$(cat nowhere)" a.txt',
    'test "$(cat nowhere)" = "$(cat nobody)"',
    "diff <(sort nowhere) <(sort nobody)",
    "for f in $(find nowhere -name '*.sh'); do bash -n $f || exit 1; done",
    "while read f; do bash -n $f || exit 1; done < <(find nowhere)",
    'n=$(find nowhere | wc -l); [ "$n" -eq 0 ]',
    'test -z "$(git -C nowhere status --porcelain)"',
    'test -z "$(bin/like-gofmt -l nowhere)"',
    'case "$(python3 nowhere.py)" in "") ;; *) exit 1;; esac',
]
HONEST_ALL_THE_SAME = [
    "test -z \"$(find lib -name '*.orig')\"",
    'out=$(find lib) && test -n "$out"',
    '[ "$(cat a.txt)" = word ]',
    'grep -q "$(cat a.txt)" a.txt',
    """! python3 -c 'raise SystemExit("error: a.py:1: wrong")'""",
    """if python3 -c 'raise SystemExit("fatal: no")'; then exit 1; fi""",
    "! cat nowhere",
    "! ls *.orig | grep -q .",
    "! cat a.txt | grep -q other",
    "! find lib -name '*.orig' | grep -q .",
    "! git cat-file -e HEAD:nowhere",
    "! python3 -c 'import sys; print(3); print(\"error: x: y\", file=sys.stderr)' | grep 4",
    "! command -v program-nosuch",
    "program-nosuch word || grep -q word a.txt",
    "for f in $(find lib -name '*.sh'); do bash -n $f || exit 1; done",
    "kill $(cat nowhere.pid); test -f a.txt",
    "V=$(git -C nowhere describe); test -f a.txt",
    """test "$(python3 -c 'import sys; print(3); print("warning: x", file=sys.stderr)')" = 3""",
    """test "$(python3 -c 'import warnings; warnings.warn("old"); print(3)')" = 3""",
    "PATH=$PWD/bin:$PATH; ! own",
    "own() { return 1; }; test -f a.txt && { own || grep -q word a.txt; }",
]


def test_a_pass_that_rests_on_a_program_which_could_not_do_its_work(tmp_path: Path) -> None:
    """Its failure looks like the good case: nothing printed, or an exit status that is not 0."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/a.sh").touch()
    (tmp_path / "a.txt").write_text("word\n")
    (tmp_path / "bin").mkdir()
    gofmt = "echo lstat $2: no such file or directory >&2; exit 2"
    for name, text in (("own", "exit 1"), ("like-gofmt", gofmt)):
        program(tmp_path / "bin" / name, text)
    results = run(tmp_path, *PASSED_BY_FAILING)
    kinds = [(result.outcome, result.reason.partition(":")[0]) for result in results]
    expected = zip(PASSED_BY_FAILING, kinds, strict=True)
    assert [pair for pair in expected if pair[1] != ("inconclusive", "masked")] == []
    why = "masked: the exit status is 0 also where `find` cannot do its work, as here: find: "
    assert results[0].reason.startswith(why)
    results = run(tmp_path, *HONEST_ALL_THE_SAME)
    told = zip(HONEST_ALL_THE_SAME, map(said, results), strict=True)
    assert [pair for pair in told if pair[1] != ("passed", "")] == []


def test_an_older_node_prints_a_file_and_its_tests_below(tmp_path: Path) -> None:
    (tmp_path / "a.test.js").write_text(ADDS)
    counts = "# tests 1\n# pass 1\n# fail 0\n# cancelled 0\n# skipped 0\n# todo 0\n"
    below = (
        f"TAP version 13\n    ok 1 - adds\n    1..1\nok 1 - {tmp_path}/a.test.js\n1..1\n{counts}"
    )
    none = below.replace("    ok 1 - adds\n    1..1\n", "")
    for name, text in (("below", below), ("none", none)):
        (tmp_path / name).write_text(text)
    results = run(tmp_path, "cat below", "cat none")
    assert [result.outcome for result in results] == ["passed", "inconclusive"]


EACH_RUN = """
import os, pytest, sys
for words in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        os.dup2(os.open(f"{words}.out", os.O_WRONLY | os.O_CREAT), 1)
        sys.exit(pytest.main(["-p", "no:cacheprovider", *words.split()]))
    assert os.waitpid(child, 0)[1] == 0, words
"""
"""Runs of pytest, which is loaded once; what each prints is in a file named by its words."""


def test_one_of_several_runs_that_ended_before_its_report(tmp_path: Path) -> None:
    """Code under test ended its runner with 0; the report of another run is not its."""
    (tmp_path / "test_dead.py").write_text(f"import os\n{PASS}def test_b():\n    os._exit(0)\n")
    (tmp_path / "test_pass.py").write_text(PASS)
    ended, whole = "running 2 tests\ntest a ... ok\n", "running 1 test\ntest result: ok. 1 passed; "
    whole += "0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
    (tmp_path / "dead").write_text(ended + whole)
    (tmp_path / "pass").write_text(whole + whole)
    names = [f"{words}test_pass.py" for words in ("", "-q ", "-v ", "-q -v ")]
    names += ["test_dead.py", "-q test_dead.py"]
    subprocess.run([sys.executable, "-c", EACH_RUN, *names], cwd=tmp_path, check=True)
    program(tmp_path / "bin/pytest", 'cat "./$*.out"')  # as each of them has printed
    loud = "bin/pytest"
    results = run(
        tmp_path,
        f"{loud} test_pass.py && {loud} test_dead.py",
        f"{loud} test_dead.py && {loud} test_pass.py",
        f"{loud} -q test_pass.py && {loud} -q test_dead.py",
        "cat dead",
        f"{loud} test_pass.py && {loud} -v test_pass.py",
        f"{loud} -q test_pass.py && {loud} -q -v test_pass.py",
        f"{loud} test_pass.py > log.txt && {loud} -q test_pass.py",
        "cat pass",
    )
    why = "vacuous: {} began 2 times and reports 1: a run ended before its report"
    cut_short = ("inconclusive", why.format("pytest"))
    assert [said(result) for result in results] == [
        *[cut_short] * 3,
        ("inconclusive", why.format("cargo test")),
        *[("passed", "")] * 4,
    ]


def test_a_run_that_code_under_test_ended_by_pytest_exit(tmp_path: Path) -> None:
    """HAZARD I161: its tests are counted that passed before, and its exit status is 0."""
    ends = f"import pytest\n{PASS}def test_b():\n    pytest.exit('done', returncode=0)\n"
    (tmp_path / "test_ends.py").write_text(f"{ends}def test_c():\n    assert 0\n")
    (tmp_path / "test_pass.py").write_text(PASS)
    options = f"{PY} pytest -p no:cacheprovider"
    commands = (f"{options} -q test_ends.py && {options} test_pass.py", f"{options} test_ends.py")
    why = "vacuous: pytest was ended before its last test (_pytest.outcomes.Exit: done)"
    assert [said(result) for result in run(tmp_path, *commands)] == [("inconclusive", why)] * 2


def test_tests_of_an_image_that_was_built_before(tmp_path: Path) -> None:
    """An image has the files as they were (HAZARD I305)."""
    told = {
        command: Attributor(str(tmp_path)).elsewhere(Check("AC1", command, "", LONG))
        for command in (
            "docker run --rm app pytest -q",
            "podman run app npm test",
            "docker run -v $PWD:/app app pytest",
            "docker run --mount type=bind,src=.,dst=/app app pytest",
            "docker build -t app . && docker run app pytest",
            "docker run --rm app ls",
            "docker compose run app pytest",
            "pytest",
        )
    }
    assert [bool(text) for text in told.values()] == [True, True, *[False] * 6]


def test_a_program_that_is_only_run_where_it_is_installed(tmp_path: Path) -> None:
    """HAZARD I353."""
    (tmp_path / "a.txt").write_text("word\n")
    skipped = (
        "command -v program-nosuch > /dev/null || exit 0; program-nosuch a.txt",
        "if which program-nosuch > /dev/null 2>&1; then program-nosuch a.txt; else echo skip; fi",
        "type program-nosuch 2> /dev/null && program-nosuch a.txt || echo skipped",
        "test -f a.txt && { hash program-nosuch 2> /dev/null || exit 0; program-nosuch a.txt; }",
    )
    results = run(tmp_path, *skipped)
    assert [r.reason.partition(":")[0] for r in results[:2]] == ["vacuous", "vacuous"]
    assert {result.outcome for result in results} == {"inconclusive"}
    honest = (
        "if command -v program-nosuch >/dev/null; then program-nosuch; else grep -q word a.txt; fi",
        "command -v grep > /dev/null || exit 0; grep -q word a.txt",
        "command -v grep > /dev/null",
        "! command -v program-nosuch",
        "command -v program-nosuch > /dev/null || grep -q word a.txt",
    )
    assert [result.outcome for result in run(tmp_path, *honest)] == ["passed"] * len(honest)


def test_tests_of_what_was_built_before(tmp_path: Path) -> None:
    """The files may have changed since (HAZARD I346)."""
    told = {
        command: Attributor(str(tmp_path)).elsewhere(Check("AC1", command, "", LONG))
        for command in (
            "dotnet test --no-build",
            "swift test --skip-build",
            "bash /tmp/check.sh",
            "dotnet build && dotnet test --no-build",
            "./tool --no-build",
            f"{tmp_path}/check.sh",
        )
    }
    assert [bool(text) for text in told.values()] == [True, True, True, *[False] * 3]


def test_a_file_of_perl_that_skips_all_of_it(tmp_path: Path) -> None:
    (tmp_path / "skip.t").write_text('print "1..0 # SKIP no module\\n";')
    (tmp_path / "pass.t").write_text('print "1..1 # one\\nok 1\\n";')
    results = run(tmp_path, "perl skip.t", "perl pass.t", "perl skip.t; perl pass.t")
    assert [said(result) for result in results] == [
        ("inconclusive", "vacuous: TAP reports that no test ran (0 ok, 0 not ok, 0 skipped)"),
        ("passed", ""),
        ("passed", ""),
    ]


# --- what counts, and what does not --------------------------------------------------------------


@pytest.mark.parametrize("command", ["false || false", "exit 3; true", "pytest_nosuch || false"])
def test_what_failed_stays_failed(tmp_path: Path, command: str) -> None:
    (result,) = run(tmp_path, f"echo '2 skipped in 0.01s'; {command}")
    assert result.outcome != "passed"
    assert result.attribution is None


def test_masked_and_failed_is_failed(tmp_path: Path) -> None:
    """A masked command cannot fail by itself; one that is ended from outside is as before."""
    (result,) = run(tmp_path, "kill -SEGV $$ || true")
    assert (result.outcome, result.attribution) == ("failed", None)


@pytest.mark.parametrize("name", ["mocha-skip.xml", "vitest-skip.xml", "jest-ctrf-skip.json"])
def test_a_report_printed_or_written_by_the_run(tmp_path: Path, name: str) -> None:
    (tmp_path / "kept").write_bytes((REPORTS / name).read_bytes())
    new = f"new{Path(name).suffix}"
    results = run(tmp_path, "cat kept", f"./write {new} || cp kept {new}", f"test -f {new}")
    assert [result.outcome for result in results] == ["inconclusive", "inconclusive", "passed"]
    assert results[1].attribution is not None
    assert results[1].attribution["source"] == new


def test_a_report_in_the_commands_own_folder_and_none_outside(tmp_path: Path) -> None:
    top = tmp_path / "top"
    (top / "sub").mkdir(parents=True)
    skipped = (REPORTS / "pytest-skip.xml").read_bytes()
    (top / "kept").write_bytes(skipped)
    (inside,) = run(top, "cp ../kept r.xml", cwd="sub")
    assert inside.attribution is not None
    assert inside.attribution["source"] == "sub/r.xml"
    (outside,) = run(top, f"cp kept ../r.xml && cp kept {tmp_path}/s.xml")
    assert outside.outcome == "passed"
    (link,) = run(top, "ln -s kept l.xml")
    assert link.outcome == "passed"


@pytest.mark.parametrize(
    ("name", "ran", "skipped"),
    [
        ("pytest-pass.xml", 2, 0), ("pytest-skip.xml", 0, 2), ("pytest-none.xml", 0, 0),
        ("pytest-fail.xml", 1, 0), ("pytest-xfail.xml", 0, 1), ("vitest-pass.xml", 2, 0),
        ("vitest-skip.xml", 0, 2), ("mocha-pass.xml", 2, 0), ("mocha-skip.xml", 0, 2),
        ("jest-ctrf-pass.json", 2, 0), ("jest-ctrf-skip.json", 0, 2),
        ("mocha-ctrf-pass.json", 2, 0), ("mocha-ctrf-skip.json", 0, 2),
        ("jest-json-pass.json", 2, 0), ("jest-json-skip.json", 0, 2), ("jest-json-fail.json", 2, 0),
        ("vitest-json-pass.json", 2, 0), ("vitest-json-skip.json", 0, 2),
        ("vitest-json-fail.json", 2, 0), ("mocha-json-pass.json", 2, 0),
        ("mocha-json-skip.json", 0, 2), ("mocha-json-fail.json", 2, 0),
    ],
)  # fmt: skip
def test_reports_of_real_runners(name: str, ran: int, skipped: int) -> None:
    found = read_report((REPORTS / name).read_bytes())
    assert found is not None
    assert (found.ran, found.skipped) == (ran, skipped)
    assert bool(found.failed) == name.partition(".")[0].endswith("-fail")


JEST = (
    '{"numPassedTests": 1, "numFailedTests": 0, "numPendingTests": 0, "numTodoTests": 0,'
    ' "numFailedTestSuites": 0, "success": false}'
)


def _ctrf(summary: dict[str, int], *statuses: str) -> str:
    counts = dict.fromkeys(("passed", "failed", "skipped", "pending", "other"), 0)
    tests = [{"name": "a", "status": status} for status in statuses]
    return json.dumps(
        {"results": {"tool": {"name": "x"}, "summary": {**counts, **summary}, "tests": tests}}
    )


@pytest.mark.parametrize(
    ("data", "ran", "failed"),
    [
        ('<testsuite tests="1" failures="1"><testcase name="a"/></testsuite>', 1, 1),
        ('<testsuites errors="2"><testsuite><testcase name="a"/></testsuite></testsuites>', 1, 2),
        ('<testsuite failures=""><testcase name="a"/></testsuite>', 1, 0),
        ('<testsuite skipped="2"><testcase name="a"/><testcase name="b"/></testsuite>', 0, 0),
        ('<testsuite skipped="1" disabled="1"><testcase/><testcase/><testcase/></testsuite>', 1, 0),
        ('<testsuite skipped="9"><testcase><failure/></testcase><testcase/></testsuite>', 1, 1),
        ('<testsuite><error/><testcase name="a"/></testsuite>', 1, 1),
        ('<testsuite><testcase name="a" status="failed"/></testsuite>', 1, 1),
        ('<testsuite><testcase name="a" result="error"><error/></testcase></testsuite>', 1, 1),
        ('<testsuite><testcase name="a" status="run" result="completed"/></testsuite>', 1, 0),
        ('<testsuite><testcase><failure/><testcase/></testcase></testsuite>', 2, 1),
        ('<testsuite><testcase><testcase/><failure/></testcase></testsuite>', 2, 1),
        ('<testsuite><testcase name="a" status="run" result="skipped"/></testsuite>', 0, 0),
        ('<testsuite><testcase name="a" status="Disabled"/></testsuite>', 0, 0),
        ('<x:testsuite xmlns:x="y"><x:testcase/></x:testsuite>', 1, 0),
        (_ctrf({"passed": 1}, "failed"), 1, 1),
        (_ctrf({"passed": 1}, "passed", "made-up"), 1, 0),
        (_ctrf({"passed": 2}, "passed"), 1, 0),
        (_ctrf({"other": 1}, "other"), 0, 0),
        (JEST, 1, 1),
        ('{"stats": {"passes": 1, "failures": 0, "pending": 0}, "failures": [{}]}', 2, 1),
    ],
)  # fmt: skip
def test_of_a_report_that_contradicts_itself_the_worse_counts(
    data: str, ran: int, failed: int
) -> None:
    found = read_report(data.encode())
    assert found is not None
    assert (found.ran, found.failed) == (ran, failed)


@pytest.mark.parametrize("runner", ["jest", "vitest", "mocha"])
def test_a_runner_that_prints_json_reports(tmp_path: Path, runner: str) -> None:
    program(tmp_path / f"bin/{runner}", 'cat "$1"')
    for kind in ("pass", "skip", "fail"):
        (tmp_path / kind).write_bytes((REPORTS / f"{runner}-json-{kind}.json").read_bytes())
    form = "mocha" if runner == "mocha" else "jest"
    results = run(tmp_path, *(f"bin/{runner} {kind}" for kind in ("pass", "skip", "fail")))
    assert [result.outcome for result in results] == ["passed", "inconclusive", "inconclusive"]
    assert results[1].reason.startswith(f"vacuous: JSON of {form} reports")
    assert results[2].reason.startswith(f"masked: JSON of {form} reports")


CTRF = (
    b'{"results": {"tool": {"name": "x"}, '
    b'"summary": {"passed": %s, "failed": 0, "skipped": 0, "pending": 0}}}'
)
BOMB = (
    b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    b"<testsuite>&b;</testsuite>"
)


@pytest.mark.parametrize(
    "data",
    [
        b"", b"<", b"<html/>", b"<testsuite>", BOMB, b"<a>" * 1000, b"{}", b"{", b"[" * 9000,
        b'{"results": []}', b'{"results": {"summary": {}, "tool": {"name": "x"}}}',
        CTRF % b"-1",
        CTRF % b"true",
        b'{"stats": {"passes": 1, "failures": 0}}',
        b'{"stats": {"passes": "1", "failures": 0, "pending": 0}}',
        b'{"stats": {"passes": 2, "failures": -1, "pending": 0}}',
        b'{"numPassedTests": 1}',
        b'{"a":' * 5000, b'<testsuite tests="7"/>', b"<testsuite>" * 60 + b"</testsuite>" * 60,
        b"<testsuite/>" + b" " * LIMIT,
        b"<?xml version='1.0' encoding='made-up'?><testsuite/>",
    ],
    ids=lambda data: repr(data[:20]),
)  # fmt: skip
def test_what_is_no_report_says_nothing(data: bytes) -> None:
    assert read_report(data) is None


# --- the report that a criterion names ------------------------------------------------------------


GOOD = '<testsuite tests="1"><testcase name="a"/></testsuite>'
BAD = '<testsuite tests="1"><testcase name="a"><failure/></testcase></testsuite>'
LEFT = '<testsuite tests="1"><testcase name="a"><skipped/></testcase></testsuite>'
CTRF_BAD = CTRF.replace(b'"failed": 0', b'"failed": 1').decode() % "1"
WHERE = {
    # (report, what the command does): how the run counts, and words of the reason
    ("r.xml", f"echo '{GOOD}' > r.xml"): ("passed", ""),
    ("./r.xml", f"echo '{GOOD}' > r.xml"): ("passed", ""),
    ("out/**/TEST-*.xml", f"mkdir -p out/a/b && echo '{GOOD}' > out/a/b/TEST-x.xml"): (
        "passed",
        "",
    ),
    ("*.json", f"echo '{CTRF.decode() % '1'}' > r.json"): ("passed", ""),
    ("r.xml", f"echo '{BAD}' > r.xml"): ("inconclusive", "masked: JUnit XML reports in"),
    ("r.json", f"echo '{CTRF_BAD}' > r.json"): ("inconclusive", "masked: CTRF reports in"),
    ("r*.xml", f"echo '{GOOD}' > ra.xml; echo '{BAD}' > rb.xml"): ("inconclusive", "masked: "),
    ("r.xml", f"echo '{LEFT}' > r.xml"): ("inconclusive", "vacuous: JUnit XML reports in"),
    ("r.xml", "echo '<testsuite/>' > r.xml"): ("inconclusive", "vacuous: JUnit XML reports"),
    ("r.xml", "true"): ("inconclusive", "report r.xml is not there"),
    ("r*.xml", "true"): ("inconclusive", "report r*.xml is not there"),
    ("old.xml", "true"): ("inconclusive", "report old.xml was there before and is as it was"),
    ("old.xml", "cat old.xml > x && cat x > old.xml"): ("passed", ""),
    ("r.xml", "ln -s old.xml r.xml"): ("inconclusive", "report r.xml cannot be read"),
    ("link/r.xml", f"mkdir d && ln -s d link && echo '{GOOD}' > d/r.xml"): (
        "inconclusive",
        "cannot be",
    ),
    ("l*/r.xml", f"mkdir d && ln -s d link && echo '{GOOD}' > d/r.xml"): (
        "inconclusive",
        "not there",
    ),
    ("r.xml", "mkdir r.xml"): ("inconclusive", "report r.xml cannot be read"),
    ("r.xml", "echo '<testsuite' > r.xml"): ("inconclusive", "is no JUnit or CTRF report"),
    ("r.xml", "head -c 17000000 /dev/zero > r.xml"): ("inconclusive", "cannot be read"),
    ("r.xml", f"echo '{BAD}' > r.xml; exit 1"): ("failed", ""),
}


def test_the_report_of_a_criterion_decides(tmp_path: Path) -> None:
    """Each in a folder of its own, and twice at the top level."""
    cases = [(f"sub{number}", *case) for number, case in enumerate(WHERE)]
    top = [("", *case) for case in [*WHERE][:3:2]]
    for cwd, _, _ in (*cases, *top):
        (tmp_path / cwd).mkdir(exist_ok=True)
        (tmp_path / cwd / "old.xml").write_text(GOOD)
    every = [*cases, *top]
    checks = [Check(f"AC{n}", c, cwd, LONG, report=r) for n, (cwd, r, c) in enumerate(every)]
    for (_, *case), result in zip(every, check(tmp_path, *checks), strict=True):
        outcome, words = WHERE[case[0], case[1]]
        assert result.outcome == outcome, (case, result)
        assert words in result.reason, case
        assert result.attribution is not None or outcome != "inconclusive", case


def test_a_report_is_looked_for_from_the_top_level_too(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (result,) = run(tmp_path, f"echo '{GOOD}' > r.xml", cwd="sub", report="sub/r.xml")
    assert result.outcome == "passed"


def test_a_report_lets_a_silent_runner_be_seen(tmp_path: Path) -> None:
    (tmp_path / "test_pass.py").write_text(PASS)
    quiet = f"{PY} pytest -p no:cacheprovider --junit-xml=out/r.xml test_pass.py >/dev/null"
    program(tmp_path / "bin/pytest", "echo '1 passed in 0.01s'")
    (unseen,) = run(tmp_path, "bin/pytest test_pass.py >/dev/null")
    assert said(unseen)[1].startswith("vacuous: no report of pytest shows a test that ran")
    (seen,) = run(tmp_path, quiet, report="out/*.xml")
    assert seen.outcome == "passed"


# --- a project's own rules -----------------------------------------------------------------------


def house(top: Path, prints: str) -> None:
    program(top / "house", f"mkdir -p out\n{prints}")
    (top / ".flow").mkdir(exist_ok=True)
    (top / ".flow/runners.yaml").write_text(RULES)


@pytest.mark.parametrize(
    ("prints", "outcome"),
    [
        ("echo house: ran 0 of 0", "inconclusive"),
        ("echo house: ran 3 of 3", "passed"),
        ("echo '<testsuite/>' > out/house.xml", "inconclusive"),
        ("echo '<testsuite><testcase/></testsuite>' > out/house.xml", "passed"),
        ("echo house: ran 0 of 0; exit 1", "failed"),
    ],
)
def test_a_rule_of_the_project_holds_back(tmp_path: Path, prints: str, outcome: str) -> None:
    house(tmp_path, prints)
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    for _ in range(2):  # read, and remembered
        (result,) = run(tmp_path, "./house", cache=str(cache))
        assert result.outcome == outcome
        (tmp_path / "out/house.xml").unlink(missing_ok=True)


@pytest.mark.parametrize("text", ["runners: 7\n", "runners: [\n", "a: &x [1]\n", "\xff"])
def test_a_broken_rule_file_is_said_before_anything_runs(tmp_path: Path, text: str) -> None:
    (tmp_path / ".flow").mkdir()
    (tmp_path / ".flow/runners.yaml").write_text(text, "latin-1")
    with pytest.raises(ContractError) as caught:
        run(tmp_path, "touch ran")
    assert "runners.yaml" in str(caught.value)
    assert not (tmp_path / "ran").exists()


# --- cost ----------------------------------------------------------------------------------------


def test_a_command_is_parsed_once_and_remembered_for_other_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    asked: list[str] = []
    real: Callable[[str], Any] = shell_syntax.parse_shell

    def counted(text: str) -> Any:
        asked.append(text)
        return real(text)

    monkeypatch.setattr(shell_syntax, "parse_shell", counted)
    for _ in range(3):
        assert Attributor(str(tmp_path), str(cache)).reading("a || true").masked_exit
    assert asked == ["a || true"]
    monkeypatch.setattr(attributor, "REVISION", attributor.REVISION + 1)
    assert Attributor(str(tmp_path), str(cache)).reading("a || true").masked_exit
    assert len(asked) == 2


def test_a_damaged_cache_is_not_believed(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    Attributor(str(tmp_path), str(cache)).reading("a || true")
    (entry,) = cache.iterdir()
    entry.write_bytes(entry.read_bytes().replace(b"masked", b"mAsked"))
    assert Attributor(str(tmp_path), str(cache)).reading("a || true").masked_exit


def test_what_failed_is_not_even_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(text: str) -> Any:
        raise AssertionError(text)

    monkeypatch.setattr(shell_syntax, "parse_shell", refuse)
    (result,) = run(tmp_path, "false")
    assert result.outcome == "failed"


def test_output_beyond_the_window_and_cut_output(tmp_path: Path) -> None:
    """The ``ran`` of a first package, out of sight, keeps the last ones from an alarm."""
    noise = f"{sys.executable} -c 'print((\"x\" * 99 + chr(10)) * 4000)'"
    first = "printf 'ok  \\tpkg\\t0.01s\\n'"
    nothing = "printf '?   \\tpkg\\t[no test files]\\n'"
    late, small = run(tmp_path, f"{first} && {noise} && {nothing}", nothing)
    assert said(late) == ("passed", "")
    assert small.outcome == "inconclusive"
