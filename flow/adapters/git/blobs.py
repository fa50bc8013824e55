"""Files' contents as git holds them, many in one call."""

from __future__ import annotations

from flow.adapters.git import repository
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from flow.adapters.git.repository import Repo


LINES_LIMIT = 1 << 20
"""Bytes: the lines of larger files are not counted."""


def git_blobs(repo: Repo, digests: Collection[str]) -> dict[str, bytes]:
    """Contents by digest, from git; left out: digests that git does not have, and large files."""
    names = {}
    for digest in digests:
        mode, _, name = digest.partition(":")
        if repository.is_id(name) and mode in ("100644", "100755", "120000"):
            names[name] = digest
    if not names:
        return {}
    try:
        sizes = _object_sizes(repo, names)
        small = [name for name, size in sizes if size is not None and size <= LINES_LIMIT]
        data = (
            repository.git(repo, "cat-file", "--batch", stdin=_request_lines(small))
            if small
            else b""
        )
    except (FlowError, ValueError):
        return {}
    found, at = {}, 0
    for name in small:
        head = data.index(b"\n", at) + 1
        size = int(data[at:head].split()[2])
        found[names[name]] = data[head : head + size]
        at = head + size + 1
    return found


def _object_sizes(repo: Repo, names: Iterable[str]) -> list[tuple[str, int | None]]:
    """(name, size) of each; None for one that git does not have."""
    listing = repository.git(repo, "cat-file", "--batch-check", stdin=_request_lines(names))
    parts = [row.decode("ascii", "replace").split() for row in listing.splitlines()]
    return [(row[0], int(row[2]) if row[1] == "blob" else None) for row in parts]


def _request_lines(names: Iterable[str]) -> bytes:
    return "".join(f"{name}\n" for name in names).encode("ascii")
