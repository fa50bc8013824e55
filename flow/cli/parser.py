"""A parser of a command's arguments that raises instead of exiting.

Only the parser of the command that was named is ever built: that keeps a cold start short.
"""

from __future__ import annotations

import argparse

from flow.cli.parsing import CommandSpec, usage_error
from flow.core.text.near import did_you_mean
from flow.startup.typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.errors import InputError


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are :class:`InputError`; help is left to the caller."""

    def __init__(self, prog: str, command: CommandSpec) -> None:
        super().__init__(
            prog=prog,
            description=command.help[:1].upper() + command.help[1:] + ".",
            add_help=False,
            allow_abbrev=False,
            formatter_class=_formatter,
        )
        self._notes = command.epilog.strip("\n")
        self._positionals.title = "arguments"
        command.arguments(self)
        shared = self.add_argument_group("always")
        shared.add_argument("--json", action="store_true", help="print one JSON document")
        shared.add_argument("-h", "--help", action="store_true", help="print this help")

    def error(self, message: str) -> NoReturn:
        """Raise what argparse would print, with the argument it is about as the key."""
        key, colon, what = message.removeprefix("argument ").partition(": ")
        if message.startswith("argument ") and colon:
            raise usage_error(what, self.prog, key=key)
        raise usage_error(message, self.prog)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a value that is none of the choices, naming the one that may be meant."""
        choices = tuple(map(str, action.choices or ()))
        if choices and value not in choices:
            asked = did_you_mean(str(value), choices)
            listed = ", ".join(choices)
            what = f"{str(value)[:40]!r} is not one of its values ({listed}){asked}"
            raise self._refused(argparse.ArgumentError(action, what), str(value))

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        """Read a word, which the error has as its value if it is refused."""
        try:
            return super()._get_value(action, arg_string)
        except argparse.ArgumentError as error:
            raise self._refused(error, arg_string) from None

    def _refused(self, error: argparse.ArgumentError, value: str) -> InputError:
        return usage_error(error.message, self.prog, key=error.argument_name, value=value)

    def _refuse_unknown_options(self, words: Sequence[str]) -> None:
        """Refuse the first option that this command does not have, naming the nearest one."""
        options = [option for option in self._option_string_actions if option.startswith("--")]
        for word in words:
            option = word.partition("=")[0]
            if option.startswith("--") and " " not in word and option not in options:
                asked = did_you_mean(option, options)
                message = f"is no option of {self.prog}{asked}"
                raise usage_error(message, self.prog, key=option[:40])

    @property
    def ending(self) -> str:
        """The text below the options: the notes on the command, and its examples."""
        from flow.cli.manual import examples, fill

        parts = (fill(self._notes), examples(self.prog))
        return "\n\n".join(part for part in parts if part)

    def format_help(self) -> str:
        """The help, in at most 80 columns."""
        return "\n\n".join(filter(None, [super().format_help().rstrip("\n"), self.ending])) + "\n"

    def parse(self, words: Sequence[str]) -> argparse.Namespace:
        """The arguments; options may stand before, between and after the others."""
        before = words[: words.index("--") if "--" in words else None]
        for word in before:
            option, _, value = word.partition("=")
            if option.startswith("-") and value == "--":  # argparse makes an empty list of it
                raise usage_error("'--' is no value", self.prog, key=option)
        self._refuse_unknown_options(before)
        if "--" not in words and any(word.startswith("-") for word in words):
            return self.parse_intermixed_args(words)
        return self.parse_args(words)


def _formatter(prog: str) -> argparse.HelpFormatter:
    # With a width given, argparse does not import shutil to ask for one.
    return argparse.HelpFormatter(prog, max_help_position=24, width=80)
