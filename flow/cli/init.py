"""``flow init``: make a repository ready for goals."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from flow.cli.parsing import Command, nothing

if TYPE_CHECKING:
    import argparse

    from flow.cli.output import Output


def _run(_args: argparse.Namespace, out: Output) -> int:
    from flow.adapters import setup

    done = setup.init(os.getcwd())
    document = {
        "top": done.top,
        "git": done.no_git is None,
        "steps": [step._asdict() for step in done.steps],
        "next": done.next,
    }
    width = max(len(step.file) for step in done.steps)
    lines = [f"{step.file:<{width}}  {step.did}" for step in done.steps]
    out.result(document, [*lines, f"next: {done.next}"])
    if done.no_git is not None:
        out.warn([f"{done.no_git}: {setup.NO_GIT}"])
    return 0


COMMAND = Command(
    "make a repository ready for goals",
    nothing,
    _run,
    "Writes .flow/goals/ with an example, the goal schema for editors, lines in .gitignore and\n"
    ".gitattributes, and rules in .claude/settings.json that make Claude Code ask a person\n"
    "before it confirms, approves, clears or trusts. What is there already stays as it is.",
)
