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

    from flow.cli.output import Output

_Namespace = type(sys.implementation)  # types.SimpleNamespace, without its module
WEEK = 7 * 24 * 3600


class CommandSpec(NamedTuple):
    """One command: what it is for, its arguments, what runs it and returns the exit status."""

    help: str
    arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, Output], int]
    epilog: str = ""
    bare: Mapping[str, Any] | None = None
    """The arguments of a call without an option, where it takes an ``ID`` at most; None: ask the
    parser."""

    def bare_arguments(self, words: Sequence[str]) -> argparse.Namespace | None:
        """The arguments of such a call, as the parser would read them; None for any other."""
        if self.bare is None or len(words) > ("ID" in self.bare):
            return None
        if any(word.startswith("-") for word in words):
            return None
        values = {**self.bare, "ID": words[0]} if words else self.bare
        return cast("argparse.Namespace", _Namespace(**values))


def usage_error(message: str, prog: str, *, key: str | None = None) -> InputError:
    """A wrong call (exit 2)."""
    return at_key(key).invalid(message, f"see {prog} --help", code="usage")


def nothing(parser: argparse.ArgumentParser) -> None:
    """The arguments of a command that has none."""


def whole(least: int, most: int, what: str) -> Callable[[str], int]:
    """A type for argparse: a whole number in a range."""

    def read(text: str) -> int:
        if text.isascii() and text.isdigit() and len(text) < 20 and least <= int(text) <= most:
            return int(text)
        import argparse

        raise argparse.ArgumentTypeError(
            f"{text[:40]!r} is not {what}: a whole number from {least} to {most}"
        )

    return read


def seconds(text: str) -> float:
    """A type for argparse: a positive number of seconds."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if 0.001 <= value <= WEEK:  # NaN is in no range
        return value
    import argparse

    raise argparse.ArgumentTypeError(
        f"{text[:40]!r} is not a time limit: seconds, more than 0, at most {WEEK}"
    )


def listed(
    values: Sequence[str] | None, option: str, command: str, what: str = "criterion"
) -> tuple[str, ...]:
    """``--only AC1,AC2 --only AC3`` as one tuple, each once.

    An option that names nothing (an empty variable of a script) does not stand for all of them.
    """
    parts = (part.strip() for value in values or () for part in value.split(","))
    items = tuple(dict.fromkeys(part for part in parts if part))
    if values and not items:
        raise usage_error(f"{option} names no {what}", command)
    return items


def goal_argument(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    """Add the goal's ``ID``; optional: the current branch's goal."""
    if optional:
        parser.add_argument(
            "ID", nargs="?", help="the goal (default: the goal of the branch that is checked out)"
        )
    else:
        parser.add_argument("ID", help="the goal")


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
