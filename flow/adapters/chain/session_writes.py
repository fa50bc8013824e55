"""A session's writes to one run, until the user's own pinned heads include them.

``proposal.json``, ``last-verdict.json`` and ``loop.json`` are replaced too often, and matter too
little, for an entry each. Their digests are pinned with the heads in the user's state folder
(:mod:`flow.adapters.chain.pinned_heads`), and only for Flow's own writes. The same holds for the
entries of the ledger: only those that a session of Flow's has appended are vouched for.
"""

from __future__ import annotations

from flow.adapters.fs import files
from flow.core import layout
from flow.core.chain.entries import beginnings
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from flow.core.chain.entries import LedgerEntry

COMING = "~"
"""Suffix to the name of a small file, for the digest of the content it is about to have."""
UNVERIFIED = ""
"""Placeholder for a digest: the content of the file is unverified."""


class Unpinned(NamedTuple):
    """Writes that the pinned heads do not include yet."""

    files: Mapping[str, str | None]
    """File name → SHA-256 of its content; None for a removed one, or :data:`UNVERIFIED`."""
    appended: Sequence[LedgerEntry]
    """Oldest first."""
    discounted: Sequence[LedgerEntry]
    """Entries of this session, however old, that are not to be vouched for."""


class RunWrites:
    """The writes of one session to the run ``run_id`` of the checkout ``root``.

    ``measured`` are the ids of the goals that are being evaluated: it changes while this lives.
    Entries for such a goal are held back until :meth:`settle`.
    """

    def __init__(self, root: str, run_id: str, measured: AbstractSet[str] = frozenset()) -> None:
        self.root = root
        self.run_id = run_id
        self.tail: tuple[int, LedgerEntry] | None = None
        """Size in bytes of the ledger after the last append, and the entry that it ends in."""
        self.finished: str | None = None
        """Hash of the newest entry whose sidecar and event are known to be there."""
        self._measured = measured
        self._files: dict[str, str | None] = {}
        self._unpinned_files: dict[str, str | None] = {}
        self._unpinned: list[LedgerEntry] = []
        self._entries: dict[str, LedgerEntry] = {}
        self._by_id: dict[str, list[LedgerEntry]] = {}
        self._by_beginning: dict[str, list[LedgerEntry]] = {}
        """Own entries by each of the :func:`beginnings` of the sidecar's id."""
        self._held: set[str] = set()
        self._discounted: dict[str, LedgerEntry] = {}

    def replace(self, rel: str, data: bytes, *, sync: bool = True) -> None:
        """Replace the run's file at ``rel`` and record it: a kill leaves the old or the new one."""
        files.replace(self.root, rel, data, sync=sync)
        self.wrote(rel, data)

    def wrote(self, rel: str, data: bytes | None) -> None:
        """Record that the run's file at ``rel`` now holds ``data``; None: it is gone."""
        self._wrote(rel, sha256(data).hexdigest() if data is not None else None)

    def unverified(self, rel: str) -> None:
        """Mark the run's file at ``rel``: its content came from the working tree."""
        self._wrote(rel, UNVERIFIED)

    def _wrote(self, rel: str, digest: str | None) -> None:
        name = rel.removeprefix(f"{layout.run_dir(self.run_id)}/")
        self._unpinned_files[name] = self._files[name] = digest

    def last_wrote(self, name: str, digest: str) -> bool:
        """Whether this session wrote the run's file ``name`` last, with this digest."""
        return self._files.get(name) == digest

    def appended(self, entries: Sequence[LedgerEntry]) -> None:
        """Record entries that are now in the run's ledger."""
        self._unpinned += entries
        for entry in entries:
            self._entries[entry.hash] = entry
            self._by_id.setdefault(entry.evidence_id, []).append(entry)
            for beginning in beginnings(entry.evidence_id):
                self._by_beginning.setdefault(beginning, []).append(entry)
        self._held.update(entry.hash for entry in entries if entry.goal_id in self._measured)

    def taken_back(self, entry: LedgerEntry) -> None:
        """Forget an entry that is not in the ledger any more."""
        self._forget({entry.hash})

    def settle(self, goal_id: str) -> None:
        """Let this goal's entries be pinned: those that do not count were discounted."""
        self._held -= self._held_for(goal_id)

    def abort(self, goal_id: str) -> None:
        """Never vouch for this goal's entries that were not settled."""
        self._forget(self._held_for(goal_id))

    def discount(self, evidence_id: str) -> None:
        """Stop vouching for everything that this session recorded under this id."""
        self._discounted.update(
            (entry.hash, entry) for entry in self._own(self._by_id, evidence_id)
        )

    def newest(self, kind: str, evidence_id: str) -> LedgerEntry | None:
        """The newest entry of this kind of a sidecar; None if none, or it was discounted."""
        own = reversed(self._own(self._by_id, evidence_id))
        entry = next((entry for entry in own if entry.kind == kind), None)
        return None if entry is None or entry.hash in self._discounted else entry

    def evidence_ids(self, prefix: str) -> list[str]:
        """The sidecars with such ids that were recorded and not discounted, newest first.

        ``prefix`` ends in a hyphen.
        """
        own = reversed(self._own(self._by_beginning, prefix))
        return [entry.evidence_id for entry in own if entry.hash not in self._discounted]

    def _own(self, index: Mapping[str, list[LedgerEntry]], key: str) -> list[LedgerEntry]:
        """The entries under a key, without those that were taken back."""
        return [entry for entry in index.get(key, ()) if entry.hash in self._entries]

    def unpinned(self) -> Unpinned:
        """The writes to pin now; :meth:`pinned` takes them off."""
        appended = tuple(entry for entry in self._unpinned if entry.hash not in self._held)
        return Unpinned(dict(self._unpinned_files), appended, tuple(self._discounted.values()))

    def pinned(self, done: Unpinned) -> None:
        """Record that the pinned heads include these writes now."""
        for name, digest in done.files.items():
            if name in self._unpinned_files and self._unpinned_files[name] == digest:
                del self._unpinned_files[name]
        pinned = {entry.hash for entry in done.appended}
        self._unpinned = [entry for entry in self._unpinned if entry.hash not in pinned]

    def _held_for(self, goal_id: str) -> set[str]:
        return {digest for digest in self._held if self._entries[digest].goal_id == goal_id}

    def _forget(self, digests: set[str]) -> None:
        self._held -= digests
        self._unpinned = [entry for entry in self._unpinned if entry.hash not in digests]
        for digest in digests:
            self._entries.pop(digest, None)
