"""The words of a helper's call, and its output."""

from __future__ import annotations

import os
import sys

from flow.errors import InputError, StorageError, cut_list
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flow.errors import FlowError

    Options = Mapping[str, Any]


class Helper:
    """One helper: its options (``one`` value, ``many``, or a ``flag``), and its function.

    ``actions`` are the words of which the first argument must be one. (No NamedTuple: making the
    class would take longer than reading the arguments.)
    """

    __slots__ = ("actions", "options", "run", "usage")

    def __init__(
        self,
        usage: str,
        options: Mapping[str, str],
        run: Callable[[Options, str], int],
        actions: tuple[str, ...] = (),
    ) -> None:
        self.usage = usage
        self.options = options
        self.run = run
        self.actions = actions


def read_options(helper: Helper, argv: Sequence[str]) -> dict[str, Any]:
    """The words as a mapping; every fault is an :class:`InputError`.

    Not argparse: loading it takes longer than most helpers run.
    """
    words = list(argv)
    options: dict[str, Any] = {}
    if helper.actions:
        if not words or words[0] not in helper.actions:
            given = f"{words[0]!r:.60} is not" if words else "the first word is missing:"
            raise wrong(f"{given} one of {', '.join(helper.actions)}")
        options["action"] = words.pop(0)
    while words:
        option, equals, value = words.pop(0).partition("=")
        kind = helper.options.get(option)
        if kind is None:
            raise wrong(f"{option!r:.60} is no option")
        if kind == "flag":
            if equals:
                raise wrong(f"{option} takes no value")
            options[option] = True
            continue
        if not equals:
            if not words or words[0].partition("=")[0] in helper.options:
                raise wrong(f"{option} needs a value")
            value = words.pop(0)
        if kind == "many":
            options.setdefault(option, []).append(value)
            # `--metadata a=1 b=2` is as good as naming the option twice.
            while not equals and words and not words[0].startswith("--"):
                options[option].append(words.pop(0))
        elif option in options:
            raise wrong(f"{option} is given twice")
        else:
            options[option] = value
    return options


def wrong(message: str) -> InputError:
    """A wrong call."""
    return InputError(message, code="usage", remedy="--help tells the options")


def need(options: Options, *names: str) -> list[str]:
    """The values of options that must be there."""
    missing = [name for name in names if not options.get(name)]
    if missing:
        raise wrong(f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing")
    return [options[name] for name in names]


def say(line: str) -> None:
    """A message on standard error."""
    write(sys.stderr, visible(line))


def answer(text: str) -> None:
    """An asked-for answer on standard output."""
    write(sys.stdout, "\n".join(visible(line) for line in text.split("\n")))


def answer_path(path: str) -> None:
    """A path on standard output: byte by byte for a program, made visible at a terminal."""
    stream = sys.stdout
    if stream is None or stream.isatty() or not hasattr(stream, "reconfigure"):
        answer(path)
        return
    stream.reconfigure(encoding=sys.getfilesystemencoding(), errors="surrogateescape")
    write(stream, path)


def in_json(path: str) -> str:
    """A path that every JSON reader takes: bytes that are no UTF-8 are made visible."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return visible(path)
    return path


def visible(line: str) -> str:
    """One line without control characters."""
    if line.isascii() and line.isprintable():
        return line  # the usual case, without loading anything
    from flow.core.text import display

    return display.visible(line)


def write(stream: Any, text: str) -> None:
    """Write a line; a reader that has gone away changes nothing."""
    if stream is None:
        return
    try:
        stream.write(text + "\n")
        stream.flush()
    except OSError as error:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
        # An unreadable message changes nothing; an answer that was asked for must arrive.
        if stream is sys.stdout and not isinstance(error, BrokenPipeError):
            raise StorageError(
                f"cannot write to standard output: {error.strerror}",
                remedy="check where the output goes",
            ) from error


def report_error(name: str, error: FlowError) -> None:
    """Every fault of an error, a line each."""
    for fault in cut_list([str(fault) for fault in error.faults], "correct these first"):
        say(f"{name}.sh: {fault}")
