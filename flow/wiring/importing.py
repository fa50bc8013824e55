"""Taking results of other tools in, with the real parts."""

from __future__ import annotations

from functools import partial

from flow.adapters.exchange import import_formats
from flow.adapters.fs import clock, temporary
from flow.adapters.git import names as git_names
from flow.adapters.git import repository
from flow.adapters.process.redaction import redacted_text
from flow.app import goal_record
from flow.errors import GitError
from flow.startup.typing import TYPE_CHECKING
from flow.version import __version__
from flow.wiring.goals import Goals

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.wiring.context import Context


class Importing:
    """A checkout as :class:`~flow.app.exchange.imports.ImportPort` sees it."""

    version = __version__
    now = staticmethod(clock.now)
    detect = staticmethod(import_formats.detect_format)
    read = staticmethod(import_formats.read_report)

    def __init__(self, context: Context) -> None:
        self._context = context
        goals = Goals(context)
        self.load = context.load
        self.run_of = goals.run_of
        self.evidence_named = context.records.evidence_named
        self.freshness = partial(goal_record.freshness, goals)
        self.tree_of = context.tree.tree_of

    def redacted(self, text: str) -> str:
        return redacted_text(text, self._context.environ)

    def commit_by_id(self, text: str) -> str | None:
        try:
            return git_names.by_id(self._context.repo, text)
        except GitError:
            return None

    def commit_named(self, name: str, key: str) -> str | None:
        if repository.is_id(name.lower()):
            return name.lower()
        try:
            return git_names.resolve(self._context.repo, name, key=key)
        except GitError:
            return None

    def record(
        self, run_id: str, document: Mapping[str, object], data: bytes, name: str
    ) -> tuple[str, str, tuple[str, ...]]:
        with temporary.holding(data, "flow-import-") as path:
            return self._context.ledger.contracts.record_foreign(
                run_id, document, path, file=name, environ=self._context.environ
            )
