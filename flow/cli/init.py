"""``flow init``: make a repository ready for goals."""

from __future__ import annotations

import os

from flow.adapters.setup import init as setup_init
from flow.cli.parsing import CommandSpec
from flow.core.stop.hosts import HOSTS
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from flow.cli.output import Output


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--host",
        choices=HOSTS,
        help="the program that runs your agent: add the Stop hook to its file in this repository",
    )


def _run_init(args: argparse.Namespace, out: Output) -> int:
    done = setup_init.init(os.getcwd(), args.host, out.environ)
    document = {
        "top": done.top,
        "git": done.no_git is None,
        "steps": [step._asdict() for step in done.steps],
        "hook": None if done.hook is None else done.hook._asdict(),
        "next": done.next,
    }
    width = max(len(step.file) for step in done.steps)
    lines = [f"{step.file:<{width}}  {step.did}" for step in done.steps]
    out.result(document, [*lines, f"next: {done.next}"])
    if done.hook is not None and not out.json:
        out.say(*(f"flow: note: {note}" for note in done.hook.notes))
    if done.no_git is not None:
        out.warn([f"{done.no_git}: {setup_init.NO_GIT}"])
    return 0


COMMAND = CommandSpec(
    "make a repository ready for goals",
    _arguments,
    _run_init,
    "Writes .flow/goals/ with an example, the goal schema for editors, lines in .gitignore and\n"
    ".gitattributes, and rules in .claude/settings.json that make Claude Code ask a person before\n"
    "it confirms, approves, amends, clears or trusts. What is there already stays as it is.\n\n"
    "--host also adds the Stop hook: hooks.Stop of .claude/settings.json (claude; not where the\n"
    "plugin is enabled, which brings it) or of .codex/hooks.json (codex), hooks.AfterAgent of\n"
    ".gemini/settings.json (gemini), hooks.stop of .cursor/hooks.json (cursor). An entry that\n"
    "runs the hook already stays; no entry of your own is changed.",
)
