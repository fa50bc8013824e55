"""``flow gc``: old outputs of closed goals go; or, with ``--archive``, into one file a run."""

from __future__ import annotations

from flow.cli.parsing import CommandSpec, whole, yes_argument
from flow.render import chain
from flow.startup.typing import TYPE_CHECKING
from flow.wiring import collecting
from flow.wiring.context import Context

if TYPE_CHECKING:
    import argparse

    from flow.cli.output import Output

OLDER_THAN = 30
"""Days since a run's last evidence, where the caller names none."""
MOST_DAYS = 36_500
MOST_RUNS = 1_000_000


def _arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--older-than",
        metavar="DAYS",
        type=whole(0, MOST_DAYS, "a number of days"),
        default=OLDER_THAN,
        help=f"only runs whose newest evidence is older than this (default: {OLDER_THAN})",
    )
    add(
        "--keep",
        metavar="N",
        type=whole(0, MOST_RUNS, "a number of runs"),
        default=0,
        help="leave the N newest runs of closed goals alone (default: 0)",
    )
    add(
        "--archive",
        action="store_true",
        help="drop nothing: put all evidence of such a run into one file, evidence.zip",
    )
    add("--dry-run", action="store_true", help="only say what would be done")
    yes_argument(parser)


def _run_gc(args: argparse.Namespace, out: Output) -> int:
    context = Context()
    if args.archive:
        return _archive(context, args, out)
    plan = collecting.plan_gc(context, args.older_than, args.keep)
    document = plan.to_document(dry_run=args.dry_run)
    if args.dry_run or not plan.runs:
        again = f"flow gc --older-than {args.older_than} --keep {args.keep}"
        out.result(document, chain.collected(document, out.screen, again))
        out.warn(plan.warnings)
        return 0
    out.warn(plan.warnings)
    out.need_yes(
        f"drop {chain.counted(document['outputs'], 'output')} ({chain.size(document['bytes'])}) "
        f"of {chain.counted(len(plan.runs), 'run')} for good?",
        yes=args.yes,
        how="flow gc --yes",
    )
    done = collecting.do_gc(context, plan).to_document(dry_run=False)
    out.result(done, chain.collected(done, out.screen, ""))
    return 0


def _archive(context: Context, args: argparse.Namespace, out: Output) -> int:
    plan = collecting.plan_archives(context, args.older_than, args.keep)
    document = plan.to_document(dry_run=args.dry_run)
    if args.dry_run or not plan.runs:
        again = f"flow gc --archive --older-than {args.older_than} --keep {args.keep}"
        out.result(document, chain.archived(document, out.screen, again))
        out.warn(plan.warnings)
        return 0
    out.warn(plan.warnings)
    out.need_yes(
        f"put {chain.counted(document['files'], 'file')} ({chain.size(document['bytes'])}) "
        f"of {chain.counted(len(plan.runs), 'run')} into one archive each?",
        yes=args.yes,
        how="flow gc --archive --yes",
    )
    did = collecting.do_archives(context, plan)
    done = did.to_document(dry_run=False)
    out.result(done, chain.archived(done, out.screen, ""))
    out.warn(did.warnings)
    return 0


COMMAND = CommandSpec(
    "drop raw outputs of closed goals that are old, or archive all their evidence",
    _arguments,
    _run_gc,
    "Sidecars, chain, events and verdicts stay, and so does every output of a goal that is not "
    "closed. With --archive nothing goes: every command reads evidence from the archive as before, "
    "and the chain verifies.",
)
