"""The criteria on a goal's page: facts, results by turn, unproved criteria. Pure."""

from __future__ import annotations

from flow.core.goal.model import JUDGED
from flow.core.text.display import clip, names
from flow.errors import FEW_ROWS, more_than
from flow.render.goal.standing import criterion_meaning
from flow.render.goal.status import result_words
from flow.render.page.frame import MARK_WORDS, TEXT, day, facts, legend, link, mark, moment
from flow.render.page.html import Markup, anchor, join, tag
from flow.render.screen import moment_of, took
from flow.render.verdict.criterion_row import row_meaning, row_result
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flow.core.report import GoalReport, ReportedCriterion, ReportedResult, ReportedTurn

COLUMNS = 20
"""Turns in the grid, at most; the newest count."""


def meaning_colour(meaning: str) -> str | None:
    """The class that colours a word; None for a meaning without a colour."""
    return meaning if meaning in ("proved", "failed", "undecided", "outside", "unasked") else None


def proof_of(criterion: ReportedCriterion) -> str:
    """The kind of proof of a proved criterion: a command, a judge, or a person's word."""
    newest = criterion.results[-1] if criterion.results else None
    if newest is not None and newest.details.approved_by:
        return "by a person’s word"
    if criterion.command:
        return "by their commands"
    judged = newest is not None and str(newest.row.get("reason") or "").startswith(JUDGED)
    return "by a judge" if judged else "by a person’s word"


def entry_count(number: int) -> str:
    """``54 entries``."""
    return f"{number:,} entr{'y' if number == 1 else 'ies'}"


def fact_line(report: GoalReport) -> Markup:
    """Branch, base, issue, turns, the newest turn, chain."""
    status, turns = report.status, report.turns
    chain = report.chain
    entries = join(mark("failed" if chain.faults else "proved"), f" {entry_count(chain.entries)}")
    return facts(
        [
            ("Branch", str(status["branch"] or "")),
            ("Base", tag("code", str(status["base_commit"])[:12]) if status["base_commit"] else ""),
            ("Issue", str(status["issue"] or "")),
            ("Turns", _turn_count(turns)),
            ("Last turn", moment(turns[-1].at) if turns else ""),
            ("Chain", entries if chain.entries or chain.faults else ""),
            ("From", join("the bundle ", tag("code", report.bundle)) if report.bundle else ""),
        ],
        "facts",
    )


def _turn_count(turns: Sequence[ReportedTurn]) -> str:
    if len(turns) < 2:
        return str(turns[-1].number) if turns else "none"
    first, last = moment_of(turns[0].at), moment_of(turns[-1].at)
    span = "" if first is None or last is None else f" in {took(last - first)}"
    return f"{turns[-1].number:,}{span}"


def grid(report: GoalReport) -> Markup:
    """A mark for each criterion at each of the newest turns, and one for the paths."""
    turns = report.turns[-COLUMNS:]
    amended = [turn.number for turn in turns[1:] if turn.amended]
    rows = [_grid_row(criterion, len(turns), amended) for criterion in report.criteria]
    table = tag(
        "table",
        tag("caption", *_caption(turns, len(report.turns), amended)) if turns else None,
        tag("thead", _head_row(turns, amended)),
        tag("tbody", *rows, _path_row(turns, amended, report)),
        class_="grid many" if len(turns) > 12 else "grid",
    )
    return tag(
        "section",
        tag("h2", "Criteria by turn", id="criteria"),
        table,
        legend(),
        aria_labelledby="criteria",
    )


def _caption(turns: Sequence[ReportedTurn], count: int, amended: Sequence[int]) -> list[object]:
    """The words over the grid of ``turns``, the newest of ``count``."""
    left_out = count > len(turns)
    return [
        f"The newest {len(turns)} of {count:,} turns; " if left_out else None,
        "each mark leads to its result, each number to its turn."
        if left_out
        else "Each mark leads to its result, each number to its turn.",
        *(
            [" The contract was ", link(anchor("amended", amended[-1]), "amended"),
             f" before turn {names([str(n) for n in amended], 5)}."]
            if amended
            else []
        ),
    ]  # fmt: skip


def _head_row(turns: Sequence[ReportedTurn], amended: Sequence[int]) -> Markup:
    """The numbers of the turns, each a link to its turn."""
    heads = [
        tag(
            "th",
            link(
                anchor("turn", turn.number),
                str(turn.number),
                aria_label=f"Turn {turn.number}, {day(turn.at)}"
                + (", after an amendment" if turn.amended else ""),
            ),
            scope="col",
            class_="am" if turn.number in amended else None,
        )
        for turn in turns
    ]
    return tag(
        "tr",
        tag("th", "Criterion", scope="col"),
        *heads,
        tag("th", "Now", scope="col", class_="now"),
    )


def _grid_row(criterion: ReportedCriterion, columns: int, amended: Sequence[int]) -> Markup:
    name = join(tag("b", criterion.id), " ", clip(criterion.text, TEXT))
    tags = [] if criterion.required else [" ", tag("span", "not required", class_="tag")]
    if not criterion.command:
        tags += [" ", tag("span", "judge or person", class_="tag")]
    cells = (
        [_cell(criterion, result, amended) for result in criterion.results[-columns:]]
        if columns
        else []
    )
    meaning = criterion_meaning(criterion.now)
    colour = meaning_colour(meaning) if meaning in ("failed", "undecided") else None
    now = tag("td", tag("span", now_words(criterion), class_=colour), class_="now")
    return tag(
        "tr",
        tag("th", link(anchor("c", criterion.id), name, class_="t"), *tags, scope="row"),
        *cells,
        now,
    )


def now_words(criterion: ReportedCriterion) -> str:
    """A criterion's newest result in a few words: ``exit 0``, ``stale, was exit 1``."""
    newest = criterion.results[-1] if criterion.results else None
    same = newest is not None and row_meaning(newest.row) == criterion_meaning(criterion.now)
    if newest is not None and same:
        return row_result(newest.row, newest.details._replace(required=True))
    return result_words({**criterion.now, "must_pass": True})


def _cell(criterion: ReportedCriterion, result: ReportedResult, amended: Sequence[int]) -> Markup:
    meaning = row_meaning(result.row)
    label = f"{criterion.id}, turn {result.turn}: {result_label(result)}"
    place = link(anchor("c", criterion.id, result.turn), mark(meaning), aria_label=label)
    return tag("td", place, class_="am" if result.turn in amended else None)


def result_label(result: ReportedResult) -> str:
    """``failed, exit 1: 4 of 14 failed``: a result in words, without its mark."""
    meaning = row_meaning(result.row)
    words = row_result(result.row, result.details._replace(required=True))
    word = MARK_WORDS.get(meaning, meaning)
    return word if words == word else f"{word}, {words}"


def _path_row(turns: Sequence[ReportedTurn], amended: Sequence[int], report: GoalReport) -> Markup:
    cells = []
    for turn in turns:
        outside = len(turn.outside)
        meaning = "outside" if outside else "proved" if turn.files_known else "unasked"
        files = "inside" if turn.files_known else "git could not say"
        files = f"{outside} file{'s' * (outside != 1)} outside" if outside else files
        target = anchor("turn", turn.number) if outside else "files"
        place = link(target, mark(meaning), aria_label=f"Paths, turn {turn.number}: {files}")
        cells.append(tag("td", place, class_="am" if turn.number in amended else None))
    changed = report.status.get("files")
    now = ""
    if changed and not changed["problems"]:
        now = "outside" if changed["outside"] else "inside"
    colour = "outside" if now == "outside" else None
    return tag(
        "tr",
        tag("th", link("files", "Stays inside its paths", class_="t"), scope="row"),
        *cells,
        tag("td", tag("span", now, class_=colour), class_="now"),
    )


def not_proved(report: GoalReport) -> Markup:
    """The things that a reader must not take for proved; never empty."""
    rows = [*_unproved_rows(report)]
    shown = [
        tag("li", tag("b", name), tag("span", *parts))
        if name
        else tag("li", tag("span", *parts), class_="wide")
        for name, *parts in rows[:FEW_ROWS]
    ]  # fmt: skip
    rest = more_than(len(rows), "", FEW_ROWS)
    shown += [tag("li", link("results", more), class_="wide") for more in rest]
    where = "elsewhere, as its bundle says" if report.bundle else "on one machine"
    measured = f"was measured {where}, for these files only"
    told = measured if report.evidence or report.turns else "nothing was measured yet"
    all_row = tag(
        "li", tag("b", "All"), tag("span", f"{told}: see ", link("limitations", "limitations"), ".")
    )
    head = tag("h2", "What is not proved", id="not-proved")
    return tag(
        "section", head, tag("ul", *shown, all_row), class_="np", aria_labelledby="not-proved"
    )


def _unproved_rows(report: GoalReport) -> Iterator[tuple[object, ...]]:
    if report.chain.faults:
        yield "", "The ", link("record", "record is damaged"), ": no result of it is a proof."
    order = ("failed", "undecided", "unasked", "proved")
    ranked = sorted(report.criteria, key=lambda c: order.index(criterion_meaning(c.now)))
    for criterion in ranked:
        yield from _unproved(criterion)
    proof = (report.verdict or {}).get("proof") or {}
    if proof.get("files"):
        files = names([str(file["path"]) for file in proof["files"]], 2)
        yield "", "The proof itself changed while the goal was worked on: ", tag("code", files), "."
    for text in report.status.get("red_first") or ():
        yield "", clip(str(text), TEXT)
    for act in report.status.get("approvals") or ():
        if not act["vouched"]:
            yield "", f"The approval of {act['about']} is not known to this user’s own record."


def _unproved(criterion: ReportedCriterion) -> Iterator[tuple[object, ...]]:
    meaning, place = criterion_meaning(criterion.now), anchor("c", criterion.id)
    aside = "" if criterion.required else " It is not required."
    if meaning == "proved":
        how = proof_of(criterion)
        if how == "by a judge":
            yield criterion.id, "is a judge’s ", link(place, "opinion"), f".{aside}"
        elif how != "by their commands":
            yield criterion.id, "rests on ", link(place, "a person’s word"), f".{aside}"
        return
    newest = criterion.results[-1] if criterion.results else None
    words = now_words(criterion)
    word = {"failed": "failed", "undecided": "undecided"}.get(meaning, "")
    label = (
        tag("span", f"{word}: ", class_=meaning) if word and not words.startswith(word) else None
    )
    reason = (
        str(newest.row.get("reason") or "") if newest is not None and meaning == "undecided" else ""
    )
    told = f"{words}. {clip(reason, 160)}" if reason and reason not in words else words
    kind = reason.partition(": ")[0]
    if kind and (words == kind or words.startswith(f"{kind}:")):  # the reason says it, and why
        told = clip(reason, 160)
    yield criterion.id, label, link(place, told), f".{aside}"
