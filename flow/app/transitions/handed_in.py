"""A lifecycle block that another program hands in, which has asked a person itself."""

from __future__ import annotations

from flow.app.evaluation.closing_context import ClosingPort
from flow.app.ports import GoalPort
from flow.core import layout
from flow.core.goal.lifecycle import TERMINAL
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flow.app.transitions.persons_word import PersonsWord


class LifecycleChange(NamedTuple):
    """The block as it was handed in, bare or below a ``lifecycle`` key."""

    document: Mapping[str, Any]
    file: str
    """The name of the file it came from."""
    from_status: str | None
    """The status that the caller saw; None if it does not say."""
    merge: bool
    """Whether keys that it does not name stay."""
    increment_turns: bool

    @property
    def block(self) -> Mapping[str, Any]:
        """The block itself."""
        inner = self.document.get("lifecycle")
        return (
            inner
            if set(self.document) == {"lifecycle"} and isinstance(inner, dict)
            else self.document
        )


class LifecycleLedger(Protocol):
    """The writing side of the ledger, as far as blocks are handed in."""

    def update_lifecycle(self, goal_id: str, lifecycle: Mapping[str, Any], **how: Any) -> object:
        """Write the block, if the table of moves allows it.

        ``how``: the fields of :class:`LifecycleChange` beside the block, and ``word``, the fields
        of the person who closes the goal.
        """


class LifecyclePort(GoalPort, ClosingPort, Protocol):
    """Interface of writing a lifecycle block to the checkout."""

    @property
    def ledger(self) -> LifecycleLedger:
        """The ledger that writes the block."""

    def own_word(self) -> PersonsWord:
        """The word of the person who runs this."""


def update_lifecycle(
    port: LifecyclePort, goal_id: str, change: LifecycleChange, activate: Callable[[str], object]
) -> str:
    """Write a goal's lifecycle block; returns the goal's path.

    ``activate`` starts a draft: pins its base, records trust. ``achieved`` needs a live proposal
    and an unbroken record; a draft that becomes active is activated. Raises
    :class:`StaleProposal`, :class:`StateError`.
    """
    block, from_status = change.block, change.from_status
    if block.get("status") == "achieved":
        from flow.app.transitions import closing  # most blocks close nothing

        context = port.closing_context()
        context.await_evaluation(goal_id)
        context.ledger.finish(goal_id)
        closing.refuse_stale(context, goal_id)
        closing.refuse_broken(context, goal_id)
    starts = block.get("status") == "active" and from_status in (None, "draft")
    if starts and port.load(goal_id).goal.status == "draft":
        activate(goal_id)  # pins the base and records trust, as `active` has to
        from_status = None
    word: Mapping[str, str] = {}
    if str(block.get("status")) in TERMINAL:
        own = port.own_word()
        word = {"by": own.by, **own.name_fields}
    port.ledger.update_lifecycle(
        goal_id,
        block,
        from_status=from_status,
        merge=change.merge,
        increment_turns=change.increment_turns,
        file=change.file,
        word=word,
    )
    return layout.goal_file(goal_id)
