# ruff: noqa: E501
"""What real runners printed (``tests/core/attribution/runners``), and what is made of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from flow.adapters.attribution.shell_syntax import parse_shell
from flow.core.attribution import attribute
from flow.core.attribution.attribute import (
    Attribution,
    CommandReading,
    all_reports,
    lines_of,
    number_of_tests,
    read_command,
    reported_failure,
    skipped_tests,
    vacuous,
    without_escapes,
)
from flow.core.attribution.reading import Summary
from flow.core.masked_exit.shell import ShellNode
from tests.core.attribution.honest_runs import PNPM_BOTH, TURBO_BOTH

FOLDER = Path(__file__).parent / "runners"
SINGLE = {"pytest": "pytest", "jest": "jest", "vitest": "vitest", "mocha": "mocha"}

VACUOUS = {
    "pytest": {
        "none-allowed": "no tests ran", "deselected-allowed": "2 deselected",
        "skipped": "2 skipped", "skipped-quiet": "2 skipped", "skipped-verbose": "2 skipped",
        "skipped-colour": "2 skipped", "collect-only": "2 tests collected",
        "collect-only-quiet": "2 tests collected", "braggart": "1 skipped",
        "braggart-quiet": "1 skipped", "skipped-silent": "2 skipped", "xfail": "1 xfailed",
    },
    "unittest": {
        "none": "Ran 0 tests", "skip": "Ran 2 tests", "skip-verbose": "Ran 2 tests",
        "classonly": "Ran 0 tests", "braggart": "Ran 0 tests", "xfail": "expected failures=1",
    },
    "jest": {
        "skip": "2 skipped", "skip-colour": "2 skipped", "todo": "1 todo",
        "none-allowed": "No tests found", "name-none": "2 skipped", "braggart": "1 skipped",
    },
    "vitest": {
        "skip": "2 skipped", "todo": "1 todo", "none-allowed": "No test files found",
        "name-none": "2 skipped", "braggart": "1 skipped",
    },
    "mocha": {
        "skip": "2 pending", "skip-colour": "2 pending", "skip-dot": "2 pending",
        "none": "0 passing", "grep-none": "0 passing", "braggart": "1 pending",
    },
    "cargo": {
        "none": "0 ran, 0 ignored, 0 filtered out", "ignored": "0 filtered out",
        "filtered": "2 filtered out", "filtered-exact": "2 filtered out",
    },
    "go": {
        "no-files": "[no test files]", "filtered": "[no tests to run]",
        "filtered-verbose": "[no tests to run]", "skipped-verbose": "2 skipped",
        "json-skipped": "2 skipped", "json-filtered": "0 ran", "cover-no-files": "[no test files]",
    },
}  # fmt: skip
"""Of the runs that exited 0, those in which no test ran, and words of the reason."""


def captured() -> list[tuple[str, str]]:
    return sorted((path.parent.name, path.stem) for path in FOLDER.glob("*/*.txt"))


def read(runner: str, state: str) -> tuple[int, bytes]:
    _, ended, output = (FOLDER / runner / f"{state}.txt").read_bytes().split(b"\n", 2)
    return int(ended.split()[1]), output


@pytest.mark.parametrize(("runner", "state"), captured())
def test_a_captured_run_is_read_as_what_it_was(runner: str, state: str) -> None:
    status, output = read(runner, state)
    two = state.startswith("two-runs")
    reading = CommandReading(only_runner="" if two else SINGLE.get(runner, ""))
    found = vacuous(reading, lines_of(output), whole=True)
    if status:
        return  # a run that failed is never asked about
    expected = VACUOUS[runner].get(state)
    assert (found is not None) == (expected is not None), found
    if found is not None:
        assert expected is not None
        assert expected in found.why
        assert found.runner.startswith(runner)
        assert (found.kind, found.tests, found.source) == ("vacuous", 0, "output")


FULL = "s" * 72 + " [ 72%]\n"


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (FULL + "s" * 28 + "   [100%]\n", True),
        (FULL + "a test prints this\n" + "s" * 28 + "   [100%]\n", True),
        (FULL + "s" * 27 + ".   [100%]\n", False),
        (FULL + "s" * 27 + "x   [100%]\n", True),
        ("sx.   [3/3]\n", False),
        ("s   [1/3]\nsx  [3/3]\n", True),
        ("s   [1/3]\ns  [3/3]\n", None),
        ("s" * 28 + "   [100%]\n" + FULL, True),
        ("s" * 40 + " [ 72%]\n" + "s" * 28 + "   [100%]\n", None),
        (FULL + "a print" + "s" * 28 + "   [100%]\n", None),
        ("s" * 28 + " [ 50%]\n", None),
        (FULL + "s" * 28 + " [100%]\n.  [100%]\n1 passed in 0.1s\n", False),
    ],
)
def test_a_progress_without_a_summary_counts_where_none_of_it_is_missing(
    output: str, expected: bool | None
) -> None:
    """``expected`` None: nothing is known, which is no pass where pytest is in the command."""
    found = vacuous(CommandReading(only_runner="pytest"), lines_of(output.encode()), whole=True)
    assert (found is not None) is bool(expected)
    asked = CommandReading(only_runner="pytest", runners=("pytest",))
    found = vacuous(asked, lines_of(output.encode()), whole=True)
    assert (found is not None) is (expected is not False)


FAILURES = {
    "cargo": {"failed": "cargo test"}, "go": {"failed": "go test"}, "jest": {"fail": "jest"},
    "mocha": {"fail": "mocha"}, "pytest": {"failed": "pytest"}, "unittest": {"fail": "unittest"},
    "vitest": {"fail": "vitest"},
}  # fmt: skip


@pytest.mark.parametrize("runner", FAILURES)
def test_a_failure_that_a_runner_reports_is_told_although_the_exit_is_0(runner: str) -> None:
    for state, kind in FAILURES[runner].items():
        output = read(runner, state)[1]
        for reading in (CommandReading(), CommandReading(only_runner=SINGLE.get(runner, ""))):
            found = reported_failure(reading, all_reports(reading, lines_of(output), []))
            assert found is not None
            assert (found.kind, found.runner) == ("masked", kind)
            assert found.why.endswith("and the exit status is 0")
        for told in (CommandReading(inverted=True), CommandReading(second_try=True)):
            both = output + b"\n" + read(runner, "passed" if runner in PASSED else "pass")[1]
            assert reported_failure(told, all_reports(told, lines_of(both), [])) is None


PASSED = ("cargo", "go", "pytest")


@pytest.mark.parametrize(("runner", "state"), captured())
def test_a_run_that_passed_reports_no_failure(runner: str, state: str) -> None:
    status, output = read(runner, state)
    reading = CommandReading(
        only_runner="" if state.startswith("two-runs") else SINGLE.get(runner, "")
    )
    found = reported_failure(reading, all_reports(reading, lines_of(output), []))
    assert (found is None) or status != 0 or "liar" in state


LANGUAGES = [
    # (what the runner prints, ran, skipped, failed); from the sources in report_forms
    ("3 examples, 1 failure, 1 pending", 2, 1, 1),
    ("0 examples, 0 failures", 0, 0, 0),
    ("0 examples, 0 failures, 1 error occurred outside of examples", 1, 0, 1),
    ("OK (2 tests, 3 assertions)", 2, 0, 0),
    ("Tests: 3, Assertions: 2, Errors: 1, Failures: 1.", 3, 0, 2),
    ("Tests: 2, Assertions: 0, Skipped: 2.", 0, 2, 0),
    ("No tests executed!", 0, 0, 0),
    ("  Tests:    1 failed, 1 passed (2 assertions)", 2, 0, 1),
    ("  Tests:    2 skipped (0 assertions)", 0, 2, 0),
    ("2 runs, 3 assertions, 1 failures, 0 errors, 0 skips", 2, 0, 1),
    ("2 runs, 0 assertions, 0 failures, 0 errors, 2 skips", 0, 2, 0),
    ("3 tests, 3 assertions, 0 failures, 1 errors, 0 pendings, 0 omissions, 0 notifications", 3, 0, 1),
    ("Failed!  - Failed:     1, Passed:     2, Skipped:     0, Total:     3, Duration: 5 ms - t.dll", 3, 0, 1),
    ("Skipped! - Failed:     0, Passed:     0, Skipped:     2, Total:     2, Duration: 5 ms - t.dll", 0, 2, 0),
    ("Test summary: total: 3, failed: 1, succeeded: 2, skipped: 0, duration: 1.0s", 3, 0, 1),
    ("No test is available in /x/t.dll. Make sure that test discoverer is registered", 0, 0, 0),
    ("2 tests, 1 failure", 2, 0, 1),
    ("1 doctest, 2 tests, 0 failures, 1 excluded", 1, 1, 0),
    ("2 tests, 0 failures, 2 skipped", 0, 2, 0),
    ("There are no tests to run", 0, 0, 0),
    ("[info] No tests to run for Test / test", 0, 0, 0),
    ("\t Executed 3 tests, with 1 failure (0 unexpected) in 0.001 (0.002) seconds", 3, 0, 1),
    ("\t Executed 1 test, with 1 test skipped and 0 failures (0 unexpected) in 0.0 (0.0) seconds", 0, 1, 0),
    ("✘ Test run with 3 tests failed after 0.001 seconds with 1 issue.", 1, 0, 1),
    ("50% tests passed, 1 tests failed out of 2", 2, 0, 1),
    ("No tests were found!!!", 0, 0, 0),
    ("FAILED | 1 passed | 1 failed (5ms)", 2, 0, 1),
    ("ok | 0 passed | 0 failed | 2 ignored (5ms)", 0, 2, 0),
    ("Files=1, Tests=3,  0 wallclock secs", 3, 0, 0),
    ("Result: FAIL", 1, 0, 1),
    ("Result: NOTESTS", 0, 0, 0),
    ("# { total: 3, pass: 2, fail: 1 }", 3, 0, 1),
    ("Chrome: Executed 3 of 3 (1 FAILED) (0.01 secs / 0.002 secs)", 3, 0, 1),
    ("Chrome: Executed 0 of 2 (skipped 2) SUCCESS (0.01 secs / 0 secs)", 0, 2, 0),
    ("3 tests completed, 1 failed", 3, 0, 1),
    ("There were failing tests. See the report at: file:///x/index.html", 1, 0, 1),
    ("[ERROR] Tests run: 3, Failures: 1, Errors: 1, Skipped: 0", 3, 0, 2),
    ("[WARNING] Tests run: 2, Failures: 0, Errors: 0, Skipped: 2", 0, 2, 0),
    ("[INFO] Tests are skipped.", 0, 0, 0),
    ("[INFO] No tests to run.", 0, 0, 0),
    ("     Summary [   0.010s] 3 tests run: 2 passed, 1 failed, 0 skipped", 3, 0, 1),
    ("     Summary [   0.010s] 0 tests run: 0 passed, 2 skipped", 0, 2, 0),
    ("[error] Failed: Total 3, Failed 1, Errors 0, Passed 2", 3, 0, 1),
    ("FAIL! -- 2 Passed | 1 Failed | 0 Pending | 0 Skipped", 3, 0, 1),
    ("DONE 3 tests, 1 failure in 0.1s", 3, 0, 1),
    ("[  FAILED  ] 1 test, listed below:", 1, 0, 1),
    ("00:01 +2 -1: Some tests failed.", 3, 0, 1),
    ("00:01 +0 ~2: All tests skipped.", 0, 2, 0),
    ("2 scenarios passed, 1 failed, 0 skipped", 3, 0, 1),
    ("1 scenario passed, 0 failed, 0 skipped", 1, 0, 0),
    ("1 test completed, 1 failed", 1, 0, 1),
    ("     Summary [   0.010s] 1 test run: 1 passed, 0 skipped", 1, 0, 0),
    ("1 test, 1 passed, 0 failed", 1, 0, 0),
    ("1 success / 0 failures / 0 errors / 0 pending : 0.1 seconds", 1, 0, 0),
    ("Asserts:  3 passed, 1 failed, of 4", 4, 0, 1),
    ("  total: 3\n  failed: 1\n  succeeded: 2\n  skipped: 0", 3, 0, 1),
    ("3 scenarios (1 failed, 2 passed)", 3, 0, 1),
    ("2 successes / 1 failure / 0 errors / 0 pending : 0.1 seconds", 3, 0, 1),
    ("1 failures, 0 errors.", 1, 0, 1),
    ("FAILED (failures=1, successes=2)", 1, 0, 1),
    ("PASSED (skips=2)", 0, 2, 0),
    ("No tests found related to files changed since last commit.", 0, 0, 0),
    ("ℹ tests 3\nℹ pass 1\nℹ fail 1\nℹ cancelled 0\nℹ skipped 1\nℹ todo 0", 2, 1, 1),
    ("# tests 2\n# pass 0\n# fail 0\n# cancelled 0\n# skipped 2\n# todo 0", 0, 2, 0),
    (" 1 pass\n 1 skip\n 1 fail", 2, 1, 1),
    ("  1 failed\n    [chromium] x\n  1 skipped\n  2 passed (2.1s)", 3, 1, 1),
    ("  1 test failed\n  1 test skipped", 1, 1, 1),
    (" - Passed: 2\n - Skipped: 1\n - Failed: 1", 3, 1, 1),
    ("1..3\nok 1 a\nnot ok 2 b\nok 3 c # skip later", 2, 1, 1),
    ("1..2\nok 1 # skip a\nok 2 # skip b", 0, 2, 0),
    ("No tests defined.", 0, 0, 0),
    ("No suitable tests defined.", 0, 0, 0),
    ("Ok:                 2   \nFail:               1   \nSkipped:            1   ", 3, 1, 1),
    ("Ok:                 0   \nExpected Fail:      1   \nFail:               0   ", 0, 1, 0),
    ("Package has no test suites.", 0, 0, 0),
    ("0 examples, 0 failures, 0 errors, 0 pending", 0, 0, 0),
    ("3 examples, 1 failures, 0 errors, 1 pending", 2, 1, 1),
    ("No scenarios", 0, 0, 0),
    ("0 examples", 0, 0, 0),
    ("No Tests Found", 0, 0, 0),
    ("  Ran 3 tests with 1 failures, 0 errors and 1 skipped in 0.01 seconds.", 2, 1, 1),
    ("0 specs, 0 failures", 0, 0, 0),
    ("3 specs, 1 failure, 1 pending spec", 2, 1, 1),
    ("  OK  | 0 passed   // 1ms", 0, 0, 0),
    ("# Ran 2 tests, 2 skipped, 0 failed.", 0, 2, 0),
    ("Ran 0 tests.", 0, 0, 0),
    ("RESULTS    : PASS 0 | ERROR 0 | FAIL 0 | SKIP 2 | WARN 0 | INTERRUPT 0", 0, 2, 0),
    ("0 tests, 0 assertions, 0 failures.", 0, 0, 0),
    ("3 tests, 4 assertions, 1 errors, 1 failures.", 3, 0, 2),
    ("[ FAIL 0 | WARN 0 | SKIP 2 | PASS 0 ]", 0, 2, 0),
    ("[ FAIL 1 | WARN 0 | SKIP 0 | PASS 3 ]", 4, 0, 1),
    ("[info] Passed: Total 2, Failed 0, Errors 0, Passed 0, Skipped 1, Ignored 1", 0, 0, 0),
    ("[info] Passed: Total 2, Failed 0, Errors 0, Passed 1, Skipped 1", 1, 0, 0),
    ("1 scenario (1 skipped)", 0, 0, 0),
    ("2 scenarios (1 undefined, 1 skipped)", 0, 0, 0),
    ("3 scenarios (1 skipped, 2 passed)", 2, 0, 0),
    ("100% tests passed, 0 tests failed out of 2\n\nThe following tests did not run:\n\t  1 - a (Skipped)\n\t  2 - b (Skipped)", 0, 2, 0),
    ("50% tests passed, 1 tests failed out of 2\n\nThe following tests did not run:\n\t  1 - a (Skipped)\n\nThe following tests FAILED:\n\t  2 - b (Failed)", 1, 1, 1),
    ("# Subtest: s\nok 1 - s\n  ---\n  duration_ms: 0.8\n  type: 'suite'\n  ...\n1..1", 0, 0, 0),
    ("not ok 1 - s\n  ---\n  duration_ms: 0.8\n  type: 'suite'\n  ...\n1..1", 1, 0, 1),
    ("[doctest] test cases: 0 | 0 passed | 0 failed | 3 skipped", 0, 3, 0),
    ("[doctest] test cases: 3 | 2 passed | 1 failed | 0 skipped", 3, 0, 1),
    ("0 tests in 1 items.", 0, 0, 0),
    ("  There were no tests to run.", 0, 0, 0),
    ("Test Successful in 0.000s. 0 test run.", 0, 0, 0),
    ("Ran: 0 tests in: 0.00 seconds.", 0, 0, 0),
    ("0 passed; 1 skipped; 0 failed.", 0, 1, 0),
    ("Success! 0 passed, 0 failed.", 0, 0, 0),
    ("Failure! 2 passed, 1 failed, 1 skipped.", 3, 1, 1),
    ("0 tests, 0 passed, 0 warnings, 0 failures, 0 exceptions", 0, 0, 0),
    ("3 tests, 1 passed, 0 warnings, 2 failures, 0 exceptions, 0 skipped", 3, 0, 2),
    ("Ran 1 test suite in 1.02ms (0.10ms CPU time): 0 tests passed, 0 failed, 1 skipped (1 total tests)", 0, 1, 0),
    ("08:01:02  Done. PASS=0 WARN=0 ERROR=0 SKIP=3 NO-OP=0 TOTAL=3", 0, 3, 0),
    ("08:01:02  Done. PASS=2 WARN=0 ERROR=1 SKIP=0 TOTAL=3", 3, 0, 1),
    ("Tests Passed: 0, Failed: 0, Skipped: 1, Inconclusive: 0, NotRun: 0", 0, 1, 0),
    ("  Test Count: 3, Passed: 1, Failed: 1, Warnings: 0, Inconclusive: 0, Skipped: 1", 2, 1, 1),
    ("Spec Files:\t 0 passed, 1 skipped, 1 total (100% completed) in 00:00:01", 0, 1, 0),
    ("Test Suites: 1 failed, 1 passed, 2 total\nTests:       2 passed, 2 total", 2, 0, 1),
    (" Test Files  1 failed | 1 passed (2)\n      Tests  2 passed (2)", 2, 0, 1),
    (" Test Files  1 failed (1)\n      Tests  1 failed | 2 passed (3)", 3, 0, 1),
    ("FAIL\tx\t0.01s", 1, 0, 1),
    ('{"Action":"fail","Package":"x","Test":"A"}\n{"Action":"fail","Package":"x"}', 1, 0, 1),
    (f".s\n\n{'-' * 70}\nRan 1 test in 0.001s\n\nOK (skipped=1)", 1, 1, 0),
    ("  9.00ns INFO  cocotb.regression  ** TESTS=1 PASS=0 FAIL=0 SKIP=1  0.00  0.00  **", 0, 1, 0),
    ("# TOTAL: 2\n# PASS:  0\n# SKIP:  1\n# XFAIL: 1\n# FAIL:  0\n# XPASS: 0\n# ERROR: 0", 0, 2, 0),
    ("# TOTAL: 3\n# PASS:  1\n# SKIP:  0\n# XFAIL: 0\n# FAIL:  1\n# XPASS: 0\n# ERROR: 1", 3, 0, 2),
    ("# of unsupported tests\t\t1", 0, 1, 0),
    ("# of expected passes\t\t3\n# of unexpected failures\t1", 4, 0, 1),
    ("Total Discovered Tests: 1\n  Unsupported: 1 (100.00%)", 0, 1, 0),
    ("  Passed: 3 (75.00%)\n  Failed: 1 (25.00%)", 4, 0, 1),
    ("  Total:     1\n  Passed:    0\n  Skipped:   1\n  Duration:  0.3ms", 0, 1, 0),
    ("- Passed  tests 0\n- Failed  tests 0\n- Skipped tests 1", 0, 1, 0),
    (" NX   No tasks were run", 0, 0, 0),
    ("No tasks were executed as part of this run.", 0, 0, 0),
    ("lerna info No packages found with the lifecycle script 'test'", 0, 0, 0),
    ('No projects matched the filters in "/app"', 0, 0, 0),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "ran", "skipped", "failed"), LANGUAGES, ids=[row[0][:40] for row in LANGUAGES]
)
def test_reports_of_further_languages(text: str, ran: int, skipped: int, failed: int) -> None:
    found = attribute.summaries(["before", *text.split("\n"), "after"])
    assert [(entry.ran, entry.skipped, entry.failed) for entry in found] == [(ran, skipped, failed)]


def test_every_state_of_the_table_was_captured() -> None:
    assert {(r, s) for r, states in VACUOUS.items() for s in states} <= set(captured())


@pytest.mark.parametrize("runner", [r for r in VACUOUS if r not in SINGLE], ids=str)
@pytest.mark.parametrize("state", ["passed", "pass"])
def test_out_of_sight_may_be_more_than_in_sight(runner: str, state: str) -> None:
    """Of several reports, those before the window may have run tests: no alarm."""
    quiet = {"unittest": "none", "cargo": "none", "go": "no-files"}[runner]
    output = read(runner, quiet)[1]
    assert vacuous(CommandReading(), lines_of(output), whole=True) is not None
    assert vacuous(CommandReading(), lines_of(output), whole=False) is None
    if (runner, state) in captured():
        both = read(runner, state)[1] + b"\n" + output
        assert vacuous(CommandReading(), lines_of(both), whole=True) is None


@pytest.mark.parametrize("runner", sorted(SINGLE))
def test_a_runner_that_reports_once_is_believed_from_its_end_alone(runner: str) -> None:
    state = {"pytest": "skipped", "jest": "skip", "vitest": "skip", "mocha": "skip"}[runner]
    noise = b"x" * 200 + b"\n"
    output = noise * 4000 + read(runner, state)[1]
    assert len(output) > attribute.WINDOW
    assert vacuous(CommandReading(only_runner=runner), lines_of(output), whole=False) is not None
    assert vacuous(CommandReading(), lines_of(output), whole=False) is None


TWO_PASSED = "==== 2 passed, 1 skipped in 0.12s ===="
ONE_FAILED = "==== 1 failed, 1 passed, 1 skipped in 0.12s ===="
CARGO = "test result: {}. {} passed; {} failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s"


@pytest.mark.parametrize(
    ("command", "printed", "ran"),
    [
        ("pytest", TWO_PASSED, 2),
        ("pytest", ONE_FAILED, 2),
        ("cargo test", f"{CARGO.format('ok', 3, 0)}\n{CARGO.format('FAILED', 1, 1)}", 5),
        ("make test", TWO_PASSED, 2),
        ("pytest || pytest --lf", f"{ONE_FAILED}\n{TWO_PASSED}", None),
        ("go test ./...", "ok  \texample/a\t0.01s", None),
        ("pytest", "nothing of the kind", None),
        ("true", "", None),
    ],
)
def test_how_many_tests_ran(command: str, printed: str, ran: int | None) -> None:
    reading = read_command(command, parse_shell)
    assert number_of_tests(reading, printed.split("\n"), [], whole=True) == ran


CARGO_IGNORED = (
    "test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.1s"
)


@pytest.mark.parametrize(
    ("command", "printed", "quoted"),
    [
        ("pytest", "1 passed, 2 skipped in 0.01s", "1 passed, 2 skipped"),
        ("pytest -k a", "3 passed, 4 deselected in 0.01s", ""),
        ("pytest -k a", "3 passed, 1 skipped, 4 deselected in 0.01s", "3 passed, 1 skipped, 4"),
        (
            "cargo test a",
            CARGO_IGNORED.replace("1 ignored", "0 ignored").replace("; 0 f", "; 3 f"),
            "",
        ),
        ("pytest", "3 passed in 0.01s", ""),
        ("pytest || pytest --lf", "1 passed, 2 skipped in 0.01s", ""),
        ("python -m unittest", f"{'-' * 70}\nRan 2 tests in 0.001s\n\nOK (skipped=1)", "Ran 2"),
        ("cargo test", CARGO_IGNORED, "2 ran, 1 ignored"),
    ],
)
def test_tests_that_were_skipped(command: str, printed: str, quoted: str) -> None:
    reading = read_command(command, parse_shell)
    text = skipped_tests(reading, lines_of(printed.encode()), [], whole=True)
    assert text.startswith(f"Not every test ran: {quoted}") if quoted else not text


def test_how_many_tests_ran_is_not_known_of_a_part_of_the_output() -> None:
    lines = CARGO.format("ok", 3, 0).split("\n")
    assert number_of_tests(read_command("cargo test", parse_shell), lines, [], whole=False) is None
    assert number_of_tests(read_command("pytest", parse_shell), [TWO_PASSED], [], whole=False) == 2
    report = ("out.xml", Summary("JUnit", 7, 0, ""))
    assert (
        number_of_tests(read_command("pytest", parse_shell), [TWO_PASSED], [report], whole=True)
        == 7
    )


@pytest.mark.parametrize("runner", sorted(SINGLE))
def test_a_forged_report_before_the_runners_own_is_passed_over(runner: str) -> None:
    """Both ways round; where the command may start it twice, either may be real: no alarm."""
    skip = {"pytest": "skipped", "jest": "skip", "vitest": "skip", "mocha": "skip"}[runner]
    ran = {"pytest": "passed"}.get(runner, "pass")
    skipped, passed = read(runner, skip)[1] + b"\n", read(runner, ran)[1] + b"\n"
    single = CommandReading(only_runner=runner)
    assert vacuous(single, lines_of(passed + skipped), whole=True) is not None
    assert vacuous(single, lines_of(skipped + passed), whole=True) is None
    assert vacuous(CommandReading(), lines_of(passed + skipped), whole=True) is None


def test_an_early_end_of_pytest_counts_below_its_own_report_only() -> None:
    """A test of pytest itself prints the same line before the report of its runner."""
    passed, ended = "1 passed in 0.01s", "!!!! _pytest.outcomes.Exit: done !!!!"
    single, several = CommandReading(only_runner="pytest"), CommandReading()
    for whole in (True, False):
        assert vacuous(single, [passed, "", ended], whole=whole) is not None
        assert vacuous(several, [passed, ended, passed], whole=whole) is not None
        assert vacuous(single, [passed, ended, passed], whole=whole) is None
        assert vacuous(several, [ended, passed], whole=whole) is None


def test_a_later_run_that_skips_everything_does_not_undo_the_first() -> None:
    output = read("pytest", "two-runs-second-skipped")[1]
    assert vacuous(CommandReading(), lines_of(output), whole=True) is None


@pytest.mark.parametrize(
    "line",
    [
        "5 passed",
        "no tests ran",
        "2 skipped in a while",
        "I skipped 2 in 0.01s",
        "2 skipped, 1 banana in 0.01s",
        "Tests:       2 skipped, 2 total",
        "      Tests  2 skipped (2)",
        "  0 passing",
        "0 passing (1ms)",
        "Ran 0 tests in 0.000s",
        "test result: maybe. 0 passed",
        "ok  \tpkg",
        "?   \tpkg\t[no such thing]",
        '{"Action":"pass","Package":',
        '{"Action":"pass","Package":"x","Test":"A"}',
        "9" * 400 + " skipped in 0.01s",
        "=" * 499,
        "Ran ٣ tests in 0.000s",
    ],
)
def test_a_line_that_only_looks_like_a_summary_is_none(line: str) -> None:
    assert attribute.summaries(["", line, "OK"]) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;http://e\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b(Bx", "Bx"),
        ("\x1b[" + "1;" * 4000, "1;" * 4000),
        ("\x1b", ""),
        ("\x1b[", ""),
    ],
)
def test_escapes_are_taken_out(text: str, expected: str) -> None:
    assert without_escapes(text) == expected


def test_a_line_rewritten_in_place_shows_its_last_state() -> None:
    assert lines_of(b"10%\r50%\rdone\r\nnext\n") == ["done", "next", ""]


def test_huge_and_broken_output_is_bounded() -> None:
    for output in (b"\xff" * (1 << 20), b"\x1b[" * (1 << 19), b"{" * (1 << 20), b"=" * (1 << 20)):
        assert attribute.summaries(lines_of(output)) == []


def test_a_reason_is_one_clean_line_whatever_was_printed() -> None:
    rule = f"{'-' * 70}\nRan 0 tests in 0.000s\n\nOK \u202e\x07\x1b[31m{'x' * 480}\n"
    found = vacuous(CommandReading(), lines_of(rule.encode()), whole=True)
    assert found is not None
    assert found.reason.isprintable()
    assert "\\u202e\\x07" in found.reason
    assert len(found.reason) < 450


def test_reports_of_files_count_with_the_output() -> None:
    none, some = Summary("JUnit XML", 0, 2, "2 test cases"), Summary("CTRF", 3, 0, "3 tests")
    found = vacuous(CommandReading(), [], whole=True, reports=[("r.xml", none)])
    assert found == Attribution(
        "vacuous",
        "JUnit XML reports in r.xml that every test was skipped or left out (2 test cases)",
        "JUnit XML", 0, 2, "r.xml",
    )  # fmt: skip
    assert vacuous(CommandReading(), [], whole=True, reports=[("a", none), ("b", some)]) is None


def test_the_document_leaves_out_what_is_not_known() -> None:
    found = Attribution("masked", "the exit status of `pytest` is thrown away")
    assert found.to_document() == {"kind": "masked"}
    assert found.reason == "masked: the exit status of `pytest` is thrown away"
    full = Attribution("vacuous", "w", "pytest", 0, 2, "output").to_document()
    assert full == {
        "kind": "vacuous", "runner": "pytest", "tests": 0, "skipped": 2, "source": "output"
    }  # fmt: skip


def test_a_command_that_is_not_understood_says_nothing() -> None:
    assert read_command("(((", lambda _: None) == CommandReading()


def test_a_reading_survives_its_document() -> None:
    words = ("pytest", "--junitxml=out/r.xml", None, "late.json")
    command = ShellNode(
        "command", (), words, ("pytest", "--junitxml=out/r.xml", '"$x"', "late.json")
    )
    reading = read_command("x", lambda _: ShellNode("sequence", (command,)))
    assert reading == CommandReading(
        "",
        "pytest",
        (("pytest", "--junitxml=out/r.xml"),),
        ("out/r.xml",),
        ("pytest",),
        ("pytest",),
    )
    assert CommandReading.from_document(reading.to_document()) == reading


IDLE = "make: 'test' is up to date.\n"


@pytest.mark.parametrize(
    ("commands", "output", "is_vacuous"),
    [
        ((("make", "test"),), IDLE, True),
        ((("make", "test"),), "make: `test' is up to date.\n", True),
        (
            (("cd", "lib"), ("timeout", "60", "gmake", "-k", "unit-tests")),
            "gmake: Nothing to be done for 'unit-tests'.\n",
            True,
        ),
        (
            (("make", "-C", "lib", "test"),),
            "make: Entering directory '/x/lib'\n" + IDLE + "make: Leaving directory '/x/lib'\n",
            True,
        ),
        ((("make", "lint", "test"),), "ruff check .\n" + IDLE, True),
        ((("/bin/echo", "now"), ("/usr/bin/make", "test")), "now\n" + IDLE, True),  # HAZARD I316
        ((("make", "test"),), IDLE + "===== 2 passed in 0.1s =====\n", False),
        ((("make", "test"), ("./test",)), IDLE + "all good\n", False),
        ((("make", "all"),), "make: Nothing to be done for 'all'.\n", False),
        ((("make", "check"),), "make[2]: Nothing to be done for 'check'.\nall good\n", False),
        ((("make", "run"),), IDLE, False),
        ((), IDLE, False),
        ((("task", "test"),), 'task: Task "test" is up to date\n', True),
        ((("go-task", "lint"),), 'task: Task "lint" is up to date\n', True),
        ((("task", "test"),), 'task: Task "build" is up to date\nall good\n', False),
        ((("scons", "check"),), "scons: `check' is up to date.\n", True),
        ((("ninja", "-C", "out", "test"),), "ninja: no work to do.\n", True),
        ((("ninja", "app"),), "ninja: no work to do.\n", False),
        ((("ninja",), ("./app-test",)), "ninja: no work to do.\nall good\n", False),
    ],
)
def test_make_that_ran_no_recipe_for_the_tests_is_vacuous(
    commands: tuple[tuple[str, ...], ...], output: str, is_vacuous: bool
) -> None:
    """Recorded with GNU make 4.3, where a folder is called like the target."""
    told = vacuous(CommandReading(commands=commands), lines_of(output.encode()), whole=False)
    assert (told is not None) is is_vacuous, told
    assert told is None or " ran nothing (" in told.why


GRADLE = "> Task :compileTestJava NO-SOURCE\n> Task :testClasses UP-TO-DATE\n"


@pytest.mark.parametrize(
    ("command", "output", "is_vacuous"),
    [
        ("./gradlew test", GRADLE + "> Task :test NO-SOURCE\n\nBUILD SUCCESSFUL in 1s\n", True),
        ("gradle :app:integrationTest", "> Task :app:integrationTest SKIPPED\n", True),
        (
            "timeout 60 gradle clean test",
            "> Task :a:test NO-SOURCE\n> Task :b:c:test SKIPPED\n",
            True,
        ),
        ("gradle testDebugUnitTest", "> Task :app:testDebugUnitTest NO-SOURCE\n", True),
        ("gradle test", "> Task :a:test NO-SOURCE\n> Task :b:test\n", False),
        ("gradle test", "> Task :a:test NO-SOURCE\n> Task :b:test UP-TO-DATE\n", False),
        ("gradle test", "> Task :a:test NO-SOURCE\n> Task :b:test FROM-CACHE\n", False),
        ("gradle test", GRADLE + "BUILD SUCCESSFUL in 1s\n", False),
        ("gradle build", "> Task :test NO-SOURCE\n", False),
        ("gradle check", "> Task :test NO-SOURCE\n", False),
        ("./build.sh", "> Task :test NO-SOURCE\n", False),
    ],
)
def test_gradle_without_a_test_to_run_is_vacuous(
    command: str, output: str, is_vacuous: bool
) -> None:
    """As where the tests were removed: the task then ends with 0."""
    reading = CommandReading(commands=(tuple(command.split()),))
    told = vacuous(reading, lines_of(output.encode()), whole=True)
    assert (told is not None) is is_vacuous, told
    assert told is None or told.kind == "vacuous"
    assert told is None or "gradle reports that no test ran (Task :" in told.why
    assert vacuous(reading, lines_of(output.encode()), whole=False) is None


def _parsed(text: str) -> CommandReading:
    return read_command(text, parse_shell)


def test_scripts_that_ran_at_once_are_read_one_by_one() -> None:
    """As of ``pnpm -r`` and turbo: each line has its script's name in front."""
    for command, output in (("pnpm -r test", PNPM_BOTH), ("npx turbo run test", TURBO_BOTH)):
        lines = lines_of(output.encode())
        reports = all_reports(read_command(command, parse_shell), lines, [])
        assert [summary.ran for _, summary in reports] == [1, 1]
        reading = read_command(command, parse_shell)
        assert vacuous(reading, lines, whole=True, read=_parsed) is None
        cut = output.replace("Tests", "T")
        assert vacuous(reading, lines_of(cut.encode()), whole=True, read=_parsed) is not None
        bad = lines_of(output.replace("1 passed", "1 failed", 2).encode())
        failure = reported_failure(reading, all_reports(reading, bad, []))
        assert failure is not None
        assert "1 test failed" in failure.reason


def test_a_line_that_poses_as_a_scripts_is_not_the_last_report() -> None:
    posed = "a:b: > x\na:b: 5 passed in 0.01s\n"
    reading = read_command("pytest", parse_shell)
    for output in (f"{posed}1 failed in 0.01s\n", f"1 failed in 0.01s\n{posed}"):
        reports = all_reports(reading, lines_of(output.encode()), [])
        assert [summary.failed for _, summary in reports] == [1]
