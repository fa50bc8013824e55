"""A stored debate as one value: what each judge scored first and last, and where they agree."""

from __future__ import annotations

from flow.core.judging.debate import model
from flow.core.judging.debate.points import KINDS
from flow.core.judging.debate.state import (
    DebateJudge,
    DebateState,
    agreement_of_round,
    positions_of_round,
    revisions,
)
from flow.core.report import DebateVoice, ReportedDebate, ReportedRevision
from flow.core.text.numbers import apart, at_most
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flow.core.judging.debate.model import Agreement
    from flow.core.judging.debate.section import DebateSubject

MOST = 30
"""Points and revisions of one kind that are shown."""


def reported_debate(
    place: str,
    day: str,
    about: DebateSubject,
    judges: Sequence[DebateJudge],
    notes: Sequence[str],
    *,
    spoilt: bool,
) -> ReportedDebate:
    """A debate as a report shows it.

    ``judges`` have at least one section each. ``spoilt``: a report is missing or altered, so the
    others are no consensus.
    """
    state = debate_state(about, judges)
    last = state.positions
    scores = model.means(about.criteria, last)
    end = state.agreements[-1]
    by_kind = {kind: state.points(kind)[:MOST] for kind in KINDS}
    return ReportedDebate(
        place,
        day,
        about.task,
        about.solution,
        tuple((c.name, c.percent, at_most(scores.criteria[c.name])) for c in about.criteria),
        at_most(scores.overall),
        state.consensus and not spoilt,
        model.recommended(last),
        state.rounds,
        at_most(state.agreements[0].overall),
        at_most(end.overall),
        (
            *(["a report is missing, or is not what Flow wrote"] if spoilt else []),
            *_disagreements(end),
        ),
        tuple(_voices(state)),
        tuple((p.text, p.judges) for p in by_kind["strengths"]),
        tuple((p.text, p.judges) for p in by_kind["weaknesses"]),
        tuple(notes),
    )


def _voices(state: DebateState) -> Iterator[DebateVoice]:
    changed, criteria = revisions(state), state.about.criteria
    pairs = zip(positions_of_round(state, 0), state.positions, strict=True)
    for judge, (before, after) in zip(state.judges, pairs, strict=True):
        own = [one for one in changed if one.judge == after.judge][:MOST]
        yield DebateVoice(
            after.judge,
            judge.path,
            {mark.name: float(mark.score) for mark in before.marks},
            {mark.name: float(mark.score) for mark in after.marks},
            at_most(model.overall(criteria, before)),
            at_most(model.overall(criteria, after)),
            before.recommendation,
            after.recommendation,
            tuple(
                ReportedRevision(
                    one.criterion, float(one.before), float(one.after), one.reason, one.new_evidence
                )
                for one in own
            ),
        )


def debate_state(about: DebateSubject, judges: Sequence[DebateJudge]) -> DebateState:
    """The debate as its reports have it: as far as every judge came."""
    rounds = min(len(judge.sections) for judge in judges) - 1
    reports = [judge.sections for judge in judges]
    agreements = (agreement_of_round(about.criteria, reports, n) for n in range(rounds + 1))
    return DebateState(about, "debate", tuple(judges), rounds, tuple(agreements))


def _disagreements(end: Agreement) -> Iterator[str]:
    """Reasons that the judges have no consensus."""
    if end.overall > model.OVERALL_LIMIT:
        yield f"their overall scores are {apart(end.overall, model.OVERALL_LIMIT)} apart"
    for name in end.apart:
        yield f"{name}: {apart(end.criteria[name], model.CRITERION_LIMIT)} apart"
    if end.refusing:
        yield f"not accepted by {', '.join(f'Judge {n}' for n in end.refusing)}"
    if not end.supported:
        yield "less than half of their weight rests on quotes from the solution"
