"""``flow doctor`` about sandboxes: whether those that goals ask for can be set up here."""

from __future__ import annotations

from flow.adapters.sandbox.bubblewrap import try_sandbox
from flow.core.goal.lifecycle import TERMINAL
from flow.core.sandbox import sandbox_of
from flow.core.text.display import names
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.adapters.setup.doctor_report import DoctorReport, ExaminedCheckout


def examine(report: DoctorReport, checkout: ExaminedCheckout, environ: Mapping[str, str]) -> None:
    """Set up a sandbox if an open goal asks for one; without such a goal nothing is reported."""
    try:
        goals, _ = checkout.goals()
    except FlowError:
        return  # reported elsewhere
    asking = [
        goal.id
        for goal in goals
        if goal.status not in TERMINAL and sandbox_of(goal.document, (), ()) is not None
    ]
    if not asking:
        return
    version, why = try_sandbox(checkout.top, environ.get("PATH"))
    if why is None:
        report.fact("sandbox", f"bubblewrap {version}")
        return
    report.found(
        f"no sandbox can be set up: {why}",
        f"the commands of {names(asking, 3)} are not run without one; they stay inconclusive",
        "install bubblewrap (0.8.0 or newer) and allow user namespaces, "
        "or take evaluator.sandbox out of the goal",
    )
