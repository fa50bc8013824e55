"""Evidence: a measurement, its subject, and its limitations (SPEC 1, FlowEvidence)."""

from __future__ import annotations

from flow.core.goal.model import API_VERSION
from flow.startup.json import object_of
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

Outcome = Literal["passed", "failed", "inconclusive", "not_executed", "not_run"]
"""The result of a command's run for its criterion. Only ``passed`` can prove anything."""

EVALUATOR = "flow-evaluator"
"""``metadata.created_by`` of sidecars that an evaluation wrote."""

APPROVER = "flow-approve"
"""``metadata.created_by`` of a ``human_approval`` that ``flow goal approve`` wrote."""

BASELINE = "flow-baseline"
"""``metadata.created_by`` of a command's run on the base commit; it counts in no decision."""

FLAKY = "flaky: "
"""Start of a reason or limitation about runs that disagree on the same files."""

FEWER = "fewer tests: "
"""Start of a limitation about tests that ran before and did not now."""

OTHER_CODE = "other code: "
"""Start of a limitation about tests that may have run other code than this checkout's."""

ONLY_EXIT = "Shows only how this command exited on this state of the files, nothing more."
ONLY_OPINION = "The opinion of a language model, not a measurement: it can be wrong."
ONLY_GIVEN = "Rests on nothing but what the judge was given, on this state of the files."
ONLY_WORD = "One person's word, for these files and this wording only."
GENERAL_LIMITATIONS = frozenset((ONLY_EXIT, ONLY_OPINION, ONLY_GIVEN, ONLY_WORD))
"""Limitations of all evidence of a command, a judge or a person."""

UNDECIDED_KINDS = ("masked", "vacuous", "guarded", "flaky", "not red")
"""First words of an undecided criterion's reason, which name the kind of its result."""


class Subject(NamedTuple):
    """The state that evidence was measured on (SPEC 10).

    ``tree`` is a digest of the working tree's, the index's and HEAD's content against the pinned
    base, without the paths that the boundary leaves out; None if git could not answer. ``contract``
    is the contract's digest.
    """

    head: str | None
    tree: str | None
    contract: str
    flow_version: str

    def to_document(self) -> dict[str, Any]:
        """The subject as part of a sidecar."""
        return {key: value for key, value in self._asdict().items() if value is not None}


class Evidence(NamedTuple):
    """One FlowEvidence record; ``document`` is the content of the sidecar."""

    id: str
    goal: str
    run_id: str
    type: str
    created_at: str
    proves: tuple[str, ...]
    command: str | None
    exit_code: int | None
    outcome: Outcome | None
    output_ref: str | None
    limitations: tuple[str, ...]
    document: Mapping[str, Any]

    @property
    def body(self) -> dict[str, Any]:
        """The document's own fields: what was measured, judged, approved or taken over."""
        body: dict[str, Any] = self.document["evidence"]
        return body

    @property
    def made_by(self) -> str | None:
        """The part of Flow that wrote it; None if it does not say so."""
        made_by: str | None = self.document["metadata"].get("created_by")
        return made_by

    @property
    def counts(self) -> bool:
        """Whether a decision may rest on it: an evaluation or an approval of Flow's wrote it."""
        return self.made_by in (EVALUATOR, APPROVER)

    @property
    def handed_in(self) -> bool:
        """Whether Flow only keeps it, for another tool: it decides nothing."""
        return not self.counts and self.made_by != BASELINE

    @property
    def subject(self) -> Mapping[str, Any]:
        """The stamp of its subject; empty if there is none."""
        return self.body.get("subject") or {}

    @property
    def judgement(self) -> Mapping[str, Any]:
        """The words of judges; empty if it is no report of theirs."""
        return object_of(self.body.get("judgement"))

    @property
    def imported(self) -> Mapping[str, Any] | None:
        """The fields about the imported report; None if this evidence is no import."""
        imported = self.body.get("imported")
        return imported if isinstance(imported, dict) else None


def evidence_from_document(document: Mapping[str, Any]) -> Evidence:
    """Read an evidence document that the schema has accepted."""
    metadata, body = document["metadata"], document["evidence"]
    return Evidence(
        id=metadata["id"],
        goal=metadata["goal"],
        run_id=metadata["run_id"],
        type=body["type"],
        created_at=metadata["created_at"],
        proves=tuple(body.get("proves") or ()),
        command=body.get("command"),
        exit_code=body.get("exit_code"),
        outcome=body.get("outcome"),
        output_ref=body.get("output_ref"),
        limitations=tuple(body.get("limitations") or ()),
        document=document,
    )


def evidence_document(
    *,
    id: str,
    goal: str,
    run_id: str,
    created_at: str,
    created_by: str,
    type: str,
    body: Mapping[str, Any],
) -> dict[str, Any]:
    """A FlowEvidence document; keys of ``body`` whose value is None are left out."""
    return {
        "apiVersion": API_VERSION,
        "kind": "FlowEvidence",
        "metadata": {
            "id": id,
            "goal": goal,
            "run_id": run_id,
            "created_at": created_at,
            "created_by": created_by,
        },
        "evidence": {
            "type": type,
            **{key: value for key, value in body.items() if value is not None},
        },
    }
