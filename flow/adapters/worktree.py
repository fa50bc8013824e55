"""The change set: the working tree, the index and HEAD against the pinned base (SPEC section 4).

HEAD and the index are compared with the base by git, as trees, with no file of the working tree
involved; the working tree is walked and hashed by Flow itself (``worktree_walk``). So none of git's
ways to look away from a file plays a part: index flags, ``fileMode``, ``trustctime``,
``core.worktree``, filters, ignore rules set later.

A path that a sparse checkout leaves out is absent, and so a deletion, unless it was absent at
activation already; a path marked intent-to-add counts as staged.

In a warm checkout one snapshot costs one git process, a second one where HEAD is not the base, and
a third one where untracked names are new.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from flow.adapters import git
from flow.adapters.worktree_cache import Table
from flow.adapters.worktree_guards import guards, problems
from flow.adapters.worktree_ignore import RULES_FILE, Rules, outer_rules
from flow.adapters.worktree_walk import Walk
from flow.core.boundary import (
    GITLINK,
    LINK,
    Baseline,
    Change,
    Entry,
    Snapshot,
    entry_digest,
    subject_tree,
)
from flow.core.globs import Globs
from flow.errors import FlowError, GitError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from flow.adapters.git import Repo

_OWN = b".flow/"
_COUNTED = b".flow/rubrics/"
_DEPTH = 8
"""Levels of submodules in submodules."""

_TRIES = 3
"""How often a tree that changes while it is read is read again."""

_WORTH_SAVING = 2 << 20
"""Bytes of newly hashed content (a file counts for 4096 more) that make writing a large cache worth
it.
"""

_SMALL = 4000
"""Files up to which the cache is written for any news: it takes a millisecond."""


class Scan(NamedTuple):
    """One repository's changes. Submodules' are among them, with their paths below the top level."""

    changes: list[Change]
    problems: list[str]
    rules: dict[str, str]
    """The ignore rules that were met, where they were collected."""


class _Asked(NamedTuple):
    """What a scan was asked for; the same for a checkout and its submodules."""

    denied: Globs
    denied_ignored: Mapping[str, str]
    rules: Mapping[str, str] | None
    """The pinned rules; None: those now in force are collected."""
    cache_dir: str | None
    top: str
    """The checkout's top level."""


def snapshot(
    repo: Repo,
    baseline: Baseline,
    denied: Sequence[str],
    *,
    cache_dir: str | None,
    own_files: Callable[[str], bool] | None = None,
) -> Snapshot:
    """The checkout as it is now, against the pinned base.

    Raises nothing: what git or the file system could not answer is in ``problems``, and then the
    change set is not to be relied on. ``cache_dir`` is a folder of the user's own, outside the
    checkout (None: nothing is remembered). ``own_files`` only affects ``tree``.
    """
    found: list[str] = []
    head = branch = None
    standing: dict[str, str] = {}
    changes: tuple[Change, ...] = ()
    try:
        git.usable(repo)
        head, branch = git.head_commit(repo), git.current_branch(repo)
        standing = guards(repo)
        base = _pinned(baseline)
        asked = _Asked(
            Globs([p for p in denied if p in baseline.denied], anchored=False),
            baseline.denied_ignored,
            baseline.ignore_rules,
            cache_dir,
            repo.top,
        )
        scan = settled_scan(repo, base, head, asked)
        changes = tuple(sorted(scan.changes, key=lambda change: change.path))
        found += scan.problems
        if (git.head_commit(repo), git.current_branch(repo)) != (head, branch):
            found.append("HEAD moved while the files were read")
    except FlowError as error:
        found.append(_base_gone(repo, baseline) or str(error))
    result = Snapshot(head, branch, None, changes, standing, tuple(found))
    if found:
        return result
    return result._replace(tree=subject_tree(result, baseline, own_files or _nobodys))


def _base_gone(repo: Repo, baseline: Baseline) -> str | None:
    """Whether an error comes from a base that this repository does not hold (any more)."""
    base = baseline.base_commit
    try:
        if base is None or not git.is_id(base) or git.refusal(repo) is not None:
            return None
        if base in git.EMPTY_TREES.values() or git.commit_of(repo, base) is not None:
            return None
    except GitError:
        return None
    shallow = "; this is a shallow clone: git fetch --unshallow" if git.is_shallow(repo) else ""
    return f"the pinned base {base[:12]} is not in this repository{shallow}"


def _nobodys(_: str) -> bool:
    return False


def _pinned(baseline: Baseline) -> str:
    if baseline.base_commit is None:
        raise GitError(
            "no base is pinned: there was no git repository at activation",
            code="no_base",
            key="scope.base_commit",
            remedy="start a new goal in the repository",
        )
    if not git.is_id(baseline.base_commit):
        raise GitError(
            "the pinned base is not a whole object id",
            key="scope.base_commit",
            value=baseline.base_commit,
            remedy="restore the goal file, or start a new goal",
        )
    return baseline.base_commit


def collect(
    repo: Repo, base: str, denied: Sequence[str], *, cache_dir: str | None
) -> tuple[list[Change], dict[str, str], dict[str, str]]:
    """What to pin: the change set now, ignored files that ``denied`` names, and the ignore rules.

    Raises :class:`GitError` where anything stands in the way.
    """
    asked = _Asked(Globs(denied, anchored=False), {}, None, cache_dir, repo.top)
    scan = settled_scan(repo, base, git.head_commit(repo), asked)
    if scan.problems:
        raise GitError(
            "the state of the files cannot be pinned: " + "; ".join(scan.problems),
            code="unsettled",
            file=repo.top,
            remedy="settle that first, then try again",
        )
    changes, ignored = [], {}
    for change in scan.changes:
        if isinstance(change, _Ignored):
            ignored[change.path] = entry_digest(change.worktree)
        else:
            changes.append(change)
    return changes, ignored, scan.rules


def rules_of_commit(repo: Repo, commit: str) -> dict[str, str]:
    """The ``.gitignore`` files of a commit, by their paths."""
    table = _listing(repo, commit, b"")
    found = {}
    for path in table:
        entry = table.entry(path)
        if path.rpartition(b"/")[2] == RULES_FILE and entry is not None and entry.mode != LINK:
            text = git.git(repo, "cat-file", "blob", entry.digest)
            found[_text(path)] = text.decode("utf-8", "surrogateescape")
    return found


def ignored_now(repo: Repo, baseline: Baseline, denied: Sequence[str]) -> dict[str, str]:
    """path → digest of the ignored files that ``denied`` names now."""
    base = _pinned(baseline)
    asked = _Asked(Globs(denied, anchored=False), {}, baseline.ignore_rules, None, repo.top)
    scan = settled_scan(repo, base, git.head_commit(repo), asked)
    return {c.path: entry_digest(c.worktree) for c in scan.changes if isinstance(c, _Ignored)}


class _Ignored(Change):
    """An ignored file that a denied pattern names, and that is not as recorded."""

    __slots__ = ()


def settled_scan(repo: Repo, base: str, head: str | None, asked: _Asked) -> Scan:
    """Scan; once more where something changed meanwhile."""
    for left in reversed(range(_TRIES)):
        before = _index_look(repo)
        scan, unsettled = _scan(repo, base, head, asked, b"", 0)
        moved = _index_look(repo) != before
        if not left or not (unsettled or moved):
            break
    if moved:
        scan.problems.append("the index was written while the files were read")
    return scan


def _index_look(repo: Repo) -> tuple[int, ...]:
    try:
        status = os.lstat(os.path.join(git.usable(repo), "index"))
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise GitError(f"the index cannot be looked at: {error.strerror}") from error
    return status.st_ctime_ns, status.st_mtime_ns, status.st_size, status.st_ino


def _scan(
    repo: Repo, base: str, head: str | None, asked: _Asked, prefix: bytes, depth: int
) -> tuple[Scan, bool]:
    name = prefix.decode("utf-8", "surrogateescape")
    found = [f"{name}: {text}" if name else text for text in problems(repo)]
    heads = _against_tree(repo, base, head, prefix)
    staged, unmerged = _against_index(repo, base, prefix)
    if unmerged:
        found.append("unmerged in the index: " + ", ".join(_text(prefix + p) for p in unmerged[:5]))
    cache = _cache_file(repo, base, asked.cache_dir)
    table = (Table.load(cache, base) if cache else None) or _listing(repo, base, prefix)
    links = table.gitlinks()
    links.update(p for more in (heads, staged) for p, e in more.items() if e and e.mode == GITLINK)
    tracked = {p for more in (heads, staged) for p, e in more.items() if e is not None}
    tracked = {path for path in tracked if path not in table}
    rules = _rules(repo, table, asked, name)
    walk = Walk(
        repo.top,
        table,
        tracked=tracked,
        gitlinks=links,
        rules=rules,
        collect=asked.rules is None,
        denied=asked.denied,
        prefix=prefix,
    )
    walk.run()
    found += walk.problems
    if cache:
        _remember(cache, table, walk, rules)

    changes = _changes(_Tops(repo, asked.top), table, walk, heads, staged, prefix)
    changes += _ignored_changes(walk, asked, prefix)
    collected = {name + file: text for file, text in rules.texts.items()}
    unsettled = walk.unsettled
    for path, inner in walk.submodules.items():
        part, moving = _submodule(inner, prefix + path + b"/", asked, depth + 1)
        changes += part.changes
        found += part.problems
        collected.update(part.rules)
        unsettled = unsettled or moving
    return Scan(changes, found, collected), unsettled


def _submodule(repo: Repo, prefix: bytes, asked: _Asked, depth: int) -> tuple[Scan, bool]:
    """A submodule's own changes against its HEAD; that HEAD itself is compared one level up."""
    name = _text(prefix)
    why = "submodules lie too deep in each other" if depth > _DEPTH else git.refusal(repo)
    if why is not None:
        return Scan([], [f"{name}: {why}"], {}), False
    try:
        head = git.head_commit(repo)
        base = head or git.EMPTY_TREES[40]
        return _scan(repo, base, head, asked, prefix, depth)
    except GitError as error:
        return Scan([], [f"{name}: {error}"], {}), False


# --- git's part -----------------------------------------------------------------------------------


def _counted(path: bytes, prefix: bytes) -> bool:
    """Whether a path is part of a change set: Flow's own files are not, its rubrics are."""
    return bool(prefix) or not path.startswith(_OWN) or path.startswith(_COUNTED)


def _listing(repo: Repo, base: str, prefix: bytes) -> Table:
    """The base's tree as git lists it."""
    if base in git.EMPTY_TREES.values():
        return Table.of_listing(base, ())
    entries = []
    for line in git.git(repo, "ls-tree", "-r", "-z", "--full-tree", base).split(b"\0")[:-1]:
        meta, _, path = line.partition(b"\t")
        if _counted(path, prefix):
            mode, _, digest = meta.decode("ascii").split(" ")
            entries.append((path, Entry(mode, digest)))
    return Table.of_listing(base, entries)


_RAW = ("--raw", "-z", "--no-renames", "--no-abbrev", "--no-ext-diff", "--no-textconv")


def _against_tree(
    repo: Repo, base: str, head: str | None, prefix: bytes = b""
) -> dict[bytes, Entry | None]:
    """path → its entry in ``head``, for every path where that is not the base's."""
    other = head or git.EMPTY_TREES[len(base)]
    if other == base:
        return {}
    output = git.git(
        repo, "diff-tree", "-r", *_RAW, "--ignore-submodules=dirty", "--no-relative", base, other
    )
    return {path: entry for path, entry, _ in _raw(output) if _counted(path, prefix)}


def _against_index(
    repo: Repo, base: str, prefix: bytes
) -> tuple[dict[bytes, Entry | None], list[bytes]]:
    """path → its staged entry where that is not the base's; and the unmerged paths.

    ``--cached`` leaves the working tree alone. ``--ignore-submodules=dirty`` outvotes what the
    checkout configures about submodules, and looks at their staged commits only.
    """
    output = git.git(
        repo,
        "diff-index",
        "--cached",
        *_RAW,
        "--ignore-submodules=dirty",
        "--ita-visible-in-index",
        "--no-relative",
        base,
    )
    staged: dict[bytes, Entry | None] = {}
    unmerged = []
    for path, entry, status in _raw(output):
        if status == "U":
            unmerged.append(path)
        elif _counted(path, prefix):
            staged[path] = entry
    return staged, unmerged


def _raw(output: bytes) -> Iterable[tuple[bytes, Entry | None, str]]:
    """The (path, new entry, status) of ``--raw -z`` output."""
    fields = output.split(b"\0")
    for meta, path in zip(fields[0::2], fields[1::2], strict=False):
        _, mode, _, digest, status = meta.decode("ascii").split(" ")
        yield path, None if mode == "000000" else Entry(mode, digest), status


def changed_between(repo: Repo, old: str, new: str | None) -> dict[str, Entry | None]:
    """path → its entry in ``new``, for every path that differs between two commits."""
    return {_text(path): entry for path, entry in _against_tree(repo, old, new).items()}


# --- putting it together --------------------------------------------------------------------------


class _Tops(NamedTuple):
    """A repository, and the top level that paths are relative to (a submodule's is another one)."""

    repo: Repo
    top: str


def _changes(
    tops: _Tops,
    table: Table,
    walk: Walk,
    heads: Mapping[bytes, Entry | None],
    staged: Mapping[bytes, Entry | None],
    prefix: bytes,
) -> list[Change]:
    on_disk: dict[bytes, Entry | None] = {**walk.entries, **dict.fromkeys(walk.missing)}
    for path, inner in walk.submodules.items():
        on_disk[path] = Entry(GITLINK, git.head_commit(inner) or "")
    links = {path for path, entry in walk.entries.items() if entry.mode == LINK}
    found = []
    for path in {*heads, *staged, *on_disk}:
        base = table.entry(path)
        head, index = heads.get(path, base), staged.get(path, base)
        here = base or index or head if path in walk.untouched else base
        worktree = on_disk.get(path, here)
        if head == base and index == base and worktree == base:
            continue
        real = _real(tops, path, links, worktree)
        found.append(Change(_text(prefix + path), base, head, index, worktree, real))
    return found


def _ignored_changes(walk: Walk, asked: _Asked, prefix: bytes) -> list[Change]:
    """Ignored files that a denied pattern names and that are not as they were recorded."""
    now = {_text(prefix + path): entry for path, entry in walk.ignored.items()}
    gone = (
        path
        for path in asked.denied_ignored
        if not prefix and path not in now and asked.denied.first(_bytes(path)) is not None
    )
    found: list[Change] = []
    top = os.fsencode(asked.top)
    found += [
        _Ignored(path, None, None, None, entry)
        for path, entry in now.items()
        if asked.denied_ignored.get(path) != entry_digest(entry)
    ]
    found += [
        _Ignored(path, None, None, None, None)
        for path in gone
        if not os.path.lexists(os.path.join(top, _bytes(path)))
    ]
    return found


def _real(tops: _Tops, path: bytes, links: Collection[bytes], worktree: Entry | None) -> str | None:
    """Where a path really lies if a symlink that is new since the base leads to it."""
    through = next((link for link in links if path.startswith(link + b"/")), None)
    if through is None and not (worktree is not None and worktree.mode == LINK):
        return None
    repo, top = tops.repo, os.fsencode(tops.top)
    try:
        real = os.path.realpath(os.path.join(os.fsencode(repo.top), path))
    except (OSError, ValueError):
        return ""
    git_dirs = [os.fsencode(folder) for folder in (repo.git_dir, repo.common_dir) if folder]
    git_dirs.append(top + b"/.git")
    inside = real == top or real.startswith(top + b"/")
    if not inside or any((real + b"/").startswith(folder + b"/") for folder in git_dirs):
        return ""
    return _text(real[len(top) + 1 :]) or "."


def _rules(repo: Repo, table: Table, asked: _Asked, name: str) -> Rules:
    if asked.rules is None:
        return Rules(outer_rules(repo), asked.cache_dir)
    texts = {file[len(name) :]: text for file, text in asked.rules.items() if file.startswith(name)}
    rules = Rules(texts, asked.cache_dir)
    if table.rules == rules.digest:
        rules.decisions = table.decisions
    return rules


def _cache_file(repo: Repo, base: str, cache_dir: str | None) -> str | None:
    if cache_dir is None:
        return None
    import hashlib

    key = hashlib.sha256(f"{repo.top}\0{base}".encode("utf-8", "surrogateescape")).hexdigest()
    return os.path.join(cache_dir, f"worktree-{key[:32]}")


def _remember(file: str, table: Table, walk: Walk, rules: Rules) -> None:
    """Write the cache where there is enough news to be worth it."""
    news = walk.fresh if len(table) > _SMALL else walk.fresh * _WORTH_SAVING
    if not (table.fresh or rules.asked or news > _WORTH_SAVING):
        return
    clean = table.known_clean()
    for path in (*walk.entries, *walk.missing):
        clean.pop(path, None)
    clean.update(walk.newly_clean)
    table.hashes = walk.hashes
    table.rules = rules.digest
    table.decisions = {path: rules.decisions[path] for path in walk.asked}
    table.save(file, clean)


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")
