"""The strict JSON reader: as strict as the YAML one, raising nothing but ContractError."""

from __future__ import annotations

import json
import re
from itertools import islice

from flow.adapters.contracts.text import (
    DEPTH,
    LARGEST,
    LIMIT,
    MOST_FAULTS,
    dotted_path,
    one_line,
    refuse_encoding,
)
from flow.errors import ContractError, Fault, in_file
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flow.adapters.contracts.text import Path

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*(?:"|\\?\Z)', re.DOTALL)
"""Matches at every quote, to the end of the text at worst: else each quote would scan all of it."""
_ESCAPED = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
_UNWRITABLE = re.compile("[\x00\ud800-\udfff]")


class _Forbidden:
    """Marker for a value that the parser must not take; ``why`` is the fault."""

    __slots__ = ("text", "why")

    def __init__(self, text: str, why: str) -> None:
        self.text = text
        self.why = why


class _Twice(dict[str, Any]):
    """A mapping in which some keys were given twice."""

    keys_twice: list[str]


def read_json(data: bytes, *, file: str, what: str = "JSON file", limit: int = LIMIT) -> Any:
    """Read one JSON document; :class:`ContractError` names every fault.

    Refused: bytes that are not UTF-8, over ``limit`` bytes or nested deeper than 32; duplicate
    keys, NaN and infinities, whole numbers outside plus and minus 2^53, NUL, and lone surrogates.
    """
    refuse_encoding(data, file=file, what=what, limit=limit)
    if not data.strip():
        raise in_file(file).corrupt(f"not a {what}: it is empty", "it has to be one JSON document")
    if data.count(b"[") + data.count(b"{") > DEPTH and _nesting_depth(data) > DEPTH:
        raise in_file(file).corrupt(f"nests deeper than {DEPTH} levels", "make it flatter")
    parser = _Parser()
    document = parser.parse(data.decode("utf-8"), file, what)
    if parser.spoiled or _ESCAPED.search(data):
        faults = list(islice(_forbidden_faults(document, (), file), MOST_FAULTS))
        if faults:
            raise ContractError(faults)
    return document


class _Parser:
    """Parses, with a :class:`_Forbidden` in place of each forbidden value; then it is spoiled."""

    def __init__(self) -> None:
        self.spoiled = False

    def parse(self, text: str, file: str, what: str) -> Any:
        try:
            return json.loads(
                text,
                object_pairs_hook=self._mapping,
                parse_int=self._integer,
                parse_float=self._decimal,
                parse_constant=lambda name: self._wrong(name, "is not a finite number"),
            )
        except json.JSONDecodeError as error:
            raise in_file(file, f"line {error.lineno}, column {error.colno}").corrupt(
                f"not a {what}: {error.msg[:1].lower()}{error.msg[1:]}", "correct the JSON there"
            ) from None

    def _wrong(self, text: str, why: str) -> _Forbidden:
        self.spoiled = True
        return _Forbidden(text, why)

    def _mapping(self, items: list[tuple[str, Any]]) -> dict[str, Any]:
        mapping = dict(items)
        if len(mapping) == len(items):
            return mapping
        self.spoiled = True
        twice = _Twice()
        twice.keys_twice = []
        for key, value in items:
            if key in twice:
                twice.keys_twice.append(key)
            else:
                twice[key] = value
        return twice

    def _integer(self, digits: str) -> Any:
        # The length is checked first: int() refuses thousands of digits with an error of its own.
        number = int(digits) if len(digits) <= 32 else LARGEST + 1
        if -LARGEST <= number <= LARGEST:
            return number
        return self._wrong(digits, "is not within -2^53 and 2^53")

    def _decimal(self, digits: str) -> Any:
        number = float(digits)
        if repr(number) == digits:
            return number
        if number - number != 0:
            return self._wrong(digits, "is too large for a number")
        from flow.core.text import numbers

        written = numbers.read(digits)
        if written is None:
            return self._wrong(digits, "is no number of a sensible size")
        return written


def _nesting_depth(data: bytes) -> int:
    """Depth to which the brackets outside strings nest."""
    depth = deepest = 0
    for bracket in re.findall(rb"[\[\]{}]", _STRING.sub(b"", data)):
        if bracket in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        else:
            depth -= 1
    return deepest


def _forbidden_faults(value: Any, path: Path, file: str) -> Iterator[Fault]:
    if isinstance(value, _Forbidden):
        yield in_file(file, dotted_path(path) or None, value.text).fault(
            f"{one_line(value.text)[1:-1]} {value.why}", "correct the number"
        )
    elif isinstance(value, str):
        if _UNWRITABLE.search(value):
            yield _unwritable(value, path, file)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _forbidden_faults(item, (*path, place), file)
    elif isinstance(value, dict):
        for key in value.keys_twice if isinstance(value, _Twice) else ():
            yield in_file(file, dotted_path((*path, key))).fault(
                "is given twice", "keep one of them"
            )
        for key, item in value.items():
            if _UNWRITABLE.search(key):
                yield _unwritable(key, (*path, key), file)
            yield from _forbidden_faults(item, (*path, key), file)


def _unwritable(text: str, path: Path, file: str) -> Fault:
    return in_file(file, dotted_path(path) or None, one_line(text)).fault(
        f"{one_line(text)} holds a NUL or half a character", "take it out"
    )
