"""The shapes of secrets: what a token looks like, whoever it belongs to (SPEC 10, Secrets).

They are rows of :mod:`flow.core.secrets.table`, which are read here, the armour of keys
(:mod:`flow.core.secrets.keys`) and what stands behind a name (:mod:`flow.core.secrets.forms`).

A shape is looked for only where one of its anchors stands in the text, so that none is compiled
for nothing. Every pattern has a bounded reach and no quantifier that can give back what it took,
so that the time is linear in the text. A pattern matches the least that makes a token; what else
belongs to it is a run of its alphabet, which has no bound and needs no memory.
"""

from __future__ import annotations

import re

from flow.core.secrets import chance
from flow.core.secrets import forms as secrets_forms
from flow.core.secrets import keys as secrets_keys
from flow.core.secrets.shape import BEHIND, REACH, SecretShape
from flow.core.secrets.table import ALPHABETS, FORMED, PREFIXED, rows
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flow.core.secrets.shape import Check

__all__ = ["BEHIND", "REACH", "SecretShape", "shapes"]


def _word_edge(width: int) -> bytes:
    """A word began ``width`` bytes ago: also behind an escape or a terminal's colours.

    It stands behind a literal and not before it, so that the literal is looked for.
    """
    before = (
        rb"(?<![A-Za-z0-9_]%b)",
        rb"(?<=\\[nrtbf]%b)",
        rb"(?<=[0-9;\[]m%b)",
        rb"(?<=%%[0-9A-Fa-f]{2}%b)",
        rb"(?<=\\u00[0-9A-Fa-f]{2}%b)",
    )
    return b"(?:%b)" % b"|".join(way % (b"." * width) for way in before)


def _literal(text: str) -> bytes:
    return b"".join(b"\\" + bytes([c]) if c in b".-/+$" else bytes([c]) for c in text.encode())


def _prefixed() -> Iterator[SecretShape]:
    """A prefix, then at least so many characters of an alphabet, all of which belong to it."""
    for kind, prefixes, name, least, how, _source, _date in rows(PREFIXED, 7):
        names, ways = prefixes.split(","), how.split("+")
        edged = "edge" in ways
        head = b"|".join(_literal(n) + (_word_edge(len(n)) if edged else b"") for n in names)
        alphabet = ALPHABETS[name]
        pattern = b"(?:%b)%b{%d}" % (head, alphabet, int(least))
        checks = [CHECKS[way] for way in ways if way in CHECKS]
        anchors = tuple(n.encode() for n in names)
        yield SecretShape(kind, anchors, pattern, alphabet, check=checks[0] if checks else None)


def _composed_shapes() -> Iterator[SecretShape]:
    """Tokens of several parts."""
    for kind, anchors, pattern, more, _source, _date in rows(FORMED, 6):
        whole = re.sub(rb"<([0-9])>", lambda width: _word_edge(int(width[1])), pattern.encode())
        run = b"" if more == "-" else {**ALPHABETS, "KEY_LINES": secrets_keys.KEY_LINES}.get(more)
        starts = () if anchors == "-" else tuple(a.encode() for a in anchors.split(","))
        yield SecretShape(kind, starts, whole, more.encode() if run is None else run)


CHECKS: dict[str, Check] = {"mixed": chance.mixed, "cased": chance.cased}


def shapes() -> tuple[SecretShape, ...]:
    """All of them; where two begin at the same byte the first one counts."""
    return (*secrets_keys.shapes(), *_prefixed(), *_composed_shapes(), *secrets_forms.shapes())
