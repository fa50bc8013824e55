"""What the question before a goal is closed must tell, by what the oracle knows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.faults.undeserved.world import MAKE, SCRIPT, SHIMMED, TESTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.faults.undeserved.oracle import Oracle

OF_TESTS = ("tests/test_app.py", "tests/new.py", "tests/conftest.py", "conftest.py", "tox.ini")
NAMED = {
    SCRIPT: ("src/check.sh",),
    SHIMMED: (".venv/bin/check", *OF_TESTS),
    MAKE: ("Makefile",),
    TESTS: OF_TESTS,
}
"""By a command's beginning: the files that it names, and those that steer its runner."""


def missing(question: Any, oracle: Oracle, goal: str) -> list[str]:
    """What a person would confirm without having been told."""
    if not isinstance(question, dict):
        return ["there is no question"]
    told = _plain(question)
    return [f"{what} {name!r}" for what, name in _needed(oracle, goal) if name not in told]


def _plain(question: dict[str, Any]) -> str:
    """All its texts, one a line."""

    def texts(value: Any) -> Iterator[str]:
        if isinstance(value, dict):
            for part in value.values():
                yield from texts(part)
        elif isinstance(value, list):
            for part in value:
                yield from texts(part)
        else:
            yield value if isinstance(value, str) else json.dumps(value)

    return "\n".join(texts(question))


def _needed(oracle: Oracle, goal: str) -> Iterator[tuple[str, str]]:
    begun = oracle.begun[goal]
    for criterion in begun.contract["objective"]["acceptance_criteria"]:
        yield "the text of a criterion", criterion["text"]
        yield "the command of a criterion", criterion["verification_command"]
    for old, new in oracle.amended.get(goal, ()):
        yield "what the contract said", old
        yield "what the contract says", new
    now = oracle.working_tree()
    for path in proof(oracle, goal):
        if now.get(path) != begun.files.get(path):
            yield "a changed file of the proof", path
    staged, head = oracle.index(), oracle.commit_tree("HEAD")
    for path, entry in oracle.made.items():
        left = now.get(path) == entry and path not in staged and path not in head
        if left and not oracle.is_ignored(path) and not path.startswith((".flow/", ".decisions/")):
            yield "a by-product", path


def proof(oracle: Oracle, goal: str) -> list[str]:
    """The files that a goal's commands name, and those that steer their runner."""
    criteria = oracle.begun[goal].contract["objective"]["acceptance_criteria"]
    commands = [criterion["verification_command"] for criterion in criteria]
    found = {p for c in commands for start in NAMED if c.startswith(start) for p in NAMED[start]}
    return sorted(found)
