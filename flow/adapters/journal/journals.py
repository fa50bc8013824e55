"""Whole journals of issues and goals: an entry added, and several parts read as one."""

from __future__ import annotations

from flow.adapters.fs import files
from flow.adapters.journal import parts, store
from flow.adapters.journal.store import Journal
from flow.app.ports import Artifact
from flow.core import layout
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.core.goal.loaded import LoadedGoal
    from flow.core.settings import LoadedSettings


class WrittenJournals(Protocol):
    """Record of the journals that Flow itself wrote."""

    def journal(self, rel: str, old: bytes | None, new: bytes) -> None:
        """Record that a journal is about to hold ``new`` in the place of ``old``."""


class JournalContext(Protocol):
    """The parts of a checkout's context that a journal needs."""

    top: str

    @property
    def settings(self) -> LoadedSettings:
        """The settings in force."""

    @property
    def own_record(self) -> WrittenJournals:
        """The files that Flow wrote into the repository."""

    def branch(self) -> str | None:
        """The branch that is checked out; None on a detached HEAD or without git."""

    def load(self, goal_id: str) -> LoadedGoal:
        """A goal; :class:`InputError` if there is none."""

    def now(self) -> str:
        """The time, as text."""


def record_entry(
    context: JournalContext, issue: int, type: str, metadata: Mapping[str, Any]
) -> str:
    """Append an artifact to an issue's journal; returns the path."""
    whole = layout.journal_file(issue, "", context.settings.settings.journal_dir)
    path = parts.part_to_write(context.top, whole)
    store.append(
        context.top,
        path,
        Artifact(type, metadata),
        issue=issue,
        now=context.now(),
        branch=context.branch(),
        key=None,
        announce=context.own_record.journal,
    )
    return path


def read_journal(
    context: JournalContext, issue: int | None, goal_id: str | None
) -> tuple[str, Journal]:
    """(path, content) of an issue's or a goal's journal; several parts are read as one.

    For a goal without an issue that has journals by days, it is the newest day's that names it.
    """
    folder = context.settings.settings.journal_dir
    if goal_id is not None:
        goal = context.load(goal_id).goal
        path = layout.journal_path(goal.journal, goal.issue, goal.id, folder)
        if goal.issue is None and not files.exists(context.top, path):
            path = _newest_day(context.top, folder, goal.id) or path
    else:
        path = layout.journal_file(issue, "", folder)
    names = parts.parts(context.top, path) or [path]
    read = [store.read(context.top, name) for name in names]
    artifacts = tuple(artifact for journal in read for artifact in journal.artifacts)
    warnings = [f"{name} is missing" for name in parts.missing_parts(names, path)]
    warnings += [warning for journal in read for warning in journal.warnings]
    front = next((journal.front for journal in read if journal.front), {})
    body = "\n".join(journal.body for journal in read)
    return path, Journal(front, artifacts, body, tuple(warnings))


def _newest_day(top: str, folder: str, goal_id: str) -> str | None:
    """The newest day's journal with an artifact of the goal; None if none has one."""
    names = files.names(top, folder, suffix=".md", limit=parts.MOST_FILES)
    for name in sorted((name for name in names if name.startswith("session-")), reverse=True):
        rel = f"{folder}/{name}"
        try:
            artifacts = store.read(top, rel).artifacts
        except FlowError:
            continue
        if any(artifact.get("goal_id") == goal_id for artifact in artifacts):
            return layout.journal_base(rel)
    return None
