"""``flow goal status``: the state of a goal, its reasons, and the next step. Pure."""

from __future__ import annotations

from flow.core.evidence.model import UNDECIDED_KINDS
from flow.core.stop.pause import Pause
from flow.core.text.display import clip, names, visible
from flow.errors import FEW_ROWS, MANY_ROWS, more_than
from flow.render.goal.standing import criterion_mark, paragraph, since, standing, who_when, words_of
from flow.render.screen import MEANING, Column, Screen, Styled, lines_of, mark_of, took
from flow.render.text import open_first, show, step_line, steps_of, why_stale
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.render.text import Document

TURNS = 40
"""Marks in the line of turns, at most; the newest count."""
RESULT = 60
"""Characters of a result."""
TEXT = 400
"""Characters of a criterion's text if no terminal cuts it."""
_COLUMNS = (Column(), Column(), Column(cut=True), Column(), Column(right=True))
_FILES_ONLY = frozenset({"tree", "head"})


def status_lines(document: Document, screen: Screen) -> list[str]:
    """The lines of ``flow goal status``."""
    every = f"flow goal status {visible(document['goal_id'])} --json"
    return lines_of(
        [_head(document, screen), *paragraph(show(document["outcome"]), screen)],
        _criteria(document["criteria"], screen, every),
        [*_facts(document, screen), *_people(document, screen), *_warnings(document, screen)],
        [step_line(screen, *step, 6) for step in steps_of(screen.typed(_next(document)))],
    )


def _head(document: Document, screen: Screen) -> str:
    state, name = standing(document), document["goal_id"]
    last, turns = document["last_evaluation"] or {}, document["turns_evaluated"]
    proposal, closed = document.get("proposal"), document.get("closed")
    at = str(last.get("at") or "")
    if document.get("paused"):
        right = since(screen, document["paused"]["at"])
        return screen.head(state.meaning, name, state.words, right)
    if proposal and proposal["live"]:
        verdict = f"{visible(proposal['to'])}, as proposed"
        right = f"waits for you, {since(screen, at)}" if at else "waits for you"
        return screen.head(state.meaning, name, verdict, right)
    if closed:
        return screen.head(state.meaning, name, state.words, screen.at(closed["at"]))
    if document["status"] == "active" and last.get("result") == "fail" and not state.waits:
        state = state._replace(meaning="failed", words="not achieved")
    right = f"turn {turns}, {screen.at(at)}" if turns and at else ""
    return screen.head(state.meaning, name, state.words, right)


def _criteria(criteria: Sequence[Document], screen: Screen, every: str) -> list[str]:
    rows = [
        (
            criterion_mark(row),
            visible(row["id"]),
            clip(visible(row["text"]), TEXT),
            clip(result_words(row), RESULT),
            Styled(screen.at(row["last_evaluated_at"] or ""), "dim"),
        )
        for row in open_first(criteria)
    ]
    return [*screen.table(_COLUMNS, rows), *more_than(len(criteria), every)]


def result_words(row: Document) -> str:
    """A criterion's result: ``exit 0``, ``stale, was exit 0``, ``not run``."""
    result = visible(row["last_result"] or "")
    if row.get("fresh") is False:
        result = f"stale, was {result}" if result else "stale"
    elif row["status"] == "evidence_collected" and result:
        kind = str(row.get("undecided") or "").partition(": ")[0]
        result = kind if kind in UNDECIDED_KINDS else f"undecided: {result}"
    elif not result:
        result = "not asked" if row["fuzzy"] else "not run"
    return result if row["must_pass"] else f"{result}, not required"


def _facts(document: Document, screen: Screen) -> list[str]:
    """Lines about branch, turns, files and trust; a line without content is left out."""
    lines = []
    if document.get("here") is False:
        lines.append(screen.labelled("branch", show(document["branch"])))
    lines += _turns(document, screen)
    if document.get("after"):
        waits = [f"{visible(hold['goal_id'])} {visible(hold['why'])}" for hold in document["after"]]
        lines += screen.wrapped("after", "; ".join(waits))
    if document.get("budget"):
        lines += screen.wrapped("budget", _budget_words(document["budget"]))
    lines += screen.wrapped("files", files_words(document["files"])) if document["files"] else []
    status, proposal = document["status"], document["proposal"]
    if not document["trusted"] and status not in ("draft", "achieved", "failed", "cancelled"):
        lines += screen.wrapped("trust", show(document["trust"]))
    if proposal and not proposal["live"]:
        reasons = "; ".join(map(visible, proposal["moved"]))
        lines += screen.wrapped("proposed", f"{show(proposal['to'])}, but it is stale: {reasons}")
    if document.get("waits_for"):
        lines += screen.wrapped("waits", f"until this exits 0: {show(document['waits_for'])}")
    reason = _unexplained(document)
    lines += screen.wrapped("because", reason) if reason else []
    return [screen.plain(line) for line in lines]


def _budget_words(budget: Document) -> str:
    """The budget of the Stop hook: after that it lets the agent stop."""
    parts = []
    if budget["max_seconds"] is not None:
        parts.append(f"{took(budget['max_seconds'])} of an agent's work after a prompt")
    if budget["max_cost_usd"] is not None:
        spent, most = budget["cost_usd"], budget["max_cost_usd"]
        parts.append(f"judges cost {spent:g} of {most:g} US dollars")
    return "; ".join(parts)


def _turns(document: Document, screen: Screen) -> list[str]:
    """A mark for each of the newest turns, and the number of turns."""
    count, turns = document["turns_evaluated"], document["turns"][-TURNS:]
    if not count:
        return []
    marks = [mark_of(MEANING.get(turn["verdict"], "undecided")) for turn in turns]
    painted = "".join(screen.paint(mark.style, screen.marks(mark.text)) for mark in marks)
    if not turns:
        return [screen.labelled("turns", str(count))]
    more = "… " if turns[0]["turn"] > 1 else ""
    by = visible(turns[-1].get("by") or "")
    how = " at a stop of the agent," if turns[-1]["answer"] else f" by {by}," if by else ""
    last = f"{count}, the last{how} {screen.at(turns[-1]['at'])}"
    return [screen.labelled("turns", f"{screen.plain(more)}{painted}   {last}")]


def files_words(files: Document) -> str:
    """Number of changed files, those outside the goal's paths, and the changes since the turn."""
    if files["problems"]:
        return f"git cannot say what is changed: {names(files['problems'], 3)}"
    changed, outside, moved = files["changed"], files["outside"], files.get("moved_paths") or ()
    parts = [f"{len(changed):,} changed" if changed else "nothing is changed"]
    if outside:
        parts[0] += f", {len(outside):,} outside its paths: {names(outside, FEW_ROWS)}"
    elif changed:
        parts[0] += ", all inside its paths" if len(changed) > 1 else ", inside its paths"
    if files["moved"] is False:
        parts.append("unchanged since the last turn")
    elif files["moved"]:
        named = f": {names(moved, FEW_ROWS)}" if moved else ""
        parts.append(f"changed since the last turn{named}")
    return "; ".join(parts)


def _unexplained(document: Document) -> str:
    """The reason of the last evaluation, as far as the criteria do not show it; may be empty."""
    last, proposal, status = document["last_evaluation"], document["proposal"], document["status"]
    reason = show(last["reason"]) if last and last.get("reason") else ""
    if status in ("draft", "achieved") or (proposal and not proposal["live"]):
        return ""
    if proposal:
        from flow.core.decision.explain import only_counts

        return "; ".join(part for part in reason.split("; ") if not only_counts(part))
    if document.get("waits_for"):
        return ""  # the criteria show it, and it is not why the goal waits
    required = [row for row in document["criteria"] if row["must_pass"]]
    if status == "active" and any(row["status"] != "pass" for row in required):
        return ""
    if status == "blocked" and (document["files"] or {}).get("outside"):
        return ""  # the line about files names them
    from flow.core.decision.explain import in_words

    return in_words(reason)


def _people(document: Document, screen: Screen) -> list[str]:
    """People's words: a pause, approvals, the closing."""
    lines = []
    if document.get("paused"):
        pause = Pause(**document["paused"])
        silent = "" if pause.words else ", gave no reason"
        lines.append(screen.labelled("paused", f"{pause.who}, {screen.at(pause.at)}{silent}"))
        lines += words_of({"note": pause.words}, screen)
    newest = {act["about"]: act for act in document["approvals"]}
    for act in list(newest.values())[-FEW_ROWS:]:
        about = names(act["paths"], FEW_ROWS) or visible(act["about"])
        doubt = "" if act["vouched"] else "; your state folder does not know it"
        lines += screen.wrapped("approved", f"{about}: {who_when(act, screen)}{doubt}")
        lines += words_of(act, screen)
    closed = document.get("closed")
    if closed:
        label = "confirmed" if closed["about"] == "achieved" else "closed"
        lines += screen.wrapped(label, who_when(closed, screen))
        lines += words_of(closed, screen)
    return [screen.plain(line) for line in lines]


def _warnings(document: Document, screen: Screen) -> list[str]:
    """Further facts that a person must know before the next step."""
    lines = []
    for row, ids in _stale_otherwise(document).items():
        lines += screen.wrapped("stale", f"{names(ids, MANY_ROWS)}: {why_stale(row)}")
    for text in document.get("red_first") or ():
        lines += screen.wrapped("red first", show(text))
    if document.get("protected_changes"):
        changes = document["protected_changes"]
        word = "approved" if changes["approved"] else "not approved"
        lines += screen.wrapped("protected", f"changed, {word}: {show(changes['sentence'])}")
    if document.get("sent_to_judge"):
        lines += screen.wrapped("sent", sent_words(document["sent_to_judge"], screen))
    if document["unfinished_write"]:
        text = "a write was interrupted; the next command finishes it"
        lines.append(screen.labelled("unfinished", text))
    return [screen.plain(line) for line in lines]


def _stale_otherwise(document: Document) -> dict[tuple[str, ...], list[str]]:
    """Criterion ids by the reason of stale evidence, unless the line about files has it."""
    told = _FILES_ONLY if (document["files"] or {}).get("moved") else frozenset()
    ids_by_reason: dict[tuple[str, ...], list[str]] = {}
    for row in document["criteria"]:
        if row.get("fresh") is False and not told.issuperset(row["why_stale"]):
            ids_by_reason.setdefault(tuple(row["why_stale"]), []).append(row["id"])
    return ids_by_reason


def sent_words(sent: Document, screen: Screen) -> str:
    """The sources that a judge was sent."""
    pieces = [f"{show(piece['source'])} ({show(piece['what'])})" for piece in sent["given"]]
    judges = ", ".join(map(show, sent["judges"]))
    pieces_named = names(pieces, 8, str(sent["evidence"]))
    return f"to {judges}, {screen.at(sent['at'])}: {pieces_named}"


def _next(document: Document) -> str:
    """The one command; the first line already says whose turn it is."""
    proposal = document["proposal"]
    step = show(document["next"])
    return step.removeprefix(f"a person confirms {proposal['to']}: ") if proposal else step
