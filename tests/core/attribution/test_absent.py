# ruff: noqa: E501, ISC004  (a row a line)
"""What real runners print where there is no such test, and what a failure then shows."""

from __future__ import annotations

import re

import pytest

from flow.adapters.attribution.shell_syntax import parse_shell
from flow.core.attribution.absent import _ALWAYS_REPORT, ABSENCES, shows_nothing
from flow.core.attribution.attribute import read_command
from flow.core.masked_exit import runner_tables

RAN_ONE = "-" * 70 + "\nRan 1 test in 0.000s\n\nFAILED (errors=1)\n"
NOTHING = {
    "pytest: no such file": (
        "pytest -q src/test_new.py", 4,
        "\nno tests ran in 0.57s\nERROR: file or directory not found: src/test_new.py\n",
    ),
    "pytest: no such test": (
        "python -m pytest -q test_a.py::test_no", 4,
        "no tests ran in 0.37s\nERROR: not found: /tmp/x/test_a.py::test_no\n(no match in any of)\n",
    ),
    "pytest: none selected": ("pytest -q -k no", 5, "1 deselected in 0.46s\n"),
    "pytest: an unknown option": (
        "python -m pytest --nooption", 4,
        "ERROR: usage: python -m pytest [options]\n"
        "python -m pytest: error: unrecognized arguments: --nooption\n",
    ),
    "pytest: its output is thrown away": ("pytest x.py > /dev/null 2>&1", 4, ""),
    "pytest: it is not installed": (
        "python -m pytest", 1, "/usr/bin/python3: No module named pytest\n"
    ),
    "unittest: no such module": (
        "python -m unittest src.test_new", 1,
        "ERROR: test_new (unittest.loader._FailedTest.test_new)\n" + "-" * 70
        + "\nImportError: Failed to import test module: test_new\nTraceback (most recent call last):\n"
        "ModuleNotFoundError: No module named 'src.test_new'\n\n\n" + RAN_ONE,
    ),
    "unittest: no such file": (
        "python -m unittest src/test_new.py", 1,
        "ERROR: src/test_new (unittest.loader._FailedTest.src/test_new)\n"
        "ModuleNotFoundError: No module named 'src/test_new'\n\n\n" + RAN_ONE,
    ),
    "unittest: no such class": (
        "python -m unittest test_a.Nosuch", 1,
        "E\n" + "=" * 70 + "\nERROR: Nosuch (unittest.loader._FailedTest.Nosuch)\n"
        "AttributeError: module 'test_a' has no attribute 'Nosuch'\n\n" + RAN_ONE,
    ),
    "unittest: 3.12": ("python -m unittest", 5, "-" * 70 + "\nRan 0 tests in 0.000s\n\nNO TESTS RAN\n"),
    "unittest: no such folder": (
        "python -m unittest discover -s nosuch", 1,
        "Traceback (most recent call last):\nImportError: Start directory is not importable: 'no'\n",
    ),
    "jest": ("npx jest t/nosuch.test.js", 1, "No tests found, exiting with code 1\n"),
    "jest that says nothing": ("npx jest > /dev/null 2>&1", 1, ""),
    "vitest": ("npx vitest run nosuch", 1, " RUN  v4.1.12\n\nNo test files found, exiting with code 1\n"),
    "mocha": ("mocha t/nosuch.js", 1, 'Error: No test files found: "t/nosuch.js"\n'),
    "ava": ("ava t/no.mjs", 1, "  ✘ Based on your configuration, 2 test files were found, but did not match the filters:\n"),
    "ava: no such test": ("ava --match no", 1, "  ✘ Couldn’t find any matching tests\n"),
    "node --test": ("node --test t/no.cjs", 1, "Could not find '/tmp/t/no.cjs'\n"),
    "a script of node": ("node t/no.cjs", 1, "Error: Cannot find module '/tmp/t/no.cjs'\n"),
    "a script of python": (
        "python3 src/test_new.py", 2,
        "python3: can't open file '/tmp/src/test_new.py': [Errno 2] No such file or directory\n",
    ),
    "unittest: a test of a module that is not there": (
        "python -m unittest test_new.A.test_a", 1,
        "ERROR: test_new (unittest.loader._FailedTest.test_new)\n"
        "ModuleNotFoundError: No module named 'test_new'\n\n\n" + RAN_ONE,
    ),
    "go": ("go test ./nosuch", 1, "stat /tmp/nosuch: directory not found\nFAIL\t./nosuch [setup failed]\nFAIL\n"),
    "cargo": ("cargo test --test no", 101, "error: no test target named `no` in default-run packages\n"),
    "cargo: no such package": ("cargo test -p no", 101, "error: package ID specification `no` did not match any packages\n"),
    "nextest": ("cargo nextest run no", 4, "     Summary [   0.001s] 0 tests run: 0 passed, 1 skipped\nerror: no tests to run\n"),
    "rspec": (
        "rspec spec/no_spec.rb", 1,
        "LoadError:\n  cannot load such file -- /tmp/spec/no_spec.rb\n"
        "0 examples, 0 failures, 1 error occurred outside of examples\n",
    ),
    "phpunit 9": ("phpunit tests/No.php", 1, 'Cannot open file "tests/No.php".\n'),
    "phpunit": ("phpunit", 1, "No tests executed!\n"),
    "prove": ("prove t/no.t", 2, "Cannot detect source of 't/no.t'! at x line 1.\nFiles=0, Tests=0,  0 wallclock secs ( 0.01 usr +  0.01 sys =  0.02 CPU)\nResult: NOTESTS\n"),
    "npm": ("npm run test:no", 1, 'npm error Missing script: "test:no"\n'),
    "make": ("make no", 2, "make: *** No rule to make target 'no'.  Stop.\n"),
    "maven": ("mvn test -Dtest=No", 1, '[ERROR] Failed to execute goal x: No tests matching pattern "No" were executed! (Set x)\n'),
    "gradle": ("./gradlew test --tests No", 1, "> No tests found for given includes: [No](--tests filter)\n"),
    "dotnet": ("dotnet test no.csproj", 1, "MSBUILD : error MSB1009: Project file does not exist.\n"),
    "127 in a pipe": ("nosuch | grep -q x", 1, "bash: line 1: nosuch: command not found\n"),
    "126 in a pipe": ("./run | grep -q x", 1, "bash: line 1: ./run: Permission denied\n"),
    "a path in a pipe": ("./no | cat", 1, "bash: line 1: ./no: No such file or directory\n"),
    "of another shell": ("sh -c 'nosuch | cat'", 1, "sh: 1: nosuch: not found\n"),
    "behind env": ("env nosuch | cat", 1, "env: ‘nosuch’: No such file or directory\n"),
}  # fmt: skip
RED = {
    "pytest": ("pytest -q", 1, "FAILED test_a.py::test_a - assert 0\n1 failed, 1 passed in 0.02s\n"),
    "pytest: a test that cannot be imported": (
        "pytest -q test_i.py", 2,
        "E   ModuleNotFoundError: No module named 'greet'\n1 error in 1.42s\n",
    ),
    "pytest that says nothing": ("pytest > /dev/null 2>&1", 1, ""),
    "unittest: what is tested is not there": (
        "python -m unittest test_i", 1,
        "ERROR: test_i (unittest.loader._FailedTest.test_i)\n"
        "ModuleNotFoundError: No module named 'greet'\n\n\n" + RAN_ONE,
    ),
    "unittest: one not there and one that failed": (
        "python -m unittest test_a test_new", 1,
        "ERROR: test_new (unittest.loader._FailedTest.test_new)\n"
        "ModuleNotFoundError: No module named 'test_new'\n" + "-" * 70
        + "\nRan 2 tests in 0.000s\n\nFAILED (failures=1, errors=1)\n",
    ),
    "unittest: an attribute that the change brings": (
        "python -m unittest test_a", 1,
        "ERROR: test_a (test_a.A.test_a)\nAttributeError: module 'greet' has no attribute 'test_a'\n\n"
        + RAN_ONE,
    ),
    "jest": (
        "npx jest", 1,
        "Test Suites: 1 failed, 1 total\nTests:       1 failed, 1 total\nSnapshots:   0 total\n",
    ),
    "go": ("go test ./...", 1, "--- FAIL: TestA (0.00s)\nFAIL\nFAIL\tx\t0.01s\n"),
    "go that does not build": ("go test ./...", 1, "FAIL\tx [build failed]\n"),
    "cargo that does not build": (
        "cargo test", 101, "error: could not compile `cr` (lib test) due to 1 previous error\n"
    ),
    "node --test": ("node --test", 1, "# tests 1\n# suites 0\n# pass 0\n# fail 1\n# cancelled 0\n# skipped 0\n# todo 0\n"),
    "grep": ("grep -q please src/new.txt", 2, "grep: src/new.txt: No such file or directory\n"),
    "a script that failed": ("bash check.sh", 1, ""),
    "a pipe": ("cat src/greet.txt | grep -q please", 1, ""),
    "a file to read from": ("wc -l < new.txt", 1, "bash: line 1: new.txt: No such file or directory\n"),
    "make": ("make test", 2, "make: *** [Makefile:2: test] Error 1\n"),
    "make that needs a file": ("make app", 2, "make: *** No rule to make target 'a.c', needed by 'app'.  Stop.\n"),
    "another check beside it": ("pytest -q && grep -q x y", 1, "1 passed in 0.02s\n"),
}  # fmt: skip


def why(command: str, exit_code: int, output: str) -> str:
    return shows_nothing(read_command(command, parse_shell), output.split("\n"), exit_code)


@pytest.mark.parametrize("case", NOTHING.values(), ids=list(NOTHING))
def test_a_failure_that_shows_no_test(case: tuple[str, int, str]) -> None:
    assert why(*case)


@pytest.mark.parametrize("case", RED.values(), ids=list(RED))
def test_a_failure_that_does(case: tuple[str, int, str]) -> None:
    assert why(*case) == ""


@pytest.mark.parametrize("row", ABSENCES, ids=lambda row: f"{row.program}: {row.literal}")
def test_every_form_is_a_pattern_that_can_match_its_literal(row: object) -> None:
    re.compile(row.pattern)  # type: ignore[attr-defined]
    assert row.source  # type: ignore[attr-defined]


def test_every_runner_has_a_form_or_always_reports() -> None:
    """Of what starts a runner of its own (make, npm) the runner's words count."""
    tables = (*runner_tables.WITH.values(), runner_tables.ALONE, runner_tables.MODULES)
    kinds = {kind for table in tables for kind in table.values()} | {"node --test"}
    told = _ALWAYS_REPORT | {row.program for row in ABSENCES}
    assert kinds - told == {"", "gotestsum"}  # which prints go's


def test_the_programs_of_pipes() -> None:
    def piped(text: str) -> tuple[str, ...]:
        return read_command(text, parse_shell).piped_programs

    assert piped("timeout 5 a x | b && c; (d | tee log)") == ("a", "b", "d", "tee")
    assert piped("f() { x | y; }; f | z") == ()
