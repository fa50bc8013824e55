"""Reading back JSON that Flow itself wrote, and that others may have damaged since.

Less strict than :mod:`flow.adapters.contracts.strict_json`, which names every fault of people's
texts. But any bytes cost at most a few times their size in memory and end in a value or in
ValueError.
"""

from __future__ import annotations

from flow.startup import json, re
from flow.startup.typing import Any

DEPTH = 32
DENSE = 24
"""Least bytes for each value of a large document. ``[],[],`` takes 24 times its size in memory;
Flow's own long documents consist of paths and digests.
"""
LARGE = 1 << 20
_STRUCTURE = (b",", b":", b"[", b"{")
_STRING = rb'(?s)"(?:[^"\\]|\\.)*+(?:"|\Z)'
"""A string, or an unfinished one: a text that holds commas and colons is one value."""


def loads(data: bytes) -> Any:
    """The JSON value; ValueError for anything else.

    Also for NaN and infinities, for more than 32 levels, and for a large document that consists
    almost only of structure.
    """
    if len(data) > LARGE and _dense(data) and _dense(re.sub(_STRING, b'""', data), len(data)):
        raise ValueError("it has too many values for its size")
    try:
        value = json.loads(data.decode("utf-8"), parse_float=_finite, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("it nests too deeply") from None
    if data.count(b"[") + data.count(b"{") > DEPTH and _deeper(value, DEPTH):
        raise ValueError(f"it nests deeper than {DEPTH} levels")
    return value


def _dense(data: bytes, size: int = 0) -> bool:
    """Whether there are too many values for ``size`` bytes (default: those of ``data``)."""
    return sum(map(data.count, _STRUCTURE)) > (size or len(data)) // DENSE


def mapping(data: bytes | None) -> dict[str, Any] | None:
    """The JSON object in ``data``; None for anything else, and for None."""
    try:
        value = loads(data) if data else None
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not a finite number")


def _finite(digits: str) -> float:
    number = float(digits)
    if number - number != 0:
        raise ValueError(f"{digits[:20]} is too large for a number")
    return number


def _deeper(value: Any, depth: int) -> bool:
    """Whether ``value`` nests deeper than ``depth``, level by level."""
    level = [value]
    for _ in range(depth + 1):
        below: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                below += [part for part in item.values() if isinstance(part, dict | list)]
            elif isinstance(item, list):
                below += [part for part in item if isinstance(part, dict | list)]
        if not below:
            return False
        level = below
    return True
