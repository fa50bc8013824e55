"""Progress on standard error: a live table at a terminal, a line for each criterion elsewhere."""

from __future__ import annotations

import sys
import time

from flow.adapters.fs import clock
from flow.adapters.process.speaker import is_terminal
from flow.app import goal_views
from flow.app.evaluation.values import Listener
from flow.cli.output import height_of
from flow.core import layout
from flow.errors import FlowError
from flow.render.progress import PlainProgress, ProgressHead, ProgressRow, ProgressTable
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.goals import Goals

if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import TypeVar

    from flow.cli.output import Output
    from flow.core.goal.model import Criterion
    from flow.wiring.context import Context

    Table = TypeVar("Table", bound=ProgressTable)


def listener(
    out: Output,
    context: Context | None = None,
    goal_id: str = "",
    *,
    only: Collection[str] = (),
    reuses: bool = False,
    asks_judge: bool = False,
) -> Listener:
    """Shows progress on standard error, unless a JSON document is wanted.

    The table is of the goal; without one there are lines only. ``only``, ``reuses`` and
    ``asks_judge`` are what the evaluation is asked for.
    """
    if out.json or sys.stderr is None:
        return Listener()
    if context is None:
        return PlainProgress(sys.stderr)
    drawn = progress_table(
        out, context, goal_id, ProgressTable, only=only, reuses=reuses, asks_judge=asks_judge
    )
    return drawn or PlainProgress(sys.stderr)


class Forwarding(Listener):
    """Hands on to ``inner`` each call that the subclass does not define itself."""

    def __init__(self, inner: Listener) -> None:
        self.inner = inner
        for name in vars(Listener).keys() - vars(type(self)).keys():
            if not name.startswith("_"):
                setattr(self, name, getattr(inner, name))


def progress_table(
    out: Output,
    context: Context,
    goal_id: str,
    kind: type[Table],
    *,
    only: Collection[str] = (),
    reuses: bool = False,
    asks_judge: bool = False,
) -> Table | None:
    """The goal's table on standard error; None if that is no terminal, or there is no goal."""
    if out.json or not is_terminal(sys.stderr):
        return None
    if out.environ.get("TERM", "dumb") == "dumb":
        return None
    goals = Goals(context)
    try:
        goal = goal_views.newest(goals, goals.load(goal_id).goal)
    except FlowError:  # the evaluation says it
        return None

    def state(criterion: Criterion) -> str:
        if criterion.fuzzy:
            return "judge, at the end" if asks_judge else "not asked"
        if only and criterion.id not in only:
            return "not run"
        if not criterion.must_pass and not goal.require_all_pass:
            return "not run"
        return "reused" if reuses else "waits"

    rows = [
        ProgressRow(
            criterion.id,
            criterion.text,
            criterion.verification_command or "",
            state(criterion),
            last=_last_seconds(goals, criterion),
        )
        for criterion in goal.criteria
    ]
    return kind(
        sys.stderr,
        clock.monotonic,
        lambda: out.asking,
        lambda: height_of(sys.stderr),
        ProgressHead(goal.id, goal.turns_evaluated + 1, time.strftime("%H:%M")),
        rows,
    )


def _last_seconds(goals: Goals, criterion: Criterion) -> float | None:
    """Seconds that the criterion's command took last, if that is on record."""
    run_id, evidence_id = layout.sidecar_of(criterion.evidence_ref or "")
    try:
        last = goals.records.evidence_named(run_id, evidence_id) if run_id else None
    except FlowError:
        return None
    body = last.document["evidence"] if last is not None else {}
    if body.get("command") != criterion.verification_command:
        return None
    seconds = body.get("duration_seconds")
    return float(seconds) if isinstance(seconds, int | float) else None
