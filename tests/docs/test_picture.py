"""The picture in the README shows what a terminal shows today: times aside, line by line."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.support import ROOT
from tools import make_inbox_picture, make_picture

_TIMES = re.compile(
    r"\bnow\b|\d+ min\b(?: \d+ s)?|\d+(?:\.\d+)? ?s\b|\d\d:\d\d|\d+ [A-Z][a-z]{2}\b"
)
_SVG = "{http://www.w3.org/2000/svg}"


def lines_of(text: str) -> list[str]:
    """The words of each line of a picture."""
    rows = ElementTree.fromstring(text).findall(f"{_SVG}text")
    lines = [" ".join(span.text or "" for span in row) for row in rows]
    return [re.sub(r"[\s─]+", " ", _TIMES.sub("TIME", line)).strip() for line in lines]


@pytest.mark.slow
@pytest.mark.needs_tool("git", "bash")
def test_the_picture_is_what_a_terminal_shows(tmp_path: Path) -> None:
    now = make_picture.draw(make_picture.record(tmp_path).lines, "now")
    shown = make_picture.PICTURE.read_text(encoding="utf-8")
    assert lines_of(now) == lines_of(shown), "run: python tools/make_picture.py"


@pytest.mark.slow
@pytest.mark.needs_tool("git", "bash")
def test_the_picture_of_the_inbox_is_what_a_terminal_shows(tmp_path: Path) -> None:
    now = make_picture.draw(make_inbox_picture.record(tmp_path).lines, "now")
    shown = make_inbox_picture.PICTURE.read_text(encoding="utf-8")
    # The newest stands first, and here all came within a moment or two.
    words = [sorted(re.findall(r"[^\s,]+", "\n".join(lines_of(text)))) for text in (now, shown)]
    assert words[0] == words[1], "run: python -m tools.make_inbox_picture"


@pytest.mark.parametrize(
    ("picture", "page", "link"),
    [
        (make_picture.PICTURE, "README.md", "](docs/pictures/evaluate.svg)"),
        (make_inbox_picture.PICTURE, "docs/lifecycle.md", "](pictures/inbox.svg)"),
    ],
    ids=["evaluate", "inbox"],
)
def test_the_picture_loads_nothing_and_says_what_it_shows(
    picture: Path, page: str, link: str
) -> None:
    text = picture.read_text(encoding="utf-8")
    assert "aria-label" in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "<script" not in text
    assert link in Path(ROOT, page).read_text(encoding="utf-8")
    assert len(text) < 64 * 1024


def test_a_terminals_moves_are_followed() -> None:
    screen = make_picture.Recording()
    screen.feed("one\r\ntwo\r\n\x1b[2A\x1b[Jthree\r\n\x1b[31mred\x1b[0m plain\r\n12345\r12\x1b[K")
    shown = ["".join(cell.text for cell in line) for line in screen.lines]
    assert shown == ["three", "red plain", "12"]
    assert screen.lines[1][0].style == {31}
    assert screen.lines[1][4].style == frozenset()
