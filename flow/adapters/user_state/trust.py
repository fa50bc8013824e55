"""Trust ledger: the goals that this user lets Flow run commands for (SPEC 7).

The ledger is ``goal-trust.jsonl`` in the user's state folder: one JSON line for each ``record`` and
``revoke``, never rewritten; for a repository and goal the newest line decides. A repository is
known by the real path of git's common directory, so that its linked worktrees are the same one;
without git, and if the repository does not know the folder, by that of the top level
(:func:`~flow.adapters.git.directories.repo_key`). A folder or ledger that others could have
written, or that is inside the checkout in question, is refused: it would let a checkout trust
itself.
"""

from __future__ import annotations

import os

from flow.adapters.fs import files, lenient_json, locks
from flow.adapters.fs.backwards import lines_with
from flow.adapters.fs.folders import reported
from flow.adapters.fs.state_folder import (
    append_own,
    ensure_state_dir,
    has_own,
    real_path,
    refuse_inside,
)
from flow.core.goal import ids
from flow.core.goal.loaded import SPEAKER_KEYS, TrustEntry
from flow.core.layout import DEFAULTS
from flow.core.text.display import visible
from flow.errors import RefusedError, StorageError, at_key, in_file
from flow.startup import json, re
from flow.startup.typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import BinaryIO

    from flow.core.settings import Settings
    from flow.core.standing.table import Doubt
    from flow.core.tool_calls.speaker import Speaker

LEDGER = "goal-trust.jsonl"
LOCK = "goal-trust.lock"
OPEN_TO_ALL = "flow.goals.executeVerificationCommands"

_LIMIT = 256 << 20
_LONGEST_LINE = 8 << 20
"""Bytes; a contract comes from a goal file of at most 1 MiB, and JSON escapes make it longer."""
_DIGEST = r"[0-9a-f]{64}"


class TrustLedger:
    """The ledger of one state folder, as one repository sees it.

    Reading never waits for a lock; ``warnings`` names the lines that were skipped. Every method
    raises :class:`RefusedError` (``unsafe_state_dir``) for a folder or ledger that cannot be
    relied on.
    """

    def __init__(self, folder: str, repo: str, top: str, speaker: Speaker | None = None) -> None:
        self._dir = real_path(folder)
        self._repo = repo
        self._top = top
        self._speaker = speaker.fields() if speaker is not None else {}
        self.warnings: tuple[str, ...] = ()

    def check(self, goal_id: str, digest: str) -> bool:
        """Whether the newest line for the goal records exactly this contract's digest."""
        newest = self.newest(goal_id)
        return newest is not None and newest.action == "record" and newest.digest == digest

    def newest(self, goal_id: str) -> TrustEntry | None:
        """The line that decides for the goal; None if there is none."""
        return next(self._backwards(_subject(goal_id)), None)

    def history(self, goal_id: str) -> tuple[TrustEntry, ...]:
        """Every line that records trust in the goal, newest first."""
        return tuple(self._records(goal_id))

    def recorded_contract(self, goal_id: str) -> Mapping[str, Any] | None:
        """The contract that was trusted last, even if that was revoked since."""
        entry = self.recorded(goal_id)
        return entry.contract if entry is not None else None

    def recorded(self, goal_id: str) -> TrustEntry | None:
        """The newest line that records trust in the goal, even if that was revoked since."""
        return next(self._records(goal_id), None)

    def _records(self, goal_id: str) -> Iterator[TrustEntry]:
        entries = self._backwards(_subject(goal_id))
        return (entry for entry in entries if entry.action == "record")

    def record(
        self, goal_id: str, digest: str, contract: Mapping[str, Any], *, now: str, how: str
    ) -> bool:
        """Trust this contract from now on.

        False, and nothing written, if it is trusted already. ``how`` names the command.
        """
        if not re.fullmatch(_DIGEST, digest):
            raise at_key("digest", digest).invalid("not a SHA-256 digest")
        goal_id = _subject(goal_id)
        self._guard()
        ensure_state_dir(self._dir)
        with locks.exclusive(self._dir, LOCK, quick=True):
            if self.check(goal_id, digest):
                return False
            self._append(now, "record", goal_id, digest, how, contract)
        return True

    def revoke(self, goal_id: str, *, now: str, how: str) -> bool:
        """End the trust in a goal. False, and nothing written, if there was none."""
        goal_id = _subject(goal_id)
        if not self._usable():
            return False
        with locks.exclusive(self._dir, LOCK, quick=True):
            newest = self.newest(goal_id)
            if newest is None or newest.action == "revoke":
                return False
            self._append(now, "revoke", goal_id, newest.digest, how, None)
        return True

    def entries(self) -> tuple[TrustEntry, ...]:
        """Every line of this repository, oldest first."""
        return tuple(self._forwards()) if self._usable() else ()

    def standing(self) -> tuple[TrustEntry, ...]:
        """The trust that is in force: for each goal its newest line, if a record."""
        newest = {entry.goal_id: entry for entry in self.entries()}
        return tuple(entry for entry in newest.values() if entry.action == "record")

    def _append(
        self,
        at: str,
        action: Literal["record", "revoke"],
        goal_id: str,
        digest: str,
        how: str,
        contract: Mapping[str, Any] | None,
    ) -> None:
        entry = TrustEntry(at, action, self._repo, goal_id, digest, how, contract, **self._speaker)
        line = json.dumps(entry.to_document(), separators=(",", ":"))
        append_own(self._dir, LEDGER, line)

    def _guard(self) -> None:
        refuse_inside(self._dir, self._top, self._repo)

    def _usable(self) -> bool:
        """Whether there is a ledger to read, in a folder that can be relied on."""
        self._guard()
        return has_own(self._dir, LEDGER, "the trust ledger")

    def _forwards(self) -> Iterator[TrustEntry]:
        """The entries in the order of the file, a line at a time."""
        fd = files.open_regular(self._dir, LEDGER)
        if fd is None:
            return
        with open(fd, "rb") as file:
            while line := _next_line(file):
                if len(line) > _LONGEST_LINE:
                    raise _too_long()
                entry = self._parse(line) if line.strip() else None
                if entry is not None and entry.repo == self._repo:
                    yield entry

    def _backwards(self, goal_id: str) -> Iterator[TrustEntry]:
        """The goal's entries in this repository, newest first, read from the end in blocks.

        A plain search for the goal's name comes before any parsing: a ledger of years stays quick.
        """
        if not self._usable():
            return
        fd = files.open_regular(self._dir, LEDGER)
        if fd is None:
            return
        try:
            if os.fstat(fd).st_size > _LIMIT:
                raise in_file(LEDGER).storage(
                    f"is larger than {_LIMIT} bytes",
                    "move the ledger away; goals are then trusted anew (flow trust record)",
                )
            goal, repo = f'"{goal_id}"'.encode(), json.dumps(self._repo).encode()
            with reported("read", LEDGER):
                for line in lines_with(
                    fd, goal, longest=_LONGEST_LINE, too_long=_too_long, unended=True
                ):
                    entry = self._parse(line) if repo in line else None
                    if entry and (entry.repo, entry.goal_id) == (self._repo, goal_id):
                        yield entry
        finally:
            os.close(fd)

    def _parse(self, line: bytes) -> TrustEntry | None:
        """The line's entry; None for a torn line (with a warning) and for another shape."""
        try:
            document = lenient_json.loads(line)
        except ValueError:
            beginning = visible(line[:40].decode("utf-8", "replace"))
            warning = f"{LEDGER}: skipped a line that is not whole ({beginning}...)"
            if warning not in self.warnings:
                self.warnings += (warning,)
            return None
        if not isinstance(document, dict):
            return None
        entry = TrustEntry(*(document.get(name) for name in TrustEntry._fields))  # type: ignore[arg-type]
        texts = (entry.at, entry.repo, entry.goal_id, entry.digest, entry.how)
        if entry.action not in ("record", "revoke") or not all(isinstance(t, str) for t in texts):
            return None
        if entry.action == "record" and not isinstance(entry.contract, dict):
            return None
        speaker = (document.get(name) for name in SPEAKER_KEYS)
        if not all(text is None or isinstance(text, str) for text in speaker):
            return entry._replace(said_from=None, agent=None, agent_session=None)
        return entry


def _subject(name: str) -> str:
    """A line's subject, checked: a goal's id, or the file of defaults, no goal's possible name."""
    return name if name == DEFAULTS else ids.goal_id(name)


def defaults_known(ledger: TrustLedger, digest: str) -> bool:
    """Whether the user trusts the file of defaults as it is; False for a ledger in doubt.

    Permission to run every goal's commands does not extend to this file: a goal that it trusted
    would stay trusted.
    """
    try:
        return ledger.check(DEFAULTS, digest)
    except (RefusedError, StorageError):
        return False


def trusted(settings: Settings, ledger: TrustLedger, goal_id: str, digest: str) -> tuple[bool, str]:
    """Whether the goal's commands may run, and the reason, for a person to read.

    A ledger that cannot be relied on is no trust; the reason then names its fault.
    """
    why_not, why = doubt(settings, ledger, goal_id, digest)
    return not why_not, why


def doubt(settings: Settings, ledger: TrustLedger, goal_id: str, digest: str) -> tuple[Doubt, str]:
    """Why the goal's commands may not run, in one word and for a person; empty if they may."""
    if settings.execute_verification_commands:
        return "", f"{OPEN_TO_ALL} is true in your own settings: every goal's commands may run"
    try:
        newest = ledger.newest(goal_id)
    except (RefusedError, StorageError) as error:
        return "unusable", f"the trust ledger cannot be used: {error}"
    if newest is None:
        return "never", (
            f"nobody here has trusted goal {goal_id}: read its commands, "
            f"then run: flow trust record {goal_id}"
        )
    if newest.action == "revoke":
        return "revoked", (
            f"trust in goal {goal_id} was revoked at {visible(newest.at)}; "
            f"to trust it again: flow trust record {goal_id}"
        )
    if newest.digest != digest:
        return "changed", (
            f"goal {goal_id} has changed since it was trusted at {visible(newest.at)}; "
            f"to see the difference and trust it: flow trust record {goal_id}; "
            f"changes on the record: flow goal amend {goal_id} --edit"
        )
    return "", f"since {visible(newest.at)} ({visible(newest.how)})"


class TrustedContracts:
    """The contracts that are trusted now, of all repositories at once, read in one pass.

    It only answers "yes": for other content of a line, and a ledger in doubt, ask :func:`doubt`.
    """

    def __init__(self, folder: str) -> None:
        self._newest: dict[tuple[str, str], tuple[str, str]] = {}
        try:
            if has_own(folder, LEDGER, "the trust ledger"):
                self._read(folder)
        except (RefusedError, StorageError):
            self._newest.clear()

    def trusts(self, repo: str, goal_id: str, digest: str) -> bool:
        """Whether the newest line about the goal records exactly this contract."""
        return self._newest.get((repo, goal_id)) == ("record", digest)

    def _read(self, folder: str) -> None:
        fd = files.open_regular(folder, LEDGER)
        if fd is None:
            return
        with open(fd, "rb") as file:
            while line := _next_line(file):
                head = re.match(_HEAD, line)
                if head is None or not line.endswith(b"}\n"):
                    self._forget_subject(line)
                    continue
                action, repo, goal_id, digest = (part.decode("ascii") for part in head.groups())
                self._newest[json.loads(repo), goal_id] = action, digest

    def _forget_subject(self, line: bytes) -> None:
        """Forget the goals that a line in another form may be about."""
        document = lenient_json.mapping(line) or {}
        self._newest.pop((str(document.get("repo")), str(document.get("goal_id"))), None)


_HEAD = (
    rb'\{"at":"[^"\\]*","action":"(record|revoke)","repo":("(?:[^"\\]|\\.)*"),'
    rb'"goal_id":"([a-z0-9-]+)","digest":"([0-9a-f]{64})",'
)
"""Start of a line that Flow wrote about a goal."""


def _too_long() -> StorageError:
    return in_file(LEDGER).storage(
        f"holds a line of more than {_LONGEST_LINE} bytes, which is no entry",
        "take that line out, or move the ledger away; goals are then trusted anew",
    )


def _next_line(file: BinaryIO) -> bytes:
    with reported("read", LEDGER):
        return file.readline(_LONGEST_LINE + 1)
