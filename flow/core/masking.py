"""Whether a command's exit status can show a failure at all (SPEC section 10, *attributable*).

Its shell text, as parsed, is run on sets of statuses in place of statuses: of each construct it is
known whether it can end with 0, and whether with something else. A command is **masked** where

* it cannot end with anything but 0 although something in it can fail (``pytest || true``), or
* the status of a test runner in it is thrown away, and only bystanders (``rm``, ``cat``, ``docker
  compose down``) follow (``pytest; docker compose down``).

Whatever is not understood may end either way: a false alarm is worse than none. A command with
nothing in it that can fail (``true``, ``echo done``) is empty, not masked.
"""

from __future__ import annotations

from flow.cheap_typing import TYPE_CHECKING, NamedTuple
from flow.core.masking_programs import (
    EITHER,
    NONE,
    OTHER,
    WRITERS,
    ZERO,
    Statuses,
    alone,
    bystander,
    eval_text,
    is_filter,
    reads_only,
    shell_options,
    shell_text,
    silenced,
)
from flow.core.runner_names import runner_of
from flow.core.shell import LAST, VARIABLE, Node, base_name, commands, plain_words

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_STEPS = 20_000
MOST_NESTED = 4
"""Shells inside shells (``bash -c "bash -c ..."``) that are looked into."""


class Masked(NamedTuple):
    """Why an exit status can show no failure; ``lost`` names the command whose failure it hides."""

    why: str
    lost: str


class _TooMuch(Exception):
    """More constructs than are looked at. Never leaves this module."""


def masked(node: Node, parse: Callable[[str], Node | None]) -> Masked | None:
    """Why the exit status of ``node``, run with ``pipefail``, can show no failure; None if it can.

    ``parse`` reads the text of a shell inside (``bash -c '...'``, ``eval``, ``trap``).
    """
    try:
        everything = [*commands(node), *nested_commands(node, parse)]
        everything = [_heard(command) for command in everything]
        tests = next((_name(c) for c in everything if runner_of(c.words)), None)
        lost = tests or next((_name(c) for c in everything if _can_fail(c)), None)
        if lost is not None and 1 not in _Shell(parse, pipefail=True).run(node):
            return Masked(f"the command's exit status is 0 even where {lost} fails", lost)
        if tests is None:
            return None
        failing = _Shell(parse, pipefail=True, runners=OTHER).run(node)
        passing = _Shell(parse, pipefail=True, runners=ZERO).run(node)
    except (_TooMuch, RecursionError):
        return None
    if failing == ZERO and 0 in passing:
        return Masked(f"the exit status of {tests} is thrown away", tests)
    return None


def nested_commands(node: Node, parse: Callable[[str], Node | None], depth: int = 0) -> list[Node]:
    """The commands inside ``bash -c``, ``eval`` and the like."""
    found: list[Node] = []
    if depth < MOST_NESTED:
        for command in commands(node):
            words = plain_words(_heard(command).words)
            text = eval_text(words) if words[:1] == ("eval",) else shell_text(words)
            inner = parse(text) if text is not None else None
            if inner is not None:
                found += [*commands(inner), *nested_commands(inner, parse, depth + 1)]
    return found


def _heard(command: Node) -> Node:
    """The command whose status counts: what ``find -exec`` runs in the place of ``find``."""
    return command._replace(words=silenced(plain_words(command.words)) or command.words)


def _name(command: Node) -> str:
    """The first words of a command, as a reason names it (``python -m pytest -q``)."""
    shown = [word if word is not None else "..." for word in command.words[:4]]
    return f"`{' '.join(shown)[:60]}`"


def _can_fail(command: Node) -> bool:
    """Whether it is one whose failure would matter."""
    words = plain_words(command.words)
    if not words:
        return False
    if words[0] in ("exit", "return", "break", "continue", "eval", "source", ".", "wait", "exec"):
        return False
    if shell_text(words) is not None:
        return False
    if silenced(words) is not None:
        return True
    return 1 in alone(words) or command.reads


class _Shell:
    """One shell process, on sets of statuses; ``runners`` is how test runners end, if fixed."""

    def __init__(
        self,
        parse: Callable[[str], Node | None],
        *,
        pipefail: bool,
        errexit: bool = False,
        runners: Statuses | None = None,
        depth: int = 0,
    ) -> None:
        self.parse, self.runners, self.depth = parse, runners, depth
        self.pipefail, self.errexit = pipefail, errexit
        self.exits: set[int] = set()
        self.untrapped: set[int] = set()  # statuses it can end with before a trap on EXIT is set
        self.last: Statuses = ZERO
        self.tested = 0  # in a condition, where errexit does not count
        self.branches = 0  # where not everything is sure to run
        self.functions: dict[str, Node] = {}
        self.calls: list[set[int]] = []
        self.loops: list[list[bool]] = []
        self.traps: dict[str, Node | None] = {}
        self.written: set[str] = set()
        self.values: dict[str, Statuses] = {}  # variables whose value is known to be a status
        self.tracked = True  # whether nothing sets a variable that is not seen here
        self.steps = [0]

    def run(self, node: Node) -> Statuses:
        """The statuses this process can end with."""
        ended = self.node(node)
        statuses = frozenset(self.exits) | ended
        if "EXIT" in self.traps:
            body = self.traps["EXIT"]
            if body is None:
                return EITHER
            trap = self._child()
            trap.last = statuses
            through = trap.node(body)
            # a trap that comes to its end leaves the status as it was
            statuses = frozenset(trap.exits) | (statuses if through else NONE)
        return statuses | self.untrapped

    def _child(self) -> _Shell:
        """A subshell: it begins as this one is, and what it sets stays with it."""
        child = _Shell(
            self.parse,
            pipefail=self.pipefail,
            errexit=self.errexit,
            runners=self.runners,
            depth=self.depth,
        )
        child.tested, child.last = self.tested, self.last
        child.functions, child.written = dict(self.functions), self.written
        child.values, child.tracked = dict(self.values), self.tracked
        child.steps = self.steps
        child.calls = self.calls[-1:] and [set()]
        if "ERR" in self.traps:
            child.traps["ERR"] = self.traps["ERR"]
        return child

    def node(self, node: Node) -> Statuses:
        """The statuses a construct can end with; empty where nothing comes after it."""
        self.steps[0] += 1
        if self.steps[0] > MOST_STEPS:
            raise _TooMuch
        self.last = getattr(self, f"_{node.kind}")(node)
        return self.last

    # --- constructs ----------------------------------------------------------------------------

    def _sequence(self, node: Node) -> Statuses:
        status = ZERO
        for part in node.parts:
            status = self.node(part)
            if not status:
                break
        return status

    def _group(self, node: Node) -> Statuses:
        status = self._sequence(node)
        self.written.update(node.writes)
        return EITHER if node.reads and status else status

    def _background(self, node: Node) -> Statuses:
        self._child().run(Node("sequence", node.parts))
        return ZERO

    def _subshell(self, node: Node) -> Statuses:
        status = self._child().run(Node("sequence", node.parts))
        self.written.update(node.writes)
        return self._failing(EITHER if node.reads else status)

    def _and(self, node: Node, going_on: int = 0) -> Statuses:
        left, right = node.parts
        first = self._condition(left)
        status = first - {going_on}
        if going_on in first:
            self.last = frozenset((going_on,))
            self.branches += 1
            status |= self.node(right)
            self.branches -= 1
        return status

    def _or(self, node: Node) -> Statuses:
        return self._and(node, 1)

    def _not(self, node: Node) -> Statuses:
        return frozenset(1 - status for status in self._condition(node.parts[0]))

    def _condition(self, node: Node) -> Statuses:
        self.tested += 1
        status = self.node(node)
        self.tested -= 1
        return status

    def _pipe(self, node: Node) -> Statuses:
        found = []
        for number, part in enumerate(node.parts):
            child = self._child()
            child.tested += 1  # the pipeline as a whole counts
            if number and is_filter(part):
                child.written.update(part.writes)
                words = plain_words(part.words)
                if words[0] is not None and base_name(words[0]) == "tee":
                    self.written.update(w for w in words[1:] if w and not w.startswith("-"))
                found.append(ZERO)
            else:
                found.append(child.run(part))
        if not self.pipefail:
            return self._failing(found[-1])
        status = set().union(*found) & {1}
        if all(0 in part for part in found):
            status.add(0)
        return self._failing(frozenset(status))

    def _if(self, node: Node) -> Statuses:
        parts = list(node.parts)
        otherwise = parts.pop() if node.complete else None
        status: Statuses = NONE
        open_ = True  # whether one may come to what follows
        for condition, body in zip(parts[::2], parts[1::2], strict=True):
            asked = self._condition(condition)
            if 0 in asked:
                status |= self._branch(body, ZERO)
            open_ = 1 in asked
            if not open_:
                break
        if open_:
            status |= self._branch(otherwise, OTHER) if otherwise is not None else ZERO
        return status

    def _branch(self, body: Node, last: Statuses) -> Statuses:
        self.last = last
        self.branches += 1
        status = self.node(body)
        self.branches -= 1
        return status

    def _case(self, node: Node) -> Statuses:
        status: Statuses = NONE if node.complete else ZERO
        before = self.last
        for body in node.parts:
            status |= self._branch(body, before)
        return status

    def _for(self, node: Node) -> Statuses:
        self.values.clear()
        status, _ = self._body(node.parts[0])
        return status | ZERO

    def _while(self, node: Node, ends_on: int = 1) -> Statuses:
        condition, body = node.parts
        self.branches += 1
        asked = self._condition(condition)
        self.branches -= 1
        status, broken = self._body(body)
        waits = condition.kind == "not" if ends_on else asked == EITHER
        if not broken and (waits or ends_on not in asked):
            return EITHER  # it goes on until something succeeds: the failure is a time-out
        if ends_on not in asked:
            return EITHER
        return status | ZERO

    def _until(self, node: Node) -> Statuses:
        return self._while(node, 0)

    def _body(self, body: Node) -> tuple[Statuses, bool]:
        """A loop's body once, and again where it changed how failures count, or a variable."""
        self.loops.append([False])
        status: Statuses = NONE
        for _ in range(4):
            before = self.errexit, dict(self.values)
            status |= self._branch(body, self.last)
            if before == (self.errexit, self.values):
                break
        else:
            self.values.clear()
        broken = self.loops.pop()[0]
        return status | (ZERO if broken else NONE), broken

    def _function(self, node: Node) -> Statuses:
        body = node.parts[0]  # where it is not sure to be defined, nothing is known of a call
        self.functions[node.words[0] or ""] = Node("unknown") if self.branches else body
        return ZERO

    def _assign(self, node: Node) -> Statuses:
        before = self.last
        status = self._child().run(node.parts[-1]) if node.parts else ZERO
        if not node.words:
            self.values.clear()
        else:
            name = node.words[0] or ""
            value = before if node.words[1] == LAST else self._value(("exit", node.words[1] or "-"))
            if self.branches:
                value |= self.values.get(name, EITHER)
            self.values[name] = value
        return self._failing(status) if node.parts else ZERO

    def _declare(self, _: Node) -> Statuses:
        self.values.clear()
        return ZERO

    def _unknown(self, _: Node) -> Statuses:
        self.values.clear()
        self.exits.add(1)
        return EITHER

    # --- simple commands -----------------------------------------------------------------------

    def _command(self, node: Node) -> Statuses:
        words = plain_words(node.words)
        if not words:
            return ZERO
        self.written.update(node.writes)
        name = words[0]
        if name in self.functions:
            return self._call(str(name))
        if name in WRITERS:
            self.values.clear()
        if name == "shopt":
            self.tracked = False  # lastpipe
        leaves = {"exit": self._exit, "return": self._return, "break": self._break}
        leaves["continue"] = self._continue
        if name in leaves:
            return leaves[name](words)
        if name == "set":
            self._set(words)
        elif name == "trap":
            self._trap(words)
        elif name == "eval":
            text = eval_text(words)
            inner = self.parse(text) if text is not None else None
            return self.node(inner) if inner is not None else self._unknown(node)
        elif name in ("source", "."):
            return self._unknown(node)
        if node.words[0] == "setsid" and {"-f", "--fork"} & {*node.words[1:3]}:
            return ZERO  # it does not wait
        status = self._failing(self._program(node, words))
        if node.words[0] == "exec" and len(node.words) > 1:
            self.exits |= status
            return NONE
        return status

    def _program(self, node: Node, words: tuple[str | None, ...]) -> Statuses:
        text = shell_text(words)
        if text is not None:
            return self._nested(text, words)
        if node.reads:
            return EITHER
        if silenced(words) is not None:
            return ZERO
        if self.runners is not None:
            if runner_of(words):
                return self.runners
            if bystander(words):
                return ZERO
        if reads_only(words, self.written):
            return ZERO
        return alone(words)

    def _nested(self, text: str, words: tuple[str | None, ...]) -> Statuses:
        options, _ = shell_options(words)
        inner = self.parse(text) if self.depth < MOST_NESTED else None
        if inner is None:
            return EITHER
        shell = _Shell(
            self.parse,
            pipefail="pipefail" in options,
            errexit="e" in options or "errexit" in options,
            runners=self.runners,
            depth=self.depth + 1,
        )
        shell.steps = self.steps
        return shell.run(inner)

    def _call(self, name: str) -> Statuses:
        body = self.functions[name]
        if len(self.calls) > 8:
            raise _TooMuch
        self.calls.append(set())
        self.branches += 1
        status = self.node(body)
        self.branches -= 1
        return status | self.calls.pop()

    def _failing(self, status: Statuses) -> Statuses:
        """What goes on after a command that counts for ``set -e`` and a trap on ERR."""
        if self.tested or 1 not in status:
            return status
        if "ERR" in self.traps:
            body = self.traps.pop("ERR")
            if body is None:
                self.exits.add(1)
            else:
                self.tested += 1
                through = self._branch(body, OTHER)
                self.tested -= 1
                status = status if through else status - OTHER
            self.traps["ERR"] = body
        if self.errexit and 1 in status:
            self.exits.add(1)
            return status - OTHER
        return status

    def _value(self, words: tuple[str | None, ...]) -> Statuses:
        """The status that ``exit`` or ``return`` gives."""
        if len(words) < 2 or words[1] == LAST:
            return self.last
        word = words[1]
        if word is not None and word.startswith(VARIABLE):
            return self.values.get(word[1:], EITHER) if self.tracked else EITHER
        if word is None or not word.isascii() or not word.isdigit() or len(word) > 9:
            return EITHER
        return OTHER if int(word) % 256 else ZERO

    def _exit(self, words: tuple[str | None, ...]) -> Statuses:
        self.exits |= self._value(words)
        return NONE

    def _return(self, words: tuple[str | None, ...]) -> Statuses:
        if not self.calls:
            return EITHER
        self.calls[-1] |= self._value(words)
        return NONE

    def _break(self, _: tuple[str | None, ...]) -> Statuses:
        for loop in self.loops:  # of several levels, in doubt of all
            loop[0] = True
        return NONE if self.loops else ZERO

    def _continue(self, _: tuple[str | None, ...]) -> Statuses:
        return ZERO

    def _set(self, words: tuple[str | None, ...]) -> None:
        index = 1
        while index < len(words):
            word = words[index]
            if word is None:
                self.errexit = True  # in doubt a failure shows
                return
            if word[:1] not in ("-", "+") or word in ("-", "--"):
                return
            names = set(word[1:])
            if "o" in names and index + 1 < len(words):
                index += 1
                names.add(words[index] or "")
            for option, letter in (("errexit", "e"), ("pipefail", "pipefail")):
                if letter in names or option in names:
                    self._switch(option, on=word[0] == "-")
            index += 1

    def _switch(self, option: str, *, on: bool) -> None:
        if on or not self.branches:  # what may not run turns nothing off
            setattr(self, option, on)

    def _trap(self, words: tuple[str | None, ...]) -> None:
        if len(words) < 3:
            return
        action = words[1]
        body = None if action is None else self.parse(action) if action not in ("-", "") else None
        for word in words[2:]:
            name = "EXIT" if word == "0" else (word or "").upper().removeprefix("SIG")
            if name not in ("EXIT", "ERR"):
                self.tracked = False  # it may run at any time
            if name == "EXIT":
                self.untrapped |= self.exits
                self.exits.clear()
            if action in ("-", ""):
                self.traps.pop(name, None)
            elif name in ("EXIT", "ERR"):
                self.traps[name] = None if self.branches else body
