"""The compiled code of all that the hooks load, in one file in place of one for each module.

To open, read and close a file for each of a stop's 150 modules takes 450 calls of the system, and
code that is read back together shares what it has in common. The file holds of a module what its
own compiled file held: the code, and the time and the size of the source. The finder asks for the
code of a source as it is now, and gets no other. What the file lacks is read from the module's own,
as all is where it is missing, foreign or damaged; then the process writes it anew at its end, as
Python writes a compiled file: whole, in another's place, or not at all.

It is a mark, an id, the length of the index, the index, and parts, each behind the id. A part holds
modules that one process loaded one after the other, and is read for the first of them. Where a
process needs only some of a part, that is split: soon each start reads little else.
"""

from __future__ import annotations

import sys
from marshal import dumps, loads
from posix import O_CLOEXEC, O_RDONLY, W_OK, access, close, pread, urandom
from posix import open as open_file

from flow.startup import finder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable
    from importlib.machinery import SourceFileLoader
    from importlib.util import cache_from_source
    from types import CodeType

    from flow.startup.typing import Any
else:
    from _frozen_importlib_external import SourceFileLoader, cache_from_source

_MARK = finder.MAGIC_NUMBER + b"all1"
_ID = 8
_HEAD = len(_MARK) + _ID + 4
_TOGETHER = 12
"""Modules in a new part: more would share more, and take more memory."""
_SPARE = 5
"""Modules that a process may read and not need: to write the file takes as long as 500."""
_NONE = (b"", 0, 0)
_BROKEN = (OSError, EOFError, ArithmeticError, LookupError, MemoryError, TypeError, ValueError)
"""Raised where a file is not there, or has another content."""


class CodeFile:
    """The code in the file ``path``."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._entries: dict[str, tuple[bytes, int, int]] = {}  # stamp, place and length of the part
        self._codes: dict[str, CodeType] = {}
        self.lacking: list[str] = []
        """Sources whose code the finder read from a file of its own."""
        try:
            head = self._read(0, _HEAD)
            self._id = head[len(_MARK) : -4]
            length = int.from_bytes(head[-4:], "little")
            self._parts = _HEAD + length
            if head.startswith(_MARK):
                self._entries = dict(self._load(_HEAD, length))
        except _BROKEN:
            pass

    def _read(self, place: int, length: int) -> bytes:
        """Bytes of the file, opened each time: a forked process closes what it inherits."""
        file = open_file(self._path, O_RDONLY | O_CLOEXEC)
        try:
            return pread(file, length, place)
        finally:
            close(file)

    def _load(self, place: int, length: int) -> Any:
        data = self._read(place, length)
        if not data.startswith(self._id):
            raise ValueError("another process has written the file anew")
        return loads(memoryview(data)[_ID:])  # noqa: S302 - as Python does

    def code(self, source: str, stamp: bytes) -> CodeType | None:
        """The code of ``source``, if it was compiled when time and size were those in ``stamp``."""
        try:
            made_of, place, length = self._entries.get(source, _NONE)
            if made_of != stamp:
                return None
            if source not in self._codes:
                self._codes.update(self._load(self._parts + place, length))
            return self._codes.pop(source)
        except _BROKEN:
            return None

    def write(self) -> None:
        """Write the file anew if it lacked something, or too much that it held was not needed."""
        unused = self._codes.keys() - set(self.lacking)
        folder = self._path.rpartition("/")[0]
        needed = self.lacking or len(unused) > _SPARE
        if not needed or sys.dont_write_bytecode or not access(folder, W_OK):
            return
        try:
            self._write(unused)
        except _BROKEN:  # the index is damaged: the next process finds none
            SourceFileLoader(__name__, __file__).set_data(self._path, b"")

    def _write(self, unused: Container[str]) -> None:
        groups: dict[object, list[str]] = {}
        for source, (_, place, _) in self._entries.items():
            groups.setdefault((place, source in unused), []).append(source)
        for number, source in enumerate(self.lacking):
            if source not in self._entries:
                groups.setdefault(number // _TOGETHER, []).append(source)
        own_id, parts = urandom(_ID), b""
        entries: dict[str, tuple[bytes, int, int]] = {}
        for group in groups.values():
            compiled = dict(_compiled(group))
            part = own_id + dumps({source: code for source, (code, _) in compiled.items()})
            for source, (_, stamp) in compiled.items():
                entries[source] = stamp, len(parts), len(part)
            parts += part
        index = own_id + dumps(entries)
        loader: Any = SourceFileLoader(__name__, __file__)
        head = _MARK + own_id + len(index).to_bytes(4, "little")
        loader._cache_bytecode(__file__, self._path, head + index + parts)


def _compiled(sources: Iterable[str]) -> Iterable[tuple[str, tuple[CodeType, bytes]]]:
    """Each source with what its compiled file holds: the code, and the stamp."""
    for source in sources:
        try:
            with open(cache_from_source(source), "rb") as file:
                data = file.read()
            if data.startswith(finder.BY_TIME_AND_SIZE):
                code = loads(data[16:])  # noqa: S302 - as Python does
                finder.fix_filename(code, source)
                yield source, (code, data[8:16])
        except _BROKEN:  # removed since
            pass


def use(name: str) -> CodeFile:
    """Have the finder of this process take modules from the file for ``name``."""
    folder = __file__.rpartition("/")[0]
    path = cache_from_source(f"{folder}/code-{name}.py")
    finder.code_file = code_file = CodeFile(path)
    return code_file
