"""The event lines of a run (SPEC 1, ``events.jsonl``).

One JSON object a line: ``at``, ``seq``, ``type``, ``goal_id``, the type's own fields, and last
``prev`` and ``hash``, which chain the lines as those of the ledger are
(:mod:`flow.core.chain.entries`). A line is appended with one write under the run's lock. ``seq``
counts on from the last whole line, read backwards from the end, so that the cost does not grow with
the file; the order of events is that of ``seq``, never of a clock. A line that a crash tore is
reported and skipped; the next append starts a new one (HAZARD A9). A full file is continued in a
new one (:mod:`flow.adapters.chain.event_files`).
"""

from __future__ import annotations

import os

from flow.adapters.chain import event_files
from flow.adapters.fs import files, lenient_json, locks
from flow.adapters.fs.backwards import lines_with
from flow.adapters.fs.folders import reported
from flow.core import layout
from flow.core.chain.entries import ARCHIVED, events_genesis
from flow.core.goal.model import canonical_digest
from flow.errors import ContractError, in_file
from flow.startup import json
from flow.startup.contexts import closing
from flow.startup.functools import partial
from flow.startup.sha import is_digest, sha256
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping

    Event = Mapping[str, Any]

KEY = "key"
"""Field by whose value an append happens only once."""

READ_LIMIT = event_files.FULL * 5 // 4
"""Most bytes that :func:`read` takes of the end of a file: one grows on while it cannot be given a
number, and an older Flow let it grow without a limit.
"""
MOST_FILES = 16
"""Most files of a run's events that :func:`read` takes, the newest: about 150,000 events."""

LINE_LIMIT = 4 << 20
"""Bytes: no event is longer; a file with a longer line is refused, not searched for its start."""

_NEWEST_LIMIT = 16
_newest: dict[tuple[str, str], tuple[tuple[int, ...], tuple[Event, bytes]]] = {}
"""(root, run) → the stamp of the run's events when this process last read or wrote the newest one,
and that event with its line. Appending changes the stamp. If others alter the newest line without
changing it, they break the chain: the next event follows the line that was there.
"""

_TYPE = b'"type":"'
_EVALUATIONS = (b'"type":"stop"', b'"type":"evaluated"')
_WARNINGS_LIMIT = 20


def append(
    root: str,
    run_id: str,
    goal_id: str,
    type: str,
    fields: Mapping[str, Any],
    *,
    at: str,
    key: str | None = None,
    once: bool = False,
    sync: bool = True,
) -> int:
    """Append one event and return its ``seq`` (1 for a run's first).

    ``at``, ``seq``, ``type``, ``goal_id``, ``prev`` and ``hash`` are never taken from ``fields``.
    With ``once``, an event that has this ``key`` already is left alone and its ``seq`` returned.
    Without ``sync`` the line reaches the disk with a later one.
    """
    rel = layout.events_file(run_id)
    with locks.exclusive(root, layout.run_lock(run_id), quick=True):
        if once and key is not None:
            earlier = newest(root, run_id, KEY, key, lambda event: event.get(KEY) == key)
            if earlier is not None:
                return _seq(earlier)
        before, line = _last(root, run_id)
        own: dict[str, Any] = {"at": at, "seq": _seq(before) + 1, "type": type}
        own["goal_id"] = goal_id
        if key is not None:
            own[KEY] = key
        event = {**own, **fields, **own}
        for name in ("prev", "hash"):  # they come at the end
            event.pop(name, None)
        event["prev"] = following(run_id, before, line)
        event["hash"] = canonical_digest(event)
        data = text(event)
        event_files.roll_over(root, rel, len(data) + 1)
        stamp = files.append_line(root, rel, data, sync=sync)
        _remember(root, run_id, stamp, event, data)
    return _seq(own)


def following(run_id: str, before: Event, line: bytes) -> str:
    """``prev`` of the event after ``before``, whose line is ``line``; empty for a run's first one.

    A line that an older version of Flow wrote has no ``hash``; the hash of its bytes replaces it.
    """
    digest = before.get("hash")
    if digest is None:
        return sha256(line).hexdigest() if line else events_genesis(run_id)
    return digest if is_digest(digest) else ""


def text(event: Event) -> bytes:
    """The line of an event, without the newline."""
    return json.dumps(event, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def read(
    root: str,
    run_id: str,
    goal_id: str | None = None,
    *,
    leave_out: str | None = None,
    turns: int | None = None,
) -> tuple[tuple[Event, ...], tuple[str, ...]]:
    """The run's events in order, only those of ``goal_id`` if it is given, and warnings.

    Events of the type ``leave_out`` are passed over unread; with ``turns`` those of evaluations,
    too, but for the newest so many turns of each file.
    """
    left_out = _needle("type", leave_out) if leave_out is not None else None
    goal = _needle("goal_id", goal_id) if goal_id is not None else b""
    unread = partial(_unread, left_out, turns, goal)
    newest_first: list[list[Event]] = []
    warnings: list[str] = []
    for rel, fd in event_files.opened(root, layout.events_file(run_id)):
        if len(newest_first) == MOST_FILES:
            told = f"{rel}: this and what came before it is left out; older events are in there"
            warnings.append(told)
            break
        with reported("read", rel):
            start = max(os.fstat(fd).st_size - READ_LIMIT - 1, 0)
            data = os.pread(fd, READ_LIMIT + 1, start)
        events = _events(rel, data, unread, warnings)
        newest_first.append([e for e in events if goal_id in (None, e.get("goal_id"))])
    return tuple(event for events in reversed(newest_first) for event in events), tuple(warnings)


def _events(
    rel: str, data: bytes, unread: Callable[[list[bytes]], Container[int]], warnings: list[str]
) -> Iterator[Event]:
    """The events in the end of a file, but those in the lines with the numbers ``unread``."""
    lines = data.split(b"\n")
    if len(data) > READ_LIMIT:  # the first of them began before
        del lines[0]
        warnings.append(f"{rel}: is larger than {READ_LIMIT} bytes; older events are left out")
        lines = lines or [b""]
    if lines.pop():
        warnings.append(f"{rel}: ends in half a line, which is skipped")
    passed_over = unread(lines)
    for number, line in enumerate(lines, 1):
        if number in passed_over:
            continue
        event = lenient_json.mapping(line)
        if event is not None:
            yield event
        elif len(warnings) < _WARNINGS_LIMIT:
            which = f"line {number}" if len(data) <= READ_LIMIT else "a line"
            warnings.append(f"{rel}: {which} is not an event and is skipped")


def _unread(left_out: bytes | None, turns: int | None, goal: bytes, lines: list[bytes]) -> set[int]:
    """The numbers, from 1, of the lines that hold ``left_out``, and of older evaluations.

    Those are the lines with ``goal`` of evaluations before the newest ``turns``; None: none are.
    """
    newest_turns: set[bytes] = set()
    unread = set()
    for number in range(len(lines), 0, -1):
        line = lines[number - 1]
        if left_out is not None and left_out in line:
            unread.add(number)
        # Flow writes an event's own type before any text of others.
        elif turns is not None and line.startswith(_EVALUATIONS, line.find(_TYPE)) and goal in line:
            if len(newest_turns) <= turns:
                newest_turns.add(line.partition(b'"turn":')[2].partition(b",")[0])
            if len(newest_turns) > turns:
                unread.add(number)
    return unread


def newest(
    root: str, run_id: str, field: str, value: str, accept: Callable[[Event], bool]
) -> Event | None:
    """The newest event with this text ``field`` that ``accept`` takes; None if there is none.

    Searched from the end, so that recent events are found at once.
    """
    for line in backwards(root, layout.events_file(run_id), _needle(field, value)):
        event = lenient_json.mapping(line)
        if event is not None and event.get(field) == value and accept(event):
            return event
    return None


def archived(root: str, run_id: str) -> Event | None:
    """The event that records the archive of a run's evidence; None if there is none."""
    return newest(root, run_id, "type", ARCHIVED, lambda _: True)


def of_type(root: str, run_id: str, type: str) -> list[Event]:
    """Every event of this type, oldest first."""
    lines = backwards(root, layout.events_file(run_id), _needle("type", type))
    events = [event for event in map(lenient_json.mapping, lines) if event is not None]
    return [event for event in reversed(events) if event.get("type") == type]


def events_after(root: str, run_id: str, seq: int) -> list[Event]:
    """The whole events whose ``seq`` is higher, oldest first; read from the end only."""
    events: list[Event] = []
    for line in backwards(root, layout.events_file(run_id), b""):
        event = lenient_json.mapping(line)
        if event is None:
            continue
        if _seq(event) <= seq:
            break
        events.append(event)
    events.reverse()
    return events


def last_seq(root: str, run_id: str) -> int:
    """The ``seq`` of the run's newest event; 0 if there is none."""
    return _seq(_last(root, run_id)[0])


def last_hash(root: str, run_id: str) -> tuple[int, str]:
    """(``seq``, ``hash``) of the run's newest event; (0, empty) if it has none."""
    event = _last(root, run_id)[0]
    digest = event.get("hash")
    return (_seq(event), str(digest)) if is_digest(digest) else (0, "")


def holds(root: str, run_id: str, seq: int, digest: str) -> bool:
    """Whether the event with this ``seq`` has this ``hash``. Searched from the end."""
    return newest(root, run_id, "hash", digest, lambda event: _seq(event) == seq) is not None


def _needle(field: str, value: str) -> bytes:
    """Bytes that the line of each event with this text field contains."""
    return json.dumps({field: value}, separators=(",", ":"))[1:-1].encode("ascii")


def _last(root: str, run_id: str) -> tuple[Event, bytes]:
    """The run's newest event and its line; empty if there is none."""
    rel = layout.events_file(run_id)
    stamp = files.stamp(root, rel)  # taken before the reading, so that a later write is noticed
    remembered_at, newest = _newest.get((root, run_id), (None, ({}, b"")))
    if remembered_at == stamp:
        return newest
    for line in backwards(root, rel, b'"seq":'):
        event = lenient_json.mapping(line)
        if event is not None:
            _remember(root, run_id, stamp, event, line)
            return event, line
    return {}, b""


def _remember(root: str, run_id: str, stamp: tuple[int, ...], event: Event, line: bytes) -> None:
    _newest.pop((root, run_id), None)
    if stamp:
        _newest[root, run_id] = stamp, (event, line)
    if len(_newest) > _NEWEST_LIMIT:
        del _newest[next(iter(_newest))]


def _seq(event: Event) -> int:
    seq = event.get("seq")
    return seq if isinstance(seq, int) and not isinstance(seq, bool) and seq > 0 else 0


def backwards(root: str, rel: str, needle: bytes) -> Iterator[bytes]:
    """Whole lines that hold ``needle``, the last one first.

    A torn tail is left out. For events, earlier files are included.
    """
    with closing(event_files.opened(root, rel)) as opened:
        for path, fd in opened:
            yield from _file_backwards(path, fd, needle)


def _file_backwards(rel: str, fd: int, needle: bytes) -> Iterator[bytes]:
    def too_long() -> ContractError:
        return in_file(rel).corrupt(
            f"holds a line of more than {LINE_LIMIT} bytes, which is no event",
            "look at it, then take that line out",
        )

    with reported("read", rel):
        yield from lines_with(fd, needle, longest=LINE_LIMIT, too_long=too_long)
