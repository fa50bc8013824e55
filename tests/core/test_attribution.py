"""What real runners printed (``tests/core/runners``), and what is made of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from flow.core import attribution
from flow.core.attribution import Attribution, Reading, lines_of, plain, read_command, vacuous
from flow.core.attribution_runners import Summary
from flow.core.shell import Node

FOLDER = Path(__file__).parent / "runners"
SINGLE = {"pytest": "pytest", "jest": "jest", "vitest": "vitest", "mocha": "mocha"}

VACUOUS = {
    "pytest": {
        "none-allowed": "no tests ran", "deselected-allowed": "2 deselected",
        "skipped": "2 skipped", "skipped-quiet": "2 skipped", "skipped-verbose": "2 skipped",
        "skipped-colour": "2 skipped", "collect-only": "2 tests collected",
        "collect-only-quiet": "2 tests collected", "braggart": "1 skipped",
        "braggart-quiet": "1 skipped", "skipped-silent": "2 skipped",
    },
    "unittest": {
        "none": "Ran 0 tests", "skip": "Ran 2 tests", "skip-verbose": "Ran 2 tests",
        "classonly": "Ran 0 tests", "braggart": "Ran 0 tests",
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
    reading = Reading(single="" if two else SINGLE.get(runner, ""))
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
        (FULL + "s" * 27 + "x   [100%]\n", False),
        ("s" * 28 + "   [100%]\n" + FULL, True),
        ("s" * 40 + " [ 72%]\n" + "s" * 28 + "   [100%]\n", False),
        (FULL + "a print" + "s" * 28 + "   [100%]\n", False),
        ("s" * 28 + " [ 50%]\n", False),
        (FULL + "s" * 28 + " [100%]\n.  [100%]\n1 passed in 0.1s\n", False),
    ],
)
def test_a_progress_without_a_summary_counts_where_none_of_it_is_missing(
    output: str, expected: bool
) -> None:
    found = vacuous(Reading(single="pytest"), lines_of(output.encode()), whole=True)
    assert (found is not None) is expected


def test_every_state_of_the_table_was_captured() -> None:
    assert {(r, s) for r, states in VACUOUS.items() for s in states} <= set(captured())


@pytest.mark.parametrize("runner", [r for r in VACUOUS if r not in SINGLE], ids=str)
@pytest.mark.parametrize("state", ["passed", "pass"])
def test_out_of_sight_may_be_more_than_in_sight(runner: str, state: str) -> None:
    """Of several reports, those before the window may have run tests: no alarm."""
    quiet = {"unittest": "none", "cargo": "none", "go": "no-files"}[runner]
    output = read(runner, quiet)[1]
    assert vacuous(Reading(), lines_of(output), whole=True) is not None
    assert vacuous(Reading(), lines_of(output), whole=False) is None
    if (runner, state) in captured():
        both = read(runner, state)[1] + b"\n" + output
        assert vacuous(Reading(), lines_of(both), whole=True) is None


@pytest.mark.parametrize("runner", sorted(SINGLE))
def test_a_runner_that_reports_once_is_believed_from_its_end_alone(runner: str) -> None:
    state = {"pytest": "skipped", "jest": "skip", "vitest": "skip", "mocha": "skip"}[runner]
    noise = b"x" * 200 + b"\n"
    output = noise * 4000 + read(runner, state)[1]
    assert len(output) > attribution.WINDOW
    assert vacuous(Reading(single=runner), lines_of(output), whole=False) is not None
    assert vacuous(Reading(), lines_of(output), whole=False) is None


@pytest.mark.parametrize("runner", sorted(SINGLE))
def test_a_forged_report_before_the_runners_own_is_passed_over(runner: str) -> None:
    """Both ways round; where the command may start it twice, either may be real: no alarm."""
    skip = {"pytest": "skipped", "jest": "skip", "vitest": "skip", "mocha": "skip"}[runner]
    ran = {"pytest": "passed"}.get(runner, "pass")
    skipped, passed = read(runner, skip)[1] + b"\n", read(runner, ran)[1] + b"\n"
    single = Reading(single=runner)
    assert vacuous(single, lines_of(passed + skipped), whole=True) is not None
    assert vacuous(single, lines_of(skipped + passed), whole=True) is None
    assert vacuous(Reading(), lines_of(passed + skipped), whole=True) is None


def test_a_later_run_that_skips_everything_does_not_undo_the_first() -> None:
    output = read("pytest", "two-runs-second-skipped")[1]
    assert vacuous(Reading(), lines_of(output), whole=True) is None


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
    assert attribution.summaries(["", line, "OK"]) == []


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
    assert plain(text) == expected


def test_a_line_rewritten_in_place_shows_its_last_state() -> None:
    assert lines_of(b"10%\r50%\rdone\r\nnext\n") == ["done", "next", ""]


def test_huge_and_broken_output_is_bounded() -> None:
    for output in (b"\xff" * (1 << 20), b"\x1b[" * (1 << 19), b"{" * (1 << 20), b"=" * (1 << 20)):
        assert attribution.summaries(lines_of(output)) == []


def test_a_reason_is_one_clean_line_whatever_was_printed() -> None:
    rule = f"{'-' * 70}\nRan 0 tests in 0.000s\n\nOK \u202e\x07\x1b[31m{'x' * 480}\n"
    found = vacuous(Reading(), lines_of(rule.encode()), whole=True)
    assert found is not None
    assert found.reason.isprintable()
    assert "\\u202e\\x07" in found.reason
    assert len(found.reason) < 450


def test_reports_of_files_count_with_the_output() -> None:
    none, some = Summary("JUnit XML", 0, 2, "2 test cases"), Summary("CTRF", 3, 0, "3 tests")
    found = vacuous(Reading(), [], whole=True, reports=[("r.xml", none)])
    assert found == Attribution(
        "vacuous",
        "JUnit XML reports in r.xml that every test was skipped or left out (2 test cases)",
        "JUnit XML", 0, 2, "r.xml",
    )  # fmt: skip
    assert vacuous(Reading(), [], whole=True, reports=[("a", none), ("b", some)]) is None


def test_the_document_leaves_out_what_is_not_known() -> None:
    found = Attribution("masked", "the exit status of `pytest` is thrown away")
    assert found.to_document() == {"kind": "masked"}
    assert found.reason == "masked: the exit status of `pytest` is thrown away"
    full = Attribution("vacuous", "w", "pytest", 0, 2, "output").to_document()
    assert full == {
        "kind": "vacuous", "runner": "pytest", "tests": 0, "skipped": 2, "source": "output"
    }  # fmt: skip


def test_a_command_that_is_not_understood_says_nothing() -> None:
    assert read_command("(((", lambda _: None) == Reading()


def test_a_reading_survives_its_document() -> None:
    command = Node("command", (), ("pytest", "--junitxml=out/r.xml", None, "late.json"))
    reading = read_command("x", lambda _: Node("sequence", (command,)))
    assert reading == Reading("", "pytest", (("pytest", "--junitxml=out/r.xml"),), ("out/r.xml",))
    assert Reading.from_document(reading.to_document()) == reading
