"""Cache of a working tree: the base's listing, HEAD and index against it, each file's hash.

One file for each (checkout, repository in it, base), in the user's state folder. It holds numbers,
names and hashes in fixed places, nothing that could be executed on reading, and every length and a
checksum are checked: a file that is not exactly as expected is not used, and its content is
computed again.

A file's hash is known while its stamps are unchanged (:mod:`flow.adapters.fs.stamps`). The
difference between two commits is fixed by their ids, since git is called without replacements, and
the difference between the index and one of them by all its bytes.
"""

from __future__ import annotations

import _struct as struct  # `struct` only passes it on
import os
from itertools import chain, islice

from flow.adapters.fs.state_folder import drop_oldest, replace_own
from flow.adapters.worktree.clean_files import STAMPS_SIZE, CleanFiles, clean_blocks, joined
from flow.core.boundary.changes import GITLINK, LINK, ContentState
from flow.core.layout import TEMP_PREFIX
from flow.startup import json
from flow.startup.sha import checksum
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from flow.adapters.worktree.clean_files import Stamps

_MAGIC = b"flow-worktree-cache-9\n"
_MODE_AT = STAMPS_SIZE - 4
_MODES = ("100644", "100755", "120000", GITLINK)
_LINK = _MODES.index(LINK)
_GONE = len(_MODES)
"""In the place of a mode: the path is absent."""
_MOST_FILES = 24
_SIZE_LIMIT = 1 << 30
_HEADER_LIMIT = 1 << 16


class Table:
    """The base's entries, and hashes of files on disk from earlier walks."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.folders: set[bytes] = set()
        self.clean = CleanFiles(self._width)
        """Files whose content is the base's, by the stamps they had then."""
        self.hashes: dict[bytes, bytes] = {}
        """Other files (``pack_hashed``). A walk takes out the entries of files that it meets, so
        that each is held once.
        """
        self.rules = ""
        """Digest of the ignore rules that ``decisions`` were made with."""
        self.decisions: dict[bytes, bool] = {}
        """Untracked path (folders with a ``/`` at the end) → whether the pinned rules ignore it."""
        self.head = ""
        """HEAD's commit, or the empty tree without one, that ``head_entries`` is about."""
        self.head_entries: dict[bytes, ContentState | None] = {}
        """path → its entry in ``head``, for every path whose entry differs from the base's."""
        self.index = ""
        """SHA-256 of the index that ``staged`` is about; empty if none is remembered."""
        self.staged: dict[bytes, ContentState | None] = {}
        """path → its staged entry, for every path whose entry differs from the base's."""
        self.fresh = True
        """Whether it was made from the base's tree just now, not read from a cache."""
        self._rest: dict[bytes, bytes] = {}
        """The base's paths that are not known to be clean → packed entry."""

    def __len__(self) -> int:
        return len(self.clean) + len(self._rest)

    def __contains__(self, path: bytes) -> bool:
        return self.packed_entry(path) is not None

    def __iter__(self) -> Iterator[bytes]:
        yield from self.clean
        yield from self._rest

    def entry(self, path: bytes) -> ContentState | None:
        """The base's entry for ``path``; None if it has none."""
        packed = self.packed_entry(path)
        return None if packed is None else _unpack_entry(packed)

    @property
    def unclean(self) -> Iterable[bytes]:
        """The base's paths whose files are not known to be clean."""
        return self._rest

    def gitlinks(self) -> set[bytes]:
        """The base's submodules; a file in the place of one is never clean."""
        mark = _MODES.index(GITLINK)
        return {path for path, packed in self._rest.items() if packed[0] == mark}

    def packed_entry(self, path: bytes) -> bytes | None:
        """The base's entry for ``path``, as the end of :func:`pack_hashed`."""
        return self._rest.get(path) or self.clean.packed_entry(path)

    @property
    def _width(self) -> int:
        return 1 + len(self.base) // 2

    @classmethod
    def of_listing(cls, base: str, entries: Iterable[tuple[bytes, ContentState]]) -> Table:
        """A table of the base's tree without any file of the disk."""
        table = cls(base)
        table._rest = {path: _pack_entry(entry) for path, entry in entries}
        for path in table._rest:
            add_parents(table.folders, path)
        return table

    @classmethod
    def load(cls, file: str, base: str) -> Table | None:
        """Read a cache file; None if it is missing, damaged, or another base's."""
        try:
            header, blocks = _read_blocks(file)
            return cls._of_blocks(base, header, blocks) if header["base"] == base else None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, struct.error):  # type: ignore[attr-defined]
            return None

    @classmethod
    def _of_blocks(cls, base: str, header: Mapping[str, Any], blocks: list[bytes]) -> Table:
        """The reverse of :meth:`_blocks`. Raises :class:`ValueError` if blocks do not fit."""
        clean, (rest, rest_packed, hashed, hashed_packed, *more) = blocks[:5], blocks[5:]
        folders, named, decided, head_entries, head_packed, staged, staged_packed = more
        table = cls(base)
        table.fresh = False
        table.rules, table.head = str(header["rules"]), str(header["other"])
        table.index = str(header["index"])
        width = table._width
        table.clean = CleanFiles(width, *clean)
        table._rest = _pairs(rest, rest_packed, width)
        table.hashes = _pairs(hashed, hashed_packed, STAMPS_SIZE + width)
        table.folders = set(_split_block(folders))
        table.head_entries = _unpack_entries(head_entries, head_packed, width)
        table.staged = _unpack_entries(staged, staged_packed, width)
        flags = (flag == 1 for flag in decided)
        both = islice(table.hashes, header["decided"])
        table.decisions = dict(zip(chain(both, _split_block(named)), flags, strict=True))
        return table

    def save(self, file: str, clean: Mapping[bytes, Stamps]) -> None:
        """Write the cache; a failure is of no consequence."""
        try:
            _publish(file, self._header_and_blocks(clean))
        except (OSError, ValueError):
            return  # without the cache the next walk takes longer, no more

    def _header_and_blocks(self, clean: Mapping[bytes, Stamps]) -> list[bytes]:
        # Names of decided and hashed paths are stored once, at the start of both.
        decided = [
            path
            for path, packed in self.hashes.items()
            if path in self.decisions and is_believed(packed)
        ]
        blocks = self._blocks(clean, decided)
        checked = 0
        for block in blocks:
            checked = checksum(block, checked)
        sizes = [len(block) for block in blocks]
        header = {"base": self.base, "checksum": checked, "sizes": sizes, "rules": self.rules}
        header |= {"other": self.head, "index": self.index, "decided": len(decided)}
        text = json.dumps(header, separators=(",", ":")).encode("ascii")
        return [_MAGIC + text + b"\n", *blocks]

    def _blocks(self, clean: Mapping[bytes, Stamps], decided: Sequence[bytes]) -> list[bytes]:
        rest = [path for path in self if path not in clean]
        both = set(decided)
        more = (path for path, packed in self.hashes.items() if is_believed(packed))
        hashed = [*decided, *(path for path in more if path not in both)]
        named = [path for path in self.decisions if path not in both]
        return [
            *clean_blocks(clean, self.packed_entry),
            b"\0".join(rest),
            joined(self.packed_entry(path) or b"" for path in rest),
            b"\0".join(hashed),
            joined(self.hashes[path] for path in hashed),
            b"\0".join(self.folders),
            b"\0".join(named),
            bytes(self.decisions[path] for path in chain(decided, named)),
            *_pack_entries(self.head_entries, self._width),
            *_pack_entries(self.staged, self._width),
        ]


def add_parents(folders: set[bytes], path: bytes) -> None:
    """Add the folders above ``path``."""
    folder = path.rpartition(b"/")[0]
    while folder and folder not in folders:
        folders.add(folder)
        folder = folder.rpartition(b"/")[0]


def folders_above(path: bytes) -> Iterator[bytes]:
    """The folders above ``path``, the nearest first."""
    at = path.rfind(b"/")
    while at > 0:
        yield path[:at]
        at = path.rfind(b"/", 0, at)


def pack_hashed(stamps: Stamps, entry: ContentState, *, believed: bool = True) -> bytes:
    """A file that differs from the base, in its state at the hashing.

    One whose stamps will not show a later change is not ``believed``: it is packed without its
    mode, which agrees with no file's stamps.
    """
    return (stamps if believed else stamps[:_MODE_AT] + bytes(4)) + _pack_entry(entry)


def is_believed(packed: bytes) -> bool:
    """Whether the stamps of :func:`pack_hashed` show later changes."""
    return packed[_MODE_AT:STAMPS_SIZE] != bytes(4)


def hashed_entry(packed: bytes) -> ContentState:
    """The content state that was packed."""
    return _unpack_entry(packed[STAMPS_SIZE:])


def is_packed_link(packed: bytes) -> bool:
    """Whether it is a symlink that :func:`pack_hashed` packed."""
    return packed[STAMPS_SIZE] == _LINK


def changed_at(stamps: bytes) -> int:
    """Time (ns) of the last write or rename of a file with these stamps, or packed with them."""
    return int.from_bytes(stamps[:8], "little", signed=True)


def dated_at(stamps: bytes) -> int:
    """Time (ns) that a file with these stamps names as that of its last write (mtime)."""
    return int.from_bytes(stamps[8:16], "little", signed=True)


def _split_block(block: bytes) -> list[bytes]:
    return block.split(b"\0") if block else []


def _pack_entry(entry: ContentState) -> bytes:
    return bytes((_MODES.index(entry.mode),)) + bytes.fromhex(entry.digest)


def _unpack_entry(packed: bytes) -> ContentState:
    return ContentState(_MODES[packed[0]], packed[1:].hex())


def _pack_entries(entries: Mapping[bytes, ContentState | None], width: int) -> list[bytes]:
    gone = bytes((_GONE,)).ljust(width, b"\0")
    packed = (_pack_entry(entry) if entry else gone for entry in entries.values())
    return [b"\0".join(entries), joined(packed)]


def _unpack_entries(names: bytes, block: bytes, width: int) -> dict[bytes, ContentState | None]:
    entries = _pairs(names, block, width).items()
    return {p: None if e[0] == _GONE else _unpack_entry(e) for p, e in entries}


def _block_pieces(block: bytes, width: int) -> list[bytes]:
    if len(block) % width:
        raise ValueError("a block of another length")
    return [block[at : at + width] for at in range(0, len(block), width)]


def _pairs(names: bytes, block: bytes, width: int) -> dict[bytes, bytes]:
    return dict(zip(_split_block(names), _block_pieces(block, width), strict=True))


def _read_blocks(file: str) -> tuple[Mapping[str, Any], list[bytes]]:
    """Header and blocks of a cache file; ValueError or OSError if it is not as it was written."""
    fd = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(fd, "rb") as opened:
        status = os.fstat(fd)
        if status.st_uid != os.geteuid() or status.st_size > _SIZE_LIMIT:
            raise ValueError("another user's file, or a huge one")
        if opened.read(len(_MAGIC)) != _MAGIC:
            raise ValueError("another format")
        header = json.loads(opened.readline(_HEADER_LIMIT))
        blocks, checked, left = [], 0, status.st_size
        for size in header["sizes"]:
            left -= size
            if size < 0 or left < 0:
                raise ValueError("a block of another length")
            blocks.append(opened.read(size))
            checked = checksum(blocks[-1], checked)
        if opened.read(1) or checked != header["checksum"]:
            raise ValueError("it was altered")
    return header, blocks


def _publish(file: str, pieces: Sequence[bytes]) -> None:
    """Replace the file whole, without a sync: the checksum shows a torn one.

    The number of cache files is limited, those that a killed process left half-written included:
    each goal's base has one.
    """
    folder = os.path.dirname(file)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if not os.path.exists(file):
        drop_oldest(folder, _MOST_FILES, ("worktree-", TEMP_PREFIX))
    replace_own(file, *pieces)
