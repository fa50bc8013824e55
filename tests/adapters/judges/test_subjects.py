"""What is judged: text, bytes, files, values."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pydantic
import pytest

from flow.adapters.judges.function import FunctionJudge
from flow.adapters.judges.subjects import parts
from flow.app.judging.port import JudgeAnswer, NoAnswer
from flow.core.decision.verdict import ProposedTransition
from flow.core.judging.common.question import Question
from flow.errors import InputError


@dataclass
class Point:
    x: int


class Model(pydantic.BaseModel):
    y: int


class Shown:
    def to_document(self) -> dict[str, int]:
        return {"z": 3}


TEXTS: list[tuple[Any, str | bytes]] = [
    ("text", "text"),
    ("/etc/hostname", "/etc/hostname"),  # a str is text, never a path
    (b"\xff\x00", b"\xff\x00"),
    (bytearray(b"x"), b"x"),
    (memoryview(b"x"), b"x"),
    ({"a": [1, None, True]}, '{\n  "a": [\n    1,\n    null,\n    true\n  ]\n}'),
    (["ü"], '[\n  "ü"\n]'),
    (3, "3"),
    (None, "null"),
    (False, "false"),
    (Point(1), '{\n  "x": 1\n}'),
    (Model(y=2), '{\n  "y": 2\n}'),
    (Shown(), '{\n  "z": 3\n}'),
    ({"in": Point(1)}, '{\n  "in": {\n    "x": 1\n  }\n}'),
    ([], "[]"),
    (
        ProposedTransition("achieved", "r", 1, "p"),
        '[\n  "achieved",\n  "r",\n  1,\n  "p",\n  null\n]',
    ),
]


@pytest.mark.parametrize(("subject", "text"), TEXTS)
def test_anything_json_can_hold_is_text(subject: Any, text: str | bytes) -> None:
    assert [(p.name, p.text) for p in parts(subject)] == [("subject", text)]


def test_files_are_read(tmp_path: Path) -> None:
    one, two = tmp_path / "one.txt", tmp_path / "two.txt"
    one.write_bytes(b"1\xff")
    two.write_bytes(b"2")
    assert [(p.text, p.source) for p in parts(one)] == [(b"1\xff", "one.txt")]
    several = parts([one, two])
    assert [p.name for p in several] == ["subject, part 1 of 2", "subject, part 2 of 2"]
    assert parts((one,)) == parts(one)


def loop() -> list[Any]:
    found: list[Any] = []
    found.append(found)
    return found


REFUSED: list[tuple[Any, str]] = [
    ("", "empty"), ("  \n", "empty"), (b"", "empty"), (object(), "cannot be shown"),
    ({1, 2}, "cannot be shown"), (float("nan"), "cannot be shown"), (loop(), "cannot be shown"),
    ([b"x"], "cannot be shown"), (Point, "cannot be shown"), ({(1,): 2}, "cannot be shown"),
]  # fmt: skip


@pytest.mark.parametrize(("subject", "why"), REFUSED)
def test_anything_else_is_refused(subject: Any, why: str) -> None:
    with pytest.raises(InputError, match=why):
        parts(subject)


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").touch()
    with open(tmp_path / "huge", "wb") as file:
        file.truncate(1 << 40)
    for name in ("missing", "pipe", "empty", "huge", "."):
        with pytest.raises(InputError):
            parts(tmp_path / name)
    with pytest.raises(InputError, match="more than 100"):
        parts([tmp_path / "x"] * 101)


# --- a function as a judge -----------------------------------------------------------------------

QUESTION = Question("the system", "the prompt", {}, "label")


def test_a_function_gets_the_whole_prompt() -> None:
    seen = []

    def answering(prompt: str) -> dict[str, Any]:
        seen.append(prompt)
        return {"ok": True}

    found = FunctionJudge(answering)(QUESTION, seconds=5)
    assert isinstance(found, JudgeAnswer)
    assert (dict(found.value), found.usage.backend) == ({"ok": True}, "answering")
    assert seen == ["the system\n\nthe prompt"]


def raising(_: str) -> dict[str, Any]:
    raise KeyError("a key")


def telling(_: str) -> dict[str, Any]:
    raise RuntimeError(f"\x1b[31mno access with ghp_{'a1B2' * 9} or swordfish-7391")


async def hanging(_: str) -> dict[str, Any]:
    import asyncio

    await asyncio.sleep(3600)
    return {}


def test_what_a_function_raises_is_told_without_its_secrets() -> None:
    judge = FunctionJudge(telling, environ={"MY_TOKEN": "swordfish-7391"})
    found = judge(QUESTION, seconds=1)
    assert isinstance(found, NoAnswer)
    assert found.reason.startswith("telling raised RuntimeError: \\x1b[31mno access with [masked:")
    assert "a1B2" not in found.reason
    assert "swordfish" not in found.reason


FUNCTIONS = [
    (raising, "error", "raising raised KeyError: 'a key'"),
    (lambda _: "text", "wrong_shape", "returned str, not a mapping"),
    (lambda _: None, "wrong_shape", "returned NoneType, not a mapping"),
    (hanging, "timeout", "no answer within 0.01 s"),
]


@pytest.mark.parametrize(("function", "kind", "why"), FUNCTIONS)
def test_a_function_that_does_not_answer(function: Any, kind: str, why: str) -> None:
    found = FunctionJudge(function)(QUESTION, seconds=0.01)
    assert isinstance(found, NoAnswer)
    assert found.kind == kind
    assert why in found.reason
