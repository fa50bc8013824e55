"""A command's output: results to standard output, everything else to standard error."""

from __future__ import annotations

import os
import sys
import time
from io import TextIOWrapper

from flow.adapters.process.speaker import is_terminal
from flow.core.text.display import visible
from flow.core.text.locale import locale_named, wants_ascii
from flow.errors import ALL_IN_JSON, FlowError, PersonNeeded, StorageError, cut_list
from flow.render.screen import Screen
from flow.startup import json
from flow.startup.typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


_SHOWN = "✓◐⊘…─“"
"""Characters of a screen's marks and rules; an encoding without them gets plain ones."""


class Output:
    """One command's output. With ``json`` standard output gets exactly one JSON document."""

    def __init__(self, *, json: bool, environ: Mapping[str, str]) -> None:
        self.json = json
        self._answered = False
        self.is_read = True
        """Whether the reading end of an output is still open."""
        self.environ = environ
        self.screen = Screen() if json else screen_of(sys.stdout, environ)

    @property
    def indent(self) -> int | None:
        """Indentation of JSON: some for a person who reads it, None for a program."""
        return 2 if is_terminal(sys.stdout) else None

    @property
    def can_ask(self) -> bool:
        """Whether a person can be asked here and now."""
        return not self.json and is_terminal(sys.stdin) and is_terminal(sys.stderr)

    def result(self, document: Any, lines: Iterable[str]) -> None:
        """Print the command's answer: the document with ``--json``, the lines otherwise."""
        if self.json:
            self._answered = True  # an interrupt behind it adds no second document
            self._write(sys.stdout, _json_text(document, self.indent) + "\n")
        else:
            self._write(sys.stdout, "".join(f"{line}\n" for line in lines))

    def line(self, document: Any, line: str) -> None:
        """One of many answers: the document on one line with ``--json``, the line otherwise."""
        self._write(sys.stdout, (_json_text(document, None) if self.json else line) + "\n")

    def text(self, text: str) -> None:
        """Print lines of Flow's own (help, a schema) as they are."""
        self._write(sys.stdout, text if text.endswith("\n") else text + "\n")

    def say(self, *lines: str) -> None:
        """Print a message to standard error. Control characters in it are escaped."""
        self._write(sys.stderr, "".join(f"{visible(line)}\n" for line in lines))

    def tell(self, lines: Iterable[str]) -> None:
        """Print a renderer's lines to standard error as they are, with their colours."""
        self._write(sys.stderr, "".join(f"{line}\n" for line in lines))

    def prompt(self, text: str) -> None:
        """Print a renderer's text without a line's end; the answer, or a result, follows it."""
        self._write(sys.stderr, text)

    def warn(self, warnings: Iterable[str]) -> None:
        """Warnings, one a line; the same one about several criteria is one. JSON has them all."""
        told = list(warnings)
        if told and not self.json:
            from flow.render.text import grouped_warnings  # most commands warn of nothing

            together = grouped_warnings(told)
            self.say(*(f"flow: warning: {warning}" for warning in cut_list(together, ALL_IN_JSON)))

    def error(self, error: FlowError) -> int:
        """Report an error the way this call wants it; returns its exit status."""
        if self.json and not self._answered:
            self._write(sys.stdout, _json_text({"error": error.to_dict()}, self.indent) + "\n")
        else:
            faults = cut_list([str(fault) for fault in error.faults], ALL_IN_JSON)
            self.say(*(f"flow: {fault}" for fault in faults))
        return error.exit_code

    @property
    def asking(self) -> Screen:
        """Abilities of the terminal that questions are asked at."""
        return screen_of(sys.stderr, self.environ)

    def ask(self, question: str) -> str:
        """A person's answer, lower case; empty at the end of the input."""
        return self.ask_line(question).lower()

    def ask_line(self, question: str) -> str:
        """A person's answer as typed, less blanks around it; empty at the end of the input."""
        return self._typed_line(question).strip()

    def ask_or_leave(self) -> str:
        """As :meth:`ask`, at a ``>``; raises :class:`PersonNeeded` at the end of the input."""
        answer = self._typed_line(">")
        if not answer:
            raise PersonNeeded("nothing was written", code="declined")
        return answer.strip().lower()

    def _typed_line(self, question: str) -> str:
        style = "person" if question != ">" else ""  # before a ">" the question stands above it
        self._write(sys.stderr, f"{self.asking.paint(style, visible(question))} ")
        answer = sys.stdin.readline()
        if not answer.endswith("\n"):
            self._write(sys.stderr, "\n")
        return answer

    def forget_typed(self) -> None:
        """Drop the typed input so far: only a yes that follows the question counts."""
        import termios  # few commands ask

        try:
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
        except (OSError, ValueError, termios.error):  # it is no terminal any more
            return

    def need_yes(self, question: str, *, yes: bool, how: str) -> None:
        """Go on only with a person's yes: ``--yes``, or the answer to ``question``.

        Raises :class:`PersonNeeded` without a terminal to ask at, or for a no.
        """
        if yes:
            return
        if not self.can_ask:
            raise PersonNeeded(
                f"this needs a person's yes, and nobody can be asked here: {question}",
                remedy=f"a person runs it at a terminal; a caller who asked one: {how}",
            )
        self.forget_typed()
        if self.ask(f"{question} [y/N]") not in ("y", "yes"):
            raise PersonNeeded("not confirmed; nothing was changed", code="declined")

    def wait(self, seconds: float) -> bool:
        """Wait; returns False, and at once, if standard output has no reader any more."""
        import select

        if not self.is_read:
            return False
        other_end = select.poll()
        other_end.register(1, 0)  # a pipe's reader that has gone is told in any case
        self.is_read = not other_end.poll(seconds * 1000)
        return self.is_read

    def _write(self, stream: TextIO | None, text: str) -> None:
        if stream is None:  # the caller closed it
            return
        try:
            stream.write(text)
            stream.flush()
        except BrokenPipeError:
            self.is_read = False
            _silence(stream)  # the reader has seen enough; the exit status stays
        except OSError as error:
            _silence(stream)
            if stream is sys.stdout:
                raise StorageError(
                    f"cannot write to standard output: {error.strerror}",
                    remedy="check where the output goes",
                ) from error


def screen_of(stream: TextIO | None, environ: Mapping[str, str]) -> Screen:
    """The abilities of ``stream``, by its terminal, its encoding and the user's wishes.

    ``NO_COLOR`` turns colours off, ``FORCE_COLOR`` turns them on without a terminal, too, and
    ``COLUMNS`` is the width of a terminal that does not give its own.
    """
    at_terminal = is_terminal(stream)
    dumb = environ.get("TERM", "dumb" if at_terminal else "") == "dumb"
    forced = environ.get("FORCE_COLOR", "0") not in ("", "0")
    return Screen(
        columns=_columns(stream, environ) if at_terminal else None,
        colour=not environ.get("NO_COLOR") and (forced or (at_terminal and not dumb)),
        unicode=not dumb and not wants_ascii(environ) and _has(stream),
        now=time.time(),
    )


def _columns(stream: TextIO | None, environ: Mapping[str, str]) -> int:
    try:
        columns = os.get_terminal_size(stream.fileno()).columns if stream is not None else 0
    except (OSError, ValueError, AttributeError):
        columns = 0
    named = environ.get("COLUMNS", "")
    return columns or (int(named) if named.isdecimal() and len(named) < 5 else 0) or 80


def height_of(stream: TextIO | None) -> int:
    """The number of lines of the stream's terminal; 24 if it does not tell."""
    try:
        return (os.get_terminal_size(stream.fileno()).lines if stream is not None else 0) or 24
    except (OSError, ValueError):
        return 24


def _has(stream: TextIO | None) -> bool:
    try:
        _SHOWN.encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeError, LookupError):
        return False
    return True


def prepare_streams(environ: Mapping[str, str]) -> None:
    """Make text output safe: what the other side cannot show is replaced, never raised.

    A standard stream that the caller closed leads to ``/dev/null``: otherwise the next file that is
    opened would take its number, and get what was meant for the stream.

    ``bin/flow`` runs in UTF-8 mode and isolated, so a wish for another encoding is read here.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number
    wanted = _encoding(environ)
    if is_terminal(sys.stdin) and isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # a person's answer
    for stream in (sys.stdout, sys.stderr):
        if stream is None or not hasattr(stream, "reconfigure"):
            continue
        try:
            stream.reconfigure(encoding=wanted or stream.encoding, errors="replace")
        except LookupError:
            stream.reconfigure(errors="replace")


def _encoding(environ: Mapping[str, str]) -> str | None:
    """The encoding the environment names; None if it names none (UTF-8 then, PEP 538)."""
    named = environ.get("PYTHONIOENCODING", "").partition(":")[0]
    if named or not sys.flags.utf8_mode:
        return named or None
    return locale_named(environ).partition("@")[0].partition(".")[2] or None


def _silence(stream: TextIO) -> None:
    """Let everything that is written from now on vanish, at the interpreter's end too."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


def _json_text(document: Any, indent: int | None) -> str:
    text = json.dumps(document, indent=indent)
    if "\\ud" in text:  # undecodable bytes of file names: no JSON reader wants lone surrogates
        text = json.dumps(_whole_characters(document), indent=indent)
    return text


def _whole_characters(value: Any) -> Any:
    if isinstance(value, str):
        paired = value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        return "".join(visible(c) if "\ud800" <= c <= "\udfff" else c for c in paired)
    if isinstance(value, dict):
        return {_whole_characters(key): _whole_characters(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole_characters(item) for item in value]
    return value
