"""Lists from the record: evidence, journals, trust. Pure; foreign text is made visible."""

from __future__ import annotations

from flow.core.text.display import clip, names, visible
from flow.errors import ALL_IN_JSON, FEW_ROWS, MANY_ROWS, cut_list, more_than
from flow.render.screen import LABEL, MEANING, Column, Screen, Styled, lines_of, mark_of
from flow.render.text import (
    FIELDS,
    NARROW,
    WIDTH,
    local_times,
    newest_rows,
    outline,
    show,
    step_line,
    text_lines,
    why_stale,
)
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.render.text import Document

_EVIDENCE = (
    Column(),
    Column("evidence"),
    Column("about"),
    Column("type", spare=True),
    Column("result"),
    Column("stale", cut=True),
    Column("at", right=True),
)

_NO_STAMP = {"unstamped", "base"}
"""Reasons of evidence that never was about the goal's files: it is not called stale."""


def evidence_list(document: Document, screen: Screen) -> list[str]:
    """``flow evidence list``: a row for each piece, the newest last."""
    run_id, evidence = document["run_id"], document["evidence"]
    title = screen.paint("bold", f"run {show(run_id)}")
    if not evidence:
        return [f"{title}  no evidence yet"]
    newest_id = newest_rows(evidence, "created_at")[-1]["id"]
    newest = f"flow evidence show {show(newest_id)} --run-id {run_id}"
    return lines_of(
        [f"{title}  {len(evidence):,} piece{'' if len(evidence) == 1 else 's'} of evidence"],
        evidence_table(evidence, screen, f"flow evidence list --run-id {run_id} --json"),
        [screen.labelled("newest", newest, "person")],
    )


def evidence_table(evidence: Sequence[Document], screen: Screen, every: str) -> list[str]:
    """A row for each of the newest pieces of evidence; ``every`` is the command that shows all."""
    rows = newest_rows(evidence, "created_at")
    any_stale = any(set(row.get("why_stale", ())) - _NO_STAMP for row in rows)
    cells = [_evidence_row(row, screen, beside_stale=any_stale) for row in rows]
    return [*screen.table(_EVIDENCE, cells), *more_than(len(evidence), every)]


def _evidence_row(row: Document, screen: Screen, *, beside_stale: bool) -> list[str | Styled]:
    """One row. ``beside_stale``: another one is stale, so a row without stamp is marked."""
    reasons, foreign = row.get("why_stale", ()), bool(row.get("handed_in"))
    stale = why_stale(reasons) if set(reasons) - _NO_STAMP else ""
    told = beside_stale or "base" in reasons
    note = f"stale: {stale}" if stale else why_stale(reasons) * told
    note = ", ".join(filter(None, ["handed in" * foreign, note]))
    result = show(row["outcome"]) if row["outcome"] else ""
    if row["exit_code"] is not None:
        result = f"exit {show(row['exit_code'])}"
    meaning = "undecided" if stale else MEANING.get(str(row["outcome"]), "unasked")
    return [
        mark_of("unasked" if foreign else meaning),
        show(row["id"]),
        names(row["proves"], 5),
        Styled(show(row["type"]).replace("_", " "), "dim"),
        result,
        Styled(note, "undecided" if stale else "dim"),
        Styled(screen.at(str(row["created_at"])), "dim"),
    ]


def journal(document: Document, screen: Screen) -> list[str]:
    """``flow journal show``: the front matter, the newest artifacts, the text."""
    artifacts, body = document["artifacts"], document["body"]
    front = outline(document["front"]) if document["front"] else []
    head = screen.paint("bold", show(document["file"]))
    lines = [head, *_clipped(front, FIELDS, NARROW)]
    for artifact in artifacts[-FEW_ROWS:]:
        at = screen.at(str(artifact.get("captured_at") or ""))
        kind = screen.paint("bold", show(artifact.get("type")))
        rest = {k: v for k, v in artifact.items() if k not in ("type", "captured_at", "key")}
        fields = _clipped(outline(rest, 1), FIELDS, NARROW) if rest else []
        lines += ["", f"{screen.paint('dim', at)}  {kind}", *fields]
    text = [visible(line) for line in text_lines(body.strip("\n"))] if body.strip() else []
    return lines_of(
        lines, more_than(len(artifacts), ALL_IN_JSON, FEW_ROWS), _clipped(text, MANY_ROWS, WIDTH)
    )


def _clipped(lines: Sequence[str], most: int, width: int) -> list[str]:
    """The first lines of a part of a journal, each cut, and the number of the others."""
    return [clip(line, width) for line in cut_list(lines, ALL_IN_JSON, most)]


def trust_list(entries: Sequence[Document], screen: Screen) -> list[str]:
    """``flow trust list``: the contracts that may run here, the newest last."""
    if not entries:
        return []
    columns = (Column(), Column("goal"), Column("contract"), Column("how", cut=True), Column("at"))
    rows: list[list[str | Styled]] = [
        [
            mark_of("proved"),
            show(entry["goal_id"]),
            Styled(f"contract {show(entry['digest'])[:12]}", "dim"),
            show(entry["how"]),
            Styled(screen.at(str(entry["at"])), "dim"),
        ]
        for entry in newest_rows(entries, "at")
    ]
    return [*screen.table(columns, rows), *more_than(len(entries), "flow trust list --json")]


def trust_check(document: Document, next_step: str, screen: Screen) -> list[str]:
    """``flow trust check``: whether the commands may run here, and the next step if not."""
    trusted = document["trusted"]
    word = "is trusted" if trusted else "is not trusted"
    head = screen.head("proved" if trusted else "undecided", str(document["goal"]), word)
    return lines_of(
        [f"{head}: {local_times(show(document['why']), screen)}"],
        [
            screen.labelled("contract", show(document["digest"])),
            *([] if trusted else [step_line(screen, "next", next_step, LABEL)]),
        ],
    )
