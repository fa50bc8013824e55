"""One command under strace: which system calls it makes in its scene, and one of them broken."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from typing import TYPE_CHECKING, NamedTuple

from tests.faults.scenes import Ran, command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.faults.scenes import Scene

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

    ``first``: see :func:`tests.faults.scenes.command`.
    """
    ran, lines = _run(scene, command(argv, first), (*CHANGING, *OPENING, *READING), [])
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
    ran, lines = _run(scene, command(argv, first), (call.name,), ["-e", rule])
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
    scene: Scene, argv: Sequence[str], names: Sequence[str], more: Sequence[str]
) -> tuple[Ran, list[str]]:
    log = f"{scene.folder}.strace"
    words = ["strace", "-qq", "-y", "-s", "64", "-o", log, "-e", f"trace={','.join(names)}", *more]
    with subprocess.Popen(
        [*words, "--", *argv],
        cwd=scene.repo,
        env=scene.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            err += b"\nit hung"
    with open(log, encoding="utf-8", errors="replace") as file:
        lines = file.read().splitlines()
    texts = (text.decode("utf-8", "replace") for text in (out, err))
    return Ran(process.returncode, *texts), lines
