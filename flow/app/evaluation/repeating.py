"""Repeated runs of a command, and earlier results on the same files (SPEC 10).

``--repeat K`` runs each command K times, one run after the other, each with a sidecar of its own.
The last one is the criterion's evidence and holds the total; the others prove nothing by
themselves.

A command that failed, or was flaky, on exactly these files must pass as often as it ran then, and
twice at least, before that counts: else asking often enough would give a pass (HAZARD E68).
"""

from __future__ import annotations

from flow.app.evaluation import reuse
from flow.core import layout
from flow.core.evidence.model import EVALUATOR
from flow.core.evidence.repeat import (
    ONE_OF_SEVERAL,
    EarlierResult,
    MostTests,
    RepeatedRun,
    add_up,
    contradiction,
)
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.app.checks import Check
    from flow.app.evaluation.values import Facts, Measurement, Request
    from flow.app.ports import Records
    from flow.core.evidence.model import Evidence
    from flow.core.goal.model import Criterion

_TESTS = "tests:"
"""Text of each sidecar that names a number of tests."""


class Repeats:
    """The runs of one evaluation's commands, as they come in."""

    def __init__(self, facts: Facts, request: Request, records: Records) -> None:
        self._facts, self._records = facts, records
        self._times = max(request.repeat or 1, facts.loaded.goal.repeat)
        self._runs: dict[str, list[RepeatedRun]] = {}
        self._earlier: dict[str, EarlierResult | None] = {}
        """Each criterion's recorded result on these files; the goal's file has no say in it."""
        self._most: dict[str, MostTests | None] = {}
        self._final: set[str] = set()

    def look_back(self, criteria: Sequence[Criterion]) -> None:
        """Find the earlier results of these criteria, before any command runs.

        All at once the record is read once; and no command can make its own earlier failure vanish.
        """
        with self._records.together(self._facts.run_id):
            for criterion in criteria:
                earlier, most = _earlier_results(self._facts, criterion, self._records)
                self._earlier[criterion.id], self._most[criterion.id] = earlier, most

    def remaining(self, checks: Sequence[Check]) -> list[Check]:
        """The commands that must run once more."""
        return [check for check in checks if check.criterion_id not in self._final]

    def fold(
        self, row: Measurement, document: dict[str, Any], *, blamed: bool
    ) -> tuple[Measurement, bool]:
        """Add one run and complete its sidecar's ``document``.

        Returns the criterion's row, and whether it is final.
        """
        criterion_id, body = row.criterion_id, document["evidence"]
        runs = self._runs.setdefault(criterion_id, [])
        runs.append(RepeatedRun(row.outcome, row.reason, blamed, document["metadata"]["id"]))
        needed = self._needed(criterion_id)
        late = len(runs) >= self._times and any(run.outcome != "passed" for run in runs)
        if len(runs) < needed and not late:
            document["metadata"]["id"] += f"{layout.RUN_MARK}{len(runs)}"
            body["proves"] = []
            body["limitations"] = [*body["limitations"], ONE_OF_SEVERAL]
            body["repeat"] = {"criterion": criterion_id, "run": len(runs), "runs": needed}
            return row, False
        self._final.add(criterion_id)
        if len(runs) > 1:
            row = self._added_up(row, body)
        return self._with_most_tests(self._with_contradiction(row, body), body), True

    def blamed(self, criterion_id: str) -> bool:
        """Whether one of the runs changed what only Flow or a person may change."""
        return any(run.blamed for run in self._runs[criterion_id])

    def recorded(self, criterion_id: str, evidence_id: str) -> None:
        """Note the id under which the newest run's sidecar was published."""
        runs = self._runs[criterion_id]
        runs[-1] = runs[-1]._replace(evidence_id=evidence_id)

    def _added_up(self, row: Measurement, body: dict[str, Any]) -> Measurement:
        total = add_up(self._runs[row.criterion_id])
        body["outcome"] = total.outcome
        body["repeat"] = total.to_document(row.criterion_id)
        body.pop("reason", None)
        if total.reason:
            body["reason"] = total.reason
        if total.flaky:
            body.pop("attribution", None)  # that is one run's; the others' sidecars have theirs
        return row._replace(outcome=total.outcome, reason=total.reason)

    def _with_contradiction(self, row: Measurement, body: dict[str, Any]) -> Measurement:
        """The row with a limitation where the same files gave another result before."""
        earlier = self._earlier.get(row.criterion_id)
        if earlier is None or row.outcome not in ("passed", "failed"):
            return row
        if row.outcome == earlier.outcome:
            return row
        outcome = "flaky" if earlier.flaky else earlier.outcome
        runs = len(self._runs[row.criterion_id])
        return _limited(row, body, contradiction(row.outcome, outcome, earlier.evidence_id, runs))

    def _with_most_tests(self, row: Measurement, body: dict[str, Any]) -> Measurement:
        """The row with a limitation where more tests ran before."""
        most = self._most.get(row.criterion_id)
        if most is None:
            return row
        tests = body.get("tests") or {}
        ran = tests.get("ran")
        if ran is None or ran < most.number:
            body["tests"] = {**tests, **most.to_document()}
        text = most.limitation(ran) if row.outcome == "passed" else ""
        return _limited(row, body, text) if text else row

    def _needed(self, criterion_id: str) -> int:
        earlier = self._earlier.get(criterion_id)
        if earlier is None or not earlier.doubtful:
            return self._times
        return max(self._times, earlier.runs, 2)


def _limited(row: Measurement, body: dict[str, Any], text: str) -> Measurement:
    """The row with one more limitation, which its sidecar's ``body`` gets, too."""
    body["limitations"] = [*body["limitations"], text]
    return row._replace(limitations=(*row.limitations, text))


def _earlier_results(
    facts: Facts, criterion: Criterion, records: Records
) -> tuple[EarlierResult | None, MostTests | None]:
    """The command's newest result on these files, and the most tests that it ran before.

    Each sidecar is read once, for both. The tests are those on the base, or those that the newest
    evidence of any tests names.
    """
    earlier: EarlierResult | None = None
    most: MostTests | None = None
    for path in reuse.newest_paths(facts, criterion, records):
        tree = facts.subject.tree if earlier is None else None
        sought = tuple(filter(None, (tree, _TESTS if most is None else None)))
        if not sought:
            break
        evidence = records.counted(path, *sought)
        if evidence is not None:
            earlier = earlier or _earlier_result(evidence, criterion, facts)
            most = most or _most_tests(evidence, criterion)
    base = facts.base_runs.get(criterion.id)
    if base is not None and base.tests.isdigit():
        on_base = MostTests(int(base.tests), base.evidence_id or "on the base")
        most = on_base if most is None or most.number < on_base.number else most
    return earlier, most


def _earlier_result(evidence: Evidence, criterion: Criterion, facts: Facts) -> EarlierResult | None:
    if not reuse.same_command_and_files(evidence, criterion, facts):
        return None
    repeat = evidence.body.get("repeat") or {}
    flaky = bool(repeat.get("flaky"))
    if not flaky and evidence.outcome not in ("passed", "failed"):
        return None
    runs = int(repeat.get("runs", 1))
    return EarlierResult(evidence.id, evidence.outcome or "", runs, flaky)


def _most_tests(evidence: Evidence, criterion: Criterion) -> MostTests | None:
    tests = evidence.body.get("tests") or {}
    own = evidence.made_by == EVALUATOR and evidence.command == criterion.verification_command
    if not own or not tests:
        return None
    ran, most = tests.get("ran", 0), tests.get("most", 0)
    return MostTests(max(ran, most), tests["most_in"] if most > ran else evidence.id)
