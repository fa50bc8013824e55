"""Output as a terminal would show it: no colours, no cursor, no text that was written over."""

from __future__ import annotations

import pytest

from flow.core.text.plain_output import plain_lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("a\nb\n\n \n", ["a", "b"]),
        ("\x1b[31mred\x1b[0m and \x1b[1;38;5;200mpink\x1b[m", ["red and pink"]),
        ("\x1b[2K\x1b[1Gdone\x1b[?25h", ["done"]),
        ("\x1b]8;;http://x\x07link\x1b]8;;\x1b\\ there", ["link there"]),
        ("\x1b]0;title\x07a", ["a"]),
        ("\x1bPq#0\x1b\\a\x1b(B\x1bM\x1b=", ["a"]),
        ("\x9b31mred\x9d0;t\x9cx", ["redx"]),
        ("10 %\r50 %\r100 %\nnext", ["100 %", "next"]),
        ("windows\r\nlines\r\n", ["windows", "lines"]),
        ("\r\r\n", []),
        ("\x1b]0;a title without an end", ["\x1b]0;a title without an end"]),
        ("\x9dwithout an end\x9d0;t\x9cx", ["\x9dwithout an endx"]),
        ("ä \U0001f600", ["ä \U0001f600"]),
        ("a\x08b", ["a\x08b"]),
    ],
)
def test_plain_lines(text: str, lines: list[str]) -> None:
    assert plain_lines(text) == lines
