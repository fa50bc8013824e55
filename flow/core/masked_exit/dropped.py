"""Checks that are no test runners, and whose failure a command drops.

One place in the text at a time is followed while all else succeeds. Two kinds are masked:

* a check in a loop, or in a function that is called more than once, of which only the last run
  decides (``for f in bin/*.sh; do bash -n "$f"; done``);
* a program that only answers by its status, which nothing asks for (``grep -q a x; ls``).
"""

from __future__ import annotations

import re

from flow.core.masked_exit.programs import (
    CANNOT_FAIL,
    FILTERS,
    LOOKS,
    SEARCHERS,
    SHELLS,
    TESTS,
    shell_options,
)
from flow.core.masked_exit.runner_names import runner_of
from flow.core.masked_exit.shell import ShellNode, base_name, constructs, plain_command, plain_words
from flow.core.masked_exit.simulation import process
from flow.core.masked_exit.states import FAILED, PASSED, ShellRun, State, TooMuch, inner_text
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Parse = Callable[[str], ShellNode | None]

MOST_NESTED = 4
"""Depth of shells inside shells (``bash -c "bash -c ..."``) that is examined."""
_MISREAD = ("for", "while", "until", "case", "select", "do", "done", "esac", "fi")
"""Words of the shell that its grammar may take for a program (``! for``)."""
LEAVE = ("exit", "return", "break", "continue", "eval", "source", ".", "wait", "exec")
"""Words of the shell that leave a construct, or run something else."""
_UNFOLLOWED = (
    CANNOT_FAIL | FILTERS | LOOKS | {*LEAVE, "read", "shift", "local", "declare", "((", "let"}
)
_ASKS_ONLY = {
    "cmp": ("-s", "--quiet", "--silent"), "diff": ("-q", "--brief"), "node": ("-c", "--check"),
    "wget": ("--spider",),
}  # fmt: skip
"""Programs that with one of these options do nothing but answer by their status."""
_QUIET = re.compile(r"-[a-zA-Z]*q[a-zA-Z]*|--quiet|--silent")
_OF_FILES = re.compile(r"[ `]-[bcdefhLprsSwx] |\$\(")
"""Signs that ``test`` asks about a file, or about what a program prints."""


def dropped_check(node: ShellNode, parse: Parse) -> str:
    """The first check whose failure is dropped; empty if there is none.

    ``parse`` has to return the same node each time that it gets a text.
    """
    everything = list(_everything(node, parse))
    if any(part.words[:1] and part.words[0] in _MISREAD for part in everything):
        return ""
    looped = _inside(everything, ("for", "while", "until"))
    called = _inside(everything, ("function",))
    read_on = {id(inner) for part in everything if part.kind == "pipe" for inner in _read_on(part)}
    steps = 0
    for place in filter(_is_followed, everything):
        ways = [(False, False)] if _asks_only(place) else []
        if id(place) in (called - looped if _decides(place) else called | looped) - read_on:
            ways += [(True, False), (True, True)] if _decides(place) else [(True, False)]
        for asked, turned in ways:
            try:
                run = ShellRun(parse, place=place, asked=asked, turned=turned, steps=steps)
                ended = process(run, node, State(pipefail=True))
            except (TooMuch, RecursionError):
                return ""
            steps = run.steps
            failed = {state.status == 0 for state in ended if state.runner_end == FAILED}
            passes = {state.runner_end for state in ended if state.status == 0}
            if {FAILED, PASSED} <= passes and (not asked or False in failed):
                return _text(place)
    return ""


def _everything(node: ShellNode, parse: Parse, depth: int = 0) -> Iterator[ShellNode]:
    """The constructs of a command, and those of inner shells (``bash -c``)."""
    for part in constructs(node):
        yield part
        text = inner_text(plain_command(part)) if part.kind == "command" else None
        inner = parse(text) if text is not None and depth < MOST_NESTED else None
        if inner is not None:
            yield from _everything(inner, parse, depth + 1)


def _read_on(pipe: ShellNode) -> Iterator[ShellNode]:
    """The constructs whose output a later part of the pipe may decide by: ``... | diff - x``."""
    deciding = [n for n, part in enumerate(pipe.parts) if _may_decide(part)]
    for part in pipe.parts[: deciding[-1]] if deciding else ():
        yield from constructs(part)


def _may_decide(part: ShellNode) -> bool:
    """Whether it is a command that may fail for what it reads."""
    name = base_name((*plain_words(part.words), "")[0] or "")
    return part.kind == "command" and name not in CANNOT_FAIL | FILTERS | LOOKS


def _inside(parts: Iterable[ShellNode], kinds: tuple[str, ...]) -> set[int]:
    """The ids of the constructs inside of those of these kinds."""
    return {id(inner) for part in parts if part.kind in kinds for inner in constructs(part)}


def _text(place: ShellNode) -> str:
    """The first words of a check, for a reason."""
    command = plain_command(place.parts[0] if place.kind == "not" else place)
    words = ["!" if place.kind == "not" else "", *(text.strip("`") for text in command.source[:4])]
    return f"`{' '.join(filter(None, words))[:60]}`"


def _decides(place: ShellNode) -> bool:
    """Whether it mostly chooses what comes next where it is asked: ``[ -f x ] && ./x``.

    In a function it may be what the function answers by: ``[ -f "$1" ] || return 1``.
    """
    return place.kind == "not" or base_name(place.words[0] or "") in (*TESTS, *SEARCHERS)


def _is_followed(place: ShellNode) -> bool:
    """Whether it is a check: a command, also behind ``!``, whose failure may matter."""
    if place.kind not in ("command", "not"):
        return False
    words = plain_words((place.parts[0] if place.kind == "not" else place).words)
    if not words or words[0] is None or runner_of(words):
        return False
    return base_name(words[0]) not in _UNFOLLOWED


def _asks_only(place: ShellNode) -> bool:
    """Whether a program does nothing but answer by its status; also ``! grep x file``."""
    turned = place.kind == "not"
    command = plain_command(place.parts[0] if turned else place)
    words = command.words
    name = base_name(words[0] or "")
    if name in SHELLS:
        return bool({"n", "noexec"} & shell_options(words)[0])
    if name in TESTS:  # one that compares a variable most likely has a status before it
        return _OF_FILES.search(" ".join(command.source)) is not None
    if name in SEARCHERS:
        return turned or any(_QUIET.fullmatch(word or "") for word in words[1:])
    return not {*_ASKS_ONLY.get(name, ())}.isdisjoint(words)
