"""What the Stop hook does when an agent stops (SPEC section 6), as one list of steps.

*goal → ownership → background work → evaluate → stuck → budget → throttle → host's cap → answer.*

The hook is a caller like the command line: it keeps the verdict itself. It asks nobody, so a goal
that is proved is let go with a hint. The one terminal status it may write is ``failed`` for a stuck
loop, since turning the loop on is the user's standing answer; for that it holds ``close``.
"""

from __future__ import annotations

from flow.app.evaluate import Request
from flow.cheap_typing import TYPE_CHECKING, Any, NamedTuple
from flow.core import explain, stop_words
from flow.core import stop as core
from flow.core.stop_host import Answer
from flow.errors import FlowError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from flow.app.evaluate import Evaluated
    from flow.core.goal import Goal
    from flow.core.stop import Limits, Loop, Mode, Row, Step, Why
    from flow.core.stop_host import StopEvent
    from flow.core.verdict import Verdict


class Host(NamedTuple):
    """What the host takes: the size of a reason, and how many continuations in a row."""

    command: str
    """How a user of this host evaluates a goal."""
    limit: int
    size: Callable[[str], int]
    cap: int | None


class StopTools(NamedTuple):
    """Everything a stop touches outside of values."""

    mode: Mode
    fail_after: int
    propose_only: bool
    """``onStuck: propose``."""
    goals: Callable[[], tuple[Sequence[Goal], Sequence[FlowError]]]
    """The branch's goals that are not closed, and what is wrong with those that cannot be read."""
    owner: Callable[[str], str | None]
    """The session that a goal belongs to; None where it belongs to none, or that one is idle."""
    own: Callable[[str, str], None]
    """Remembers that a session works on a goal."""
    ready: Callable[[Goal], tuple[bool, str]]
    """Asks again what a ``waiting_for_ci`` goal waits for; whether it is there, and in words."""
    resume: Callable[[str, str], None]
    """A waiting goal becomes active again, for a reason."""
    evaluate: Callable[[Request], Evaluated]
    persist: Callable[[Verdict], tuple[str, ...]]
    """Keeps the verdict; returns warnings."""
    loop: Callable[[str, str], Loop]
    """The counters of (goal id, run id); fresh ones where there are none."""
    keep_loop: Callable[[str, Loop], None]
    note: Callable[[str, str, Mapping[str, Any]], None]
    """Appends an event to a run: (run id, goal id, event)."""
    output_end: Callable[[str], str]
    """The end of the output behind a sidecar's path."""
    fail: Callable[[Evaluated, str], None]
    """Closes a goal as ``failed``, with the reason."""
    propose: Callable[[Evaluated, str, bool], Verdict]
    """Proposes ``failed`` for a reason; True: the goal waits for the user meanwhile."""
    alone: Callable[[str], AbstractContextManager[None]]
    """One stop at a time is judged for a goal; the next one waits, and reuses what it found."""
    now: Callable[[], float]
    """Seconds since 1970."""


def stop(event: StopEvent, host: Host, tools: StopTools) -> Answer:
    """Decide about one stop. Raises :class:`FlowError`; the entry turns that into an answer."""
    found, broken = tools.goals()
    unreadable = _unreadable(broken)
    goal, said = _choose(found, event, tools)
    if goal is None:
        return _let_go(said or "no active goal on this branch", [said, *unreadable])
    owner = tools.owner(goal.id)
    if owner is not None and owner != event.session:
        return _let_go(
            f"goal {goal.id} belongs to another session; to take it over: "
            f"flow goal claim {goal.id}",
            unreadable,
        )
    if event.background:
        names = explain.names(event.background, 5)
        return _let_go(
            f"goal {goal.id}: background work is still running ({names}); it is judged after that",
            unreadable,
        )
    if goal.status == "waiting_for_ci":
        there, words = tools.ready(goal)
        if not there:
            text = f"goal {goal.id} waits: {words}"
            return _let_go(text, [text, *unreadable], f"flow goal resume {goal.id}")
        tools.resume(goal.id, words)
    with tools.alone(goal.id):
        return _judge(goal, event, host, tools, unreadable)


def _choose(found: Sequence[Goal], event: StopEvent, tools: StopTools) -> tuple[Goal | None, str]:
    """The goal this stop is about; else None, and what to say."""
    acting = [g for g in found if g.status == "active" or g.blocked_by_paths]
    acting = acting or [g for g in found if g.status == "waiting_for_ci"]
    if len(acting) == 1:
        return acting[0], ""
    if acting:
        mine = [g for g in acting if event.session and tools.owner(g.id) == event.session]
        if len(mine) == 1:
            return mine[0], ""
        names = explain.names([g.id for g in acting], 10)
        return None, (
            f"several goals are active on this branch ({names}); "
            f"say which one this session works on: flow goal claim {acting[0].id}"
        )
    waiting = [f"{g.id} is {g.status}" for g in found if g.status not in ("draft", "active")]
    if waiting:
        return None, f"goal {explain.names(waiting, 5)}; nothing was evaluated"
    return None, ""


def _unreadable(broken: Sequence[FlowError]) -> list[str]:
    """One line for each goal that cannot be read: it is named, never taken for absent."""
    lines = [f"cannot read a goal: {explain.visible(str(e.faults[0]))}" for e in broken[:5]]
    if len(broken) > 5:
        lines.append(f"and {len(broken) - 5} more goals cannot be read")
    return lines


def _judge(
    goal: Goal, event: StopEvent, host: Host, tools: StopTools, unreadable: Sequence[str]
) -> Answer:
    mode = _mode(goal, tools.mode)
    run_id = goal.run_id or ""
    before = tools.loop(goal.id, run_id)
    evaluated = tools.evaluate(
        Request(
            goal.id,
            trigger="stop-hook",
            no_judge=mode != "evaluator-loop",
            reuse=before.evidence,
            recall=True,
            quiet=True,
        )
    )
    verdict, found = evaluated
    if found is None:
        text = stop_words.let_go("untrusted", verdict, asks=True)
        return _let_go(text, [text, *unreadable], verdict.next_step_hint)
    row = core.row(found.candidate, found.decision, found.opinion)
    decided = any(m.decided for m in found.measured)
    passing = core.passing_set(found.measured)
    loop = core.counted(
        before,
        session=event.session,
        prompt=event.prompt,
        continued=event.continued,
        passing=passing if decided else None,
    )
    if event.used is not None:  # a host that counts itself
        loop = loop._replace(continuations=max(loop.continuations, event.used))
    refs = {r.criterion_id: r.evidence_ref for r in verdict.criterion_results if r.evidence_ref}
    loop = loop._replace(evidence={**before.evidence, **refs})
    limits = core.Limits(tools.fail_after, goal.max_iterations, host.cap)
    subject = found.facts.subject
    step = core.step(row, mode, loop, limits, tree=subject.tree, at=tools.now())
    warnings = list(unreadable)
    if step.why:
        verdict = _limit(step.why, evaluated, limits, tools)
        evaluated = evaluated._replace(verdict=verdict)
    try:
        warnings += tools.persist(verdict)
    except FlowError as error:
        warnings.append(f"the verdict stands, but could not be recorded: {error}")
    answer = _answer(row, step, limits, goal, evaluated, host, tools, warnings)
    if step.action == "continue" and event.session:
        tools.own(goal.id, event.session)
    elif event.session and tools.owner(goal.id) == event.session:
        tools.own(goal.id, event.session)  # not idle
    tools.keep_loop(verdict.run_id, step.loop)
    tools.note(verdict.run_id, goal.id, _event(row, step, mode, evaluated, passing, event))
    return answer


def _mode(goal: Goal, mode: Mode) -> Mode:
    """``flow_managed`` makes the hook warn at most."""
    return "warn" if goal.flow_managed and mode != "off" else mode


def _limit(why: Why, evaluated: Evaluated, limits: Limits, tools: StopTools) -> Verdict:
    """What a limit writes: ``failed`` for a stuck loop, a proposal for a spent budget."""
    verdict = evaluated.verdict
    sentence = stop_words.limit_reached(
        why, stuck=limits.stuck, budget=limits.budget, cap=limits.cap
    )
    reason = f"{stop_words.LIMITS[why]}: {sentence}; {verdict.reason}"
    if why == "stuck" and not tools.propose_only:
        tools.fail(evaluated, reason)
        hint = (
            f"look at what failed, then start anew: flow goal create NEW --from {verdict.goal_id}"
        )
        return verdict._replace(reason=reason, lifecycle_to="failed", next_step_hint=hint)
    if why in ("stuck", "budget"):
        return tools.propose(evaluated, reason, why == "budget")
    return verdict


def _answer(
    row: Row,
    step: Step,
    limits: Limits,
    goal: Goal,
    evaluated: Evaluated,
    host: Host,
    tools: StopTools,
    warnings: Sequence[str],
) -> Answer:
    verdict, found = evaluated
    if step.action == "continue":
        tails = {
            r.criterion_id: tools.output_end(r.evidence_ref)
            for r in verdict.criterion_results
            if r.outcome == "failed" and r.evidence_ref
        }
        judged = ""
        if row == "judge_not_achieved" and found is not None:
            judged = explain.visible(getattr(found.opinion, "reason", ""))
        text = stop_words.continuation(
            goal, verdict, tails, step, judged=judged, limit=host.limit, size=host.size
        )
        return Answer("continue", text)
    mode = _mode(goal, tools.mode)
    text = stop_words.let_go(row, verdict, asks=mode != "warn" or row in ("proved", "untrusted"))
    if step.why:
        sentence = stop_words.limit_reached(
            step.why, stuck=limits.stuck, budget=limits.budget, cap=limits.cap
        )
        text = f"goal {goal.id}: let go, {stop_words.LIMITS[step.why]} ({sentence}); {text}"
        if verdict.lifecycle_to == "failed":
            text = f"goal {goal.id} is failed: {verdict.reason}"
    if found is not None and found.measurement.out_of_time:
        missed = explain.names(found.measurement.out_of_time, 10)
        text += f"; not reached in the hook's time: {missed}"
    hint = f"{host.command} {goal.id}"
    told = f"{text}: {hint}" if row == "proved" else text
    return _let_go(text, [told, *warnings], hint)


def _event(
    row: Row,
    step: Step,
    mode: Mode,
    evaluated: Evaluated,
    passing: str,
    event: StopEvent,
) -> dict[str, Any]:
    """The ``stop`` event: why the hook did what it did, for ``flow goal history``."""
    verdict, found = evaluated
    measurement = found.measurement if found is not None else None
    return {
        "type": "stop",
        "host": event.host,
        "session": event.session,
        "mode": mode,
        "row": row,
        "answer": step.action,
        "limit": stop_words.LIMITS.get(step.why) if step.why else None,
        "verdict": verdict.verdict,
        "passing_sha256": passing,
        "continuations": step.loop.continuations,
        "stuck_turns": step.loop.stuck_turns,
        "reused": list(measurement.reused) if measurement else [],
        "out_of_time": list(measurement.out_of_time) if measurement else [],
        "tree": found.facts.subject.tree if found is not None else None,
    }


def _let_go(reason: str, said: Sequence[str], hint: str = "") -> Answer:
    """An answer that lets the agent stop; ``said`` is for the user's eyes."""
    message = "; ".join(text for text in said if text)
    return Answer("let_go", reason, hint, f"Flow: {message}" if message else "")
