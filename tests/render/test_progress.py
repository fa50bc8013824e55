"""The live table and the plain lines, without a terminal and without a clock."""

from __future__ import annotations

import io
import math
import re
from typing import TYPE_CHECKING

import pytest

from flow.app.checks import Check, CheckResult
from flow.render import progress as shown
from flow.render.progress import ProgressHead, ProgressRow, table_lines
from flow.render.screen import Screen, measure

if TYPE_CHECKING:
    from collections.abc import Callable

HEAD = ProgressHead("strict-dates", 12, "14:05")


class Stream(io.StringIO):
    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding


class Terminal(Stream):
    """A screen that understands what the table writes: cursor up, erase behind and below.

    What is erased from the screen's first cell on is kept for ever, as by many terminals.
    """

    def screen(self) -> list[str]:
        lines, row, column = [""], 0, 0
        self.kept: list[str] = []
        for part in re.findall(r"\x1b\[\d*[AJK]|\r|\n|[^\r\n\x1b]+|\x1b\[[\d;]*m", self.getvalue()):
            if part.endswith("A") and part[0] == "\x1b":
                row -= int(part[2:-1])
                assert row >= 0, "above the first line"
            elif part == "\x1b[J":
                if (row, column) == (0, 0):
                    self.kept += lines
                del lines[row + 1 :]
                lines[row] = lines[row][:column]
            elif part == "\x1b[K":
                lines[row] = lines[row][:column]
            elif part == "\r":
                column = 0
            elif part == "\n":
                row, column = row + 1, 0
                lines += [""] * (row + 1 - len(lines))
            elif part[0] != "\x1b":
                lines[row] = lines[row][:column] + part + lines[row][column + len(part) :]
                column += len(part)
        assert self.kept == []
        while lines and not lines[-1]:
            lines.pop()
        return lines


def check(name: str = "AC1", command: str = "make test") -> Check:
    return Check(name, command, "", 600.0)


def result(
    outcome: str = "passed", text: str = "exit 0", reason: str = "", seconds: float = 1.25
) -> CheckResult:
    return CheckResult(outcome, 0, text, reason, seconds, None, 0, 0, (), ())  # type: ignore[arg-type]


# --- plain lines ----------------------------------------------------------------------------------


def test_off_a_terminal_there_is_one_line_for_each_criterion() -> None:
    stream = Stream()
    lines = shown.PlainProgress(stream)
    lines.planned([check(), check("AC2"), check("AC3")])
    lines.started(check())
    lines.ticked()
    lines.ended(check(), result())
    lines.repeats(check("AC2"), result())
    lines.ended(check("AC2"), result("failed", "exit 3", "it said no"))
    lines.ended(check("AC3"), result("inconclusive", "exit 0", "masked: x\x1b", 83.0))
    lines.finished()
    assert stream.getvalue().splitlines() == [
        "[1/3] AC1 proved, exit 0, 1.2 s",
        "[2/3] AC2 failed, exit 3, 1.2 s",
        "[3/3] AC3 undecided, exit 0, masked, 1 min 23 s",
    ]


def test_what_runs_for_something_else_is_counted_by_itself() -> None:
    stream = Stream()
    lines = shown.PlainProgress(stream)
    lines.planned([check()], "on the base")
    lines.ended(check(), result("failed", "exit 1"))
    lines.planned([check(), check("AC2")])
    lines.ended(check(), result())
    lines.planned([check("AC3")], "for the judge")
    lines.ended(check("AC3"), result())
    assert stream.getvalue().splitlines() == [
        "[1/1] AC1 on the base: failed, exit 1, 1.2 s",
        "[1/2] AC1 proved, exit 0, 1.2 s",
        "[1/1] AC3 for the judge: passed, exit 0, 1.2 s",
    ]


def test_a_judge_that_is_asked_is_named_with_its_limit() -> None:
    stream = Stream()
    shown.PlainProgress(stream).asking("openai:llama3\x1b[2J", "ballot 2 of 3", 120)
    text = "[judge] asks openai:llama3\\x1b[2J: ballot 2 of 3 (at most 2 min 0 s)\n"
    assert stream.getvalue() == text
    assert shown.asking_words("a", "AC2", math.inf) == "asks a: AC2"


def test_a_stream_without_the_characters_gets_others() -> None:
    stream = Stream("ascii")
    shown.PlainProgress(stream).asking("é", "x", math.inf)
    assert stream.getvalue() == "[judge] asks ?: x\n"


def test_a_reader_that_has_gone_is_no_error() -> None:
    class Broken(Stream):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    shown.PlainProgress(Broken()).asking("x", "y", 1)


# --- the table ------------------------------------------------------------------------------------

ROWS = [
    ProgressRow("AC1", "Strict mode refuses impossible dates", "pytest -q", "exit 0", 1, "proved"),
    ProgressRow(
        "AC3", "Parsing is at most 5 % slower", "bench", "waits", 21, "running", since=86.0
    ),
    ProgressRow("AC4", "Nothing else broke", "pytest", "waits", 204, "running", since=32.0),
    ProgressRow("AC5", "The docs explain strict mode", "", "judge, at the end"),
]
ROWS[0] = ROWS[0]._replace(seconds=1.2)


def drawn(columns: int, rows: list[ProgressRow] = ROWS, height: int = 24) -> list[str]:
    return table_lines(HEAD, rows, "1 of 3.", 100.0, Screen(columns=columns), height)


def test_the_table_at_80_columns() -> None:
    assert drawn(80) == [
        "strict-dates  turn 12                                                     14:05",
        "",
        "✓ AC1  Strict mode refuses impossible dates  exit 0                       1.2 s",
        "▸ AC3  Parsing is at most 5 % slower         runs, last 21 s               14 s",
        "▸ AC4  Nothing else broke                    runs, last 3 min 24 s    1 min 8 s",
        "○ AC5  The docs explain strict mode          judge, at the end",
        "",
        "1 of 3.",
    ]


def test_where_there_is_room_the_commands_stand_in_it() -> None:
    assert "  pytest -q  exit 0" in drawn(120)[2]
    assert "pytest" not in "".join(drawn(100))


@pytest.mark.parametrize("columns", [1, 20, 41, 79, 80, 120, 200])
@pytest.mark.parametrize("text", ["x" * 300, "検証" * 100, "a\u0301" * 100, "\x1b[2Jrm\nx"])
def test_no_line_is_wider_than_the_terminal(columns: int, text: str) -> None:
    rows = [ProgressRow(f"AC{n}", text, text, "waits") for n in range(9)]
    for line in table_lines(HEAD, rows, "x" * 300, 1.0, Screen(columns=columns), 24):
        assert measure(line) <= max(columns, 40) - 1
        assert not {"\x1b", "\n"} & set(line)


@pytest.mark.parametrize(("height", "rows"), [(24, 19), (10, 5), (1, 3)])
def test_of_many_criteria_those_that_run_are_shown_and_the_rest_is_counted(
    height: int, rows: int
) -> None:
    many = [ProgressRow(f"AC{n}", "t", "c", "waits") for n in range(40)]
    many[30] = many[30]._replace(meaning="running", since=1.0)
    lines = drawn(80, many, height)[2:-2]
    assert len(lines) == rows
    assert any("AC30" in line for line in lines)
    assert lines[-1] == f"and {40 - rows + 1} more"


def table(
    stream: Stream, rows: list[ProgressRow], times: Callable[[], float] | None = None
) -> shown.ProgressTable:
    clock = iter(range(1000))
    now = times or (lambda: float(next(clock)))
    return shown.ProgressTable(stream, now, lambda: Screen(columns=80), lambda: 24, HEAD, rows)


def waiting(*names: str, last: float | None = None) -> list[ProgressRow]:
    return [ProgressRow(name, f"text of {name}", "make", "not run", last) for name in names]


def test_a_table_is_drawn_over_itself_and_goes_away() -> None:
    stream = Terminal()
    live = table(stream, waiting("AC1", "AC2", "AC3", last=10.0), lambda: 5.0)
    live.planned([check(), check("AC2")])
    assert stream.screen()[2:5] == [
        "○ AC1  text of AC1  waits",
        "○ AC2  text of AC2  waits",
        "○ AC3  text of AC3  not run",
    ]
    assert stream.screen()[-1].startswith("0 of 2 commands, about 20 s to go. Ctrl-C")
    live.started(check())
    live.ended(check(), result("failed", "exit 1"))
    row = stream.screen()[2]
    assert (row[:31], row[-5:]) == ("✗ AC1  text of AC1  exit 1     ", "1.2 s")
    assert stream.screen()[-1].startswith("1 of 2 commands, about 10 s to go.")
    live.asking("claude", "ballot 1 of 1", 60)
    assert stream.screen()[-1] == "asks claude: ballot 1 of 1 (at most 1 min 0 s)"
    live.finished()
    assert stream.screen() == []
    live.finished()
    assert stream.screen() == []


def test_on_a_first_turn_nothing_is_estimated() -> None:
    stream = Terminal()
    live = table(stream, waiting("AC1"))
    live.planned([check()])
    assert stream.screen()[-1] == "0 of 1 command. Ctrl-C ends them, no turn is counted."


def test_the_time_of_a_command_that_runs_again_goes_on() -> None:
    stream = Terminal()
    times = iter([1.0, 1.0, 1.0, 4.0, 4.0, 4.0, 9.0])
    live = table(stream, waiting("AC1"), lambda: next(times, 9.0))
    live.planned([check()])
    live.started(check())
    live.repeats(check(), result())
    live.started(check())
    assert stream.screen()[2].endswith("3.0 s")


def test_it_is_drawn_once_a_second() -> None:
    stream = Terminal()
    times = iter([1.0, 1.1, 1.2, 1.9, 2.0, 2.0])
    live = table(stream, waiting("AC1"), lambda: next(times))
    live.planned([check()])
    before = stream.getvalue()
    live.ticked()
    live.ticked()
    live.ticked()
    assert stream.getvalue() == before
    live.ticked()
    assert stream.getvalue() != before


def test_a_command_that_no_row_is_about_gets_one() -> None:
    stream = Terminal()
    live = table(stream, [])
    live.planned([check("AC7", "\x1b]0;owned\x07")], "on the base")
    live.started(check("AC7"))
    live.ended(check("AC7"), result("failed", "exit 1"))
    assert stream.screen()[2].startswith("✗ AC7  exit 1 on the base")
    assert stream.screen()[-1].startswith("1 of 1 command on the base.")
