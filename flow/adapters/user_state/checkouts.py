"""Notes of the user's state folder about a checkout (SPEC 17.10).

They name the goals that Flow left open there, and the Stop hook's acts in each session. Their
folder is ``checkouts/<path of the checkout>/:flow/``: the hook's script finds out by one file test
for each folder above, without an interpreter, whether Flow works for a checkout whose own ``.flow``
may be gone. ``goals.json`` holds the goals; each session has a file of its own.
"""

from __future__ import annotations

import os

from flow.adapters.fs import files, lenient_json, locks
from flow.adapters.fs.state_folder import (
    check_state_dir,
    drop_oldest,
    ensure_below,
    key_of,
    state_dir,
    storage_error,
    write_json,
    write_own,
)
from flow.adapters.git.find import Repo, find_repo, read_regular, upward
from flow.adapters.user_state.noted_checkouts import FOLDER, HIDDEN, SESSIONS, note, notes_folder
from flow.core.goal import ids
from flow.core.stop.lost_goals import OpenGoal, OpenGoals, SessionNotes
from flow.errors import FlowError
from flow.startup.contexts import contextmanager
from flow.startup.json import object_of, texts_of
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from flow.core.chain.closing_record import ClosedGoal

GOALS = "goals.json"
LOCK = "goals.lock"
LIMIT = 4 << 20
"""Most bytes of one file."""
MOST_CLOSED = 50
"""Most closings of a checkout that wait for the next stop; the oldest are dropped first."""
MOST_SESSIONS = 32
"""Most sessions of a checkout that are remembered; the oldest are dropped first."""
_SESSION_PREFIX = "session-"
_JUDGING = ".judging"
_MARK = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
MOST_POINTERS = 256


class CheckoutNotes:
    """The notes about the checkout ``top``; ``folder`` is the user's state folder.

    Every method raises :class:`~flow.errors.FlowError` if the folder cannot be used.
    """

    def __init__(self, folder: str, top: str, git_dir: str | None) -> None:
        self._folder = folder
        self._rel = notes_folder(top)
        self._top = top
        self._git_dir = git_dir

    def read(self) -> OpenGoals:
        """The checkout's goals; none if they cannot be read."""
        document = self._object(GOALS)
        git_dir = document.get("git_dir")
        goals_by_id = {}
        for goal_id, row in object_of(document.get("goals")).items():
            goal = _open_goal(goal_id, row)
            if goal is not None:
                goals_by_id[goal_id] = goal
        closed = _closed_goals(document["closed"]) if "closed" in document else {}
        return OpenGoals(git_dir if isinstance(git_dir, str) else None, goals_by_id, closed)

    def note_next_status(self, goal_id: str, status: str) -> None:
        """Record that Flow is about to write ``status``; until then the last one counts as well."""
        known = self.read().goals.get(goal_id)
        if known is not None and status not in known.statuses:
            self._store(known._replace(statuses=(*known.statuses, status)))

    def note_open(self, goal: OpenGoal) -> None:
        """Record that Flow left the goal open in this state."""
        known = self.read().goals.get(goal.goal_id)
        if known is not None and not goal.contract:
            goal = goal._replace(contract=known.contract)
        if known != goal:
            self._store(goal)

    def forget(self, goal_id: str) -> bool:
        """Remove the goal; returns whether it was there."""
        if goal_id not in self.read().goals:
            return False
        with self._changing() as before:
            self._write(before._replace(goals=_without(before.goals, [goal_id])))
        return True

    def note_closed(self, goal: ClosedGoal) -> None:
        """Record that the goal was closed: it is not missing, and the next stop reports it."""
        with self._changing() as before:
            rows = [*_without(before.closed, [goal.goal_id]).values(), goal][-MOST_CLOSED:]
            goals = _without(before.goals, [goal.goal_id])
            self._write(before._replace(goals=goals, closed={row.goal_id: row for row in rows}))

    def closings_told(self, goal_ids: Collection[str]) -> None:
        """Record that a stop has reported these closings."""
        with self._changing() as before:
            self._write(before._replace(closed=_without(before.closed, goal_ids)))

    def session(self, session: str) -> SessionNotes | None:
        """The hook's notes about a session; None if it never stopped here."""
        name = _session_file(session)
        document = self._object(name)
        if document and os.path.lexists(self._path(name) + _JUDGING):
            document["judging"] = True
        return _notes(document) if document else None

    def keep_session(self, session: str, notes: SessionNotes) -> None:
        """Replace the notes about a session, where they are others.

        That one of its stops is being judged is an empty file beside them. Most stops change that
        alone, and to replace a file takes ten times as long, much longer on a busy disk.
        """
        name = _session_file(session)
        path, kept = self._path(name), notes._replace(judging=False)
        document = self._object(name)
        if not document or _notes(document) != kept:
            self._replace(name, kept._asdict())
        try:
            os.utime(path)  # not the oldest
            if notes.judging:
                os.close(os.open(path + _JUDGING, _MARK, 0o600))
            elif os.path.lexists(path + _JUDGING):
                os.unlink(path + _JUDGING)
        except OSError as error:
            raise storage_error("remember a stop", path, error) from error
        if not document:
            drop_oldest(os.path.dirname(path), MOST_SESSIONS, (_SESSION_PREFIX,))
        if notes.continued:
            self._note_session(session)

    def _note_session(self, session: str) -> None:
        """Record that the session works here, also where it stops in another folder."""
        rel, top = f"{FOLDER}/{SESSIONS}", os.fsencode(self._top)
        if not ids.SESSION_NAME.fits(session) or worked_in(self._folder, session) == self._top:
            return
        ensure_below(self._folder, rel)
        write_own(self._folder, f"{rel}/{session}", top, "remember a session")
        drop_oldest(os.path.join(self._folder, rel), MOST_POINTERS)

    @contextmanager
    def _changing(self) -> Iterator[OpenGoals]:
        """Hold the lock of the goals' file, and yield its content."""
        made = os.path.isdir(os.path.join(self._folder, self._rel))
        if not check_state_dir(self._folder) or not made:
            ensure_below(self._folder, self._rel)
        with locks.exclusive(self._folder, f"{self._rel}/{LOCK}", quick=True):
            yield self.read()

    def _store(self, goal: OpenGoal) -> None:
        with self._changing() as before:
            self._write(before._replace(goals={**before.goals, goal.goal_id: goal}))
        if os.path.lexists(os.path.join(self._folder, self._rel, HIDDEN)):
            files.remove(self._folder, f"{self._rel}/{HIDDEN}", sync=False)

    def _write(self, open_goals: OpenGoals) -> None:
        note(self._folder, self._top, self._git_dir or open_goals.git_dir)
        if not open_goals.goals and not open_goals.closed:
            # The hook's script starts nothing for this checkout any more.
            files.remove(self._folder, f"{self._rel}/{GOALS}", sync=False)
            return
        rows = {goal.goal_id: goal._asdict() for goal in open_goals.goals.values()}
        document = {"git_dir": self._git_dir or open_goals.git_dir, "goals": rows}
        if open_goals.closed:
            closed = open_goals.closed.values()
            document["closed"] = {row.goal_id: row._asdict() for row in closed}
        self._replace(GOALS, document)

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, self._rel, name)

    def _replace(self, name: str, document: Mapping[str, Any]) -> None:
        write_json(self._folder, f"{self._rel}/{name}", document, "remember a goal")

    def _object(self, name: str) -> dict[str, Any]:
        """A file of the notes; an empty object if there is none that can be read.

        The folder is the user's own, so it is opened in one step: every stop of an agent does that.
        """
        if not check_state_dir(self._folder):
            return {}
        data = read_regular(self._path(name), limit=LIMIT)
        return lenient_json.mapping(data) or {}


def worked_in(folder: str, session: str | None) -> str | None:
    """The checkout in which Flow last kept the session working; None if there is none."""
    if session is None or not ids.SESSION_NAME.fits(session):
        return None
    data = read_regular(f"{folder}/{FOLDER}/{SESSIONS}/{session}", limit=LIMIT)
    top = os.fsdecode(data) if data else ""
    return top if os.path.isabs(top) and "\0" not in top else None


def nearest(folder: str, below: str) -> str | None:
    """The nearest folder, from ``below`` upward, that is a checkout known to Flow; else None."""
    for above in upward(below):
        if os.path.lexists(f"{folder}/{notes_folder(above)}/{GOALS}"):
            return above
    return None


def repository_around(folder: str, environ: Mapping[str, str], session: str | None) -> Repo | None:
    """The repository around ``folder``; None if there is none and Flow knows of none.

    A checkout that Flow works for, and of which nothing is left, is one without git. Outside of all
    repositories it is the one in which Flow kept the session working.
    """
    folder = os.path.realpath(folder)
    repo = find_repo(folder)
    try:
        state = state_dir(environ, environ.get("HOME"), None)
        top = nearest(state, folder)
        if top is None and repo is None:
            top = worked_in(state, session)
            repo = find_repo(top) if top is not None else None
    except FlowError:
        return repo
    if top is None or (repo is not None and not f"{top}/".startswith(f"{repo.top}/")):
        return repo
    if repo is not None and repo.top == top:
        return repo
    return Repo(top, None, None, "its folder or its .git is gone")


def _session_file(session: str) -> str:
    return f"{_SESSION_PREFIX}{key_of(session)}.json"


def _open_goal(goal_id: str, row: Any) -> OpenGoal | None:
    if not isinstance(row, dict) or not isinstance(row.get("statuses"), list):
        return None
    texts = (row.get("run_id"), row.get("branch"), row.get("contract"))
    statuses = tuple(status for status in row["statuses"] if isinstance(status, str))
    if not statuses or not all(isinstance(text, str) for text in texts):
        return None
    return OpenGoal(goal_id, row["run_id"], row["branch"], statuses, row["contract"])


def _closed_goals(value: Any) -> dict[str, ClosedGoal]:
    from flow.core.chain.closing_record import ClosedGoal

    closed = {}
    for goal_id, row in object_of(value).items():
        texts: list[Any] = [object_of(row).get(key) for key in ClosedGoal._fields[1:]]
        if all(isinstance(text, str) for text in texts):
            closed[goal_id] = ClosedGoal(goal_id, *texts)
    return closed


def _without(rows: Mapping[str, Any], goal_ids: Collection[str]) -> dict[str, Any]:
    return {goal_id: row for goal_id, row in rows.items() if goal_id not in goal_ids}


def _notes(document: Mapping[str, Any]) -> SessionNotes:
    return SessionNotes(
        judged=tuple(texts_of(document.get("judged"))),
        continued=tuple(texts_of(document.get("continued"))),
        told=_mapping(document.get("told"), str),
        asked=_mapping(document.get("asked"), int),
        waits=_mapping(document.get("waits"), int),
        judging=document.get("judging") is True,
    )


def _mapping(value: Any, kind: type) -> dict[str, Any]:
    return {key: each for key, each in object_of(value).items() if type(each) is kind}
