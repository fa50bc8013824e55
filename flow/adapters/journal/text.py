"""The text of a journal's front matter: the form of values, and the place of an artifact.

Pure functions over strings. Strings are written plain if every YAML reader takes them for strings,
else as JSON with YAML's escapes, so that the content of a value can never become structure.
"""

from __future__ import annotations

from flow.adapters.contracts import dump
from flow.core.text.display import double_quoted
from flow.errors import at_key
from flow.startup import json, re
from flow.startup.functools import lru_cache
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_LOWER, _UPPER, _DIGITS = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
_NAME_LIMIT = 64
INTEGER_LIMIT = 1 << 53

# Readers of YAML 1.1 and 1.2 both take these for strings, except the words.
_WORDS = ("y", "n", "yes", "no", "on", "off", "true", "false", "null", ".inf", ".nan")
_QUOTED = (
    r'"(?:[^"\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]'
    r'|\\["\\nrt]|\\x(?!00)[0-9a-f]{2}|\\u(?!0000|d[89a-f])[0-9a-f]{4}|\\U00(?:0[1-9a-f]|10)[0-9a-f]{4})*"'
)
_WHOLE_DIGITS, _DECIMAL_DIGITS = 15, 10
_LIST = rf"\[(?:{_QUOTED}(?:, {_QUOTED})*)?\]"
_KEY_LINE = r"(?:artifacts|\"artifacts\"|'artifacts')[ \t]*:(?=[ \t\r\n])"
_TRIES = 20


def is_type(name: str) -> bool:
    """Whether an artifact's type may have this name: ``[a-z][a-z0-9-]{0,63}``.

    This function and the next ones are patterns, read without loading ``re``, which takes as long
    as a start.
    """
    return _consists_of(name, _LOWER, _LOWER + _DIGITS + "-") and len(name) <= _NAME_LIMIT


def is_field(name: str) -> bool:
    """Whether a field may have this name: ``[A-Za-z][A-Za-z0-9_-]{0,63}``."""
    letters = _LOWER + _UPPER
    return _consists_of(name, letters, letters + _DIGITS + "_-") and len(name) <= _NAME_LIMIT


def _consists_of(text: str, first: str, rest: str) -> bool:
    return text[:1] in first and text != "" and not text.strip(rest)


def clean(name: str, value: Any) -> Any:
    """``value`` as a journal can hold it; :class:`InputError` if it cannot.

    Lone surrogates (file names that are not UTF-8) and NUL, which the strict reader refuses, become
    visible escapes.
    """
    if isinstance(value, str):
        return value.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int) and abs(value) <= INTEGER_LIMIT:
        return value
    if isinstance(value, float) and abs(value) < 1e300:
        return value
    if isinstance(value, (list, tuple)) and all(isinstance(part, str) for part in value):
        return [clean(name, part) for part in value]
    raise at_key(name, value).invalid(
        f"a journal cannot hold {type(value).__name__} {value!r:.60}",
        "use a text, a number or a list of texts",
    )


def scalar(value: Any) -> str:
    """One value as YAML on one line."""
    if isinstance(value, str):
        return value if _is_plain(value) else double_quoted(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(double_quoted, value)) + "]"
    return dump.scalar(value)


def _is_plain(text: str) -> bool:
    r"""Whether it is ``(?:[A-Za-z_]|\.[A-Za-z])[A-Za-z0-9_./-]*``, and no word of YAML."""
    letters, start = _LOWER + _UPPER, text.removeprefix(".")
    first = letters if start != text else letters + "_"
    plain = _consists_of(start, first, letters + _DIGITS + "_./-")
    return plain and text.lower() not in _WORDS


def _is_number(text: str) -> bool:
    r"""Whether it is ``0|-?[1-9][0-9]{0,14}|-?(?:0|[1-9][0-9]{0,9})\.[0-9]{1,10}``."""
    whole, dot, decimals = text.removeprefix("-").partition(".")
    if not _consists_of(whole, _DIGITS, _DIGITS) or (whole[0] == "0" and whole != "0"):
        return False
    if not dot:
        return len(whole) <= _WHOLE_DIGITS and (whole != "0" or text == "0")
    ends = _consists_of(decimals, _DIGITS, _DIGITS) and len(decimals) <= _DECIMAL_DIGITS
    return ends and len(whole) <= _DECIMAL_DIGITS


def front_matter(
    issue: int | None, now: str, branch: str | None, entry: Mapping[str, Any], newline: str
) -> str:
    """A whole front matter with one artifact, both ``---`` lines included."""
    lines = ["---", f"issue: {scalar(issue)}", f"created: {scalar(now)}"]
    if branch is not None:
        lines.append(f"branch: {scalar(clean('branch', branch))}")
    head = newline.join([*lines, "artifacts:", ""])
    return f"{head}{block_item(entry, 2, newline)}---{newline}"


def block_item(entry: Mapping[str, Any], indent: int, newline: str) -> str:
    """The artifact as an entry of a block list whose dashes are at column ``indent``."""
    lines = [f"{scalar(name)}: {scalar(value)}" for name, value in entry.items()]
    first, rest = f"{' ' * indent}- ", " " * (indent + 2)
    return "".join(
        f"{rest if number else first}{line}{newline}" for number, line in enumerate(lines)
    )


def flow_item(entry: Mapping[str, Any]) -> str:
    """The artifact as an entry of a list in brackets."""
    fields = (
        f"{scalar(name)}: {double_quoted(value) if isinstance(value, str) else scalar(value)}"
        for name, value in entry.items()
    )
    return "{" + ", ".join(fields) + "}"


class Canonical(NamedTuple):
    """Front matter in the very form Flow writes; values are still text."""

    top: tuple[tuple[str, str], ...]
    items: tuple[tuple[tuple[str, str], ...], ...]

    def has_key(self, key: str) -> bool:
        """Whether an artifact has this ``key``."""
        return any(
            name == "key" and value_of(text) == key for item in self.items for name, text in item
        )

    def document(self) -> dict[str, Any]:
        """The front matter as a YAML reader would return it."""
        document: dict[str, Any] = {name: value_of(text) for name, text in self.top}
        document["artifacts"] = [
            {name: value_of(text) for name, text in item} for item in self.items
        ]
        return document


@lru_cache(maxsize=1)
def canonical(front: str) -> Canonical | None:
    """The front matter's parts, if every line is one that Flow writes; None otherwise.

    A small part of YAML: keys, then ``artifacts:`` with at least one entry, one value a line.
    Reading it this way is exact (a test compares it with the YAML reader) and needs no YAML
    library. The last text is remembered: it is read before a change and during it.
    """
    newline = "\r\n" if front.endswith("\r\n") else "\n"
    lines = front.split(newline)
    if lines.pop() != "" or "artifacts:" not in lines:
        return None
    split = lines.index("artifacts:")
    top: dict[str, str] = {}
    for line in lines[:split]:
        name, value = _entry(line)
        if not name or name in top or name == "artifacts":
            return None
        top[name] = value
    items: list[dict[str, str]] = []
    for line in lines[split + 1 :]:
        if line.startswith("  - "):
            items.append({})
        elif not line.startswith("    "):
            return None
        name, value = _entry(line[4:])
        if not name or not items or name in items[-1]:
            return None
        items[-1][name] = value
    if not items:
        return None
    return Canonical(tuple(top.items()), tuple(tuple(item.items()) for item in items))


def _entry(line: str) -> tuple[str, str]:
    """The name and the value of a line ``name: value``; both empty if Flow writes no such line."""
    written, _, value = line.partition(": ")
    name = written[1:-1] if written[:1] + written[-1:] == '""' else written
    is_word = name.lower() in _WORDS
    if (written != name) != is_word or not (is_word or is_field(name)):
        return "", ""
    return (name, value) if _is_value(value) else ("", "")


def _is_value(text: str) -> bool:
    """Whether Flow writes a value like that.

    Everyday texts need no pattern: compiling takes long. For a printable value in quotes, only its
    quotes and escapes are checked.
    """
    first = text[:1]
    if first == '"':
        return _is_simple_quoted(text) or re.fullmatch(_QUOTED, text) is not None
    if first == "[":
        return (
            text == "[]"
            or (text[-1] == "]" and all(map(_is_simple_quoted, text[1:-1].split(", "))))
            or re.fullmatch(_LIST, text) is not None
        )
    if first in "-0123456789":
        return _is_number(text)
    return text in ("true", "false", "null") or _is_plain(text)


def _is_simple_quoted(text: str) -> bool:
    inner = text[1:-1]
    return text == f'"{inner}"' and inner.isprintable() and '"' not in inner and "\\" not in inner


def value_of(text: str) -> Any:
    """The value of one canonical line."""
    if text[0] == "[":
        return [_unquoted(part) for part in re.findall(_QUOTED, text)]
    if text[0] == '"':
        return _unquoted(text)
    if text in ("true", "false", "null") or text[0] in "-0123456789":
        return json.loads(text)
    return text


def _unquoted(text: str) -> str:
    def plain(match: re.Match[str]) -> str:
        escape = match[0][1:]
        if escape[0] in "xuU":
            return chr(int(escape[1:], 16))
        return {"n": "\n", "r": "\r", "t": "\t"}.get(escape, escape)

    if "\\" not in text:
        return text[1:-1]
    return re.sub(r"(?s)\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|.)", plain, text[1:-1])


def candidates(front: str, entry: Mapping[str, Any], newline: str) -> Iterator[str]:
    """Texts that may be the front matter with the entry added; the caller parses each to find out.

    Every one keeps all lines as they are, except a list in brackets, whose own line must change.
    """
    lines = [f"{line}\n" for line in front.split("\n")[:-1]]
    pad = next((line[: len(line) - len(line.lstrip(" "))] for line in lines if _content(line)), "")
    keys = [n for n, line in enumerate(lines) if re.match(re.escape(pad) + _KEY_LINE, line)]
    if not keys:
        indent = len(pad) + 2
        yield f"{front}{pad}artifacts:{newline}{block_item(entry, indent, newline)}"
    for start in keys[:_TRIES]:
        stop = start + 1
        while stop < len(lines) and not _ends_value(lines[stop], len(pad)):
            stop += 1
        dashes = (re.match(r"( *)-[ \t\r\n]", line) for line in lines[start + 1 : stop])
        indent = next((len(match[1]) for match in dashes if match), len(pad) + 2)
        item = block_item(entry, indent, newline)
        last = max(n for n in range(start, stop) if n == start or _content(lines[n]))
        for place in (last + 1, stop):
            yield "".join((*lines[:place], item, *lines[place:]))
        yield from _in_brackets(lines, start, stop, item, flow_item(entry))


def _in_brackets(lines: list[str], start: int, stop: int, item: str, flow: str) -> Iterator[str]:
    before, after = "".join(lines[:start]), "".join(lines[stop:])
    region = "".join(lines[start:stop])
    empty = re.match(r"([^\n]*?:)[ \t]*\[[ \t]*\]([^\n]*\n)", region)
    if empty:
        yield f"{before}{empty[1]}{empty[2]}{item}{region[empty.end() :]}{after}"
    end = len(region)
    for _ in range(_TRIES):
        end = region.rfind("]", 0, end)
        if end < 0:
            return
        kept = region[:end].rstrip(" ")
        for comma in (", ", " ", ""):
            yield f"{before}{kept}{comma}{flow}{region[end:]}{after}"


def _content(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _ends_value(line: str, indent: int) -> bool:
    """Whether the line starts the next key of the mapping whose keys are at column ``indent``."""
    depth = len(line) - len(line.lstrip(" "))
    return _content(line) and depth <= indent and not re.match(r" *(?:-[ \t\r\n]|[\[\]{},])", line)


def lines_before_artifacts(front: str) -> int:
    """Number of lines before the one that starts with the key ``artifacts``; 0 without one."""
    lines = (line.lstrip(" \"'") for line in front.split("\n"))
    return next((n for n, line in enumerate(lines) if line.startswith("artifacts")), 0)


def same(document: Any, wanted: Any) -> bool:
    """Whether two documents are equal; ``1``, ``1.0`` and ``true`` are three values."""
    return json.dumps(document, sort_keys=True) == json.dumps(wanted, sort_keys=True)
