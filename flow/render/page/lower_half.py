"""The lower half of a goal's page: changed files, durations, record, limitations. Pure."""

from __future__ import annotations

from flow.core.boundary.globs import Globs, path_bytes, why_not
from flow.core.evidence.model import GENERAL_LIMITATIONS
from flow.core.text.display import clip, names, visible
from flow.errors import FEW_ROWS, MANY_ROWS, cut_list, more_than
from flow.render.page.frame import TEXT, command, facts, link, mark, section
from flow.render.page.grid import entry_count
from flow.render.page.html import Markup, anchor, heads, join, tag
from flow.render.page.to_do import check_line
from flow.render.screen import took
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.core.report import GoalReport, ReportedTurn

BARS = 40
"""Turns in the chart of durations, at most; the newest count."""
LIMITS = 100
"""Limitations on the page, at most."""


def files(report: GoalReport) -> Markup:
    """The changed files against the goal's paths."""
    constraints = report.contract.get("constraints") or {}
    every = f"flow goal inspect {report.goal_id} --json"
    patterns = {
        name: [str(p) for p in constraints.get(f"{name}_paths") or ()]
        for name in ("allowed", "denied", "protected")
    }
    paths = facts(
        [
            ("Allowed", _patterns(patterns["allowed"], every) or "every path"),
            ("Denied", _patterns(patterns["denied"], every)),
            ("Protected", _patterns(patterns["protected"], every)),
        ],
        "paths",
    )
    rows = _ChangedFiles(report, patterns["allowed"]).rows()
    now = report.status.get("files")
    note = "as they are now" if now else "as the record has them"
    if now:
        outside = len(now["outside"])
        inside = f"{outside} outside" if outside else "none outside"
        note = f"{len(now['changed']):,} since the base, {inside}"
    elif not rows:
        note = "the record names none; git shows what the branch changed"
    problems = (
        [tag("p", f"git cannot say: {names(now['problems'], 3)}")]
        if now and now["problems"]
        else []
    )
    columns = (tag("span", "Mark", class_="vh"), "File", "Added", "Gone", "Allowed by", "Note")
    head = heads(columns, right=["Added", "Gone"])
    caption = tag("caption", "Changed files, and what allows each of them", class_="vh")
    table = tag("table", caption, tag("thead", head), tag("tbody", *rows[:MANY_ROWS]), class_="ft")
    more = more_than(len(rows), f"flow goal status {report.goal_id} --json")
    return section("files", "Changed files", note, paths, *problems, table if rows else None,
                   tag("p", more[0], class_="q s") if more else None)  # fmt: skip


def _patterns(patterns: Sequence[str], every: str) -> Markup:
    pieces: list[object] = []
    for pattern in cut_list(patterns, every, 2 * FEW_ROWS):
        pieces += [" · " if pieces else None, tag("code", clip(pattern, TEXT))]
    return join(*pieces)


class _ChangedFiles:
    """Rows for each file that is changed, was outside, or is part of the proof.

    The record has a byte that is not UTF-8 in its shown form: files are compared in that form.
    """

    def __init__(self, report: GoalReport, allowed: Sequence[str]) -> None:
        now: Mapping[str, Any] = report.status.get("files") or {}
        verdict = report.verdict or {}
        violations = now.get("outside", ()) if now else verdict.get("path_violations") or ()
        self._outside = {visible(str(path)) for path in violations}
        self._was_outside: dict[str, int] = {}
        for turn in report.turns:
            for path in turn.outside:
                self._was_outside.setdefault(visible(path), turn.number)
        self._changed = {visible(path): path for path in now.get("changed", ())}
        self._proof = _by_path(verdict.get("proof"))
        self._counted = self._proof | _by_path(verdict.get("outside"))
        acts = report.status.get("approvals") or ()
        self._approved = {visible(path) for act in acts for path in act["paths"]}
        globs = [pattern for pattern in allowed if why_not(pattern) is None]
        self._compiled = [(pattern, Globs([pattern], anchored=True)) for pattern in globs]
        self._unmatched = "no pattern" if allowed else "no limit"

    def rows(self) -> list[Markup]:
        """The rows, those of files that are outside first."""
        paths = [*self._changed, *sorted(self._outside), *sorted(self._counted)]
        paths = list(dict.fromkeys((*paths, *self._was_outside)))
        return [self._row(path) for path in sorted(paths, key=lambda path: not self._is_out(path))]

    def _is_out(self, path: str) -> bool:
        return path in self._outside

    def _row(self, path: str) -> Markup:
        row = self._counted.get(path, {})
        sign = mark("outside", "outside") if self._is_out(path) else mark("proved", "inside")
        return tag(
            "tr", tag("td", sign, class_="k"),
            tag("th", tag("code", clip(path, TEXT)), scope="row"),
            tag("td", _count("+", row.get("added")), class_="r nw"),
            tag("td", _count("−", row.get("removed")), class_="r nw"),
            tag("td", self._allowed_by(path), class_="q"), tag("td", self._note(path)),
        )  # fmt: skip

    def _note(self, path: str) -> Markup:
        change = str(self._counted.get(path, {}).get("change") or "")
        notes = [change] if change != "changed" else []
        notes += ["part of the proof"] if path in self._proof else []
        notes += ["approved"] if path in self._approved else []
        note = join(", ".join(filter(None, notes)))
        first = self._was_outside.get(path)
        if not first or self._is_out(path):
            return note
        turn = link(anchor("turn", first), f"turn {first}")
        return join(note, ", " if note else None, "was outside at ", turn)

    def _allowed_by(self, path: str) -> Markup | str:
        """The first pattern that allows the file."""
        if self._is_out(path):
            return self._unmatched
        real = path_bytes(self._changed.get(path, path))
        by = next((name for name, glob in self._compiled if glob.first(real) is not None), None)
        return tag("code", by) if by else self._unmatched


def _by_path(part: Mapping[str, Any] | None) -> dict[str, Mapping[str, Any]]:
    """The documents of the files in one part of a verdict."""
    rows = (part or {}).get("files") or ()
    return {visible(str(row["path"])): row for row in rows if isinstance(row, dict)}


def _count(sign: str, count: object) -> str:
    return f"{sign}{count:,}" if isinstance(count, int) and count else ""


# --- durations ------------------------------------------------------------------------------------


def durations(report: GoalReport) -> Markup | None:
    """The durations: of the newest turn's commands, and of every turn."""
    timed = [
        (criterion, result)
        for criterion in report.criteria
        for result in criterion.results[-1:]
        if result.details.seconds is not None and result.evidence_id
    ]
    timed.sort(key=lambda pair: -(pair[1].details.seconds or 0.0))
    if not timed:
        return None
    longest = max(timed[0][1].details.seconds or 0.0, 0.001)
    rows = []
    for criterion, result in timed[:FEW_ROWS]:
        seconds = result.details.seconds or 0.0
        share = max(0.5, 100 * seconds / longest)
        runs = result.details.runs
        how = f"{runs[1]} runs" if runs else "" if criterion.command else "a judge"
        name = join(tag("b", criterion.id), " ", clip(criterion.text, 80))
        bar = tag(
            "svg",
            tag("rect", width="100%", height=10, rx=2, class_="f-tag"),
            tag("rect", width=f"{share:.1f}%", height=10, rx=2, class_="f-bar"),
            width="100%",
            height=10,
            aria_hidden="true",
        )
        rows.append(
            tag("tr", tag("th", name, scope="row"), tag("td", bar, class_="bc"),
                tag("td", took(seconds), class_="r nw"), tag("td", how, class_="q nw"))
        )  # fmt: skip
    rest = f", and {len(timed) - FEW_ROWS:,} shorter ones" if len(timed) > FEW_ROWS else ""
    table = tag(
        "table",
        tag("caption", f"The newest results, longest first{rest}"),
        tag("thead", heads(("Criterion", "Share", "Took", "How")), class_="vh"),
        tag("tbody", *rows),
    )
    last = report.turns[-1]
    note = f"turn {last.number} took {took(last.seconds)}" if last.seconds is not None else ""
    return section(
        "durations", "Durations", note, tag("div", table, _chart(report.turns), class_="dur")
    )


def _chart(turns: Sequence[ReportedTurn]) -> Markup | None:
    """The seconds of each turn, as bars."""
    shown = [turn for turn in turns[-BARS:] if turn.seconds is not None]
    if len(shown) < 2:
        return None
    minutes = max(turn.seconds or 0.0 for turn in shown) >= 120
    unit, word = (60.0, "Minutes") if minutes else (1.0, "Seconds")
    values = [(turn.number, (turn.seconds or 0.0) / unit) for turn in shown]
    highest = max(value for _, value in values) or 1.0
    width = 372 / len(values)
    bars = [tag("path", d="M0 88.5h372", class_="l-line")]
    for place, (number, value) in enumerate(values):
        height = max(1.0, 68 * value / highest)
        left, middle = place * width + width * 0.1, place * width + width / 2
        title = tag("title", f"Turn {number}: {took(value * unit)}")
        bars.append(
            tag("rect", title, x=f"{left:.1f}", y=f"{88 - height:.1f}", width=f"{width * 0.8:.1f}",
                height=f"{height:.1f}", rx=2, class_="f-bar")
        )  # fmt: skip
        if len(values) <= 14:
            text = f"{value:.1f}"
            bars.append(
                tag("text", text, x=f"{middle:.1f}", y=f"{82 - height:.1f}", text_anchor="middle")
            )
        if len(values) <= 20 or place % 5 == 0 or place == len(values) - 1:
            bars.append(tag("text", f"{number}", x=f"{middle:.1f}", y=105, text_anchor="middle"))
    label = ", ".join(f"turn {number} {value:.1f}" for number, value in values)
    chart = tag("svg", *bars, viewBox="0 0 372 110", role="img", class_="chart",
                aria_label=f"{word} of each turn: {label}")  # fmt: skip
    total = sum(turn.seconds or 0.0 for turn in turns)
    return tag(
        "figure", chart, tag("figcaption", f"{word} by turn, {took(total)} in all", class_="q s")
    )


# --- record and limitations -----------------------------------------------------------------------


def record(report: GoalReport) -> Markup:
    """The record behind the page, and the command that checks it."""
    chain, status = report.chain, report.status
    at = join(", head ", _digest(chain.head)) if chain.head else None
    whole = join(mark("proved"), f" whole: {entry_count(chain.entries)}", at)
    if chain.faults:
        faults = cut_list(chain.faults, f"flow evidence verify {report.goal_id}")
        whole = join(mark("failed"), " broken: ", [tag("div", clip(text, TEXT)) for text in faults])
    elif not chain.entries:
        whole = join("no entry yet")
    if chain.signers:
        signed = join(f"fits, by {names(chain.signers, 3)}; whose key that is, nothing here says")
    elif report.bundle:
        signed = join("none that was checked")
    else:
        signed = join("none here: ", tag("code", "flow evidence export --key"), " signs a copy")
    head = join(" at head ", _digest(chain.head)) if chain.head else None
    left = facts(
        [
            ("Chain", whole),
            ("Signature", signed),
            ("Check it", command(check_line(report))),
            ("This page", join("is a rendering of the record", head,
                               ". Where they differ, the record is right.")),
        ]
    )  # fmt: skip
    subject = _subject(report)
    tree = join("files ", _digest(subject.get("tree")), ", commit ", _digest(subject.get("head")))
    right = facts(
        [
            ("Contract", _digest(status["contract"])),
            ("Trust", clip(str(status["trust"] or ""), TEXT)),
            ("Run", tag("code", str(status["run_id"])) if status["run_id"] else ""),
            ("Measured on", tree if subject.get("tree") else ""),
            (
                "Written by",
                f"Flow {subject['flow_version']}" if subject.get("flow_version") else "",
            ),
        ]
    )
    return section("record", "Record and trust", "", tag("div", left, right, class_="rec"))


def _digest(value: object) -> Markup | None:
    text = str(value or "")
    number, colon, rest = text.partition(":")
    return tag("code", f"{number}{colon}{rest[:12]}" if colon else text[:12]) if text else None


def _subject(report: GoalReport) -> Mapping[str, Any]:
    """The subject of the newest turn."""
    for event in reversed(report.events):
        subject = event.get("subject")
        if isinstance(subject, dict):
            return subject
    return {}


def limitations(report: GoalReport) -> Markup:
    """The limitations of a pass on this page."""
    about: dict[str, list[str]] = {}
    for row in report.evidence:
        for limit in row["limitations"]:
            ids = about.setdefault(str(limit), [])
            ids += [name for name in row["proves"] if name not in ids]
    items = []
    for limit in sorted(about, key=lambda text: text not in GENERAL_LIMITATIONS)[:LIMITS]:
        named = names(about[limit], 5)
        general = limit in GENERAL_LIMITATIONS or not named
        items.append(tag("li", None if general else f"{named}: ", clip(limit, TEXT)))
    items += [
        tag("li", clip(text, 2 * TEXT))
        for text in cut_list(report.warnings, f"flow goal status {report.goal_id}", MANY_ROWS)
    ]
    if not items:
        items = [tag("li", "Nothing was measured.")]
    note = "what a pass here does not show"
    return section("limitations", "Limitations", note, tag("ul", *items, class_="lim"))
