"""Foreign text made safe to show: on one line, nothing invisible, within a limit."""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def clip(text: str, limit: int) -> str:
    """``text`` in at most ``limit`` characters, including the mark ``…``."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def is_utf8(text: str) -> bool:
    """Whether UTF-8 can encode ``text``: it has no undecodable bytes and no lone surrogates."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def visible(text: str) -> str:
    """``text`` on one line, with control, bidirectional and undecodable characters escaped.

    Joiners inside an emoji, or in a script that needs them, stay.
    """
    if text.isascii() and text.isprintable():  # most are
        return text
    if _JOINER in text or _NON_JOINER in text:
        places = enumerate(text)
        return "".join(c if _plain(c) or _joins(text, at) else _escape(c) for at, c in places)
    return "".join(c if _plain(c) else _escape(c) for c in text)


_NON_JOINER, _JOINER = "\u200c", "\u200d"


def _joins(text: str, at: int) -> bool:
    if not 0 < at < len(text) - 1 or text[at] not in (_NON_JOINER, _JOINER):
        return False
    before, after = ord(text[at - 1]), ord(text[at + 1])
    if text[at] == _JOINER and _emoji(after):
        return _emoji(before) or before == 0xFE0F
    return all(0x620 <= code <= 0x6EF or 0x900 <= code <= 0xDFF for code in (before, after))


def _emoji(code: int) -> bool:
    return 0x1F300 <= code <= 0x1FAFF or 0x2600 <= code <= 0x27BF or 0x2B00 <= code <= 0x2BFF


def _plain(char: str) -> bool:
    code = ord(char)
    if code < 0xA0:
        return 0x20 <= code < 0x7F
    return not (
        code in (0xAD, 0x61C, 0x180E, 0xFEFF)
        or 0x200B <= code <= 0x200F
        or 0x2028 <= code <= 0x202E
        or 0x2060 <= code <= 0x206F
        or 0xD800 <= code <= 0xDFFF
        or 0xFFF9 <= code <= 0xFFFB
        or 0xE0000 <= code <= 0xE007F
    )


def _escape(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # an undecodable byte, in the form of surrogateescape
        return f"\\x{code - 0xDC00:02x}"
    return escaped(char)


_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def escaped(char: str) -> str:
    """A character's escape in YAML's double quotes: a letter, or its number."""
    code = ord(char)
    if char in _ESCAPES:
        return _ESCAPES[char]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def double_quoted(text: str) -> str:
    """``text`` in double quotes on one line; every YAML reader restores it unchanged."""
    inside = text.replace("\\", "\\\\").replace('"', '\\"')
    if not inside.isprintable():
        inside = "".join(c if c.isprintable() else escaped(c) for c in inside)
    return f'"{inside}"'


def names(items: Sequence[str], most: int = 8, rest: str = "") -> str:
    """``a, b, c and 4 more``; with ``rest``, a command that shows them, also ``: COMMAND``."""
    shown = joined([*map(visible, items[:most])], len(items))
    return f"{shown}: {rest}" if rest and len(items) > most else shown


def joined(shown: Sequence[str], count: int, between: str = ", ", before: str = " ") -> str:
    """``a, b and 4 more``: what is shown of ``count`` items, and the number of the others."""
    others = count - len(shown)
    return between.join(shown) + (f"{before}and {others:,} more" if others > 0 else "")


def counted(count: int, noun: str, verbs: tuple[str, str] | None = None) -> str:
    """``1 file``, ``2 files``; with ``verbs`` also the one of them that fits."""
    one = count == 1
    verb = f" {verbs[0] if one else verbs[1]}" if verbs else ""
    return f"{count:,} {noun}{'' if one else 's'}{verb}"


def some_names(items: Sequence[str], most: int = 10) -> str:
    """``a, b and c``, for a sentence; only the first ones of many."""
    if len(items) > most:
        return names(items, most)
    return " and ".join(
        filter(None, [", ".join(map(visible, items[:-1])), *map(visible, items[-1:])])
    )
