"""The one place that runs git: finding the repository, safe calls, references, history.

A checkout's configuration is hostile. So every call names the git directory and the working tree
that Flow's own search found, switches off what configuration could start (fsmonitor, hooks,
external diff, pager, transports), ignores the user's and the system's configuration, replace refs
and grafts, takes no optional locks, fetches nothing, and runs in an environment of its own without
any ``GIT_*`` variable. The calls made here never compare with the working tree, so neither filters
nor textconv come into play (the working tree is read by ``worktree_walk``). Whatever git prints on
standard error is an error: what git is not sure about, Flow does not know either.

GitPython answers questions about history (:func:`history`); it is imported there only, since that
costs about 100 ms.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from flow.errors import GitError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

TIME_LIMIT = 60.0
"""Seconds for one git call."""

EMPTY_TREES = {
    40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
"""The empty tree's id by its length in hex digits: SHA-1 and SHA-256 repositories."""

_NOWHERE = os.path.join(os.devnull, "none")
_READ_LIMIT = 64 << 20
_KEPT = ("PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "DEVELOPER_DIR")
_SET = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_GRAFT_FILE": _NOWHERE,
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "LC_ALL": "C.UTF-8",
}
_CONFIG = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    f"core.attributesFile={os.devnull}",
    f"core.excludesFile={os.devnull}",
    "core.untrackedCache=false",
    "core.sshCommand=false",
    "core.gitProxy=",
    "core.alternateRefsCommand=false",
    "core.warnAmbiguousRefs=false",
    "diff.external=",
    "gpg.program=false",
    "log.showSignature=false",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
)


class Repo(NamedTuple):
    """A checkout. Paths are absolute and free of symlinks."""

    top: str
    git_dir: str | None
    """The git directory of this working tree; None where git cannot be used here."""
    common_dir: str | None
    """The git directory that linked worktrees share."""
    problem: str | None = None
    """Why ``git_dir`` is None, or why it must not be used."""


def find_repo(cwd: str) -> Repo | None:
    """The checkout that ``cwd`` lies in, by Flow's own search; no process is started.

    The nearest folder upward with a ``.git`` folder or file (linked worktree, submodule) that leads
    to a git directory; else the nearest one with a ``.flow`` folder; else None. A bare repository
    is never taken: one that was committed into a subfolder could carry any configuration. Variables
    like ``GIT_DIR`` are ignored.
    """
    start = os.path.realpath(cwd)
    for folder in _upward(start):
        entry = os.path.join(folder, ".git")
        if os.path.isdir(entry):
            if _is_git_dir(entry):
                return _repo(folder, os.path.realpath(entry))
        elif os.path.isfile(entry):
            target = _linked_git_dir(entry)
            if target is None:
                return Repo(folder, None, None, f"{entry} leads to no git directory")
            return _repo(folder, target)
    bare = next((folder for folder in _upward(start) if _is_git_dir(folder)), None)
    for folder in _upward(start):
        if os.path.isdir(os.path.join(folder, ".flow")):
            why = "this is a bare repository" if bare else "there is no git repository here"
            return Repo(folder, None, None, why)
    return None


def git(
    repo: Repo,
    *args: str,
    stdin: bytes | None = None,
    ok: Collection[int] = (0,),
) -> bytes:
    """What ``git ARGS`` prints. Raises :class:`GitError` for other states and any message."""
    git_dir = usable(repo)
    result = _run((f"--git-dir={git_dir}", f"--work-tree={repo.top}", *args), repo.top, stdin)
    if result[0] not in ok or result[2]:
        raise _failed(args[0], result)
    return result[1]


def git_in(git_dir: str, work_tree: str, *args: str, stdin: bytes) -> tuple[int, bytes]:
    """Run git on a git directory of Flow's own making. Returns (status, output)."""
    result = _run((f"--git-dir={git_dir}", f"--work-tree={work_tree}", *args), work_tree, stdin)
    if result[0] not in (0, 1) or result[2]:
        raise _failed(args[0], result)
    return result[0], result[1]


def usable(repo: Repo) -> str:
    """The git directory. Raises :class:`GitError` with the reason where it must not be used."""
    problem = refusal(repo)
    if problem is not None or repo.git_dir is None:
        raise GitError(
            problem or "there is no git repository here",
            code="no_git",
            file=repo.top,
            remedy="make git work here; git status says what it needs",
        )
    return repo.git_dir


_refusals: dict[Repo, str | None] = {}


def refusal(repo: Repo) -> str | None:
    """Why git must not be used in this checkout; None where it can be.

    Like git itself, Flow does not use a repository of another user, unless the user's own
    ``safe.directory`` names it: whoever owns it could have put anything into its configuration.
    """
    if repo.problem is not None or repo.git_dir is None:
        return repo.problem or "there is no git repository here"
    if repo not in _refusals:
        _refusals[repo] = _foreign(repo)
    return _refusals[repo]


def current_branch(repo: Repo) -> str | None:
    """The short name of the branch that is checked out; None on a detached HEAD or without git."""
    if repo.git_dir is None:
        return None
    target = _head(repo)
    if target is None:
        text = git(repo, "symbolic-ref", "--quiet", "HEAD", ok=(0, 1)).decode("utf-8", "replace")
        target = f"ref: {text.strip()}" if text.strip() else ""
    name = target.removeprefix("ref: ").strip() if target.startswith("ref: ") else ""
    return name.removeprefix("refs/heads/") or None


def head_commit(repo: Repo) -> str | None:
    """The id of the commit that is checked out; None where there is none, or no git."""
    if repo.git_dir is None:
        return None
    target = _head(repo)
    if target is None:
        return commit_of(repo, "HEAD")
    return read_ref(repo, target[5:].strip()) if target.startswith("ref: ") else target


def read_ref(repo: Repo, name: str) -> str | None:
    """The id that a full reference name holds; None where there is no such reference."""
    if repo.common_dir is None or repo.git_dir is None:
        return None
    if _has_reftable(repo):
        return commit_of(repo, name)
    for _ in range(5):
        if not _safe_ref(name):
            return commit_of(repo, name)
        text = read_regular(os.path.join(repo.common_dir, name))
        if text is None:
            return _packed(repo.common_dir, name)
        value = text.decode("utf-8", "surrogateescape").strip()
        if is_id(value):
            return value
        if not value.startswith("ref:"):
            break
        name = value[4:].strip()
    return commit_of(repo, name)


def symbolic_target(repo: Repo, name: str) -> str | None:
    """The reference that a symbolic one stands for, like ``refs/remotes/origin/HEAD``."""
    if repo.common_dir is None:
        return None
    if _has_reftable(repo):
        text: bytes | None = git(repo, "symbolic-ref", "--quiet", name, ok=(0, 1))
        return (text or b"").decode("utf-8", "surrogateescape").strip() or None
    text = read_regular(os.path.join(repo.common_dir, name))
    value = (text or b"").decode("utf-8", "surrogateescape")
    return value[4:].strip() or None if value.startswith("ref:") else None


def commit_of(repo: Repo, revision: str) -> str | None:
    """The id of the commit that a revision (git's notation) names; None where it names none."""
    if revision.startswith("-") or "\0" in revision or "\n" in revision:
        return None
    found = git(
        repo,
        "rev-parse",
        "--verify",
        "--quiet",
        "--end-of-options",
        revision + "^{commit}",
        ok=(0, 1),
    )
    value = found.decode("ascii", "replace").strip().splitlines()
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


def is_id(text: str) -> bool:
    """Whether ``text`` is a whole object id, SHA-1 or SHA-256."""
    return len(text) in EMPTY_TREES and not text.strip("0123456789abcdef")


def user_config(repo: Repo, *args: str) -> bytes:
    """What ``git config ARGS`` says with the user's own files in force; b"" where nothing is set.

    Reading configuration starts nothing, so this is the one call that takes the user's settings as
    they are.
    """
    git_dir = usable(repo)
    result = _run((f"--git-dir={git_dir}", "config", *args), repo.top, None, config=False)
    if result[0] not in (0, 1) or result[2]:
        raise _failed("config", result)
    return result[1]


class Logged(NamedTuple):
    """A commit and the paths it changed against its parents."""

    commit: str
    subject: str
    paths: tuple[str, ...]


def history(repo: Repo, old: str | None, new: str) -> list[Logged]:
    """The commits that ``new`` has and ``old`` has not, newest first, by way of GitPython.

    ``old`` None: all of them. Merge commits count with what they change against their first parent.
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
        if paths:  # a line feed stands before the first one
            paths[0] = paths[0].removeprefix("\n")
        logged.append(Logged(commit, subject, tuple(path for path in paths if path)))
    return logged


# --- running --------------------------------------------------------------------------------------


def environment(top: str, *, config: bool = True) -> dict[str, str]:
    """The environment of a git call; with ``config`` False the user's own settings are read."""
    env = {name: os.environ[name] for name in _KEPT if name in os.environ}
    env.update(_SET)
    if not config:
        for name in ("GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL"):
            del env[name]
        if "XDG_CONFIG_HOME" in os.environ:
            env["XDG_CONFIG_HOME"] = os.environ["XDG_CONFIG_HOME"]
    # A `git` that lies in the checkout is the checkout's, whatever PATH says.
    inside = (top, top.rstrip("/") + "/")
    env["PATH"] = os.pathsep.join(
        folder
        for folder in env.get("PATH", os.defpath).split(os.pathsep)
        if os.path.isabs(folder)
        and os.path.realpath(folder) != inside[0]
        and not os.path.realpath(folder).startswith(inside[1])
    )
    return env


def _run(
    args: tuple[str, ...], cwd: str, stdin: bytes | None, *, config: bool = True
) -> tuple[int, bytes, bytes]:
    from flow.adapters.process import run_tool

    options = [part for setting in _CONFIG for part in ("-c", setting)] if config else []
    result = run_tool(
        ("git", "--no-pager", *options, *args),
        cwd=cwd,
        env=environment(cwd, config=config),
        stdin=stdin,
        timeout=TIME_LIMIT,
    )
    return result.status, result.stdout, result.stderr


def _by_gitpython(repo: Repo, arguments: tuple[str, ...]) -> bytes:
    """Run one history command through GitPython, with the same options as every other call.

    GitPython hands the whole process environment on, and outer ``GIT_*`` variables make its answers
    wrong without a word; so the environment is exchanged around the call.
    """
    git_dir = usable(repo)
    options = [part for setting in _CONFIG for part in ("-c", setting)]
    before = dict(os.environ)
    try:
        os.environ.clear()
        os.environ.update(environment(repo.top))
        os.environ["GIT_PYTHON_REFRESH"] = "quiet"  # importing it must not run git
        from git.cmd import Git
        from git.exc import GitCommandError

        try:
            found = Git(repo.top).execute(
                ["git", "--no-pager", *options, f"--git-dir={git_dir}", *arguments],
                with_extended_output=True,
                stdout_as_string=False,
                strip_newline_in_stdout=False,
                with_exceptions=False,
                kill_after_timeout=TIME_LIMIT,
            )
        except (GitCommandError, OSError) as error:
            raise GitError(
                f"git {arguments[0]} could not start: {error}", remedy="check that git is installed"
            ) from error
    finally:
        os.environ.clear()
        os.environ.update(before)
    status, output, message = found
    raw = output if isinstance(output, bytes) else str(output).encode("utf-8", "surrogateescape")
    if status or message:
        raise _failed(arguments[0], (int(status), raw, str(message).encode("utf-8", "replace")))
    return raw


def _failed(what: str, result: tuple[int, bytes, bytes]) -> GitError:
    status, _, stderr = result
    lines = stderr.decode("utf-8", "backslashreplace").strip().splitlines() or ["no message"]
    text = "".join(char if char.isprintable() else repr(char)[1:-1] for char in lines[0][:300])
    missing = status == 127
    return GitError(
        f"git {what} said: {text}" if not status else f"git {what} failed ({status}): {text}",
        remedy="check that git is installed and in PATH" if missing else "see what git fsck says",
    )


# --- finding --------------------------------------------------------------------------------------


def _upward(folder: str) -> Iterator[str]:
    while True:
        yield folder
        above = os.path.dirname(folder)
        if above == folder:
            return
        folder = above


def _is_git_dir(path: str) -> bool:
    """Git's own test: HEAD, an object store and references, the latter two perhaps elsewhere."""
    if not os.path.lexists(os.path.join(path, "HEAD")):
        return False
    common = _common_dir(path)
    return os.path.isdir(os.path.join(common, "objects")) and os.path.isdir(
        os.path.join(common, "refs")
    )


def _common_dir(git_dir: str) -> str:
    text = read_regular(os.path.join(git_dir, "commondir"))
    if text is None:
        return git_dir
    return os.path.realpath(os.path.join(git_dir, os.fsdecode(text.rstrip(b"\r\n"))))


def _linked_git_dir(entry: str) -> str | None:
    text = read_regular(entry)
    if text is None or not text.startswith(b"gitdir: "):
        return None
    target = os.path.join(os.path.dirname(entry), os.fsdecode(text[8:].rstrip(b"\r\n")))
    return os.path.realpath(target) if _is_git_dir(target) else None


def _repo(top: str, git_dir: str) -> Repo:
    return Repo(top, git_dir, os.path.realpath(_common_dir(git_dir)))


def submodule_repo(folder: str) -> Repo | None:
    """The repository whose working tree ``folder`` itself is; None where it is none."""
    entry = os.path.join(folder, ".git")
    if os.path.isdir(entry) and not os.path.islink(entry):
        return _repo(folder, os.path.realpath(entry)) if _is_git_dir(entry) else None
    if os.path.isfile(entry):
        target = _linked_git_dir(entry)
        return _repo(folder, target) if target is not None else None
    return None


def _foreign(repo: Repo) -> str | None:
    me = {os.geteuid()}
    if me == {0} and os.environ.get("SUDO_UID", "").isdigit():
        me.add(int(os.environ["SUDO_UID"]))
    for path in (repo.top, os.path.join(repo.top, ".git"), repo.git_dir, repo.common_dir):
        try:
            owner = os.lstat(path or repo.top).st_uid
        except OSError as error:
            return f"{path} cannot be looked at: {error.strerror}"
        if owner not in me and not _called_safe(repo.top):
            return (
                f"{path} belongs to another user (uid {owner}); git refuses it too, until you say: "
                f"git config --global --add safe.directory {repo.top}"
            )
    return None


def _called_safe(top: str) -> bool:
    """Whether the user's own or the system's configuration names ``top`` in ``safe.directory``."""
    result = _run(
        (f"--git-dir={_NOWHERE}", "config", "-z", "--get-all", "safe.directory"),
        "/",
        None,
        config=False,
    )
    safe = False
    for value in result[1].split(b"\0")[:-1]:
        name = os.fsdecode(value)
        if not name:
            safe = False  # an empty value clears the list, as in git
        else:
            safe = safe or _names(name, top)
    return safe


def _names(pattern: str, top: str) -> bool:
    """Whether one value of ``safe.directory`` stands for ``top``."""
    if pattern.endswith("/*"):
        return top.startswith(os.path.realpath(pattern[:-2]) + "/")
    return pattern == "*" or os.path.realpath(os.path.expanduser(pattern)) == top


# --- references -----------------------------------------------------------------------------------


def _head(repo: Repo) -> str | None:
    """HEAD's text: ``ref: NAME`` or an id; None where only git can tell."""
    path = os.path.join(repo.git_dir or "", "HEAD")
    if os.path.islink(path) or _has_reftable(repo):
        return None
    text = (read_regular(path) or b"").decode("utf-8", "surrogateescape").strip()
    if text.startswith("ref:"):
        return f"ref: {text[4:].strip()}"
    return text if is_id(text) else None


def _has_reftable(repo: Repo) -> bool:
    return os.path.isdir(os.path.join(repo.common_dir or "", "reftable"))


def _safe_ref(name: str) -> bool:
    return name.startswith("refs/") and "\0" not in name and ".." not in name


def packed_refs(common_dir: str) -> bytes:
    """The packed references, one ``ID NAME`` a line; empty where there are none."""
    return read_regular(os.path.join(common_dir, "packed-refs")) or b""


def _packed(common_dir: str, name: str) -> str | None:
    for line in packed_refs(common_dir).splitlines():
        value, _, found = line.partition(b" ")
        if found == os.fsencode(name):
            text = value.decode("ascii", "replace")
            return text if is_id(text) else None
    return None


def read_regular(path: str | bytes, *, limit: int = _READ_LIMIT) -> bytes | None:
    """At most ``limit`` bytes of a regular file, symlinks followed; None where there is none.

    A FIFO is not waited for. Raises :class:`GitError` for a file that is there and cannot be read.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                return None
            chunks = []
            while limit > 0 and (chunk := os.read(fd, min(limit, 1 << 20))):
                chunks.append(chunk)
                limit -= len(chunk)
            return b"".join(chunks)
        finally:
            os.close(fd)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise GitError(
            f"it cannot be read: {error.strerror}", file=os.fsdecode(path), remedy="check its mode"
        ) from error
