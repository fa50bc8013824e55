"""What a proposal says of the judges behind it."""

from __future__ import annotations

from typing import Any

import pytest

from flow.app.judging.labelling import opinions
from flow.core.evidence.model import evidence_from_document
from tests.app.fakes import NOW

REPORT = ".flow/runs/r/evidence/report.evidence.yaml"


class Records:
    """Sidecars by reference; only what is in here counts."""

    def __init__(self, **judgements: dict[str, Any]) -> None:
        self.found = judgements

    def counted(self, reference: str) -> Any:
        name = reference.rpartition("/")[2].removesuffix(".evidence.yaml")
        if name not in self.found:
            return None
        body = {"type": "llm_judge_report", "proves": [], "judgement": self.found[name]}
        body.update(self.found[name].pop("body", {}))
        metadata = {"id": name, "goal": "g", "run_id": "r", "created_at": NOW}
        return evidence_from_document({"metadata": metadata, "evidence": body})


def said(judge: str, verdict: str) -> dict[str, Any]:
    return {"judge": judge, "verdict": verdict}


def panel(*names: str) -> dict[str, Any]:
    refs = [f".flow/runs/r/evidence/{name}.evidence.yaml" for name in names]
    return {"judges": ["a", "b"], "verdict": "achieved", "ballots": {"sidecars": refs}}


PROPOSAL = {"to": "achieved", "judge": REPORT}
CASES: list[tuple[str, dict[str, Any], dict[str, dict[str, Any]], dict[str, bool]]] = [
    ("one judge", PROPOSAL, {"report": said("a", "achieved")}, {"a": True}),
    ("no judge", {"to": "achieved"}, {"report": said("a", "achieved")}, {}),
    ("another status", {"to": "failed", "judge": REPORT}, {"report": said("a", "achieved")}, {}),
    ("a lost report", PROPOSAL, {}, {}),
    ("a judge that was overruled", PROPOSAL, {
        "report": panel("x", "y", "z"), "x": said("a", "achieved"),
        "y": said("b", "not_achieved"), "z": said("c", "achieved"),
    }, {"a": True, "b": False, "c": True}),
    ("a majority of its own ballots", PROPOSAL, {
        "report": panel("x", "y", "z"), "x": said("a", "achieved"),
        "y": said("a", "not_achieved"), "z": said("a", "achieved"),
    }, {"a": True}),
    ("half of its own ballots", PROPOSAL, {
        "report": panel("x", "y"), "x": said("a", "achieved"), "y": said("a", "blocked"),
    }, {"a": False}),
    ("a lost ballot", PROPOSAL, {
        "report": panel("x", "y"), "x": said("a", "achieved"),
    }, {"a": True}),
    ("a ballot without an answer", PROPOSAL, {
        "report": panel("x", "y"), "x": said("a", "achieved"), "y": {"judge": "b"},
    }, {"a": True}),
    ("another type", PROPOSAL,
     {"report": {**said("a", "achieved"), "body": {"type": "verdict"}}}, {}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("proposal", "records", "expected"), [row[1:] for row in CASES], ids=[row[0] for row in CASES]
)
def test_what_each_judge_said(
    proposal: dict[str, Any], records: dict[str, dict[str, Any]], expected: dict[str, bool]
) -> None:
    assert opinions(Records(**records), proposal) == expected  # type: ignore[arg-type]
