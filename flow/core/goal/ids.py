"""Allow-lists for the names that become file names (SPEC 1)."""

from __future__ import annotations

import re

from flow.errors import at_key
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class IdPattern:
    """An allow-list. It is compiled when first asked: a start uses few of them, none for free."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._whole: Callable[[str], object] | None = None

    def fits(self, text: str) -> bool:
        """Whether the whole of ``text`` is as the pattern says."""
        if self._whole is None:
            self._whole = re.compile(self.pattern).fullmatch
        return self._whole(text) is not None


GOAL_ID = IdPattern(r"[a-z0-9][a-z0-9-]{0,63}")
RUN_ID = IdPattern(r"[A-Za-z0-9](?!.*\.\.)[A-Za-z0-9_.-]{0,127}")
EVIDENCE_ID = IdPattern(r"[a-z0-9][a-z0-9_-]{0,199}")
CRITERION_ID = IdPattern(r"[A-Z]+[0-9]+")
RUBRIC_NAME = RUN_ID
"""A rubric's file name without its ending, as a goal's criterion and ``--rubric`` say it."""


def _check(allowed: IdPattern, value: object, what: str, shape: str) -> str:
    if isinstance(value, str) and allowed.fits(value):
        return value
    raise at_key(what, value).invalid(
        f"{value!r:.80} is not {'an' if what[0] in 'aeiou' else 'a'} {what}",
        f"use {shape}",
        code="invalid_id",
    )


def goal_id(value: object) -> str:
    """Return ``value`` if it is a goal id; raise :class:`InputError` otherwise."""
    return _check(
        GOAL_ID, value, "goal id", "lower-case letters, digits and hyphens, at most 64 characters"
    )


def run_id(value: object) -> str:
    """Return ``value`` if it is a run id; raise :class:`InputError` otherwise."""
    return _check(
        RUN_ID,
        value,
        "run id",
        "letters, digits, '_', '.' and '-', starting with a letter or digit, without '..', "
        "at most 128 characters",
    )


def evidence_id(value: object) -> str:
    """Return ``value`` if it is an evidence id; raise :class:`InputError` otherwise."""
    return _check(
        EVIDENCE_ID,
        value,
        "evidence id",
        "lower-case letters, digits, '_' and '-', at most 200 characters",
    )


def folded_evidence_id(value: object) -> object:
    """``value`` with capital letters as small ones, where that makes it an evidence id.

    Other tools name evidence after a criterion as it is written: ``evidence-AC1-eval-1``.
    """
    if isinstance(value, str) and value.isascii() and EVIDENCE_ID.fits(value.lower()):
        return value.lower()
    return value


def criterion_id(value: object) -> str:
    """Return ``value`` if it is a criterion id; raise :class:`InputError` otherwise."""
    return _check(CRITERION_ID, value, "criterion id", "a prefix and a number, like AC2")


def rubric_name(value: object) -> str:
    """Return ``value`` if it is a rubric's name; raise :class:`InputError` otherwise."""
    return _check(
        RUBRIC_NAME,
        value,
        "rubric's name",
        "letters, digits, '_', '.' and '-', starting with a letter or digit, without '..', "
        "at most 128 characters",
    )
