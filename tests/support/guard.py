"""Notices a test that wrote to the real home or to the project's own folder."""

from __future__ import annotations

import os

WATCHED = {
    "home": {
        "": (".gitconfig",),
        ".cache": ("flow",),
        ".claude": (
            "flow-state",
            "flow-state/goal-trust.jsonl",
            "settings.flow.json",
            "settings.json",
        ),
    },
    "project": {
        "": (".decisions", ".claude", ".specs", ".flow", ".venv-flow"),
        ".flow": ("goals", "runs"),
        ".git": ("config", "hooks", "info", "HEAD"),
    },
}
"""Where Flow, or git called in the wrong folder, would leave something: folder → names in it."""

Stamp = tuple[int, int] | None


class Guard:
    """Compares the watched places from one test to the next: some ``lstat``, as few as will do."""

    def __init__(self, home: str, project: str) -> None:
        places = {"home": home, "project": project}
        self.folders = {
            os.path.join(places[place], folder): names
            for place, folders in WATCHED.items()
            for folder, names in folders.items()
        }
        self.last: dict[str, Stamp] = {}

    def look(self) -> dict[str, Stamp]:
        """What is there now, and the working directory (under its own name)."""
        cwd = os.stat(os.getcwd())
        seen: dict[str, Stamp] = {".": (cwd.st_dev, cwd.st_ino)}
        for folder, names in self.folders.items():
            if os.path.lexists(folder):
                for name in names:
                    path = os.path.join(folder, name)
                    seen[path] = stamp(path)
        return seen

    def begin(self) -> None:
        """Look once, before the first test."""
        self.last = self.last or self.look()

    def changes(self) -> list[str]:
        """One sentence for each place that changed since the last look."""
        before = self.last
        try:
            now = self.last = self.look()
        except FileNotFoundError:
            return ["the test left the process in a folder that is gone"]
        problems = [
            f"the test wrote outside its folder: {path}"
            for path in sorted((before.keys() | now.keys()) - {"."})
            if before.get(path) != now.get(path)
        ]
        if before["."] != now["."]:
            problems.append("the test changed the working directory and did not go back")
        return problems


def stamp(path: str) -> Stamp:
    """When ``path`` last changed and its size; None where nothing is there."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size)
