"""Commands on a disk that has room for a few pages more, or a few files more, and then none.

``python -m tests.faults.full_disk --long`` tries every amount of room up to the one that suffices.
The disk is a small file system in memory, in a mount namespace of its own. Each trial asks what
:mod:`tests.faults.crash` asks, and whether the answer says what to do; then there is room again,
and the same command does its work.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from flow.adapters.fs import files
from flow.adapters.ledger import writer
from tests.faults import crash, tracer
from tests.faults.commands import BY_NAME, TRIALS
from tests.faults.scenes import entry, forked
from tests.faults.view import look

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.faults.commands import Trial

PAGE = 4096
ROOMY = "size=48m,nr_inodes=8000"
REMOUNT = 32
"""``MS_REMOUNT`` of Linux's ``mount.h``."""
UNABLE = 77
"""Exit status where this system lets nobody mount a file system."""
ALONE = ("unshare", "--user", "--map-root-user", "--mount")
"""Begins the command line of a process that may mount, for itself alone."""
SPARSE = (0, 1, 2, 4, 8, 16, 30, 60, 90)
"""The rooms of the short form."""
MOST = 400
REMEDY = "free some disk space"
"""A part of every answer to a full disk."""
ENOUGH = {"pages": writer.SPACE // PAGE, "files": files.FILES_NEEDED}
"""The room from which an evaluation begins."""


@contextmanager
def filled(folder: str, kind: str, room: int) -> Iterator[None]:
    """Leave room for ``room`` pages or files on the disk that is mounted at ``folder``."""
    disk = os.statvfs(folder)
    used = (disk.f_blocks - disk.f_bavail) * disk.f_frsize
    files_used = disk.f_files - disk.f_favail
    pages = kind == "pages"
    _resize(folder, f"size={used + room * PAGE}" if pages else f"nr_inodes={files_used + room}")
    disk = os.statvfs(folder)
    too_much = disk.f_bavail * disk.f_frsize - room * PAGE if pages else disk.f_favail - room
    if not 0 <= too_much < (disk.f_frsize if pages else 1):
        raise AssertionError(f"the disk has not room for {room} {kind}: {disk}")
    try:
        yield
    finally:
        _resize(folder, ROOMY)


def _resize(folder: str, options: str) -> None:
    """Make the disk at ``folder`` as large as ``options`` say, without a byte written to it."""
    mount = ctypes.CDLL(None, use_errno=True).mount
    if mount(b"none", folder.encode(), None, REMOUNT, options.encode()) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), folder)


def attempt(bench: crash.Bench, trial: Trial, kind: str, room: int) -> tuple[bool, crash.Outcome]:
    """Run a command with so much room; whether that was enough, and what is wrong."""
    scene = bench.scene(trial)
    words = bench.words(trial, scene)
    job = crash.Job(trial.name, tracer.Call(kind, room, ""), "FULL")
    with filled(os.path.dirname(bench.folder), kind, room):
        ran = forked(lambda: _unwarned(words), cwd=scene.repo, env=scene.env)
    sufficed = ran.status == trial.success
    if trial.hook:  # which always ends with 0
        sufficed = trial.done(look(scene)) > trial.done(bench.before[trial.name])
    found = tracer.Broken(ran, "a full disk", True)
    problems = crash._Questions(bench, trial, scene, job, found).ask()
    if not sufficed and ran.status not in (1, 4) and not _remedied(ran.stdout + ran.stderr):
        problems.append("it does not say what to do")
    return sufficed, crash.Outcome(job, True, tuple(problems), f"{ran}")


def _remedied(text: str) -> bool:
    """Whether an answer says what to do; of some failed writes git itself names no reason."""
    return any(part in text for part in (REMEDY, "make room", "unable to write file"))


def _unwarned(words: Sequence[str]) -> int:
    """As if the disk filled up once the evaluation had looked at it."""
    writer.SPACE = files.FILES_NEEDED = 0
    return entry(words)


def warned(bench: crash.Bench, trial: Trial, kind: str, room: int) -> crash.Outcome:
    """Run an evaluation with so much room; what is wrong where that is too little to begin."""
    scene = bench.scene(trial)
    before = look(scene)
    with filled(os.path.dirname(bench.folder), kind, room):
        ran = scene.call(bench.words(trial, scene))
    after, problems = look(scene), []
    began = after.evidence != before.evidence
    if began is not (room >= ENOUGH[kind]):
        problems.append("its commands ran" if began else "nothing ran")
    if not began and (REMEDY not in ran.stdout or after[:5] != before[:5]):
        problems.append("it does not say what to do, or wrote something")
    job = crash.Job(trial.name, tracer.Call(f"{kind} at the start", room, ""), "FULL")
    return crash.Outcome(job, True, tuple(problems), f"{ran}")


def all_outcomes(
    folder: str, names: list[str], kinds: list[str], long: bool
) -> list[crash.Outcome]:
    """Each command with more and more room, until it had enough of it; twice in the long form.

    In the short form every other of the rooms, in turn, up to the one that is enough for all.
    """
    outcomes = []
    bench = crash.Bench(tempfile.mkdtemp(dir=folder), traces=False)
    few = SPARSE[::2], (*SPARSE[1::2], SPARSE[-1])
    for number, name in enumerate(names):
        trial = BY_NAME[name]
        for place, kind in enumerate(kinds):
            if name.startswith(("evaluate", "hook-first")):
                rooms = (0, ENOUGH[kind] - 1, ENOUGH[kind] + 8)  # locks take some
                outcomes += [warned(bench, trial, kind, room) for room in rooms]
            enough = 0
            for room in range(MOST) if long else few[(number + place) % 2]:
                sufficed, outcome = attempt(bench, trial, kind, room)
                outcomes.append(outcome)
                enough = enough + 1 if sufficed else 0
                if enough == (2 if long else 1):
                    break
            else:
                outcomes.append(outcome._replace(problems=(*outcome.problems, "never enough")))
    return outcomes


def mounted(argv: list[str]) -> int:
    """Start again with a small disk of one's own at the end of the command line."""
    with tempfile.TemporaryDirectory(prefix="flow-full-") as folder:
        mount = f"mount -t tmpfs -o {ROOMY} none {folder} || exit {UNABLE}"
        words = [sys.executable, "-m", "tests.faults.full_disk", *argv, "--on", folder]
        allowed = subprocess.run([*ALONE, "sh", "-c", mount], check=False, capture_output=True)
        if allowed.returncode != 0:
            print(allowed.stderr.decode("utf-8", "replace"), file=sys.stderr)
            return UNABLE
        shell = ["sh", "-c", f'{mount}; exec "$@"', "sh", *words]
        return subprocess.run([*ALONE, *shell], check=False).returncode


def main(argv: list[str]) -> int:
    """The long form, or the short one."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.full_disk", description=__doc__)
    parser.add_argument("--long", action="store_true", help="every amount of room")
    parser.add_argument("--only", action="append", choices=sorted(BY_NAME), help="this command")
    parser.add_argument("--kind", action="append", choices=("pages", "files"))
    parser.add_argument("--on", metavar="DIR", help="a small disk that is there already")
    args = parser.parse_args(argv)
    if args.on is None:
        return mounted(argv)
    started = time.monotonic()
    names = args.only or [trial.name for trial in TRIALS if not trial.reader]
    outcomes = all_outcomes(args.on, names, args.kind or ["pages", "files"], args.long)
    return 1 if crash.report(outcomes, seed=0, seconds=time.monotonic() - started) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
