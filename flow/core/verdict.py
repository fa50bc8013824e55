"""The verdict of one evaluation, and what it proposes (SPEC section 3)."""

from __future__ import annotations

from flow.cheap_typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.core.lifecycle import Terminal

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

REASON_LIMIT = 2048
HINT_LIMIT = 500


class CriterionResult(NamedTuple):
    """What one criterion came to in this evaluation."""

    criterion_id: str
    status: str
    outcome: str
    exit_code: int | None = None
    evidence_ref: str | None = None
    limitations: tuple[str, ...] = ()
    reason: str = ""
    base: Mapping[str, Any] | None = None
    """What its command came to on the base commit, where it ran there (red first)."""

    def to_document(self) -> dict[str, Any]:
        """As the verdict holds it."""
        found = {**self._asdict(), "limitations": list(self.limitations)}
        if self.base is None:
            del found["base"]
        return found


class ProposedTransition(NamedTuple):
    """A terminal status that a person may confirm. Nothing in Flow can write it from here."""

    to: Terminal
    reason: str
    turns_evaluated: int
    proposal_id: str
    confirm: Mapping[str, Any] | None = None
    """What a person must know before they say yes (:mod:`flow.core.confirming`)."""

    def to_document(self) -> dict[str, Any]:
        """As the verdict holds it."""
        found = dict(self._asdict())
        if self.confirm is None:
            del found["confirm"]
        return found


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
    """The files that the commands rest on and that changed since the goal began."""

    def to_document(self) -> dict[str, Any]:
        """The verdict as one JSON object (``last-verdict.json``, ``--json``)."""
        proposed = self.proposed_transition
        return {
            "goal_id": self.goal_id,
            "run_id": self.run_id,
            "verdict": self.verdict,
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


def clip(text: str, limit: int) -> str:
    """``text`` in at most ``limit`` characters, the mark ``…`` included."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
