"""Notice changes that a running command makes to HEAD, the goal and Flow's own files.

SPEC 3, step 2. Before each command the present state is settled; when one ends, a difference is
blamed on it, unless an event accounts for it: another Flow process that wrote at the same time has
left one. A forged event is not detected here, but by the hash chain of SPEC 10
(:mod:`flow.adapters.chain.check`).

Of the many sidecars only the folder's own stamp and those the goal refers to are observed, so that
the cost does not grow with the run.
"""

from __future__ import annotations

import os

from flow.adapters.chain.event_log import events_after, last_seq
from flow.adapters.fs import files, locks
from flow.adapters.git import repository
from flow.core import layout
from flow.errors import FlowError
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.adapters.git.repository import Repo

_MOST_GOALS = 2000
"""Goals whose files are stamped one by one; beyond that only the folder's own stamp counts."""

WAIT = 5.0
"""Seconds that another process's write is waited for before it is blamed on the command."""

_TRIES = 10
"""How often the state is observed again because others write; then their changes are blamed."""

Stamp = tuple[int, ...]


class FileWatch:
    """Implements :class:`flow.app.ports.Watch` for one goal and one run."""

    def __init__(self, repo: Repo, goal_id: str, run_id: str, referred: Sequence[str] = ()) -> None:
        self._repo = repo
        self._goal_id = goal_id
        self._run_id = run_id
        self._referred = tuple(referred)
        self._state: dict[str, object] = {}
        self._seq = 0

    def settle(self) -> None:
        """Take the present state as accounted for.

        Observed again where an event came meanwhile: else its files would be new later, and the
        event old.
        """
        for _ in range(_TRIES):
            self._seq = last_seq(self._repo.top, self._run_id)
            self._state = self._observe()
            if last_seq(self._repo.top, self._run_id) == self._seq:
                return

    def changed(self) -> tuple[str, ...]:
        """Names of what changed since the last :meth:`settle` without an account."""
        differing = self._differing()
        return self._once_others_are_done(differing) if differing else ()

    def _differing(self) -> tuple[str, ...]:
        now = self._observe()
        names = sorted({*now, *self._state})
        differing = [name for name in names if now.get(name) != self._state.get(name)]
        if not differing:
            return ()
        accounts = self._accounts()
        full = {name for name in differing if name not in self._state and _is_full(name)}
        return tuple(name for name in differing if not _accounted(name, now, accounts, full))

    def _once_others_are_done(self, differing: tuple[str, ...]) -> tuple[str, ...]:
        """Observe again while nobody writes to goal or run; an event comes last, under locks."""
        top = self._repo.top
        try:
            with (
                locks.exclusive(top, layout.goal_lock(self._goal_id), timeout=WAIT, quick=True),
                locks.exclusive(top, layout.run_lock(self._run_id), timeout=WAIT, quick=True),
            ):
                return self._differing()
        except FlowError:
            return differing

    def _observe(self) -> dict[str, object]:
        top = self._repo.top
        state: dict[str, object] = {}
        if self._repo.git_dir is not None:
            state["HEAD"] = (
                repository.head_commit(self._repo),
                repository.current_branch(self._repo),
            )
        state[f"goal {self._goal_id}"] = _content(top, layout.goal_file(self._goal_id))
        own = os.path.basename(layout.goal_file(self._goal_id))
        for name, stamp in _folder(os.path.join(top, layout.GOALS)):
            if name != own:
                state[f"{layout.GOALS}/{name}"] = stamp
        run = layout.run_dir(self._run_id)
        for name, stamp in _folder(os.path.join(top, run)):
            if name != "evidence":
                state[f"{run}/{name}"] = stamp
        evidence = layout.evidence_dir(self._run_id)
        state[evidence] = _stamp(os.path.join(top, evidence))
        for reference in self._referred:
            state[reference] = _stamp(os.path.join(top, reference))
        return state

    def _accounts(self) -> dict[str, set[str]]:
        """Events of other Flow processes since then: type → what they wrote."""
        accounts: dict[str, set[str]] = {}
        for event in events_after(self._repo.top, self._run_id, self._seq):
            kind = str(event.get("type"))
            accounts.setdefault(kind, set()).add(str(event.get("evidence_id", "")))
            if event.get("goal_sha256"):
                accounts.setdefault("goal", set()).add(str(event["goal_sha256"]))
        return accounts


def _is_full(name: str) -> bool:
    """Whether it is a file of events that was full before the present one."""
    return layout.events_number(name.rpartition("/")[2]) > 0


def _accounted(
    name: str, now: dict[str, object], accounts: dict[str, set[str]], full: set[str]
) -> bool:
    """``full`` are files of events that were not there before."""
    if not accounts:
        return False
    if name.startswith("goal "):
        return str(now.get(name)) in accounts.get("goal", ())
    if name.endswith("/events.jsonl") or name in full:
        return True  # it grew by whole, well-formed lines: that is what an account is
    if name.endswith(("/evidence", "/ledger.jsonl")):
        return "evidence" in accounts
    return name.endswith(("/proposal.json", "/last-verdict.json", "/baseline.json"))


def _content(top: str, rel: str) -> str:
    try:
        data = files.read_optional(top, rel, limit=layout.GOAL_LIMIT)
    except FlowError as error:  # a link, a pipe, a folder: what a command may have put there
        return str(error)
    return "absent" if data is None else sha256(data).hexdigest()


def _stamp(path: str) -> Stamp:
    try:
        st = os.lstat(path)
    except OSError:
        return ()
    return (st.st_mode, st.st_ino, st.st_size, st.st_mtime_ns, st.st_ctime_ns)


def _folder(path: str) -> list[tuple[str, Stamp]]:
    try:
        with os.scandir(path) as entries:
            names = sorted(entry.name for entry in entries)
    except OSError:
        return []
    if len(names) > _MOST_GOALS:
        return [("", _stamp(path))]
    return [(name, _stamp(os.path.join(path, name))) for name in names if not name.startswith(".")]
