"""The files that a goal's commands rest on, on disk: found, hashed anew, compared by lines."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import sys

from flow.adapters.attribution.idle_runs import LONGEST_SCRIPT, package_scripts, recipes
from flow.adapters.attribution.shell_syntax import parse_shell
from flow.adapters.fs import files
from flow.adapters.fs.state_folder import read_small
from flow.adapters.git import repository
from flow.adapters.git.blobs import LINES_LIMIT, git_blobs
from flow.adapters.process.environment import find_program
from flow.adapters.worktree.contents import hashed
from flow.core.attribution.echoed import is_shell_text
from flow.core.boundary.by_products import cache_root
from flow.core.boundary.changes import ABSENT, ContentState, entry_digest
from flow.core.boundary.globs import compile_glob, literal_name, literal_pattern, why_not
from flow.core.evidence import proof, protected_files
from flow.core.evidence.proof import ABOVE, HOME, LineCount, ProofFile
from flow.core.evidence.proof_settings import named_in_settings
from flow.core.evidence.proof_tables import HARMLESS_KEYS
from flow.core.evidence.proof_words import watched
from flow.core.layout import written_by_flow
from flow.core.masked_exit.programs import FILTERS
from flow.core.masked_exit.shell import commands, fed_programs
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from flow.adapters.git.find import Repo
    from flow.core.boundary.changes import Baseline, PathChange
    from flow.core.evidence.proof_words import Watched
    from flow.core.goal.model import Goal

MOST_FILES = 2000
"""Most files that are hashed by name; the rest is left out."""
LARGEST = 64 << 20
"""Bytes: a larger file is represented by its size and the time of its last change."""
MOST_BYTES = 512 << 20
"""Most bytes that are hashed in all; further files are represented by size and time."""
MOST_COUNTED = 200
"""Most files whose lines are counted."""
_OF_THE_SYSTEM = (
    "/bin/", "/dev/", "/etc/", "/lib", "/nix/", "/opt/", "/proc/", "/sbin/", "/sys/", "/usr/",
    "/Library/", "/System/", "/private/etc/",
)  # fmt: skip
_PRODUCT = 4_000_000
"""Old lines times new lines; a larger product counts all of them as replaced."""


def watched_files(goal: Goal, top: str, environ: Mapping[str, str]) -> Watched:
    """The patterns for a goal's commands, as the checkout is now."""
    commands = [
        (text, criterion.cwd or "")
        for criterion in goal.criteria
        for text in (criterion.verification_command, criterion.evidence_command)
        if text
    ]
    checkout = _Checkout(top, environ)
    proof_files = watched(commands, _simple_commands, checkout)
    usable = [p for p in proof_files.patterns if p.startswith(ABOVE) or why_not(p) is None]
    named = dict.fromkeys(
        literal_pattern(path)
        for name in _expanded_names(top, usable)
        for path in named_in_settings(name, checkout.text)
        if why_not(path) is None and checkout.kind(path) == "file"
    )
    return proof_files._replace(patterns=tuple(dict.fromkeys((*usable, *named))))


def on_disk(repo: Repo, patterns: Sequence[str]) -> dict[str, str]:
    """path → ``mode:hash`` of the files that patterns name without ``**``, hashed anew.

    Also of those that git ignores: the change set has none of them.
    """
    digests: dict[str, str] = {}
    left = MOST_BYTES
    algorithm: Any = "sha256" if _uses_sha256(repo) else "sha1"
    for name in _expanded_names(repo.top, patterns):
        if len(digests) >= MOST_FILES:
            break
        path = _full_path(repo.top, name)
        try:
            status = os.lstat(path)
            if not (stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)):
                continue
            if status.st_size > min(LARGEST, left):
                entry = ContentState("100644", f"{status.st_size}-bytes-of-{status.st_mtime_ns}")
            else:
                left -= status.st_size
                entry = hashed(path, status, algorithm)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
                continue
            entry = ContentState("100644", f"unreadable-{error.errno}")
        digests[name] = entry_digest(entry)
    return digests


def _full_path(top: str, name: str) -> bytes:
    """The path of a file of the proof; in the home folder also that of a symlink's target."""
    if name.startswith(HOME):
        return os.fsencode(os.path.realpath(os.path.expanduser(name)))
    return os.path.join(os.fsencode(top), os.fsencode(name))


def recorded(
    repo: Repo, baseline: Baseline, patterns: Sequence[str], changes: Sequence[PathChange]
) -> Baseline:
    """The baseline of a goal that begins now, with the files that its commands rest on."""
    states = protected_files.deviations(changes, {}, proof.Patterns(patterns))
    return proof.pin_patterns(
        baseline._replace(proof_states=states),
        patterns,
        on_disk(repo, patterns),
        (change.path for change in changes),
        at_activation=True,
    )


def count_lines(repo: Repo, changed: Sequence[ProofFile]) -> dict[str, LineCount]:
    """Added and removed lines of files by path; a file that cannot be compared is left out."""
    wanted = {file.before for file in changed[:MOST_COUNTED] if file.before != ABSENT}
    old = git_blobs(repo, wanted)
    old[ABSENT] = b""
    counts = {}
    for file in changed[:MOST_COUNTED]:
        before = old.get(file.before)
        after = b"" if file.after == ABSENT else content_now(repo.top, file)
        lines = _compared(file, before, after)
        if lines is not None:
            counts[file.path] = lines
    return counts


def is_binary(data: bytes) -> bool:
    """Whether git would call it binary: by a NUL near its beginning."""
    return b"\0" in data[:8000]


def _compared(file: ProofFile, old: bytes | None, new: bytes | None) -> LineCount | None:
    if old is None or new is None or is_binary(old) or is_binary(new):
        return None

    added, removed = _counted(old.splitlines(), new.splitlines())
    name = file.path.rpartition("/")[2]
    if name not in HARMLESS_KEYS or file.kind != "changed":
        return LineCount(added, removed)
    differing = _differing(name, old, new)
    if differing is None or file.before.partition(":")[0] != file.after.partition(":")[0]:
        return LineCount(added, removed)
    keys = tuple(sorted(key for key in differing if key not in HARMLESS_KEYS[name]))
    return LineCount(added, removed, keys, harmless=not keys)


class _Checkout:
    """The disk below the top level."""

    def __init__(self, top: str, environ: Mapping[str, str]) -> None:
        self._top = os.path.realpath(top)
        self._path = environ.get("PATH")
        self._module_path = environ.get("PYTHONPATH", "")
        self._scripts: dict[str, Mapping[str, object]] = {}

    def kind(self, path: str) -> Literal["file", "folder", ""]:
        """The kind of thing at a path, empty for any other; a symlink to a file is a file."""
        try:
            full = os.path.join(self._top, path)
            mode = os.lstat(full).st_mode
            if stat.S_ISLNK(mode):
                return "folder" if os.path.isdir(full) else "file"
        except (OSError, ValueError):
            return ""
        return "folder" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else ""

    def program(self, name: str) -> str | None:
        """Path below the top level of a program that ``PATH`` finds in the checkout; else None."""
        path = find_program(name, self._path)
        return self._below(os.path.abspath(path)) if path is not None else None

    def script(self, folder: str, name: str) -> str | None:
        """The text of a script of the ``package.json`` in ``folder``; None without one."""
        if folder not in self._scripts:
            self._scripts[folder] = package_scripts(self._top, folder)
        text = self._scripts[folder].get(name)
        return text if isinstance(text, str) else None

    def recipes(self, folder: str, words: Sequence[str]) -> Iterator[tuple[str, str]]:
        """The commands that a make runs, each with its folder."""
        return recipes(self._top, folder, words)

    def shell_script(self, path: str) -> str | None:
        """The text of a script for a shell; None if the file is none, or too long."""
        text = self.text(path)
        return text if text is not None and is_shell_text(text) else None

    def text(self, path: str) -> str | None:
        """The text of a short regular file."""
        try:
            data = files.read_optional(self._top, path, limit=LONGEST_SCRIPT)
            return data.decode("utf-8") if data is not None and b"\0" not in data else None
        except (FlowError, UnicodeDecodeError):
            return None

    def module_path(self) -> str:
        """The user's own ``PYTHONPATH``."""
        return self._module_path

    def own_modules(self) -> list[str]:
        """Python's own modules that one of the same name in ``PYTHONPATH`` replaces."""
        own = sys.stdlib_module_names.difference(sys.builtin_module_names)
        return sorted(name for name in own if not name.startswith("_"))

    def inside(self, path: str) -> str | None:
        """An absolute path as one below the top level; None if it is outside."""
        normal = os.path.normpath(path)
        return self._below(normal) or self._below(
            os.path.realpath(os.path.dirname(normal)) + "/" + os.path.basename(normal)
        )

    def is_file_outside(self, folder: str, path: str) -> bool:
        """Whether a path that leads outside is a file there, and not the system's."""
        full = os.path.realpath(os.path.join(self._top, folder, os.path.expanduser(path)))
        return os.path.isfile(full) and not full.startswith(_OF_THE_SYSTEM)

    def real(self, path: str) -> str | None:
        """Target of a symlink below the top level; None if it is outside, or ``path`` itself."""
        full = os.path.join(self._top, path)
        if not os.path.lexists(full):
            return None
        real = self._below(os.path.realpath(full))
        return real if real != path else None

    def _below(self, path: str) -> str | None:
        inside = path.startswith(self._top + os.sep)
        rel = path[len(self._top) + 1 :] if inside else ""
        counted = rel and rel.split("/", 1)[0] != ".git" and not written_by_flow(rel)
        return rel if counted else None


def _simple_commands(text: str) -> Iterator[tuple[str | None, ...]]:
    """The words of every simple command, and of every program with the files that are its input.

    Of a text that is no plain shell, the words between blanks.
    """
    node = parse_shell(text)
    if node is None:
        for part in re.split(r"[;&|\n()`]+", text[: 1 << 16]):
            yield tuple(word.strip("\"'") for word in part.split()[:200])
        return
    for command in commands(node):
        yield command.words[:200]
    for words in fed_programs(node, FILTERS):
        yield words[:200]


def _expanded_names(top: str, patterns: Sequence[str]) -> Iterator[str]:
    """The names that patterns without ``**`` match, caches left out."""
    seen = set()
    above = list(_folders_above(top)) if any(p.startswith(ABOVE) for p in patterns) else []
    for pattern in patterns:
        name = literal_name(pattern)
        if pattern.startswith(ABOVE):
            names = _names_above(above, pattern)
        elif name is not None:
            names = [name]
        elif "**" in pattern or pattern.endswith("/"):
            continue
        else:
            names = sorted(_expanded(top, pattern))[:MOST_FILES]
        for path in names:
            if path not in seen and cache_root(path) is None:
                seen.add(path)
                yield path


class _FolderAbove(NamedTuple):
    """A folder above the checkout: the way there, its path, and the names in it."""

    way: str
    path: str
    names: frozenset[str] | None
    """None if it cannot be listed."""


def _folders_above(top: str) -> Iterator[_FolderAbove]:
    way, folder = "", os.path.realpath(top)
    while folder != os.sep:
        way, folder = way + ABOVE, os.path.dirname(folder)
        try:
            names = frozenset(os.listdir(folder))
        except OSError:
            names = None
        yield _FolderAbove(way, folder, names)


def _names_above(above: Sequence[_FolderAbove], pattern: str) -> list[str]:
    """The files of one name in the folders above."""
    name = pattern[len(ABOVE) :]
    first = name.partition("/")[0]
    return [
        folder.way + name
        for folder in above
        if (folder.names is None or first in folder.names)
        and os.path.isfile(os.path.join(folder.path, name))
    ]


def _expanded(top: str, pattern: str) -> list[str]:
    """The paths that match a pattern without ``**``."""
    paths = [b""]
    root = os.fsencode(top)
    for part in compile_glob(pattern, anchored=True).parts:
        below = []
        for folder in paths:
            literal = part is not None and part.tail is None and part.tokens is None
            if part is not None and literal:
                names = (
                    [part.head] if os.path.lexists(os.path.join(root, folder, part.head)) else []
                )
            else:
                names = _folder_names(os.path.join(root, folder))
            below += [os.path.join(folder, n) for n in names if part is None or part.matches(n)]
        paths = below[:MOST_FILES]
    return [os.fsdecode(path) for path in paths]


def _folder_names(folder: bytes) -> list[bytes]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _uses_sha256(repo: Repo) -> bool:
    head = repository.head_commit(repo)
    return head is not None and len(head) == 64


def content_now(top: str, changed: ProofFile) -> bytes | None:
    """Content of a file, or a symlink's target; None if it cannot be read or is too large."""
    path = _full_path(top, changed.path)
    try:
        if changed.after.startswith("120000:"):
            return os.readlink(path)
    except OSError:
        return None
    return read_small(path, LINES_LIMIT)


def _counted(old: list[bytes], new: list[bytes]) -> tuple[int, int]:
    """(added, removed) lines."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    most = min(len(old), len(new)) - start
    while end < most and old[-1 - end] == new[-1 - end]:
        end += 1
    a, b = old[start : len(old) - end], new[start : len(new) - end]
    if not a or not b or len(a) * len(b) > _PRODUCT:
        return len(b), len(a)
    from difflib import SequenceMatcher

    same = sum(block.size for block in SequenceMatcher(None, a, b, False).get_matching_blocks())
    return len(b) - same, len(a) - same


def _differing(name: str, old: bytes, new: bytes) -> set[str] | None:
    """The keys of a settings file that differ, two levels deep; None if it cannot be read."""
    before, after = (_read_document(name, data) for data in (old, new))
    if before is None or after is None:
        return None
    was, now = _flattened(before), _flattened(after)
    return {key for key in {*was, *now} if was.get(key) != now.get(key)}


def _read_document(name: str, data: bytes) -> dict[str, Any] | None:
    import tomllib

    try:
        text = data.decode("utf-8")
        document = tomllib.loads(text) if name.endswith(".toml") else json.loads(text)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _flattened(document: Mapping[str, Any]) -> dict[str, Any]:
    flattened: dict[str, Any] = {}
    for key, value in document.items():
        if isinstance(value, dict) and value:
            flattened.update((f"{key}.{inner}", held) for inner, held in value.items())
        else:
            flattened[key] = value
    return flattened
