"""Red first (SPEC 10): results of commands on the goal's base commit. Values only.

A command that passes there already shows nothing about the change. One that fails there can show
the difference. One that could not run there, took too long or was vacuous shows neither.
"""

from __future__ import annotations

from flow.core.goal.model import Criterion, Goal, canonical_digest
from flow.core.text.display import visible
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple, cast

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from flow.core.evidence.model import Outcome

NON_DISCRIMINATING = "non_discriminating"
"""The field's name in all documents, and the start of the limitation."""

ONLY_BASE = "Measured on the base commit, before the change: it proves no criterion."

_REASON = 200
"""Characters of a cached reason; the sidecar has all of it."""


class BaseRun(NamedTuple):
    """The result of one criterion's command on the base commit."""

    key: str
    """:func:`base_run_key` of the command and the commit."""
    outcome: Outcome
    result: str
    reason: str
    at: str
    evidence_id: str | None = None
    tests: str = ""
    """Number of tests that ran, in digits; empty if no certain number is known."""

    @property
    def non_discriminating(self) -> bool | None:
        """Whether the command passed before the change; None if the run was inconclusive."""
        return {"passed": True, "failed": False}.get(self.outcome)

    def to_document(self) -> dict[str, Any]:
        """The run as the cache stores it."""
        short = self._replace(reason=self.reason[:_REASON])
        return {name: value for name, value in short._asdict().items() if value}

    def shown(self) -> dict[str, Any]:
        """The run as verdict and status show it."""
        document: dict[str, Any] = {"outcome": self.outcome, "result": self.result}
        if self.non_discriminating is not None:
            document[NON_DISCRIMINATING] = self.non_discriminating
        return document

    def limitation(self, commit: str) -> str | None:
        """The limitation of a pass, if the command passed on ``commit`` already; else None."""
        return limitation(commit) if self.non_discriminating else None


def base_run_key(commit: str, criterion: Criterion, linked: Sequence[str] = ()) -> str:
    """Key of a command on a commit: another command, folder or base has another key.

    ``linked`` are the ignored folders linked into the base checkout.
    """
    measured = [commit, criterion.verification_command, criterion.cwd or "", *linked]
    return canonical_digest(measured)[:32]


def from_document(document: object) -> BaseRun | None:
    """The run of a document; None if it is no such document."""
    if not isinstance(document, dict):
        return None
    texts = [document.get(name, "") for name in BaseRun._fields]
    if not all(isinstance(text, str) for text in texts):
        return None
    base_run = BaseRun(*texts)
    if base_run.outcome not in ("passed", "failed", "inconclusive"):
        return None
    return base_run._replace(
        outcome=cast("Outcome", base_run.outcome), evidence_id=base_run.evidence_id or None
    )


def current(goal: Goal, rows: Mapping[str, Any]) -> dict[str, BaseRun]:
    """The recorded runs of the goal's present commands on its present base."""
    runs = {}
    for criterion in goal.criteria:
        if criterion.fuzzy or goal.base_commit is None or criterion.id not in rows:
            continue
        run = from_document(rows[criterion.id])
        if run is not None and run.key == base_run_key(
            goal.base_commit, criterion, goal.baseline_link
        ):
            runs[criterion.id] = run
    return runs


def limitation(commit: str) -> str:
    """The limitation of a pass whose command passed on ``commit`` already."""
    return (
        f"{NON_DISCRIMINATING}: its command passes on the base commit {commit[:12]} already, "
        "so a pass says nothing about the change."
    )


def warning(criterion_id: str, run: BaseRun, commit: str) -> str | None:
    """The warning about one command on the base commit; None if it failed there."""
    if run.non_discriminating is None:
        why = visible(run.reason or run.result)
        return (
            f"{criterion_id}: on the base commit {commit[:12]} its command was inconclusive "
            f"({why}), so whether it can tell the change is not known"
        )
    return f"{criterion_id}: {limitation(commit)}" if run.non_discriminating else None


def warnings(goal: Goal, runs: Mapping[str, BaseRun]) -> tuple[str, ...]:
    """:func:`warning` for every command of the goal, in its order."""
    commit = goal.base_commit or ""
    texts = (warning(c.id, runs[c.id], commit) for c in goal.criteria if c.id in runs)
    return tuple(text for text in texts if text is not None)


def green_criteria(runs: Iterable[tuple[str, BaseRun]]) -> list[str]:
    """The criteria whose command passed before the change."""
    return [criterion_id for criterion_id, run in runs if run.non_discriminating]
