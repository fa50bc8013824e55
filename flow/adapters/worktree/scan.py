"""One repository's change set: git's trees and index, and the walk, put together."""

from __future__ import annotations

import os
import time

from flow.adapters.git import repository
from flow.adapters.worktree.cache import Table
from flow.adapters.worktree.guards import problems
from flow.adapters.worktree.ignore import Rules, outer_rules
from flow.adapters.worktree.trees import against_index, against_tree, listing, text_of
from flow.adapters.worktree.walk import Walk
from flow.core.boundary.globs import Globs, why_not
from flow.core.boundary.rules import GITLINK, LINK, ContentState, PathChange, entry_digest
from flow.errors import GitError
from flow.startup.sha import new, sha256
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from flow.adapters.git.repository import Repo
    from flow.core.boundary.rules import Deciding

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


_SETTLED_NS = 2_000_000_000
"""Nanoseconds after which a file's stamp is no longer the kernel's present tick."""
_INDEX_LIMIT = 32 << 20
"""Bytes of an index up to which it is digested to spare a question to git."""

_asked_before: dict[
    tuple[str, str, bytes],
    tuple[tuple[tuple[int, ...], str], tuple[dict[bytes, ContentState | None], list[bytes]]],
] = {}
"""What git said of an index that has not changed since, in this process."""


class Scan(NamedTuple):
    """One repository's changes, with those of its submodules, as paths below the top level."""

    changes: list[PathChange]
    problems: list[str]
    rules: dict[str, str]
    """The ignore rules that were met, where they were collected."""
    locked: dict[str, str]
    """path → digest of the ignored files that ``Asked.protected`` names."""
    written: dict[bytes, int]
    """path → when it was last written to (ns), of the files that were looked at."""
    walks: list[Walk]
    """The walk of the repository itself, and those of its submodules."""
    emptied: list[PathChange]
    """The submodules that are not checked out."""


class ScanRequest(NamedTuple):
    """What a scan was asked for; the same for a checkout and its submodules."""

    denied: Globs
    denied_ignored: Mapping[str, str]
    rules: Mapping[str, str] | None
    """The pinned rules; None: those now in force are collected."""
    cache_dir: str | None
    top: str
    """The checkout's top level."""
    protected: Globs
    """Of these, ignored files are looked at too."""
    deciding: Deciding | None
    """Hashed anew, with the protected and the changed files; None: time stamps are believed."""

    @property
    def watched(self) -> Globs:
        """What is looked at where it is ignored."""
        if not self.protected:
            return self.denied
        return Globs([g.text for g in (*self.denied.globs, *self.protected.globs)], anchored=False)

    def chosen(self) -> Callable[[Collection[bytes]], set[bytes]] | None:
        """Chooses among paths that are as in the base those to hash anew; None: stamps tell."""
        if self.deciding is None:
            return None
        patterns, paths = self.deciding
        valid = [pattern for pattern in patterns if why_not(pattern) is None]
        globs = Globs([*(g.text for g in self.protected.globs), *valid], anchored=False)
        named = {_path_bytes(path) for path in paths}
        return lambda known: globs.among(known) | {path for path in named if path in known}


class Ignored(PathChange):
    """An ignored file that a denied pattern names, and that is not as recorded."""

    __slots__ = ()


def settled_scan(repo: Repo, base: str, head: str | None, asked: ScanRequest) -> Scan:
    """Scan; once more where something changed meanwhile."""
    for left in reversed(range(_TRIES)):
        before = _index_look(repo)
        scan, unsettled = _scan_worktree(repo, base, head, asked, b"", 0)
        moved = _index_look(repo) != before
        if not left or not (unsettled or moved):
            break
    if moved:
        scan.problems.append("the index was written while the files were read")
    return scan


def _staged_entries(
    repo: Repo, base: str, prefix: bytes
) -> tuple[dict[bytes, ContentState | None], list[bytes]]:
    """:func:`against_index`; not asked again in this process while the index is the same.

    An evaluation looks twice. Of an index that was written just now git is asked anew; a settled
    one is told by its bytes, too, since its stamps do not tell a write through a mapping.
    """
    look, digest = _index_look(repo), _index_digest(repo)
    key = (repo.top, base, prefix)
    known = _asked_before.get(key)
    if known is not None and digest and known[0] == (look, digest):
        return known[1]
    staged = against_index(repo, base, prefix)
    settled = digest and time.time_ns() - look[0] > _SETTLED_NS
    if settled and (_index_look(repo), _index_digest(repo)) == (look, digest):
        _asked_before[key] = (look, digest), staged
    else:
        _asked_before.pop(key, None)
    return staged


def _index_digest(repo: Repo) -> str:
    """Empty where there is no index, or none of an ordinary size."""
    data = repository.read_regular(
        os.path.join(repository.usable(repo), "index"), limit=_INDEX_LIMIT
    )
    if not data or len(data) == _INDEX_LIMIT:
        return ""
    digest = new("sha256", len(data))
    digest.update(data)
    return digest.hexdigest()


def _index_look(repo: Repo) -> tuple[int, ...]:
    try:
        status = os.lstat(os.path.join(repository.usable(repo), "index"))
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise GitError(f"the index cannot be looked at: {error.strerror}") from error
    return status.st_ctime_ns, status.st_mtime_ns, status.st_size, status.st_ino


def _scan_worktree(
    repo: Repo, base: str, head: str | None, asked: ScanRequest, prefix: bytes, depth: int
) -> tuple[Scan, bool]:
    name = prefix.decode("utf-8", "surrogateescape")
    messages = [f"{name}: {text}" if name else text for text in problems(repo)]
    heads = against_tree(repo, base, head, prefix)
    staged, unmerged = _staged_entries(repo, base, prefix)
    if unmerged:
        messages.append(
            "unmerged in the index: " + ", ".join(text_of(prefix + p) for p in unmerged[:5])
        )
    cache = _cache_file(repo, base, asked.cache_dir)
    table = (Table.load(cache, base) if cache else None) or listing(repo, base, prefix)
    links = table.gitlinks()
    links.update(p for more in (heads, staged) for p, e in more.items() if e and e.mode == GITLINK)
    tracked = {p for more in (heads, staged) for p, e in more.items() if e is not None}
    tracked = {path for path in tracked if path not in table}
    rules = _ignore_rules(repo, table, asked, name)
    walk = Walk(
        repo.top,
        table,
        tracked=tracked,
        gitlinks=links,
        rules=rules,
        collect=asked.rules is None,
        denied=asked.watched,
        prefix=prefix,
        deciding=asked.chosen(),
    )
    walk.run()
    messages += walk.problems
    if cache:
        _remember(cache, table, walk, rules)

    changes = _changes(_Tops(repo, asked.top), table, walk, heads, staged, prefix)
    emptied = [
        PathChange(
            text_of(prefix + p), table.entry(p), heads.get(p, base), staged.get(p, base), None
        )
        for p in walk.untouched
        for base in (table.entry(p),)
    ]
    changes += _ignored_changes(walk, asked, prefix)
    locked = {
        text_of(prefix + path): entry_digest(entry)
        for path, entry in (walk.ignored.items() if asked.protected else ())
        if asked.protected.first(prefix + path) is not None
    }
    collected = {name + file: text for file, text in rules.texts.items()}
    unsettled = walk.unsettled
    walks = [walk]
    for path, inner in walk.submodules.items():
        part, moving = _submodule(inner, prefix + path + b"/", asked, depth + 1)
        changes += part.changes
        messages += part.problems
        collected.update(part.rules)
        locked.update(part.locked)
        walk.written.update(part.written)
        walks += part.walks
        emptied += part.emptied
        unsettled = unsettled or moving
    return Scan(changes, messages, collected, locked, walk.written, walks, emptied), unsettled


def _submodule(repo: Repo, prefix: bytes, asked: ScanRequest, depth: int) -> tuple[Scan, bool]:
    """A submodule's own changes against its HEAD; that HEAD itself is compared one level up."""
    name = text_of(prefix)
    why = "submodules lie too deep in each other" if depth > _DEPTH else repository.refusal(repo)
    if why is not None:
        return Scan([], [f"{name}: {why}"], {}, {}, {}, [], []), False
    try:
        head = repository.head_commit(repo)
        base = head or repository.EMPTY_TREES[40]
        return _scan_worktree(repo, base, head, asked, prefix, depth)
    except GitError as error:
        return Scan([], [f"{name}: {error}"], {}, {}, {}, [], []), False


class _Tops(NamedTuple):
    """A repository, and the top level that paths are relative to (a submodule's is another one)."""

    repo: Repo
    top: str


def _changes(
    tops: _Tops,
    table: Table,
    walk: Walk,
    heads: Mapping[bytes, ContentState | None],
    staged: Mapping[bytes, ContentState | None],
    prefix: bytes,
) -> list[PathChange]:
    on_disk: dict[bytes, ContentState | None] = {**walk.entries, **dict.fromkeys(walk.missing)}
    for path, inner in walk.submodules.items():
        on_disk[path] = ContentState(GITLINK, repository.head_commit(inner) or "")
    links = {path for path, entry in walk.entries.items() if entry.mode == LINK}
    changes = []
    for path in {*heads, *staged, *on_disk}:
        base = table.entry(path)
        head, index = heads.get(path, base), staged.get(path, base)
        here = base or index or head if path in walk.untouched else base
        worktree = on_disk.get(path, here)
        if head == base and index == base and worktree == base:
            continue
        real = _real_path(tops, path, links, worktree)
        changes.append(PathChange(text_of(prefix + path), base, head, index, worktree, real))
    return changes


def _ignored_changes(walk: Walk, asked: ScanRequest, prefix: bytes) -> list[PathChange]:
    """Ignored files that a denied pattern names and that are not as they were recorded."""
    now = {
        text_of(prefix + path): entry
        for path, entry in walk.ignored.items()
        if not asked.protected or asked.denied.first(prefix + path) is not None
    }
    gone = (
        path
        for path in asked.denied_ignored
        if not prefix and path not in now and asked.denied.first(_path_bytes(path)) is not None
    )
    changes: list[PathChange] = []
    top = os.fsencode(asked.top)
    changes += [
        Ignored(path, None, None, None, entry)
        for path, entry in now.items()
        if asked.denied_ignored.get(path) != entry_digest(entry)
    ]
    changes += [
        Ignored(path, None, None, None, None)
        for path in gone
        if not os.path.lexists(os.path.join(top, _path_bytes(path)))
    ]
    return changes


def _real_path(
    tops: _Tops, path: bytes, links: Collection[bytes], worktree: ContentState | None
) -> str | None:
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
    return text_of(real[len(top) + 1 :]) or "."


def _ignore_rules(repo: Repo, table: Table, asked: ScanRequest, name: str) -> Rules:
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

    key = sha256(f"{repo.top}\0{base}".encode("utf-8", "surrogateescape")).hexdigest()
    return os.path.join(cache_dir, f"worktree-{key[:32]}")


def _remember(file: str, table: Table, walk: Walk, rules: Rules) -> None:
    """Write the cache where there is enough news to be worth it."""
    contents = walk.contents
    news = contents.fresh if len(table) > _SMALL else contents.fresh * _WORTH_SAVING
    if not (table.fresh or rules.asked or news > _WORTH_SAVING):
        return
    clean = table.known_clean()
    for path in (*walk.entries, *walk.missing):
        clean.pop(path, None)
    clean.update(contents.newly_clean)
    table.hashes = contents.hashes
    table.rules = rules.digest
    table.decisions = {path: rules.decisions[path] for path in walk.asked}
    table.save(file, clean)


def _path_bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")
