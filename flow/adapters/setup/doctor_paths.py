"""Wrong entries at the paths that Flow reads and writes: links, pipes, other owners.

The commands refuse such a path by name when they meet it; here all of them are named at once.
Nothing is opened, and no link is followed.
"""

from __future__ import annotations

import os
import stat

from flow.adapters.fs import files
from flow.adapters.setup.doctor_report import folder_names
from flow.core import layout
from flow.core.text import display
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flow.adapters.setup.doctor_report import DoctorReport

MOST_NAMED = 12
"""Most paths that one finding names."""

_FOLDERS = (".flow", layout.GOALS, layout.RUBRICS, layout.RUNS)
_RUN_FOLDERS = (layout.LOCKS, layout.PENDING, layout.WORK)
_CACHE = "cache"
_SINGLE = (
    ".gitignore",
    ".gitattributes",
    ".claude",
    ".claude/settings.json",
    ".claude/settings.flow.json",
    ".claude/settings.flow.local.json",
)
_FILE_ENDS = (".yaml", ".json", ".jsonl", ".txt", ".md", ".lock", ".log")
_APPENDED = (".jsonl", ".lock", ".log")
"""Endings of files that are written in place, so that a second hard link would change as well."""
_KINDS = (
    (stat.S_ISLNK, "is a symbolic link"),
    (stat.S_ISFIFO, "is a named pipe"),
    (stat.S_ISSOCK, "is a socket"),
    (stat.S_ISCHR, "is a device"),
    (stat.S_ISBLK, "is a device"),
)

_UNSAFE = (
    "Flow reads and writes only regular files in real folders, so it refuses this one",
    "look at it, then remove it",
)
_ADVICE = {
    "has a second name (a hard link)": (
        "writing to it would change another file, too, so Flow refuses to",
        "keep a copy, then remove it and move the copy there",
    ),
    "belongs to another user": ("that user can change it at any time", "chown it to yourself"),
    "may be written by every user of this machine": (
        "anybody could change what is on record",
        "chmod o-w it",
    ),
    "has the setuid or setgid bit": ("no file of Flow's is a program", "chmod ug-s it"),
    "cannot be read": ("what it says is unknown, so nothing can rest on it", "check its mode"),
    "cannot be written": ("nothing can be recorded there", "check its owner and mode"),
}


def examine(report: DoctorReport, top: str, journal_dir: str) -> None:
    """Name the faults below the checkout's own folders."""
    walked = _below(top, (".flow", journal_dir), single=_SINGLE)
    _report_problems(report, walked, _uid(top), in_state=False)


def examine_state(report: DoctorReport, folder: str) -> None:
    """Name the faults in the user's state folder, which exists."""
    single = tuple(name for name in folder_names(folder) if name != _CACHE)
    _report_problems(report, _below(folder, (_CACHE,), single=single), os.geteuid(), in_state=True)


def _report_problems(
    report: DoctorReport, walked: Iterator[tuple[str, str]], owner: int, *, in_state: bool
) -> None:
    by_problem: dict[str, list[str]] = {}
    for path, rel in walked:
        for problem in _problems(path, rel, owner, in_state):
            by_problem.setdefault(problem, []).append(path if in_state else rel)
    for problem, paths in by_problem.items():
        why, do = _ADVICE.get(problem, _UNSAFE)
        report.found(f"{display.names(paths, MOST_NAMED)}: {problem}", why, do)


def _problems(path: str, rel: str, owner: int, in_state: bool) -> Iterator[str]:
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return
    except OSError:
        yield "cannot be read"
        return
    mode = status.st_mode
    kind = next((text for test, text in _KINDS if test(mode)), None)
    wrong = kind or _misplaced(rel, stat.S_ISDIR(mode), in_state)
    if wrong is not None:
        yield wrong
        return
    if status.st_uid not in (owner, os.geteuid()):
        yield "belongs to another user"
    if mode & 0o002:
        yield "may be written by every user of this machine"
    if stat.S_ISREG(mode):
        if mode & (stat.S_ISUID | stat.S_ISGID):
            yield "has the setuid or setgid bit"
        if status.st_nlink > 1 and rel.endswith(_APPENDED):
            yield "has a second name (a hard link)"
    if not _may_access(path, os.R_OK | (os.X_OK if stat.S_ISDIR(mode) else 0)):
        yield "cannot be read"
    elif (stat.S_ISDIR(mode) or rel.endswith(_APPENDED)) and not _may_access(path, os.W_OK):
        yield "cannot be written"


def _misplaced(rel: str, is_folder: bool, in_state: bool) -> str | None:
    if is_folder:
        single = rel.rpartition("/")[2] in (".gitignore", ".gitattributes")
        return "is a folder, not a file" if single or rel.endswith(_FILE_ENDS) else None
    above, _, name = rel.rpartition("/")
    expected = (
        rel in (_CACHE, f"{_CACHE}/parsed", f"{_CACHE}/worktree")
        if in_state
        else rel in (*_FOLDERS, *_RUN_FOLDERS, ".claude")
        or (above == layout.RUNS and not name.startswith("."))
        or (name == "evidence" and above.startswith(f"{layout.RUNS}/"))
        or (above == "" and not name.startswith(".git"))
    )
    return "is not a folder" if expected else None


def _may_access(path: str, how: int) -> bool:
    effective = os.access in os.supports_effective_ids
    return os.access(path, how, effective_ids=effective)


def _below(
    top: str, folders: tuple[str, ...], single: tuple[str, ...]
) -> Iterator[tuple[str, str]]:
    """(absolute path, path below ``top``) of everything that is checked."""
    for rel in single:
        yield os.path.join(top, rel), rel
    queue, seen = list(dict.fromkeys(folders)), 0
    while queue and seen < files.LEFTOVERS_LIMIT:
        rel = queue.pop(0)
        path = os.path.join(top, rel)
        yield path, rel
        if os.path.islink(path) or not os.path.isdir(path):
            continue
        for name in folder_names(path):  # one that cannot be listed is named itself
            seen += 1
            below = f"{rel}/{name}"
            if os.path.isdir(f"{path}/{name}") and not os.path.islink(f"{path}/{name}"):
                queue.append(below)
            else:
                yield f"{path}/{name}", below


def _uid(path: str) -> int:
    try:
        return os.stat(path).st_uid
    except OSError:
        return os.geteuid()
