"""A clean checkout of one commit, with a git directory of Flow's own (SPEC 10, red first).

No ``git worktree``: that would write into the user's repository, and commands that run there would
share its references, stash, hooks and configuration. Here git finds a repository of its own, which
borrows the user's objects (``objects/info/alternates``), has copies of the references, a detached
HEAD at the commit, and neither hooks nor anything of the checkout's configuration. So no filter,
hook or file system monitor of the checkout is started, by Flow or by the command.

``git checkout-index`` writes the files: it converts line ends as ``.gitattributes`` says, and since
no filter is configured here, files that one would make (Git LFS) are as they are stored.
"""

from __future__ import annotations

import os

from flow.adapters.git import repository
from flow.adapters.git.find import read_regular, submodule_repo
from flow.adapters.git.run import git, git_own, usable
from flow.core.text.display import names, visible
from flow.errors import GitError, at_key, in_file
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flow.adapters.git.find import Repo

FOLDERS = ("info", "objects/info", "objects/pack", "refs/heads", "refs/tags")
EXCLUDED = "/.flow/runs/\n"
DEPTH = 8
"""Most levels of submodules inside submodules."""
_ATTRIBUTES = 1 << 20

FILTERED = (
    "Files that a filter of git would make (Git LFS, encryption) were as they are stored: "
    "Flow runs no filter."
)


def make_checkout(
    repo: Repo, commit: str, folder: str, *, seconds_left: Callable[[], float]
) -> tuple[str, ...]:
    """Check ``commit`` (or the empty tree) out into the new folder ``folder``.

    ``seconds_left`` is the time it may still take. Returns notes on missing parts. Raises
    :class:`GitError` if the commit, or something it needs, is not there.
    """
    require_commit(repo, commit)
    try:
        return tuple(dict.fromkeys(_check_out(repo, commit, folder, seconds_left, DEPTH)))
    except OSError as error:
        raise in_file(folder).storage(
            f"cannot check {commit[:12]} out: {error.strerror}",
            "free some disk space, then run it again",
        ) from error


def require_commit(repo: Repo, commit: str) -> None:
    """Raise :class:`GitError` if ``commit`` is not in the repository."""
    usable(repo)
    if repository.has_commit(repo, commit):
        return
    shallow = repository.is_shallow(repo)
    raise at_key("scope.base_commit", commit).git(
        f"the base commit {commit[:12]} is not in this repository"
        + (", which is a shallow clone" * shallow),
        "git fetch --unshallow"
        if shallow
        else "fetch the branch that has it, or start anew: flow goal create NEW --from ID",
        code="no_base",
    )


def _check_out(
    repo: Repo, commit: str, folder: str, seconds_left: Callable[[], float], depth: int
) -> Iterator[str]:
    """Make the folder and its git directory; yields notes on missing parts."""
    git_dir = os.path.join(folder, ".git")
    for part in ("", *FOLDERS):
        os.makedirs(os.path.join(git_dir, part), exist_ok=True)
    empty = repository.is_empty_tree(commit)
    _write_file(git_dir, "config", _git_config(len(commit)))
    _write_file(git_dir, "HEAD", "ref: refs/heads/base\n" if empty else f"{commit}\n")
    _write_file(git_dir, "info/exclude", EXCLUDED)
    _write_file(git_dir, "objects/info/alternates", _objects(repo) + "\n")
    _write_file(git_dir, "packed-refs", _references(repo))
    shallow = read_regular(os.path.join(repo.common_dir or "", "shallow"))
    if shallow:
        _write_file(git_dir, "shallow", shallow.decode("ascii", "replace"))
    if empty:
        yield "The base is empty: there was no commit yet when the goal began."
        return
    for words in (("read-tree", commit), ("checkout-index", "--all", "--index", "--force", "-q")):
        git_own(git_dir, folder, *words, timeout=seconds_left())
    listing = git_own(git_dir, folder, "ls-files", "--stage", "-z", timeout=seconds_left())
    absent = []
    for row in listing.split(b"\0")[:-1]:
        entry, _, name = row.partition(b"\t")
        path = os.fsdecode(name)
        if entry.startswith(b"160000 "):
            pinned = entry.split(b" ")[1].decode()
            notes = _submodule(repo, path, pinned, folder, seconds_left, depth)
            if notes is None:
                absent.append(path)
            yield from notes or ()
        elif name.rpartition(b"/")[2] == b".gitattributes" and _has_filter(folder, path):
            yield FILTERED
    if absent:
        yield f"Submodules that are not checked out here were empty: {names(absent, 5)}."


def _submodule(
    repo: Repo, path: str, commit: str, folder: str, seconds_left: Callable[[], float], depth: int
) -> list[str] | None:
    """Check a submodule out from the user's copy of it; returns notes on missing parts.

    None if it is not checked out here.
    """
    place, target = os.path.join(repo.top, path), os.path.join(folder, path)
    plain = os.path.realpath(place) == place and os.path.realpath(target) == target
    submodule = submodule_repo(place) if plain and depth else None
    try:
        present = submodule is not None and repository.commit_of(submodule, commit) is not None
    except GitError:
        present = False
    if submodule is None or not present:
        return None
    return list(_check_out(submodule, commit, target, seconds_left, depth - 1))


def _git_config(digits: int) -> str:
    sha256 = digits == 64
    text = f"[core]\n\trepositoryformatversion = {int(sha256)}\n\tbare = false\n"
    return text + ("[extensions]\n\tobjectFormat = sha256\n" if sha256 else "")


def _objects(repo: Repo) -> str:
    path = os.path.join(repo.common_dir or "", "objects")
    if "\n" in path:
        raise GitError(
            f"the repository's path holds a line feed: {visible(path)}",
            remedy="move the repository to a folder with a plain name",
        )
    return path


def _references(repo: Repo) -> str:
    """The references, as they are now; none if git is not sure of them."""
    try:
        listing = git(repo, "for-each-ref", "--format=%(objectname) %(refname)")
    except GitError:
        return ""
    lines = listing.decode("utf-8", "surrogateescape").splitlines()
    return "".join(f"{line}\n" for line in lines if " refs/replace/" not in line)


def _has_filter(folder: str, path: str) -> bool:
    name = os.path.join(folder, path)
    if os.path.islink(name):
        return False
    return b"filter=" in (read_regular(name, limit=_ATTRIBUTES) or b"")


def _write_file(git_dir: str, name: str, text: str) -> None:
    with open(os.path.join(git_dir, name), "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
