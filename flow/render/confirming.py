"""The question before a goal is closed: a hook's prompt, and the rows that a terminal shares. Pure.

Foreign text is made visible, and cut; cut rows are counted.
"""

from __future__ import annotations

from flow.core.decision.confirming import names_proposal
from flow.core.decision.explain import in_words, only_counts
from flow.core.text.display import clip, names, visible
from flow.render.contract_change import CLASS_WORDS, difference_rows
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flow.core.decision.confirming import (
        ConfirmQuestion,
        ContractStep,
        CriterionProof,
        TrustGround,
    )
    from flow.core.evidence.proof import ProofFile

HOOK_LINES = 40
"""The most lines of a host's prompt."""
HOOK_WIDTH = 300
"""Characters of one line of a host's prompt."""
MOST_ROWS = 60
"""Rows of one block at a terminal, at most; the rest is counted."""
TEXT = 600
"""Characters of one text of a person."""
SHORT = 120
"""Characters of a criterion's text, and of its command: neither may push the other, or the result,
out of a row.
"""
_PATH = 80
"""Characters of a path in a row of many."""
LEFT_BEHIND = "git status --short --ignored --untracked-files=all"
"""The command that lists every file that the commands left behind."""


def proved_row(row: CriterionProof) -> str:
    """A proved criterion: its id, text, command and result."""
    text, result = visible(clip(row.text, SHORT)), visible(row.result)
    if row.by != "command":
        return f"{row.id}  {text}: {result}"
    return f"{row.id}  {text}: {visible(clip(row.command or 'no command', SHORT))}  ({result})"


def not_proved_rows(question: ConfirmQuestion) -> list[str]:
    """The unproved criteria, and the limitations of the others by their contract."""
    rows = [_open_row(row) for row in question.not_proved]
    limits: dict[str, list[str]] = {}
    for row in question.criteria:
        for text in row.limitations if row.proved else ():
            limits.setdefault(text, []).append(row.id)
    return [
        *(rows or ["nothing"]),
        *(
            f"{names(ids, 10)}  does not show: {visible(clip(text, TEXT))}"
            for text, ids in limits.items()
        ),
    ]


def _open_row(row: CriterionProof) -> str:
    optional = "" if row.must_pass else ", not required"
    command = f"  ({visible(clip(row.command, SHORT))})" if row.command is not None else ""
    text = visible(clip(row.text, SHORT))
    return f"{row.id}  {text}: {visible(row.result)}{optional}{command}"


def _contract_rows(steps: Sequence[ContractStep]) -> Iterable[str]:
    if not steps:
        return
    times = {1: "once", 2: "twice"}.get(len(steps), f"{len(steps)} times")
    yield f"amended {times} since the start"
    for step in steps:
        who = f"by {visible(step.by)}, " if step.by else ""
        place = f", {step.said_from}" if step.said_from else ", from where is not on record"
        at = visible(step.at) or "when is not on record"
        kind = CLASS_WORDS.get(step.kind, visible(step.kind) or "class not known")
        yield f"{who}{at}, {visible(step.how)}{place}: {kind}"
        if step.reason:
            yield f"  “{visible(clip(step.reason, TEXT))}”"
        for line in difference_rows(step.lines):
            yield f"  {visible(clip(line, TEXT))}"


CHANGE_WORDS = {"new": "not there when the goal began", "gone": "is gone", "changed": ""}
"""The change of a file that the proof depends on; for a changed one its line counts show it."""


def _proof_row(file: ProofFile, question: ConfirmQuestion) -> str:
    lines = file.lines
    counts = "lines not told" if lines is None else f"+{lines.added} -{lines.removed}"
    kind = CHANGE_WORDS[file.kind]
    keys = f"in {names(lines.keys, 5)}" if lines is not None and lines.keys else ""
    given = question.approved.get(file.path)
    by = f"approved by {visible(given)}" if given else ""
    return "  ".join(filter(None, [visible(clip(file.path, TEXT)), counts, kind, keys, by]))


def because_rows(question: ConfirmQuestion) -> list[str]:
    """The proposal's reason; [] if it only counts what the rows name."""
    if not question.reason or only_counts(question.reason):
        return []
    return [visible(clip(in_words(question.reason), TEXT))]


def files_line(question: ConfirmQuestion) -> str:
    """The number of changed files, and those outside the goal's paths."""
    if question.outside:
        every = f"flow verdict show {visible(question.goal_id)} --json"
        paths = names(_cut_paths(question.outside, 10), 10, every)
        return f"{question.changed_files} changed, outside its paths: {paths}"
    only = "; nothing changed but files that the proof rests on" if question.only_proof else ""
    return f"{question.changed_files} changed, all inside its paths{only}"


def left_behind_line(question: ConfirmQuestion) -> str:
    """The files that the commands left behind."""
    return names(_cut_paths(question.left_behind, 20), 20, LEFT_BEHIND)


def _cut_paths(paths: Sequence[str], most: int) -> list[str]:
    """All paths, the first ``most`` of them cut to a fixed length."""
    return [*(clip(path, _PATH) for path in paths[:most]), *paths[most:]]


def whose_trust(trust: TrustGround) -> str:
    """The person or agent by whose word a goal is trusted."""
    return f"by an agent ({visible(trust.agent)})" if trust.said_from == "agent" else "yours"


def _trust_line(trust: TrustGround) -> str:
    if not trust.trusted:
        return f"not trusted: {visible(trust.why)}"
    if not trust.at:
        return visible(trust.why)
    who = whose_trust(trust)
    place = trust.said_from or "from where is not on record"
    return f"{who}: {visible(trust.at)}, {visible(trust.how)}, {place}"


def for_hook(
    question: ConfirmQuestion, named: str | None = None, *, surely: bool = True
) -> list[str]:
    """The question for the prompt of an agent's host, in at most :data:`HOOK_LINES` plain lines.

    ``named`` is the proposal in the agent's command, or None; ``surely`` is False if the command
    may be about a goal of another folder.
    """
    goal_id = visible(question.goal_id)
    other = named is not None and not names_proposal(named, question.proposal_id)
    refused = "it will be refused" + ("" if surely else ", or closes another")
    first = [
        *([f"This is not the live proposal of goal {goal_id}: {refused}."] if other else []),
        f"Close goal {goal_id} as {question.to}?",
        "",
        visible(clip(question.outcome, HOOK_WIDTH)),
    ]
    stale = other or bool(question.moved)
    yes = f"runs it, and {refused}" if stale else "closes the goal for good"
    last = [
        f"Files: {files_line(question)}. Trust: {_trust_line(question.trust)}.",
        "",
        f"This is an agent asking. Yes {yes}; no leaves it as it is.",
    ]
    proof = question.proof
    blocks = [
        ("Proved by", [proved_row(row) for row in question.criteria if row.proved]),
        ("Not proved", not_proved_rows(question)),
        ("Because", because_rows(question)),
        ("Changed since the goal began", list(_contract_rows(question.contract))),
        (f"The proof changed: {proof.sentence()}", [_proof_row(f, question) for f in proof.files]),
        ("Left behind by its commands", [visible(path) for path in question.left_behind]),
        ("Not done on this branch", [visible(text) for text in question.others]),
        ("Not known", [visible(text) for text in question.unknown]),
        ("Stale: evaluate again", [visible(text) for text in question.moved]),
    ]
    present = [(head, rows) for head, rows in blocks if rows]
    room = HOOK_LINES - len(first) - len(last) - 1
    shown, cut = _fitted_blocks([rows for _, rows in present], room)
    lines = list(first)
    for (head, _), rows in zip(present, shown, strict=True):
        lines.append(head)
        lines += [f"  {clip(row, HOOK_WIDTH)}" for row in rows]
    lines += last
    if cut:
        more = "line" if cut == 1 else "lines"
        rest = f"{cut} {more} more are not shown here: flow goal confirm {question.goal_id}"
        lines.insert(len(lines) - stale, rest)  # the refusal stays the last line
    return lines


def _fitted_blocks(blocks: Sequence[Sequence[str]], room: int) -> tuple[list[list[str]], int]:
    """The blocks in at most ``room`` lines, including heads, and the number of rows left out.

    The longest block is cut first, so that it does not push another one out.
    """
    fitted = [list(rows) for rows in blocks]
    total = sum(map(len, fitted)) + len(fitted)
    cut = 0
    while total > room and any(len(rows) > 1 for rows in fitted):
        longest = max(fitted, key=len)
        longest.pop()
        total -= 1
        cut += 1
    return fitted, cut
