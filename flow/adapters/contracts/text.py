"""Shared by the readers: their limits, key paths, values as people read them, the encoding."""

from __future__ import annotations

from flow.core.text.display import clip
from flow.errors import in_file
from flow.startup import re
from flow.startup.typing import Any

Path = tuple[str | int, ...]
"""Place of a value: keys of mappings and places in lists, from the document's top."""

LIMIT = 1 << 20
"""Most bytes of a file."""
DEPTH = 32
"""Depth to which lists and mappings may nest."""
LARGEST = 1 << 53
"""Whole numbers must be between plus and minus this: beyond it, JSON readers round."""
MOST_FAULTS = 1000
"""Most faults of each kind that are listed of one file: a flood of them must not take minutes."""

MISSING = "is missing"
"""The message about a required key that a document lacks."""

_SIMPLE = r"[A-Za-z_][A-Za-z0-9_-]*"


def dotted_path(path: Path) -> str:
    """``objective.acceptance_criteria[1].id``; keys that are no simple words are quoted."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            name = step if re.fullmatch(_SIMPLE, step) and len(step) <= 80 else one_line(step)
            text += f".{name}" if text else name
    return text


def one_line(value: object) -> str:
    """A value on one line, escaped and cut, as a message holds it."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return repr(clip(value, 80))
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, int) and value.bit_length() > 128:
        return "a huge number"  # repr() refuses thousands of digits
    return repr(value)[:80]


def refuse_encoding(data: bytes, *, file: str, what: str, limit: int) -> None:
    """Raise :class:`ContractError` for bytes that are too many or not UTF-8 without a mark."""
    if len(data) > limit:
        raise in_file(file).corrupt(
            f"not a {what}: it has {len(data)} bytes, more than {limit}", "shorten it"
        )
    if data.startswith((b"\xff\xfe", b"\xfe\xff", b"\0")) or data[1:2] == b"\0":
        raise in_file(file).corrupt(f"not a {what}: it is UTF-16 or UTF-32", "save it as UTF-8")
    if data.startswith(b"\xef\xbb\xbf"):
        raise in_file(file).corrupt(
            f"not a {what}: it starts with a byte order mark",
            "save it as UTF-8 without a byte order mark",
        )
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise in_file(file, f"line {line}").corrupt(
            f"not a {what}: byte 0x{data[error.start]:02x} is not UTF-8", "save it as UTF-8"
        ) from None


class _Delete:
    __slots__ = ()

    def __repr__(self) -> str:
        return "DELETE"


DELETE: Any = _Delete()
"""Value of a change that takes the key out."""
