"""``flow goal baseline``: results of the goal's commands before the change."""

from __future__ import annotations

from flow.cli.goal.which import goal_to_act_on
from flow.cli.parsing import goal_argument, listed, seconds, whole
from flow.cli.progress import listener
from flow.render import baseline as render
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.base_runs import run_on_base
from flow.wiring.context import Context

if TYPE_CHECKING:
    import argparse

    from flow.cli.output import Output

_EPILOG = """\
Each command runs in a clean checkout of the goal's base commit. One that passes there already
proves nothing about the change: verdict and status say so (non_discriminating). One that fails
there can tell the difference. Nothing is decided, and the goal stays as it is.

exit status: 0 done, 4 the contract is not trusted, 2 wrong call or state, 5 disk, git or lock
failed, 130 interrupted"""


def _arguments(parser: argparse.ArgumentParser) -> None:
    goal_argument(parser)
    add = parser.add_argument
    add("--only", metavar="AC,...", action="append", help="run only these")
    add("--jobs", metavar="N", type=whole(1, 256, "a number of jobs"), help="commands at once")
    add("--timeout", metavar="S", type=seconds, help="seconds for each command without a limit")
    add("--again", action="store_true", help="run what is remembered from before too")


def _baseline(args: argparse.Namespace, out: Output) -> int:
    context = Context()
    goal_id = goal_to_act_on(context, args)
    only = listed(args.only, "--only", "flow goal baseline")
    document = run_on_base(
        context,
        goal_id,
        listener(out, context, goal_id, only=only, reuses=not args.again),
        only=only,
        jobs=args.jobs,
        timeout=args.timeout,
        again=args.again,
    )
    out.result(document, render.baseline(document, out.screen))
    out.warn(document["warnings"])
    return 0


COMMANDS = {
    "baseline": (_arguments, _baseline, _EPILOG),
}
