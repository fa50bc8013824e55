"""Whether a command's exit status can show a failure at all (SPEC 10, *attributable*).

The parsed shell text runs on states instead of processes (:mod:`flow.core.masked_exit.simulation`):
each program may end either way, and for one test runner at a time the states record whether it
failed. A command has a **masked exit** if

* some way through it ends with 0 although the runner has failed (``pytest; ls``), or
* it cannot end with anything but 0 although something in it can fail (``make || true``).

It does not matter whether the commands after a runner are harmless: the runner's status must reach
the end. A command in which nothing can fail (``true``, ``echo done``) masks nothing.
"""

from __future__ import annotations

from flow.core.masked_exit.programs import alone, shell_text, silenced
from flow.core.masked_exit.runner_names import report_of, runner_of
from flow.core.masked_exit.shell import ShellNode, commands, constructs, plain_command, plain_words
from flow.core.masked_exit.simulation import process
from flow.core.masked_exit.states import FAILED, PASSED, ShellRun, State, TooMuch, inner_text
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    Parse = Callable[[str], ShellNode | None]

MOST_NESTED = 4
"""Depth of shells inside shells (``bash -c "bash -c ..."``) that is examined."""
MOST_RUNNERS = 12
"""Number of different runners that are followed one by one."""


class Exits(NamedTuple):
    """The facts that a command's exit status can show."""

    masked_exit: str = ""
    """Reason that it can show no failure; empty if it can show one."""
    certain: tuple[str, ...] = ()
    """Report formats of the runners that have surely started whenever the command exits 0."""
    second_try: bool = False
    """Whether a runner is started again after a failure; then the last try counts."""
    guarded: str = ""
    """Name of the one runner, if the command can skip it and still exit 0; else empty. Of several
    runners without a report format, the first, if all of them can be skipped.
    """
    inverted: bool = False
    """Whether it is 0 only if a runner fails: ``! pytest tests/known_broken``."""


def exits(node: ShellNode, parse: Parse) -> Exits:
    """The facts that the exit status of ``node``, run with ``pipefail``, can show.

    ``parse`` reads the text of an inner shell (``bash -c '...'``, ``eval``, ``trap``).
    """
    everything = [
        _deciding_command(command) for command in (*commands(node), *nested_commands(node, parse))
    ]
    functions = _functions(node)
    runners = [
        _name(command.words)
        for command in everything
        if command.words[:1] not in functions and runner_of(command.words)
    ]
    lost = next(iter(runners), "") or next((_name(c.words) for c in everything if _fails(c)), "")
    try:
        run = ShellRun(parse)
        ended = process(run, node, State(pipefail=True))
        if lost and all(state.status == 0 for state in ended):
            return Exits(f"the command's exit status is 0 even where {lost} fails")
        analysis = _followed(node, parse, list(run.seen)[:MOST_RUNNERS])
        if runners and not analysis.masked_exit and not any(map(report_of, run.seen)):
            without = any(state.status == 0 and not state.runner_end for state in ended)
            return analysis._replace(guarded=runners[0].strip("`") if without else "")
        return analysis
    except (TooMuch, RecursionError):
        if not runners:
            return Exits()
        return Exits(f"nothing tells whether the status of {runners[0]} reaches the end: too much")


def _followed(node: ShellNode, parse: Parse, runners: list[tuple[str | None, ...]]) -> Exits:
    """The combined facts of all runners, each followed on its own."""
    certain: dict[str, None] = {}
    second_try = False
    guarded = ""
    inverted = [part.kind for part in node.parts] == ["not"]
    for words in runners:
        run = ShellRun(parse, words)
        ended = process(run, node, State(pipefail=True))
        passes = {state.runner_end for state in ended if state.status == 0}
        name = _name(words)
        if FAILED in passes and PASSED in passes:
            return Exits(f"the exit status can be 0 although {name} fails: it does not reach it")
        if FAILED in passes and not inverted:
            return Exits(f"the exit status is 0 where {name} fails, and not where it passes")
        second_try = second_try or run.second_try
        if "" not in passes:
            certain[report_of(words)] = None
        elif report_of(words):
            guarded = guarded or name.strip("`")
    certain.pop("", None)
    return Exits("", tuple(certain), second_try, guarded if len(runners) == 1 else "", inverted)


def _functions(node: ShellNode) -> set[tuple[str | None, ...]]:
    """The names of the functions that a text defines, as the first word of a command."""
    return {part.words[:1] for part in constructs(node) if part.kind == "function"}


def nested_commands(node: ShellNode, parse: Parse, depth: int = 0) -> list[ShellNode]:
    """The commands inside ``bash -c``, ``eval`` and similar commands."""
    nested: list[ShellNode] = []
    if depth < MOST_NESTED:
        for command in commands(node):
            text = inner_text(plain_command(command))
            inner = parse(text) if text is not None else None
            if inner is not None:
                nested += [*commands(inner), *nested_commands(inner, parse, depth + 1)]
    return nested


def _deciding_command(command: ShellNode) -> ShellNode:
    """The command whose status counts: for ``find -exec``, the command that ``find`` runs."""
    return command._replace(words=silenced(plain_words(command.words)) or command.words)


def _name(words: tuple[str | None, ...]) -> str:
    """The first words of a command, for a reason (``python -m pytest -q``)."""
    shown = [word if word is not None else "..." for word in words[:4]]
    return f"`{' '.join(shown)[:60]}`"


_LEAVE = ("exit", "return", "break", "continue", "eval", "source", ".", "wait", "exec")


def _fails(command: ShellNode) -> bool:
    """Whether the command's failure would matter."""
    words = plain_words(command.words)
    if not words or words[0] in _LEAVE or shell_text(words) is not None:
        return False
    return silenced(words) is not None or 1 in alone(words) or bool(command.reads)
