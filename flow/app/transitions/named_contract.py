"""``--trust-digest``: a pipeline's way to say which contract it means (SPEC 17.3).

It lets the commands run, and no more. If this user's state folder knows another contract of the
goal, the difference is an amendment that no person agreed to: it is recorded, and nothing is
proposed until a person trusts the new contract.
"""

from __future__ import annotations

from flow.app.ports import GoalPort, SettingsPort, SpeakerPort, TrustingPort, TrustLedgerPort
from flow.core.goal.lifecycle import UNDER_WAY
from flow.core.tool_calls.speaker import is_agent
from flow.errors import FlowError, PersonNeeded, at_key
from flow.startup.typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.app.evaluation.values import Request
    from flow.app.ports import GoalNotes
    from flow.core.goal.loaded import LoadedGoal

OPTION = "--trust-digest"


class NamingPort(SpeakerPort, SettingsPort, Protocol):
    """The speaker of this process, and the user's settings."""


class AmendUntrusted(Protocol):
    """Puts on the record what was changed since a contract, and trusts nothing."""

    def __call__(self, goal_id: str, how: str, before: Mapping[str, Any], digest: str) -> None:
        """``before`` is that contract, ``digest`` its own; ``how`` the option that names one."""


class NamedContractPort(NamingPort, GoalPort, TrustingPort, TrustLedgerPort, Protocol):
    """Interface of ``--trust-digest`` to the checkout."""

    def notes(self, kind: Literal["contracts"]) -> GoalNotes:
        """The contracts that were named first; :class:`FlowError` without a state folder."""

    def take_contract(self, digest: str | None) -> None:
        """Trust this contract for as long as the process runs."""

    def amendments(self, run_id: str) -> Sequence[Mapping[str, Any]]:
        """The run's events about its contract, oldest first."""


def refuse_other(loaded: LoadedGoal, digest: str | None) -> None:
    """Raise :class:`StateError` if the goal has another contract than the one that is named."""
    if digest is not None and digest.lower() != loaded.contract:
        raise at_key(OPTION, digest).wrong_state(
            f"goal {loaded.goal.id} has the contract {loaded.contract}, not {digest:.80}",
            "read what changed, then name the new digest",
            code="other_contract",
        )


def refuse_agent_naming_trust(port: NamingPort, goal_id: str) -> None:
    """Raise :class:`PersonNeeded` in an agent's shell, unless the user's own settings allow it.

    An agent that edited the contract would only have to name its digest.
    """
    allowed = port.settings.settings.agent_may_name_trust
    if is_agent(port.speaker) and not allowed:
        raise PersonNeeded(
            f"{OPTION} is a pipeline's word, and this is an agent's shell",
            code="agent_names_trust",
            key=OPTION,
            remedy=f"a person, at a terminal: flow trust record {goal_id}; or allow it in your "
            "own ~/.claude/settings.flow.json: flow.goals.agentMayNameTrust",
        )


def take_named(
    port: NamedContractPort, request: Request, digest: str, amend: AmendUntrusted
) -> Request:
    """Trust the named contract in this process; the request, with ``no_proposal`` if one is due.

    Raises :class:`PersonNeeded` in an agent's shell.
    """
    refuse_agent_naming_trust(port, request.goal_id)
    port.take_contract(None)
    try:
        loaded = port.load(request.goal_id)
    except FlowError:
        return request  # the evaluation says what is wrong
    if digest.lower() != loaded.contract:
        return request
    request = request._replace(only_named=not port.trusted(loaded)[0])
    known = _known_contract(port, loaded)
    port.take_contract(loaded.contract)
    if known is None:
        if not request.dry_run:
            _remember_contract(port, loaded)
        return request
    if known["digest"] == loaded.contract:
        return request
    if not request.dry_run:
        _record_change(port, loaded, known, amend)
    return request._replace(
        no_proposal=f"this user knows another contract of the goal ({str(known['digest'])[:12]}); "
        f"a person reads what changed: flow trust record {loaded.goal.id}"
    )


def _known_contract(port: NamedContractPort, loaded: LoadedGoal) -> Mapping[str, Any] | None:
    """The contract that the user's state knows: what was trusted last, else what was named first.

    A state folder that cannot be used knows none.
    """
    goal = loaded.goal
    try:
        recorded = port.trust_ledger.recorded(goal.id)
        if recorded is not None:
            return {"digest": recorded.digest, "contract": recorded.contract}
        note = port.notes("contracts").read(goal.id)
    except FlowError:
        return None
    if note is None or note.get("run_id") != goal.run_id or not isinstance(note.get("digest"), str):
        return None
    return note


def _remember_contract(port: NamedContractPort, loaded: LoadedGoal) -> None:
    goal = loaded.goal
    note = {"run_id": goal.run_id, "digest": loaded.contract, "contract": goal.contract_document}
    try:
        port.notes("contracts").write(goal.id, note)
    except FlowError:
        return  # then nothing is known of it later, as on a fresh machine


def _record_change(
    port: NamedContractPort, loaded: LoadedGoal, known: Mapping[str, Any], amend: AmendUntrusted
) -> None:
    """Put the change of the contract on the goal's record, once."""
    goal = loaded.goal
    if goal.run_id is None or goal.status not in UNDER_WAY:
        return
    told = port.amendments(goal.run_id)
    if told and told[-1].get("contract_sha256") == loaded.contract:
        return
    amend(goal.id, OPTION, known["contract"], str(known["digest"]))
