"""What an export says of each kind of evidence, and which records cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from flow.core.evidence import attestation
from flow.core.evidence.attestation import AttestedSidecar as Sidecar
from flow.core.evidence.attestation import Record
from flow.core.evidence.model import APPROVER, EVALUATOR, evidence_document, evidence_from_document
from flow.core.goal.model import goal_from_document

DIGEST = "d" * 64


def goal(status: str = "active", **more: Any) -> Any:
    criteria = [
        {"id": "AC1", "text": "t", "status": "pass", "verification_command": "true"},
        {
            "id": "AC2",
            "text": "t",
            "status": "pass",
            "must_pass": False,
            "verification_command": "x",
        },
        {"id": "AC3", "text": "t", "status": "pass"},
    ]
    return goal_from_document(
        {
            "metadata": {"id": "g", "created_at": "2026-01-01T00:00:00Z"},
            "scope": {"repo": "r", "branch": "main", "base_commit": "b" * 40, **more},
            "objective": {"outcome": "o", "acceptance_criteria": criteria},
            "evaluator": {"type": "hybrid"},
            "lifecycle": {"status": status},
        }
    )


def sidecar(type: str, by: str, **body: Any) -> Any:
    subject = {"head": "a" * 40, "tree": "t" * 64, "contract": "c", **body.pop("subject", {})}
    document = evidence_document(
        id="e", goal="g", run_id="r", created_at="2026-01-01T00:00:00Z", created_by=by,
        type=type, body={"subject": subject, **body},
    )  # fmt: skip
    return evidence_from_document(document)


def command(criterion: str, outcome: str) -> Any:
    return sidecar("command_result", EVALUATOR, proves=[criterion], outcome=outcome)


def judged(status: str, proves: list[str]) -> Any:
    judgement = {"criteria": [{"id": "AC3", "status": status}]}
    return sidecar("llm_judge_report", EVALUATOR, proves=proves, judgement=judgement)


def approved(**more: Any) -> Any:
    digest = goal().criterion("AC3").digest
    return sidecar(
        "human_approval", APPROVER, proves=["AC3"], approved_by="R",
        **{"criterion_digest": digest, **more},
    )  # fmt: skip


APPROVED = approved()
RESULTS = [
    ("AC1", command("AC1", "passed"), "PASSED"),
    ("AC1", command("AC1", "failed"), "FAILED"),
    ("AC1", command("AC1", "inconclusive"), "WARNED"),
    ("AC1", command("AC1", "not_executed"), "WARNED"),
    ("AC1", command("AC1", "not_run"), "WARNED"),
    ("AC2", command("AC2", "passed"), "PASSED"),
    ("AC2", command("AC2", "failed"), "WARNED"),
    ("AC2", command("AC2", "inconclusive"), "WARNED"),
    ("AC3", judged("pass", ["AC3"]), "PASSED"),
    ("AC3", judged("fail", []), "FAILED"),
    ("AC3", judged("incomplete", []), "WARNED"),
    ("AC3", APPROVED, "PASSED"),
    ("AC9", command("AC9", "passed"), "FAILED"),
]


@pytest.mark.parametrize(("criterion", "evidence", "result"), RESULTS)
def test_what_evidence_says(criterion: str, evidence: Any, result: str) -> None:
    assert attestation.result_of(goal(), Sidecar("f", evidence, criterion)) == result


def record(*items: Sidecar, status: str = "active", closed_at: str | None = None) -> Record:
    return Record(goal(status), "c", "r", "1", "flow-goal:r/g", closed_at, {}, {}, items, ())


CLOSED = "2026-01-02T00:00:00Z"
GOOD = Sidecar("e.evidence.yaml", command("AC1", "passed"), "AC1")
FAULTS = [
    (record(GOOD), None),
    (record(GOOD, Sidecar("f", judged("fail", []), "AC3")), None),
    (record(Sidecar("f", sidecar("test_result", "somebody"), None)), None),
    (record(Sidecar("f", command("AC9", "passed"), "AC9")), "which the goal does not have"),
    (record(Sidecar("f", judged("pass", ["AC1"]), "AC1")), "no llm_judge_report of Flow's own"),
    (record(Sidecar("f", command("AC3", "passed"), "AC3")), "no command_result of Flow's own"),
    (record(Sidecar("f", sidecar("human_approval", EVALUATOR, proves=["AC3"]), "AC3")),
     "of Flow's"),
    (record(Sidecar("f", sidecar("command_result", "me", proves=["AC1"]), "AC1")), "of Flow's own"),
    (record(Sidecar("f", sidecar("command_result", "flow-import", proves=["AC1"]), "AC1")),
     "of Flow"),
    (record(Sidecar("f", command("AC2", "passed"), "AC1")), "does not speak for AC1"),
    (record(GOOD._replace(commit="b" * 40)), "another commit"),
    (record(GOOD._replace(commit="a" * 40)), None),
    (record(Sidecar("f", sidecar("command_result", EVALUATOR, proves=["AC1"],
                              subject={"contract": "x"}), "AC1")), "another contract"),
    (record(Sidecar("f", sidecar("command_result", EVALUATOR, proves=["AC1"],
                              subject={"tree": None}), "AC1")), "on what files"),
    (record(Sidecar("f", sidecar("command_result", EVALUATOR, proves=["AC1"],
                              criterion_digest=DIGEST), "AC1")), "another wording"),
    (record(Sidecar("f", judged("pass", ["AC3"]), "AC3")), None),
    (record(Sidecar("f", sidecar("llm_judge_report", EVALUATOR, proves=["AC3"],
                              subject={"contract": "x"}), "AC3")), "another contract"),
    (record(Sidecar("f", approved(subject={"contract": "x"}), "AC3")), None),
    (record(Sidecar("f", approved(subject={"contract": None}), "AC3")), "under what contract"),
    (record(Sidecar("f", approved(criterion_digest=DIGEST), "AC3")), "another contract"),
    (record(Sidecar("f", approved(criterion_digest=None), "AC3")), "another contract"),
    (record(GOOD, GOOD), "decide the same criterion"),
    (record(GOOD, Sidecar("f", approved(subject={"tree": "o"}), "AC3")), "different files"),
    (record(GOOD, status="achieved", closed_at=CLOSED), "no evidence here proves AC3"),
    (record(GOOD, Sidecar("f", APPROVED, "AC3"), status="achieved", closed_at=CLOSED), None),
    (record(GOOD, Sidecar("f", judged("fail", []), "AC3"), status="achieved", closed_at=CLOSED),
     "no evidence here proves AC3"),
    (record(GOOD, status="failed", closed_at=CLOSED), None),
    (record(GOOD, status="achieved"), "the record says otherwise"),
    (record(GOOD, closed_at=CLOSED), "the record says otherwise"),
    (record(GOOD, status="cancelled"), None),
    (record(status="failed", closed_at=CLOSED), "without evidence that counts"),
]  # fmt: skip


def test_an_approval_is_stated_under_the_contract_that_the_person_read() -> None:
    earlier = Sidecar("e.evidence.yaml", approved(subject={"contract": "x"}), "AC3")
    file = attestation.AttestedFile("e.evidence.yaml", "d" * 64, b"")
    (first, second, _) = attestation.statements(record(GOOD, earlier)._replace(files=(file,)))
    named = [one["predicate"]["configuration"][0]["digest"] for one in (first, second)]
    assert named == [{"sha256": "c"}, {"sha256": "x"}]


@pytest.mark.parametrize(("found", "why"), FAULTS, ids=range(len(FAULTS)))
def test_which_records_cannot_be(found: Record, why: str | None) -> None:
    faults = attestation.record_faults(found)
    if why is None:
        assert faults == []
    else:
        assert any(why in fault for fault in faults), faults


def test_the_encoding_is_that_of_dsse() -> None:
    """The example of the DSSE specification."""
    kind, body = "http://example.com/HelloWorld", b"hello world"
    expected = b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    assert attestation.pae(kind, body) == expected
    assert attestation.payload({"b": 1, "a": "\u00e9"}) == b'{"a":"\\u00e9","b":1}'
