"""A shell on states: every path through a command, with each program ending either way.

A :class:`State` is the result of one path to a place. It records whether one runner, the *followed*
one, ran and failed. A construct turns a set of states into the set after it. States that leave it
(``exit``, ``return``, ``break``) are collected until an outer construct catches them.
"""

from __future__ import annotations

from flow.core.masked_exit.commands import Commands
from flow.core.masked_exit.programs import is_filter
from flow.core.masked_exit.shell import (
    LAST,
    ShellNode,
    base_name,
    constructs,
    has_wildcard,
    plain_command,
)
from flow.core.masked_exit.states import (
    FAILED,
    MOST_DEPTH,
    SOME,
    ShellRun,
    State,
    TooMuch,
    as_examined,
    put,
    with_status,
)
from flow.core.masked_exit.values import JOB, TOLD, UNKNOWN, all_statuses, fitting, word_values
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    States = frozenset[State]

MOST_STEPS = 30_000
MOST_STATES = 400


def process(
    run: ShellRun, node: ShellNode, state: State, *, outer: Shell | None = None, tested: int = 0
) -> set[State]:
    """The states in which a process that runs ``node`` can end, after its trap on EXIT."""
    depth = 0 if outer is None else outer.depth + 1
    if depth > MOST_DEPTH:
        raise TooMuch
    shell = Shell(run, depth, tested)
    if outer is not None:
        shell.retry, shell.aside = outer.retry, outer.aside
    ends = shell.node(node, frozenset((state._replace(traps=()),))) | shell.exits
    found: set[State] = set()
    for end in ends:
        number = dict(end.traps).get("EXIT")
        if number is None:
            found.add(end)
        elif number < 0:  # it most likely keeps the status
            found |= {end, *with_status(end, (1,))}
        else:
            trap = Shell(run, depth, tested)
            trap.before = end.status
            through = trap.node(run.bodies[number], frozenset((end._replace(traps=()),)))
            found |= trap.exits | {after._replace(status=end.status) for after in through}
    return found


class Shell(Commands):
    """One shell process."""

    def process(self, node: ShellNode, state: State, *, tested: int = 0) -> set[State]:
        """The states in which a separate process can end."""
        return process(self.run, node, state, outer=self, tested=tested)

    def node(self, node: ShellNode, states: States) -> States:
        """The states after a construct; empty if nothing follows it."""
        if len(states) > MOST_STATES:  # variables' values are the cause of so many
            states = frozenset(state._replace(values=()) for state in states)
        self.run.steps += 1 + len(states)
        if self.run.steps > MOST_STEPS or len(states) > MOST_STATES:
            raise TooMuch
        if not states:
            return states
        return frozenset(getattr(self, f"_{node.kind}")(node, states))

    # --- constructs ----------------------------------------------------------------------------

    def _sequence(self, node: ShellNode, states: States) -> Iterable[State]:
        for part in node.parts:
            states = self.node(part, states)
        return states

    def _group(self, node: ShellNode, states: States) -> Iterable[State]:
        ends = {self._with_files(state, node) for state in self._sequence(node, states)}
        return ends | self._missing(node, states)

    def _child(self, node: ShellNode, state: State, **changes: object) -> list[tuple[State, State]]:
        """(this shell after it, the process's end) for each end of a separate process."""
        begun = state._replace(**changes)  # type: ignore[arg-type]
        ends = self.process(node, begun, tested=self.tested)
        return [(state.after(end), end) for end in ends]

    def _background(self, node: ShellNode, states: States) -> Iterable[State]:
        for state in self.one_by_one(states):
            for after, _ in self._child(ShellNode("sequence", node.parts), state):
                yield after._replace(status=0, job=f"{JOB}{after.status}")

    def _subshell(self, node: ShellNode, states: States) -> Iterable[State]:
        ends = self._missing(node, states)
        for state in self.one_by_one(states):
            for after, _ in self._child(ShellNode("sequence", node.parts), state):
                ends.add(self._with_files(after, node))
        return self._failing(ends)

    def _and(self, node: ShellNode, states: States) -> Iterable[State]:
        left = self._condition(node.parts[0], states)
        going = frozenset(state for state in left if state.status == 0)
        return (left - going) | self._branch(node.parts[1], going)

    def _or(self, node: ShellNode, states: States) -> Iterable[State]:
        left = self._condition(node.parts[0], states)
        going = frozenset(state for state in left if state.status != 0)
        return (left - going) | self._branch(node.parts[1], going)

    def _not(self, node: ShellNode, states: States) -> Iterable[State]:
        for before in self.one_by_one(states):
            self.turning += 1
            ended = self._condition(node.parts[0], frozenset((before,)))
            self.turning -= 1
            turned = {state._replace(status=int(state.status == 0)) for state in ended}
            recorded = self.run.place and not self._is_inside(node)
            yield from self._recorded(node, before, turned) if recorded else turned

    def _is_inside(self, node: ShellNode) -> bool:
        """Whether the place that is followed is in this one."""
        return any(part is self.run.place for part in constructs(node) if part is not node)

    def _condition(self, node: ShellNode, states: States) -> States:
        self.tested += 1
        ends = self.node(node, states)
        self.tested -= 1
        return ends

    def _branch(self, node: ShellNode, states: States, *, turn: bool = False) -> States:
        """The states after a branch; if only a failure leads here, a runner is a second try."""
        before = self.retry
        failed = bool(states) and all(state.runner_end == FAILED for state in states)
        only = failed and not self.aside
        self.retry = before or (only and (turn or self.run.place is None))
        if self.run.reached and node is self.run.place and not self.tested:
            states = frozenset(state._replace(runner_end=FAILED) for state in states)
        ends = self.node(node, states)
        self.retry = before
        return ends

    def _pipe(self, node: ShellNode, states: States) -> Iterable[State]:
        ends: set[State] = set()
        for state in self.one_by_one(states):
            joined: set[tuple[State, tuple[int, ...]]] = {(state, ())}
            for number, part in enumerate(node.parts):
                last = number == len(node.parts) - 1
                quiet = number > 0 and is_filter(part)
                joined = {
                    (end, (*statuses, 0 if quiet else end.status))
                    for before, statuses in joined
                    for end in self._part(part, before, in_shell=last)
                }
            for end, statuses in joined:
                worst = next((status for status in reversed(statuses) if status), 0)
                status = worst if end.pipefail else statuses[-1]
                ends.add(end._replace(status=status, pipe=statuses))
        return self._failing(ends)

    def _part(self, part: ShellNode, state: State, *, in_shell: bool) -> Iterable[State]:
        if in_shell and "lastpipe" in state.options:
            return self._condition(part, frozenset((state,)))
        ends = [after for after, _ in self._child(part, state)]
        words = plain_command(part).words
        if words and words[0] is not None and base_name(words[0]) == "tee":
            files = [word for word in words[1:] if word is not None and word[:1] != "-"]
            ends = [end._replace(written=end.written | set(files)) for end in ends]
        return ends

    def _if(self, node: ShellNode, states: States) -> Iterable[State]:
        parts = list(node.parts)
        otherwise = parts.pop() if node.complete else None
        ends: States = frozenset()
        for condition, body in zip(parts[::2], parts[1::2], strict=True):
            asked = self._condition(condition, states)
            going = frozenset(state for state in asked if state.status == 0)
            ends |= self._branch(body, going)
            states = asked - going
        if otherwise is not None:
            return ends | self._branch(otherwise, states)
        return ends | {state._replace(status=0) for state in states}

    def _case(self, node: ShellNode, states: States) -> Iterable[State]:
        ends: States = frozenset()
        for patterns, body in zip(node.source[1:], node.parts, strict=True):
            going, passed = set(), set()
            for state in states:
                values = word_values(node.words[0], node.source[0], state.lookup())
                known = as_examined(state) if TOLD in values else state
                taken, left = fitting(values, patterns)
                going |= {known} if taken else set()
                passed |= {known} if left else set()
            if not body.parts:
                going = {state._replace(status=0) for state in going}
            ends |= self._branch(body, frozenset(going))
            states = frozenset(passed)
        return ends | {state._replace(status=0) for state in states}

    def _for(self, node: ShellNode, states: States) -> Iterable[State]:
        items = node.words[1:]
        plain = [item for item in items if item is not None and not has_wildcard(item)]
        if len(plain) == len(items) <= 20 and len(node.source) > 1:
            states = frozenset(state._replace(status=0) for state in states)
            turns: Iterable[str] = plain
        else:
            turns = (UNKNOWN,) * 4
        list_text = " ".join(node.source[1:])
        if not all_statuses(list_text, State().lookup()):
            return self._turns(node, states, turns)
        ends: set[State] = set()
        for state in states:
            statuses = all_statuses(list_text, state.lookup())
            ends |= self._turns(node, frozenset((state,)), statuses)
        return ends

    def _turns(self, node: ShellNode, states: States, turns: Iterable[str]) -> set[State]:
        """The states after a ``for`` with these values of its variable."""
        name = node.words[0]
        done: set[State] = set()
        out: States = states if not node.words[1:] and len(node.source) > 1 else frozenset()
        for value in turns:
            begun = frozenset(state.setting(name or "_", value) for state in states)
            broken, after = self._turn(node.parts[0], begun)
            done |= broken
            out = after if value != UNKNOWN else out | after
            states = after
        return done | (out if turns else states)

    def _turn(self, body: ShellNode, states: States) -> tuple[set[State], States]:
        self.loops.append((set(), set()))
        after = self._branch(body, states, turn=True)
        broken, went_on = self.loops.pop()
        return broken, after | went_on

    def _while(self, node: ShellNode, states: States, going_on: bool = True) -> Iterable[State]:
        condition, body = node.parts
        ends: set[State] = set()
        seen: set[State] = set()
        states = frozenset(state._replace(status=0) for state in states)
        while states - seen:
            new = frozenset(states - seen)
            seen |= new
            before = self.retry
            self.retry = before or all(state.runner_end == FAILED for state in new)
            going: set[State] = set()
            self.turning += 1
            alone = self.one_by_one(new)
            answers = [(s, self._condition(condition, frozenset((s,)))) for s in alone]
            self.turning -= 1
            for state, answer in answers:
                for asked in answer:
                    if (asked.status == 0) == going_on:
                        going.add(asked)
                    else:
                        ends.add(asked._replace(status=state.status))
            self.retry = before
            broken, states = self._turn(body, frozenset(going))
            ends |= broken
            if going and not broken and _waits(condition, going_on=going_on):
                self.exits |= {state._replace(status=SOME) for state in going}  # a time-out
        return ends

    def _until(self, node: ShellNode, states: States) -> Iterable[State]:
        return self._while(node, states, going_on=False)

    def _function(self, node: ShellNode, states: States) -> Iterable[State]:
        number = self.run.body(node.parts[0])
        for state in states:
            functions = put(state.functions, node.words[0] or "", number)
            yield state._replace(functions=functions, status=0)

    def _assign(self, node: ShellNode, states: States) -> Iterable[State]:
        ends: set[State] = set()
        name, word, source = node.words[0] or "", node.words[1], node.source[1]
        for state in states:
            for after in self._substituted(node, state):
                array = source.startswith("(")
                values = [UNKNOWN] if array else word_values(word, source, state.lookup())
                if node.parts and after.runner_end == FAILED != state.runner_end and LAST in source:
                    values = [TOLD]
                kept = after
                for number, status in enumerate(all_statuses(source.strip("()"), state.lookup())):
                    kept = kept.setting(f"{name}[{number}]", status)
                for value in values:
                    ends.add(kept.setting(name, self._kept(value, state, states)))
        return self._failing(ends) if node.parts else ends

    def _substituted(self, node: ShellNode, state: State) -> Iterable[State]:
        """The states after the substitutions of a node; the status of the last one stays."""
        states = {state if node.parts else state._replace(status=0)}
        for part in node.parts:
            errexit = state.errexit and "inherit_errexit" in state.options
            states = {a for s in states for a, _ in self._child(part, s, errexit=errexit)}
        return states

    def _declare(self, node: ShellNode, states: States) -> Iterable[State]:
        return {state._replace(status=0) for state in self._uncounted(node.parts, states)}

    def _uncounted(self, parts: Iterable[ShellNode], states: States) -> States:
        """The states after substitutions whose statuses are lost."""
        self.tested += 1
        for part in parts:
            before = {state.status for state in states}
            states = self.node(part, states)
            if len(before) == 1:
                states = frozenset(s._replace(status=min(before)) for s in states)
        self.tested -= 1
        return states


def _waits(condition: ShellNode, *, going_on: bool) -> bool:
    """Whether this is a waiting loop (``until``, ``while ! x``, ``while true``).

    Ended by a time-out, it exits with a status that is not 0.
    """
    words = condition.words
    return not going_on or condition.kind == "not" or words in (("true",), (":",))
