"""``flow trust``: the goals whose commands may run here (SPEC 7)."""

from __future__ import annotations

import shlex

from flow.app import goal_views
from flow.app.transitions import trusting as contracts
from flow.cli import defaults
from flow.cli.parsing import CommandSpec, goal_argument, nothing, usage_error, yes_argument
from flow.core.goal import ids
from flow.core.layout import DEFAULTS
from flow.core.text import display
from flow.errors import PersonNeeded
from flow.render import records
from flow.render.contract_change import contract_change
from flow.render.text import local_times
from flow.startup.typing import TYPE_CHECKING, Any
from flow.wiring.context import Context
from flow.wiring.goals import Goals
from flow.wiring.trusting import Trusting

if TYPE_CHECKING:
    import argparse

    from flow.cli.output import Output

UNTRUSTED = PersonNeeded.exit_code


def _goal_or_file(parser: argparse.ArgumentParser) -> None:
    goal_argument(parser)
    parser.add_argument("--goal-file", metavar="F", help="a goal file instead of a goal's id")
    _defaults_argument(parser)


def _defaults_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        defaults.OPTION, action="store_true", help=f"{DEFAULTS}, which every new goal gets"
    )


def _revoke_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ID", nargs="?", help="the goal")
    _defaults_argument(parser)


def _record_arguments(parser: argparse.ArgumentParser) -> None:
    _goal_or_file(parser)
    yes_argument(parser)


def _named_contract(
    context: Context, args: argparse.Namespace, prog: str
) -> tuple[str | None, str | None]:
    """(goal id, goal file), one of them None."""
    if args.ID is not None and args.goal_file is not None:
        raise usage_error("name the goal or its file, not both", prog)
    if args.goal_file is not None:
        return None, args.goal_file
    return ids.goal_id(goal_views.choose(Goals(context), args.ID)), None


def _refuse_both(args: argparse.Namespace, prog: str) -> None:
    if args.defaults and (args.ID is not None or getattr(args, "goal_file", None) is not None):
        raise usage_error(f"name the goal or {defaults.OPTION}, not both", prog)


def _record_trust(args: argparse.Namespace, out: Output) -> int:
    context = Context()
    if args.defaults:
        _refuse_both(args, "flow trust record")
        return defaults.record_defaults(context, out, yes=args.yes)
    trusting = Trusting(context)
    goal_id, goal_file = _named_contract(context, args, "flow trust record")
    name = goal_id or goal_file or ""
    if goal_id is not None:
        context.finish(goal_id)
    context.note_use()
    loaded = trusting.named(goal_id, goal_file)
    trusted, reason = context.trusted(loaded)
    difference = [] if trusted else contracts.lines_since_trusted(trusting, loaded)
    changes = () if trusted else contracts.changes_since_trusted(trusting, loaded)
    document: dict[str, Any] = {
        "goal": name,
        "digest": loaded.contract,
        "difference": difference,
        "changes": [change.to_document() for change in changes],
        "was_trusted": trusted,
    }
    if trusted:
        told = local_times(display.visible(reason), out.screen)
        out.result(
            document,
            [f"{out.screen.mark('proved')} {display.visible(name)} is trusted already: {told}"],
        )
        return 0
    head = "what differs in its contract from what you trusted last (all, if nothing was)"
    if not (difference or changes):  # trust was revoked
        read = f"flow goal inspect {goal_id}" if goal_id else display.visible(name)
        head = f"nothing differs in its contract from what you trusted last; all of it: {read}"
    out.tell(contract_change(name, head, difference, document["changes"], out.screen))
    out.need_yes(
        f"Let Flow run the commands of {name} as you?",
        yes=args.yes,
        how=f"{_record_line(goal_id, goal_file)} --yes",
    )
    contracts.record_trust(trusting, loaded, "flow trust record")
    shown = display.visible(name)
    out.result(
        document,
        [f"{out.screen.mark('proved')} {shown} is trusted (contract {loaded.contract[:12]})"],
    )
    return 0


def _record_line(goal_id: str | None, goal_file: str | None) -> str:
    """The line to type in order to trust the contract."""
    return shlex.join(["flow", "trust", "record", goal_id or f"--goal-file={goal_file}"])


def _check_trust(args: argparse.Namespace, out: Output) -> int:
    context = Context()
    if args.defaults:
        _refuse_both(args, "flow trust check")
        return defaults.check_defaults(context, out)
    goal_id, goal_file = _named_contract(context, args, "flow trust check")
    loaded = Trusting(context).named(goal_id, goal_file)
    trusted, reason = context.trusted(loaded)
    name = goal_id or goal_file or ""
    document = {"goal": name, "trusted": trusted, "why": reason, "digest": loaded.contract}
    out.result(
        document, records.trust_check(document, _record_line(goal_id, goal_file), out.screen)
    )
    return 0 if trusted else UNTRUSTED


def _list_trust(_args: argparse.Namespace, out: Output) -> int:
    entries = [entry.to_row() for entry in Context().trust_ledger.standing()]
    out.result({"trusted": entries}, records.trust_list(entries, out.screen))
    if not entries:
        out.say("no goal of this repository is trusted")
    return 0


def _revoke_trust(args: argparse.Namespace, out: Output) -> int:
    _refuse_both(args, "flow trust revoke")
    if args.defaults:
        return defaults.revoke_defaults(Context(), out)
    if args.ID is None:
        raise usage_error("name the goal, or --defaults", "flow trust revoke")
    goal_id = ids.goal_id(args.ID)
    context = Context()
    revoked = context.trust_ledger.revoke(goal_id, now=context.now(), how="flow trust revoke")
    state = "is not trusted any more" if revoked else "was not trusted"
    out.result(
        {"goal": goal_id, "revoked": revoked},
        [f"{out.screen.mark('proved' if revoked else 'unasked')} {goal_id} {state}"],
    )
    return 0


COMMANDS = {
    "record": CommandSpec(
        "trust a goal's contract as it is now, after showing what changed",
        _record_arguments,
        _record_trust,
    ),
    "check": CommandSpec(
        "whether a goal's commands may run here",
        _goal_or_file,
        _check_trust,
        "exit status: 0 yes, 4 no",
    ),
    "list": CommandSpec("the goals of this repository that are trusted", nothing, _list_trust),
    "revoke": CommandSpec("end the trust in a goal", _revoke_arguments, _revoke_trust),
}
