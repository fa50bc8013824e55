"""Stored scorecards for a report: unreadable ones are left out."""

from __future__ import annotations

from flow.adapters.rubrics import score_files
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.core.settings import LoadedSettings

MOST = 20
"""Most cards of a skill whose composites are shown."""


def card(top: str, settings: LoadedSettings, path: str, skill: str) -> Mapping[str, Any]:
    """A scorecard; empty if it is not there, or is none of the skill."""
    try:
        return score_files.stored_card(top, score_files.folder(top, settings), skill, path)[0]
    except FlowError:
        return {}


def composites(top: str, settings: LoadedSettings, skill: str) -> Sequence[tuple[str, float]]:
    """(day, composite) of the newest cards of the skill, oldest first."""
    try:
        folder = score_files.folder(top, settings)
        cards = score_files.history(top, folder, skill, latest="9", most=MOST).cards
    except FlowError:
        return ()
    return [(each.timestamp[:10], float(each.composite)) for each in reversed(cards)]
