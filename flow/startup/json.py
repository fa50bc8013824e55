"""``json`` without its cost at start-up: the same C code, without the patterns and classes around.

Importing ``json`` loads ``re``, ``enum``, ``functools`` and ``collections``, more than a bare
interpreter's start. :func:`loads` and :func:`dumps` answer as its own do, with the keywords that
Flow uses. Input that the C code refuses, and rare keywords, go to ``json`` itself, so every error
is its own. ``tests/startup/test_json.py`` checks that both answer alike.

:func:`object_of`, :func:`items_of`, :func:`rows_of`, :func:`texts_of` and :func:`text_of` read
values that nothing has checked: a part of another kind than theirs is left out. Digests and
signatures are made of a value's :func:`canonical` text.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from json import dumps, loads
    from typing import Any
else:
    import sys

    try:
        from _json import encode_basestring, encode_basestring_ascii, make_encoder, make_scanner
    except ImportError:  # an interpreter that was built without them
        make_encoder = make_scanner = None
    if hasattr(sys, "gettotalrefcount"):  # a debug build ends where C meets no json.decoder
        make_encoder = make_scanner = None

    _BLANKS = " \t\n\r"
    _NUMBERS = {name: float(name) for name in ("NaN", "Infinity", "-Infinity")}
    _scanners = {}
    _encoders = {}

    class _Options:
        """The attributes that the C scanner reads from its decoder."""

        strict = True
        object_hook = object_pairs_hook = None
        parse_int = int

        def __init__(self, parse_float, parse_constant):
            self.parse_float = parse_float or float
            self.parse_constant = parse_constant or _NUMBERS.__getitem__

    def loads(text, *, parse_float=None, parse_constant=None):
        """``json.loads``."""
        try:
            key = parse_float, parse_constant
            if key not in _scanners:
                _scanners[key] = make_scanner(_Options(*key))
            words = _decoded(text).strip(_BLANKS)
            value, end = _scanners[key](words, 0)
            if end == len(words):
                return value
        except Exception:  # noqa: BLE001, S110 - json finds it again and says what it is
            pass
        import json

        return json.loads(text, parse_float=parse_float, parse_constant=parse_constant)

    def _decoded(text):
        """``text`` as str: bytes are decoded as UTF-8 if they can be nothing else."""
        if isinstance(text, str):
            return text
        if text[:1] > b"\x7f" or b"\0" in text[:4]:
            raise ValueError("not surely UTF-8")
        return text.decode("utf-8", "surrogatepass")

    def dumps(
        value,
        *,
        indent=None,
        separators=None,
        sort_keys=False,
        ensure_ascii=True,
        allow_nan=True,
        default=None,
    ):
        """``json.dumps``."""
        try:
            text = encode_basestring_ascii if ensure_ascii else encode_basestring
            if isinstance(value, str):
                return text(value)
            between, behind = separators or (", ", ": ")
            how = (text, None, behind, between, sort_keys, False, allow_nan)
            if indent is None and default is None:
                return _line(value, how)

            def line(part):
                return "".join(make_encoder({}, default or _refused, *how)(part, 0))

            if indent is None:
                return line(value)
            if type(indent) is int and separators is None and not sort_keys:
                return _lines(value, text, line, "\n" + " " * indent, indent)
        except Exception:  # noqa: BLE001, S110 - as above
            pass
        import json

        options = {"sort_keys": sort_keys, "ensure_ascii": ensure_ascii, "allow_nan": allow_nan}
        return json.dumps(value, indent=indent, separators=separators, default=default, **options)

    def _line(value, how):
        encoder = _encoders.pop(how, None) or make_encoder({}, _refused, *how)
        text = "".join(encoder(value, 0))
        _encoders[how] = encoder  # returned only if it holds no part of a refused value
        return text

    def _lines(value, text, line, begin, indent):
        """``value`` over several lines, each of which begins with ``begin``."""
        if value.__class__ is str:  # most are, and making an encoder takes longer
            return text(value)
        if value is None:
            return "null"
        if value and isinstance(value, dict):
            if not all(type(key) is str for key in value):
                raise TypeError
            inner = begin + " " * indent
            parts = {text(key): part for key, part in value.items()}
            rows = [f"{key}: {_lines(parts[key], text, line, inner, indent)}" for key in parts]
            opened, closed = "{}"
        elif value and isinstance(value, (list, tuple)):
            inner = begin + " " * indent
            rows = [_lines(part, text, line, inner, indent) for part in value]
            opened, closed = "[]"
        else:
            return line(value)
        return f"{opened}{begin}{f',{begin}'.join(rows)}{begin[: len(begin) - indent]}{closed}"

    def _refused(_value):
        raise TypeError


def canonical(value: object) -> bytes:
    """The canonical text of a value: sorted keys, no spaces, only ASCII characters."""
    return dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")


def object_of(value: object) -> dict[str, Any]:
    """The object; an empty one for any other value."""
    return value if isinstance(value, dict) else {}


def items_of(value: object) -> list[Any]:
    """The list; an empty one for any other value."""
    return value if isinstance(value, list) else []


def rows_of(value: object) -> list[dict[str, Any]]:
    """The objects in a list; none for any other value."""
    return [row for row in items_of(value) if isinstance(row, dict)]


def texts_of(value: object) -> list[str]:
    """The texts in a list; none for any other value."""
    return [text for text in items_of(value) if isinstance(text, str)]


def text_of(value: object) -> str:
    """The text; an empty one for any other value."""
    return value if isinstance(value, str) else ""


__all__ = ["canonical", "dumps", "items_of", "loads", "object_of", "rows_of", "text_of", "texts_of"]
