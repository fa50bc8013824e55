"""The state of a debate: its judges, their reports, their agreement."""

from __future__ import annotations

from flow.core.judging.debate import model as debate_model
from flow.core.judging.debate import points as debate_points
from flow.startup.typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction

    from flow.core.judging.debate.criteria import DebateCriterion
    from flow.core.judging.debate.model import Agreement, Position, Revision
    from flow.core.judging.debate.points import Kind, SharedPoint
    from flow.core.judging.debate.section import DebateSubject, Section


Mode = Literal["debate", "vote"]


class DebateJudge(NamedTuple):
    """One judge: its name, its file, and its sections so far."""

    number: int
    name: str
    path: str
    sections: tuple[Section, ...] = ()


class SilentJudge(NamedTuple):
    """A judge without a usable answer."""

    judge: int
    round: int
    kind: str
    reason: str


class DebateState(NamedTuple):
    """A debate, or a vote, at its present stage."""

    about: DebateSubject
    mode: Mode
    judges: tuple[DebateJudge, ...]
    rounds: int
    """Debates in which every judge took part."""
    agreements: tuple[Agreement, ...]
    """The agreement before any debate, and after each."""
    silent: tuple[SilentJudge, ...] = ()
    altered: tuple[tuple[str, str], ...] = ()
    """Report files that Flow did not write as they are, each with its first difference."""
    warnings: tuple[str, ...] = ()
    cost_usd: float | None = None
    calls: int = 0
    """Questions that were sent in this run; answers of an earlier run are not asked for again."""
    earlier_usd: float | None = None
    """US dollars that earlier runs of this debate cost; None if unknown."""

    @property
    def whole(self) -> bool:
        """Whether every judge has answered, and every file is as Flow wrote it."""
        return bool(self.agreements) and not self.silent and not self.altered

    @property
    def consensus(self) -> bool:
        """Whether the judges agree."""
        return self.whole and self.agreements[-1].reached

    @property
    def decided(self) -> bool:
        """Whether there is a result: a consensus, or a vote with more than half of the judges."""
        if self.mode == "debate" or self.altered:
            return self.consensus
        enough = 2 * len(self.positions) > len(self.judges)
        return enough and self.support >= debate_model.LEAST_SUPPORT

    @property
    def support(self) -> Fraction:
        """The support of the judges' newest positions."""
        return debate_model.support(self.about.criteria, self.histories)

    @property
    def histories(self) -> list[list[Position]]:
        """For each judge with a newest position, its positions up to that, the oldest first."""
        end = self.rounds + 1
        turns = [judge.sections[:end] for judge in self.judges if len(judge.sections) >= end]
        return [[section.position for section in sections] for sections in turns]

    def points(self, kind: Kind) -> list[SharedPoint]:
        """The judges' strengths or weaknesses in the end, starting with the most shared."""
        newest = [j.sections[self.rounds] for j in self.judges if len(j.sections) > self.rounds]
        stands = [debate_points.Stand(one.position, one.shares) for one in newest]
        return debate_points.grouped(stands, kind)

    def of_all(self, point: SharedPoint) -> bool:
        """Whether every judge shares a point."""
        return len(point.judges) == len(self.judges) > 1

    @property
    def ended(self) -> bool:
        """Whether there is nothing left to ask; otherwise a later run continues from here."""
        return self.whole or bool(self.altered)

    @property
    def positions(self) -> tuple[Position, ...]:
        """The newest position of each judge, all after the same number of debates."""
        return positions_of_round(self, self.rounds)


def agreement_of_round(
    criteria: Sequence[DebateCriterion], reports: Iterable[Sequence[Section]], round: int
) -> Agreement:
    """The agreement of judges with these sections after ``round`` debates, and its support."""
    histories = [[section.position for section in sections[: round + 1]] for sections in reports]
    newest = [positions[-1] for positions in histories]
    support = debate_model.support(criteria, histories)
    return debate_model.agreement(criteria, newest, debated=round > 0, support=support)


def positions_of_round(state: DebateState, round: int) -> tuple[Position, ...]:
    """Each judge's position after ``round`` debates; 0 is the independent one."""
    return tuple(j.sections[round].position for j in state.judges if len(j.sections) > round)


def initial_gaps(state: DebateState) -> list[tuple[str | None, Fraction]]:
    """The criteria with too large a gap before any debate, and the gap.

    None stands for the overall score where its gap alone is too large.
    """
    if not state.agreements:
        return []
    first = state.agreements[0]
    if not first.apart and first.overall > debate_model.OVERALL_LIMIT:
        return [(None, first.overall)]
    return [(name, first.criteria[name]) for name in first.apart]


def revisions(state: DebateState) -> list[Revision]:
    """Every score that a judge changed, in the order of the debates."""
    revised: list[Revision] = []
    for judge in state.judges:
        turns = judge.sections[: state.rounds + 1]
        revised += debate_model.revisions([section.position for section in turns])
    return sorted(revised, key=lambda one: (one.round, one.judge))
