"""What auto mode remembers about a checkout, in the user's state folder (SPEC 9.3).

Which executions were tried, so that each is scored once, and what is to be told at the next stop,
once. It lies there and not in the checkout, which could otherwise put words into Flow's mouth.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager

from flow.adapters.fs import files, lenient_json, locks
from flow.adapters.fs.state_folder import (
    check_state_dir,
    ensure_state_dir,
    replace_own,
    storage_error,
)
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = "auto-judge"
LIMIT = 1 << 20
"""Bytes of the memory's file."""
MOST_TRIED = 500
"""Executions that are remembered; older ones have their card."""
MOST_NEWS = 20
MOST_TEXT = 20_000
"""Characters of one piece of news."""


class Memory:
    """What is remembered about the checkout at ``top``. ``state`` is the user's state folder."""

    def __init__(self, state: str, top: str) -> None:
        self._state = state
        key = sha256(os.fsencode(os.path.realpath(top))).hexdigest()[:32]
        self._file = f"{FOLDER}/{key}.json"
        self._lock = f"{FOLDER}/{key}.lock"
        self._work = f"{FOLDER}/{key}.work.lock"

    @contextmanager
    def working(self, seconds: float) -> Iterator[None]:
        """Hold the lock of whoever scores; :class:`LockTimeout` after ``seconds``."""
        self._ready()
        with locks.exclusive(self._state, self._work, timeout=seconds, quick=True):
            yield

    def tried(self, execution: str) -> bool:
        """Whether this execution was scored, or tried in vain, before."""
        return execution in self._read()["tried"]

    def settled(self, session: str) -> int | None:
        """How many runs of a session are done with, from its first on; None: it is not known."""
        number: int | None = self._read()["sessions"].get(session)
        return number

    def settle(self, session: str, number: int) -> None:
        """The first so many runs of the session are done with."""
        if self.settled(session) != number:
            with self._changed() as memory:
                memory["sessions"].pop(session, None)
                memory["sessions"][session] = number

    def begin(self, execution: str, skill: str) -> None:
        """This execution is being scored now."""
        with self._changed() as memory:
            memory["tried"][execution] = {"state": "running", "skill": skill}

    def end(self, execution: str, news: str | None, *, once: str | None = None) -> None:
        """It was scored, or cannot be; ``news`` is for the user.

        ``once`` names a fault that is told one time only, whatever else it happens to.
        """
        with self._changed() as memory:
            row = memory["tried"].pop(execution, {})
            memory["tried"][execution] = {"state": "done", "skill": row.get("skill", "")}
            if news is not None:
                _tell(memory, news, once)

    def tell(self, news: str, *, once: str) -> None:
        """Something to be told at the next stop, unless ``once`` was told before."""
        if once not in self._read()["told"]:
            with self._changed() as memory:
                _tell(memory, news, once)

    def take(self) -> list[str]:
        """What is to be told now; it will not be told again."""
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
        """The skills of executions that somebody began to score and never ended; they are done.

        For whoever holds :meth:`working`: then nobody else is at work.
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

    def _ready(self) -> None:
        ensure_state_dir(self._state)
        ensure_state_dir(os.path.join(self._state, FOLDER))

    @contextmanager
    def _changed(self) -> Iterator[dict[str, Any]]:
        self._ready()
        with locks.exclusive(self._state, self._lock, timeout=10, quick=True):
            memory = self._read()
            yield memory
            memory["tried"] = dict(list(memory["tried"].items())[-MOST_TRIED:])
            memory["sessions"] = dict(list(memory["sessions"].items())[-MOST_TRIED:])
            memory["news"] = memory["news"][-MOST_NEWS:]
            memory["told"] = memory["told"][-MOST_TRIED:]
            path = os.path.join(self._state, self._file)
            text = json.dumps(memory, separators=(",", ":"), ensure_ascii=True)
            try:
                replace_own(path, text.encode("ascii"))
            except OSError as error:
                raise storage_error("write what auto mode remembers", path, error) from error

    def _read(self) -> dict[str, Any]:
        """The memory; an absent or spoilt one is an empty one, since cards say what was scored."""
        data = None
        if check_state_dir(self._state):
            data = files.read_optional(self._state, self._file, limit=LIMIT)
        memory = lenient_json.mapping(data) or {}
        tried = memory.get("tried")
        rows = tried.items() if isinstance(tried, dict) else ()
        return {
            "tried": {k: v for k, v in rows if isinstance(v, dict) and "state" in v},
            "sessions": _numbers(memory.get("sessions")),
            "news": _texts(memory.get("news")),
            "told": _texts(memory.get("told")),
        }


def _tell(memory: dict[str, Any], news: str, once: str | None) -> None:
    if once is not None:
        if once in memory["told"]:
            return
        memory["told"].append(once)
    memory["news"].append(news[:MOST_TEXT])


def _numbers(value: Any) -> dict[str, int]:
    rows = value.items() if isinstance(value, dict) else ()
    return {key: number for key, number in rows if type(number) is int and number >= 0}


def _texts(value: Any) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
