"""The Stop hook's answer to a stop of an agent (SPEC 6), as one list of steps.

*read the checkout → lost goals → the session's goals → waiting goals → evaluate each (stuck,
budget, time, cost, throttle, host's cap) → remember → one answer.* It asks no person, so a proved
goal lets the agent stop, with a hint.
"""

from __future__ import annotations

from flow.app.stop.turn import JudgedGoal, judge_stop, moved_meanwhile, resting
from flow.core.stop import lost_goals
from flow.core.stop import messages as stop_messages
from flow.core.stop.hosts import SHOWING_HOSTS, StopAnswer, StopEvent
from flow.core.stop.lost_goals import NEXT_SESSION, Loss, SessionNotes
from flow.core.text import display
from flow.errors import FlowError, StateError, cut_list
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.app.stop.tools import Host, Sight, StopTools
    from flow.core.goal.model import Goal

GOALS = "flow goal list --json"
"""Command that lists every goal, the unreadable ones, too."""
FINISH = "flow doctor --fix"
"""Command that carries out every change that was decided."""
UNFINISHED = "a change that was decided is not carried out yet"
INTERRUPTED = "the check at the previous stop was interrupted; it was done now"
TWICE = "the Stop hook ran twice at this stop, which counts once: keep one of its entries"


class Chosen(NamedTuple):
    """The goals that a stop is about, and the reasons that others are not judged."""

    goals: tuple[Goal, ...]
    why_not: tuple[str, ...] = ()
    """The reasons, for the host."""
    for_user: tuple[str, ...] = ()
    """Messages for the user: those of these reasons that are new."""
    losses: tuple[Loss, ...] = ()


def handle_stop(event: StopEvent, host: Host, tools: StopTools) -> StopAnswer:
    """Decide about one stop. Raises :class:`FlowError`; the entry turns that into an answer."""
    sight = tools.sight(event.session)
    chosen = _choose_goals(sight, event, tools)
    ready, waiting, notes = _waiting_goals(chosen.goals, sight.notes, event, tools)
    judged = _judge_goals(ready, event, host, tools, sight, notes)
    losses = [*sight.losses, *chosen.losses, *(j.loss for j in (*waiting, *judged) if j.loss)]
    asked = _losses_to_mend(losses, notes, tools)
    closings = sight.closings if event.host in SHOWING_HOSTS else ()
    if closings:
        tools.sessions.closings_told([goal.goal_id for goal in closings])
        told = cut_list([goal.sentence() for goal in closings], GOALS)
        chosen = chosen._replace(for_user=(*told, *chosen.for_user))
    answer = _stop_answer([*waiting, *judged], chosen, losses, asked, sight, tools)
    notes = _noted_stop(notes, judged, losses, asked)
    if event.session and (judged or _is_noteworthy(notes, sight, event.session, tools)):
        tools.sessions.keep(event.session, notes)
    return answer


def _choose_goals(sight: Sight, event: StopEvent, tools: StopTools) -> Chosen:
    """The goals of this session; without any, the one goal that no session owns."""
    lost = {loss.goal_id for loss in sight.losses}
    acting = [g for g in sight.goals if lost_goals.is_acting(g) and g.id not in lost]
    losses: list[Loss] = []
    owners = {goal.id: _owner_session(goal, sight.notes, event, tools, losses) for goal in acting}
    mine = [g for g in acting if event.session and owners[g.id] == event.session]
    if mine:
        return _with_other_goals(mine, acting, owners, losses)
    acting = [g for g in acting if g.status != "waiting_for_ci"] or acting
    # Of several, only goals that Flow itself left open here compete: a goal file that merely
    # arrived must not make the choice ambiguous.
    pool = [g for g in acting if g.id in sight.left_open] if len(acting) > 1 else acting
    if len(pool) == 1 and owners[pool[0].id] is None:
        return _with_other_goals(pool, acting, owners, losses)
    if len(acting) == 1:
        return Chosen((), (_of_another(acting[0]),), (), tuple(losses))
    if acting:
        names = display.names([g.id for g in acting], 10)
        first = next((g for g in acting if owners[g.id] is None), acting[0])
        text = (
            f"several goals are active on this branch ({names}); "
            f"say which one this session works on: flow goal claim {first.id}"
        )
        return Chosen((), (text,), (text,), tuple(losses))
    waiting = [
        f"{g.id} is {resting(g, sight)}"
        for g in sight.goals
        if g.status not in ("draft", "active") and g.id not in lost
    ]
    if waiting:
        text = f"goal {display.names(waiting, 5)}; nothing was evaluated"
        return Chosen((), (text,), (text,))
    return Chosen(())


def _owner_session(
    goal: Goal, notes: SessionNotes, event: StopEvent, tools: StopTools, losses: list[Loss]
) -> str | None:
    """The session that a goal belongs to; what the user must hear of that goes to ``losses``."""
    owner = tools.sessions.owner(goal.id)
    if owner == NEXT_SESSION:
        if event.session is not None:
            tools.sessions.own(goal.id, event.session)
        return event.session
    if owner == event.session:
        return owner
    unheard = owner is not None and not tools.sessions.has_stopped(owner)
    if goal.id in notes.continued and (owner is None or unheard):
        if owner is not None:  # anybody can make up a name
            losses.append(Loss(goal.id, "claimed", owner))
        return event.session
    if owner is not None and (unheard or goal.id in notes.judged):
        losses.append(Loss(goal.id, "handed_over", owner))
    return owner


def _with_other_goals(
    mine: Sequence[Goal],
    acting: Sequence[Goal],
    owners: Mapping[str, str | None],
    losses: Sequence[Loss],
) -> Chosen:
    """``mine``, and the reason why each other active goal is not judged."""
    ids = {goal.id for goal in mine}
    others = [g for g in acting if g.id not in ids and g.status != "waiting_for_ci"]
    unclaimed = [Loss(g.id, "unclaimed") for g in others if owners[g.id] is None]
    texts = [_of_another(g) for g in others if owners[g.id] is not None]
    return Chosen(tuple(mine), tuple(texts), (), (*losses, *unclaimed))


def _of_another(goal: Goal) -> str:
    return f"goal {goal.id} belongs to another session; to take it over: flow goal claim {goal.id}"


def _waiting_goals(
    goals: Sequence[Goal], notes: SessionNotes, event: StopEvent, tools: StopTools
) -> tuple[list[Goal], list[JudgedGoal], SessionNotes]:
    """The goals to judge now, the answers for those that wait, the notes with the waits counted."""
    ready, waiting, waits = [], [], {}
    for goal in goals:
        times = notes.waits.get(goal.id, 0) + 1
        if event.background and times <= lost_goals.MOST_WAITS:
            names = display.names(event.background, 5)
            text = (
                f"goal {goal.id}: background work is still running ({names}); "
                "it is judged after that"
            )
            waiting.append(JudgedGoal(goal.id, "let_go", text))
        elif goal.status == "waiting_for_ci":
            there, words = tools.ready(goal)
            if there:
                tools.moves.resume(goal.id, words)
                ready.append(goal)
                continue
            text = f"goal {goal.id} waits: {words}"
            late = times > lost_goals.MOST_WAITS
            loss = Loss(goal.id, "waits", words) if late else None
            hint = f"flow goal resume {goal.id}"
            waiting.append(JudgedGoal(goal.id, "let_go", text, (text,), hint, loss=loss))
        else:
            ready.append(goal)
            if not event.background:
                continue
        if event.session:
            waits[goal.id] = times
    return ready, waiting, notes._replace(waits=waits)


def _judge_goals(
    goals: Sequence[Goal],
    event: StopEvent,
    host: Host,
    tools: StopTools,
    sight: Sight,
    notes: SessionNotes,
) -> list[JudgedGoal]:
    """Each goal's part of the answer.

    Before judging, ``judging=True`` is noted: a stop that finds it set knows that the one before
    was killed.
    """
    if not goals:
        return []
    if event.session:
        tools.sessions.keep(event.session, notes._replace(judging=True))
    share = host._replace(limit=host.limit // (len(goals) + bool(sight.losses)))
    return [_judged_goal(goal, event, share, tools, sight) for goal in goals]


def _judged_goal(
    goal: Goal, event: StopEvent, host: Host, tools: StopTools, sight: Sight
) -> JudgedGoal:
    """One goal's part of the answer; a fault becomes a message, and a lost goal can be put back."""
    try:
        with tools.stop_lock(goal.id):
            owner = _owner_session(goal, sight.notes, event, tools, [])
            if owner is not None and owner != event.session:  # it stopped at the same time
                return JudgedGoal(goal.id, "let_go", _of_another(goal), of_another=True)
            return judge_stop(goal, event, host, tools, sight)
    except FlowError as error:
        if isinstance(error, StateError) and (moved := moved_meanwhile(goal, event, tools)):
            return moved
        why = display.visible("; ".join(map(str, error.faults)))
        text = f"goal {goal.id} cannot be judged: {why}"
        loss = Loss(goal.id, "unjudged", why)
        return JudgedGoal(goal.id, "let_go", text, (text,), loss=loss)


def _losses_to_mend(losses: Sequence[Loss], notes: SessionNotes, tools: StopTools) -> list[Loss]:
    """The losses that keep the agent working."""
    if tools.mode not in lost_goals.ASKING_MODES:
        return []
    return [loss for loss in losses if lost_goals.asks_to_restore(loss, notes, tools.fail_after)]


def _stop_answer(
    parts: Sequence[JudgedGoal],
    chosen: Chosen,
    losses: Sequence[Loss],
    asked: Sequence[Loss],
    sight: Sight,
    tools: StopTools,
) -> StopAnswer:
    """One answer out of all parts: a part that continues decides."""
    news = [loss for loss in losses if lost_goals.is_news(loss, sight.notes)]
    sentences = [lost_goals.sentence(loss) for loss in news if loss.kind != "unjudged"]
    told = cut_list(sentences, GOALS)
    if any(part.answered_before for part in parts):
        told.append(TWICE)
    elif sight.notes.judging:
        told.append(INTERRUPTED)
    going_on = [part.reason for part in parts if part.action == "continue"]
    if asked:
        going_on.append(stop_messages.restore_request(asked, sight.notes, tools.fail_after))
    messages = cut_list(chosen.for_user, GOALS)
    messages += [text for part in parts for text in part.for_user]
    lost = {loss.goal_id for loss in news}
    unreadable = [error for goal_id, error in sight.broken.items() if goal_id not in lost]
    messages += _first_faults("cannot read a goal", unreadable, f"goals cannot be read: {GOALS}")
    messages += _first_faults(UNFINISHED, sight.unfinished, f"changes are not, either: {FINISH}")
    lines = [part.line for part in parts]
    if going_on:
        return StopAnswer(
            "continue", "\n\n".join(going_on), "", _message(lines, [*messages, *told])
        )
    reasons = [part.reason for part in parts] + cut_list(chosen.why_not, GOALS)
    sentences = [lost_goals.sentence(loss) for loss in losses if loss.kind != "unjudged"]
    reasons += cut_list(sentences, GOALS)
    hint = next((part.hint for part in parts if part.hint), "")
    reason = "; ".join(reasons) or "no active goal on this branch"
    return StopAnswer("let_go", reason, hint, _message(lines, [*messages, *told]))


def _message(lines: Sequence[str], messages: Sequence[str]) -> str:
    """The user's message: a line for each goal that was judged, and one for everything else."""
    rest = "; ".join(text for text in messages if text)
    return "\n".join([*filter(None, lines), *([f"Flow: {rest}"] if rest else [])])


def _first_faults(what: str, errors: Sequence[FlowError], of_more: str) -> list[str]:
    """One line for each of the first errors; the rest is counted, so nothing is left out."""
    lines = [f"{what}: {display.visible(str(error.faults[0]))}" for error in errors[:5]]
    if len(errors) > 5:
        lines.append(f"and {len(errors) - 5:,} more {of_more}")
    return lines


def _noted_stop(
    notes: SessionNotes, judged: Sequence[JudgedGoal], losses: Sequence[Loss], asked: Sequence[Loss]
) -> SessionNotes:
    """The notes with this stop in them."""
    seen = [part.goal_id for part in judged if not part.of_another]
    goes_on = [part.goal_id for part in judged if part.action == "continue"]
    return lost_goals.notes_after(notes, losses, asked)._replace(
        judged=tuple(dict.fromkeys([*notes.judged, *seen])),
        continued=tuple(dict.fromkeys([*notes.continued, *goes_on])),
        judging=False,
    )


def _is_noteworthy(notes: SessionNotes, sight: Sight, session: str, tools: StopTools) -> bool:
    """Whether there is anything to remember of a stop that judged nothing."""
    if notes != sight.notes:
        return True
    return bool(sight.left_open or sight.goals) and not tools.sessions.has_stopped(session)
