"""Proposals and approvals: their grounds, and whether those still hold (SPEC 2).

A proposal's id is a SHA-256 over the contract, the digest of the files, git's hooks and settings,
the verdict, the target status, each criterion's result with the path of its sidecar, and the path
of a judge's. Its reason, head and ``proof`` are not in it, nor are lifecycle fields and the
journal, so a pause does not spoil a proposal; a changed file or contract does. The content of
sidecars is not in the id; the ledger vouches for it, and a changed one is refused at ``confirm``.
"""

from __future__ import annotations

from flow.core.boundary.guards import any_changed, as_approved, unapproved
from flow.core.evidence.model import APPROVER, Evidence, Subject
from flow.core.goal.lifecycle import TERMINAL, first_step
from flow.core.goal.model import Goal, canonical_digest
from flow.core.instant import ahead
from flow.core.text import display
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flow.app.ports import Records
    from flow.core.chain.walk import ChainFinding
    from flow.core.decision.verdict import CriterionResult, Verdict


def after_broken_record(goal: Goal, run_id: str) -> str:
    """The next steps, where a run's record is broken."""
    anew = f"to measure anew, apart from it: flow goal evaluate {goal.id} --run-id NEW"
    next_step = first_step(goal.status, goal.id) or anew
    return f"see all of it: flow evidence verify {run_id}; {next_step}"


class Grounds(NamedTuple):
    """The state that a proposal is bound to, beside the verdict."""

    subject: Subject
    guards: Mapping[str, str]
    """Git's hooks and settings in the last snapshot."""
    judge: str | None = None
    """The path of the sidecar of a judge's opinion."""
    proof: str | None = None
    """The digest of the proof; no part of the id."""


class ProposedRow(NamedTuple):
    """A criterion's result in a proposal."""

    criterion_id: str
    status: str
    outcome: str
    evidence_ref: str | None


def rows(proposal: Mapping[str, Any]) -> list[ProposedRow]:
    """The results of an intact proposal."""
    results = zip(proposal["results"], proposal["evidence"], strict=True)
    return [
        ProposedRow(str(criterion_id), str(status), str(outcome), reference)
        for (criterion_id, status, outcome), reference in results
    ]


def broken_record(run_id: str, findings: Sequence[ChainFinding]) -> str:
    """The sentence about a run's record that these findings, at least one, break."""
    first = display.joined([str(findings[0])], len(findings), before=", ")
    return f"the record of run {run_id} is broken: {first}"


def proposal_id(grounds: Grounds, verdict: str, to: str, results: Sequence[CriterionResult]) -> str:
    """The id of a proposal to go to ``to``."""
    subject = grounds.subject
    result_rows = [[r.criterion_id, r.status, r.outcome, r.evidence_ref] for r in results]
    about = {"contract": subject.contract, "tree": subject.tree, "guards": grounds.guards}
    return _digest({**about, "verdict": verdict, "to": to}, result_rows, grounds.judge)


def _digest(about: Mapping[str, Any], result_rows: list[list[Any]], judge: str | None) -> str:
    bound = {key: about[key] for key in ("contract", "guards", "verdict", "to")}
    evidence = [*result_rows, *([["judge", judge]] if judge is not None else [])]
    return canonical_digest({**bound, "subject": about["tree"], "evidence": evidence})


def is_intact(proposal: Mapping[str, Any]) -> bool:
    """Whether ``proposal`` is whole, and its id is the digest of its grounds.

    One whose grounds were changed since is none; nor is one of an older Flow without ``guards``.
    """
    texts = ("proposal_id", "goal_id", "run_id", "to", "verdict", "reason", "contract", "tree")
    results, evidence = proposal.get("results"), proposal.get("evidence")
    guards = proposal.get("guards")
    if (
        not all(isinstance(proposal.get(key), str) for key in texts)
        or proposal["to"] not in TERMINAL
        or not isinstance(results, list)
        or not isinstance(evidence, list)
        or not isinstance(guards, dict)
        or len(results) != len(evidence)
        or not all(isinstance(row, list) and len(row) == 3 for row in results)
        or not all(ref is None or isinstance(ref, str) for ref in evidence)
        or not isinstance(proposal.get("judge", ""), str)
    ):
        return False
    result_rows = [[*row, ref] for row, ref in zip(results, evidence, strict=True)]
    return bool(_digest(proposal, result_rows, proposal.get("judge")) == proposal["proposal_id"])


def counted_once(counted: Callable[[str], Evidence | None]) -> Callable[[str], Evidence | None]:
    """``counted`` for several questions about one moment: each sidecar is looked at once."""
    answers: dict[str, Evidence | None] = {}

    def counted_then(reference: str) -> Evidence | None:
        if reference not in answers:
            answers[reference] = counted(reference)
        return answers[reference]

    return counted_then


def lost_grounds(
    proposal: Mapping[str, Any], counted: Callable[[str], Evidence | None]
) -> list[str]:
    """The grounds of an intact proposal that are lost, as sentences."""
    reasons = _lost_opinion(proposal, counted)
    for row in rows(proposal):
        if row.evidence_ref is None:
            continue
        shown, evidence = display.visible(row.evidence_ref), counted(row.evidence_ref)
        if evidence is None:
            reasons.append(f"evidence {shown} is missing or altered")
        elif row.outcome == "passed" and (
            evidence.outcome != "passed"
            or row.criterion_id not in evidence.proves
            or evidence.subject.get("tree") != proposal["tree"]
        ):
            reasons.append(f"evidence {shown} does not say what it claims")
    return reasons


def outdated(
    proposal: Mapping[str, Any], counted: Callable[[str], Evidence | None], version: str, now: str
) -> list[str]:
    """The grounds of an intact proposal that another Flow measured, or a later clock dated."""
    reasons = []
    for reference in dict.fromkeys((*proposal["evidence"], proposal.get("judge"))):
        evidence = counted(reference) if reference is not None else None
        if evidence is None:
            continue
        if ahead(evidence.created_at, now):
            reasons.append(f"evidence {display.visible(reference)} is dated in the future")
        measured_by = evidence.subject.get("flow_version")
        if evidence.type != "human_approval" and measured_by not in (None, version):
            versions = f"Flow {display.visible(str(measured_by))}, and this is {version}"
            reasons.append(f"evidence {display.visible(reference)} was measured by {versions}")
    return reasons


def _lost_opinion(
    proposal: Mapping[str, Any], counted: Callable[[str], Evidence | None]
) -> list[str]:
    """The faults of the judge's opinion that it rests on, and of the ballots behind that."""
    reference = proposal.get("judge")
    if reference is None:
        return []
    shown = display.visible(reference)
    evidence = counted(reference)
    if evidence is None:
        return [f"the judge's report {shown} is missing or altered"]
    judgement = evidence.judgement
    passed = {
        row.criterion_id
        for row in rows(proposal)
        if row.evidence_ref == reference and row.status == "pass"
    }
    if (
        evidence.type != "llm_judge_report"
        or evidence.goal != proposal["goal_id"]
        or evidence.subject.get("tree") != proposal["tree"]
        or judgement.get("verdict") != proposal["verdict"]
        or not passed <= set(evidence.proves)
    ):
        return [f"the judge's report {shown} does not say what it claims"]
    ballots = (judgement.get("ballots") or {}).get("sidecars") or ()
    return [
        f"the judge's ballot {display.visible(str(ballot))} is missing or altered"
        for ballot in ballots
        if counted(str(ballot)) is None
    ]


def document(
    verdict: Verdict,
    grounds: Grounds,
    at: str,
    live: Mapping[str, Any] | None,
    counted: Callable[[str], Evidence | None],
) -> dict[str, Any]:
    """``proposal.json``. A live proposal of the same subject and result stays the live one.

    If the live one's evidence is lost or outdated it is replaced: kept, it could never be
    confirmed.
    """
    proposed, subject = verdict.proposed_transition, grounds.subject
    if proposed is None:
        raise ValueError("a verdict that proposes nothing has no proposal")
    fresh = {
        "proposal_id": proposed.proposal_id,
        "goal_id": verdict.goal_id,
        "run_id": verdict.run_id,
        "to": proposed.to,
        "verdict": verdict.verdict,
        "reason": proposed.reason,
        "turns_evaluated": proposed.turns_evaluated,
        "contract": subject.contract,
        "head": subject.head,
        "tree": subject.tree,
        "guards": dict(grounds.guards),
        "results": [[r.criterion_id, r.status, r.outcome] for r in verdict.criterion_results],
        "evidence": [r.evidence_ref for r in verdict.criterion_results],
        "created_at": at,
        **({"judge": grounds.judge} if grounds.judge is not None else {}),
        **({"proof": grounds.proof} if grounds.proof is not None else {}),
    }
    if live is not None and live.get("proof") != grounds.proof:
        return fresh
    same = ("goal_id", "run_id", "to", "verdict", "contract", "tree", "guards", "results")
    if live is None or not is_intact(live) or any(live[key] != fresh[key] for key in same):
        return fresh
    unusable = lost_grounds(live, counted) or outdated(live, counted, subject.flow_version, at)
    return fresh if unusable else dict(live)


def live_proposal(records: Records, goal: Goal) -> Mapping[str, Any] | None:
    """The proposal that could be confirmed now, as far as the goal's own state says."""
    if goal.run_id is None:
        return None
    proposal = records.proposal(goal.run_id)
    if proposal is None or not is_intact(proposal):
        return None
    mine = (goal.id, goal.run_id)
    return proposal if (proposal["goal_id"], proposal["run_id"]) == mine else None


def fresh_approvals(goal: Goal, subject: Subject, records: Records, now: str) -> frozenset[str]:
    """The fuzzy criteria that a person approved on these files and this wording."""
    approved = set()
    for criterion in goal.criteria:
        if not criterion.fuzzy or not criterion.evidence_ref:
            continue
        evidence = approval_behind(criterion.evidence_ref, goal, records)
        if evidence is None or criterion.id not in evidence.proves:
            continue
        if (
            subject.tree is not None
            and evidence.subject.get("tree") == subject.tree
            and evidence.body.get("criterion_digest") == criterion.digest
            and not ahead(evidence.created_at, now)
        ):
            approved.add(criterion.id)
    return frozenset(approved)


def approval_behind(evidence_ref: str, goal: Goal, records: Records) -> Evidence | None:
    """The ``human_approval`` that ``evidence_ref`` names, if ``flow goal approve`` wrote it."""
    evidence = records.counted(evidence_ref)
    if evidence is None or evidence.goal != goal.id or evidence.type != "human_approval":
        return None
    return evidence if evidence.made_by == APPROVER else None


def open_guards(
    goal: Goal,
    run_id: str,
    records: Records,
    baseline: Mapping[str, str],
    moments: Sequence[Mapping[str, str]],
    *,
    recorded: bool,
) -> tuple[tuple[str, ...], bool]:
    """The changed guards that no approval covers, and whether the goal's start is not on record.

    ``moments`` are git's hooks and settings in each snapshot, ``baseline`` those at activation. An
    approval of the last ones stands for a start that is not ``recorded``.
    """
    if recorded and not any_changed(moments, baseline):
        return (), False  # no approval decides
    approved = approved_guards(goal, run_id, records)
    lost = not recorded and not as_approved(moments[-1], baseline, approved)
    return unapproved(moments, baseline, approved), lost


def approved_guards(goal: Goal, run_id: str, records: Records) -> Mapping[str, str] | None:
    """The hooks and git settings that a person approved in this run, as they were then."""
    evidence = records.counted_last(run_id, "guards-approved")
    if evidence is None or evidence.goal != goal.id:
        return None
    guards = evidence.body.get("guards")
    return guards if isinstance(guards, dict) and guards else None
