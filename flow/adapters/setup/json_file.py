"""Edits of a JSON file of another program, which leave every other byte of it unchanged.

Reading a file and dumping it again would keep its keys and their order, but not its lists on one
line, its escapes, its numbers' spelling and its line ends. So additions are put into the text, and
the result is read again: it must equal the same edit of the document.
"""

from __future__ import annotations

import json

from flow.adapters.contracts import formats
from flow.adapters.contracts.text import dotted_path, one_line
from flow.adapters.fs import files
from flow.errors import ContractError, in_file
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.adapters.contracts.text import Path

_WHITE = " \t\n\r"
_DECODER = json.JSONDecoder()


class Added(NamedTuple):
    """A member (with its ``key``) or an item (None) that was put in at the end of ``path``."""

    path: Path
    key: str | None
    value: Any


class JsonFile:
    """A JSON file whose top level is an object; an absent file is an empty one.

    Reading raises :class:`ContractError` for broken JSON (comments are that too), and the errors of
    :func:`files.read_optional`. Nothing is written here: :meth:`data` is the new content.
    """

    def __init__(self, top: str, name: str) -> None:
        data = files.read_optional(top, name)
        self.name = name
        self.new = data is None
        self.text = "{}\n" if data is None else data.decode("utf-8", "replace")
        self._document = {} if data is None else _parsed(data, name)
        self._before = self.text
        self.before = data
        self.added: list[Added] = []
        """Members and items of :meth:`add` and :meth:`append`."""
        self.part((), dict)

    @property
    def changed(self) -> bool:
        """Whether there is something to write."""
        return self.text != self._before

    def part(self, path: Path, kind: type) -> Any:
        """The object (``dict``) or list at ``path``, None if there is none.

        Raises :class:`ContractError` for a value of another kind, there or on the way.
        """
        value: Any = self._document
        for place, step in enumerate(path):
            self._require(value, path[:place], dict)
            if step not in value:
                return None
            value = value[step]
        self._require(value, path, kind)
        return value

    def value(self, path: Path) -> Any:
        """The value at ``path``, which must exist."""
        value: Any = self._document
        for step in path:
            value = value[step]
        return value

    def add(self, path: Path, key: str, value: Any) -> None:
        """Put a new member at the end of the object at ``path``."""
        self.value(path)[key] = value
        self.text = _inserted(self.text, path, [(key, value)])
        self.added.append(Added(path, key, value))

    def append(self, path: Path, values: Sequence[Any]) -> None:
        """Put ``values`` at the end of the list at ``path``."""
        self.value(path).extend(values)
        self.text = _inserted(self.text, path, [(None, value) for value in values])
        self.added += [Added(path, None, value) for value in values]

    def put(self, path: Path, value: Any) -> None:
        """Replace the value at ``path``, which must exist."""
        self.value(path[:-1])[path[-1]] = value
        start, end = _value_span(self.text, path)
        self.text = self.text[:start] + json.dumps(value, ensure_ascii=False) + self.text[end:]

    def remove(self, path: Path) -> None:
        """Take the member or item at ``path``, which must exist, out of its object or list."""
        del self.value(path[:-1])[path[-1]]
        start, _ = _value_span(self.text, path[:-1])
        parts, close = _value_parts(self.text, start)
        at = next(number for number, part in enumerate(parts) if part.key == path[-1])
        if len(parts) == 1:
            begin, end = start + 1, close
        elif at + 1 < len(parts):
            begin, end = parts[at].begin, parts[at + 1].begin
        else:
            begin, end = parts[at - 1].end, parts[at].end
        self.text = self.text[:begin] + self.text[end:]

    def data(self) -> bytes:
        """The new content; :class:`RefusedError` if it does not read as intended."""
        data = self.text.encode("utf-8")
        if _parsed(data, self.name) != self._document:
            raise in_file(self.name).refused(
                "it cannot be changed without touching what else is in it", "add it by hand"
            )
        return data

    def _require(self, value: object, path: Path, kind: type) -> None:
        if isinstance(value, kind):
            return
        raise in_file(self.name, dotted_path(path) or None, one_line(value)).corrupt(
            f"is not {'an object' if kind is dict else 'a list'}",
            "correct it, then run the same command again",
        )


def _parsed(data: bytes, name: str) -> Any:
    try:
        return formats.parse_json(data, file=name)
    except ContractError as error:
        if b"//" not in data and b"/*" not in data:
            raise
        for fault in error.faults:
            fault.remedy = f"{fault.remedy}; comments are not JSON, so Flow cannot keep them"
        raise


class _Part(NamedTuple):
    """A member or an item: its beginning, and the start and end of its value."""

    key: str | int
    begin: int
    start: int
    end: int


def _value_parts(text: str, start: int) -> tuple[list[_Part], int]:
    """The parts of the object or list that opens at ``start``, and the place where it closes."""
    parts: list[_Part] = []
    mapping = text[start] == "{"
    at = _skip(text, start + 1)
    while text[at] not in "]}":
        begin, key = at, len(parts)
        if mapping:
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        end = _DECODER.raw_decode(text, at)[1]
        parts.append(_Part(key, begin, at, end))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return parts, at


def _skip(text: str, at: int) -> int:
    while text[at] in _WHITE:
        at += 1
    return at


def _value_span(text: str, path: Path) -> tuple[int, int]:
    """Start and end of the value at ``path``."""
    start = _skip(text, 0)
    end = len(text)
    for step in path:
        part = next(part for part in _value_parts(text, start)[0] if part.key == step)
        start, end = part.start, part.end
    return start, end


def _inserted(text: str, path: Path, entries: Sequence[tuple[str | None, Any]]) -> str:
    """``text`` with members or items at the end of the value at ``path``, in its style."""
    start, _ = _value_span(text, path)
    parts, close = _value_parts(text, start)
    end = parts[-1].end if parts else start + 1
    before, after = text[:end], text[end if parts else close :]
    if not _is_spread(text, start, parts, close):
        members = [
            _member_text(key, json.dumps(value, ensure_ascii=False)) for key, value in entries
        ]
        return f"{before}{', ' if parts else ''}{', '.join(members)}{after}"
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = _indentation(text)
    outer = _leading_space(text, start)
    line = newline + (_leading_space(text, parts[-1].begin) if parts else outer + unit)
    members = [line + _member_text(key, _spread_value(value, unit, line)) for key, value in entries]
    joined = ",".join(members)
    return f"{before},{joined}{after}" if parts else f"{before}{joined}{newline}{outer}{after}"


def _is_spread(text: str, start: int, parts: Sequence[_Part], close: int) -> bool:
    """Whether the value that opens at ``start`` has, or would get, a line for each part."""
    if parts:
        return "\n" in text[start : parts[0].begin]
    whole = text.strip()
    return "\n" in whole or len(whole) == close + 1 - start


def _member_text(key: str | None, value: str) -> str:
    return value if key is None else f"{json.dumps(key, ensure_ascii=False)}: {value}"


def _spread_value(value: Any, unit: str, line: str) -> str:
    return json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", line)


def _leading_space(text: str, at: int) -> str:
    """The white space that the line of ``at`` begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _indentation(text: str) -> str:
    """The indentation that the file uses, two spaces if it uses none."""
    for line in text.split("\n"):
        white = line[: len(line) - len(line.lstrip(" \t"))]
        if white and line.strip():
            return "\t" if white[0] == "\t" else white
    return "  "
