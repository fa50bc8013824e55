"""Cutting the parts of a long message to the length that its reader accepts."""

from __future__ import annotations

from flow.core.text.display import clip
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TAIL_CHARACTERS = 1500
"""Characters of one output's end in a message, at most."""
_TAIL_LEAST = 160
_LINES_MOST = 600


class CuttableBlock(NamedTuple):
    """One criterion's part: ``lines`` always stay, ``tail`` is cut first, from its start."""

    lines: list[str]
    tail: list[str]


def fitting(
    parts: Sequence[CuttableBlock], room: int, size: Callable[[str], int], count: int
) -> tuple[list[list[str]], int]:
    """The parts that fit into ``room``, and the number of those that do not."""
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
    """The lines that fit, then the number of the others. A blank line ends them."""
    kept: list[str] = []
    for line in lines:
        room -= size(line) + 1
        if room < 0:
            kept.append(f"and {len(lines) - len(kept):,} lines more")
            break
        kept.append(line)
    return [*kept, ""] if kept else []


def cut_to(text: str, room: int, size: Callable[[str], int]) -> str:
    """``text`` if it fits, else its beginning. ``size`` is never less than the characters."""
    while (over := size(text) - max(room, 2)) > 0:
        text = clip(text, max(len(text) - over, 1))
        if len(text) == 1:
            break
    return text


def _cut_tail(part: CuttableBlock, share: int) -> list[str]:
    """The heading of a tail and its last lines: as many as ``share`` has room for, at least one."""
    if not part.tail:
        return []
    heading, *lines = part.tail
    kept = last_lines(lines, share - sum(len(line) + 1 for line in (*part.lines, heading)))
    return [heading, *(kept or lines[-1:])]


def last_lines(lines: Sequence[str], room: int) -> list[str]:
    """The last lines that fit into ``room`` characters, including line ends."""
    kept: list[str] = []
    for line in reversed(lines):
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return kept[::-1]
