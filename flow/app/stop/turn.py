"""Judging one goal at a stop of an agent: evaluate, the table, the limits, what is written.

The hook is a caller like the command line: it keeps the verdict itself. The one terminal status it
may write is ``failed`` for a stuck loop, since turning the loop on is the user's standing answer.
"""

from __future__ import annotations

from itertools import islice

from flow.app.evaluation.values import Evaluated, EvaluationFacts, Request
from flow.core.decision import explain
from flow.core.decision.decide import Opinion
from flow.core.stop import messages as stop_messages
from flow.core.stop import policy as core
from flow.core.stop import turns
from flow.core.stop.lost_goals import Loss, is_acting
from flow.core.text import display
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.app.ports import Records
    from flow.app.stop.tools import Host, Sight, StopTools
    from flow.core.decision.verdict import Verdict
    from flow.core.goal.model import Criterion, Goal
    from flow.core.stop.hosts import StopEvent
    from flow.core.stop.policy import LimitName, LoopCounters, LoopLimits, Mode, Row, StopStep


LOOK_BACK = 100
"""The newest sidecars of a criterion among which one that passed or failed is looked for."""


def seconds_of_last_result(records: Records, run_id: str, criterion: Criterion) -> float | None:
    """Seconds of the criterion's command when it last passed or failed; None if it never did."""
    for path in islice(records.measured(run_id, criterion.id), LOOK_BACK):
        evidence = records.counted(path)
        if evidence is None or evidence.outcome not in ("passed", "failed"):
            continue
        if evidence.body.get("criterion_digest") == criterion.digest:
            return float(evidence.body.get("duration_seconds") or 0)
    return None


class JudgedGoal(NamedTuple):
    """The outcome of a stop for one goal."""

    goal_id: str
    action: Literal["continue", "let_go"]
    reason: str
    for_user: tuple[str, ...] = ()
    """Messages for the user; of a goal that continues, those that are not in the agent's text."""
    hint: str = ""
    line: str = ""
    """The goal's standing and the next step, for the user."""
    loss: Loss | None = None
    """Why it was not judged; None if it was, or if nothing more is to be said of it."""
    answered_before: bool = False
    """Whether another run of the hook has answered this stop."""
    of_another: bool = False
    """Whether another session that stopped at the same time has got the goal."""


class _JudgedTurn(NamedTuple):
    """A goal's evaluation at a stop, and its row and step in the table."""

    goal: Goal
    mode: Mode
    verdict: Verdict
    evaluation: EvaluationFacts
    row: Row
    step: StopStep
    limits: LoopLimits
    proof_lost: tuple[str, ...]
    """Required criteria that show nothing now, and showed something before."""
    ended: tuple[str, ...]
    """Required criteria that a signal ended, and that have never shown anything."""

    @property
    def commands_passed(self) -> bool:
        """Whether every required command passed, and no judge calls a required criterion failed."""
        return not core.disproved(self.evaluation.candidate, self.evaluation.measured)

    @property
    def shown_row(self) -> Row:
        """The row that the user reads: ``proof_lost`` only if a criterion did show something."""
        lost = self.row == "proof_lost" and not self.proof_lost
        return "inconclusive" if lost else self.row


def judge_stop(
    goal: Goal, event: StopEvent, host: Host, tools: StopTools, sight: Sight
) -> JudgedGoal:
    """Evaluate the goal and decide what its state means for this stop."""
    mode = mode_of(goal, tools.mode)
    before = tools.record.loop(goal.id, goal.run_id or "")
    verdict, evaluation = tools.evaluate(
        Request(
            goal.id,
            trigger="stop-hook",
            no_judge=mode != "evaluator-loop" or _is_spent(goal, tools),
            reuse=before.evidence,
            use_recorded_opinion=True,
            quiet=True,
        )
    )
    if evaluation is None:
        text = stop_messages.let_go_message("untrusted", verdict)
        loss = _contract_by_hand(goal, sight)
        return JudgedGoal(goal.id, "let_go", text, (text,), verdict.next_step_hint, loss=loss)
    lost, ended = _proof_lost(goal, verdict, evaluation, host, tools)
    row = core.stop_row(
        evaluation.candidate, evaluation.decision, evaluation.opinion, (*lost, *ended)
    )
    passing = core.passing_set(evaluation.measured)
    answered_before = core.answered_meanwhile(before, event.session, event.prompt, host.began)
    loop = _with_evidence(before, verdict)
    if not answered_before:
        loop = _with_this_stop(loop, event, evaluation, row, passing)
    limits, tree = _limits(goal, host, tools), evaluation.facts.subject.tree
    step = core.stop_step(row, mode, loop, limits, tree=tree, at=tools.now(), again=answered_before)
    if step.action == "continue" and (moved := moved_meanwhile(goal, event, tools)):
        return moved
    turn = _JudgedTurn(goal, mode, verdict, evaluation, row, step, limits, lost, ended)
    if step.limit:
        turn = turn._replace(verdict=_limit_verdict(step.limit, turn, tools))
    answer = _goal_answer(turn, host, tools, _persisted(turn, tools))
    _remember(turn, event, tools, sight)
    if step.loop != before:
        tools.record.keep_loop(verdict.run_id, step.loop)
    note = _stop_event(turn, passing, event) | _turn_fields(turn)
    if event.message is not None:
        note["last_message"] = tools.record.redacted(event.message)
    tools.record.note(verdict.run_id, goal.id, note)
    return answer._replace(answered_before=answered_before)


def _persisted(turn: _JudgedTurn, tools: StopTools) -> tuple[str, ...]:
    """Keep the verdict; returns warnings. It stands, even where it cannot be kept."""
    # If the turn changed nothing, last-verdict.json is only an aid, so it need not be synced:
    # after a power cut the next stop writes it again.
    sync = turn.evaluation.written or bool(turn.step.limit)
    try:
        return tools.record.persist(turn.verdict, sync=sync)
    except FlowError as error:
        return (f"the verdict stands, but could not be recorded: {error}",)


def moved_meanwhile(goal: Goal, event: StopEvent, tools: StopTools) -> JudgedGoal | None:
    """The answer for a goal that a person paused or closed while this stop was judged, else None.

    What was done by hand is no such move: the goal is lost then.
    """
    try:
        now = tools.load(goal.id)
        if is_acting(now):
            return None
        sight = tools.sight(event.session)
    except FlowError:
        return None
    if any(loss.goal_id == goal.id for loss in sight.losses):
        return None
    text = f"goal {goal.id} is {resting(now, sight)}, since this stop began"
    return JudgedGoal(goal.id, "let_go", text, (text,))


def resting(goal: Goal, sight: Sight) -> str:
    """The status of a goal that is not judged; of one that waits for a person what it waits for."""
    pause = sight.paused.get(goal.id)
    if pause is None:
        waits = goal.status == "waiting_for_user"
        return f"{goal.status} (for what: flow goal status {goal.id})" if waits else goal.status
    return f"{goal.status}, {pause.sentence()} (flow goal resume {goal.id})"


def _limits(goal: Goal, host: Host, tools: StopTools) -> LoopLimits:
    spent = tools.record.judge_cost(goal.run_id) if goal.max_cost_usd and goal.run_id else 0.0
    return core.LoopLimits(
        tools.fail_after, goal.max_iterations, host.cap, goal.max_seconds, goal.max_cost_usd, spent
    )


def _is_spent(goal: Goal, tools: StopTools) -> bool:
    """Whether the goal's judges have cost what they may."""
    if goal.max_cost_usd is None or goal.run_id is None:
        return False
    return tools.record.judge_cost(goal.run_id) >= goal.max_cost_usd


def _turn_fields(turn: _JudgedTurn) -> dict[str, Any]:
    """The turn's number; for a turn that is not in the goal's file also its result."""
    verdict, evaluation = turn.verdict, turn.evaluation
    fields: dict[str, Any] = {"turn": verdict.turns_evaluated}
    if not evaluation.written:
        last = {row.criterion_id: row.result for row in evaluation.measurement.rows}
        result, rows = evaluation.decision.result, verdict.criterion_results
        fields |= turns.event_fields(turn.goal, result, verdict.reason, rows, last)
    return fields


def _with_this_stop(
    before: LoopCounters,
    event: StopEvent,
    evaluation: EvaluationFacts,
    row: Row,
    passing: str,
) -> LoopCounters:
    """The counters with this stop in them."""
    decided = row == "proof_lost" or any(m.decided for m in evaluation.measured)
    loop = core.count_stop(
        before,
        session=event.session,
        prompt=event.prompt,
        continued=event.continued,
        passing=passing if decided else None,
    )
    if event.used is not None:  # a host that counts itself
        loop = loop._replace(continuations=max(loop.continuations, event.used))
    return loop


def _with_evidence(loop: LoopCounters, verdict: Verdict) -> LoopCounters:
    """The counters with the newest evidence of each criterion."""
    refs = {r.criterion_id: r.evidence_ref for r in verdict.criterion_results if r.evidence_ref}
    return loop._replace(evidence={**loop.evidence, **refs})


def _remember(turn: _JudgedTurn, event: StopEvent, tools: StopTools, sight: Sight) -> None:
    """Remember the goal's session, and that the goal was left open."""
    goal, verdict, sessions = turn.goal, turn.verdict, tools.sessions
    mine = event.session is not None and sessions.owner(goal.id) == event.session
    if event.session and (turn.step.action == "continue" or mine):
        sessions.own(goal.id, event.session)  # not idle
    known, contract = sight.left_open.get(goal.id), sight.contracts.get(goal.id, "")
    if verdict.lifecycle_to != "failed" and (known is None or known.contract != contract):
        tools.moves.note_open(goal, verdict.run_id, verdict.lifecycle_to, contract)


def _contract_by_hand(goal: Goal, sight: Sight) -> Loss | None:
    known = sight.left_open.get(goal.id)
    if known is None or not known.contract or known.contract == sight.contracts.get(goal.id):
        return None
    return Loss(goal.id, "contract_by_hand")


def _proof_lost(
    goal: Goal, verdict: Verdict, evaluation: EvaluationFacts, host: Host, tools: StopTools
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Required criteria that show nothing now: those that did before, those a signal ended."""
    if evaluation.candidate != "incomplete":
        return (), ()
    rows = {row.criterion_id: row for row in evaluation.measurement.rows}
    required = [c for c in goal.criteria if c.must_pass or goal.require_all_pass]
    lost, ended = [], []
    for criterion in required:
        row = rows.get(criterion.id)
        if row is None:
            continue
        late = criterion.id in evaluation.measurement.out_of_time
        if not late and not core.may_have_lost_its_proof(row.outcome, row.reason):
            continue
        took = tools.record.shown_before(verdict.run_id, criterion)
        # A command that never finished within its share of the hook's time has lost no proof when
        # it runs out of time again.
        fitted = took is not None and (not late or took < host.seconds / 2 / len(required))
        if fitted:
            lost.append(criterion.id)
        elif core.ended_by_signal(row.result):
            ended.append(criterion.id)
    return tuple(lost), tuple(ended)


def mode_of(goal: Goal, mode: Mode) -> Mode:
    """``flow_managed`` makes the hook warn at most."""
    return "warn" if goal.flow_managed and mode != "off" else mode


def _limit_verdict(why: LimitName, turn: _JudgedTurn, tools: StopTools) -> Verdict:
    """The verdict of a limit: ``failed`` for a stuck loop, a proposal for a spent budget."""
    verdict, evaluated = turn.verdict, Evaluated(turn.verdict, turn.evaluation)
    sentence = stop_messages.limit_reached(why, turn.limits)
    reason = f"{stop_messages.LIMITS[why]}: {sentence}; {verdict.reason}"
    if why == "stuck" and turn.commands_passed:
        # Nothing was shown to be wrong, so more of the same work is no answer: a person decides.
        tools.moves.wait_for_person(verdict.goal_id, reason)
        return verdict._replace(
            verdict="needs_human_review",
            reason=reason,
            lifecycle_to="waiting_for_user",
            next_step_hint=explain.approval_line(verdict.goal_id, verdict.criterion_results),
        )
    if why == "stuck" and not tools.propose_only:
        tools.moves.fail(evaluated, reason)
        hint = (
            f"look at what failed, then start anew: flow goal create NEW --from {verdict.goal_id}"
        )
        return verdict._replace(reason=reason, lifecycle_to="failed", next_step_hint=hint)
    if why in ("stuck", "budget") or (why in ("time", "cost") and turn.mode == "evaluator-loop"):
        return tools.moves.propose(evaluated, reason, why != "stuck")
    return verdict


def _goal_answer(
    turn: _JudgedTurn, host: Host, tools: StopTools, warnings: Sequence[str]
) -> JudgedGoal:
    goal, mode, verdict, step, limits = turn.goal, turn.mode, turn.verdict, turn.step, turn.limits
    row, warns = turn.shown_row, ""
    if mode == "warn":
        set_so = tools.mode == "warn"
        warns = "stopHookEnforcement is warn" if set_so else "continuation.mode is flow_managed"
    required = [c.id for c in goal.criteria if c.must_pass or goal.require_all_pass]
    line = stop_messages.person_line(row, verdict, required, step, limits, mode, warns)
    if step.action == "continue":
        text = _continuation(turn, host, tools)
        return JudgedGoal(goal.id, "continue", text, tuple(warnings), line=line)
    text = stop_messages.let_go_message(row, verdict, warns)
    if step.limit:
        sentence = stop_messages.limit_reached(step.limit, limits)
        text = f"goal {goal.id}: let go, {stop_messages.LIMITS[step.limit]} ({sentence}); {text}"
        if verdict.lifecycle_to == "failed":
            reason = explain.in_words(verdict.reason)
            text = f"goal {goal.id} is failed: {stop_messages.LIMITS[step.limit]}: {reason}"
    if out_of_time := display.names(turn.evaluation.measurement.out_of_time, 10):
        text += f"; not reached in the hook's time: {out_of_time}"
        line += f" Not reached in the hook's time: {out_of_time}."
    if row == "undecided" and limits.cost is not None and limits.spent >= limits.cost:
        sentence = stop_messages.limit_reached("cost", limits)
        text, line = f"{text}; no judge is asked: {sentence}", f"{line} No judge: {sentence}."
    closed = verdict.lifecycle_to == "failed"
    hint = verdict.next_step_hint if closed else f"{host.command} {goal.id}"
    return JudgedGoal(goal.id, "let_go", text, tuple(warnings), hint, line)


def _continuation(turn: _JudgedTurn, host: Host, tools: StopTools) -> str:
    """The agent's next prompt."""
    from flow.core.stop.continuation import StopFacts, continuation

    verdict, evaluation = turn.verdict, turn.evaluation
    shown = (*turn.proof_lost, *turn.ended)
    tails = {
        r.criterion_id: tools.record.output_end(r.evidence_ref)
        for r in verdict.criterion_results
        if r.evidence_ref and (r.outcome == "failed" or r.criterion_id in shown)
    }
    opinion = evaluation.opinion if turn.row == "judge_not_achieved" else None
    facts = StopFacts(
        tails,
        turn.proof_lost,
        turn.ended,
        evaluation.report.violations,
        opinion if isinstance(opinion, Opinion) else None,
        not tools.propose_only and not turn.commands_passed,
        host.top,
        host.folder,
    )
    return continuation(turn.goal, verdict, facts, turn.step, limit=host.limit, size=host.size)


def _stop_event(turn: _JudgedTurn, passing: str, event: StopEvent) -> dict[str, Any]:
    """The ``stop`` event: why the hook did what it did, for ``flow goal history``."""
    step, measurement = turn.step, turn.evaluation.measurement
    return {
        "type": "stop",
        "host": event.host,
        "session": event.session,
        "mode": turn.mode,
        "row": turn.row,
        "answer": step.action,
        "limit": stop_messages.LIMITS.get(step.limit) if step.limit else None,
        "verdict": turn.verdict.verdict,
        "passing_sha256": passing,
        "continuations": step.loop.continuations,
        "stuck_turns": step.loop.stuck_turns,
        "reused": list(measurement.reused),
        "out_of_time": list(measurement.out_of_time),
        "tree": turn.evaluation.facts.subject.tree,
    }
