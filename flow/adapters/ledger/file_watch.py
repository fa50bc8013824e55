"""Notice changes that a running command makes to HEAD, the goal and Flow's own files.

SPEC 3, step 2. Each look compares with the last one: there is one look when a command ends, before
another is started, and one when its evidence is recorded, since recording makes most of the changes
in between. A difference is blamed on the command, unless an event accounts for it: another Flow
process that wrote at the same time has left one. A forged event is not detected here, but by the
hash chain of SPEC 10 (:mod:`flow.adapters.chain.check`).

Of the many sidecars only the folder's own stamp and those that the goal refers to are observed, so
that the cost does not grow with the run. These, and the files of other goals, are looked at less
often, by :meth:`FileWatch.changed_elsewhere` alone: a thousand criteria and as many goals would be
a million looks. Each command that ends pays for :data:`_LOOKS_PER_COMMAND` files, and a look is due
when all are paid for; so with few files each command is followed by one, and the last command
always is. A change is blamed on every command since the look before: on more than necessary, never
on none; but on none if the user's state folder has the digest of another goal's file.

The runs of other goals and the goal's journal may be written by others at any time. Flow takes none
of them away, so a run's folder, or a part of the journal, that is gone is blamed in the same way.

The goal's own file grows with its criteria, and is hashed, since a write through a shared mapping
changes no stamp. Commands pay for that in the same way, :data:`_BYTES_PER_COMMAND` each; if its
stamp has changed it is hashed at once.
"""

from __future__ import annotations

import os

from flow.adapters.chain.event_log import events_after, last_seq
from flow.adapters.fs import files, locks
from flow.adapters.git import repository
from flow.adapters.journal import parts
from flow.core import layout
from flow.errors import FlowError
from flow.startup.contexts import contextmanager, suppress
from flow.startup.sha import new, sha256
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from flow.adapters.git.find import Repo

    Vouches = Callable[[str, str, str], bool]
    """Whether the state folder has this SHA-256 for a run's file of that name."""

_LOOKS_PER_COMMAND = 64
"""Files that one command pays for, about 0.1 ms; if there are fewer, each command has a look."""

_BYTES_PER_COMMAND = 8 << 10
"""Bytes of the goal's file that one command pays for; a smaller file is hashed after each."""

WAIT = 5.0
"""Seconds to wait for another process's write before it is blamed on the command."""

_TRIES = 10
"""Most observations of the state while others write; then their changes are blamed."""

Stamp = tuple[int, ...]


class _GoalFile(NamedTuple):
    """The goal's file when it was hashed."""

    stamp: Stamp | None
    """None if it changed meanwhile; empty if it is absent."""
    digest: str
    seq: int
    """The run's newest event before that: only a later one accounts for the next change."""

    @property
    def size(self) -> int:
        """Size of the file in bytes; 0 if its stamp is not known."""
        return self.stamp[files.SIZE_IN_STAMP] if self.stamp else 0


class FileWatch:
    """Implements :class:`flow.app.ports.Watch` for one goal and one run."""

    def __init__(
        self,
        repo: Repo,
        goal_id: str,
        run_id: str,
        referred: Sequence[str] = (),
        vouches: Vouches | None = None,
        journal: str = "",
    ) -> None:
        own = (layout.evidence_dir, layout.events_file, layout.ledger_file)
        self._own = frozenset(path_of(run_id) for path_of in own)
        """Names that a record of evidence changes."""
        self._repo = repo
        self._goal_id = goal_id
        self._run_id = run_id
        self._referred: dict[str, dict[str, str]] = {}
        """The sidecars referred to: by their folders, their paths by their names."""
        for reference in referred:
            folder, _, name = reference.rpartition("/")
            self._referred.setdefault(folder, {})[name] = reference
        self._vouches = vouches
        self._journal = journal
        """The first file of the goal's journal; empty if it is not watched."""
        self._lasting: frozenset[str] = frozenset()
        """Names at the last look that Flow never takes away."""
        self._state: dict[str, object] | None = None
        """Name → state at the last look; None before the first one."""
        self._seq = 0
        self._elsewhere: dict[str, Stamp] | None = None
        """Other goals' files and the sidecars referred to, as they were at the last look."""
        self._goals: Stamp = ()
        """The stamp of the goals' folder: another stamp shows that a name came or went."""
        self._unlooked = 0
        """Commands that ended since the last look."""
        self._goal = _GoalFile(None, "", 0)
        """State of the goal's file at the last hashing, which only :meth:`changed_elsewhere` sets.
        """
        self._unhashed = 0
        """Commands that ended since that hashing."""

    def settle(self) -> tuple[str, ...]:
        """Take the present state as known, after this evaluation has recorded evidence.

        Returns the names of other changes since the last look that no event accounts for: another
        command may run meanwhile.
        """
        if self._elsewhere is None:
            self._goals, self._elsewhere = self._look_elsewhere()
            self._lasting = self._look_lasting()
            self._goal = self._hashed_goal()
        return self._look(self._own)

    def changed(self) -> tuple[str, ...]:
        """Names of files that changed since the last look, and no event accounts for it."""
        return self._look(frozenset())

    def _look(self, own: frozenset[str]) -> tuple[str, ...]:
        """Take the present state; returns unaccounted differences that are not in ``own``."""
        before, seq = self._state, self._seq
        now = self._take()
        if before is None or own.issuperset(_differing_names(before, now)):
            return ()
        differing = self._unaccounted(before, now, seq)
        if differing:
            with suppress(FlowError), self._others_done():
                return self._unaccounted(before, self._take(), seq)
        return differing

    def _take(self) -> dict[str, object]:
        """The present state, with which the next look compares.

        Observed again if an event was appended meanwhile: otherwise the next look would see its
        files as changed, and not the event that accounts for them.
        """
        for _ in range(_TRIES):
            self._seq = last_seq(self._repo.top, self._run_id)
            self._state = state = self._observe()
            if last_seq(self._repo.top, self._run_id) == self._seq:
                break
        return state

    def changed_elsewhere(self, *, last: bool = False) -> Mapping[str, int]:
        """Names of other goals' files, of sidecars and of this goal that changed since a look.

        With each, the number of most recent commands that may have changed it. Called once for each
        command that ended; ``last``: each look is due. A look comes at once if the goals' folder
        shows that one of its names came or went, and at the goal if it has another stamp.
        """
        self._unlooked += not last
        self._unhashed += not last
        changes: dict[str, int] = {}
        if self._is_look_due(last):
            commands, self._unlooked = self._unlooked, 0
            before = self._elsewhere or {}
            self._goals, self._elsewhere = self._look_elsewhere()
            differing = _differing_names(before, self._elsewhere)
            foreign = (name for name in differing if not self._is_flows(name))
            changes.update(dict.fromkeys(foreign, commands))
            lasting, self._lasting = self._lasting, self._look_lasting()
            changes.update(dict.fromkeys(sorted(lasting - self._lasting), commands))
        if self._is_hash_due(last):
            commands, self._unhashed = self._unhashed, 0
            if self._goal_changed():
                changes[f"goal {self._goal_id}"] = commands
        return changes

    def _is_flows(self, name: str) -> bool:
        """Whether it is another goal's file, and as another Flow process wrote it.

        The user's state folder decides; an event anyone could have written.
        """
        from flow.adapters.ledger.reader import parse_goal

        goal_id = layout.goal_of(name)
        if goal_id is None or self._vouches is None:
            return False
        try:
            data = files.read_optional(self._repo.top, name, limit=layout.GOAL_LIMIT)
            run_id = parse_goal(data, name)[0].run_id if data is not None else None
            if data is None or run_id is None:
                return False
            return self._vouches(run_id, layout.GOAL_DIGESTS + goal_id, sha256(data).hexdigest())
        except FlowError:
            return False

    def _is_look_due(self, last: bool) -> bool:
        files = len(self._elsewhere or ()) + len(self._lasting)
        paid = self._unlooked * _LOOKS_PER_COMMAND >= files
        return last or paid or self._goals_stamp() != self._goals

    def _is_hash_due(self, last: bool) -> bool:
        if last:
            return self._unhashed > 0
        paid = self._unhashed * _BYTES_PER_COMMAND >= self._goal.size
        return paid or self._goal_stamp() != self._goal.stamp

    def _goal_changed(self) -> bool:
        """Whether the goal's file changed without an account; it is then taken as it is now."""
        before = self._goal
        self._goal = self._hashed_goal()
        if self._is_accounted_goal(before):
            return False
        try:
            with self._others_done():
                self._goal = self._hashed_goal()
                return not self._is_accounted_goal(before)
        except FlowError:
            return True

    def _is_accounted_goal(self, before: _GoalFile) -> bool:
        digest = self._goal.digest
        if digest == before.digest:
            return True
        events = events_after(self._repo.top, self._run_id, before.seq)
        return any(event.get("goal_sha256") == digest for event in events)

    def _hashed_goal(self) -> _GoalFile:
        seq = last_seq(self._repo.top, self._run_id)
        stamp = self._goal_stamp()
        digest = _content(self._repo.top, layout.goal_file(self._goal_id))
        return _GoalFile(stamp if self._goal_stamp() == stamp else None, digest, seq)

    def _goal_stamp(self) -> Stamp:
        return files.stamp(self._repo.top, layout.goal_file(self._goal_id))

    def _goals_stamp(self) -> Stamp:
        return files.stamp(self._repo.top, layout.GOALS)

    def _look_elsewhere(self) -> tuple[Stamp, dict[str, Stamp]]:
        """The stamp of the goals' folder, taken first, and those of the files."""
        top, goals = self._repo.top, self._goals_stamp()
        own = os.path.basename(layout.goal_file(self._goal_id))
        folder = _folder(f"{top}/{layout.GOALS}")
        stamps = {f"{layout.GOALS}/{name}": stamp for name, stamp in folder if name != own}
        for paths in self._referred.values():
            stamps |= files.stamps(top, paths)
        return goals, stamps

    def _look_lasting(self) -> frozenset[str]:
        """The folders of other runs, and the parts of the goal's journal."""
        top, lasting = self._repo.top, set[str]()
        with suppress(OSError):
            runs = (name for name in os.listdir(f"{top}/{layout.RUNS}") if name[0] != ".")
            lasting.update(f"{layout.RUNS}/{name}" for name in runs if name != self._run_id)
        if self._journal:
            with suppress(FlowError):  # a folder that cannot be read has none
                lasting.update(parts.parts(top, self._journal))
        return frozenset(lasting)

    def _unaccounted(
        self, before: Mapping[str, object], now: Mapping[str, object], seq: int
    ) -> tuple[str, ...]:
        """Names that differ without an event after ``seq`` that accounts for them."""
        differing = _differing_names(before, now)
        if not differing:
            return ()
        events = events_after(self._repo.top, self._run_id, seq)
        accounts = {str(event.get("type")) for event in events}
        full = {name for name in differing if name not in before and _is_full(name)}
        return tuple(name for name in differing if not _accounted(name, accounts, full))

    @contextmanager
    def _others_done(self) -> Iterator[None]:
        """Hold the locks of goal and run: no process is between a write and the event for it."""
        top = self._repo.top
        with (
            locks.exclusive(top, layout.goal_lock(self._goal_id), timeout=WAIT, quick=True),
            locks.exclusive(top, layout.run_lock(self._run_id), timeout=WAIT, quick=True),
        ):
            yield

    def _observe(self) -> dict[str, object]:
        top = self._repo.top
        state: dict[str, object] = {}
        if self._repo.git_dir is not None:
            state["HEAD"] = repository.checked_out(self._repo)
        run = layout.run_dir(self._run_id)
        state[layout.evidence_dir(self._run_id)] = ()
        state.update((f"{run}/{name}", stamp) for name, stamp in _folder(f"{top}/{run}"))
        return state


def _differing_names(before: Mapping[str, object], now: Mapping[str, object]) -> tuple[str, ...]:
    if before == now:
        return ()
    names = sorted({*now, *before})
    return tuple(name for name in names if now.get(name) != before.get(name))


def _is_full(name: str) -> bool:
    """Whether it is one of the run's full files of events, and not the one that still grows."""
    return layout.events_number(name.rpartition("/")[2]) > 0


def _accounted(name: str, accounts: set[str], full: set[str]) -> bool:
    """Whether ``accounts``, the types of events since, explain a change of ``name``.

    ``full`` are files of events that were not there before.
    """
    if not accounts:
        return False
    if name.endswith("/events.jsonl") or name in full:
        return True  # it grew by whole, well-formed lines: they are the account
    if name.endswith(("/evidence", "/ledger.jsonl")):
        return "evidence" in accounts
    return name.endswith(("/proposal.json", "/last-verdict.json", "/baseline.json"))


def _content(top: str, rel: str) -> str:
    try:
        data = files.read_optional(top, rel, limit=layout.GOAL_LIMIT)
    except FlowError as error:  # a link, a pipe, a folder: a command may have put it there
        return str(error)
    if data is None:
        return "absent"
    digest = new("sha256", len(data))
    digest.update(data)
    return digest.hexdigest()


def _folder(path: str) -> list[tuple[str, Stamp]]:
    try:
        with os.scandir(path) as entries:
            names = sorted(entry.name for entry in entries)
    except OSError:
        return []
    return [(name, files.stamp(path, name)) for name in names if not name.startswith(".")]
