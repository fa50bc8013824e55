"""Allow-lists for the ids and names that become file names (SPEC 1)."""

from __future__ import annotations

from flow.errors import at_key
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

DIGITS = "0123456789"
_CAPITALS, _SMALL = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"


class IdPattern(NamedTuple):
    """An allow-list: as the schemas write it, and as a check that loads no regular expressions."""

    pattern: str
    fits: Callable[[str], bool]
    """Whether a whole text fits the pattern."""


def starting_with(first: str, more: str, most: int, without: str = "") -> Callable[[str], bool]:
    """Names of at most ``most`` characters: one of ``first``, then of ``first`` and ``more``.

    They do not contain ``without``.
    """
    allowed = first + more

    def fits(text: str) -> bool:
        if not 0 < len(text) <= most or text[0] not in first or text.strip(allowed):
            return False
        return not without or without not in text

    return fits


def _is_numbered(text: str) -> bool:
    """Capital letters, then digits: ``AC2``."""
    letters = text.rstrip(DIGITS)
    return letters not in ("", text) and not letters.strip(_CAPITALS)


GOAL_ID = IdPattern(r"[a-z0-9][a-z0-9-]{0,63}", starting_with(_SMALL + DIGITS, "-", 64))
RUN_ID = IdPattern(
    r"[A-Za-z0-9](?!.*\.\.)[A-Za-z0-9_.-]{0,127}",
    starting_with(_CAPITALS + _SMALL + DIGITS, "_.-", 128, without=".."),
)
EVIDENCE_ID = IdPattern(r"[a-z0-9][a-z0-9_-]{0,199}", starting_with(_SMALL + DIGITS, "_-", 200))
OUTPUT_NAME = IdPattern(
    r"(?!\.)[A-Za-z0-9_.-]{1,255}", starting_with(_CAPITALS + _SMALL + DIGITS + "_-", ".", 255)
)
SESSION_NAME = IdPattern(
    r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}",
    starting_with(_CAPITALS + _SMALL + DIGITS + "_-", ".", 100),
)
"""Ids of sessions that serve as file names unchanged; the hook's script uses the same rule."""
CRITERION_ID = IdPattern(r"[A-Z]+[0-9]+", _is_numbered)
RUBRIC_NAME = RUN_ID
"""A rubric's file name without its ending, as in a goal's criterion and in ``--rubric``."""


def _checked(allowed: IdPattern, noun: str, shape: str) -> Callable[[object], str]:
    """A function that returns a value that fits, and raises :class:`InputError` for any other."""

    def checked(value: object) -> str:
        if isinstance(value, str) and allowed.fits(value):
            return value
        raise at_key(noun, value).invalid(
            f"{value!r:.80} is not {'an' if noun[0] in 'aeiou' else 'a'} {noun}",
            f"use {shape}",
            code="invalid_id",
        )

    return checked


_FILE_NAME = (
    "letters, digits, '_', '.' and '-', starting with a letter or digit, without '..', "
    "at most 128 characters"
)
goal_id = _checked(
    GOAL_ID, "goal id", "lower-case letters, digits and hyphens, at most 64 characters"
)
run_id = _checked(RUN_ID, "run id", _FILE_NAME)
evidence_id = _checked(
    EVIDENCE_ID, "evidence id", "lower-case letters, digits, '_' and '-', at most 200 characters"
)
criterion_id = _checked(CRITERION_ID, "criterion id", "a prefix and a number, like AC2")
rubric_name = _checked(RUBRIC_NAME, "rubric's name", _FILE_NAME)


def folded_evidence_id(value: object) -> object:
    """``value`` in small letters, if that makes it an evidence id; else unchanged.

    Other tools name evidence after the criterion's own spelling: ``evidence-AC1-eval-1``.
    """
    if isinstance(value, str) and value.isascii() and EVIDENCE_ID.fits(value.lower()):
        return value.lower()
    return value
