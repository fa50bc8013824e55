"""What a worker holds once all is collected: tens of thousands of tests, which stay to its end.

Flow forks a process to watch over commands, and that one more: each test that runs a criterion has
the tables of all this memory copied several times.
"""

from __future__ import annotations

import ctypes
import gc
import sys

_HUGE_PAGE = 2 << 20
_MADV_HUGEPAGE, _MADV_COLLAPSE = 14, 25
"""From Linux's ``mman-common.h``."""


def settle() -> None:
    """Keep what is there from the garbage collector, and let a fork copy less of it."""
    gc.freeze()
    if sys.platform == "linux":
        _take_huge_pages()


def _take_huge_pages() -> None:
    """Have the heap lie in huge pages, where the system has them for who asks.

    A fork copies one entry for each, and not 512. Where there are none nothing happens.
    """
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = (ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int)
    with open("/proc/self/maps", encoding="utf-8") as file:
        rows = [line.split() for line in file]
    for place, mode, _, _, _, *path in rows:
        start, end = (int(address, 16) for address in place.split("-"))
        start = -(-start // _HUGE_PAGE) * _HUGE_PAGE
        end = end // _HUGE_PAGE * _HUGE_PAGE
        if mode == "rw-p" and path in ([], ["[heap]"]) and start < end:
            for advice in (_MADV_HUGEPAGE, _MADV_COLLAPSE):
                madvise(start, end - start, advice)
