"""Whose word it is, and where the name comes from."""

from __future__ import annotations

import pytest

from flow.app.transitions.persons_word import NAME_LIMIT, NOTE_LIMIT, PersonsWord, persons_name
from flow.errors import InputError


@pytest.mark.parametrize(
    ("named", "configured", "expected"),
    [
        ("jo", "git name", ("jo", None)),
        (None, " git name ", ("git name", "git user.name")),
        (None, "", ("account", "account")),
        (None, "a\x1b[31m", ("account", "account")),
        (None, "x" * (NAME_LIMIT + 1), ("account", "account")),
    ],
)
def test_the_name_is_the_given_one_else_gits_else_the_accounts(
    named: str | None, configured: str, expected: tuple[str, str | None]
) -> None:
    assert persons_name(named, "account", lambda: configured) == expected


@pytest.mark.parametrize(
    "named", ["", " ", "a\nb", "a\x1b[2J", "a\u202eb", "\udc80", "x" * (NAME_LIMIT + 1)]
)
def test_a_name_that_cannot_be_shown_in_a_line_is_refused(named: str) -> None:
    with pytest.raises(InputError) as caught:
        persons_name(named, "account", lambda: "git name")
    assert caught.value.to_dict()["key"] == "--by"


def test_a_record_has_the_note_and_the_origin_of_the_name_where_there_are_any() -> None:
    assert PersonsWord("jo").fields == {}
    word = PersonsWord("jo", "account", "read it")
    assert word.fields == {"by_from": "account", "note": "read it"}
    assert word.name_fields == {"by_from": "account"}


def test_a_note_has_a_length() -> None:
    assert PersonsWord("jo", None, "x" * NOTE_LIMIT).checked().by == "jo"
    with pytest.raises(InputError) as caught:
        PersonsWord("jo", None, "x" * (NOTE_LIMIT + 1)).checked()
    assert caught.value.to_dict()["key"] == "--note"
