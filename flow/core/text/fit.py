"""Fitting the parts of a long message into what its reader takes."""

from __future__ import annotations

from flow.core.text.display import clip
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TAIL_CHARACTERS = 1500
"""The most of one output's end that a message shows."""
_TAIL_LEAST = 160
_LINES_MOST = 600


class CuttableBlock(NamedTuple):
    """One criterion's part: what always stands, and what is cut first, newest line last."""

    lines: list[str]
    tail: list[str]


def fitting(
    parts: Sequence[CuttableBlock], room: int, size: Callable[[str], int], count: int
) -> tuple[list[list[str]], int]:
    """The parts as far as they fit into ``room``, and how many do not."""
    share = min(max(room // max(count, 1), _TAIL_LEAST), TAIL_CHARACTERS + _LINES_MOST)
    blocks: list[list[str]] = []
    for part in parts:
        block = [*part.lines, *_cut_tail(part, share), ""]
        needed = size("\n".join(block)) + 1
        if needed > room:
            break
        room -= needed
        blocks.append(block)
    return blocks, len(parts) - len(blocks)


def as_many(lines: Sequence[str], room: int, size: Callable[[str], int]) -> list[str]:
    """The lines as far as they fit; of the others the count. A blank one ends them."""
    kept: list[str] = []
    for line in lines:
        room -= size(line) + 1
        if room < 0:
            kept.append(f"and {len(lines) - len(kept):,} lines more")
            break
        kept.append(line)
    return [*kept, ""] if kept else []


def cut_to(text: str, room: int, size: Callable[[str], int]) -> str:
    """``text`` where it fits, else its beginning. ``size`` is never less than the characters."""
    while (over := size(text) - max(room, 2)) > 0:
        text = clip(text, max(len(text) - over, 1))
        if len(text) == 1:
            break
    return text


def _cut_tail(part: CuttableBlock, share: int) -> list[str]:
    """The heading of a tail and its last lines, so that the whole part stays below ``share``."""
    if not part.tail:
        return []
    heading, *lines = part.tail
    kept = last_lines(lines, share - sum(len(line) + 1 for line in (*part.lines, heading)))
    return [heading, *kept] if kept else []


def last_lines(lines: Sequence[str], room: int) -> list[str]:
    """As many of the last lines as ``room`` characters hold, line ends counted."""
    kept: list[str] = []
    for line in reversed(lines):
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return kept[::-1]
