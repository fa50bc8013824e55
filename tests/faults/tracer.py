"""One command under strace: which system calls it makes in its scene, and one of them broken."""

from __future__ import annotations

import ctypes
import re
import signal
import socket
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from flow.startup import ctrl_c
from tests.faults.scenes import entry, forked
from tests.support.here import forget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.faults.scenes import Ran, Scene

CHANGING = (
    *("write", "pwrite64", "writev", "link", "linkat", "symlink", "symlinkat", "mkdir", "mkdirat"),
    *("rename", "renameat", "renameat2", "fsync", "fdatasync", "unlink", "unlinkat", "rmdir"),
    *("ftruncate", "truncate", "fchmod", "fchmodat", "chmod", "fchown", "flock"),
)
"""Calls that write, name, sync, remove or lock."""
OPENING = ("openat",)
READING = ("read", "pread64", "getdents64")
SIGNALS = ("KILL", "INT")
LIMIT = 300.0
"""Seconds; only ends a hang."""
PR_SET_PTRACER = 0x59616D61
"""From Linux's ``prctl.h``."""

_LINE = re.compile(r"(\w+)\(")
_ABSOLUTE = re.compile(r'AT_FDCWD<[^>]*>(?=, "/)')


class Call(NamedTuple):
    """The ``number``-th call of this name that the process makes, counted from 1."""

    name: str
    number: int
    text: str


class Broken(NamedTuple):
    """What a broken run came to. ``hit`` is the call that was broken; None where none was."""

    ran: Ran
    hit: str | None
    inside: bool
    """Whether that call was about a file of the scene, or a standard stream."""


def calls(scene: Scene, argv: Sequence[str], first: str = "") -> tuple[Ran, list[Call]]:
    """Run ``argv`` unharmed; every call that is about a file of the scene or a standard stream.

    ``first`` is code that runs before it.
    """
    ran, lines = _run(scene, argv, first, (*CHANGING, *OPENING, *READING), [])
    counts: dict[str, int] = {}
    found = []
    for line in lines:
        match = _LINE.match(line)
        if match is None:
            continue
        name = match.group(1)
        counts[name] = counts.get(name, 0) + 1
        if _about(line, scene):
            found.append(Call(name, counts[name], line))
    return ran, found


def broken(scene: Scene, argv: Sequence[str], call: Call, fault: str, first: str = "") -> Broken:
    """Run ``argv`` with one call broken; ``fault`` is the name of a signal, or of an error."""
    what = f"{'signal' if fault in SIGNALS else 'error'}={fault}"
    rule = f"inject={call.name}:{what}:when={call.number}"
    ran, lines = _run(scene, argv, first, (call.name,), ["-e", rule])
    if fault == "KILL":
        made = [line for line in lines if not line.startswith("+++")]
        hit = made[-1] if ran.status == -signal.SIGKILL and made else None
    elif fault in SIGNALS:
        at = next((n for n, line in enumerate(lines) if line.startswith(f"--- SIG{fault} ")), 0)
        hit = lines[at - 1] if at else None
    else:
        hit = next((line for line in lines if "(INJECTED)" in line), None)
    return Broken(ran, hit, hit is not None and _about(hit, scene))


def _about(line: str, scene: Scene) -> bool:
    if line.startswith(("write(1<", "write(2<")):
        return True
    line = _ABSOLUTE.sub("", line)  # the folder of a call that names an absolute path
    return scene.folder + "/" in line or f"<{scene.folder}>" in line


def _run(
    scene: Scene, argv: Sequence[str], first: str, names: Sequence[str], more: Sequence[str]
) -> tuple[Ran, list[str]]:
    """What a forked child came to that waited for strace to follow it, and what strace saw.

    A start of Python, and the imports, would cost many times what is traced.
    """
    log = f"{scene.folder}.strace"
    words = ["strace", "-y", "-s", "64", "-o", log, "-e", f"trace={','.join(names)}", *more]
    here, there = socket.socketpair()
    tracers = []

    def follow(child: int) -> None:
        here.recv(1)
        strace = subprocess.Popen([*words, "-p", str(child)], stderr=subprocess.PIPE)
        tracers.append(strace)
        assert strace.stderr is not None
        told = strace.stderr.readline()
        if not told.endswith(b"attached\n"):
            raise AssertionError(f"strace cannot follow: {told + strace.communicate()[1]!r}")
        here.send(b"go")

    with here, there:
        work = partial(_traced, argv, first, here, there)
        ran = forked(work, cwd=scene.repo, env=scene.env, timeout=LIMIT, begun=follow)
    tracers[0].communicate()
    with open(log, encoding="utf-8", errors="replace") as file:
        lines = file.read().splitlines()
    return ran, lines


def _traced(argv: Sequence[str], first: str, theirs: socket.socket, own: socket.socket) -> int:
    """What the child does: it knows nothing but Flow's modules, and has its signals as a start."""
    theirs.close()
    with own:
        # Linux may allow a process's parents alone to follow it.
        ctypes.CDLL(None).prctl(PR_SET_PTRACER, ctypes.c_ulong(-1))
        own.send(b"r")
        if not own.recv(2):
            return 1
    forget()
    exec(first)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    ctrl_c.own()
    status = entry(argv)
    sys.stdout.flush()
    return status
