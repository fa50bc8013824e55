"""Values that the newest lines of an append-only file give to keys, for many lookups in a row."""

from __future__ import annotations

from flow.adapters.chain import event_log
from flow.adapters.fs import files
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class NewestLines:
    """The newest value of each key in the lines that hold ``needle``.

    ``told`` gives a line's key and value, or None for a line without one. Lines are read from the
    end, each once, and only as far back as a lookup needs: n lookups cost one reading of the file
    and not n. Every lookup compares the file's stamp first; a file that has changed is read anew.
    """

    def __init__(
        self, root: str, rel: str, needle: bytes, told: Callable[[bytes], tuple[str, str] | None]
    ) -> None:
        self._root, self._rel = root, rel
        self._needle, self._told = needle, told
        self._stamp: tuple[int, ...] = ()
        self._words: dict[str, str] = {}
        self._unread: Iterator[bytes] = iter(())

    def get(self, key: str) -> str | None:
        """The newest value of ``key``; None if no line has it."""
        stamp = files.stamp(self._root, self._rel)
        if stamp != self._stamp:  # taken before the reading, so that a later write is noticed
            self._stamp, self._words = stamp, {}
            self._unread = event_log.backwards(self._root, self._rel, self._needle)
        if key not in self._words:
            self._read_back_to(key)
        return self._words.get(key)

    def _read_back_to(self, key: str) -> None:
        for line in self._unread:
            told = self._told(line)
            if told is not None:
                self._words.setdefault(*told)
                if told[0] == key:
                    return
