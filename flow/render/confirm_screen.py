"""The question before a goal is closed, and the lines after the answer, at a terminal. Pure."""

from __future__ import annotations

import textwrap

from flow.core.decision.explain import in_words
from flow.core.text.display import clip, visible
from flow.errors import more_than
from flow.render.confirming import (
    CHANGE_WORDS,
    MOST_ROWS,
    SHORT,
    TEXT,
    because_rows,
    files_line,
    left_behind_line,
    not_proved_rows,
    proved_row,
    whose_trust,
)
from flow.render.contract_change import CLASS_WORDS, difference_rows
from flow.render.screen import Column, Screen, Styled
from flow.render.text import local_times, step_line, steps_of
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from flow.core.decision.confirming import (
        ConfirmQuestion,
        ContractStep,
        CriterionProof,
        TrustGround,
    )
    from flow.core.evidence.proof import ProofFile

    Row = str | Styled

LABEL = 15
"""Columns of the labels before the blocks of the question."""
NEXT = 6
"""Columns of the label before the next command, if there is no other label."""
WIDEST = 120
_GROUNDS: Mapping[str, str] = {
    "flow goal create": "as created",
    "flow goal activate": "as activated",
    "flow goal amend": "with the amendment",
    "flow trust record": "trusted by hand",
}


def question_lines(question: ConfirmQuestion, screen: Screen, *, told: bool = False) -> list[str]:
    """The question, from "Before you say yes" to its keys.

    ``told``: each criterion's text and result were shown above already.
    """
    screen = screen._replace(columns=min(screen.columns or 80, WIDEST))
    lines = [screen.rule("Before you say yes")]
    for label, rows, rest in _blocks(question, screen, told=told):
        first = len(lines)
        for row in rows[:MOST_ROWS]:
            lines += _labelled(row, screen)
        lines += [f"{'':{LABEL}}{line}" for line in more_than(len(rows), rest, MOST_ROWS)]
        lines[first] = f"{label:<{LABEL}}{lines[first][LABEL:]}"
    keys = "d show the diff   r evaluate again   Enter leave it as it is"
    goal_id = visible(question.goal_id)
    asked = f"The proposal is stale, so {goal_id} cannot be confirmed. Evaluate it again?"
    if not question.moved:  # nobody is asked what cannot be done
        keys = f"c confirm   {keys}"
        asked = f"Confirm that {goal_id} is {question.to}?"
    return [*lines, "", screen.paint("person", asked), screen.paint("person", f"  {keys}")]


def _blocks(
    question: ConfirmQuestion, screen: Screen, *, told: bool
) -> Iterable[tuple[str, list[Row], str]]:
    """(label, rows, the command that shows all rows) of each block."""
    goal_id = visible(question.goal_id)
    contract, history = f"flow goal inspect {goal_id}", f"flow goal history {goal_id} --json"
    status = f"flow goal status {goal_id} --json"
    proved = [_proved_row(row, screen, told=told) for row in question.criteria if row.proved]
    yield "proved by", [*(proved or ["nothing"])], contract
    yield "not proved", [*not_proved_rows(question)], contract
    because: list[Row] = [*because_rows(question)]
    if because:
        yield "because", because, status
    if question.contract:
        yield "the contract", list(_contract_rows(question.contract, screen)), history
    yield "the proof", _proof_rows(question, screen), f"{contract} --json"
    yield "files", [files_line(question)], status
    if question.left_behind:
        yield "left behind", [left_behind_line(question)], status
    if question.others:
        others: list[Row] = [visible(clip(text, TEXT)) for text in question.others]
        yield "not done", others, "flow goal list"
    yield "trust", [_trust_row(question.trust, screen)], status
    if question.unknown:
        yield "not known", [_undecided(text) for text in question.unknown], status
    if question.moved:
        yield "stale", [_undecided(text) for text in question.moved], status


def _undecided(text: str) -> Styled:
    return Styled(visible(text), "undecided")


def _proved_row(row: CriterionProof, screen: Screen, *, told: bool) -> str:
    if told and row.by == "command":
        return f"{row.id}  {visible(clip(row.command or 'no command', SHORT))}"
    return local_times(proved_row(row), screen)


def _contract_rows(steps: Sequence[ContractStep], screen: Screen) -> Iterable[Row]:
    if len(steps) > 1:
        yield f"amended {'twice' if len(steps) == 2 else f'{len(steps)} times'} since the start"
    for step in steps:
        amended = "amended once since the start, " if len(steps) == 1 else ""
        who = f"by {visible(step.by)}, " if step.by else ""
        at = screen.at(step.at) if step.at else "when is not on record"
        how = "" if step.how == "flow goal amend" else f"{visible(step.how)}, "
        place = visible(step.said_from) or "from where is not on record"
        kind = CLASS_WORDS.get(step.kind, visible(step.kind) or "class not known")
        style = "" if step.kind in ("strengthening", "neutral") else "undecided"
        yield Styled(f"{amended}{who}{at}, {how}{place}: {kind}", style)
        if step.reason:
            yield f"  “{visible(clip(step.reason, TEXT))}”"
        for line in difference_rows(step.lines):
            mark = line.lstrip()[:2]
            style = {"- ": "failed", "+ ": "proved"}.get(mark, "") if line[:1] == " " else ""
            yield Styled(f"  {visible(clip(line, TEXT))}", style)


def _proof_rows(question: ConfirmQuestion, screen: Screen) -> list[Row]:
    proof = question.proof
    if not proof.files:
        nothing = "nothing that it rests on changed"
        return [nothing if not proof.unknown else "nothing known changed"]
    columns = (Column(), Column(), Column())
    cells = [_proof_cells(file, question, screen) for file in proof.files]
    aligned = Screen(unicode=screen.unicode).table(columns, cells)
    count, _, more = proof.sentence().partition(", ")
    rows: list[Row] = [", ".join(filter(None, (f"{count} that it rests on changed", more)))]
    for file, line in zip(proof.files, aligned, strict=True):
        unseen = file.kind == "new" and file.path not in question.approved
        style = "undecided" if unseen else ""
        rows.append(Styled(line, style))
    return rows


def _proof_cells(
    file: ProofFile, question: ConfirmQuestion, screen: Screen
) -> tuple[str, str, str]:
    lines = file.lines
    counts = "lines not told" if lines is None else f"+{lines.added} -{lines.removed}"
    given = question.approved.get(file.path)
    keys = ", ".join(map(visible, lines.keys[:5])) if lines is not None else ""
    notes = (
        CHANGE_WORDS[file.kind],
        f"in {keys}" if keys else "",
        f"approved by {local_times(visible(given), screen)}" if given else "",
    )
    return visible(clip(file.path, TEXT)), counts, ", ".join(filter(None, notes))


def _trust_row(trust: TrustGround, screen: Screen) -> Row:
    if not trust.trusted:
        return Styled(f"not trusted: {visible(trust.why)}", "undecided")
    if not trust.at:
        return visible(trust.why)
    who = whose_trust(trust)
    place = visible(trust.said_from) or "from where is not on record"
    ground = _GROUNDS.get(trust.how) or visible(trust.how)
    return f"{who}: {ground}, {screen.at(trust.at)}, {place}"


def _labelled(row: Row, screen: Screen) -> list[str]:
    """A row after the label's columns, broken at blanks; its further lines are indented more."""
    text, style = (row, "") if isinstance(row, str) else row
    text = screen.plain(text)
    indent = " " * LABEL
    deeper = indent + " " * (len(text) - len(text.lstrip()) + 5)
    lines = textwrap.wrap(
        text,
        width=screen.width or 79,
        initial_indent=indent,
        subsequent_indent=deeper,
        break_on_hyphens=False,
        drop_whitespace=True,
        replace_whitespace=False,
        max_lines=8,
        placeholder=screen.plain(" …"),
    ) or [indent]
    return [indent + screen.paint(style, line[LABEL:]) for line in lines]


def closed_lines(
    document: Mapping[str, Any], screen: Screen, *, to_commit: bool = False
) -> list[str]:
    """The lines after a goal was closed on a person's word, from the document of ``--json``.

    ``to_commit``: the checkout has something to commit.
    """
    goal_id, status = visible(document["goal_id"]), str(document["status"])
    confirmed = "confirmed " if document["proposal_id"] else ""
    source = f" ({document['by_from']})" if document["by_from"] else ""
    mark = {"achieved": "proved", "failed": "failed"}.get(status, "unasked")
    who = f"{confirmed}by {visible(document['by'])}{source}"
    lines = [f"{screen.mark(mark)} {goal_id} is {status}, {who}."]
    if document["note"]:
        lines.append(f"  {screen.quote(clip(document['note'], TEXT))}")
    if status != "achieved":
        next_step = f"flow goal create NEW --from {goal_id}"
    elif to_commit:
        next_step = "git add -A && git commit"
    else:
        return lines
    return [*lines, screen.labelled("next", next_step, "person", width=NEXT)]


def approved_lines(document: Mapping[str, Any], screen: Screen) -> list[str]:
    """The lines after an approval, from the document of ``--json``."""
    goal_id, about = visible(document["goal_id"]), visible(document["criterion_id"])
    source = f" ({document['by_from']})" if document["by_from"] else ""
    who = f"{visible(document['by'])}{source}"
    lines = [
        f"{screen.mark('proved')} {about} of {goal_id} is approved by {who}.",
        f"  {screen.quote(clip(document['note'], TEXT))}",
    ]
    if document["proposal"]:
        to = document["proposal"]["to"]
        lines.append(f"{screen.mark('proved')} {goal_id}  {to}, as proposed")
        lines.append("  All evidence is fresh; nothing was run again.")
    else:
        lines += screen.wrapped("  not yet", visible(in_words(document["not_proposed"])))
    steps = steps_of(visible(document["next"]))
    return [*lines, *(step_line(screen, label, step, NEXT) for label, step in steps)]
