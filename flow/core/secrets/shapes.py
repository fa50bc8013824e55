"""The shapes of secrets: the form of each kind of token (SPEC 10, Secrets).

Most are rows of :mod:`flow.core.secrets.table`; private keys, whose lines must be distinguished
from text about keys, are built here.

A shape is searched for only if one of its anchors is in the text, so that no pattern is compiled in
vain. Every pattern has a bounded reach and only quantifiers that do not backtrack, so the time is
linear in the text. A pattern matches the shortest possible token; the rest of the token is a run of
its alphabet, which has no bound and needs no memory.
"""

from __future__ import annotations

import binascii

from flow.core.secrets import checks
from flow.core.secrets.table import ALPHABETS, FORMED, HEADERS, OPTIONS, PREFIXED, SETTINGS, rows
from flow.startup import re
from flow.startup.functools import cache, partial
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    MayHold = Callable[[tuple[bytes, ...]], bool]
    """Whether a text may hold one of a shape's anchors."""

REACH = 4096
"""No pattern needs more bytes than these: before its start, in it, and after it, together."""


CLASSES = b"\1\2"
"""A byte of the first class of a pattern, and one of the second."""


class SecretShape(NamedTuple):
    """One kind of secret.

    Every match contains one of ``anchors`` (in lower case if ``folded``). ``form`` is ``pattern``,
    or a function that makes it: a text triggers only a few of hundreds of shapes. The secret is
    group 1 of ``pattern``, if there is one, else the whole match; ``check`` decides about the last
    group. ``run`` is a pattern for one more byte of the secret, or for several if it begins with
    ``(?>``; ``until`` is a pattern for the secret's end.
    """

    kind: str
    anchors: tuple[bytes, ...]
    form: bytes | Callable[[], bytes]
    run: bytes = b""
    until: bytes = b""
    check: Callable[[bytes], bool] | None = None
    folded: bool = False
    lead: int | None = None
    """Bytes of a match before its anchor, at most; None: the anchor may precede the match."""
    edged: bool = False
    """Whether an anchor counts only at the start of a word, by :func:`_word_edge`."""
    classes: bytes = b""
    """For a shape without anchor: the translation of bytes by which a match begins with CLASSES."""

    @property
    def pattern(self) -> bytes:
        """The regular expression of a secret."""
        return self.form if isinstance(self.form, bytes) else self.form()


def shapes(may_hold: MayHold = lambda _: True) -> tuple[SecretShape, ...]:
    """All shapes in order of precedence for secrets with the same start.

    Only shapes whose anchors ``may_hold`` accepts are made.
    """
    return (
        *_private_keys(may_hold),
        *_prefixed(may_hold),
        *_composed(may_hold),
        *_named(HEADERS, may_hold),
        *_options(may_hold),
        *_named(SETTINGS, may_hold),
    )


def shapes_in(text: bytes) -> tuple[SecretShape, ...]:
    """The shapes that a text may trigger, in the same order: no other one can match in it."""
    low = text.lower()
    letters = frozenset(low)

    def may_hold(anchors: tuple[bytes, ...]) -> bool:
        for each in anchors:  # most have a byte that the text lacks: no search is faster
            folded = each.lower()
            if letters.issuperset(folded) and folded in low:
                return True
        return not anchors

    return shapes(may_hold)


KEY_AHEAD = 3500
"""Bytes after BEGIN in which the lines of a private key must begin."""

_EDGE = rb"<([0-9]{1,2})>"
"""In a table's pattern: a word began this many bytes before, at the start of the match."""
_SPACE = rb"(?: |%20|\+)"
_DASHES = _SPACE + b"?-{4,5}"
_KEY_LABEL = b"(?:[A-Z0-9]{1,12}+%b){0,3}PRIVATE%bKEY(?>%bBLOCK|)" % (_SPACE, _SPACE, _SPACE)
_BEGIN = b"-{4,5}%b?BEGIN%b" % (_SPACE, _SPACE)
_END = b"-{4,5}%b?END%b" % (_SPACE, _SPACE)

KEY_LINES = (
    rb"(?>[A-Za-z0-9+/=]{1,64}+|\r?+\n(?=[A-Za-z0-9+/]{20})"
    rb"|(?<!=)[^A-Za-z0-9+/=](?:(?!----)[\s\S]){0,250}?"
    rb"(?<![A-Za-z0-9+/-])(?![0-9a-f]{40})"
    rb"(?=[A-Za-z0-9+/]{60}|[A-Za-z0-9+/]{12,59}+={1,2}(?![A-Za-z0-9=])))"
)
"""A step over base64 in lines, and over the text between two of them."""

_BASE64_RUN = b"[A-Za-z0-9+/]{16,}+"
_KEY_HEADER = b"(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash|MessageID): "
_LOCK_DIGEST = b"sha[0-9]{1,3}-$"
"""The text before the digest of a package in a lock file."""
_LINE = 40
_BLOCK = 600
"""A run of this many bytes that looks random is a key on its own."""
_NEAR = 64
"""Bytes after BEGIN within which the first line must follow, if no prefix precedes it."""


def _private_keys(may_hold: MayHold) -> Iterator[SecretShape]:
    """Private keys in any armour, from their first line to their last."""
    plain = SecretShape(
        "private_key",
        (b"PRIVATE KEY", b"PRIVATE%20KEY", b"PRIVATE+KEY"),
        rb"(%b%b%b)(?=([\s\S]{0,%d}+))" % (_BEGIN, _KEY_LABEL, _DASHES, KEY_AHEAD),
        until=_END + _KEY_LABEL + _DASHES,
        check=_key_follows,
    )
    lines = SecretShape(
        "private_key",
        (b"Private-Lines:",),
        rb"Private-Lines: [0-9]{1,4}+(?=[^\s0-9A-Za-z]|\s{0,2}[\r\n])",
        until=b"Private-MAC: [0-9a-f]{40}[0-9a-f]{0,24}+",
    )
    armours = [
        _base64_start(b"-----BEGIN %bPRIVATE KEY" % kind)
        for kind in (b"", b"RSA ", b"EC ", b"DSA ", b"OPENSSH ", b"ENCRYPTED ", b"PGP ")
    ]
    anchors = (_base64_start(b"-----BEGIN "),)
    coded = SecretShape("private_key", anchors, b"(?:%b)" % b"|".join(armours), run=KEY_LINES)
    yield from (shape for shape in (plain, lines, coded) if may_hold(shape.anchors))


def _base64_start(data: bytes) -> bytes:
    """The part of the base64 of ``data`` that does not depend on later bytes."""
    return binascii.b2a_base64(data, newline=False)[: len(data) * 8 // 6]


def _key_follows(text: bytes) -> bool:
    """Whether the lines of a key are in ``text``, which follows its BEGIN.

    They are lines of base64 that look random, each after any prefix (a log's, a container's JSON, a
    list's brackets). Without them BEGIN is text about keys, and stays.
    """
    other = re.search(_BEGIN, text)
    text = text[: other.start() if other else None].replace(b"\\/", b"/")
    end = re.search(_END, text)
    least = 16 if end else _LINE
    runs = [
        run
        for run in re.finditer(_BASE64_RUN, text[: end.start() if end else None])
        if len(run[0]) >= least
        and checks.key(run[0])
        and not re.search(_LOCK_DIGEST, text[max(run.start() - 8, 0) : run.start()])
    ]
    if not runs:
        return False
    gap = text[: runs[0].start()]
    if gap.count(b"\n") > 1 and not re.search(_KEY_HEADER, gap):
        return False
    if end or len(gap) <= _NEAR or len(runs[0][0]) >= _BLOCK:
        return True
    return len(runs) > 1 and len(runs[0][0]) == len(runs[1][0])


@cache
def _word_edge(width: int) -> bytes:
    """Pattern for the start of a word ``width`` bytes ago, also after an escape or a colour.

    It follows a literal instead of preceding it, so that the engine searches for the literal.
    """
    edges = (
        rb"(?<![A-Za-z0-9_]%b)",
        rb"(?<=\\[nrtbf]%b)",
        rb"(?<=[0-9;\[]m%b)",
        rb"(?<=%%[0-9A-Fa-f]{2}%b)",
        rb"(?<=\\u00[0-9A-Fa-f]{2}%b)",
    )
    return b"(?:%b)" % b"|".join(edge % (b"." * width) for edge in edges)


def _run(name: str) -> bytes:
    """The run named in a table: an alphabet, a pattern, or ``-`` for none."""
    if name in ALPHABETS:
        return ALPHABETS[name]
    return {"-": b"", "KEY_LINES": KEY_LINES}.get(name, name.encode())


def _prefixed(may_hold: MayHold) -> Iterator[SecretShape]:
    """Shapes of a prefix and at least so many characters of an alphabet, all part of the token."""
    for kind, names, alphabet, least, flags, _source, _date in rows(PREFIXED, 7):
        anchors, run = tuple(names.encode().split(b",")), ALPHABETS[alphabet]
        if not may_hold(anchors):
            continue
        check = flags.removeprefix("edge").removeprefix("+") or "-"
        edged = flags.startswith("edge")
        form = partial(_behind, anchors, b"%b{%d}" % (run, int(least)), edged)
        yield SecretShape(kind, anchors, form, run, b"", _check(check), lead=0, edged=edged)


def _behind(prefixes: Iterable[bytes], rest: bytes, edged: bool) -> bytes:
    """The pattern for ``rest`` after a prefix; ``edged``: the prefix must start a word."""
    heads = (re.escape(p) + (_word_edge(len(p)) if edged else b"") for p in prefixes)
    return b"(?:%b)%b" % (b"|".join(heads), rest)


def _composed(may_hold: MayHold) -> Iterator[SecretShape]:
    """Shapes of tokens with several parts."""
    for kind, names, lead, text, run, _source, _date in rows(FORMED, 7):
        anchors = () if names == "-" else tuple(names.encode().split(b","))
        if not may_hold(anchors):
            continue
        source = text.encode()
        classes = b"" if anchors else _classes(source)
        form = partial(_edged, source)
        before = 0 if classes else _lead(lead)
        edged = before == 0 and _has_edge(source)
        yield SecretShape(kind, anchors, form, _run(run), lead=before, edged=edged, classes=classes)


def _lead(text: str) -> int | None:
    return None if text == "-" else int(text)


def _has_edge(text: bytes) -> bool:
    """Whether :data:`_EDGE` matches in ``text``; without ``re``, as few texts need a pattern."""
    widths = (part.partition(b">") for part in text.split(b"<")[1:])
    return any(bool(end) and width.isdigit() and len(width) <= 2 for width, end, _ in widths)


def _edged(text: bytes) -> bytes:
    """The pattern of a row, with :func:`_word_edge` of width 4 in place of ``<4>``."""
    return re.sub(_EDGE, lambda width: _word_edge(int(width[1])), text)


def _classes(pattern: bytes) -> bytes:
    """The table for a pattern that begins with two disjoint sets of bytes."""
    table = bytearray(256)
    for number, part in enumerate(pattern.split(b"[")[1:3], 1):
        for byte in part.partition(b"]")[0]:
            table[byte] = number
    return bytes(table)


_QUOTE = r"(?:[\"']|\\[\"']|\\\\[\"']|\\\\\\[\"']|)"
_NAME = (
    r"(?:[pP](?i:ass(?:word|wd|phrase|code)|wd|rivate[_-]?key)|[tT](?i:oken)|[cC](?i:redential)"
    r"|[sS](?i:ecret|(?:igning|hared)[_-]key)|[aA](?i:(?:pi|ccess|ccount|uth)[_-]?key)"
    r"|[eE](?i:ncryption[_-]key)|[mM](?i:aster[_-]key))"
)


def _named(table: str, may_hold: MayHold) -> Iterator[SecretShape]:
    """Shapes of secrets that are known by the text before them: headers, names, settings."""
    for kind, names, lead, text, run, check, _source, _date in rows(table, 8):
        anchors = tuple(names.encode().replace(b"~", b" ").split(b","))
        if not may_hold(anchors):
            continue
        pattern = text.replace("<QUOTE>", _QUOTE).replace("<NAME>", _NAME)
        folded = "(?i:" in pattern
        checked = _check(check)
        yield SecretShape(
            kind, anchors, pattern.encode(), _run(run), b"", checked, folded, _lead(lead)
        )


def _check(name: str) -> Callable[[bytes], bool] | None:
    check: Callable[[bytes], bool] | None = None if name == "-" else getattr(checks, name)
    return check


def _options(may_hold: MayHold) -> Iterator[SecretShape]:
    """Shapes of passwords on a command line: an option's value, or ``USER:PASSWORD`` after one.

    Each byte is searched after one program's name only, so that the time stays linear.
    """
    for program, names, form, _source, _date in rows(OPTIONS, 5):
        name = program.replace("~", " ").encode()
        if not may_hold((name,)):
            continue
        between = b"(?:(?!%b)[^\\n]){0,300}?" % name
        option = b"|".join(
            n.encode().replace(b"~", rb"[ \t]").replace(b"@", rb"[ \t=]") for n in names.split(",")
        )
        user = rb"[^\s:\"'$\\]{0,64}+:" if form == "user" else b""
        yield SecretShape(
            "option",
            (name,),
            b"%b(?<![A-Za-z0-9_]%b)(?=[ \tdais-])" % (name, b"." * len(name))
            + between
            + rb"[ \t](?:%b)[\"']?%b([^\s\"'\\]{3,200}+)" % (option, user),
            check=checks.typed,
            lead=0,
        )
