"""The question before a goal is closed (SPEC 17.3), with all facts that a person needs.

The facts are gathered anew for each question, never from an agent's words. Gaps are listed in
``unknown``, never left out.
"""

from __future__ import annotations

from flow.core.text.display import clip, visible
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.core.evidence.proof import ProofChange

TEXT_LIMIT = 4000
"""Characters of one text in the document, at most."""
LEAST_PREFIX = 8
"""Least number of digits that identify a proposal."""
LISTED = 200
"""Paths in one list of the document, at most; their full number is beside it."""

ProvedBy = Literal["command", "judge", "person", "nothing"]


class CriterionProof(NamedTuple):
    """A criterion, and its result in the proposing evaluation."""

    id: str
    text: str
    command: str | None
    must_pass: bool
    proved: bool
    by: ProvedBy
    result: str
    """``exit 0, 3 of 3``, ``judge, 0.84``, ``approved by R. Viewer, 2026-03-01T10:15:00Z``."""
    limitations: tuple[str, ...] = ()


def names_proposal(given: str, proposal_id: str) -> bool:
    """Whether ``given`` is the proposal's id, or at least its first eight digits (SPEC 12)."""
    begins = LEAST_PREFIX <= len(given) <= 64 and proposal_id.startswith(given.lower())
    return begins or given == proposal_id


class ContractStep(NamedTuple):
    """One change of the contract since the goal began."""

    at: str
    by: str
    """The author; empty if not on record."""
    how: str
    said_from: str
    """``terminal``, ``pipe`` or ``agent``; empty if not on record."""
    kind: str
    """The change's class, as in :data:`flow.core.amendment.rules.Class`; empty if not on record."""
    lines: tuple[str, ...]
    """Key, ``  - old``, ``  + new``, as :mod:`flow.core.amendment.trust_diff` writes them."""
    reason: str = ""


class TrustGround(NamedTuple):
    """The trust under which the commands ran."""

    trusted: bool
    why: str
    at: str = ""
    how: str = ""
    said_from: str = ""
    agent: str = ""


class ConfirmQuestion(NamedTuple):
    """The content of the question."""

    goal_id: str
    to: str
    proposal_id: str
    outcome: str
    criteria: tuple[CriterionProof, ...]
    contract: tuple[ContractStep, ...]
    proof: ProofChange
    approved: Mapping[str, str]
    """path → the approval of its change: person and time."""
    changed_files: int
    outside: tuple[str, ...]
    left_behind: tuple[str, ...]
    trust: TrustGround
    unknown: tuple[str, ...]
    reason: str = ""
    """The evaluation's reason for the proposal."""
    others: tuple[str, ...] = ()
    """The branch's other goals that are not done."""
    only_proof: bool = False
    """Whether the only changed files are ones that the proof depends on."""
    moved: tuple[str, ...] = ()
    """Changes since the proposal, which prevent the confirmation."""

    @property
    def not_proved(self) -> tuple[CriterionProof, ...]:
        """The criteria that nothing proved, required or not."""
        return tuple(row for row in self.criteria if not row.proved)

    def to_document(self) -> dict[str, Any]:
        """The document ``proposed_transition.confirm`` of a verdict (SPEC 17.13)."""
        proof = self.proof.to_document()
        for file in proof["files"]:
            file["approved"] = self.approved.get(file["path"])
        return {
            "goal_id": self.goal_id,
            "to": self.to,
            "goal_outcome": _cut_text(self.outcome),
            "reason": _cut_text(self.reason),
            "criteria": [
                {
                    "id": row.id,
                    "text": _cut_text(row.text),
                    "command": None if row.command is None else _cut_text(row.command),
                    "must_pass": row.must_pass,
                    "proved": row.proved,
                    "by": row.by,
                    "result": visible(row.result),
                    "limitations": [_cut_text(text) for text in row.limitations],
                }
                for row in self.criteria
            ],
            "not_proved": [row.id for row in self.not_proved],
            "contract": [
                {**step._asdict(), "lines": [_cut_text(line) for line in step.lines]}
                for step in self.contract
            ],
            "proof": proof,
            "files": {
                "changed": self.changed_files,
                "only_proof": self.only_proof,
                "outside": _shown_paths(self.outside),
            },
            "left_behind": {
                "count": len(self.left_behind),
                "paths": _shown_paths(self.left_behind),
            },
            "other_goals": [_cut_text(visible(text)) for text in self.others[:LISTED]],
            "trust": self.trust._asdict(),
            "unknown": list(self.unknown),
            "moved": list(self.moved),
        }


def _cut_text(text: str) -> str:
    return clip(text, TEXT_LIMIT)


def _shown_paths(paths: Sequence[str]) -> list[str]:
    return [visible(path) for path in paths[:LISTED]]
