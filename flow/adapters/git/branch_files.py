"""The files of one folder on every branch, without a checkout, in two calls of git.

The content of a branch is hostile: only names, modes and sizes decide which files are read.
"""

from __future__ import annotations

import os

from flow.adapters.git import repository
from flow.adapters.git.find import read_regular
from flow.adapters.git.repository import batch_answers
from flow.adapters.git.run import git, usable
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flow.adapters.git.find import Repo

HEADS = "refs/heads/"
MOST_BRANCHES = 20_000
TREES_LIMIT = 128 << 20
_TREE = "40000"


class BranchFile(NamedTuple):
    """A file of a folder on a branch: git's mode, and the id of its content."""

    branch: str
    name: str
    mode: str
    object_id: str


def branch_heads(repo: Repo) -> dict[str, str]:
    """Branch → commit, from git's own files if they can be read as such; sorted."""
    common = repo.common_dir
    packed = None if common is None else repository.packed_refs(repo)
    if common is None or packed is None:
        lines = git(repo, "for-each-ref", "--format=%(objectname) %(refname)", HEADS).splitlines()
        pairs = (os.fsdecode(line).partition(" ") for line in lines)
        heads = {ref.removeprefix(HEADS): commit for commit, _, ref in pairs}
    else:
        usable(repo)
        rows = (os.fsdecode(line) for line in packed.splitlines())
        pairs = (row.partition(" ") for row in rows if not row.startswith(("#", "^")))
        heads = {r.removeprefix(HEADS): c for c, _, r in pairs if r.startswith(HEADS)}
        heads |= _loose_heads(common)
    named = {name: commit for name, commit in sorted(heads.items()) if repository.is_id(commit)}
    return dict(list(named.items())[:MOST_BRANCHES])


def _loose_heads(common: str) -> dict[str, str]:
    """The branches with a file of their own; its content may be no commit."""
    top, heads = os.path.join(common, HEADS), {}
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            if not name.endswith(".lock"):
                text = read_regular(path) or b""
                heads[os.path.relpath(path, top)] = text.decode("ascii", "replace").strip()
    return heads


def files_on_branches(repo: Repo, heads: Mapping[str, str], folder: str) -> list[BranchFile]:
    """The entries of ``folder`` on each branch, folders left out."""
    if not heads:
        return []
    asked = "".join(f"{commit}:{folder}\n" for commit in heads.values()).encode("utf-8")
    output = git(repo, "cat-file", "--batch", stdin=asked, limit=TREES_LIMIT)
    files: list[BranchFile] = []
    trees = batch_answers(output, len(heads))
    for (branch, commit), (kind, data) in zip(heads.items(), trees, strict=True):
        for mode, name, object_id in _entries(data, len(commit) // 2) if kind == "tree" else ():
            if mode != _TREE:
                files.append(BranchFile(branch, name, mode, object_id))
    return files


def _entries(tree: bytes, id_size: int) -> Iterator[tuple[str, str, str]]:
    """(mode, name, id) of a tree's entries."""
    at = 0
    while at < len(tree):
        nul = tree.index(b"\0", at)
        mode, _, name = tree[at:nul].partition(b" ")
        at = nul + 1 + id_size
        yield mode.decode("ascii", "replace"), os.fsdecode(name), tree[nul + 1 : at].hex()
