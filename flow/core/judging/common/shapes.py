"""Checks that the readers of judges' replies share."""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeGuard

FAULTS_SHOWN = 5


def are_texts(value: object) -> TypeGuard[list[str]]:
    """Whether ``value`` is a list of texts."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def first_faults(faults: Sequence[str]) -> str:
    """What is wrong with a reply, in one line: the first few faults, and how many more."""
    more = f"; and {len(faults) - FAULTS_SHOWN} more" if len(faults) > FAULTS_SHOWN else ""
    return "; ".join(faults[:FAULTS_SHOWN]) + more
