"""The contract that ``flow goal inspect`` shows is YAML, and says the same as the file."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from flow.render.goal.contract_yaml import yaml_lines

WORDS = st.text(st.characters(exclude_categories=("Cs",)), max_size=12) | st.sampled_from(
    [
        *("true", "No", "null", "~", "", " ", "1", "1.5", "0x1", "1e3", ".inf", "2026-01-01"),
        *("a: b", "a #b", "- a", "*a", "&a", "!a", "%a", "@a", "`a", "'a", '"a', "a:", "[a]"),
        *("src/**", "it's", "a\nb", "\x1b[31m", "\u202e", "\x85", "\ufeff", "é", "漢", "🙂"),
        *("\ufffe", "\uffff"),
        *("a ", "pytest -q tests/a.py", "grep -q 'x' a || true", "<<", "=", "?", "a\tb"),
    ]
)
VALUES = st.recursive(
    WORDS
    | st.integers()
    | st.booleans()
    | st.none()
    | st.floats(0.1, 9).map(lambda x: round(x, 2)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.dictionaries(WORDS, VALUES, min_size=1, max_size=4))
def test_it_reads_back_to_the_same_values(document: dict[str, object]) -> None:
    lines = yaml_lines(document)
    assert yaml.safe_load("\n".join(lines)) == document
    for line in lines:
        assert not [mark for mark in "\x1b\x07\u202e\n\r\t\x9b\x85" if mark in line]


@pytest.mark.parametrize("text", ["a\ufffe", "\uffff"])
def test_what_no_yaml_file_may_hold_is_an_escape(text: str) -> None:
    (line,) = yaml_lines({"k": text})
    assert yaml.safe_load(line) == {"k": text}


@pytest.mark.parametrize(
    ("value", "line"),
    [("src/**", "k: src/**"), ("2026", 'k: "2026"'), ("a: b", 'k: "a: b"'), ([], "k: []"),
     ({}, "k: {}"), (None, "k: null"), (True, "k: true"), ("yes", 'k: "yes"')],
)  # fmt: skip
def test_texts_are_plain_where_they_can_be(value: object, line: str) -> None:
    assert yaml_lines({"k": value}) == [line]
