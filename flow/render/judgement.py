"""A judgement as a table, and a calibration; from the documents that ``--json`` prints. Pure."""

from __future__ import annotations

from textwrap import wrap

from flow.core.judging.common.numbers import as_written, exact, told_apart
from flow.core.judging.rubric.model import missed_thresholds
from flow.errors import more_than
from flow.render.text import field, label_block, show, table
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.render.text import Document, Paint

WIDTH = 88
"""Columns of the words below a table."""
NEWEST = 20
"""Labels that the history shows one by one."""


def judgement(document: Document, paint: Paint) -> list[str]:
    """A judgement for ``flow judge run --rubric`` and for a failed assertion."""
    word = "passed" if document["passed"] else "failed"
    value, bar = document["score"], document["passing_threshold"]
    sign = "reaches" if exact(value) >= exact(bar) else "is below"
    lines = [f"rubric {show(document['rubric'])}"]
    lines += criterion_table(document["criteria"], paint)
    score = f"{told_apart(value, bar)} {sign} {as_written(bar)}"
    lines.append(
        field("result", f"{paint('proved' if document['passed'] else 'failed', word)} ({score})")
    )
    asked = f"{show(document['judge'])}, {show(document['method'])}"
    if document["samples"] > 1:
        asked += f", spread {document['spread']:.2f}"
    if document["cost_usd"] is not None:
        asked += f", {document['cost_usd']:.4f} US dollars"
    lines.append(field("judge", asked))
    for text in missed_thresholds(document["criteria"]):
        lines.append(field("below", f"its own threshold: {show(text)}"))
    lines += paragraph("because", document["reasoning"])
    for criterion in document["criteria"]:
        lines += paragraph("", f"{criterion['name']}: {criterion['reasoning']}")
    for suggestion in document["suggestions"]:
        lines += paragraph("suggestion", suggestion)
    for remark in document["remarks"]:
        lines += paragraph("remark", remark)
    return lines


def criterion_table(criteria: Sequence[Document], paint: Paint) -> list[str]:
    """One row for each criterion."""
    several = any(len(criterion["scores"]) > 1 for criterion in criteria)
    rows = [("criterion", "score", "result", *(("ballots", "spread") if several else ()))]
    for criterion in criteria:
        bar = criterion.get("threshold")
        value = criterion["score"]
        score = f"{value:.2f}" if bar is None else told_apart(value, bar, 2)
        ballots = " ".join(f"{score:.2f}" for score in criterion["scores"])
        more = (ballots, f"{criterion['spread']:.2f}") if several else ()
        word = "passed" if criterion["passed"] else "failed"
        rows.append((show(criterion["name"]), score, word, *more))
    return table(rows, paint)


def paragraph(label: str, text: str) -> list[str]:
    """Foreign text in lines of their own, beside a label."""
    lines = wrap(show(text.replace("\n", " ")), WIDTH - 12) or ["-"]
    return label_block(label, lines)


def rubric(document: Document) -> list[str]:
    """One rubric, as ``flow judge rubrics NAME`` shows it."""
    lines = [
        f"rubric {show(document['name'])}: {show(document['rubric']['name'])}",
        field("from", f"{document['origin']}: {show(document['file'])}"),
        field("passes at", f"{as_written(document['rubric']['passing_threshold'])}"),
    ]
    for criterion in document["rubric"]["criteria"]:
        own = f", at least {as_written(criterion['threshold'])}" if "threshold" in criterion else ""
        lines.append(f"  {show(criterion['name'])} (weight {criterion['weight']:g}{own})")
        wrapped = wrap(show(criterion["description"].replace("\n", " ")), WIDTH - 4)
        lines += [f"    {line}" for line in wrapped]
    return lines


def rubrics(documents: Sequence[Document]) -> list[str]:
    """``flow judge rubrics``."""
    rows = [("name", "from", "passes at", "criteria")]
    for document in documents:
        if "error" in document:
            rows.append((show(document["name"]), "project", "-", "cannot be read"))
            continue
        names = ", ".join(show(c["name"]) for c in document["rubric"]["criteria"])
        bar = f"{as_written(document['rubric']['passing_threshold'])}"
        rows.append((show(document["name"]), document["origin"], bar, names))
    return table(rows)


def calibration(document: Document) -> list[str]:
    """Agreement with people: the confusion table and its statistics."""
    counts = document["confusion"]
    lines = table(
        [
            ("", "judge: pass", "judge: fail"),
            ("person: pass", str(counts["both_pass"]), str(counts["only_person"])),
            ("person: fail", str(counts["only_judge"]), str(counts["both_fail"])),
        ]
    )
    kappa = document["kappa"]
    interval = _interval(kappa["low"], kappa["high"])
    kappa_text = "not defined" if kappa["value"] is None else f"{kappa['value']:.2f}{interval}"
    return [
        *lines,
        _wide_field("agreement", _share_text(document["agreement"])),
        _wide_field("Cohen's kappa", kappa_text),
        _wide_field("sensitivity", _share_text(document["sensitivity"])),
        _wide_field("specificity", _share_text(document["specificity"])),
    ]


def history(document: Document) -> list[str]:
    """``flow judge history``."""
    lines = []
    for judge in document["judges"]:
        sources = ", ".join(f"{n} by {source}" for source, n in sorted(judge["sources"].items()))
        lines.append(f"judge {show(judge['judge'])}: {judge['labels']} labels ({sources})")
        lines += calibration(judge)
        lines.append(_wide_field("believed", judge["believed"]["reason"]))
    if document["labels"]:
        rows = [("at", "judge", "about", "person", "judge said", "by")]
        rows += [
            (
                show(label["at"]),
                show(label["judge"]),
                show(label["about"])[:40],
                "pass" if label["person"] else "fail",
                "pass" if label["judged"] else "fail",
                show(label["source"]),
            )
            for label in document["labels"][-NEWEST:]
        ]
        count, every = len(document["labels"]), "flow judge history --json"
        lines += ["the newest labels:", *table(rows), *more_than(count, every, NEWEST)]
    return lines


def _wide_field(label: str, text: str) -> str:
    return f"  {label:<14} {text}"


def _share_text(share: Mapping[str, Any]) -> str:
    if share["value"] is None:
        return "no such label"
    counts = f"{share['hits']} of {share['of']}"
    return f"{share['value']:.2f}{_interval(share['low'], share['high'])}, {counts}"


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f" (95% {low:.2f} to {high:.2f})"
