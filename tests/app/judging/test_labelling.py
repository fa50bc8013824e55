"""What a proposal says of the judges behind it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from flow.app.judging import labelling
from flow.app.judging.labelling import LabelLine, opinions
from flow.core.evidence.model import evidence_from_document
from flow.errors import InputError, RefusedError
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


# --- labels of a decision -----------------------------------------------------------------------


class Port:
    """A goal with the live proposal that a test names, and a book of labels."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *moved: str, broken: bool = False) -> None:
        judged = {"report": said("a", "achieved")}
        self.records, self.broken, self.written = Records(**judged), broken, list[LabelLine]()
        proposal = {**PROPOSAL, "proposal_id": "p-1"}
        monkeypatch.setattr(labelling.proposals, "live_proposal", lambda *_: proposal)
        monkeypatch.setattr(labelling.closing, "what_moved", lambda *_: list(moved))

    def load(self, goal_id: str) -> Any:
        if goal_id == "gone":
            raise InputError("no such goal")
        return SimpleNamespace(goal=None)

    def closing_context(self) -> Any:
        return None

    def label_log(self) -> Any:
        if self.broken:
            raise RefusedError("unsafe folder")
        return SimpleNamespace(add=self.written.extend, labels=lambda _judge: ())

    def now(self) -> str:
        return NOW


def test_a_decision_labels_each_judge_behind_the_proposal(monkeypatch: pytest.MonkeyPatch) -> None:
    port: Any = Port(monkeypatch)
    behind = labelling.opinions_behind(port, "g")
    labelling.add_labels(port, behind, person=False, source="clear")
    assert port.written == [LabelLine(NOW, "a", "p-1", "goal g", False, True, "clear")]


def test_what_moved_counts_only_where_it_has_to_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    port: Any = Port(monkeypatch, "a file")
    assert labelling.opinions_behind(port, "g") is not None
    assert labelling.opinions_behind(port, "g", holds=True) is None


def test_a_decision_stands_where_no_label_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    port: Any = Port(monkeypatch, broken=True)
    assert labelling.opinions_behind(port, "gone") is None
    labelling.add_labels(port, None, person=True, source="confirm")
    behind = labelling.opinions_behind(port, "g")
    labelling.add_labels(port, behind, person=True, source="confirm")
    assert port.written == []


def test_a_judge_without_labels_may_propose_only_where_no_kappa_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken: Any = Port(monkeypatch, broken=True)
    assert labelling.may_propose(broken, "a", None) == (True, "")
    allowed, why = labelling.may_propose(Port(monkeypatch), "a", 0.6)  # type: ignore[arg-type]
    assert not allowed
    assert why
