"""Faults of a YAML text, written into it as comments above their lines, for a person's editor."""

from __future__ import annotations

import re

from flow.adapters.contracts.nodes import yaml_tree
from flow.adapters.contracts.strict_yaml import read_yaml
from flow.adapters.contracts.text import dotted_path
from flow.core.text.display import clip, visible
from flow.errors import ContractError
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flow.adapters.contracts.nodes import YamlNode
    from flow.errors import Fault

_MARK = "#! "
_LONGEST = 300


def with_faults(text: str, faults: Sequence[Fault]) -> str:
    """``text`` with each fault above its line; a fault without a line comes at the top."""
    places = _places(text) if faults else {}
    notes: dict[int, list[str]] = {}
    for fault in faults:
        number = _line_of(fault.key or "", places)
        message = f"{fault.message} ({fault.remedy})" if fault.remedy else fault.message
        note = message if number or not fault.key else f"{fault.key}: {message}"
        notes.setdefault(number, []).append(f"{_MARK}{clip(visible(note), _LONGEST)}\n")
    if faults:
        head = "put right what is named here; an empty file changes nothing"
        notes.setdefault(0, []).insert(0, f"{_MARK}{head}\n")
    lines = text.splitlines(keepends=True)
    marked = list(notes.pop(0, []))
    for number, line in enumerate(lines, 1):
        marked += [*notes.pop(number, []), line]
    if marked and not marked[-1].endswith("\n"):
        marked[-1] += "\n"
    return "".join(marked) + "".join(note for rest in notes.values() for note in rest)


def without_faults(text: str) -> str:
    """``text`` without the lines that :func:`with_faults` adds."""
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith(_MARK))


def _line_of(key: str, places: dict[str, int]) -> int:
    """The line that a fault's key names, or the nearest above it; 0 if there is none."""
    if named := re.match(r"line ([0-9]{1,9})\b", key):
        return int(named[1])
    while key:
        if key in places:
            return places[key]
        key = re.sub(r"(?:\.[^.\[\]]*|\[[^\[\]]*\]|^[^.\[\]]+)$", "", key)
    return 0


def _places(text: str) -> dict[str, int]:
    """Dotted path → line of every entry; empty if the text cannot be read as YAML."""
    try:
        if read_yaml(text.encode("utf-8", "replace"), file="").faults:
            return {}
    except ContractError:
        return {}
    return dict(_entries(yaml_tree(text, ""), (), text))


def _entries(node: YamlNode, path: tuple[str | int, ...], text: str) -> Iterator[tuple[str, int]]:
    for place, (key, value) in enumerate(node.entries):
        here = (*path, place if key is None else key.value)
        yield dotted_path(here), text.count("\n", 0, (key or value).start) + 1
        yield from _entries(value, here, text)
