"""Holding the files of a run's evidence folder against its ledger; each is read once, in blocks."""

from __future__ import annotations

import os

from flow.adapters.fs import files
from flow.adapters.fs.folders import open_folder, reported, scanned, split
from flow.core import layout
from flow.core.chain.walk import ChainFinding
from flow.core.layout import OUTPUT_LIMIT
from flow.errors import FlowError, StorageError, in_file
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.core.chain.walk import Kind, RecordedDigests, WalkedLedger

FINDINGS_LIMIT = 200
"""Findings of one run that are named; the others are counted."""
NAMES_LIMIT = 3_000_000
OUTPUT = ".txt"
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class RunFindings:
    """What is wrong with one run, as it is found."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.rows: list[ChainFinding] = []
        self.more = 0
        self.notes: list[str] = []

    def say(self, kind: Kind, file: str, text: str, seq: int | None = None) -> None:
        """One more finding."""
        self.take([ChainFinding(kind, self.run_id, file, text, seq)])

    def take(self, findings: Sequence[ChainFinding]) -> None:
        """More findings; beyond the limit they are counted."""
        room = max(FINDINGS_LIMIT - len(self.rows), 0)
        self.rows += findings[:room]
        self.more += len(findings[room:])

    def error(self, error: FlowError, file: str, seq: int | None = None) -> None:
        """What cannot be read is a finding: it was another file when it was recorded."""
        kind: Kind = "unreadable" if isinstance(error, StorageError) else "altered"
        for fault in error.faults:
            self.say(kind, fault.file or file, fault.message, seq)


def names_in(root: str, rel: str) -> dict[str, bool]:
    """What is in a folder, and whether it is a regular file."""
    found: dict[str, bool] = {}
    with scanned(root, rel) as entries:
        for entry in entries:
            found[entry.name] = entry.is_file(follow_symlinks=False)
            if len(found) > NAMES_LIMIT:
                raise in_file(rel).storage(
                    f"there are more than {NAMES_LIMIT} files",
                    "nobody can check that many; look who made them",
                )
    return found


def temporary(name: str) -> bool:
    """Whether Flow gives such names to files that are about to become others."""
    return name.startswith(layout.TEMP_PREFIX)


def evidence(
    root: str,
    run_id: str,
    ledger: WalkedLedger,
    names: Mapping[str, bool],
    interrupted: str | None,
    found: RunFindings,
) -> None:
    """Compare what lies in the evidence folder with what the ledger recorded.

    ``names`` are what was there under the run's lock; ``interrupted`` is a sidecar that a killed
    process has left ready to be published.
    """
    rel = layout.evidence_dir(run_id)
    stored = ledger.stored
    files_of = _Folder(root, rel, names, stored, found)
    with files_of:
        for evidence_id, entry in stored.items():
            sidecar = f"{evidence_id}{layout.EVIDENCE_SUFFIX}"
            if evidence_id == interrupted and sidecar not in names:
                found.notes.append(f"{rel}/{sidecar}: a killed process left it to be finished")
            else:
                files_of.compare(sidecar, entry.sidecar_sha256, entry.seq, files.READ_LIMIT)
            if entry.output_sha256 is not None:
                output = f"{evidence_id}{OUTPUT}"
                if evidence_id not in ledger.dropped or output in names:
                    files_of.compare(output, entry.output_sha256, entry.seq, OUTPUT_LIMIT)
    unaccounted(run_id, names, stored, found)


def unaccounted(
    run_id: str,
    names: Mapping[str, bool],
    stored: Mapping[str, RecordedDigests],
    found: RunFindings,
) -> None:
    """Name the files of the evidence folder that no entry speaks of."""
    rel = layout.evidence_dir(run_id)
    for name in sorted(names):
        if name.endswith(layout.EVIDENCE_SUFFIX):
            known = name.removesuffix(layout.EVIDENCE_SUFFIX) in stored
        elif name.endswith(OUTPUT):
            entry = stored.get(name.removesuffix(OUTPUT))
            known = entry is not None and entry.output_sha256 is not None
        else:
            known = temporary(name)
        if not known:
            found.say(
                "unaccounted", f"{rel}/{name}", "no entry speaks of it; it counts for nothing"
            )


class _Folder:
    """The evidence folder while its files are compared."""

    def __init__(
        self,
        root: str,
        rel: str,
        names: Mapping[str, bool],
        stored: Mapping[str, RecordedDigests],
        found: RunFindings,
    ) -> None:
        self._root, self._rel, self._names, self._stored = root, rel, names, stored
        self._found = found
        self._fd: int | None = None
        self._owners: dict[str, str] | None = None

    def __enter__(self) -> None:
        with reported("read", self._rel):
            self._fd = open_folder(self._root, split(self._rel))

    def __exit__(self, *_: object) -> None:
        if self._fd is not None:
            os.close(self._fd)

    def compare(self, name: str, digest: str, seq: int, limit: int) -> None:
        """Name what is wrong with a file that has to have this digest."""
        rel = f"{self._rel}/{name}"
        regular = self._names.get(name)
        if regular is None:
            self._found.say("missing", rel, f"is missing: entry {seq} recorded it", seq)
        elif not regular:
            self._found.say("altered", rel, f"is no file any more; entry {seq} recorded one", seq)
        else:
            try:
                now = self._digest(name, limit)
            except OSError as error:
                why = f"cannot be read: {error.strerror} (entry {seq})"
                self._found.say("unreadable", rel, why, seq)
                return
            if now != digest:
                self._found.say("altered", rel, self._differs(now, seq), seq)

    def _digest(self, name: str, limit: int) -> str:
        """The file's SHA-256; of one that is too large that of its beginning, which is another."""
        from hashlib import sha256

        fd = os.open(name, _READ, dir_fd=self._fd)
        try:
            found, left = sha256(), limit + 1
            while left > 0 and (block := os.read(fd, min(left, 1 << 20))):
                found.update(block)
                left -= len(block)
        finally:
            os.close(fd)
        return found.hexdigest()

    def _differs(self, now: str, seq: int) -> str:
        if self._owners is None:
            self._owners = {}
            for evidence_id, entry in self._stored.items():
                self._owners[entry.sidecar_sha256] = f"{evidence_id}{layout.EVIDENCE_SUFFIX}"
                if entry.output_sha256 is not None:
                    self._owners[entry.output_sha256] = f"{evidence_id}{OUTPUT}"
        owner = self._owners.get(now)
        if owner is not None:
            return f"was moved: it holds what entry {seq} does not, and {owner} does"
        return f"was altered since entry {seq} recorded it"
