"""Running commands: what is asked of the runner, and what each run leaves as evidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from flow.app.checks import Check, CheckEvents, CheckResult, RawOutput
from flow.app.evaluation import measure, measured_rows, recording
from flow.app.evaluation.values import (
    EvaluationLimits,
    JudgeCase,
    Listener,
    Measurement,
    Measurements,
    Request,
)
from flow.app.ports import CriterionUpdate
from flow.core.decision.decide import Measured
from flow.core.decision.explain import FUZZY
from flow.core.decision.verdict import CriterionResult, Verdict
from flow.core.evidence.model import ONLY_EXIT
from tests.app.fakes import (
    NOW,
    World,
    changed,
    criterion,
    evaluate,
    goal_document,
    recorded,
    sidecar,
)


def run(world: World, **request: Any) -> Verdict:
    return evaluate(Request("issue-4", **request), world.tools())


# --- which commands, and how ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("only", "require_all", "expected"),
    [
        (None, True, ["AC1", "AC2"]),
        (None, False, ["AC1"]),
        ({"AC1"}, True, ["AC1"]),
        ({"AC2"}, True, ["AC2"]),
        ({"AC2"}, False, []),
        ({"AC3"}, True, []),
        (set(), True, []),
    ],
)
def test_which_commands_run(only: Any, require_all: bool, expected: list[str]) -> None:
    rows = (criterion("AC1"), criterion("AC2", must_pass=False), criterion("AC3", None))
    goal = World(goal_document(*rows, require_all_pass=require_all)).goal("issue-4").goal
    chosen = measure.wanted_criteria(goal, None if only is None else frozenset(only))
    assert [c.id for c in chosen] == expected


@pytest.mark.parametrize(
    ("own", "asked", "setting", "expected"),
    [(5, 7, 9, 5), (None, 7, 9, 7), (None, None, 9, 9)],
)
def test_the_nearest_time_limit_counts(own: Any, asked: Any, setting: Any, expected: float) -> None:
    more = {"timeout_seconds": own} if own else {}
    world = World(goal_document(criterion("AC1", **more)))
    world.limits = EvaluationLimits(1, setting, ())
    run(world, timeout_seconds=asked)
    assert world.checks[0].timeout_seconds == expected


@pytest.mark.parametrize(
    ("asked", "goals", "setting", "expected"), [(2, 3, 4, 2), (None, 3, 4, 3), (None, None, 4, 4)]
)
def test_the_nearest_number_of_jobs_counts(
    asked: Any, goals: Any, setting: int, expected: int
) -> None:
    world = World(goal_document())
    if goals:
        world.document["evaluator"]["jobs"] = goals
    world.limits = EvaluationLimits(setting, 600, ())
    run(world, jobs=asked)
    assert world.asked_jobs == [expected]


def test_a_check_says_where_and_how_its_command_runs() -> None:
    world = World(
        goal_document(
            criterion("AC1", "make", cwd="sub", serial=True), criterion("AC2", "make all")
        )
    )
    run(world)
    assert world.checks == [
        Check("AC1", "make", "sub", 600.0, serial=True),
        Check("AC2", "make all", "", 600.0, serial=False),
    ]


def test_the_run_remembers_what_was_untracked_when_it_began() -> None:
    world = World(goal_document())
    world.changes = (changed("src/new"), changed("src/old", untracked=False))
    run(world)
    assert world.began_with == [("run-1", ("src/new",))]
    assert world.ended_runs == ["run-1"]


def test_nothing_begins_where_nothing_runs() -> None:
    world = World(goal_document(criterion("AC1", None, must_pass=True), kind="hybrid"))
    run(world)
    assert world.began_with == []
    assert "run AC1" not in world.log
    assert world.log.count("snapshot") == 1


class Recorder(Listener):
    def __init__(self) -> None:
        self.said: list[Any] = []

    def planned(self, checks: Sequence[Check], where: str = "") -> None:
        self.said.append(["planned", *(c.criterion_id for c in checks)])

    def started(self, check: Check) -> None:
        self.said.append(("started", check.criterion_id))

    def ended(self, check: Check, result: CheckResult) -> None:
        self.said.append(("ended", check.criterion_id, result.outcome))

    def finished(self) -> None:
        self.said.append("finished")


def test_who_waits_is_told_of_every_step() -> None:
    world = World(goal_document(criterion("AC1"), criterion("AC2")))
    world.listener = recorder = Recorder()
    world.outcomes["AC2"] = "failed"
    run(world)
    assert recorder.said == [
        ["planned", "AC1", "AC2"],
        ("started", "AC1"),
        ("ended", "AC1", "passed"),
        ("started", "AC2"),
        ("ended", "AC2", "failed"),
        "finished",
    ]


def test_who_waits_is_told_the_end_even_of_a_broken_run() -> None:
    world = World(goal_document())
    world.listener = recorder = Recorder()

    def broken() -> None:
        raise KeyboardInterrupt

    world.during["AC1"] = broken
    with pytest.raises(KeyboardInterrupt):
        run(world)
    assert recorder.said[-1] == "finished"
    assert world.ended_runs == []  # the next evaluation shall know that this one was cut off


def test_quiet_says_nothing() -> None:
    quiet = Listener()
    check, result = Check("AC1", "x", "", 1), done()
    said: list[object] = [
        quiet.planned([check]),  # type: ignore[func-returns-value]
        quiet.started(check),  # type: ignore[func-returns-value]
        quiet.ticked(),  # type: ignore[func-returns-value]
        quiet.ended(check, result),  # type: ignore[func-returns-value]
        quiet.finished(),  # type: ignore[func-returns-value]
    ]
    assert said == [None] * 5


# --- the sidecar ----------------------------------------------------------------------------------


def done(outcome: str = "passed", **more: Any) -> CheckResult:
    values: dict[str, Any] = {
        "outcome": outcome,
        "exit_code": 0,
        "result": "exit 0",
        "reason": "",
        "duration_seconds": 1.23456,
        "output": RawOutput("/somewhere/out", "d" * 64, 42),
        "output_bytes": 42,
        "truncated_bytes": 0,
        "environment_removed": (),
        "limitations": (),
    }
    return CheckResult(**{**values, **more})


def test_a_sidecar_says_all_that_is_known_of_a_run() -> None:
    world = World(goal_document(criterion("AC1", "make", limitations=["only Linux"]), turns=2))
    world.results["AC1"] = done(
        "failed",
        exit_code=3,
        result="exit 3",
        reason="it said no",
        truncated_bytes=7,
        environment_removed=("BASH_ENV",),
        limitations=("slow machine", "only Linux"),
    )
    verdict = run(world)
    path = sidecar("run-1", "evidence-ac1-eval-3")
    evidence = world.evidence[path]
    wanted = world.goal("issue-4").goal.criteria[0]
    assert evidence.document["metadata"] == {
        "id": "evidence-ac1-eval-3",
        "goal": "issue-4",
        "run_id": "run-1",
        "created_at": NOW,
        "created_by": "flow-evaluator",
    }
    subject = dict(evidence.subject)
    assert len(subject.pop("tree")) == 64
    assert subject == {
        "head": "h" * 40,
        "contract": world.goal("issue-4").contract,
        "flow_version": "0",
    }
    body = dict(evidence.document["evidence"])
    del body["subject"]
    assert body == {
        "type": "command_result",
        "command": "make",
        "exit_code": 3,
        "outcome": "failed",
        "result": "exit 3",
        "reason": "it said no",
        "proves": ["AC1"],
        "limitations": ["only Linux", "slow machine", ONLY_EXIT],
        "duration_seconds": 1.235,
        "output_bytes": 42,
        "truncated": True,
        "truncated_bytes": 7,
        "environment_removed": ["BASH_ENV"],
        "criterion_digest": wanted.digest,
    }
    assert verdict.criterion_results == (
        CriterionResult(
            "AC1",
            "fail",
            "failed",
            3,
            path,
            ("only Linux", "slow machine", ONLY_EXIT),
            "it said no",
            text=wanted.text,
            command=wanted.verification_command,
        ),
    )
    assert world.turns[0].criteria == (CriterionUpdate("AC1", "fail", path, NOW, "exit 3"),)


def test_what_is_not_known_is_not_in_the_sidecar() -> None:
    world = World(goal_document())
    world.results["AC1"] = done(exit_code=None, output=None)
    run(world)
    body = world.evidence[sidecar("run-1", "evidence-ac1-eval-1")].document["evidence"]
    absent = {"reason", "truncated_bytes", "environment_removed", "exit_code"}
    assert not absent & body.keys()
    assert body["truncated"] is False
    assert body["limitations"] == [ONLY_EXIT]


@pytest.mark.parametrize(("left_out", "truncated"), [(0, False), (1, True)])
def test_output_is_cut_from_the_first_byte_left_out(left_out: int, truncated: bool) -> None:
    world = World(goal_document())
    world.results["AC1"] = done(truncated_bytes=left_out)
    run(world)
    body = world.evidence[sidecar("run-1", "evidence-ac1-eval-1")].document["evidence"]
    assert body["truncated"] is truncated
    assert body.get("truncated_bytes") == (left_out or None)


def test_the_output_goes_with_its_sidecar() -> None:
    world = World(goal_document(criterion("AC1"), criterion("AC2")))
    world.results = {"AC1": done(), "AC2": done(output=None)}
    raws: list[RawOutput | None] = []
    seen: list[tuple[Any, ...]] = []
    record = world.record_evidence

    def recording(document: Any, raw: Any = None, *, suffix: bool = False) -> tuple[str, str]:
        raws.append(raw)
        return record(document, raw, suffix=suffix)

    world.record_evidence = recording  # type: ignore[method-assign]
    world.judge = None
    world.document["evaluator"]["type"] = "hybrid"
    world.document["objective"]["acceptance_criteria"].append(criterion("FZ1", None))

    def judge(case: JudgeCase) -> Any:
        rows = case.measurement.rows
        seen.extend((row.criterion_id, row.evidence_id, row.output_sha256) for row in rows)
        from flow.core.decision.decide import NoOpinion

        return NoOpinion("none")

    world.judge = judge
    run(world)
    assert raws == [RawOutput("/somewhere/out", "d" * 64, 42), None]
    assert seen == [
        ("AC1", "evidence-ac1-eval-1", "d" * 64),
        ("AC2", "evidence-ac2-eval-1", None),
        ("FZ1", None, None),
    ]


@pytest.mark.parametrize(("said", "reason"), [("exit 1", ""), ("exit 2", "exit 2"), ("", "")])
def test_a_reason_that_only_repeats_the_result_is_left_out(said: str, reason: str) -> None:
    world = World(goal_document())
    world.results["AC1"] = done("failed", result="exit 1", reason=said)
    assert run(world).criterion_results[0].reason == reason


def test_a_taken_sidecar_id_gets_a_suffix() -> None:
    world = World(goal_document())
    run(world)
    world.document["lifecycle"]["turns_evaluated"] = 0
    run(world)
    assert sidecar("run-1", "evidence-ac1-eval-1-2") in world.evidence


# --- blame ----------------------------------------------------------------------------------------


def test_every_command_that_ran_meanwhile_is_blamed_once() -> None:
    """Two run at once; what changed between may be either's work."""
    world = World(goal_document(criterion("AC1"), criterion("AC2"), criterion("AC3")))

    def run_checks(checks: Any, *, jobs: int, events: CheckEvents) -> None:
        first, second, third = checks
        started, ended, *_ = events
        started(first)
        started(second)
        world.blame = ("goal issue-4", "HEAD")
        recorded(ended(first, done()))
        world.blame = ("goal issue-4",)
        recorded(ended(second, done()))
        started(third)
        recorded(ended(third, done()))

    world.listener = recorder = Recorder()
    tools = world.tools()._replace(run_checks=run_checks)
    verdict = evaluate(Request("issue-4"), tools)
    rows = verdict.criterion_results
    assert [row.outcome for row in rows] == ["failed", "failed", "passed"]
    told = [event[2] for event in recorder.said if event[0] == "ended"]
    assert told == ["failed", "failed", "passed"]
    assert [row.reason for row in rows] == [
        "it changed goal issue-4, HEAD, which only Flow or a person may change",
        "it changed goal issue-4, HEAD, which only Flow or a person may change",
        "",
    ]


@pytest.mark.parametrize("runs", [True, False], ids=["another runs", "nothing runs"])
def test_what_changes_while_a_result_is_recorded_is_blamed_on_what_runs_then(runs: bool) -> None:
    """The next command runs already; whoever ended has left nothing that could have done it."""
    world = World(goal_document(criterion("AC1"), criterion("AC2")))

    def run_checks(checks: Any, *, jobs: int, events: CheckEvents) -> None:
        first, second = checks
        started, ended, *_ = events
        started(first)
        record = ended(first, done())
        if runs:
            started(second)
        world.blamed_at_settling = [("HEAD",)]
        recorded(record)
        if not runs:
            started(second)
        recorded(ended(second, done()))

    tools = world.tools()._replace(run_checks=run_checks)
    rows = evaluate(Request("issue-4"), tools).criterion_results
    assert [row.outcome for row in rows] == ["passed", "failed" if runs else "passed"]


def test_a_command_that_starts_before_the_record_is_not_blamed_for_what_was_before() -> None:
    world = World(goal_document(criterion("AC1"), criterion("AC2")))

    def run_checks(checks: Any, *, jobs: int, events: CheckEvents) -> None:
        first, second = checks
        started, ended, *_ = events
        started(first)
        world.blame = ("HEAD",)
        record = ended(first, done())
        started(second)
        recorded(record)
        recorded(ended(second, done()))

    tools = world.tools()._replace(run_checks=run_checks)
    rows = evaluate(Request("issue-4"), tools).criterion_results
    assert [row.outcome for row in rows] == ["failed", "passed"]


OTHER = ".flow/goals/other.goal.yaml"


@pytest.mark.parametrize("looks", [[None, ("goal issue-4",), ()], [None, None, ("goal issue-4",)]])
def test_a_goal_that_is_seen_late_to_be_changed_fails_the_turn_and_is_written(
    looks: list[tuple[str, ...] | None],
) -> None:
    world = World(goal_document(criterion("AC1"), criterion("AC2")))
    world.elsewhere = looks
    world.during["AC1"] = lambda: world.document["objective"].update(outcome="less")
    verdict = run(world)
    assert [row.outcome for row in verdict.criterion_results] == ["failed", "failed"]
    assert verdict.proposed_transition is None
    assert verdict.lifecycle_to == "active"  # written over what the command left


def test_what_is_seen_late_is_blamed_on_every_command_since_the_look_before() -> None:
    """The first was followed by a look that found nothing."""
    world = World(goal_document(*(criterion(f"AC{number}") for number in range(1, 6))))
    world.elsewhere = [(), None, (OTHER,), None, None, ()]
    verdict = run(world)
    rows = verdict.criterion_results
    assert [row.outcome for row in rows] == ["passed", "failed", "failed", "passed", "passed"]
    assert [row.reason for row in rows] == [
        "",
        f"it, or a command beside it, changed {OTHER}, which only Flow or a person may change",
        f"it changed {OTHER}, which only Flow or a person may change",
        "",
        "",
    ]
    assert verdict.proposed_transition is None
    assert [line for line in world.log if line.startswith("discount")] == [
        f"discount evidence-ac2-eval-1: {OTHER}"
    ]


def test_the_last_look_is_blamed_on_those_that_nobody_looked_at() -> None:
    world = World(goal_document(criterion("AC1"), criterion("AC2"), criterion("AC3")))
    world.elsewhere = [(), None, None, (OTHER,)]
    verdict = run(world)
    rows = verdict.criterion_results
    assert [row.outcome for row in rows] == ["passed", "failed", "failed"]
    assert [line for line in world.log if line.startswith("discount")] == [
        f"discount evidence-ac2-eval-1: {OTHER}",
        f"discount evidence-ac3-eval-1: {OTHER}",
    ]
    assert verdict.verdict == "not_achieved"


def test_what_flow_itself_writes_is_nobodys_fault() -> None:
    world = World(goal_document(criterion("AC1"), criterion("AC2")))
    world.blame = ("events of run-1",)  # from before: settled when the commands begin
    record = world.record_evidence

    def recording(document: Any, raw: Any = None, *, suffix: bool = False) -> tuple[str, str]:
        world.blame = ("evidence",)
        return record(document, raw, suffix=suffix)

    world.record_evidence = recording  # type: ignore[method-assign]
    assert run(world).verdict == "achieved"


@pytest.mark.parametrize(
    ("what", "written"),
    [(("goal issue-4",), True), (("HEAD", "goal issue-4"), True), (("HEAD",), False)],
)
def test_a_goal_its_command_edited_is_that_turns_failure(what: Any, written: bool) -> None:
    world = World(goal_document())

    def edit() -> None:
        world.blame = what
        world.document["objective"]["outcome"] = "something easier"

    world.during["AC1"] = edit
    if written:
        assert run(world).criterion_results[0].outcome == "failed"
    else:  # somebody else edited it: what was measured belongs to another contract
        from flow.errors import StateError

        with pytest.raises(StateError):
            run(world)


# --- rows -----------------------------------------------------------------------------------------

REF = "kept.evidence.yaml"
OUTCOMES = ("passed", "failed", "inconclusive", "not_run")


def expected_status(
    status: str, outcome: str, *, fuzzy: bool, approved: bool, stale: bool, ref: bool
) -> str:
    """SPEC 3: what each outcome does to a criterion's status."""
    if fuzzy:
        if approved:
            return "pass"
        return "evidence_collected" if status == "pass" else status
    if outcome == "not_run":
        return "pending" if status == "pass" and not ref else status
    if outcome == "inconclusive" or stale:
        return "evidence_collected"
    return "pass" if outcome == "passed" else "fail"


@pytest.mark.parametrize("ref", [True, False])
@pytest.mark.parametrize("stale", [True, False])
@pytest.mark.parametrize("approved", [True, False])
@pytest.mark.parametrize("outcome", [*OUTCOMES, "fuzzy"])
@pytest.mark.parametrize("status", ["pending", "evidence_collected", "pass", "fail"])
def test_every_row(status: str, outcome: str, approved: bool, stale: bool, ref: bool) -> None:
    fuzzy = outcome == "fuzzy"
    outcome = "not_run" if fuzzy else outcome
    kept = {"evidence_ref": REF} if ref else {}
    document = criterion("AC1", None if fuzzy else "x", status=status, **kept)
    document["last_result"] = "approved by sam"
    goal = World(goal_document(document)).goal("issue-4").goal
    ran = outcome != "not_run"
    new = "new.evidence.yaml" if ran else None
    row = Measurement(
        "AC1",
        outcome,  # type: ignore[arg-type]
        0 if ran else None,
        "exit 0" if ran else None,
        FUZZY if fuzzy else "",
        ("l",),
        "new" if ran else None,
        new,
        None,
    )
    rows = Measurements((row,), ran=ran, goal_touched=False)
    approvals = frozenset({"AC1"} if approved else ())
    (fact,) = measured_rows.judgeable(goal, rows, approvals, stale=stale)
    assert fact == Measured(
        "AC1",
        True,
        fuzzy,
        outcome,  # type: ignore[arg-type]
        stale=stale and outcome in ("passed", "failed"),
        approved=approved,
    )
    (shown,) = measured_rows.results(goal, rows, (fact,), ("a", "b", "c", "d"))
    proved = fuzzy and approved
    expected = expected_status(
        status, outcome, fuzzy=fuzzy, approved=approved, stale=fact.stale, ref=ref
    )
    if approved:
        reason = "approved by sam"
    elif fact.stale:
        reason = "changed while it ran: a, b, c and 1 more"
    else:
        reason = row.reason
    assert shown == CriterionResult(
        "AC1",
        expected,
        outcome,
        row.exit_code,
        new or (REF if ref else None),
        ("l",),
        reason,
        text="AC1 holds",
        command=None if fuzzy else "x",
    )
    assert proved is (fuzzy and fact.passing)
    update = recording.updates(goal, rows, (shown,), NOW)
    if ran:
        assert update == (CriterionUpdate("AC1", expected, new, NOW, "exit 0"),)
    elif expected != status:
        assert update == (CriterionUpdate("AC1", expected, None, NOW, None),)
    else:
        assert update == ()


def test_a_reason_of_its_own_is_not_hidden_by_staleness() -> None:
    goal = World(goal_document()).goal("issue-4").goal
    row = Measurement("AC1", "failed", 1, "exit 1", "mine", (), "e", "ref", None)
    rows = Measurements((row,), ran=True, goal_touched=False)
    facts = measured_rows.judgeable(goal, rows, frozenset(), stale=True)
    assert measured_rows.results(goal, rows, facts, ("a",))[0].reason == "mine"


def test_a_decided_row_without_evidence_keeps_no_older_one() -> None:
    goal = World(goal_document(criterion("AC1", evidence_ref=REF))).goal("issue-4").goal
    row = Measurement("AC1", "passed", 0, "exit 0", "", (), None, None, None)
    rows = Measurements((row,), ran=True, goal_touched=False)
    facts = measured_rows.judgeable(goal, rows, frozenset(), stale=False)
    assert measured_rows.results(goal, rows, facts, ())[0].evidence_ref is None


def test_an_approval_without_a_last_result_has_no_reason() -> None:
    goal = World(goal_document(criterion("AC1", None))).goal("issue-4").goal
    row = Measurement("AC1", "not_run", None, None, FUZZY, (), None, None, None)
    rows = Measurements((row,), ran=False, goal_touched=False)
    facts = measured_rows.judgeable(goal, rows, frozenset({"AC1"}), stale=False)
    assert measured_rows.results(goal, rows, facts, ())[0].reason == ""


def test_the_rows_of_a_goal_that_may_not_run() -> None:
    goal = (
        World(
            goal_document(
                criterion("AC1", status="pass", evidence_ref=REF, limitations=["l"]),
                criterion("AC2", None),
            )
        )
        .goal("issue-4")
        .goal
    )
    assert measured_rows.unexecuted(goal) == (
        CriterionResult(
            "AC1",
            "pass",
            "not_executed",
            None,
            REF,
            ("l",),
            "not trusted here",
            text="AC1 holds",
            command="true",
        ),
        CriterionResult(
            "AC2", "pending", "not_executed", reason="not trusted here", text="AC2 holds"
        ),
    )


def test_only_an_optional_failure_is_a_warning() -> None:
    facts = [
        Measured("AC1", True, False, "failed"),
        Measured("AC2", False, False, "failed"),
        Measured("AC3", False, False, "passed"),
        Measured("AC4", False, False, "failed", stale=True),
        Measured("AC5", False, False, "inconclusive"),
    ]
    found = measured_rows.optional_failures(facts)
    assert len(found) == 1
    assert found[0].startswith("AC2 failed")


def test_what_is_not_run_keeps_its_limitations() -> None:
    world = World(
        goal_document(
            criterion("AC1", limitations=["l"]), criterion("FZ1", None, limitations=["m"])
        )
    )
    verdict = run(world, dry_run=True)
    assert verdict.criterion_results == (
        CriterionResult(
            "AC1",
            "pending",
            "not_run",
            limitations=("l",),
            text="AC1 holds",
            command="true",
        ),
        CriterionResult(
            "FZ1", "pending", "not_run", limitations=("m",), reason=FUZZY, text="FZ1 holds"
        ),
    )
