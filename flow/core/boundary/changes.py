"""The compared values: the states of a path, a change, a snapshot, the baseline of a goal."""

from __future__ import annotations

from flow.core.boundary.globs import path_bytes
from flow.core.layout import REPORTS_DIR, SCORES
from flow.startup import json
from flow.startup.typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import TypeAlias

ABSENT = "absent"
REGULAR = "100644"
LINK = "120000"
GITLINK = "160000"
FOLDER = "040000"
"""Mode of a nested repository's folder."""

PLAIN = 4000
"""Number of changes up to which a plain tuple or dict is used instead of ``packed``."""
SPECIAL_MODES = ("fifo", "socket", "device")


class ContentState(NamedTuple):
    """The content of one path in one place: base, HEAD, index or working tree."""

    mode: str
    digest: str


class PathChange(NamedTuple):
    """A path that differs between the pinned base and HEAD, the index or the working tree.

    ``path`` is relative to the top level, ``/``-separated, non-UTF-8 bytes as surrogate escapes.
    Each of the four entries is None if the path does not exist there. ``real`` is the path's real
    place if a symlink leads to it, or a symlink's own target (None: no other place; ``""``: outside
    the repository).
    """

    path: str
    base: ContentState | None
    head: ContentState | None
    index: ContentState | None  # type: ignore[assignment]  # the file format's word, not tuple.index
    worktree: ContentState | None
    real: str | None = None
    foreign: Literal["", "unrecorded", "altered", "edited"] = ""
    """For a name that Flow gives its files. ``altered``: some state differs from the base's and is
    not Flow's; ``edited``: the same of a file that Flow wrote here, so it holds records, too;
    ``unrecorded``: that is unknown, for an intact journal that still holds the base's content.
    """
    set_up: bool = False
    """True for Flow's set-up files: each state that is not the base's was written by Flow's set-up,
    or it is a settings file of Flow's that only tightens.
    """

    @property
    def untracked(self) -> bool:
        """Whether the path is neither in HEAD nor in the index."""
        return self.head is None and self.index is None

    @property
    def folder(self) -> bool:
        """Whether the path is a folder: a submodule or a nested repository."""
        entries = (self.worktree, self.index, self.head, self.base)
        return any(entry is not None and entry.mode in (GITLINK, FOLDER) for entry in entries)


if TYPE_CHECKING:

    class ManyChanges(Protocol):
        """The methods of ``packed.PackedChanges``."""

        def __iter__(self) -> Iterator[PathChange]: ...
        def __len__(self) -> int: ...
        def get(self, path: str) -> PathChange | None:
            """The change of ``path``; None if it has none."""

        def where(self, keep: Callable[[PathChange], bool], /) -> ManyChanges:
            """The changes that ``keep`` accepts."""

        def replaced(self, changes: Mapping[int, PathChange], /) -> ManyChanges:
            """A copy with other changes at some places, by index."""

    class TimesByPath(Protocol):
        """The methods of a dict and of ``packed.PackedTimes``."""

        def __len__(self) -> int: ...
        def __contains__(self, path: object) -> bool: ...
        def get(self, path: bytes, /) -> int | None:
            """The time of ``path`` in nanoseconds; None if it has none."""

        def items(self) -> Iterable[tuple[bytes, int]]:
            """Paths and times."""

    Changes: TypeAlias = tuple[PathChange, ...] | ManyChanges


UNRECORDED = "unrecorded"
"""The ``began`` of a baseline that was made from the pinned commit alone."""


class Baseline(NamedTuple):
    """The state at the goal's activation; ``baseline.json`` of the run."""

    base_commit: str | None
    """The pinned commit; the empty tree's id on a branch without commits; None without git."""
    dirty: dict[str, str]
    """path → digest (``mode:hash``, or ``absent``) of files that were dirty at activation.

    If the index differed from the base, its digest follows after a blank. Files whose bytes on disk
    differ from their blob for another reason (line ends, filters) count as dirty, too.
    """
    denied_ignored: dict[str, str]
    """path → digest of ignored files that ``denied_paths`` names."""
    ignore_rules: dict[str, str]
    """file → text of the ignore rules in force at activation."""
    guards: dict[str, str]
    """name → digest of hooks, ``core.hooksPath``, ``info/*`` and replace refs."""
    by_products: dict[str, str]
    """path → digest of untracked files that Flow's own commands made."""
    journal_dir: str = ".decisions"
    denied: tuple[str, ...] = ()
    """The denied patterns that ``denied_ignored`` was recorded for."""
    protected: Mapping[str, str] = {}
    """path → digests of each protected file that differed from the base at activation.

    Four digests (``mode:hash`` or ``absent``) with blanks between them: on disk, in the index, in
    HEAD, in the base. Ignored files are recorded as well. A protected file that is not here was as
    in the base.
    """
    protected_patterns: tuple[str, ...] = ()
    """The protected patterns that ``protected`` was recorded for."""
    reports_dir: str = REPORTS_DIR
    """Folder of the reports of the goal's debates."""
    scores_dir: str = SCORES
    """Folder of the goal's scorecards."""
    proof_named: tuple[str, ...] = ()
    """Patterns of the files that the commands of the present contract depend on."""
    proof_known: tuple[str, ...] = ()
    """The patterns that ``proof_states`` was recorded for at activation."""
    proof_states: Mapping[str, str] = {}
    """Like ``protected``, for the patterns in ``proof_known``. A file that a pattern names
    literally is recorded even if it is as in the base.
    """
    proof_since: str = ""
    """The moment of ``proof_states``: ``activation``, or the ``base`` commit if there is no record
    of the start; empty for a run that began before Flow recorded these.
    """
    proof_cut: str = ""
    """Reason that some of these are not recorded; empty: all are."""
    linked: Mapping[str, str] = {}
    """path → digest of the paths in ``evaluator.baseline_link``, recorded at activation."""
    settings: Mapping[str, str] = {}
    """The settings that the goal pinned at its start (``LoadedSettings.pins``). Empty: not pinned.
    """
    began: str = ""
    """``metadata.created_at`` of the goal that began so, for a later goal may have its name;
    :data:`UNRECORDED` if there is no record of the start; empty for a run from before this field.
    """

    @property
    def recorded(self) -> bool:
        """Whether it tells how the goal began, and not only what its base commit has."""
        return self.began != UNRECORDED

    @property
    def settings_denied(self) -> tuple[str, ...]:
        """The patterns that the settings denied when the goal began."""
        if not self.settings:
            return ()
        from flow.core.setting_keys import DENIED

        try:
            patterns = json.loads(self.settings.get(DENIED, "[]"))
        except ValueError:
            return ()
        return tuple(pattern for pattern in patterns if isinstance(pattern, str))


class DecidingFiles(NamedTuple):
    """Files that a decision rests on besides the change set and the protected files.

    A snapshot for a decision hashes them again even if their time stamps are unchanged.
    """

    patterns: tuple[str, ...] = ()
    """Gitignore globs, at any depth."""
    paths: frozenset[str] = frozenset()
    """Paths below the top level."""


class Snapshot(NamedTuple):
    """The working tree as it is now, against the pinned base."""

    head: str | None
    branch: str | None
    changes: Changes
    """Sorted by the bytes of their paths."""
    guards: dict[str, str]
    problems: tuple[str, ...]
    """Reasons that git could not answer; if there is one, the boundary is inconclusive."""
    ignored_protected: Mapping[str, str] = {}
    """path → digest of the ignored files that protected patterns name."""
    written: TimesByPath = {}  # noqa: RUF012 - never changed
    """path → ctime (ns) of the files that had to be hashed; the others came from the cache."""
    began: int = 0
    """Start of the snapshot (ns)."""
    submodules: tuple[str, ...] = ()
    """The submodules that are checked out. Any other is an empty folder, and no change."""
    emptied: tuple[PathChange, ...] = ()
    """The submodules that are not checked out, as changes for the check of protected files."""
    link_targets: Mapping[str, str] = {}
    """path → digest of ignored files that new symlinks lead to and no other field holds."""
    set_aside: tuple[str, ...] = ()
    """The untracked folders that ignore themselves, and that no rule of the checkout ignores."""
    ignored: tuple[str, ...] = ()
    """The untracked folders that a rule of the checkout ignores; not those inside them."""
    redated: Mapping[str, tuple[int, int]] = {}
    """path → mtime and ctime (ns) of changed files of the base that are dated by the first and
    were changed at the later second: their time may have been set back.
    """


def entry_digest(entry: ContentState | None) -> str:
    """``mode:hash``, or ``absent``."""
    return ABSENT if entry is None else f"{entry.mode}:{entry.digest}"


def by_path(changes: Changes) -> Mapping[str, PathChange] | ManyChanges:
    """Changes by path, for ``get``: a dict, or the packed changes themselves."""
    if isinstance(changes, tuple):
        return {change.path: change for change in changes}
    return changes


def in_order(changes: list[PathChange] | Iterator[PathChange] | Changes) -> Iterable[PathChange]:
    """The changes sorted by the bytes of their paths; packed changes already are."""
    if not isinstance(changes, tuple | list):
        return changes
    return sorted(changes, key=order_key)


def order_key(change: PathChange) -> bytes:
    """Sort key of a change: the bytes of its path."""
    return path_bytes(change.path)


def where(changes: Changes, keep: Callable[[PathChange], bool]) -> Changes:
    """The ``changes`` that ``keep`` accepts."""
    if isinstance(changes, tuple):
        return tuple(change for change in changes if keep(change))
    return changes.where(keep)


def with_replaced(changes: list[PathChange] | Changes, other: Mapping[int, PathChange]) -> Changes:
    """``changes`` with the changes in ``other`` put at their indexes."""
    if not isinstance(changes, tuple | list):
        return changes.replaced(other) if other else changes
    if not other:
        return tuple(changes)
    return tuple(other.get(place, change) for place, change in enumerate(changes))


def dirty_digest(change: PathChange) -> str:
    """The digests of a path for ``Baseline.dirty``."""
    digest = entry_digest(change.worktree)
    return digest if change.index == change.base else f"{digest} {entry_digest(change.index)}"


def as_at_activation(change: PathChange, baseline: Baseline) -> bool:
    """Whether a path is as at activation, or as in the base, on disk, in the index and in HEAD.

    A dirty file does not count while its content stays the same, even once staged or committed
    unchanged (SPEC 4).
    """
    ignored = baseline.denied_ignored.get(change.path)
    if ignored is not None and change.untracked and entry_digest(change.worktree) == ignored:
        return True
    recorded = baseline.dirty.get(change.path)
    if recorded is None:
        return False
    worktree, _, index = recorded.partition(" ")
    committable = {entry_digest(change.base), worktree, index or worktree}
    return (
        entry_digest(change.worktree) in (entry_digest(change.base), worktree)
        and entry_digest(change.index) in committable
        and entry_digest(change.head) in committable
    )
