"""The lines after a change of a goal's status: person, words, and the next command. Pure."""

from __future__ import annotations

from flow.core.text.display import clip, visible
from flow.render.text import step_line
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.render.screen import Screen

WORDS = 600
"""Characters of a person's words that are shown."""
LABEL = 6
"""Columns of the label before the next command."""


def moved_lines(
    screen: Screen, meaning: str, sentence: str, *, words: str = "", next_step: str = ""
) -> list[str]:
    """A mark and a sentence, the person's words below it, and last the next command in full."""
    lines = [f"{screen.mark(meaning)} {visible(sentence)}"]
    if words:
        lines.append(f"  {screen.quote(clip(words, WORDS))}")
    if next_step:
        lines.append(step_line(screen, "next", visible(next_step), LABEL))
    return lines
