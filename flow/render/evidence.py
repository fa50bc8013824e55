"""One piece of evidence: its result, its output, and, if requested, the whole record. Pure."""

from __future__ import annotations

from flow.core.decision.details import judged_figures, no_lines
from flow.core.text.display import clip, visible
from flow.core.text.plain_output import plain_lines
from flow.render.screen import MEANING, Screen, lines_of, took
from flow.render.text import outline, show, why_stale
from flow.startup.json import object_of
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.render.text import Document

_LABEL = 8
_NOT_THE_RECORD = ("output", "handed_in", "fresh", "why_stale", "run_id")


def evidence_show(document: Document, screen: Screen, more: str = "") -> list[str]:
    """``flow evidence show``: the result, the output, the reason.

    ``more`` is the command that also shows the record; if it is empty, the record is shown key by
    key.
    """
    body = object_of(document.get("evidence"))
    metadata = object_of(document.get("metadata"))
    record: list[str] = []
    if not more:
        record = outline({k: v for k, v in document.items() if k not in _NOT_THE_RECORD})
    return lines_of(
        [_head(document, metadata, body, screen)],
        _output(document, body, screen),
        record,
        _foot(document, metadata, body, screen, more),
    )


def _head(
    document: Document, metadata: Mapping[str, Any], body: Mapping[str, Any], screen: Screen
) -> str:
    meaning = MEANING.get(str(body.get("outcome")), "unasked")
    words = {"failed": "failed", "passed": "passed", "inconclusive": "undecided"}.get(
        str(body.get("outcome")), show(body.get("type")).replace("_", " ")
    )
    foreign = bool(document.get("handed_in"))
    if foreign:
        meaning = "unasked"
    elif body.get("type") == "human_approval":
        meaning, words = "proved", "approved by a person"
    elif body.get("type") == "path_boundary_check":
        meaning, words = "outside", "outside its paths"
    elif body.get("type") == "llm_judge_report":
        figures = judged_figures(_about(body), object_of(body.get("judgement")))
        meaning, words = "undecided", f"a judge, {figures}" if figures else "a judge"
    if body.get("exit_code") is not None:
        words += f", exit {show(body['exit_code'])}"
    words += ", handed in" * foreign
    if document.get("fresh") is False:
        meaning, words = "undecided", f"{words}, stale"
    right = []
    if isinstance(body.get("duration_seconds"), int | float):
        right.append(took(body["duration_seconds"]))
    if metadata.get("created_at"):
        right.append(screen.at(str(metadata["created_at"])))
    name = _about(body) or str(metadata.get("id") or document.get("id") or "evidence")
    return screen.head(meaning, clip(name, 100), words, ", ".join(right))


def _about(body: Mapping[str, Any]) -> str:
    """The criteria that the evidence is about."""
    proves = body.get("proves")
    if isinstance(proves, list) and proves:
        return ", ".join(map(str, proves))
    repeat = object_of(body.get("repeat"))
    return str(repeat.get("criterion") or "")


def _output(document: Document, body: Mapping[str, Any], screen: Screen) -> list[str]:
    """The output as far as it is stored; without a line, the reason in words."""
    title = visible(" ".join(str(body.get("command") or "").split()))
    text, before = document.get("output"), document.get("output_left_out")
    if text is None and not title:
        return []
    lines = plain_lines(str(text), only_colours=True) if text is not None else []
    note = f"{before:,} bytes before this" if isinstance(before, int) and before else ""
    shown = [visible(line.expandtabs(8)) for line in lines]
    if not any(line.strip() for line in lines):
        printed = body.get("output_bytes")
        missing = no_lines(stored=text is not None, blank=bool(text), printed=printed)
        shown = [screen.paint("dim", missing)]
    return [screen.rule(title or "output", note), *shown]


def _foot(
    document: Document,
    metadata: Mapping[str, Any],
    body: Mapping[str, Any],
    screen: Screen,
    more: str,
) -> list[str]:
    facts: list[tuple[str, str]] = []
    if body.get("reason"):
        facts.append(("why", show(body["reason"])))
    if document.get("handed_in"):
        facts.append(("counts", "for nothing: Flow keeps it for whoever recorded it"))
    if document.get("fresh") is False:
        facts.append(("stale", why_stale(document.get("why_stale") or ())))
    facts.append(("evidence", show(metadata.get("id") or document.get("id"))))
    lines = [
        line
        for label, text in facts
        for line in screen.wrapped(label, screen.plain(text), width=_LABEL)
    ]
    return [*lines, *([screen.labelled("more", more, width=_LABEL)] if more else [])]
