"""The Stop hook's view of a checkout: goals, the state folder's memory of them, sessions."""

from __future__ import annotations

from flow.app.open_goals import CheckoutGoals, closed_on_record
from flow.app.stop.tools import Sight
from flow.core.goal.model import Goal, GoalSummary, is_of_branch
from flow.core.stop import lost_goals
from flow.core.stop.lost_goals import NEXT_SESSION, Loss, OpenGoal, OpenGoals, SessionNotes
from flow.errors import FlowError
from flow.startup.contexts import suppress
from flow.startup.typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from flow.app.ports import GoalNotes
    from flow.app.transitions.remembered import RememberedGoals
    from flow.core.chain.closing_record import ClosedGoal
    from flow.core.goal.loaded import LoadedGoal
    from flow.core.stop.pause import Pause


IDLE_SECONDS = 3600
"""A session that has not stopped for so long owns nothing any more."""


class CheckoutMemory(Protocol):
    """The state folder's memory of a checkout; every method may raise :class:`FlowError`."""

    def read(self) -> OpenGoals:
        """The open goals of the checkout, as noted."""

    def session(self, session: str) -> SessionNotes | None:
        """The hook's notes of a session; None for a session that never stopped here."""

    def keep_session(self, session: str, notes: SessionNotes) -> None:
        """Replace what is remembered of a session."""

    def closings_told(self, goal_ids: Collection[str]) -> None:
        """A stop has told these closings."""


class SightPort(Protocol):
    """Interface of a stop to the checkout."""

    @property
    def top(self) -> str:
        """The top level."""

    @property
    def in_git(self) -> bool:
        """Whether there is a git directory."""

    @property
    def checkout_notes(self) -> CheckoutMemory:
        """The memory in the state folder; raises :class:`FlowError` if that is unusable."""

    def branch(self) -> str | None:
        """The branch that is checked out; None on a detached HEAD or without git."""

    def read_here(self) -> CheckoutGoals:
        """The goals; those that are open on the branch whole."""

    def load(self, goal_id: str) -> LoadedGoal:
        """A goal; :class:`FlowError` if it cannot be read."""

    def pending(self) -> Sequence[str]:
        """The files of changes that were decided and not carried out."""

    def finish(self, goal_id: str) -> None:
        """Carry out what was decided about a goal."""

    @property
    def remembered(self) -> RememberedGoals:
        """The goals as the user's state folder remembers them."""

    def closing_on_record(self, loaded: LoadedGoal, run_id: str) -> bool:
        """Whether this user's state folder knows how the goal got its final status."""


class SessionPort(Protocol):
    """Interface to the sessions of a checkout."""

    @property
    def checkout_notes(self) -> CheckoutMemory:
        """The memory in the state folder; raises :class:`FlowError` if that is unusable."""

    def notes(self, kind: Literal["sessions"]) -> GoalNotes:
        """The session of each goal; raises :class:`FlowError` without a state folder."""

    def time(self) -> float:
        """Seconds since 1970."""


def sight_of(
    checkout: SightPort,
    session: str | None,
    *,
    finish: bool = True,
    read: CheckoutGoals | None = None,
) -> Sight:
    """The branch's open goals, those that are lost, and the notes about them.

    With ``finish`` what a killed call had decided is written everywhere first. ``read`` are
    the goals as the caller has just read them; they are read here where that may have changed some.
    Raises :class:`FlowError`.
    """
    remembered, notes = _remembered(checkout, session)
    if remembered.git_dir is not None and not checkout.in_git:
        losses = [Loss(goal_id, "no_repository", checkout.top) for goal_id in remembered.goals]
        closings = [*remembered.closed.values()]
        return Sight((), {}, remembered.goals, losses, {}, notes, {}, closings)
    pending, unfinished = _finish(checkout) if finish else (0, [])
    goals = _goals(checkout, remembered.goals, None if pending else read)
    branch = checkout.branch()
    closed = closed_on_record(
        remembered.goals, goals.summaries, checkout.load, checkout.closing_on_record
    )
    if finish and closed:
        remembered = _note_closings(checkout, closed, goals.summaries, remembered)
    losses = lost_goals.lost_goals(
        [*remembered.goals.values()],
        goals.summaries,
        unreadable={goal_id: str(error.faults[0]) for goal_id, error in goals.broken.items()},
        closed=closed,
        branch=branch,
        judged=notes.judged,
    )
    here = [loaded.goal for loaded in goals.here.values()]
    return Sight(
        here,
        goals.broken,
        remembered.goals,
        losses,
        {goal_id: loaded.contract for goal_id, loaded in goals.here.items()},
        notes,
        _paused(checkout, here),
        _closings(remembered, branch, notes),
        unfinished,
    )


def lost_here(checkout: SightPort) -> list[tuple[str, str]]:
    """Goals that Flow left open and that are not as it left them: (what happened, remedy)."""
    return [
        (f"goal {loss.goal_id}: {lost_goals.describe_loss(loss)}", lost_goals.persons_remedy(loss))
        for loss in sight_of(checkout, None, finish=False).losses
    ]


def _finish(checkout: SightPort) -> tuple[int, list[FlowError]]:
    """Carry out what was decided; returns how many changes there were, and why some are left."""
    try:
        names = checkout.pending()
    except FlowError as error:
        return 1, [error]
    errors = []
    for name in names:
        try:
            checkout.finish(name.removesuffix(".json"))
        except FlowError as error:
            errors.append(error)
    return len(names), errors


def _remembered(checkout: SightPort, session: str | None) -> tuple[OpenGoals, SessionNotes]:
    """The state folder's memory; empty values if the state folder is unusable."""
    try:
        notes = checkout.checkout_notes
        known = notes.read()
        return known, (notes.session(session) if session else None) or SessionNotes()
    except FlowError:
        return OpenGoals(None, {}), SessionNotes()


def _goals(
    checkout: SightPort, known: Mapping[str, OpenGoal], read: CheckoutGoals | None
) -> CheckoutGoals:
    """The goals, unless they are ``read`` already; none of the ``known`` is taken for absent."""
    try:
        return checkout.read_here() if read is None else read
    except FlowError as error:  # no folder stands at its place
        if not known:
            raise
        return CheckoutGoals({}, {}, dict.fromkeys(known, error))


def _paused(checkout: SightPort, goals: list[Goal]) -> dict[str, Pause]:
    resting = [goal for goal in goals if goal.status != "active"]
    found = ((goal.id, checkout.remembered.paused(goal)) for goal in resting)
    return {goal_id: pause for goal_id, pause in found if pause is not None}


def _note_closings(
    checkout: SightPort,
    closed: frozenset[str],
    goals: Mapping[str, GoalSummary],
    remembered: OpenGoals,
) -> OpenGoals:
    """Remember no longer as open what a killed command had closed, and tell that, too."""
    for goal_id in closed:
        known, status = remembered.goals[goal_id], goals[goal_id].status
        with suppress(FlowError):
            checkout.remembered.note_closing(goal_id, known.branch, known.run_id, status)
    with suppress(FlowError):
        remembered = remembered._replace(closed=checkout.checkout_notes.read().closed)
    return remembered  # noqa: RET504 - the block above may have ended early


def _closings(
    remembered: OpenGoals, branch: str | None, notes: SessionNotes
) -> Sequence[ClosedGoal]:
    """The closings to report here; of another branch only those that this session worked on."""
    return [
        goal
        for goal in remembered.closed.values()
        if goal.goal_id in notes.judged or is_of_branch(goal.branch, branch)
    ]


class GoalSessions:
    """The session of each goal, and the hook's notes (:class:`~flow.app.stop.tools.Sessions`).

    A failed write is ignored: the stop is answered all the same.
    """

    def __init__(self, port: SessionPort) -> None:
        self._port = port

    def owner(self, goal_id: str) -> str | None:
        """The session a goal belongs to; None if it belongs to none, or that one is idle.

        :data:`~flow.core.stop.lost_goals.NEXT_SESSION` if it was claimed for the next to stop.
        """
        note = self._port.notes("sessions").read(goal_id) or {}
        session, at = note.get("session"), note.get("at")
        if not isinstance(session, str) or not isinstance(at, int | float):
            return None
        heard = session == NEXT_SESSION or self._port.time() - at <= IDLE_SECONDS
        return session if heard else None

    def own(self, goal_id: str, session: str) -> None:
        """Remember that a session works on a goal."""
        self._port.notes("sessions").write(goal_id, {"session": session, "at": self._port.time()})

    def has_stopped(self, session: str) -> bool:
        """Whether the session has ever stopped in this checkout."""
        try:
            return self._port.checkout_notes.session(session) is not None
        except FlowError:
            return True

    def keep(self, session: str, notes: SessionNotes) -> None:
        """Remember what the hook did in a session."""
        with suppress(FlowError):
            self._port.checkout_notes.keep_session(session, notes)

    def closings_told(self, goal_ids: Sequence[str]) -> None:
        """Remember that this checkout has reported these goals' closings."""
        with suppress(FlowError):
            self._port.checkout_notes.closings_told(goal_ids)
