"""Texts as commands print them, made of words at random: the same ones in every run."""

from __future__ import annotations

import base64
import json
import random
import string
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_VOCABULARY = 3000
_REAL = "error warning passed failed test token user server default setting secret value import"


class _Words:
    """Words of lower-case letters, some of them real."""

    def __init__(self) -> None:
        self.made = made = random.Random(5)
        letters = string.ascii_lowercase
        self._all = [
            "".join(made.choices(letters, k=made.randrange(3, 10))) for _ in range(_VOCABULARY)
        ]
        self._all += _REAL.split()

    def one(self) -> str:
        return self.made.choice(self._all)

    def some(self, count: int) -> str:
        return " ".join(self.made.choices(self._all, k=count))


def _log(words: _Words, number: int) -> str:
    at = f"2026-03-01 10:{number // 60 % 60:02d}:{number % 60:02d}"
    return f"{at} INFO {words.one()}.{words.one()}: {words.some(6)} in {words.made.random():.3f}s\n"


def _pytest(words: _Words, number: int) -> str:
    name = f"test_{words.one()}_{words.one()}[{words.one()}-{number}]"
    return f"tests/{words.one()}/test_{words.one()}.py::{name} PASSED [{number % 100:3d}%]\n"


def _compiler(words: _Words, number: int) -> str:
    path = f"/usr/src/{words.one()}/{words.one()}.cpp:{number % 2000}:9"
    line = (
        f"std::{words.one()}<{words.one().title()}> {words.one()} = {words.one()}->{words.one()}();"
    )
    return f"{path}: warning: unused variable '{words.one()}' [-Wunused-variable]\n   |  {line}\n"


def _json(words: _Words, number: int) -> str:
    nested = {"key": words.one(), "count": words.made.randrange(10**5), "ok": True}
    return (
        json.dumps(
            {"id": number, "name": words.some(2), "tags": words.some(4).split(), "nested": nested}
        )
        + "\n"
    )


def _numbers(words: _Words, _number: int) -> str:
    return " ".join(f"{words.made.random() * 1000:.6f}" for _ in range(8)) + "\n"


def _base64(words: _Words, _number: int) -> str:
    return base64.encodebytes(words.made.randbytes(5700)).decode()


def _repeated(_words: _Words, _number: int) -> str:
    return "tests/test_example.py::test_number_12345 PASSED in 0.01s [ 42%]\n"


KINDS: dict[str, Callable[[_Words, int], str]] = {
    "a log": _log,
    "pytest": _pytest,
    "a compiler": _compiler,
    "JSON lines": _json,
    "numbers": _numbers,
    "base64": _base64,
    "one line again and again": _repeated,
}


def text(kind: str, size: int) -> bytes:
    """``size`` bytes of one kind."""
    parts: list[bytes] = []
    words, made = _Words(), 0
    while made < size:
        parts.append(KINDS[kind](words, len(parts)).encode())
        made += len(parts[-1])
    return b"".join(parts)[:size]
