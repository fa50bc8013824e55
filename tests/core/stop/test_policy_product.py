"""Mode × row × budget × throttle × host: what goes out, for every combination (SPEC 6)."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from flow.core.stop import policy as stop_policy
from flow.core.stop.hosts import HOSTS, StopAnswer, to_document
from flow.core.stop.policy import Continuation, LoopCounters, LoopLimits

MODES = ("off", "warn", "block", "evaluator-loop")
ROWS = {
    "failed": ("block", "evaluator-loop"),
    "violation": ("block", "evaluator-loop"),
    "proof_lost": ("block", "evaluator-loop"),
    "inconclusive": (),
    "judge_not_achieved": ("evaluator-loop",),
    "undecided": (),
    "proved": (),
    "untrusted": (),
}
BLOCKS: dict[str, dict[str, str]] = {
    "claude": {"decision": "block", "reason": "R", "systemMessage": "M"},
    "codex": {"decision": "block", "reason": "R"},
    "gemini": {"decision": "deny", "reason": "R", "systemMessage": "M"},
    "cursor": {"followup_message": "R"},
}
LETS_GO: dict[str, dict[str, str]] = {
    "claude": {
        "decision": "approve",
        "reason": "R",
        "next_step_hint": "H",
        "systemMessage": "M",
    },
    "codex": {},
    "gemini": {"decision": "allow", "systemMessage": "M"},
    "cursor": {},
}
TREE = "t"


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize(
    ("mode", "row", "spent", "fast"),
    list(itertools.product(MODES, ROWS, (False, True), (False, True))),
)
def test_every_combination(mode: Any, row: Any, spent: bool, fast: bool, host: str) -> None:
    recent = tuple(Continuation(1000.0 - n, TREE) for n in (2, 1, 0)) if fast else ()
    loop = LoopCounters("g", continuations=20 if spent else 1, recent=recent)
    step = stop_policy.stop_step(row, mode, loop, LoopLimits(3, 20, None), tree=TREE, at=1001.0)

    goes_on = mode in ROWS[row] and not fast and not (spent and mode == "evaluator-loop")
    why = ""
    if mode in ROWS[row] and not goes_on:
        why = "budget" if spent and mode == "evaluator-loop" else "throttle"
    assert (step.action, step.limit) == ("continue" if goes_on else "let_go", why)
    answer = StopAnswer(step.action, "R", "H", "M")
    assert to_document(host, answer) == (BLOCKS if goes_on else LETS_GO)[host]
