"""``flow goal evaluate``: the caller that keeps the verdict and asks the person."""

from __future__ import annotations

from flow.adapters.fs import clock
from flow.adapters.ledger.verdicts import record_verdict
from flow.app import goal_views
from flow.app.evaluation.values import Request
from flow.cli.goal.dry_run import DryRuns
from flow.cli.goal.which import goal_to_act_on
from flow.cli.parsing import (
    goal_argument,
    judge_name,
    listed,
    seconds,
    usage_error,
    whole,
)
from flow.cli.progress import listener
from flow.cli.verdict_screen import details_of, judged_lines, recorded_outputs, verdict_lines
from flow.core.decision.explain import NAMED_JUDGE
from flow.core.goal import ids
from flow.errors import FlowError, at_key
from flow.startup.contexts import ExitStack
from flow.startup.typing import TYPE_CHECKING, Any
from flow.wiring import evaluating
from flow.wiring.context import Context
from flow.wiring.goals import Goals

if TYPE_CHECKING:
    import argparse

    from flow.app.evaluation.values import Listener
    from flow.app.transitions.closing import Closed
    from flow.app.transitions.persons_word import PersonsWord
    from flow.cli.output import Output
    from flow.core.decision.verdict import Verdict
    from flow.core.stop.pause import Pause

EXIT_CODES = {"achieved": 0, "not_achieved": 1, "blocked": 3, "needs_human_review": 4}
"""Exit status of each verdict (SPEC 5)."""

_BY_OPTION = "flow goal evaluate --confirm"
_EPILOG = """\
exit status: 0 achieved, 1 not achieved, 3 blocked, 4 a person is needed, 2 wrong call or state,
5 disk, git or lock failed, 130 interrupted"""


def _arguments(parser: argparse.ArgumentParser) -> None:
    goal_argument(parser)
    add = parser.add_argument
    add("--all", action="store_true", help="every active goal of this branch; asks nothing")
    add(
        "--trigger",
        choices=("manual", "command", "stop-hook"),
        default="manual",
        help="who starts it: a person (default), another command, the Stop hook",
    )
    add("--run-id", metavar="R", help="record into this run")
    add("--base", metavar="REF", help="show the changes since another commit")
    add("--only", metavar="AC,...", action="append", help="run only these; proposes nothing")
    add("--jobs", metavar="N", type=whole(1, 256, "a number of jobs"), help="commands at once")
    add("--timeout", metavar="S", type=seconds, help="seconds for each command without a limit")
    add(
        "--repeat",
        metavar="K",
        type=whole(1, 1000, "a number of runs"),
        help="run each command K times; runs that disagree are inconclusive",
    )
    add(
        "--reuse",
        action="store_true",
        help="let fresh evidence of Flow's own stand for a run, as at a stop",
    )
    add("--no-judge", action="store_true", help="ask no judge")
    add(
        "--judge-backend",
        metavar="BACKEND[:MODEL]",
        type=judge_name,
        help="ask this judge: claude, anthropic, openai or command (default: the setting)",
    )
    add(
        "--output",
        choices=("failed", "all", "none"),
        default="failed",
        help="whose last lines of output are shown: those that did not pass (default), all, none",
    )
    add("--no-record", action="store_true", help="leave last-verdict.json to the caller")
    add(
        "--dry-run",
        action="store_true",
        help="write and propose nothing; of the commands, run what --only names",
    )
    add("--confirm", action="store_true", help="confirm what is proposed (at a terminal only)")
    add("--no-input", action="store_true", help="never ask")
    add("--trust-digest", metavar="SHA", help="trust exactly the contract with this SHA-256")


def _refuse_contradictions(args: argparse.Namespace) -> None:
    if args.confirm and args.no_input:
        raise usage_error("--confirm and --no-input exclude each other", "flow goal evaluate")
    if args.all and (args.ID or args.confirm or args.run_id or args.trust_digest):
        raise usage_error(
            "--all goes without a goal's id, --confirm, --run-id and --trust-digest",
            "flow goal evaluate",
        )
    if args.no_judge and args.judge_backend is not None:
        raise usage_error("--no-judge and --judge-backend exclude each other", "flow goal evaluate")
    if args.reuse and (args.repeat is not None or args.run_id is not None):
        raise usage_error("--reuse excludes --repeat and --run-id", "flow goal evaluate")
    if args.confirm and (args.only is not None or args.dry_run):
        raise usage_error(
            "--only and --dry-run propose nothing that --confirm could confirm",
            "flow goal evaluate",
        )


def _evaluate(args: argparse.Namespace, out: Output) -> int:
    _refuse_contradictions(args)
    context = Context()
    context.note_use()
    if args.all:
        from flow.cli.goal.evaluate_all import evaluate_all

        args.no_input = True
        return evaluate_all(
            context, out, lambda each, to: _Evaluation(context, args, to, each).run()
        )
    return _Evaluation(context, args, out, goal_to_act_on(context, args)).run()


def _requested(context: Context, args: argparse.Namespace, goal_id: str) -> Request:
    """The evaluation that the options ask for."""
    if args.judge_backend is not None:
        from flow.adapters.judges.choose import check_named  # few name a judge

        check_named(args.judge_backend, context.settings.settings.judge)
    request = Request(
        goal_id=goal_id,
        trigger=args.trigger,
        run_id=ids.run_id(args.run_id) if args.run_id is not None else None,
        base=args.base,
        only=listed(args.only, "--only", "flow goal evaluate"),
        jobs=args.jobs,
        timeout_seconds=args.timeout,
        repeat=args.repeat,
        no_judge=args.no_judge,
        judge_backend=args.judge_backend,
        dry_run=args.dry_run,
    )
    if not args.reuse:
        return request
    from flow.adapters.ledger.loop_counters import newest_evidence  # few reuse anything

    newest = newest_evidence(context.top, context.goal_of(goal_id))
    return request._replace(reuse=newest, use_recorded_opinion=True)


class _Evaluation:
    """The evaluation of one goal, again as often as the person at the terminal wants it."""

    def __init__(
        self, context: Context, args: argparse.Namespace, out: Output, goal_id: str
    ) -> None:
        self._context, self._args, self._out = context, args, out
        self._request = _requested(context, args, goal_id)
        self._resumed: Pause | None = None

    def run(self) -> int:
        """Evaluate, show the verdict and ask; returns the exit status."""
        if self._args.confirm:
            _need_terminal(self._context, self._request.goal_id)
        if not self._args.dry_run:
            self._resumed = self._paused()
        if self._resumed is not None and not self._out.json:
            pause = self._resumed.sentence()
            self._out.say(f"{self._request.goal_id} was {pause}; this evaluation resumes it")
        while True:
            status = self._evaluate_once()
            if status is not None:
                return status

    def _paused(self) -> Pause | None:
        """The pause that the evaluation ends; None if there is none.

        A goal that is not trusted stays as it is.
        """
        context, goal_id = self._context, self._request.goal_id
        loaded = context.load(goal_id)
        pause = context.remembered.paused(loaded.goal)
        if pause is None:
            return None
        if self._args.trust_digest:
            from flow.app.transitions import named_contract  # a pipeline's

            named_contract.refuse_agent_naming_trust(context, goal_id)
        elif not context.trusted(loaded)[0]:
            return None
        return pause

    def _evaluate_once(self) -> int | None:
        """The exit status; None if the request, which was changed, is to be evaluated again."""
        context, args, out, request = self._context, self._args, self._out, self._request
        writes = evaluating.may_write(context, request, args.trust_digest)
        records = writes and not args.no_record
        began = clock.monotonic()
        progress = self._progress()
        with evaluating.evaluation_lock(context, request.goal_id) if records else ExitStack():
            verdict = self._watched(progress)
            document, warnings = verdict.to_document(), []
            if records and any(row.outcome != "not_executed" for row in verdict.criterion_results):
                warnings = _record_verdict(context, document, verdict.run_id)
        if out.json:
            return self._as_json(verdict, document, warnings)
        seconds = clock.monotonic() - began
        runs = progress.runs if isinstance(progress, DryRuns) else {}
        details = details_of(context, document, args, out, seconds, runs)
        out.tell(judged_lines(document, details))
        asked = args.confirm or (out.can_ask and not args.no_input)
        out.result(document, verdict_lines(document, details, args, out, asked=asked))
        out.warn(warnings)
        if self._wants_judge(verdict) and (judge := _offered_judge(out)):
            refs = {r.criterion_id: r.evidence_ref for r in verdict.criterion_results}
            fresh = {name: ref for name, ref in refs.items() if ref}
            self._request = request._replace(judge_backend=judge, reuse=fresh)
            return None
        return self._conclude(verdict)

    def _progress(self) -> Listener:
        """The progress of the evaluation on standard error."""
        context, args, request = self._context, self._args, self._request
        judge = args.judge_backend or context.settings.settings.judge.backend
        progress = listener(
            self._out,
            context,
            request.goal_id,
            only=request.only,
            reuses=request.reuse is not None,
            asks_judge=bool(judge) and not args.no_judge,
        )
        if self._out.json or not args.dry_run:
            return progress
        return DryRuns(progress, context.top, recorded_outputs(context))

    def _watched(self, progress: Listener) -> Verdict:
        """Evaluate; a live table is removed at the end."""
        trusted = self._args.trust_digest
        try:
            return evaluating.evaluate(self._context, self._request, progress, trust_digest=trusted)
        finally:
            progress.finished()

    def _as_json(self, verdict: Verdict, document: dict[str, Any], warnings: list[str]) -> int:
        if self._resumed is not None:
            document |= {"resumed": self._resumed.to_document()}
        document["warnings"] += warnings
        status = EXIT_CODES[verdict.verdict]
        proposed = verdict.proposed_transition
        if proposed is not None and self._args.confirm:
            word = self._context.own_word()
            closed = self._closed(verdict, proposed.proposal_id, _BY_OPTION, word)
            document.update(confirmed=closed.to_document(), do="done")
            status = 0
        self._out.result(document, ())
        return status

    def _wants_judge(self, verdict: Verdict) -> bool:
        """Whether a judge could say more, and none was named or is set up."""
        args = self._args
        if args.no_input or args.no_judge or args.judge_backend or args.dry_run:
            return False
        return NAMED_JUDGE in verdict.next_step_hint

    def _conclude(self, verdict: Verdict) -> int | None:
        """Close the goal, or ask about what is proposed; None as in :meth:`_evaluate_once`."""
        args, out, status = self._args, self._out, EXIT_CODES[verdict.verdict]
        proposed = verdict.proposed_transition
        if proposed is None:
            return status
        if args.confirm:
            return self._close(verdict, proposed.proposal_id, _BY_OPTION)
        if args.no_input or not out.can_ask:
            return status
        from flow.cli.goal.confirm_dialog import AGAIN, CONFIRM, ask_person

        answer, question = ask_person(self._context, verdict.goal_id, out, told=True)
        if answer in CONFIRM:
            return self._close(verdict, question.proposal_id, "flow goal evaluate, asked")
        if answer in AGAIN:  # who asks for it again wants it run
            self._request = self._request._replace(reuse=None)
            return None
        out.say(
            "nothing was confirmed; the proposal stays live while nothing moves:",
            f"  flow goal confirm {verdict.goal_id} --proposal {question.proposal_id[:12]}",
        )
        return status

    def _close(self, verdict: Verdict, proposal_id: str, how: str) -> int:
        from flow.cli.goal.confirm_dialog import closing_word, show_closed

        note = "" if how == _BY_OPTION else None  # who types it is not asked anything more
        word = closing_word(self._context, None, note, self._out)
        closed = self._closed(verdict, proposal_id, how, word)
        return show_closed(self._context, closed, self._out)

    def _closed(self, verdict: Verdict, proposal_id: str, how: str, word: PersonsWord) -> Closed:
        from flow.app.judging import labelling

        return labelling.confirm_and_label(
            self._context, verdict.goal_id, proposal_id, None, how, word
        )


def _record_verdict(context: Context, document: dict[str, Any], run_id: str) -> list[str]:
    """Keep the verdict for the next delta; failing to is a warning (SPEC 3, step 8)."""
    try:
        _, warnings, at = record_verdict(context.run_record, document, run_id, "command")
    except FlowError as error:
        return [f"the verdict stands, but could not be recorded: {error}"]
    document.update(source="command", recorded_at=at)
    return list(warnings)


def _offered_judge(out: Output) -> str | None:
    from flow.cli.judge.offering import offered_judge

    return offered_judge(
        out, "a question for each criterion that no command proves", "its evidence, redacted"
    )


def _need_terminal(context: Context, goal_id: str) -> None:
    """Raise :class:`InputError` if no person is at a terminal; nothing has run by then."""
    speaker = context.speaker
    if speaker is not None and speaker.said_from == "terminal":
        return
    live = goal_views.status(Goals(context), goal_id).get("proposal")
    confirm = f"flow goal confirm {goal_id} --proposal"
    ready = f"{confirm} {live['proposal_id']}" if live else None
    steps = ready or f"flow goal evaluate {goal_id}, then: {confirm} P"
    raise at_key("--confirm").invalid(
        "--confirm is for a person at a terminal; nothing was run",
        f"a caller that asked a person: {steps}",
        code="no_terminal",
    )


COMMANDS = {
    "evaluate": (_arguments, _evaluate, _EPILOG),
}
