"""The strict JSON reader."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flow.adapters.contracts import formats
from flow.errors import ContractError
from tests.support.effort import examples

FILE = "last-verdict.json"


def refused(data: str | bytes, **options: Any) -> list[str]:
    with pytest.raises(ContractError) as caught:
        formats.parse_json(data if isinstance(data, bytes) else data.encode(), file=FILE, **options)
    assert all(fault.file == FILE and fault.remedy for fault in caught.value.faults)
    return [str(fault) for fault in caught.value.faults]


@pytest.mark.parametrize(
    "value",
    [{}, [], "x", 4, None, True, {"a": [1, {"b": 0.5}], "é": "😀"}, {"a": 2**53, "b": -(2**53)}],
)
def test_plain_json_is_read(value: Any) -> None:
    for ascii_only in (True, False):
        data = json.dumps(value, ensure_ascii=ascii_only).encode()
        assert formats.parse_json(data, file=FILE) == value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it is empty"),
        (" \n", "it is empty"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "b.c: is given twice"),
        ('[{"a": 1, "a": 1}]', "[0].a: is given twice"),
        ('{"a": NaN}', "a: NaN is not a finite number"),
        ('{"a": [-Infinity]}', "a[0]: -Infinity is not a finite number"),
        ('{"a": 1e999}', "a: 1e999 is too large for a number"),
        ('{"a": 9007199254740993}', "a: 9007199254740993 is not within"),
        ('{"a": -' + "9" * 5000 + "}", "is not within"),
        ('{"a": "\\ud800"}', "a: '\\ud800' holds a NUL or half a character"),
        ('{"a": ["x\\u0000"]}', "a[0]: 'x\\x00' holds a NUL"),
        ('{"\\udfff": 1}', "holds a NUL or half a character"),
        ('{"a": 1', "line 1, column 8"),
        ('{"a": 1}\n{}', "line 2, column 1: not a JSON file: extra data"),
        ("{'a': 1}", "line 1, column 2"),
        ('{"a": "x\ty"}', "invalid control character"),
        ('{"a": 01}', "line 1"),
        ("[" * 33 + "]" * 33, "nests deeper than 32 levels"),
        ("[" * 500_000, "nests deeper than 32 levels"),
        ('{"a":' * 100_000, "nests deeper than 32 levels"),
    ],
)
def test_what_is_not_plain_is_refused_with_its_place(text: str, words: str) -> None:
    messages = refused(text)
    assert any(words in message for message in messages), messages


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf{}",
        "{}".encode("utf-16"),
        "{}".encode("utf-32-be"),
        b'{"a": "\xff"}',
        b" " * 1_048_577,
    ],
)
def test_bytes_that_are_not_utf_8_text_are_refused(data: bytes) -> None:
    assert refused(data)


def test_every_fault_is_named() -> None:
    assert len(refused('{"a": NaN, "a": 1, "b": 1e999, "c": "\\ud800"}')) == 4


def test_32_levels_fit_and_brackets_in_strings_do_not_count() -> None:
    assert formats.parse_json(b"[" * 32 + b"]" * 32, file=FILE)
    assert formats.parse_json(b'["' + b"[" * 100 + b'\\"' + b"{" * 100 + b'"]', file=FILE)


def test_a_text_of_escaped_quotes_takes_no_time_to_count() -> None:
    assert refused(b'"' + b'\\"' * 400_000 + b"[" * 40)


def test_a_larger_limit_can_be_let_in() -> None:
    data = json.dumps({"pad": " " * 2_000_000}).encode()
    assert refused(data)
    assert formats.parse_json(data, file=FILE, limit=1 << 22) == json.loads(data)


@examples(166, long=10000)
@given(
    st.one_of(
        st.binary(max_size=100),
        st.text(st.sampled_from('{}[]",:\\u0dD89aeE+-.1tfnNI \n'), max_size=60).map(str.encode),
    )
)
@example(b"-")
@example(b'"\\u12')
@example(b"1" * 5000)
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        formats.parse_json(data, file=FILE)
    except ContractError:
        return


@examples(66, long=4000)
@given(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.text(st.characters(
            exclude_categories=["Cs"], exclude_characters="\0"))),
        lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(st.characters(
            exclude_categories=["Cs"], exclude_characters="\0")), inner)),
        max_leaves=20,
    )
)  # fmt: skip
def test_what_json_writes_is_read_back(value: Any) -> None:
    assert formats.parse_json(json.dumps(value).encode(), file=FILE) == value
