"""What a judge said, in the rows of the verdict (SPEC 3, step 7)."""

from __future__ import annotations

from flow.core.decision.decide import Opinion
from flow.core.decision.explain import JUDGED
from flow.core.evidence.model import ONLY_OPINION
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.app.evaluation.values import Measurements
    from flow.core.decision.decide import JudgedCriterion, Measured, NoOpinion
    from flow.core.goal.model import Goal


def _judge_reason(one: JudgedCriterion) -> str:
    """What the judge said, in its words, and why a pass of its does not count."""
    if not one.lowered:
        return ": ".join(filter(None, (f"{JUDGED}{one.status}", one.words())))
    return f"{JUDGED}pass, counted as {one.status} ({one.lowered}): {one.words()}"


def judged_rows(
    goal: Goal,
    measurement: Measurements,
    measured: Sequence[Measured],
    opinion: Opinion | NoOpinion | None,
) -> tuple[Measurements, tuple[Measured, ...]]:
    """The rows with a judge's opinion of the fuzzy criteria; a command's row stays as it is."""
    if not isinstance(opinion, Opinion) or opinion.evidence_ref is None:
        return measurement, tuple(measured)  # what is not on the record counts for nothing
    said = {one.id: one for one in opinion.criteria}
    rows, facts = list(measurement.rows), list(measured)
    for place, criterion in enumerate(goal.criteria):
        one = said.get(criterion.id)
        if one is None or not criterion.fuzzy or facts[place].approved:
            continue
        rows[place] = rows[place]._replace(
            result=f"judge: {one.status}",
            reason=_judge_reason(one),
            limitations=(*rows[place].limitations, ONLY_OPINION),
            evidence_id=opinion.evidence_id,
            evidence_ref=opinion.evidence_ref,
        )
        facts[place] = facts[place]._replace(judged=one.status)
    return measurement._replace(rows=tuple(rows)), tuple(facts)
