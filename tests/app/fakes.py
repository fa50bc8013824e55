"""Fakes that behave: a ledger that compares and sets, a runner with scripted outcomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flow.app.evaluate import Limits, Tools
from flow.app.looking import Known
from flow.app.measure import Quiet
from flow.app.ports import Check, CheckResult, LoadedGoal, Move, RawOutput, Seen, Turn
from flow.core.boundary import Baseline, Change, Entry, Snapshot
from flow.core.evidence import Evidence, evidence_from_document
from flow.core.goal import Goal, goal_from_document
from flow.core.lifecycle import check_move
from flow.errors import InputError, StateError

NOW = "2026-11-21T12:00:00Z"
BASE = "b" * 40


def criterion(id: str = "AC1", command: str | None = "true", **more: Any) -> dict[str, Any]:
    document = {"id": id, "text": f"{id} holds", "status": "pending", **more}
    if command is not None:
        document["verification_command"] = command
    return document


def goal_document(
    *criteria: dict[str, Any],
    status: str = "active",
    kind: str = "deterministic",
    allowed: Sequence[str] = ("src/**",),
    turns: int = 0,
    **constraints: Any,
) -> dict[str, Any]:
    return {
        "apiVersion": "flow.synapti.ai/v1",
        "kind": "FlowGoal",
        "metadata": {"id": "issue-4", "created_at": NOW},
        "scope": {"repo": "demo", "branch": "main", "run_id": "run-1", "base_commit": BASE},
        "objective": {
            "outcome": "it works",
            "acceptance_criteria": list(criteria) or [criterion()],
        },
        "constraints": {"allowed_paths": list(allowed), **constraints},
        "evaluator": {"type": kind},
        "lifecycle": {"status": status, "turns_evaluated": turns},
    }


class World:
    """One goal, its ledger and a working tree, all in memory; ``log`` is the order of things."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.log: list[str] = []
        self.evidence: dict[str, Evidence] = {}
        self.events: list[Mapping[str, Any]] = []
        self.turns: list[Turn] = []
        self.moves: list[Move] = []
        self.live: Mapping[str, Any] | None = None
        self.verdict: Mapping[str, Any] | None = None
        self.changes: tuple[Change, ...] = ()
        self.problems: tuple[str, ...] = ()
        self.guards: dict[str, str] = {}
        self.head = "h" * 40
        self.branch: str | None = "main"
        self.base = Baseline(BASE, {}, {}, {}, {}, {})
        self.trust = (True, "recorded")
        self.outcomes: dict[str, str] = {}
        self.during: dict[str, Callable[[], None]] = {}
        self.blame: tuple[str, ...] = ()
        self.judge: Callable[..., Any] | None = None
        self.contains_pinned = True
        self.recorded = True
        self.unfinished: frozenset[str] | None = None

    # --- records -------------------------------------------------------------------------------

    def goal(self, goal_id: str) -> LoadedGoal:
        if goal_id != self.document["metadata"]["id"]:
            raise InputError("no such goal", code="not_found")
        goal = goal_from_document(self.document)
        return LoadedGoal(goal, goal.digest(), (), "issue-4.goal.yaml")

    def counted(self, reference: str) -> Evidence | None:
        return self.evidence.get(reference)

    def counted_last(self, run_id: str, event_type: str) -> Evidence | None:
        for event in reversed(self.events):
            if event["type"] == event_type:
                return self.evidence.get(event["path"])
        return None

    def previous_verdict(self, run_id: str, goal: Goal | None = None) -> Mapping[str, Any] | None:
        return self.verdict

    def proposal(self, run_id: str) -> Mapping[str, Any] | None:
        return self.live

    # --- ledger --------------------------------------------------------------------------------

    def finish(self, goal_id: str) -> bool:
        self.log.append("finish")
        return False

    def record_evidence(
        self, document: Mapping[str, Any], raw: RawOutput | None = None, *, suffix: bool = False
    ) -> tuple[str, str]:
        name = document["metadata"]["id"]
        path = f".flow/runs/run-1/evidence/{name}.evidence.yaml"
        self.evidence[path] = evidence_from_document(document)
        self.log.append(f"evidence {name}")
        return name, path

    def move(self, goal_id: str, run_id: str, seen: Seen, move: Move) -> None:
        self._compare(seen)
        check_move(self.document["lifecycle"]["status"], move.to, goal=goal_id)
        self.document["lifecycle"]["status"] = move.to
        self.document["scope"].update(move.scope)
        self.moves.append(move)
        self.log.append(f"move {move.to}")

    def write_turn(self, goal_id: str, run_id: str, seen: Seen, turn: Turn) -> str:
        self._compare(seen)
        check_move(self.document["lifecycle"]["status"], turn.status, goal=goal_id)
        lifecycle = self.document["lifecycle"]
        lifecycle["status"] = turn.status
        lifecycle["turns_evaluated"] = turn.turns_evaluated
        lifecycle["last_evaluation"] = turn.last_evaluation._asdict()
        for update in turn.criteria:
            for row in self.document["objective"]["acceptance_criteria"]:
                if row["id"] == update.id:
                    row.update({k: v for k, v in update._asdict().items() if v is not None})
        self.live = turn.proposal
        self.turns.append(turn)
        self.log.append(f"turn {turn.status}")
        return turn.status

    def _compare(self, seen: Seen) -> None:
        now = self.goal("issue-4").seen
        for mine, theirs in zip(seen, now, strict=True):
            if mine is not None and mine != theirs:
                raise StateError(f"saw {mine}, is {theirs}")

    # --- the rest ------------------------------------------------------------------------------

    def snapshot(self, baseline: Baseline, denied: Sequence[str]) -> Snapshot:
        self.log.append("snapshot")
        return Snapshot(
            self.head, self.branch, None, self.changes, dict(self.guards), self.problems
        )

    def run_checks(
        self,
        checks: Sequence[Check],
        *,
        jobs: int,
        started: Callable[[Check], None],
        ended: Callable[[Check, CheckResult], None],
    ) -> None:
        for check in checks:
            started(check)
            self.log.append(f"run {check.criterion_id}")
            self.during.get(check.criterion_id, lambda: None)()
            outcome = self.outcomes.get(check.criterion_id, "passed")
            code = {"passed": 0, "failed": 1}.get(outcome)
            text = f"exit {code}" if code is not None else "timeout"
            ended(
                check,
                CheckResult(outcome, code, text, "", 0.1, None, 0, 0, (), ()),  # type: ignore[arg-type]
            )

    def settle(self) -> None:
        self.blame = ()

    def changed(self) -> tuple[str, ...]:
        return self.blame

    def keep(self, goal_id: str, run_id: str, baseline: Baseline) -> None:
        self.base = baseline

    def widen(self, baseline: Baseline, base: str) -> tuple[Baseline, bool]:
        return baseline, self.contains_pinned

    def tools(self) -> Tools:
        return Tools(
            records=self,  # type: ignore[arg-type]
            ledger=self,  # type: ignore[arg-type]
            trusted=lambda loaded: self.trust,
            baseline=lambda goal, run_id: Known(self.base, self.recorded),
            snapshot=self.snapshot,
            widen=self.widen,
            run_checks=self.run_checks,
            watch=lambda goal_id, run_id: self,
            keep_baseline=self.keep,
            unfinished=lambda run_id: self.unfinished,
            began=lambda run_id, untracked: None,
            ended=lambda run_id: None,
            now=lambda: NOW,
            limits=Limits(1, 600.0, ()),
            version="0",
            listener=Quiet(),
            judge=self.judge,
        )


def changed(path: str, content: str = "new", *, untracked: bool = True) -> Change:
    entry = Entry("100644", content)
    tracked = None if untracked else entry
    return Change(path, None, tracked, tracked, entry)
