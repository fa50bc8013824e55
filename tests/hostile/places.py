"""Every path that Flow reads or writes, and every odd thing that can stand there.

Paths are relative to the scene's parent folder.
"""

from __future__ import annotations

import os
import shutil
import socket
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.hostile.scene import (
    EVIDENCE,
    GOAL,
    GOAL_FILE,
    JOURNAL,
    MEASURING,
    OUTPUT,
    OWN_SETTINGS,
    PENDING,
    RUN,
    RUN_DIR,
    SIDECAR,
    STATE,
    TRUST,
    _remove,
)
from tests.support.effort import sizes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tests.hostile.scene import Scene

FILES = {
    "goal": f"repo/{GOAL_FILE}",
    "rubric": "repo/.flow/rubrics/house.yaml",
    "sidecar": f"repo/{SIDECAR}",
    "output": f"repo/{OUTPUT}",
    "new sidecar": f"repo/{EVIDENCE}/by-hand.evidence.yaml",
    "new output": f"repo/{EVIDENCE}/by-hand.txt",
    "events": f"repo/{RUN_DIR}/events.jsonl",
    "baseline": f"repo/{RUN_DIR}/baseline.json",
    "proposal": f"repo/{RUN_DIR}/proposal.json",
    "verdict": f"repo/{RUN_DIR}/last-verdict.json",
    "measuring": f"repo/{MEASURING}",
    "pending": f"repo/{PENDING}",
    "goal lock": f"repo/.flow/runs/.locks/goal-{GOAL}.lock",
    "evaluation lock": f"repo/.flow/runs/.locks/evaluate-{GOAL}.lock",
    "run lock": f"repo/.flow/runs/.locks/run-{RUN}.lock",
    "journal lock": f"repo/.flow/runs/.locks/journal-{os.path.basename(JOURNAL)}.lock",
    "journal": f"repo/{JOURNAL}",
    "settings": "repo/.claude/settings.flow.json",
    "local settings": "repo/.claude/settings.flow.local.json",
    "own settings": OWN_SETTINGS,
    "host settings": "repo/.claude/settings.json",
    "trust": TRUST,
    "trust lock": f"{STATE}/goal-trust.lock",
    "error log": f"{STATE}/error.log",
    "ignore file": "repo/.gitignore",
    "attributes file": "repo/.gitattributes",
    "schema copy": "repo/.flow/goal.schema.json",
}
FOLDERS = {
    ".flow": "repo/.flow",
    "goals": "repo/.flow/goals",
    "rubrics": "repo/.flow/rubrics",
    "runs": "repo/.flow/runs",
    "run": f"repo/{RUN_DIR}",
    "evidence": f"repo/{EVIDENCE}",
    "locks": "repo/.flow/runs/.locks",
    "pending folder": "repo/.flow/runs/.pending",
    "work": "repo/.flow/runs/.work",
    "journal folder": "repo/.decisions",
    "host folder": "repo/.claude",
    "state": STATE,
    "cache": f"{STATE}/cache",
    "goal cache": f"{STATE}/cache/parsed",
    "worktree cache": f"{STATE}/cache/worktree",
}
PLACES = {**FILES, **FOLDERS}


def _link_to_file(path: str, scene: Scene) -> None:
    os.symlink(scene.canary, path)


def _link_to_folder(path: str, scene: Scene) -> None:
    os.symlink(f"{scene.parent}/outside/folder", path)


def _link_to_copy(path: str, scene: Scene) -> None:
    """A link to what stood there, moved outside: whoever follows it sees nothing odd."""
    moved = f"{scene.parent}/outside/moved"
    if os.path.lexists(f"{path}.moved"):
        os.rename(f"{path}.moved", moved)
    os.symlink(moved, path)


def _dangling(path: str, scene: Scene) -> None:
    os.symlink(f"{scene.parent}/outside/not-there", path)


def _loop(path: str, _scene: Scene) -> None:
    os.symlink(path, path)


def _fifo(path: str, _scene: Scene) -> None:
    os.mkfifo(path)


def _socket(path: str, _scene: Scene) -> None:
    where, name = os.path.split(path)
    here = os.getcwd()
    os.chdir(where)  # a socket's name has at most 107 bytes
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(name)
    finally:
        os.chdir(here)


def _zero(path: str, _scene: Scene) -> None:
    os.symlink("/dev/zero", path)


def _device(path: str, _scene: Scene) -> None:
    os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 5))


def _folder(path: str, _scene: Scene) -> None:
    os.mkdir(path)


def _file(path: str, _scene: Scene) -> None:
    with open(path, "w") as file:
        file.write("in place of a folder\n")


def _hard_link(path: str, scene: Scene) -> None:
    os.link(scene.canary, path)


REPLACED: dict[str, Callable[[str, Scene], None]] = {
    "link to a file": _link_to_file,
    "link to a folder": _link_to_folder,
    "link to a copy": _link_to_copy,
    "dangling link": _dangling,
    "loop": _loop,
    "fifo": _fifo,
    "socket": _socket,
    "link to /dev/zero": _zero,
    "device": _device,
    "folder": _folder,
    "file": _file,
    "hard link": _hard_link,
}
"""What may stand there instead."""


def _other_owner(path: str) -> None:
    os.chown(path, 65534, 65534)


CHANGED: dict[str, Callable[[str], None]] = {
    "other owner": _other_owner,
    "mode 000": lambda path: os.chmod(path, 0),
    "mode 777": lambda path: os.chmod(path, 0o777),
    "setuid": lambda path: os.chmod(path, 0o4755),
}
"""What may have been done to what stands there."""

KINDS = (*REPLACED, *CHANGED)


ABSENT = {"new sidecar", "new output", "pending", "error log"}
"""Where nothing stands in the scene."""


def pairs(kinds: Iterable[str]) -> list[tuple[str, str]]:
    """(place, kind) wherever that makes sense.

    In the short form a sixth of them: of each place two or three kinds, of each kind 7 places.
    """
    chosen = set(kinds)
    return [
        (place, kind)
        for at, place in enumerate(PLACES)
        for number, kind in enumerate(KINDS)
        if kind in chosen and sensible(place, kind) and (at + number) % sizes(short=6, long=1) == 0
    ]


def sensible(place: str, kind: str) -> bool:
    """Whether that can stand there, and would be odd."""
    if place in FOLDERS:
        return kind not in ("folder", "hard link")
    if place in ABSENT and (kind == "link to a copy" or (kind in CHANGED and place != "error log")):
        return False
    return kind != "file"


def apply(scene: Scene, place: str, kind: str) -> bool:
    """Put ``kind`` at ``place``; False where that cannot be done here."""
    path = f"{scene.parent}/{PLACES[place]}"
    if kind in CHANGED:
        if not os.path.lexists(path):
            if place in FOLDERS or place.endswith(("lock", "log")):
                os.makedirs(path) if place in FOLDERS else _touch(path)
            else:
                return False
        if kind == "other owner" and os.geteuid() != 0:
            return False
        try:
            CHANGED[kind](path)
        except OSError:
            if kind != "other owner":
                raise
            return False  # no such owner in this container
        return True
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if kind == "link to a copy":
        if not os.path.lexists(path):
            return False
        os.rename(path, f"{path}.moved")
    else:
        _remove(path)
    try:
        REPLACED[kind](path, scene)
    except PermissionError:
        if kind != "device":
            raise
        return False  # no mknod in this container
    return True


def _touch(path: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w"):
        pass


@contextmanager
def as_a_user() -> Iterator[None]:
    """Let modes and owners count for root too, by giving up the capabilities that pass them by."""
    if os.geteuid() != 0:
        yield
        return
    from ctypes import CDLL, Structure, byref, c_int, c_uint32, get_errno

    class Header(Structure):
        _fields_ = (("version", c_uint32), ("pid", c_int))

    class Data(Structure):
        _fields_ = (("effective", c_uint32), ("permitted", c_uint32), ("inheritable", c_uint32))

    libc, header, sets = CDLL(None, use_errno=True), Header(0x20080522, 0), (Data * 2)()
    if libc.capget(byref(header), sets):
        raise OSError(get_errno(), "capget")
    before = sets[0].effective
    sets[0].effective = before & ~0b1111  # CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER
    if libc.capset(byref(header), sets):
        raise OSError(get_errno(), "capset")
    try:
        yield
    finally:
        sets[0].effective = before
        if libc.capset(byref(header), sets):
            raise OSError(get_errno(), "capset")


def clear(path: str) -> None:
    """Remove whatever is there."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)
