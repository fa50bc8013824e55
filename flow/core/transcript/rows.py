"""Collecting the entries of one execution in bounded memory.

A session can be of any size. Each text is cut in its middle, and where all of them are too many,
those between the first and the last go, except what was asked, what failed and what destroyed
something.
"""

from __future__ import annotations

from collections import deque

from flow.core.transcript.model import TranscriptEntry
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flow.core.transcript.model import EntryKind

MOST_TEXT = 64 << 10
"""Characters of one text."""
MOST_FIRST = 2 << 20
MOST_LAST = 6 << 20
MOST_IMPORTANT = 2 << 20
"""Characters that are kept of the beginning, of the end, and of what matters between them."""
MOST_OPEN = 10_000
"""Calls that wait for their result."""
_LEAST = 64
"""What an entry weighs besides its text."""


def cut_middle(text: str, most: int = MOST_TEXT) -> str:
    """``text`` with its middle left out, if it is longer than ``most`` characters."""
    if len(text) <= most:
        return text
    mark = f"\n(... {len(text) - most} characters left out here ...)\n"
    room = max(most - len(mark), 0)
    tail = room // 3
    return text[: room - tail] + mark + text[len(text) - tail :]


def replace_unwritable(text: str) -> str:
    """``text`` with what UTF-8 cannot write replaced by question marks."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


class PendingEntry:
    """One entry that may still be waiting for its result."""

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
        """Whether it stays when others go."""
        return self.failed or self.destructive or self.kind in ("prompt", "error")

    @property
    def size(self) -> int:
        """Characters, and a little for being there."""
        return _LEAST + len(self.text) + len(self.result or "")

    def entry(self) -> TranscriptEntry:
        """The row as it is now."""
        return TranscriptEntry(
            self.kind, self.text, self.tool, self.result, self.failed, self.destructive
        )


class Rows:
    """The rows of one execution, in order."""

    def __init__(self) -> None:
        self._first: list[PendingEntry] = []
        self._between: list[PendingEntry] = []
        self._last: deque[PendingEntry] = deque()
        self._sizes = [0, 0, 0]
        self._open: dict[str, PendingEntry] = {}
        self.dropped = 0
        """Entries that are gone."""
        self.spoken = 0
        """Texts, calls and errors: what the agent did."""

    def add(self, row: PendingEntry) -> PendingEntry:
        """Take a row in."""
        if row.kind in ("text", "tool", "error"):
            self.spoken += 1
        if row.call is not None:
            self._open[row.call] = row
            while len(self._open) > MOST_OPEN:
                del self._open[next(iter(self._open))]
        if not self._last and self._sizes[0] + row.size <= MOST_FIRST:
            self._first.append(row)
            self._sizes[0] += row.size
            return row
        self._last.append(row)
        self._sizes[2] += row.size
        self._shrink()
        return row

    @property
    def waiting(self) -> bool:
        """Whether a call has no result."""
        return bool(self._open)

    def result(self, call: str, text: str, *, failed: bool) -> PendingEntry | None:
        """What a call came to; None where the call is not here, or has its result already."""
        row = self._open.pop(call, None)
        if row is None:
            return None
        before = row.size
        row.result = cut_middle(replace_unwritable(text))
        row.failed = row.failed or failed
        place = 2 if self._last else 0  # results mostly follow their call
        self._sizes[place] += row.size - before
        self._shrink()
        return row

    def _shrink(self) -> None:
        while self._sizes[2] > MOST_LAST and len(self._last) > 1:
            row = self._last.popleft()
            self._sizes[2] -= row.size
            if row.important and self._sizes[1] + row.size <= MOST_IMPORTANT:
                self._between.append(row)
                self._sizes[1] += row.size
            else:
                self.dropped += 1

    def all(self) -> list[PendingEntry]:
        """What is kept, in order."""
        rows = [*self._first, *self._between, *self._last]
        if self.dropped:
            note = PendingEntry(
                "note", f"{self.dropped} entries of a very long session were not kept"
            )
            rows.insert(len(self._first), note)
        return rows


def shown_input(given: Any) -> str:
    """A call's input as text: what a person would read, not JSON, where it is one plain text."""
    import json

    if isinstance(given, str):
        return given
    if not isinstance(given, dict):
        return json.dumps(given, ensure_ascii=False)
    lines = []
    for key, value in given.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines.append(text if key == "command" else f"{key}: {text}")
    return "\n".join(lines)
