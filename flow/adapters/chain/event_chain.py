"""Check a run's events: the hash of every line covers its content and the line before."""

from __future__ import annotations

from flow.adapters.chain import event_files, event_log
from flow.adapters.chain.lines import lines
from flow.adapters.fs import lenient_json
from flow.core.chain.entries import ARCHIVED, events_genesis
from flow.core.goal.model import canonical_digest
from flow.startup.sha import is_digest, sha256
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flow.core.chain.entries import Head
    from flow.core.chain.walk import Kind, Line

    AddFinding = Callable[[Kind, str, str], None]


class EventsCheck(NamedTuple):
    """Facts that a run's events record about its other files."""

    baseline: tuple[str, ...]
    """The digest of ``baseline.json``; empty if no event names the one that counts."""
    newer: bool
    """Whether there are events after the pinned head."""
    archive: str | None = None
    """The digest of the archive of its evidence; None if no event names one."""


def check(root: str, run_id: str, pinned: Head | None, add: AddFinding) -> EventsCheck:
    """Add findings about a run's events; ``pinned`` is the head in the user's state folder."""
    paths = event_files.in_order(root, run_id)
    reader = _EventReader(run_id, paths[-1], pinned, add)
    for path in paths:
        reader.begin(path)
        for line in lines(root, path, event_log.LINE_LIMIT):
            reader.take(line)
        reader.end(earlier=path != paths[-1])
    reader.finish()
    return EventsCheck(reader.baseline, reader.newer, reader.archive)


class _EventReader:
    """The check of a run's events, line by line; ``rel`` is the file for findings about no line."""

    def __init__(self, run_id: str, rel: str, pinned: Head | None, add: AddFinding) -> None:
        self._rel, self._pinned, self._add = rel, pinned, add
        self._lines = 0
        """Number of lines of the present file so far."""
        self._seq, self._prev = 1, events_genesis(run_id)
        self._chained = False
        self._torn: int | None = None
        """A line that is no event, until the next one shows whether an event was lost there."""
        self._reached = pinned is None
        """Whether the pinned head was found."""
        self.baseline: tuple[str, ...] = ()
        self.archive: str | None = None
        self.newer = False

    def begin(self, rel: str) -> None:
        """Continue with the file at this path."""
        self._rel, self._lines = rel, 0

    def end(self, *, earlier: bool) -> None:
        """End the file. ``earlier``: a newer file follows it, so it must hold events."""
        if earlier and not self._lines:
            self._add_break("unaccounted", "holds no event; Flow leaves no such file")
        elif earlier and self._torn is not None:
            self._add_break("altered", f"line {self._torn} is no event, and the file ends there")

    def take(self, line: Line) -> None:
        """Compare one more line."""
        self._lines += 1
        event = lenient_json.mapping(line.text)
        if event is None or not line.ended:
            if self._torn is None:
                self._torn = line.number
            if not line.ended:
                self._add_break("cut", f"line {line.number} is half a line")
            return
        seq, digest = event.get("seq"), event.get("hash")
        if digest is None and not self._chained:
            self._unchained(line, seq)
            return
        self._chained = True
        self._link(line, event)
        self._seq, self._prev = (seq if isinstance(seq, int) else 0) + 1, str(digest)
        self._torn = None
        self.newer = self._pinned is None or (self._reached and (seq, digest) != self._pinned)
        if self._pinned is not None and (seq, digest) == self._pinned:
            self._reached = True
        if is_digest(event.get("baseline_sha256")):
            self.baseline = (event["baseline_sha256"],)
        if event.get("type") == ARCHIVED and is_digest(event.get("archive_sha256")):
            self.archive = event["archive_sha256"]

    def _link(self, line: Line, event: Mapping[str, Any]) -> None:
        seq = event.get("seq")
        bare = dict(event)
        digest = bare.pop("hash", None)
        if event_log.text(event) != line.text or not is_digest(digest):
            self._add_break("altered", f"line {line.number} is not written as Flow writes it")
        elif canonical_digest(bare) != digest:
            self._add_break("altered", f"line {line.number} (event {seq}) was altered")
        elif seq != self._seq and self._torn is not None:
            self._add_break("altered", f"line {self._torn} is no event, and one was there")
        elif not isinstance(seq, int) or seq != self._seq:
            kind: Kind = "reordered" if isinstance(seq, int) and seq < self._seq else "missing"
            text = f"line {line.number} is event {seq}, and event {self._seq} should be there"
            self._add_break(kind, text)
        elif self._prev and event.get("prev") != self._prev:
            text = f"event {seq} does not follow the one before it: one of them was replaced"
            self._add_break("restored", text)

    def _unchained(self, line: Line, seq: object) -> None:
        """A line of a version of Flow that did not chain events; the first chained one names it."""
        self._prev = sha256(line.text or b"").hexdigest()
        self._seq = (seq if isinstance(seq, int) else 0) + 1

    def finish(self) -> None:
        if self._torn is not None:
            self._add_break("altered", f"line {self._torn} is no event, and none follows it")
        if not self._reached and self._pinned is not None:
            text = (
                "was cut, or restored from an older copy: your own state folder knows event "
                f"{self._pinned.number}, which is not in it"
            )
            self._add_break("cut", text)

    def _add_break(self, kind: Kind, text: str) -> None:
        self._add(kind, self._rel, text)
        self._torn = None
        self._reached = True  # else the same break would be named twice
