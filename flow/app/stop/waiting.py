"""Waiting for something outside: a command that is asked again until it exits 0."""

from __future__ import annotations

from flow.core.stop.pause import ARRIVED, WAITS
from flow.core.text import display
from flow.errors import at_key
from flow.startup.typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from flow.app.checks import CheckResult
    from flow.app.ports import GoalNotes
    from flow.core.goal.lifecycle import NonTerminal
    from flow.core.goal.loaded import LoadedGoal
    from flow.core.goal.model import Goal


class WaitPort(Protocol):
    """Interface of waiting to the checkout."""

    @property
    def waits(self) -> GoalNotes:
        """For what each goal waits."""

    def load(self, goal_id: str) -> LoadedGoal:
        """A goal; :class:`InputError` if there is none."""

    def shift(self, goal_id: str, to: NonTerminal, reason: str) -> LoadedGoal:
        """Write a non-terminal status."""

    def attempt(self, command: str, seconds: float) -> CheckResult:
        """Run a command once, as a goal's are run."""


def wait(port: WaitPort, goal_id: str, until: str, seconds: float) -> tuple[Goal, bool, str]:
    """``active → waiting_for_ci`` until a command exits 0; run once right away.

    Returns (goal, whether the command exited 0, the same in words). The command is kept in the
    user's state folder and run again at each stop of an agent, or by ``flow goal wait --follow``.
    """
    goal = port.load(goal_id).goal
    if goal.status not in ("active", "waiting_for_ci"):
        raise at_key("lifecycle.status", goal.status).wrong_state(
            f"goal {goal.id} is {goal.status}; only an active goal can wait",
            f"see where it stands: flow goal status {goal.id}",
        )
    there, words = _ask(port, until, seconds)
    if there:
        waited = goal.status == "waiting_for_ci"
        goal = go_on(port, goal.id, words) if waited else port.load(goal_id).goal
        return goal, True, words
    port.waits.write(goal.id, {"until": until})
    port.shift(goal.id, "waiting_for_ci", f"{WAITS}{until}"[:500])
    return port.load(goal_id).goal, False, words


def ask_again(port: WaitPort, goal: Goal, seconds: float) -> tuple[bool, str]:
    """Whether what a waiting goal waits for is there now, and in words."""
    note = port.waits.read(goal.id)
    until = note.get("until") if note is not None else None
    if not isinstance(until, str):
        return False, f"for CI, and nobody said for what (flow goal wait {goal.id} --until CMD)"
    return _ask(port, until, seconds)


def go_on(port: WaitPort, goal_id: str, reason: str) -> Goal:
    """A goal that has waited becomes active again."""
    port.shift(goal_id, "active", reason)
    port.waits.remove(goal_id)
    return port.load(goal_id).goal


def _ask(port: WaitPort, until: str, seconds: float) -> tuple[bool, str]:
    result = port.attempt(until, seconds)
    shown = display.visible(until)[:200]
    if result.outcome == "passed":
        return True, f"{ARRIVED}{shown}"
    return False, f"not there yet ({result.result}): {shown}"
