"""The files of a solution that a caller names: files, folders and globs (SPEC 9.4).

A file that is named is read wherever it is. Files that a folder or a glob leads to are in the
checkout and sorted; git's and Flow's own, files that git ignores, symlinks and binary files are
left out and counted.
"""

from __future__ import annotations

import os
from pathlib import Path

from flow.adapters.debates.reports import solution_name
from flow.adapters.fs import inputs
from flow.adapters.git.find import would_block_git
from flow.adapters.git.run import git
from flow.adapters.judges import evidence_files, subjects
from flow.adapters.worktree.cache import folders_above
from flow.adapters.worktree.ignore import RULES_FILE
from flow.core.text.display import visible
from flow.core.untrusted.fences import FencedPart
from flow.errors import at_key, in_file
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flow.adapters.git.find import Repo

_GLOB = frozenset("*?[")


class Solution(NamedTuple):
    """The subject of a debate, and notes on the files left out of it."""

    parts: tuple[FencedPart, ...]
    name: str
    """Name of its reports."""
    notes: tuple[str, ...] = ()


class Where(NamedTuple):
    """Folders for the search of files."""

    start: str
    """Relative paths are relative to it."""
    top: str
    """Shown paths are relative to it."""
    repo: Repo | None = None
    reports_dir: str = ""
    """Folder of judges' reports, which are no solution."""


def read_solution(named: Sequence[str], where: Where) -> Solution:
    """The files as parts of a prompt, in the order in which they are named.

    Raises :class:`InputError` for a name without a readable file that is not empty.
    """
    parts: dict[str, FencedPart] = {}
    notes: dict[str, None] = {}
    for text in named:
        path = os.path.normpath(os.path.join(where.start, text))
        folder = os.path.isdir(path)
        if folder or (_GLOB & set(text) and not os.path.lexists(path)):
            files, left_out = _searched_parts(text, path if folder else None, where)
            notes.update(dict.fromkeys(left_out))
        else:
            files = [(path, _named_part(path, where))]
        for key, part in files:
            parts.setdefault(os.path.realpath(key), part)
    if not parts:
        raise at_key("solution").invalid("no file is named", "name the files to evaluate")
    count = len(parts)
    whole = tuple(
        part._replace(name="solution" if count == 1 else f"solution, part {number} of {count}")
        for number, part in enumerate(parts.values(), 1)
    )
    return Solution(whole, solution_name(list(parts), where.top), tuple(notes))


def _named_part(path: str, where: Where) -> FencedPart:
    """A file that is named itself, not found by a folder or glob."""
    inputs.check_file(path, "solution")
    if not os.path.getsize(path):
        remedy = "name files that hold something to evaluate"
        raise in_file(_shown_path(path, where.top), "solution").invalid("is empty", remedy)
    (part,) = subjects.parts([Path(path)])
    return part._replace(source=_shown_path(path, where.top))


def _searched_parts(
    text: str, folder: str | None, where: Where
) -> tuple[list[tuple[str, FencedPart]], tuple[str, ...]]:
    """The files below ``folder``, or of the glob ``text``, and notes on files left out."""
    pattern = _pattern(text, folder, where)
    top = os.path.realpath(where.top)
    collected = evidence_files.collect(top, [pattern], (), lambda paths: _left_out(paths, where))
    parts, counts = [], {"empty file(s)": 0, "binary file(s)": 0}
    for rel, raw in collected.files:
        if not raw.data.strip():
            counts["empty file(s)"] += 1
        elif evidence_files.is_binary(raw.data):
            counts["binary file(s)"] += 1
        else:
            parts.append(
                (os.path.join(top, rel), FencedPart("solution", raw.data, rel, raw.unread))
            )
    notes = [*collected.left_out, *evidence_files.in_words(counts)]
    if not parts:
        why = f" ({'; '.join(notes)})" if notes else ""
        raise in_file(text, "solution").invalid(
            f"names no file that can be evaluated{why}",
            "name text files of the checkout, or a folder or a glob that leads to some",
        )
    return parts, tuple(f"{visible(text)}: left out: {note}" for note in notes)


def _pattern(text: str, folder: str | None, where: Where) -> str:
    """The glob, relative to the top level."""
    top, start = os.path.realpath(where.top), os.path.realpath(where.start)
    if folder is not None:
        if os.path.islink(folder):
            remedy = "name the folder that it points to"
            raise in_file(text, "solution").invalid("is a symlink", remedy)
        below = os.path.relpath(os.path.realpath(folder), top)
        if below == ".":
            return "/**"
        names = [_escaped(name) for name in below.split(os.sep)]
        outside = names[0] == ".."
    else:
        names = [] if os.path.isabs(text) else [_escaped(n) for n in _names_below(start, top)]
        rest = text.removeprefix(f"{top}/").removeprefix(f"{where.top}/")
        outside = os.path.isabs(rest)
        for name in rest.split("/"):
            if name == ".." and names:
                names.pop()
            elif name == "..":
                outside = True
            elif name not in ("", "."):
                names.append(name)
    if outside:
        raise in_file(text, "solution").invalid(
            "lies outside the checkout",
            "name its files one by one, or work in the folder that holds it",
        )
    return "/" + "/".join(names) + ("/**" if folder is not None else "")


def _names_below(path: str, top: str) -> Iterable[str]:
    """The names on the way from ``top`` down to ``path``."""
    below = os.path.relpath(path, top)
    return () if below == "." else below.split(os.sep)


def _escaped(name: str) -> str:
    """A name as a glob that matches nothing else."""
    plain = "".join(f"\\{char}" if char in "*?[]\\" else char for char in name)
    return f"{plain[:-1]}\\ " if plain.endswith(" ") else plain


def _left_out(paths: Sequence[bytes], where: Where) -> dict[bytes, str]:
    """By path, why it is not read: git ignores and does not track it, or it is a judge's report."""
    reasons: dict[bytes, str] = {}
    if where.repo is not None and paths:
        _refuse_blocking_rules(where.repo, paths)
        asked = b"".join(path + b"\0" for path in paths)
        told = git(where.repo, "check-ignore", "-z", "--stdin", stdin=asked, ok=(0, 1))
        reasons = dict.fromkeys(told.split(b"\0")[:-1], "file(s) ignored by git")
    reports = os.fsencode(where.reports_dir.strip("/")) + b"/"
    reasons.update((path, "report(s) of a judge") for path in paths if path.startswith(reports))
    return reasons


def _refuse_blocking_rules(repo: Repo, paths: Sequence[bytes]) -> None:
    """Raise :class:`GitError` for ignore rules of these files that git would wait for."""
    folders = {b"", *(above for path in paths for above in folders_above(path))}
    rules = [os.fsdecode(os.path.join(folder, RULES_FILE)) for folder in sorted(folders)]
    for file in (*rules, os.path.join(repo.common_dir or "", "info", "exclude")):
        if would_block_git(os.path.join(repo.top, file)):
            raise in_file(file).git(
                "is no file, so git cannot tell which files it ignores",
                "remove it, or name the files one by one",
            )


def _shown_path(path: str, top: str) -> str:
    """The path from the top level; outside of it only the name: prompts show no other folders."""
    below = os.path.relpath(path, top)
    return os.path.basename(path) if below.startswith("..") else below
