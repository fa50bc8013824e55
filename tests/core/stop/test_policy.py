"""The table of SPEC 6, and the limits of the loop: every cell, every border."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flow.core.decision.decide import Decision, Measured, NoOpinion, Opinion
from flow.core.stop import policy as stop_policy
from flow.core.stop.policy import Continuation, LoopCounters, LoopLimits
from flow.startup.typing import get_args

MODES = ("off", "warn", "block", "evaluator-loop")
ROWS = (
    "failed",
    "violation",
    "proof_lost",
    "inconclusive",
    "judge_not_achieved",
    "undecided",
    "proved",
    "untrusted",
)
CONTINUES = {
    ("failed", "block"),
    ("failed", "evaluator-loop"),
    ("violation", "block"),
    ("violation", "evaluator-loop"),
    ("proof_lost", "block"),
    ("proof_lost", "evaluator-loop"),
    ("judge_not_achieved", "evaluator-loop"),
}
FREE = LoopLimits(stuck=3, budget=20, cap=8)
T = "t" * 64


def step(
    loop: LoopCounters,
    mode: Any = "evaluator-loop",
    limits: LoopLimits = FREE,
    at: float = 1000.0,
    **more: Any,
) -> stop_policy.StopStep:
    return stop_policy.stop_step(
        more.pop("row", "failed"), mode, loop, limits, tree=more.pop("tree", T), at=at
    )


def test_the_lists_above_are_whole() -> None:
    assert get_args(stop_policy.Mode) == MODES
    assert get_args(stop_policy.Row) == ROWS


@pytest.mark.parametrize(("row", "mode"), list(itertools.product(ROWS, MODES)))
def test_every_cell_of_the_table(row: Any, mode: Any) -> None:
    found = step(LoopCounters("g"), mode, row=row)
    assert (found.action == "continue") == ((row, mode) in CONTINUES)
    assert found.limit == ""
    assert found.loop.continuations == (1 if found.action == "continue" else 0)


def decision(verdict: str, blocker: str = "none") -> Decision:
    return Decision(verdict, "active", None, "fail", 1.0, blocker)  # type: ignore[arg-type]


OPINION = Opinion("not_achieved", 0.9)


@pytest.mark.parametrize(
    ("candidate", "decided", "opinion", "expected"),
    [
        ("pass", decision("blocked", "scope_violation"), None, "violation"),
        ("fail", decision("blocked", "scope_violation"), None, "violation"),
        ("fail", decision("not_achieved"), None, "failed"),
        ("incomplete", decision("not_achieved"), None, "inconclusive"),
        ("pass", decision("achieved"), None, "proved"),
        ("pass+fuzzy", decision("achieved"), Opinion("achieved", 0.9), "proved"),
        ("pass+fuzzy", decision("not_achieved"), OPINION, "judge_not_achieved"),
        ("pass", decision("not_achieved"), OPINION, "judge_not_achieved"),
        ("pass+fuzzy", decision("not_achieved"), None, "undecided"),
        ("pass+fuzzy", decision("needs_human_review"), NoOpinion("none"), "undecided"),
        ("pass+fuzzy", decision("needs_human_review"), Opinion("achieved", 0.1), "undecided"),
        ("pass", decision("needs_human_review", "missing_approval"), None, "undecided"),
        ("pass+fuzzy", decision("blocked", "missing_dep"), Opinion("blocked", 1.0), "undecided"),
    ],
)
def test_the_row_of_an_evaluation(
    candidate: Any, decided: Any, opinion: Any, expected: str
) -> None:
    assert stop_policy.stop_row(candidate, decided, opinion) == expected


@pytest.mark.parametrize(
    ("candidate", "expected"),
    [("fail", "failed"), ("incomplete", "proof_lost"), ("pass", "undecided")],
)
def test_a_lost_proof_is_a_row_of_its_own_where_nothing_failed(
    candidate: Any, expected: str
) -> None:
    assert stop_policy.stop_row(candidate, decision("not_achieved"), None, ("AC1",)) == expected


@pytest.mark.parametrize(
    ("outcome", "reason", "expected"),
    [
        ("inconclusive", "no test ran", True),
        ("inconclusive", "", True),
        ("inconclusive", "flaky: passed 1 of 2 runs", False),
        ("failed", "exit 1", False),
        ("passed", "", False),
        ("not_run", "", False),
    ],
)
def test_what_can_be_a_lost_proof(outcome: str, reason: str, expected: bool) -> None:
    assert stop_policy.may_have_lost_its_proof(outcome, reason) == expected


@pytest.mark.parametrize(
    ("result", "expected"),
    [("signal TERM", True), ("signal RTMIN+2", True), ("exit 0", False), (None, False)],
)
def test_a_signal_shows_nothing(result: str | None, expected: bool) -> None:
    assert stop_policy.ended_by_signal(result) == expected


@pytest.mark.parametrize(("stuck", "why"), [(0, ""), (2, ""), (3, "stuck"), (4, "stuck")])
@pytest.mark.parametrize("mode", ["block", "evaluator-loop"])
def test_stuck_is_only_of_the_loop(stuck: int, why: str, mode: str) -> None:
    found = step(LoopCounters("g", stuck_turns=stuck), mode)
    assert found.limit == (why if mode == "evaluator-loop" else "")
    assert found.action == ("let_go" if found.limit else "continue")


@pytest.mark.parametrize(("used", "why"), [(0, ""), (19, ""), (20, "budget"), (21, "budget")])
@pytest.mark.parametrize("mode", ["block", "evaluator-loop"])
def test_the_budget_is_only_of_the_loop(used: int, why: str, mode: str) -> None:
    found = step(LoopCounters("g", continuations=used), mode)
    assert found.limit == (why if mode == "evaluator-loop" else "")
    if mode == "evaluator-loop" and not why:
        near = [ending.stops for ending in found.endings if ending.limit == "budget"]
        assert near == ([1] if used == 19 else [])


@pytest.mark.parametrize(
    ("loop", "mode", "limits", "endings"),
    [
        # The first stop that decides something only starts to count equal ones.
        (LoopCounters("g"), "evaluator-loop", FREE, [("throttle", 3)]),
        (LoopCounters("g", passing_sha256="x"), "evaluator-loop", FREE, [("stuck", 3)]),
        (
            LoopCounters("g", passing_sha256="x", stuck_turns=2),
            "evaluator-loop",
            FREE,
            [("stuck", 1)],
        ),
        (LoopCounters("g", passing_sha256="x", stuck_turns=2), "block", FREE, [("throttle", 3)]),
        (LoopCounters("g"), "block", LoopLimits(3, 20, 2), [("cap", 2)]),
        (
            LoopCounters("g", recent=(Continuation(0.0, T),), in_row=1),
            "block",
            FREE,
            [("throttle", 2)],
        ),
        (
            LoopCounters("g", recent=(Continuation(0.0, "u"),), in_row=1),
            "block",
            FREE,
            [("throttle", 3)],
        ),
        (
            LoopCounters("g", passing_sha256="x", continuations=17),
            "evaluator-loop",
            FREE,
            [("stuck", 3), ("budget", 3)],
        ),
        (
            LoopCounters("g", passing_sha256="x", continuations=12),
            "evaluator-loop",
            LoopLimits(9, 20, None),
            [("throttle", 3)],
        ),
    ],
)
def test_how_many_stops_are_left(
    loop: LoopCounters, mode: str, limits: LoopLimits, endings: list[tuple[str, int]]
) -> None:
    found = step(loop, mode, limits)
    assert found.action == "continue"
    assert [tuple(each) for each in found.endings] == endings


@pytest.mark.parametrize("mode", ["block", "evaluator-loop"])
def test_the_stops_that_are_left_are_as_many_as_are_told(mode: str) -> None:
    loop = LoopCounters("g", passing_sha256="x")
    told = step(loop, mode, at=0.0).endings[0]
    stops = 0
    while (found := step(loop, mode, at=float(stops))).action == "continue":
        stops += 1
        loop = found.loop._replace(stuck_turns=found.loop.stuck_turns + 1)
    assert (found.limit, stops) == (told.limit, told.stops)


def test_nothing_counts_stops_where_nobody_knows_the_files_and_no_host_does() -> None:
    assert step(LoopCounters("g"), "block", LoopLimits(3, 20, None), tree=None).endings == ()


SAME = tuple(Continuation(900.0 + n, T) for n in range(3))


@pytest.mark.parametrize(
    ("recent", "at", "tree", "throttled"),
    [
        (SAME, 1000.0, T, True),
        (SAME[:2], 1000.0, T, False),
        (SAME, 1200.0, T, True),
        (SAME, 1200.5, T, False),
        (SAME, 1000.0, "u" * 64, False),
        ((SAME[0]._replace(tree="u"), *SAME[1:]), 1000.0, T, False),
        (SAME, 500.0, T, True),
        (SAME, -86_000.0, T, False),
        (SAME, 1000.0, None, False),
        (tuple(r._replace(tree=None) for r in SAME), 1000.0, None, False),
    ],
    ids=[
        *("three", "two", "border", "older", "other now", "other then", "back", "a day back"),
        *("unknown", "none"),
    ],
)
@pytest.mark.parametrize("mode", ["block", "evaluator-loop"])
def test_the_throttle(recent: Any, at: float, tree: Any, throttled: bool, mode: str) -> None:
    found = step(LoopCounters("g", recent=recent), mode, at=at, tree=tree)
    assert found.limit == ("throttle" if throttled else "")


@pytest.mark.parametrize(
    ("in_row", "cap", "why", "last"),
    [
        (0, 8, "", False),
        (6, 8, "", False),
        (7, 8, "", True),
        (8, 8, "cap", False),
        (8, None, "", False),
        (0, 1, "", True),
        (1, 1, "cap", False),
    ],
)
def test_the_cap_of_the_host(in_row: int, cap: Any, why: str, last: bool) -> None:
    loop = LoopCounters("g", in_row=in_row, recent=(Continuation(1.0, T),))
    found = step(loop, "block", LoopLimits(3, 20, cap))
    assert (found.limit, found.last_of_host) == (why, last)


def test_work_in_between_starts_the_row_of_the_host_again() -> None:
    loop = LoopCounters("g", in_row=8, recent=(Continuation(1.0, "u"),))
    found = step(loop, "block", LoopLimits(3, 20, 8))
    assert (found.action, found.loop.in_row) == ("continue", 1)


@pytest.mark.parametrize(
    ("loop", "limits", "why"),
    [
        (LoopCounters("g", stuck_turns=3, continuations=20, recent=SAME, in_row=8), FREE, "stuck"),
        (LoopCounters("g", stuck_turns=2, continuations=20, recent=SAME, in_row=8), FREE, "budget"),
        (
            LoopCounters("g", stuck_turns=2, continuations=9, recent=SAME, in_row=8),
            FREE,
            "throttle",
        ),
        (LoopCounters("g", stuck_turns=2, continuations=9, recent=SAME[:1], in_row=8), FREE, "cap"),
    ],
)
def test_the_order_of_the_limits(loop: LoopCounters, limits: LoopLimits, why: str) -> None:
    assert step(loop, limits=limits).limit == why


MINE = LoopCounters("g", session="s", prompt="p", continuing=True, continuations=2, stuck_turns=1)


@pytest.mark.parametrize(
    ("session", "prompt", "continued", "answers"),
    [
        ("s", "p", True, True),
        ("s", "p", False, True),  # the host's flag can be false in a continued turn
        ("s", "q", True, False),
        ("s", "q", False, False),
        ("s", None, True, True),
        ("s", None, False, False),
        ("other", "p", True, False),
        (None, "p", True, False),
    ],
)
def test_what_answers_a_continuation(
    session: Any, prompt: Any, continued: bool, answers: bool
) -> None:
    assert stop_policy.answers_continuation(MINE, session, prompt, continued) is answers
    idle = MINE._replace(continuing=False)
    assert stop_policy.answers_continuation(idle, session, prompt, continued) is False
    after = stop_policy.count_stop(
        MINE, session=session, prompt=prompt, continued=continued, passing=None
    )
    assert after.continuations == (2 if answers else 0)
    assert after.continuing is False


def test_the_stuck_counter() -> None:
    """Four equal stops make three equal turns; an undecided stop counts for nothing."""
    loop, seen = LoopCounters("g"), []
    for passing in ("a", "a", None, "a", "a", "b", "b"):
        loop = stop_policy.count_stop(
            loop, session="s", prompt="p", continued=True, passing=passing
        )
        seen.append(loop.stuck_turns)
        loop = loop._replace(continuing=True)
    assert seen == [0, 1, 1, 2, 3, 0, 1]


def test_a_prompt_of_the_users_starts_the_stuck_counter_afresh() -> None:
    loop = MINE._replace(passing_sha256="a", stuck_turns=2)
    after = stop_policy.count_stop(loop, session="s", prompt="new", continued=False, passing="a")
    assert (after.stuck_turns, after.continuations, after.prompt) == (0, 0, "new")


def test_the_passing_set() -> None:
    one = Measured("AC1", True, False, "passed")
    two = Measured("AC2", True, False, "passed")
    failed = two._replace(outcome="failed")
    assert stop_policy.passing_set([one, two]) == stop_policy.passing_set([two, one])
    assert stop_policy.passing_set([one, failed]) == stop_policy.passing_set([one])
    assert stop_policy.passing_set([one, two]) != stop_policy.passing_set([one])
    assert stop_policy.passing_set([]) == stop_policy.passing_set([failed])


LOOPS = st.builds(
    LoopCounters,
    st.just("g"),
    session=st.none() | st.text(max_size=5),
    prompt=st.none() | st.text(max_size=5),
    continuing=st.booleans(),
    continuations=st.integers(0, 9),
    in_row=st.integers(0, 9),
    stuck_turns=st.integers(0, 9),
    passing_sha256=st.none() | st.text(max_size=5),
    recent=st.lists(
        st.builds(Continuation, st.floats(0, 1e9), st.none() | st.text(max_size=3)), max_size=3
    ).map(tuple),
    evidence=st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=3),
)


@given(LOOPS)
def test_the_counters_are_read_back_as_they_were_written(loop: LoopCounters) -> None:
    assert stop_policy.loop_from_document(loop.to_document(), "g") == loop
    assert stop_policy.loop_from_document(loop.to_document(), "other") is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(LOOPS, st.sampled_from(sorted(LoopCounters._fields)), JSON)
def test_counters_that_were_spoilt_are_none_or_counters(
    loop: LoopCounters, key: str, value: Any
) -> None:
    found = stop_policy.loop_from_document({**loop.to_document(), key: value}, "g")
    if found is not None:
        after = stop_policy.count_stop(found, session="s", prompt="p", continued=True, passing="x")
        stop_policy.stop_step("failed", "evaluator-loop", after, FREE, tree=T, at=1.0)


WHOLE = LoopCounters(
    "g",
    session="s",
    prompt="p",
    continuing=True,
    continuations=4,
    in_row=3,
    stuck_turns=2,
    passing_sha256="a",
    recent=(Continuation(1.5, "t"), Continuation(2, None)),
    evidence={"AC1": "x"},
)


def test_what_loop_json_holds() -> None:
    assert WHOLE.to_document() == {
        "goal_id": "g",
        "session": "s",
        "prompt": "p",
        "continuing": True,
        "continuations": 4,
        "began": None,
        "in_row": 3,
        "stuck_turns": 2,
        "passing_sha256": "a",
        "recent": [{"at": 1.5, "tree": "t"}, {"at": 2, "tree": None}],
        "evidence": {"AC1": "x"},
    }
    assert stop_policy.loop_from_document({"goal_id": "g"}, "g") == LoopCounters("g")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("goal_id", "h"),
        ("goal_id", None),
        *((key, 5) for key in ("session", "prompt", "passing_sha256")),
        *((key, True) for key in ("continuations", "in_row", "stuck_turns")),
        *((key, -1) for key in ("continuations", "in_row", "stuck_turns")),
        *((key, "1") for key in ("continuations", "in_row", "stuck_turns")),
        *((key, None) for key in ("continuations", "in_row", "stuck_turns", "continuing")),
        ("continuing", 1),
        ("recent", {}),
        ("recent", [1]),
        ("recent", [{}]),
        ("recent", [{"at": True}]),
        ("recent", [{"at": "1"}]),
        ("recent", [{"at": 1, "tree": 2}]),
        ("recent", [{"at": 1}, {"at": None}]),
        ("evidence", []),
        ("evidence", {"AC1": 1}),
        ("evidence", {"AC1": "x", "AC2": None}),
    ],
)
def test_one_spoilt_field_spoils_the_counters(key: str, value: Any) -> None:
    assert stop_policy.loop_from_document({**WHOLE.to_document(), key: value}, "g") is None


def test_only_the_newest_continuations_are_kept() -> None:
    many = [{"at": n, "tree": None} for n in range(9)]
    found = stop_policy.loop_from_document({**WHOLE.to_document(), "recent": many}, "g")
    assert found is not None
    assert [r.at for r in found.recent] == [6, 7, 8]
    loop = LoopCounters("g", recent=tuple(Continuation(float(n), "u") for n in range(3)))
    assert [r.at for r in step(loop, at=9.0).loop.recent] == [1.0, 2.0, 9.0]


def test_an_unknown_tree_is_never_the_same_one() -> None:
    loop = LoopCounters("g", in_row=3, recent=(Continuation(1.0, None),))
    assert step(loop, "block", tree=None).loop.in_row == 1
    assert step(loop._replace(recent=()), "block").loop.in_row == 1


@pytest.mark.parametrize(
    ("loop", "mode"),
    [
        (LoopCounters("g"), "off"),
        (LoopCounters("g", stuck_turns=3), "evaluator-loop"),
        (LoopCounters("g", continuations=20), "evaluator-loop"),
        (LoopCounters("g", recent=SAME), "block"),
        (LoopCounters("g", in_row=8, recent=(Continuation(1.0, T),)), "block"),
    ],
)
def test_letting_go_leaves_the_counters_and_no_turn(loop: LoopCounters, mode: str) -> None:
    found = step(loop, mode)
    assert (found.action, found.endings, found.last_of_host) == ("let_go", (), False)
    assert found.loop == loop


def test_a_known_prompt_decides_only_against_another_known_one() -> None:
    assert stop_policy.answers_continuation(MINE._replace(prompt=None), "s", "p", True) is True
    assert stop_policy.answers_continuation(MINE._replace(prompt=None), "s", "p", False) is False
    after = stop_policy.count_stop(MINE, session="s", prompt="new", continued=True, passing=None)
    assert (after.in_row, after.stuck_turns, after.passing_sha256) == (0, 0, None)


def test_the_passing_set_is_a_digest_of_the_ids_a_line_each() -> None:
    import hashlib

    measured = [Measured(f"AC{n}", True, False, "passed") for n in (2, 1)]
    assert stop_policy.passing_set(measured) == hashlib.sha256(b"AC1\nAC2").hexdigest()
