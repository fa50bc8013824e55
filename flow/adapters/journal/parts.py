"""The parts of a journal: ``goal-x.md``, ``goal-x.2.md``, ``goal-x.3.md`` (SPEC 17.11).

A journal grows without limit, and the cost of one entry does not grow with it.
"""

from __future__ import annotations

import os
from itertools import islice

from flow.adapters.fs import files
from flow.core import layout
from flow.errors import RefusedError
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

FULL = 32 << 10
"""Bytes from which a journal continues in its next part.

An entry is added by writing its part anew, so this, and not the journal's length, determines the
cost of an entry. Beyond it there is room for the largest entry.
"""

MOST_FILES = 100_000
"""Most files in the journal folder that are read."""


def part_to_write(root: str, rel: str) -> str:
    """The part of the journal ``rel`` that takes the next artifact: the first that is not full.

    Parts fill up one after the other.
    """
    free = files.first_free(lambda number: _is_full(root, layout.journal_part(rel, number)))
    return layout.journal_part(rel, free)


def _is_full(root: str, part: str) -> bool:
    try:
        return files.size(root, part) >= FULL
    except RefusedError:
        return False  # no regular file: its next reader or writer names it


def parts(root: str, rel: str) -> list[str]:
    """The existing parts of the journal ``rel``, the oldest first, also if some are missing."""
    folder, name = os.path.split(rel)
    names = files.names(root, folder, suffix=".md", limit=MOST_FILES)
    later = (other for other in names if other != name and layout.journal_base(other) == name)
    numbers = sorted(layout.part_number(other) for other in later)
    return [*([rel] if name in names else []), *(layout.journal_part(rel, n) for n in numbers)]


def missing_parts(names: Sequence[str], rel: str) -> list[str]:
    """The parts of the journal ``rel`` that are not among ``names`` though a later one is.

    At most ten parts: one file with a huge number makes no endless list.
    """
    last = max((layout.part_number(name) for name in names if name != rel), default=1)
    there = set(names)
    expected = (layout.journal_part(rel, number) for number in range(1, last))
    return list(islice((part for part in expected if part not in there), 10))
