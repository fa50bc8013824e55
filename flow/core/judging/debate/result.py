"""What a debate came to, and the document that tells it (SPEC 9.4)."""

from __future__ import annotations

from flow.core.judging.common.numbers import at_most
from flow.core.judging.debate import analysis as debate_analysis
from flow.core.judging.debate import model as debate_model
from flow.core.judging.debate import points as debate_points
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from flow.core.judging.debate.model import Agreement, Position, Revision
    from flow.core.judging.debate.points import Kind, Named
    from flow.core.judging.debate.section import About, Section

Mode = Literal["debate", "vote"]


class Judge(NamedTuple):
    """One judge: what answers for it, its file, and what it wrote so far."""

    number: int
    name: str
    path: str
    sections: tuple[Section, ...] = ()


class Silent(NamedTuple):
    """A judge without a usable answer."""

    judge: int
    round: int
    kind: str
    reason: str


class Held(NamedTuple):
    """A debate, or a vote, as far as it came."""

    about: About
    mode: Mode
    judges: tuple[Judge, ...]
    rounds: int
    """Debates in which every judge took part."""
    agreements: tuple[Agreement, ...]
    """Before any debate, and after each."""
    silent: tuple[Silent, ...] = ()
    altered: tuple[tuple[str, str], ...] = ()
    """Report files that are not what Flow wrote, and where they differ."""
    warnings: tuple[str, ...] = ()
    cost_usd: float | None = None
    calls: int = 0
    """Answers that were asked for in this run; what an earlier one has is not asked for again."""
    earlier_usd: float | None = None
    """What earlier runs of this debate spent."""

    @property
    def whole(self) -> bool:
        """Whether every judge has answered, and every file is what Flow wrote."""
        return bool(self.agreements) and not self.silent and not self.altered

    @property
    def consensus(self) -> bool:
        """Whether the judges agree."""
        return self.whole and self.agreements[-1].reached

    @property
    def decided(self) -> bool:
        """Whether there is a result: a consensus, or a vote that more than half took part in."""
        if self.mode == "debate" or self.altered:
            return self.consensus
        enough = 2 * len(self.positions) > len(self.judges)
        return enough and self.support >= debate_model.LEAST_SUPPORT

    @property
    def support(self) -> Fraction:
        """The judges' support, of those that have a newest position."""
        return debate_model.support(self.about.criteria, self.histories)

    @property
    def histories(self) -> list[list[Position]]:
        """Of each judge with a newest position, all it had up to that, the oldest first."""
        end = self.rounds + 1
        turns = [judge.sections[:end] for judge in self.judges if len(judge.sections) >= end]
        return [[section.position for section in sections] for sections in turns]

    def points(self, kind: Kind) -> list[Named]:
        """The strengths or the weaknesses that judges hold in the end, those of most first."""
        newest = [j.sections[self.rounds] for j in self.judges if len(j.sections) > self.rounds]
        stands = [debate_points.Stand(one.position, one.shares) for one in newest]
        return debate_points.grouped(stands, kind)

    def of_all(self, point: Named) -> bool:
        """Whether every judge holds a point."""
        return len(point.judges) == len(self.judges) > 1

    @property
    def ended(self) -> bool:
        """Whether nothing is left to be asked; else a later run goes on from here."""
        return self.whole or bool(self.altered)

    @property
    def positions(self) -> tuple[Position, ...]:
        """The newest position of each judge, of those after the same number of debates."""
        return _positions(self, self.rounds)


def _positions(held: Held, round: int) -> tuple[Position, ...]:
    found = (j.sections[round].position for j in held.judges if len(j.sections) > round)
    return tuple(found)


def document(held: Held) -> dict[str, Any]:
    """As ``--json`` prints it."""
    positions = held.positions
    revised = revisions(held)
    found: dict[str, Any] = {
        "consensus": held.consensus,
        "mode": held.mode,
        "rounds": held.rounds,
        "scores": None,
        "overall": None,
        "recommendation": None,
        **_points(held),
        "support": at_most(held.support) if positions else None,
        "needs_human_review": not held.decided,
        "debate_summary": _summary(held, revised),
        "disagreements": _disagreements(held) if held.agreements and not held.consensus else [],
        "analysis": debate_analysis.document(held) if debate_analysis.wanted(held) else None,
        "missing": [silent._asdict() for silent in held.silent],
        "altered": [{"file": path, "what": what} for path, what in held.altered],
        "ballots": [_ballot(held, position) for position in _positions(held, 0)],
        "final": [_ballot(held, position) for position in positions],
        "reports": [judge.path for judge in held.judges if judge.sections],
        "judges": [{"judge": judge.number, "name": judge.name} for judge in held.judges],
        "solution": list(held.about.solution),
        "criteria": [
            {"name": c.name, "weight": float(c.share), "description": c.description}
            for c in held.about.criteria
        ],
        "calls": held.calls,
        "cost_usd": held.cost_usd,
        "cost_usd_earlier": held.earlier_usd,
        "warnings": list(held.warnings),
    }
    if held.decided:
        combine = debate_model.medians if held.mode == "vote" else debate_model.means
        scores = combine(held.about.criteria, positions)
        found["scores"] = {name: at_most(score) for name, score in scores.criteria.items()}
        found["overall"] = at_most(scores.overall)
        found["recommendation"] = debate_model.recommended(positions)
    from flow.core.judging.debate.final import report  # it is made from the values above

    found["report"] = report(held)
    return found


def _ballot(held: Held, position: Position) -> dict[str, Any]:
    return {
        "judge": position.judge,
        "scores": {mark.name: debate_model.plain_number(mark.score) for mark in position.marks},
        "overall": at_most(debate_model.overall(held.about.criteria, position)),
        "recommendation": position.recommendation,
        "accepts_consensus": position.accepts,
    }


def _summary(held: Held, revised: Sequence[Revision]) -> dict[str, Any]:
    ends = (held.agreements[0], held.agreements[-1]) if held.agreements else ()
    before, after = ([_spread(one) for one in ends]) or (None, None)
    return {
        "rounds": held.rounds,
        "initial_disagreements": [
            {"criterion": name, "gap": float(gap)} for name, gap in initial(held)
        ],
        "revisions": [
            {
                "judge": one.judge,
                "round": one.round,
                "criterion": one.criterion,
                "before": debate_model.plain_number(one.before),
                "after": debate_model.plain_number(one.after),
                "reason": one.reason,
                "new_evidence": list(one.new_evidence),
                "conformity": one.conformity,
            }
            for one in revised
        ],
        "conformity": sum(one.conformity for one in revised),
        "spread_before": before,
        "spread_after": after,
    }


def _spread(one: Agreement) -> dict[str, Any]:
    criteria = {name: float(gap) for name, gap in one.criteria.items()}
    return {"overall": float(one.overall), "criteria": criteria}


def initial(held: Held) -> list[tuple[str, Fraction]]:
    """The criteria that were too far apart before any debate, and how far."""
    if not held.agreements:
        return []
    first = held.agreements[0]
    return [(name, first.criteria[name]) for name in first.apart]


def revisions(held: Held) -> list[Revision]:
    """Every score that a judge changed, in the order of the debates."""
    found: list[Revision] = []
    for judge in held.judges:
        turns = judge.sections[: held.rounds + 1]
        found += debate_model.revisions([section.position for section in turns])
    return sorted(found, key=lambda one: (one.round, one.judge))


def _disagreements(held: Held) -> list[dict[str, Any]]:
    """What keeps the judges apart, criterion by criterion, and then as a whole."""
    last, positions = held.agreements[-1], held.positions
    found: list[dict[str, Any]] = [
        {
            "criterion": name,
            "gap": float(last.criteria[name]),
            "scores": {str(p.judge): debate_model.plain_number(p.score(name)) for p in positions},
        }
        for name in last.apart
    ]
    if last.overall > debate_model.OVERALL_LIMIT:
        overall = {
            str(p.judge): float(debate_model.overall(held.about.criteria, p)) for p in positions
        }
        found.append({"criterion": None, "gap": float(last.overall), "scores": overall})
    if last.refusing:
        found.append({"criterion": None, "not_accepted_by": list(last.refusing)})
    if not last.supported:
        found.append({"criterion": None, "support": at_most(last.support)})
    return found


def _points(held: Held) -> dict[str, Any]:
    """The points that all judges hold, and those of some with the judges that hold them."""
    found: dict[str, Any] = {}
    for kind in debate_points.KINDS:
        points = held.points(kind)
        found[kind] = [point.text for point in points if held.of_all(point)]
        found[f"some_{kind}"] = [
            {"text": point.text, "judges": list(point.judges)}
            for point in points
            if not held.of_all(point)
        ]
    return found
