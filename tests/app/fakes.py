"""Fakes that behave: a ledger that compares and sets, a runner with scripted outcomes.

:class:`World` stands for one checkout with one goal. Its ledger refuses what the real one refuses
(a goal that moved, a move the table does not have, an id that is taken, a proposal that is not
live), so a test looks at what is written and not at which method was called.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from typing import Any, Literal, NamedTuple

from flow.app.checks import Check, CheckEvents, CheckResult, RawOutput
from flow.app.evaluation import evaluate as evaluation
from flow.app.evaluation.closing_context import ClosingContext
from flow.app.evaluation.tools import EvaluationTools
from flow.app.evaluation.values import EvaluationLimits, Listener, RecordedBaseline, Request
from flow.app.ports import Approval, Artifact, Closing, CriterionUpdate, Move, Turn
from flow.app.transitions.create import Outside, Parsed
from flow.core import layout
from flow.core.boundary.changes import Baseline, ContentState, DecidingFiles, PathChange, Snapshot
from flow.core.decision.verdict import Verdict
from flow.core.evidence.model import Evidence, evidence_from_document
from flow.core.goal.lifecycle import TERMINAL, check_move
from flow.core.goal.loaded import ExpectedState, LoadedGoal
from flow.core.goal.model import Goal, GoalSummary, goal_from_document
from flow.core.stop.turns import RecordedTurn
from flow.core.tool_calls.speaker import Speaker
from flow.errors import InputError, RefusedError, StaleProposal, StateError

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


def evaluate(request: Request, tools: EvaluationTools) -> Verdict:
    """The verdict of an evaluation."""
    return evaluation.examine(request, tools).verdict


class Tools(NamedTuple):
    """Tools of an evaluation, each of which a test may replace."""

    records: Any
    ledger: Any
    trusted: Any
    baseline: Any
    snapshot: Any
    move_baseline: Any
    run_checks: Any
    watch: Any
    write_baseline: Any
    untracked_at_start: Any
    mark_started: Any
    mark_ended: Any
    limits: EvaluationLimits
    listener: Listener
    judge: Any
    seconds_left: Any = None
    proof: Any = None
    version: str = "0"
    now: Any = lambda: NOW
    recorded_opinion: Any = lambda _case: None
    base_runs: Any = lambda _goal: {}
    base_tools: Any = None
    recorded_elsewhere: Any = lambda _run: False
    earlier: Any = lambda _id: None
    broken: Any = lambda _run: ()

    @property
    def has_judge(self) -> bool:
        return self.judge is not None


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
        self.changes: tuple[PathChange, ...] = ()
        self.problems: tuple[str, ...] = ()
        self.guards: dict[str, str] = {}
        self.head = "h" * 40
        self.branch: str | None = "main"
        self.base = Baseline(BASE, {}, {}, {}, {}, {})
        self.trust = (True, "recorded")
        self.outcomes: dict[str, str] = {}
        self.during: dict[str, Callable[[], None]] = {}
        self.blame: tuple[str, ...] = ()
        self.blamed_at_settling: list[tuple[str, ...]] = []
        self.elsewhere: list[tuple[str, ...] | None] = []
        """What each look finds, None where none is due, and the last look."""
        self.unlooked = 0
        self.judge: Callable[..., Any] | None = None
        self.contains_pinned = True
        self.recorded = True
        self.unfinished: frozenset[str] | None = None
        self.warnings: tuple[str, ...] = ()
        self.unreadable: tuple[str, ...] = ()
        self.altered: set[str] = set()
        self.damaged: set[str] = set()
        self.recorded_turn: RecordedTurn | None = None
        self.taken_out: set[str] = set()
        self.journal: list[Artifact] = []
        self.closings: list[Closing] = []
        self.approvals: list[Approval] = []
        self.kept: list[tuple[str, str, Baseline]] = []
        self.denied_seen: list[tuple[str, ...]] = []
        self.asked_jobs: list[int] = []
        self.checks: list[Check] = []
        self.results: dict[str, CheckResult] = {}
        self.began_with: list[tuple[str, tuple[str, ...]]] = []
        self.ended_runs: list[str] = []
        self.trusted_as: list[tuple[str, str]] = []
        self.widened: list[str] = []
        self.runs_asked: list[str] = []
        self.amended_at: dict[int, frozenset[str]] = {}
        self.limits = EvaluationLimits(1, 600.0, ())
        self.listener: Listener = Listener()

    # --- records -------------------------------------------------------------------------------

    def _known(self, goal_id: str, run_id: str = "") -> None:
        """Refuse another goal than the one of this world, and what is no run id."""
        if goal_id != self.document["metadata"]["id"] or not isinstance(run_id, str):
            raise InputError("no such goal", code="not_found")

    def goal(self, goal_id: str) -> LoadedGoal:
        self._known(goal_id)
        goal = goal_from_document(self.document)
        return LoadedGoal(goal, goal.digest(), self.warnings, "issue-4.goal.yaml")

    def newest_turn(self, run_id: str, goal_id: str) -> RecordedTurn | None:
        self._known(goal_id, run_id)
        return self.recorded_turn

    def amended(self, run_id: str, turns_evaluated: int) -> frozenset[str]:
        assert run_id == self.document["scope"]["run_id"]
        return self.amended_at.get(turns_evaluated, frozenset())

    def counted(self, reference: str, *mentioning: str) -> Evidence | None:
        assert isinstance(reference, str)
        evidence = None if reference in self.altered else self.evidence.get(reference)
        if mentioning and not any(
            text in str(evidence and evidence.document) for text in mentioning
        ):
            return None
        return evidence

    def together(self, run_id: str) -> AbstractContextManager[None]:
        self._known(self.document["metadata"]["id"], run_id)
        return nullcontext()

    def measured(self, run_id: str, criterion_id: str) -> Iterator[str]:
        self._known(self.document["metadata"]["id"], run_id)
        start = f"/evidence-{criterion_id.lower()}-eval-"
        found = [path for path in self.evidence if start in path and "-run-" not in path]
        return reversed(found)

    def doubt(self, reference: str) -> Literal["missing", "unvouched"] | None:
        return None if self.counted(reference) is not None else "missing"

    def counted_last(self, run_id: str, event_type: str) -> Evidence | None:
        for event in reversed(self.events):
            if event["type"] == event_type and event["run_id"] == run_id:
                return self.counted(sidecar(run_id, event["evidence_id"]))
        return None

    def ledger_head(self, run_id: str) -> str | None:
        count = len(self.evidence)
        return f"{count}:{count:064x}" if count else None

    def new_run_id(self, goal_id: str, now: str) -> str:
        self._known(goal_id)
        first = layout.run_id_for(goal_id, now)
        return first if first != self.document["scope"].get("run_id") else f"{first}-2"

    def is_damaged(self, run_id: str) -> bool:
        self._known(self.document["metadata"]["id"], run_id)
        return run_id in self.damaged

    def previous_verdict(self, run_id: str, goal: Goal | None = None) -> Mapping[str, Any] | None:
        self._known(self.document["metadata"]["id"], run_id)
        found = self.verdict
        if found is None or goal is None:
            return found
        return found if found.get("goal_id", goal.id) == goal.id else None

    def proposal(self, run_id: str) -> Mapping[str, Any] | None:
        self._known(self.document["metadata"]["id"], run_id)
        return self.live

    def baseline(self, goal: Goal, run_id: str) -> RecordedBaseline:
        self._known(goal.id, run_id)
        self.runs_asked.append(run_id)
        return RecordedBaseline(self.base, self.recorded)

    # --- ledger --------------------------------------------------------------------------------

    def check_room(self, goal: Goal, folder: str | None) -> None:
        self._known(goal.id)

    def finish(self, goal_id: str) -> bool:
        self._known(goal_id)
        self.log.append("finish")
        return False

    def record_evidence(
        self, document: Mapping[str, Any], raw: RawOutput | None = None, *, suffix: bool = False
    ) -> tuple[str, str]:
        run_id, first = document["metadata"]["run_id"], document["metadata"]["id"]
        name, number = first, 1
        while sidecar(run_id, name) in self.evidence:
            if not suffix:
                raise RefusedError(f"{name} is taken", code="exists")
            number += 1
            name = f"{first}-{number}"
        document = {**document, "metadata": {**document["metadata"], "id": name}}
        path = sidecar(run_id, name)
        self.evidence[path] = evidence_from_document(document)
        self.log.append(f"evidence {name}")
        return name, path

    def discount(self, goal_id: str, run_id: str, evidence_id: str, moved: Sequence[str]) -> None:
        self._known(goal_id, run_id)
        self.altered.add(sidecar(run_id, evidence_id))
        self.taken_out.add(sidecar(run_id, evidence_id))
        self.log.append(f"discount {evidence_id}: {', '.join(moved)}")

    def discounted(self, run_id: str) -> frozenset[str]:
        self._known(self.document["metadata"]["id"], run_id)
        return frozenset(self.taken_out)

    def _publish(self, goal_id: str, run_id: str, artifact: Artifact, event: Any) -> None:
        self.journal.append(artifact)
        self.events.append({"run_id": run_id, "goal_id": goal_id, **event})

    def repropose(self, goal_id: str, run_id: str, seen: ExpectedState, proposal: Any) -> None:
        self._known(goal_id, run_id)
        self._compare(seen)
        self.live = {"goal_id": goal_id, "run_id": run_id, **proposal}
        self.log.append("repropose")

    def edit_after_move(self) -> None:
        """From here on a hand gives the goal another outcome right after each move."""
        written = self.move

        def move(*what: Any) -> None:
            written(*what)
            self.document = deepcopy(self.document)
            self.document["objective"]["outcome"] = "another"

        self.move = move  # type: ignore[method-assign]

    def move(self, goal_id: str, run_id: str, seen: ExpectedState, move: Move) -> None:
        self._known(goal_id, run_id)
        self._compare(seen)
        check_move(self.document["lifecycle"]["status"], move.to, goal=goal_id)
        self.document["lifecycle"]["status"] = move.to
        self.document["scope"].update(move.scope)
        self.moves.append(move)
        self._publish(goal_id, run_id, move.artifact, move.event)
        self.log.append(f"move {move.to}")

    def close(self, goal_id: str, run_id: str, seen: ExpectedState, closing: Closing) -> None:
        self._known(goal_id, run_id)
        self._compare(seen)
        check_move(self.document["lifecycle"]["status"], closing.to, goal=goal_id)
        live = self.live["proposal_id"] if self.live else None
        if closing.to not in TERMINAL or closing.proposal_id not in (None, live):
            raise StaleProposal(f"{closing.proposal_id} is not live")
        if closing.to == "achieved" and closing.proposal_id is None:
            raise StaleProposal("achieved needs a proposal")
        self.document["lifecycle"]["status"] = closing.to
        self.live = None
        self.closings.append(closing)
        self._publish(goal_id, run_id, closing.artifact, closing.event)
        self.log.append(f"close {closing.to}")

    def approve(self, goal_id: str, run_id: str, seen: ExpectedState, approval: Approval) -> None:
        self._known(goal_id, run_id)
        self._compare(seen)
        if approval.criterion is not None:
            self._update(approval.criterion)
        self.approvals.append(approval)
        self._publish(goal_id, run_id, approval.artifact, approval.event)
        self.log.append("approve")

    def write_turn(self, goal_id: str, run_id: str, seen: ExpectedState, turn: Turn) -> str:
        self._known(goal_id, run_id)
        self._compare(seen)
        check_move(self.document["lifecycle"]["status"], turn.status, goal=goal_id)
        lifecycle = self.document["lifecycle"]
        lifecycle["status"] = turn.status
        lifecycle["turns_evaluated"] = turn.turns_evaluated
        lifecycle["last_evaluation"] = turn.last_evaluation._asdict()
        for update in turn.criteria:
            self._update(update)
        self.document["scope"].update(turn.scope)
        self.live = turn.proposal
        self.turns.append(turn)
        self._publish(goal_id, run_id, turn.artifact, turn.event)
        self.log.append(f"turn {turn.status}")
        return turn.status

    def _update(self, update: CriterionUpdate) -> None:
        for row in self.document["objective"]["acceptance_criteria"]:
            if row["id"] == update.id:
                row.update({k: v for k, v in update._asdict().items() if v is not None})

    def _compare(self, seen: ExpectedState) -> None:
        now = self.goal(self.document["metadata"]["id"]).seen
        for mine, theirs in zip(seen, now, strict=True):
            if mine is not None and mine != theirs:
                raise StateError(f"saw {mine}, is {theirs}")

    # --- the rest ------------------------------------------------------------------------------

    def snapshot(
        self, baseline: Baseline, denied: Sequence[str], deciding: DecidingFiles | None = None
    ) -> Snapshot:
        assert isinstance(baseline, Baseline)
        self.log.append("snapshot")
        self.denied_seen.append(tuple(denied))
        return Snapshot(self.head, self.branch, self.changes, dict(self.guards), self.problems)

    def run_checks(self, checks: Sequence[Check], *, jobs: int, events: CheckEvents) -> None:
        self.asked_jobs.append(jobs)
        self.checks += checks
        for check in checks:
            if events.fits is not None and not events.fits(check):
                continue
            events.started(check)
            self.log.append(f"run {check.criterion_id}")
            if events.tick is not None:
                events.tick()
            self.during.get(check.criterion_id, lambda: None)()
            if check.criterion_id in self.results:
                recorded(events.ended(check, self.results[check.criterion_id]))
                continue
            outcome = self.outcomes.get(check.criterion_id, "passed")
            code = {"passed": 0, "failed": 1}.get(outcome)
            text = f"exit {code}" if code is not None else "timeout"
            recorded(
                events.ended(
                    check,
                    CheckResult(outcome, code, text, "", 0.1, None, 0, 0, (), ()),  # type: ignore[arg-type]
                )
            )

    def settle(self) -> tuple[str, ...]:
        self.blame = ()
        return self.blamed_at_settling.pop(0) if self.blamed_at_settling else ()

    def changed(self) -> tuple[str, ...]:
        blame, self.blame = self.blame, ()
        return blame

    def changed_elsewhere(self, *, last: bool = False) -> dict[str, int]:
        self.unlooked += not last
        changes = self.elsewhere.pop(0) if self.elsewhere else None
        commands = self.unlooked
        if changes is not None:
            self.unlooked = 0
        return dict.fromkeys(changes or (), commands)

    def watch(self, goal: Goal, run_id: str, journal_dir: str) -> World:
        self._known(goal.id, run_id)
        return self

    def left(self, run_id: str) -> frozenset[str] | None:
        self._known(self.document["metadata"]["id"], run_id)
        return self.unfinished

    def keep(self, goal_id: str, run_id: str, baseline: Baseline) -> None:
        self._known(goal_id, run_id)
        assert isinstance(baseline, Baseline)
        self.base = baseline
        self.recorded = True
        self.kept.append((goal_id, run_id, baseline))

    def widen(self, baseline: Baseline, base: str) -> tuple[Baseline, bool]:
        self.widened.append(base)
        return baseline, self.contains_pinned

    def tools(self) -> Tools:
        return Tools(
            records=self,
            ledger=self,
            trusted=lambda loaded: self.trust,
            baseline=self.baseline,
            snapshot=self.snapshot,
            move_baseline=self.widen,
            run_checks=self.run_checks,
            watch=self.watch,
            write_baseline=self.keep,
            untracked_at_start=self.left,
            mark_started=lambda run_id, untracked: self.began_with.append(
                (run_id, tuple(untracked))
            ),
            mark_ended=self.ended_runs.append,
            limits=self.limits,
            listener=self.listener,
            judge=self.judge,
        )

    # --- what a person's commands work with ----------------------------------------------------

    def desk(self, denied: tuple[str, ...] = (), *, at: str = NOW) -> ClosingContext:
        return ClosingContext(
            version="0",
            now=lambda: at,
            records=self,  # type: ignore[arg-type]
            open_ledger=lambda: self,  # type: ignore[arg-type,return-value]
            baseline=self.baseline,
            snapshot=self.snapshot,
            write_baseline=self.keep,
            denied_paths=denied,
            account=lambda: "sam",
        )


class Reading:
    """The reading side alone, with the list of a run's sidecars."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.goal = world.goal

    def evidence(self, run_id: str) -> tuple[tuple[Evidence, ...], tuple[str, ...]]:
        found = [e for e in self.world.evidence.values() if e.run_id == run_id]
        return tuple(found), self.world.unreadable


REST: Any = (0, "exit 0", "", 0.1, None, 0, 0, (), ())
"""The fields of a result behind its outcome."""


class Shop:
    """The tools of creating a goal; a goal's text is the ``repr`` of its document."""

    run_record: Any = None
    new_run_id = staticmethod(layout.run_id_for)

    def __init__(self, *, branch: str | None = "main", base: str = BASE) -> None:
        self.checked_out = branch
        self.base = Baseline(base, {}, {}, {}, {}, {}, began=NOW)
        self.committed: list[Outside] = []
        """Commits outside the goal's paths."""
        self.missing: list[str] = []
        self.masked: list[str] = []
        self.passing: tuple[str, ...] = ()
        """The commands that pass already."""
        self.asked: list[str] = []
        self.warnings: tuple[str, ...] = ()
        self.log: list[str] = []
        self.names: list[str] = []
        self.pinned: list[tuple[str, str | None]] = []
        self.trusts: list[tuple[Goal, str]] = []
        self.all_trusted = False
        self.written: list[tuple[dict[str, Any], str, Baseline | None, Artifact, Any]] = []
        self.speaker: Speaker | None = Speaker("terminal")
        self.others: list[dict[str, Any]] = []
        """The goals that are here already."""
        self.defaults_known = True
        self.beside: tuple[str, ...] = ()
        """What could not be written beside the goal."""

    # --- the goals of the checkout ---

    @property
    def records(self) -> Any:
        return self

    @property
    def remembered(self) -> Any:
        return self

    def goals(self) -> dict[str, Goal]:
        documents = [*self.others, *(row[0] for row in self.written)]
        return {goal.id: goal for goal in map(goal_from_document, documents)}

    def summaries(self) -> tuple[dict[str, GoalSummary], dict[str, Any]]:
        return {goal_id: goal.summary for goal_id, goal in self.goals().items()}, {}

    def left_open(self) -> dict[str, Any]:
        return {}

    def load(self, goal_id: str) -> LoadedGoal:
        goal = self.goals()[goal_id]
        return LoadedGoal(goal, goal.digest(), (), layout.goal_file(goal_id))

    def trusted(self, loaded: LoadedGoal) -> tuple[bool, str]:
        trusts = {goal.id for goal, _ in self.trusts}
        return self.all_trusted or loaded.goal.id in trusts, ""

    def branch(self) -> str | None:
        return self.checked_out

    def now(self) -> str:
        return NOW

    # --- creating ---

    def parse(self, text: str, name: str) -> Parsed:
        self.names.append(name)
        return Parsed(text, goal_from_document(ast.literal_eval(text)), self.warnings)

    def edit(
        self, text: str, changes: Sequence[tuple[tuple[str | int, ...], Any]], _name: str
    ) -> str:
        document = ast.literal_eval(text)
        for path, value in changes:
            place = document
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = value
        return repr(document)

    def pin(self, goal: Goal, base: str | None) -> Baseline:
        self.pinned.append((goal.id, base))
        return self.base

    def kept_base(self, base: str) -> str:
        return base

    def outside(self, goal: Goal, baseline: Baseline) -> list[Outside]:
        return self.committed if goal.id and baseline == self.base else []

    def record_trust(self, goal: Goal, how: str) -> None:
        self.log.append("trust")
        self.trusts.append((goal, how))

    def write(
        self,
        text: str,
        run_id: str,
        baseline: Baseline | None,
        artifact: Artifact,
        event: Any,
        trust: Callable[[], None],
    ) -> str:
        trust()
        self.log.append("write")
        self.written.append((ast.literal_eval(text), run_id, baseline, artifact, event))
        return "the goal's file"

    def run_checks(self, checks: Sequence[Check]) -> list[tuple[Check, CheckResult]]:
        self.asked += [check.command for check in checks]
        return [
            (check, CheckResult("passed" if check.command in self.passing else "failed", *REST))
            for check in checks
        ]

    def about_commands(self, goal: Goal) -> list[str]:
        return [*self.missing, *self.masked] if goal.id else []

    def syntax_faults(self, _goal: Goal, _name: str) -> list[Any]:
        return []

    def asked_by(self) -> dict[str, str]:
        return {"by": "A Tester", "said_from": "terminal"}

    def write_beside(self) -> tuple[str, ...]:
        return self.beside


def recorded(record: Callable[[], None] | None) -> None:
    """What a runner does with what ``ended`` left to do."""
    if record is not None:
        record()


def sidecar(run_id: str, evidence_id: str) -> str:
    return f".flow/runs/{run_id}/evidence/{evidence_id}.evidence.yaml"


def changed(path: str, content: str = "new", *, untracked: bool = True) -> PathChange:
    entry = ContentState("100644", content)
    tracked = None if untracked else entry
    return PathChange(path, None, tracked, tracked, entry)
