"""The results on a goal's page: failures, unfolded, and every result, folded. Pure."""

from __future__ import annotations

from flow.core.text.display import clip
from flow.errors import MANY_ROWS, more_than
from flow.render.goal.standing import criterion_meaning
from flow.render.page.frame import TEXT, clock, command, facts, filters, link, mark, moment, section
from flow.render.page.grid import result_label
from flow.render.page.html import Markup, anchor, block, heads, join, tag
from flow.render.screen import took
from flow.render.verdict.criterion_row import row_meaning, row_result
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flow.core.decision.details import OutputTail
    from flow.core.report import GoalReport, ReportedCriterion, ReportedResult

OPEN_TAILS = 100_000
"""Characters of output below *Failed*; each output has at most
:data:`flow.core.decision.details.TAIL` lines.
"""
TAILS = 400_000
"""Characters of output below *Every result*."""
LINE = 400
"""Characters of a line of output."""
SHORT_TAIL = 8
"""Lines of an older result's output."""
COMMAND = 2_000
"""Characters of a command."""
ROWS = 3_000
"""Rows of all criteria together: each one's newest; equal results in sequence are one row."""


class _OutputSpace:
    """The space left for output, so that a page stays small with any amount of output."""

    def __init__(self, characters: int) -> None:
        self._left = characters

    def lines(self, tail: OutputTail | None, most: int) -> list[str]:
        """The last lines, or none if there is no space."""
        lines = [clip(line.rstrip(), LINE) for line in tail.lines[-most:]] if tail else []
        needed = sum(len(line) + 1 for line in lines)
        if needed > self._left:
            return []
        self._left -= needed
        return lines


def failures(report: GoalReport) -> Markup | None:
    """Failed and undecided criteria now, unfolded: command, end of output, duration."""
    wrong = [c for c in report.criteria if criterion_meaning(c.now) in ("failed", "undecided")]
    rows = [c for c in wrong if not _only_stale(c)]
    rows.sort(key=lambda c: (not c.required, criterion_meaning(c.now) != "failed"))
    if not rows:
        return None
    space = _OutputSpace(OPEN_TAILS)
    kinds = {criterion_meaning(c.now) for c in rows}
    words = [word for word in ("failed", "undecided") if word in kinds]
    optional = ", not required" if not any(c.required for c in rows) else ""
    note = f"{len(rows)} criteri{'on' if len(rows) == 1 else 'a'}{optional}"
    shown = [_open(criterion, space) for criterion in rows[:MANY_ROWS]]
    more = more_than(len(rows), f"flow verdict show {report.goal_id}")
    if more:
        shown.append(tag("p", more[0], class_="q s"))
    return section("failed", " and ".join(words).capitalize(), note, *shown)


def _only_stale(criterion: ReportedCriterion) -> bool:
    """Whether it passed, and only the files have changed since."""
    newest = criterion.results[-1] if criterion.results else None
    return newest is not None and row_meaning(newest.row) == "proved"


def _open(criterion: ReportedCriterion, space: _OutputSpace) -> Markup:
    newest = criterion.results[-1] if criterion.results else None
    name, meaning = anchor("open", criterion.id), criterion_meaning(criterion.now)
    head = tag(
        "header",
        tag(
            "h3",
            mark(meaning, meaning),
            tag("b", criterion.id),
            f" {clip(criterion.text, TEXT)}",
            id=name,
        ),
        None if criterion.required else tag("span", "not required", class_="tag"),
        tag("p", *_since(criterion)),
    )
    inside = [*_explained(criterion, newest, space)] if newest is not None else []
    body = tag("div", *inside, class_="in")
    return tag("article", head, body, class_="open", aria_labelledby=name)


def _since(criterion: ReportedCriterion) -> Iterator[object]:
    """The turn since which the result is the same, and the number of turns."""
    results, count = criterion.results, 0
    if not results:
        return
    meaning = row_meaning(results[-1].row)
    for result in reversed(results):
        if row_meaning(result.row) != meaning:
            break
        count += 1
    first = results[-count]
    yield "since "
    yield link(anchor("turn", first.turn), f"turn {first.turn}")
    yield f", {count} turns in a row" if count > 1 else ""


def _explained(
    criterion: ReportedCriterion, result: ReportedResult, space: _OutputSpace
) -> Iterator[Markup]:
    run = str(result.row.get("command") or "")
    if run:
        yield command(clip(run, COMMAND))
    tail = result.details.output
    lines = space.lines(tail, most=100)
    if lines:
        yield _output(lines, f"End of the output of {criterion.id}")
    reason = str(result.row.get("reason") or "")
    why = (
        tag("p", clip(reason, 4 * TEXT))
        if reason and reason != criterion.now["last_result"]
        else None
    )
    if why:
        yield why
    if result.details.works:
        yield tag("p", "This would let it show a failure: ", tag("code", result.details.works))
    fresh = criterion.now.get("fresh")
    yield facts(
        [
            ("Result", tag("span", row_result(result.row, result.details._replace(required=True)),
                           class_=row_meaning(result.row))),
            ("Files", "changed since: this result is stale" if fresh is False else ""),
            ("Took", _took(result)),
            ("Evidence", tag("code", result.evidence_id) if result.evidence_id else ""),
            ("Shown", _shown(tail, lines)),
        ]
    )  # fmt: skip


def _output(lines: Sequence[str], label: str) -> Markup:
    return tag("pre", block(lines), tabindex=0, role="group", aria_label=label)


def _took(result: ReportedResult) -> str:
    seconds, runs = result.details.seconds, result.details.runs
    parts = [] if seconds is None else [took(seconds)]
    parts += [f"{runs[0]} of {runs[1]} runs passed"] if runs else []
    return ", ".join(parts)


def _shown(tail: OutputTail | None, lines: Sequence[str]) -> str:
    if tail is None:
        return ""
    if tail.missing:
        return tail.missing
    if not lines:
        return "nothing: the page has no room left"
    if tail.total == len(lines):
        return "all of it"
    of = f" of {tail.total:,}" if tail.total is not None else ""
    return f"last {len(lines)}{of} lines"


# --- every result ---------------------------------------------------------------------------------


def every_result(report: GoalReport) -> Markup:
    """All results by criterion, the newest first, folded."""
    count = sum(1 for c in report.criteria for r in c.results if r.evidence_id)
    criteria = len(report.criteria)
    many = "criterion" if criteria == 1 else "criteria"
    note = f"{count:,} result{'s' * (count != 1)} of {criteria} {many}"
    pick = filters(
        "Which results are shown", [("only-all", "All"), ("only-open", "Failed and undecided")]
    )
    head = join(
        tag("p", note), tag("p", "On paper: failed and undecided ones only.", class_="paper"), pick
    )
    space = _OutputSpace(TAILS)
    most = max(SINGLE, ROWS // max(criteria, 1))
    every = f"flow goal history {report.goal_id} --details"
    rows = [_criterion(criterion, space, most, every) for criterion in report.criteria]
    return section("results", "Every result", head, *rows)


def _criterion(criterion: ReportedCriterion, space: _OutputSpace, most: int, every: str) -> Markup:
    meaning = criterion_meaning(criterion.now)
    summary = tag(
        "summary",
        mark(meaning),
        tag("b", criterion.id),
        tag("span", clip(criterion.text, TEXT), class_="ct"),
        tag("span", _past(criterion), class_="q"),
        class_="fold",
    )
    run = command(clip(criterion.command, COMMAND)) if criterion.command else None
    way = tag("p", f"Proved by {criterion.way}", class_="q") if criterion.way else None
    table = tag("p", "No result yet.", class_="q")
    if criterion.results:
        table = _table(criterion, space, most, every)
    name = anchor("c", criterion.id)
    return tag("details", summary, tag("div", run, way, table, class_="in"), class_="cr", id=name)


def _past(criterion: ReportedCriterion) -> str:
    """``failed at turns 1 to 4, undecided at 9``: the turns without a pass."""
    parts = []
    for meaning in ("failed", "undecided"):
        turns = [r.turn for r in criterion.results if row_meaning(r.row) == meaning]
        if turns:
            parts.append(f"{meaning} at {_turn_words(turns)}")
    return ", ".join(parts)


def _turn_words(turns: Sequence[int]) -> str:
    """``turns 1 to 4 and 7``."""
    intervals: list[list[int]] = []
    for turn in turns:
        if intervals and turn == intervals[-1][1] + 1:
            intervals[-1][1] = turn
        else:
            intervals.append([turn, turn])
    words = [f"{a}" if a == b else f"{a} to {b}" for a, b in intervals]
    word = "turn" if len(turns) == 1 else "turns"
    if len(words) > 3:
        return f"{len(turns):,} turns, the last {words[-1]}"
    return f"{word} {', '.join(words[:-1])}{' and ' if words[1:] else ''}{words[-1]}"


def _table(criterion: ReportedCriterion, space: _OutputSpace, most: int, every: str) -> Markup:
    head = heads(("Turn", "Result", "Took", "Began, UTC", "Evidence"), right=["Took"])
    groups = [*_grouped(criterion.results)]
    rows: list[Markup] = []
    newest = criterion.results[-1]
    for group in groups[:most]:
        rows += _rows(criterion, group, space, tail=newest not in group or not _is_open(criterion))
    more = more_than(len(groups), every, most)
    if more:
        rows.append(tag("tr", tag("td", more[0], colspan=5)))
    caption = tag("caption", f"All results of {criterion.id}, newest first", class_="vh")
    return tag("table", caption, tag("thead", head), tag("tbody", *rows), class_="res")


def _is_open(criterion: ReportedCriterion) -> bool:
    """Whether *Failed* already shows the newest result's output."""
    wrong = criterion_meaning(criterion.now) in ("failed", "undecided")
    return wrong and not _only_stale(criterion)


SINGLE = 20
"""Number of newest results with a row each, because the grid links to them."""


def _grouped(results: Sequence[ReportedResult]) -> Iterator[list[ReportedResult]]:
    """The results, newest first; older equal ones in sequence are grouped."""
    group: list[ReportedResult] = []
    for place, result in enumerate(reversed(results)):
        alone = place < SINGLE or not group or result_label(group[-1]) != result_label(result)
        if alone and group:
            yield group
            group = []
        group.append(result)
    if group:
        yield group


def _rows(
    criterion: ReportedCriterion,
    group: Sequence[ReportedResult],
    space: _OutputSpace,
    *,
    tail: bool,
) -> list[Markup]:
    result, oldest = group[0], group[-1]
    meaning = row_meaning(result.row)
    turn = link(anchor("turn", result.turn), f"Turn {result.turn}")
    if oldest is not result:
        turn = join(link(anchor("turn", oldest.turn), f"Turns {oldest.turn}"), f" to {result.turn}")
    words = row_result(result.row, result.details._replace(required=True))
    times = [tag("td", colspan=3)]
    if result.evidence_id:
        seconds = result.details.seconds
        times = [
            tag("td", "" if seconds is None else took(seconds)),
            tag("td", moment(result.at, clock(result.at)) if result.at else ""),
            tag("td", tag("code", result.evidence_id)),
        ]
    fine = "fine" if meaning in ("proved", "unasked") else None
    name = anchor("c", criterion.id, result.turn)
    rows = [
        tag("tr", tag("th", turn, scope="row"), tag("td", mark(meaning, meaning), f" {words}"),
            *times, id=name, class_=fine)
    ]  # fmt: skip
    lines = space.lines(result.details.output, SHORT_TAIL) if tail and not fine else []
    if lines:
        label = f"End of the output of {criterion.id} at turn {result.turn}"
        rows.append(tag("tr", tag("td", _output(lines, label), colspan=5), class_="tail"))
    return rows
