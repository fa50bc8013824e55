"""Text measured in a terminal's columns: wide, combining and hostile characters. Pure."""

from __future__ import annotations

from unicodedata import category, combining, east_asian_width, normalize

from flow.core.text.display import visible

MOST_MARKS = 2
"""The most combining marks on one character: more would cover other lines."""

_FLAGS = {chr(0x1F1E6 + at): letter for at, letter in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZ")}
_FILLERS = "\u3164\uffa0"
_JOINERS = "\u200c\u200d"


def clean(text: str) -> str:
    """``text`` on one line, of characters with the same width in every terminal.

    Control and bidirectional characters become escapes, and so do other format characters, unknown
    code points, and letters without a glyph. Variation selectors and skin tones, which change the
    width of the character before them in some terminals only, are left out, as are joiners, and a
    flag is its two letters.
    """
    shown: list[str] = []
    marks = 0
    for char in normalize("NFC", visible(" ".join(text.split()))):
        if _is_modifier(char) or char in _JOINERS:
            continue
        kind = category(char)
        marks = marks + 1 if kind in ("Mn", "Me", "Mc") or combining(char) else 0
        if marks > MOST_MARKS or (marks and not shown):
            continue
        odd = (
            kind in ("Cf", "Cn", "Co", "Cs", "Zl", "Zp")
            or char in _FILLERS
            or _is_half_syllable(char)
        )
        shown.append(_escaped(char) if odd else _FLAGS.get(char, char))
    return "".join(shown)


def width(text: str) -> int:
    """Width of ``text`` (:func:`clean`) in columns."""
    return sum(_columns(char) for char in text)


def fit(text: str, columns: int, ellipsis: str = "…") -> str:
    """``text`` in exactly ``columns`` columns: cut with ``ellipsis``, or filled with blanks."""
    missing = columns - width(text)
    if missing >= 0:
        return text + " " * missing
    if columns < len(ellipsis):
        return " " * max(columns, 0)
    room = columns - len(ellipsis)
    head = ""
    used = 0
    for char in text:
        used += _columns(char)
        if used > room:
            break
        head += char
    head = head.rstrip() + ellipsis
    return head + " " * (columns - width(head))


def wrap(text: str, columns: int, most: int, ellipsis: str = "…") -> list[str]:
    """``text`` (:func:`clean`) in at most ``most`` lines of at most ``columns``, cut at the end."""
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if width(joined) <= columns:
            lines[-1] = joined
            continue
        if lines[-1]:
            lines.append("")
        for char in word:
            if lines[-1] and width(lines[-1]) + _columns(char) > columns:
                lines.append("")
            lines[-1] += char
    if len(lines) > most:
        rest = " ".join(lines[most - 1 :])
        lines[most - 1 :] = [fit(rest, columns, ellipsis).rstrip()]
    return lines


def encodable(text: str, encoding: str) -> str:
    """``text`` with ``?`` for characters that ``encoding`` lacks; must precede any measuring."""
    try:
        return text.encode(encoding, "replace").decode(encoding, "replace")
    except LookupError:
        return text.encode("ascii", "replace").decode("ascii")


def _columns(char: str) -> int:
    if category(char) in ("Mn", "Me"):
        return 0
    return 2 if east_asian_width(char) in ("W", "F") else 1


def _is_modifier(char: str) -> bool:
    code = ord(char)
    return 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF or 0x1F3FB <= code <= 0x1F3FF


def _is_half_syllable(char: str) -> bool:
    """Whether a character is half a Korean syllable without its first half."""
    return 0x1160 <= ord(char) <= 0x11FF or 0xD7B0 <= ord(char) <= 0xD7FF


def _escaped(char: str) -> str:
    code = ord(char)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
