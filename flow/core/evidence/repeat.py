"""The total of several runs of one command (SPEC 10, flaky). Values only."""

from __future__ import annotations

from flow.core.evidence.model import FEWER, FLAKY, Outcome
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


ONE_OF_SEVERAL = (
    "One of several runs of this command; the last one's sidecar says what they came to."
)


_COUNTED = ("passed", "failed", "inconclusive")


class RepeatedRun(NamedTuple):
    """One run of a command."""

    outcome: Outcome
    reason: str
    blamed: bool = False
    """Whether it changed files that only Flow or a person may change; no other run excuses that."""
    evidence_id: str = ""


class EarlierResult(NamedTuple):
    """The newest recorded result of the same command on the same files."""

    evidence_id: str
    outcome: str
    runs: int
    flaky: bool

    @property
    def doubtful(self) -> bool:
        """Whether a single pass would contradict this result."""
        return self.flaky or self.outcome == "failed"


class RepeatTotal(NamedTuple):
    """The result of all runs. ``flaky``: they disagree."""

    outcome: Outcome
    reason: str
    flaky: bool
    runs: tuple[RepeatedRun, ...]

    def to_document(self, criterion_id: str) -> dict[str, Any]:
        """The total as the last run's sidecar stores it."""
        return {
            "criterion": criterion_id,
            "run": len(self.runs),
            "runs": len(self.runs),
            **{name: _count_outcome(self.runs, name) for name in _COUNTED},
            "flaky": self.flaky,
            "others": [run.evidence_id for run in self.runs[:-1]],
        }


def add_up(runs: Sequence[RepeatedRun]) -> RepeatTotal:
    """The common outcome of all runs, or ``inconclusive`` with the counts if they disagree.

    A blamed run makes the total ``failed``.
    """
    flaky = len({run.outcome for run in runs}) > 1
    blamed = next((run for run in runs if run.blamed), None)
    last = runs[-1]
    if blamed is not None:
        outcome, reason = blamed.outcome, blamed.reason
    elif flaky:
        outcome, reason = "inconclusive", FLAKY + counts_text(runs)
    else:
        outcome, reason = last.outcome, last.reason
    return RepeatTotal(outcome, reason, flaky, tuple(runs))


def counts_text(runs: Sequence[RepeatedRun]) -> str:
    """``passed 2 of 3 runs, failed 1``."""
    text = f"passed {_count_outcome(runs, 'passed')} of {len(runs)} runs"
    for name in ("failed", "inconclusive"):
        if number := _count_outcome(runs, name):
            text += f", {name} {number}"
    return text


def contradiction(now: Outcome, before: str, evidence_id: str, runs: int) -> str:
    """The limitation of a result that the same command contradicted on the same files before."""
    text = f"{FLAKY}on the same files it was {before} before ({evidence_id})"
    return f"{text}; {runs} runs in a row have passed now." if now == "passed" else f"{text}."


class MostTests(NamedTuple):
    """The largest number of tests that a run of the same command showed, on any files."""

    number: int
    evidence_id: str

    def to_document(self) -> dict[str, Any]:
        """It as the next sidecar stores it, so that the newest alone need be read."""
        return {"most": self.number, "most_in": self.evidence_id}

    def limitation(self, ran: int | None) -> str:
        """The limitation of a pass in which ``ran`` tests ran; empty if these are no fewer.

        The tests that are gone may be those that failed: some languages have them in the sources.
        """
        if ran is None or ran >= self.number:
            return ""
        return f"{FEWER}{ran} ran, and {self.number} did before ({self.evidence_id})."


def _count_outcome(runs: Sequence[RepeatedRun], outcome: str) -> int:
    return sum(run.outcome == outcome for run in runs)
