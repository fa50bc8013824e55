"""Mark changes of files that have Flow's names but not Flow's content (SPEC 17.11)."""

from __future__ import annotations

from flow.adapters.fs import files
from flow.adapters.user_state.written_files import (
    FLOW_BEGAN,
    blob_names,
    front_digest,
    with_plain_ends,
)
from flow.core.boundary.changes import REGULAR, with_replaced
from flow.core.boundary.rules import OwnFiles
from flow.core.layout import is_temporary, journal_base
from flow.errors import FlowError
from flow.startup.once import once
from flow.startup.typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from flow.adapters.git.find import Repo
    from flow.adapters.user_state.written_files import OwnRecord, WrittenFile
    from flow.core.boundary.changes import Baseline, Changes, ContentState, PathChange

    Foreign = Literal["", "unrecorded", "altered", "edited"]


def marked(
    repo: Repo, changes: list[PathChange] | Changes, baseline: Baseline, record: OwnRecord
) -> Changes:
    """``changes``, with ``foreign`` set where a file has Flow's name and not a recorded content.

    Each state but the base's is checked, so that no foreign content is committed behind a file that
    Flow wrote.
    """
    own, folder = OwnFiles(baseline), baseline.journal_dir.strip("/") + "/"
    foreign: dict[int, PathChange] = {}
    for place, change in enumerate(changes):
        path = change.path
        journal = path.startswith(folder) and path.endswith(".md")
        if (journal or own.has_own_name(path)) and not is_temporary(path.rpartition("/")[2]):
            mark = _OwnNamedChange(repo, change, record).foreign()
            if mark:
                foreign[place] = change._replace(foreign=mark)
    return with_replaced(changes, foreign)


def states_beside_base(change: PathChange) -> list[ContentState | None]:
    """The states of a change that are not the base's, each once."""
    states = dict.fromkeys((change.worktree, change.index, change.head))
    return [entry for entry in states if entry != change.base]


class _OwnNamedChange:
    """One change; contents are read only if no digest of the record decides."""

    def __init__(self, repo: Repo, change: PathChange, record: OwnRecord) -> None:
        self._repo, self._change, self._record = repo, change, record

    @once
    def _rows(self) -> tuple[WrittenFile, ...]:
        return self._record.rows(self._change.path)

    def foreign(self) -> Foreign:
        """The worst of the states that differ from the base."""
        marks = [
            self._state(entry) if entry.mode == REGULAR else "altered"
            for entry in states_beside_base(self._change)
            if entry is not None and entry.mode in (REGULAR, "100755")
        ]
        if "altered" in marks:
            return "edited" if self._rows else "altered"
        return "unrecorded" if "unrecorded" in marks else ""

    def _state(self, entry: ContentState) -> Foreign:
        if self._known(entry.digest):
            return ""
        data = self._content(entry)
        if data is None:
            return "altered"
        if b"\r\n" in data and any(map(self._known, blob_names(with_plain_ends(data)))):
            return ""
        if not self._change.path.endswith(".md"):
            return "altered"
        front = self._front(data)
        if front is None:
            return "altered"
        if any(row.front == front and self._holds(row) for row in self._rows):
            return ""
        if self._begun_by_flow():
            return "altered"
        from flow.adapters.journal.store import continues

        base = self._base()
        plain = None if base is None else with_plain_ends(base)
        continued = continues(plain, with_plain_ends(data), self._change.path)
        return "unrecorded" if continued else "altered"

    def _known(self, blob: str) -> bool:
        """Whether Flow wrote this content."""
        same = self._record.rows(self._change.path, blob)
        return any(blob in row.blobs and self._holds(row) for row in same)

    def _begun_by_flow(self) -> bool:
        """Whether Flow made this journal here, whose later parts it makes, too."""
        first = journal_base(self._change.path)
        rows = self._rows if first == self._change.path else self._record.rows(first)
        return any(row.origin == FLOW_BEGAN for row in (*self._rows, *rows))

    def _holds(self, row: WrittenFile) -> bool:
        """Whether Flow made the file, or the base has the front matter that Flow continued."""
        if row.origin == FLOW_BEGAN:
            return True
        base = self._base()
        return base is not None and self._front(base) == row.origin

    def _front(self, data: bytes) -> str | None:
        """Digest of a journal's front matter; None if ``data`` is no journal."""
        from flow.adapters.journal.store import front_of

        try:
            return front_digest(front_of(data, self._change.path))
        except FlowError:
            return None

    def _base(self) -> bytes | None:
        base = self._change.base
        return None if base is None else self._blob(base)

    def _content(self, entry: ContentState) -> bytes | None:
        from flow.adapters.journal.store import LIMIT

        if entry != self._change.worktree:
            return self._blob(entry)
        try:
            return files.read_optional(self._repo.top, self._change.path, limit=LIMIT)
        except FlowError:
            return None

    def _blob(self, entry: ContentState) -> bytes | None:
        from flow.adapters.git.blobs import blob_of

        return blob_of(self._repo, entry)
