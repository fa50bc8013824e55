"""The end of a verdict's screen: files outside, remarks, warnings, the next commands. Pure."""

from __future__ import annotations

from flow.core.decision.explain import beside_rows, in_words
from flow.core.decision.verdict import CriterionResult
from flow.core.goal.model import JUDGED
from flow.core.layout import HOOK_FILES
from flow.core.text.display import clip, counted, names
from flow.errors import MANY_ROWS, cut_list, more_than
from flow.render.screen import Column, Styled, mark_of
from flow.render.text import local_times, show, step_line, steps_of
from flow.render.verdict.why import is_explained
from flow.startup import re
from flow.startup.json import items_of, object_of, rows_of
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from flow.render.text import Document
    from flow.render.verdict.sheet import VerdictSheet

_LABEL = 6
"""Least width of the labels, in columns."""
_REFUSED = 60
"""Characters of the reason that no path allows a file."""


def foot(sheet: VerdictSheet) -> list[str]:
    """Remarks and warnings, then the next step, whose command is complete."""
    facts, steps = list(_facts(sheet)), list(next_steps(sheet))
    width = max([_LABEL, *(len(label) for label, _ in (*facts, *steps))])
    lines = []
    for label, text in facts:
        told = text if sheet.screen.columns is None else local_times(text, sheet.screen)
        wrapped = sheet.screen.wrapped(label, sheet.screen.plain(told), width=width)
        if label == "warning":
            wrapped[0] = sheet.screen.paint("undecided", label) + wrapped[0][len(label) :]
        lines += wrapped
    return [*lines, *(step_line(sheet.screen, label, text, width) for label, text in steps)]


def _facts(sheet: VerdictSheet) -> Iterator[tuple[str, str]]:
    remark = _remark(sheet)
    if remark:
        yield "judge" if remark.startswith(JUDGED) else "why", remark.removeprefix(JUDGED)
    confidence = sheet.document.get("confidence")
    if confidence not in (None, 0, 1) and not any(sheet.of(row).judged for row in sheet.rows):
        yield "judge", f"confidence {show(confidence)}"
    for text in cut_list([show(warning) for warning in _warnings(sheet)], sheet.every):
        yield "warning", text
    stale = items_of(sheet.document.get("stale"))
    if stale:
        yield "since", f"what it proposed is stale: {'; '.join(map(show, stale))}"
    elif sheet.closed:
        yield "since", f"the goal is {sheet.closed}"
    elif sheet.document.get("do") and sheet.screen.columns is None:  # an agent acts on this word
        yield "do", show(sheet.document["do"])


def next_steps(sheet: VerdictSheet) -> Iterator[tuple[str, str]]:
    """(label, step) with the labels ``next``, ``or``, ``more``; a step ends with its command."""
    document, proposed = sheet.document, sheet.document.get("proposed_transition")
    if sheet.closed or (proposed and sheet.asked):
        return
    confirmable = proposed and document.get("do") != "ask_trust"
    if confirmable and document.get("stale"):
        yield "next", f"flow goal evaluate{sheet.name}"
        return
    if confirmable:
        line = f"flow goal confirm{sheet.name}"
        if sheet.screen.columns is None:
            proposal_id = proposed.get("proposal_id") if isinstance(proposed, dict) else None
            line += f" --proposal {show(proposal_id)[:12]}"
        yield "next", line
        return
    if sheet.paths and advised_files(sheet):
        yield from _outside_steps(sheet)
        return
    hint = document.get("next_step_hint")
    if not hint:
        return
    hint = sheet.screen.typed(_short(sheet, show(hint)))
    own, judges, words = f"; {hint}".partition(f"; {JUDGED}")
    if judges:  # never on a command's line, which somebody may copy into a shell
        yield "judge", words
    yield from steps_of(own.removeprefix("; ") or f"flow goal evaluate{sheet.name}")
    explained = [row for row in sheet.worst_first if is_explained(row) and sheet.of(row).output]
    if explained and explained[0].get("evidence_ref"):
        yield "more", sheet.evidence_of(explained[0].get("criterion_id"))


def _short(sheet: VerdictSheet, line: str) -> str:
    """A line without the goal's id, if the commands work without it."""
    if not sheet.goal_id or sheet.named:
        return line
    pattern = rf"(\bflow (?:goal|trust) [a-z]+) {re.escape(sheet.goal_id)}(?![\w-])"
    return re.sub(pattern, r"\1", line)


def _remark(sheet: VerdictSheet) -> str:
    """The part of the verdict's reason that the rows do not show."""
    document = sheet.document
    if not document.get("reason"):
        return ""
    needed = [_as_result(row) for row in sheet.required()]
    remark = beside_rows(str(document["reason"]), needed, sheet.paths)
    return show(in_words(remark)) if remark else ""


def _as_result(row: Document) -> CriterionResult:
    code = row.get("exit_code")
    return CriterionResult(
        str(row.get("criterion_id")),
        str(row.get("status")),
        str(row.get("outcome")),
        code if type(code) is int else None,
        reason=str(row.get("reason") or ""),
    )


def _warnings(sheet: VerdictSheet) -> list[object]:
    """The warnings that no row shows."""
    told = [
        f"{row.get('criterion_id')} failed; it is not must_pass, so it does not count"
        for row in sheet.rows
        if not sheet.of(row).required
    ]
    return [text for text in items_of(sheet.document.get("warnings")) if text not in told]


# --- files outside the goal's paths ---------------------------------------------------------------


def outside(sheet: VerdictSheet) -> list[str]:
    """The files outside, each with its remedy and the command for it."""
    paths, screen = sheet.paths, sheet.screen
    if not paths:
        return []
    files = advised_files(sheet)
    count = max(len(paths), len(files))
    allowed = names(sheet.details.allowed_paths, 8)
    files_are = counted(count, "file", ("is", "are"))
    head = f"{files_are} outside its paths{f' ({allowed})' if allowed else ''}:"
    if sheet.details.to_top:
        head = f"{head[:-1]}. The lines are for the top of the checkout: {sheet.details.to_top}"
    rows: list[list[str | Styled]] = [
        [
            mark_of("outside"),
            Styled(show(file.get("path")), "outside"),
            change_words(file),
            remedy_words(file),
        ]
        for file in (files or [{"path": path} for path in paths])[:MANY_ROWS]
    ]
    lines = [f"  {line}" for line in screen.table([Column()] * 4, rows)]
    return [*sheet.sentence(head), *lines, *more_than(count, sheet.every)]


def _advice(sheet: VerdictSheet) -> Mapping[str, Any]:
    """The verdict's commands about files outside; empty if the verdict was handed in."""
    return {} if sheet.document.get("handed_in") else object_of(sheet.document.get("outside"))


def advised_files(sheet: VerdictSheet) -> Sequence[Mapping[str, Any]]:
    """The files outside from the verdict, each with its remedy."""
    return rows_of(_advice(sheet).get("files"))


def change_words(file: Mapping[str, Any]) -> str:
    """The change of a file, and why no path allows it: ``new``, ``+3 -1, denied by '*.py'``."""
    words = show(file["change"]) if file.get("change") else ""
    if file.get("change") == "changed" and file.get("added") is not None:
        words = f"+{show(file['added'])} -{show(file.get('removed'))}"
    refused = clip(show(file["refused"]), _REFUSED) if file.get("refused") else ""
    return ", ".join(filter(None, (words, refused)))


def remedy_words(file: Mapping[str, Any]) -> str:
    """``remove:   rm x``; only words if no command is sure to work."""
    do, command = file.get("do"), file.get("command")
    if do not in ("remove", "put_back"):
        return ""
    if not command and str(file.get("path")) in HOOK_FILES:
        return "decides about Flow's hook: take back what was changed in it"
    if not command:
        if do == "remove":
            return "remove it"
        changed = file.get("change") == "changed"
        return "take back what was changed in it" if changed else "put it back as it was"
    what = "remove" if do == "remove" else "put back"
    what = f"{what}, and commit that:" if file.get("committed") else f"{what}:"
    return f"{what:<9} {show(command)}"  # at the end of its line, so that it can be copied


def _outside_steps(sheet: VerdictSheet) -> Iterator[tuple[str, str]]:
    advice, files = _advice(sheet), advised_files(sheet)
    acts, one = {str(file.get("do")) for file in files}, len(files) == 1
    if acts == {"remove"}:
        text = f"remove {'it' if one else 'them'}"
    elif "remove" not in acts:
        text = f"put {'it' if one else 'them'} back"
    else:
        text = "remove what is new and put back the rest"
    yield "next", f"{text}, then: flow goal evaluate{sheet.name}"
    if any(file.get("committed") for file in files):
        yield "or", f"what only the base branch brought: flow goal rebase{sheet.name}"
    if advice.get("amend"):
        yield "or", _short(sheet, show(advice["amend"]))
        if advice.get("folders"):
            yield "", f"this opens whole folders: {show(advice['folders'])}"
    if advice.get("not_opened"):
        yield "or", f"a person allows what is denied: flow goal amend{sheet.name} --edit"
