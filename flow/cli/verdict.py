"""``flow verdict``: the newest verdict of a run."""

from __future__ import annotations

import os

from flow.adapters.ledger.verdicts import read_verdict, record_verdict
from flow.app.overview import shown_proposal
from flow.cli.goal.which import run_arguments, run_of_goal
from flow.cli.parsing import CommandSpec
from flow.cli.verdict_screen import details_of, verdict_lines
from flow.core import layout
from flow.core.decision.details import NO_DETAILS
from flow.core.goal import ids
from flow.core.goal.lifecycle import TERMINAL, first_step
from flow.core.stop.turns import is_handed_in
from flow.core.text import display
from flow.errors import FlowError, at_key
from flow.startup.json import object_of
from flow.startup.typing import TYPE_CHECKING, Any
from flow.wiring.context import Context
from flow.wiring.goals import Goals

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from flow.cli.output import Output


def _record_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--run-id", metavar="R", required=True, help="the run it belongs to")
    add("--verdict-file", metavar="F", required=True, help="the verdict as JSON (-: stdin)")


def _record_verdict(args: argparse.Namespace, out: Output) -> int:
    run_id = ids.run_id(args.run_id)
    file = args.verdict_file
    document = read_verdict(file)
    path, warnings, _ = record_verdict(Context().run_record, document, run_id, None, file)
    result = {"run_id": run_id, "path": path, "warnings": list(warnings)}
    out.result(result, [f"recorded {display.visible(path)}"])
    out.warn(warnings)
    return 0


def _show_verdict(args: argparse.Namespace, out: Output) -> int:
    context = Context()
    goals = Goals(context)
    run_id, goal_id = run_of_goal(goals, args.run_id, args.ID, "flow verdict show")
    document = goals.records.accepted_verdict(run_id)
    if document is None:
        there = os.path.lexists(os.path.join(context.top, layout.verdict_file(run_id)))
        closed = first_step(_terminal_status(goals, goal_id), str(goal_id))
        raise at_key("run", run_id).not_found(
            f"run {run_id} has no {'readable verdict' if there else 'verdict yet'}",
            closed or f"evaluate the goal: flow goal evaluate {goal_id or 'ID'}",
        )
    newest = goals.records.newest_turn(run_id, str(document.get("goal_id")))
    if is_handed_in(document, newest):
        document = {**document, "handed_in": True}
    closed = _terminal_status(goals, document.get("goal_id"))
    if closed and "do" in document:
        document = {**document, "do": "done"}
    trust_first = document.get("do") == "ask_trust"
    stale = [] if closed or trust_first else _stale(goals, document)
    if stale:
        document = {**document, "stale": stale}
    details = NO_DETAILS if out.json else details_of(context, document, args, out)
    out.result(document, verdict_lines(document, details, args, out, closed=closed))
    return 0


def _stale(goals: Goals, document: Mapping[str, Any]) -> list[str]:
    """The reasons why a verdict's proposal cannot be confirmed any more; empty without any."""
    proposed = object_of(document.get("proposed_transition"))
    if not proposed:
        return []
    try:
        loaded = goals.load(str(document.get("goal_id")))
        shown = shown_proposal(goals.closing_context(), loaded)
    except FlowError:
        return []  # it is shown as it was recorded
    if shown is None or shown["proposal_id"] != proposed.get("proposal_id"):
        return ["a later command ended it"]
    return list(shown["moved"])


def _terminal_status(goals: Goals, goal_id: object) -> str:
    """The goal's status where it is a terminal one and can be read; the verdict is shown anyway."""
    try:
        status = goals.load(str(goal_id)).goal.status if goal_id else ""
    except FlowError:
        return ""
    return status if status in TERMINAL else ""


COMMANDS = {
    "record": CommandSpec(
        "replace the newest verdict of a run", _record_arguments, _record_verdict
    ),
    "show": CommandSpec("the newest verdict of a run", run_arguments, _show_verdict),
}
