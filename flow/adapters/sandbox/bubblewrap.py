"""A command's sandbox, as arguments of ``bwrap`` (``evaluator.sandbox``, docs/sandbox-secrets.md).

The root read-only, a private ``/tmp``, ``/dev``, ``/proc`` and home folder, the checkout writable
as the goal's patterns allow, processes of its own, no network unless the goal asks for one. No path
from here leads to a command without its sandbox: if one cannot be set up there is a reason, and the
command does not run.
"""

from __future__ import annotations

import os
import pwd
import stat
import sys
from contextlib import suppress

from flow.adapters.process.environment import find_program, is_below
from flow.adapters.process.tool import run_tool
from flow.adapters.sandbox import home as sandbox_home
from flow.adapters.sandbox import paths as sandbox_paths
from flow.core.sandbox import Sandbox
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.app.checks import Check

OLDEST = (0, 8, 0)
"""The first version that can forbid further user namespaces and limit the size of a tmpfs."""
PRIVATE = ("/tmp", "/var/tmp", "/run")  # noqa: S108  # where they are mounted, nothing is written
"""Folders that are replaced by empty ones. Daemons listen in ``/run`` that act for any caller."""
_ROOT = {"/": "read", "/dev": "dev", "/proc": "proc"}
"""real path → the kind of its mount, in every sandbox."""
TMP_BYTES = 1 << 30
"""Bytes of each private folder."""
PROCESSES = 4096
"""Processes and threads at once in one sandbox, if the system can count them."""
START = 'ulimit -u "$1" 2>/dev/null; shift; exec -a bash "$0" "$@" {fd}>&-'
"""First commands of bash in a sandbox: it sets the limit, closes the descriptor for bwrap's status
(bwrap lets it through) and becomes the same shell that runs without a sandbox.
"""

_COUNTS_IN_NAMESPACE = (5, 14)
"""From this Linux version on the processes of a user namespace have a count of their own."""


class Confinement(NamedTuple):
    """One way to run commands. With ``refused`` they cannot be run at all."""

    argv: tuple[str, ...]
    """``bwrap`` with its mounts and namespaces."""
    shell: tuple[str, str]
    """The path of bash, and the most processes as text."""
    env: Mapping[str, str]
    record: Mapping[str, Any]
    """Fields for the evidence."""
    limitations: tuple[str, ...] = ()
    refused: str | None = None
    made: tuple[str, ...] = ()
    """Folders of the checkout that were made so that they could be opened."""

    def command(self, cwd: str, status: int, options: Sequence[str]) -> list[str]:
        """The arguments that run bash with ``options`` in ``cwd``; status goes to ``status``."""
        bash, processes = self.shell
        argv = [*self.argv, "--chdir", cwd, "--json-status-fd", str(status), "--", bash]
        argv += ["--noprofile", "--norc", "-c", START.format(fd=status), bash, processes]
        return [*argv, *options]

    def tidy(self, top: str) -> None:
        """Remove those of ``made`` that are still empty."""
        for rel in reversed(self.made):
            with suppress(OSError):  # not empty, or gone
                os.rmdir(os.path.join(top, rel))

    @staticmethod
    def refusal(printed: bytes | bytearray, status: bytes | bytearray) -> str:
        """Why bwrap did not start the command, from its output; empty if it did start it.

        ``status`` is the text of its status pipe, with an exit code only if the command ran.
        """
        if b'"exit-code"' in status:
            return ""
        return f"sandbox bwrap: {_last_line(printed) or 'it was ended'}"


def confine(
    top: str, sandbox: Sandbox, bash: str, env: Mapping[str, str], environ: Mapping[str, str]
) -> Confinement:
    """The way to run commands of the checkout ``top`` (a real path) in a sandbox.

    ``env`` is the commands' environment, ``environ`` the user's.
    """
    record: dict[str, Any] = {"kind": sandbox.kind, "network": sandbox.network}
    bwrap, version, why = find_bwrap(top, environ.get("PATH"))
    if bwrap is None:
        refused = f"sandbox {sandbox.kind}: {why}"
        return Confinement((), (bash, ""), env, {**record, "problem": why}, refused=refused)
    opened = sandbox_paths.opened(top, sandbox)
    mounts = _mounted_paths(top, environ)
    mounts[top] = "read"
    for rel in opened.writable:
        mounts[os.path.join(top, rel) if rel else top] = "write"
    for rel in (*opened.closed, *sandbox_paths.CLOSED):
        path = os.path.join(top, rel)
        if os.path.exists(path) and not os.path.islink(path):
            mounts[path] = "read"
    if sandbox.network:
        _show_resolver(mounts)
    _hide_covered(mounts, top, environ)
    counted = os.getuid() != 0 and _linux_version() >= _COUNTS_IN_NAMESPACE
    record.update(
        version=version,
        writable=[rel or "." for rel in opened.writable],
        read_only=list(opened.closed) or None,
        processes=PROCESSES if counted else None,
    )
    limitations = tuple(f"Read-only in the sandbox: {why}." for why in opened.left_out)
    return Confinement(
        (bwrap, *_namespaces(sandbox), *_arguments(mounts)),
        (bash, str(PROCESSES) if counted else "unlimited"),
        _with_private_tmp(env),
        {key: value for key, value in record.items() if value is not None},
        limitations,
        made=opened.made,
    )


def confine_all(
    top: str, checks: Sequence[Check], bash: str, env: Mapping[str, str], environ: Mapping[str, str]
) -> list[Confinement | None]:
    """The way to run each of ``checks``: None for those that ask for no sandbox."""
    by_sandbox: dict[Sandbox | None, Confinement | None] = {None: None}
    for wanted in (check.sandbox for check in checks):
        if wanted is not None and wanted not in by_sandbox:
            by_sandbox[wanted] = confine(top, wanted, bash, env, environ)
    return [by_sandbox[check.sandbox] for check in checks]


def find_bwrap(top: str | None, path: str | None) -> tuple[str | None, str, str]:
    """(bwrap's path or None, its version, why it cannot be used).

    It is never taken from the checkout ``top``.
    """
    if not sys.platform.startswith("linux"):
        return None, "", "it needs Linux"
    bwrap = find_program("bwrap", path, outside=top)
    if bwrap is None:
        return None, "", "the program bwrap was not found in PATH (install bubblewrap)"
    answer = run_tool((bwrap, "--version"), cwd="/", env={"LC_ALL": "C"}, timeout=10)
    version = answer.stdout.decode("utf-8", "replace").strip().removeprefix("bubblewrap ")[:20]
    numbers = tuple(int(part) for part in version.split(".") if part.isdigit())
    if answer.status != 0 or not numbers:
        return None, "", "bwrap --version fails"
    if numbers < OLDEST:
        return None, version, f"bubblewrap {version} is older than {'.'.join(map(str, OLDEST))}"
    return bwrap, version, ""


def try_sandbox(top: str | None, path: str | None) -> tuple[str, str | None]:
    """(bwrap's version, why a sandbox cannot be set up here or None), by setting one up."""
    bwrap, version, why = find_bwrap(top, path)
    if bwrap is None:
        return version, why
    argv = (bwrap, *_namespaces(Sandbox(False, (), ())), *_arguments(_ROOT), "true")
    answer = run_tool(argv, cwd="/", env={"LC_ALL": "C", "PATH": path or os.defpath}, timeout=10)
    if answer.status == 0:
        return version, None
    return version, _last_line(answer.stderr) or "it fails"


def _last_line(printed: bytes | bytearray) -> str:
    """The last line of bwrap's messages, which has its reason; empty if there is none."""
    *_, last = ("", *printed.decode("utf-8", "replace").strip().splitlines())
    return last.removeprefix("bwrap: ")


def _namespaces(sandbox: Sandbox) -> list[str]:
    argv = ["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts"]
    argv += ["--unshare-cgroup-try", "--disable-userns", "--new-session"]
    if os.getuid() == 0:
        argv += ["--cap-drop", "ALL"]
    return argv if sandbox.network else [*argv, "--unshare-net"]


def _mounted_paths(top: str, environ: Mapping[str, str]) -> dict[str, str]:
    """real path → the kind of its mount; the deeper one counts."""
    mounts = dict(_ROOT)
    for path in PRIVATE:
        real = os.path.realpath(path)
        if os.path.isdir(real):
            mounts[real] = "empty"
    for folder in _program_folders(environ, list(mounts)[1:]):
        mounts[folder] = "read"
    for home in _home_folders(environ):
        if not is_below(home, top):
            mounts[home] = "empty"
            mounts.update(sandbox_home.shown(home, environ))
    return mounts


def _home_folders(environ: Mapping[str, str]) -> list[str]:
    """HOME, and the account's own if that differs: both hold the user's files."""
    homes = [environ.get("HOME", "")]
    try:
        homes.append(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:  # an account without a name
        pass
    real = [os.path.realpath(home) for home in homes if home.startswith("/")]
    return [home for home in dict.fromkeys(real) if home != "/" and os.path.isdir(home)]


def _program_folders(environ: Mapping[str, str], hidden: Sequence[str]) -> list[str]:
    """The folders of PATH in places that are hidden, with the libraries beside a ``bin``."""
    folders = []
    for folder in environ.get("PATH", "").split(":"):
        real = os.path.realpath(folder) if folder.startswith("/") else "/"
        if any(is_below(real, place) for place in hidden) and os.path.isdir(real):
            above = os.path.dirname(real)
            beside = os.path.basename(real) in ("bin", "sbin") and above not in hidden
            folders.append(above if beside else real)
    return [folder for folder in folders if folder not in hidden]


def _hide_covered(mounts: dict[str, str], top: str, environ: Mapping[str, str]) -> None:
    """Hide secrets, sockets and the state folder wherever a shown folder would show them."""
    paths = [path for home in _home_folders(environ) for path in sandbox_home.secrets(home)]
    state = environ.get("FLOW_STATE_DIR", "")
    if state.startswith("/") and os.path.isdir(state):
        paths.append(os.path.realpath(state))
    paths += _sockets(environ)
    for path in paths:
        above = path
        while (above := os.path.dirname(above)) not in mounts:
            pass
        kind = mounts.get(path, mounts[above])
        if path != top and (kind == "read" or (kind == "write" and path not in mounts)):
            mounts[path] = "empty" if os.path.isdir(path) else "nothing"


def _sockets(environ: Mapping[str, str]) -> list[str]:
    """Sockets that the environment names (ssh-agent, D-Bus, docker), in any folder.

    A process that may connect can have others act outside of the sandbox; a read-only mount does
    not prevent it.
    """
    sockets = []
    for value in environ.values():
        for part in value.split(";") if len(value) < 1000 and "/" in value else ():
            path = part[part.find("/") :].split(",")[0]
            try:
                if stat.S_ISSOCK(os.stat(path).st_mode):
                    sockets.append(os.path.realpath(path))
            except (OSError, ValueError):
                continue
    return sockets


def _show_resolver(mounts: dict[str, str]) -> None:
    """Show the file of name resolution: often it is in ``/run``, which is hidden."""
    real = os.path.realpath("/etc/resolv.conf")
    if not is_below(real, "/etc") and os.path.isfile(real):
        mounts[real] = "read"


def _arguments(mounts: Mapping[str, str]) -> list[str]:
    argv: list[str] = []
    for path in sorted(mounts, key=lambda path: (path != "/", path.count("/"), path)):
        kind = mounts[path]
        if kind == "empty":
            argv += ["--size", str(TMP_BYTES), "--tmpfs", path]
        elif kind.startswith("link "):
            argv += ["--symlink", kind[5:], path]
        elif kind == "nothing":
            argv += ["--ro-bind", "/dev/null", path]
        elif kind in ("dev", "proc"):
            argv += [f"--{kind}", path]
        else:
            argv += ["--bind" if kind == "write" else "--ro-bind", path, path]
    return argv


def _with_private_tmp(env: Mapping[str, str]) -> Mapping[str, str]:
    return {**env, "TMPDIR": "/tmp"} if "TMPDIR" in env else env  # noqa: S108


def _linux_version() -> tuple[int, ...]:
    return tuple(
        int(part) for part in os.uname().release.split("-")[0].split(".") if part.isdigit()
    )
