"""Edits of JSON text: what is added is there, and every other byte stays."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flow.adapters.setup.json_file import JsonFile
from flow.errors import ContractError
from tests.support.effort import examples

if TYPE_CHECKING:
    from pathlib import Path

NAME = "settings.json"


def opened(folder: Path, text: str) -> JsonFile:
    (folder / NAME).write_bytes(text.encode())
    return JsonFile(str(folder), NAME)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}", '{\n  "k": [\n    1\n  ]\n}'),
        ("{}\n", '{\n  "k": [\n    1\n  ]\n}\n'),
        ("\n{ \n}\n\n", '\n{\n  "k": [\n    1\n  ]\n}\n\n'),
        ('{"a": 1}', '{"a": 1, "k": [1]}'),
        ('{"a":1}\n', '{"a":1, "k": [1]}\n'),
        ('{\n    "a": 1\n}\n', '{\n    "a": 1,\n    "k": [\n        1\n    ]\n}\n'),
        ('{\n\t"a": 1\n}', '{\n\t"a": 1,\n\t"k": [\n\t\t1\n\t]\n}'),
        ('{\r\n  "a": 1\r\n}\r\n', '{\r\n  "a": 1,\r\n  "k": [\r\n    1\r\n  ]\r\n}\r\n'),
        ('{ "a": {\n   "b": 2 } }', '{ "a": {\n   "b": 2 }, "k": [1] }'),
        ('{\n"a": 1\n}', '{\n"a": 1,\n"k": [\n  1\n]\n}'),
    ],
)
def test_a_member_is_added_in_the_style_of_the_file(
    tmp_path: Path, before: str, after: str
) -> None:
    file = opened(tmp_path, before)
    file.add((), "k", [1])
    assert file.data().decode() == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"a": {"b": []}}', '{"a": {"b": ["x", "y"]}}'),
        ('{"a": {"b": [ ]}}', '{"a": {"b": ["x", "y"]}}'),
        ('{\n  "a": {"b": ["ü", "\\u00fc", 1e5, 1.10]}\n}', None),
        ('{\n  "a": {"b": [\n  ["x"]\n  ]}\n}', None),
        (
            '{\n  "a": {\n    "b": [\n      "w"\n    ]\n  },\n  "z":0\n}\n',
            '{\n  "a": {\n    "b": [\n      "w",\n      "x",\n      "y"\n    ]\n  },\n  "z":0\n}\n',
        ),
        (
            '{\n  "a": {\n    "b": []\n  }\n}\n',
            '{\n  "a": {\n    "b": [\n      "x",\n      "y"\n    ]\n  }\n}\n',
        ),
    ],
)
def test_items_are_added_in_the_style_of_the_list(
    tmp_path: Path, before: str, after: str | None
) -> None:
    file = opened(tmp_path, before)
    file.append(("a", "b"), ["x", "y"])
    text = file.data().decode()
    if after is not None:
        assert text == after
    kept = before.rpartition("]")[0].rstrip()
    assert text.startswith(kept)


def test_a_value_is_replaced_where_it_stands(tmp_path: Path) -> None:
    file = opened(tmp_path, '{"a":[{"b" : 1,"c":"}]"} ,2] , "d":[]}')
    file.put(("a", 0, "b"), "ü")
    assert file.data().decode() == '{"a":[{"b" : "ü","c":"}]"} ,2] , "d":[]}'


def test_nothing_done_is_nothing_changed(tmp_path: Path) -> None:
    file = opened(tmp_path, '{"a":1}')
    assert (file.changed, file.new) == (False, False)
    absent = JsonFile(str(tmp_path), "other.json")
    assert (absent.changed, absent.new) == (False, True)


@pytest.mark.parametrize(
    ("text", "path", "key"),
    [
        ("[]", (), None),
        ('{"a": []}', ("a",), "a"),
        ('{"a": null}', ("a",), "a"),
        ('{"a": "b"}', ("a", "b"), "a"),
        ('{"a": {"b": 1}}', ("a", "b"), "a.b"),
    ],
)
def test_another_kind_of_value_is_refused_by_name(
    tmp_path: Path, text: str, path: tuple[str, ...], key: str | None
) -> None:
    with pytest.raises(ContractError) as caught:
        opened(tmp_path, text).part(path, dict)
    assert (caught.value.fault.file, caught.value.fault.key) == (NAME, key)


def test_what_is_absent_is_none(tmp_path: Path) -> None:
    file = opened(tmp_path, '{"a": {}}')
    assert file.part(("a", "b"), list) is None
    assert file.part(("x", "y", "z"), list) is None


VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**53), 2**53),
        st.text(st.characters(codec="utf-8", exclude_characters="\x00")),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["a", "b", "hooks", "ü", '"]}', "\\"]), inner, max_size=3),
    ),
    max_leaves=15,
)
STYLES = st.sampled_from([None, 0, 1, 2, 4, "\t"])


def containers(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], Any]]:
    found: list[tuple[tuple[Any, ...], Any]] = []
    items = enumerate(value) if isinstance(value, list) else value.items()
    for key, inner in items:
        if isinstance(inner, (dict, list)):
            found += containers(inner, (*path, key))
    return [(path, value), *found]


@examples(100, long=6000)
@given(
    st.dictionaries(st.sampled_from(["a", "b", "hooks"]), VALUES, max_size=3),
    STYLES,
    st.booleans(),
    st.booleans(),
    VALUES,
    st.data(),
)
def test_any_edit_of_any_document_keeps_the_rest(
    tmp_path_factory: pytest.TempPathFactory,
    document: dict[str, Any],
    indent: int | str | None,
    ascii_only: bool,
    dos: bool,
    value: Any,
    data: st.DataObject,
) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)
    text = text.replace("\n", "\r\n") if dos else text
    file = opened(tmp_path_factory.mktemp("json"), text)
    path, inner = data.draw(st.sampled_from(containers(document)))
    if isinstance(inner, dict):
        file.add(path, "new", value)
        inner["new"] = value
    else:
        file.append(path, [value])
        inner.append(value)
    now = file.data().decode()
    assert json.loads(now) == document
    assert [*json.loads(now)] == [*document]
    if file.text != text:
        place = next(i for i, (a, b) in enumerate(zip(now, text + "\0", strict=False)) if a != b)
        tail = len(text) - len(text[place:].lstrip())
        assert now.endswith(text[tail:])
