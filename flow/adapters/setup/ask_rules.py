"""Whether Claude Code's own settings ask before a command of Flow's."""

from __future__ import annotations

import json
import os

from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

LIMIT = 1 << 20
"""Bytes of a settings file that are read."""
NAMES = ("settings.json", "settings.local.json")


def about_flow(folders: Iterable[str]) -> bool:
    """Whether a settings file below one of these folders has a rule to ask about Flow."""
    files = (os.path.join(folder, ".claude", name) for folder in folders for name in NAMES)
    return any(map(_asks_about_flow, files))


def _asks_about_flow(file: str) -> bool:
    try:
        with open(file, encoding="utf-8") as stream:
            rules = json.loads(stream.read(LIMIT))["permissions"]["ask"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False
    return any("flow" in str(rule) for rule in rules if rule) if isinstance(rules, list) else False
