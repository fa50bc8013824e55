"""The conversation of ``flow init`` at a terminal, its results, and ``flow doctor``."""

from __future__ import annotations

from flow.core.text.display import clip, visible
from flow.errors import FEW_ROWS, MANY_ROWS, cut_list, more_than
from flow.render.text import show
from flow.startup.typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.render.screen import Screen
    from flow.render.text import Document

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
_FILE = 32
"""Columns of the files' names."""
_INDENT = 4
_LONGEST = 200
"""Characters of one fact."""


class ToldStep(Protocol):
    """One file, and the action on it."""

    @property
    def file(self) -> str:
        """The file's name."""

    @property
    def did(self) -> str:
        """The action on the file, in one line."""

    @property
    def short(self) -> Sequence[str]:
        """The action in a few words per line; empty if nothing was written."""


def private_words(tracked: int) -> str:
    """The effect of ``--private`` where git tracks so many of Flow's files already."""
    if not tracked:
        return "no file of Flow's is part of this repository; all of it stays with you"
    them = "1 file of Flow's is" if tracked == 1 else f"{tracked:,} files of Flow's are"
    return f"{them} part of this repository already, as git tracks them; new ones stay with you"


def set_up(
    steps: Sequence[ToldStep],
    notes: Sequence[str],
    following: str,
    screen: Screen,
    *,
    private: str,
    git_line: str = "",
) -> list[str]:
    """The written files, notes about them, and the next command.

    A person must add ``git_line`` to the file that a step names: it is shown in full. ``private``
    are the words about ``--private``; empty without it.
    """
    lines = [""]
    written = [step for step in steps if step.short]
    for step in written:
        first, *more = step.short
        lines.append(f"{screen.mark('proved')} {visible(step.file):<{_FILE - 1}} {first}")
        lines += [f"{'':<{_FILE + 2}}{line}" for line in more]
    for step in steps:
        if not step.short and not step.did.startswith("is "):
            lines += _not_done(step, git_line, screen)
    count = len(written)
    files = f"{count} file{'' if count == 1 else 's'}."
    if count:
        lines += ["", f"{files} flow init --undo takes {'it' if count == 1 else 'them'} out again."]
    else:
        lines += ["", "Everything is as it should be."]
    if private:
        lines.append(f"Private: {private}.")
    lines += [line for note in notes for line in screen.wrapped("note", visible(note), width=6)]
    return [*lines, screen.labelled("next", following, "person", width=6)]


def _not_done(step: ToldStep, git_line: str, screen: Screen) -> list[str]:
    """The reason that a file was not written, and the line that a person adds to it."""
    asked = bool(git_line) and step.did.endswith(git_line)
    did = visible(step.did[: len(step.did) - len(git_line)] if asked else step.did)
    narrow = screen if screen.columns is None else screen._replace(columns=screen.columns - _INDENT)
    return [
        f"{screen.mark('undecided')} {visible(step.file)}",
        *(f"{'':<{_INDENT - 1}}{row}" for row in narrow.wrapped("", did.rstrip(), width=0)),
        *([screen.paint("person", visible(git_line))] if asked else []),
    ]


def doctor(document: Document, screen: Screen, *, verbose: bool = False) -> list[str]:
    """The whole screen; ``verbose``: each fact, too."""
    lines = _facts(document) if verbose else []
    mended = [f"{screen.mark('proved')} mended: {show(fault)}" for fault in document["fixed"]]
    lines += cut_list(mended, "flow doctor --fix --json names all that it fixes", MANY_ROWS)
    for finding in document["findings"][:FEW_ROWS]:
        lines += _finding(finding, screen)
    findings = len(document["findings"])
    for more in more_than(findings, "flow doctor --json", FEW_ROWS):
        lines += ["", more]
    fine = document.get("fine", ())
    if fine and not verbose:
        lines += ["", *screen.wrapped("Fine:", f"{', '.join(fine)}.   -v shows each", width=5)]
    return [*lines[lines[:1] == [""] :], "", _count(document)]


def _facts(document: Document) -> list[str]:
    facts = document["facts"][:MANY_ROWS]
    width = max((len(fact["what"]) for fact in facts), default=0)
    lines = [f"{fact['what']:<{width}}  {clip(show(fact['value']), _LONGEST)}" for fact in facts]
    return lines + more_than(len(document["facts"]), "flow doctor --json")


def _finding(finding: Document, screen: Screen) -> list[str]:
    narrow = screen if screen.columns is None else screen._replace(columns=screen.columns - _INDENT)
    do = show(finding["do"])
    note = "   (flow doctor --fix does it)" if finding.get("fixable") and "--fix" not in do else ""
    rows = [
        *narrow.wrapped("why", show(finding["why"]), width=5),
        narrow.labelled("do", do + note, width=5),
    ]
    mark = screen.mark(finding.get("mark", "failed"))
    return ["", f"{mark} {show(finding['what'])}", *(f"{'':<{_INDENT}}{row}" for row in rows)]


def _count(document: Document) -> str:
    count = len(document["findings"])
    if not count:
        return "nothing is wrong"
    fixable = sum(1 for finding in document["findings"] if finding.get("fixable"))
    mended = f", {fixable} mended by flow doctor --fix" if fixable else ""
    return f"{count} finding{'s' if count > 1 else ''}{mended}"
