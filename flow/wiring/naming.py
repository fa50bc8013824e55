"""A contract that a pipeline names, with the real parts."""

from __future__ import annotations

from flow.adapters.chain import event_log
from flow.adapters.ledger.reader import AMENDED
from flow.startup.typing import TYPE_CHECKING, Any
from flow.wiring.amending import Amending

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.adapters.user_state.goal_notes import Notes
    from flow.adapters.user_state.trust import TrustEntry
    from flow.app.ports import LoadedGoal
    from flow.core.settings import LoadedSettings
    from flow.core.tool_calls.speaker import Speaker
    from flow.wiring.parts import Parts


class Naming:
    """A checkout as :class:`~flow.app.transitions.named_contract.NamedContractPort` sees it."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @property
    def settings(self) -> LoadedSettings:
        return self._parts.settings

    @property
    def speaker(self) -> Speaker | None:
        return self._parts.speaker

    @property
    def contracts(self) -> Notes:
        return self._parts._notes("contracts")

    def load(self, goal_id: str) -> LoadedGoal:
        return self._parts.load(goal_id)

    def take_contract(self, digest: str | None) -> None:
        self._parts._named_contract = digest

    def recorded_trust(self, goal_id: str) -> TrustEntry | None:
        return self._parts.trust_ledger.recorded(goal_id)

    def newest_amendment(self, run_id: str) -> Mapping[str, Any] | None:
        return event_log.newest(
            self._parts.top, run_id, "type", AMENDED, lambda event: event.get("type") == AMENDED
        )

    def amend_untrusted(
        self, goal_id: str, how: str, before: Mapping[str, Any], digest: str
    ) -> None:
        amending = Amending(self._parts.top, self._parts.environ)
        amending.amend_untrusted(goal_id, how, before, digest)
