"""Simple commands of a shell that runs on states: functions, programs, test runners."""

from __future__ import annotations

import re

from flow.core.masked_exit.builtins import BUILTINS, Builtins
from flow.core.masked_exit.programs import (
    FORCES_PASS,
    MAKE_FLAGS,
    MAKES,
    OTHER,
    TESTS,
    ZERO,
    alone,
    decides_by_file,
    fails_with,
    lenient_flags,
    reads_only,
    runs_unheard,
    shell_options,
    silenced,
    without_shell,
)
from flow.core.masked_exit.runner_names import Runner, runner_of, started
from flow.core.masked_exit.runner_tables import SAME
from flow.core.masked_exit.shell import (
    LAST,
    ShellNode,
    base_name,
    plain_command,
    plain_words,
)
from flow.core.masked_exit.states import (
    FAILED,
    FAILURE_EXAMINED,
    MOST_DEPTH,
    PASSED,
    SOME,
    State,
    TooMuch,
    as_examined,
    inner_text,
    with_status,
)
from flow.core.masked_exit.values import ANY, TOLD, UNKNOWN, numbers, tested, word_values
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    States = frozenset[State]

_REPORTS = (".xml", ".json")
_UNHEARD = frozenset(("-0", "-CONT", "-SIGCONT", "-CHLD", "-WINCH", "-URG"))
"""Signals that end no shell."""
_SETS = re.compile(r"([A-Za-z_]\w*)\s*(\+\+|--|(?:<<|>>|[-+*/%|&^:])?=(?!=))")
_ASKS = frozenset(("--version", "-V", "--help", "-h"))
_GO_ON = ("mvn", "gradle")
"""Programs that show their version with ``-V``, and then run."""
_TIMERS = ("timeout", "gtimeout")
_TIMED_OUT = 124
"""The status of ``timeout`` where it ended the command (coreutils)."""
_LISTS = _ASKS | {
    "--collect-only", "--co", "--fixtures", "--markers", "--list", "--listTests", "--list-tests",
    "-list", "-N",
}  # fmt: skip
"""Options with which a runner runs no test: its exit status is not followed, its report is still
required.
"""
_PLAIN = re.compile(r"[\w./:=-]+(?: +[\w./:=-]+)*")
_TESTING = tuple((word,) for word in TESTS)
_CHANGE = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:(\+\+|--)|(<<|>>|[-+*/%|&^])?=(?!=)(.*))")


class Commands(Builtins):
    """The effects of one simple command on the states."""

    def process(self, node: ShellNode, state: State, *, tested: int = 0) -> set[State]:
        """The states in which a separate process can end."""
        raise NotImplementedError

    def _substituted(self, node: ShellNode, state: State) -> Iterable[State]:
        """The states after the substitutions of a node."""
        raise NotImplementedError

    def one_by_one(self, states: States) -> Iterable[State]:
        """Each of the states, while it is followed without the others.

        After a failure, what comes next is no second try if the runner passed in another of them:
        it runs there, too.
        """
        before, mixed = self.aside, any(state.runner_end == PASSED for state in states)
        for state in states:
            self.aside = before or (mixed and state.runner_end == FAILED)
            yield state
        self.aside = before

    def _kept(self, value: str, state: State, states: States) -> str:
        """``value``, or :data:`TOLD` for an unknown one that is only set after a failure."""
        if (
            value == UNKNOWN
            and state.runner_end == FAILED
            and all(s.runner_end == FAILED for s in states)
        ):
            return TOLD
        return value

    def _missing(self, node: ShellNode, states: States) -> set[State]:
        """The failed states of a command whose input file is missing: nothing runs."""
        return {
            state._replace(status=SOME)
            for state in states
            if not {*node.reads} <= {name for name, _ in state.statuses}
        }

    def _with_files(self, state: State, node: ShellNode) -> State:
        """The state with the node's output files, which have what the ended runner printed."""
        if not node.writes or state.runner_end not in (FAILED, PASSED):
            return state
        return state._replace(written=state.written | set(node.writes))

    def _command(self, node: ShellNode, states: States) -> Iterable[State]:
        ends: set[State] = set()
        for state in self.one_by_one(states):
            begun: Iterable[State] = (state,)
            if node.parts:
                begun = {
                    after._replace(status=state.status) for after in self._substituted(node, state)
                }
            for before in begun:
                answer = (
                    before.runner_end == FAILED != state.runner_end and node.words[:1] in _TESTING
                )
                asks = answer and any(LAST in source for source in node.source)
                ended = set(self._simple(node, as_examined(before) if asks else before, states))
                if node.writes:
                    ended = {after for end in ended for after in _writing(node, before, end)}
                ends |= self._recorded(node, before, ended) if self.run.place else ended
        return {end._replace(pipe=()) for end in ends} | self._missing(node, states)

    def _recorded(self, node: ShellNode, before: State, ended: set[State]) -> set[State]:
        """The ends of a command while one place is followed (:class:`ShellRun`)."""
        if node is not self.run.place:
            inner = FAILED if before.runner_end != FAILED else None  # of a function, of a shell
            good = {end for end in ended if end.status == 0 or end.runner_end == inner}
            either = self.turning or (self.run.reached and self.tested)
            return good if good and not either else ended
        if self.tested and not self.run.asked:
            return ended
        again = self.retry and before.runner_end == FAILED
        kept = PASSED if again else before.runner_end or PASSED
        return {
            end._replace(runner_end=FAILED if bool(end.status) != self.run.turned else kept)
            for end in ended
        }

    def _simple(self, node: ShellNode, state: State, states: States) -> Iterable[State]:
        state = self._expanded(node, state, states)
        command = plain_command(self._called_with(node, state))
        if not command.words:
            return (state._replace(status=0),)
        words = command.words
        if words[0] is None:
            return self._computed(node, command, state)
        name = base_name(words[0].lstrip("\\"))
        if name in ("((", "let"):
            changed = self._changed(command.source[-1], state, states)
            if changed:
                return self._failing(changed)
        functions = dict(state.functions)
        if name in functions and name == words[0]:
            return self._failing(self._call(functions[name], command, state))
        if name == "kill" and "$$" in command.source and _UNHEARD.isdisjoint(words):
            caught = any(event not in ("EXIT", "ERR") for event, _ in state.traps)
            self.exits |= with_status(state, (0, 1) if caught else (1,))
            return ()
        builtin = BUILTINS.get(name)
        if builtin is not None:
            return getattr(self, builtin)(command, state) or ()
        ended = self._program(node, command, state)
        if node.words[0] == "exec" and len(node.words) > 1:
            self.exits |= {end._replace(traps=()) for end in ended}
            return ()
        return self._failing(ended)

    def _expanded(self, node: ShellNode, state: State, states: States) -> State:
        """The state with variables that the expansion of a word sets: ``$((x=1))``, ``${x:=1}``."""
        for source in node.source:
            for name, sign in _SETS.findall(source) if "$((" in source or "${" in source else ():
                known = dict(state.values).get(name)
                if sign == ":=" and known:
                    continue  # a variable with a value keeps it
                value = UNKNOWN
                if sign == ":=" and known is not None:  # else it may be in the environment
                    (value,) = word_values(None, source, state.lookup())[:1] or (UNKNOWN,)
                state = state.setting(name, self._kept(value, state, states))
        return state

    def _changed(self, source: str, state: State, states: States) -> set[State]:
        """The states after ``((rc += $?))`` or ``let rc=1``; empty for any other text."""
        change = _CHANGE.fullmatch(source.strip("'\""))
        if change is None:
            return set()
        name, step, sign, text = change.groups()
        text = f"{name} {step[0]} 1" if step else f"{name} {sign} ({text})" if sign else text
        changed: set[State] = set()
        known = {name: "0", **state.lookup()}
        for value in numbers(text, known):
            told = self._kept(value, state, states)
            shown = known[name] if step else value
            ends = (0, 1) if shown in (UNKNOWN, TOLD, ANY) else (int(shown == "0"),)
            changed |= with_status(state.setting(name, told), ends)
        return changed

    def _called_with(self, node: ShellNode, state: State) -> ShellNode:
        """The node with ``"$@"`` replaced by the arguments of the function's call."""
        if state.params is None:
            return node
        words: list[str | None] = []
        source: list[str] = []
        for word, text in zip(node.words, node.source, strict=True):
            given: tuple[str | None, ...] | None = None
            if text.strip('"') in ("$@", "$*", "${@}", "${*}"):
                given = state.params
            elif word is None and re.fullmatch(r'"?\$\{?\d\}?"?', text):
                number = int(re.sub(r"\D", "", text))
                given = state.params[number - 1 : number] if number else (None,)
            words += (word,) if given is None else given
            source += [
                text if one is None or given is None else f"'{one}'" for one in given or (word,)
            ]
        return node._replace(words=tuple(words), source=tuple(source))

    def _computed(self, node: ShellNode, command: ShellNode, state: State) -> Iterable[State]:
        """Run a command whose name is in a variable: ``$ok``, ``$RUNNER -q``."""
        (value,) = word_values(None, command.source[0], state.lookup())[:1] or (UNKNOWN,)
        if value == TOLD:
            return self._failing(with_status(as_examined(state), (0, 1)))
        if "\0" in value or not _PLAIN.fullmatch(value):
            return self._failing(self._program(node, command, state))
        given = tuple(value.split())
        named = command._replace(
            words=(*given, *command.words[1:]), source=(*given, *command.source[1:])
        )
        return self._failing(self._program(node, named, state))

    def _call(self, number: int, command: ShellNode, state: State) -> Iterable[State]:
        if len(self.returns) > MOST_DEPTH:
            raise TooMuch
        self.returns.append(set())
        begun = state._replace(params=command.words[1:])  # "$?" is still that of before
        after = self.node(self.run.bodies[number], frozenset((begun,)))
        ended = after | self.returns.pop()
        return {end._replace(params=state.params) for end in ended}

    def _program(self, node: ShellNode, command: ShellNode, state: State) -> set[State]:
        words = command.words
        if runs_unheard(node.words):
            return {
                end._replace(status=status)
                for end in self._check(words, state)
                for status in (0, SOME)
            }
        makes = MAKE_FLAGS if base_name(words[0] or "") in MAKES else ()
        flags = self._given_values(makes, node, state)
        forced = "1" in self._given_values(FORCES_PASS, node, state) and bool(runner_of(words))
        hidden = words if forced or any(map(lenient_flags, flags)) else silenced(words)
        text = inner_text(
            command._replace(words=hidden, source=_shown(hidden)) if hidden else command
        )
        if text is not None:
            ended = self._nested(text, command._replace(words=hidden or words), state)
        else:
            ended = self._check(hidden, state) if hidden else set()
        if hidden is not None:
            return {end._replace(status=0) for end in ended}
        if text is not None:
            return ended
        if runner_of(words) or words == self.run.followed:
            ends = self._check(words, state)
            if _has_time_limit(node.words):
                late = (end for end in ends if end.status and end.runner_end == FAILED)
                ends = ends | {end._replace(status=_TIMED_OUT) for end in late}
            return {self._with_files(end, node) for end in ends}
        if words[0] in TESTS:
            statuses = tested(words, command.source, state.lookup())
            return (
                with_status(state, statuses)
                if statuses
                else with_status(as_examined(state), (0, 1))
            )
        if reads_only(words, set(state.written)):
            return with_status(state, ZERO)
        if decides_by_file(words, state.written):
            state = as_examined(state)
        return with_status(state, alone(words))

    def _given_values(self, names: Sequence[str], node: ShellNode, state: State) -> list[str]:
        """The values of these variables, if the command itself sets them."""
        known = dict(state.values)
        for word in (*node.given, *(word or "" for word in node.words)):
            name, _, value = word.partition("=")
            if name in names:
                known[name] = value
        return [known[name] for name in names if name in known]

    def _check(self, words: tuple[str | None, ...], state: State) -> set[State]:
        """The states in which a runner, or the program that is followed, can end."""
        runner = started(words)
        if (words != self.run.followed and not runner.name) or _is_question(runner):
            return with_status(state, alone(words))
        self.run.seen[words] = None
        again = (
            self.retry
            and state.runner_end == FAILED
            and runner.name == self.run.runner
            and _same_tests(words, self.run.followed or ())
        )
        if self.run.followed is None:  # its start counts, but not where a place is followed
            begun = state if self.run.place else state._replace(runner_end=PASSED)
            return with_status(begun, (0, 1))
        if words != self.run.followed and not again:
            return with_status(state, (0, 1))
        self.run.second_try = self.run.second_try or again
        files = {word.rpartition("=")[2] for word in words[1:] if word is not None}
        state = state._replace(written=state.written | {f for f in files if f.endswith(_REPORTS)})
        good = (
            state.runner_end
            if state.runner_end in (FAILED, FAILURE_EXAMINED) and not again
            else PASSED
        )
        bad = state.runner_end if state.runner_end == FAILURE_EXAMINED else FAILED
        checked = {state._replace(status=0, runner_end=good)}
        failed = fails_with(words, runner.name)
        return checked | {state._replace(status=code, runner_end=bad) for code in failed}

    def _nested(self, text: str, command: ShellNode, state: State) -> set[State]:
        words = command.words
        inner = self.run.parse(text)
        if inner is None:
            return with_status(state, (0, 1))
        options, _ = shell_options(words)
        if options & {"n", "noexec"}:
            return with_status(state, ZERO)  # it only reads the text
        begun = State(
            runner_end=state.runner_end,
            pipefail="pipefail" in options,
            errexit="e" in options or "errexit" in options,
            values=state.values if text not in words else (),  # expanded by the outer shell
            written=state.written,
            statuses=state.statuses,
        )
        ended = self.process(inner, begun)
        if not without_shell(words)[1]:  # the program around it may fail by itself
            ended |= with_status(begun, OTHER)
        return {state.after(end) for end in ended}


def _writing(node: ShellNode, before: State, end: State) -> Iterator[State]:
    """``end`` after a command that wrote files: ``echo $? > rc`` leaves a status in one."""
    kept = tuple(pair for pair in end.statuses if pair[0] not in node.writes)
    values = [UNKNOWN]
    if node.words[:1] in (("echo",), ("printf",)) and len(node.words) in (2, 3):
        values = word_values(node.words[-1], node.source[-1], before.lookup())
    for value in values:
        status = value == ANY or value.isdigit()
        wrote = tuple((name, value) for name in node.writes) if status else ()
        yield end._replace(statuses=tuple(sorted((*kept, *wrote))))


def _has_time_limit(words: tuple[str | None, ...]) -> bool:
    """Whether ``timeout`` starts a command, which then also ends with :data:`_TIMED_OUT`."""
    behind = words[: len(words) - len(plain_words(words))]
    return any(word is not None and base_name(word) in _TIMERS for word in behind)


def _is_question(runner: Runner) -> bool:
    """Whether the options only ask the runner for information, so that it runs no test."""
    words = runner.words
    if runner.form:
        return not _LISTS.isdisjoint(words)
    end = words.index("--") if "--" in words else len(words)
    name = runner.name.partition(" ")[0]
    goes_on = SAME.get(name, name) in _GO_ON
    return not (_ASKS - {"-V"} if goes_on else _ASKS).isdisjoint(words[:end])


_AGAIN = frozenset(("--lf", "--last-failed", "--ff", "--failed-first", "-v", "-vv", "-q", "-x"))


def _same_tests(words: tuple[str | None, ...], before: tuple[str | None, ...]) -> bool:
    """Whether a second try runs the tests that failed, no others and no fewer."""
    operands = {word for word in before if word is None or word[:1] != "-"}
    return {*words} - {*before} <= _AGAIN and operands <= {*words}


def _shown(words: tuple[str | None, ...]) -> tuple[str, ...]:
    return tuple("`" if word is None else word for word in words)
