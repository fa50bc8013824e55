"""``flow gc``: old outputs of closed goals go; or, with ``--archive``, into one file a run."""

from __future__ import annotations

from flow.adapters.fs import clock
from flow.adapters.ledger.closed_runs import ClosedRuns
from flow.app import closed_runs
from flow.app.closed_runs import ArchivePlan
from flow.cli.parsing import CommandSpec, whole, yes_argument
from flow.core.text.display import counted
from flow.render import chain
from flow.startup.typing import TYPE_CHECKING, Any
from flow.wiring.context import Context

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from flow.app.closed_runs import RemovalPlan
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
    runs, oldest = ClosedRuns(Context()), clock.days_ago(args.older_than)
    command = "flow gc --archive" if args.archive else "flow gc"
    plan: RemovalPlan | ArchivePlan
    if args.archive:
        plan, screen = closed_runs.plan_archives(runs, oldest, args.keep), chain.archived
    else:
        plan, screen = closed_runs.plan_removals(runs, oldest, args.keep), chain.collected
    document = plan.to_document(dry_run=args.dry_run)
    if args.older_than != OLDER_THAN:
        command += f" --older-than {args.older_than}"
    again = f"{command} --keep {args.keep}" if args.keep else command
    if args.dry_run or not plan.runs:
        out.result(document, screen(document, out.screen, again))
        out.warn(plan.warnings)
        return 0
    out.warn(plan.warnings)
    out.need_yes(_question(plan, document), yes=args.yes, how=f"{again} --yes")
    if isinstance(plan, ArchivePlan):
        plan = closed_runs.archive(runs, plan)
    else:
        plan = closed_runs.remove(runs, plan)
    done = plan.to_document(dry_run=False)
    out.result(done, screen(done, out.screen, ""))
    out.warn(plan.warnings)
    return 0


def _question(plan: RemovalPlan | ArchivePlan, document: Mapping[str, Any]) -> str:
    size, runs = chain.size(document["bytes"]), counted(len(plan.runs), "run")
    if isinstance(plan, ArchivePlan):
        files = counted(document["files"], "file")
        return f"Put {files} ({size}) of {runs} into one archive each?"
    return f"Drop {counted(document['outputs'], 'output')} ({size}) of {runs} for good?"


COMMAND = CommandSpec(
    "drop raw outputs of closed goals that are old, or archive all their evidence",
    _arguments,
    _run_gc,
    "Sidecars, chain, events and verdicts stay, and so does every output of a goal that is not "
    "closed. With --archive nothing goes: every command reads evidence from the archive as before, "
    "and the chain verifies.",
)
