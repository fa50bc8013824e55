"""Safe calls of git.

A checkout's configuration is hostile. So every call names the git directory and the working tree
that Flow's own search found, switches off everything that configuration could start (fsmonitor,
hooks, external diff, pager, transports), ignores the user's and the system's configuration, replace
refs and grafts, takes no optional locks, fetches nothing, and runs in an environment of its own
without any ``GIT_*`` variable. The calls that are made never compare with the working tree, so
neither filters nor textconv are used (``worktree/walk`` reads the working tree). Any text on
standard error is an error: if git is not sure about something, Flow does not know it either.
"""

from __future__ import annotations

import os

from flow.core.text.display import visible
from flow.errors import GitError, in_file
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from flow.adapters.git.find import Repo
    from flow.adapters.process.tool import ToolResult

TIME_LIMIT = 60.0
"""Seconds for one git call."""
OUTPUT_LIMIT = 256 << 20
"""Bytes of output of one git call."""
CHECKOUT_LIMIT = 600.0
"""Seconds for a call that writes a whole tree."""

_MISSING = ("lazy fetch", "unable to read sha1 file", "failed to unpack tree object")
"""Words of git on an object that is not there, as in a partial clone: Flow has it fetch none."""

_NOWHERE = os.path.join(os.devnull, "none")
_PASSED_ON = ("PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "DEVELOPER_DIR")
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
CONFIG = (
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

_refusals: dict[Repo, str | None] = {}
_checkouts: set[str] = set()
"""The top levels that git was used in."""


def git(
    repo: Repo,
    *args: str,
    stdin: bytes | None = None,
    ok: Collection[int] = (0,),
    limit: int = OUTPUT_LIMIT,
) -> bytes:
    """Output of ``git ARGS``.

    Raises :class:`GitError` for other states and any message. ``limit``: most bytes of output; more
    are an error.
    """
    git_dir = usable(repo)
    words = (f"--git-dir={git_dir}", f"--work-tree={repo.top}", *args)
    result = _run(words, repo.top, stdin, limit=limit)
    if result.status not in ok or result.stderr:
        raise failed(args[0], result.status, result.stderr)
    return result.stdout


def git_in(git_dir: str, work_tree: str, *args: str, stdin: bytes) -> bytes:
    """Output of git on a git directory of Flow's own making, of a command that may end with 1."""
    result = _run((f"--git-dir={git_dir}", f"--work-tree={work_tree}", *args), work_tree, stdin)
    if result.status not in (0, 1) or result.stderr:
        raise failed(args[0], result.status, result.stderr)
    return result.stdout


def git_own(git_dir: str, work_tree: str, *args: str, timeout: float) -> bytes:
    """Output of git on a git directory of Flow's own, whose files it may write.

    At most ``timeout`` seconds, and :data:`CHECKOUT_LIMIT`. A mere warning (on an unknown line of
    ``.gitattributes``) is no error here. If no time is left git is not started.
    """
    if timeout <= 0:
        raise GitError(
            f"git {args[0]} was not started: its time limit was reached",
            remedy="give it more time: --timeout SECONDS",
        )
    words = (f"--git-dir={git_dir}", f"--work-tree={work_tree}", *args)
    result = _run(words, work_tree, None, timeout=min(timeout, CHECKOUT_LIMIT))
    if result.status != 0:
        raise failed(args[0], result.status, result.stderr)
    return result.stdout


def user_config(repo: Repo, *args: str) -> bytes:
    """Output of ``git config ARGS`` with the user's own files in force; b"" if nothing is set.

    Reading configuration starts nothing, so this is the one call that takes the user's settings as
    they are.
    """
    git_dir = usable(repo)
    result = _run((f"--git-dir={git_dir}", "config", *args), repo.top, None, config=False)
    if result.status not in (0, 1) or result.stderr:
        raise failed("config", result.status, result.stderr)
    return result.stdout


def usable(repo: Repo) -> str:
    """The git directory. Raises :class:`GitError` with the reason if it must not be used."""
    problem = refusal(repo)
    if problem is not None or repo.git_dir is None:
        raise in_file(repo.top).git(
            problem or "there is no git repository here",
            "make git work here; git status says what it needs",
            code="no_git",
        )
    return repo.git_dir


def refusal(repo: Repo) -> str | None:
    """Reason not to use git in this checkout; None if it can be used.

    Like git itself, Flow does not use a repository of another user, unless the user's own
    ``safe.directory`` names it: its owner could have put anything into its configuration.
    """
    if repo.problem is not None or repo.git_dir is None:
        return repo.problem or "there is no git repository here"
    _checkouts.add(repo.top)
    if repo not in _refusals:
        _refusals[repo] = _foreign(repo)
    return _refusals[repo]


def environment(*, config: bool = True) -> dict[str, str]:
    """The environment of a git call; with ``config`` False the user's own settings are read."""
    env = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    env.update(_SET)
    if not config:
        for name in ("GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL"):
            del env[name]
        if "XDG_CONFIG_HOME" in os.environ:
            env["XDG_CONFIG_HOME"] = os.environ["XDG_CONFIG_HOME"]
    # A `git` inside a checkout is the checkout's own, also if PATH leads to it.
    env["PATH"] = os.pathsep.join(
        folder
        for folder in env.get("PATH", os.defpath).split(os.pathsep)
        if os.path.isabs(folder) and not _in_a_checkout(os.path.realpath(folder))
    )
    return env


def _in_a_checkout(folder: str) -> bool:
    """Whether this real path is one of the checkouts or below one; the root does not count."""
    while folder not in _checkouts:
        folder = os.path.dirname(folder)
        if folder == os.sep:
            return False
    return True


def _run(
    args: tuple[str, ...],
    folder: str,
    stdin: bytes | None,
    *,
    config: bool = True,
    timeout: float = TIME_LIMIT,
    limit: int = OUTPUT_LIMIT,
) -> ToolResult:
    """Run git in ``folder``, an absolute path: git goes there, since a start elsewhere forks."""
    from flow.adapters.process.tool import run_tool

    options = [part for setting in CONFIG for part in ("-c", setting)] if config else []
    return run_tool(
        ("git", "-C", folder, "--no-pager", *options, *args),
        cwd=None,
        env=environment(config=config),
        stdin=stdin,
        timeout=timeout,
        limit=limit,
    )


START_GIT = (
    "check that git is installed and in PATH, and that neither processes nor open files "
    "are at their limit (ulimit -a)"
)
"""The remedy where git cannot be started."""


def failed(command: str, status: int, stderr: bytes) -> GitError:
    """The error for a call that went wrong."""
    lines = stderr.decode("utf-8", "backslashreplace").strip().splitlines() or ["no message"]
    text = visible(lines[0][:300])
    remedy = "see what git fsck says"
    if status == 127:
        remedy = START_GIT
    elif "No space left on device" in text or "Out of diskspace" in text:
        remedy = "free some disk space, then run it again"
    elif any(words in text for words in _MISSING):
        remedy = f"fetch the objects that are missing: git fetch --refetch --no-filter; or {remedy}"
    return GitError(
        f"git {command} said: {text}" if not status else f"git {command} failed ({status}): {text}",
        remedy=remedy,
    )


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
            from flow.core.text.shell_quote import shell_argument  # few meet another user's folder

            return (
                f"{path} belongs to another user (uid {owner}); git refuses it too, until you say: "
                f"git config --global --add safe.directory {shell_argument(repo.top)}"
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
    for value in result.stdout.split(b"\0")[:-1]:
        name = os.fsdecode(value)
        # An empty value clears the list, as in git.
        safe = bool(name) and (safe or _is_safe_directory(name, top))
    return safe


def _is_safe_directory(pattern: str, top: str) -> bool:
    """Whether one value of ``safe.directory`` means ``top``."""
    if pattern.endswith("/*"):
        return top.startswith(os.path.realpath(pattern[:-2]) + "/")
    return pattern == "*" or os.path.realpath(os.path.expanduser(pattern)) == top
