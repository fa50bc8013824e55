"""``flow init``: make a repository ready for goals, at a terminal as a conversation."""

from __future__ import annotations

import os

from flow.adapters.process.speaker import current_speaker
from flow.adapters.setup import init as setup_init
from flow.adapters.setup.beside_goals import keep_runs_out
from flow.adapters.setup.set_up_context import SetUpContext
from flow.adapters.setup.settings_edit import settings_place
from flow.adapters.setup.undo import undo, untracked, what_stays
from flow.cli.parsing import CommandSpec, usage_error
from flow.core.setting_keys import ENFORCEMENT, KEYS, STOP_HOOK
from flow.core.setting_values import loosens
from flow.core.stop.hosts import HOSTS
from flow.core.text.display import names, visible
from flow.core.tool_calls.speaker import is_agent
from flow.errors import FlowError, PersonNeeded, in_file
from flow.render import setup as render
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import TypeVar

    from flow.adapters.setup.file_edits import InitStep
    from flow.adapters.setup.init import InitRequest, InitResult
    from flow.cli.output import Output

    _Choice = TypeVar("_Choice", bound=str)

GIT_HOOKS = ("pre-push",)
LEVELS = ENFORCEMENT[1:]
"""The levels that a person is asked about; ``off`` needs no setting up."""
TRIES = 5
"""Answers to one question, after which nothing was chosen."""


def _arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--host",
        action="append",
        choices=HOSTS,
        help="the program that runs your agent: add the Stop hook to its file in this repository",
    )
    add(
        "--enforcement",
        choices=LEVELS,
        help="what happens when the agent stops and the goal is not done: you are told, it goes "
        "on until the commands pass, or until a judge agrees, too",
    )
    add("--git-hook", choices=GIT_HOOKS, help="check the goal before each push")
    add(
        "--private",
        action="store_true",
        help="keep all of Flow's files out of the repository: by .git/info/exclude, and in your "
        "own settings; it stays so until --undo",
    )
    add("--undo", action="store_true", help="take out what flow init put in")


def _run_init(args: argparse.Namespace, out: Output) -> int:
    context = SetUpContext(os.getcwd(), out.environ)
    if context.is_git_folder:
        raise in_file(visible(context.top)).wrong_state(
            "is a git repository without a checkout, so nothing can be worked on here",
            "make a checkout of it (git clone, git worktree add), and run it there",
        )
    if len(set(args.host or ())) > 1:
        message = "names one agent at a time: run flow init once for each"
        raise usage_error(f"--host {message}", "flow init", key="--host")
    args.host = args.host[0] if args.host else None
    if args.undo:
        if args.host or args.enforcement or args.git_hook or args.private:
            raise usage_error("--undo goes with no other option", "flow init", key="--undo")
        return _undo(context, out)
    request = _request(args, context, out)
    _refuse_agent(context, request, out)
    done = setup_init.init(context, request)
    document = {
        "top": done.top,
        "git": done.no_git is None,
        "steps": [{"file": step.file, "did": step.did} for step in done.steps],
        "hook": None if done.hook is None else done.hook._asdict(),
        "private": request.private,
        "next": done.next,
    }
    out.result(document, _lines(done, request, out))
    if done.hook is not None and not out.json and not out.can_ask:
        out.say(*(f"flow: note: {note}" for note in done.hook.notes))
    if done.no_git is not None:
        out.warn([f"{done.no_git}: {setup_init.NO_GIT}"])
    return 0


def _lines(done: InitResult, request: InitRequest, out: Output) -> list[str]:
    if out.can_ask:
        notes = done.hook.notes if done.hook is not None else ()
        return render.set_up(
            done.steps,
            notes,
            done.next,
            out.screen,
            private=render.private_words(done.tracked) if request.private else "",
            git_line=done.git_line,
        )
    lines = _step_lines(done.steps)
    if request.private:
        lines.append(f"private: {render.private_words(done.tracked)}")
    return [*lines, f"next: {done.next}"]


def _step_lines(steps: Sequence[InitStep]) -> list[str]:
    width = max((len(step.file) for step in steps), default=0)
    return [f"{step.file:<{width}}  {step.did}" for step in steps]


def _request(args: argparse.Namespace, context: SetUpContext, out: Output) -> InitRequest:
    """The request made by the options, and at a terminal by a person's answers."""
    request = setup_init.InitRequest(
        args.host,
        args.enforcement,
        args.git_hook is not None,
        args.private or setup_init.is_private(context),
    )
    host, enforcement, git_hook = setup_init.unasked(context)
    if not out.can_ask:
        if args.enforcement and not args.host and host and not setup_init.plugin_in(context):
            raise usage_error(
                "no agent's hook is set up here that could keep it working: name the agent",
                "flow init",
                key="--host",
            )
        return request
    if host and args.host is None and not setup_init.plugin_in(context):
        request = request._replace(host=_chosen(out, *render.HOST_QUESTION, HOSTS))
    works = request.host is not None or not host or setup_init.plugin_in(context)
    if enforcement and args.enforcement is None and works:
        level = _chosen(out, *render.ENFORCEMENT_QUESTION, LEVELS) or "warn"
        request = request._replace(enforcement=level, asked=True)
    if git_hook and not request.git_hook:
        out.tell([out.asking.paint("person", render.PUSH_QUESTION)])
        request = request._replace(git_hook=out.ask_or_leave() in ("y", "yes"))
    return request._replace(example=False)


def _chosen(
    out: Output, question: str, choices: tuple[str, ...], values: Sequence[_Choice]
) -> _Choice | None:
    """The value that a person chooses by its number or name; None for Enter."""
    out.tell([out.asking.paint("person", line) for line in (question, *choices)])
    for _ in range(TRIES):
        answer = out.ask_or_leave()
        if not answer:
            break
        for number, value in enumerate(values, 1):
            if answer in (str(number), value):
                return value
        out.say(f"a number from 1 to {len(values)}, or Enter")
    return None


def _refuse_agent(context: SetUpContext, request: InitRequest, out: Output) -> None:
    """Raise :class:`PersonNeeded` if an agent's shell would loosen the user's own settings."""
    if not request.private or request.enforcement is None:
        return
    before = context.settings.settings.stop_hook_enforcement
    agent = is_agent(current_speaker(out.environ))
    if agent and loosens(KEYS[STOP_HOOK], before, request.enforcement):
        raise PersonNeeded(
            f"{before} is in force, and this is an agent's shell",
            code="agent_sets_own",
            key="--enforcement",
            remedy="a person, at a terminal: flow init --private "
            f"--enforcement {request.enforcement}",
        )


def _undo(context: SetUpContext, out: Output) -> int:
    if is_agent(current_speaker(out.environ)):
        raise PersonNeeded(
            "it takes out what asks a person, and this is an agent's shell",
            code="agent_undoes",
            key="--undo",
            remedy="a person, at a terminal: flow init --undo",
        )
    if context.record is None or context.state_dir is None:
        raise usage_error(
            "the state folder cannot be used, so nobody knows what flow init put in", "flow init"
        )
    try:
        own = settings_place("user", context.home, context.top, here=True)
    except FlowError:
        own = None
    repo = context.repo if context.common_dir is not None else None
    before = untracked(repo) if repo is not None else set()
    steps = undo(repo, context.top, context.record, own, context.state_dir)
    keep_runs_out(context.top, context.common_dir)
    stays = list(what_stays(context.top))
    shown = sorted(untracked(repo) - before) if repo is not None else []
    document = {
        "top": context.top,
        "steps": [{"file": step.file, "did": step.did} for step in steps],
        "stays": stays,
        "untracked": shown,
    }
    lines = _step_lines(steps) or ["nothing that flow init put in is on record here"]
    lines += [f"stays: {what}" for what in stays]
    if shown:
        lines.append(f"git status shows it as untracked now: {names(shown)}")
        lines.append("to keep it out of the repository again: flow init --private")
    out.result(document, lines)
    return 0


COMMAND = CommandSpec(
    "make a repository ready for goals",
    _arguments,
    _run_init,
    "Writes .flow/goals/ with an example, the goal schema for editors, lines in .gitignore and\n"
    ".gitattributes, and rules in .claude/settings.json that make Claude Code ask a person before\n"
    "it confirms, approves, amends, clears or trusts. What is there already stays as it is. At a\n"
    "terminal it asks which agent works here, whether it is kept working, and about pushes.\n\n"
    "--host also adds the Stop hook: hooks.Stop of .claude/settings.json (claude; not where the\n"
    "plugin is enabled, which brings it) or of .codex/hooks.json (codex), hooks.AfterAgent of\n"
    ".gemini/settings.json (gemini), hooks.stop of .cursor/hooks.json (cursor); for claude also\n"
    "the status line, where none is there. An entry that runs the hook already stays; no entry of\n"
    "your own is changed.\n\n"
    "--undo takes out what is as Flow wrote it, and says what it leaves.",
)
