"""The command line: finds the command, runs it, turns every error into an exit status.

Exit statuses (SPEC 5): 0 done, and for ``evaluate`` an achieved verdict; 1 evaluated, not
achieved (``doctor``: findings); 2 wrong call, bad input, wrong state, stale proposal; 3 blocked;
4 a person is needed; 5 something outside failed; 130 interrupted.
"""

from __future__ import annotations

import os
import sys

from flow.adapters.fs.crash import report
from flow.adapters.process.speaker import is_terminal
from flow.cli.output import Output, prepare_streams
from flow.cli.parsing import CommandSpec, command_of, meanings, usage_error
from flow.errors import FlowError, InputError, Interrupted
from flow.startup import ctrl_c
from flow.startup.finder import import_module
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COMMANDS: Mapping[str, str] = {
    "init": "make a repository ready for goals",
    "goal": "create, evaluate, confirm and look at goals",
    "inbox": "what waits for you, over every checkout you work in",
    "evidence": "record and show evidence",
    "verdict": "record and show the newest verdict of a run",
    "journal": "record and show decisions",
    "trust": "say whose commands may run here",
    "judge": "ask a judge about a goal or a file; scorecards, debates, calibration",
    "config": "show the settings and where they come from",
    "schema": "print a JSON Schema of Flow's files",
    "doctor": "look for what is wrong with this set-up",
    "gc": "drop or archive old evidence of closed goals; the chain still verifies",
    "report": "write a goal's record as a page to look at",
    "demo": "play the example end to end in a temporary repository",
}
"""Each is a module of this package: a ``COMMAND``, a group's ``COMMANDS``, or both."""

ELSEWHERE: Mapping[str, str] = {
    "hook": "decide whether an agent may stop; for the agent's host",
    "statusline": "one line on the branch's goal, for an agent's status bar",
}
"""Commands that ``__main__`` starts without the command line's machinery."""


def run(argv: Sequence[str]) -> int:
    """Run ``flow`` with these words and return its exit status. No exception leaves it."""
    as_json, words = _take_json(argv)
    prepare_streams(os.environ)
    out = Output(json=as_json, environ=os.environ)
    try:
        return _guarded(words, out)
    except FlowError as error:  # standard output itself has failed
        out.json = False
        return out.error(error)


def _guarded(words: Sequence[str], out: Output) -> int:
    try:
        with ctrl_c.HEARD:
            return _run(words, out)
    except FlowError as error:
        return out.error(error)
    except KeyboardInterrupt:
        ctrl_c.ignore()  # it may have come instead of the one above
        if is_terminal(sys.stderr):
            out.prompt("\n")  # the terminal has put ^C behind a question, or into a line
        return out.error(Interrupted("interrupted"))
    except Exception as error:  # noqa: BLE001 - no traceback reaches a user; the log has it
        return out.error(report(error, os.environ))


def _take_json(argv: Sequence[str]) -> tuple[bool, list[str]]:
    """``--json`` may stand anywhere before a ``--``."""
    end = list(argv).index("--") if "--" in argv else len(argv)
    return "--json" in argv[:end], [w for i, w in enumerate(argv) if w != "--json" or i > end]


def _run(words: Sequence[str], out: Output) -> int:
    if len(words) > 1 and words[0] == "help":
        words = [*words[1:], "--help"]
    if not words or words[0] in ("-h", "--help", "help"):
        return _print_help(out, "flow", _DESCRIPTION, _all_commands())
    if words[0] in ("-V", "--version"):
        from flow.version import __version__

        out.result({"version": __version__}, [f"flow {__version__}"])
        return 0
    _require_known(words[0], {**COMMANDS, **ELSEWHERE}, "flow")
    module = import_module(f"flow.cli.{words[0]}")
    named = hasattr(module, "COMMANDS") and words[1:2] and words[1] in module.COMMANDS
    if hasattr(module, "COMMAND") and not named:
        return _call_command(f"flow {words[0]}", module.COMMAND, words[1:], out)
    group = f"flow {words[0]}"
    if len(words) == 1 or words[1] in ("-h", "--help", "help"):
        what = {**COMMANDS, **ELSEWHERE}[words[0]].capitalize() + "."
        return _print_help(out, group, what, meanings(module.COMMANDS))
    _require_known(words[1], module.COMMANDS, group)
    return _call_command(f"{group} {words[1]}", command_of(module, words[1]), words[2:], out)


def _require_known(word: str, commands: Mapping[str, str], prog: str) -> None:
    if word in commands:
        return
    from flow.core.text.near import did_you_mean, meant, nearest

    if word.startswith("-"):
        known = ("--help", "--json", "--version") if prog == "flow" else ("--help", "--json")
        message = f"is no option of {prog}{did_you_mean(word, known)}"
        raise usage_error(message, prog, key=word[:40])
    lines = _lines_of_commands()
    same = [line for line, name in lines.items() if name == word]
    like = None if same else nearest(word, (*commands, *lines.values()))
    others = [line for line, name in lines.items() if name == like]
    asked = meant(*(same or ([f"{prog} {like}"] if like in commands else others))[:3])
    raise InputError(
        f"{word[:40]!r} is no command of {prog}{asked}",
        code="usage",
        value=word,
        remedy=f"see {prog} --help",
    )


def _lines_of_commands() -> dict[str, str]:
    """Every command as it is typed, and its last word."""
    lines = {f"flow {name}": name for name in COMMANDS}
    for group in COMMANDS:
        names = vars(import_module(f"flow.cli.{group}")).get("COMMANDS", ())
        lines |= {f"flow {group} {name}": name for name in names}
    return lines


def _all_commands() -> dict[str, str]:
    from flow.cli.manual import DAILY

    of_goal = import_module("flow.cli.goal").COMMANDS
    return {**COMMANDS, **ELSEWHERE, **{f"goal {name}": of_goal[name] for name in DAILY}}


def _call_command(prog: str, command: CommandSpec, words: Sequence[str], out: Output) -> int:
    plain = command.plain_arguments(words)
    if plain is not None:
        return command.run(plain, out)
    from flow.cli.parser import Parser

    parser = Parser(prog, command)
    options = words[: list(words).index("--")] if "--" in words else words
    if "-h" in options or "--help" in options:
        if out.json:
            out.result({"help": parser.format_help()}, ())
        else:
            out.text(parser.format_help())
        return 0
    return command.run(parser.parse(words), out)


_DESCRIPTION = """\
Makes "done" provable: a goal names the commands that prove it and the paths that may be changed;
Flow runs them, keeps the evidence, checks the paths, and proposes what comes next. A person
confirms."""

_STATUSES = (
    "flow --version prints the version.",
    "Exit status: 0 done, 1 not achieved or findings, 2 wrong call or state,",
    "3 blocked, 4 a person is needed, 5 disk, git or lock failed, 130 interrupted.",
)


def _print_help(out: Output, prog: str, description: str, commands: Mapping[str, str]) -> int:
    from flow.cli.manual import overview

    lines = [*overview(prog, description, commands), *(_STATUSES if prog == "flow" else ())]
    out.result({"help": "\n".join(lines)}, lines)
    return 0
