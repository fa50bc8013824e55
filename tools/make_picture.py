"""Record a real run of Flow at a terminal, and draw it as ``docs/pictures/evaluate.svg``.

``python tools/make_picture.py`` makes a small project in a temporary folder, types the commands of
``SESSION`` at a terminal of 80 columns, and writes what the terminal showed. Times differ from run
to run; everything else in the picture is as Flow prints it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

import pexpect

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs/pictures/evaluate.svg"
COLUMNS = 80
PROMPT = "$ "
NAME = "strict-dates"

BEFORE = """\
import re


def parse_date(text, strict=False):
    year, month, day = map(int, re.findall(r"[0-9]+", text))
    return year, month, day
"""
AFTER = """\
import datetime


def parse_date(text, strict=False):
    day = datetime.date.fromisoformat(text)
    return day.year, day.month, day.day
"""
TESTS = """\
import pytest

from daybook import parse_date


@pytest.mark.parametrize("text", ["1900-02-29", "2026-02-30", "2026-13-01"])
def test_refuses(text):
    with pytest.raises(ValueError):
        parse_date(text, strict=True)


def test_a_day():
    assert parse_date("2026-11-20") == (2026, 11, 20)
"""
CREATE = [
    *("goal", "create", NAME),
    *("--outcome", "parse_date(text, strict=True) refuses dates that do not exist"),
    *("--criterion", "AC1: Strict mode refuses impossible dates :: pytest -q --tb=no"),
    *("--criterion", "AC2: The old form still parses :: pytest -q -k test_a_day"),
    *("--allow", "daybook.py"),
]


class Cell(NamedTuple):
    """A character on the screen, and the numbers of its style (SGR)."""

    text: str
    style: frozenset[int]


class Recording:
    """What a terminal shows after some bytes: lines, colours, and the moves that Flow makes."""

    _PIECE = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|\r|\n|\x08|[^\x1b\r\n\x08]+")

    def __init__(self) -> None:
        self.lines: list[list[Cell]] = [[]]
        self._row = self._column = 0
        self._style: frozenset[int] = frozenset()

    def feed(self, text: str) -> None:
        """Take what a program wrote."""
        for piece in self._PIECE.finditer(text):
            if piece[2]:
                self._control(piece[1], piece[2])
            elif piece[0] == "\r":
                self._column = 0
            elif piece[0] == "\n":
                self._row += 1
                while len(self.lines) <= self._row:
                    self.lines.append([])
            elif piece[0] == "\x08":
                self._column = max(self._column - 1, 0)
            else:
                for char in piece[0]:
                    self._put(char)

    def _put(self, char: str) -> None:
        line = self.lines[self._row]
        while len(line) <= self._column:
            line.append(Cell(" ", frozenset()))
        line[self._column] = Cell(char, self._style)
        self._column += 1

    def _control(self, numbers: str, letter: str) -> None:
        given = [int(number) for number in re.findall("[0-9]+", numbers)]
        if letter == "m":
            for number in given or [0]:
                self._style = frozenset() if number == 0 else self._style | {number}
        elif letter == "A":
            self._row = max(self._row - (given or [1])[0], 0)
        elif letter == "J":
            del self.lines[self._row + 1 :]
            del self.lines[self._row][self._column :]
        elif letter == "K":
            del self.lines[self._row][self._column :]


class Project(NamedTuple):
    """A repository of the recording, and the environment of its commands."""

    work: Path
    environ: dict[str, str]

    def run(self, *words: str, check: bool = True) -> None:
        """Run a command there."""
        subprocess.run(words, cwd=self.work, env=self.environ, check=check, capture_output=True)


def project_in(folder: Path, name: str, files: dict[str, str]) -> Project:
    """A repository with a first commit below ``folder``, whose home is there, too."""
    home, work = folder / "home", folder / name
    home.mkdir(exist_ok=True)
    work.mkdir()
    environ = {
        "HOME": str(home),
        "PATH": f"{ROOT / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "FLOW_PYTHON": sys.executable,
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # to load those of the checks takes longer
    }
    project = Project(work, environ)
    project.run("git", "config", "--global", "user.name", "repo owner")
    project.run("git", "config", "--global", "user.email", "owner@example.org")
    project.run("git", "init", "-q", "-b", "main")
    (work / ".gitignore").write_text(".flow/runs/\n__pycache__/\n.pytest_cache/\n")
    for file, text in files.items():
        (work / file).write_text(text)
    project.run("git", "add", "-A")
    project.run("git", "commit", "-qm", "A parser")
    return project


def record(folder: Path) -> Recording:
    """The session, typed in a fresh project below ``folder``."""
    project = project_in(folder, "daybook", {"daybook.py": BEFORE, "test_strict.py": TESTS})
    work, environ = project
    project.run("git", "switch", "-qc", NAME)
    project.run("flow", *CREATE)
    screen = Recording()
    type_command(screen, work, environ, ["flow", "goal", "evaluate"], [])
    (work / "daybook.py").write_text(AFTER)
    screen.feed("\r\n")
    type_command(screen, work, environ, ["flow", "goal", "evaluate"], ["c", ""])
    return screen


def type_command(
    screen: Recording, work: Path, environ: dict[str, str], words: list[str], answers: list[str]
) -> None:
    """Run one command; each answer is typed at the next ``> `` that it asks with."""
    screen.feed(f"{PROMPT}\x1b[1m{' '.join(words)}\x1b[0m\r\n")
    child = pexpect.spawn(
        words[0],
        words[1:],
        cwd=str(work),
        env=environ,  # type: ignore[arg-type]
        encoding="utf-8",
        timeout=60,
        dimensions=(60, COLUMNS),
    )
    for answer in answers:
        if child.expect([r"\r\n> ", pexpect.EOF]) == 1:
            break
        screen.feed(f"{child.before}\r\n> ")
        child.sendline(answer)
    child.expect(pexpect.EOF)
    screen.feed(child.before or "")
    child.close()


WIDTH, HEIGHT, LEFT, TOP = 8.4, 20, 20, 44
CLASSES = {1: "b", 2: "d", 31: "r", 32: "g", 33: "y", 35: "m", 36: "c"}
STYLE = """\
.w{fill:#fff;stroke:#e4e5ea}text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;\
fill:#1a1b1f;white-space:pre}.b{font-weight:700}.d{fill:#5a5d68}.r{fill:#b8232c}.g{fill:#12703a}\
.y{fill:#805300}.m{fill:#7532a6}.c{fill:#0a57a8}
@media (prefers-color-scheme:dark){.w{fill:#101114;stroke:#2a2c33}text{fill:#e7e8ec}\
.d{fill:#a2a6b2}\
.r{fill:#ff8a84}.g{fill:#5ccb8d}.y{fill:#e3b14e}.m{fill:#cfa4f3}.c{fill:#82beff}}
"""


def draw(lines: list[list[Cell]], title: str) -> str:
    """The lines as an SVG picture, light or dark as the reader's system is."""
    while lines and not any(cell.text.strip() for cell in lines[-1]):
        lines = lines[:-1]
    height = TOP + HEIGHT * len(lines)
    width = int(LEFT * 2 + WIDTH * COLUMNS)
    texts = [_row(line, TOP - 10 + HEIGHT * number) for number, line in enumerate(lines)]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"',
            f'  role="img" aria-label="{escape(title)}">',
            f"<title>{escape(title)}</title>",
            f"<style>{STYLE}</style>",
            f'<rect class="w" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="10"/>',
            *filter(None, texts),
            "</svg>\n",
        ]
    )


def _row(line: list[Cell], y: int) -> str:
    """One line; every run of one style stands at its own column, so that no font can shift it."""
    spans, start = [], 0
    while start < len(line):
        end = start
        while end < len(line) and line[end].style == line[start].style:
            end += 1
        text = "".join(cell.text for cell in line[start:end])
        if text.strip():
            names = " ".join(CLASSES[number] for number in sorted(line[start].style & set(CLASSES)))
            kind = f' class="{names}"' if names else ""
            lead = len(text) - len(text.lstrip())
            x = LEFT + WIDTH * (start + lead)
            length = WIDTH * len(text.strip())
            spans.append(
                f'<tspan x="{x:.1f}" textLength="{length:.1f}"{kind}>{escape(text.strip())}</tspan>'
            )
        start = end
    return f'<text y="{y}">{"".join(spans)}</text>' if spans else ""


def main() -> None:
    """Record, draw, write."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE
    with tempfile.TemporaryDirectory(prefix="flow-picture-") as folder:
        lines = record(Path(folder)).lines
    target.parent.mkdir(parents=True, exist_ok=True)
    title = "flow goal evaluate: first not achieved, with what failed; then achieved, and confirmed"
    target.write_text(draw(lines, title), encoding="utf-8")
    print(f"wrote {target}")


if __name__ == "__main__":
    main()
