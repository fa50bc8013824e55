"""``flow goal amend``: another contract for a goal, on the record (SPEC 10)."""

from __future__ import annotations

from flow.adapters.fs import inputs
from flow.cli.goal.which import goal_to_act_on
from flow.cli.parsing import CommandSpec, goal_argument, yes_argument
from flow.core.text import display
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.amending import Amending
from flow.wiring.context import Context

if TYPE_CHECKING:
    import argparse

    from flow.app.transitions.amend import AmendmentPlan
    from flow.cli.output import Output

_EPILOG = """\
F holds the whole goal as it is to be. Status, results, run and base stay Flow's, whatever F says;
criteria that ask for something else than before start anew. What only asks for more goes in;
what asks for less, or for something that cannot be compared, needs a person's yes."""


def _arguments(parser: argparse.ArgumentParser) -> None:
    goal_argument(parser, optional=True)
    parser.add_argument("--file", metavar="F", required=True, help="the goal as it is to be")
    parser.add_argument("--by", metavar="NAME", help="who says so, for the journal")
    parser.add_argument("--reason", "--note", metavar="T", help="why, for the journal")
    yes_argument(parser)


def _amend_goal(args: argparse.Namespace, out: Output) -> int:
    context = Context()
    goal_id = goal_to_act_on(context, args)
    amending = Amending(context)
    plan = amending.plan(goal_id, inputs.read_text(args.file, "--file"), args.file)
    document = {**plan.to_document(), "warnings": list(plan.warnings)}
    if plan.empty:
        text = f"nothing in the contract of goal {goal_id} changes; its file stays as it is"
        out.result({**document, "amended": False, "starts_anew": []}, [text])
        out.warn(plan.warnings)
        return 0
    out.say(f"what changes in the contract of goal {goal_id}:", *plan.difference)
    out.say(*(["what that means:", *(f"  {change}" for change in plan.changes)]))
    asked = "not asked: nothing in it asks for less"
    if plan.weakening:
        out.need_yes(
            f"Change the contract of goal {goal_id}?",
            yes=args.yes,
            how=f"flow goal amend {goal_id} --file F --yes",
        )
        asked = "--yes" if args.yes else "at a terminal"
    amending.carry_out(plan, who=args.by, asked=asked, reason=args.reason)
    next_step = _next_step(plan)
    anew = [name for name in plan.anew if plan.loaded.goal.criterion(name) is not None]
    out.result(
        {**document, "amended": True, "starts_anew": anew, "next": next_step},
        [
            f"goal {goal_id} is amended ({plan.kind}): {_counted(plan)}",
            *([f"starts anew: {display.names(anew)}"] if anew else []),
            f"next: {next_step}",
        ],
    )
    out.warn(plan.warnings)
    return 0


def _counted(plan: AmendmentPlan) -> str:
    number = len(plan.changes)
    return f"{number} change{'' if number == 1 else 's'}, contract {plan.contract[:12]}"


def _next_step(plan: AmendmentPlan) -> str:
    goal = plan.loaded.goal
    return f"flow goal {'activate' if goal.status == 'draft' else 'evaluate'} {goal.id}"


COMMANDS = {
    "amend": CommandSpec(
        "change the contract of a goal, on the record", _arguments, _amend_goal, _EPILOG
    )
}
