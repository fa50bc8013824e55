"""Decision journals, written and read."""

from __future__ import annotations

from flow.adapters.fs import clock
from flow.adapters.journal import store
from flow.app.ports import Artifact
from flow.core import layout
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.adapters.journal.store import Journal
    from flow.wiring.context import Context


def record_entry(context: Context, issue: int, type: str, metadata: Mapping[str, Any]) -> str:
    """Append an artifact to an issue's journal; returns the path."""
    path = layout.journal_file(issue, clock.today(), context.settings.settings.journal_dir)
    store.append(
        context.top,
        path,
        Artifact(type, metadata),
        issue=issue,
        now=clock.now(),
        branch=context.branch(),
        key=None,
        announce=context.own_record.journal,
    )
    return path


def read_journal(context: Context, issue: int | None, goal_id: str | None) -> tuple[str, Journal]:
    """(path, content) of an issue's or a goal's journal."""
    folder = context.settings.settings.journal_dir
    path = layout.journal_file(issue, clock.today(), folder)
    if goal_id is not None:
        goal = context.load(goal_id).goal
        path = store.journal_path(goal.journal, goal.issue, clock.today(), folder)
    return path, store.read(context.top, path)
