"""Evaluating a goal with the real parts."""

from __future__ import annotations

from flow.adapters.fs import clock, locks
from flow.adapters.ledger import measuring
from flow.app.evaluation import baselines
from flow.app.evaluation import evaluate as sequence
from flow.app.evaluation.values import Evaluated, EvaluationLimits, Listener
from flow.core import layout
from flow.core.goal import ids
from flow.startup.contexts import contextmanager
from flow.startup.functools import partial
from flow.startup.typing import TYPE_CHECKING
from flow.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from flow.app.checks import Check, CheckEvents
    from flow.app.evaluation.tools import BaseTools
    from flow.app.evaluation.values import JudgeCase, RecordedBaseline, Request
    from flow.app.ports import Watch
    from flow.core.chain.walk import ChainFinding
    from flow.core.decision.decide import NoOpinion, Opinion
    from flow.core.decision.verdict import Verdict
    from flow.core.goal.loaded import LoadedGoal
    from flow.core.goal.model import Goal
    from flow.wiring.context import Context

EVALUATION_WAIT = 60.0
"""Seconds that an evaluation waits for another one of the same goal to end."""


def evaluate(
    context: Context,
    request: Request,
    listener: Listener | None = None,
    *,
    trust_digest: str | None = None,
) -> Verdict:
    """Evaluate a goal (SPEC 3). A caller that records the verdict holds :func:`evaluation_lock`.

    ``trust_digest`` is a pipeline's way to name the contract it means: that contract counts as
    trusted if its digest is this one; else :class:`StateError` names both.
    """
    if not may_write(context, request, trust_digest):
        request = request._replace(dry_run=True)
    evaluated = examine(context, request, listener, trust_digest=trust_digest)
    if evaluated.verdict.proposed_transition is None:
        return evaluated.verdict
    from flow.app.transitions.confirming import with_question

    return with_question(context, evaluated)


def examine(
    context: Context,
    request: Request,
    listener: Listener | None = None,
    *,
    trust_digest: str | None = None,
    seconds_left: Callable[[], float] | None = None,
) -> Evaluated:
    """:func:`evaluate`, with what the verdict rests on.

    ``seconds_left`` bounds the whole: another evaluation is waited for no longer than that.
    """
    goal_id = ids.goal_id(request.goal_id)
    if trust_digest is not None:
        from flow.adapters.transitions.amending import Amending  # few name one
        from flow.app.transitions import amend, named_contract

        amends = partial(amend.amend_untrusted, Amending(context))
        request = named_contract.take_named(context, request, trust_digest, amends)
    if request.judge_backend is not None and context.speaker is not None:
        request = request._replace(judge_named_by=context.speaker.agent or "")
    context.take_settings_of(context.goal_of(goal_id))
    if request.run_id is not None:
        ids.run_id(request.run_id)
    tools = _Tools(context, request, listener or Listener(), trust_digest, seconds_left)
    if request.dry_run:
        return tools.evaluated()
    with evaluation_lock(context, goal_id, seconds_left):
        context.tree.sweep()
        context.run_record.begin(goal_id)  # measured here, vouched for once it is known what moved
        try:
            evaluated = tools.evaluated()
            context.run_record.settle(goal_id)
        finally:
            context.run_record.abort(goal_id)
        return evaluated


def may_write(context: Context, request: Request, trust_digest: str | None) -> bool:
    """Whether an evaluation writes: an untrusted goal's not even a lock (SPEC 3, step 1)."""
    named = trust_digest is not None
    return not request.dry_run and (named or context.trusted(context.load(request.goal_id))[0])


def propose_from_fresh(context: Context, goal_id: str) -> tuple[Evaluated, tuple[str, ...]]:
    """See :func:`flow.app.transitions.from_fresh.propose_from_fresh`."""
    from flow.adapters.ledger import loop_counters, verdicts  # only an approval does this
    from flow.app.transitions import from_fresh

    def record(verdict: Verdict) -> tuple[str, ...]:
        document = verdict.to_document()
        return verdicts.record_verdict(context.run_record, document, verdict.run_id, "command")[1]

    newest = loop_counters.newest_evidence(context.top, context.goal_of(goal_id))
    with evaluation_lock(context, goal_id):
        return from_fresh.propose_from_fresh(goal_id, newest, partial(examine, context), record)


@contextmanager
def evaluation_lock(
    context: Context, goal_id: str, seconds_left: Callable[[], float] | None = None
) -> Iterator[None]:
    """Lock the goal against other evaluations; raises :class:`LockTimeout` if one takes too long.

    Record the verdict while holding this lock. Otherwise the next evaluation, whose commands
    already run, would blame them for the write. Heads are pinned once, at the end.
    """
    wait = EVALUATION_WAIT if seconds_left is None else min(EVALUATION_WAIT, seconds_left())
    lock = layout.evaluation_lock(ids.goal_id(goal_id))
    with (
        locks.exclusive(context.top, lock, timeout=max(wait, 0.1), quick=True),
        context.run_record.pinned_once(),
    ):
        yield


class _Tools:
    """A checkout as :class:`~flow.app.evaluation.tools.EvaluationTools` sees it."""

    version = __version__
    now = staticmethod(clock.now)

    def __init__(
        self,
        context: Context,
        request: Request,
        listener: Listener,
        trust_digest: str | None,
        seconds_left: Callable[[], float] | None,
    ) -> None:
        self._context, self._request, self._trust_digest = context, request, trust_digest
        self._warnings: list[str] = []
        self._tree, settings = context.tree, context.settings.settings
        self.listener, self.seconds_left = listener, seconds_left
        self.records, self.ledger, self.proof = context.records, context.ledger, context.tree.proof
        self.limits = EvaluationLimits(
            settings.jobs, settings.command_timeout_seconds, settings.denied_paths
        )
        named, configured = request.judge_backend, settings.judge.backend
        self.has_judge = named is not None or configured is not None
        self.snapshot = context.tree.snapshot
        self.move_baseline = context.tree.widened
        self.write_baseline = context.ledger.write_baseline
        self.mark_started = partial(measuring.began, context.top)
        self.untracked_at_start = partial(measuring.unfinished, context.top)
        self.mark_ended = partial(measuring.ended, context.top)
        self.base_runs = context.base_runs
        self.recorded_elsewhere = context.elsewhere
        self.earlier = context.earlier

    def evaluated(self) -> Evaluated:
        """Evaluate; the verdict warns where what was recorded before does not count."""
        context = self._context
        self.ledger.put_off()
        try:
            verdict, evaluation = sequence.examine(self._request, self)
        finally:
            self.ledger.catch_up()
        more = (*context.run_record.troubles, *context.settings.ignored, *self._warnings)
        return Evaluated(verdict._replace(warnings=(*verdict.warnings, *more)), evaluation)

    def broken(self, run_id: str) -> Sequence[ChainFinding]:
        return self._context.verification.broken(run_id)

    def trusted(self, loaded: LoadedGoal) -> tuple[bool, str]:
        if self._trust_digest is not None:
            from flow.app.transitions import named_contract

            named_contract.refuse_other(loaded, self._trust_digest)
        return self._context.trusted(loaded)

    def baseline(self, goal: Goal, run_id: str) -> RecordedBaseline:
        recorded, warning = baselines.evaluated_baseline(
            self._tree,
            goal,
            run_id,
            dry_run=self._request.dry_run,
            named=self._trust_digest is not None,
        )
        self._warnings += [warning] if warning else []
        return recorded

    def watch(self, goal: Goal, run_id: str, journal_dir: str) -> Watch:
        from flow.adapters.ledger.file_watch import FileWatch

        referred = [c.evidence_ref for c in goal.criteria if c.evidence_ref]
        journal = layout.journal_path(goal.journal, goal.issue, goal.id, journal_dir)
        return FileWatch(self._context.repo, goal.id, run_id, referred, self._vouches, journal)

    def _vouches(self, run_id: str, name: str, digest: str) -> bool:
        return self._context.heads.vouches(run_id, name, digest)

    def run_checks(self, checks: Sequence[Check], *, jobs: int, events: CheckEvents) -> None:
        from flow.adapters.attribution.attributor import Attributor, attributed
        from flow.adapters.verification.runner import CommandRunner

        top, environ = self._context.top, self._context.environ
        limit = self._context.settings.settings.output_limit_bytes
        runner = CommandRunner(top, layout.WORK, environ=environ, output_limit=limit)
        attributor = Attributor(top, self._context.cache("parsed"), environ.get("PATH"))
        run = attributed(runner, attributor)
        run(checks, jobs=jobs, events=events._replace(tick=partial(self._ticked, events.tick)))

    def _ticked(self, tick: Callable[[], object] | None) -> None:
        """While commands run and Flow is idle: do the postponed work that no result needs."""
        if tick is not None:
            tick()
        self.ledger.catch_up()

    def judge(self, case: JudgeCase) -> Opinion | NoOpinion:
        from flow.wiring.judging.goal import ask

        return ask(self._context, case, self.listener)

    def recorded_opinion(self, case: JudgeCase) -> Opinion | None:
        from flow.wiring.judging.goal import recall

        return recall(self._context, case)

    def base_tools(self) -> BaseTools:
        from flow.wiring import base_runs

        return base_runs.BaseCommands(self._context, self.listener)
