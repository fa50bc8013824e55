"""The differences between two contracts, as lines to read before trusting the newer one.

A changed key is in the first column, its old text below after ``  - ``, its new text after
``  + ``; nothing in a contract can start a line without one of these marks. Texts are shown in
full. Text that could hide or move other text (control characters, bidi marks, invisible and unusual
spaces, trailing spaces) is written in quotes with escapes; so is text that itself starts with a
quote, so that no two different values look alike.
"""

from __future__ import annotations

import json
import re
from collections import Counter

from flow.core.text.display import double_quoted, escaped
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_SCALAR_LIKE = re.compile(r"(?:true|false|null|\[\]|\{\}|-?[0-9].*|[\"|].*|\s.*|.*\s)?", re.DOTALL)


def difference(old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> list[str]:
    """Lines that show, key by key, the differences of ``new`` from ``old``; [] if there are none.

    Without ``old`` everything in ``new`` is shown as added. Criteria and other entries with an
    ``id`` are compared by it, lists of plain values by removed and added values.
    """
    return list(_changes("", {} if old is None else old, new))


def quoted_if_misleading(text: str) -> str:
    """``text`` on one line: unchanged, or quoted and escaped if it could mislead."""
    if text.isprintable() and not _SCALAR_LIKE.fullmatch(text):
        return text
    return double_quoted(text)


def _changes(path: str, old: Any, new: Any) -> Iterator[str]:
    if old == new and json_line(old) == json_line(new):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        yield from _entries(old, new, lambda key: _join(path, key))
    elif isinstance(old, list) and isinstance(new, list):
        yield from _list(path, old, new)
    else:
        yield f"{path}:"
        yield from _lines("-", old)
        yield from _lines("+", new)


def _entries(
    old: Mapping[str, Any], new: Mapping[str, Any], path: Callable[[str], str]
) -> Iterator[str]:
    """The differences between two mappings; ``path`` turns an entry's name into its path."""
    for name in [*old, *(name for name in new if name not in old)]:
        if name not in new:
            yield from _whole("-", path(name), old[name])
        elif name not in old:
            yield from _whole("+", path(name), new[name])
        else:
            yield from _changes(path(name), old[name], new[name])


def _whole(mark: str, path: str, value: Any) -> Iterator[str]:
    """A removed or added value, each of its keys on a path of its own."""
    ids = _ids(value)
    if isinstance(value, dict) and value:
        for key, below in value.items():
            yield from _whole(mark, _join(path, key), below)
    elif ids:
        for name, below in ids.items():
            yield from _whole(mark, f"{path}[{quoted_if_misleading(name)}]", below)
    else:
        yield f"{path}:"
        yield from _lines(mark, value)


def _list(path: str, old: Sequence[Any], new: Sequence[Any]) -> Iterator[str]:
    before, after = _ids(old), _ids(new)
    if before is not None and after is not None:
        yield from _entries(before, after, lambda name: f"{path}[{quoted_if_misleading(name)}]")
        kept = [name for name in before if name in after]
        if kept != [name for name in after if name in before]:
            yield f"{path}: in another order"
            yield from _lines("-", list(before))
            yield from _lines("+", list(after))
        return
    removed, added = without(old, new), without(new, old)
    if not removed and not added:
        yield f"{path}: in another order"
        removed, added = list(old), list(new)
    else:
        yield f"{path}:"
    for value in removed:
        yield from _lines("-", value)
    for value in added:
        yield from _lines("+", value)


def without(values: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    """``values`` without ``others``, counting repeated entries."""
    left = Counter(map(json_line, others))
    rest = []
    for value in values:
        if left[json_line(value)]:
            left[json_line(value)] -= 1
        else:
            rest.append(value)
    return rest


def _ids(value: Any) -> dict[str, Any] | None:
    """The entries by ``id``; None unless each has an id of its own."""
    if not isinstance(value, list) or not all(
        isinstance(entry, dict) and isinstance(entry.get("id"), str) for entry in value
    ):
        return None
    by_id = {entry["id"]: entry for entry in value}
    return by_id if len(by_id) == len(value) else None


def _lines(mark: str, value: Any) -> Iterator[str]:
    """The value in full. Each line of a longer text follows the mark and a bar."""
    if isinstance(value, list) and value:
        for entry in value:
            if isinstance(entry, str):
                yield from _lines(mark, entry)
            else:
                yield f"  {mark} {json_line(entry)}"
    elif isinstance(value, str) and "\n" in value:
        for part in value.split("\n"):
            plain = part.isprintable() and part[:1] != '"' and part.rstrip() == part
            yield f"  {mark} | {part if plain else double_quoted(part)}".rstrip()
    elif isinstance(value, str):
        yield f"  {mark} {quoted_if_misleading(value)}"
    else:
        yield f"  {mark} {json_line(value)}"


def json_line(value: Any) -> str:
    """The value as one line of JSON without misleading characters.

    It serves for comparison, too: ``1``, ``1.0`` and ``true`` are three values.
    """
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return "".join(c if c.isprintable() else escaped(c) for c in text)


def _join(path: str, key: object) -> str:
    name = key if isinstance(key, str) and _PLAIN_KEY.fullmatch(key) else json_line(key)
    return f"{path}.{name}" if path else name
