"""``--trust-digest``: a pipeline's way to say which contract it means (SPEC 17.3).

It lets the commands run, and no more: where this user's state knows another contract of the goal,
what became of it is an amendment that no person agreed to, so it goes on the record and nothing is
proposed until a person has trusted it.
"""

from __future__ import annotations

from flow.core.goal.lifecycle import NON_TERMINAL
from flow.errors import FlowError, PersonNeeded
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.app.evaluation.values import Request
    from flow.app.ports import LoadedGoal
    from flow.wiring.evaluating import Evaluating

OPTION = "--trust-digest"


def refuse_in_an_agents_shell(parts: Evaluating, goal_id: str) -> None:
    """Raise :class:`PersonNeeded` there, unless the user's own settings allow it.

    Who edited the contract would only have to name its digest.
    """
    allowed = parts.settings.settings.agent_may_name_trust
    if parts.speaker is not None and parts.speaker.said_from == "agent" and not allowed:
        raise PersonNeeded(
            f"{OPTION} is a pipeline's word, and this is an agent's shell",
            code="agent_names_trust",
            key=OPTION,
            remedy=f"a person, at a terminal: flow trust record {goal_id}; or allow it in your "
            "own ~/.claude/settings.flow.json: flow.goals.agentMayNameTrust",
        )


def named(parts: Evaluating, request: Request, digest: str) -> Request:
    """Take the contract as the one that is meant; the request, without a proposal where need be."""
    parts._named_contract = None
    try:
        loaded = parts.load(request.goal_id)
    except FlowError:
        return request  # the evaluation says what is wrong
    if digest.lower() != loaded.contract:
        return request
    known = _known(parts, loaded)
    parts._named_contract = loaded.contract
    if known is None:
        if not request.dry_run:
            _remember(parts, loaded)
        return request
    if known["digest"] == loaded.contract:
        return request
    if not request.dry_run:
        _record(parts, loaded, known)
    return request._replace(
        no_proposal=f"this user knows another contract of the goal ({str(known['digest'])[:12]}); "
        f"a person reads what changed: flow trust record {loaded.goal.id}"
    )


def _known(parts: Evaluating, loaded: LoadedGoal) -> Mapping[str, Any] | None:
    """The contract that the user's state knows: what was trusted last, else what was named first.

    A state folder that cannot be used knows none.
    """
    goal = loaded.goal
    try:
        recorded = parts.trust_ledger.recorded(goal.id)
        if recorded is not None:
            return {"digest": recorded.digest, "contract": recorded.contract}
        note = parts._notes("contracts").read(goal.id)
    except FlowError:
        return None
    if note is None or note.get("run_id") != goal.run_id or not isinstance(note.get("digest"), str):
        return None
    return note


def _remember(parts: Evaluating, loaded: LoadedGoal) -> None:
    from flow.core.goal.model import contract

    goal = loaded.goal
    note = {
        "run_id": goal.run_id,
        "digest": loaded.contract,
        "contract": contract(goal.document),
    }
    try:
        parts._notes("contracts").write(goal.id, note)
    except FlowError:
        return  # then nothing is known of it later, as on a fresh machine


def _record(parts: Evaluating, loaded: LoadedGoal, known: Mapping[str, Any]) -> None:
    """Put the change of the contract on the goal's record, once."""
    from flow.adapters.chain import event_log

    goal = loaded.goal
    if goal.run_id is None or goal.status not in NON_TERMINAL or goal.status == "draft":
        return
    told = event_log.newest(
        parts.top,
        goal.run_id,
        "type",
        "contract-amended",
        lambda event: event.get("type") == "contract-amended",
    )
    if told is not None and told.get("contract_sha256") == loaded.contract:
        return
    from flow.wiring.amending import Amending

    amending = Amending(parts.top, parts.environ)
    amending.amend_untrusted(goal.id, OPTION, known["contract"], str(known["digest"]))
