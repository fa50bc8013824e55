"""Evidence that fits the working tree and stands for a run (SPEC 6, unchanged work)."""

from __future__ import annotations

from itertools import islice

from flow.app.evaluation.values import Facts, Measurement
from flow.core.evidence.model import EVALUATOR, Evidence
from flow.core.instant import ahead
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from flow.app.ports import Records
    from flow.core.goal.model import Criterion

NEWEST = 8
"""Sidecars of a criterion that are searched for one about the same files."""


def reusable_rows(
    facts: Facts,
    criteria: Sequence[Criterion],
    newest: Mapping[str, str],
    records: Records,
    seconds: dict[str, float],
    now: str,
) -> dict[str, Measurement]:
    """The rows of the criteria that need no run, from their evidence.

    ``newest``: criterion id → path of a sidecar that is tried before the goal's ``evidence_ref``.
    ``seconds`` is filled with the duration of each command's last run.
    """
    rows_by_id = {}
    for criterion in criteria:
        for path in dict.fromkeys((newest.get(criterion.id), criterion.evidence_ref)):
            # Once its duration is known, evidence about other files has no more to say: the goal's
            # may be as old as the goal, and the record is not read back to it.
            sought = filter(None, (facts.subject.tree if criterion.id in seconds else None,))
            evidence = records.counted(path, *sought) if path else None
            if evidence is None or path is None or criterion.id not in evidence.proves:
                continue
            took = evidence.body.get("duration_seconds")
            if isinstance(took, int | float):
                seconds.setdefault(criterion.id, float(took))
            if (
                not facts.edited_by_products
                and still_decides(evidence, criterion, facts)
                and not ahead(evidence.created_at, now)
                and not _overruled(path, facts, criterion, records)
            ):
                rows_by_id[criterion.id] = Measurement.recorded(criterion.id, evidence, path)
                break
    return rows_by_id


def newest_counted(
    facts: Facts, criterion: Criterion, records: Records, until: str
) -> Iterator[Evidence]:
    """The newest evidence of a criterion that may be about the same files.

    It is from this run, and from the one that the goal names; at the path ``until`` it ends.
    """
    tree = facts.subject.tree
    for path in newest_paths(facts, criterion, records):
        if tree is None or path == until:
            return
        evidence = records.counted(path, tree)
        if evidence is not None:
            yield evidence


def newest_paths(facts: Facts, criterion: Criterion, records: Records) -> Iterator[str]:
    """The paths of a criterion's newest sidecars of this run, and of the one the goal names."""
    for run_id in dict.fromkeys((facts.run_id, facts.loaded.goal.run_id)):
        if run_id is not None:
            yield from islice(records.measured(run_id, criterion.id), NEWEST)


def _overruled(path: str, facts: Facts, criterion: Criterion, records: Records) -> bool:
    """Whether newer evidence than ``path`` is about the same files.

    The sidecar that the goal's file names need not be Flow's choice: anyone may edit that field.
    """
    newer = newest_counted(facts, criterion, records, until=path)
    return any(same_subject(evidence, criterion, facts) for evidence in newer)


def still_decides(evidence: Evidence, criterion: Criterion, facts: Facts) -> bool:
    """Whether ``evidence`` decides ``criterion`` on the files as they are now.

    It must have passed or failed: an inconclusive run says nothing, so the next one may say more.
    A pass must have been repeated as often as the contract says.
    """
    repeat = evidence.body.get("repeat") or {}
    enough = evidence.outcome == "failed" or repeat.get("runs", 1) >= facts.loaded.goal.repeat
    decided = evidence.outcome in ("passed", "failed") and enough
    return decided and same_subject(evidence, criterion, facts)


def same_subject(evidence: Evidence, criterion: Criterion, facts: Facts) -> bool:
    """Whether ``evidence`` is about ``criterion`` and the files as they are now.

    It must be the evaluator's own, of this goal, contract and wording, and its criterion one whose
    result depends on the files alone.
    """
    return (
        same_command_and_files(evidence, criterion, facts)
        and evidence.body.get("criterion_digest") == criterion.digest
        and evidence.subject.get("contract") == facts.subject.contract
    )


def same_command_and_files(evidence: Evidence, criterion: Criterion, facts: Facts) -> bool:
    """Whether ``evidence`` is about the same command on the same files, under any contract.

    That is enough to doubt a pass: an amendment that asks for more must not erase a failure.
    """
    now, then = facts.subject, evidence.subject
    return (
        criterion.hermetic
        and criterion.id in evidence.proves
        and evidence.type == "command_result"
        and evidence.goal == facts.loaded.goal.id
        and evidence.made_by == EVALUATOR
        and evidence.command == criterion.verification_command
        and now.tree is not None
        and (then.get("tree"), then.get("flow_version")) == (now.tree, now.flow_version)
    )
