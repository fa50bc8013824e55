"""Large change sets, packed: a path with its states takes some 50 bytes instead of 500.

An evaluation holds two of them, and a checkout can have very many files that git does not track.
Packed changes are sorted by path, so two change sets can be compared side by side.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from itertools import chain, islice

from flow.core.boundary.changes import GITLINK, LINK, REGULAR, ContentState, PathChange
from flow.core.boundary.globs import path_bytes
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

_ROWS = 256
"""Rows of one block, which is unpacked as a whole."""
_MODES = ("", REGULAR, "100755", LINK, GITLINK)
_DIGITS = "0123456789abcdef"
_NUMBERS = {mode: number for number, mode in enumerate(_MODES) if mode}


class _PackedRows:
    """Rows of one block. Each row of a column is a byte for the mode (0: absent) and the digest."""

    __slots__ = ("columns", "count", "first", "paths")

    def __init__(self, paths: list[bytes], columns: list[list[bytes]]) -> None:
        self.first, self.count = paths[0], len(paths)
        self.paths = b"\0".join(paths)
        self.columns = tuple(
            b"".join(column) if any(map(any, column)) else b"" for column in columns
        )

    def rows(self, width: int) -> list[PathChange]:
        """The block's changes; ``width``: bytes of a digest."""
        names = self.paths.decode("utf-8", "surrogateescape").split("\0")
        states = [_unpacked(column, width, self.count) for column in self.columns]
        return [
            PathChange(path, base, head, index, worktree, None, "", False)
            for path, base, head, index, worktree in zip(names, *states, strict=True)
        ]


class PackedChanges:
    """The changes of a snapshot, sorted by the bytes of their paths."""

    def __init__(
        self, blocks: list[_PackedRows], others: Mapping[int, PathChange | None], width: int
    ) -> None:
        self._blocks, self._width = blocks, width
        self._others = others
        """By index, the changes that no block can hold; None: left out."""
        self._opened: tuple[int, Mapping[str, PathChange]] = -1, {}
        """The last unpacked block; access in path order unpacks each block once."""

    @classmethod
    def of(cls, changes: Iterable[PathChange], width: int) -> PackedChanges:
        """Pack changes sorted by the bytes of their paths; ``width``: bytes of a digest."""
        blocks: list[_PackedRows] = []
        others: dict[int, PathChange | None] = {}
        rows = iter(changes)
        while some := list(islice(rows, _ROWS)):
            paths: list[bytes] = []
            columns: list[list[bytes]] = [[], [], [], []]
            for change in some:
                states = _packed_states(change, width)
                if states is None:
                    others[len(blocks) * _ROWS + len(paths)] = change
                    states = [bytes(width + 1)] * 4
                paths.append(path_bytes(change.path))
                for column, state in zip(columns, states, strict=True):
                    column.append(state)
            blocks.append(_PackedRows(paths, columns))
        return cls(blocks, others, width)

    def __len__(self) -> int:
        left_out = sum(1 for change in self._others.values() if change is None)
        return sum(block.count for block in self._blocks) - left_out

    def __iter__(self) -> Iterator[PathChange]:
        for number in range(len(self._blocks)):
            yield from filter(None, self._rows(number))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PackedChanges | tuple) or len(self) != len(other):
            return False
        return all(one == two for one, two in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # compared by content, like a list

    def get(self, path: str) -> PathChange | None:
        """The change of a path, or None; fast if paths are requested in their order."""
        key = path_bytes(path)
        number = bisect_right(self._blocks, key, key=lambda block: block.first) - 1
        if number < 0:
            return None
        if self._opened[0] != number:
            rows = filter(None, self._rows(number))
            self._opened = number, {change.path: change for change in rows}
        return self._opened[1].get(path)

    def replaced(self, changes: Mapping[int, PathChange]) -> PackedChanges:
        """A copy with other changes at some places, by index."""
        places = self._places() if None in self._others.values() else range(len(self))
        return self._with({place: changes[at] for at, place in enumerate(places) if at in changes})

    def where(self, keep: Callable[[PathChange], bool]) -> PackedChanges:
        """The changes that ``keep`` accepts."""
        pairs = zip(self._places(), self, strict=True)
        return self._with({place: None for place, change in pairs if not keep(change)})

    def _with(self, others: Mapping[int, PathChange | None]) -> PackedChanges:
        return PackedChanges(self._blocks, {**self._others, **others}, self._width)

    def _places(self) -> Iterator[int]:
        rows = chain.from_iterable(map(self._rows, range(len(self._blocks))))
        return (place for place, change in enumerate(rows) if change is not None)

    def _rows(self, number: int) -> list[PathChange | None]:
        rows: list[PathChange | None] = [*self._blocks[number].rows(self._width + 1)]
        if self._others:
            start = number * _ROWS
            for place in range(len(rows)):
                rows[place] = self._others.get(start + place, rows[place])
        return rows


class PackedTimes:
    """Times (ns) by path, for ``Snapshot.written``."""

    def __init__(self, times: Iterable[tuple[bytes, int]]) -> None:
        unsorted, values = [], array("q")
        for name, at in times:
            unsorted.append(name)
            values.append(at)
        order = sorted(range(len(unsorted)), key=unsorted.__getitem__)
        names = [unsorted[place] for place in order]
        self._times = array("q", (values[place] for place in order))
        self._firsts = names[::_ROWS]
        starts = range(0, len(names), _ROWS)
        self._blocks = [b"\0".join(names[start : start + _ROWS]) for start in starts]
        self._opened: tuple[int, Mapping[bytes, int]] = -1, {}

    def __len__(self) -> int:
        return len(self._times)

    def items(self) -> Iterator[tuple[bytes, int]]:
        """(path, time) pairs, sorted by path."""
        return chain.from_iterable(self._rows(number) for number in range(len(self._blocks)))

    def __contains__(self, path: object) -> bool:
        return isinstance(path, bytes) and self.get(path) is not None

    def get(self, path: bytes) -> int | None:
        """The time of a path, or None; fast if paths are requested in their order."""
        number = bisect_right(self._firsts, path) - 1
        if number < 0:
            return None
        if self._opened[0] != number:
            self._opened = number, dict(self._rows(number))
        return self._opened[1].get(path)

    def _rows(self, number: int) -> Iterator[tuple[bytes, int]]:
        start = number * _ROWS
        return zip(
            self._blocks[number].split(b"\0"), self._times[start : start + _ROWS], strict=True
        )


def _packed_states(change: PathChange, width: int) -> list[bytes] | None:
    """The packed states of a change; None if it has more than fits the packed form."""
    path, base, head, index, worktree, real, foreign, set_up = change
    if real is not None or foreign or set_up or type(change) is not PathChange or "\0" in path:
        return None
    packed = []
    for entry in (base, head, index, worktree):
        if entry is None:
            packed.append(bytes(width + 1))
            continue
        mode, digest = entry
        if mode not in _NUMBERS or len(digest) != 2 * width or digest.strip(_DIGITS):
            return None
        packed.append(bytes((_NUMBERS[mode],)) + bytes.fromhex(digest))
    return packed


def _unpacked(column: bytes, width: int, count: int) -> list[ContentState | None]:
    if not column:
        return [None] * count
    digits, step = column.hex(), 2 * width
    return [
        ContentState(_MODES[mode], digits[place * step + 2 : (place + 1) * step]) if mode else None
        for place, mode in enumerate(column[::width])
    ]
