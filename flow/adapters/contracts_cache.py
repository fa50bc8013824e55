"""Goals that were read and checked before, so that the hot path needs no YAML library.

One JSON file for each goal text, named after a SHA-256 over the text, the schema and Flow's
version: an upgraded Flow trusts no older check. The folder is the user's own: where others could
write to it, it is neither read nor written. Whatever is not a whole entry of this format is
ignored; nothing here ever fails.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from typing import Any

from flow.core.layout import TEMP_PREFIX

REVISION = 1
"""To be raised when reading or checking changes without a change of the schema or the version."""
MOST = 256
"""Entries that are kept."""
LIMIT = 4 << 20
"""Bytes an entry may have; JSON escapes make it longer than the goal file."""
_SUFFIX = ".goal.json"


def load(cache_dir: str, data: bytes) -> tuple[dict[str, Any], list[str]] | None:
    """The checked document of this goal text, and its warnings; None where there is none."""
    if not private(cache_dir):
        return None
    name = _name(data)
    try:
        fd = os.open(os.path.join(cache_dir, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(fd, "rb") as stream:
            found = os.fstat(stream.fileno())
            if not stat.S_ISREG(found.st_mode) or found.st_size > LIMIT:
                return None
            entry = json.loads(stream.read(LIMIT))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(entry, dict) or entry.get("name") != name:
        return None
    document, warnings = entry.get("document"), entry.get("warnings")
    if not isinstance(document, dict) or not isinstance(warnings, list):
        return None
    if not all(isinstance(text, str) for text in warnings):
        return None
    from flow.adapters.contracts_check import accepts

    return (document, warnings) if accepts("goal", document)[0] else None


def store(cache_dir: str, data: bytes, document: dict[str, Any], warnings: list[str]) -> None:
    """Keep a document that was checked. A folder that cannot be used is left alone."""
    for folder in (os.path.dirname(cache_dir), cache_dir):
        try:
            os.mkdir(folder, 0o700)
        except OSError:
            pass
    if not private(cache_dir):
        return
    name = _name(data)
    temporary = os.path.join(cache_dir, f"{TEMP_PREFIX}{os.getpid()}-{os.urandom(4).hex()}")
    try:
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        try:
            with open(fd, "w", encoding="ascii") as stream:
                entry = {"name": name, "document": document, "warnings": warnings}
                json.dump(entry, stream, separators=(",", ":"))
            os.rename(temporary, os.path.join(cache_dir, name))
        except BaseException:
            try:
                os.unlink(temporary)
            except FileNotFoundError:
                pass  # it came after the renaming
            raise
        _prune(cache_dir)
    except (OSError, ValueError):
        return


def private(folder: str) -> bool:
    """Whether only this user can read and write the folder, and it is no symlink."""
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    return (
        stat.S_ISDIR(found.st_mode)
        and found.st_uid == os.geteuid()
        and not stat.S_IMODE(found.st_mode) & 0o077
    )


def _name(data: bytes) -> str:
    from flow import __version__
    from flow.adapters import schemas

    digest = hashlib.sha256(f"{REVISION} {__version__}\n".encode())
    digest.update(hashlib.sha256(schemas.text("goal").encode()).digest())
    digest.update(data)
    return digest.hexdigest() + _SUFFIX


def _prune(folder: str) -> None:
    """Drop the older half once there are too many, half-written ones of dead processes included."""
    names = os.listdir(folder)
    if len(names) <= MOST:
        return
    ages = []
    for name in names:
        if name.endswith(_SUFFIX) or name.startswith("."):
            try:
                ages.append((os.lstat(os.path.join(folder, name)).st_mtime_ns, name))
            except OSError:
                continue
    for _, name in sorted(ages)[: len(ages) - MOST // 2]:
        try:
            os.unlink(os.path.join(folder, name))
        except OSError:
            continue
