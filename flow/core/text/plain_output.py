"""The output of a command as plain lines, as on a terminal without colours and cursor.

The caller must still make the lines visible (:func:`flow.core.text.display.visible`): control
characters outside escape sequences stay.
"""

from __future__ import annotations

_CONTROL_SEQUENCE = r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
_STRING = r"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f]*(?:\x07|\x1b\\|\x9c)"
"""Titles, links and the like: up to BEL or ST. One without an end before the next one stays."""
_OTHER = r"\x1b[ -/]+[0-~]|\x1b[0-OQ-WYZ\\`-~]"


_COLOUR = r"(?:\x1b\[|\x9b)(?:[0-9;:]*m|[0-2]?K)"
"""Colours, and erasing to the end of a line, which every runner's progress display uses."""


def plain_lines(text: str, *, only_colours: bool = False) -> list[str]:
    """The lines of ``text`` as a screen would show them, without trailing blank ones.

    With ``only_colours`` every other sequence stays, so that the reader can see it.
    """
    if "\x1b" in text or not text.isascii():
        import re

        pattern = _COLOUR if only_colours else f"{_STRING}|{_CONTROL_SEQUENCE}|{_OTHER}"
        text = re.sub(pattern, "", text)
    lines = [_on_screen(line) for line in text.split("\n")]
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def _on_screen(line: str) -> str:
    """A line after its carriage returns: the last text that was written over the others."""
    if "\r" not in line:
        return line
    parts = [part for part in line.split("\r") if part.strip()]
    return parts[-1] if parts else ""
