"""Evaluating a goal, and the closings and moves that a person makes."""

from __future__ import annotations

import os
from contextlib import contextmanager

from flow.core import layout
from flow.core.goal import ids
from flow.errors import ContractError, FlowError, StaleProposal, at_key
from flow.startup.typing import TYPE_CHECKING, Any
from flow.wiring.parts import Parts, version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from flow.adapters.attribution.attribute import Attributor
    from flow.app.evaluation.values import (
        BaseTools,
        Evaluated,
        JudgeCase,
        Listener,
        RecordedBaseline,
        Request,
    )
    from flow.app.ports import Check, LoadedGoal, Watch
    from flow.app.transitions.closing import Closed
    from flow.app.transitions.create import Rebase
    from flow.core.boundary.rules import Baseline
    from flow.core.decision.confirming import ConfirmQuestion
    from flow.core.decision.decide import NoOpinion, Opinion
    from flow.core.decision.verdict import Verdict
    from flow.core.evidence.protected_files import Difference
    from flow.core.goal.lifecycle import NonTerminal
    from flow.core.goal.model import Goal

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
        """Evaluate a goal (SPEC 3). Whoever records the verdict does so in :meth:`alone`.

        ``trust_digest`` is a pipeline's way to say which contract it means: it counts as trusted if
        its digest is this one, and :class:`StateError` names both if not.
        """
        verdict, found = self.examine(request, listener, trust_digest=trust_digest)
        proposed = verdict.proposed_transition
        if proposed is None:
            return verdict
        from flow.wiring import confirming

        look = found.last_snapshot if found is not None else None
        question = confirming.question(self, request.goal_id, look)
        if question is None or question.proposal_id != proposed.proposal_id:
            return verdict
        confirm = question.to_document()
        return verdict._replace(proposed_transition=proposed._replace(confirm=confirm))

    def examine(
        self,
        request: Request,
        listener: Listener | None = None,
        *,
        trust_digest: str | None = None,
        seconds_left: Callable[[], float] | None = None,
    ) -> Evaluated:
        """:meth:`evaluate`, with what the verdict rests on.

        ``seconds_left`` bounds the whole: another evaluation is waited for no longer than that.
        """
        from flow.adapters.fs import clock
        from flow.app.evaluation.evaluate import examine
        from flow.app.evaluation.values import EvaluationLimits, EvaluationTools, Listener

        ids.goal_id(request.goal_id)
        if trust_digest is not None:
            from flow.app.transitions import named_contract
            from flow.wiring.naming import Naming

            naming = Naming(self)
            named_contract.refuse_in_an_agents_shell(naming, request.goal_id)
            request = named_contract.named(naming, request, trust_digest)
        self.take_settings_of(self._run_of(request.goal_id))
        if request.run_id is not None:
            ids.run_id(request.run_id)
        settings = self.settings.settings
        watcher = listener or Listener()

        def trusted(loaded: LoadedGoal) -> tuple[bool, str]:
            if trust_digest is None or trust_digest.lower() == loaded.contract:
                return self.trusted(loaded)
            raise at_key("--trust-digest", trust_digest).wrong_state(
                f"goal {loaded.goal.id} has the contract {loaded.contract}, not {trust_digest:.80}",
                "read what changed, then name the new digest",
                code="other_contract",
            )

        def baseline(goal: Goal, run_id: str) -> RecordedBaseline:
            found = self._baseline(goal, run_id)
            if found.recorded and not found.baseline.settings and not request.dry_run:
                found = found._replace(baseline=self._pin_late(goal, run_id, found.baseline))
            # A pipeline has the goal and no record of its start: that is no sign of tampering.
            pipeline = trust_digest is not None or settings.execute_verification_commands
            return found._replace(recorded=True) if pipeline else found

        def watch(goal_id: str, run_id: str) -> Watch:
            from flow.adapters.ledger.file_watch import FileWatch

            goal = self.load(goal_id).goal
            referred = [c.evidence_ref for c in goal.criteria if c.evidence_ref]
            return FileWatch(self.repo, goal_id, run_id, referred)

        tools = EvaluationTools(
            records=self.records,
            ledger=self.ledger,
            trusted=trusted,
            baseline=baseline,
            snapshot=self._snapshot,
            move_baseline=self._widen,
            run_checks=self._run_checks,
            watch=watch,
            write_baseline=self._write_baseline,
            untracked_at_start=self._unfinished,
            mark_started=self._began,
            mark_ended=self._ended,
            now=clock.now,
            limits=EvaluationLimits(
                settings.jobs, settings.command_timeout_seconds, settings.denied_paths
            ),
            version=version(),
            listener=watcher,
            seconds_left=seconds_left,
            judge=self._judge(request, watcher),
            recorded_opinion=self._recall,
            base_runs=self.base_runs,
            recorded_elsewhere=self._elsewhere,
            base_tools=lambda: self._bench(watcher),
            proof=self.proof_disk,
        )
        if request.dry_run:
            return self._told(examine(request, tools))
        with self.alone(request.goal_id, seconds_left):
            self._sweep()
            with self._measuring(request.goal_id):
                return self._told(examine(request, tools))

    @contextmanager
    def alone(
        self, goal_id: str, seconds_left: Callable[[], float] | None = None
    ) -> Iterator[None]:
        """Let nobody else evaluate the goal; :class:`LockTimeout` where another is at it too long.

        Whoever records the verdict does so in here: the next evaluation would take a verdict that
        is written while its commands run for their doing. Heads are pinned once, at the end.
        """
        from flow.adapters.fs import locks

        wait = EVALUATION_WAIT if seconds_left is None else min(EVALUATION_WAIT, seconds_left())
        lock = layout.evaluation_lock(ids.goal_id(goal_id))
        with (
            locks.exclusive(self.top, lock, timeout=max(wait, 0.1), quick=True),
            self.run_record.pinned_once(),
        ):
            yield

    def _run_of(self, goal_id: str) -> str | None:
        """The goal's run; None where it has none or cannot be read, which is told elsewhere."""
        try:
            return self.load(goal_id).goal.run_id
        except FlowError:
            return None

    def _pin_late(self, goal: Goal, run_id: str, baseline: Baseline) -> Baseline:
        """Pin the settings of a goal that began when Flow pinned none; that is said once."""
        late = (
            f"goal {goal.id} began before settings were pinned: from here on a change of this "
            "checkout's settings does not count for it, and what is denied now stays denied"
        )
        self._told_settings = (*self._told_settings, late)
        baseline = baseline._replace(settings=self.settings.pins)
        self._write_baseline(goal.id, run_id, baseline)
        return baseline

    @contextmanager
    def _measuring(self, goal_id: str) -> Iterator[None]:
        """Vouch for nothing that is measured here before it is known whether files moved."""
        self.run_record.begin(goal_id)
        try:
            yield
            self.run_record.settle(goal_id)
        finally:
            self.run_record.abort(goal_id)

    def _elsewhere(self, run_id: str) -> bool:
        from flow.adapters.fs import files

        if files.exists(self.top, layout.ledger_file(run_id)):
            return False
        from flow.wiring.verifying import verification

        return verification(self).elsewhere(run_id)

    def _told(self, found: Evaluated) -> Evaluated:
        """With a warning where what was recorded before does not count."""
        verdict = found.verdict
        more = (*self.run_record.troubles, *self.settings.overruled, *self._told_settings)
        self._told_settings = ()
        return found._replace(verdict=verdict._replace(warnings=(*verdict.warnings, *more)))

    def _sweep(self) -> None:
        """Remove the base checkouts of calls that were killed."""
        try:
            left = os.path.isdir(os.path.join(self.state_dir, "work"))
        except FlowError:
            return
        if left:
            from flow.wiring import baselining

            baselining.sweep(self.state_dir)

    def _bench(self, listener: Listener) -> BaseTools:
        from flow.wiring import baselining

        return baselining.bench(self, listener)

    def run_baseline(self, goal_id: str, listener: Listener, **how: Any) -> dict[str, Any]:
        """Run a goal's commands on its base commit; see :func:`flow.wiring.baselining.baseline`."""
        from flow.wiring import baselining

        self._sweep()
        return baselining.baseline(self, goal_id, listener, **how)

    def _run_checks(self, checks: Sequence[Check], **how: Any) -> None:
        from flow.adapters.attribution.attribute import attributed
        from flow.adapters.verification.runner import CommandRunner

        limit = self.settings.settings.output_limit_bytes
        runner = CommandRunner(self.top, layout.WORK, environ=self.environ, output_limit=limit)
        attributed(runner, self._attributor())(checks, **how)

    def _attributor(self) -> Attributor:
        from flow.adapters.attribution.attribute import Attributor

        return Attributor(self.top, self._cache("parsed"))

    def _judge(
        self, request: Request, listener: Listener
    ) -> Callable[[JudgeCase], Opinion | NoOpinion] | None:
        """What asks the judges; None where neither settings nor caller name one."""
        settings = self.settings.settings.judge
        if settings.backend is None and request.judge_backend is None:
            return None

        def ask(case: JudgeCase) -> Opinion | NoOpinion:
            from flow.wiring.judging.goal import ask

            return ask(self, case, listener)

        return ask

    def _recall(self, case: JudgeCase) -> Opinion | None:
        from flow.wiring.judging.goal import recall

        return recall(self, case)

    def _unfinished(self, run_id: str) -> frozenset[str] | None:
        from flow.adapters.fs import files, lenient_json

        rel = layout.measuring_file(run_id)
        try:
            data = files.read_optional(self.top, rel, limit=MEASURING_LIMIT)
            found = lenient_json.loads(data) if data else None
        except (ContractError, ValueError):
            return None
        return frozenset(map(str, found)) if isinstance(found, list) else None

    def _began(self, run_id: str, untracked: Sequence[str]) -> None:
        import json

        from flow.adapters.fs import files

        data = json.dumps(untracked, ensure_ascii=True).encode("ascii")
        if len(data) <= MEASURING_LIMIT:
            # A kill leaves it there. After a power cut, caches that it would tell are changes.
            files.replace(self.top, layout.measuring_file(run_id), data, sync=False)

    def _ended(self, run_id: str) -> None:
        from flow.adapters.fs import files

        files.remove(self.top, layout.measuring_file(run_id), sync=False)

    def record_verdict(
        self, document: Mapping[str, Any], run_id: str, source: str | None
    ) -> tuple[str, tuple[str, ...], str]:
        """Write ``last-verdict.json``; returns its path, warnings about cut strings, and when."""
        written = self._put_verdict(document, run_id, source)
        self.run_record.commit(run_id)
        return written

    def _put_verdict(
        self, document: Mapping[str, Any], run_id: str, source: str | None
    ) -> tuple[str, tuple[str, ...], str]:
        from flow.adapters.fs import clock
        from flow.adapters.ledger import verdicts

        if source is not None:
            document = {**document, "source": source}
        now = clock.now()
        return (*verdicts.write_verdict(self.run_record.run(run_id), document, now=now), now)

    def confirm_question(self, goal_id: str) -> ConfirmQuestion | None:
        """What a person must know before the live proposal is confirmed; None without one.

        Gathered anew, from what Flow has on record: no words of an agent are in it.
        """
        from flow.wiring import confirming

        return confirming.question(self, ids.goal_id(goal_id))

    def confirm_lines(
        self, goal_id: str, named: str | None = None, *, surely: bool = True
    ) -> list[str]:
        """The same for a host's prompt, at most 40 lines; a line that says so without a proposal.

        For the hook before ``flow goal confirm``; ``named`` and ``surely`` are as for
        :func:`flow.render.confirming.for_hook`.
        """
        from flow.render.confirming import for_hook

        question = self.confirm_question(goal_id)
        if question is None:
            return [f"Goal {goal_id} has no live proposal; nothing can be confirmed."]
        return for_hook(question, named, surely=surely)

    def confirm_diff(self, goal_id: str) -> str:
        """What changed since the base, for a pager: the files that the proof rests on first."""
        from flow.wiring import confirming

        question = self.confirm_question(goal_id)
        files = question.proof.files if question is not None else ()
        return confirming.diff(self, ids.goal_id(goal_id), [file.path for file in files])

    def confirm(self, goal_id: str, proposal_id: str, reason: str | None, how: str) -> Closed:
        """Write a proposed terminal status. Raises :class:`StaleProposal` saying what moved.

        It is also a label of the judges that the proposal rests on.
        """
        from flow.app.judging import labelling
        from flow.app.transitions import closing as transitions_closing
        from flow.wiring.judging.labelling import Labelling
        from flow.wiring.verifying import refuse_broken

        judges = labelling.opinions_behind(Labelling(self), ids.goal_id(goal_id))
        self.ledger.finish(goal_id)
        refuse_broken(self, goal_id)
        try:
            closed = transitions_closing.confirm(self._desk(), goal_id, proposal_id, reason, how)
        except StaleProposal as error:
            self._explain(error, goal_id)
            raise
        labelling.add_labels(Labelling(self), judges, person=True, source="confirm")
        return closed

    def _explain(self, error: StaleProposal, goal_id: str) -> None:
        """Raise it with why what was recorded before does not count, if that is so."""
        troubles, fault = "; ".join(self.run_record.troubles), error.faults[0]
        if troubles:
            raise at_key(fault.key, fault.value).stale(
                f"{fault.message} ({troubles})",
                f"look at it, then, at a terminal: flow goal evaluate {goal_id} --confirm",
            ) from error

    def clear(self, goal_id: str, reason: str, how: str) -> Closed:
        """Cancel a goal; of judges whose proposal still holds, that is a label too."""
        from flow.app.judging import labelling
        from flow.app.transitions import closing as transitions_closing
        from flow.wiring.judging.labelling import Labelling

        judges = labelling.opinions_behind(Labelling(self), ids.goal_id(goal_id), holds=True)
        closed = transitions_closing.cancel(self._desk(), goal_id, reason, how)
        labelling.add_labels(Labelling(self), judges, person=False, source="clear")
        return closed

    def activate(self, goal_id: str) -> LoadedGoal:
        """``draft → active``: pins the base, records trust."""
        from flow.adapters.fs import clock
        from flow.app.transitions import moves
        from flow.app.transitions.beside import refuse_beside_active

        refuse_beside_active(self, ids.goal_id(goal_id), f"flow goal activate {goal_id}")
        return moves.activate(
            self._desk(),
            ids.goal_id(goal_id),
            lambda goal: self._pin(goal, None),
            lambda loaded, how: self._trust(loaded.goal, how),
            clock.now(),
        )

    def pause(self, goal_id: str, reason: str) -> LoadedGoal:
        """``active → waiting_for_user``; of a blocked goal two recorded steps.

        ``reason`` may be empty.
        """
        from flow.app.transitions import moves

        agent = self.speaker is not None and self.speaker.said_from == "agent"
        default = f"paused by {'the agent' if agent else 'a person'}, who gave no reason"
        reason = reason.strip() or default
        return moves.pause_goal(self._desk(), ids.goal_id(goal_id), reason, self.paused)

    def resume(self, goal_id: str, reason: str) -> LoadedGoal:
        """Waiting or blocked ``→ active``."""
        return self.shift(goal_id, "active", reason)

    def shift(self, goal_id: str, to: NonTerminal, reason: str) -> LoadedGoal:
        """Write a non-terminal status."""
        from flow.app.transitions import moves

        return moves.shift_status(self._desk(), ids.goal_id(goal_id), to, reason)

    def approve(self, goal_id: str, criterion_id: str, by: str | None, note: str) -> str:
        """Record a person's word for a criterion, ``guards`` or ``protected``; returns its path.

        Without a name ``by`` it is the one of :meth:`by`.
        """
        from flow.adapters.fs import clock
        from flow.app.transitions import moves

        run_id = self.load(ids.goal_id(goal_id)).goal.run_id
        if run_id is not None and self._elsewhere(run_id):
            raise at_key("scope.run_id", run_id).wrong_state(
                f"run {run_id} of goal {goal_id} was recorded in another checkout",
                f"begin one of this checkout: flow goal evaluate {goal_id}",
            )
        name, by_from = self.by(by)
        return moves.approve(
            self._desk(),
            ids.goal_id(goal_id),
            criterion_id,
            name,
            note,
            clock.now(),
            version(),
            by_from,
        )

    def protected_changes(self, goal_id: str) -> Difference | None:
        """The protected files that are not as they were at activation."""
        from flow.app.evaluation import protected_files

        return protected_files.current_difference(self._desk(), self.load(ids.goal_id(goal_id)))

    def plan_rebase(self, goal_id: str) -> Rebase:
        """What moving the pinned base would do; writes nothing."""
        from flow.adapters.baseline import pinned
        from flow.app.transitions import create

        def rebased(goal: Goal, old: Baseline) -> tuple[Baseline, Sequence[str]]:
            moved, theirs = pinned.rebase_baseline(
                self.repo,
                old,
                goal.base,
                denied=self._denied(goal),
                cache_dir=self._cache("worktree"),
            )
            return self._after_rebase(moved, goal), theirs

        return create.plan_rebase(self._desk(), ids.goal_id(goal_id), rebased, self.branch())

    def _after_rebase(self, moved: Baseline, goal: Goal) -> Baseline:
        """With the named files that came with the base branch as they are now."""
        if not moved.proof_named:
            return moved
        from flow.core.evidence import proof

        now = self._snapshot(moved, self._denied(goal), None)
        return proof.pin_patterns(
            moved,
            moved.proof_named,
            self.proof_disk.digests(moved.proof_named),
            [change.path for change in now.changes],
            at_activation=False,
            cut=moved.proof_cut,
        )

    def do_rebase(self, plan: Rebase) -> None:
        """Write an accepted plan."""
        from flow.app.transitions import create

        create.do_rebase(self._desk(), plan, self._trust)

    def review(self, goal_id: str, judge_backend: str | None = None) -> JudgeCase:
        """A goal as a judge would find it now; nothing is run."""
        from flow.adapters.fs import clock
        from flow.app.judging import reviewing

        loaded = self.load(ids.goal_id(goal_id))
        found = reviewing.review_case(self._desk(), loaded, version=version(), now=clock.now())
        facts = found.facts._replace(base_runs=self.base_runs(loaded.goal))
        request = found.request._replace(judge_backend=judge_backend)
        return found._replace(facts=facts, request=request)
