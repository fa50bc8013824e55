"""The reasons of criteria that did not pass: each one's reason and the end of its output. Pure."""

from __future__ import annotations

from flow.core.evidence.model import UNDECIDED_KINDS
from flow.core.goal.model import JUDGED
from flow.core.text.display import clip, names, visible
from flow.core.text.shell_quote import shell_word
from flow.errors import MANY_ROWS
from flow.render.text import show
from flow.render.verdict.criterion_row import row_result
from flow.startup.typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from flow.core.decision.details import OutputTail, RowDetails
    from flow.render.text import Document
    from flow.render.verdict.sheet import VerdictSheet

    Shown = Literal["failed", "all", "none"]
    """The criteria whose output is shown."""

TAIL_LINES = 60
"""Lines of output on one screen; each criterion has at most
:data:`flow.core.decision.details.TAIL` of them."""
_REASON = 800
"""Characters of one criterion's reason."""
_OFF_TERMINAL = 400
"""Characters of a line of output without a terminal."""


def explanations(sheet: VerdictSheet, output: Shown) -> list[str]:
    """A block for each required criterion that did not pass; failed ones first."""
    lines: list[str] = []
    left_out: list[str] = []
    room = TAIL_LINES
    rows = [row for row in sheet.worst_first if _is_wanted(sheet, row, output)]
    for row in rows[:MANY_ROWS]:
        tail = None if output == "none" else sheet.of(row).output
        needed = len(tail.lines) if tail is not None else 0
        if left_out or needed > room:
            left_out.append(str(row.get("criterion_id")))
            continue
        room -= needed
        lines += _block(sheet, row, tail)
    left_out += [str(row.get("criterion_id")) for row in rows[MANY_ROWS:]]
    if left_out:
        command = sheet.person(sheet.evidence_of(left_out[0]))
        lines.append(f"{names(left_out, 10)}: {command}")
    return lines


def is_explained(row: Document) -> bool:
    """Whether a result needs more words than its row."""
    if row.get("outcome") in ("failed", "inconclusive"):
        return True
    judged = str(row.get("reason") or "").startswith(JUDGED)
    return judged and row.get("status") != "pass"


def _is_wanted(sheet: VerdictSheet, row: Document, output: Shown) -> bool:
    details = sheet.of(row)
    if output == "all" and details.output is not None:
        return True
    return details.required and is_explained(row)


def _block(sheet: VerdictSheet, row: Document, tail: OutputTail | None) -> list[str]:
    screen, details = sheet.screen, sheet.of(row)
    criterion_id = visible(str(row.get("criterion_id")))
    own = _own_words(sheet, row, details)
    lines = [_output_line(sheet, line) for line in tail.lines] if tail is not None else []
    count = _count(tail)
    if row.get("outcome") in ("failed", "passed"):
        title = visible(" ".join(str(row.get("command") or details.way).split()))
        head = screen.rule(f"{criterion_id}  {title}", count)
        below = [*own, *lines, *_missing(sheet, tail)]
        return [head, *below] if below else []
    kind = row_result(row, details._replace(required=True, proved_before=False))
    head = screen.rule(f"{criterion_id}  {kind}")
    if lines:
        shown = f"what it printed, {count}:" if count else "what it printed:"
        lines.insert(0, screen.paint("dim", shown))
    return [head, *own, *lines, *([] if details.works else _missing(sheet, tail))]


def _own_words(sheet: VerdictSheet, row: Document, details: RowDetails) -> list[str]:
    """Flow's reason, and the command that would let the criterion show a failure."""
    reason = clip(show(row["reason"]), _REASON) if row.get("reason") else ""
    kind, _, rest = reason.partition(": ")
    text = rest if kind in UNDECIDED_KINDS and rest else reason.removeprefix(JUDGED)
    if not details.works:
        return sheet.sentence(text) if text else []
    wording = f"{row.get('criterion_id')}: {row.get('text')} :: {details.works}"
    amend = f"flow goal amend{sheet.name} --criterion {shell_word(wording)}"
    return [*sheet.sentence(f"{text}. This would let it show:"), sheet.person(amend)]


def _output_line(sheet: VerdictSheet, line: str) -> str:
    """A line of another program's output: never painted, never wider than the terminal."""
    width, screen = sheet.screen.width, sheet.screen
    shown = line.rstrip().expandtabs(8)
    if width is None:
        return visible(shown[:_OFF_TERMINAL]) + ("…" if len(shown) > _OFF_TERMINAL else "")
    return screen.cut(visible(shown[: 4 * width]), width)


def _count(tail: OutputTail | None) -> str:
    """``last 5 of 63``; empty if all lines are shown."""
    if tail is None or not tail.lines or tail.total == len(tail.lines):
        return ""
    return f"last {len(tail.lines)}" + (f" of {tail.total:,}" if tail.total is not None else "")


def _missing(sheet: VerdictSheet, tail: OutputTail | None) -> list[str]:
    return [sheet.screen.paint("dim", tail.missing)] if tail is not None and tail.missing else []
