"""``flow.startup.json`` answers as ``json`` does, errors too (ADR 12)."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flow.startup import json as fast_json
from tests.support import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

TEXTS: list[Any] = [
    '{"a": [1, 2.5, -3e5, 10000000000000000000000, null, true, false, "x\\u00e9\\ud83d\\ude00"]}',
    *("[NaN]", "[Infinity]", "-Infinity", "[1e999]", "-0.0", "0", " \t\r\n[1] \n", '"\\ud800"'),
    *('{"a":1,"a":2}', "[]", "{}", '""', "[1] x", "[1]]", "", " ", "nul", "[1,", '{"a":', "{a:1}"),
    *(
        '"abc',
        '"\x01"',
        '"\\q"',
        "[1,]",
        "\ufeff[1]",
        "\u00a0[1]",
        "[" * 100_000,
        "01",
        "+1",
        "'a'",
    ),
    *(b"[1]", b' {"a": "\xc3\xa9"}\n', b'"\xed\xa0\x80"', b"\xff", b'"\xff"', b"\xef\xbb\xbf[1]"),
    *(b"[\x001]", "[1]".encode("utf-16"), "[1]".encode("utf-32-le"), b"1", b"", b" "),
    *(bytearray(b"[1]"), None, 1, ["[1]"]),
]


class Odd:
    """No JSON value."""


def _circle() -> list[Any]:
    circle: list[Any] = []
    circle.append(circle)
    return circle


VALUES: list[Any] = [
    {"b": 1, "a": [None, True, 1.5, 'é\u2028\ud800\x00"\\'], "c": {}, "d": [], "e": (1, (2,))},
    *("é", "", 1, 1.5, True, None, [], {}, (), [[]], [{}], {"a": {}}, 10**30, -0.0),
    *(math.nan, [math.inf], {"a": -math.inf}, {2: 2, None: 3, True: 4, 1.5: 5}, {1: 1, "a": 2}),
    *({(1,): 2}, {"a": {1: [2]}}, {1, 2}, [Odd()], {"a": Odd()}, b"x", _circle(), {"a": _circle()}),
]
OPTIONS: list[dict[str, Any]] = [
    *({}, {"indent": 2}, {"indent": 0}, {"indent": None}, {"indent": "\t"}, {"sort_keys": True}),
    *({"separators": (",", ":")}, {"ensure_ascii": False}, {"ensure_ascii": False, "indent": 2}),
    *({"allow_nan": False}, {"allow_nan": False, "indent": 2}, {"indent": 2, "sort_keys": True}),
    *({"default": list}, {"default": str, "indent": 1}, {"indent": 2, "separators": (",", ":")}),
    {"sort_keys": True, "separators": (",", ":"), "ensure_ascii": True},
]


def outcome(function: Callable[..., Any], *values: Any, **named: Any) -> str:
    """What it returns or raises, as text: NaN is not itself."""
    try:
        return repr(function(*values, **named))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_text_is_read_as_json_reads_it(text: Any) -> None:
    assert outcome(fast_json.loads, text) == outcome(json.loads, text)


def refuse(word: str) -> Any:
    raise ValueError(f"no {word} here")


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
@pytest.mark.parametrize("hooks", [{"parse_float": refuse}, {"parse_constant": refuse}])
def test_numbers_go_through_the_hooks(text: Any, hooks: dict[str, Any]) -> None:
    assert outcome(fast_json.loads, text, **hooks) == outcome(json.loads, text, **hooks)


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
@pytest.mark.parametrize("options", OPTIONS, ids=range(len(OPTIONS)))
def test_a_value_is_written_as_json_writes_it(value: Any, options: dict[str, Any]) -> None:
    assert outcome(fast_json.dumps, value, **options) == outcome(json.dumps, value, **options)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(PLAIN, st.sampled_from(OPTIONS))
def test_any_value_there_and_back(value: Any, options: dict[str, Any]) -> None:
    text = outcome(fast_json.dumps, value, **options)
    assert text == outcome(json.dumps, value, **options)
    written = json.dumps(value)
    assert repr(fast_json.loads(written)) == repr(json.loads(written))


@given(st.text(alphabet='[]{}",:\\ u01eE.-truefalsn\n\t\x00é'))
def test_any_text(text: str) -> None:
    assert outcome(fast_json.loads, text) == outcome(json.loads, text)
    data = text.encode()
    assert outcome(fast_json.loads, data) == outcome(json.loads, data)


@pytest.mark.parametrize("text", ['"\x01"', "{a:1}", '"abc', "nul", ""])
def test_a_fault_is_named_where_json_was_not_loaded(text: str) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from flow.startup.json import loads\n"
        "try: loads(sys.argv[2])\n"
        "except ValueError as error: print(type(error).__name__, error)"
    )
    argv = [sys.executable, "-I", "-S", "-c", code, ROOT, text]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == outcome(json.loads, text).replace(":", "", 1)
