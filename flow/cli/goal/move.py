"""The commands that move a goal on a person's word."""

from __future__ import annotations

from flow.app.evaluation.protected_files import PROTECTED
from flow.app.transitions.moves import GUARDS
from flow.cli.goal.confirming import (
    AGAIN,
    CONFIRM,
    ask_person,
    closing_word,
    show_closed,
    unnamed_proposal,
)
from flow.cli.goal.which import DRAFTS, STOPPED, goal_to_act_on
from flow.cli.parsing import CommandSpec, Parser, goal_argument, yes_argument
from flow.core.goal.lifecycle import check_move
from flow.core.text import display
from flow.errors import PersonNeeded
from flow.startup.typing import TYPE_CHECKING
from flow.wiring import closing, moving
from flow.wiring.context import Context

if TYPE_CHECKING:
    import argparse

    from flow.app.ports import LoadedGoal
    from flow.cli.output import Output


def _show_moved(out: Output, loaded: LoadedGoal, state: str, next_step: str) -> int:
    goal = loaded.goal
    document = {
        "goal_id": goal.id,
        "status": goal.status,
        "run_id": goal.run_id,
        "base_commit": goal.base_commit,
        "warnings": list(loaded.warnings),
        "next": next_step,
    }
    out.result(document, [f"goal {goal.id} {state}", f"next: {next_step}"])
    out.warn(loaded.warnings)
    return 0


def _activate(args: argparse.Namespace, out: Output) -> int:
    context = Context()
    loaded = moving.activate(context, goal_to_act_on(context, args, DRAFTS))
    base = loaded.goal.base_commit
    state = f"is active, counted from {base[:12]}" if base else "is active, without a base commit"
    return _show_moved(
        out, loaded, state, f"do the work, then: flow goal evaluate {loaded.goal.id}"
    )


def _pause_goal(args: argparse.Namespace, out: Output) -> int:
    context = Context()
    loaded = moving.pause(context, goal_to_act_on(context, args), args.reason or "")
    state = f"is {loaded.goal.status}, paused"
    return _show_moved(out, loaded, state, f"flow goal resume {loaded.goal.id}")


def _resume_goal(args: argparse.Namespace, out: Output) -> int:
    context = Context()
    reason = args.reason or "resumed by a person"
    loaded = moving.shift(context, goal_to_act_on(context, args, STOPPED), "active", reason)
    return _show_moved(
        out, loaded, f"is {loaded.goal.status}", f"flow goal evaluate {loaded.goal.id}"
    )


def _confirm(args: argparse.Namespace, out: Output) -> int:
    context = Context()
    goal_id = goal_to_act_on(context, args)
    moving.persons_word(context, args.by, args.note or "")  # refused before anything is shown
    proposal = args.proposal or _confirmed_proposal(context, goal_id, out)
    note = args.note if args.proposal is None else args.note or ""
    word = closing_word(context, args.by, note, out)
    how = "flow goal confirm"
    closed = closing.confirm(context, goal_id, proposal, args.reason, how, word)
    return show_closed(context, closed, out)


def _confirmed_proposal(context: Context, goal_id: str, out: Output) -> str:
    """The live proposal, on a person's yes at a terminal; they may have it evaluated again.

    Raises :class:`PersonNeeded` where they do not confirm, :class:`StateError` where nobody can be
    asked, or nothing is proposed any more.
    """
    if not out.can_ask:
        raise unnamed_proposal(context, goal_id)
    told = False
    while True:
        answer, question = ask_person(context, goal_id, out, told=told)
        if answer in CONFIRM:
            return question.proposal_id
        if answer not in AGAIN:
            raise PersonNeeded("not confirmed; nothing was changed", code="declined")
        from flow.cli.goal import evaluate  # few want it again

        command = evaluate.COMMANDS["evaluate"]
        command.run(Parser("flow goal evaluate", command).parse([goal_id, "--no-input"]), out)
        told = True


def _cancel_goal(args: argparse.Namespace, out: Output) -> int:
    context = Context()
    goal_id = goal_to_act_on(context, args)
    context.ledger.finish(goal_id)  # what a killed call had decided comes first
    goal = context.load(goal_id).goal
    check_move(goal.status, "cancelled", goal=goal.id)  # nobody is asked what cannot be done
    out.need_yes(
        f"Cancel goal {goal.id} ({goal.status}) for good?",
        yes=args.yes,
        how=f"flow goal clear {goal.id} --yes",
    )
    reason = args.reason or "cleared by a person"
    closed = closing.clear(context, goal.id, reason, "flow goal clear")
    out.result(closed.to_document(), [f"goal {closed.goal_id} is {closed.status}"])
    return 0


def _approve(args: argparse.Namespace, out: Output) -> int:
    context = Context()
    word = moving.persons_word(context, args.by, args.note)
    goal = context.load(goal_to_act_on(context, args)).goal
    criterion = goal.criterion(args.AC)
    if args.AC == GUARDS:
        approved = "hooks and git settings, as they are now, belong here"
    elif args.AC == PROTECTED and (changed := moving.protected_changes(context, goal.id)):
        approved = "the protected files, as they are now, prove what the goal means"
        out.say(*(f"  {file.kind}: {file.path}" for file in changed.files))
    elif criterion is not None and criterion.fuzzy:
        approved = f"{criterion.id} is proved, as the files are now: {criterion.text}"
    else:
        approved = ""  # refused below: nobody is asked what cannot be done
    if approved:
        out.say(approved, f"  {word.by} says: {word.note}")
        out.need_yes(
            f"Approve {args.AC} of goal {goal.id}?",
            yes=args.yes,
            how=f"flow goal approve {goal.id} {args.AC} --by NAME --note TEXT --yes",
        )
    path = moving.approve(context, goal.id, args.AC, word)
    document = {"goal_id": goal.id, "criterion_id": args.AC, "by": word.by, "evidence_ref": path}
    out.result(
        document,
        [
            f"{display.visible(args.AC)} of goal {goal.id} is approved",
            f"evidence: {path}",
            f"next: flow goal evaluate {goal.id}",
        ],
    )
    return 0


def _rebase_goal(args: argparse.Namespace, out: Output) -> int:
    context = Context()
    plan = moving.plan_rebase(context, goal_to_act_on(context, args))
    move = f"{_short_commit(plan.old_base)} to {_short_commit(plan.new_base)}"
    out.say(
        f"the base of goal {plan.goal_id} would move from {move}; "
        f"{len(plan.stops_counting)} files that only the other side changed stop counting:",
        *(f"  {path}" for path in plan.stops_counting),
    )
    out.need_yes(
        f"Move the base of goal {plan.goal_id}?",
        yes=args.yes,
        how=f"flow goal rebase {plan.goal_id} --yes",
    )
    moving.do_rebase(context, plan)
    moved = f"the base of goal {plan.goal_id} moved from {move}"
    out.result(plan.to_document(), [moved, f"next: flow goal evaluate {plan.goal_id}"])
    return 0


def _short_commit(commit: str | None) -> str:
    return commit[:12] if commit else "none"


def _reason_arguments(parser: argparse.ArgumentParser) -> None:
    goal_argument(parser, optional=True)
    parser.add_argument("--reason", metavar="T", help="why, for the journal")


def _confirm_arguments(parser: argparse.ArgumentParser) -> None:
    goal_argument(parser, optional=True)
    parser.add_argument(
        "--proposal",
        metavar="P",
        help="the proposal_id of the evaluation, or its first 8 digits; asked for at a terminal",
    )
    _word_arguments(parser)
    parser.add_argument("--reason", metavar="T", help="why, in place of the proposal's reason")


def _word_arguments(parser: argparse.ArgumentParser, *, required: bool = False) -> None:
    parser.add_argument("--by", metavar="NAME", help="who says so (default: git's user.name)")
    note = "on what grounds" if required else "your words, for the record"
    parser.add_argument("--note", metavar="TEXT", required=required, help=note)


def _clear_arguments(parser: argparse.ArgumentParser) -> None:
    _reason_arguments(parser)
    yes_argument(parser)


def _approve_arguments(parser: argparse.ArgumentParser) -> None:
    goal_argument(parser, optional=True)
    parser.add_argument("AC", help="a fuzzy criterion, or: guards, protected (what changed there)")
    _word_arguments(parser, required=True)
    yes_argument(parser)


def _rebase_arguments(parser: argparse.ArgumentParser) -> None:
    goal_argument(parser, optional=True)
    yes_argument(parser)


def _activate_arguments(parser: argparse.ArgumentParser) -> None:
    goal_argument(parser, optional=True)


COMMANDS = {
    "activate": CommandSpec(
        "start a draft: pin its base, trust it", _activate_arguments, _activate
    ),
    "pause": CommandSpec("set a goal aside until it is resumed", _reason_arguments, _pause_goal),
    "resume": CommandSpec("go on with a waiting or blocked goal", _reason_arguments, _resume_goal),
    "confirm": CommandSpec(
        "close a goal as proposed, on a person's word", _confirm_arguments, _confirm
    ),
    "clear": CommandSpec("cancel a goal", _clear_arguments, _cancel_goal),
    "approve": CommandSpec(
        "prove a fuzzy criterion by a person's word", _approve_arguments, _approve
    ),
    "rebase": CommandSpec(
        "move the pinned base after the base branch was merged in", _rebase_arguments, _rebase_goal
    ),
}
