"""A goal's files as they are now, observed once and only on demand."""

from __future__ import annotations

from flow.app.evaluation.goal_rules import goal_boundary
from flow.app.evaluation.observing import subject_of
from flow.core.evidence.freshness import Freshness, StaleReason, freshness
from flow.core.evidence.imported import without_reports
from flow.core.evidence.model import Evidence, Subject
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.app.evaluation.closing_context import ClosingContext
    from flow.core.boundary.changes import Baseline, Snapshot
    from flow.core.boundary.rules import BoundaryReport
    from flow.core.goal.loaded import LoadedGoal


class CurrentFiles:
    """A goal's working tree as it is now; evidence is compared with it."""

    def __init__(self, context: ClosingContext, loaded: LoadedGoal) -> None:
        self._context, self._loaded = context, loaded
        self._observed: tuple[Snapshot, Baseline] | None = None
        self._subject: Subject | None = None
        self._subject_without_reports: Subject | None = None

    @property
    def subject(self) -> Subject:
        """The stamp of evidence measured now; without a tree where git cannot answer."""
        if self._subject is None:
            self._subject = self._take_subject()
        return self._subject

    @property
    def report(self) -> BoundaryReport | None:
        """The change set against the goal's paths; None if the files cannot be compared."""
        _ = self.subject
        if self._observed is None:
            return None
        (snapshot, baseline), goal = self._observed, self._loaded.goal
        return goal_boundary(goal, snapshot, baseline, self._context.denied(goal))

    def _take_subject(self) -> Subject:
        context, goal = self._context, self._loaded.goal
        try:
            baseline = context.baseline(goal, goal.run_id or "").baseline
            snapshot = context.snapshot(baseline, context.denied(goal), None)
        except FlowError:
            return Subject(None, None, self._loaded.contract, context.version)
        self._observed = snapshot, baseline
        return self._subject_of(snapshot, baseline)

    def _subject_of(self, snapshot: Snapshot, baseline: Baseline) -> Subject:
        version = self._context.version
        return subject_of(self._loaded, snapshot, baseline, version, as_recorded=True)

    def freshness_of(
        self, evidence: Evidence, *, moved: bool = False, doubt: StaleReason | None = None
    ) -> Freshness:
        """The freshness of a sidecar."""
        now = self.subject if evidence.imported is None else self._without_reports(evidence.run_id)
        goal, at = self._loaded.goal, self._context.now()
        return freshness(evidence, now, goal, at, moved=moved, doubt=doubt)

    def _without_reports(self, run_id: str) -> Subject:
        """The stamp of the files without the reports that were imported into this run."""
        if self._subject_without_reports is None:
            self._subject_without_reports = self.subject
            if self._observed is not None and self.subject.tree is not None:
                snapshot, baseline = self._observed
                sidecars, _ = self._context.records.evidence(run_id)
                rest = without_reports(snapshot, sidecars)
                self._subject_without_reports = self._subject_of(rest, baseline)
        return self._subject_without_reports

    def reason_at(self, reference: str) -> str:
        """Why the evidence at a path shows what it shows, as it was recorded; empty if unknown."""
        evidence = self._context.records.counted(reference)
        return str(evidence.body.get("reason") or "") if evidence is not None else ""

    def freshness_at(self, reference: str) -> Freshness:
        """The freshness of the sidecar at a path; for one that does not count, the reason."""
        records = self._context.records
        evidence = records.counted(reference)
        if evidence is not None:
            return self.freshness_of(evidence)
        run_id = self._loaded.goal.run_id
        if run_id is not None and reference in records.discounted(run_id):
            return Freshness(("moved",))
        return Freshness((records.doubt(reference) or "missing",))
