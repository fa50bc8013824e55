"""The decision table of SPEC 3, every row × evaluator type × trigger."""

from __future__ import annotations

import itertools

import pytest

from flow.core.decision.decide import (
    CONFIDENCE_BAR,
    Measured,
    NoOpinion,
    Opinion,
    candidate,
    decide,
    judge_wanted,
)

TYPES = ("deterministic", "hybrid", "flow_verdict_judge")
TRIGGERS = ("manual", "command", "stop-hook")
OUTCOMES = ("passed", "failed", "inconclusive", "not_run", "not_executed")


def fact(
    outcome: str,
    *,
    must_pass: bool = True,
    fuzzy: bool = False,
    stale: bool = False,
    approved: bool = False,
) -> Measured:
    return Measured("AC1", must_pass, fuzzy, outcome, stale, approved)  # type: ignore[arg-type]


@pytest.mark.parametrize("stale", [False, True])
@pytest.mark.parametrize("must_pass", [True, False])
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_candidate_of_one_command(outcome: str, must_pass: bool, stale: bool) -> None:
    found = candidate([fact(outcome, must_pass=must_pass, stale=stale)], boundary_known=True)
    if not must_pass:
        assert found == "pass"
    elif outcome == "passed" and not stale:
        assert found == "pass"
    elif outcome == "failed" and not stale:
        assert found == "fail"
    else:
        assert found == "incomplete"


@pytest.mark.parametrize(("first", "second"), list(itertools.product(OUTCOMES, OUTCOMES)))
def test_candidate_of_two_commands_takes_the_worse(first: str, second: str) -> None:
    found = candidate([fact(first), fact(second)], boundary_known=True)
    if "failed" in (first, second):
        assert found == "fail"
    elif first == second == "passed":
        assert found == "pass"
    else:
        assert found == "incomplete"


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_an_unknown_boundary_is_never_a_pass(outcome: str) -> None:
    found = candidate([fact(outcome)], boundary_known=False)
    assert found == ("fail" if outcome == "failed" else "incomplete")


@pytest.mark.parametrize("approved", [True, False])
@pytest.mark.parametrize("must_pass", [True, False])
def test_candidate_of_a_fuzzy_criterion(must_pass: bool, approved: bool) -> None:
    rows = [fact("passed"), fact("not_run", fuzzy=True, must_pass=must_pass, approved=approved)]
    expected = "pass+fuzzy" if must_pass and not approved else "pass"
    assert candidate(rows, boundary_known=True) == expected


@pytest.mark.parametrize("approved", [True, False])
@pytest.mark.parametrize("fuzzy", [True, False])
@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("judged", ["pass", "fail", "incomplete", None])
def test_what_a_judge_says_counts_for_fuzzy_criteria_only(
    judged: str | None, outcome: str, fuzzy: bool, approved: bool
) -> None:
    row = fact(outcome, fuzzy=fuzzy, approved=approved)
    said = row._replace(judged=judged)  # type: ignore[arg-type]
    if not fuzzy:
        assert (said.passing, said.failing) == (row.passing, row.failing)
    elif approved:
        assert (said.passing, said.failing) == (True, False)
    else:
        assert (said.passing, said.failing) == (judged == "pass", judged == "fail")


def test_an_approval_never_covers_a_command() -> None:
    assert candidate([fact("failed", approved=True)], boundary_known=True) == "fail"
    assert candidate([fact("inconclusive", approved=True)], boundary_known=True) == "incomplete"


WANTED = {
    ("pass+fuzzy", "hybrid", "manual"),
    ("pass+fuzzy", "hybrid", "command"),
    ("pass+fuzzy", "hybrid", "stop-hook"),
    ("pass+fuzzy", "flow_verdict_judge", "manual"),
    ("pass", "flow_verdict_judge", "manual"),
}


@pytest.mark.parametrize(
    ("found", "kind", "trigger"),
    list(itertools.product(("pass", "pass+fuzzy", "incomplete", "fail"), TYPES, TRIGGERS)),
)
def test_when_a_judge_is_wanted(found, kind, trigger) -> None:  # type: ignore[no-untyped-def]
    assert judge_wanted(found, kind, trigger) is ((found, kind, trigger) in WANTED)


JUDGES = {
    "none": None,
    "silent": NoOpinion("none configured"),
    "achieved": Opinion("achieved", 0.9),
    "achieved at the bar": Opinion("achieved", CONFIDENCE_BAR),
    "achieved below the bar": Opinion("achieved", 0.59),
    "not_achieved": Opinion("not_achieved", 0.8),
    "blocked": Opinion("blocked", 0.7, blocker_type="missing_dep"),
    "blocked by nothing": Opinion("blocked", 0.7),
    "needs_human_review": Opinion("needs_human_review", 0.5),
}
ANSWERS = {
    "achieved": ("achieved", "active", "achieved", "pass"),
    "achieved at the bar": ("achieved", "active", "achieved", "pass"),
    "achieved below the bar": (
        "needs_human_review",
        "waiting_for_user",
        None,
        "needs_human_review",
    ),
    "not_achieved": ("not_achieved", "active", None, "incomplete"),
    "blocked": ("blocked", "blocked", None, "blocked"),
    "blocked by nothing": ("needs_human_review", "waiting_for_user", None, "needs_human_review"),
    "needs_human_review": ("needs_human_review", "waiting_for_user", None, "needs_human_review"),
}
FOUND = ("pass", "pass+fuzzy", "incomplete", "fail")
ALL = list(itertools.product(TYPES, TRIGGERS, JUDGES, (True, False)))


@pytest.mark.parametrize("found", FOUND)
def test_the_decision_table(found) -> None:  # type: ignore[no-untyped-def]
    for case in ALL:
        decides_as_the_table_says(found, *case)


def decides_as_the_table_says(found, kind, trigger, judge, violation) -> None:  # type: ignore[no-untyped-def]
    made = decide(
        found, violation=violation, evaluator_type=kind, trigger=trigger, judge=JUDGES[judge]
    )
    got = (made.verdict, made.status, made.proposed, made.result)
    person = ("needs_human_review", "waiting_for_user", None, "needs_human_review")
    if violation:
        assert got == ("blocked", "blocked", None, "blocked")
        assert made.blocker_type == "scope_violation"
    elif found == "fail":
        assert got == ("not_achieved", "active", None, "fail")
    elif found == "incomplete":
        assert got == ("not_achieved", "active", None, "incomplete")
    elif found == "pass+fuzzy" and kind == "deterministic":
        assert got == person
        assert (made.confidence, made.blocker_type) == (0.0, "none")
    elif judge == "none" and found == "pass" and kind != "flow_verdict_judge":
        assert got == ("achieved", "active", "achieved", "pass")
        assert made.confidence == 1.0
    elif (found, kind, trigger) in WANTED and judge in ANSWERS:
        assert got == ANSWERS[judge]
    else:  # no usable answer, or one that nobody was to ask for
        assert got == person
        assert made.confidence == 0.0


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("found", ["pass+fuzzy", "incomplete", "fail"])
def test_a_judge_never_raises_what_a_command_did_not_earn(found, kind, judge) -> None:  # type: ignore[no-untyped-def]
    made = decide(
        found, violation=False, evaluator_type=kind, trigger="manual", judge=JUDGES[judge]
    )
    if found in ("incomplete", "fail"):
        assert made.proposed is None


def test_changed_guards_hold_an_achieved_verdict_for_a_person() -> None:
    made = decide(
        "pass", violation=False, evaluator_type="deterministic", trigger="manual", review=True
    )
    assert (made.verdict, made.status, made.proposed) == (
        "needs_human_review",
        "waiting_for_user",
        None,
    )


def test_changed_guards_do_not_soften_a_failure() -> None:
    made = decide(
        "fail", violation=False, evaluator_type="deterministic", trigger="manual", review=True
    )
    assert made.verdict == "not_achieved"


@pytest.mark.parametrize("review", [True, False])
@pytest.mark.parametrize("held", ["open", "person"])
@pytest.mark.parametrize("found", FOUND)
def test_a_goal_that_comes_first_holds_back_only_what_is_achieved(  # type: ignore[no-untyped-def]
    found, held, review
) -> None:
    for case in ALL:
        holds_back_only_what_is_achieved(found, *case, held, review)


def holds_back_only_what_is_achieved(  # type: ignore[no-untyped-def]
    found, kind, trigger, judge, violation, held, review
) -> None:
    def made(**more):  # type: ignore[no-untyped-def]
        return decide(
            found,
            violation=violation,
            evaluator_type=kind,
            trigger=trigger,
            judge=JUDGES[judge],
            review=review,
            **more,
        )

    free = made()
    if free.proposed is None:  # everything else comes first, a person's look at guards too
        assert made(held=held) == free
        return
    got = made(held=held)
    assert got.proposed is None
    assert (got.verdict, got.blocker_type) == ("needs_human_review", "missing_dep")
    assert got.status == ("active" if held == "open" else "waiting_for_user")
    assert got.confidence == free.confidence
