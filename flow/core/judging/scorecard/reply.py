"""A judge's answer about an execution, and whether the transcript supports it.

A reply of another shape is no answer at all. A justification of the right shape without support by
quotes from the transcript is a fault: it is sent back once, and marked in the card (SPEC 9.3).
"""

from __future__ import annotations

import re
from decimal import Decimal

from flow.core.judging.common.prompt import TEXT, TEXTS, closed_object
from flow.core.judging.common.question import Unusable
from flow.core.judging.common.quotes import LEAST_QUOTE, QuotableTexts, SortedQuotes, sort_quotes
from flow.core.judging.common.reply import (
    are_texts,
    first_faults,
    harmless_line,
    read_mark,
    wrong_keys,
)
from flow.core.judging.scorecard.model import (
    CONSISTENCY,
    NAMES,
    SCALE,
    CardBallot,
    CardMark,
    tenths,
)
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Occurs = Callable[[str, str], bool]
    """Whether a quote (second) occurs in the sources of a dimension (first)."""

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
"""A justification's claim of a score: ``Safety 9.0 — ...``, ``I give it 9/10``."""
_VAGUE = (
    "all good|as expected|average|excellent|fine|generally good|good|great|good enough|good job|"
    "good work|great work|it is fine|it works|looks fine|looks good|looks great|n a|no comment|"
    "no issues|no problems|none|ok|okay|perfect|seems fine|seems good|seems ok|very good|well done|"
    "works"
)
"""Whole justifications without content (the seed's examples, and similar ones)."""


def other_score(justification: str, score: Decimal) -> str:
    """The score that a justification claims, if it is not the given one; else empty."""
    claims = ["".join(groups) for groups in _CLAIM.findall(justification)]
    if not claims or any(Decimal(claim) == score for claim in claims):
        return ""
    return claims[0]


def reply_schema() -> dict[str, Any]:
    """The JSON Schema of the reply, evidence first (SPEC 9.1)."""
    quotes = "Passages copied word for word from the transcript."
    mark = closed_object(
        {
            "evidence": {**TEXTS, "description": quotes},
            "justification": {**TEXT, "description": "What the passages show."},
            "score": {"type": "number", "description": "From 1.0 to 10.0, one decimal."},
        }
    )
    dimensions = closed_object(dict.fromkeys(NAMES, mark))
    return closed_object({"dimensions": dimensions, "recommendations": TEXTS})


def read_reply(
    value: Mapping[str, Any], occurs: Occurs, *, compared: bool
) -> CardBallot | Unusable:
    """The ballot in a reply.

    ``compared`` says whether there are earlier cards: without them, only the shape of the
    consistency mark is checked.
    """
    if fault := wrong_keys(value, FIELDS, "the reply"):
        return Unusable(fault)
    rows, offered = value["dimensions"], value["recommendations"]
    if not isinstance(rows, dict):
        return Unusable("its dimensions are no object")
    if fault := wrong_keys(rows, NAMES, "it"):
        return Unusable(fault)
    if not are_texts(offered):
        return Unusable("its recommendations are no list of texts")
    marks: dict[str, CardMark] = {}
    faults = []
    for name in NAMES:
        mark = _mark(name, rows[name], occurs, weigh=compared or name != CONSISTENCY)
        if isinstance(mark, Unusable):
            faults.append(f"{name}: {mark.reason}")
        else:
            marks[name] = mark
    if faults:
        return Unusable(first_faults(faults))
    lines = [harmless_line(text, JUSTIFICATION_LIMIT) for text in offered[:MOST_OFFERED]]
    return CardBallot(marks, tuple(filter(None, lines)), value)


class Quotes:
    """The sources of a dimension's quotes: the transcript; for consistency the mean, too."""

    def __init__(self, transcript: str, history: str = "") -> None:
        self._transcript = QuotableTexts([transcript])
        self._history = QuotableTexts([history])

    def occurs(self, dimension: str, quote: str) -> bool:
        """Whether ``quote`` occurs in a source of ``dimension``."""
        if self._transcript.contain(quote):
            return True
        return dimension == CONSISTENCY and self._history.contain(quote)


def _mark(name: str, row: object, occurs: Occurs, *, weigh: bool) -> CardMark | Unusable:
    """One dimension's mark; ``weigh``: whether its justification needs support."""
    if not isinstance(row, dict):
        return Unusable("it is no object")
    if fault := wrong_keys(row, MARK_FIELDS, "it"):
        return Unusable(fault)
    score = tenths(row["score"])
    if isinstance(score, Unusable):
        return score
    raw = read_mark(row, SCALE, "justification")
    if isinstance(raw, Unusable):
        return raw
    quotes = sort_quotes(raw.quotes[:MOST_QUOTES], lambda quote: occurs(name, quote))
    justification = harmless_line(raw.words, JUSTIFICATION_LIMIT)
    fault = _unfounded(justification, quotes) if weigh else ""
    # The justification of consistency mentions other scores, too.
    claim = other_score(justification, score) if name != CONSISTENCY else ""
    if claim and not fault:
        fault = f"its justification says {claim}, its score is {score}"
    evidence, discounted = (
        tuple(harmless_line(quote, QUOTE_LIMIT) for quote in texts)
        for texts in (quotes.true, (*quotes.invented, *quotes.too_short))
    )
    return CardMark(score, justification, evidence, discounted, fault, quotes.founded)


def _unfounded(justification: str, quotes: SortedQuotes) -> str:
    """Reason that a justification has no support; empty if it has some."""
    if not quotes.true:
        if quotes.invented:
            return INVENTED
        return TOO_SHORT if quotes.too_short else NOTHING_QUOTED
    if not quotes.founded:
        return MOSTLY_INVENTED
    words = " ".join(re.findall(r"\w+", justification.lower()))
    return VAGUE if not words or words in _VAGUE.split("|") else ""
