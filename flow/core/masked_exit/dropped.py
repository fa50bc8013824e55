"""Checks that are no test runners, and whose failure a command drops.

One place in the text at a time is followed while all else succeeds. Three kinds are masked:

* a check in a loop, or in a function that is called more than once, of which only the last run
  decides (``for f in bin/*.sh; do bash -n "$f"; done``);
* a program that only answers by its status, which nothing asks for (``grep -q a x; ls``);
* a branch that only fails, behind a check, and whose failure nothing asks for (``a || false; b``).
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
    from collections.abc import Callable, Iterable, Iterator, Mapping

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
_ARGUMENT = re.compile(r"\[?\[? ?(?:-[nz] )?\"?\$(?:#|\{?\d)[^$]*")
"""A test of how a function was called."""
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


def dropped_refusal(node: ShellNode, parse: Parse) -> str:
    """The first check behind which a branch only fails, and that failure is dropped; else empty.

    ``a || die; b || die``, where ``die`` returns 1 and does not exit.
    """
    everything = list(_everything(node, parse))
    functions = {part.words[0]: part.parts[0] for part in everything if part.kind == "function"}
    aside = _inside(everything, ("background",))
    parts = _inside(everything, ("function", "subshell", "pipe", "command", "assign", "declare"))
    own = {id(part) for part in constructs(node)} - parts
    steps = 0
    for part in everything:
        for check, branch, turned in () if id(part) in aside else _branches(part):
            fails = _only_fails(branch, functions, part_only=id(part) not in own)
            told = _refused(check, branch) if fails else None
            if told is None or _is_noted(branch, everything):
                continue
            try:
                run = ShellRun(parse, place=branch, asked=False, reached=True, steps=steps)
                ended = process(run, node, State(pipefail=True))
            except (TooMuch, RecursionError):
                return ""
            steps = run.steps
            if any(state.status == 0 and state.runner_end == FAILED for state in ended):
                return _text(told, turned=turned)
    return ""


def _branches(part: ShellNode) -> Iterator[tuple[ShellNode, ShellNode, bool]]:
    """(Check, branch behind it, whether the check's success leads there) of a construct."""
    if part.kind in ("and", "or"):
        yield part.parts[0], part.parts[1], part.kind == "and"
    elif part.kind == "if":
        for check, branch in zip(part.parts[::2], part.parts[1::2], strict=False):
            negated = [inner.kind for inner in check.parts] == ["not"]
            yield check, branch, not negated
        if part.complete:
            yield part.parts[-3], part.parts[-1], False


def _only_fails(
    node: ShellNode,
    functions: Mapping[str | None, ShellNode],
    *,
    part_only: bool,
    depth: int = 0,
) -> bool:
    """Whether a branch does nothing but fail at its end, in so many words, and something follows.

    ``part_only``: ``exit`` ends a part of the command (a subshell), and not all of it.
    """
    if node.kind in ("sequence", "group", "subshell"):
        part_only = part_only or node.kind == "subshell"
        return bool(node.parts) and _only_fails(
            node.parts[-1], functions, part_only=part_only, depth=depth
        )
    if node.kind != "command" or not node.words or depth > MOST_NESTED:
        return False
    name, *rest = node.words
    if name in functions:
        return _only_fails(functions[name], functions, part_only=part_only, depth=depth + 1)
    status = (rest or ["0"])[0]
    fails = status is not None and status.isdigit() and status.strip("0") != ""
    return name == "false" or (fails and (name == "return" or (name == "exit" and part_only)))


def _is_noted(branch: ShellNode, everything: Iterable[ShellNode]) -> bool:
    """Whether a branch writes a file that another command names: ``|| { touch bad; false; }``."""
    own = list(constructs(branch))
    files = [name for part in own for name in part.writes]
    for part in own:
        files += filter(None, part.words[1:] if part.words[:1] in (("touch",), ("tee",)) else ())
    names = re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, files))})(?![\w.])")
    others = (part.source for part in everything if not any(part is inner for inner in own))
    return bool(files) and any(names.search(" ".join(source)) for source in others)


def _refused(check: ShellNode, branch: ShellNode) -> ShellNode | None:
    """The program that decides whether such a branch is taken; None if it need not be heard.

    A function, or a subshell, may also end where it has nothing to do (``cd x || return 1``).
    """
    leaves = any(part.words[:1] in (("return",), ("exit",)) for part in constructs(branch))
    for part in constructs(check):
        words = plain_words(part.words) if part.kind == "command" else ()
        if not words or _ARGUMENT.fullmatch(" ".join(part.source).rstrip(" ]")):
            continue
        if _is_followed(part) if leaves else base_name(words[0] or "") not in CANNOT_FAIL:
            return part
    return None


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


def _text(place: ShellNode, *, turned: bool = False) -> str:
    """The first words of a check, for a reason."""
    command = plain_command(place.parts[0] if place.kind == "not" else place)
    words = [text.strip("`") for text in command.source[:4]]
    sign = "! " if place.kind == "not" or turned else ""
    return f"`{sign}{' '.join(filter(None, words))[:60]}`"


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
