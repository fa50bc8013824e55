"""Whether files are unchanged, by their names and stamps alone; nothing is opened.

A combined stamp is a digest over names and the stamps of :mod:`flow.adapters.fs.stamps`. It serves
display only: nothing is flushed for it, so a write through a mapping may not be seen.
"""

from __future__ import annotations

import os
import time

from flow.adapters.fs.stamps import RACY_NS, signature_of
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection


class CombinedStamp:
    """Collects names and stamps of some files into one stamp."""

    def __init__(self, *words: str) -> None:
        self._parts: list[str] = list(words)
        self._newest = 0
        """The latest change time (ns) of the files."""

    def add(self, text: str) -> None:
        """Let the stamp depend on a text, too."""
        self._parts.append(text)

    def file(self, path: str) -> str:
        """Let the stamp depend on one file, which may be missing; returns its part of the stamp."""
        try:
            part = self._stamp(os.lstat(path))
        except OSError as error:
            part = f"{error.errno}"
        self._parts.append(part)
        return part

    def folder(self, path: str) -> None:
        """Let the stamp depend on the entries of a folder, not on those of folders below it."""
        self.tree(path, levels=0)

    def tree(self, path: str, leave_out: Collection[str] = (), levels: int = 256) -> None:
        """Let the stamp depend on everything below a folder, except the paths ``leave_out``."""
        try:
            with os.scandir(path) as entries:
                rows = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            self._parts.append(f"{path} {error.errno}")
            return
        for entry in rows:
            if entry.path in leave_out:
                continue
            try:
                status = entry.stat(follow_symlinks=False)
                part = self._stamp(status)
                if entry.is_symlink():  # its target may be read in its place
                    part += self._target(entry.path)
            except OSError as error:
                part = f"{error.errno}"
            self._parts.append(f"{entry.name} {part}")
            if levels and entry.is_dir(follow_symlinks=False):
                self.tree(entry.path, leave_out, levels - 1)

    def settle_with(self, *others: CombinedStamp) -> None:
        """Let it be settled only if the others are."""
        self._newest = max([self._newest, *(other._newest for other in others)])

    def unsettle(self) -> None:
        """Let the stamp say nothing: something that it should depend on cannot be watched."""
        self._newest = 1 << 63

    @property
    def text(self) -> str:
        """The combined stamp: SHA-256 (hex) over everything that it depends on."""
        return sha256("\n".join(self._parts).encode("utf-8", "surrogateescape")).hexdigest()

    @property
    def settled(self) -> bool:
        """Whether every change that it knows of is old enough for it to be relied on."""
        return time.time_ns() - self._newest > RACY_NS

    def _target(self, path: str) -> str:
        try:
            return self._stamp(os.stat(path))
        except OSError as error:
            return f"{error.errno}"

    def _stamp(self, status: os.stat_result) -> str:
        self._newest = max(self._newest, status.st_ctime_ns)
        return f"{signature_of(status)} {status.st_dev} {status.st_uid}"
