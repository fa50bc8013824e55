"""``flow hook pre-push``: git's hook before a push, which fails closed.

What an agent's host calls (``flow hook stop`` and its like) is ``flow.hook``.
"""

from __future__ import annotations

import sys

from flow.app.evaluation.goal_rules import own_files
from flow.app.open_goals import read_here
from flow.app.transitions.beside import others_open
from flow.cli.parser import Parser
from flow.cli.parsing import CommandSpec
from flow.core.text import display
from flow.errors import StateError
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.context import Context

if TYPE_CHECKING:
    import argparse

    from flow.cli.output import Output
    from flow.core.goal.model import Goal

INPUT_LIMIT = 1 << 20
UNCHECKED = "to push without this check: git push --no-verify"


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("REMOTE", nargs="?", help="the remote's name, as git gives it")
    parser.add_argument("URL", nargs="?", help="its address; neither is looked at")


def _only_deletes(text: str) -> bool:
    """Whether git's lines about the push only delete; without any there is something to check."""
    rows = [line.split() for line in text.splitlines() if line.strip()]
    return bool(rows) and all(len(row) == 4 and not row[1].strip("0") for row in rows)


def _check_push(_: argparse.Namespace, out: Output) -> int:
    stream = sys.stdin
    if stream is not None and not stream.isatty() and _only_deletes(stream.read(INPUT_LIMIT)):
        return _let_push(out)
    context = Context()
    goal = _goal_of_branch(context)
    if goal is None:
        return _let_push(out)
    if context.remembered.paused(goal) is not None:
        raise StateError(
            f"goal {goal.id} is paused, so nobody says whether it is achieved",
            code="paused",
            remedy=f"flow goal resume {goal.id}, then push again; {UNCHECKED}",
        )
    from flow.cli.goal import load

    command = load("evaluate")
    words = [goal.id, "--no-input", "--trigger", "command"]
    status = command.run(Parser("flow goal evaluate", command).parse(words), out)
    if status != 0:
        out.say(f"flow: goal {goal.id} is not achieved, so the push stops")
    elif names := _uncommitted(context, goal):
        told = display.counted(len(names), "file", ("was", "were"))
        out.say(f"flow: {told} not measured as HEAD has them: {display.names(names)}")
    return status


def _uncommitted(context: Context, goal: Goal) -> list[str]:
    """The changed files that are not as HEAD has them (or git converts them); not Flow's own."""
    baseline, now = context.tree.shown(goal)
    own = own_files(goal, baseline)
    return [each.path for each in now.changes if each.head != each.worktree and not own(each)]


def _let_push(out: Output) -> int:
    out.result({"goal_id": None}, ())  # git is told nothing
    return 0


def _goal_of_branch(context: Context) -> Goal | None:
    """The one goal of this branch that has begun and is not closed; None if there is none.

    Raises :class:`StateError` for several, for one that is gone, and for one that cannot be read.
    """
    opened = read_here(context.records, context.branch()).here.values()
    here = [each.goal for each in opened if each.goal.status != "draft"]
    goals = others_open(context, "")
    if len(goals) > len(here) or len(here) > 1:
        raise StateError(
            f"which goal is this push about? On this branch: {'; '.join(goals[:10])}",
            code="several_goals",
            remedy=f"close all but one, or put back what is missing; {UNCHECKED}",
        )
    return here[0] if here else None


COMMANDS = {
    "pre-push": CommandSpec(
        "check this branch's goal before a push; git's hook calls it",
        _arguments,
        _check_push,
        "`flow init --git-hook pre-push` installs the hook. Where no goal of the branch has begun\n"
        "the push goes on; with several, a paused one, one that cannot be read, or after any\n"
        "error it stops. It looks at the files as they lie there, not at the commits of the push,\n"
        "and names those that are not as HEAD has them.",
    )
}
