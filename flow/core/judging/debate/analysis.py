"""The reasons that a debate reached no consensus: positions close to each other, and quotes.

Computed from the judges' reports; a judge's own statement of agreement is shown next to the result
of its scores.
"""

from __future__ import annotations

from flow.core.judging.debate import model as debate_model
from flow.core.judging.debate.model import CRITERION_LIMIT, OVERALL_LIMIT, Position
from flow.core.judging.debate.report import inert, quoted
from flow.core.text.numbers import exact, shown
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from flow.core.judging.debate.state import DebateState

QUOTES_SHOWN = 2


def wanted(state: DebateState) -> bool:
    """Whether there is something to analyse: judges that debated and do not agree."""
    undecided = state.mode == "debate" and not state.consensus and not state.altered
    return undecided and len(state.positions) > 1


def document(state: DebateState) -> dict[str, Any]:
    """The analysis as ``--json`` prints it."""
    near, agrees = _near(state), _agrees_with(state)
    return {
        "judges": [
            {"judge": judge, "near": others, "agrees_with": agrees.get(judge)}
            for judge, others in near.items()
        ],
        "criteria": [
            {
                "criterion": name,
                "lowest": _side(state, name, min),
                "highest": _side(state, name, max),
                "moved": _moves(state, name),
            }
            for name in _apart(state)
        ],
    }


def lines(state: DebateState) -> Iterator[str]:
    """The analysis as lines of the final report."""
    analysis = document(state)
    yield "Near are judges whose overall scores are within 0.5 and all criteria within 1.0."
    yield ""
    for row in analysis["judges"]:
        agrees = row["agrees_with"]
        says = "" if agrees is None else f", and says that it agrees with {_judges(agrees)}"
        yield f"- Judge {row['judge']} is near {_judges(row['near'])}{says}"
    for row in analysis["criteria"]:
        yield f'- Criterion "{inert(row["criterion"])}": {_moved(state.rounds, row["moved"])}'
        yield f"  - lowest: {_rests(row['lowest'])}"
        yield f"  - highest: {_rests(row['highest'])}"
    all_near = all(len(row["near"]) == len(analysis["judges"]) - 1 for row in analysis["judges"])
    if not analysis["criteria"] and all_near:
        yield "- The scores are near enough to each other: what is missing is not a number."


def _near(state: DebateState) -> dict[int, list[int]]:
    """For each judge, the judges whose scores are close to its own."""
    return {
        position.judge: [
            other.judge
            for other in state.positions
            if other is not position and _is_near(state, position, other)
        ]
        for position in state.positions
    }


def _is_near(state: DebateState, position: Position, other: Position) -> bool:
    criteria = state.about.criteria
    total = abs(debate_model.overall(criteria, position) - debate_model.overall(criteria, other))
    return total <= OVERALL_LIMIT and not debate_model.gaps(position, [other])


def _agrees_with(state: DebateState) -> dict[int, list[int]]:
    """For each judge, the judges that it says it agrees with; asked from the first debate on."""
    if not state.rounds:
        return {}
    return {
        judge.number: list(judge.sections[state.rounds].agrees_with)
        for judge in state.judges
        if len(judge.sections) > state.rounds
    }


def _apart(state: DebateState) -> list[str]:
    """The criteria whose scores are too far apart."""
    names = [criterion.name for criterion in state.about.criteria]
    scores = {name: [exact(p.score(name)) for p in state.positions] for name in names}
    return [name for name in names if max(scores[name]) - min(scores[name]) > CRITERION_LIMIT]


def _side(state: DebateState, name: str, pick: Callable[..., float]) -> dict[str, Any]:
    """The judges that gave the lowest or the highest score of a criterion, and their quotes."""
    score = pick((position.score(name) for position in state.positions), key=exact)
    judges = [p.judge for p in state.positions if exact(p.score(name)) == exact(score)]
    quotes = dict.fromkeys(
        quote
        for history in state.histories
        if history[-1].judge in judges
        for mark in debate_model.since_scored(name, history)
        for quote in mark.evidence
    )
    score = debate_model.plain_number(score)
    return {"score": score, "judges": judges, "evidence": list(quotes)}


def _moves(state: DebateState, name: str) -> list[dict[str, Any]]:
    """The judges whose score of a criterion differs from that before any debate."""
    ends = [(h[0].judge, h[0].score(name), h[-1].score(name)) for h in state.histories]
    plain = debate_model.plain_number
    return [
        {"judge": judge, "before": plain(before), "after": plain(after)}
        for judge, before, after in ends
        if exact(before) != exact(after)
    ]


def _moved(rounds: int, moves: Sequence[Mapping[str, Any]]) -> str:
    if not rounds:
        return "nobody has debated it"
    debates = f"{rounds} debate{'s' * (rounds != 1)}"
    if not moves:
        return f"nobody changed a score in {debates}"
    rows = (f"Judge {m['judge']} from {shown(m['before'])} to {shown(m['after'])}" for m in moves)
    return f"moved in {debates}: {', '.join(rows)}"


def _rests(side: Mapping[str, Any]) -> str:
    quotes = ", ".join(map(quoted, side["evidence"][:QUOTES_SHOWN]))
    rests = f"on {quotes}" if quotes else "on no quote that occurs in the solution"
    return f"{_judges(side['judges'])}, {shown(side['score'], 4)}/5, {rests}"


def _judges(numbers: Sequence[int]) -> str:
    return ", ".join(f"Judge {number}" for number in numbers) or "nobody"
