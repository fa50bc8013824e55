"""The lines of a file one by one, however long the file or a line of it."""

from __future__ import annotations

import os

from flow.adapters.fs import files
from flow.adapters.fs.folders import reported
from flow.core.chain.walk import Line
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT = 64 << 10
"""Bytes: a longer line of a ledger is no entry."""


def lines(root: str, rel: str, limit: int = LIMIT) -> Iterator[Line]:
    """The lines of a regular file as it is now; nothing if it is absent."""
    fd = files.open_regular(root, rel)
    if fd is None:
        return
    number = 0
    with reported("read", rel), open(fd, "rb") as file:
        unread = os.fstat(fd).st_size
        while unread > 0 and (text := file.readline(min(unread, limit + 1))):
            unread -= len(text)
            number += 1
            if text.endswith(b"\n"):
                yield Line(number, text[:-1], ended=True)
                continue
            if len(text) <= limit:
                yield Line(number, text, ended=False)
                return
            while unread > 0 and (text := file.readline(min(unread, 1 << 20))):
                unread -= len(text)
                if text.endswith(b"\n"):
                    break
            yield Line(number, None, text.endswith(b"\n"))
