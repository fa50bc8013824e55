"""Put the evidence of a closed run into one file (``flow gc --archive``); nothing is dropped.

Under the run's lock, in this order: the archive is written under a temporary name, synced, and read
again to compare each file of it with the digest in the ledger; the event with its own digest is
written and synced; the archive gets its name, synced; then the files in it are removed. A kill
before the name leaves all the files, one after it some of them, and readers take those first. The
next ``flow gc --archive`` finishes.
"""

from __future__ import annotations

import os
import zipfile
from hashlib import sha256

from flow.adapters.chain import event_log
from flow.adapters.fs import archives, files, locks
from flow.adapters.fs.folders import reported
from flow.adapters.ledger import evidence_store, gc
from flow.core import layout
from flow.core.chain.entries import ARCHIVED, DROPPED
from flow.errors import ContractError, FlowError, in_file
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.adapters.chain.session_writes import RunWrites
    from flow.adapters.fs.archives import EvidenceArchive
    from flow.app.closed_runs import RunFiles

_FIRST_MOMENT = (1980, 1, 1, 0, 0, 0)
"""The time of every file in an archive: the same files make the same bytes."""


def files_to_archive(root: str, run_id: str) -> RunFiles:
    """The files of a run that could go into its archive, or are in it and beside it as well.

    Files that were recorded after the archive was made stay: a run has one archive.
    """
    archive = files.evidence_archive(root, layout.archive_file(run_id))
    return gc.recorded_files(root, run_id, lambda path: archive is None or path in archive.paths)


def archive(run: RunWrites, *, by: str, now: str) -> tuple[int, int]:
    """Put a run's evidence into its archive; returns the number of files added, and their bytes.

    Raises StateError (``broken_chain``) if a file differs from its record: then every file stays.
    Callers have checked that the run is closed.
    """
    root, run_id = run.root, run.run_id
    with locks.exclusive(root, layout.run_lock(run_id), quick=True):
        last = evidence_store.finish_record(run)
        digests = _digests(root, run_id)
        sizes = gc.sizes_in(root, run_id)
        loose = {path: sha for path, sha in digests.items() if os.path.basename(path) in sizes}
        packed = files.evidence_archive(root, layout.archive_file(run_id))
        if packed is None:
            missing = next((path for path in digests if path not in loose), None)
            if missing is not None or last is None:
                raise _not_archived(run_id, missing or layout.ledger_file(run_id), "it is missing")
            _write(run, loose, {"by": by}, goal_id=last.goal_id, now=now)
        else:
            loose = {path: sha for path, sha in loose.items() if path in packed.paths}
            _check_recorded(root, run_id)
            _compare(run_id, packed, loose)
            for path, sha in loose.items():
                if files.digest(root, path, limit=layout.OUTPUT_LIMIT) != sha:
                    raise _not_archived(run_id, path, "it is not the file that was recorded")
        for place, path in enumerate(reversed(loose), 1):  # an output before its sidecar
            files.remove(root, path, sync=place == len(loose))
        files.remove_empty(root, layout.evidence_dir(run_id))
    return len(loose), sum(sizes[os.path.basename(path)] for path in loose)


def _digests(root: str, run_id: str) -> dict[str, str]:
    """The path and the digest of each file of the run, without the outputs that were dropped."""
    digests: dict[str, str] = {}
    for entry in gc.recorded_entries(root, run_id, "archived"):
        if entry.kind == DROPPED:
            digests.pop(layout.output_file(run_id, entry.evidence_id), None)
        else:
            digests.update(gc.digests_of(run_id, entry))
    return digests


def _write(
    run: RunWrites, loose: Mapping[str, str], fields: Mapping[str, Any], *, goal_id: str, now: str
) -> None:
    """Write the archive with these files, put it on record, and give it its name."""
    root, run_id, rel = run.root, run.run_id, layout.archive_file(run.run_id)
    with files.building(root, rel) as (fd, put):
        with reported("write", rel), open(os.dup(fd), "w+b") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as zipped:
                for path in loose:
                    _add(zipped, root, path)
            file.flush()
            os.fsync(fd)
        _compare(run_id, archives.read(os.dup(fd), rel), loose)
        os.lseek(fd, 0, os.SEEK_SET)
        digest = sha256()
        for block in iter(lambda: _next_block(fd, rel), b""):
            digest.update(block)
        fields = {**fields, "archive_sha256": digest.hexdigest(), "files": len(loose)}
        event_log.append(root, run_id, goal_id, ARCHIVED, fields, at=now)
        put()


def _add(zipped: zipfile.ZipFile, root: str, path: str) -> None:
    info = zipfile.ZipInfo("/".join(path.split("/")[-2:]), _FIRST_MOMENT)
    info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
    fd = files.open_regular(root, path)
    if fd is None:
        raise in_file(path).storage("there is no such file", "check the name", code="not_found")
    try:
        with zipped.open(info, "w") as member:
            for block in iter(lambda: _next_block(fd, path), b""):
                member.write(block)
    finally:
        os.close(fd)


def _next_block(fd: int, path: str) -> bytes:
    with reported("read", path):
        return os.read(fd, 1 << 20)


def _check_recorded(root: str, run_id: str) -> None:
    """Raise if the archive is not the one on record."""
    rel = layout.archive_file(run_id)
    event = event_log.archived(root, run_id) or {}
    if files.digest(root, rel, limit=layout.ARCHIVE_LIMIT) != event.get("archive_sha256"):
        raise _not_archived(run_id, rel, "no event speaks of it as it is")


def _compare(run_id: str, packed: EvidenceArchive, digests: Mapping[str, str]) -> None:
    """Raise if a file in the archive is not the one that was recorded."""
    for path, digest in digests.items():
        try:
            same = path in packed.paths and packed.digest(path) == digest
        except ContractError as error:
            raise _not_archived(run_id, path, error.faults[0].message) from None
        if not same:
            raise _not_archived(run_id, path, "it is not the file that was recorded")


def _not_archived(run_id: str, rel: str, fault: str) -> FlowError:
    return gc.not_as_recorded(run_id, "archived", rel, fault)
