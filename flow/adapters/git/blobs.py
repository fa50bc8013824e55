"""Files' contents as git holds them, many in one call."""

from __future__ import annotations

from flow.adapters.git import repository
from flow.adapters.git.repository import batch_answers, request_lines
from flow.adapters.git.run import git
from flow.core.boundary.changes import entry_digest
from flow.errors import FlowError, GitError
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from flow.adapters.git.find import Repo
    from flow.core.boundary.changes import ContentState

LINES_LIMIT = 1 << 20
"""Bytes: the lines of larger files are not counted."""
CONTENTS_LIMIT = 64 << 20
"""Most bytes of all files that are read at once; of more the sizes are read first."""


def git_blobs(repo: Repo, digests: Collection[str]) -> dict[str, bytes]:
    """Contents by digest, from git; left out: digests that git does not have, and large files."""
    names = {}
    for digest in digests:
        mode, _, name = digest.partition(":")
        if repository.is_id(name) and mode in ("100644", "100755", "120000"):
            names[name] = digest
    try:
        data_by_id = contents(repo, names, LINES_LIMIT)
    except (FlowError, ValueError):
        return {}
    return {names[name]: data for name, data in data_by_id.items()}


def blob_of(repo: Repo, entry: ContentState) -> bytes | None:
    """An entry's content, from git; None if git does not have it, or if it is large."""
    digest = entry_digest(entry)
    return git_blobs(repo, (digest,)).get(digest)


def contents(repo: Repo, ids: Collection[str], most: int) -> dict[str, bytes]:
    """The contents of blobs by id; other ids, and blobs over ``most`` bytes, are left out."""
    names = list(dict.fromkeys(ids))
    if not names:
        return {}
    try:
        return _read(repo, names, most, CONTENTS_LIMIT)
    except GitError:  # all together are too large: find out which are
        rows = git(repo, "cat-file", "--batch-check", stdin=request_lines(names)).splitlines()
        parts = [row.split() for row in rows]
        small = [
            name
            for name, part in zip(names, parts, strict=True)
            if part[1:2] == [b"blob"] and int(part[2]) <= most
        ]
        return _read(repo, small, most, CONTENTS_LIMIT * 4) if small else {}


def _read(repo: Repo, names: Sequence[str], most: int, limit: int) -> dict[str, bytes]:
    output = git(repo, "cat-file", "--batch", stdin=request_lines(names), limit=limit)
    answers = zip(names, batch_answers(output, len(names)), strict=True)
    return {name: data for name, (kind, data) in answers if kind == "blob" and len(data) <= most}
