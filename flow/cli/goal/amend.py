"""``flow goal amend``: another contract for a goal, on the record (SPEC 10 and 12)."""

from __future__ import annotations

from itertools import count

from flow.adapters.contracts.marking import with_faults, without_faults
from flow.adapters.fs import inputs
from flow.adapters.process.editor import edited_by_hand, editor_of
from flow.adapters.setup.completed import with_requested
from flow.adapters.transitions.amending import Amending
from flow.app.transitions.amend import carry_out, current_text, plan_handed_in
from flow.app.transitions.persons_word import persons_word
from flow.cli.goal.which import goal_to_act_on
from flow.cli.parsing import goal_argument, usage_error, yes_argument
from flow.core.amendment.requested import RequestedChanges
from flow.core.drafting.completing import with_schema_line
from flow.core.layout import GOAL_LIMIT
from flow.core.text import display
from flow.core.text.shell_quote import shell_option
from flow.errors import ALL_IN_JSON, InputError, cut_list
from flow.render.contract_change import contract_change
from flow.render.moves import LABEL
from flow.render.text import step_line
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.context import Context

if TYPE_CHECKING:
    import argparse

    from flow.app.transitions.amend import AmendmentPlan
    from flow.cli.output import Output

_EPILOG = """\
Everything that is named is changed at once, in the goal's file as it is: comments and order stay. A
criterion whose id is there gets another text, and command where one is named; any other is added.
F holds the whole goal as it is to be. Status, results, run and base stay Flow's, whatever F says;
criteria that ask for something else than before start anew. What only asks for more goes in;
what asks for less, or cannot be compared, needs a person's yes."""

_REPEATABLE = (
    ("--allow", "P", "a path pattern that may be changed, too"),
    ("--deny", "P", "a path pattern that must not be changed"),
    ("--criterion", "C", "'AC4: what must hold :: command': change AC4, or add a criterion"),
    ("--remove", "AC", "take a criterion out"),
)
_AMENDED = "the amended goal"
UNATTENDED_EDITS = 5
"""Most times that an editor is opened without a terminal: a script may never mend the file."""


def _arguments(parser: argparse.ArgumentParser) -> None:
    goal_argument(parser)
    for option, metavar, meaning in _REPEATABLE:
        parser.add_argument(
            option, metavar=metavar, action="append", help=f"{meaning} (repeatable)"
        )
    parser.add_argument("--edit", action="store_true", help="open the goal's file in your editor")
    parser.add_argument("--file", metavar="F", help="the goal as it is to be (-: standard input)")
    parser.add_argument("--by", metavar="NAME", help="who says so, for the journal")
    parser.add_argument("--reason", "--note", metavar="T", help="why, for the journal")
    yes_argument(parser)


def _amend_goal(args: argparse.Namespace, out: Output) -> int:
    changes = RequestedChanges(
        *(tuple(getattr(args, name) or ()) for name in ("allow", "deny", "criterion", "remove"))
    )
    if not (any(changes) or args.edit or args.file):
        raise usage_error(
            "say what is to change: --allow, --deny, --criterion, --remove, --edit or --file",
            "flow goal amend",
        )
    context = Context()
    goal_id = goal_to_act_on(context, args)
    word = persons_word(context, args.by)  # refused before anything is shown
    plan = _plan(context, goal_id, changes, args, out)
    if plan is None:
        out.result({"goal_id": goal_id, "amended": False}, ["the file is empty: nothing changed"])
        return 0
    document = {**plan.to_document(), "warnings": list(plan.warnings)}
    if plan.empty:
        text = f"nothing in the contract of goal {goal_id} changes; its file stays as it is"
        out.result({**document, "amended": False, "starts_anew": []}, [text])
        out.warn(plan.warnings)
        return 0
    head = "what changes in its contract"
    out.tell(contract_change(goal_id, head, plan.difference, document["changes"], out.screen))
    asked = "not asked: nothing in it asks for less"
    if plan.needs_person:
        out.need_yes(
            f"Change the contract of goal {goal_id}?",
            yes=args.yes,
            how=_typed_line(goal_id, args),
        )
        asked = "--yes" if args.yes else "at a terminal"
    tools, how = Amending(context), "flow goal amend"
    carry_out(tools, plan, word=word, how=how, asked=asked, reason=args.reason)
    _show_amended(plan, document, out)
    return 0


def _plan(
    context: Context,
    goal_id: str,
    changes: RequestedChanges,
    args: argparse.Namespace,
    out: Output,
) -> AmendmentPlan | None:
    """All the changes together; None if a person left an empty file."""
    amending, told = Amending(context), tuple[str, ...]()
    if args.file is not None:
        text, name = inputs.read_text(args.file, "--file", limit=GOAL_LIMIT), args.file
        text, _, told = amending.completed(goal_id, text, name)
        text = with_schema_line(text)
    else:
        text, name = current_text(amending, goal_id), _AMENDED
    text = with_requested(text, name, changes)
    plan = (
        _edited(context, amending, goal_id, text, out)
        if args.edit
        else plan_handed_in(amending, goal_id, text, name)
    )
    return plan and plan._replace(warnings=(*dict.fromkeys((*told, *plan.warnings)),))


def _edited(
    context: Context, amending: Amending, goal_id: str, text: str, out: Output
) -> AmendmentPlan | None:
    """The text from a person's editor, which is opened again until the text has no fault."""
    if not out.can_ask and editor_of(context.environ) is None:
        raise usage_error(
            "--edit needs a terminal, or VISUAL or EDITOR", "flow goal amend", key="--edit"
        )
    name, given, shown = f"{goal_id}.goal.yaml", text, False
    for opened in count(1):
        left = without_faults(edited_by_hand(given, name, context.environ))
        if not left.strip():
            return None
        try:
            return plan_handed_in(amending, goal_id, left, name)
        except InputError as error:
            unchanged = shown and left == text  # the faults stood there, and nobody mended them
            if unchanged or (opened == UNATTENDED_EDITS and not out.can_ask):
                raise
            out.say(
                *(f"flow: {fault}" for fault in cut_list([*map(str, error.faults)], ALL_IN_JSON))
            )
            text, given, shown = left, with_faults(left, error.faults), True
    return None


def _typed_line(goal_id: str, args: argparse.Namespace) -> str:
    """The command line of the same call, for a caller that has asked a person."""
    words = [f"flow goal amend {goal_id}"]
    for option, _, _ in _REPEATABLE:
        words += [shell_option(option, value) for value in getattr(args, option[2:]) or ()]
    words += ["--edit"] if args.edit else []
    words += [shell_option("--file", "F" if args.file == "-" else args.file)] if args.file else []
    words += [shell_option("--by", args.by)] if args.by else []
    words += [shell_option("--reason", args.reason)] if args.reason else []
    return " ".join([*words, "--yes"])


def _show_amended(plan: AmendmentPlan, document: dict[str, object], out: Output) -> None:
    next_step = _next_step(plan)
    anew = [name for name in plan.anew if plan.loaded.goal.criterion(name) is not None]
    screen = out.screen
    out.result(
        {**document, "amended": True, "starts_anew": anew, "next": next_step},
        [
            f"{screen.mark('contract')} {plan.goal.id} is amended: {_counted(plan)}",
            *([screen.labelled("anew", display.names(anew), width=LABEL)] if anew else []),
            step_line(screen, "next", next_step, LABEL),
        ],
    )
    out.warn(plan.warnings)


def _counted(plan: AmendmentPlan) -> str:
    number = len(plan.changes)
    return f"{number} change{'' if number == 1 else 's'}, contract {plan.contract[:12]}"


def _next_step(plan: AmendmentPlan) -> str:
    goal = plan.loaded.goal
    return f"flow goal {'activate' if goal.status == 'draft' else 'evaluate'} {goal.id}"


COMMANDS = {
    "amend": (_arguments, _amend_goal, _EPILOG),
}
