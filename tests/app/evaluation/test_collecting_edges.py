"""Running evidence commands: which, with what limits, and what the sidecar says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from flow.app.checks import Check, CheckResult, RawOutput
from flow.app.evaluation.collecting import ONLY_FOR_JUDGES, CollectedEvidence, blame_reason, collect
from flow.app.evaluation.values import EvaluationLimits, JudgeCase, Listener, Request
from flow.core.decision.decide import NoOpinion
from flow.core.evidence.model import EVALUATOR
from tests.app.fakes import NOW, World, criterion, evaluate, goal_document, sidecar


class Told(Listener):
    """Remembers what it is told, in its order."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []

    def planned(self, checks: Sequence[Check], where: str = "") -> None:
        self.told.append(("planned", [check.criterion_id for check in checks]))

    def started(self, check: Check) -> None:
        self.told.append(("started", check.criterion_id))

    def ended(self, check: Check, result: CheckResult) -> None:
        self.told.append(("ended", check.criterion_id, result.result))

    def finished(self) -> None:
        self.told.append(("finished",))


class Ledger(World):
    """Remembers the raw outputs, and touches what is watched when it records."""

    def __init__(self, document: dict[str, Any]) -> None:
        super().__init__(document)
        self.raw: list[RawOutput | None] = []
        self.writes: tuple[str, ...] = ()

    def record_evidence(
        self, document: Mapping[str, Any], raw: RawOutput | None = None, *, suffix: bool = False
    ) -> tuple[str, str]:
        self.raw.append(raw)
        self.blame = self.writes
        return super().record_evidence(document, raw, suffix=suffix)


def world(*rows: dict[str, Any], **more: Any) -> Ledger:
    made = Ledger(goal_document(*rows, kind="hybrid", **more))
    made.listener = Told()
    return made


def case_of(made: Ledger, **request: Any) -> JudgeCase:
    """The case that an evaluation hands over; the evidence commands run once on the way."""
    cases: list[JudgeCase] = []

    def judge(case: JudgeCase) -> NoOpinion:
        cases.append(case)
        return NoOpinion("only looking")

    copy = World(made.document)
    copy.judge = judge
    evaluate(Request("issue-4", **request), copy.tools())
    made.document["lifecycle"].update(status="active", turns_evaluated=0)
    return cases[0]


def run(made: Ledger, *, left: float | None = None, **request: Any) -> CollectedEvidence:
    tools = made.tools()
    if left is not None:
        tools = tools._replace(seconds_left=lambda: left)
    return collect(case_of(made, **request), tools)


SHOW = criterion("AC2", None, evidence_command="./show")


def test_only_evidence_commands_of_what_no_command_proves_run() -> None:
    rows = (
        criterion("AC1", "true", evidence_command="./not-this"),
        criterion("AC2", None, evidence_command="./show"),
        criterion("AC3", None, evidence_paths=["docs/**"]),
        criterion("AC4", None, evidence_command="./other"),
    )
    made = world(*rows)
    collected = run(made)
    assert [check.command for check in made.checks] == ["./show", "./other"]
    assert collected == CollectedEvidence(("evidence-ac2-collected-1", "evidence-ac4-collected-1"))


def test_without_evidence_commands_nothing_runs_and_nobody_is_told() -> None:
    made = world(criterion("AC2", None, evidence_paths=["docs/**"]))
    assert run(made) == CollectedEvidence()
    assert isinstance(made.listener, Told)
    assert made.listener.told == []


def test_a_check_says_where_and_how_to_run() -> None:
    made = world(
        criterion("AC2", None, evidence_command="./show"),
        criterion("AC3", None, evidence_command="./b", cwd="sub", serial=True, timeout_seconds=7),
    )
    run(made)
    assert made.checks == [
        Check("AC2", "./show", "", 600.0, False),
        Check("AC3", "./b", "sub", 7, True),
    ]


@pytest.mark.parametrize(
    ("own", "asked", "left", "seconds"),
    [
        (None, None, None, 600.0),
        (None, 50.0, None, 50.0),
        (7, None, None, 7),
        (7, 50.0, None, 7),
        (7, None, 6.5, 6.5),
        (7, None, 8.0, 7),
        (None, None, 99.0, 99.0),
        (None, None, 1.5, 1.5),
        (None, None, 0.5, 1.0),
        (None, None, -3.0, 1.0),
    ],
)
def test_the_least_limit_holds_and_a_second_is_always_there(
    own: float | None, asked: float | None, left: float | None, seconds: float
) -> None:
    more = {} if own is None else {"timeout_seconds": own}
    made = world(criterion("AC2", None, evidence_command="./show", **more))
    run(made, left=left, timeout_seconds=asked)
    assert made.checks[0].timeout_seconds == seconds


@pytest.mark.parametrize(
    ("asked", "goal", "jobs"), [(None, None, 3), (None, 5, 5), (7, 5, 7), (7, None, 7)]
)
def test_who_says_how_many_run_at_once(asked: int | None, goal: int | None, jobs: int) -> None:
    made = world(SHOW)
    made.limits = EvaluationLimits(3, 600.0, ())
    if goal is not None:
        made.document["evaluator"]["jobs"] = goal
    run(made, jobs=asked)
    assert made.asked_jobs == [jobs]


def test_the_listener_is_told_everything_in_order() -> None:
    made = world(SHOW, criterion("AC3", None, evidence_command="./other"))
    made.outcomes["AC3"] = "failed"
    run(made)
    assert isinstance(made.listener, Told)
    assert made.listener.told == [
        ("planned", ["AC2", "AC3"]),
        ("started", "AC2"),
        ("ended", "AC2", "exit 0"),
        ("started", "AC3"),
        ("ended", "AC3", "exit 1"),
        ("finished",),
    ]


def test_the_listener_is_told_of_the_end_where_a_run_breaks_off() -> None:
    made = world(SHOW)

    def stop() -> None:
        raise KeyboardInterrupt

    made.during["AC2"] = stop
    with pytest.raises(KeyboardInterrupt):
        run(made)
    assert isinstance(made.listener, Told)
    assert made.listener.told[-1] == ("finished",)
    assert made.evidence == {}


def test_only_what_changed_during_a_command_is_blamed_on_it() -> None:
    made = world(SHOW, criterion("AC3", None, evidence_command="./other"))
    made.writes = ("evidence of Flow's own",)
    case = case_of(made)
    made.blame = ("something from before",)
    assert collect(case, made.tools()).blamed == ()
    assert made.blame == ()
    made.during["AC2"] = lambda: setattr(made, "blame", ("b", "a"))
    made.during["AC3"] = lambda: setattr(made, "blame", ("a", "c"))
    assert collect(case, made.tools()).blamed == ("b", "a", "c")


@pytest.mark.parametrize(
    ("blamed", "touched"),
    [
        ((), False),
        (("goal issue-4",), True),
        (("evidence x", "goal issue-4"), True),
        (("goal issue-4", "evidence x"), True),
        (("goalkeeper",), False),
        (("the goal",), False),
    ],
)
def test_whether_the_goal_was_touched(blamed: tuple[str, ...], touched: bool) -> None:
    assert CollectedEvidence(blamed=blamed).goal_touched is touched


def test_three_of_what_was_changed_are_named() -> None:
    said = blame_reason(CollectedEvidence(blamed=("a", "b", "c", "d")))
    assert said.startswith("an evidence command changed a, b, c")
    assert "d" not in said.removeprefix("an evidence command changed a, b, c and")


def test_what_a_sidecar_says() -> None:
    made = world(criterion("AC2", None, evidence_command="./show", limitations=["one", "both"]))
    output = RawOutput("/somewhere", "d" * 64, 9)
    made.results["AC2"] = CheckResult(
        "failed", 3, "exit 3", "why it failed", 0.1236, output, 9, 0, (), ("both", "two")
    )
    case = case_of(made)
    collected = collect(case, made.tools())
    assert collected.sidecar_ids == ("evidence-ac2-collected-1",)
    assert made.raw == [output]
    document = made.evidence[sidecar("run-1", "evidence-ac2-collected-1")].document
    assert document["metadata"] == {
        "id": "evidence-ac2-collected-1",
        "goal": "issue-4",
        "run_id": "run-1",
        "created_at": NOW,
        "created_by": EVALUATOR,
    }
    assert document["evidence"] == {
        "type": "command_result",
        "command": "./show",
        "exit_code": 3,
        "result": "exit 3",
        "reason": "why it failed",
        "proves": [],
        "about": ["AC2"],
        "limitations": ["one", "both", "two", ONLY_FOR_JUDGES],
        "duration_seconds": 0.124,
        "output_bytes": 9,
        "truncated": False,
        "criterion_digest": case.facts.loaded.goal.criteria[0].digest,
        "subject": case.facts.subject.to_document(),
    }
    again = collect(case, made.tools())
    assert again.sidecar_ids == ("evidence-ac2-collected-1-2",)


@pytest.mark.parametrize(
    ("reason", "said"), [("", None), ("exit 3", None), ("exit 3 at last", "exit 3 at last")]
)
def test_a_reason_that_says_no_more_is_left_out(reason: str, said: str | None) -> None:
    made = world(SHOW)
    made.results["AC2"] = CheckResult("failed", 3, "exit 3", reason, 0.1, None, 0, 0, (), ())
    run(made)
    (evidence,) = made.evidence.values()
    assert evidence.document["evidence"].get("reason") == said
