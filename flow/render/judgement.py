"""A judgement, rubrics and a calibration; from the documents that ``--json`` prints. Pure."""

from __future__ import annotations

from flow.core.judging.rubric.model import missed_thresholds
from flow.core.text.display import clip, counted, names, visible
from flow.core.text.numbers import as_written, exact, told_apart
from flow.errors import more_than
from flow.render.screen import MEANING, Column, Screen, Styled, lines_of, mark_of
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from flow.render.text import Document

WIDTH = 88
"""Columns of a judge's words without a terminal."""
NEWEST = 20
"""Labels that the history shows one by one, at most."""
FIGURES = 14
"""Columns of the labels before figures."""
ABOUT = 200
"""Characters of a label's subject."""
_STATUSES = {"pass": "passes", "fail": "fails", "inconclusive": "undecided"}
"""A judge's word about a criterion, which proves nothing by itself."""


def judgement(document: Document, screen: Screen) -> list[str]:
    """A judgement for ``flow judge run --rubric`` and for a failed assertion."""
    value, bar = document["score"], document["passing_threshold"]
    word = "passed" if document["passed"] else "failed"
    figures = f"{told_apart(value, bar)}, needs {as_written(bar)}"
    asked = f"{visible(document['judge'])}, {visible(document['method'])}"
    if document["samples"] > 1:
        asked += f", spread {document['spread']:.2f}"
    if document["cost_usd"] is not None:
        asked += f", {document['cost_usd']:.4f} US dollars"
    missed = missed_thresholds(document["criteria"]) if exact(value) >= exact(bar) else []
    reasons = _paragraphs(screen, "because", [document["reasoning"]])
    reasons += _paragraphs(screen, "", _reasons(document["criteria"], "name", "reasoning"))
    reasons += _paragraphs(screen, "suggestion", document["suggestions"])
    return lines_of(
        [screen.head(MEANING[word], document["rubric"], word, figures)],
        _judged_criteria(document["criteria"], screen),
        [
            *screen.wrapped("judge", asked),
            *(screen.labelled("below", f"its own threshold: {visible(text)}") for text in missed),
            *reasons,
            *_paragraphs(screen, "remark", document["remarks"]),
        ],
    )


def _judged_criteria(criteria: Sequence[Document], screen: Screen) -> list[str]:
    """One row for each criterion: its score and, for several ballots, each one's."""
    rows = []
    for criterion in criteria:
        bar, value, scores = criterion.get("threshold"), criterion["score"], criterion["scores"]
        needs = f"{told_apart(value, bar, 2)}, needs {as_written(bar)}" if bar is not None else ""
        ballots = " ".join(f"{score:.2f}" for score in scores)
        spread = f"ballots {ballots}, spread {criterion['spread']:.2f}"
        rows.append(
            (
                mark_of("proved" if criterion["passed"] else "failed"),
                visible(criterion["name"]),
                needs or f"{value:.2f}",
                Styled(spread if len(scores) > 1 else "", "dim"),
            )
        )
    return screen.table((Column(), Column(cut=True), Column(), Column(spare=True)), rows)


def _reasons(rows: Iterable[Document], name: str, reason: str) -> list[str]:
    return [f"{row[name]}: {row[reason]}" for row in rows if row[reason]]


def _paragraphs(screen: Screen, label: str, texts: Iterable[str]) -> list[str]:
    """Foreign texts in lines of their own, next to a label."""
    bounded = screen if screen.width else screen._replace(columns=WIDTH + 1)
    shown = (visible(" ".join(text.split())) for text in texts)
    return [screen.plain(line) for text in shown if text for line in bounded.wrapped(label, text)]


def opinion(document: Document, screen: Screen) -> list[str]:
    """A judge's opinion of a goal (``flow judge run GOAL``)."""
    goal_id, verdict = visible(document["goal_id"]), visible(document["verdict"])
    right = f"confidence {document['confidence']:g}" if document["answered"] else ""
    word = verdict.replace("_", " ") if document["answered"] else "no opinion"
    rows = document["criterion_results"]
    table = [
        (
            mark_of(MEANING.get(row["status"], "undecided")),
            visible(row["criterion_id"]),
            _STATUSES.get(row["status"], visible(row["status"]).replace("_", " ")),
        )
        for row in rows
    ]
    unproved = names(document["unproved_by_commands"])
    return lines_of(
        [screen.head(MEANING.get(document["verdict"], "undecided"), goal_id, word, right)],
        screen.table((Column(), Column(), Column()), table),
        [
            *_paragraphs(screen, "because", [document["reason"]]),
            *_paragraphs(screen, "", _reasons(rows, "criterion_id", "reason")),
            *_paragraphs(screen, "hint", [document["next_step_hint"]]),
            *([screen.labelled("unproved", f"{unproved}, by their commands")] if unproved else []),
            screen.labelled("record", "none: this is an opinion, nothing is recorded"),
            screen.labelled("next", f"flow goal evaluate {goal_id}", "person"),
        ],
    )


def rubric(document: Document, screen: Screen) -> list[str]:
    """One rubric, as ``flow judge rubrics NAME`` shows it."""
    content, criteria = document["rubric"], []
    for criterion in content["criteria"]:
        own = f", needs {as_written(criterion['threshold'])}" if "threshold" in criterion else ""
        name = screen.paint("bold", visible(criterion["name"]))
        criteria.append(f"{name}  weight {criterion['weight']:g}{own}")
        bounded = screen if screen.width else screen._replace(columns=WIDTH + 1)
        text = visible(" ".join(criterion["description"].split()))
        criteria += map(screen.plain, bounded.wrapped("", text, width=1))
    return lines_of(
        [f"{screen.paint('bold', visible(document['name']))}  {visible(content['name'])}"],
        criteria,
        [
            screen.labelled("from", f"{document['origin']}: {visible(document['file'])}"),
            screen.labelled("passes at", as_written(content["passing_threshold"])),
        ],
    )


def rubrics(documents: Sequence[Document], screen: Screen) -> list[str]:
    """``flow judge rubrics``."""
    columns = (Column("rubric"), Column("from"), Column("passes at", right=True))
    rows: list[tuple[str | Styled, ...]] = []
    for document in documents:
        if "error" in document:
            broken = Styled("cannot be read", "failed")
            rows.append((visible(document["name"]), "project", "", broken))
            continue
        content = document["rubric"]
        listed = ", ".join(visible(c["name"]) for c in content["criteria"])
        bar = as_written(content["passing_threshold"])
        rows.append((visible(document["name"]), document["origin"], bar, listed))
    return screen.table((*columns, Column("criteria", cut=True)), rows, heads=True)


def calibration(document: Document, screen: Screen) -> list[str]:
    """Agreement with people: the confusion table and its statistics."""
    counts = document["confusion"]
    columns = (Column(), Column("judge: pass", right=True), Column("judge: fail", right=True))
    rows = [
        ("person: pass", str(counts["both_pass"]), str(counts["only_person"])),
        ("person: fail", str(counts["only_judge"]), str(counts["both_fail"])),
    ]
    kappa, belief = document["kappa"], document["believed"]
    interval = _interval(kappa["low"], kappa["high"])
    kappa_text = "not defined" if kappa["value"] is None else f"{kappa['value']:.2f}{interval}"
    figures = (
        ("agreement", _share_text(document["agreement"])),
        ("Cohen's kappa", kappa_text),
        ("sensitivity", _share_text(document["sensitivity"])),
        ("specificity", _share_text(document["specificity"])),
        ("believed", f"{'yes' if belief['ok'] else 'no'}: {visible(belief['reason'])}"),
    )
    return [
        *screen._replace(columns=None).table(columns, rows, heads=True),
        *(line for label, text in figures for line in screen.wrapped(label, text, width=FIGURES)),
    ]


def calibrated(document: Document, screen: Screen) -> list[str]:
    """``flow judge calibrate``."""
    silent = len(document["no_answer"])
    told = f"{silent} of {document['cases']} got no usable answer and do not count"
    unrecorded = "nothing: labels are people's word, and this is an agent's shell"
    return [
        _judge_line(document, screen),
        *calibration(document, screen),
        *([screen.labelled("cases", told, width=FIGURES)] if silent else []),
        *([] if document["recorded"] else screen.wrapped("recorded", unrecorded, width=FIGURES)),
    ]


def history(document: Document, screen: Screen) -> list[str]:
    """``flow judge history``."""
    blocks = [
        [_judge_line(judge, screen), *calibration(judge, screen)] for judge in document["judges"]
    ]
    columns = (
        *(Column("at"), Column("judge"), Column("about", cut=True)),
        *(Column("person"), Column("judge said"), Column("by")),
    )
    labels = document["labels"]
    rows = [
        (
            Styled(screen.at(str(label["at"])), "dim"),
            visible(label["judge"]),
            clip(visible(label["about"]), ABOUT),
            "pass" if label["person"] else "fail",
            "pass" if label["judged"] else "fail",
            visible(label["source"]),
        )
        for label in labels[-NEWEST:]
    ]
    every = more_than(len(labels), "flow judge history --json", NEWEST)
    newest = [screen.rule("the newest labels"), *screen.table(columns, rows, heads=True), *every]
    return lines_of(*blocks, newest if rows else [])


def _judge_line(document: Document, screen: Screen) -> str:
    """The judge, and the number of its labels by people."""
    name = screen.paint("bold", f"judge {visible(document['judge'])}")
    sources = document.get("sources") or {}
    told = ", ".join(f"{count} by {source}" for source, count in sorted(sources.items()))
    return f"{name}  {counted(document['labels'], 'label')}" + (
        f" ({visible(told)})" if told else ""
    )


def _share_text(share: Mapping[str, Any]) -> str:
    if share["value"] is None:
        return "no such label"
    counts = f"{share['hits']} of {share['of']}"
    return f"{share['value']:.2f}{_interval(share['low'], share['high'])}, {counts}"


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f" (95% {low:.2f} to {high:.2f})"
