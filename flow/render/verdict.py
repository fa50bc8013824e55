"""A verdict as a table and the lines below it. Pure."""

from __future__ import annotations

from flow.core.text.display import names, visible
from flow.errors import PATHS, cut_list, more_than
from flow.render.text import STYLE, field, label_block, open_first, show, table
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.render.text import Document, Paint

EVIDENCE_SUFFIX = ".evidence.yaml"


def verdict(document: Mapping[str, Any], paint: Paint, *, closed: str = "") -> list[str]:
    """The verdict's lines, from the document that ``last-verdict.json`` holds, or a part of it.

    ``closed`` is the terminal status that the goal has had since: nothing is left to confirm then.
    """
    results = document.get("criterion_results") or []
    lifecycle = document.get("lifecycle") or {}
    word = show(document.get("verdict"))
    lines = []
    if document.get("goal_id"):
        turn = lifecycle.get("turns_evaluated")
        turns = f", turn {show(turn)}" if turn is not None else ""
        lines.append(f"goal {show(document['goal_id'])}{turns}")
    if document.get("handed_in"):
        source = f" as {show(document['source'])}" if document.get("source") else ""
        at = show(document.get("recorded_at"))
        lines.append(field("handed in", f"{at}{source}; Flow did not record it after a run"))
    every = f"flow verdict show {show(document.get('goal_id'))} --json"
    lines += _results(results, paint, every, because=show(document.get("reason")))
    lines.append(field("verdict", f"{paint(STYLE.get(word, ''), word)} ({_delta_text(document)})"))
    if lifecycle.get("from") != lifecycle.get("to"):
        lines.append(field("status", f"{show(lifecycle['from'])} -> {show(lifecycle['to'])}"))
    lines.append(field("because", show(document.get("reason"))))
    if document.get("do") and not closed:
        lines.append(field("do", show(document["do"])))
    paths = [show(path) for path in document.get("path_violations") or []]
    lines += label_block("outside", cut_list(paths, every, PATHS))
    warnings = [show(warning) for warning in document.get("warnings") or []]
    lines += label_block("warning", cut_list(warnings, every))
    if document.get("run_id") and any(_has_evidence(row) for row in results):
        lines.append(field("evidence", f".flow/runs/{show(document['run_id'])}/evidence/"))
    proposed = document.get("proposed_transition")
    if proposed:
        goal_id, proposal_id = show(document.get("goal_id")), show(proposed.get("proposal_id"))
        lines.append(field("proposed", paint("proved", show(proposed.get("to")))))
        confirm = f"flow goal confirm {goal_id} --proposal {proposal_id}"
        lines.append(
            field("since", f"the goal is {closed}") if closed else field("to confirm", confirm)
        )
    elif document.get("next_step_hint"):
        lines.append(field("next", show(document["next_step_hint"])))
    return lines


def _delta_text(document: Mapping[str, Any]) -> str:
    confidence = document.get("confidence")
    words = show(document.get("delta"))
    return words if confidence in (None, 1, 1.0) else f"{words}, confidence {show(confidence)}"


def _results(results: Sequence[Document], paint: Paint, every: str, *, because: str) -> list[str]:
    """A row for each criterion, then each reason that ``because``, shown below, does not give."""
    if not results or not all(isinstance(row, dict) for row in results):
        return []
    rows = [("id", "status", "outcome", "result", "evidence")]
    ids_by_reason: dict[str, list[str]] = {}
    for row in open_first(results):
        code = row.get("exit_code")
        rows.append(
            (
                show(row.get("criterion_id")),
                show(row.get("status")),
                show(row.get("outcome")),
                ("-" if code is None else f"exit {show(code)}")
                + (", reused" if row.get("reused") else ""),
                _sidecar_name(row.get("evidence_ref")),
            )
        )
        reason = show(row.get("reason") or "")
        if row.get("reason") and f"{show(row.get('criterion_id'))} ({reason})" not in because:
            ids_by_reason.setdefault(reason, []).append(show(row.get("criterion_id")))
    lines = [f"  {names(ids, PATHS)}: {reason}" for reason, ids in ids_by_reason.items()]
    more = [f"  {line}" for line in more_than(len(results), every)]
    return ["", *table(rows, paint), *lines, *more, ""]


def _has_evidence(row: object) -> bool:
    return isinstance(row, dict) and bool(row.get("evidence_ref"))


def _sidecar_name(reference: object) -> str:
    """A sidecar's id; a line below the table names its folder."""
    if not isinstance(reference, str) or not reference:
        return "-"
    return visible(reference.rpartition("/")[2].removesuffix(EVIDENCE_SUFFIX))
