"""Rubrics, replies, cases and formats made of anything: an answer, or an error of Flow's."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flow.adapters.contracts.shapes import self_contained
from flow.adapters.judges.subjects import parts
from flow.adapters.rubrics import rubric_files
from flow.core.judging.common.question import Unusable
from flow.core.judging.common.quotes import LEAST_QUOTE, QuotableTexts, normalized
from flow.core.judging.common.reply import Mark
from flow.core.judging.rubric.calibration import Label, believed, calibrate
from flow.core.judging.rubric.calibration_cases import cases_of
from flow.core.judging.rubric.files import read_rubric as from_document
from flow.core.judging.rubric.model import Rubric, RubricBallot, RubricCriterion, result
from flow.core.judging.rubric.prompt import rubric_question
from flow.core.judging.rubric.reply import read_reply
from flow.core.untrusted.fences import FencedPart
from flow.errors import FlowError

RUBRIC = Rubric("R", [RubricCriterion("a", "d"), RubricCriterion("b", "d", 2, 0.5)])
NONCE = "0123456789abcdef"
TEXT = st.text(max_size=40)
WORDS = st.sampled_from(
    ["name", "criteria", "description", "weight", "threshold", "passing_threshold", "a", "b",
     "passingThreshold", "score", "evidence", "reasoning", "suggestions", "id", "label", "subject",
     "file", "cases", "$ref", "#", "#/properties/a", "type", "object", "properties", "pass"]
)  # fmt: skip
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS | TEXT, inner, max_size=5),
    max_leaves=15,
)


@settings(deadline=None)
@given(VALUES)
def test_any_document_is_a_rubric_or_an_error(document: Any) -> None:
    try:
        made, said = from_document(document, "f")
    except FlowError as error:
        assert error.faults
        assert str(error).isprintable() or "\n" in str(error)
    else:
        assert from_document(made.to_document()) == (
            made,
            tuple(s.replace("f: ", "") for s in said),
        )


@settings(deadline=None)
@given(VALUES)
def test_any_document_is_a_list_of_cases_or_an_error(document: Any) -> None:
    try:
        assert cases_of(document, "f")
    except FlowError as error:
        assert error.faults


@settings(deadline=None)
@given(st.dictionaries(WORDS, VALUES, max_size=5))
def test_any_schema_is_self_contained_or_an_error(schema: dict[str, Any]) -> None:
    try:
        found = self_contained(schema)
    except FlowError:
        return
    assert isinstance(found, dict)


@settings(deadline=None)
@given(st.dictionaries(WORDS, VALUES, max_size=5))
def test_any_reply_is_a_ballot_or_a_reason(value: dict[str, Any]) -> None:
    found = read_reply(RUBRIC, value, [])
    if isinstance(found, Unusable):
        assert found.reason.isprintable()
    else:
        assert 0 <= result(RUBRIC, [found]).score <= 1


SCORE = st.floats(0, 1) | st.integers(0, 1) | st.sampled_from([0.1, 0.3, 0.7, 5e-324, 1 - 2**-53])


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.floats(1e-300, 1e9), SCORE, st.none() | SCORE), min_size=1, max_size=6),
    SCORE,
    st.integers(1, 4),
)
def test_whatever_the_scores_the_result_follows(
    rows: list[tuple[float, float, float | None]], bar: float, ballots: int
) -> None:
    criteria = [RubricCriterion(f"c{n}", "d", w, own) for n, (w, _, own) in enumerate(rows)]
    marks = {f"c{n}": Mark(f"c{n}", score, "r") for n, (_, score, _) in enumerate(rows)}
    found = result(Rubric("R", criteria, bar), [RubricBallot(marks, "r")] * ballots)
    scores = [score for _, score, _ in rows]
    assert min(scores) <= found.score <= max(scores)
    assert found.spread == 0
    below = any(own is not None and score < own for _, score, own in rows)
    if below:
        assert not found.passed
    assert {c.name: c.score for c in found.criteria} == {
        n: float(m.score) for n, m in marks.items()
    }


@settings(deadline=None)
@given(st.binary(max_size=300) | TEXT, TEXT)
def test_no_subject_gets_out_of_its_fence(subject: bytes | str, words: str) -> None:
    put = rubric_question(
        RUBRIC, [FencedPart("subject", subject)], NONCE, instructions=words or None
    )
    begins = [
        line for line in put.prompt.split("\n") if line.startswith(f"<<<flow-data {NONCE} BEG")
    ]
    ends = [line for line in put.prompt.split("\n") if line == f"<<<flow-data {NONCE} END>>>"]
    assert (len(begins), len(ends)) == (2, 2)
    assert put.prompt.count(NONCE) == 4 + words.replace("<<<", "").count(NONCE)


@settings(deadline=None)
@given(st.lists(TEXT, max_size=3), TEXT)
def test_quotes_of_what_is_there_occur(texts: list[str], more: str) -> None:
    check = QuotableTexts(texts).contain
    for text in texts:
        if len(normalized(text).strip("'\" ")) >= LEAST_QUOTE:
            assert check(text)
    if not any(normalized(more) in normalized(text) for text in texts):
        assert not check(more) or normalized(more) != normalized(more).strip("'\" ")


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60), st.none() | st.floats(0, 1))
def test_belief_never_contradicts_the_numbers(
    rows: list[tuple[bool, bool]], bar: float | None
) -> None:
    labels = [Label(*row) for row in rows]
    found, belief = calibrate(labels), believed(labels, bar)
    for share in (found.agreement, found.sensitivity, found.specificity):
        if share.value is not None:
            assert share.low is not None
            assert share.high is not None
            assert 0 <= share.low <= share.value <= share.high <= 1
    if bar is None:
        assert belief.ok
    elif belief.ok:
        assert found.kappa is not None
        assert found.kappa >= bar - 1e-9
        assert found.labels >= 30


@settings(deadline=None)
@given(VALUES)
def test_any_value_is_a_subject_or_an_error(value: Any) -> None:
    try:
        (part,) = parts(value)
    except FlowError:
        return
    if not isinstance(value, str):
        assert json.loads(part.text) == value or value != value  # NaN is refused


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xfe", b"\0", b"{" * 5000, b"- " * 5000, b"a: &x [*x]", b"? " * 2000,
        b"name: " + b"x" * (1 << 20), b"criteria: [" + b"{}," * 200_000 + b"]",
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["r.yaml", "r.json"])
def test_any_bytes_are_an_error_of_flows(data: bytes, name: str) -> None:
    with pytest.raises(FlowError):
        rubric_files.read(data, name)
