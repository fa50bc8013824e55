"""Cache of a working tree: the base's listing, and which file had which hash.

One file for each (checkout, base), in the user's state folder. It holds numbers, names and hashes
in fixed places, nothing that could be executed on reading, and every length and a checksum are
checked: a file that is not exactly as expected is not used, and what it would have saved is
computed again.

A file's hash is known while its stamps are what they were (:mod:`flow.adapters.fs.stamps`).
"""

from __future__ import annotations

import json
import os
import struct
import zlib

from flow.adapters.fs.state_folder import replace_own
from flow.core.boundary.rules import GITLINK, ContentState
from flow.core.layout import TEMP_PREFIX
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from flow.adapters.fs.stamps import Signature

_MAGIC = b"flow-worktree-cache-2\n"
_SIGNATURE = struct.Struct("<qqqQI")
_MODES = ("100644", "100755", "120000", GITLINK)
_MOST_FILES = 24
_SIZE_LIMIT = 1 << 30


class Hashed(NamedTuple):
    """A file that differs from the base, as it was when it was hashed."""

    signature: Signature
    entry: ContentState


class Table:
    """The base's entries, and hashes of files on disk from earlier walks."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.folders: set[bytes] = set()
        self.clean: dict[bytes, Signature] = {}
        """Files whose content is the base's, by the signature they had then."""
        self.hashes: dict[bytes, Hashed] = {}
        """Other files."""
        self.rules = ""
        """Digest of the ignore rules that ``decisions`` were made with."""
        self.decisions: dict[bytes, bool] = {}
        """Untracked path (folders with a ``/`` at the end) → whether the pinned rules ignore it."""
        self.fresh = True
        """Whether it was made from the base's tree just now, not read from a cache."""
        self._rest: dict[bytes, bytes] = {}
        """The base's paths that are not known to be clean → packed entry."""
        self._paths: list[bytes] = []
        """The base's clean paths, with their signatures and packed entries side by side."""
        self._signatures = self._packed = b""
        self._places: dict[bytes, int] | None = None
        self._near: dict[bytes, bytes] = {}
        """Some clean paths with their packed entries, found without making ``_places``."""

    def __len__(self) -> int:
        return len(self._paths) + len(self._rest)

    def __contains__(self, path: bytes) -> bool:
        return self._packed_entry(path) is not None

    def __iter__(self) -> Iterator[bytes]:
        yield from self._paths
        yield from self._rest

    def entry(self, path: bytes) -> ContentState | None:
        """The base's entry for ``path``."""
        packed = self._packed_entry(path)
        return None if packed is None else _unpack_entry(packed)

    @property
    def unclean(self) -> Iterable[bytes]:
        """The base's paths whose files are not known to be clean."""
        return self._rest

    def gitlinks(self) -> set[bytes]:
        """The base's submodules; a file is never clean where one should be."""
        mark = _MODES.index(GITLINK)
        return {path for path, packed in self._rest.items() if packed[0] == mark}

    def _packed_entry(self, path: bytes) -> bytes | None:
        packed = self._rest.get(path) or self._near.get(path)
        if packed is not None or not self._paths:
            return packed
        if self._places is None:  # on first use: a walk that finds nothing new needs none
            self._places = dict(zip(self._paths, range(len(self._paths)), strict=True))
        place = self._places.get(path)
        return None if place is None else self._packed_at(place)

    def expect(self, paths: Collection[bytes]) -> None:
        """Make ready to be asked for these clean paths, which costs less than for all."""
        for place, path in enumerate(self._paths if paths else ()):
            if path in paths:
                self._near[path] = self._packed_at(place)

    def _packed_at(self, place: int) -> bytes:
        return self._packed[place * self._width : (place + 1) * self._width]

    @property
    def _width(self) -> int:
        return 1 + len(self.base) // 2

    @classmethod
    def of_listing(cls, base: str, entries: Iterable[tuple[bytes, ContentState]]) -> Table:
        """A table that knows the base's tree and nothing of the disk."""
        table = cls(base)
        table._rest = {path: _pack_entry(entry) for path, entry in entries}
        for path in table._rest:
            add_parents(table.folders, path)
        return table

    @classmethod
    def load(cls, file: str, base: str) -> Table | None:
        """Read a cache file; None where it is missing, damaged, or another base's."""
        try:
            data = _read_cache(file)
            if data is None or not data.startswith(_MAGIC):
                return None
            end = data.index(b"\n", len(_MAGIC))
            header = json.loads(data[len(_MAGIC) : end])
            body = memoryview(data)[end + 1 :]
            if header["base"] != base or zlib.crc32(body) != header["crc"]:
                return None
            return cls._parse(base, header, body)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, struct.error):
            return None

    @classmethod
    def _parse(cls, base: str, header: Mapping[str, object], body: memoryview) -> Table | None:
        sizes = header["sizes"]
        if not isinstance(sizes, list) or sum(sizes) != len(body):
            return None
        blocks, at = [], 0
        for size in sizes:
            blocks.append(bytes(body[at : at + size]))
            at += size
        clean, signatures, packed, rest, rest_packed, other, other_sig, other_packed, folders = (
            blocks
        )
        table = cls(base)
        table.fresh = False
        table._paths, table._signatures, table._packed = _split_block(clean), signatures, packed
        if len(packed) != len(table._paths) * table._width:
            return None
        table.clean = table.known_clean()
        width = table._width
        table._rest = dict(zip(_split_block(rest), _block_pieces(rest_packed, width), strict=True))
        table.folders = set(_split_block(folders))
        table.hashes = {
            path: Hashed(signature, _unpack_entry(piece))
            for path, signature, piece in zip(
                _split_block(other),
                _SIGNATURE.iter_unpack(other_sig),
                _block_pieces(other_packed, width),
                strict=True,
            )
        }
        table.rules = str(header["rules"])
        decisions = header["decisions"]
        if not isinstance(decisions, dict):
            return None
        table.decisions = {k.encode("latin-1"): v is True for k, v in decisions.items()}
        return table

    def known_clean(self) -> dict[bytes, Signature]:
        """``clean`` as it was loaded, after a walk has emptied it."""
        signatures = _SIGNATURE.iter_unpack(self._signatures)
        return dict(zip(self._paths, signatures, strict=True))

    def save(self, file: str, clean: Mapping[bytes, Signature]) -> None:
        """Write the cache; a failure is of no consequence."""
        try:
            _publish(file, self._bytes(clean))
        except (OSError, ValueError):
            return  # it is a cache: the next walk takes longer, that is all

    def _bytes(self, clean: Mapping[bytes, Signature]) -> bytes:
        rest = [path for path in self if path not in clean]
        blocks = (
            b"\0".join(clean),
            b"".join(_SIGNATURE.pack(*signature) for signature in clean.values()),
            b"".join(self._packed_entry(path) or b"" for path in clean),
            b"\0".join(rest),
            b"".join(self._packed_entry(path) or b"" for path in rest),
            b"\0".join(self.hashes),
            b"".join(_SIGNATURE.pack(*hashed.signature) for hashed in self.hashes.values()),
            b"".join(_pack_entry(hashed.entry) for hashed in self.hashes.values()),
            b"\0".join(self.folders),
        )
        body = b"".join(blocks)
        header = {
            "base": self.base,
            "crc": zlib.crc32(body),
            "sizes": [len(block) for block in blocks],
            "rules": self.rules,
            "decisions": {k.decode("latin-1"): v for k, v in self.decisions.items()},
        }
        text = json.dumps(header, separators=(",", ":")).encode("ascii")
        return _MAGIC + text + b"\n" + body


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


def _split_block(block: bytes) -> list[bytes]:
    return block.split(b"\0") if block else []


def _pack_entry(entry: ContentState) -> bytes:
    return bytes((_MODES.index(entry.mode),)) + bytes.fromhex(entry.digest)


def _unpack_entry(packed: bytes) -> ContentState:
    return ContentState(_MODES[packed[0]], packed[1:].hex())


def _block_pieces(block: bytes, width: int) -> list[bytes]:
    if len(block) % width:
        raise ValueError("a block of another length")
    return [block[at : at + width] for at in range(0, len(block), width)]


def _read_cache(file: str) -> bytes | None:
    fd = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(fd, "rb") as opened:
        status = os.fstat(fd)
        if status.st_uid != os.geteuid() or status.st_size > _SIZE_LIMIT:
            return None
        return opened.read()


def _publish(file: str, data: bytes) -> None:
    """Replace whole, without a sync: a torn file is seen by its checksum."""
    folder = os.path.dirname(file)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if not os.path.exists(file):
        _forget_oldest(folder)
    replace_own(file, data)


def _forget_oldest(folder: str) -> None:
    """Keep the number of cache files bounded: each goal's base has one.

    What a killed process left half-written counts among them.
    """
    names = ("worktree-", TEMP_PREFIX)
    entries = [e for e in os.scandir(folder) if e.name.startswith(names) and not e.is_dir()]
    entries.sort(key=lambda entry: entry.stat(follow_symlinks=False).st_mtime_ns)
    for entry in entries[: max(len(entries) - _MOST_FILES, 0)]:
        os.unlink(entry.path)
