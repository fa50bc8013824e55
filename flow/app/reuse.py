"""Evidence that still fits the working tree stands for a run (SPEC section 6, unchanged work)."""

from __future__ import annotations

from flow.cheap_typing import TYPE_CHECKING, cast
from flow.core.evidence import EVALUATOR

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.app.looking import Facts
    from flow.app.measure import Measurement
    from flow.app.ports import Records
    from flow.core.evidence import Evidence
    from flow.core.goal import Criterion


def rows(
    facts: Facts,
    criteria: Sequence[Criterion],
    newest: Mapping[str, str],
    records: Records,
    seconds: dict[str, float],
) -> dict[str, Measurement]:
    """The criteria that need no run, with what their evidence says.

    ``newest`` has the path of a criterion's last sidecar where that is not the one the goal names.
    ``seconds`` is filled with how long each command took last.
    """
    found = {}
    for criterion in criteria:
        for path in dict.fromkeys((newest.get(criterion.id), criterion.evidence_ref)):
            evidence = records.counted(path) if path else None
            if evidence is None or path is None or criterion.id not in evidence.proves:
                continue
            took = evidence.document["evidence"].get("duration_seconds")
            if isinstance(took, int | float):
                seconds.setdefault(criterion.id, float(took))
            if fits(evidence, criterion, facts):
                found[criterion.id] = _row(criterion, evidence, path)
                break
    return found


def fits(evidence: Evidence, criterion: Criterion, facts: Facts) -> bool:
    """Whether ``evidence`` decides ``criterion`` on the files as they are now.

    It must be the evaluator's own, of this goal and wording, and passed or failed: an inconclusive
    run says nothing, so the next one may say more.
    """
    body, now = evidence.document["evidence"], facts.subject
    then = evidence.subject
    return (
        criterion.hermetic
        and evidence.type == "command_result"
        and evidence.goal == facts.loaded.goal.id
        and evidence.document["metadata"].get("created_by") == EVALUATOR
        and evidence.outcome in ("passed", "failed")
        and body.get("criterion_digest") == criterion.digest
        and now.tree is not None
        and (then.get("tree"), then.get("contract"), then.get("flow_version"))
        == (now.tree, now.contract, now.flow_version)
    )


def _row(criterion: Criterion, evidence: Evidence, path: str) -> Measurement:
    from flow.app.measure import Measurement

    body = evidence.document["evidence"]
    return Measurement(
        criterion.id,
        # as `fits` has made sure
        cast("str", evidence.outcome),  # type: ignore[arg-type]
        evidence.exit_code,
        body.get("result"),
        body.get("reason") or "",
        evidence.limitations,
        evidence.id,
        path,
        body.get("output_sha256"),
    )
