"""Whether one pattern covers another: never a yes that a path proves wrong."""

from __future__ import annotations

import itertools
import random

import pytest

from flow.core.boundary.glob_cover import covers
from flow.core.boundary.globs import GlobError, compile_glob, why_not


@pytest.mark.parametrize(
    ("wider", "narrower", "anchored", "expected"),
    [
        ("src/**", "src/**", True, True),
        ("src/**", "src/a.py", True, True),
        ("src/**", "src/lib/**", True, True),
        ("src/**", "src/*.py", True, True),
        ("src/**", "src/", True, True),
        ("src/", "src/**", True, True),
        ("src", "src/**", True, True),
        ("src", "src/", True, True),
        ("src/", "src", True, False),  # a file of that name
        ("src/**", "src", True, False),
        ("src/*.py", "src/a.py", True, True),
        ("src/*.py", "src/b*.py", True, False),  # it is so, and cannot be told
        ("src/*/**/", "src/a/b", True, False),
        ("src/**", "srcs/**", True, False),
        ("src/**", "**/src/a", True, False),
        ("lib/**", "src/lib/**", True, False),
        ("lib/**", "src/lib/**", False, True),
        ("secret/**", "secret/keys/**", False, True),
        ("**", "anything/**", True, True),
        ("**", "**/x", True, True),
        ("**/", "x", True, False),
        ("a\\*", "a\\*/b", True, True),
        ("a*", "a\\*", True, True),
    ],
)
def test_what_can_be_told(wider: str, narrower: str, anchored: bool, expected: bool) -> None:
    assert covers(wider, narrower, anchored=anchored) is expected


NAMES = ("a", "b", "ab", "c")
PIECES = ("a", "b", "ab", "*", "a*", "?b", "[ab]", "**")


def test_a_yes_holds_for_every_path() -> None:
    chance = random.Random(20261121)
    paths = [
        "/".join(names).encode()
        for n in (1, 2, 3, 4)
        for names in itertools.product(NAMES, repeat=n)
    ]
    yes = 0
    for _ in range(4000):
        wider, narrower = (
            "/".join(chance.choices(PIECES, k=chance.randint(1, 3))) + chance.choice(("", "/", ""))
            for _ in range(2)
        )
        if why_not(wider) or why_not(narrower):
            continue
        anchored = chance.random() < 0.5
        if not covers(wider, narrower, anchored=anchored) or wider == narrower:
            continue
        yes += 1
        try:
            outer, inner = (compile_glob(t, anchored=anchored) for t in (wider, narrower))
        except GlobError:
            continue
        for path, folder in itertools.product(paths[::3], (False, True)):
            if inner.matches(path, folder=folder):
                assert outer.matches(path, folder=folder), (wider, narrower, anchored, path, folder)
    assert yes > 200
