"""Changing the contract of a live goal."""

from __future__ import annotations

from flow.adapters.attribution.command_checks import syntax_faults
from flow.adapters.baseline.pinned import replace_protected
from flow.adapters.ledger import goal_edits
from flow.adapters.ledger.reader import parse_goal, read_goal, rubric_digests, rubrics_named
from flow.app.transitions import amend
from flow.app.transitions.amend import AmendmentTools, Basis
from flow.app.transitions.create import lint_goal
from flow.core.evidence import proof
from flow.core.goal import ids
from flow.core.goal.model import contract, contract_digest, scorecard_rubrics
from flow.errors import ContractError
from flow.startup.typing import TYPE_CHECKING, Any
from flow.wiring.parts import Parts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.app.ports import LoadedGoal
    from flow.app.transitions.amend import AmendmentPlan
    from flow.core.boundary.changes import Baseline
    from flow.core.goal.model import Goal


class Amending(Parts):
    """Changing the contract of a live goal."""

    def plan_amend(self, goal_id: str, text: str, name: str) -> AmendmentPlan:
        """What the new ``text`` of a goal would change; ``name`` is the file it came from.

        Raises :class:`ContractError` for commands that bash cannot read, too.
        """
        plan = self._plan(goal_id, text, name)
        faults = syntax_faults(plan.goal, name, self.environ, self.top)
        if faults:
            raise ContractError(faults)
        return plan

    def _plan(self, goal_id: str, text: str, name: str) -> AmendmentPlan:
        return amend.plan_amendment(
            self._desk(), self._amend_tools(), ids.goal_id(goal_id), text, name
        )

    def do_amend(
        self,
        plan: AmendmentPlan,
        *,
        who: str | None,
        asked: str,
        reason: str | None,
        how: str = "flow goal amend",
    ) -> None:
        """Write an amendment that was agreed to; ``asked`` says how, ``who`` by whom."""
        name, by_from = self.by(who)
        amend.carry_out(
            self._desk(),
            self._amend_tools(),
            plan,
            who=name,
            how=how,
            asked=asked,
            reason=reason,
            by_from=by_from,
        )

    def amend_by_hand(self, goal_id: str, how: str) -> None:
        """Put on the record what somebody changed in a goal file, and a person has now trusted."""
        data, loaded = read_goal(self.top, goal_id)
        plan = self._plan(goal_id, data.decode("utf-8"), loaded.file)
        reason = "the goal file was changed by hand"
        self.do_amend(plan, who=None, asked=how, reason=reason, how=how)

    def amend_untrusted(
        self, goal_id: str, how: str, before: Mapping[str, Any], digest: str
    ) -> None:
        """Put on the record what was changed since the contract ``before``, and trust nothing."""
        data, loaded = read_goal(self.top, goal_id)
        tools = self._amend_tools()._replace(
            basis=lambda _loaded: amend.Basis(before, digest=digest),
            trust=lambda _goal, _how: None,
        )
        plan = amend.plan_amendment(self._desk(), tools, goal_id, data.decode("utf-8"), loaded.file)
        name, by_from = self.by(None)
        amend.carry_out(
            self._desk(),
            tools,
            plan,
            who=name,
            how=f"flow goal evaluate {how}",
            asked="nobody: a pipeline names the contract",
            reason="the contract was changed without flow goal amend",
            by_from=by_from,
        )

    def _amend_tools(self) -> AmendmentTools:
        return AmendmentTools(
            read=lambda text, name: parse_goal(text.encode("utf-8", "surrogateescape"), name),
            carry=lambda live, text, name: goal_edits.carried(live, text, name)[1],
            digest=lambda goal: goal.digest(rubric_digests(self.top, goal)),
            basis=self._basis,
            trust=self._trust,
            relock=self._relock,
            rename=self._renamed,
            lint=self._lint,
        )

    def _basis(self, loaded: LoadedGoal) -> Basis:
        """The contract that this user trusted last, and what else speaks for asking."""
        goal_id, ledger = loaded.goal.id, self.trust_ledger
        newest, recorded = ledger.newest(goal_id), ledger.recorded(goal_id)
        if newest is None or recorded is None or recorded.contract is None:
            if self.settings.settings.execute_verification_commands:
                return Basis(contract(loaded.goal.document), holds=True)
            return Basis(None, "nobody here has trusted this goal yet")
        if newest.action == "revoke":
            why = "trust in this goal was revoked"
            return Basis(recorded.contract, why, digest=recorded.digest)
        if newest.digest == loaded.contract:
            return Basis(contract(loaded.goal.document), holds=True)
        if self._digest_now(recorded.contract) != recorded.digest:
            why = "a rubric that it names was changed since it was trusted"
            return Basis(recorded.contract, why, digest=recorded.digest)
        return Basis(recorded.contract, digest=recorded.digest)

    def _digest_now(self, document: Mapping[str, Any]) -> str:
        """The digest of a contract with the rubrics as they are now."""
        criteria = document["objective"]["acceptance_criteria"]
        names = sorted({c["rubric"] for c in criteria if c.get("rubric")})
        cards = scorecard_rubrics(criteria)
        return contract_digest(document, rubrics_named(self.top, names, cards))

    def _relock(self, goal: Goal, baseline: Baseline, before: Sequence[str]) -> Baseline:
        return replace_protected(
            self.repo,
            baseline,
            goal.protected_paths,
            before,
            denied=self._denied(goal),
            cache_dir=self._cache("worktree"),
        )

    def _renamed(self, goal: Goal, baseline: Baseline) -> Baseline:
        """What the commands name follows the contract; what is named anew is digested now.

        A goal that began before this was recorded goes on without.
        """
        if not baseline.proof_since or baseline.base_commit is None:
            return baseline
        watched = self._proof_named(goal)
        if watched.patterns == baseline.proof_named:
            return baseline
        now = self._snapshot(baseline, self._denied(goal), None)
        return proof.pin_patterns(
            baseline,
            watched.patterns,
            self.proof_disk.digests(watched.patterns),
            [change.path for change in now.changes],
            at_activation=False,
            cut=proof.CUT if watched.cut else "",
        )

    def _lint(self, goal: Goal) -> list[str]:
        """What a careful reader would ask about the contract."""
        return lint_goal(goal, self._about_commands(goal))
