"""The values of a shell's words, as far as statuses and plain values determine them.

A value is a text, or one of: :data:`ANY`, a number from 1 to 255; :data:`UNKNOWN`; and
:data:`TOLD`, which is unknown but was set because a check had failed.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from itertools import product

from flow.core.masked_exit.programs import Statuses, constant_test
from flow.core.masked_exit.shell import LAST
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Lookup = Mapping[str, str]

ANY, UNKNOWN, TOLD = "\0any", "\0unknown", "\0told"
JOB = "\0job "
"""Prefix of the value of ``$!``, before the status of that process."""
FILE = "<"
"""Prefix of a file's name, where the value is a status that the command wrote into it."""
_SAMPLES = ("1", "2", "101")
"""Numbers that represent :data:`ANY` in a comparison."""
_MOST = 256
"""Combinations of values that are examined, at most."""
_REFERENCE = re.compile(r"\$(\?|!|\w+|\{\w+\}|\{\w+\[\d\]\})")
_STATUSES = re.compile(r"\$\{PIPESTATUS\[[@*]\]\}")
_ARITHMETIC = re.compile(r"\$\(\((.{1,200}?)\)\)")
_DEFAULT = re.compile(r"\$\{(\w+):[-=]([\w.]*|\$\?)\}")
_SHOWN = re.compile(r"\$\((?:cat\s+|<\s*)([\w./-]+)\)|`cat\s+([\w./-]+)`")
_NAME = re.compile(r"[A-Za-z_]\w*")
_VAGUE = (UNKNOWN, TOLD)


def word_values(word: str | None, source: str, known: Lookup) -> list[str]:
    """The possible values of a word; ``known`` has those of variables, of ``?`` and ``!``."""
    if word is not None and word != LAST:
        return [word]
    text = source[1:-1] if source[:1] == '"' == source[-1:] and len(source) > 1 else source
    return _texts(text, known)


def all_statuses(text: str, known: Lookup) -> list[str]:
    """The values of ``"${PIPESTATUS[@]}"``, one for each program of the pipe; empty for another."""
    if text == '"${PIPESTATUS[*]}"' or not _STATUSES.fullmatch(text.strip('"')):
        return []
    return [value for name, value in known.items() if name.startswith("PIPESTATUS[")]


def _texts(text: str, known: Lookup) -> list[str]:
    """The possible values of a text that the shell expands."""
    if _STATUSES.search(text):
        statuses = [f"${{{name}}}" for name in known if name.startswith("PIPESTATUS[")]
        text = _STATUSES.sub(" ".join(statuses), text)
    whole = _REFERENCE.fullmatch(text)
    if whole is not None:
        return [_known(whole[1].strip("{}"), known)]
    default = _DEFAULT.fullmatch(text)
    if default is not None:
        otherwise = known["?"] if default[2] == LAST else default[2]
        return [known.get(default[1], UNKNOWN) or otherwise]
    shown = _SHOWN.fullmatch(text)
    if shown is not None:
        return [known.get(FILE + (shown[1] or shown[2]), UNKNOWN)]
    arithmetic = _ARITHMETIC.fullmatch(text)
    if arithmetic is not None:
        return numbers(arithmetic[1], known)
    rest = _REFERENCE.sub("", text)
    names = [match.strip("{}") for match in _REFERENCE.findall(text)]
    if "$" in rest or "`" in rest or any(_known(name, known) in _VAGUE for name in names):
        return [_vague(text, known)]
    expanded = []
    for values in _combinations([_known(name, known) for name in names]):
        given = iter(values)
        expanded.append(_REFERENCE.sub(lambda _, given=given: next(given), text))  # type: ignore[misc]
    return expanded


def _known(name: str, known: Lookup) -> str:
    """The value of a variable; that of an array's member as far as the array's shows it."""
    array = known.get(name.partition("[")[0], UNKNOWN)
    return known.get(name, TOLD if array == TOLD else UNKNOWN)


def _vague(text: str, known: Lookup) -> str:
    """The value of a text that is not known: :data:`TOLD` where one of its variables is."""
    told = any(known.get(name) == TOLD for name in _NAME.findall(text))
    return TOLD if told else UNKNOWN


def _combinations(values: Iterable[str]) -> list[tuple[str, ...]]:
    spread = [_SAMPLES if value == ANY else (value,) for value in values]
    count = 1
    for each in spread:
        count *= len(each)
    return list(product(*spread)) if count <= _MOST else []


def numbers(text: str, known: Lookup) -> list[str]:
    """The values of an arithmetic expression."""
    names: list[str] = sorted({*_NAME.findall(text), *(["?"] if LAST in text else [])})
    given = [known.get(name, UNKNOWN) for name in names]
    if any(value in _VAGUE for value in given):
        return [_vague(text, known)]
    plain = text.replace(LAST, " status_ ").replace("$", "").replace("{", "").replace("}", "")
    results = set()
    for values in _combinations(given):
        fixed = dict(zip(names, values, strict=True))
        fixed["status_"] = fixed.get("?", "0")
        result = _evaluated(plain, fixed)
        if result is None:
            return [_vague(text, known)]
        results.add(str(result))
    return sorted(results)


_TOKEN = re.compile(r"\s*(\d+|[A-Za-z_]\w*|&&|\|\||[=!<>]=|<<|>>|[-+*/%<>!~&|^()?:])")
_LEVELS = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="),
    ("<<", ">>"), ("+", "-"), ("*", "/", "%"),
)  # fmt: skip
_SIGNS: Mapping[str, Callable[[int, int], int]] = {
    "||": lambda a, b: int(bool(a or b)), "&&": lambda a, b: int(bool(a and b)),
    "|": lambda a, b: a | b, "^": lambda a, b: a ^ b, "&": lambda a, b: a & b,
    "==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b), "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b), ">=": lambda a, b: int(a >= b),
    "<<": lambda a, b: a << min(b, 64) if b >= 0 else 0, ">>": lambda a, b: a >> max(b, 0),
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "/": lambda a, b: int(a / b), "%": lambda a, b: a - b * int(a / b),
}  # fmt: skip


class _NoNumber(Exception):
    """The text is no supported expression. Never leaves this module."""


def _evaluated(text: str, names: Mapping[str, str]) -> int | None:
    tokens, place = [], 0
    while place < len(text.rstrip()):
        match = _TOKEN.match(text, place)
        if match is None:
            return None
        tokens.append(match[1])
        place = match.end()
    tokens.reverse()
    try:
        result = _choice(tokens, names)
    except (_NoNumber, IndexError, ZeroDivisionError, ValueError, OverflowError, RecursionError):
        return None
    return result if not tokens and abs(result) < 1 << 62 else None


def _choice(tokens: list[str], names: Mapping[str, str]) -> int:
    """Value of ``a ? b : c``, or of a tighter operator; ``tokens`` are read from their end."""
    asked = _level(0, tokens, names)
    if not tokens or tokens[-1] != "?":
        return asked
    tokens.pop()
    yes = _choice(tokens, names)
    if tokens.pop() != ":":
        raise _NoNumber
    no = _choice(tokens, names)
    return yes if asked else no


def _level(level: int, tokens: list[str], names: Mapping[str, str]) -> int:
    if level == len(_LEVELS):
        return _unary(tokens, names)
    left = _level(level + 1, tokens, names)
    while tokens and tokens[-1] in _LEVELS[level]:
        sign = tokens.pop()
        left = _SIGNS[sign](left, _level(level + 1, tokens, names))
    return left


def _unary(tokens: list[str], names: Mapping[str, str]) -> int:
    part = tokens.pop()
    if part == "!":
        return int(not _unary(tokens, names))
    if part in "-+~":
        value = _unary(tokens, names)
        return {"-": -value, "+": value, "~": ~value}[part]
    if part == "(":
        value = _choice(tokens, names)
        if tokens.pop() != ")":
            raise _NoNumber
        return value
    text = part if part.isdigit() else names.get(part, "")
    if not text.lstrip("-").isdigit() or (text[0] == "0" and len(text) > 1) or len(text) > 12:
        raise _NoNumber
    return int(text)


def tested(words: tuple[str | None, ...], sources: tuple[str, ...], known: Lookup) -> Statuses:
    """The ends of ``test``, ``[``, ``[[``, ``((`` or ``let``; empty if a value is :data:`TOLD`."""
    kind = words[0] or ""
    if kind in ("((", "let"):
        values = numbers(sources[-1].strip("'\""), known)
        if TOLD in values:
            return frozenset()
        if UNKNOWN in values:
            return frozenset((0, 1))
        return frozenset(int(value == "0") for value in values)
    spread = [word_values(*pair, known) for pair in zip(words[1:], sources[1:], strict=True)]
    statuses: set[int] = set()
    if any(TOLD in values for values in spread):
        return frozenset()
    if any(UNKNOWN in values for values in spread):
        return frozenset((0, 1))
    for combination in product(*spread):
        for plain in _combinations(combination):
            statuses |= constant_test((kind, *plain))
    return frozenset(statuses or (0, 1))


def fitting(values: Iterable[str], patterns: str) -> tuple[bool, bool]:
    """Whether a branch of a ``case`` can be taken, and whether it can be skipped."""
    taken = passed = False
    for value in values:
        for text in (value,) if value != ANY else _SAMPLES:
            if value in _VAGUE or any(sign in patterns for sign in "$`"):
                return True, patterns != "*"
            plain = [one.strip().strip("'\"") for one in patterns.split("|")]
            fits = any(fnmatchcase(text, one) for one in plain)
            taken, passed = taken or fits, passed or not fits
    return taken, passed
