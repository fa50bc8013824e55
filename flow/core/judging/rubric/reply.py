"""Checking a judge's reply about a rubric (SPEC 9.1): usable, or no answer."""

from __future__ import annotations

from flow.core.judging.common.question import Unusable
from flow.core.judging.common.quotes import QuotableTexts, sort_quotes
from flow.core.judging.common.reply import (
    Mark,
    Scale,
    are_texts,
    first_faults,
    read_mark,
    read_marks,
)
from flow.core.judging.rubric.model import Rubric, RubricBallot
from flow.core.text.display import clip, visible
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


SCALE = Scale(0, 1, "0 to 1")
TEXT_LIMIT = 4_000
"""Characters that are kept of a reasoning."""
QUOTE_LIMIT = 1_000
MOST_QUOTES = 20
MOST_SUGGESTIONS = 20


def read_reply(
    rubric: Rubric, value: Mapping[str, Any], quotable: Sequence[str]
) -> RubricBallot | Unusable:
    """The ballot in a reply.

    ``quotable`` are the texts that the judge may quote. A usable reply answers every criterion of
    ``rubric`` exactly once and no other, each with its evidence, a reasoning and a score from 0 to
    1, and has an overall reasoning.
    """
    texts = QuotableTexts(quotable)

    def mark(name: str, row: Mapping[str, Any]) -> Mark | Unusable:
        raw = read_mark(row, SCALE, "reasoning")
        if isinstance(raw, Unusable):
            return raw
        quotes = sort_quotes(raw.quotes[:MOST_QUOTES], texts.contain)
        cleaned = (tuple(_clean(quote, QUOTE_LIMIT) for quote in part) for part in quotes)
        return Mark(name, raw.score, _clean(raw.words, TEXT_LIMIT), *cleaned)

    rows, reasoning = value.get("criteria"), value.get("reasoning")
    if not isinstance(rows, list):
        return Unusable("it has no list of criteria")
    wanted = [criterion.name for criterion in rubric.criteria]
    marks, faults = read_marks(rows, wanted, mark, verb="answer", whole="the rubric")
    if not isinstance(reasoning, str) or not reasoning.strip():
        faults.append("it has no overall reasoning")
    suggestions = value.get("suggestions")
    if not are_texts(suggestions):
        faults.append("its suggestions are no list of texts")
    if faults:
        return Unusable(first_faults(faults))
    offered = [_clean(text, QUOTE_LIMIT) for text in suggestions or () if text.strip()]
    overall = _clean(str(reasoning), TEXT_LIMIT)
    return RubricBallot(marks, overall, tuple(offered[:MOST_SUGGESTIONS]), value)


def _clean(text: str, most: int) -> str:
    """A judge's words without invisible characters; their lines stay."""
    lines = text[: most + 1].replace("\r\n", "\n").split("\n")
    shown = "\n".join(visible(line.replace("\t", " ")) for line in lines).strip()
    return clip(shown, most)
