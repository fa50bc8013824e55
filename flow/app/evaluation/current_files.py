"""A goal's files as they are now, looked at once and only if somebody asks."""

from __future__ import annotations

from flow.app.evaluation.observing import subject_of
from flow.core.evidence.freshness import Freshness, freshness
from flow.core.evidence.model import Subject
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.app.evaluation.values import ClosingContext
    from flow.app.ports import LoadedGoal
    from flow.core.boundary.changes import Baseline, Snapshot
    from flow.core.evidence.freshness import Why
    from flow.core.evidence.model import Evidence


class Present:
    """What evidence of one goal is held against."""

    def __init__(self, context: ClosingContext, loaded: LoadedGoal) -> None:
        self._desk, self._loaded = context, loaded
        self._looked: tuple[Snapshot, Baseline] | None = None
        self._subject: Subject | None = None
        self._apart: Subject | None = None

    @property
    def subject(self) -> Subject:
        """The stamp that evidence would get now; without a tree where git cannot answer."""
        if self._subject is None:
            self._subject = self._look()
        return self._subject

    def _look(self) -> Subject:
        context, goal = self._desk, self._loaded.goal
        try:
            baseline = context.baseline(goal, goal.run_id or "").baseline
            snapshot = context.snapshot(baseline, (*goal.denied_paths, *context.denied_paths), None)
        except FlowError:
            return Subject(None, None, self._loaded.contract, context.version)
        self._looked = snapshot, baseline
        return subject_of(self._loaded, snapshot, baseline, context.version, as_recorded=True)

    def of(self, evidence: Evidence, *, moved: bool = False, doubt: Why | None = None) -> Freshness:
        """How a sidecar stands to it."""
        now = self.subject if evidence.imported is None else self._apart_from_reports(evidence)
        goal, at = self._loaded.goal, self._desk.now()
        return freshness(evidence, now, goal, at, moved=moved, doubt=doubt)

    def _apart_from_reports(self, evidence: Evidence) -> Subject:
        """The stamp of the files without the reports that were imported into this run."""
        if self._apart is None:
            self._apart = self.subject
            if self._looked is not None and self.subject.tree is not None:
                from flow.core.evidence.imported import without_reports

                snapshot, baseline = self._looked
                sidecars, _ = self._desk.records.evidence(evidence.run_id)
                rest = without_reports(snapshot, sidecars)
                self._apart = subject_of(
                    self._loaded, rest, baseline, self._desk.version, as_recorded=True
                )
        return self._apart

    def of_reference(self, reference: str) -> Freshness:
        """How the sidecar at a path stands to it; of what does not count, why."""
        evidence = self._desk.records.counted(reference)
        if evidence is not None:
            return self.of(evidence)
        run_id = self._loaded.goal.run_id
        discounted = self._desk.records.discounted(run_id) if run_id is not None else ()
        if reference in discounted:
            return Freshness(("moved",))
        return Freshness((self._desk.records.doubt(reference) or "missing",))
