"""The state of a shell at one place on one path through a command."""

from __future__ import annotations

import re

from flow.core.masked_exit.programs import eval_text, without_shell
from flow.core.masked_exit.runner_names import runner_of
from flow.core.masked_exit.values import ANY, FILE, UNKNOWN
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from flow.core.masked_exit.shell import ShellNode

MOST_DEPTH = 12
FAILED, PASSED, FAILURE_EXAMINED = "failed", "passed", "examined"
"""Ends of the followed runner; ``FAILURE_EXAMINED``: a later command examined its failure."""
SOME = -1
"""A status that is not 0 and otherwise unknown."""


class TooMuch(Exception):
    """More states or steps than the limits allow."""


class State(NamedTuple):
    """The shell's state after one path to a place."""

    status: int = 0
    runner_end: str = ""
    """The end of the followed runner, one of those above; empty until it has ended."""
    pipefail: bool = False
    errexit: bool = False
    options: frozenset[str] = frozenset()
    """Options set by ``shopt``."""
    values: tuple[tuple[str, str], ...] = ()
    functions: tuple[tuple[str, int], ...] = ()
    traps: tuple[tuple[str, int], ...] = ()
    """Each event with the number of its body in :class:`ShellRun`; -1: the body was not understood.
    """
    params: tuple[str | None, ...] | None = None
    """``"$@"`` of a function; None if unknown."""
    job: str = ""
    """The value of ``$!``."""
    pipe: tuple[int, ...] = ()
    """The statuses of the parts of the last pipeline."""
    written: frozenset[str] = frozenset()
    """Files with the followed runner's output or report."""
    statuses: tuple[tuple[str, str], ...] = ()
    """Files into which the command wrote a status (``echo $? > rc``), each with it."""

    def lookup(self) -> dict[str, str]:
        """The values that a word can refer to, by variable or parameter."""
        known = dict(self.values)
        known.update((FILE + name, status) for name, status in self.statuses)
        known["?"] = ANY if self.status == SOME else str(self.status)
        known["!"] = self.job or UNKNOWN
        for number, status in enumerate(self.pipe or (self.status,)):
            known[f"PIPESTATUS[{number}]"] = ANY if status == SOME else str(status)
        for number, word in enumerate(self.params or (), 1):
            known[str(number)] = UNKNOWN if word is None else word
        return known

    def setting(self, name: str, value: str) -> State:
        """A copy with the variable ``name`` set to ``value``."""
        kept = [pair for pair in self.values if pair[0] != name]
        return self._replace(values=tuple(sorted([*kept, (name, value)])))

    def after(self, end: State) -> State:
        """A copy after a process that ended as ``end``: its variables are gone, its files stay."""
        return self._replace(
            status=end.status,
            runner_end=end.runner_end,
            written=end.written,
            statuses=end.statuses,
        )


Numbered = tuple[tuple[str, int], ...]


def put(pairs: Numbered, name: str, number: int | None) -> Numbered:
    """The pairs with the number of ``name`` replaced, or removed if ``number`` is None."""
    kept = [pair for pair in pairs if pair[0] != name]
    return tuple(sorted([*kept, (name, number)] if number is not None else kept))


def with_status(state: State, statuses: Iterable[int]) -> set[State]:
    """A state for each of the statuses; each that is not 0 becomes :data:`SOME`."""
    return {state._replace(status=SOME if status else 0) for status in statuses}


def inner_text(command: ShellNode) -> str | None:
    """The shell text that a command without prefixes runs; words that the shell computes stay."""
    words = tuple(
        word if word is not None else unquoted(source)
        for word, source in zip(command.words, command.source, strict=True)
    )
    if words[:1] == ("eval",):
        return eval_text(words)
    inner, _ = without_shell(words)
    return inner


def unquoted(source: str) -> str | None:
    """A text in double quotes as the inner shell reads it, except for substitutions of ``$``."""
    if source[:1] != '"' or source[-1:] != '"' or len(source) < 4 or " " not in source:
        return None
    return re.sub(r'\\(["$`\\])', r"\1", source[1:-1])


def as_examined(state: State) -> State:
    """The state after a command that examined the failure: it is not lost."""
    return state._replace(runner_end=FAILURE_EXAMINED) if state.runner_end == FAILED else state


class ShellRun:
    """Data shared by all shells of a command; ``followed`` is the runner whose end is recorded.

    With ``place`` it is the command at this place in the text instead, while all else succeeds
    where it can. Without ``asked`` its ends as a condition are not recorded; with ``turned`` a 0 is
    its failure (``if [ ! -f x ]``). With ``reached`` the place is a branch: to come to it is a
    failure, and conditions may end either way. ``steps`` were taken before, and count against the
    limit.
    """

    def __init__(
        self,
        parse: Callable[[str], ShellNode | None],
        followed: tuple[str | None, ...] | None = None,
        *,
        place: ShellNode | None = None,
        asked: bool = True,
        turned: bool = False,
        reached: bool = False,
        steps: int = 0,
    ) -> None:
        self.parse, self.followed = parse, followed
        self.place, self.asked, self.turned = place, asked, turned
        self.reached = reached
        self.runner = runner_of(followed) if followed else ""
        self.seen: dict[tuple[str | None, ...], None] = {}
        self.bodies: list[ShellNode] = []
        self.steps = steps
        self.second_try = False

    def number(self, text: str | None) -> int:
        """The number of the body with this text."""
        node = self.parse(text) if text is not None else None
        if node is None:
            return -1
        return self.body(node)

    def body(self, node: ShellNode) -> int:
        """The number of a body."""
        self.bodies.append(node)
        return len(self.bodies) - 1
