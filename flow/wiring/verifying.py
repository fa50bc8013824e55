"""Checking runs against their hash chains, with the real parts."""

from __future__ import annotations

from flow.adapters.chain.verification import RunVerification
from flow.core import layout
from flow.core.goal import ids
from flow.errors import at_key, in_file
from flow.startup.typing import TYPE_CHECKING, Any
from flow.wiring.reading import Reading

if TYPE_CHECKING:
    from flow.wiring.parts import Parts


class Verifying(Reading):
    """Checking runs against their hash chains."""

    def verify(self, run_id: str | None, against: str | None) -> dict[str, Any]:
        """Check a run, or every run there is and was: what ``flow evidence verify`` prints.

        Raises :class:`InputError` for a run that nobody knows, and for a ref that is none.
        """
        return verification(self).verify(run_id, against)

    def head(self, run_id: str) -> str:
        """The head of a run's chain, ``<n>:<hash>``. Raises :class:`StateError` without one."""
        head = self.records.ledger_head(ids.run_id(run_id))
        if head is None:
            raise at_key("run", run_id).wrong_state(
                f"run {run_id} has no evidence in its chain yet",
                "evaluate its goal first: flow goal evaluate ID",
            )
        return head

    def forget_head(self, run_id: str) -> str:
        """Forget what the state folder keeps of a run; returns the file it was in.

        Raises :class:`InputError` (``not_found``) where nothing is kept.
        """
        path = self.heads.path(run_id)
        if self.heads.read(run_id) is None:
            raise at_key("RUN", run_id).not_found(
                f"your state folder keeps no head of run {run_id}",
                "see the runs it knows: flow evidence verify",
            )
        self.heads.forget(run_id)
        return path


def verification(parts: Parts) -> RunVerification:
    """The runs of a checkout, to be checked."""
    folders = [parts.settings.settings.journal_dir, layout.JOURNAL_DIR]
    return RunVerification(parts.top, parts.repo, lambda: parts.heads, folders)


def refuse_broken(parts: Parts, goal_id: str) -> None:
    """Raise :class:`StaleProposal` where the record that a proposal rests on is broken."""
    run_id = parts.records.goal(goal_id).goal.run_id
    broken = verification(parts).broken(run_id) if run_id is not None else []
    if broken:
        more = f", and {len(broken) - 1} more" if len(broken) > 1 else ""
        see = f"see all of it: flow evidence verify {run_id}; to measure anew, apart from it: "
        raise in_file(broken[0].file).stale(
            f"the record of run {run_id} is broken: {broken[0]}{more}",
            f"{see}flow goal evaluate {goal_id} --run-id NEW",
        )
