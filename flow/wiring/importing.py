"""Taking results of other tools in, with the real parts."""

from __future__ import annotations

from flow.adapters.exchange import import_formats
from flow.adapters.fs import clock, temporary
from flow.adapters.git import names as git_names
from flow.adapters.git import repository
from flow.adapters.process.redaction import redacted_text
from flow.errors import GitError
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.exporting import Exporting
from flow.wiring.parts import version

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.core.evidence.imported import CheckReport, Format


class Importing(Exporting):
    """A checkout as :class:`~flow.app.exchange.imports.ImportPort` sees it."""

    version = version()

    def now(self) -> str:
        return clock.now()

    def detect(self, data: bytes, name: str) -> Format:
        return import_formats.detect_format(data, name)

    def read(self, data: bytes, format: Format, name: str) -> CheckReport:
        return import_formats.read_report(data, format, name)

    def masked(self, text: str) -> str:
        return redacted_text(text, self.environ)

    def commit_by_id(self, text: str) -> str | None:
        try:
            return git_names.by_id(self.repo, text)
        except GitError:
            return None

    def commit_named(self, name: str, key: str) -> str | None:
        if repository.is_id(name.lower()):
            return name.lower()
        try:
            return git_names.resolve(self.repo, name, key=key)
        except GitError:
            return None

    def record(
        self, run_id: str, document: Mapping[str, object], data: bytes, name: str
    ) -> tuple[str, str, tuple[str, ...]]:
        with temporary.holding(data, "flow-import-") as path:
            return self.ledger.record_foreign(
                run_id, document, path, file=name, environ=self.environ
            )
