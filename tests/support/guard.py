"""Notices a test that wrote to the real home or to the project's own folder."""

from __future__ import annotations

import os

WATCHED = {
    "home": (
        ".claude/flow-state",
        ".claude/flow-state/goal-trust.jsonl",
        ".claude/settings.flow.json",
        ".claude/settings.json",
        ".gitconfig",
        ".cache/flow",
    ),
    "project": (
        ".flow",
        ".flow/goals",
        ".flow/runs",
        ".decisions",
        ".claude",
        ".specs",
        ".git/config",
        ".git/hooks",
        ".git/info",
        ".git/HEAD",
    ),
}
"""Where Flow, or git called in the wrong folder, would leave something. A few ``lstat`` a test."""


class Guard:
    """Compares the watched places before and after a test."""

    def __init__(self, home: str, project: str) -> None:
        places = {"home": home, "project": project}
        self.paths = [
            os.path.join(places[which], rel) for which, names in WATCHED.items() for rel in names
        ]

    def look(self) -> list[tuple[int, int] | None]:
        """What is there now, and the working directory."""
        cwd = os.stat(os.getcwd())
        return [(cwd.st_dev, cwd.st_ino), *(stamp(path) for path in self.paths)]

    def changes(self, before: list[tuple[int, int] | None]) -> list[str]:
        """One sentence for each place that changed since ``before``."""
        try:
            now = self.look()
        except FileNotFoundError:
            return ["the test left the process in a folder that is gone"]
        problems = [
            f"the test wrote outside its folder: {path}"
            for path, was, found in zip(self.paths, before[1:], now[1:], strict=True)
            if was != found
        ]
        if before[0] != now[0]:
            problems.append("the test changed the working directory and did not go back")
        return problems


def stamp(path: str) -> tuple[int, int] | None:
    """When ``path`` last changed and its size; None where nothing is there."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size)
