"""The live display and the plain lines, without a terminal and without a clock."""

from __future__ import annotations

import io
import math

import pytest

from flow.app.ports import Check, CheckResult
from flow.render import progress as shown


class Stream(io.StringIO):
    def __init__(self, *, tty: bool = False, encoding: str = "utf-8") -> None:
        super().__init__()
        self._tty = tty
        self._encoding = encoding

    def isatty(self) -> bool:
        return self._tty

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding


def check(name: str = "AC1", command: str = "make test") -> Check:
    return Check(name, command, "", 600.0)


def result(outcome: str = "passed", text: str = "exit 0", reason: str = "") -> CheckResult:
    return CheckResult(outcome, 0, text, reason, 1.25, None, 0, 0, (), ())  # type: ignore[arg-type]


def listen(stream: Stream, width: int = 80, **environ: str) -> shown.Listener:
    clock = iter(range(1000))
    return shown.progress(stream, environ, lambda: float(next(clock)), lambda: width)


def test_anywhere_but_at_a_terminal_there_are_plain_lines() -> None:
    stream = Stream()
    lines = listen(stream)
    lines.planned([check(), check("AC2")])
    lines.started(check())
    lines.ticked()
    lines.ended(check(), result())
    lines.ended(check("AC2"), result("failed", "exit 3", "it said no"))
    lines.finished()
    assert stream.getvalue().splitlines() == [
        "✓ AC1  exit 0 (1.2 s)  [1/2]",
        "✗ AC2  exit 3 (1.2 s): it said no  [2/2]",
    ]


@pytest.mark.parametrize("tty", [True, False])
def test_a_judge_that_is_asked_is_named_with_its_limit(tty: bool) -> None:
    stream = Stream(tty=tty)
    lines = listen(stream, 200, TERM="xterm")
    lines.asking("openai:llama3\x1b[2J", "ballot 2 of 3", 120)
    shown_text = stream.getvalue()
    assert "  judge  asks openai:llama3\\x1b[2J: ballot 2 of 3 (at most 2 min 0 s)\n" in shown_text


def test_at_a_narrow_terminal_the_question_is_cut() -> None:
    stream = Stream(tty=True)
    listen(stream, 30, TERM="xterm").asking("claude", "ballot 1 of 1", 60)
    assert stream.getvalue() == "  judge  asks claude: ballot…\n"


@pytest.mark.parametrize(
    ("tty", "term", "live"),
    [(True, "xterm", True), (True, "dumb", False), (True, None, False), (False, "xterm", False)],
)
def test_when_the_display_is_live(tty: bool, term: str | None, live: bool) -> None:
    stream = Stream(tty=tty)
    environ = {} if term is None else {"TERM": term}
    assert isinstance(listen(stream, **environ), shown.Live if live else shown.PlainProgress)


def test_a_live_block_is_drawn_over_itself_and_goes_away() -> None:
    stream = Stream(tty=True)
    live = listen(stream, TERM="xterm", NO_COLOR="1")
    live.planned([check(), check("AC2")])
    live.started(check())
    live.ended(check(), result())
    live.finished()
    text = stream.getvalue()
    assert text.startswith("  AC1  1.0 s  make test\n0 of 2 done\n")
    assert "\r\x1b[2A\x1b[J✓ AC1  exit 0 (1.2 s)\n1 of 2 done\n" in text
    assert text.endswith("\r\x1b[1A\x1b[J")


@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_colours_follow_no_color(no_color: str, coloured: bool) -> None:
    stream = Stream(tty=True)
    live = listen(stream, TERM="xterm", NO_COLOR=no_color)
    live.ended(check(), result("failed", "exit 1"))
    assert ("\x1b[31m" in stream.getvalue()) is coloured


@pytest.mark.parametrize("width", [1, 2, 5, 20, 79, 200])
@pytest.mark.parametrize("command", ["x" * 300, "検証" * 100, "a\u0301" * 100, "\x1b[2Jrm"])
def test_no_line_of_the_block_is_wider_than_the_terminal(width: int, command: str) -> None:
    running = [shown.Running(f"AC{n}", command, 0.0) for n in range(20)]
    for line in shown.block(running, 3, 23, 61.0, width, unicode=True):
        assert shown.columns(line) <= max(width - 1, 0)
        assert "\x1b" not in line


def test_more_than_fits_is_counted() -> None:
    running = [shown.Running(f"AC{n}", "true", 0.0) for n in range(20)]
    lines = shown.block(running, 0, 20, 1.0, 80, unicode=True)
    assert lines[-2:] == ["  and 12 more", "0 of 20 done"]


def test_a_stream_without_the_characters_gets_others() -> None:
    stream = Stream(encoding="ascii")
    lines = listen(stream)
    lines.planned([check(), check()])
    lines.ended(check(), result("passed"))
    lines.ended(check(), result("failed", "exit 1", "no é"))
    assert stream.getvalue() == "+ AC1  exit 0 (1.2 s)  [1/2]\nx AC1  exit 1 (1.2 s): no ?  [2/2]\n"


def test_escapes_in_a_command_never_reach_the_terminal() -> None:
    stream = Stream()
    listen(stream).started(check(command="printf '\x1b]0;owned\x07'"))
    assert "\x1b" not in stream.getvalue()


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (0.04, "0.0 s"),
        (9.94, "9.9 s"),
        (10, "10 s"),
        (59, "59 s"),
        (60, "1 min 0 s"),
        (125, "2 min 5 s"),
    ],
)
def test_durations(duration: float, text: str) -> None:
    assert shown.seconds(duration) == text


def test_a_question_without_a_time_limit_of_its_own_names_none() -> None:
    assert shown.asking_line("a\x1b", "AC2", math.inf) == "  judge  asks a\\x1b: AC2"
    assert shown.asking_line("a", "AC2", 61) == "  judge  asks a: AC2 (at most 1 min 1 s)"


def test_a_reader_that_has_gone_is_no_error() -> None:
    class Broken(Stream):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    listen(Broken()).started(check())
