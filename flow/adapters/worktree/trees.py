"""The base against HEAD and the index, as git sees them; the working tree is left alone."""

from __future__ import annotations

from flow.adapters.git import repository
from flow.adapters.git.run import git, usable
from flow.adapters.worktree.cache import Table
from flow.core.boundary.by_products import tree_digest
from flow.core.boundary.changes import ContentState, PathChange
from flow.core.layout import FOLDER, GOAL_SUFFIX, GOALS, written_by_flow
from flow.errors import GitError
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from flow.adapters.git.find import Repo
    from flow.core.boundary.changes import Baseline, Changes

    StagedEntries = tuple[dict[bytes, ContentState | None], list[bytes]]
    """path → its staged entry if that differs from the base's; and the unmerged paths."""
    Mark = Callable[[list[PathChange], Baseline], list[PathChange] | Changes]
    """Function that returns the same changes, with ``foreign`` for those that only have Flow's
    names.
    """

OWN = f"{FOLDER}/".encode()
_GOALS, _GOAL_END = f"{GOALS}/".encode(), GOAL_SUFFIX.encode()
_TREE = "040000"
_RAW = ("--raw", "-z", "--no-renames", "--no-abbrev", "--no-ext-diff", "--no-textconv")


def listing(repo: Repo, base: str, prefix: bytes) -> Table:
    """The base's tree as git lists it, each folder as its id says."""
    if repository.is_empty_tree(base):
        return Table.of_listing(base, ())
    return Table.of_listing(base, _listed(checked_listing(repo, base), prefix))


def checked_listing(repo: Repo, base: str, rows: str = "-t") -> bytes:
    """``ls-tree -r -z`` of the base, each folder as its id says; ``-d`` for folders alone."""
    words = ("ls-tree", "-r", rows, "-z", "--full-tree")
    return _checked_output(repo, words, (base,), _listed_folders)


def _checked_output(
    repo: Repo,
    words: Sequence[str],
    commits: Sequence[str],
    folders: Callable[[bytes], Iterable[str]],
) -> bytes:
    """Output of a git command about the commits' trees.

    ``folders`` returns the ids of the folders in it. Raises :class:`GitError` if the content of
    one is not what its id says.
    """
    roots = repository.trees_of(repo, *commits)
    output = git(repo, *words, *roots)
    repository.verified_objects(repo, (*roots, *folders(output)))
    return output


def _listed_folders(output: bytes) -> Iterator[str]:
    """The ids of the folders in ``ls-tree -t -z``."""
    mark = f"{_TREE} tree ".encode()
    for meta, _ in listed_rows(output):
        if meta.startswith(mark):
            yield meta[len(mark) :].decode("ascii")


def _listed(output: bytes, prefix: bytes) -> Iterator[tuple[bytes, ContentState]]:
    """The counted entries of ``ls-tree -z``."""
    for meta, path in listed_rows(output):
        if _counted(path, prefix) and not meta.startswith(_TREE.encode()):
            mode, _, digest = meta.decode("ascii").split(" ")
            yield path, ContentState(mode, digest)


def listed_rows(output: bytes) -> Iterator[tuple[bytes, bytes]]:
    """(meta, path) of ``ls-tree -z``, one after the other: there may be very many."""
    start = 0
    while (end := output.find(b"\0", start)) >= 0:
        meta, _, path = output[start:end].partition(b"\t")
        start = end + 1
        yield meta, path


def against_tree(
    repo: Repo, base: str, head: str | None, prefix: bytes = b""
) -> dict[bytes, ContentState | None]:
    """path → its entry in ``head``, for every path whose entry differs from the base's.

    Folders that differ are read as their ids say; those that are the same have one id.
    """
    other = head or repository.EMPTY_TREES[len(base)]
    if other == base:
        return {}
    words = ("diff-tree", "-r", "-t", *_RAW, "--ignore-submodules=dirty", "--no-relative")
    output = _checked_output(repo, words, (base, other), _differing_folders)
    return {path: entry for path, entry, _ in _raw_entries(output) if _counted(path, prefix)}


def _differing_folders(output: bytes) -> Iterator[str]:
    """The ids of the folders in ``--raw -z -t`` output, on both sides."""
    for meta in output.split(b"\0")[0:-1:2]:
        fields = meta[1:].decode("ascii").split(" ")
        for mode, digest in zip(fields[:2], fields[2:4], strict=True):
            if mode == _TREE:
                yield digest


def against_index(repo: Repo, base: str, prefix: bytes) -> StagedEntries:
    """The staged entries that differ from the base's, and the unmerged paths.

    ``--cached`` leaves the working tree alone. ``--ignore-submodules=dirty`` overrules the
    checkout's configuration of submodules, and looks at their staged commits only.
    """
    checked_listing(repo, base, "-d")  # the table may be of a cache, and git reads the folders anew
    output = git(
        repo,
        "diff-index",
        "--cached",
        *_RAW,
        "--ignore-submodules=dirty",
        "--ita-visible-in-index",
        "--no-relative",
        base,
    )
    staged: dict[bytes, ContentState | None] = {}
    unmerged = []
    for path, entry, status in _raw_entries(output):
        if status == "U":
            unmerged.append(path)
        elif _counted(path, prefix):
            staged[path] = entry
    return staged, unmerged


def changed_between(repo: Repo, old: str, new: str | None) -> list[PathChange]:
    """Every path that differs between two commits, as it is in ``new``, sorted."""
    entries = sorted(against_tree(repo, old, new).items())
    return [PathChange(text_of(path), None, entry, entry, entry) for path, entry in entries]


def commit_tree(
    repo: Repo,
    baseline: Baseline,
    commit: str,
    own_files: Callable[[PathChange], bool],
    mark: Mark = lambda changes, _: changes,
) -> str | None:
    """The digest that ``subject_tree`` returns if ``commit`` is checked out and all is committed.

    ``mark`` is as in ``pinned.commits_outside``. Submodules are left out: a commit does not show
    whether they are checked out.

    None if git does not know the commit, or there is no pin to compare it with.
    """
    base = baseline.base_commit
    if base is None or not repository.is_id(base) or not repository.is_id(commit):
        return None
    try:
        usable(repo)
        if repository.commit_of(repo, commit) != commit:
            return None
        changes = changed_between(repo, base, commit)
    except GitError:
        return None
    return tree_digest(base, mark(changes, baseline), own_files=own_files)


def _raw_entries(output: bytes) -> Iterable[tuple[bytes, ContentState | None, str]]:
    """The (path, new entry, status) of ``--raw -z`` output."""
    fields = output.split(b"\0")
    for meta, path in zip(fields[0::2], fields[1::2], strict=False):
        old, mode, _, digest, status = meta.decode("ascii").split(" ")
        if _TREE in (old[1:], mode):
            continue
        yield path, None if mode == "000000" else ContentState(mode, digest), status


def _counted(path: bytes, prefix: bytes) -> bool:
    """Whether a path is part of a change set: Flow's own files at the top level are not."""
    return bool(prefix) or not is_own(path)


def is_own(path: bytes) -> bool:
    """Whether Flow itself writes this file, or all below this folder (with a ``/`` at its end)."""
    if path.startswith(_GOALS) and path.endswith(_GOAL_END):  # first, as there may be thousands
        return path.find(b"/", len(_GOALS)) < 0
    return path.startswith(OWN) and written_by_flow(text_of(path))


def text_of(path: bytes) -> str:
    """A path as values and files hold it."""
    return path.decode("utf-8", "surrogateescape")
