"""The commands around the Stop hook's loop: whose a goal is, and what it waits for (SPEC 6)."""

from __future__ import annotations

import os
from functools import partial
from time import monotonic, sleep

from flow.adapters.attribution.command_checks import REMEDY, syntax_fault
from flow.adapters.ledger.loop_record import note_spoken
from flow.adapters.verification.waiting import Waiting
from flow.app.stop import claims, waiting
from flow.cli.goal.which import goal_to_act_on
from flow.cli.parsing import goal_argument, seconds
from flow.errors import PersonNeeded, at_key
from flow.render.moves import moved_lines
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.context import Context
from flow.wiring.stopping import context_of

if TYPE_CHECKING:
    import argparse

    from flow.cli.output import Output
    from flow.core.goal.model import Goal

SESSION_VARIABLE = "CLAUDE_CODE_SESSION_ID"
"""Set by Claude Code in what its agent's shell starts."""
ASK_SECONDS = 60.0
EVERY_SECONDS = 30.0


def _claim_arguments(parser: argparse.ArgumentParser) -> None:
    goal_argument(parser)
    parser.add_argument(
        "--session",
        metavar="S",
        help=f"the session's id (default: ${SESSION_VARIABLE}; without either, the next to stop)",
    )


def _claim_goal(args: argparse.Namespace, out: Output) -> int:
    session = args.session if args.session is not None else os.environ.get(SESSION_VARIABLE)
    if session is not None and not (0 < len(session) <= 200 and session.isprintable()):
        raise at_key("--session", session).invalid(
            "is no session id",
            "it is what the host calls session_id: printable, at most 200 characters",
        )
    context = Context()
    goal = claims.claim(
        context, goal_to_act_on(context, args), session, partial(note_spoken, context)
    )
    whose = f"session {session}" if session else "the session that stops next"
    out.result(
        {"goal_id": goal.id, "session": session, "status": goal.status},
        moved_lines(out.screen, "proved", f"{goal.id} belongs to {whose}."),
    )
    return 0


def _wait_arguments(parser: argparse.ArgumentParser) -> None:
    goal_argument(parser)
    add = parser.add_argument
    add("--until", metavar="CMD", required=True, help="what exits 0 once the wait is over")
    add("--follow", action="store_true", help="keep asking here, instead of at each stop")
    add("--every", metavar="S", type=seconds, default=EVERY_SECONDS, help="seconds between (30)")
    add("--timeout", metavar="S", type=seconds, help="with --follow: give up after so long")


def _wait_for_goal(args: argparse.Namespace, out: Output) -> int:
    if not args.until.strip() or "\0" in args.until:
        raise at_key("--until", args.until).invalid("is no command", "name a command")
    if args.timeout is not None and not args.follow:
        raise at_key("--timeout", f"{args.timeout:g}").invalid(
            "it bounds a wait that is followed here", "add --follow, or leave --timeout out"
        )
    context = Context()
    if message := syntax_fault(args.until, context.environ, context.top):
        raise at_key("--until", args.until).invalid(message, REMEDY)
    port = Waiting(context, context.persons_context)
    goal_id = goal_to_act_on(context, args)
    goal, over, words = waiting.wait(port, goal_id, args.until, ASK_SECONDS)
    started = monotonic()
    while args.follow and not over:
        seconds_left = None if args.timeout is None else args.timeout - (monotonic() - started)
        if seconds_left is not None and seconds_left <= 0:
            raise PersonNeeded(
                f"goal {goal.id} still waits after {args.timeout:g} s: {words}",
                remedy=f"look at it, then: flow goal resume {goal.id}",
            )
        sleep(args.every if seconds_left is None else min(args.every, seconds_left))
        goal = port.load(goal.id).goal
        if goal.status != "waiting_for_ci":
            words = f"it is {goal.status} meanwhile"
            break
        over, words = waiting.ask_again(port, goal, ASK_SECONDS)
        if over:
            goal = waiting.go_on(port, goal.id, words)
    then = f"flow goal evaluate {goal.id}" if over else f"flow goal resume {goal.id}"
    out.result(
        {"goal_id": goal.id, "status": goal.status, "there": over, "reason": words, "next": then},
        moved_lines(out.screen, *_waiting_sentence(goal, words), next_step=then),
    )
    return 0


def _waiting_sentence(goal: Goal, words: str) -> tuple[str, str]:
    """(mark, sentence) about a goal that waits, or no longer does."""
    if goal.status == "waiting_for_ci":
        return "undecided", f"{goal.id} waits: {words}"
    mark = "running" if goal.status == "active" else "undecided"
    return mark, f"{goal.id} is {goal.status}: {words}"


def _forget_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ID", help="the goal")
    parser.add_argument(
        "--checkout", metavar="DIR", help="where the checkout was, if it is gone (default: here)"
    )


def _forget_goal(args: argparse.Namespace, out: Output) -> int:
    context = context_of(os.path.abspath(args.checkout) if args.checkout else None)
    claims.forget(context, args.ID, partial(note_spoken, context))
    out.result(
        {"goal_id": args.ID, "checkout": context.top},
        moved_lines(
            out.screen,
            "proved",
            f"{args.ID} is forgotten: the Stop hook does not miss it any more, and nothing else "
            "was changed.",
        ),
    )
    return 0


COMMANDS = {
    "claim": (_claim_arguments, _claim_goal),
    "wait": (
        _wait_arguments,
        _wait_for_goal,
        (
            "It is asked right away, then at each stop of an agent (flow hook stop), or here\n"
            "with --follow. The command is kept in your own state folder: no checkout brings one."
        ),
    ),
    "forget": (
        _forget_arguments,
        _forget_goal,
        (
            "Flow remembers each goal that it left open in a checkout, and says so when the goal\n"
            "vanishes or is closed by hand. This ends that. The goal's file, its record and trust\n"
            "stay as they are; a goal that is there and active is judged all the same."
        ),
    ),
}
