"""The states of a goal and the moves between them (SPEC 2).

``TABLE`` alone defines which status may follow which; :func:`allowed` also lets a non-terminal
status repeat. :func:`check_move` reads it directly; :class:`Lifecycle` is the same table as a
``transitions`` machine: the ledger takes every change of a status through it, and the diagram in
the docs is drawn from the table. A test holds the two equal in every cell.
"""

from __future__ import annotations

from flow.errors import at_key
from flow.startup.typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping

Terminal = Literal["achieved", "failed", "cancelled"]
"""Final states. Only a person's word writes one, or the Stop hook ``failed`` if the user allowed
it.
"""

NonTerminal = Literal["active", "waiting_for_user", "waiting_for_ci", "blocked"]
"""The statuses that an evaluation may write by itself."""

Status = Literal[
    "draft",
    "active",
    "waiting_for_user",
    "waiting_for_ci",
    "blocked",
    "achieved",
    "failed",
    "cancelled",
]

STATUSES: tuple[Status, ...] = get_args(Status)
TERMINAL: frozenset[str] = frozenset(get_args(Terminal))
UNDER_WAY: frozenset[str] = frozenset(get_args(NonTerminal))
"""Statuses of a goal that has begun and is not closed, so it can be evaluated: no draft."""

TABLE: Mapping[Status, tuple[Status, ...]] = {
    "draft": ("active", "cancelled"),
    "active": ("waiting_for_user", "waiting_for_ci", "blocked", "achieved", "failed", "cancelled"),
    "waiting_for_user": ("active", "cancelled"),
    "waiting_for_ci": ("active", "cancelled"),
    "blocked": ("active", "failed", "cancelled"),
    "achieved": (),
    "failed": (),
    "cancelled": (),
}


def allowed(source: str, target: str) -> bool:
    """Whether ``source → target`` is in the table, or repeats a non-terminal status."""
    if source == target:
        return source in TABLE and source not in TERMINAL
    return target in TABLE.get(source, ())  # type: ignore[call-overload]


def first_step(status: str, goal: str) -> str:
    """The first step with a goal that is closed or a draft; empty for one that is under way."""
    if status in TERMINAL:
        return f"a closed goal stays closed; start anew: flow goal create NEW --from {goal}"
    return f"activate it first: flow goal activate {goal}" if status == "draft" else ""


def check_move(source: str, target: str, *, goal: str) -> None:
    """Raise :class:`StateError` unless ``goal`` may go from ``source`` to ``target``."""
    if allowed(source, target):
        return
    choices = [*TABLE.get(source, ())]  # type: ignore[call-overload]
    further = f"from {source} it can go to {', '.join(choices)}"
    remedy = first_step(source, goal) if source in TERMINAL else further
    raise at_key("lifecycle.status", target).wrong_state(
        f"goal {goal} is {source} and cannot become {target}", remedy, code="refused_transition"
    )


class Lifecycle:
    """One goal's status as a ``transitions`` machine.

    >>> state = Lifecycle("issue-4", "active")
    >>> state.move("blocked")
    >>> state.status
    'blocked'

    ``move`` raises :class:`StateError` for a cell that the table does not have.
    """

    status: Status

    def __init__(self, goal: str, status: Status) -> None:
        from transitions import Machine

        self.goal = goal
        self._machine = Machine(
            model=self,
            model_attribute="status",
            states=list(STATUSES),
            transitions=[
                {"trigger": trigger_name(target), "source": source, "dest": target}
                for source, targets in TABLE.items()
                for target in (*targets, *(() if source in TERMINAL else (source,)))
            ],
            initial=status,
            auto_transitions=False,
            send_event=False,
        )

    def move(self, target: Status) -> None:
        """Go to ``target``; raise :class:`StateError` if the table has no such move."""
        from transitions import MachineError

        try:
            self.trigger(trigger_name(target))  # type: ignore[attr-defined]
        except (MachineError, AttributeError):
            check_move(self.status, target, goal=self.goal)
            raise  # the machine refuses an allowed move: a defect, never hidden


def trigger_name(target: str) -> str:
    """The machine's trigger for a move to ``target``."""
    return f"become_{target}"
