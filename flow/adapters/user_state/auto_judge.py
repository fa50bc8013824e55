"""Memory of auto mode about a checkout, in the user's state folder (SPEC 9.3).

It has the executions that were tried, so that each is scored once, and the news for the next stop,
each shown once. It is not in the checkout, which could otherwise put words into Flow's mouth.
"""

from __future__ import annotations

import os
from contextlib import contextmanager

from flow.adapters.fs import files, lenient_json, locks
from flow.adapters.fs.state_folder import check_state_dir, ensure_below, key_of, write_json
from flow.startup.json import object_of, texts_of
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = "auto-judge"
LIMIT = 1 << 20
"""Most bytes of the memory's file."""
MOST_TRIED = 500
"""Most executions that are remembered; older ones have their card."""
MOST_NEWS = 20
MOST_TEXT = 20_000
"""Most characters of one piece of news."""


class AutoJudgeMemory:
    """The memory about the checkout at ``top``. ``state`` is the user's state folder."""

    def __init__(self, state: str, top: str) -> None:
        self._state = state
        key = key_of(os.path.realpath(top))
        self._file = f"{FOLDER}/{key}.json"
        self._lock = f"{FOLDER}/{key}.lock"
        self._work = f"{FOLDER}/{key}.work.lock"

    @contextmanager
    def scoring_lock(self, seconds: float) -> Iterator[None]:
        """Hold the lock of scoring; :class:`LockTimeout` after ``seconds``."""
        ensure_below(self._state, FOLDER)
        with locks.exclusive(self._state, self._work, timeout=seconds, quick=True):
            yield

    def tried(self, execution: str) -> bool:
        """Whether this execution was scored, or tried in vain, before."""
        return execution in self._read()["tried"]

    def settled(self, session: str) -> int | None:
        """Number of runs of a session, from its first on, that are done; None if unknown."""
        number: int | None = self._read()["sessions"].get(session)
        return number

    def settle(self, session: str, number: int) -> None:
        """Record that the first ``number`` runs of the session are done."""
        if self.settled(session) != number:
            with self._changed() as memory:
                memory["sessions"].pop(session, None)
                memory["sessions"][session] = number

    def begin(self, execution: str, skill: str) -> None:
        """Record that this execution is being scored now."""
        with self._changed() as memory:
            memory["tried"][execution] = {"state": "running", "skill": skill}

    def end(self, execution: str, news: str | None, *, once: str | None = None) -> None:
        """Record that it was scored, or cannot be; ``news`` is for the user.

        ``once`` names a fault that is reported a single time, for any number of executions.
        """
        with self._changed() as memory:
            row = memory["tried"].pop(execution, {})
            memory["tried"][execution] = {"state": "done", "skill": row.get("skill", "")}
            if news is not None:
                _tell(memory, news, once)

    def tell(self, news: str, *, once: str) -> None:
        """Add news for the next stop, unless news with this ``once`` was given before."""
        if once not in self._read()["told"]:
            with self._changed() as memory:
                _tell(memory, news, once)

    def take_news(self) -> list[str]:
        """Remove and return the news to show now; it will not be shown again."""
        if not check_state_dir(self._state):
            return []
        memory = self._read()
        if not memory["news"]:
            return []
        with self._changed() as memory:
            news: list[str] = memory["news"]
            memory["news"] = []
        return news

    def given_up(self) -> list[str]:
        """The skills of executions whose scoring was begun and never ended; they count as done.

        Under :meth:`scoring_lock`: then no other process scores.
        """
        if not any(row["state"] == "running" for row in self._read()["tried"].values()):
            return []
        skills = []
        with self._changed() as memory:
            for row in memory["tried"].values():
                if row["state"] == "running":
                    row["state"] = "done"
                    skills.append(str(row.get("skill", "")))
        return skills

    # --- the file ------------------------------------------------------------------------------

    @contextmanager
    def _changed(self) -> Iterator[dict[str, Any]]:
        ensure_below(self._state, FOLDER)
        with locks.exclusive(self._state, self._lock, timeout=10, quick=True):
            memory = self._read()
            yield memory
            memory["tried"] = dict(list(memory["tried"].items())[-MOST_TRIED:])
            memory["sessions"] = dict(list(memory["sessions"].items())[-MOST_TRIED:])
            memory["news"] = memory["news"][-MOST_NEWS:]
            memory["told"] = memory["told"][-MOST_TRIED:]
            write_json(self._state, self._file, memory, "write what auto mode remembers")

    def _read(self) -> dict[str, Any]:
        """The memory; an absent or damaged one is empty, since cards show which were scored."""
        data = None
        if check_state_dir(self._state):
            data = files.read_optional(self._state, self._file, limit=LIMIT)
        memory = lenient_json.mapping(data) or {}
        rows = object_of(memory.get("tried")).items()
        return {
            "tried": {k: v for k, v in rows if isinstance(v, dict) and "state" in v},
            "sessions": _numbers(memory.get("sessions")),
            "news": texts_of(memory.get("news")),
            "told": texts_of(memory.get("told")),
        }


def _tell(memory: dict[str, Any], news: str, once: str | None) -> None:
    if once is not None:
        if once in memory["told"]:
            return
        memory["told"].append(once)
    memory["news"].append(news[:MOST_TEXT])


def _numbers(value: Any) -> dict[str, int]:
    rows = object_of(value).items()
    return {key: number for key, number in rows if type(number) is int and number >= 0}
