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

import re
from contextlib import suppress
from functools import cache

from flow.core.masked_exit.dropped import LEAVE, MOST_NESTED, dropped_check, dropped_refusal
from flow.core.masked_exit.programs import (
    CANNOT_FAIL,
    FILTERS,
    PREPARES,
    SEARCHERS,
    TESTS,
    alone,
    lacks_option,
    shell_text,
    silenced,
)
from flow.core.masked_exit.runner_names import report_of, runner_of
from flow.core.masked_exit.shell import (
    LAST,
    ShellNode,
    base_name,
    commands,
    constructs,
    plain_command,
    plain_words,
)
from flow.core.masked_exit.simulation import MOST_STEPS, process
from flow.core.masked_exit.states import (
    FAILED,
    FAILURE_EXAMINED,
    PASSED,
    ShellRun,
    State,
    TooMuch,
    inner_text,
)
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    Parse = Callable[[str], ShellNode | None]
    Words = tuple[str | None, ...]

MOST_TOGETHER = 12 * MOST_STEPS
"""Steps for all programs that are followed one by one."""
_COMPARE = frozenset((*TESTS, *SEARCHERS, "diff", "cmp", "comm", ":"))
"""Programs that decide by the output of a substitution; ``:`` stands for a loop's list."""


class Exits(NamedTuple):
    """The facts that a command's exit status can show."""

    masked_exit: str = ""
    """Reason that it can show no failure; empty if it can show one."""
    certain: tuple[str, ...] = ()
    """Report formats of the runners that have surely started whenever the command exits 0; one that
    is started with different words, as often.
    """
    second_try: bool = False
    """Whether a runner is started again after a failure; then the last try counts."""
    guarded: str = ""
    """Name of the one runner, if the command can skip it and still exit 0; else empty. Of several
    runners without a report format, the first, if all of them can be skipped.
    """
    inverted: bool = False
    """Whether it is 0 only if a runner fails: ``! pytest tests/known_broken``."""
    unheard: tuple[str, ...] = ()
    """Programs in substitutions that can fail while it is 0: ``test -z "$(find src)"``."""
    must_fail: tuple[str, ...] = ()
    """Programs that have to fail for it to be 0, or may: ``! rg word src``, ``! a | grep x``."""


def exits(node: ShellNode, parse: Parse) -> Exits:
    """The facts that the exit status of ``node``, run with ``pipefail``, can show.

    ``parse`` reads the text of an inner shell (``bash -c '...'``, ``eval``, ``trap``).
    """
    parse = cache(parse)
    everything = [
        _deciding_command(command) for command in (*commands(node), *nested_commands(node, parse))
    ]
    functions = _functions(node)
    starting = [
        command.words
        for command in everything
        if command.words[:1] not in functions and runner_of(command.words)
    ]
    runners = [_name(words) for words in starting]
    hidden = _only_silenced(node, parse)
    lost = next(iter((*starting, *hidden, *(c.words for c in everything if _fails(c)))), ())
    try:
        run = ShellRun(parse)
        ended = process(run, node, State(pipefail=True))
        if lost and (hidden or all(state.status == 0 for state in ended)):
            option = lacks_option(plain_words(lost))
            way_out = f" (with `{option}` it would show)" if option else ""
            return Exits(f"the command's exit status is 0 even where {_name(lost)} fails{way_out}")
        analysis = _followed(node, parse, list(run.seen))
        if not analysis.masked_exit and (
            dropped := dropped_check(node, parse) or dropped_refusal(node, parse)
        ):
            return Exits(_unheard(dropped))
        if not analysis.masked_exit:
            analysis = _with_others(analysis, node, parse, set(run.seen))
        if runners and not analysis.masked_exit and not any(map(report_of, run.seen)):
            without = any(state.status == 0 and not state.runner_end for state in ended)
            return analysis._replace(guarded=runners[0].strip("`") if without else "")
        return analysis
    except (TooMuch, RecursionError):
        if not runners:
            return Exits()
        return Exits(f"nothing tells whether the status of {runners[0]} reaches the end: too much")


def _only_silenced(node: ShellNode, parse: Parse) -> list[Words]:
    """The programs whose failure is hidden, if a command does nothing but prepare beside them."""
    everything = (*commands(node), *nested_commands(node, parse))
    programs = [plain_words(c.words) for c in everything if inner_text(plain_command(c)) is None]
    acts = [words for words in programs if words and base_name(words[0] or "") not in PREPARES]
    hidden = [found for found in map(silenced, acts) if found]
    return hidden if len(hidden) == len(acts) else []


def _followed(node: ShellNode, parse: Parse, runners: list[tuple[str | None, ...]]) -> Exits:
    """The combined facts of all runners, each followed on its own."""
    certain: list[str] = []
    second_try = False
    guarded = ""
    inverted = [part.kind for part in node.parts] == ["not"]
    for words, run, passes in _each(runners, node, parse):
        name = _name(words)
        if FAILED in passes and PASSED in passes:
            return Exits(_unheard(name))
        if FAILED in passes and not inverted:
            return Exits(f"the exit status is 0 where {name} fails, and not where it passes")
        second_try = second_try or run.second_try
        if "" not in passes:
            certain.append(report_of(words))
        elif report_of(words):
            guarded = guarded or name.strip("`")
    certain = list(filter(None, certain))
    return Exits(
        certain=tuple(certain),
        second_try=second_try,
        guarded=guarded if len(runners) == 1 else "",
        inverted=inverted,
    )


def _each(
    programs: Iterable[Words], node: ShellNode, parse: Parse
) -> Iterator[tuple[Words, ShellRun, set[str]]]:
    """Each program, followed on its own, with its ends where the command passes."""
    steps = 0
    for words in programs:
        if steps > MOST_TOGETHER:
            raise TooMuch
        run = ShellRun(parse, words)
        ended = process(run, node, State(pipefail=True))
        steps += run.steps
        yield words, run, {state.runner_end for state in ended if state.status == 0}


def _with_others(
    exit_analysis: Exits, node: ShellNode, parse: Parse, runners: Collection[Words]
) -> Exits:
    """The facts with the programs that are no runners, and whose failure lets a command pass."""
    compared = {plain_words(command.words) for command in _compared(node)}
    piped = {plain_words(command.words) for command in _piped_behind_not(node)}
    compared |= set(filter(_feeds, piped))
    everything = (*commands(node), *nested_commands(node, parse))
    programs = dict.fromkeys(plain_words(command.words) for command in everything)
    unheard: dict[str, None] = {}
    must_fail: dict[str, None] = {}
    left_out = {None, "", *TESTS, *CANNOT_FAIL}
    followed = [w for w in programs if w and w[0] not in left_out and w not in runners]
    if not compared and not _turns_round(node):
        followed = []
    with suppress(TooMuch, RecursionError):
        for words, _, passes in _each(followed, node, parse):
            if FAILED in passes and words in compared:
                unheard[words[0] or ""] = None
            elif passes and (words in piped or passes <= {FAILED, FAILURE_EXAMINED}):
                must_fail[words[0] or ""] = None
    return exit_analysis._replace(unheard=tuple(unheard), must_fail=tuple(must_fail))


def _compared(node: ShellNode) -> Iterator[ShellNode]:
    """The commands in substitutions whose output decides, also by way of a variable."""
    parts = list(constructs(node))
    deciding = [part for part in parts if part.kind in ("command", "case") and _compares(part)]
    asked = " ".join(source for part in deciding for source in part.source)
    for part in parts:
        name = (part.words or ("",))[0] or ""
        if part in deciding or (part.kind == "assign" and re.search(rf"\$\{{?{name}\b", asked)):
            for inner in part.parts:
                yield from commands(inner)


def _piped_behind_not(node: ShellNode) -> Iterator[ShellNode]:
    """The programs before the last one of a pipe behind ``!``: it passes if any of them fails."""
    for part in constructs(node):
        if part.kind == "not" and part.parts[0].kind == "pipe":
            for inner in part.parts[0].parts[:-1]:
                yield from commands(inner)


def _feeds(words: Words) -> bool:
    """Whether a program does nothing in a pipe but look for what the next ones get."""
    return bool(words) and base_name(words[0] or "") in {*FILTERS, *SEARCHERS, "find", "git"}


def _compares(command: ShellNode) -> bool:
    """Whether a command, or a ``case``, decides by its words."""
    words = plain_words(command.words)
    return command.kind == "case" or (bool(words) and base_name(words[0] or "") in _COMPARE)


def _turns_round(node: ShellNode) -> bool:
    """Whether a failure may lead to 0: behind a ``!``, in an ``if`` or an ``||``, by its ``$?``."""
    return any(
        part.kind in ("not", "if", "or", "while", "until") or any(LAST in w for w in part.source)
        for part in constructs(node)
    )


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


def _unheard(name: str) -> str:
    return (
        f"the exit status can be 0 although {name} fails: it does not reach it "
        "(with `|| exit 1` behind the check, it would)"
    )


def _name(words: tuple[str | None, ...]) -> str:
    """The first words of a command, for a reason (``python -m pytest -q``)."""
    shown = [word if word is not None else "..." for word in words[:4]]
    return f"`{' '.join(shown)[:60]}`"


def _fails(command: ShellNode) -> bool:
    """Whether the command's failure would matter."""
    words = plain_words(command.words)
    if not words or words[0] in LEAVE or shell_text(words) is not None:
        return False
    return silenced(words) is not None or 1 in alone(words) or bool(command.reads)
