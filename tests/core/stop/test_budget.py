"""The goal's own budget of a loop: seconds since the first continuation, and dollars of judges."""

from __future__ import annotations

from typing import Any

import pytest

from flow.core.evidence.model import evidence_from_document
from flow.core.judging.goal.cost import judge_cost
from flow.core.stop.policy import (
    CONTINUE,
    Continuation,
    LoopCounters,
    LoopLimits,
    count_stop,
    loop_from_document,
    stop_step,
)

BASE = LoopLimits(3, 20, None)
MODES = ("block", "evaluator-loop")


def step(loop: LoopCounters, limits: LoopLimits, at: float, mode: Any = "block") -> Any:
    return stop_step("failed", mode, loop, limits, tree=f"t{at}", at=at)


@pytest.mark.parametrize("mode", MODES)
def test_the_time_counts_from_the_first_continuation(mode: Any) -> None:
    limits = BASE._replace(seconds=60)
    first = step(LoopCounters("g"), limits, 1000.0, mode)
    assert (first.action, first.loop.began) == ("continue", 1000.0)
    again = step(first.loop, limits, 1059.0, mode)
    assert (again.action, again.loop.began) == ("continue", 1000.0)
    over = step(again.loop, limits, 1060.0, mode)
    assert (over.action, over.limit) == ("let_go", "time")
    back = step(again.loop, limits, 10.0, mode)  # the clock was set back
    assert back.action == "continue"


def test_a_prompt_starts_it_anew() -> None:
    loop = LoopCounters("g", "s", "p1", continuing=True, began=1.0)
    same = count_stop(loop, session="s", prompt="p1", continued=True, passing=None)
    other = count_stop(loop, session="s", prompt="p2", continued=False, passing=None)
    assert (same.began, other.began) == (1.0, None)


def test_without_a_limit_nothing_is_remembered_or_let_go() -> None:
    first = step(LoopCounters("g"), BASE, 1.0)
    assert (first.action, first.loop.began) == ("continue", None)
    assert step(first.loop, BASE._replace(spent=1e9), 1e9).action == "continue"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("spent", "limit"), [(0.0, ""), (1.99, ""), (2.0, "cost"), (3.0, "cost")])
def test_the_cost(spent: float, limit: str, mode: Any) -> None:
    made = step(LoopCounters("g"), BASE._replace(cost=2.0, spent=spent), 1.0, mode)
    assert made.limit == limit


@pytest.mark.parametrize("row", [*CONTINUE, "inconclusive", "undecided", "proved", "untrusted"])
@pytest.mark.parametrize("mode", ["off", "warn", *MODES])
def test_a_spent_budget_never_keeps_anybody_working(row: Any, mode: Any) -> None:
    limits = BASE._replace(cost=1.0, spent=1.0, seconds=1.0)
    made = stop_step(row, mode, LoopCounters("g", began=0.0), limits, tree="t", at=5.0)
    assert made.action == "let_go"
    assert made.limit == ("time" if mode in CONTINUE.get(row, ()) else "")


def test_stuck_and_continuations_come_first() -> None:
    limits = BASE._replace(seconds=1.0)
    loop = LoopCounters("g", began=0.0, stuck_turns=3)
    assert step(loop, limits, 9.0, "evaluator-loop").limit == "stuck"
    loop = LoopCounters("g", began=0.0, continuations=20)
    assert step(loop, limits, 9.0, "evaluator-loop").limit == "budget"


@pytest.mark.parametrize("began", ["1", True, [], {}])
def test_counters_that_are_no_counters_are_not_read(began: Any) -> None:
    document = LoopCounters("g", recent=(Continuation(1.0, "t"),), began=2.5).to_document()
    loop = loop_from_document(document, "g")
    assert loop is not None
    assert loop.began == 2.5
    assert loop_from_document({**document, "began": began}, "g") is None
    del document["began"]  # as an older Flow wrote it
    older = loop_from_document(document, "g")
    assert older is not None
    assert older.began is None


def report(name: str, **judgement: Any) -> Any:
    return evidence_from_document(
        {
            "apiVersion": "flow.synapti.ai/v1",
            "kind": "FlowEvidence",
            "metadata": {
                "id": name,
                "goal": "g",
                "run_id": "r",
                "created_at": "2026-01-01T00:00:00Z",
            },
            "evidence": {
                "type": "llm_judge_report",
                "proves": [],
                "limitations": ["an opinion"],
                "judgement": judgement,
            },
        }
    )  # fmt: skip


def test_what_judges_cost_is_counted_once() -> None:
    paths = [".flow/runs/r/evidence/b1.evidence.yaml", ".flow/runs/r/evidence/b2.evidence.yaml"]
    every = [
        report("b1", cost_usd=0.25),
        report("b2", cost_usd=0.5),
        report("eval-1", cost_usd=0.75, ballots={"sidecars": paths}),
        report("one", cost_usd=0.1, ballots={"sidecars": []}),
        report("nothing came of it", cost_usd=0.2),
        report("silent", ballots={"sidecars": None}),
        report("odd", cost_usd="many"),
        report("minus", cost_usd=-5),
    ]
    assert judge_cost(every) == pytest.approx(1.05)
    assert judge_cost([]) == 0.0
