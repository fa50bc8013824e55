"""The lines of a file from its end on, read in blocks: a file of years is searched quickly."""

from __future__ import annotations

import os

from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_FIRST_BLOCK, _LARGEST_BLOCK = 1 << 13, 1 << 22


def lines_with(
    fd: int,
    needle: bytes,
    *,
    longest: int,
    too_long: Callable[[], Exception],
    unended: bool = False,
) -> Iterator[bytes]:
    """The lines that hold ``needle``, the last one first; raises OSError.

    ``unended``: text after the last newline is a line, too. If a block has no end of a line, and
    more than ``longest`` bytes are read of it, what ``too_long`` gives is raised.
    """
    size = end = os.fstat(fd).st_size
    block = _FIRST_BLOCK
    rest = b"" if unended else None  # the start of a line whose beginning is not read yet
    while end > 0:
        start = max(0, end - block)
        data = os.pread(fd, end - start, start)
        block = min(block * 4, _LARGEST_BLOCK)
        end = start
        if rest is None:
            cut = data.rfind(b"\n")
            if cut < 0:
                if size - end > longest:
                    raise too_long()
                continue
            data, rest = data[:cut], b""
        else:
            data += rest
        first = data.find(b"\n") if start else -1
        rest = data[:first] if first >= 0 else (data if start else b"")
        if start and first < 0:
            if len(rest) > longest:
                raise too_long()
            continue
        yield from _in_block(needle, data, first + 1)


def _in_block(needle: bytes, data: bytes, begin: int) -> Iterator[bytes]:
    """The lines of ``data`` from ``begin`` on that hold ``needle``, the last one first.

    Most callers take the first: a block of many lines is not taken apart for it.
    """
    if not needle:
        yield from reversed(data[begin:].split(b"\n"))
        return
    end = len(data)
    while (at := data.rfind(needle, begin, max(end, begin))) >= 0:
        start = max(data.rfind(b"\n", begin, at) + 1, begin)
        after = data.find(b"\n", at, end)
        yield data[start : after if after >= 0 else end]
        end = start - 1
