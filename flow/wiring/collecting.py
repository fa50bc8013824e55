"""``flow gc``: letting old outputs go, and putting the evidence of closed runs into archives."""

from __future__ import annotations

from flow.adapters.chain.files import ARCHIVE_LIMIT
from flow.adapters.fs import clock, files, locks
from flow.adapters.git import repository
from flow.adapters.ledger import archiving, gc
from flow.core import layout
from flow.core.goal.lifecycle import TERMINAL
from flow.startup.contexts import ExitStack
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.goals import Goals

if TYPE_CHECKING:
    from flow.adapters.ledger.archiving import ArchivePlan, RunArchival
    from flow.adapters.ledger.gc import RemovalPlan
    from flow.core.goal.model import Goal
    from flow.wiring.context import Context

BY = "gc"


def _every_goal(context: Context) -> tuple[Goal, ...]:
    """The goals of all files; raises the error of one that cannot be read: it may be live."""
    goals, broken = Goals(context).goals()
    if broken:
        raise broken[0]
    return tuple(goals)


def plan_gc(context: Context, older_than: int, keep: int) -> RemovalPlan:
    """The outputs that ``flow gc`` would drop; writes nothing. ``older_than`` is in days.

    Raises the error of a goal that cannot be read: any run may be that goal's.
    """
    return gc.plan(context.top, _every_goal(context), clock.days_ago(older_than), keep)


def do_gc(context: Context, plan: RemovalPlan) -> RemovalPlan:
    """Drop what a person agreed to; returns what went.

    Raises :class:`StateError` (``broken_chain``) for a run that is not as it was recorded, with
    the runs before it done.
    """
    done = []
    for run in plan.runs:
        count, size = gc.drop(context.run_record.run(run.run_id), by=BY, now=clock.now())
        context.run_record.commit(run.run_id)
        done.append(run._replace(outputs=count, bytes=size))
    return gc.RemovalPlan(tuple(done))


def plan_archives(context: Context, older_than: int, keep: int) -> ArchivePlan:
    """The runs that ``flow gc --archive`` would archive; as :func:`plan_gc`."""
    goals, oldest = _every_goal(context), clock.days_ago(older_than)
    chosen, warnings = gc.chosen_runs(context.top, goals, oldest, keep, archiving.files_to_archive)
    runs = []
    tracked = _tracked_runs(context) if chosen else frozenset()
    for run, why in chosen:
        archival = archiving.RunArchival(
            run.run_id, tuple(sorted(run.goals)), run.files, run.bytes, why
        )
        kept = _why_kept(context, archival, tracked)
        if kept is None:
            runs.append(archival)
        else:
            warnings.append(f"run {run.run_id} is left as it is: {kept}")
    return archiving.ArchivePlan(tuple(runs), tuple(warnings))


def do_archives(context: Context, plan: ArchivePlan) -> ArchivePlan:
    """Archive what a person agreed to; returns what was done. Raises as :func:`do_gc` does."""
    done, warnings = [], []
    for run in plan.runs:
        with ExitStack() as held:
            for goal_id in run.goals:
                lock = layout.goal_lock(goal_id)
                held.enter_context(locks.exclusive(context.top, lock, quick=True))
            kept = _why_kept(context, run, _tracked_runs(context))
            if kept is not None:  # since the person was asked
                warnings.append(f"run {run.run_id} is left as it is: {kept}")
                continue
            for finding in context.verification.broken(run.run_id)[:1]:
                unreadable = finding.kind == "unreadable"
                raise gc.not_as_recorded(
                    run.run_id, "archived", finding.file, finding.message, unreadable=unreadable
                )
            writes = context.run_record.run(run.run_id)
            count, size = archiving.archive(writes, by=BY, now=clock.now())
            context.run_record.commit(run.run_id)
        if count:  # else another process was faster
            done.append(run._replace(files=count, bytes=size))
    return archiving.ArchivePlan(tuple(done), tuple(warnings))


def _why_kept(context: Context, run: RunArchival, tracked: frozenset[str]) -> str | None:
    """Why a run of closed goals is not to be archived; None where it may be."""
    if run.run_id in tracked:
        return "git tracks files of it (git rm -r --cached .flow/runs, then commit)"
    if run.files > archiving.MEMBERS_LIMIT:
        return f"it has more than {archiving.MEMBERS_LIMIT:,} files"
    if run.bytes > ARCHIVE_LIMIT:
        return f"it has more than {ARCHIVE_LIMIT >> 30} GiB"
    if context.records.proposal_for(run.run_id) is not None:
        return "something is proposed in it"
    for goal_id in run.goals:
        loaded = context.load(goal_id)
        if files.exists(context.top, layout.pending_file(goal_id)):
            return f"a change of goal {goal_id} is not finished yet (flow doctor --fix)"
        if loaded.goal.status not in TERMINAL:
            return f"goal {goal_id} is {loaded.goal.status}"
        of_goal = loaded.goal.run_id or run.run_id
        if not context.run_record.has_closing(of_goal, loaded.goal, loaded.contract):
            if context.run_record.read_error is not None:
                raise context.run_record.read_error
            return f"your own state folder does not know how goal {goal_id} was closed"
    return None


def _tracked_runs(context: Context) -> frozenset[str]:
    """The runs of which git tracks files: what is removed there would be a change."""
    if context.repo.git_dir is None:
        return frozenset()
    listed = repository.git(context.repo, "ls-files", "-z", "--", layout.RUNS)
    paths = listed.decode("utf-8", "surrogateescape").split("\0")
    runs = (path.removeprefix(f"{layout.RUNS}/").partition("/")[0] for path in paths)
    return frozenset(filter(None, runs))
