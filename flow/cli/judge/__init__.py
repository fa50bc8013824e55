"""``flow judge``: ask a judge by a rubric, about a goal or an execution; rubrics, calibration."""

from __future__ import annotations

from pathlib import Path

from flow.adapters.fs import inputs
from flow.adapters.process.speaker import current_speaker
from flow.adapters.rubrics.case_files import read_cases
from flow.app.judging import calibrating, rubric_calls
from flow.app.judging.calibrating import CaseFile, TriedCase
from flow.app.judging.rubric_calls import RubricCall
from flow.cli.judge import debate, scorecard
from flow.cli.judge import goal as judge_goal
from flow.cli.judge.offering import named_judge
from flow.cli.parsing import CommandSpec, judge_name, usage_error
from flow.core.text.display import counted
from flow.core.tool_calls.speaker import is_agent
from flow.errors import NoUsableAnswer
from flow.render import judgement
from flow.startup.typing import TYPE_CHECKING, Any
from flow.wiring.judging.context import JudgingContext

if TYPE_CHECKING:
    import argparse

    from flow.cli.output import Output

NOT_PASSED = 1
_PROG = "flow judge run"
_HISTORY = "flow judge history"


def _backend_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--judge-backend",
        metavar="BACKEND[:MODEL]",
        type=judge_name,
        help="claude, anthropic, openai or command (default: the setting)",
    )


def _run_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("GOAL", nargs="?", help="judge this goal's fuzzy criteria; without --rubric")
    add("--rubric", metavar="R", help="a rubric's name, or the path of its YAML or JSON file")
    add(
        "--subject",
        metavar="PATH",
        action="append",
        help="with --rubric: the file to judge (-: stdin; repeatable)",
    )
    add("--instructions", metavar="TEXT", help="with --rubric: how to look at the subject")
    scorecard.samples_argument(parser, "opinions to ask for")
    add(
        "--show-prompt", action="store_true", help="print what the judge would be given; ask nobody"
    )
    _backend_argument(parser)


def _run_judge(args: argparse.Namespace, out: Output) -> int:
    if args.rubric is None and args.GOAL is not None:
        if args.subject or args.instructions:
            raise usage_error("--subject and --instructions belong to --rubric", _PROG)
        return judge_goal.run(args, out)
    if args.rubric is None or args.GOAL is not None or not args.subject:
        raise usage_error("name a goal, or --rubric R and --subject PATH", _PROG)
    return _by_rubric(args, out)


def _by_rubric(args: argparse.Namespace, out: Output) -> int:
    context = JudgingContext()
    call = RubricCall(
        _subject(args.subject),
        args.rubric,
        args.instructions,
        backend=args.judge_backend,
        samples=args.samples or context.settings.samples,
    )
    if not args.show_prompt:
        asked = f"at most {counted(2 * call.samples, 'question')}"
        call = call._replace(
            backend=named_judge(args.judge_backend, out, asked, "the subject and the rubric")
        )
    if args.show_prompt:
        question = rubric_calls.shown_question(context, call)
        texts = {"system": question.system, "prompt": question.prompt, "schema": question.schema}
        reports = list(question.reports)
        out.result({**texts, "reports": reports}, [question.system, "", question.prompt])
        out.warn(reports)
        return 0
    result, _ = rubric_calls.judge_prepared(context, rubric_calls.prepare(context, call))
    document = result.to_document()
    out.result(document, judgement.judgement(document, out.screen))
    return 0 if result.passed else NOT_PASSED


def _subject(paths: list[str]) -> Any:
    """Standard input as bytes, files as paths."""
    if "-" in paths:
        if len(paths) > 1:
            raise usage_error("--subject - stands alone", _PROG)
        return inputs.read("-", "--subject")
    return [Path(path) for path in paths]


def _rubrics_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("NAME", nargs="?", help="show this one (a name, or a file's path)")


def _rubrics(args: argparse.Namespace, out: Output) -> int:
    files = JudgingContext().rubrics
    if args.NAME is not None:
        document = rubric_calls.load(files, args.NAME).to_document()
        out.result(document, judgement.rubric(document, out.screen))
        out.warn(document["warnings"])
        return 0
    documents, unused = rubric_calls.listing(files), files.never_used()
    lines = judgement.rubrics(documents, out.screen)
    out.result({"rubrics": documents, "never_used": unused}, lines)
    out.warn(warning for document in documents for warning in document["warnings"])
    out.warn(unused)
    return 0


def _calibrate_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--cases", metavar="FILE", required=True, help="labelled cases: YAML, JSON or JSON Lines")
    add("--rubric", metavar="R", help="the rubric of cases that name none")
    scorecard.samples_argument(parser, "opinions a case")
    _backend_argument(parser)


def _calibrate(args: argparse.Namespace, out: Output) -> int:
    cases = read_cases(args.cases)
    done = 0

    def progress(tried: TriedCase) -> None:
        nonlocal done
        done += 1
        if out.json:
            return
        case, judged = tried.case, tried.judged
        word = "no answer" if judged is None else "pass" if judged else "fail"
        person = "pass" if case.label else "fail"
        out.say(f"{done}/{len(cases)} {case.id}: judge {word} ({tried.reason}), person {person}")

    context = JudgingContext()
    samples = args.samples or context.settings.samples
    asked = f"at most {counted(2 * samples * len(cases), 'question')}"
    document = calibrating.try_cases(
        context,
        CaseFile(args.cases, cases, args.rubric),
        backend=named_judge(args.judge_backend, out, asked, "the subjects and the rubric"),
        samples=samples,
        progress=progress,
        record=not is_agent(current_speaker(out.environ)),
    )
    out.result(document, judgement.calibrated(document, out.screen))
    return 0 if document["labels"] else NoUsableAnswer.exit_code


def _scorecard_arguments(parser: argparse.ArgumentParser) -> None:
    scorecard.arguments(parser)
    _backend_argument(parser)


def _history_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("SKILL", nargs="?", help="the scorecards of this skill, and their trend")
    parser.add_argument(
        "--card", metavar="NAME", help="one card of the skill, whole; NAME as the history shows it"
    )


def _history(args: argparse.Namespace, out: Output) -> int:
    if args.card is not None and args.SKILL is None:
        raise usage_error("--card belongs to a skill: flow judge history SKILL", _HISTORY)
    if args.SKILL is not None:
        if args.card is not None:
            return scorecard.one_card(args.SKILL, args.card, out)
        return scorecard.history(args.SKILL, out)
    document = calibrating.label_history(JudgingContext())
    out.result(document, judgement.history(document, out.screen))
    out.warn(document["warnings"])
    if not document["judges"]:
        out.say("no judge has labels by people yet: flow judge calibrate --cases FILE")
    return 0


COMMANDS = {
    "run": CommandSpec(
        "ask a judge about a goal, or about a file by a rubric",
        _run_arguments,
        _run_judge,
        "exit status with --rubric: 0 passed, 1 not passed, 4 no usable answer",
    ),
    "rubrics": CommandSpec("the rubrics there are, or one of them", _rubrics_arguments, _rubrics),
    "calibrate": CommandSpec(
        "ask a judge about cases that people have labelled, and say how far they agree",
        _calibrate_arguments,
        _calibrate,
        "exit status: 0 done, 4 no case got a usable answer",
    ),
    "scorecard": CommandSpec(
        "score how well an execution of a skill or agent went, and store the card",
        _scorecard_arguments,
        scorecard.run,
        "exit status: 0 done, 2 no transcript, 4 no usable answer",
    ),
    "history": CommandSpec(
        "how far each judge agreed with people so far; with SKILL, its scorecards",
        _history_arguments,
        _history,
    ),
    "debate": debate.COMMAND,
}
