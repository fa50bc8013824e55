"""The record of journals, reports, scorecards and set-up files that Flow wrote (SPEC 17.11).

Closed goals are in it, too, for the working trees that have no event about it (SPEC 17.10).

It is in the user's state folder. Anyone can give a file such a name, so content counts: before Flow
writes one, a line about its new content is added to a small file about that path. Of a journal only
the front matter counts, since the text below is people's. Line ends do not count: git turns them
round at a checkout (``core.autocrlf``, ``eol``). All working trees of a repository share the
record.
"""

from __future__ import annotations

from flow.adapters.fs import files, locks
from flow.adapters.fs.state_folder import (
    append_own,
    check_state_dir,
    ensure_below,
    key_of,
    write_own,
)
from flow.errors import FlowError, RefusedError
from flow.startup.sha import Algorithm, new, sha256
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

FOLDER = "own"
LIMIT = 1 << 20
"""Most bytes about one path, some thousand states; then the older half is dropped."""
FLOW_BEGAN = "-"
"""``WrittenFile.origin`` of a file that Flow made."""
NO_FRONT = "0" * 64
ALGORITHMS: tuple[Algorithm, ...] = ("sha1", "sha256")
"""Algorithms of git's ids."""


class WrittenFile(NamedTuple):
    """One state of a file that Flow wrote."""

    front: str
    """The digest of a journal's front matter; ``-`` for other files."""
    origin: str
    """:data:`FLOW_BEGAN`, else the digest of another author's front matter that Flow continued."""
    blobs: tuple[str, ...] = ()
    """git's ids of the whole content, by both of its algorithms."""


class OwnRecord:
    """The record of one repository's files.

    ``locate`` returns (the user's state folder, the repository's key in it). If it raises a
    :class:`FlowError` nothing is recorded, and nothing known.
    """

    def __init__(self, locate: Callable[[], tuple[str, str]]) -> None:
        self._locate = locate

    def rows(self, rel: str, mentioning: str = "") -> tuple[WrittenFile, ...]:
        """The states of a file, oldest first; none if nothing is on record.

        A file has one for each turn. Those without ``mentioning`` in their line are left out.
        """
        try:
            return self._read(rel, mentioning)
        except FlowError:
            return ()

    def _read(self, rel: str, mentioning: str = "") -> tuple[WrittenFile, ...]:
        """Like :meth:`rows`, for a write: raises if the disk gives no answer.

        A history that was not read must not be taken for an empty one: the file would become
        another author's.
        """
        try:
            folder, repo = self._locate()
        except FlowError:
            return ()  # as in `_add`
        try:
            if not check_state_dir(folder):
                return ()
        except RefusedError:
            return ()
        data = files.read_optional(folder, _file(repo, rel), limit=2 * LIMIT)
        lines = (data or b"").decode("ascii", "replace").splitlines()
        return tuple(_parsed([line for line in lines if mentioning in line]))

    def file(self, rel: str, data: bytes) -> None:
        """Record the content that a report or scorecard is about to have."""
        self._add(rel, WrittenFile("-", FLOW_BEGAN, blob_names(data)))

    def set_up(self, rel: str, before: bytes | None, after: bytes) -> None:
        """Record that ``flow init`` is about to turn a file's content into ``after``."""
        old = () if before is None else (before, with_plain_ends(before))
        names = [name for data in (with_plain_ends(after), *old) for name in blob_names(data)]
        self._add(rel, WrittenFile("-", FLOW_BEGAN, tuple(dict.fromkeys(names))))

    def guard(self, name: str, before: str | None, after: str) -> None:
        """Record that ``flow init`` is about to turn the guard with one digest into another."""
        self._add(f"guard {name}", WrittenFile(after, before or FLOW_BEGAN))

    def closing(self, goal_id: str, digest: str) -> None:
        """Record a goal that Flow has closed; ``digest`` is that of the goal as it is now."""
        self._add(f"closing {goal_id}", WrittenFile(digest, FLOW_BEGAN))

    def knows_closing(self, goal_id: str, digest: str) -> bool:
        """Whether Flow closed the goal so, in any working tree of the repository."""
        return bool(self.rows(f"closing {goal_id}", digest))

    def journal(self, rel: str, old: bytes | None, new: bytes) -> None:
        """Record that a journal is about to hold ``new`` in the place of ``old``.

        After an edit of the front matter by others it stays unknown; known is the content that it
        will have once that edit is undone. Raises :class:`StorageError` if the record cannot be
        read.
        """
        from flow.adapters.journal.store import front_of

        rows = [row for row in self._read(rel) if row.front != "-"]
        before = b"" if old is None else front_of(old, rel)
        after = front_of(new, rel)
        front = front_digest(before)
        grown = after.startswith(before)
        digest = front_digest(after[len(before) :], front) if grown else front_digest(after)
        same = [row for row in rows if row.front == front]
        by_flow = [row for row in rows if row.origin == FLOW_BEGAN]
        if old is None:
            row = WrittenFile(digest, FLOW_BEGAN, blob_names(new))
        elif same or not by_flow:
            origins = [row.origin for row in same] or [front]
            origin = FLOW_BEGAN if FLOW_BEGAN in origins else origins[-1]
            row = WrittenFile(digest, origin, blob_names(new))
        elif grown:
            row = WrittenFile(front_digest(after[len(before) :], by_flow[-1].front), FLOW_BEGAN)
        else:
            return
        self._add(rel, row)

    def _add(self, rel: str, row: WrittenFile) -> None:
        try:
            folder, repo = self._locate()
        except FlowError:
            return  # no usable folder, so nothing is vouched for
        try:
            ensure_below(folder, f"{FOLDER}/{key_of(repo)}")
        except RefusedError:
            return  # a folder that others may write vouches for nothing
        line = f"{row.front} {row.origin} {' '.join(row.blobs)}".rstrip()
        target = _file(repo, rel)
        with locks.exclusive(folder, f"{FOLDER}/{key_of(repo)}/rows.lock", quick=True):
            lines = (files.read_optional(folder, target, limit=2 * LIMIT) or b"").splitlines()
            data = line.encode("ascii")
            if lines[-1:] == [data]:
                return
            if sum(map(len, lines)) < LIMIT:
                append_own(folder, target, line)
                return
            newest = b"".join(b"%b\n" % old for old in (*lines[len(lines) // 2 :], data))
            write_own(folder, target, newest, "write what Flow's files hold")


def front_digest(front: bytes, before: str = NO_FRONT) -> str:
    """The digest of front matter, line by line: more lines can be added to a digest."""
    state = bytes.fromhex(before)
    for line in with_plain_ends(front).splitlines(keepends=True):
        state = sha256(state + line).digest()
    return state.hex()


def with_plain_ends(data: bytes) -> bytes:
    """``data`` with line ends as Flow writes them."""
    return data.replace(b"\r\n", b"\n")


def blob_names(data: bytes) -> tuple[str, ...]:
    """git's ids of a file with this content, one for each of :data:`ALGORITHMS`."""
    head = b"blob %d\0" % len(data)
    names = []
    for algorithm in ALGORITHMS:
        digest = new(algorithm, len(data))
        digest.update(head)
        digest.update(data)
        names.append(digest.hexdigest())
    return tuple(names)


def _parsed(lines: Iterable[str]) -> Iterable[WrittenFile]:
    """The whole lines' states."""
    for line in lines:
        front, _, rest = line.partition(" ")
        origin, *blobs = rest.split(" ")
        whole = all(len(text) == 64 or text == "-" for text in (front, origin))
        if whole and all(len(name) in (40, 64) for name in blobs):
            yield WrittenFile(front, origin, tuple(blobs))


def _file(repo: str, rel: str) -> str:
    return f"{FOLDER}/{key_of(repo)}/{key_of(rel)}"
