"""The files of a run's events: ``events.jsonl``, and those that were full before it.

Events are appended to ``events.jsonl``. If the next line would make it larger than :data:`FULL`, it
gets a number first: ``events.1.jsonl`` is the oldest, ``events.2.jsonl`` follows. ``seq`` and the
chain continue from one file to the next, so a file that is missing, foreign or in another place
shows as a break. A kill between the new name and the next line leaves no ``events.jsonl``: then the
run's newest event is in the file with the highest number.
"""

from __future__ import annotations

import os

from flow.adapters.fs import files
from flow.adapters.fs.folders import reported, scanned
from flow.core import layout
from flow.errors import FlowError
from flow.startup.contexts import suppress
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

FULL = 4 << 20
"""Bytes: most of a file of events, unless a single line is longer."""

_FIRST, _AT_MOST = (b'{"at":"', b'","seq":1,'), 40
"""Text before and after the time in the first line of a run's first file, and its latest place."""


def roll_over(root: str, rel: str, added: int) -> None:
    """Give the events at ``rel`` a number if ``added`` more bytes would make them too large.

    Callers hold the run's lock. If it cannot be renamed, the file grows on.
    """
    try:
        size = os.lstat(f"{root}/{rel}").st_size
    except OSError:
        return
    if 0 < size > FULL - added and files.read_end(root, rel, limit=1) == b"\n":
        with suppress(FlowError):
            number = max(_numbers(root, rel), default=0) + 1
            files.rename(root, rel, os.path.basename(layout.events_file_before(rel, number)))


def in_order(root: str, run_id: str) -> list[str]:
    """The paths of a run's events, the oldest first; ``events.jsonl`` is the last one."""
    rel = layout.events_file(run_id)
    return [*(layout.events_file_before(rel, number) for number in _numbers(root, rel)), rel]


def opened(root: str, rel: str) -> Generator[tuple[str, int]]:
    """The file at ``rel`` and, if it holds events, those before it: (path, descriptor).

    The newest first. Each is closed when the next one is asked for. One that is given a number
    meanwhile is not read twice.
    """
    fd = files.open_regular(root, rel)
    status = None
    if fd is not None:
        try:
            with reported("read", rel):
                status = os.fstat(fd)
                begins = rel.endswith(layout.EVENTS_SUFFIX) and begins_run(os.pread(fd, 80, 0))
            yield rel, fd
        finally:
            os.close(fd)
        if begins:
            return
    if rel.endswith(layout.EVENTS_SUFFIX):
        for path in reversed(_before(root, rel, status)):
            fd = files.open_regular(root, path)
            if fd is not None:
                try:
                    yield path, fd
                finally:
                    os.close(fd)


def begins_run(data: bytes) -> bool:
    """Whether a file that starts with these bytes has a run's first event."""
    before, behind = _FIRST
    end = data.find(b'"', len(before))
    return (
        data.startswith(before) and end <= len(before) + _AT_MOST and data.startswith(behind, end)
    )


def _before(root: str, rel: str, status: os.stat_result | None) -> list[str]:
    """The numbered files, the oldest first; if one of them is ``status``, only those before it."""
    paths: list[str] = []
    for number in _numbers(root, rel):
        path = layout.events_file_before(rel, number)
        with reported("read", path):
            if status is not None and os.path.samestat(os.lstat(f"{root}/{path}"), status):
                break
        paths.append(path)
    return paths


def _numbers(root: str, rel: str) -> list[int]:
    """The numbers of the files before ``rel``, in order."""
    with scanned(root, os.path.dirname(rel)) as entries:
        return sorted(filter(None, (layout.events_number(entry.name) for entry in entries)))
