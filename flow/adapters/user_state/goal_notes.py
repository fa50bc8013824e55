"""Small notes in the user's state folder, about one goal each.

They hold the session that owns it, its wait, its results on the base commit. They are not in the
run's folder, which can arrive with a checkout: a command that is polled, or a session that owns a
goal, must come from this user.
"""

from __future__ import annotations

from flow.adapters.fs import files, lenient_json
from flow.adapters.fs.state_folder import check_state_dir, ensure_below, key_of, write_json
from flow.core.goal import ids
from flow.startup.typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = Literal["sessions", "waits", "baselines", "contracts"]
KINDS: tuple[Kind, ...] = get_args(Kind)
LIMIT = 4 << 20
"""Most bytes of a note; one holds a contract of 1 MiB, escaped."""


class GoalNotes:
    """One kind of notes about one repository's goals. ``folder`` is the user's state folder."""

    def __init__(self, folder: str, repo: str, kind: Kind) -> None:
        self._folder = folder
        self._kind = kind
        self._repo = key_of(repo)

    def read(self, goal_id: str) -> dict[str, Any] | None:
        """The note; None if there is none, or none that can be read."""
        if not check_state_dir(self._folder):
            return None
        data = files.read_optional(self._folder, self._rel(goal_id), limit=LIMIT)
        return lenient_json.mapping(data)

    def write(self, goal_id: str, note: Mapping[str, Any]) -> None:
        """Replace the note. Raises :class:`StorageError`, :class:`RefusedError`."""
        ensure_below(self._folder, f"{self._kind}/{self._repo}")
        # Not synced: a power cut costs a claim, no record.
        write_json(self._folder, self._rel(goal_id), note, "write a note of the user's")

    def remove(self, goal_id: str) -> None:
        """Remove the note; an absent one is fine."""
        if check_state_dir(self._folder):
            files.remove(self._folder, self._rel(goal_id), sync=False)

    def _rel(self, goal_id: str) -> str:
        return f"{self._kind}/{self._repo}/{ids.goal_id(goal_id)}.json"
