"""The files whose content is the base's, by folder, as blocks of bytes.

One file costs its name, its stamps and its entry in the base, and no object of its own: a walk
handles one folder after the other.
"""

from __future__ import annotations

import _struct as struct  # `struct` only passes it on
from itertools import chain

from flow.adapters.fs.stamps import signature_of
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping

Stamps = bytes
"""A signature (:mod:`flow.adapters.fs.stamps`), packed: there is one for each file."""

_STAMPS = struct.Struct("<QQQQI")
pack_stamps = _STAMPS.pack
"""Makes :data:`Stamps` of the five numbers of a signature, the times cut to ``TIME_BITS``."""
STAMPS_SIZE = _STAMPS.size
TIME_BITS = (1 << 64) - 1
"""Mask: files may be dated before 1970 and after 2262. Two times of 584 years apart look the same,
but a change that sets them changes ctime.
"""
_FOLDER = struct.Struct("<II")
"""Number of files of a folder, and the length of their names in bytes."""
_MOST_INDEXED = 1 << 16
"""Most names of folders that are indexed at a time."""


class _Place(NamedTuple):
    """A folder's part of the blocks: start and end of its names, number of its first file."""

    start: int
    end: int
    first: int
    files: int


class CleanFiles:
    """path → :data:`Stamps`; a mapping, with the base's entries beside it.

    Folders are named with a ``/`` at the end, the top level is ``b""``.
    """

    def __init__(
        self,
        width: int,
        folders: bytes = b"",
        sizes: bytes = b"",
        names: bytes = b"",
        stamps: bytes = b"",
        packed: bytes = b"",
    ) -> None:
        """Read the blocks of :func:`clean_blocks`.

        Raises ValueError if blocks do not fit. ``width`` is the length of a packed entry.
        """
        self.folders: dict[bytes, _Place] = {}
        self._names, self._stamps, self._packed, self._width = names, stamps, packed, width
        self._indexed: dict[bytes, dict[bytes, int]] = {}
        self._indexed_names = 0
        start = first = 0
        listed = folders.split(b"\0") if sizes else []
        for folder, (count, length) in zip(listed, _FOLDER.iter_unpack(sizes), strict=True):
            place = _Place(start, start + length, first, count)
            if names.count(b"\0", start, place.end) + 1 != count:
                raise ValueError("a block of another length")
            self.folders[folder] = place
            start, first = place.end, first + count
        if (len(names), len(stamps), len(packed)) != (start, first * STAMPS_SIZE, first * width):
            raise ValueError("a block of another length")
        self._count = first

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[bytes]:
        return chain.from_iterable(map(self.paths_in, self.folders))

    keys = __iter__

    def __contains__(self, path: object) -> bool:
        return isinstance(path, bytes) and self._number(path) is not None

    def __getitem__(self, path: bytes) -> Stamps:
        number = self._number(path)
        if number is None:
            raise KeyError(path)
        return self._stamps[number * STAMPS_SIZE : (number + 1) * STAMPS_SIZE]

    def all_stamps(self) -> dict[bytes, Stamps]:
        """path → stamps of all files, as a dict."""
        sizes = range(0, len(self._stamps), STAMPS_SIZE)
        return dict(zip(self, (self._stamps[at : at + STAMPS_SIZE] for at in sizes), strict=True))

    def paths_in(self, folder: bytes) -> Iterable[bytes]:
        """The paths of a folder's own files."""
        names = self.names(folder)
        return [folder + name for name in names.split(b"\0")] if names else ()

    def names(self, folder: bytes) -> bytes:
        """The names of a folder's own files, with NUL bytes between them."""
        place = self.folders.get(folder)
        return b"" if place is None else self._names[place.start : place.end]

    def stamps(self, folder: bytes) -> bytes:
        """The stamps of a folder's own files, in the order of their names."""
        place = self.folders.get(folder)
        if place is None:
            return b""
        end = place.first + place.files
        return self._stamps[place.first * STAMPS_SIZE : end * STAMPS_SIZE]

    def packed_entry(self, path: bytes) -> bytes | None:
        """The base's entry for a path; None if it is not here."""
        number = self._number(path)
        if number is None:
            return None
        return self._packed[number * self._width : (number + 1) * self._width]

    def _number(self, path: bytes) -> int | None:
        """Number of a file; None if it is not here.

        The last folders that were searched are indexed.
        """
        cut = path.rfind(b"/") + 1
        folder = path[:cut]
        index = self._indexed.get(folder)
        if index is None:
            place = self.folders.get(folder)
            if place is None:
                return None
            if self._indexed_names > _MOST_INDEXED:
                self._indexed.clear()
                self._indexed_names = 0
            names = self.names(folder).split(b"\0")
            index = dict(zip(names, range(place.first, place.first + place.files), strict=True))
            self._indexed[folder] = index
            self._indexed_names += place.files
        return index.get(path[cut:])


def clean_blocks(
    clean: Mapping[bytes, Stamps], packed_entry: Callable[[bytes], bytes | None]
) -> list[bytes]:
    """The arguments of :class:`CleanFiles` that hold these files."""
    folders: dict[bytes, list[bytes]] = {}
    for path in sorted(clean):
        folders.setdefault(path[: path.rfind(b"/") + 1], []).append(path)
    names = [b"\0".join(p[len(folder) :] for p in inside) for folder, inside in folders.items()]
    sizes = zip(map(len, folders.values()), map(len, names), strict=True)
    return [
        b"\0".join(folders),
        b"".join(_FOLDER.pack(*pair) for pair in sizes),
        b"".join(names),
        joined(clean[path] for path in chain.from_iterable(folders.values())),
        joined(packed_entry(path) or b"" for path in chain.from_iterable(folders.values())),
    ]


def joined(pieces: Iterable[bytes]) -> bytes:
    """Like ``b"".join``, without holding all pieces at once."""
    block = bytearray()
    for piece in pieces:
        block += piece
    return bytes(block)


def packed_stamps(status: os.stat_result) -> Stamps:
    """The stamps that differ between two states of a file."""
    changed, modified, size, inode, mode = signature_of(status)
    return pack_stamps(changed & TIME_BITS, modified & TIME_BITS, size, inode, mode)
