"""Evidence documents, there and back."""

from __future__ import annotations

from flow.core.evidence.model import Evidence, Subject, evidence_document, evidence_from_document


def test_a_document_and_what_is_read_from_it() -> None:
    document = evidence_document(
        id="e",
        goal="g",
        run_id="r",
        created_at="t",
        created_by="me",
        type="test_result",
        body={
            "proves": ["AC1"],
            "command": "make",
            "exit_code": 0,
            "outcome": "passed",
            "output_ref": "e.txt",
            "limitations": ["l"],
            "nothing": None,
            "subject": {"head": "h"},
        },
    )
    assert document == {
        "apiVersion": "flow.synapti.ai/v1",
        "kind": "FlowEvidence",
        "metadata": {
            "id": "e",
            "goal": "g",
            "run_id": "r",
            "created_at": "t",
            "created_by": "me",
        },
        "evidence": {
            "type": "test_result",
            "proves": ["AC1"],
            "command": "make",
            "exit_code": 0,
            "outcome": "passed",
            "output_ref": "e.txt",
            "limitations": ["l"],
            "subject": {"head": "h"},
        },
    }
    found = evidence_from_document(document)
    assert found == Evidence(
        id="e",
        goal="g",
        run_id="r",
        type="test_result",
        created_at="t",
        proves=("AC1",),
        command="make",
        exit_code=0,
        outcome="passed",
        output_ref="e.txt",
        limitations=("l",),
        document=document,
    )
    assert found.subject == {"head": "h"}


def test_what_a_document_does_not_say() -> None:
    document = evidence_document(
        id="e", goal="g", run_id="r", created_at="t", created_by="me", type="verdict", body={}
    )
    found = evidence_from_document(document)
    assert (found.proves, found.limitations, found.subject) == ((), (), {})
    assert (found.command, found.exit_code, found.outcome, found.output_ref) == (None,) * 4


def test_null_lists_are_empty() -> None:
    document = evidence_document(
        id="e", goal="g", run_id="r", created_at="t", created_by="me", type="verdict", body={}
    )
    document["evidence"].update(proves=None, limitations=None, subject=None)
    found = evidence_from_document(document)
    assert (found.proves, found.limitations, found.subject) == ((), (), {})


def test_a_subject_leaves_out_what_is_not_known() -> None:
    assert Subject("h", "t", "c", "1").to_document() == {
        "head": "h",
        "tree": "t",
        "contract": "c",
        "flow_version": "1",
    }
    assert Subject(None, None, "c", "1").to_document() == {"contract": "c", "flow_version": "1"}
