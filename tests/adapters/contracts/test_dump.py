"""New YAML files: read back exactly, by Flow and by a YAML 1.1 reader, and good to look at."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from flow.adapters.contracts import dump, formats
from flow.adapters.contracts.edit import same_document
from flow.errors import InputError
from tests.adapters.contracts.samples import EVIDENCE, GOAL
from tests.support.effort import examples

TRICKY = [
    *[
        "no",
        "on",
        "Yes",
        "y",
        "null",
        "~",
        "true",
        "False",
        "1:30",
        "010",
        "0x1F",
        "0o7",
        "1e3",
        ".5",
        "1_0",
    ],
    *[
        ".inf",
        ".nan",
        "-",
        "--",
        "---",
        "...",
        "=",
        "<<",
        "?",
        "? a",
        "- a",
        ": a",
        "a:",
        "a: b",
        "a #b",
    ],
    *[
        "2026-03-01",
        "2026-03-01T10:15:00Z",
        " a",
        "a ",
        "",
        "\n",
        "a\n",
        "a\n\n",
        "\na",
        " a\nb",
        "a\n b\n",
    ],
    *[
        "a\n  ",
        "a\n \nb",
        "a\tb\n\tc",
        "\ta\nb",
        "#a\nb",
        "- a\n- b",
        "|",
        "> x",
        "&a",
        "*a",
        "!a",
        "%a",
    ],
    *[
        "@a",
        "`a",
        "'a",
        '"a"',
        "a'b",
        'a"b',
        "a\\b",
        "a, b",
        "[a]",
        "{a}",
        "a\rb",
        "a\r\nb",
        "a\x85b",
    ],
    *[
        "\u2028",
        "\ufeff",
        "\x1b[31m",
        "\x7f",
        "é",
        "中文",
        "😀",
        "\u202e",
        "\xa0",
        "x" * 400,
        "a  b",
        "./a",
    ],
    *[
        "/a",
        "_a",
        ".a",
        "..",
        "a/b.py",
        "pytest -q | tee 'x y'",
        'grep -c "a" b',
        "a\\nb",
        "a]b",
        "a}b",
    ],
]
TEXT = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30),
    st.text("ab:# -'\"\n\t|>{}[],&*!%@`0123456789.eE+~?_=<\\\r/yno", max_size=14),
    st.sampled_from(TRICKY),
)
SCALAR = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False, allow_infinity=False),
    TEXT,
)
VALUE = st.recursive(
    SCALAR,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXT, inner, max_size=4)),
    max_leaves=12,
)


def in_order(one: Any, other: Any) -> bool:
    """Equal, types and the order of keys included."""
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(in_order(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(in_order, one, other))
    return same_document(one, other)


def read_by_all(document: dict[str, Any]) -> str:
    text = formats.dump_yaml(document)
    assert in_order(formats.parse_yaml(text.encode(), file="x"), document), text
    assert in_order(yaml.safe_load(text), document), text
    return text


@pytest.mark.slow
@examples(60, long=10000)
@given(st.dictionaries(TEXT, VALUE, max_size=5))
def test_what_is_written_is_read_back_by_yaml_1_2_and_1_1(document: dict[str, Any]) -> None:
    read_by_all(document)


@pytest.mark.parametrize("text", TRICKY)
def test_tricky_texts_stay_texts_wherever_they_stand(text: str) -> None:
    read_by_all(
        {"a": text, text: 1, "l": [text, [text], {text: text}], "m": {text: {text: [text]}}}
    )


def test_a_goal_reads_well() -> None:
    assert read_by_all(
        {
            "kind": "FlowGoal",
            "metadata": {"id": "issue-4", "created_at": "2026-03-01T10:15:00Z"},
            "objective": {
                "outcome": "First line.\nSecond: with colon.\n",
                "acceptance_criteria": [
                    {"id": "AC1", "verification_command": 'grep -q "x" a.txt', "must_pass": True},
                    {"id": "AC2", "limitations": [], "note": None, "wide": "word " * 60 + "end"},
                ],
            },
            "matrix": [[1, 2], [3]],
        }
    ) == (
        "kind: FlowGoal\n"
        "metadata:\n"
        "  id: issue-4\n"
        '  created_at: "2026-03-01T10:15:00Z"\n'
        "objective:\n"
        "  outcome: |\n"
        "    First line.\n"
        "    Second: with colon.\n"
        "  acceptance_criteria:\n"
        "    - id: AC1\n"
        "      verification_command: 'grep -q \"x\" a.txt'\n"
        "      must_pass: true\n"
        "    - id: AC2\n"
        "      limitations: []\n"
        "      note: null\n"
        f"      wide: {'word ' * 60}end\n"
        "matrix:\n"
        "  - - 1\n"
        "    - 2\n"
        "  - - 3\n"
    )


@pytest.mark.parametrize("document", [GOAL, EVIDENCE, {}])
def test_whole_documents(document: Any) -> None:
    read_by_all(document)


def test_tuples_and_other_mappings_are_written_as_plain_ones() -> None:
    import types

    value = {"a": types.MappingProxyType({"b": (1, 2)})}
    assert formats.parse_yaml(formats.dump_yaml(value).encode(), file="x") == {"a": {"b": [1, 2]}}


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        2**53 + 1,
        10**400,
        "\ud800",
        "a\0b",
        b"x",
        {1, 2},
        object(),
        {1: 2},
        {"k" * 1001: 1},
        {"\x01" * 300: 1},
        {"\udc80": 1},
    ],
)
def test_what_the_format_cannot_hold_is_an_input_error(value: Any) -> None:
    with pytest.raises(InputError):
        formats.dump_yaml({"a": value})


def test_depth_is_that_of_the_reader() -> None:
    value: Any = 1
    for _ in range(32):
        value = {"a": value}
    read_by_all(value)
    with pytest.raises(InputError, match="32 levels"):
        formats.dump_yaml({"a": value})


@pytest.mark.parametrize(
    "code",
    [
        "from flow.adapters.contracts import formats",
        "from flow.adapters.contracts import formats; formats.dump_yaml({'a': 'b: c'})",
        "from flow.adapters.contracts import formats; formats.parse_json(b'{}', file='x')",
    ],
)
def test_writing_and_json_load_neither_yaml_nor_jsonschema(code: str) -> None:
    code += "; import sys; names = ('yaml', 'jsonschema', 'dataclasses')"
    code += "; print([name for name in names if name in sys.modules])"
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


def test_a_valid_file_is_read_without_jsonschema() -> None:
    text = formats.dump_yaml(GOAL)
    code = (
        "from flow.adapters.contracts import formats;"
        f"formats.read_goal({text.encode()!r}, file='x');"
        "import sys; print([m for m in ('jsonschema', 'difflib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


PLAIN = re.compile(r"[^\W\d_][^\x00-\x1f]*|(?:\./?|_|/)[A-Za-z_][^\x00-\x1f]*")
UNSAFE = re.compile(r": |:$| #|\s$|\s\s|[\"'`\\]|=$")
PARTS = [
    "",
    ".",
    "./",
    "/",
    "_",
    "a",
    "Z",
    "5",
    ":",
    ": ",
    " #",
    "#",
    " ",
    "=",
    "'",
    '"',
    "`",
    "\\",
]
MORE = ["\t", "\n", "\x1f", "\x7f", "\xa0", "\u0661", "\xb2", "\u2160", "\xe9", "\u4e2d", "\ud800"]


@examples(300, long=20_000)
@given(st.lists(st.sampled_from([*PARTS, *MORE]), max_size=6).map("".join))
def test_a_text_is_plain_by_what_the_pattern_says(text: str) -> None:
    """The patterns are the rule; at a start that only writes evidence they are not loaded."""
    expected = PLAIN.fullmatch(text) and text.isprintable() and not UNSAFE.search(text)
    assert dump._is_plain(text, False) is bool(expected)


@pytest.mark.parametrize("text", ["a\0", "\0", "\ud800", "a\udfffb", "\n\ud800"])
def test_what_utf_8_cannot_hold_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="half a character"):
        dump.dump({"a": text})
    assert dump.dump({"a": "\u2028\x1f\n"})
