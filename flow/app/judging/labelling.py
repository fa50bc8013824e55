"""What a person's word about a proposal says of the judge behind it (SPEC 9.1, ``minKappa``).

A confirmation is a label ``pass``, clearing the goal while the proposal is live a label ``fail``;
only where a judge's opinion was part of the proposal.
"""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.app.ports import Records


def opinions(records: Records, proposal: Mapping[str, Any]) -> dict[str, bool]:
    """What each judge behind an intact proposal said: True is ``achieved``.

    Of several ballots of one judge more than half decide. Sidecars that are missing or altered say
    nothing.
    """
    reference = proposal.get("judge")
    if proposal["to"] != "achieved" or not isinstance(reference, str):
        return {}
    report = _judgement(records, reference)
    ballots = [
        _judgement(records, sidecar)
        for sidecar in (report.get("ballots") or {}).get("sidecars") or ()
        if isinstance(sidecar, str)
    ]
    said: dict[str, list[bool]] = {}
    for ballot in ballots or [report]:
        judge, verdict = ballot.get("judge"), ballot.get("verdict")
        if isinstance(judge, str) and isinstance(verdict, str):
            said.setdefault(judge, []).append(verdict == "achieved")
    return {judge: 2 * sum(votes) > len(votes) for judge, votes in said.items()}


def _judgement(records: Records, reference: str) -> Mapping[str, Any]:
    evidence = records.counted(reference)
    if evidence is None or evidence.type != "llm_judge_report":
        return {}
    judgement = evidence.document["evidence"].get("judgement")
    return judgement if isinstance(judgement, dict) else {}
