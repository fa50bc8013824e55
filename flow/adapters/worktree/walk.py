"""Walk a working tree: every file is examined, and hashed if its stamps are not known ones.

Content is hashed as it is on disk, without git's filters and line-end conversion: those are set by
the checkout. A file that differs from its blob for that reason alone did so at activation too, and
is recorded then as dirty. Symlinks are never followed.
"""

from __future__ import annotations

import errno
import itertools
import os
import stat

from flow.adapters.git import repository
from flow.adapters.git.find import Repo, submodule_repo
from flow.adapters.worktree.cache import add_parents, changed_at, dated_at, hashed_entry
from flow.adapters.worktree.contents import Contents, special
from flow.adapters.worktree.folder_look import look_at, renamed_at
from flow.adapters.worktree.ignore import RULES_FILE, ignores_itself, read_rules
from flow.adapters.worktree.trees import OWN, is_own, text_of
from flow.core.boundary.changes import FOLDER, ContentState
from flow.errors import GitError
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from flow.adapters.worktree.cache import Table
    from flow.adapters.worktree.folder_look import FolderLook
    from flow.adapters.worktree.ignore import Rules
    from flow.adapters.worktree.look_ahead import LookAhead
    from flow.core.boundary.globs import Globs

_MOVING = (errno.ENOENT, errno.ENOTDIR, errno.ESTALE, errno.ELOOP)
"""Errors that show that the tree changes at this moment."""

_DEEP = 3
"""Levels of untracked folders after which the rest is listed at once: git is called once a level.
"""


class Walk:
    """One walk over one repository's working tree.

    ``tracked`` are paths of HEAD or the index that the base does not have; no ignore rule touches
    those. ``gitlinks`` are the submodules among all tracked paths. ``prefix`` is the path of this
    repository below the top level, with a ``/`` at its end (``b""`` at the top). ``deciding``
    chooses, among paths below the top level that are as in the base by their stamps, those to hash
    all the same; files that differ from the base are hashed anew then, too. None: stamps are
    believed. ``ahead`` are looks that another process takes, if any.
    """

    def __init__(
        self,
        top: str,
        table: Table,
        *,
        tracked: Collection[bytes],
        gitlinks: Collection[bytes],
        rules: Rules,
        collect: bool,
        denied: Globs,
        prefix: bytes,
        deciding: Callable[[Collection[bytes]], set[bytes]] | None,
        ahead: LookAhead | None,
    ) -> None:
        self.files: dict[bytes, bytes] = {}
        """Files on disk (``pack_hashed``): every regular file and symlink that differs from the
        base. There may be very many.
        """
        self.others: dict[bytes, ContentState] = {}
        """Other entries on disk (no regular files or symlinks) that differ from the base."""
        self.missing: set[bytes] = set()
        """Tracked paths that are not on disk."""
        self.ignored_files: dict[bytes, bytes] = {}
        self.ignored_others: dict[bytes, ContentState] = {}
        """Like ``files`` and ``others``, for ignored paths that a denied pattern names."""
        self.submodules: dict[bytes, Repo] = {}
        self.untouched: set[bytes] = set()
        """Submodules that are not checked out."""
        self.set_aside: list[bytes] = []
        """Untracked folders that ignore themselves, and that no rule of the checkout ignores."""
        self.problems: list[str] = []
        self.unsettled = False
        """Whether something changed meanwhile: another walk may help."""
        self._renamed: dict[bytes, int] = {}
        """Times (ns) of renames of folders, with their names as in :meth:`written`."""
        self.asked: list[bytes] = []
        """The untracked names that were met, as the ignore rules are asked for them."""
        self._top = os.fsencode(top) + b"/"
        self.contents = Contents(self._top, table, doubts=deciding is not None)
        self._table = table
        self._tracked = frozenset(tracked)
        self._gitlinks = frozenset(gitlinks)
        self._rules = rules
        self._collect = collect
        self._denied = denied
        self.prefix = prefix
        self._deciding = deciding
        self._ahead = ahead
        self._looked_at_ahead = frozenset() if ahead is None else ahead.folders
        self._folders = set(table.folders)
        for path in self._tracked:
            add_parents(self._folders, path)
        self._entered: set[bytes] | None = None
        """The folders above ``files`` and ``others``, once they are asked for."""
        self._seen: set[bytes] = set()
        """The tracked paths that were met, and are in neither ``files`` nor the clean ones."""
        self._candidates: list[bytes] = []
        """Files in tracked folders that are not tracked."""
        self._looked: set[bytes] = set()
        """The examined folders (with a ``/`` at the end)."""
        self._not_met: list[bytes] = []
        """Clean files that were absent when their folder was examined."""

    def run(self) -> None:
        """Walk the tree and fill the attributes of the result. May be called once."""
        self._doubt()
        if self._collect:
            for path in {*self._table, *self._tracked}:
                if path.rpartition(b"/")[2] == RULES_FILE:
                    self._read_rules(path)
        folders = self._tracked_folders()
        candidates, self._candidates = self._candidates, []
        self._examine_untracked(candidates, folders)
        clean_files = self._table.clean
        unseen = (f for f in clean_files.folders if f not in self._looked)
        not_met = itertools.chain.from_iterable(map(clean_files.paths_in, unseen))
        tracked = itertools.chain(self._not_met, not_met, self._table.unclean, self._tracked)
        seen, clean, files = self._seen, self.contents.newly_clean, self.files
        untouched = self.untouched
        self.missing = {
            path
            for path in tracked
            if path not in clean
            and path not in files
            and path not in seen
            and path not in untouched
        }

    @property
    def ignored(self) -> dict[bytes, ContentState]:
        """Ignored files that a denied pattern names."""
        files = {path: hashed_entry(packed) for path, packed in self.ignored_files.items()}
        return {**files, **self.ignored_others}

    def written(self) -> Iterator[tuple[bytes, int]]:
        """The examined files, and the time (ns) at which each was last written to, or renamed.

        A folder is included (with a ``/`` at its end, an untracked one with two) if its stamps show
        that it was renamed after a name was last made or removed in it.
        """
        prefix, contents = self.prefix, self.contents
        for stamped in (self.files, self.ignored_files, contents.newly_clean):
            for path, stamps in stamped.items():
                yield prefix + path, changed_at(stamps)
        for times in (contents.only_written, self._renamed):
            for path, at in times.items():
                yield prefix + path, at

    def redated(self) -> Iterator[tuple[str, tuple[int, int]]]:
        """The changed files of the base whose mtime is over a second before ctime, with both (ns).

        It may have been set back.
        """
        for path, stamps in self.files.items():
            times = dated_at(stamps), changed_at(stamps)
            if times[0] + 1_000_000_000 < times[1] and self._table.packed_entry(path):
                yield self.name(path), times

    def checked_out(self) -> list[str]:
        """The submodules that are checked out, as paths below the top level."""
        return [self.name(path) for path in self.submodules]

    def set_aside_names(self) -> list[str]:
        """The folders that ignore themselves, as paths below the top level."""
        return [self.name(path) for path in self.set_aside]

    def ignored_folders(self) -> list[str]:
        """The untracked folders that the rules ignore, as paths below the top level."""
        ignored = self._rules.decisions
        return [self.name(path[:-1]) for path in self.asked if path[-1:] == b"/" and ignored[path]]

    def holds(self, path: bytes) -> bool:
        """Whether ``path``, or something below it, is compared: tracked, or not ignored."""
        if path in self._table or path in self._tracked or path in self._folders:
            return True
        if self._entered is None:
            self._entered = set()
            for name in itertools.chain(self.files, self.others):
                add_parents(self._entered, name)
        return any(path in some for some in (self.files, self.others, self._entered))

    def name(self, path: bytes) -> str:
        """The path below the top level, as text."""
        return text_of(self.prefix + path)

    # --- tracked ---

    def _doubt(self) -> None:
        """Let the deciding files be examined, even with known stamps."""
        if self._deciding is None:
            return
        clean, prefix = self._table.clean, self.prefix
        paths = {prefix + path for path in clean} if prefix else clean
        self.contents.doubt(path[len(prefix) :] for path in self._deciding(paths))

    def _tracked_folders(self) -> list[bytes]:
        """Examine all files in the folders that hold tracked files; returns the other folders.

        The way to the top level is looked up once.
        """
        try:
            top = os.open(self._top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            self._unreadable(b"", error)
            return []
        untracked: list[bytes] = []
        waiting, ahead = [b""], list[bytes]()
        try:
            while waiting or ahead:
                folder = waiting.pop() if waiting else ahead.pop()
                try:
                    for path in self._tracked_folder(top, folder, untracked):
                        (ahead if path in self._looked_at_ahead else waiting).append(path)
                except OSError as error:
                    self._unreadable(folder.rstrip(b"/"), error)
        finally:
            os.close(top)
        return untracked

    def _tracked_folder(self, top: int, folder: bytes, untracked: list[bytes]) -> list[bytes]:
        """Examine the files in one of them; returns the tracked folders in it."""
        look = self._look(top, folder)
        self._looked.add(folder)
        self._not_met += look.missing
        self._note_rename(folder, look.renamed)
        inside: list[bytes] = []
        for path in look.folders:
            if path in self._folders:
                inside.append(path + b"/")
            else:
                self._sort_folder(path, untracked)
        for path in look.files:
            self._meet(path)
        return inside

    def _look(self, top: int, folder: bytes) -> FolderLook:
        doubted = self.contents.doubted(folder)
        look = None
        if self._ahead is not None and folder in self._ahead.folders:
            look = self._ahead.take(folder)
        if look is None:
            return look_at(top, folder, self._table.clean, doubted)
        met = {*look.files, *look.missing} if doubted else ()
        look.files.extend(path for path in doubted if path not in met)
        return look

    def _meet(self, path: bytes) -> None:
        """Examine a file whose stamps are not known."""
        if self._is_own(path) or self._is_git_file(path):
            return
        if path in self._table or path in self._tracked:
            self._add(path)
            if path not in self.files and path not in self.contents.newly_clean:
                self._seen.add(path)
        else:
            self._candidates.append(path)

    def _note_rename(self, path: bytes, at: int | None) -> None:
        """Record the time (ns) of a folder's rename; None: its stamps do not show one."""
        if at is not None:
            self._renamed[path if self.prefix + path else b"./"] = at

    def _sort_folder(self, path: bytes, untracked: list[bytes]) -> None:
        """Add a folder without tracked files to ``untracked``, unless it is git's or Flow's own."""
        if (not self.prefix and path == b".git") or self._is_own(path + b"/"):
            return
        if not self.prefix and (path + b"/").startswith(OWN) and self._own_alone(path):
            return  # git need not be asked about it
        if path.rpartition(b"/")[2] == b".git":
            self._nested(path)
        elif path in self._gitlinks:
            self._submodule(path, untracked)
        else:
            untracked.append(path)

    def _is_own(self, path: bytes) -> bool:
        """Whether Flow itself writes this file, or all below this folder (with a ``/``)."""
        return not self.prefix and is_own(path)

    def _own_alone(self, folder: bytes) -> bool:
        """Whether a folder holds no file but Flow's own."""
        waiting = [folder]
        while waiting:
            for path, is_folder in self._scan(waiting.pop()):
                if not is_folder:
                    return False
                waiting.append(path)
        return True

    def _is_git_file(self, path: bytes) -> bool:
        """Whether ``path`` is a file ``.git``, whose folder is then named.

        A file of ignore rules, which is no such file, is read if rules are collected.
        """
        name = path.rpartition(b"/")[2]
        if name == b".git":
            self._nested(path)
            return True
        if name == RULES_FILE and self._collect:
            self._read_rules(path)
        return False

    def _read_rules(self, path: bytes) -> None:
        text = read_rules(self._top + path, follow=False)
        if text is not None:
            self._rules.texts[text_of(path)] = text

    def _nested(self, path: bytes) -> None:
        """A ``.git`` that is not the checkout's own: its folder is named, its files are walked."""
        folder = path[: -len(b"/.git")] if b"/" in path else b""
        if folder and folder not in self._gitlinks:
            self.others[folder] = ContentState(FOLDER, self._nested_head(folder))

    def _nested_head(self, folder: bytes) -> str:
        try:
            repo = submodule_repo(os.fsdecode(self._top + folder))
            return (repository.head_commit(repo) if repo is not None else None) or ""
        except GitError:
            return ""

    def _submodule(self, path: bytes, untracked: list[bytes]) -> None:
        """Note a submodule; the folder of one that is not checked out is ``untracked``."""
        folder = os.fsdecode(self._top + path)
        repo = submodule_repo(folder)
        if repo is not None:
            self._seen.add(path)
            self.submodules[path] = repo
        elif os.path.lexists(os.path.join(folder, ".git")):
            self.problems.append(f"the submodule {self.name(path)} has a .git that leads nowhere")
        else:
            self.untouched.add(path)
            untracked.append(path)

    # --- untracked ---

    def _examine_untracked(self, files: list[bytes], folders: list[bytes]) -> None:
        """Examine untracked files, level by level: stamps are read only of those that count."""
        level = 0
        while files or folders:
            asked = files + [path + b"/" for path in folders if path not in self.untouched]
            self.asked += asked
            self._rules.decide(asked)
            ignored = self._rules.decisions
            del asked
            following: list[bytes] = []
            deeper: list[bytes] = []
            for path in files:
                if not ignored[path]:
                    self._add(path)
                elif self._denied.first(self.prefix + path) is not None:
                    self._add(path, ignored=True)
            for path in folders:
                if path in self.untouched:
                    self._list(path, following, deeper)
                elif ignored[path + b"/"]:
                    self._within_ignored(path)
                elif ignores_itself(self._top + path):
                    self._set_aside(path)
                elif level < _DEEP:
                    self._list(path, following, deeper)
                else:
                    self._list_all(path, following)
            files, folders, level = following, deeper, level + 1

    def _list(self, folder: bytes, files: list[bytes], folders: list[bytes]) -> None:
        """Add the content of an untracked folder to ``files`` and ``folders``."""
        try:
            self._note_rename(folder + b"//", renamed_at(os.lstat(self._top + folder)))
        except OSError as error:
            self._unreadable(folder, error)
        for path, is_folder in self._scan(folder):
            if path.rpartition(b"/")[2] == b".git":
                self._nested(path)
            elif path in self._gitlinks:
                self._submodule(path, folders)
            elif is_folder:
                folders.append(path)
            elif not self._is_git_file(path):
                files.append(path)

    def _list_all(self, folder: bytes, files: list[bytes]) -> None:
        """Add all files below an untracked folder; ignored ones are found by their path later."""
        folders = [folder]
        while folders:
            current = folders.pop()
            if current != folder and ignores_itself(self._top + current):
                self._set_aside(current)
            else:
                self._list(current, files, folders)

    def _scan(self, folder: bytes) -> list[tuple[bytes, bool]]:
        """The paths in a folder that are not Flow's own, and whether each is a folder."""
        try:
            with os.scandir(self._top + folder) as entries:
                met = [
                    (folder + b"/" + entry.name, entry.is_dir(follow_symlinks=False))
                    for entry in entries
                ]
        except OSError as error:
            self._unreadable(folder, error)
            return []
        if self.prefix or not (folder + b"/").startswith(OWN):
            return met
        return [each for each in met if not self._is_own(each[0] + b"/" * each[1])]

    def _add(self, path: bytes, *, ignored: bool = False) -> None:
        try:
            status = os.lstat(self._top + path)
        except OSError as error:
            self._unreadable(path, error)
            return
        if ignored:
            self._examine(path, status, self.ignored_files, self.ignored_others)
        else:
            self._examine(path, status, self.files, self.others)

    def _set_aside(self, folder: bytes) -> None:
        self.set_aside.append(folder)
        self._within_ignored(folder)

    def _within_ignored(self, folder: bytes) -> None:
        """Walk an ignored folder only if a denied pattern's literal part enters it."""
        folders = [folder]
        while folders:
            current = folders.pop()
            if not self._denied.enters(self.prefix + current):
                continue
            for path, is_folder in self._scan(current):
                if is_folder:
                    folders.append(path)
                elif self._denied.first(self.prefix + path) is not None:
                    self._add(path, ignored=True)

    # --- content ---

    def _examine(
        self,
        path: bytes,
        status: os.stat_result,
        files: dict[bytes, bytes],
        others: dict[bytes, ContentState],
    ) -> None:
        """Add a file that differs from the base; an unreadable one is a problem."""
        if stat.S_ISDIR(status.st_mode):
            self._unreadable(path, OSError(errno.ESTALE, "it became a folder"))
            return
        if not stat.S_ISREG(status.st_mode) and not stat.S_ISLNK(status.st_mode):
            others[path] = special(status)
            return
        try:
            packed = self.contents.packed(path, status)
        except OSError as error:
            self._unreadable(path, error)
            return
        if packed is not None:
            files[path] = packed

    def _unreadable(self, path: bytes, error: OSError) -> None:
        if error.errno in _MOVING:
            self.unsettled = True
        reason = error.strerror or "unknown error"
        filename = error.filename  # of a folder's entry if that is the cause
        if isinstance(filename, bytes) and filename != self._top:
            path = filename.removeprefix(self._top).rstrip(b"/")
        self.problems.append(f"{self.name(path) or 'the top level'} cannot be read: {reason}")
