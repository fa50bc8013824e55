"""Commands as values, with the arguments that many have.

The parser is in :mod:`flow.cli.parser`: the commands that are typed most do without argparse.
"""

from __future__ import annotations

import sys

from flow.errors import InputError, at_key
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple, cast

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence
    from types import ModuleType

    from flow.cli.output import Output

_Namespace = type(sys.implementation)  # types.SimpleNamespace, without its module
WEEK = 7 * 24 * 3600


class CommandSpec(NamedTuple):
    """One command: what it is for, its arguments, what runs it and returns the exit status."""

    help: str
    arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, Output], int]
    epilog: str = ""

    def plain_arguments(self, words: Sequence[str]) -> argparse.Namespace | None:
        """The arguments of a plain call, as the parser would read them; None: ask the parser."""
        try:
            values = _PlainCall(self).read(words)
        except _NotPlain:
            return None
        return cast("argparse.Namespace", _Namespace(**values))


def command_of(group: ModuleType, name: str) -> CommandSpec:
    """The command ``name`` of a group; its ``load`` has those that ``COMMANDS`` only describes."""
    command = group.COMMANDS[name]
    return command if isinstance(command, CommandSpec) else group.load(name)


def meanings(commands: Mapping[str, CommandSpec | str]) -> dict[str, str]:
    """The purpose of each command of a group."""
    return {
        name: command.help if isinstance(command, CommandSpec) else command
        for name, command in commands.items()
    }


class _NotPlain(Exception):
    """The parser has to look. Never leaves this module."""


class _Declared(NamedTuple):
    """An argument as a command declares it."""

    dest: str
    action: str
    type: Callable[[str], Any]
    choices: Sequence[str] | None

    def read(self, word: str) -> Any:
        """The value that a word stands for."""
        try:
            value = self.type(word)
        except Exception:  # noqa: BLE001 - the parser says what is wrong
            raise _NotPlain from None
        if self.choices is not None and value not in self.choices:
            raise _NotPlain
        return value


class _PlainCall:
    """A call in which nothing is unusual, read without loading argparse and all that it needs.

    A command declares its arguments to it as to a parser. What is declared or typed in any other
    way than here, and every mistake, is the parser's.
    """

    def __init__(self, command: CommandSpec) -> None:
        self._options: dict[str, _Declared] = {}
        self._positionals: list[_Declared] = []
        self._least = 0
        """Positional arguments that have to be given."""
        self._required: set[str] = set()
        """The options that have to be."""
        self._values: dict[str, Any] = {}
        command.arguments(cast("argparse.ArgumentParser", self))

    def __getattr__(self, name: str) -> Any:
        raise _NotPlain  # a group

    def add_argument(
        self,
        name: str,
        *others: str,
        action: str = "store",
        nargs: str | None = None,
        default: Any = None,
        type: Callable[[str], Any] = str,
        choices: Sequence[str] | None = None,
        required: bool = False,
        dest: str | None = None,
        **shown: str,
    ) -> None:
        """Add an option, as a parser does."""
        is_option = name.startswith("--")
        dest = dest or name.lstrip("-").replace("-", "_")
        declared = _Declared(dest, action, type, choices)
        if action == "store_true":
            default = False
        converted = isinstance(default, str) and type is not str
        if others or converted or action not in ("store", "store_true", "append"):
            raise _NotPlain
        if not shown.keys() <= {"help", "metavar"} or nargs not in (None, "" if is_option else "?"):
            raise _NotPlain
        self._values[dest] = default
        if is_option:
            self._options[name] = declared
            self._required |= {name} if required else set()
            return
        if name.startswith("-") or (nargs is None and self._least < len(self._positionals)):
            raise _NotPlain
        self._least += nargs is None
        self._positionals.append(declared)

    def read(self, words: Sequence[str]) -> dict[str, Any]:
        """The arguments by name."""
        given, missing, rest = [], set(self._required), iter(words)
        for word in rest:
            if not word.startswith("-"):
                given.append(word)
                continue
            name, equals, value = word.partition("=")
            option = self._options.get(name)
            if option is None:
                raise _NotPlain
            missing.discard(name)
            if option.action == "store_true":
                if equals:
                    raise _NotPlain
                self._values[option.dest] = True
                continue
            value = value if equals else next(rest, "-")
            if value == "--" or (value.startswith("-") and not equals):
                raise _NotPlain
            self._set(option, value)
        if missing or not self._least <= len(given) <= len(self._positionals):
            raise _NotPlain
        for positional, word in zip(self._positionals, given, strict=False):
            self._set(positional, word)
        return self._values

    def _set(self, declared: _Declared, word: str) -> None:
        value, dest = declared.read(word), declared.dest
        if declared.action == "append":
            value = [*(self._values[dest] or ()), value]
        self._values[dest] = value


def usage_error(
    message: str, prog: str, *, key: str | None = None, value: str | None = None
) -> InputError:
    """A wrong call (exit 2)."""
    return at_key(key, value).invalid(message, f"see {prog} --help", code="usage")


def nothing(parser: argparse.ArgumentParser) -> None:
    """The arguments of a command that has none."""


def _refused(word: str, why: str) -> argparse.ArgumentTypeError:
    import argparse

    return argparse.ArgumentTypeError(f"{word[:40]!r} {why}")


def whole(least: int, most: int, what: str) -> Callable[[str], int]:
    """A type for argparse: a whole number in a range."""

    def read(text: str) -> int:
        if text.isascii() and text.isdigit() and len(text) < 20 and least <= int(text) <= most:
            return int(text)
        raise _refused(text, f"is not {what}: a whole number from {least} to {most}")

    return read


def seconds(text: str) -> float:
    """A type for argparse: a positive number of seconds."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if 0.001 <= value <= WEEK:  # NaN is in no range
        return value
    raise _refused(text, f"is not a time limit: seconds, more than 0, at most {WEEK}")


def judge_name(text: str) -> str:
    """A type for argparse: ``BACKEND[:MODEL]``; an empty variable of a script names neither."""
    if not text.strip():
        raise _refused(text, "names no judge")
    if text.rstrip().endswith(":"):
        raise _refused(text, "names no model behind its colon")
    return text


def listed(
    values: Sequence[str] | None, option: str, command: str, what: str = "criterion"
) -> tuple[str, ...]:
    """``--only AC1,AC2 --only AC3`` as one tuple, each once.

    An option that names nothing (an empty variable of a script) does not stand for all of them.
    """
    parts = (part.strip() for value in values or () for part in value.split(","))
    items = tuple(dict.fromkeys(part for part in parts if part))
    if values and not items:
        raise usage_error(f"names no {what}", command, key=option, value=",".join(values))
    return items


def goal_argument(parser: argparse.ArgumentParser) -> None:
    """Add the goal's ``ID``, by default that of the current branch's goal."""
    parser.add_argument(
        "ID", nargs="?", help="the goal (default: the goal of the branch that is checked out)"
    )


def yes_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--yes``."""
    parser.add_argument(
        "--yes", action="store_true", help="do not ask: a person has said yes already"
    )


def plain(value: Any) -> Any:
    """``value`` with tuples as lists, for JSON documents."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value
