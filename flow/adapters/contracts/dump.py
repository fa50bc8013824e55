"""New YAML files: readable block style that YAML 1.1 and 1.2 readers understand alike.

No YAML library is needed for it. Strings are written plain only if no reader could take them for
another type; a test checks that PyYAML's own (1.1) loader and Flow's reader read the text alike.
"""

from __future__ import annotations

from _collections_abc import Mapping  # collections itself loads much

from flow.adapters.contracts.text import DEPTH, LARGEST
from flow.core.text.display import double_quoted, is_utf8
from flow.errors import InputError
from flow.startup.functools import lru_cache
from flow.startup.typing import Any

LONGEST_KEY = 1000
"""Characters; YAML looks no further than 1,024 for the colon after a key."""

_UNSAFE = (": ", " #", "  ", '"', "'", "`", "\\")
_UNSAFE_ENDS = (":", " ", "=")
_UNSAFE_IN_FLOW = frozenset(",[]{}:?")
_WORDS = frozenset(
    ("null", "true", "false", "yes", "no", "on", "off", "y", "n", ".inf", ".nan", "inf", "nan")
)
_REMEMBERED = 160
"""Most characters of a text whose written form is remembered: sidecars are much alike."""


def dump(document: Any) -> str:
    """The document as YAML text; raises :class:`InputError` for values the format cannot hold."""
    document = plain_types(document)
    if isinstance(document, (dict, list)) and document:
        return "".join(f"{line}\n" for line in block(document, ""))
    return f"{flow(document)}\n"


def plain_types(value: Any, depth: int = 1) -> Any:
    """``value`` as plain dicts, lists and scalars; raises :class:`InputError`."""
    if value.__class__ is str:  # most are
        return value if value.isprintable() else _writable(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _writable(str(value))
    if isinstance(value, int):
        if -LARGEST <= value <= LARGEST:
            return int(value)
        raise InputError("a number is not within -2^53 and 2^53", remedy="write it as text")
    if isinstance(value, float):
        if value - value == 0:
            return float(value)
        raise InputError(
            f"{value} is not a finite number", remedy="leave it out, or write it as text"
        )
    if depth > DEPTH:
        raise InputError(f"nests deeper than {DEPTH} levels", remedy="make it flatter")
    if isinstance(value, Mapping):
        return {
            _key_text(key): item
            if item.__class__ is str and item.isprintable()  # most are: no call for them
            else plain_types(item, depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [plain_types(item, depth + 1) for item in value]
    raise InputError(f"{type(value).__name__} cannot be written as YAML", remedy="use plain types")


def _writable(text: str) -> str:
    if not text.isprintable() and ("\0" in text or not is_utf8(text)):
        raise InputError(
            f"{text!r:.80} holds a NUL or half a character",
            value=repr(text),
            remedy="write it as UTF-8 text, without NUL",
        )
    return text


@lru_cache(maxsize=512)
def _key_text(key: object) -> str:
    if not isinstance(key, str) or len(key) > LONGEST_KEY or len(double_quoted(key)) > LONGEST_KEY:
        raise InputError(f"{key!r:.80} is no key for YAML", remedy="use a short text as key")
    return _writable(str(key))


def block(value: dict[str, Any] | list[Any], indent: str, *, literals: bool = True) -> list[str]:
    """The lines of a mapping or list that is not empty, in block style, each with ``indent``.

    Without ``literals``, texts of several lines are quoted on one line too.
    """
    lines: list[str] = []
    if isinstance(value, dict):
        for key, item in value.items():
            if item.__class__ is str and len(item) <= _REMEMBERED and "\n" not in item:
                lines.append(_short_entry(indent, key, item))
            elif item.__class__ is int:
                lines.append(f"{indent}{scalar(key)}: {item}")
            else:
                lines += _entry_lines(f"{indent}{scalar(key)}:", item, indent, literals)
        return lines
    for item in value:
        if item.__class__ is str and len(item) <= _REMEMBERED and "\n" not in item:
            lines.append(f"{indent}- {_short_text(item)}")
        elif isinstance(item, (dict, list)) and item:
            first, *rest = block(item, f"{indent}  ", literals=literals)
            lines += [f"{indent}- {first[len(indent) + 2 :]}", *rest]
        else:
            lines += _entry_lines(f"{indent}-", item, indent, literals)
    return lines


def _entry_lines(head: str, value: Any, indent: str, literals: bool) -> list[str]:
    """The lines of one value after ``head`` (``key:`` or ``-``), itself indented by ``indent``."""
    if isinstance(value, (dict, list)) and value:
        return [head, *block(value, f"{indent}  ", literals=literals)]
    mark = literal_mark(value) if literals and isinstance(value, str) and "\n" in value else None
    if mark:
        lines = value.removesuffix("\n").split("\n")
        return [f"{head} {mark}", *(f"{indent}  {line}" if line else "" for line in lines)]
    return [f"{head} {flow(value)}"]


def literal_mark(text: str) -> str | None:
    """``|`` or ``|-`` if a literal block gives exactly ``text``, else None."""
    body = text.removesuffix("\n")
    lines = body.split("\n")
    if not lines[0] or lines[0][0] in " \t" or not lines[-1].strip():
        return None
    if not all(line.replace("\t", "").isprintable() for line in lines):
        return None
    return "|" if body != text else "|-"


def flow(value: Any) -> str:
    """A value on one line, also usable inside ``{}`` and ``[]``."""
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(f"{scalar(k, inside=True)}: {_in_flow(v)}" for k, v in value.items())
            + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(_in_flow(item) for item in value) + "]"
    return scalar(value)


def _in_flow(value: Any) -> str:
    return flow(value) if isinstance(value, (dict, list)) else scalar(value, inside=True)


def scalar(value: Any, *, inside: bool = False, style: str | None = None) -> str:
    """A scalar on one line. ``inside``: of a flow collection; ``style``: the quotes to prefer."""
    if value.__class__ is str and style is None:
        return (_text if len(value) > _REMEMBERED else _short_text)(value, inside)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        text = repr(value)
        # YAML 1.1 knows exponents only after a decimal point.
        return text if "." in text or "e" not in text else text.replace("e", ".0e", 1)
    if style == '"':
        return double_quoted(value)
    if style == "'" and value.isprintable():
        return _single_quoted(value)
    return _text(value, inside)


def _text(value: str, inside: bool = False) -> str:
    if _is_plain(value, inside):
        return str(value)
    if value.isprintable() and ('"' in value or "\\" in value) and "'" not in value:
        return _single_quoted(value)
    return double_quoted(value)


_short_text = lru_cache(maxsize=1024)(_text)


@lru_cache(maxsize=1024)
def _short_entry(indent: str, key: str, text: str) -> str:
    """The line of a key with a short text on one line."""
    return f"{indent}{scalar(key)}: {_short_text(text)}"


def _is_plain(text: str, inside: bool) -> bool:
    return (
        text.isprintable()  # so every blank in it is a space
        and _begins_plainly(text)
        and not text.endswith(_UNSAFE_ENDS)
        and not any(part in text for part in _UNSAFE)
        and not (inside and not _UNSAFE_IN_FLOW.isdisjoint(text))
        and text.lower() not in _WORDS
    )


def _begins_plainly(text: str) -> bool:
    """Whether it begins with a letter (or like a path): no number, date, indicator or quote."""
    first = text[:1]
    if first.isalnum():
        return not first.isdecimal()
    second = text[2:3] if text.startswith("./") else text[1:2]
    return first in (".", "_", "/") and second.isascii() and (second.isalpha() or second == "_")


def _single_quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
