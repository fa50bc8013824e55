"""What a judge may answer about an execution, and whether it rests on the transcript.

What is not the asked-for shape is no answer at all. What has the shape and rests on no quote of
the transcript is a fault: it is sent back once, and marked in the card (SPEC 9.3).
"""

from __future__ import annotations

import re
from decimal import Decimal

from flow.core.judging.common.quotes import LEAST_QUOTE, QuotableTexts, sort_quotes
from flow.core.judging.common.shapes import are_texts, first_faults
from flow.core.judging.scorecard.model import CONSISTENCY, NAMES, CardBallot, CardMark, tenths
from flow.core.text.display import clip, names, visible
from flow.core.untrusted import suspicious
from flow.core.untrusted.fences import blunt
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flow.core.judging.common.quotes import SortedQuotes

    Occurs = Callable[[str, str], bool]
    """Dimension and quote."""

FIELDS = ("dimensions", "recommendations")
MARK_FIELDS = ("evidence", "justification", "score")
JUSTIFICATION_LIMIT = 1_000
"""Characters that are kept of a justification or a recommendation."""
QUOTE_LIMIT = 500
MOST_QUOTES = 10
MOST_OFFERED = 20

NOTHING_QUOTED = "it quotes nothing from the transcript"
INVENTED = "none of its quotes occurs in the transcript"
MOSTLY_INVENTED = "most of its quotes do not occur in the transcript"
TOO_SHORT = (
    f"its quotes are too short to be looked up: at least {LEAST_QUOTE} characters, or a whole line"
)
VAGUE = "its justification says nothing concrete"
_NUMBER = r"(\d{1,2}(?:\.\d)?)"
_OF_TEN = r"\s*(?:/\s*10(?:\.0)?(?!\d|\.\d)|out of (?:10|ten)\b)"
_STOP = r"(?=\s*[—–:]|\s-\s|\.?$)"
_CLAIM = re.compile(
    rf"^\W*(?:{'|'.join(NAMES)})\W+(?:is\W+)?{_NUMBER}(?:{_OF_TEN})?{_STOP}"
    rf"|^\W*{_NUMBER}{_OF_TEN}{_STOP}"
    rf"|\b(?:scor|rat|giv|gave|award)\w*\b[^.;:/\d]{{0,40}}:?\s*{_NUMBER}{_OF_TEN}",
    re.IGNORECASE,
)
"""Where a justification says which score it gives: ``Safety 9.0 — ...``, ``I give it 9/10``."""
_VAGUE = (
    "all good|as expected|average|excellent|fine|generally good|good|great|good enough|good job|"
    "good work|great work|it is fine|it works|looks fine|looks good|looks great|n a|no comment|"
    "no issues|no problems|none|ok|okay|perfect|seems fine|seems good|seems ok|very good|well done|"
    "works"
)
"""Whole justifications that name nothing (the seed's examples, and their like)."""


def other_score(said: str, score: Decimal) -> str:
    """The score that a justification claims, where that is not the one given; else empty."""
    claims = ["".join(groups) for groups in _CLAIM.findall(said)]
    if not claims or any(Decimal(one) == score for one in claims):
        return ""
    return claims[0]


def reply_schema() -> dict[str, Any]:
    """The JSON Schema of the reply, evidence first (SPEC 9.1)."""
    text = {"type": "string"}
    texts = {"type": "array", "items": text}
    mark = {
        "type": "object",
        "additionalProperties": False,
        "required": list(MARK_FIELDS),
        "properties": {
            "evidence": {
                **texts,
                "description": "Passages copied word for word from the transcript.",
            },
            "justification": {"type": "string", "description": "What the passages show."},
            "score": {"type": "number", "description": "From 1.0 to 10.0, one decimal."},
        },
    }
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(FIELDS),
        "properties": {
            "dimensions": {
                "type": "object",
                "additionalProperties": False,
                "required": list(NAMES),
                "properties": dict.fromkeys(NAMES, mark),
            },
            "recommendations": texts,
        },
    }


def read_reply(value: Mapping[str, Any], occurs: Occurs, *, compared: bool) -> CardBallot | str:
    """The ballot in a reply; where it is not usable, why not.

    ``compared`` says whether there are earlier cards: where there are none, what it says of
    consistency is not looked at beyond its shape.
    """
    fault = _keys(value, FIELDS, "the reply")
    if fault:
        return fault
    rows, offered = value["dimensions"], value["recommendations"]
    if not isinstance(rows, dict):
        return "its dimensions are no object"
    fault = _keys(rows, NAMES, "it")
    if fault:
        return fault
    if not are_texts(offered):
        return "its recommendations are no list of texts"
    marks: dict[str, CardMark] = {}
    faults = []
    for name in NAMES:
        mark = _mark(name, rows[name], occurs, weigh=compared or name != CONSISTENCY)
        if isinstance(mark, str):
            faults.append(f"{name}: {mark}")
        else:
            marks[name] = mark
    if faults:
        return first_faults(faults)
    wishes = [one_line(text, JUSTIFICATION_LIMIT) for text in offered[:MOST_OFFERED]]
    return CardBallot(marks, tuple(wish for wish in wishes if wish))


def one_line(text: str, most: int) -> str:
    """A judge's words on one line, with nothing in them that a reader could not see."""
    words = " ".join(text[: most * 8].split())
    line = visible(words)
    return clip(blunt(line) if suspicious.imitates(suspicious.as_read(words)) else line, most)


class Quotes:
    """Where a dimension's quotes may come from: the transcript; of consistency the mean, too."""

    def __init__(self, transcript: str, history: str = "") -> None:
        self._transcript = QuotableTexts([transcript])
        self._history = QuotableTexts([history])

    def occurs(self, dimension: str, quote: str) -> bool:
        """Whether ``quote`` stands where a justification of ``dimension`` may take it from."""
        if self._transcript.contain(quote):
            return True
        return dimension == CONSISTENCY and self._history.contain(quote)


def _mark(name: str, row: object, occurs: Occurs, *, weigh: bool) -> CardMark | str:
    """One dimension's mark; ``weigh``: whether its justification must rest on something."""
    if not isinstance(row, dict):
        return "it is no object"
    fault = _keys(row, MARK_FIELDS, "it")
    if fault:
        return fault
    score = tenths(row["score"])
    if isinstance(score, str):
        return score
    words, evidence = row["justification"], row["evidence"]
    if not isinstance(words, str) or not words.strip():
        return "it has no justification"
    if not are_texts(evidence):
        return "its evidence is no list of quotes"
    quotes = sort_quotes(evidence[:MOST_QUOTES], lambda quote: occurs(name, quote))
    said = one_line(words, JUSTIFICATION_LIMIT)
    wrong = _unfounded(said, quotes) if weigh else ""
    claim = other_score(said, score) if name != CONSISTENCY else ""  # which speaks of others too
    if claim and not wrong:
        wrong = f"its justification says {claim}, its score is {score}"
    kept, others = (
        tuple(one_line(quote, QUOTE_LIMIT) for quote in texts)
        for texts in (quotes.true, (*quotes.invented, *quotes.too_short))
    )
    return CardMark(score, said, kept, others, wrong, quotes.founded)


def _unfounded(said: str, quotes: SortedQuotes) -> str:
    """Why a justification rests on nothing; empty where it rests on something."""
    if not quotes.true:
        if quotes.invented:
            return INVENTED
        return TOO_SHORT if quotes.too_short else NOTHING_QUOTED
    if not quotes.founded:
        return MOSTLY_INVENTED
    words = " ".join(re.findall(r"\w+", said.lower()))
    return VAGUE if not words or words in _VAGUE.split("|") else ""


def _keys(value: Mapping[str, Any], wanted: tuple[str, ...], what: str) -> str:
    missing = [key for key in wanted if key not in value]
    if missing:
        return f"{what} has no {', '.join(missing)}"
    more = [str(key)[:60] for key in value if key not in wanted]
    return f"{what} has unknown fields: {names(more, 5)}" if more else ""
