"""The commands that move a goal on a person's word."""

from __future__ import annotations

from flow.adapters.baseline.pinning import Pinning
from flow.adapters.process.redaction import redacted_text
from flow.app.evaluation.protected_files import PROTECTED, current_difference
from flow.app.judging import labelling
from flow.app.transitions import create, moves
from flow.app.transitions.moves import GUARDS
from flow.app.transitions.persons_word import persons_word
from flow.cli.goal import load
from flow.cli.goal.confirm_dialog import (
    AGAIN,
    CONFIRM,
    ask_person,
    closing_word,
    said_from,
    show_closed,
    unnamed_proposal,
)
from flow.cli.goal.which import DRAFTS, STOPPED, goal_to_act_on
from flow.cli.parser import Parser
from flow.cli.parsing import goal_argument, yes_argument
from flow.core.goal.lifecycle import TERMINAL, check_move
from flow.core.stop.pause import CLEARED, PERSON
from flow.core.text.display import counted, visible
from flow.core.text.shell_quote import shell_option
from flow.errors import FlowError, PersonNeeded
from flow.render.confirm_screen import approved_lines
from flow.render.moves import moved_lines
from flow.startup.typing import TYPE_CHECKING, Any
from flow.wiring import evaluating
from flow.wiring.activating import activate
from flow.wiring.context import Context

if TYPE_CHECKING:
    import argparse

    from flow.app.transitions.persons_word import PersonsWord
    from flow.cli.output import Output
    from flow.core.goal.loaded import LoadedGoal
    from flow.core.goal.model import Goal


def _show_moved(out: Output, loaded: LoadedGoal, lines: list[str], **more: Any) -> int:
    """Show a goal that was moved; ``more`` are fields of the document, ``next`` among them."""
    goal = loaded.goal
    document = {
        "goal_id": goal.id,
        "status": goal.status,
        "run_id": goal.run_id,
        "base_commit": goal.base_commit,
        "warnings": list(loaded.warnings),
        **more,
    }
    out.result(document, lines)
    out.warn(loaded.warnings)
    return 0


def _activate(args: argparse.Namespace, out: Output) -> int:
    context = Context()
    loaded = activate(context, goal_to_act_on(context, args, DRAFTS))
    goal = loaded.goal
    base = f"base {goal.base_commit[:12]}" if goal.base_commit else "without a base commit"
    next_step = f"do the work, then: flow goal evaluate {goal.id}"
    sentence = f"{goal.id} is active on branch {goal.branch}, {base}."
    lines = moved_lines(out.screen, "proved", sentence, next_step=next_step)
    return _show_moved(out, loaded, lines, next=next_step)


_PAUSED_FROM = {
    "waiting_for_user": " It waited for a person already.",
    "waiting_for_ci": " It waited for a command, and no longer does.",
    "blocked": " It was blocked: what is outside its paths still is.",
}
"""Other effects of a pause, by the goal's status before it."""


def _pause_goal(args: argparse.Namespace, out: Output) -> int:
    context = Context()
    goal_id = goal_to_act_on(context, args)
    before = context.load(goal_id).goal
    was_paused = context.remembered.paused(before) is not None
    reason = redacted_text(args.reason or "", context.environ)  # most are an agent's words
    loaded = moves.pause_goal(context.persons_context(), goal_id, reason, context.remembered.paused)
    pause = context.remembered.paused(loaded.goal)
    who = pause.who if pause is not None else PERSON
    from_status = " It was paused already." if was_paused else _PAUSED_FROM.get(before.status, "")
    next_step = f"flow goal resume {goal_id}"
    lines = moved_lines(
        out.screen,
        "undecided",
        f"{goal_id} is paused by {who}.{from_status}",
        words=reason.strip(),
        next_step=next_step,
    )
    shown = pause.to_document() if pause is not None else None
    return _show_moved(out, loaded, lines, paused=shown, next=next_step)


def _resume_goal(args: argparse.Namespace, out: Output) -> int:
    context = Context()
    goal_id = goal_to_act_on(context, args, STOPPED)
    reason = (args.reason or "").strip()
    was_active = context.load(goal_id).goal.status == "active"
    loaded = moves.resume_goal(context.persons_context(), goal_id, reason)
    next_step = f"flow goal evaluate {goal_id}"
    sentence = f"{goal_id} is active {'already; nothing was changed' if was_active else 'again'}."
    words = "" if was_active else reason
    lines = moved_lines(out.screen, "running", sentence, words=words, next_step=next_step)
    return _show_moved(out, loaded, lines, reason=reason or None, next=next_step)


def _confirm(args: argparse.Namespace, out: Output) -> int:
    context = Context()
    goal_id = goal_to_act_on(context, args)
    words = args.reason if args.note is None else args.note  # a reason is a person's words, too
    persons_word(context, args.by, words or "")  # refused before anything is shown
    proposal = args.proposal or _confirmed_proposal(context, goal_id, out)
    note = words if args.proposal is None else words or ""
    word = closing_word(context, args.by, note, out)
    how = "flow goal confirm"
    closed = labelling.confirm_and_label(context, goal_id, proposal, args.reason, how, word)
    return show_closed(context, closed, out)


def _confirmed_proposal(context: Context, goal_id: str, out: Output) -> str:
    """The live proposal, on a person's yes at a terminal; they may have it evaluated again.

    Raises :class:`PersonNeeded` for a no, :class:`StateError` without a terminal to ask at, or if
    the proposal is no longer live.
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
        command = load("evaluate")  # few want it again
        command.run(Parser("flow goal evaluate", command).parse([goal_id, "--no-input"]), out)
        told = True


def _cancel_goal(args: argparse.Namespace, out: Output) -> int:
    context = Context()
    word = persons_word(context, None, args.reason or "")
    goal_id = goal_to_act_on(context, args)
    context.ledger.finish(goal_id)  # what a killed call had decided comes first
    goal = context.load(goal_id).goal
    check_move(goal.status, "cancelled", goal=goal.id)  # nobody is asked what cannot be done
    why = f" {shell_option('--reason', args.reason)}" if args.reason else ""
    out.need_yes(
        f"Cancel goal {goal.id} ({goal.status}) for good?",
        yes=args.yes,
        how=f"flow goal clear {goal.id}{why} --yes",
    )
    reason = word.note or CLEARED
    closed = labelling.cancel_and_label(context, goal.id, reason, "flow goal clear", word)
    return show_closed(context, closed, out)


def _approve(args: argparse.Namespace, out: Output) -> int:
    context = Context()
    word = persons_word(context, args.by, args.note or "")
    goal = context.load(goal_to_act_on(context, args)).goal
    paused = context.remembered.paused(goal)
    shown = None
    if out.can_ask and not args.yes:
        shown = moves.to_approve(context.closing_context(), goal.id, args.AC)
    approved, files = _what_is_approved(context, goal, args.AC)
    if approved:
        out.say(approved, *files)
    if approved and not word.note:
        word = _word_with_note(context, args, out)
    elif approved and not args.yes:  # what was typed just now stands above
        out.tell([f"  {visible(word.by)}: {out.asking.quote(word.note)}"])
    if approved:
        out.need_yes(
            f"Approve {args.AC} of goal {goal.id}?",
            yes=args.yes,
            how=f"flow goal approve {goal.id} {args.AC} --by NAME --note TEXT --yes",
        )
    path = moves.approve(context.closing_context(), goal.id, args.AC, word, shown)
    if paused is not None:
        out.say(f"{goal.id} was {paused.sentence()}; this approval resumes it")
    proposed, warnings = _proposed_after_approval(context, goal.id, out.can_ask)
    document = {
        "goal_id": goal.id,
        "criterion_id": args.AC,
        **word._asdict(),
        **said_from(context),
        "evidence_ref": path,
        "status": context.load(goal.id).goal.status,
        **proposed,
        "warnings": list(warnings),
    }
    out.result(document, approved_lines(document, out.screen))
    out.warn(warnings)
    return 0


def _what_is_approved(context: Context, goal: Goal, about: str) -> tuple[str, list[str]]:
    """The question for an approval, and its files; empty if the approval will be refused.

    A person is never asked about something that cannot be done.
    """
    criterion = goal.criterion(about)
    if goal.status in TERMINAL or goal.status == "draft":
        return "", []
    if about == GUARDS:
        return "hooks and git settings, as they are now, belong here", []
    if about == PROTECTED:
        changed = current_difference(context.closing_context(), context.load(goal.id))
        if changed is not None:
            listed = [f"  {file.kind}: {file.path}" for file in changed.files]
            return "the protected files, as they are now, prove what the goal means", listed
    if criterion is not None and criterion.fuzzy:
        return f"{criterion.id}, for the files as they are now: {criterion.text}", []
    return "", []


def _word_with_note(context: Context, args: argparse.Namespace, out: Output) -> PersonsWord:
    """The word with what a person says at a terminal; the approval itself refuses an empty one."""
    if args.note is None and out.can_ask:
        args.note = out.ask_line("On what grounds?")
    return persons_word(context, args.by, args.note or "")


def _proposed_after_approval(
    context: Context, goal_id: str, at_terminal: bool
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The effect of a recorded approval, and warnings.

    That is a proposal, or the reason for having none, and the next step.
    """
    try:
        (verdict, evaluation), warnings = evaluating.propose_from_fresh(context, goal_id)
    except FlowError as error:
        next_step = f"flow goal evaluate {goal_id} --reuse"
        return {"proposal": None, "not_proposed": str(error), "next": next_step}, ()
    proposed = verdict.proposed_transition
    if proposed is not None:
        named = "" if at_terminal else f" --proposal {proposed.proposal_id[:12]}"
        shown = {"proposal_id": proposed.proposal_id, "to": proposed.to, "reason": proposed.reason}
        next_step = f"flow goal confirm {verdict.goal_id}{named}"
        return {"proposal": shown, "not_proposed": None, "next": next_step}, warnings
    not_fresh = evaluation is not None and evaluation.measurement.not_fresh
    run_again = f"flow goal evaluate {verdict.goal_id} --reuse"
    next_step = verdict.next_step_hint
    if not_fresh and not verdict.path_violations:
        next_step = run_again
    return {"proposal": None, "not_proposed": verdict.reason, "next": next_step}, warnings


def _rebase_goal(args: argparse.Namespace, out: Output) -> int:
    context = Context()
    plan = create.plan_rebase(
        context.closing_context(),
        goal_to_act_on(context, args),
        Pinning(context).rebased,
        context.branch(),
    )
    count = len(plan.stops_counting)
    theirs = f"{counted(count, 'file')} that only the other side changed"
    out.say(
        f"the base of goal {plan.goal_id} would move from {plan.move}; "
        + (f"{theirs} stop{'s' * (count == 1)} counting:" if count else "no file stops counting"),
        *(f"  {path}" for path in plan.stops_counting),
    )
    out.need_yes(
        f"Move the base of goal {plan.goal_id}?",
        yes=args.yes,
        how=f"flow goal rebase {plan.goal_id} --yes",
    )
    create.do_rebase(context.closing_context(), plan, context.record_trust)
    sentence = f"The base of {plan.goal_id} moved from {plan.move}."
    next_step = f"flow goal evaluate {plan.goal_id}"
    lines = moved_lines(out.screen, "contract", sentence, next_step=next_step)
    out.result({**plan.to_document(), "next": next_step}, lines)
    return 0


def _reason_arguments(parser: argparse.ArgumentParser) -> None:
    goal_argument(parser)
    parser.add_argument("--reason", "--note", metavar="T", help="why, for the record")


def _confirm_arguments(parser: argparse.ArgumentParser) -> None:
    goal_argument(parser)
    parser.add_argument(
        "--proposal",
        metavar="P",
        help="the proposal_id of the evaluation, or its first 8 digits; asked for at a terminal",
    )
    _word_arguments(parser)
    reason = "why, in place of the proposal's reason; without --note also your words"
    parser.add_argument("--reason", metavar="T", help=reason)


def _word_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--by", metavar="NAME", help="who says so (default: git's user.name)")
    note = "your words, for the record (asked for at a terminal)"
    parser.add_argument("--note", metavar="TEXT", help=note)


def _clear_arguments(parser: argparse.ArgumentParser) -> None:
    _reason_arguments(parser)
    yes_argument(parser)


def _approve_arguments(parser: argparse.ArgumentParser) -> None:
    goal_argument(parser)
    parser.add_argument("AC", help="a fuzzy criterion, or: guards, protected (what changed there)")
    _word_arguments(parser)
    yes_argument(parser)


def _rebase_arguments(parser: argparse.ArgumentParser) -> None:
    goal_argument(parser)
    yes_argument(parser)


COMMANDS = {
    "activate": (goal_argument, _activate),
    "pause": (_reason_arguments, _pause_goal),
    "resume": (_reason_arguments, _resume_goal),
    "confirm": (_confirm_arguments, _confirm),
    "clear": (_clear_arguments, _cancel_goal),
    "approve": (_approve_arguments, _approve),
    "rebase": (_rebase_arguments, _rebase_goal),
}
