"""Objects as git holds them, many in one call.

git believes the name that an object is stored under, and reads one that was overwritten as if it
were the old one. So :func:`genuine` reads what the boundary is decided by.
"""

from __future__ import annotations

from flow.adapters.git import repository
from flow.adapters.git.run import git
from flow.errors import FlowError, GitError, in_file
from flow.startup import sha
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from flow.adapters.git.find import Repo


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


def contents(repo: Repo, ids: Collection[str], most: int) -> dict[str, bytes]:
    """The contents of blobs by id; other ids, and blobs over ``most`` bytes, are left out."""
    names = list(dict.fromkeys(ids))
    if not names:
        return {}
    try:
        return _read(repo, names, most, CONTENTS_LIMIT)
    except GitError:  # all together are too large: find out which are
        rows = git(repo, "cat-file", "--batch-check", stdin=_request_lines(names)).splitlines()
        parts = [row.split() for row in rows]
        small = [
            name
            for name, part in zip(names, parts, strict=True)
            if part[1:2] == [b"blob"] and int(part[2]) <= most
        ]
        return _read(repo, small, most, CONTENTS_LIMIT * 4) if small else {}


def _read(repo: Repo, names: Sequence[str], most: int, limit: int) -> dict[str, bytes]:
    output = git(repo, "cat-file", "--batch", stdin=_request_lines(names), limit=limit)
    answers = zip(names, batch_answers(output, len(names)), strict=True)
    return {name: data for name, (kind, data) in answers if kind == "blob" and len(data) <= most}


def _request_lines(names: Sequence[str]) -> bytes:
    return "".join(f"{name}\n" for name in names).encode("ascii")


def genuine(repo: Repo, ids: Iterable[str]) -> dict[str, bytes]:
    """The contents of objects of any kind by id, each with the hash that its id says.

    Raises :class:`GitError` that names one which is absent or holds anything else.
    """
    names = list(dict.fromkeys(ids))
    if not names:
        return {}
    output = git(repo, "cat-file", "--batch", stdin=_request_lines(names))
    found: dict[str, bytes] = {}
    for name, (kind, data) in zip(names, batch_answers(output, len(names)), strict=True):
        total = sha.new("sha256" if len(name) == 64 else "sha1", len(data))
        total.update(b"%s %d\0" % (kind.encode(), len(data)))
        total.update(data)
        if total.hexdigest() != name:
            raise in_file(repo.top).git(
                f"git's object {name} is missing, or is not what its name says",
                "look at git fsck, and get the object again from another clone",
            )
        found[name] = data
    return found


def trees_of(repo: Repo, *commits: str) -> list[str]:
    """The tree of each commit, as the commit itself says; of a tree its own id."""
    found = genuine(repo, commits)
    heads = [found[commit].partition(b"\n")[0].decode("ascii", "replace") for commit in commits]
    return [
        head[5:] if head[:5] == "tree " else commit
        for commit, head in zip(commits, heads, strict=True)
    ]


def batch_answers(output: bytes, count: int) -> Iterator[tuple[str, bytes]]:
    """(type, content) of each answer of ``cat-file --batch``; no type if the object is absent."""
    at = 0
    for _ in range(count):
        end = output.index(b"\n", at)
        head = output[at:end].rsplit(b" ", 2)
        at = end + 1
        if len(head) == 3 and head[2].isdigit():
            size = int(head[2])
            yield head[1].decode("ascii", "replace"), output[at : at + size]
            at += size + 1
        else:  # "NAME missing", or git's answer to an ambiguous name
            yield "", b""
