"""What a change of a goal must not do, whoever asks for it: refused before anything is written."""

from __future__ import annotations

from flow.adapters.ledger.reader import baseline_document
from flow.core import layout
from flow.core.goal.lifecycle import STATUSES, TERMINAL
from flow.core.layout import BASELINE_LIMIT
from flow.errors import at_key, in_file
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.adapters.ledger.reader import FileRecords
    from flow.app.ports import LoadedGoal
    from flow.core.boundary.rules import Baseline


def refuse_terminal(goal_id: str, status: str) -> None:
    """An evaluation never writes a terminal status (SPEC 2)."""
    if status in TERMINAL or status not in STATUSES:
        raise at_key("lifecycle.status", status).wrong_state(
            f"an evaluation or a move may not make goal {goal_id} {status}",
            "a final status needs a person: flow goal confirm",
            code="refused_transition",
        )


def proposal(
    records: FileRecords, loaded: LoadedGoal, run_id: str, to: str, proposal_id: str | None
) -> None:
    """The live proposal must be the one given; ``achieved`` needs one for it in any case."""
    goal = loaded.goal
    run_id = run_id or goal.run_id or ""
    live = records.proposal(run_id) if run_id else None
    if live is not None and live["goal_id"] != goal.id:
        live = None
    if proposal_id is not None and (
        live is None or live["proposal_id"] != proposal_id or live["to"] != to
    ):
        raise at_key("proposal_id", proposal_id).stale(
            f"goal {goal.id} has no live proposal {proposal_id!r:.80} to become {to}",
            f"it was used or replaced; evaluate again: flow goal evaluate {goal.id}",
        )
    if to == "achieved" and (live is None or live["to"] != "achieved"):
        raise at_key("lifecycle.status", to).wrong_state(
            f"no proposal for goal {goal.id} to become achieved is live",
            f"evaluate it first: flow goal evaluate {goal.id}",
            code="no_proposal",
        )
    if live is None or (to != "achieved" and proposal_id is None):
        return
    if live.get("contract", loaded.contract) != loaded.contract:
        raise in_file(loaded.file).stale(
            f"the contract of goal {goal.id} was changed since the proposal was made",
            f"evaluate again: flow goal evaluate {goal.id}",
        )


def baseline_bytes(records: FileRecords, goal_id: str, run_id: str, baseline: Baseline) -> bytes:
    """The text of ``baseline.json``, where this goal may write it."""
    import json

    rel = layout.baseline_file(run_id)
    owner = records.baseline_owner(run_id)
    if owner is not None and owner != goal_id:
        raise in_file(rel, "scope.run_id", run_id).refused(
            f"run {run_id} belongs to goal {owner}",
            "give this goal a run of its own (leave scope.run_id out)",
            code="exists",
        )
    document = baseline_document(baseline, goal_id, run_id)
    text = json.dumps(document, indent=1, ensure_ascii=True) + "\n"
    if len(text) > BASELINE_LIMIT:
        raise in_file(rel).wrong_state(
            f"too many files are uncommitted: their record has {len(text)} bytes, more than "
            f"{BASELINE_LIMIT}",
            "commit them, or name them in .gitignore",
            code="too_large",
        )
    return text.encode("ascii")
