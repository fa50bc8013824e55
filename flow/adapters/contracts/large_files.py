"""The size limit of a goal file (SPEC 1): Flow's own entries in it do not count.

So every file that people can write and Flow can read can also be evaluated, confirmed and cleared:
a result is never lost because its file is full. Sidecars repeat parts of a goal, so they may be
larger than it.
"""

from __future__ import annotations

from flow.adapters.contracts.strict_yaml import read_yaml, yaml_events
from flow.core import layout
from flow.core.drafting.completing import SCHEMA_LINE
from flow.core.goal.model import RESULT_FIELDS
from flow.errors import in_file
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from flow.adapters.contracts.strict_yaml import ParsedYaml

MOST_VALUES = layout.GOAL_TEXT_LIMIT // 2 + 8192
"""Values that 1 MiB can hold, and Flow's own: a larger file takes no longer to read."""

_LIFECYCLE = ("status", "turns_evaluated", "last_evaluation")
_SCOPE = ("run_id", "base_commit")


def read_large(kind: str, data: bytes, *, file: str, what: str) -> ParsedYaml:
    """Read a goal or a sidecar that is larger than people's own limit.

    Raises :class:`ContractError` for a goal that is too large even without Flow's entries.
    """
    limit = layout.GOAL_LIMIT if kind == "goal" else layout.SIDECAR_LIMIT
    reading = read_yaml(data, file=file, what=what, limit=limit, most_values=MOST_VALUES)
    if kind != "goal":
        return reading
    own = 0 if reading.faults else _OwnBytes(data.decode("utf-8"), file).total()
    size = len(data) - own
    if size > layout.GOAL_TEXT_LIMIT:
        besides = ", besides what Flow wrote there" if own else ""
        raise in_file(file).corrupt(
            f"not a {what}: it has {size} bytes{besides}, more than {layout.GOAL_TEXT_LIMIT}",
            "shorten its texts, or make two goals of it",
        )
    return reading


class _OwnBytes:
    """Adds up, in one pass, the bytes of Flow's own entries; the text passed the strict reader.

    Zero for a goal that Flow has not begun: then all of it is people's.
    """

    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._newline = 2 if "\r\n" in text[: text.find("\n") + 1] else 1
        self._next = yaml_events(text, file=file).__next__
        self._end = 0
        """End of the value that was read last, as an index into the text."""
        self._begun = False

    def total(self) -> int:
        """Bytes of the entries, each on a line of its own, or after a comma."""
        whole = len(SCHEMA_LINE) + 1 if self._text.startswith(SCHEMA_LINE) else 0
        results = 0
        self._next()
        self._next()
        for key, value in self._entries(self._next()):
            if key.value == "scope":
                whole += self._bytes(value, _SCOPE)
            elif key.value == "lifecycle":
                whole += self._bytes(value, _LIFECYCLE)
            elif key.value == "objective":
                results = self._results(value)
            else:
                self._pass_over(value)
        return min(whole, layout.LIFECYCLE_LIMIT) + results if self._begun else 0

    def _results(self, objective: Any) -> int:
        size = 0
        for key, value in self._entries(objective):
            if key.value != "acceptance_criteria" or _kind(value) != "SequenceStartEvent":
                self._pass_over(value)
                continue
            while _kind(row := self._next()) != "SequenceEndEvent":
                size += min(self._bytes(row, RESULT_FIELDS), layout.RESULTS_LIMIT)
        return size

    def _bytes(self, mapping: Any, names: Collection[str]) -> int:
        size = 0
        for key, value in self._entries(mapping):
            start = key.start_mark
            self._pass_over(value)
            self._begun |= names is _SCOPE and key.value == "run_id"
            if key.value in names:
                around = 2 if mapping.flow_style else start.column + self._newline
                size += around + len(self._text[start.index : self._end].rstrip().encode("utf-8"))
        return size

    def _entries(self, event: Any) -> Iterator[tuple[Any, Any]]:
        """The events of each key and of the start of its value, which the caller reads on."""
        if _kind(event) != "MappingStartEvent":
            self._pass_over(event)
            return
        while _kind(key := self._next()) != "MappingEndEvent":
            yield key, self._next()

    def _pass_over(self, event: Any) -> None:
        """Read to the end of a value."""
        depth = 0
        while True:
            kind = _kind(event)
            depth += kind.endswith("StartEvent")
            depth -= kind.endswith("EndEvent")
            if not kind.endswith("StartEvent") and event.end_mark.index > event.start_mark.index:
                self._end = event.end_mark.index  # the end of a value over several lines is empty
            if depth == 0:
                return
            event = self._next()


def _kind(event: Any) -> str:
    return type(event).__name__
