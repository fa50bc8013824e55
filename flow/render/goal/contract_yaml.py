"""A contract as YAML that reads back to the same values, safe for a terminal. Pure."""

from __future__ import annotations

import json
import re

from flow.core.text.display import visible

_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9_./*@+=() -]*[A-Za-z0-9_./*)]|[A-Za-z/]")
_WORDS = frozenset(["true", "false", "null", "yes", "no", "on", "off", "y", "n"])


def yaml_lines(value: object, depth: int = 0) -> list[str]:
    """The lines of a mapping or a list; texts that YAML could misread are in quotes."""
    pad, lines = "  " * depth, []
    if isinstance(value, dict):
        for key, item in value.items():
            lines += _item(f"{pad}{_scalar(str(key))}:", item, depth)
    elif isinstance(value, (list, tuple)):
        for item in value:
            if isinstance(item, dict) and item:
                first, *rest = yaml_lines(item, depth + 1)
                lines += [f"{pad}- {first.lstrip()}", *rest]
            else:
                lines += _item(f"{pad}-", item, depth)
    return lines


def _item(head: str, item: object, depth: int) -> list[str]:
    if isinstance(item, (dict, list, tuple)) and item:
        return [head, *yaml_lines(item, depth + 1)]
    return [f"{head} {_scalar(item)}"]


def _scalar(value: object) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return "".join(_escaped(char) for char in json.dumps(value, ensure_ascii=False))


def _escaped(char: str) -> str:
    """A character of a quoted text, escaped if a terminal would not show it unchanged."""
    code = ord(char)
    if visible(char) == char and char not in "\ufffe\uffff":  # which no YAML file may hold
        return char
    if 0xD800 <= code <= 0xDFFF:
        return "\\ufffd"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
