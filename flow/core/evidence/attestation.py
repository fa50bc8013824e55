"""The in-toto Statements of an export, made from a run's evidence (SPEC 10, *Export*).

A :class:`Record` holds everything that the Statements are made from, and is itself one of them, so
the check of a bundle can make them again and compare. The types are those of the in-toto
attestation framework (Statement v1, test-result v0.1) and of SLSA (verification summary v1).
"""

from __future__ import annotations

import binascii

from flow.core.evidence.freshness import of_another_contract
from flow.core.evidence.model import APPROVER, EVALUATOR, Evidence
from flow.core.layout import EVIDENCE_SUFFIX, GOAL_SUFFIX
from flow.startup.json import canonical, rows_of
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.core.goal.model import Criterion, Goal

STATEMENT = "https://in-toto.io/Statement/v1"
TEST_RESULT = "https://in-toto.io/attestation/test-result/v0.1"
SUMMARY = "https://slsa.dev/verification_summary/v1"
RECORD = "https://flow.synapti.ai/attestation/evidence-record/v1"
"""The Statement with the data of all others. Its version is that of their derivation."""
PAYLOAD_TYPE = "application/vnd.in-toto+json"
VERIFIER = "https://flow.synapti.ai/flow"
LEVEL = "FLOW_GOAL_ACHIEVED"
"""The one level that Flow can attest; names that begin with ``SLSA_`` are reserved."""
LEDGER_FILE = "ledger.jsonl"
TREE = "flow-tree-1"
"""The algorithm of a working tree's digest (``tree_digest``), and the name of such a subject."""

TestResult = Literal["PASSED", "WARNED", "FAILED"]


class AttestedFile(NamedTuple):
    """A file behind the export. ``content`` is None if only its digest is exported."""

    name: str
    sha256: str
    content: bytes | None = None


class AttestedSidecar(NamedTuple):
    """One sidecar. ``criterion`` is the id of the one it decides; None: it decides nothing."""

    file: str
    evidence: Evidence
    criterion: str | None
    commit: str | None = None
    """The commit with exactly the measured files; None if there is none."""


class Record(NamedTuple):
    """Everything that an export's Statements are made from."""

    goal: Goal
    contract: str
    run_id: str
    flow_version: str
    resource_uri: str
    closed_at: str | None
    """The moment of closing; None while the goal is open, or if it was cancelled."""
    rubrics: Mapping[str, str]
    left_out: Mapping[str, int]
    """Number of the goal's evidence that is not included, by reason."""
    items: tuple[AttestedSidecar, ...]
    files: tuple[AttestedFile, ...]


def goal_name(goal_id: str) -> str:
    """The name of the goal's file in a record."""
    return f"{goal_id}{GOAL_SUFFIX}"


def sidecar_name(evidence_id: str) -> str:
    """The name of a sidecar in a record."""
    return f"{evidence_id}{EVIDENCE_SUFFIX}"


def payload(statement: Mapping[str, Any]) -> bytes:
    """A Statement as the bytes that are signed."""
    return canonical(statement)


def pae(payload_type: str, body: bytes) -> bytes:
    """DSSE's pre-authentication encoding: the bytes under a signature."""
    kind = payload_type.encode("utf-8")
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(body), body)


def result_of(goal: Goal, item: AttestedSidecar) -> TestResult:
    """The result of a sidecar for its criterion.

    ``inconclusive`` is neither a pass nor a rejection, and so a warning; so is a failure of a
    criterion that need not pass (SPEC 3).
    """
    criterion = goal.criterion(item.criterion or "")
    if criterion is None:
        return "FAILED"
    evidence = item.evidence
    if evidence.type == "command_result":
        passed, failed = evidence.outcome == "passed", evidence.outcome == "failed"
    else:
        passed = criterion.id in evidence.proves
        failed = _judged_result(evidence, criterion.id) == "fail"
    if passed:
        return "PASSED"
    return "FAILED" if failed and criterion.must_pass else "WARNED"


def _judged_result(evidence: Evidence, criterion_id: str) -> str | None:
    """The status of a criterion in a judge's report."""
    rows = rows_of(evidence.judgement.get("criteria"))
    return next((str(row.get("status")) for row in rows if row.get("id") == criterion_id), None)


def statements(record: Record) -> list[dict[str, Any]]:
    """A ``test-result`` for each decided criterion, a closed goal's summary, the record.

    :func:`record_faults` must be empty.
    """
    results = [_test_result(record, item) for item in record.items if item.criterion is not None]
    made = list(results)
    if record.closed_at is not None:
        made.append(_summary(record, results))
    return [*made, _record_statement(record)]


def record_faults(record: Record) -> list[str]:
    """The contradictions in a record; empty if there are none."""
    goal = record.goal
    faults: list[str] = []
    deciding = [item for item in record.items if item.criterion is not None]
    for item in deciding:
        faults += [f"{item.evidence.id}: {fault}" for fault in _item_faults(record, item)]
    if len({item.evidence.subject.get("tree") for item in deciding}) > 1:
        faults.append("the deciding evidence was measured on different files")
    if len({item.criterion for item in deciding}) < len(deciding):
        faults.append("two sidecars decide the same criterion")
    closed = goal.status in ("achieved", "failed")
    if closed != (record.closed_at is not None):
        faults.append(f"the goal is {goal.status}, and the record says otherwise")
    if record.closed_at is not None and not deciding:
        faults.append("a closed goal without evidence that counts")
    if goal.status == "achieved":
        passed = {i.criterion for i in deciding if result_of(goal, i) == "PASSED"}
        open_ones = [c.id for c in goal.criteria if c.must_pass and c.id not in passed]
        if open_ones:
            faults.append(
                f"the goal is achieved, and no evidence here proves {', '.join(open_ones)}"
            )
    return faults


def _item_faults(record: Record, item: AttestedSidecar) -> list[str]:
    evidence, goal = item.evidence, record.goal
    criterion = goal.criterion(item.criterion or "")
    if criterion is None:
        return [f"decides {item.criterion}, which the goal does not have"]
    faults = []
    if evidence.made_by != _required_author(evidence.type, criterion):
        faults.append(f"is no {evidence.type} of Flow's own that could decide {criterion.id}")
    if (evidence.goal, evidence.run_id) != (goal.id, record.run_id):
        faults.append("is of another goal or run")
    if not _speaks_for(evidence, criterion):
        faults.append(f"does not speak for {criterion.id}")
    if of_another_contract(evidence, record.contract, goal):
        faults.append("was measured under another contract")
    if not isinstance(evidence.subject.get("contract"), str):
        faults.append("does not say under what contract it was measured")
    if not isinstance(evidence.subject.get("tree"), str):
        faults.append("does not say on what files it was measured")
    if item.commit is not None and item.commit != evidence.subject.get("head"):
        faults.append("names another commit than it was measured on")
    if evidence.body.get("criterion_digest") not in (None, criterion.digest):
        faults.append(f"was measured for another wording of {criterion.id}")
    return faults


def _required_author(type: str, criterion: Criterion) -> str | None:
    """The required author of a sidecar of this type that decides the criterion."""
    if not criterion.fuzzy:
        return EVALUATOR if type == "command_result" else None
    return {"llm_judge_report": EVALUATOR, "human_approval": APPROVER}.get(type)


def _speaks_for(evidence: Evidence, criterion: Criterion) -> bool:
    judged = (
        evidence.type == "llm_judge_report" and _judged_result(evidence, criterion.id) is not None
    )
    return criterion.id in evidence.proves or judged


def _subject(record: Record, item: AttestedSidecar) -> list[dict[str, Any]]:
    """The measured state: the commit, if the files were exactly its, and the files' digest."""
    stamp = item.evidence.subject
    subjects: list[dict[str, Any]] = []
    if item.commit is not None:
        subjects.append({"name": record.goal.repo, "digest": {"gitCommit": item.commit}})
    notes = {"head": stamp.get("head"), "base": record.goal.base_commit}
    tree = {
        "name": TREE,
        "digest": {"sha256": str(stamp["tree"])},
        "annotations": {key: value for key, value in notes.items() if value},
    }
    return [*subjects, tree]


def _test_result(record: Record, item: AttestedSidecar) -> dict[str, Any]:
    evidence, criterion = item.evidence, str(item.criterion)
    result = result_of(record.goal, item)
    notes = {
        "goal": record.goal.id,
        "run": record.run_id,
        "type": evidence.type,
        "outcome": evidence.outcome,
        "result": evidence.body.get("result"),
        "approved_by": evidence.body.get("approved_by"),
        "created_at": evidence.created_at,
        "limitations": list(evidence.limitations),
    }
    configuration: list[dict[str, Any]] = [
        {
            "name": "contract",
            "uri": policy_uri(record),
            "digest": {"sha256": str(evidence.subject["contract"])},  # an approval outlives others
        },
        {
            "name": item.file,
            "digest": {"sha256": next(f.sha256 for f in record.files if f.name == item.file)},
            "annotations": {key: value for key, value in notes.items() if value is not None},
        },
    ]
    if evidence.output_ref is not None:
        output = evidence.body.get("output_sha256")
        configuration.append({"name": evidence.output_ref, "digest": {"sha256": output}})
    if evidence.command is not None:
        text = evidence.command.encode("utf-8", "surrogatepass")
        configuration.append({"name": "command", "digest": {"sha256": sha256(text).hexdigest()}})
    return {
        "_type": STATEMENT,
        "subject": _subject(record, item),
        "predicateType": TEST_RESULT,
        "predicate": {
            "result": result,
            "configuration": configuration,
            "passedTests": [criterion] if result == "PASSED" else [],
            "warnedTests": [criterion] if result == "WARNED" else [],
            "failedTests": [criterion] if result == "FAILED" else [],
        },
    }


def policy_uri(record: Record) -> str:
    """The name of the goal's contract as the policy of a summary."""
    return f"{record.resource_uri}#contract"


def _summary(record: Record, results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    achieved = record.goal.status == "achieved"
    first = next(item for item in record.items if item.criterion is not None)
    return {
        "_type": STATEMENT,
        "subject": _subject(record, first),
        "predicateType": SUMMARY,
        "predicate": {
            "verifier": {"id": VERIFIER, "version": {"flow": record.flow_version}},
            "timeVerified": record.closed_at,
            "resourceUri": record.resource_uri,
            "policy": {"uri": policy_uri(record), "digest": {"sha256": record.contract}},
            "inputAttestations": [
                {
                    "uri": f"{record.resource_uri}#{item.evidence.id}/{item.criterion}",
                    "digest": {"sha256": sha256(payload(statement)).hexdigest()},
                }
                for item, statement in zip(
                    (i for i in record.items if i.criterion is not None), results, strict=True
                )
            ],
            "verificationResult": "PASSED" if achieved else "FAILED",
            "verifiedLevels": [LEVEL] if achieved else ["FAILED"],
            "slsaVersion": "1.1",
        },
    }


def _record_statement(record: Record) -> dict[str, Any]:
    return {
        "_type": STATEMENT,
        "subject": [{"name": f.name, "digest": {"sha256": f.sha256}} for f in record.files],
        "predicateType": RECORD,
        "predicate": {
            "goalId": record.goal.id,
            "runId": record.run_id,
            "flowVersion": record.flow_version,
            "resourceUri": record.resource_uri,
            "contract": record.contract,
            "rubrics": dict(record.rubrics),
            "status": record.goal.status,
            "closedAt": record.closed_at,
            "leftOut": dict(record.left_out),
            "evidence": [
                {"file": i.file, "counted": i.criterion is not None}
                | ({"criterion": i.criterion} if i.criterion is not None else {})
                | ({"commit": i.commit} if i.commit is not None else {})
                for i in record.items
            ],
            "files": {
                f.name: binascii.b2a_base64(f.content, newline=False).decode("ascii")
                for f in record.files
                if f.content is not None
            },
        },
    }
