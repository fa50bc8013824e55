"""Ways to spoil a valid file: its bytes, and the values it holds. Plain functions of a ``Random``,
so that the property tests, the fuzzer and a person with a seed all get the same bytes.
"""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

TOKENS: tuple[bytes, ...] = (
    b"",
    b"\0",
    b"\n",
    b"\r\n",
    b"\r",
    b"\t",
    b" ",
    b"---\n",
    b"...\n",
    b"- - - - ",
    b"? ",
    b": ",
    b"{",
    b"}",
    b"[",
    b"]",
    b"[" * 900,
    b'{"a":' * 900,
    b"- " * 900,
    b"&a ",
    b"*a",
    b"&a [*a]",
    b"!!python/object:os.system ",
    b"!!binary ",
    b"!!set ",
    b"<<: ",
    b"%YAML 1.1\n---\n",
    b"|\n",
    b">-\n",
    b'"',
    b"'",
    b"\\",
    b"#",
    b"null",
    b"~",
    b"true",
    b"no",
    b".nan",
    b".inf",
    b"NaN",
    b"-Infinity",
    b"1e999",
    b"-0",
    b"010",
    b"1:30",
    b"0x" + b"f" * 40,
    b"9" * 5000,
    b"2026-13-45",
    b"2026-01-01T00:00:00Z",
    b"../x",
    b"/etc/passwd",
    b"x" * 300,
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xff",
    b"\xc0\x80",
    b"\xed\xa0\x80",
    "\u202e".encode(),
    "\u2028".encode(),
    "\x85".encode(),
    b"\x1b[2J",
    b"\\u0000",
    b"\\ud800",
    b"\\u001b]0;x\\u0007",
    b'"status": "achieved"',
    b"status: achieved",
    b"achieved",
    b'"to": "achieved"',
    b"\n\n",
    b"lifecycle:\n",
    b"__proto__",
)

VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    2**31,
    2**53,
    2**53 + 1,
    -(2**63),
    10**400,
    0.5,
    -0.0,
    1e308,
    "",
    " ",
    "x",
    "no",
    "0",
    "achieved",
    "active",
    "draft",
    "../x",
    "..",
    "/",
    "a/b",
    "*",
    "!x",
    "a\nb",
    "\0",
    "\x1b[2J\u202e\x9b",
    "\ud800",
    "\udcff",
    "é" * 5,
    "x" * 300,
    "x" * 70_000,
    "2026-13-45T00:00:00Z",
    "greet",
    "r1",
    "AC1",
    [],
    {},
    [None],
    [[]],
    [{}],
    ["x"],
    [1, "x", None, {}],
    ["x"] * 2000,
    {"x": 1},
    {"": None},
    {"\x1b": "\x1b"},
    {"a": {"b": {"c": [[[[]]]]}}},
)


def _value(random: Random) -> Any:
    return deepcopy(random.choice(VALUES))  # what is put in may be spoilt in turn


def _deep(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


def bytes_of(random: Random, valid: bytes) -> bytes:
    """``valid`` with one to four things done to its bytes."""
    data = valid
    for _ in range(random.choice((1, 1, 1, 2, 3, 4))):
        data = random.choice(_BYTE_WAYS)(random, data)
    return data[: 2 << 20]


def _place(random: Random, data: bytes) -> int:
    return random.randint(0, len(data))


def _span(random: Random, data: bytes) -> tuple[int, int]:
    start = _place(random, data)
    return start, min(len(data), start + random.choice((1, 2, 8, 40, 200, 5000)))


def _flip(random: Random, data: bytes) -> bytes:
    if not data:
        return b"\x80"
    at = random.randrange(len(data))
    return data[:at] + bytes((data[at] ^ 1 << random.randrange(8),)) + data[at + 1 :]


def _cut_end(random: Random, data: bytes) -> bytes:
    return data[: _place(random, data)]


def _cut_out(random: Random, data: bytes) -> bytes:
    start, end = _span(random, data)
    return data[:start] + data[end:]


def _double(random: Random, data: bytes) -> bytes:
    start, end = _span(random, data)
    return data[:end] + data[start:end] * random.choice((1, 1, 2, 50)) + data[end:]


def _move(random: Random, data: bytes) -> bytes:
    start, end = _span(random, data)
    rest = data[:start] + data[end:]
    at = _place(random, rest)
    return rest[:at] + data[start:end] + rest[at:]


def _insert(random: Random, data: bytes) -> bytes:
    at = _place(random, data)
    return data[:at] + random.choice(TOKENS) + data[at:]


def _overwrite(random: Random, data: bytes) -> bytes:
    start, end = _span(random, data)
    return data[:start] + random.choice(TOKENS) + data[end:]


def _noise(random: Random, data: bytes) -> bytes:
    start, end = _span(random, data)
    return data[:start] + random.randbytes(random.randrange(1, 40)) + data[end:]


def _lines(random: Random, data: bytes) -> bytes:
    """A whole line dropped, doubled, moved or indented otherwise: the text often stays valid."""
    lines = data.split(b"\n")
    at, to = random.randrange(len(lines)), random.randrange(len(lines))
    way = random.randrange(5)
    if way == 0:
        del lines[at]
    elif way == 1:
        lines.insert(to, lines[at])
    elif way == 2:
        lines[at], lines[to] = lines[to], lines[at]
    elif way == 3:
        lines[at] = b"  " + lines[at]
    else:
        key, colon, _ = lines[at].partition(b":")
        lines[at] = key + colon + b" " + random.choice(TOKENS)
    return b"\n".join(lines)


def _ends(random: Random, data: bytes) -> bytes:
    return random.choice(
        (
            data.replace(b"\n", b"\r\n"),
            data.replace(b"\n", b"\r"),
            b"\xef\xbb\xbf" + data,
            data.decode("utf-8", "replace").encode("utf-16"),
            data.rstrip(b"\n"),
            data + b"\0" * 100,
            b"",
            data * 3,
            data.replace(b" ", b"\t"),
            data.replace(b" ", "\u00a0".encode()),
        )
    )


_BYTE_WAYS: tuple[Callable[[Random, bytes], bytes], ...] = (
    _flip,
    _flip,
    _cut_end,
    _cut_out,
    _double,
    _move,
    _insert,
    _insert,
    _overwrite,
    _noise,
    _lines,
    _lines,
    _lines,
    _ends,
)


def values_of(random: Random, document: Any) -> bytes:
    """A JSON text (so YAML, too) of ``document`` with one to three of its values spoilt."""
    document = json.loads(json.dumps(document))
    for _ in range(random.choice((1, 1, 2, 3))):
        document = _spoil(random, document)
    text = json.dumps(document, ensure_ascii=random.random() < 0.8, indent=random.choice((None, 1)))
    data = text.encode("utf-8", "surrogatepass")
    return bytes_of(random, data) if random.random() < 0.1 else data


def _spoil(random: Random, document: Any) -> Any:
    paths = list(_paths(document))
    if not paths:
        return _value(random)
    path = random.choice(paths)
    if not path:
        return _value(random) if random.random() < 0.1 else document
    holder = document
    for step in path[:-1]:
        holder = holder[step]
    key, way = path[-1], random.randrange(10)
    if way == 0:
        del holder[key]
    elif way == 1 and isinstance(holder, dict):
        holder[random.choice(("", "x", "__class__", str(key).upper(), "\x1b[1m"))] = holder.pop(key)
    elif way == 2 and isinstance(holder, list):
        holder.append(holder[key])
    elif way == 3:
        holder[key] = _deep(random.choice((5, 31, 40, 500)))
    elif way == 4:
        holder[key] = [holder[key]]
    elif way == 5:
        holder[key] = str(holder[key])
    else:
        holder[key] = _value(random)
    return document


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Any:
    yield path
    if len(path) > 40:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _paths(item, (*path, key))
    elif isinstance(value, list):
        for place, item in enumerate(value[:50]):
            yield from _paths(item, (*path, place))


def json_lines_of(random: Random, valid: bytes) -> bytes:
    """A file of JSON lines with the values of one line spoilt, or its bytes."""
    lines = valid.split(b"\n")
    at = random.randrange(max(len(lines) - 1, 1))
    try:
        lines[at] = values_of(random, json.loads(lines[at])).replace(b"\n", b" ")
    except ValueError:
        return bytes_of(random, valid)
    return b"\n".join(lines)
