"""``flow evidence verify`` and ``head``: a run's record against its hash chain."""

from __future__ import annotations

from flow.app import goal_views
from flow.app.evaluation.proposals import broken_record
from flow.cli.evidence import bundle as evidence_bundle
from flow.cli.goal.which import is_run_here, no_such_run
from flow.cli.parsing import CommandSpec, plain, usage_error, yes_argument
from flow.core.chain.entries import TRAILER
from flow.core.goal import ids
from flow.core.text import display
from flow.errors import at_key
from flow.render import chain
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.context import Context
from flow.wiring.goals import Goals

if TYPE_CHECKING:
    import argparse

    from flow.cli.output import Output

FINDINGS = 1


def _run_arguments(parser: argparse.ArgumentParser, default: str) -> None:
    parser.add_argument("RUN", nargs="?", help=f"a run, or the goal it is of ({default})")
    parser.add_argument("--goal", metavar="ID", help="the run of this goal")
    parser.add_argument("--run-id", metavar="R", help="this run")


def _chosen_run(args: argparse.Namespace, context: Context, prog: str) -> str | None:
    if sum(name is not None for name in (args.RUN, args.goal, args.run_id)) > 1:
        raise usage_error("name the goal or the run, once", prog)
    if args.RUN is not None:
        return _run_named(context, args.RUN)
    if args.run_id is not None:
        return ids.run_id(args.run_id)
    return Goals(context).run_of(args.goal) if args.goal is not None else None


def _run_named(context: Context, name: str) -> str:
    """The run of this id, or of the goal of this id where there is no such run."""
    run_id = ids.run_id(name)
    if not is_run_here(context.top, run_id) and run_id in context.records.goal_ids():
        return Goals(context).run_of(run_id)
    return run_id


def _verify_arguments(parser: argparse.ArgumentParser) -> None:
    _run_arguments(parser, "default: every run there is, or was")
    evidence_bundle.arguments(parser)
    parser.add_argument(
        "--against",
        metavar="REF",
        help="also compare with the heads that journal and commits name at REF",
    )
    parser.add_argument(
        "--forget",
        action="store_true",
        help="forget the head that your state folder keeps of RUN: you removed it yourself",
    )
    yes_argument(parser)


def _verify_runs(args: argparse.Namespace, out: Output) -> int:
    prog = "flow evidence verify"
    if args.bundle is not None:
        return _verify_bundle(args, out, prog)
    if args.allowed_signers is not None or args.key:
        raise usage_error("--allowed-signers and --key belong to --bundle", prog)
    context = Context()
    run_id = _chosen_run(args, context, prog)
    if args.forget:
        if run_id is None or args.against is not None:
            raise usage_error("--forget takes the run, and nothing else", prog)
        return _forget_run(context, run_id, args, out)
    if args.yes:
        raise usage_error("--yes answers the question of --forget", prog)
    goal_ids = context.records.goal_ids() if run_id is not None else ()  # to suggest one
    document = context.verification.verify(run_id, args.against, goal_ids)
    out.result(plain(document), chain.verified(document, out.screen))
    out.warn(document["warnings"])
    return FINDINGS if document["broken"] else 0


def _verify_bundle(args: argparse.Namespace, out: Output, prog: str) -> int:
    """Check an export by itself, without any repository."""
    others = (args.RUN, args.goal, args.run_id, args.against)
    if any(word is not None for word in others) or args.forget or args.yes:
        raise usage_error("--bundle is checked by itself: name no run, and no --against", prog)
    return evidence_bundle.run(args, out)


def _forget_run(context: Context, run_id: str, args: argparse.Namespace, out: Output) -> int:
    out.need_yes(
        f"Forget the head kept of run {run_id}, so that what was cut is no longer told?",
        yes=args.yes,
        how=f"flow evidence verify {run_id} --forget --yes",
    )
    path = _forget_head(context, run_id)
    out.result({"run_id": run_id, "forgotten": path}, [f"forgot {display.visible(path)}"])
    return 0


def _forget_head(context: Context, run_id: str) -> str:
    """Forget what the state folder keeps of a run; returns the file it was in."""
    path = context.heads.path(run_id)
    if context.heads.read(run_id) is None:
        raise at_key("RUN", run_id).not_found(
            f"your state folder keeps no head of run {run_id}",
            "see the runs it knows: flow evidence verify",
        )
    context.heads.forget(run_id)
    return path


def _head_arguments(parser: argparse.ArgumentParser) -> None:
    _run_arguments(parser, "default: that of the goal of the branch that is checked out")
    parser.add_argument(
        "--trailer", action="store_true", help=f"as a commit trailer: {TRAILER}: <n>:<hash>"
    )


def _show_head(args: argparse.Namespace, out: Output) -> int:
    context = Context()
    run_id = _chosen_run(args, context, "flow evidence head")
    if run_id is None:
        goals = Goals(context)
        run_id = goals.run_of(goal_views.choose(goals))
    head = context.records.ledger_head(ids.run_id(run_id))
    if head is None:
        if not is_run_here(context.top, run_id):
            raise no_such_run(run_id, "RUN", context.records.goal_ids())
        broken = context.verification.broken(run_id)
        if broken:
            raise at_key("RUN", run_id).wrong_state(
                broken_record(run_id, broken), f"see all of it: flow evidence verify {run_id}"
            )
        raise at_key("RUN", run_id).wrong_state(
            f"run {run_id} has no evidence in its chain yet",
            "evaluate its goal first: flow goal evaluate ID",
        )
    trailer = f"{TRAILER}: {head}"
    document = {"run_id": run_id, "head": head, "trailer": trailer}
    out.result(document, [trailer if args.trailer else head])
    return 0


VERIFY = CommandSpec(
    "check runs against their hash chains, or an exported bundle; offline",
    _verify_arguments,
    _verify_runs,
    "exit status: 0 all is as it was recorded, 1 findings, 2 wrong call",
)
HEAD = CommandSpec("the head of a run's hash chain", _head_arguments, _show_head)
