"""Goals and sidecars that were read and checked before, so that the hot path needs no YAML library.

One JSON file for each text, named after a SHA-256 over the text, the schema and Flow's version: an
upgraded Flow trusts no older check. The folder is the user's own: if others could write to it, it
is neither read nor written. Anything but a whole entry of this format is ignored; no function here
raises because of the cache.
"""

from __future__ import annotations

import os
import stat

from flow.adapters.contracts import schemas
from flow.adapters.fs.state_folder import drop_oldest, read_small, replace_own
from flow.startup import json
from flow.startup.sha import sha1, sha256
from flow.startup.typing import Any
from flow.version import __version__

REVISION = 2
"""To be raised when reading or checking changes without a change of the schema or the version."""
MOST = 1 << 14
"""Entries that are kept, about (4 KiB of disk each): 10,000 goals and new evidence fit."""
LISTING_SHARE = 64
"""One store in this many counts the entries: listing them takes longer than a store."""
LIMIT = 4 << 20
"""Most bytes of an entry; JSON escapes make it longer than the goal file."""
_reader_ids: dict[tuple[str, str], bytes] = {}
"""kind and version → :func:`_reader_id`, made once per process."""


def load_checked(
    cache_dir: str, data: bytes, kind: str = "goal"
) -> tuple[dict[str, Any], list[str]] | None:
    """The checked document of this text, and its warnings; None if none is stored."""
    if not private(cache_dir):
        return None
    name = _entry_name(data, kind)
    header, _, body = (read_small(f"{cache_dir}/{name}", LIMIT) or b"").partition(b"\n")
    if header != _entry_header(name, body):
        return None
    try:
        entry = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return entry["document"], entry["warnings"]


def store_checked(
    cache_dir: str, data: bytes, document: dict[str, Any], warnings: list[str], kind: str = "goal"
) -> None:
    """Keep a document that was checked. A folder that cannot be used is left alone."""
    if not private(cache_dir):
        for folder in (os.path.dirname(cache_dir), cache_dir):
            try:
                os.mkdir(folder, 0o700)
            except OSError:
                pass
        if not private(cache_dir):
            return
    name = _entry_name(data, kind)
    try:
        entry = {"document": document, "warnings": warnings}
        body = json.dumps(entry, separators=(",", ":")).encode("ascii")
        replace_own(f"{cache_dir}/{name}", _entry_header(name, body) + b"\n" + body)
        if int(name[:8], 16) % LISTING_SHARE == 0:
            _drop_older_half(cache_dir)
    except (OSError, ValueError):
        return


def private(folder: str) -> bool:
    """Whether only this user can read and write the folder, and it is no symlink."""
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    return (
        stat.S_ISDIR(status.st_mode)
        and status.st_uid == os.geteuid()
        and not stat.S_IMODE(status.st_mode) & 0o077
    )


def _entry_header(name: str, body: bytes) -> bytes:
    """First line of an entry: its own name and the digest of the rest, against damage."""
    return f"{name} {sha256(body).hexdigest()}".encode("ascii")


def reader_digest(kind: str) -> str:
    """SHA-256 (hex) over the schema and versions that decide how this kind is read and checked."""
    return sha256(_reader_id(kind)).hexdigest()


def _reader_id(kind: str) -> bytes:
    """The schema and the versions, shortened."""
    key = kind, __version__
    if key not in _reader_ids:
        text = schemas.text(kind) if kind in schemas.NAMES else ""
        # Tells Flow's own file from that of another Flow: SHA-1 suffices, in half the time.
        schema = sha1(text.encode()).digest()
        _reader_ids[key] = f"{REVISION} {__version__}\n".encode() + schema
    return _reader_ids[key]


def _entry_name(data: bytes, kind: str) -> str:
    digest = sha256(_reader_id(kind) + data)
    return f"{digest.hexdigest()}.{kind}.json"


def _drop_older_half(folder: str) -> None:
    """Drop the older half once there are too many, half-written ones of dead processes included."""
    if len(os.listdir(folder)) > MOST:
        drop_oldest(folder, MOST // 2)
