"""An agent's command, run once with a prompt: its output is the text that a test judges.

No shell reads the command, nor the prompt: it replaces ``{prompt}`` in the command as one argument;
without that word it is on standard input.
"""

from __future__ import annotations

import os

from flow.adapters.judges.reply_json import words
from flow.adapters.process.with_input import run_with_input
from flow.core.text.display import visible
from flow.errors import OutsideError, at_key, in_file
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.adapters.process.with_input import InputRunResult

PROMPT = "{prompt}"
LIMIT = 8 << 20
"""Most bytes of an agent's output; as many as of a file that is judged."""
MOST_SECONDS = 86_400.0


def run(
    command: Sequence[str], prompt: object, *, cwd: str, environ: Mapping[str, str], seconds: float
) -> str:
    """Standard output of the agent; bytes that are no UTF-8 as escapes.

    None of its processes outlives the call. Raises :class:`InputError` for an invalid command,
    prompt or time limit, and :class:`OutsideError` if the agent could not start, ran out of its
    time, printed too much, or ended with another exit status than 0.
    """
    argv, stdin = _call(command, prompt)
    if isinstance(seconds, bool) or not 0 < seconds <= MOST_SECONDS:
        raise at_key("timeout", seconds).invalid(
            f"{seconds!r:.40} is no time limit", f"seconds, above 0 and at most {MOST_SECONDS:.0f}"
        )
    if not os.path.isdir(cwd):
        remedy = "name the folder that the agent works in"
        raise in_file(cwd, "cwd").invalid("is no folder", remedy)
    done = run_with_input(argv, cwd=cwd, env=environ, stdin=stdin, timeout=seconds, limit=LIMIT)
    if done.kind == "exit" and done.status == 0:
        return done.stdout.decode("utf-8", "backslashreplace")
    code, why, remedy = _failure(done, seconds)
    raise OutsideError(
        f"the agent {visible(os.path.basename(argv[0]))[:80]} {why}",
        code=code,
        key="--agent-command",
        remedy=remedy,
    )


def located(command: Sequence[str], start: str) -> list[str]:
    """The command with the full path of its program: ``~/x``, and ``./x`` relative to ``start``."""
    if not command or "/" not in str(command[0]):
        return list(command)
    return [os.path.join(start, os.path.expanduser(command[0])), *command[1:]]


def _call(command: Sequence[str], prompt: object) -> tuple[list[str], bytes]:
    """The arguments and the standard input."""
    if not command or not all(isinstance(word, str) for word in command) or not command[0].strip():
        raise at_key("--agent-command").invalid(
            "it names no program", "a program and its arguments, such as: claude -p"
        )
    if not isinstance(prompt, str) or not prompt.strip() or "\0" in prompt:
        remedy = "say in words what the agent has to do"
        raise at_key("prompt").invalid("it is no text that an agent can be given", remedy)
    if not any(PROMPT in word for word in command[1:]):
        return list(command), prompt.encode("utf-8", "surrogateescape")
    if prompt.startswith("-") and any(word.startswith(PROMPT) for word in command[1:]):
        raise at_key("prompt", prompt[:40]).invalid(
            "it begins with '-', which the agent would take for an option",
            f"leave {PROMPT} out of the command: then it goes to standard input",
        )
    return [command[0], *(word.replace(PROMPT, prompt) for word in command[1:])], b""


def _failure(done: InputRunResult, seconds: float) -> tuple[str, str, str]:
    """(code, reason, remedy) of a run that gave no text."""
    if done.kind == "timeout":
        return "timeout", f"was not done within {seconds:g} s", "give it more: timeout=SECONDS"
    if done.kind == "too_much":
        return "too_large", f"printed more than {LIMIT} bytes and was ended", "let it print less"
    if done.kind == "not_found":
        return "not_found", "was not found", "install it, or write the whole path"
    if done.kind != "exit":
        return "not_started", f"did not run: {words(done.why)}", "run the command by hand"
    stderr = words(done.stderr, last=300) or "nothing on standard error"
    return "agent_failed", f"ended with exit status {done.status}: {stderr}", "run it by hand"
