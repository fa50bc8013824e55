"""Running a command several times, and what it did on the same files before (SPEC 10).

``--repeat K`` runs each command K times, one run after the other, each with a sidecar of its own.
The last one's is the criterion's evidence and says what all of them came to; the others prove
nothing by themselves.

A command that failed, or was flaky, on exactly these files must pass as often as it ran then, and
twice at least, before that counts: else whoever asks often enough would get a pass (HAZARD E68).
"""

from __future__ import annotations

from flow.app.evaluation import reuse
from flow.core import layout
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.app.evaluation.values import Facts, Measurement, Request
    from flow.app.ports import Check, Records
    from flow.core.evidence.model import Outcome
    from flow.core.evidence.repeat import Before
    from flow.core.goal.model import Criterion, Goal

    Seen = tuple[Outcome, str, bool, str]
    """The fields of a :class:`flow.core.evidence.repeat.Run`, which most evaluations do without."""


def repeat_count(request: Request, goal: Goal) -> int:
    """How often each command runs: ``--repeat`` or ``evaluator.repeat``, whichever is more."""
    return max(request.repeat or 1, goal.repeat)


class Repeats:
    """The runs of one evaluation's commands, as they come in."""

    def __init__(self, facts: Facts, request: Request, records: Records) -> None:
        self._facts, self._records = facts, records
        self._times = repeat_count(request, facts.loaded.goal)
        self._runs: dict[str, list[Seen]] = {}
        self._before: dict[str, Before | None] = {}
        self._final: set[str] = set()

    def planned(self, checks: Sequence[Check]) -> list[Check]:
        """Every run that there will be, as far as is known now."""
        return [check for check in checks for _ in range(self._needed(check.criterion_id))]

    def left(self, checks: Sequence[Check]) -> list[Check]:
        """The commands that must run once more."""
        return [check for check in checks if check.criterion_id not in self._final]

    def fold(
        self, row: Measurement, document: dict[str, Any], *, blamed: bool
    ) -> tuple[Measurement, bool]:
        """Take one run in; its sidecar's ``document`` is completed.

        Returns what the criterion's row says now, and whether that is the last word.
        """
        criterion_id, body = row.criterion_id, document["evidence"]
        runs = self._runs.setdefault(criterion_id, [])
        runs.append((row.outcome, row.reason, blamed, document["metadata"]["id"]))
        needed = self._needed(criterion_id)
        late = len(runs) >= self._times and any(outcome != "passed" for outcome, *_ in runs)
        if len(runs) < needed and not late:
            from flow.core.evidence.repeat import ONE_OF_SEVERAL

            document["metadata"]["id"] += f"{layout.RUN_MARK}{len(runs)}"
            body["proves"] = []
            body["limitations"] = [*body["limitations"], ONE_OF_SEVERAL]
            body["repeat"] = {"criterion": criterion_id, "run": len(runs), "runs": needed}
            return row, False
        self._final.add(criterion_id)
        if len(runs) > 1:
            row = self._added_up(row, body)
        return self._compared(row, body), True

    def blamed(self, criterion_id: str) -> bool:
        """Whether one of the runs changed what only Flow or a person may change."""
        return any(blamed for _, _, blamed, _ in self._runs[criterion_id])

    def recorded(self, criterion_id: str, evidence_id: str) -> None:
        """Under which id the newest run's sidecar was published."""
        runs = self._runs[criterion_id]
        runs[-1] = (*runs[-1][:3], evidence_id)

    def _added_up(self, row: Measurement, body: dict[str, Any]) -> Measurement:
        from flow.core.evidence.repeat import RepeatedRun, add_up

        total = add_up([RepeatedRun(*run) for run in self._runs[row.criterion_id]])
        body["outcome"] = total.outcome
        body["repeat"] = total.to_document(row.criterion_id)
        body.pop("reason", None)
        if total.reason:
            body["reason"] = total.reason
        if total.flaky:
            body.pop("attribution", None)  # that is one run's; the others' sidecars have theirs
        return row._replace(outcome=total.outcome, reason=total.reason)

    def _compared(self, row: Measurement, body: dict[str, Any]) -> Measurement:
        """Say so where the same files gave another result before."""
        before = self._known_before(row.criterion_id)
        if before is None or row.outcome not in ("passed", "failed"):
            return row
        if row.outcome == before.outcome:
            return row
        from flow.core.evidence.repeat import flipped

        said = "flaky" if before.flaky else before.outcome
        text = flipped(row.outcome, said, before.evidence_id, len(self._runs[row.criterion_id]))
        body["limitations"] = [*body["limitations"], text]
        return row._replace(limitations=(*row.limitations, text))

    def _needed(self, criterion_id: str) -> int:
        before = self._known_before(criterion_id)
        if before is None or not before.doubtful:
            return self._times
        return max(self._times, before.runs, 2)

    def _known_before(self, criterion_id: str) -> Before | None:
        """What is on record about these files; the goal's file is not asked for it."""
        criterion = self._facts.loaded.goal.criterion(criterion_id)
        assert criterion is not None  # noqa: S101  # a check is made from it
        if criterion_id not in self._before:
            self._before[criterion_id] = _look_up(self._facts, criterion, self._records)
        return self._before[criterion_id]


def _look_up(facts: Facts, criterion: Criterion, records: Records) -> Before | None:
    for path in reuse.newest_sidecars(facts, criterion, records):
        evidence = records.counted(path)
        if evidence is None or not reuse.same_command(evidence, criterion, facts):
            continue
        repeat = evidence.document["evidence"].get("repeat") or {}
        flaky = bool(repeat.get("flaky"))
        if flaky or evidence.outcome in ("passed", "failed"):
            from flow.core.evidence.repeat import Before

            runs = int(repeat.get("runs", 1))
            return Before(evidence.id, evidence.outcome or "", runs, flaky)
    return None
