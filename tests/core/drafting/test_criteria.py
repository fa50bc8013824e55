"""Criteria from words, and their numbers."""

from __future__ import annotations

import pytest

from flow.core.drafting.criteria import numbered, parse_criterion
from flow.errors import InputError


@pytest.mark.parametrize(
    ("text", "id", "words", "command"),
    [
        ("AC1: it holds :: make test", "AC1", "it holds", "make test"),
        ("  AC1  :  it holds  ::  make test  ", "AC1", "it holds", "make test"),
        ("AC1:it holds :: make", "AC1", "it holds", "make"),
        ("AC1: a::b holds :: grep ' :: ' x", "AC1", "a::b holds", "grep ' :: ' x"),
        ("AC1: it: holds :: x", "AC1", "it: holds", "x"),
        ("it holds :: make", None, "it holds", "make"),
        ("AC1 it holds :: make", None, "AC1 it holds", "make"),
        ("AC1x: it holds :: make", None, "AC1x: it holds", "make"),
        ("utf8: it holds :: make", None, "utf8: it holds", "make"),
        (": it holds :: make", None, ": it holds", "make"),
    ],
)
def test_a_criterion_with_a_command(text: str, id: str | None, words: str, command: str) -> None:
    named = {} if id is None else {"id": id}
    assert parse_criterion(text, fuzzy=False) == {
        **named,
        "text": words,
        "verification_command": command,
        "must_pass": True,
        "status": "pending",
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [("AC2: reads well", "reads well"), ("AC2: a :: b", "a :: b"), ("AC2: x: y", "x: y")],
)
@pytest.mark.parametrize("named", [True, False])
def test_a_fuzzy_criterion_is_all_text(text: str, words: str, named: bool) -> None:
    given = text if named else words
    assert parse_criterion(given, fuzzy=True) == {
        **({"id": "AC2"} if named else {}),
        "text": words,
        "must_pass": True,
        "status": "pending",
    }


@pytest.mark.parametrize("fuzzy", [True, False])
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("ac1: it holds :: make", "ac1 is no criterion id: its letters are capital ones"),
        ("Ac12 : it holds :: make", "Ac12 is no criterion id"),
        ("AC1:  ", "AC1 has no text"),
        ("AC1 :: make", "AC1 has no text"),
        ("AC1::make", "AC1 has no text"),
        ("", "'' has no text"),
        ("  ", "'  ' has no text"),
    ],
)
def test_words_that_make_no_criterion(text: str, why: str, fuzzy: bool) -> None:
    with pytest.raises(InputError, match=why) as caught:
        parse_criterion(text, fuzzy=fuzzy)
    fault = caught.value.fault
    assert (fault.key, fault.value) == ("--fuzzy" if fuzzy else "--criterion", text)
    assert fault.remedy


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("AC1: it holds", "AC1 has no command"),
        ("AC1: it holds ::", "AC1 has no command"),
        ("AC1: it holds ::  ", "AC1 has no command"),
        ("AC1:  :: make", "AC1 has no text"),
        ("it holds", "'it holds' has no command"),
        (":: make", "':: make' has no text"),
        ("a::b", "'a::b' has no command"),
    ],
)
def test_a_command_is_asked_for(text: str, why: str) -> None:
    with pytest.raises(InputError, match=why) as caught:
        parse_criterion(text, fuzzy=False)
    assert (caught.value.fault.key, caught.value.fault.value) == ("--criterion", text)


@pytest.mark.parametrize(
    ("given", "taken", "ids"),
    [
        ([None, None], (), ["AC1", "AC2"]),
        (["AC1", None], (), ["AC1", "AC2"]),
        ([None, "AC1"], (), ["AC2", "AC1"]),
        ([None, "AC2", None], (), ["AC1", "AC2", "AC3"]),
        ([None, "REQ1", None], ("AC1", "AC3"), ["AC2", "REQ1", "AC4"]),
        (["AC1", "AC1"], (), ["AC1", "AC1"]),
        ([], ("AC1",), []),
    ],
)
def test_numbers_are_the_first_free_ones(
    given: list[str | None], taken: tuple[str, ...], ids: list[str]
) -> None:
    """The same id twice is for the contract's own check to name."""
    rows = [{"text": "t"} if name is None else {"id": name, "text": "t"} for name in given]
    assert [row["id"] for row in numbered(rows, taken)] == ids
    assert all(next(iter(row)) == "id" for row in numbered(rows, taken))
