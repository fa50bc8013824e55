"""The conversation of ``flow init`` at a terminal, and what it wrote."""

from __future__ import annotations

from flow.core.text.display import visible
from flow.startup.typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.render.screen import Screen

HOST_QUESTION = (
    "Which agent works here?",
    ("  1 Claude Code   2 Codex   3 Gemini CLI   4 Cursor   Enter none",),
)
ENFORCEMENT_QUESTION = (
    "When it stops and the goal is not done?",
    (
        "  1 say so        (warn)            you are told, the agent stops",
        "  2 go on         (block)           it gets what failed, until commands pass",
        "  3 go on, judged (evaluator-loop)  as 2, a judge is asked; may write failed",
        "  Enter 1",
    ),
)
PUSH_QUESTION = "Check the goal before each push?  y yes   Enter no"
PRIVATE = "no file of Flow's is part of this repository; all of it stays with you"
_FILE = 32
"""Columns of the files' names."""


class ToldStep(Protocol):
    """One file, and what was done with it."""

    @property
    def file(self) -> str:
        """The file's name."""

    @property
    def did(self) -> str:
        """What was done, in one line."""

    @property
    def short(self) -> Sequence[str]:
        """The same in a few words a line; empty where nothing was written."""


def set_up(
    steps: Sequence[ToldStep],
    notes: Sequence[str],
    following: str,
    screen: Screen,
    *,
    private: bool,
) -> list[str]:
    """What was written, what is to be known about it, and the next command."""
    lines = [""]
    written = [step for step in steps if step.short]
    for step in written:
        first, *more = step.short
        lines.append(f"{screen.mark('proved')} {visible(step.file):<{_FILE - 1}} {first}")
        lines += [f"{'':<{_FILE + 2}}{line}" for line in more]
    for step in steps:
        if not step.short and not step.did.startswith("is "):
            mark = screen.mark("undecided")
            lines.append(f"{mark} {visible(step.file)}  {visible(step.did)}")
    count = len(written)
    files = f"{count} file{'' if count == 1 else 's'}."
    if count:
        lines += ["", f"{files} flow init --undo takes {'it' if count == 1 else 'them'} out again."]
    elif not count:
        lines += ["", "Everything is as it should be."]
    if private:
        lines.append(f"Private: {PRIVATE}.")
    lines += [line for note in notes for line in screen.wrapped("note", visible(note), width=6)]
    return [*lines, screen.labelled("next", following, "person", width=6)]
