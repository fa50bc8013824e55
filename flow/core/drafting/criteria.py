"""Criteria from the words of a command line or a conversation, and their numbers."""

from __future__ import annotations

import re
from itertools import count

from flow.core.goal.ids import CRITERION_ID
from flow.errors import at_key
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

SHAPE = "write 'AC1: what must hold :: command that proves it'"
FUZZY_SHAPE = "write 'AC2: what must hold'"


def parse_criterion(text: str, *, fuzzy: bool) -> dict[str, Any]:
    """A criterion from ``[ID:] text :: command`` (or ``[ID:] text`` if it is fuzzy).

    Without an id it has no ``id`` yet: :func:`numbered` gives it one.
    """
    key = "--fuzzy" if fuzzy else "--criterion"
    shape = FUZZY_SHAPE if fuzzy else SHAPE
    name, rest = split_id(text, key)
    shown = name or f"{text!r:.100}"
    # "::" may occur in the text as well; the command follows the first one set off by spaces.
    words, _, command = (rest, "", "") if fuzzy else f" {rest}".partition(" :: ")
    if not words.strip():
        raise at_key(key, text).invalid(f"{shown} has no text", shape)
    if not fuzzy and not command.strip():
        raise at_key(key, text).invalid(
            f"{shown} has no command", f"{shape}; for one that no command proves: --fuzzy"
        )
    criterion = new_criterion(words.strip(), command.strip() or None)
    return {"id": name, **criterion} if name else criterion


def new_criterion(text: str, command: str | None = None) -> dict[str, Any]:
    """A required criterion without an id; without a command it is fuzzy."""
    proof = {} if command is None else {"verification_command": command}
    return {"text": text, **proof, "must_pass": True, "status": "pending"}


def split_id(text: str, key: str) -> tuple[str, str]:
    """The id at the start of ``text``, empty if there is none, and the text after it.

    ``key`` is the option, for the error. Raises :class:`InputError` for an id without a text or in
    small letters.
    """
    head, colon, rest = text.partition(":")
    name = head.strip()
    if colon and CRITERION_ID.fits(name):
        if rest.startswith(":"):
            raise at_key(key, text).invalid(f"{name} has no text", SHAPE)
        return name, rest
    if re.fullmatch(r"[Aa][Cc][0-9]+", name) and not name.startswith("AC"):
        raise at_key(key, text).invalid(
            f"{name} is no criterion id: its letters are capital ones", f"write {name.upper()}"
        )
    return "", text


def free_ids(taken: Iterable[object]) -> Iterator[str]:
    """``AC1``, ``AC2`` and so on, without those in ``taken``."""
    names = {name for name in taken if isinstance(name, str)}
    return (name for name in map("AC{}".format, count(1)) if name not in names)


def numbered(
    criteria: Sequence[Mapping[str, Any]], taken: Iterable[str] = ()
) -> list[dict[str, Any]]:
    """``criteria``, each with an id; ``taken`` are the ids of the goal's other criteria."""
    free = free_ids([*taken, *(criterion.get("id") for criterion in criteria)])
    return [{"id": c["id"] if "id" in c else next(free), **c} for c in criteria]
