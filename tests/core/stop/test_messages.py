"""What the Stop hook says where it lets an agent go."""

from __future__ import annotations

from typing import Any

import pytest

from flow.core.decision.verdict import Verdict
from flow.core.stop import messages as stop_messages
from flow.core.stop.lost_goals import Loss, SessionNotes
from flow.core.stop.policy import LoopLimits


def verdict(**more: Any) -> Verdict:
    fields: dict[str, Any] = {
        "goal_id": "issue-4",
        "run_id": "run-1",
        "verdict": "not_achieved",
        "confidence": 1.0,
        "delta": "unchanged",
        "reason": "failed: AC1",
        "next_step_hint": "work on AC1",
        "blocker_type": "none",
        "criterion_results": (),
        "path_violations": (),
        "warnings": (),
        "proposed_transition": None,
        "lifecycle_from": "active",
        "lifecycle_to": "active",
        "turns_evaluated": 1,
        **more,
    }
    return Verdict(**fields)


@pytest.mark.parametrize(
    ("found", "text"),
    [
        ("proved", "goal issue-4: every required criterion is proved; a person confirms"),
        ("untrusted", "goal issue-4: failed: AC1"),
        ("violation", "goal issue-4 is blocked: failed: AC1"),
        ("failed", "goal issue-4 is not done: failed: AC1"),
        ("inconclusive", "goal issue-4 is undecided: failed: AC1"),
        ("judge_not_achieved", "goal issue-4: the judge is not convinced: failed: AC1"),
        ("undecided", "goal issue-4 needs a person: failed: AC1"),
    ],
)
def test_what_is_let_go(found: Any, text: str) -> None:
    assert stop_messages.let_go_message(found, verdict()) == text
    warned = stop_messages.let_go_message(found, verdict(), "it is so")
    assert warned == (
        text if found in ("proved", "untrusted") else f"{text} (the hook only warns: it is so)"
    )


def test_a_violation_is_told_in_words() -> None:
    outside = verdict(reason="path_boundary_violation: a.py outside the goal's paths; failed: AC1")
    assert stop_messages.let_go_message("violation", outside) == (
        "goal issue-4 is blocked: outside its paths: a.py; failed: AC1"
    )


@pytest.mark.parametrize(
    ("why", "word", "text"),
    [
        ("stuck", "stuck_no_progress", "the same criteria passed after each of 3 continuations"),
        ("budget", "budget_exhausted", "all 20 continuations of max_iterations are used"),
        ("time", "budget_exhausted", "the 3600 s of max_seconds are over"),
        (
            "cost",
            "budget_exhausted",
            "judges have cost 2.75 of 2.5 US dollars of max_cost_usd",
        ),
        ("throttle", "throttled", "3 continuations within 5 minutes changed no file"),
        ("cap", "host_cap", "the host lets go after 8 continuations in a row"),
    ],
)
def test_the_limits_have_a_word_and_a_sentence(why: Any, word: str, text: str) -> None:
    assert stop_messages.LIMITS[why] == word
    limits = LoopLimits(3, 20, 8, seconds=3600, cost=2.5, spent=2.75)
    assert stop_messages.limit_reached(why, limits) == text


def test_a_limit_of_one_is_told_in_the_singular() -> None:
    limits = LoopLimits(1, 1, 1)
    assert [stop_messages.limit_reached(limit, limits) for limit in ("stuck", "budget", "cap")] == [
        "the same criteria passed after a continuation as before it",
        "the one continuation of max_iterations is used",
        "the host lets go after 1 continuation in a row",
    ]


@pytest.mark.parametrize(("limit", "told"), [(1, "at most 1 time (1 of 1)"), (3, "3 times (1 of")])
def test_how_often_a_lost_goal_is_asked_for(limit: int, told: str) -> None:
    lost = Loss("issue-4", "gone", ".flow/goals/issue-4.goal.yaml")
    assert told in stop_messages.restore_request([lost], SessionNotes(), limit)
