"""Where a command's words go: results to standard output, everything else to standard error."""

from __future__ import annotations

import json
import os
import sys

from flow.adapters.process.speaker import is_terminal
from flow.core.text.display import visible
from flow.errors import ALL, PersonNeeded, StorageError, cut_list
from flow.startup.typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from flow.errors import FlowError

_STYLES = {"good": "32", "bad": "31", "warn": "33", "dim": "2", "bold": "1"}


class Output:
    """One command's output. With ``json`` standard output gets exactly one JSON document."""

    def __init__(self, *, json: bool, environ: Mapping[str, str]) -> None:
        self.json = json
        self._answered = False
        self.environ = environ
        self.colour = (
            not json
            and is_terminal(sys.stdout)
            and not environ.get("NO_COLOR")
            and environ.get("TERM") != "dumb"
        )

    @property
    def indent(self) -> int | None:
        """How deep JSON is indented: for a person who looks at it, and not for a program."""
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

    def text(self, text: str) -> None:
        """Print lines of Flow's own (help, a schema) as they are."""
        self._write(sys.stdout, text if text.endswith("\n") else text + "\n")

    def say(self, *lines: str) -> None:
        """A message for whoever is watching. Control characters in it are escaped."""
        self._write(sys.stderr, "".join(f"{visible(line)}\n" for line in lines))

    def tell(self, lines: Iterable[str]) -> None:
        """Lines that a renderer made, for whoever is watching: with their colours, as they are."""
        self._write(sys.stderr, "".join(f"{line}\n" for line in lines))

    @property
    def columns(self) -> int:
        """How wide the terminal is that questions are asked at."""
        try:
            return os.get_terminal_size(sys.stderr.fileno()).columns or 80
        except (OSError, ValueError, AttributeError):
            return 80

    def warn(self, warnings: Iterable[str]) -> None:
        """Warnings, one a line. A JSON document names them itself."""
        if not self.json:
            self.say(*(f"flow: warning: {warning}" for warning in cut_list(list(warnings), ALL)))

    def error(self, error: FlowError) -> int:
        """Report an error the way this call wants it; returns its exit status."""
        if self.json and not self._answered:
            self._write(sys.stdout, _json_text({"error": error.to_dict()}, self.indent) + "\n")
        else:
            faults = cut_list([str(fault) for fault in error.faults], ALL)
            self.say(*(f"flow: {fault}" for fault in faults))
        return error.exit_code

    def paint(self, style: str, text: str) -> str:
        """``text`` in a style of ``_STYLES``, at a terminal that wants colour."""
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self.colour and style else text

    def ask(self, question: str) -> str:
        """A person's answer, lower case; empty at the end of the input."""
        self._write(sys.stderr, f"{visible(question)} ")
        answer = sys.stdin.readline()
        if not answer.endswith("\n"):
            self._write(sys.stderr, "\n")
        return answer.strip().lower()

    def need_yes(self, question: str, *, yes: bool, how: str) -> None:
        """Go on only with a person's yes: ``--yes``, or the answer to ``question``.

        Raises :class:`PersonNeeded` where nobody can be asked, or the answer is no.
        """
        if yes:
            return
        if not self.can_ask:
            raise PersonNeeded(
                f"this needs a person's yes, and nobody can be asked here: {question}",
                remedy=f"a person runs it at a terminal; a caller who asked one: {how}",
            )
        if self.ask(f"{question} [y/N]") not in ("y", "yes"):
            raise PersonNeeded("not confirmed; nothing was changed", code="declined")

    def _write(self, stream: TextIO | None, text: str) -> None:
        if stream is None:  # the caller closed it
            return
        try:
            stream.write(text)
            stream.flush()
        except BrokenPipeError:
            _silence(stream)  # the reader has seen enough; the exit status stays
        except OSError as error:
            _silence(stream)
            if stream is sys.stdout:
                raise StorageError(
                    f"cannot write to standard output: {error.strerror}",
                    remedy="check where the output goes",
                ) from error


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
    for stream in (sys.stdout, sys.stderr):
        if stream is None or not hasattr(stream, "reconfigure"):
            continue
        try:
            stream.reconfigure(encoding=wanted or stream.encoding, errors="replace")
        except LookupError:
            stream.reconfigure(errors="replace")


def _encoding(environ: Mapping[str, str]) -> str | None:
    """The encoding the environment names; None where it names none (UTF-8 then, PEP 538)."""
    named = environ.get("PYTHONIOENCODING", "").partition(":")[0]
    if named or not sys.flags.utf8_mode:
        return named or None
    for variable in ("LC_ALL", "LC_CTYPE", "LANG"):
        if environ.get(variable):
            codeset = environ[variable].partition("@")[0].partition(".")[2]
            return codeset or None
    return None


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
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "backslashreplace")
    if isinstance(value, dict):
        return {_whole_characters(key): _whole_characters(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole_characters(item) for item in value]
    return value
