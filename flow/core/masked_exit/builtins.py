"""The builtins of a shell that runs on states instead of processes."""

from __future__ import annotations

import re

from flow.core.masked_exit.programs import OTHER
from flow.core.masked_exit.shell import constructs
from flow.core.masked_exit.states import (
    SOME,
    State,
    as_examined,
    inner_text,
    put,
    unquoted,
    with_status,
)
from flow.core.masked_exit.values import ANY, FILE, JOB, TOLD, UNKNOWN, word_values
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flow.core.masked_exit.shell import ShellNode
    from flow.core.masked_exit.states import ShellRun

    States = frozenset[State]

BUILTINS = {
    "exit": "_exit", "return": "_return", "break": "_break", "continue": "_continue",
    "set": "_set", "shopt": "_shopt", "trap": "_trap", "eval": "_eval", "source": "_source",
    ".": "_source", "shift": "_shift", "read": "_read", "mapfile": "_read", "readarray": "_read",
    "getopts": "_read", "printf": "_printf", "wait": "_wait",
}  # fmt: skip


class Builtins:
    """The shell's builtins; ``exits`` and the like collect the states that left a construct."""

    def __init__(self, run: ShellRun, depth: int, tested: int = 0) -> None:
        self.run, self.depth, self.tested = run, depth, tested
        self.exits: set[State] = set()
        self.returns: list[set[State]] = []
        self.loops: list[tuple[set[State], set[State]]] = []  # left by break, and by continue
        self.retry = False
        self.aside = False
        """Whether the runner failed in the state that is followed, and passed in one beside it."""
        self.turning = 0
        """Conditions of ``while`` and ``until``, and ``!``, around this place."""
        self.before: int | None = None
        """In a trap on EXIT the status before it, which a plain ``exit`` keeps."""

    def node(self, node: ShellNode, states: States) -> States:
        """The states after a construct."""
        raise NotImplementedError

    def _failing(self, states: Iterable[State]) -> set[State]:
        """The states that continue after a command that ``set -e`` and a trap on ERR apply to."""
        ends: set[State] = set()
        for state in states:
            if self.tested or state.status == 0:
                ends.add(state)
                continue
            number = dict(state.traps).get("ERR")
            after = {state}
            if number is not None and number < 0:
                self.exits.add(state)
            elif number is not None:
                self.tested += 1
                body = self.node(self.run.bodies[number], frozenset((state,)))
                self.tested -= 1
                after = {end._replace(status=state.status) for end in body}
            self.exits |= {end for end in after if end.errexit}
            ends |= {end for end in after if not end.errexit}
        return ends

    def _given(self, command: ShellNode, state: State) -> set[State]:
        """The states with the status that is the argument of ``exit`` or ``return``."""
        if len(command.words) < 2:
            return {state if self.before is None else state._replace(status=self.before)}
        ends: set[State] = set()
        for value in word_values(command.words[1], command.source[1], state.lookup()):
            if value == ANY or value.startswith(JOB):
                ends.add(state._replace(status=SOME))
            elif value == TOLD:
                ends |= with_status(as_examined(state), (0, 1))
            elif re.fullmatch(r"-?[0-9]{1,9}", value):
                ends.add(state._replace(status=int(value) % 256))
            elif value == "":
                ends.add(state)
            else:
                ends |= with_status(state, (0, 1) if value == UNKNOWN else (1,))
        return ends

    def _exit(self, command: ShellNode, state: State) -> None:
        self.exits |= self._given(command, state)

    def _return(self, command: ShellNode, state: State) -> Iterable[State]:
        if not self.returns:
            return with_status(state, OTHER)  # an error outside a function
        self.returns[-1] |= self._given(command, state)
        return ()

    def _break(self, command: ShellNode, state: State) -> Iterable[State]:
        return self._leave(command, state, 0)

    def _continue(self, command: ShellNode, state: State) -> Iterable[State]:
        return self._leave(command, state, 1)

    def _leave(self, command: ShellNode, state: State, way: int) -> Iterable[State]:
        if not self.loops:
            return (state._replace(status=0),)
        word = command.words[1] if len(command.words) > 1 else "1"
        levels = int(word) if word is not None and word.isdigit() and len(word) < 4 else 1
        self.loops[-min(max(levels, 1), len(self.loops))][way].add(state._replace(status=0))
        return ()

    def _set(self, command: ShellNode, state: State) -> Iterable[State]:
        words = command.words
        state = state._replace(status=0)
        index = 1
        while index < len(words):
            word = words[index]
            if word is None:
                return (state._replace(errexit=True),)  # in doubt a failure is visible
            if word[:1] not in ("-", "+") or word in ("-", "--"):
                break
            names = set(word[1:])
            if "o" in names and index + 1 < len(words):
                index += 1
                names.add(words[index] or "")
            if names & {"n", "noexec"} and word[0] == "-":
                self.exits.add(state)  # nothing that follows is run
                return ()
            if names & {"e", "errexit"}:
                state = state._replace(errexit=word[0] == "-")
            if "pipefail" in names:
                state = state._replace(pipefail=word[0] == "-")
            index += 1
        return (state,)

    def _shopt(self, command: ShellNode, state: State) -> Iterable[State]:
        names = frozenset(w for w in command.words[1:] if w is not None and w[:1] != "-")
        on = "-s" in command.words
        options = state.options | names if on else state.options - names
        return (state._replace(options=options, status=0),)

    def _trap(self, command: ShellNode, state: State) -> Iterable[State]:
        action, *events = (*command.words[1:], None)[:-1] or (None,)
        traps = state.traps
        for word in events:
            name = "EXIT" if word == "0" else (word or "").upper().removeprefix("SIG")
            text = action if action is not None else unquoted(command.source[1])
            number = None if action in ("-", "") else self.run.number(text)
            leaves = number is not None and number >= 0 and _exits(self.run.bodies[number])
            if name in ("DEBUG", "CHLD", "RETURN") and leaves:
                name = "EXIT"  # it runs repeatedly, and so at the end, too
            traps = put(traps, name, number)
            if name not in ("EXIT", "ERR") and number is not None and number >= 0:
                for variable in _assigned(self.run.bodies[number]):  # it may run at any time
                    state = state.setting(variable, UNKNOWN)
        return (state._replace(traps=traps, status=0),)

    def _eval(self, command: ShellNode, state: State) -> Iterable[State]:
        text = inner_text(command)
        if text is None and len(command.words) == 2:
            (value,) = word_values(None, command.source[1], state.lookup())[:1] or (UNKNOWN,)
            text = None if "\0" in value else value
        inner = self.run.parse(text) if text is not None else None
        if inner is None:
            return self._failing(with_status(state, (0, 1)))
        return self.node(inner, frozenset((state,)))

    def _source(self, _: ShellNode, state: State) -> Iterable[State]:
        self.exits.add(state._replace(status=SOME))
        return self._failing(with_status(state, (0, 1)))

    def _shift(self, command: ShellNode, state: State) -> Iterable[State]:
        params = state.params[1:] if state.params and len(command.words) == 1 else None
        return (state._replace(params=params, status=0),)

    def _read(self, command: ShellNode, state: State) -> Iterable[State]:
        names = [word for word in command.words[1:] if word is not None and word.isidentifier()]
        read = state.lookup().get(f"{FILE}{command.reads[0]}" if command.reads else "", UNKNOWN)
        for name in names:
            state = state.setting(name, read if len(names) == 1 else UNKNOWN)
        return self._failing(with_status(state, (0, 1)))

    def _printf(self, command: ShellNode, state: State) -> Iterable[State]:
        words = command.words
        if words[1:2] == ("-v",) and len(words) > 2:
            state = state.setting(words[2] or "", UNKNOWN)
        return (state._replace(status=0),)

    def _wait(self, command: ShellNode, state: State) -> Iterable[State]:
        """The status of the awaited process; without operands 0, even if a child failed."""
        operands = list(zip(command.words[1:], command.source[1:], strict=True))
        if not operands:
            return (state._replace(status=0),)
        word, source = operands[-1]
        values = word_values(word, source, state.lookup())
        if word is not None and word[:1] in "-%" and state.job:
            values = [state.job]
        if all(value.startswith(JOB) for value in values):
            ended = {state._replace(status=int(value.removeprefix(JOB))) for value in values}
            return self._failing(ended)
        return self._failing(with_status(as_examined(state) if state.job else state, (0, 1)))


def _assigned(node: ShellNode) -> set[str]:
    """The variables that a trap's body assigns."""
    return {part.words[0] or "" for part in constructs(node) if part.kind == "assign"}


def _exits(node: ShellNode) -> bool:
    """Whether a trap's body may end the shell."""
    return any(part.words[:1] == ("exit",) for part in constructs(node))
