"""Why a debate came to no consensus: who is near whom, and on what both sides rest.

Computed from the judges' reports; what a judge says of its agreement stands beside what its scores
show.
"""

from __future__ import annotations

from itertools import combinations

from flow.core.judging.common.numbers import exact, shown
from flow.core.judging.debate import model as debate_model
from flow.core.judging.debate.model import CRITERION_LIMIT, OVERALL_LIMIT
from flow.core.judging.debate.report import inert, quoted
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flow.core.judging.debate.model import Position
    from flow.core.judging.debate.state import Held

QUOTES_SHOWN = 2


class _Side(NamedTuple):
    """The judges that gave the lowest or the highest score of a criterion, and their quotes."""

    score: float
    judges: tuple[int, ...]
    evidence: tuple[str, ...]


class _Move(NamedTuple):
    """A judge's score of a criterion before any debate and in the end, where they differ."""

    judge: int
    before: float
    after: float


def wanted(held: Held) -> bool:
    """Whether there is something to analyse: judges that debated and do not agree."""
    apart = held.mode == "debate" and not held.consensus and not held.altered
    return apart and len(held.positions) > 1


def document(held: Held) -> dict[str, Any]:
    """As ``--json`` prints it."""
    near, says = _near(held), _says(held)
    return {
        "judges": [
            {
                "judge": position.judge,
                "near": near[position.judge],
                "agrees_with": says.get(position.judge),
            }
            for position in held.positions
        ],
        "criteria": [
            {
                "criterion": name,
                "lowest": _plain(_side(held, name, lowest=True)),
                "highest": _plain(_side(held, name, lowest=False)),
                "moved": [
                    {
                        "judge": move.judge,
                        "before": debate_model.plain_number(move.before),
                        "after": debate_model.plain_number(move.after),
                    }
                    for move in _moves(held, name)
                ],
            }
            for name in _apart(held)
        ],
    }


def lines(held: Held) -> Iterator[str]:
    """For the final report."""
    near, says = _near(held), _says(held)
    yield "Near are judges whose overall scores are within 0.5 and all criteria within 1.0."
    yield ""
    for position in held.positions:
        number = position.judge
        line = f"- Judge {number} is near {_judges(near[number])}"
        if number in says:
            line += f", and says that it agrees with {_judges(says[number])}"
        yield line
    names = _apart(held)
    for name in names:
        low, high = (_side(held, name, lowest=which) for which in (True, False))
        yield f'- Criterion "{inert(name)}": {_moved(held, name)}'
        yield f"  - lowest: {_rests(low)}"
        yield f"  - highest: {_rests(high)}"
    positions = held.positions
    if not names and all(_is_near(held, *pair) for pair in combinations(positions, 2)):
        yield "- The scores are near enough to each other: what is missing is not a number."


def _near(held: Held) -> dict[int, list[int]]:
    rows: dict[int, list[int]] = {position.judge: [] for position in held.positions}
    for one, other in combinations(held.positions, 2):
        if _is_near(held, one, other):
            rows[one.judge].append(other.judge)
            rows[other.judge].append(one.judge)
    return rows


def _is_near(held: Held, one: Position, other: Position) -> bool:
    criteria = held.about.criteria
    total = abs(debate_model.overall(criteria, one) - debate_model.overall(criteria, other))
    return total <= OVERALL_LIMIT and not debate_model.gaps(one, [other])


def _says(held: Held) -> dict[int, list[int]]:
    """The judges that each says it agrees with; none are asked before the first debate."""
    if not held.rounds:
        return {}
    return {
        judge.number: list(judge.sections[held.rounds].agrees_with)
        for judge in held.judges
        if len(judge.sections) > held.rounds
    }


def _apart(held: Held) -> list[str]:
    scores = {c.name: [exact(p.score(c.name)) for p in held.positions] for c in held.about.criteria}
    return [name for name, given in scores.items() if max(given) - min(given) > CRITERION_LIMIT]


def _side(held: Held, name: str, *, lowest: bool) -> _Side:
    pick = min if lowest else max
    score = pick((position.score(name) for position in held.positions), key=exact)
    those = [p.judge for p in held.positions if exact(p.score(name)) == exact(score)]
    quotes = dict.fromkeys(
        quote
        for history in held.histories
        if history[-1].judge in those
        for mark in debate_model.since_scored(name, history)
        for quote in mark.evidence
    )
    return _Side(score, tuple(those), tuple(quotes))


def _moves(held: Held, name: str) -> list[_Move]:
    moves = []
    for history in held.histories:
        before, after = history[0].score(name), history[-1].score(name)
        if exact(before) != exact(after):
            moves.append(_Move(history[0].judge, before, after))
    return moves


def _moved(held: Held, name: str) -> str:
    if not held.rounds:
        return "nobody has debated it"
    debates = f"{held.rounds} debate{'s' * (held.rounds != 1)}"
    moves = _moves(held, name)
    if not moves:
        return f"nobody changed a score in {debates}"
    rows = (f"Judge {m.judge} from {shown(m.before)} to {shown(m.after)}" for m in moves)
    return f"moved in {debates}: {', '.join(rows)}"


def _rests(side: _Side) -> str:
    quotes = ", ".join(map(quoted, side.evidence[:QUOTES_SHOWN]))
    rests = f"on {quotes}" if quotes else "on no quote that occurs in the solution"
    return f"{_judges(side.judges)}, {shown(side.score, 4)}/5, {rests}"


def _judges(numbers: Sequence[int]) -> str:
    return ", ".join(f"Judge {number}" for number in numbers) or "nobody"


def _plain(side: _Side) -> dict[str, Any]:
    score = debate_model.plain_number(side.score)
    return {"score": score, "judges": list(side.judges), "evidence": list(side.evidence)}
