"""Names that become file names: what is let through, and how the rest is refused."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flow.core.goal import ids
from flow.errors import InputError

CHECKS: dict[str, Callable[[object], str]] = {
    "goal id": ids.goal_id,
    "run id": ids.run_id,
    "evidence id": ids.evidence_id,
    "criterion id": ids.criterion_id,
}
GOOD = {
    "goal id": ["a", "0", "issue-4", "a" * 64, "a-"],
    "run id": ["A", "2026-11-21T120000Z-issue-4", "a.b_c-D", "a" * 128, "a."],
    "evidence id": ["a", "evidence-ac1-eval-1", "a_b", "a" * 200],
    "criterion id": ["AC1", "A0", "FZ12"],
}
BAD = {
    "goal id": ["A", "-a", "a" * 65, "a_b", "a.b", "\u00e9", "a\n"],
    "run id": ["a..b", "..", ".", "_a", "-a", "a" * 129, "a\n", "a b", ".hidden"],
    "evidence id": ["A", "_a", "-a", "a" * 201, "a.b", "a\n"],
    "criterion id": ["AC", "1", "ac1", "AC1 ", "AC1\n", "A-1"],
}
NEVER: list[object] = ["", "../x", "a/b", "/a", "a\0", None, 4, b"a", ["a"]]


@pytest.mark.parametrize(("what", "value"), [(w, v) for w, vs in GOOD.items() for v in vs])
def test_a_good_name_is_given_back(what: str, value: str) -> None:
    assert CHECKS[what](value) == value


@pytest.mark.parametrize(
    ("what", "value"), [(w, v) for w, vs in BAD.items() for v in [*vs, *NEVER]]
)
def test_any_other_is_refused_by_name(what: str, value: object) -> None:
    with pytest.raises(InputError) as caught:
        CHECKS[what](value)
    fault = caught.value.fault
    assert caught.value.code == "invalid_id"
    assert (fault.key, fault.value) == (what, value)
    assert fault.message.endswith(f"is not {'an' if what[0] in 'aeiou' else 'a'} {what}")
    assert (fault.remedy or "").startswith("use ")


def test_a_long_name_is_cut_in_the_message() -> None:
    with pytest.raises(InputError) as caught:
        ids.goal_id("A" * 5000)
    assert len(str(caught.value)) < 300


PATTERNS = (
    *(ids.GOAL_ID, ids.RUN_ID, ids.EVIDENCE_ID, ids.CRITERION_ID),
    *(ids.OUTPUT_NAME, ids.SESSION_NAME),
)
SOME = [text for texts in (*GOOD.values(), *BAD.values()) for text in texts]
SOME += ["", ".", "..", "...", "a.", "_", "-", "A1A1", "1A", "A" * 300, "a" * 99, "a" * 255]
SOME += ["a" * 256, "a" * 100, "a" * 101, "A\u0661", "\u00b2", "\uff21", "AC\u0661", "a\r"]


@pytest.mark.parametrize("allowed", PATTERNS, ids=lambda allowed: allowed.pattern)
def test_the_check_is_what_the_pattern_says(allowed: ids.IdPattern) -> None:
    whole = re.compile(allowed.pattern)
    for text in SOME:
        assert allowed.fits(text) is (whole.fullmatch(text) is not None), text


@given(st.text(alphabet="aZz09._-/ \n\u00e9A", max_size=12), st.sampled_from(PATTERNS))
def test_the_check_is_what_the_pattern_says_of_any_text(text: str, allowed: ids.IdPattern) -> None:
    assert allowed.fits(text) is (re.fullmatch(allowed.pattern, text) is not None)
