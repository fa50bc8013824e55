"""The criteria of a debate, with their weights (SPEC 9.4)."""

from __future__ import annotations

import re
from fractions import Fraction

from flow.core.text.display import visible
from flow.errors import InputError, at_key
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

KINDS = ("code", "design", "documentation")
MOST_CRITERIA = 50
DESCRIPTION_LIMIT = 1_000
"""Characters."""
_NAME = re.compile(r"\w(?:[\w &+./-]{0,62}[\w+.])?")
_WEIGHT = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")


class DebateCriterion(NamedTuple):
    """One criterion, scored from 1 to 5. ``share`` is its weight; those of a set sum to 1."""

    name: str
    share: Fraction
    description: str = ""

    @property
    def percent(self) -> str:
        """The share in per cent, rounded half up to a tenth: ``30``, ``33.3``."""
        tenths = (self.share * 2000 + 1) // 2
        return f"{tenths // 10}" if tenths % 10 == 0 else f"{tenths // 10}.{tenths % 10}"


_SETS: Mapping[str, tuple[tuple[str, int, str], ...]] = {
    "code": (
        ("Correctness", 30, "Does it work? Handles edge cases?"),
        ("Design Quality", 25, "Clean architecture? Maintainable?"),
        ("Efficiency", 20, "Performance considerations?"),
        ("Code Quality", 15, "Readable? Well-documented?"),
        ("Testing", 10, "Test coverage? Test quality?"),
    ),
    "design": (
        ("Completeness", 30, "All requirements addressed?"),
        ("Feasibility", 25, "Can it actually be built?"),
        ("Scalability", 20, "Handles growth?"),
        ("Simplicity", 15, "Appropriately simple?"),
        ("Documentation", 10, "Clear and comprehensive?"),
    ),
    "documentation": (
        ("Accuracy", 35, "Technically correct?"),
        ("Completeness", 30, "Covers all necessary topics?"),
        ("Clarity", 20, "Easy to understand?"),
        ("Usability", 15, "Helpful examples? Good structure?"),
    ),
}


def ready_made(kind: str) -> tuple[DebateCriterion, ...]:
    """The seed's set for ``code``, ``design`` or ``documentation``."""
    if kind not in _SETS:
        raise at_key("kind", kind).invalid(
            f"{visible(str(kind))[:60]!r} is no kind of solution", f"one of {', '.join(KINDS)}"
        )
    return _shares(_SETS[kind])


def parse(text: str) -> tuple[DebateCriterion, ...]:
    """The criteria in ``correctness:30,design:25``; raises :class:`InputError` with the fault."""
    rows = []
    for part in text.split(","):
        name, colon, weight = part.rpartition(":")
        if not colon:
            raise _refused(part, "has no weight")
        rows.append((name.strip(), weight.strip(), ""))
    return checked(rows)


def checked(rows: Iterable[tuple[object, object, object]]) -> tuple[DebateCriterion, ...]:
    """Criteria from (name, weight, description); weights are relative to each other."""
    weighted: list[tuple[str, Fraction, str]] = []
    for name, weight, description in rows:
        if not isinstance(name, str) or not _NAME.fullmatch(name) or visible(name) != name:
            raise _refused(name, "is no criterion's name: letters, digits, spaces and hyphens")
        if any(name.casefold() == other.casefold() for other, _, _ in weighted):
            raise _refused(name, "is named twice")
        if not isinstance(description, str) or len(description) > DESCRIPTION_LIMIT:
            raise _refused(name, f"has a description of more than {DESCRIPTION_LIMIT} characters")
        weighted.append((name, _weight(name, weight), description or _ready_made(name)))
    if not 1 <= len(weighted) <= MOST_CRITERIA:
        raise at_key("criteria").invalid(
            f"{len(weighted)} criteria are asked for",
            f"give 1 to {MOST_CRITERIA}; three to five say most",
        )
    return _shares(weighted)


def _weight(name: str, weight: object) -> Fraction:
    text = "" if isinstance(weight, bool) else str(weight)
    if not _WEIGHT.fullmatch(text):
        shown = visible(text)[:40]
        raise _refused(name, f"has the weight {shown!r}, which is no plain number above 0")
    value = Fraction(text)
    if value <= 0:
        raise _refused(name, "has the weight 0, and would count for nothing")
    return value


def _ready_made(name: str) -> str:
    """The description in the ready-made sets for this name; the first one counts, or empty."""
    plain = re.sub(r"[\s_-]+", " ", name).casefold()
    for rows in _SETS.values():
        for ready_made_name, _, description in rows:
            if plain in (
                ready_made_name.casefold(),
                ready_made_name.casefold().removesuffix(" quality"),
            ):
                return description
    return ""


def _shares(rows: Sequence[tuple[str, Fraction | int, str]]) -> tuple[DebateCriterion, ...]:
    total = sum((Fraction(weight) for _, weight, _ in rows), Fraction(0))
    return tuple(
        DebateCriterion(name, Fraction(weight) / total, text) for name, weight, text in rows
    )


def _refused(name: object, fault: str) -> InputError:
    shown = visible(str(name).strip())[:60]
    return at_key("criteria", name).invalid(
        f"{shown!r} {fault}", 'write them as "correctness:30,design:25,tests:10"'
    )
