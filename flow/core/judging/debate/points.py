"""Strengths and weaknesses in a debate: their numbers, and which judges share them.

A point's number names its judge, its turn, and its place there: ``2.1.S3`` is the third strength
that judge 2 names in debate round 1. A judge that shares another's point gives its number, so that
equal views in other words are counted together.
"""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from flow.core.judging.debate.model import Position

Kind = Literal["strengths", "weaknesses"]
KINDS: tuple[Kind, ...] = ("strengths", "weaknesses")
_LETTERS: Mapping[Kind, str] = {"strengths": "S", "weaknesses": "W"}
MOST_SHARED = 100


class Point(NamedTuple):
    """A strength or a weakness, and its number."""

    number: str
    text: str

    @property
    def kind(self) -> Kind:
        """Whether it is a strength or a weakness, by the letter in its number."""
        letter = self.number.rpartition(".")[2][:1]
        return "strengths" if letter == _LETTERS["strengths"] else "weaknesses"


class SharedPoint(NamedTuple):
    """A point's text, and the judges that name or share it."""

    text: str
    judges: tuple[int, ...]


class Stand(NamedTuple):
    """A judge's newest position, and the points of others that it shares."""

    position: Position
    shares: tuple[Point, ...] = ()


def numbered(position: Position, turn: int, kind: Kind) -> tuple[Point, ...]:
    """The points of one kind that a judge names in a turn (0: its assessment)."""
    start = f"{position.judge}.{turn}.{_LETTERS[kind]}"
    return tuple(Point(f"{start}{n}", text) for n, text in enumerate(_texts(position, kind), 1))


def all_numbered(positions: Sequence[Position]) -> Iterator[Point]:
    """Every point of one judge; ``positions`` from its assessment on."""
    for turn, position in enumerate(positions):
        for kind in KINDS:
            yield from numbered(position, turn, kind)


def shared(
    given: Sequence[str], others: Mapping[str, str]
) -> tuple[tuple[Point, ...], tuple[str, ...]]:
    """The points of ``others`` (by number) that ``given`` names, and the names without a point."""
    points: dict[str, Point] = {}
    unknown: dict[str, None] = {}
    for name in given:
        number = name.strip(" \t\n()[]{}#`'\"").upper()
        if number in others:
            points.setdefault(number, Point(number, others[number]))
        else:
            unknown.setdefault(name)
    return tuple(points.values())[:MOST_SHARED], tuple(unknown)[:MOST_SHARED]


def grouped(stands: Sequence[Stand], kind: Kind) -> list[SharedPoint]:
    """The judges' present points, starting with those that most judges share.

    Texts that differ only in case, spaces and a full stop are equal.
    """
    rows: dict[str, tuple[str, list[int]]] = {}
    for stand in stands:
        shares = (point.text for point in stand.shares if point.kind == kind)
        for text in (*_texts(stand.position, kind), *shares):
            key = " ".join(text.split()).casefold().rstrip(".")
            _, judges = rows.setdefault(key, (text, []))
            if stand.position.judge not in judges:
                judges.append(stand.position.judge)
    ordered = sorted(rows.values(), key=lambda row: -len(row[1]))
    return [SharedPoint(text, tuple(sorted(judges))) for text, judges in ordered]


def _texts(position: Position, kind: Kind) -> tuple[str, ...]:
    return position.strengths if kind == "strengths" else position.weaknesses
