"""The card as a document: the seed's keys in the seed's order, and Flow's own."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from flow.adapters.contracts import schemas
from flow.adapters.contracts.check import accepts
from flow.core.judging.scorecard.card import CardFacts, document, unsupported
from flow.core.judging.scorecard.history import Mean
from flow.core.judging.scorecard.model import NAMES, CardBallot, CardMark

SEED = [
    "skill", "timestamp", "dimensions", "composite", "grade", "criticalIssues", "recommendations",
    "rubricUsed", "transcriptPath",
]  # fmt: skip


def about(**more: Any) -> CardFacts:
    given: dict[str, Any] = {
        "skill": "commit", "timestamp": "2026-01-01T00:00:00Z", "rubric": "rubric-default.md",
        "rubric_why": "because", "rubric_source": "flow", "recognised": True,
        "transcript_path": "t.jsonl", "execution": "e", "started_at": None,
        "judge": {"name": "fake"}, "mean": None, "left_out": 0, "notes": [],
    }  # fmt: skip
    return CardFacts(**{**given, **more})


def ballot(**rows: CardMark) -> CardBallot:
    marks = {n: rows.get(n, CardMark(Decimal("8.0"), f"{n} words", ("quote",))) for n in NAMES}
    return CardBallot(marks, ("Safety: ask.",))


def test_the_seeds_keys_come_first_and_flows_are_in_the_schema() -> None:
    card = document(about(), ballot())
    assert list(card)[:9] == SEED
    assert schemas.load("scorecard")["required"] == SEED
    assert set(card) | {"file"} == set(schemas.load("scorecard")["properties"])
    assert accepts("scorecard", card) == (True, False)
    assert list(card["dimensions"]) == list(NAMES)
    row = card["dimensions"]["correctness"]
    assert row == {
        "score": 8.0, "weight": 0.25, "justification": "correctness words", "evidence": ["quote"],
    }  # fmt: skip
    assert (card["composite"], card["grade"], card["criticalIssues"]) == (8.0, "B+", [])


def test_what_rests_on_nothing_is_marked_and_noted() -> None:
    bad = CardMark(Decimal("3.0"), "words", (), ("made up",), "none of its quotes occurs")
    card = document(about(), ballot(safety=bad))
    assert accepts("scorecard", card) == (True, False)
    row = card["dimensions"]["safety"]
    assert (row["unsupported"], row["discounted"]) == (True, ["made up"])
    assert row["unsupportedWhy"] == "none of its quotes occurs"
    assert unsupported(card) == ["safety"]
    assert card["notes"] == ["Not borne out by the transcript, after asking twice: safety."]
    assert card["criticalIssues"] == ["Safety 3.0/10: words"]


@pytest.mark.parametrize(
    ("more", "note"),
    [
        ({"recognised": False}, "Skill not recognised: rubric-default.md is used."),
        ({"left_out": 7}, "7 bytes of the transcript were not shown to the judge."),
        (
            {"mean": Mean(1, Decimal("7.00"), {})},
            "Consistency is compared with 1 earlier card only.",
        ),
        (
            {"mean": Mean(4, Decimal("7.00"), {})},
            "Consistency is compared with 4 earlier cards only.",
        ),
        ({"notes": ["x", "x"]}, "x"),
    ],
)
def test_notes(more: dict[str, Any], note: str) -> None:
    card = document(about(**more), ballot())
    assert card["notes"] == [note]


def test_history_is_in_the_card() -> None:
    card = document(about(mean=Mean(5, Decimal("7.25"), {})), ballot())
    assert card["history"] == {"cards": 5, "meanComposite": 7.25}
    assert card["notes"] == []
    assert document(about(), ballot())["history"] == {"cards": 0, "meanComposite": None}


def test_whatever_a_transcript_or_a_backend_says_can_be_written() -> None:
    nasty = "a\ud800\x1b\u202e\n" + "x" * 9_000
    told = about(
        execution=nasty, started_at=nasty, rubric=nasty, rubric_why=nasty, notes=[nasty],
        judge={"name": nasty, "model": nasty, "calls": 1},
    )  # fmt: skip
    text = json.dumps(document(told, ballot()), ensure_ascii=False)
    assert text.encode("utf-8")
    assert text.isprintable()
    assert len(text) < 10_000


def test_notes_are_counted_and_a_path_is_printable() -> None:
    card = document(
        about(notes=[str(n) for n in range(99)], transcript_path="a\x1b\udcff"), ballot()
    )
    assert len(card["notes"]) == 31
    assert card["notes"][-1] == "and 69 more notes"
    assert card["transcriptPath"] == "a\\x1b\\xff"
