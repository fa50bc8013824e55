"""The rules for changes inside and outside a goal's paths (SPEC 4). Values and pure decisions only.

The compared values are in ``changes``, what commands left behind in ``by_products``.
"""

from __future__ import annotations

from flow.core.boundary.by_products import cache_root, cache_roots, is_by_product
from flow.core.boundary.changes import (
    ABSENT,
    LINK,
    REGULAR,
    SPECIAL_MODES,
    Baseline,
    PathChange,
    Snapshot,
    as_at_activation,
    by_path,
    entry_digest,
)
from flow.core.boundary.globs import Globs, literal_pattern, path_bytes, why_not
from flow.core.boundary.guards import guards_changed
from flow.core.boundary.harmless_names import is_harmless
from flow.core.instant import SKEW, seconds
from flow.core.layout import (
    FOLDER,
    GOALS,
    PLUGIN_SCORES,
    REPORTS_DIR,
    SCORES,
    is_card,
    is_temporary,
    journal_base,
    named_journal,
    written_by_flow,
)
from flow.core.text.display import names
from flow.errors import Fault, in_file
from flow.startup.typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

_STEERING = (f"{FOLDER}/rubrics/", f"{FOLDER}/runners.yaml/")
"""Below Flow's folder: people's files that steer what Flow decides."""
_ENVIRONMENTS = (".venv", "venv", ".env", "env")
"""Usual names of virtual environments; ``venv`` of Python 3.13 lets them ignore themselves."""
IN_NO_COMMIT = "not looked at, and in no commit, as git ignores them"
"""Said of folders in which a goal's work may lie."""
DATED_BEFORE = (
    "changed since the goal began, but dated before: make, cargo and the caches of Python, mypy, "
    "ruff and others, which go by time, may not have seen the change"
)


class Violation(NamedTuple):
    """A changed path that the goal does not allow, and why."""

    path: str
    why: str
    committed: bool = False
    """Whether HEAD differs from the base there; the base branch may have brought it."""
    mend: Literal["remove", "restore", "undo"] = "undo"
    """The remedy: remove a new file, restore the base's, or undo by hand, as for a file that was
    changed at activation already or holds what Flow wrote.
    """
    change: Literal["new", "changed", "deleted"] = "changed"
    """The difference from the goal's start."""
    staged: bool = False
    """Whether the index differs from the base there."""
    openable: bool = True
    """Whether one more allowed path would allow it: the reason is no denied pattern and no symlink.
    """
    before: str = ABSENT
    after: str = ABSENT
    """Digests (``mode:hash`` or ``absent``): ``before`` in the base, ``after`` on disk."""


class BoundaryReport(NamedTuple):
    """The result of the boundary for a goal's change set."""

    status: Literal["inside", "outside", "inconclusive"]
    violations: tuple[Violation, ...]
    by_products: tuple[str, ...]
    warnings: tuple[str, ...]
    problems: tuple[str, ...]
    guards_changed: tuple[str, ...]
    protected_changed: tuple[str, ...] = ()
    """Protected files that changed since activation without an approval of this content."""
    rewritten: tuple[str, ...] = ()
    """Files that were written while commands ran and now have their former content."""
    guards: Mapping[str, str] = {}
    """Git's hooks and settings in the last snapshot."""
    inside: tuple[str, ...] = ()
    """The changed files that the goal allows."""


class OwnFiles:
    """Predicate for the journals, reports and scorecards that Flow itself writes.

    They lie in the folders that ``baseline`` pinned, since no setting of a checkout may open a path
    later; reports also in the default folder, scorecards also in ``skills/judge/scores``. The
    goal's ``journal`` (``scope.journal``) counts if it is in the journal folder, and so do the
    temporary files of a process; files of Flow's set-up count under any name
    (``PathChange.set_up``). Flow's files below ``.flow/`` are left out elsewhere.

    The content must be recorded as Flow's (``PathChange.foreign``). Without a record only this
    goal's own journal counts: ``journal``, else that of ``issue``, else that of ``goal_id`` or a
    day's, each with its parts (``….2.md``). Flow writes regular files that are not executable, and
    removes no committed one. A path that ``baseline`` or ``denied`` denies, or one behind a
    symlink, is a change like any other.
    """

    def __init__(
        self,
        baseline: Baseline,
        journal: str | None = None,
        *,
        issue: int | None = None,
        goal_id: str | None = None,
        denied: Sequence[str] = (),
        allowed: Sequence[str] = (),
    ) -> None:
        denied = (*baseline.denied, *denied)
        self._allowed = Globs([p for p in allowed if why_not(p) is None], anchored=True)
        self._denied = Globs([p for p in denied if why_not(p) is None], anchored=False)
        self._folder = baseline.journal_dir.strip("/") + "/"
        self._journal = named_journal(journal, self._folder[:-1]) if journal else None
        self._issue = issue
        self._goal_id = goal_id
        self._reports = {f"{REPORTS_DIR}/", f"{baseline.reports_dir.strip('/')}/"}
        self._scores = {f"{PLUGIN_SCORES}/", f"{baseline.scores_dir.strip('/')}/"}

    def __call__(self, change: PathChange | str) -> bool:
        """Whether Flow itself made the change; for a path alone, whether Flow may make one."""
        if isinstance(change, str):
            return self.has_own_name(change)
        entries = (change.base, change.head, change.index, change.worktree)
        return (
            (change.set_up or self.has_own_name(change.path))
            and change.real is None
            and not (change.worktree is None and change.base is not None)
            and all(entry is None or entry.mode == REGULAR for entry in entries)
            and self._denied.first(path_bytes(change.path)) is None
            and (not change.foreign or self._unrecorded(change))
        )

    def _unrecorded(self, change: PathChange) -> bool:
        """Whether the path is this goal's own journal, unrecorded or allowed.

        Every evaluation writes it, so as an ordinary change it would make all evidence stale.
        """
        allowed = self._allowed.first(path_bytes(change.path)) is not None
        if change.foreign != "unrecorded" and not allowed:
            return False
        base = journal_base(change.path)
        if self._journal is not None:
            return self._journal in (change.path, base)
        if self._issue is not None:
            return base == f"{self._folder}issue-{self._issue}.md"
        days = f"{self._folder}session-"  # journals of earlier versions
        return base == f"{self._folder}goal-{self._goal_id}.md" or change.path.startswith(days)

    def has_own_name(self, path: str) -> bool:
        """Whether Flow writes files of this name, unless the path is denied."""
        at = path.rfind("/") + 1
        folder, last = path[:at], path[at:]
        if folder in self._reports and (is_temporary(last) or _is_report(last)):
            return True
        if folder in self._scores and (is_temporary(last) or is_card(last)):
            return True
        if not path.startswith(self._folder):
            return False
        base = journal_base(path)
        if self._journal is not None and self._journal in (path, base):
            return True
        if is_temporary(last):
            return folder in (self._folder, (self._journal or "").rpartition("/")[0] + "/")
        if folder != self._folder or not last.endswith(".md"):
            return False
        kind, _, rest = base[len(self._folder) : -3].partition("-")
        if kind == "issue":
            return rest.isascii() and rest.isdigit()
        if kind == "session":
            return _is_date(rest)
        return kind == "goal" and _is_goal_id(rest)


def _holds_flows_own(path: str) -> bool:
    """Whether the path is one of Flow's own files, or a folder with such."""
    return path in (FOLDER, GOALS, SCORES) or written_by_flow(path)


def _is_beside_goals(path: str) -> bool:
    """Whether the path is below ``.flow/``, which no goal has to allow, and does not steer Flow."""
    return path.startswith(f"{FOLDER}/") and not f"{path}/".startswith(_STEERING)


def _is_report(name: str) -> bool:
    """Whether a name looks like ``users-api-2025-01-15.1.md``."""
    head, _, number = name.removesuffix(".md").rpartition(".")
    named = name.endswith(".md") and number.isascii() and number.isdigit()
    return named and len(head) > 11 and head[-11] == "-" and _is_date(head[-10:])


def _is_goal_id(text: str) -> bool:
    plain = text.replace("-", "")
    return plain.isascii() and plain.isalnum() and text == text.lower() and text[:1] != "-"


def _is_date(text: str) -> bool:
    day = text.split("-")
    return [len(part) for part in day] == [4, 2, 2] and all(
        part.isascii() and part.isdigit() for part in day
    )


def check_patterns(patterns: Iterable[object], key: str, *, file: str | None = None) -> list[Fault]:
    """One :class:`Fault` for each refused pattern; ``key`` is the key of the list."""
    faults = []
    for number, pattern in enumerate(patterns):
        why = why_not(pattern)
        if why is not None:
            faults.append(
                in_file(file, f"{key}[{number}]", pattern).fault(
                    f"the pattern {pattern!r:.80} {why}",
                    "use a gitignore glob below the top level, like src/** or *.md",
                )
            )
    return faults


def boundary_report(
    snapshot: Snapshot,
    baseline: Baseline,
    *,
    allowed: Sequence[str],
    denied: Sequence[str],
    own_files: Callable[[PathChange], bool],
    began: str = "",
    inside: bool = True,
) -> BoundaryReport:
    """Compare the change set with a goal's paths.

    Paths that the settings denied at activation stay denied. Every pattern must have passed
    :func:`check_patterns`. If git could not answer, the report names no paths: in the middle of a
    merge they would be another branch's. ``began``: when the goal began. ``inside``: whether it
    lists the allowed paths.
    """
    denied = tuple(dict.fromkeys((*denied, *baseline.settings_denied)))
    rules = path_rules(allowed, denied)
    roots = cache_roots(baseline.by_products)
    violations: list[Violation] = []
    by_products: list[str] = []
    allowed_ones: list[str] = []
    for change in snapshot.changes:
        if own_files(change):
            continue
        if is_by_product(change, baseline.by_products, roots) and not (
            cache_root(change.path) is None and rules.denies(change.path)
        ):
            by_products.append(change.path)
            continue
        if as_at_activation(change, baseline):
            continue
        why = rules.why(change)
        if why is not None:
            violation = _violation(change, why, baseline, openable=rules.opens(change))
            if _is_below(change.path, snapshot.submodules):
                violation = violation._replace(mend="undo")  # git's commands stop at a submodule
            violations.append(violation)
        elif inside and not change.folder:
            allowed_ones.append(change.path)
    problems = snapshot.problems
    unseen = (*not_looked_at(snapshot, allowed), *set_back(snapshot, baseline, began))
    return BoundaryReport(
        status="inconclusive" if problems else "outside" if violations else "inside",
        violations=() if problems else tuple(violations),
        by_products=tuple(by_products),
        warnings=_warnings(by_products, unseen, denied, baseline),
        problems=problems,
        guards_changed=() if problems else guards_changed(baseline.guards, snapshot.guards),
        inside=() if problems else tuple(allowed_ones),
    )


def path_rules(allowed: Sequence[str], denied: Sequence[str]) -> PathRules:
    """Compile a goal's patterns."""
    return PathRules(Globs(allowed, anchored=True), Globs(denied, anchored=False))


class PathRules(NamedTuple):
    """A goal's allowed and denied paths."""

    allowed: Globs
    denied: Globs

    def why(self, change: PathChange) -> str | None:
        """Reason that the change is not allowed; None if it is."""
        reason = self.refusal(change.path, change.folder, allow=True)
        if reason is not None or change.real is None:
            return reason
        if change.real == "":
            return "a symlink leads out of the repository"
        if _holds_flows_own(change.real):
            return "a symlink leads into Flow's own folder"
        # The target of a new symlink is not changed; a path behind a symlink is at its target.
        itself = change.worktree is not None and change.worktree.mode == LINK
        reason = self.refusal(change.real, folder=True, allow=not itself)
        return None if reason is None else f"it leads to {change.real}, which is {reason}"

    def refusal(self, path: str, folder: bool = False, *, allow: bool = True) -> str | None:
        """Reason that a path is not allowed; ``allow`` False: only whether it is denied."""
        name = path_bytes(path)
        pattern = self.denied.first(name, folder=folder)
        if pattern is not None:
            return f"denied by {pattern!r}"
        if allow and self.allowed and self.allowed.first(name, folder=folder) is None:
            return None if _is_beside_goals(path) else "not in allowed_paths"
        return None

    def opens(self, change: PathChange) -> bool:
        """Whether one more allowed pattern would allow the change, which is not allowed now."""
        if change.real is not None:
            alone = Globs([literal_pattern(change.path)], anchored=True)
            return self._replace(allowed=alone).why(change) is None
        return self.denied.first(path_bytes(change.path), folder=change.folder) is None

    def denies(self, path: str) -> bool:
        """Whether a denied pattern names the file."""
        return self.denied.first(path_bytes(path)) is not None


def _violation(change: PathChange, why: str, baseline: Baseline, *, openable: bool) -> Violation:
    was_there = change.base or change.path in baseline.dirty or change.foreign == "edited"
    return Violation(
        change.path,
        f"{_where_seen(change)}; {why}",
        committed=change.head != change.base,
        mend=_how_to_mend(change, baseline),
        change="new" if not was_there else "deleted" if change.worktree is None else "changed",
        staged=change.index != change.base,
        openable=openable,
        before=entry_digest(change.base),
        after=entry_digest(change.worktree),
    )


def _how_to_mend(change: PathChange, baseline: Baseline) -> Literal["remove", "restore", "undo"]:
    behind_link = change.real is not None and (
        change.worktree is None or change.worktree.mode != LINK
    )
    if change.path in baseline.dirty or change.folder or behind_link:
        return "undo"
    if change.foreign == "edited":
        return "undo"  # whoever removes or restores it loses what Flow recorded in it
    return "remove" if change.base is None else "restore"


def _is_below(path: str, folders: Sequence[str]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)


def _where_seen(change: PathChange) -> str:
    """The places and kind of a change."""
    places = [
        name
        for name, entry in (("committed", change.head), ("staged", change.index))
        if entry != change.base
    ]
    if change.worktree is None:
        places.append("deleted")
    elif change.worktree != change.base:
        places.append(
            "untracked" if change.untracked and change.base is None else "changed on disk"
        )
    elif places:
        places.append("put back on disk")
    if change.worktree is not None and change.worktree.mode in SPECIAL_MODES:
        places.append(f"a {change.worktree.mode}")
    return ", ".join(places)


def not_looked_at(snapshot: Snapshot, allowed: Sequence[str]) -> tuple[str, ...]:
    """Sentences on the folders that are not compared and may hold the work, or what a run rests on.

    They ignore themselves, or git ignores them though the allowed paths name them. Caches, build
    folders and virtual environments are left out.
    """
    itself = tuple(filter(_may_hold_work, snapshot.set_aside))
    patterns = Globs(allowed, anchored=True)
    named = tuple(
        folder
        for folder in snapshot.ignored
        if patterns.names_folder(path_bytes(folder)) and _may_hold_work(folder)
    )
    sentences = []
    if itself:
        sentences.append(f"not looked at, as they ignore themselves: {names(itself, 5)}")
    if named:
        sentences.append(f"{IN_NO_COMMIT}: {names(named, 5)}")
    return tuple(sentences)


def set_back(snapshot: Snapshot, baseline: Baseline, began: str) -> tuple[str, ...]:
    """A sentence on the files that changed since the goal began and are dated before that.

    Where a file bears an earlier time than the result that was made of it, programs that go by time
    take that result (``touch -d``, ``cp -p`` over a file).
    """
    if not snapshot.redated or not began:
        return ()
    moment = seconds(began) * 1e9
    changes = by_path(snapshot.changes)
    paths = []
    for path, (dated, written) in sorted(snapshot.redated.items()):
        change = changes.get(path)
        if dated > moment - SKEW * 1e9 or written < moment or change is None:
            continue
        content = {entry.digest for entry in (change.base, change.worktree) if entry is not None}
        paths += [path] if len(content) == 2 and not as_at_activation(change, baseline) else []
    return (f"{DATED_BEFORE}: {names(paths, 5)}",) if paths else ()


def _may_hold_work(folder: str) -> bool:
    return (
        not is_harmless(f"{folder}/x.py", "100644")
        and folder.rpartition("/")[2] not in _ENVIRONMENTS
    )


def _warnings(
    by_products: Sequence[str], unseen: Sequence[str], denied: Sequence[str], baseline: Baseline
) -> tuple[str, ...]:
    warnings = []
    if by_products:
        shown = names(by_products, 5)
        warnings.append(f"left by Flow's own commands and not counted: {shown}")
    warnings += unseen
    late = [pattern for pattern in denied if pattern not in baseline.denied]
    if late and baseline.base_commit is not None:
        warnings.append(
            "denied since activation, so ignored files that they name are not compared: "
            + names(late)
        )
    return tuple(warnings)
