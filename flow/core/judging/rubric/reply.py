"""Checking a judge's reply about a rubric (SPEC 9.1): usable, or no answer."""

from __future__ import annotations

from flow.core.judging.common.numbers import within
from flow.core.judging.common.quotes import sort_quotes
from flow.core.judging.common.shapes import are_texts, first_faults
from flow.core.judging.rubric.model import RubricBallot, RubricMark
from flow.core.text.display import names, visible
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.core.judging.common.quotes import QuotableTexts
    from flow.core.judging.rubric.model import Rubric

TEXT_LIMIT = 4_000
"""Characters that are kept of a reasoning."""
QUOTE_LIMIT = 1_000
MOST_QUOTES = 20
MOST_SUGGESTIONS = 20


def read_reply(
    rubric: Rubric, value: Mapping[str, Any], given: QuotableTexts
) -> RubricBallot | str:
    """The ballot in a reply; where it is not usable, why not.

    ``given`` is what the judge may quote. Usable is a reply that answers every criterion of
    ``rubric`` exactly once and no other, each with its evidence, a reasoning and a score from 0 to
    1, and that has an overall reasoning.
    """
    faults: list[str] = []
    marks: dict[str, RubricMark] = {}
    known = {criterion.name for criterion in rubric.criteria}
    rows = value.get("criteria")
    if not isinstance(rows, list):
        return "it has no list of criteria"
    for row in rows:
        name = row.get("name") if isinstance(row, dict) else None
        if not isinstance(name, str):
            faults.append("it has an entry without a criterion's name")
        elif name not in known:
            faults.append(f"it names {_short(name)}, which is no criterion of the rubric")
        elif name in marks:
            faults.append(f"it answers {_short(name)} more than once")
        else:
            marks[name] = RubricMark(0, "")
            mark = _mark(row, given)
            if isinstance(mark, str):
                faults.append(f"{_short(name)}: {mark}")
            else:
                marks[name] = mark
    missing = [criterion.name for criterion in rubric.criteria if criterion.name not in marks]
    if missing:
        faults.append(f"it does not answer {names(missing)}")
    reasoning = value.get("reasoning")
    if not isinstance(reasoning, str) or not reasoning.strip():
        faults.append("it has no overall reasoning")
    suggestions = value.get("suggestions")
    if not are_texts(suggestions):
        faults.append("its suggestions are no list of texts")
    if faults:
        return first_faults(faults)
    offered = [_clean(text, QUOTE_LIMIT) for text in suggestions or () if text.strip()]
    return RubricBallot(
        marks, _clean(str(reasoning), TEXT_LIMIT), tuple(offered[:MOST_SUGGESTIONS])
    )


def _mark(row: Mapping[str, Any], given: QuotableTexts) -> RubricMark | str:
    score, reasoning, evidence = row.get("score"), row.get("reasoning"), row.get("evidence")
    if not isinstance(score, int | float) or isinstance(score, bool):
        return "its score is no number"
    if not within(score, 0, 1):
        return "its score is not from 0 to 1"
    if not isinstance(reasoning, str) or not reasoning.strip():
        return "it has no reasoning"
    if not are_texts(evidence):
        return "its evidence is no list of quotes"
    quotes = sort_quotes(evidence[:MOST_QUOTES], given.contain)
    cleaned = (tuple(_clean(quote, QUOTE_LIMIT) for quote in texts) for texts in quotes)
    return RubricMark(score, _clean(reasoning, TEXT_LIMIT), *cleaned)


def _clean(text: str, most: int) -> str:
    """A judge's words without what a reader would not see; their lines stay."""
    lines = text[: most + 1].replace("\r\n", "\n").split("\n")
    shown = "\n".join(visible(line.replace("\t", " ")) for line in lines).strip()
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def _short(name: str) -> str:
    return f"'{visible(name)[:60]}'"
