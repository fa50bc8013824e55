"""The verdict of one evaluation, and its proposal (SPEC 3)."""

from __future__ import annotations

from flow.core.goal.lifecycle import TERMINAL, Terminal
from flow.core.text.display import clip
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


VerdictName = Literal["achieved", "not_achieved", "blocked", "needs_human_review"]
Delta = Literal["made_progress", "unchanged", "regressed"]
BlockerType = Literal[
    "missing_dep",
    "missing_approval",
    "ambiguous_requirement",
    "external_service",
    "scope_violation",
    "none",
]
Result = Literal["pass", "incomplete", "fail", "needs_human_review", "blocked"]
Act = Literal[
    "work_on", "put_back", "ask_trust", "ask_approve", "ask_confirm", "person_looks", "done"
]
"""The next step after a verdict, as one word (:func:`next_act`)."""

REASON_LIMIT = 2048
HINT_LIMIT = 500


class CriterionResult(NamedTuple):
    """The result of one criterion in this evaluation."""

    criterion_id: str
    status: str
    outcome: str
    exit_code: int | None = None
    evidence_ref: str | None = None
    limitations: tuple[str, ...] = ()
    reason: str = ""
    base: Mapping[str, Any] | None = None
    """The result of its command on the base commit, if it ran there (red first); else None."""
    text: str = ""
    """The criterion's text in the goal."""
    command: str | None = None
    """The verification command; None if the criterion has none."""
    reused: bool = False
    """Whether fresh evidence was used instead of a run."""

    def to_document(self) -> dict[str, Any]:
        """The result's row in the verdict; texts are cut to ``REASON_LIMIT`` characters."""
        document: dict[str, Any] = {
            "criterion_id": self.criterion_id,
            "text": clip(self.text, REASON_LIMIT),
            "command": None if self.command is None else clip(self.command, REASON_LIMIT),
            "status": self.status,
            "outcome": self.outcome,
            "exit_code": self.exit_code,
            "evidence_ref": self.evidence_ref,
            "limitations": list(self.limitations),
            "reason": self.reason,
        }
        if self.base is not None:
            document["base"] = self.base
        if self.reused:
            document["reused"] = True
        return document


class ProposedTransition(NamedTuple):
    """A terminal status that a person may confirm; an evaluation cannot write it."""

    to: Terminal
    reason: str
    turns_evaluated: int
    proposal_id: str
    confirm: Mapping[str, Any] | None = None
    """The facts for the person who confirms (:mod:`flow.core.decision.confirming`)."""

    def to_document(self) -> dict[str, Any]:
        """The proposal's part of the verdict."""
        document = self._asdict()
        if self.confirm is None:
            del document["confirm"]
        return document


class Verdict(NamedTuple):
    """One evaluation's answer. ``lifecycle`` is ``{from, to, turns_evaluated}``."""

    goal_id: str
    run_id: str
    verdict: VerdictName
    confidence: float
    delta: Delta
    reason: str
    next_step_hint: str
    blocker_type: BlockerType
    criterion_results: tuple[CriterionResult, ...]
    path_violations: tuple[str, ...]
    warnings: tuple[str, ...]
    proposed_transition: ProposedTransition | None
    lifecycle_from: str
    lifecycle_to: str
    turns_evaluated: int
    ledger_head: str | None = None
    source: str | None = None
    recorded_at: str | None = None
    proof: Mapping[str, Any] | None = None
    """The files that the commands depend on and that changed since the goal began."""
    to_approve: tuple[str, ...] = ()
    """Changes that a person must approve before ``achieved``: ``guards``, ``protected``."""
    outside: Mapping[str, Any] | None = None
    """The remedies for files outside the goal's paths; None if there are none."""
    to_trust: bool = False
    """True if all is proved, and a person must first trust the contract, which was only named."""

    def to_document(self) -> dict[str, Any]:
        """The verdict as one JSON object (``last-verdict.json``, ``--json``)."""
        proposed = self.proposed_transition
        document = {
            "goal_id": self.goal_id,
            "run_id": self.run_id,
            "verdict": self.verdict,
            "do": next_act(self),
            "confidence": self.confidence,
            "delta": self.delta,
            "reason": clip(self.reason, REASON_LIMIT),
            "next_step_hint": clip(self.next_step_hint, HINT_LIMIT),
            "blocker_type": self.blocker_type,
            "criterion_results": [result.to_document() for result in self.criterion_results],
            "path_violations": list(self.path_violations),
            "warnings": list(self.warnings),
            "proposed_transition": proposed.to_document() if proposed else None,
            "lifecycle": {
                "from": self.lifecycle_from,
                "to": self.lifecycle_to,
                "turns_evaluated": self.turns_evaluated,
            },
            "ledger_head": self.ledger_head,
            "source": self.source,
            "recorded_at": self.recorded_at,
            "proof": dict(self.proof) if self.proof is not None else None,
        }
        if self.outside is not None:
            document["outside"] = dict(self.outside)
        return document


def next_act(verdict: Verdict) -> Act:
    """The next step after ``verdict``, as one word; this function is the whole table.

    A proposal comes first, since a person can settle it at once. ``done`` is a closed goal, or one
    that is proved without a proposal (``--only``, ``--dry-run``; ``reason`` has the cause).
    """
    if verdict.lifecycle_to in TERMINAL:
        return "done"
    if verdict.proposed_transition is not None:
        return "ask_trust" if verdict.to_trust else "ask_confirm"
    if verdict.verdict == "achieved":
        return "done"
    if verdict.verdict == "not_achieved":
        return "work_on"
    if verdict.path_violations:
        return "put_back"
    if verdict.blocker_type == "missing_approval" and verdict.verdict == "needs_human_review":
        untried = all(row.outcome == "not_executed" for row in verdict.criterion_results)
        if verdict.to_trust or untried:
            return "ask_trust"
        if verdict.to_approve:
            return "ask_approve"
    return "person_looks"  # no command proves it, or a judge names an obstacle
