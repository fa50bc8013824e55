"""Record ``flow inbox`` over some small repositories, as ``docs/pictures/inbox.svg``.

``python -m tools.make_inbox_picture`` makes them in a temporary folder with Flow's own commands,
one goal for each thing that the inbox tells, and draws what a terminal of 80 columns showed.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tools.make_picture import ROOT, Recording, draw, project_in, type_command

PICTURE = ROOT / "docs/pictures/inbox.svg"
PASSES = "AC1: The greeting is polite :: grep -q please greet.txt"
READS = "AC2: It reads well"


def record(folder: Path) -> Recording:
    """The inbox of somebody who works in six repositories below ``folder``."""

    def repository(name: str, goal: str, *words: str, work: str = "", other: str = "") -> None:
        made = project_in(folder, name, {"greet.txt": "give me that\n", "test.txt": "strict\n"})
        made.run("flow", "goal", "create", goal, "--outcome", "a polite greeting", "--criterion",
                 PASSES, "--allow", "*.txt", *words)  # fmt: skip
        if work:
            (made.work / "greet.txt").write_text(work)
        if other:
            (made.work / other).write_text("weaker\n")
        if work:
            made.run("flow", "goal", "evaluate", goal, "--no-input", check=False)

    repository("daybook", "strict-dates", work="please\n")
    repository("courier", "retry-budget", "--fuzzy", READS, "--evidence", "AC2: *.txt",
               work="please\n")  # fmt: skip
    repository("ledgerline", "csv-quotes", "--protect", "test.txt", work="please\n",
               other="test.txt")  # fmt: skip
    repository("atlas-ui", "plugin-docs", work="please\n", other="shots.sh")
    repository("tidemark", "keyboard-menu")
    repository("quill", "stream-export", work="hello\n")
    screen = Recording()
    there = project_in(folder, "notes", {"greet.txt": "\n"})
    type_command(screen, there.work, there.environ, ["flow", "inbox"], [])
    return screen


def main() -> None:
    """Record, draw, write."""
    with tempfile.TemporaryDirectory(prefix="flow-picture-") as folder:
        lines = record(Path(folder)).lines
    title = "flow inbox: three goals wait for a person, one is blocked, two are worked on"
    PICTURE.write_text(draw(lines, title), encoding="utf-8")
    print(f"wrote {PICTURE.relative_to(ROOT)}")


if __name__ == "__main__":
    sys.exit(main())
