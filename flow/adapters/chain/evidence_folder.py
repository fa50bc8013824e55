"""Compare a run's evidence folder with its ledger; each file is read once, in blocks."""

from __future__ import annotations

import os

from flow.adapters.fs import files
from flow.adapters.fs.folders import open_folder, reported, scanned, split
from flow.core import layout
from flow.core.chain.walk import ChainFinding
from flow.core.text.display import names as shown
from flow.errors import FlowError, StorageError, in_file
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.adapters.fs.archives import EvidenceArchive
    from flow.core.chain.walk import Kind, RecordedDigests, WalkedLedger

FINDINGS_LIMIT = 200
"""Most findings of one run that are named, of those that a decision depends on, and of the others
apart: any number of strange files hides no altered one. The rest is counted."""
NAMES_LIMIT = 3_000_000
OUTPUT = ".txt"
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class RunFindings:
    """The findings about one run, and notes that are none."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.rows: list[ChainFinding] = []
        self.more = 0
        self.notes: list[str] = []
        self._room = {False: FINDINGS_LIMIT, True: FINDINGS_LIMIT}
        """Number of findings that may still be named: of a decision (False), and others (True)."""

    def add(self, kind: Kind, file: str, text: str, seq: int | None = None) -> None:
        """Add one finding."""
        self.take([ChainFinding(kind, self.run_id, file, text, seq)])

    def take(self, findings: Sequence[ChainFinding]) -> None:
        """Add findings; beyond the limit they are counted."""
        for finding in findings:
            if self._room[finding.aside]:
                self._room[finding.aside] -= 1
                self.rows.append(finding)
            else:
                self.more += 1

    def error(self, error: FlowError, file: str) -> None:
        """Add an error of reading as a finding: the file was readable when it was recorded."""
        kind: Kind = "unreadable" if isinstance(error, StorageError) else "altered"
        for fault in error.faults:
            self.add(kind, fault.file or file, fault.message)


def names_in(root: str, rel: str) -> dict[str, bool]:
    """The names in a folder, and whether each is a regular file."""
    names: dict[str, bool] = {}
    with scanned(root, rel) as entries:
        for entry in entries:
            names[entry.name] = entry.is_file(follow_symlinks=False)
            if len(names) > NAMES_LIMIT:
                raise in_file(rel).storage(
                    f"there are more than {NAMES_LIMIT} files",
                    "nobody can check that many; look who made them",
                )
    return names


def is_temporary(name: str) -> bool:
    """Whether it is the name of a temporary file of Flow's."""
    return name.startswith(layout.TEMP_PREFIX)


def check_evidence(
    root: str,
    ledger: WalkedLedger,
    names: Mapping[str, bool],
    interrupted: str | None,
    archived: str | None,
    findings: RunFindings,
) -> None:
    """Compare the evidence folder, and its archive, with the digests that the ledger recorded.

    ``names`` were there under the run's lock; ``interrupted`` is a sidecar that a killed process
    has left ready to be published. ``archived`` is the digest of the archive, if one is on record.
    """
    rel, stored = layout.evidence_dir(findings.run_id), ledger.stored
    archive = _Archive(root, archived, findings)
    folder = _EvidenceFolder(root, names, stored, archive, findings)
    with folder:
        for evidence_id, entry in stored.items():
            sidecar = f"{evidence_id}{layout.EVIDENCE_SUFFIX}"
            if evidence_id == interrupted and sidecar not in names:
                findings.notes.append(f"{rel}/{sidecar}: a killed process left it to be finished")
            else:
                folder.compare(sidecar, entry.sidecar_sha256, entry.seq, layout.SIDECAR_LIMIT)
            if entry.output_sha256 is not None:
                output = f"{evidence_id}{OUTPUT}"
                if evidence_id not in ledger.dropped or output in names:
                    folder.compare(output, entry.output_sha256, entry.seq, layout.OUTPUT_LIMIT)
    archive.finish()
    add_unaccounted(names, stored, findings)


def add_unaccounted(
    names: Mapping[str, bool], stored: Mapping[str, RecordedDigests], findings: RunFindings
) -> None:
    """Add a finding for each file of the evidence folder that no entry names."""
    for name in sorted(names):
        if name.endswith(layout.EVIDENCE_SUFFIX):
            recorded = name.removesuffix(layout.EVIDENCE_SUFFIX) in stored
        elif name.endswith(OUTPUT):
            entry = stored.get(name.removesuffix(OUTPUT))
            recorded = entry is not None and entry.output_sha256 is not None
        else:
            recorded = is_temporary(name)
        if not recorded:
            rel = f"{layout.evidence_dir(findings.run_id)}/{name}"
            findings.add("unaccounted", rel, "no entry speaks of it; it counts for nothing")


class _Archive:
    """The archive of a run's evidence during a check. ``recorded``: its digest on record."""

    def __init__(self, root: str, recorded: str | None, findings: RunFindings) -> None:
        self._rel = rel = layout.archive_file(findings.run_id)
        self._recorded, self._findings = recorded, findings
        self._archive: EvidenceArchive | None = None
        self._digest: str | None = None
        self._unreadable = False
        """Whether the archive exists but cannot be read; that has a finding of its own."""
        self._lost: list[str] = []
        """Names of files that an altered archive no longer has as recorded."""
        try:
            self._archive = files.evidence_archive(root, rel)
            self._digest = files.digest(root, rel, limit=layout.ARCHIVE_LIMIT)
        except FlowError as error:
            self._archive, self._unreadable = None, True
            findings.error(error, rel)

    def compare(self, path: str, digest: str, seq: int) -> None:
        """Add a finding if it has no file of this path with this digest."""
        name = os.path.basename(path)
        kind: Kind = "altered"
        if self._archive is None or path not in self._archive.paths:
            kind, file, fault = "missing", path, f"is missing: entry {seq} recorded it"
        else:
            file, fault = self._rel, f"{name} in it was altered since entry {seq} recorded it"
            try:
                if self._archive.digest(path) == digest:
                    return
            except FlowError as error:
                fault = error.faults[0].message
        if self._is_altered:
            self._lost.append(name)
        elif not self._unreadable:
            self._findings.add(kind, file, fault, seq)

    @property
    def _is_altered(self) -> bool:
        return self._archive is not None and self._recorded not in (None, self._digest)

    def finish(self) -> None:
        """Add a finding if the archive differs from the one on record."""
        if self._is_altered:
            lost = f"; not as recorded: {shown(self._lost, 5)}" if self._lost else ""
            fault = f"was altered since Flow wrote it{lost}"
            self._findings.add("altered", self._rel, fault)


class _EvidenceFolder:
    """The evidence folder while its files are compared."""

    def __init__(
        self,
        root: str,
        names: Mapping[str, bool],
        stored: Mapping[str, RecordedDigests],
        archive: _Archive,
        findings: RunFindings,
    ) -> None:
        self._rel = layout.evidence_dir(findings.run_id)
        self._root, self._names, self._stored = root, names, stored
        self._archive, self._findings = archive, findings
        self._fd: int | None = None
        self._owners: dict[str, str] | None = None

    def __enter__(self) -> None:
        with reported("read", self._rel):
            self._fd = open_folder(self._root, split(self._rel))

    def __exit__(self, *_: object) -> None:
        if self._fd is not None:
            os.close(self._fd)

    def compare(self, name: str, digest: str, seq: int, limit: int) -> None:
        """Add a finding if the file does not have this digest."""
        rel = f"{self._rel}/{name}"
        regular = self._names.get(name)
        if regular is False:
            self._findings.add(
                "altered", rel, f"is no file any more; entry {seq} recorded one", seq
            )
            return
        try:
            now = self._digest(name, limit) if regular else None
        except OSError as error:
            fault = f"cannot be read: {error.strerror} (entry {seq})"
            self._findings.add("unreadable", rel, fault, seq)
            return
        if now is not None:
            if now != digest:
                self._findings.add("altered", rel, self._differs(now, seq), seq)
        else:
            self._archive.compare(rel, digest, seq)

    def _digest(self, name: str, limit: int) -> str | None:
        """The file's SHA-256; of one over the limit that of its beginning, which differs.

        None if it has gone into the archive meanwhile.
        """
        try:
            fd = os.open(name, _READ, dir_fd=self._fd)
        except FileNotFoundError:
            return None
        try:
            total, unread = sha256(), limit + 1
            while unread > 0 and (block := os.read(fd, min(unread, 1 << 16))):
                total.update(block)
                unread -= len(block)
        finally:
            os.close(fd)
        return total.hexdigest()

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
