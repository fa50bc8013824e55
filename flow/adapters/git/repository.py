"""References, history and objects of a repository.

Facts that git's files show are read there without a process: the branch, HEAD, a reference.
GitPython answers questions about history (:func:`history`); it is imported there only, since that
costs about 100 ms.
"""

from __future__ import annotations

import os

from flow.adapters.git.find import Repo, read_regular
from flow.adapters.git.run import (
    CONFIG,
    TIME_LIMIT,
    environment,
    failed,
    git,
    usable,
)
from flow.errors import GitError, in_file
from flow.startup import sha
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

EMPTY_TREES = {
    40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
"""The empty tree's id by its length in hex digits: SHA-1 and SHA-256 repositories."""

PACKED_LIMIT = 64 << 20
"""Bytes of packed references that are read here, some 900,000 of them; of more git is asked."""
_OF_ONE_TREE = ("refs/bisect/", "refs/rewritten/", "refs/worktree/")
"""References that each working tree has of its own."""


def current_branch(repo: Repo) -> str | None:
    """The short name of the branch that is checked out; None on a detached HEAD or without git."""
    return None if repo.git_dir is None else _branch_at(repo, _head_text(repo))


def head_commit(repo: Repo) -> str | None:
    """The id of the commit that is checked out; None if there is none, or no git."""
    return None if repo.git_dir is None else _commit_at(repo, _head_text(repo))


def checked_out(repo: Repo) -> tuple[str | None, str | None]:
    """:func:`head_commit` and :func:`current_branch` by one look at HEAD."""
    if repo.git_dir is None:
        return None, None
    head = _head_text(repo)
    return _commit_at(repo, head), _branch_at(repo, head)


def _branch_at(repo: Repo, head: str | None) -> str | None:
    """The branch that HEAD's text names; None if it names none."""
    if head is None:
        text = git(repo, "symbolic-ref", "--quiet", "HEAD", ok=(0, 1)).decode("utf-8", "replace")
        head = f"ref: {text.strip()}" if text.strip() else ""
    name = head.removeprefix("ref: ").strip() if head.startswith("ref: ") else ""
    return name.removeprefix("refs/heads/") or None


def _commit_at(repo: Repo, head: str | None) -> str | None:
    """The commit that HEAD's text leads to; None if there is none."""
    if head is None:
        return commit_of(repo, "HEAD")
    return _ref_in_files(repo, head[5:].strip()) if head.startswith("ref: ") else head


def read_ref(repo: Repo, name: str) -> str | None:
    """The id that a full reference name holds; None if there is no such reference."""
    if repo.common_dir is None or repo.git_dir is None:
        return None
    return commit_of(repo, name) if has_reftable(repo) else _ref_in_files(repo, name)


def _ref_in_files(repo: Repo, name: str) -> str | None:
    """:func:`read_ref` for references that are files, as ``_head_text`` has just checked."""
    for _ in range(5):
        if not _is_shared_ref(name):
            return commit_of(repo, name)
        path = f"{repo.common_dir}/{name}"
        if os.path.islink(path):  # to git another way to write a symbolic reference
            break
        text = read_regular(path)
        if text is None:
            return _packed_ref(repo, name)
        value = text.decode("utf-8", "surrogateescape").strip()
        if is_id(value):
            return value
        if not value.startswith("ref:"):
            break
        name = value[4:].strip()
    return commit_of(repo, name)


def symbolic_target(repo: Repo, name: str) -> str | None:
    """The reference that a symbolic one names, like ``refs/remotes/origin/HEAD``."""
    if repo.common_dir is None:
        return None
    if has_reftable(repo):
        text: bytes | None = git(repo, "symbolic-ref", "--quiet", name, ok=(0, 1))
        return (text or b"").decode("utf-8", "surrogateescape").strip() or None
    text = read_regular(os.path.join(repo.common_dir, name))
    value = (text or b"").decode("utf-8", "surrogateescape")
    return value[4:].strip() or None if value.startswith("ref:") else None


def commit_of(repo: Repo, revision: str) -> str | None:
    """The id of the commit that a revision (git's notation) names; None if it names none."""
    if revision.startswith("-") or "\0" in revision or "\n" in revision:
        return None
    words = ("rev-parse", "--verify", "--quiet", "--end-of-options")
    try:
        output = git(repo, *words, revision + "^{commit}", ok=(0, 1))
    except GitError:  # for a tree or a file git prints a message even with --quiet
        named = git(repo, *words, revision, ok=(0, 1)).decode("ascii", "replace").strip()
        if not is_id(named) or git(repo, "cat-file", "-t", named).strip() not in (b"tree", b"blob"):
            raise
        return None
    value = output.decode("ascii", "replace").strip().splitlines()
    return value[-1] if value and is_id(value[-1]) else None


def merge_bases(repo: Repo, one: str, other: str) -> list[str]:
    """The best common ancestors of two commits, best first; empty for unrelated histories."""
    return git(repo, "merge-base", "--all", one, other, ok=(0, 1)).decode("ascii").split()


def is_ancestor(repo: Repo, one: str, other: str) -> bool:
    """Whether the commit ``one`` is ``other`` or came before it."""
    return one == other or one in merge_bases(repo, one, other)


def is_shallow(repo: Repo) -> bool:
    """Whether the history was cut off when the repository was cloned."""
    return repo.common_dir is not None and os.path.exists(os.path.join(repo.common_dir, "shallow"))


def listed_files(repo: Repo, *words: str) -> list[str]:
    """The paths that ``git ls-files`` prints with these options and paths."""
    return [os.fsdecode(name) for name in git(repo, "ls-files", "-z", *words).split(b"\0") if name]


def is_id(text: str) -> bool:
    """Whether ``text`` is a whole object id, SHA-1 or SHA-256."""
    return len(text) in EMPTY_TREES and not text.strip("0123456789abcdef")


def is_empty_tree(object_id: str) -> bool:
    """Whether it is the empty tree's id, which stands for the commit before the first one."""
    return object_id in EMPTY_TREES.values()


def has_commit(repo: Repo, commit: str) -> bool:
    """Whether the repository has this commit; the empty tree counts as one that each has."""
    return is_empty_tree(commit) or commit_of(repo, commit) is not None


def packed_refs(repo: Repo) -> bytes | None:
    """The packed references, one ``ID NAME`` a line; None if only git can read them all."""
    if has_reftable(repo):
        return None
    data = read_regular(f"{repo.common_dir}/packed-refs", limit=PACKED_LIMIT + 1) or b""
    return data if len(data) <= PACKED_LIMIT else None


class LoggedCommit(NamedTuple):
    """A commit and the paths it changed against its parents."""

    commit: str
    subject: str
    paths: tuple[str, ...]


def history(repo: Repo, old: str | None, new: str) -> list[LoggedCommit]:
    """The commits that ``new`` has and ``old`` has not, newest first, by way of GitPython.

    ``old`` None: all of them. Merge commits count with their changes against their first parent.
    """
    mark = os.urandom(16).hex()  # no path can imitate the start of a record
    arguments = (
        "log",
        "--first-parent",
        "--diff-merges=first-parent",
        "--root",
        f"--format={mark}%H%x00%s",
        "--name-only",
        "-z",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        "--ignore-submodules=dirty",
        "--no-color",
        "--no-notes",
        "--no-mailmap",
        "--end-of-options",
        *((f"{old}..{new}",) if old else (new,)),
    )
    text = _by_gitpython(repo, arguments).decode("utf-8", "surrogateescape")
    logged = []
    for record in text.split(mark)[1:]:
        commit, subject, *paths = record.split("\0")
        if paths:  # a line feed comes before the first one
            paths[0] = paths[0].removeprefix("\n")
        logged.append(LoggedCommit(commit, subject, tuple(path for path in paths if path)))
    return logged


def _by_gitpython(repo: Repo, arguments: tuple[str, ...]) -> bytes:
    """Run one history command through GitPython, with the same options as every other call.

    GitPython passes the whole process environment on, and outer ``GIT_*`` variables make its
    answers wrong without a word. The environment belongs to the program that Flow runs in, so it is
    not changed: ``env`` leaves those variables out, by name.
    """
    git_dir = usable(repo)
    options = [part for setting in CONFIG for part in ("-c", setting)]
    variables = environment()
    unset = [part for name in os.environ if name not in variables for part in ("-u", name)]
    git_call = ["git", "--no-pager", *options, f"--git-dir={git_dir}", *arguments]
    try:
        from git.cmd import Git
        from git.exc import GitCommandError
    except ImportError as error:  # it looks for git during its import
        raise _not_started(arguments, error) from error
    try:
        status, output, message = Git(repo.top).execute(
            ["env", *unset, *git_call],
            env=variables,
            with_extended_output=True,
            stdout_as_string=False,
            strip_newline_in_stdout=False,
            with_exceptions=False,
            kill_after_timeout=TIME_LIMIT,
        )
    except (GitCommandError, OSError) as error:
        raise _not_started(arguments, error) from error
    if status or message or not isinstance(output, bytes):
        raise failed(arguments[0], int(status), str(message).encode("utf-8", "replace"))
    return output


def _not_started(arguments: tuple[str, ...], error: Exception) -> GitError:
    text = f"git {arguments[0]} could not start: {error}"
    return GitError(text, remedy="check that git is installed")


def _head_text(repo: Repo) -> str | None:
    """HEAD's text: ``ref: NAME`` or an id; None if only git can find out."""
    path = f"{repo.git_dir}/HEAD"
    if os.path.islink(path) or has_reftable(repo):
        return None
    text = (read_regular(path) or b"").decode("utf-8", "surrogateescape").strip()
    if text.startswith("ref:"):
        return f"ref: {text[4:].strip()}"
    return text if is_id(text) else None


def has_reftable(repo: Repo) -> bool:
    """Whether the references are in git's newer format, and none of them is a file."""
    return os.path.isdir(f"{repo.common_dir}/reftable")


def _is_shared_ref(name: str) -> bool:
    """Whether a reference is a file that all working trees share, and no other one."""
    shared = name.startswith("refs/") and not name.startswith(_OF_ONE_TREE)
    return shared and "\0" not in name and ".." not in name


def _packed_ref(repo: Repo, name: str) -> str | None:
    packed = packed_refs(repo)
    if packed is None:
        return commit_of(repo, name)
    for line in packed.splitlines():
        value, _, ref = line.partition(b" ")
        if ref == os.fsencode(name):
            text = value.decode("ascii", "replace")
            return text if is_id(text) else None
    return None


def request_lines(names: Iterable[str]) -> bytes:
    """The ids, as ``cat-file --batch`` takes them."""
    return "".join(f"{name}\n" for name in names).encode("ascii")


def verified_objects(repo: Repo, ids: Iterable[str]) -> dict[str, bytes]:
    """The contents of objects of any kind by id, each with the hash that its id says.

    git believes the name that an object is stored under, and reads one that was overwritten as if
    it were the old one. So what the boundary is decided by is read here.

    Raises :class:`GitError` that names one which is absent or holds anything else.
    """
    names = list(dict.fromkeys(ids))
    if not names:
        return {}
    output = git(repo, "cat-file", "--batch", stdin=request_lines(names))
    objects: dict[str, bytes] = {}
    for name, (kind, data) in zip(names, batch_answers(output, len(names)), strict=True):
        total = sha.new("sha256" if len(name) == 64 else "sha1", len(data))
        total.update(b"%s %d\0" % (kind.encode(), len(data)))
        total.update(data)
        if total.hexdigest() != name:
            raise in_file(repo.top).git(
                f"git's object {name} is missing, or is not what its name says",
                "look at git fsck, and get the object again from another clone",
            )
        objects[name] = data
    return objects


def trees_of(repo: Repo, *commits: str) -> list[str]:
    """The tree of each commit, as the commit itself says; of a tree its own id."""
    objects = verified_objects(repo, commits)
    lines = [objects[commit].partition(b"\n")[0].decode("ascii", "replace") for commit in commits]
    return [
        line[5:] if line[:5] == "tree " else commit
        for commit, line in zip(commits, lines, strict=True)
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
