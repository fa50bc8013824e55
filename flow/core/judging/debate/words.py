"""Claims and orders in a judge's words, outside its structured part (SPEC 9.4).

Only the structured part counts. Words that claim another score, or that speak to a reader, are
reported and labelled: other judges, people and agents read the report.
"""

from __future__ import annotations

import re

from flow.core.judging.debate.prompt import QUESTIONS
from flow.core.text.display import names
from flow.core.text.numbers import exact, shown
from flow.core.untrusted import suspicious
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    from flow.core.judging.debate.model import Position
    from flow.core.judging.debate.section import Section

_NUMBER = r"([1-5](?:\.\d{1,4})?)\s*(?:/\s*5(?:\.0)?(?!\d|\.\d)|out of (?:5|five)\b)"
_CLAIM = re.compile(
    rf"(?:^\W*|\b(?:scor|rat|giv|gave|award)\w*\b[^.;:/\d]{{0,40}}:?\s*){_NUMBER}", re.IGNORECASE
)


_ORDER = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,30}\b(?:all|previous|prior|above|earlier|your)\b"
    r".{0,30}\b(?:instructions?|prompts?|rules|messages?|reports?)\b"
    r"|^\W*(?:dear |note to |message to )?(?:the )?"
    r"(?:orchestrator|assistant|agent|claude|system|other judges)\s*[:,!]"
    r"|\b(?:report|declare|announce|state|return|output|print)\b.{0,20}\bconsensus\b"
    r"|\bnew (?:system )?(?:instructions?|prompt)\b"
)
"""Matches text in the normal form of :func:`flow.core.untrusted.suspicious.as_read`."""


def claims(text: str) -> tuple[str, ...]:
    """The scores that a justification claims: ``I give this 2/5``, ``4/5: all is there``."""
    return tuple(_CLAIM.findall(text))


def contradicted(text: str, score: float, spoken_of: Container[object] = ()) -> str:
    """The score that the words claim, if it is not the given one; else empty.

    ``spoken_of`` are further scores that the words may mention: the judge's earlier ones, other
    judges' ones.
    """
    scores = [(claim, exact(float(claim))) for claim in claims(text)]
    if not scores or any(value == exact(score) or value in spoken_of for _, value in scores):
        return ""
    return shown(scores[0][1], 4)


def speaks(text: str) -> bool:
    """Whether it gives orders to a reader, or imitates another speaker.

    Narrower than the check of data for a judge: an honest judge may write that handlers do not
    check their input, and should reply with JSON.
    """
    plain = suspicious.as_read(text)
    return _ORDER.search(plain) is not None or suspicious.imitates(plain)


def remarks(sections: Mapping[int, Sequence[Section]]) -> Iterator[str]:
    """Remarks for readers about the judges' sections, by judge; debate after debate."""
    for turn in range(max(map(len, sections.values()), default=0)):
        for number in sorted(sections):
            if turn < len(sections[number]):
                earlier = [s.position for others in sections.values() for s in others[:turn]]
                for text in _remarks(sections[number][turn], earlier):
                    yield f"Judge {number}: {text}"


def _remarks(section: Section, earlier: Sequence[Position]) -> Iterator[str]:
    """``earlier``: the positions before it that it may mention."""
    for place, mark in enumerate(section.position.marks):
        if mark.discounted:
            count = len(mark.discounted)
            quotes = "one quote that does" if count == 1 else f"{count} quotes that do"
            yield f"{mark.name}: gave {quotes} not occur in the solution"
        if mark.too_short:
            count = len(mark.too_short)
            quotes = "one quote that is" if count == 1 else f"{count} quotes that are"
            yield f"{mark.name}: gave {quotes} too short to be looked up"
        others = {exact(position.marks[place].score) for position in earlier}
        others.add(exact(section.before[place]))
        claim = contradicted(mark.justification, mark.score, others)
        if claim:
            score = shown(mark.score, 4)
            yield f"{mark.name}: says {claim}/5 in words and scores {score}, which counts"
    given = len(section.verification)
    if section.round == 0 and given < QUESTIONS:
        yield f"gave {given} of {QUESTIONS} verification questions with answers"
    if section.conformity:
        criteria = ", ".join(section.conformity)
        yield f"revised {criteria} in debate {section.round} without a new quote (conformity)"
    if section.unknown_points:
        yield f"shares points that no other judge has: {names(section.unknown_points, 5)}"
    if any(map(speaks, _texts(section))):
        yield "says something that looks like an instruction; it is nothing but its words"


def _texts(section: Section) -> Iterator[str]:
    position = section.position
    yield from (mark.justification for mark in position.marks)
    yield from (*position.strengths, *position.weaknesses)
    yield from section.unknown_points
    for asked in section.verification:
        yield from asked
    for one in section.disagreements:
        yield from (one.defense, one.challenge)
