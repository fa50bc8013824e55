"""The entries of one execution in bounded memory.

A session can have any size. Each text is cut in its middle, and if there are too many entries,
those between the first and the last are dropped, except requests, failures and destructive calls.
"""

from __future__ import annotations

import json
from collections import deque

from flow.core.transcript.model import EntryKind, TranscriptEntry
from flow.startup.typing import Any

MOST_TEXT = 64 << 10
"""Characters of one text."""
MOST_FIRST = 2 << 20
MOST_LAST = 6 << 20
MOST_IMPORTANT = 2 << 20
"""Characters of the beginning, of the end, and of the important entries between them."""
MOST_OPEN = 10_000
"""Calls that wait for their result."""
_LEAST = 64
"""Size of an entry beside its text."""


def cut_middle(text: str, most: int = MOST_TEXT) -> str:
    """``text`` without its middle, if it is longer than ``most`` characters."""
    if len(text) <= most:
        return text
    mark = "\n(... {} characters left out here ...)\n"
    room = max(most - len(mark.format(len(text))), 0)
    tail = room // 3
    return text[: room - tail] + mark.format(len(text) - room) + text[len(text) - tail :]


def replace_unwritable(text: str) -> str:
    """``text`` with question marks in place of characters that UTF-8 cannot encode."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


class PendingEntry:
    """An entry that may still wait for its result."""

    __slots__ = ("call", "destructive", "failed", "kind", "result", "text", "tool")

    def __init__(
        self,
        kind: EntryKind,
        text: str,
        tool: str | None = None,
        *,
        call: str | None = None,
        failed: bool = False,
        destructive: bool = False,
        result: str | None = None,
    ) -> None:
        self.kind: EntryKind = kind
        self.text, self.tool, self.call = cut_middle(replace_unwritable(text)), tool, call
        self.failed, self.destructive = failed, destructive
        self.result = result

    @property
    def important(self) -> bool:
        """Whether it stays when other entries are dropped."""
        return self.failed or self.destructive or self.kind in ("prompt", "error")

    @property
    def size(self) -> int:
        """The entry's size in characters, plus a constant."""
        return _LEAST + len(self.text) + len(self.result or "")

    def snapshot(self) -> TranscriptEntry:
        """The entry as it is now."""
        return TranscriptEntry(
            self.kind, self.text, self.tool, self.result, self.failed, self.destructive
        )


class PendingEntries:
    """The entries of one execution, in order."""

    def __init__(self) -> None:
        self._first: list[PendingEntry] = []
        self._between: list[PendingEntry] = []
        self._last: deque[PendingEntry] = deque()
        self._first_size = self._between_size = self._last_size = 0
        self._open: dict[str, PendingEntry] = {}
        self.dropped = 0
        """Number of entries that were dropped."""
        self.of_agent = 0
        """Number of entries of the agent's own: texts, calls and errors."""

    def add(self, entry: PendingEntry) -> PendingEntry:
        """Add an entry at the end."""
        if entry.kind in ("text", "tool", "error"):
            self.of_agent += 1
        if entry.call is not None:
            self._open[entry.call] = entry
            while len(self._open) > MOST_OPEN:
                del self._open[next(iter(self._open))]
        if not self._last and self._first_size + entry.size <= MOST_FIRST:
            self._first.append(entry)
            self._first_size += entry.size
            return entry
        self._last.append(entry)
        self._last_size += entry.size
        self._shrink()
        return entry

    @property
    def waiting(self) -> bool:
        """Whether a call has no result."""
        return bool(self._open)

    def result(self, call: str, text: str, *, failed: bool) -> PendingEntry | None:
        """Add a call's result; None if the call is unknown, or has its result already."""
        entry = self._open.pop(call, None)
        if entry is None:
            return None
        before = entry.size
        entry.result = cut_middle(replace_unwritable(text))
        entry.failed = entry.failed or failed
        if self._last:  # the call is most likely among these: results mostly follow their call
            self._last_size += entry.size - before
        else:
            self._first_size += entry.size - before
        self._shrink()
        return entry

    def _shrink(self) -> None:
        while self._last_size > MOST_LAST and len(self._last) > 1:
            entry = self._last.popleft()
            self._last_size -= entry.size
            if entry.important and self._between_size + entry.size <= MOST_IMPORTANT:
                self._between.append(entry)
                self._between_size += entry.size
            else:
                self.dropped += 1

    def all(self) -> list[PendingEntry]:
        """The stored entries in order."""
        entries = [*self._first, *self._between, *self._last]
        if self.dropped:
            note = PendingEntry(
                "note", f"{self.dropped} entries of a very long session were not kept"
            )
            entries.insert(len(self._first), note)
        return entries


def shown_input(value: Any) -> str:
    """A call's input as text for people; a value that is no text is shown as JSON."""
    if isinstance(value, str):
        return value
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    lines = []
    for key, part in value.items():
        text = part if isinstance(part, str) else json.dumps(part, ensure_ascii=False)
        lines.append(text if key == "command" else f"{key}: {text}")
    return "\n".join(lines)
