"""One repository's changes: git's comparisons of HEAD and index with the base, and the walk."""

from __future__ import annotations

import os
import time
from itertools import chain

from flow.adapters.fs.stamps import RACY_NS, signature_of
from flow.adapters.git import repository
from flow.adapters.git.find import read_regular
from flow.adapters.git.run import refusal, usable
from flow.adapters.worktree.cache import Table, hashed_entry, is_packed_link
from flow.adapters.worktree.guards import problems
from flow.adapters.worktree.ignore import Rules, outer_rules
from flow.adapters.worktree.trees import against_index, against_tree, listing, text_of
from flow.adapters.worktree.walk import Walk
from flow.core.boundary.changes import GITLINK, LINK, ContentState, PathChange, entry_digest
from flow.core.boundary.globs import Globs, path_bytes, why_not
from flow.errors import GitError
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from flow.adapters.git.find import Repo
    from flow.adapters.worktree.look_ahead import LookAhead
    from flow.adapters.worktree.submodule_commits import CommittedStates
    from flow.adapters.worktree.trees import StagedEntries
    from flow.core.boundary.changes import DecidingFiles

_DEPTH = 8
"""Levels of submodules in submodules."""

_TRIES = 3
"""Attempts to read a tree that changes during the read."""

_WORTH_SAVING = 2 << 20
"""Bytes of ``Contents.fresh`` that make writing a large cache worthwhile."""

LARGE = 10_000
"""Clean files from which a second process is worth its start of some 3 ms."""

_SMALL = 4000
"""Files up to which the cache is written for any news: it takes a millisecond."""

_INDEX_LIMIT = 32 << 20
"""Bytes of an index up to which it is digested to save a call of git."""
_SPLIT = b"link"
"""Start of the part of an index that names another file, followed by its size in 4 bytes."""

_staged_entries_cache: dict[
    tuple[str, str, bytes], tuple[tuple[tuple[int, ...], str], StagedEntries]
] = {}
"""Top level, base and prefix → an index's stamp and digest, and git's answer about that index."""


class Scan(NamedTuple):
    """One repository's changes, with those of its submodules, as paths below the top level."""

    batches: list[list[PathChange] | Iterator[PathChange]]
    """The changes. Iterators are in the order of their paths: there may be very many."""
    problems: list[str]
    rules: dict[str, str]
    """The ignore rules that were met, if they are collected."""
    ignored_protected: dict[str, str]
    """path → digest of the ignored files that ``ScanRequest.protected`` names."""
    walks: list[Walk]
    """The walk of the repository itself, and those of its submodules."""
    emptied: list[PathChange]
    """The submodules that are not checked out."""
    unsettled: bool = False
    """Whether something changed meanwhile: another scan may help."""

    def written(self) -> Iterator[tuple[bytes, int]]:
        """Path and time (ns) of the last write, of the files that were examined."""
        return chain.from_iterable(walk.written() for walk in self.walks)

    def joined(self, part: Scan) -> Scan:
        """This scan with that of a submodule."""
        return Scan(
            self.batches + part.batches,
            self.problems + part.problems,
            self.rules | part.rules,
            self.ignored_protected | part.ignored_protected,
            self.walks + part.walks,
            self.emptied + part.emptied,
            self.unsettled or part.unsettled,
        )


class ScanRequest(NamedTuple):
    """Parameters of a scan, the same for a checkout and its submodules."""

    denied: Globs
    denied_ignored: Mapping[str, str]
    rules: Mapping[str, str] | None
    """The pinned rules; None: those now in force are collected."""
    cache_dir: str | None
    top: str
    """The checkout's top level."""
    protected: Globs
    """Patterns whose ignored files are examined too."""
    deciding: DecidingFiles | None
    """Files to hash anew, with the protected and the changed ones; None: time stamps are believed.
    """
    forbidden: Globs
    """All denied patterns, those that came later included."""

    @property
    def watched(self) -> Globs:
        """Patterns of the paths that are examined even if they are ignored."""
        if not self.protected:
            return self.denied
        return Globs([g.text for g in (*self.denied.globs, *self.protected.globs)], anchored=False)

    @property
    def named(self) -> Globs:
        """Patterns of the paths that count by their own names in a submodule's commits."""
        texts = [g.text for g in (*self.forbidden.globs, *self.protected.globs)]
        return Globs(texts, anchored=False)

    def chosen(self) -> Callable[[Collection[bytes]], set[bytes]] | None:
        """Function that selects the paths to hash anew, of those as in the base; None: none."""
        if self.deciding is None:
            return None
        patterns, paths = self.deciding
        valid = [pattern for pattern in patterns if why_not(pattern) is None]
        globs = Globs([*(g.text for g in self.protected.globs), *valid], anchored=False)
        named = {path_bytes(path) for path in paths}
        return lambda known: globs.among(known) | {path for path in named if path in known}


class Ignored(PathChange):
    """An ignored file that a denied pattern names, and that differs from its record."""

    __slots__ = ()


def settled_scan(repo: Repo, base: str, head: str | None, request: ScanRequest) -> Scan:
    """Scan; once more if something changed meanwhile."""
    for tries_left in reversed(range(_TRIES)):
        before = _index_stamp(repo)
        scan = _RepositoryScan(repo, base, head, request).run()
        moved = _index_stamp(repo) != before
        if not tries_left or not (scan.unsettled or moved):
            break
    if moved:
        scan.problems.append("the index was written while the files were read")
    return scan


def _staged_entries(repo: Repo, table: Table, prefix: bytes) -> StagedEntries:
    """:func:`against_index`; git is called once for each content of an index.

    The answer for a settled one is remembered in this process (an evaluation scans twice), and in
    ``table`` unless there are unmerged paths. An index is known by its bytes, since stamps do not
    show a write through a mapping; its stamps show that it stayed the same while git read it.
    """
    stamp, digest = _index_stamp(repo), _index_digest(repo)
    if digest and digest == table.index:
        return table.staged, []
    key, state = (repo.top, table.base, prefix), (stamp, digest)
    earlier, entries = _staged_entries_cache.pop(key, (None, ({}, [])))
    if earlier != state:
        entries = against_index(repo, table.base, prefix)
        settled = digest and time.time_ns() - stamp[0] > RACY_NS
        if not settled or (_index_stamp(repo), _index_digest(repo)) != state:
            return entries
    _staged_entries_cache[key] = state, entries
    staged, unmerged = entries
    if not unmerged:
        table.index, table.staged = digest, staged
    return staged, unmerged


def _index_digest(repo: Repo) -> str:
    """Digest of the index; empty if there is none of an ordinary size and whole by itself."""
    data = read_regular(os.path.join(usable(repo), "index"), limit=_INDEX_LIMIT)
    if not data or len(data) == _INDEX_LIMIT or _may_be_split(data):
        return ""
    return sha256(data).hexdigest()


def _may_be_split(data: bytes) -> bool:
    """Whether an index may have entries in another file (git's extension ``link``).

    ``link`` may be part of a path as well, seldom followed by a possible size of the extension.
    """
    at = data.find(_SPLIT)
    while at >= 0:
        if int.from_bytes(data[at + 4 : at + 8], "big") <= len(data):
            return True
        at = data.find(_SPLIT, at + 1)
    return False


def _index_stamp(repo: Repo) -> tuple[int, ...]:
    try:
        status = os.lstat(os.path.join(usable(repo), "index"))
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise GitError(f"the index cannot be looked at: {error.strerror}") from error
    return signature_of(status)


class _RepositoryScan:
    """The scan of one repository: a checkout's, or a submodule's below ``prefix``."""

    def __init__(
        self,
        repo: Repo,
        base: str,
        head: str | None,
        request: ScanRequest,
        prefix: bytes = b"",
        depth: int = 0,
        committed: Mapping[bytes, CommittedStates] | None = None,
    ) -> None:
        self._repo, self._request = repo, request
        self._committed = committed or {}
        """Of a submodule: the changes by its commits since the pinned base."""
        self._prefix, self._name, self._depth = prefix, text_of(prefix), depth
        self._problems = [f"{self._name}: {p}" if prefix else p for p in problems(repo)]
        self._cache = self._cache_file(base)
        table = Table.load(self._cache, base) if self._cache else None
        self._table = table or listing(repo, base, prefix)
        self._head = head

    def _against_head(self) -> dict[bytes, ContentState | None]:
        """:func:`against_tree`; git is called once for each HEAD, if there is a cache."""
        table, base = self._table, self._table.base
        head = self._head or repository.EMPTY_TREES[len(base)]
        if head not in (base, table.head):
            table.head_entries = against_tree(self._repo, base, self._head, self._prefix)
            table.head = head
        return table.head_entries if head != base else {}

    def _new_walk(self, ahead: LookAhead | None) -> Walk:
        entries = [
            (p, e) for more in (self._head_entries, self._staged) for p, e in more.items() if e
        ]
        links = self._table.gitlinks() | {p for p, entry in entries if entry.mode == GITLINK}
        self._gitlinks = links
        return Walk(
            self._repo.top,
            self._table,
            tracked={path for path, _ in entries if path not in self._table},
            gitlinks=links,
            rules=self._rules,
            collect=self._request.rules is None,
            denied=self._request.watched,
            prefix=self._prefix,
            deciding=self._request.chosen(),
            ahead=ahead,
        )

    def run(self) -> Scan:
        """Call git, walk, and combine both results."""
        self._ask_and_walk()
        walk, protected = self._walk, self._request.protected
        if self._cache:
            _save_cache(
                self._cache, self._table, walk, self._rules, compared_anew=self._compared_anew
            )
        ignored_protected = {
            self._path(path): entry_digest(entry)
            for path, entry in (walk.ignored.items() if protected else ())
            if protected.first(self._prefix + path) is not None
        }
        scan = Scan(
            [self._changes(), self._ignored_changes()],
            self._problems + walk.problems,
            {self._name + file: text for file, text in self._rules.texts.items()},
            ignored_protected,
            [walk],
            [self._emptied(path) for path in walk.untouched],
            walk.unsettled,
        )
        for path, submodule in walk.submodules.items():
            scan = scan.joined(self._submodule(submodule, path))
        scan.problems.extend(self._incomparable())
        return scan

    def _ask_and_walk(self) -> None:
        """Call git and walk; a second process takes a part of the looks at a large checkout."""
        ahead = None
        if len(self._table.clean) >= LARGE:
            from flow.adapters.worktree.look_ahead import LookAhead

            ahead = LookAhead(self._repo.top, self._table.clean)
        try:
            table = self._table
            before = table.head, table.index
            self._head_entries = self._against_head()
            self._staged, unmerged = _staged_entries(self._repo, table, self._prefix)
            self._compared_anew = (table.head, table.index) != before
            if unmerged:
                paths = ", ".join(self._path(path) for path in unmerged[:5])
                self._problems.append(f"unmerged in the index: {paths}")
            self._rules = self._ignore_rules()
            self._walk = self._new_walk(ahead)
            self._walk.run()
        finally:
            if ahead is not None:
                ahead.close()

    def _submodule(self, repo: Repo, path: bytes) -> Scan:
        """A submodule's own changes against its HEAD; that HEAD itself is compared one level up.

        Files that a pattern names are compared with the commit in the base as well.
        """
        depth, prefix = self._depth + 1, self._prefix + path + b"/"
        too_deep = "submodules lie too deep in each other"
        problem: object = too_deep if depth > _DEPTH else refusal(repo)
        if problem is None:
            try:
                head = repository.head_commit(repo)
                base = head or repository.EMPTY_TREES[len(self._table.base)]
                moved = self._committed_in(repo, path, head)
                return _RepositoryScan(repo, base, head, self._request, prefix, depth, moved).run()
            except GitError as error:
                problem = error
        return Scan([], [f"{text_of(prefix)}: {problem}"], {}, {}, [], [])

    def _committed_in(
        self, repo: Repo, path: bytes, head: str | None
    ) -> dict[bytes, CommittedStates]:
        """Changes by a submodule's commits since the one that the pinned base names."""
        entry = self._table.entry(path)
        gitlink = None if head is None else ContentState(GITLINK, head)
        if (gitlink == entry and not self._moved(path)) or not self._request.named:
            return {}
        from flow.adapters.worktree.submodule_commits import commits_of, committed_states

        also = commits_of((entry, gitlink))
        prefix = self._prefix + path + b"/"
        try:
            return committed_states(repo, self._states(path), also, prefix, self._request.named)
        except GitError as error:
            raise _incomparable() from error

    def _incomparable(self) -> Iterator[str]:
        """The problems of moved submodules without a checkout, where a denied pattern leads."""
        for path in sorted({*self._gitlinks, *self._committed}):
            if self._moved(path) and path not in self._walk.submodules:
                modes = [entry.mode for entry in self._states(path) if entry is not None]
                if GITLINK in modes and self._request.forbidden.enters(self._prefix + path):
                    yield f"{self._path(path)}/: {_incomparable()}"

    def _moved(self, path: bytes) -> bool:
        """Whether HEAD, the index or the pinned base has another entry than the submodule's HEAD.

        At the top level: than the pinned base.
        """
        return path in self._head_entries or path in self._staged or path in self._committed

    def _states(self, path: bytes) -> tuple[ContentState | None, ...]:
        """A path's entries in the pinned base, in HEAD and in the index."""
        own, head, index = self._own_entries(path)
        committed = self._committed.get(path)
        if committed is None:
            return own, head, index
        return committed.with_own(own, index)

    def _own_entries(self, path: bytes) -> tuple[ContentState | None, ...]:
        """A path's entries in this repository's own base, in HEAD and in the index."""
        base = self._table.entry(path)
        return base, self._head_entries.get(path, base), self._staged.get(path, base)

    def _path(self, path: bytes) -> str:
        return text_of(self._prefix + path)

    def _emptied(self, path: bytes) -> PathChange:
        """The change that a submodule without a checkout would be."""
        base, head, index = self._own_entries(path)
        return PathChange(self._path(path), base, head, index, None)

    def _changes(self) -> Iterator[PathChange]:
        """The changes in the order of their paths, each made when it is asked for."""
        walk = self._walk
        others: dict[bytes, ContentState | None] = {**walk.others, **dict.fromkeys(walk.missing)}
        for path, submodule in walk.submodules.items():
            others[path] = ContentState(GITLINK, repository.head_commit(submodule) or "")
        links = {path for path, packed in walk.files.items() if is_packed_link(packed)}
        return self._with_real_paths(self._made_changes(others), links)

    def _made_changes(
        self, others: Mapping[bytes, ContentState | None]
    ) -> Iterator[tuple[bytes, PathChange]]:
        walk, head_entries, staged = self._walk, self._head_entries, self._staged
        committed = self._committed
        more = {*head_entries, *staged, *others, *committed}.difference(walk.files)
        for path in sorted(chain(walk.files, more)):
            base = self._table.entry(path)
            head, index = head_entries.get(path, base), staged.get(path, base)
            packed = walk.files.get(path)
            if path in others:
                worktree = others[path]
            elif packed is not None:
                worktree = hashed_entry(packed)
            else:
                worktree = base or index or head if path in walk.untouched else base
            if path in committed:
                base, head, index = committed[path].with_own(base, index)
            if head == base and index == base and worktree == base:
                continue
            yield (
                path,
                PathChange(self._path(path), base, head, index, worktree, None, "", False),
            )

    def _with_real_paths(
        self, changes: Iterator[tuple[bytes, PathChange]], links: Collection[bytes]
    ) -> Iterator[PathChange]:
        """The changes, with the targets of symlinks; ``links``: those that are new."""
        with_target: Callable[[bytes, PathChange], PathChange] | None = None
        for path, change in changes:
            if not links and (change.worktree is None or change.worktree.mode != LINK):
                yield change
                continue
            if with_target is None:
                from flow.adapters.worktree.real_paths import real_paths_below

                with_target = real_paths_below(self._repo, self._request.top, links)
            yield with_target(path, change)

    def _ignored_changes(self) -> list[PathChange]:
        """Ignored files that a denied pattern names and that differ from their record."""
        denied, recorded = self._request.denied, self._request.denied_ignored
        now = {
            self._path(path): entry
            for path, entry in self._walk.ignored.items()
            if not self._request.protected or denied.first(self._prefix + path) is not None
        }
        top = os.fsencode(self._request.top)
        gone = (
            path
            for path in (recorded if not self._prefix else ())
            if path not in now
            and denied.first(path_bytes(path)) is not None
            and not os.path.lexists(os.path.join(top, path_bytes(path)))
        )
        altered = (path for path, entry in now.items() if recorded.get(path) != entry_digest(entry))
        return [
            *(Ignored(path, None, None, None, now[path]) for path in altered),
            *(Ignored(path, None, None, None, None) for path in gone),
        ]

    def _ignore_rules(self) -> Rules:
        pinned, cache_dir, name = self._request.rules, self._request.cache_dir, self._name
        if pinned is None:
            return Rules(outer_rules(self._repo), cache_dir)
        texts = {file[len(name) :]: text for file, text in pinned.items() if file.startswith(name)}
        rules = Rules(texts, cache_dir)
        if self._table.rules == rules.digest:
            rules.decisions = self._table.decisions
        return rules

    def _cache_file(self, base: str) -> str | None:
        """Path of the cache file.

        A submodule's differs from that of its own checkout, whose Flow folder and rules are others.
        """
        if self._request.cache_dir is None:
            return None
        places = f"{self._request.top}\0{self._repo.top}\0{base}"
        key = sha256(places.encode("utf-8", "surrogateescape")).hexdigest()
        return os.path.join(self._request.cache_dir, f"worktree-{key[:32]}")


def _incomparable() -> GitError:
    return GitError(
        "denied and protected paths in this submodule cannot be compared, since the commits that "
        "it moved between are not all here",
        remedy="git submodule update --init; of a shallow one: git fetch --unshallow in it",
    )


def _save_cache(file: str, table: Table, walk: Walk, rules: Rules, *, compared_anew: bool) -> None:
    """Write the cache if there is enough news to be worth it.

    ``compared_anew``: git gave a new comparison of HEAD or the index with the base.
    """
    contents = walk.contents
    compared = compared_anew and len(table) <= _SMALL
    news = contents.fresh if len(table) > _SMALL else contents.fresh * _WORTH_SAVING
    if not (table.fresh or rules.asked or compared or news > _WORTH_SAVING):
        return
    clean = table.clean.all_stamps()
    for path in chain(walk.files, walk.others, walk.missing):
        clean.pop(path, None)
    clean.update(contents.newly_clean)
    ignored = walk.ignored_files
    table.hashes = {**walk.files, **ignored} if ignored else walk.files
    table.rules = rules.digest
    if len(rules.decisions) > len(walk.asked):  # some were of paths that do not exist any more
        rules.decisions = {path: rules.decisions[path] for path in walk.asked}
    table.decisions = rules.decisions
    table.save(file, clean)
