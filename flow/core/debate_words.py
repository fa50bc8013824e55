"""What stands in a judge's words beside its structured part (SPEC section 9.4).

Only the structured part counts. Words that claim another score, or that speak to whoever reads
them, are named and labelled: a report is read by other judges, by people and by agents.
"""

from __future__ import annotations

import re

from flow.cheap_typing import TYPE_CHECKING
from flow.core.debate import shown
from flow.core.judging import suspicious
from flow.core.rubric import exact

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from flow.core.debate_reply import Reply

_NUMBER = r"([1-5](?:\.\d{1,4})?)\s*(?:/\s*5(?:\.0)?(?!\d|\.\d)|out of (?:5|five)\b)"
_CLAIM = re.compile(
    rf"(?:^\W*|\b(?:scor|rat|giv|gave|award)\w*\b[^.;:/\d]{{0,40}}:?\s*){_NUMBER}", re.IGNORECASE
)


def claims(text: str) -> tuple[str, ...]:
    """The scores that a justification says it gives: ``I give this 2/5``, ``4/5: all is there``."""
    return tuple(_CLAIM.findall(text))


def contradicted(text: str, score: float, known: Container[object] = ()) -> str:
    """The score that the words claim where it is not the one given; empty where all is well.

    ``known`` are scores that may be spoken of as well: the judge's own before, other judges'.
    """
    said = [(one, exact(float(one))) for one in claims(text)]
    if not said or any(value == exact(score) or value in known for _, value in said):
        return ""
    return shown(said[0][1], 4)


def speaks(text: str) -> bool:
    """Whether it seems to tell a reader what to do."""
    return suspicious.instructs(suspicious.normal(text))


def speaking(reply: Reply) -> bool:
    """Whether anything that a judge wrote seems to tell a reader what to do."""
    return any(map(speaks, _texts(reply)))


def _texts(reply: Reply) -> Iterator[str]:
    position = reply.position
    yield from (mark.justification for mark in position.marks)
    yield from (*position.strengths, *position.weaknesses)
    for asked in reply.verification:
        yield from asked
    for dispute in reply.disputes:
        yield from (dispute.defense, dispute.challenge)
