"""A criterion's result in a mark and a few words, from its row in a verdict. Pure."""

from __future__ import annotations

from flow.core.decision.explain import FUZZY
from flow.core.evidence.model import UNDECIDED_KINDS
from flow.core.goal.model import JUDGED
from flow.core.text.display import clip, visible
from flow.render.screen import took
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.core.decision.details import RowDetails
    from flow.render.text import Document

_RESULT = 44
"""Characters of a result."""


def row_meaning(row: Document) -> str:
    """The mark of a criterion's row."""
    outcome, status = row.get("outcome"), row.get("status")
    if outcome == "failed" and status != "evidence_collected":
        return "failed"
    if outcome in ("passed", "failed", "inconclusive"):
        return "proved" if status == "pass" else "undecided"
    reason = str(row.get("reason") or "")
    if row.get("command") is None and status == "pass":
        return "proved"
    if reason.startswith(JUDGED):
        return "failed" if status == "fail" else "undecided"
    return "unasked"


def row_result(row: Document, details: RowDetails, *, waits: bool = False) -> str:
    """A criterion's result in a few words; ``waits``: an unmeasured one waits for a person."""
    outcome, parts = row.get("outcome"), []
    if outcome in ("passed", "failed"):
        parts = [_exit_words(row, details)]
        passed, runs = details.runs or (0, 0)
        parts += [f"{passed} of {runs}"] if runs else []
        parts += ["stale"] if row.get("status") == "evidence_collected" else []
        parts += ["reused"] if row.get("reused") else []
    elif outcome == "inconclusive":
        parts = [_undecided_words(row, details)]
    else:
        parts = [_unmeasured_words(row, details, waits=waits)]
    parts += ["proved before"] if details.proved_before else []
    parts += [] if details.required else ["not required"]
    return visible(", ".join(parts))


def _exit_words(row: Document, details: RowDetails) -> str:
    code, reason = row.get("exit_code"), str(row.get("reason") or "")
    if type(code) is not int:
        return clip(reason, _RESULT) if reason else str(row.get("outcome"))
    alone = details.required and not details.proved_before and not row.get("reused")
    return f"exit {code}: {details.failure}" if details.failure and alone else f"exit {code}"


def _undecided_words(row: Document, details: RowDetails) -> str:
    reason = str(row.get("reason") or "")
    kind = reason.partition(": ")[0]
    if kind == "flaky" and details.runs:
        return f"flaky: {details.runs[0]} of {details.runs[1]} passed"
    if kind in UNDECIDED_KINDS:
        return kind
    if "its time limit" in reason:
        return "out of time"
    code = row.get("exit_code")
    if type(code) is int:
        return f"exit {code}, undecided"
    return "undecided"


def _unmeasured_words(row: Document, details: RowDetails, *, waits: bool) -> str:
    reason = str(row.get("reason") or "")
    if row.get("outcome") == "not_executed":
        return "not run"
    if reason.startswith(JUDGED):
        return f"judge {details.judged}" if details.judged else "judged"
    if row.get("command") is None:
        if row.get("status") == "pass":
            by = details.approved_by
            return f"approved by {clip(by, 30)}" if by else clip(reason, _RESULT) or "approved"
        return "waits for you" if waits and reason == FUZZY else "not asked"
    return clip(f"not run: {reason}", _RESULT) if reason else "not run"


def judged_line(row: Document, details: RowDetails) -> str:
    """``[judge] AC5 proved, 0.84, needs 0.75, 38 s``: a judge's result on one line."""
    word = {"pass": "proved", "fail": "failed"}.get(str(row.get("status")), "undecided")
    seconds = "" if details.seconds is None else took(details.seconds)
    parts = filter(None, (word, details.judged, seconds))
    return f"[judge] {visible(str(row.get('criterion_id')))} {visible(', '.join(parts))}"
