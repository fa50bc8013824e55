"""``flow goal baseline``: results of a goal's commands on its base commit (SPEC 10)."""

from __future__ import annotations

from flow.app.evaluation.evaluate import chosen_criteria
from flow.app.evaluation.red_first import BaseRequest, BaseRows, measure
from flow.app.ports import GoalPort, SettingsPort, TrustingPort
from flow.app.transitions.closing import refuse_closed, refuse_untrusted
from flow.core import layout
from flow.core.evidence import red_first as base_facts
from flow.core.goal import ids
from flow.errors import StateError
from flow.startup.typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from flow.app.evaluation.tools import BaseTools
    from flow.app.evaluation.values import Listener
    from flow.core.goal.model import Criterion, Goal


class BaseRunsPort(GoalPort, SettingsPort, TrustingPort, Protocol):
    """Interface of running a goal's commands on its base commit to the checkout."""

    def finish(self, goal_id: str) -> None:
        """Carry out what was decided about a goal."""

    def take_settings_of(self, *goals: Goal) -> None:
        """Use the settings that were in force when these goals began."""

    def base_run_lock(self, goal_id: str) -> AbstractContextManager[None]:
        """Lock the goal against other runs on its base commit."""

    def base_tools(self, listener: Listener) -> BaseTools:
        """The tools that run commands on the base commit."""

    def pipe_warnings(self, goal: Goal) -> list[str]:
        """A warning for each command whose exit status a pipe hides."""


def baseline(
    port: BaseRunsPort,
    goal_id: str,
    listener: Listener,
    *,
    only: Sequence[str],
    jobs: int | None,
    timeout: float | None,
    again: bool,
) -> dict[str, Any]:
    """Run a goal's commands on its base commit; return the results as a document.

    Raises :class:`PersonNeeded` for a contract that is not trusted, :class:`StateError` for a draft
    or closed goal, :class:`GitError` if the base commit is missing here.
    """
    port.finish(ids.goal_id(goal_id))
    loaded = port.load(goal_id)
    goal = loaded.goal
    port.take_settings_of(goal)
    refuse_closed(goal, "running its commands on the base commit")
    if goal.run_id is None or goal.base_commit is None:
        raise StateError(
            f"goal {goal.id} has no pinned base commit",
            code="no_base",
            key="scope.base_commit",
            remedy=f"flow goal activate {goal.id}"
            if goal.status == "draft"
            else "make git work here; a goal is pinned when it is created or activated",
        )
    named = chosen_criteria(goal, only)
    refuse_untrusted(goal, "the goal's commands are", port.trusted(loaded))
    settings = port.settings.settings
    request = BaseRequest(
        goal,
        loaded.contract,
        goal.run_id,
        tuple(c for c in goal.criteria if not c.fuzzy and (named is None or c.id in named)),
        jobs or goal.jobs or settings.jobs,
        timeout or settings.command_timeout_seconds,
        rerun=again,
    )
    with port.base_run_lock(goal.id):
        measured = measure(request, port.base_tools(listener))
    return _document(port, goal, request.criteria, measured, loaded.warnings)


def _document(
    port: BaseRunsPort,
    goal: Goal,
    criteria: Sequence[Criterion],
    measured: BaseRows,
    warnings: Sequence[str],
) -> dict[str, Any]:
    rows = []
    for criterion in criteria:
        run = measured.rows[criterion.id]
        reference = None
        if run.evidence_id is not None:
            reference = layout.evidence_file(goal.run_id or "", run.evidence_id)
        rows.append(
            {
                "criterion_id": criterion.id,
                **run.shown(),
                "reason": run.reason,
                "at": run.at,
                "cached": criterion.id in measured.cached,
                "evidence_ref": reference,
            }
        )
    asked = {c.id: measured.rows[c.id] for c in criteria}
    return {
        "goal_id": goal.id,
        "run_id": goal.run_id,
        "base_commit": goal.base_commit,
        "criteria": rows,
        base_facts.NON_DISCRIMINATING: base_facts.green_criteria(asked.items()),
        "warnings": [*warnings, *base_facts.warnings(goal, asked), *port.pipe_warnings(goal)],
        "next": f"flow goal evaluate {goal.id}",
    }
