"""Edits of YAML texts: the value that was meant changes, and not one other line."""

from __future__ import annotations

import copy
import re
from itertools import product
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from flow.adapters.contracts import dump as contracts_dump
from flow.adapters.contracts import edit as contracts_edit
from flow.adapters.contracts import formats, strict_yaml
from flow.adapters.contracts.text import DELETE
from flow.errors import ContractError, InputError, RefusedError
from tests.adapters.contracts.samples import GOAL
from tests.adapters.contracts.test_dump import SCALAR, TEXT, VALUE
from tests.support.effort import examples

FILE = "goals/issue-4.goal.yaml"
LAST = {"result": "fail", "reason": "AC1: no", "at": "2026-03-01T10:15:00Z"}


@pytest.fixture(params=["C parser", "pure parser"], autouse=True)
def parser(request: Any, monkeypatch: Any) -> None:
    if request.param == "pure parser":
        monkeypatch.setattr(strict_yaml, "new_parser", strict_yaml._pure_parser)


def edit(text: str, *changes: tuple[tuple[str | int, ...], Any]) -> str:
    return formats.edit(text, list(changes), file=FILE)


def read(text: str) -> Any:
    return formats.parse_yaml(text.encode(), file=FILE)


@pytest.mark.parametrize(
    ("text", "changes", "wanted"),
    [
        pytest.param(
            "a: 1 # one\nb: 2\n", [(("a",), 5)], "a: 5 # one\nb: 2\n", id="trailing comment stays"
        ),
        pytest.param("a:   1\n", [(("a",), 5)], "a:   5\n", id="spaces before the value stay"),
        pytest.param('a: "x"\n', [(("a",), "y")], 'a: "y"\n', id="double quotes stay"),
        pytest.param("a: 'x'\n", [(("a",), "y'")], "a: 'y'''\n", id="single quotes stay"),
        pytest.param(
            "a: 'x'\n", [(("a",), "y\n")], 'a: "y\\n"\n', id="a line break needs double quotes"
        ),
        pytest.param("a: x\n", [(("a",), "y: z")], 'a: "y: z"\n', id="quotes where needed"),
        pytest.param("a: x\n", [(("a",), "no")], 'a: "no"\n', id="quotes against YAML 1.1"),
        pytest.param("a: 'x'\n", [(("a",), None)], "a: null\n", id="None writes null"),
        pytest.param("a: 'x'\n", [(("a",), 4)], "a: 4\n", id="a number takes no quotes"),
        pytest.param("a:\nb: 1\n", [(("a",), "x")], "a: x\nb: 1\n", id="an empty value"),
        pytest.param(
            "a:   # c\n", [(("a",), "x")], "a: x   # c\n", id="an empty value with a comment"
        ),
        pytest.param(
            "a:\n  x\nb: 1\n", [(("a",), "w")], "a:\n  w\nb: 1\n", id="value on the next line"
        ),
        pytest.param(
            "a: x\n  y\nb: 1\n", [(("a",), "z")], "a: z\nb: 1\n", id="plain over two lines"
        ),
        pytest.param(
            'a: "x\n  y"\nb: 1\n', [(("a",), "z")], 'a: "z"\nb: 1\n', id="quoted over two lines"
        ),
        pytest.param(
            "a: |\n  x\n  y\nb: 1\n", [(("a",), "z")], "a: z\nb: 1\n", id="a literal goes"
        ),
        pytest.param(
            "a: |+\n  x\n\nb: 1\n", [(("a",), "z")], "a: z\nb: 1\n", id="a kept literal goes"
        ),
        pytest.param(
            "a: >-\n  x\n\nb: 1\n", [(("a",), "z")], "a: z\n\nb: 1\n", id="a folded one goes"
        ),
        pytest.param(
            "a: |\n  x", [(("a",), "z")], "a: z", id="a literal at the end of the file goes"
        ),
        pytest.param(
            "a: | # why\n  x\n  y\nb: 1\n",
            [(("a",), "z")],
            "a: z # why\nb: 1\n",
            id="the comment of a literal stays",
        ),
        pytest.param(
            "a: >2-   # why\r\n  x\r\n\r\nb: 1\r\n",
            [(("a",), "z: #")],
            'a: "z: #"   # why\r\n\r\nb: 1\r\n',
            id="the comment of a folded one stays",
        ),
        pytest.param(
            "l:\n  - a: |- # why\n      x # no comment\n    b: 1\n",
            [(("l", 0, "a"), "z")],
            "l:\n  - a: z # why\n    b: 1\n",
            id="the comment of a literal in a list stays",
        ),
        pytest.param(
            "l:\n  - | # why\n    x\n  - y\n",
            [(("l", 0), "z")],
            "l:\n  - z # why\n  - y\n",
            id="the comment of a literal that is an item stays",
        ),
        pytest.param(
            "a: | # why\n  x", [(("a",), "z")], "a: z # why", id="and at the end of the file"
        ),
        pytest.param("a: | # why\n", [(("a",), "z")], "a: z # why\n", id="and of an empty literal"),
        pytest.param(
            "l: | # why\n  s\n\nm: 1\n",
            [(("l",), ["a"])],
            "l: # why\n  - a\n\nm: 1\n",
            id="the comment of a literal that becomes a list stays",
        ),
        pytest.param(
            "a: | # why\n  x\nb: 1\n",
            [(("a",), "z\nz\n")],
            'a: "z\\nz\\n" # why\nb: 1\n',
            id="the comment of a literal stays with several lines",
        ),
        pytest.param("'a': 1\n\"b\": 2\n", [(("b",), 3)], "'a': 1\n\"b\": 3\n", id="quoted keys"),
        pytest.param("? a\n: 1\nb: 2\n", [(("a",), 3)], "? a\n: 3\nb: 2\n", id="explicit key"),
        pytest.param("a: 1\r\nb: 2\r\n", [(("b",), 3)], "a: 1\r\nb: 3\r\n", id="CRLF stays"),
        pytest.param(
            "a: 1\r\nb: 2\r\n",
            [(("c",), {"d": [1]})],
            "a: 1\r\nb: 2\r\nc:\r\n  d:\r\n    - 1\r\n",
            id="CRLF for new lines",
        ),
        pytest.param("a: 1", [(("a",), 2)], "a: 2", id="no newline at the end stays so"),
        pytest.param("a: 1", [(("b",), 2)], "a: 1\nb: 2", id="a new key there"),
        pytest.param(
            "a: 1 # c", [(("b",), 2)], "a: 1 # c\nb: 2", id="a new key behind a comment there"
        ),
        pytest.param(
            "a: |\n  x", [(("b",), 2)], "a: |-\n  x\nb: 2", id="a literal without its newline"
        ),
        pytest.param("a: >1\n x", [(("b",), 2)], "a: >1-\n x\nb: 2", id="a folded one, indented"),
        pytest.param("a: |+\n  x", [(("b",), 2)], "a: |-\n  x\nb: 2", id="a kept one"),
        pytest.param(
            "a: |\n  x\n", [(("b",), 2)], "a: |\n  x\nb: 2\n", id="a new key behind a literal"
        ),
        pytest.param(
            "a: |+\n  x\n\n\n", [(("b",), 2)], "a: |+\n  x\n\n\nb: 2\n", id="kept blank lines"
        ),
        pytest.param(
            "l:\n  a: |\n    x\n\n\nm: 1\n",
            [(("l", "b"), 2)],
            "l:\n  a: |\n    x\n  b: 2\n\n\nm: 1\n",
            id="blank lines behind a literal stay behind",
        ),
        pytest.param(
            "l:\n  a: 1\n  # inner\n\n# outer\nm: 1\n",
            [(("l", "b"), 2)],
            "l:\n  a: 1\n  b: 2\n  # inner\n\n# outer\nm: 1\n",
            id="comments behind the last key",
        ),
        pytest.param(
            "l:\n      a: 1\nm: 1\n",
            [(("l", "b"), 2)],
            "l:\n      a: 1\n      b: 2\nm: 1\n",
            id="the mapping's own indentation",
        ),
        pytest.param(
            "l: {a: 1}\n", [(("l", "b"), 2)], "l: {a: 1, b: 2}\n", id="into a flow mapping"
        ),
        pytest.param("l: { a: 1 }\n", [(("l", "b"), 2)], "l: { a: 1, b: 2 }\n", id="with spaces"),
        pytest.param("l: {a: 1,}\n", [(("l", "b"), 2)], "l: {a: 1, b: 2,}\n", id="with a comma"),
        pytest.param("l: {a}\n", [(("l", "a"), 2)], "l: {a: 2}\n", id="a key alone in it"),
        pytest.param(
            "l: {}\n", [(("l", "a"), "x")], "l:\n  a: x\n", id="an empty mapping is filled"
        ),
        pytest.param(
            "l: {\n  a: 1, # one\n  b: 2 # two\n}\n",
            [(("l", "b"), "x, y"), (("l", "c"), 3)],
            'l: {\n  a: 1, # one\n  b: "x, y", c: 3 # two\n}\n',
            id="a flow mapping over lines",
        ),
        pytest.param(
            "lifecycle: {status: active}\n",
            [
                (("lifecycle", "status"), "blocked"),
                (("lifecycle", "last_evaluation"), {"at": "a b"}),
            ],
            "lifecycle: {status: blocked, last_evaluation: {at: a b}}\n",
            id="lifecycle in flow style",
        ),
        pytest.param(
            "l:\n  e: null # none yet\nm: 1\n",
            [(("l", "e"), LAST)],
            'l:\n  e: # none yet\n    result: fail\n    reason: "AC1: no"\n'
            '    at: "2026-03-01T10:15:00Z"\nm: 1\n',
            id="null becomes a mapping",
        ),
        pytest.param(
            "l:\n  e:\nm: 1\n",
            [(("l", "e"), {"a": 1})],
            "l:\n  e:\n    a: 1\nm: 1\n",
            id="nothing too",
        ),
        pytest.param(
            "l:\n  e:\n    result: pass # r\n    # c\n    reason: 'x'\n"
            "    at: 2025-01-01T00:00:00Z\n",
            [(("l", "e"), LAST)],
            "l:\n  e:\n    result: fail # r\n    # c\n    reason: 'AC1: no'\n"
            '    at: "2026-03-01T10:15:00Z"\n',
            id="a mapping is edited key by key",
        ),
        pytest.param(
            "l: # c\n  s: 1\n  old: 2\n  e:\n    x: 1\n# d\nm: 1\n",
            [(("l",), {"s": 9, "new": [1]})],
            "l: # c\n  s: 9\n  new:\n    - 1\n# d\nm: 1\n",
            id="a mapping is replaced",
        ),
        pytest.param(
            "l:\n  s: 1\n  t: 2\nm: 1\n",
            [(("l",), None)],
            "l: null\nm: 1\n",
            id="a mapping becomes null",
        ),
        pytest.param(
            "l: # c\n  s: 1\nm: 1\n",
            [(("l",), "x")],
            "l: x # c\nm: 1\n",
            id="a mapping becomes a text",
        ),
        pytest.param(
            "l:\n  s: 1\nm: 1\n",
            [(("l",), {})],
            "l: {}\nm: 1\n",
            id="a mapping becomes an empty one",
        ),
        pytest.param(
            "l:\n  s: 1\nm: 1\n",
            [(("l",), ["a"])],
            "l:\n  - a\nm: 1\n",
            id="a mapping becomes a list",
        ),
        pytest.param(
            "l: |\n  s\n\nm: 1\n",
            [(("l",), ["a"])],
            "l:\n  - a\n\nm: 1\n",
            id="a literal becomes a list",
        ),
        pytest.param("l: [1, 2]\n", [(("l",), [1])], "l: [1]\n", id="a list gets shorter"),
        pytest.param(
            "l: [1, 2, 3, 4] # x\n", [(("l",), [2, 4])], "l: [2, 4] # x\n", id="a list less two"
        ),
        pytest.param(
            "l:\n  # one\n  - id: A\n    s: 1 # a\n\n  # two\n  - id: B\n    s: |\n      t\n"
            "  - id: C # c\nm: 1\n",
            [(("l",), [{"id": "A", "s": 1}, {"id": "C"}])],
            "l:\n  # one\n  - id: A\n    s: 1 # a\n\n  # two\n  - id: C # c\nm: 1\n",
            id="an entry taken out of a block list",
        ),
        pytest.param(
            "l:\n-\n  id: A\n- id: B\n",
            [(("l",), [{"id": "B"}])],
            "l:\n- id: B\n",
            id="the first entry taken out, its dash on a line of its own",
        ),
        pytest.param(
            "l:\n- a\n- b # x", [(("l",), ["a"])], "l:\n- a\n", id="the last entry of the file"
        ),
        pytest.param(
            "l:\n- - 1\n  - 2\nm: 1\n",
            [(("l", 0), [2])],
            "l:\n- [2]\nm: 1\n",
            id="an entry behind another one's dash",
        ),
        pytest.param("l: [1, 2]\n", [(("l",), [3])], "l:\n  - 3\n", id="another, shorter list"),
        pytest.param("l: [1, 2]\n", [(("l", 2), 3)], "l: [1, 2, 3]\n", id="appended in flow style"),
        pytest.param(
            "l:\n- a: 1\n- b: 2 # x\nm: 1\n",
            [(("l", 2), {"c": 3, "d": {"e": 4}})],
            "l:\n- a: 1\n- b: 2 # x\n- c: 3\n  d:\n    e: 4\nm: 1\n",
            id="appended in block style",
        ),
        pytest.param("l: []\n", [(("l", 0), "x")], "l:\n  - x\n", id="appended to an empty list"),
        pytest.param(
            "l:\n  - 1\n  - 2\n", [(("l", 1), "x")], "l:\n  - 1\n  - x\n", id="a list's entry"
        ),
        pytest.param(
            "l:\n  -\n  - 2\n", [(("l", 0), "x")], "l:\n  - x\n  - 2\n", id="an empty entry"
        ),
        pytest.param(
            "l:\n  - id: A\n    s: 1\n  - {id: B, s: 1}\n",
            [(("l", 0, "s"), 2), (("l", 1, "s"), 2), (("l", 0, "r"), "x"), (("l", 1, "r"), "x")],
            "l:\n  - id: A\n    s: 2\n    r: x\n  - {id: B, s: 2, r: x}\n",
            id="criteria in both styles",
        ),
        pytest.param(
            "a: 1\nb: 2\nc: 3\n", [(("b",), DELETE)], "a: 1\nc: 3\n", id="a key is taken out"
        ),
        pytest.param("a: 1\nb:\n  c: 2 # x\n", [(("b",), DELETE)], "a: 1\n", id="the last one"),
        pytest.param("a: 1\nb: 2", [(("a",), DELETE)], "b: 2", id="the first one"),
        pytest.param(
            "a: 1\n", [(("b",), DELETE), (("c", "d"), DELETE)], "a: 1\n", id="one that is not"
        ),
        pytest.param(
            "l:\n  - id: A # x\n    s: 1\n",
            [(("l", 0, "id"), DELETE)],
            "l:\n  - s: 1\n",
            id="at a dash",
        ),
        pytest.param(
            "l: {a: 1, b: 2, c: 3}\n",
            [(("l", "b"), DELETE)],
            "l: {a: 1, c: 3}\n",
            id="from flow style",
        ),
        pytest.param(
            "l: {a: 1, b: 2, c: 3}\n",
            [(("l", "a"), DELETE), (("l", "b"), DELETE), (("l", "d"), 4)],
            "l: {c: 3, d: 4}\n",
            id="the first ones, and one more",
        ),
        pytest.param(
            "l:\n  a: 1\nm: 1\n", [(("l", "a"), DELETE)], "l: {}\nm: 1\n", id="the only one"
        ),
        pytest.param(
            "a: 1\n",
            [(("k", "l", "m"), 1)],
            "a: 1\nk:\n  l:\n    m: 1\n",
            id="missing mappings are made",
        ),
        pytest.param(
            "a: 1\n",
            [(("t",), "x\ny\n")],
            "a: 1\nt: |\n  x\n  y\n",
            id="a new text of several lines",
        ),
        pytest.param(
            "l:\n  a: 1\n      # deep\nm: 1\n",
            [(("l", "t"), "x\ny\n")],
            'l:\n  a: 1\n  t: "x\\ny\\n"\n      # deep\nm: 1\n',
            id="a comment further in is no part of a new text",
        ),
        pytest.param(
            "é: '😀' # 中\nb: é\n", [(("é",), "ü")], "é: 'ü' # 中\nb: é\n", id="beyond ASCII"
        ),
        pytest.param(
            "---\na: 1\n...\n", [(("b",), 2)], "---\na: 1\nb: 2\n...\n", id="document markers"
        ),
        pytest.param(
            "{a: 1, b: {c: 2}}\n", [(("b", "c"), 3)], "{a: 1, b: {c: 3}}\n", id="all in flow"
        ),
        pytest.param('{"a": 1}', [(("b",), [1])], '{"a": 1, b: [1]}', id="JSON"),
    ],
)
def test_the_text_after_an_edit(text: str, changes: Any, wanted: str) -> None:
    assert edit(text, *changes) == wanted


@pytest.mark.parametrize(
    "text", ["l: {a: }\n", "l: {a: , b: }\n", "{l: {a: ,},}\n", "l: {? a : }\n"]
)
def test_an_empty_value_of_a_flow_mapping_can_be_set(text: str) -> None:
    assert read(edit(text, (("l", "a"), 2)))["l"]["a"] == 2


@pytest.mark.parametrize(
    "text", ["a: 1 # x\nb: 'y'\nc: {d: 010}\n", "a: |\n  x\n", formats.dump_yaml(GOAL)]
)
def test_values_that_are_there_already_change_nothing(text: str) -> None:
    document = read(text)
    assert edit(text, *[((key,), value) for key, value in document.items()]) == text


def test_a_later_change_wins() -> None:
    assert edit("a: 1\n", (("b",), {"c": 1}), (("b", "d"), 2), (("a",), 0), (("a",), 3)) == (
        "a: 3\nb:\n  c: 1\n  d: 2\n"
    )


def test_what_was_given_is_left_as_it_is() -> None:
    value = {"b": [1]}
    edit("a: 1\n", (("x",), value), (("x", "b", 1), 2))
    assert value == {"b": [1]}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((), {}),
        (("a", "b"), 1),
        (("l", "x"), 1),
        (("l", 5), 1),
        (("l", -1), 1),
        (("m", 0), 1),
        (("l", 0), DELETE),
        (("a",), float("nan")),
        (("a",), "\ud800"),
        (("m", "k" * 2000), 1),
    ],
)
def test_a_change_that_leads_nowhere_is_an_input_error(path: Any, value: Any) -> None:
    with pytest.raises(InputError):
        edit("a: 1\nl: [1]\nm: {x: 1}\n", (path, value))


@pytest.mark.parametrize("text", ["", "a: 1\na: 2\n", "a: [", "a: &x 1\n", "- 1\n"])
def test_a_text_that_is_not_valid_is_not_edited(text: str) -> None:
    with pytest.raises(ContractError):
        edit(text, (("a",), 3))


def test_a_result_that_would_not_read_as_meant_is_refused(monkeypatch: Any) -> None:
    monkeypatch.setattr(contracts_dump, "scalar", lambda value, **_: "wrong")
    with pytest.raises(RefusedError, match="cannot be edited safely") as caught:
        edit("a: 1\n", (("a",), "right"))
    assert (caught.value.code, caught.value.fault.file, caught.value.fault.key) == (
        "cannot_edit",
        FILE,
        "a",
    )
    monkeypatch.setattr(contracts_dump, "scalar", lambda value, **_: "'")
    with pytest.raises(RefusedError):
        edit("a: 1\n", (("a",), "right"))


@pytest.mark.slow
def test_hundreds_of_criteria_keep_every_other_line() -> None:
    criteria = [{**GOAL["objective"]["acceptance_criteria"][0], "id": f"AC{n}"} for n in range(300)]
    document = copy.deepcopy(GOAL)
    document["objective"]["acceptance_criteria"] = criteria
    text = formats.dump_yaml(document).replace("- id: AC150\n", "- id: AC150 # half\n")
    changes: list[Any] = [
        (("objective", "acceptance_criteria", n, "status"), "fail") for n in range(0, 300, 2)
    ]
    result = edit(text, *changes, (("lifecycle", "status"), "blocked"))
    lines = zip(text.split("\n"), result.split("\n"), strict=True)
    changed = [pair for pair in lines if pair[0] != pair[1]]
    criterion, goal = (
        ("      status: pass", "      status: fail"),
        ("  status: active", "  status: blocked"),
    )
    assert sorted(changed) == [criterion] * 150 + [goal]


# Layouts by chance ----------------------------------------------------------------------


class Layout:
    """Writes a document in styles drawn by chance, with comments and blank lines.

    ``lines`` holds (path of the entry the line belongs to, text).
    """

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.lines: list[tuple[tuple[str | int, ...], str]] = []

    def chance(self) -> bool:
        return bool(self.draw(st.booleans()))

    def comment(self) -> str:
        return str(self.draw(st.sampled_from(["", "", "", " # c", "   # 'x': {y}"])))

    def scalar(self, value: Any, *, inside: bool) -> str:
        if value is None and not inside and self.chance():
            return ""
        style = self.draw(st.sampled_from([None, '"', "'"])) if isinstance(value, str) else None
        return contracts_dump.scalar(value, inside=inside, style=style)

    def flow(self, value: Any) -> str:
        pad = " " if self.chance() else ""
        if isinstance(value, dict):
            inner = (f"{self.scalar(k, inside=True)}: {self.flow(v)}" for k, v in value.items())
            return "{" + pad + ", ".join(inner) + pad + "}"
        if isinstance(value, list):
            return "[" + pad + ", ".join(map(self.flow, value)) + pad + "]"
        return self.scalar(value, inside=True)

    def put(self, path: tuple[str | int, ...], text: str) -> None:
        if self.draw(st.integers(0, 9)) == 0:
            self.lines.append(((), self.draw(st.sampled_from(["", "# between", "    # deep"]))))
        self.lines.append((path, text))

    def entry(self, path: tuple[str | int, ...], head: str, value: Any, indent: int) -> None:
        if isinstance(value, (dict, list)) and value and self.draw(st.integers(0, 3)):
            deeper = indent + self.draw(st.integers(1, 4))
            if isinstance(value, list) and head.endswith(":") and self.chance():
                deeper = indent
            self.put(path, head + self.comment())
            self.block(path, value, deeper)
        elif isinstance(value, (dict, list)):
            self.put(path, f"{head} {self.flow(value)}{self.comment()}")
        elif isinstance(value, str) and contracts_dump.literal_mark(value) and self.chance():
            mark = str(contracts_dump.literal_mark(value))
            deeper = indent + self.draw(st.integers(1, 3))
            self.put(path, f"{head} {mark}{self.comment()}")
            for line in value.removesuffix("\n").split("\n"):
                self.lines.append((path, " " * deeper + line if line else ""))
            self.lines += [((), "")] * self.draw(st.integers(0, 1))
        else:
            text = self.scalar(value, inside=False)
            self.put(path, f"{head} {text}".rstrip(" ") + self.comment())

    def block(self, path: tuple[str | int, ...], value: Any, indent: int) -> None:
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in entries:
            here = (*path, key)
            name = "-" if isinstance(value, list) else f"{self.scalar(key, inside=False)}:"
            if isinstance(value, list) and isinstance(item, dict) and item and self.chance():
                self.dashed(here, item, indent)
            else:
                self.entry(here, " " * indent + name, item, indent)

    def dashed(self, path: tuple[str | int, ...], item: dict[str, Any], indent: int) -> None:
        """A mapping whose first key stands behind the dash."""
        before = len(self.lines)
        self.block(path, item, indent + 2)
        while self.lines[before][0] == ():
            del self.lines[before]
        owner, first = self.lines[before]
        self.lines[before] = (owner, " " * indent + "- " + first[indent + 2 :])


WORDS = st.sampled_from(["a", "b", "c", "key", "x y", "on", "é"])
DOCUMENTS = st.dictionaries(
    WORDS,
    st.recursive(
        SCALAR,
        lambda inner: st.one_of(
            st.lists(inner, min_size=1, max_size=3), st.dictionaries(WORDS, inner, max_size=3)
        ),
        max_leaves=10,
    ),
    min_size=1,
    max_size=4,
)


def _places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [p for key, item in items for p in ((*path, key), *_places(item, (*path, key)))]


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def _first(document: Any, path: tuple[str | int, ...]) -> Any:
    return next(iter(_at(document, path[:-1])))


def related(one: tuple[str | int, ...], other: tuple[str | int, ...]) -> bool:
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


@pytest.mark.slow
@examples(50, long=2000)
@given(st.data())
def test_any_layout_keeps_the_lines_that_no_change_is_about(data: st.DataObject) -> None:
    document = data.draw(DOCUMENTS)
    layout = Layout(data.draw)
    layout.block((), document, 0)
    newline = data.draw(st.sampled_from(["\n", "\n", "\r\n"]))
    text = newline.join(line for _, line in layout.lines)
    text += newline if data.draw(st.booleans()) or layout.lines[-1][0] == () else ""
    before = read(text)

    changes: list[tuple[tuple[str | int, ...], Any]] = []
    wanted = copy.deepcopy(before)
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(_places(before)))
        assume(not any(related(path, other) for other, _ in changes))
        if data.draw(st.integers(0, 3)) == 0 and isinstance(_at(before, path), dict):
            path = (*path, "added")
            _at(wanted, path[:-1])["added"] = value = data.draw(VALUE)
        elif data.draw(st.integers(0, 3)) == 0 and isinstance(path[-1], str):
            # Behind a dash, the next key has to move up.
            assume(len(path) == 1 or isinstance(path[-2], str) or path[-1] != _first(before, path))
            value = DELETE
            del _at(wanted, path[:-1])[path[-1]]
        else:
            _at(wanted, path[:-1])[path[-1]] = value = data.draw(VALUE)
        changes.append((path, value))

    try:
        result = edit(text, *changes)
    except RefusedError:
        # A comment further in that a deletion would lay behind a literal: it would become its text.
        assert "# deep" in text
        assert any(value is DELETE for _, value in changes)
        return
    assert contracts_edit.same_document(read(result), wanted)
    kept = [
        line
        for path, line in layout.lines
        if path and not any(_touches(path, changed, layout) for changed, _ in changes)
    ]
    rest = iter(result.split(newline))
    assert all(line in rest for line in kept), (text, result, changes)


def _touches(path: tuple[str | int, ...], change: tuple[str | int, ...], layout: Layout) -> bool:
    """Whether the line of ``path`` may change; what has no own line stands in its holder's."""
    owners = {owner for owner, _ in layout.lines}
    holder = change
    while holder and holder not in owners:
        holder = holder[:-1]
    return related(path, change) or (bool(holder) and related(path, holder))


@examples(50, long=2000)
@given(st.dictionaries(TEXT, VALUE, min_size=1, max_size=4), TEXT, VALUE)
def test_any_value_can_be_set_in_a_file_of_flows_own(
    document: dict[str, Any], key: str, value: Any
) -> None:
    text = formats.dump_yaml(document)
    wanted = {**document, key: value}
    result = edit(text, ((key,), value))
    assert contracts_edit.same_document(read(result), wanted)
    if key not in document:
        assert result.startswith(text)


def test_a_comment_further_in_is_what_the_pattern_says() -> None:
    pattern = re.compile(r"(?: *\r?\n)* +#")
    for count in range(7):
        for parts in product((" ", "\n", "\r\n", "#", "a"), repeat=count):
            text = "".join(parts)
            assert contracts_edit._is_deep_comment(text) == (pattern.match(text) is not None), repr(
                text
            )


def test_an_edited_text_is_read_once_more_and_not_again_by_its_reader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parsed: list[str] = []
    real = strict_yaml.new_parser

    def new_parser(text: str) -> Any:
        parsed.append(text)
        return real(text)

    monkeypatch.setattr(strict_yaml, "new_parser", new_parser)
    document, old = copy.deepcopy(GOAL), formats.dump_yaml(GOAL)
    changes = [(("lifecycle", "last_evaluation"), LAST)]
    text = formats.edit(old, changes, file=FILE, document=document)
    assert document == GOAL
    assert parsed == [old, text]  # for where its values stand, and for what the result holds
    goal, _ = formats.read_goal(text.encode(), file=FILE)
    assert goal.last_evaluation == LAST
    assert parsed == [old, text]
    again, _ = formats.read_goal(text.encode(), file=FILE)  # nobody shares a document
    assert parsed == [old, text, text]
    assert again.document == goal.document
    assert again.document is not goal.document


def test_another_text_is_not_taken_for_the_one_that_was_edited() -> None:
    text = edit(formats.dump_yaml(GOAL), (("lifecycle", "last_evaluation"), LAST))
    other = text.replace("result: fail", "result: pass")
    goal, _ = formats.read_goal(other.encode(), file=FILE)
    assert goal.last_evaluation == {**LAST, "result": "pass"}
