"""Evaluating a goal, and the doors and moves that a person takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flow.core import ids, layout
from flow.errors import ContractError, StateError
from flow.wiring.parts import Parts, version

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flow.app.create import Rebase
    from flow.app.doors import Closed
    from flow.app.evaluate import JudgeCase, Request
    from flow.app.looking import Known
    from flow.app.measure import Listener
    from flow.app.ports import LoadedGoal
    from flow.core.boundary import Baseline
    from flow.core.decide import Opinion, Silence
    from flow.core.goal import Goal
    from flow.core.lifecycle import NonTerminal
    from flow.core.verdict import Verdict

MEASURING_LIMIT = 16 << 20
"""Bytes: with more untracked paths than that, what a killed evaluation left behind is not told."""
EVALUATION_WAIT = 60.0
"""Seconds that an evaluation waits for another one of the same goal to end."""


class Evaluating(Parts):
    """Evaluating a goal, and the doors and moves that a person takes."""

    def evaluate(
        self,
        request: Request,
        listener: Listener | None = None,
        *,
        trust_digest: str | None = None,
    ) -> Verdict:
        """Evaluate a goal (SPEC section 3). Records no verdict: that is the caller's.

        ``trust_digest`` is a pipeline's way to say which contract it means: it counts as trusted if
        its digest is this one, and :class:`StateError` names both if not.
        """
        from flow.adapters import clock, locks
        from flow.adapters.checks import CommandRunner
        from flow.adapters.watch import FileWatch
        from flow.app.evaluate import Limits, Tools, evaluate
        from flow.app.measure import Quiet

        ids.goal_id(request.goal_id)
        if request.run_id is not None:
            ids.run_id(request.run_id)
        settings = self.settings.settings
        watcher = listener or Quiet()

        def trusted(loaded: LoadedGoal) -> tuple[bool, str]:
            if trust_digest is None:
                return self.trusted(loaded)
            if trust_digest.lower() == loaded.contract:
                return True, "--trust-digest names this contract"
            raise StateError(
                f"goal {loaded.goal.id} has the contract {loaded.contract}, not {trust_digest:.80}",
                code="other_contract",
                key="--trust-digest",
                value=trust_digest,
                remedy="read what changed, then name the new digest",
            )

        def baseline(goal: Goal, run_id: str) -> Known:
            found = self._baseline(goal, run_id)
            # A pipeline has the goal and no record of its start: that is no sign of tampering.
            pipeline = trust_digest is not None or settings.execute_verification_commands
            return found._replace(recorded=True) if pipeline else found

        def watch(goal_id: str, run_id: str) -> FileWatch:
            goal = self.load(goal_id).goal
            referred = [c.evidence_ref for c in goal.criteria if c.evidence_ref]
            return FileWatch(self.repo, goal_id, run_id, referred)

        tools = Tools(
            records=self.records,
            ledger=self.ledger,
            trusted=trusted,
            baseline=baseline,
            snapshot=self._snapshot,
            widen=self._widen,
            run_checks=CommandRunner(
                self.top,
                layout.WORK,
                environ=self.environ,
                output_limit=settings.output_limit_bytes,
                tick=watcher.ticked,
            ),
            watch=watch,
            keep_baseline=self.ledger.write_baseline,
            unfinished=self._unfinished,
            began=self._began,
            ended=self._ended,
            now=clock.now,
            limits=Limits(settings.jobs, settings.command_timeout_seconds, settings.denied_paths),
            version=version(),
            listener=watcher,
            judge=self._judge(request, watcher),
            recall=self._recall,
        )
        if request.dry_run:
            return evaluate(request, tools)
        with locks.exclusive(
            self.top, layout.evaluation_lock(request.goal_id), timeout=EVALUATION_WAIT, quick=True
        ):
            return evaluate(request, tools)

    def _judge(
        self, request: Request, listener: Listener
    ) -> Callable[[JudgeCase], Opinion | Silence] | None:
        """What asks the judges; None where neither settings nor caller name one."""
        settings = self.settings.settings.judge
        if settings.backend is None and request.judge_backend is None:
            return None

        def ask(case: JudgeCase) -> Opinion | Silence:
            from flow.wiring.judging import ask

            return ask(self, case, listener)

        return ask

    def _recall(self, case: JudgeCase) -> Opinion | None:
        from flow.wiring.judging import recall

        return recall(self, case)

    def _unfinished(self, run_id: str) -> frozenset[str] | None:
        from flow.adapters import files, own_json

        rel = layout.measuring_file(run_id)
        try:
            data = files.read_optional(self.top, rel, limit=MEASURING_LIMIT)
            found = own_json.loads(data) if data else None
        except (ContractError, ValueError):
            return None
        return frozenset(map(str, found)) if isinstance(found, list) else None

    def _began(self, run_id: str, untracked: Sequence[str]) -> None:
        import json

        from flow.adapters import files

        data = json.dumps(untracked, ensure_ascii=True).encode("ascii")
        if len(data) <= MEASURING_LIMIT:
            files.replace(self.top, layout.measuring_file(run_id), data)

    def _ended(self, run_id: str) -> None:
        from flow.adapters import files

        files.remove(self.top, layout.measuring_file(run_id), sync=False)

    def record_verdict(
        self, document: Mapping[str, Any], run_id: str, source: str | None
    ) -> tuple[str, tuple[str, ...]]:
        """Write ``last-verdict.json``; returns its path and warnings about cut strings."""
        from flow.adapters import clock, verdicts

        if source is not None:
            document = {**document, "source": source}
        return verdicts.write_verdict(self.top, ids.run_id(run_id), document, now=clock.now())

    def confirm(self, goal_id: str, proposal_id: str, reason: str | None, how: str) -> Closed:
        """Write a proposed terminal status. Raises :class:`StaleProposal` saying what moved.

        It is also a label of the judges that the proposal rests on.
        """
        from flow.app import doors
        from flow.wiring import labelling

        judges = labelling.behind(self, ids.goal_id(goal_id))
        closed = doors.confirm(self._desk(), goal_id, proposal_id, reason, how)
        labelling.keep(self, judges, person=True, source="confirm")
        return closed

    def clear(self, goal_id: str, reason: str, how: str) -> Closed:
        """Cancel a goal; of judges whose proposal still holds, that is a label too."""
        from flow.app import doors
        from flow.wiring import labelling

        judges = labelling.behind(self, ids.goal_id(goal_id), holds=True)
        closed = doors.clear(self._desk(), goal_id, reason, how)
        labelling.keep(self, judges, person=False, source="clear")
        return closed

    def activate(self, goal_id: str) -> LoadedGoal:
        """``draft → active``: pins the base, records trust."""
        from flow.adapters import clock
        from flow.app import moves

        return moves.activate(
            self._desk(),
            ids.goal_id(goal_id),
            lambda goal: self._pin(goal, None),
            lambda loaded, how: self._trust(loaded.goal, how),
            clock.now(),
        )

    def pause(self, goal_id: str, reason: str) -> LoadedGoal:
        """``active → waiting_for_user``."""
        return self._shift(goal_id, "waiting_for_user", reason)

    def resume(self, goal_id: str, reason: str) -> LoadedGoal:
        """Waiting or blocked ``→ active``."""
        return self._shift(goal_id, "active", reason)

    def _shift(self, goal_id: str, to: NonTerminal, reason: str) -> LoadedGoal:
        from flow.app import moves

        return moves.shift(self._desk(), ids.goal_id(goal_id), to, reason)

    def approve(self, goal_id: str, criterion_id: str, by: str, note: str) -> str:
        """Record a person's word for a fuzzy criterion (or ``guards``); returns its sidecar."""
        from flow.adapters import clock
        from flow.app import moves

        return moves.approve(
            self._desk(), ids.goal_id(goal_id), criterion_id, by, note, clock.now(), version()
        )

    def plan_rebase(self, goal_id: str) -> Rebase:
        """What moving the pinned base would do; writes nothing."""
        from flow.adapters import base
        from flow.app import create

        def rebased(goal: Goal, old: Baseline) -> tuple[Baseline, Sequence[str]]:
            return base.rebase(
                self.repo,
                old,
                goal.base,
                denied=self._denied(goal),
                cache_dir=self._cache("worktree"),
            )

        return create.plan_rebase(self._desk(), ids.goal_id(goal_id), rebased, self.branch())

    def do_rebase(self, plan: Rebase) -> None:
        """Write an accepted plan."""
        from flow.app import create

        create.do_rebase(self._desk(), plan, self._trust)

    def review(self, goal_id: str, judge_backend: str | None = None) -> JudgeCase:
        """A goal as a judge would find it now; nothing is run."""
        from flow.adapters import clock
        from flow.app import reviewing

        loaded = self.load(ids.goal_id(goal_id))
        found = reviewing.case(self._desk(), loaded, version=version(), now=clock.now())
        return found._replace(request=found.request._replace(judge_backend=judge_backend))
