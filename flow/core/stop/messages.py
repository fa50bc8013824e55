"""The Stop hook's messages for letting an agent go, and about goals it can no longer judge.

The message to an agent that continues: :mod:`flow.core.stop.continuation`.
"""

from __future__ import annotations

from flow.core.decision.explain import FUZZY, NO_ANSWER, in_words, needs_word, not_shown
from flow.core.evidence.model import UNDECIDED_KINDS
from flow.core.stop.hosts import MARK
from flow.core.stop.lost_goals import Loss, SessionNotes, describe_loss, loss_remedy
from flow.core.text import display
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.core.decision.verdict import CriterionResult, Verdict
    from flow.core.stop.policy import LimitName, LoopLimits, Mode, Row, StopStep


def restore_request(losses: Sequence[Loss], notes: SessionNotes, limit: int) -> str:
    """The agent's next prompt if goals that it worked for cannot be judged any more.

    ``limit`` is the most such prompts in a session.
    """
    names = display.names([loss.goal_id for loss in losses], 10)
    times = min(notes.asked.get(loss.goal_id, 0) for loss in losses) + 1
    undo = [loss for loss in losses if loss.kind != "waits"]
    is_open = "is open, and Flow cannot judge it" if undo else "is open, and waits"
    return "\n".join(
        [
            f"{MARK} goal {names} {is_open}.",
            *(
                f"- {loss.goal_id}: {describe_loss(loss)}. To do: {loss_remedy(loss)}."
                for loss in losses
            ),
            *(
                "Undo what you did there, then stop: Flow looks again. What you did not do "
                "yourself, leave as it is, and say so plainly to the user, who can end this with "
                f"flow goal forget {loss.goal_id}."
                for loss in undo[:1]
            ),
            f"This is asked for at most {display.counted(limit, 'time')} ({times} of {limit}).",
        ]
    )


LIMITS: Mapping[LimitName, str] = {
    "stuck": "stuck_no_progress",
    "budget": "budget_exhausted",
    "time": "budget_exhausted",
    "cost": "budget_exhausted",
    "throttle": "throttled",
    "cap": "host_cap",
}
"""The word that events, verdict and journal use for each limit."""


def limit_reached(limit: LimitName, limits: LoopLimits) -> str:
    """The limit that was reached, as a sentence."""
    cost = f"{limits.spent:g} of {limits.cost or 0:g} US dollars of max_cost_usd"
    sentences = {
        "stuck": _after_each(limits.stuck),
        "budget": _all_used(limits.budget),
        "time": f"the {limits.seconds or 0:g} s of max_seconds are over",
        "cost": f"judges have cost {cost}",
        "throttle": "3 continuations within 5 minutes changed no file",
    }
    in_a_row = f"{display.counted(limits.cap or 0, 'continuation')} in a row"
    return sentences.get(limit, f"the host lets go after {in_a_row}")


def _after_each(times: int) -> str:
    after = f"each of {times:,} continuations" if times > 1 else "a continuation as before it"
    return f"the same criteria passed after {after}"


def _all_used(budget: int) -> str:
    if budget == 1:
        return "the one continuation of max_iterations is used"
    return f"all {budget:,} continuations of max_iterations are used"


_LET_GO: Mapping[Row, str] = {
    "violation": " is blocked",
    "failed": " is not done",
    "proof_lost": " lost a proof that it had",
    "inconclusive": " is undecided",
    "judge_not_achieved": ": the judge is not convinced",
    "undecided": " needs a person",
}


def let_go_message(row: Row, verdict: Verdict, warns: str = "") -> str:
    """Reason for letting go, for the user. ``warns``: why the hook warns at most, if it does."""
    if row == "proved":
        return f"goal {verdict.goal_id}: every required criterion is proved; a person confirms"
    text = f"goal {verdict.goal_id}{_LET_GO.get(row, '')}: {in_words(verdict.reason)}"
    if not warns or row == "untrusted":
        return text
    return f"{text} (the hook only warns: {warns})"


def person_line(
    row: Row,
    verdict: Verdict,
    required: Sequence[str],
    step: StopStep,
    limits: LoopLimits,
    mode: Mode,
    warns: str,
) -> str:
    """One line for the person who watches the agent: the goal's state, and the next step.

    ``required`` are the ids of the criteria that count; ``warns``: as of :func:`let_go_message`.
    """
    state = "all proved" if row == "proved" else _state(row, verdict, frozenset(required))
    end = _next_line(row, verdict, step, limits, mode)
    if warns and row != "proved":
        end = f"The agent may stop ({warns})."
    return f"◎ {verdict.goal_id} turn {verdict.turns_evaluated}: {state}. {end}"


def _next_line(row: Row, verdict: Verdict, step: StopStep, limits: LoopLimits, mode: Mode) -> str:
    if step.action == "continue":
        most = f"/{limits.budget}" if mode == "evaluator-loop" else ""  # no budget elsewhere
        return f"The agent goes on ({step.loop.continuations}{most})."
    if step.limit:
        why = limit_reached(step.limit, limits)
        failed = verdict.lifecycle_to == "failed"
        return f"{'It is marked failed' if failed else 'The agent may stop'}: {why}."
    if row == "proved":
        return f"Waits for you: flow goal confirm {verdict.goal_id}"
    if row == "undecided" and (ids := _open_ids(verdict.criterion_results)):
        return f"Waits for you: flow goal approve {verdict.goal_id} {ids[0]}"
    return "The agent may stop."


def _open_ids(rows: Sequence[CriterionResult]) -> list[str]:
    """Ids of the criteria without a verification command that are not proved yet."""
    return [r.criterion_id for r in rows if r.status != "pass" and needs_word(r)]


def _state(row: Row, verdict: Verdict, required: frozenset[str]) -> str:
    """``AC1, AC4 failed, AC2 masked``: the required criteria that are not proved, by kind."""
    by_kind: dict[str, list[str]] = {}
    for each in verdict.criterion_results:
        if each.criterion_id in required and not_shown(each):
            by_kind.setdefault(_kind(each), []).append(each.criterion_id)
    if NO_ANSWER in verdict.reason and "not asked" in by_kind:
        by_kind["not judged"] = by_kind.pop("not asked")
    order = sorted(by_kind, key=lambda kind: kind != "failed")
    parts = [f"{display.names(by_kind[kind], 5)} {kind}" for kind in order]
    if order == ["undecided"]:
        reasons = [r.reason for r in verdict.criterion_results if _kind(r) == "undecided"]
        why = display.clip(display.visible(reasons[0]), 120)
        parts = [f"{parts[0]} ({why})" if why else parts[0]]
    if verdict.path_violations:
        parts.append(f"{display.counted(len(verdict.path_violations), 'file')} outside its paths")
    elif by_kind and "failed" not in by_kind:
        parts.append("a proof is lost" if row == "proof_lost" else "nothing failed")
    return ", ".join(parts) or display.clip(display.visible(in_words(verdict.reason)), 200)


def _kind(row: CriterionResult) -> str:
    if row.outcome == "failed":
        return "failed"
    if needs_word(row):
        return "not asked" if row.reason == FUZZY else "not proved"
    if row.outcome == "not_run":
        return "not run"
    kind = row.reason.partition(": ")[0]
    return kind if kind in UNDECIDED_KINDS else "undecided"
