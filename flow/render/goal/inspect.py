"""``flow goal inspect``: people's words, the contract as YAML, the proof, the evidence. Pure."""

from __future__ import annotations

from flow.core.text.display import visible
from flow.errors import FEW_ROWS, MANY_ROWS, more_than
from flow.render.goal.contract_yaml import yaml_lines
from flow.render.goal.standing import who_when, words_of
from flow.render.records import evidence_table
from flow.render.screen import Screen, lines_of
from flow.render.text import show
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.render.text import Document


def inspect_lines(document: Document, screen: Screen) -> list[str]:
    """The lines of ``flow goal inspect``; the contract in full, as readable as in its file."""
    goal_id = visible(document["goal_id"])
    every = f"flow goal inspect {goal_id} --json"
    return lines_of(
        [*_facts(document, screen), *_people(document, screen)],
        [screen.rule("the contract"), *yaml_lines(document["document"])],
        _proof(document.get("proof"), screen, every),
        [screen.rule("evidence"), *_evidence(document["evidence"], screen, every)],
    )


def _facts(document: Document, screen: Screen) -> list[str]:
    count = len(document["evidence"])
    told = f"its contract, and {count:,} piece{'' if count == 1 else 's'} of evidence"
    rows = [("file", document["file"]), ("contract", document["contract"])]
    rows += [("run", document["run"])] if document["run"] else []
    rows += [("closed", "by hand")] if document.get("closed_by_hand") else []
    return [
        f"{screen.paint('bold', visible(document['goal_id']))}  {told}",
        *(screen.labelled(label, show(text)) for label, text in rows),
    ]


def _people(document: Document, screen: Screen) -> list[str]:
    """People's approvals and the closing, each with time, origin and words."""
    acts = [("approved", act) for act in document.get("approvals") or ()]
    closed = document.get("closed")
    if closed:
        acts.append(("confirmed" if closed["about"] == "achieved" else "closed", closed))
    lines = []
    for label, act in acts[-FEW_ROWS:]:
        lines += screen.wrapped(label, f"{visible(act['about'])}: {who_when(act, screen)}")
        lines += words_of(act, screen)
    return [screen.plain(line) for line in lines]


def _proof(proof: Document | None, screen: Screen, every: str) -> list[str]:
    """The changed files that the commands depend on."""
    if not proof or not (proof["files"] or proof["unknown"]):
        return []
    lines = screen.wrapped("the proof", f"changed: {proof['sentence']}") if proof["files"] else []
    for file in proof["files"][:MANY_ROWS]:
        counts = "" if file["added"] is None else f"  +{file['added']} -{file['removed']}"
        keys = f"  in {show(file['keys'])}" if file["keys"] else ""
        lines.append(screen.labelled("", f"{show(file['path'])}  {file['change']}{counts}{keys}"))
    lines += [screen.labelled("", line) for line in more_than(proof["count"], every)]
    for text in proof["unknown"]:
        lines += screen.wrapped("not known", show(text))
    return [screen.plain(line) for line in lines]


def _evidence(evidence: Sequence[Document], screen: Screen, every: str) -> list[str]:
    return evidence_table(evidence, screen, every) if evidence else ["no evidence yet"]
