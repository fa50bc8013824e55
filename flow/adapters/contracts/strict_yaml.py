"""The strict YAML reader (SPEC 1): YAML 1.2 core types from PyYAML's event stream.

PyYAML's own constructor is not used: it is a YAML 1.1 one (``no`` is false, ``010`` is 8), keeps
the last of two equal keys, follows aliases and passes on any error of ``int`` or ``datetime`` for a
value. Here every fault is a :class:`ContractError` that names the file, the key path or line, and
the remedy.
"""

from __future__ import annotations

from itertools import islice

from flow.adapters.contracts import c_yaml
from flow.adapters.contracts.text import (
    DEPTH,
    LARGEST,
    LIMIT,
    MOST_FAULTS,
    dotted_path,
    one_line,
    refuse_encoding,
)
from flow.core.text.display import is_utf8
from flow.errors import ContractError, Fault, in_file
from flow.startup import json, re
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flow.adapters.contracts.text import Path

_RAW = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|\r(?!\n)"
"""Not allowed in the text: control characters, and characters that only some readers take for line
ends.
"""
_IN_NUMBERS = "-+.0123456789abcdefABCDEFoxinINF"
"""Every character that some number has."""
_BASED = r"0o[0-7]+|0x[0-9a-fA-F]+"
_FLOAT = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
_NOT_FINITE = r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
_WORDS: dict[str, bool | None] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}


_ESCAPE = rb"\\(?:u([dD][89abAB]..)\\u([dD][c-fC-F]..)|.)"
"""An escape in JSON; both groups of a pair of surrogates, of any other one none."""


class ParsedYaml(NamedTuple):
    """A file's document, and every fault that did not stop the reading.

    ``broken`` holds the paths whose value could not be taken as it is written; they hold None.
    """

    document: Any
    faults: tuple[Fault, ...]
    broken: frozenset[Path]


_handed_on: dict[bytes, ParsedYaml] = {}
"""At most one text that was just read, and its reading: for its next reader."""


def hand_on(data: bytes, reading: ParsedYaml) -> None:
    """Let :func:`handed_on` return this reading of ``data``; the caller must not keep it."""
    _handed_on.clear()
    _handed_on[data] = reading


def handed_on(data: bytes) -> ParsedYaml | None:
    """The reading of exactly these bytes, once; None if another text was read last."""
    return _handed_on.pop(data, None)


class NumberFault(ValueError):
    """A number that Flow does not accept; the text says why."""


def plain_value(text: str) -> str | int | float | bool | None:
    """The value of a plain scalar in YAML 1.2; raises :class:`NumberFault`.

    A number with a leading zero stays text: it is octal to one reader and decimal to the next.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "-+.0123456789" or text.strip(_IN_NUMBERS):
        return text
    digits = text[text[0] in "-+" :]
    if digits.isdigit():  # only ASCII digits: of other digits none passes the check above
        if len(digits) > 1 and digits[0] == "0":
            return text
        return _whole_number(text, 10)
    if re.fullmatch(_BASED, text):
        return _whole_number(text, 0)
    if re.fullmatch(_FLOAT, text):
        number = float(text)
        if number in (float("inf"), float("-inf")):
            raise NumberFault("is too large for a number")
        return number
    if re.fullmatch(_NOT_FINITE, text):
        raise NumberFault("is not a finite number")
    return text


def _is_writable(text: str) -> bool:
    """Whether it holds no NUL and no half of a character."""
    return "\0" not in text and is_utf8(text)


def _whole_number(text: str, base: int) -> int:
    # The length is checked first: int() refuses thousands of digits with an error of its own.
    number = int(text, base) if len(text) <= 32 else LARGEST + 1
    if not -LARGEST <= number <= LARGEST:
        raise NumberFault("is not within -2^53 and 2^53")
    return number


def decode_text(data: bytes, *, file: str, what: str, limit: int = LIMIT) -> str:
    """The file's text; :class:`ContractError` for anything but plain UTF-8 text."""
    refuse_encoding(data, file=file, what=what, limit=limit)
    text = data.decode("utf-8")
    if text.replace("\n", "").isprintable():  # most are, and none of those characters is
        return text
    faults = [
        in_file(file, f"line {text.count(chr(10), 0, control.start()) + 1}", control.group()).fault(
            f"holds the control character U+{ord(control.group()):04X}",
            "write it as an escape in double quotes, or take it out",
        )
        for control in islice(re.finditer(_RAW, text), 20)
    ]
    if faults:
        raise ContractError(faults)
    return text


def with_whole_characters(data: bytes) -> bytes:
    r"""JSON with each escaped pair of surrogates as the character that it means; else ``data``.

    JSON, which is YAML, has no other escape for an emoji than ``\ud83d\ude00``, and many programs
    write no character beyond ASCII. PyYAML reads no half of a character.
    """
    if data.lstrip()[:1] != b"{" or not re.search(rb"\\u[dD]", data):
        return data
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return data
    return re.sub(_ESCAPE, _whole_character, data)


def _whole_character(escape: re.Match[bytes]) -> bytes:
    if escape[1] is None:
        return escape[0]
    high, low = int(escape[1], 16) & 0x3FF, int(escape[2], 16) & 0x3FF
    return chr(0x10000 + (high << 10) + low).encode("utf-8")


def new_parser(text: str) -> Any:
    """PyYAML's event parser: the C one, or the pure one if PyYAML was built without."""
    try:
        c_parser = c_yaml.parser()
    except ImportError:
        return _pure_parser(text)
    return c_parser(text)


def _pure_parser(text: str) -> Any:
    from yaml.parser import Parser
    from yaml.reader import Reader
    from yaml.scanner import Scanner

    class PureParser(Reader, Scanner, Parser):
        def __init__(self) -> None:
            Reader.__init__(self, text)
            Scanner.__init__(self)
            Parser.__init__(self)

    return PureParser()


def yaml_events(text: str, *, file: str) -> Iterator[Any]:
    """The text's YAML events; :class:`ContractError` if it is not YAML."""
    try:
        parser = new_parser(text)
        while (event := parser.get_event()) is not None:
            yield event
    except _yaml_error() as error:
        raise ContractError([_syntax_fault(error, file)]) from None
    except (ValueError, OverflowError) as error:  # the pure parser raises those of chr(), int()
        raise in_file(file).corrupt(f"is not valid YAML: {error}", "correct the escape") from None


def _yaml_error() -> type[Exception]:
    """The class of PyYAML's errors; its module is loaded once a parser was made."""
    from yaml.error import YAMLError

    return YAMLError


def _syntax_fault(error: Any, file: str) -> Fault:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    why = getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be parsed"
    return in_file(file, f"line {mark.line + 1}, column {mark.column + 1}" if mark else None).fault(
        f"is not valid YAML: {why}", "correct the line; a text with ': ' or ' #' in it needs quotes"
    )


def read_yaml(
    data: bytes,
    *,
    file: str,
    what: str = "YAML file",
    limit: int = LIMIT,
    most_values: int = LIMIT,
) -> ParsedYaml:
    """Read one mapping. Faults of syntax, size and depth are raised, all others returned."""
    text = decode_text(data, file=file, what=what, limit=limit)
    return _Builder(yaml_events(text, file=file), file, what, most_values).read()


class _Builder:
    def __init__(self, stream: Iterator[Any], file: str, what: str, most_values: int) -> None:
        self.next = stream.__next__
        self.file = file
        self.what = what
        self.faults: list[Fault] = []
        self.broken: set[Path] = set()
        self.values_left = most_values

    def read(self) -> ParsedYaml:
        self.next()  # the stream's start
        start = self.next()
        kind = type(start).__name__
        if kind == "StreamEndEvent":
            self.stop("it is empty")
        if start.version not in (None, (1, 2)):
            self.stop(f"it says it is YAML {start.version[0]}.{start.version[1]}, Flow reads 1.2")
        first = self.next()
        kind = type(first).__name__
        if kind == "ScalarEvent" and first.tag is None:
            blank = first.value == "" and first.style in (None, "")
            self.stop("it is empty" if blank else f"it holds only {one_line(first.value)}")
        if kind == "SequenceStartEvent":
            self.stop("it is a list")
        document = self.value(first, (), 1)
        self.next()  # the document's end
        if type(self.next()).__name__ != "StreamEndEvent":
            self.stop("it holds more than one document")
        return ParsedYaml(document, tuple(self.faults), frozenset(self.broken))

    def stop(self, why: str) -> None:
        fault = in_file(self.file).fault(
            f"not a {self.what}: {why}", "it has to be one YAML mapping of keys and values"
        )
        raise ContractError([*self.faults, fault])

    def fault(
        self, event: Any, path: Path, message: str, remedy: str, value: object = None
    ) -> None:
        self.faults.append(
            in_file(self.file, dotted_path(path) or None, value).fault(
                f"{message} (line {event.start_mark.line + 1})", remedy
            )
        )
        if len(self.faults) >= MOST_FAULTS:
            more = "has more faults than are listed here"
            self.faults.append(in_file(self.file).fault(more, "correct these first"))
            raise ContractError(self.faults)

    def value(self, event: Any, path: Path, depth: int) -> Any:
        kind = type(event).__name__
        self.values_left -= 1
        if self.values_left < 0:
            self.stop("it holds too many values")
        if kind == "AliasEvent":
            self.broken.add(path)
            self.fault(
                event, path, f"is the alias *{one_line(event.anchor)[1:-1]}", "write the value out"
            )
            return None
        if event.anchor is not None:
            self.fault(
                event, path, f"has the anchor &{one_line(event.anchor)[1:-1]}", "take it out"
            )
        if event.tag is not None:
            self.broken.add(path)
            self.fault(
                event, path, f"has the tag {one_line(event.tag)}", "take the tag out", event.tag
            )
        if kind == "ScalarEvent":
            return self.scalar(event, path)
        if depth > DEPTH:
            self.fault(event, path, f"nests deeper than {DEPTH} levels", "make it flatter")
            raise ContractError(self.faults)
        if kind == "MappingStartEvent":
            return self.mapping(path, depth)
        items: list[Any] = []
        while type(event := self.next()).__name__ != "SequenceEndEvent":
            items.append(self.value(event, (*path, len(items)), depth + 1))
        return items

    def mapping(self, path: Path, depth: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        lines: dict[str, int] = {}
        while type(event := self.next()).__name__ != "MappingEndEvent":
            key = self.key(event, path, depth)
            if key is None:
                self.value(self.next(), (*path, "?"), depth + 1)
                continue
            here = (*path, key)
            value = self.value(self.next(), here, depth + 1)
            if key in lines:
                self.fault(
                    event, here, f"is given twice, first on line {lines[key]}", "keep one of them"
                )
                continue
            lines[key] = event.start_mark.line + 1
            values[key] = value
        return values

    def key(self, event: Any, path: Path, depth: int) -> str | None:
        """A mapping's key; None if it is invalid (the fault is noted)."""
        if type(event).__name__ != "ScalarEvent":
            self.value(event, (*path, "?"), depth + 1)
            if type(event).__name__ != "AliasEvent":
                self.fault(event, path, "has a key that is no text", "use plain words as keys")
            return None
        text: str = event.value
        if event.tag is not None or event.anchor is not None:
            self.fault(event, (*path, text), "has a tag or an anchor on its key", "take it out")
            return None
        if event.implicit[0] and event.style in (None, ""):
            if text == "<<":
                self.fault(event, (*path, text), "is a merge key", "write the keys out", text)
                return None
            if not _is_text(text):
                self.fault(
                    event,
                    (*path, text),
                    f"{one_line(text)[1:-1]} is no text as a key",
                    "put it in quotes",
                )
                return None
        elif not _is_writable(text):
            self.fault(event, (*path, text), "holds a NUL or half a character", "take it out")
            return None
        return text

    def scalar(self, event: Any, path: Path) -> Any:
        text: str = event.value
        if event.tag is not None:
            return None
        if event.style in (None, ""):
            try:
                return plain_value(text)
            except NumberFault as error:
                self.broken.add(path)
                self.fault(
                    event,
                    path,
                    f"{one_line(text)[1:-1]} {error}",
                    "correct it, or put it in quotes",
                    text,
                )
                return None
        if event.style == '"' and not _is_writable(text):
            self.broken.add(path)
            self.fault(
                event,
                path,
                f"{one_line(text)} holds a NUL or half a character",
                "take it out",
                text,
            )
            return None
        return text


def _is_text(text: str) -> bool:
    try:
        return isinstance(plain_value(text), str)
    except NumberFault:
        return False
