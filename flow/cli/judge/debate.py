"""``flow judge debate``: several judges, their reports, and what they agree on."""

from __future__ import annotations

import sys

from flow.adapters.fs import clock
from flow.app.judging.debate_calls import DebateCall
from flow.cli.judge.offering import named_judges
from flow.cli.parsing import CommandSpec, judge_name, whole
from flow.core.judging.debate.result import document
from flow.core.text.display import counted
from flow.errors import PersonNeeded
from flow.render.debate import Progress
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.judging import debates

if TYPE_CHECKING:
    import argparse

    from flow.app.judging.debate import Watcher
    from flow.cli.output import Output

NO_CONSENSUS = PersonNeeded.exit_code

_EPILOG = """\
exit status: 0 the judges agree (or a vote was counted), 4 no consensus, scores that rest on too few
true quotes, or no usable answer: a person decides; 2 wrong call, 5 disk or lock failed. If a debate
is interrupted, run the same command again to resume it."""


def _arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--solution",
        metavar="PATH",
        action="append",
        required=True,
        help="the file to evaluate, or a folder or a glob in quotes (repeatable)",
    )
    add("--task", metavar="TEXT", required=True, help="what it was supposed to accomplish")
    add(
        "--criteria",
        metavar="NAME:WEIGHT,...",
        help='what to score, like "correctness:30,design:25"',
    )
    add(
        "--kind",
        choices=("code", "design", "documentation"),
        help="take the criteria for this kind (default: code)",
    )
    add(
        "--judges",
        type=whole(1, 25, "a number of judges (at least 2 for a debate)"),
        metavar="N",
        help="how many (default: 3, or one for each --judge-backend); a debate needs two",
    )
    add(
        "--rounds",
        type=whole(0, 10, "a number of rounds"),
        metavar="N",
        default=3,
        help="debates at most (default: 3)",
    )
    add(
        "--mode",
        choices=("debate", "vote"),
        default="debate",
        help="vote: independent ballots and their median, no debate",
    )
    add(
        "--judge-backend",
        metavar="BACKEND[:MODEL]",
        type=judge_name,
        action="append",
        help="claude, anthropic, openai or command (default: the setting); once for all judges, "
        "or once for each",
    )


def _run_debate(args: argparse.Namespace, out: Output) -> int:
    most = (args.judges or 3) * (2 + (args.rounds if args.mode == "debate" else 0))
    asked, sends = f"at most {counted(most, 'question')}", "the solution and the task"
    backends = named_judges(args.judge_backend or (), out, asked, sends)
    call = DebateCall(
        args.solution,
        args.task,
        args.criteria,
        args.kind,
        args.judges,
        args.rounds,
        args.mode,
        backends,
    )
    held = debates.debate(call, watch=_watcher(out))
    debated = document(held)
    out.result(debated, debated["report"].split("\n"))
    out.warn(debated["warnings"])
    return 0 if held.decided else NO_CONSENSUS


def _watcher(out: Output) -> Watcher | None:
    if out.json or sys.stderr is None:
        return None
    return Progress(sys.stderr, clock.monotonic, out.asking)


COMMAND = CommandSpec(
    "let several judges evaluate a solution and debate until they agree",
    _arguments,
    _run_debate,
    _EPILOG,
)
