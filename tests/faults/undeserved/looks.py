"""Looks at a world: all bytes anew, git's plumbing with nothing of the checkout in force."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from tests.faults.undeserved.world import World

Tree = dict[str, tuple[int, str]]
"""Path to mode (as git has it) and digest of the content."""

GUARDS = ("hooks", "info/exclude", "info/attributes", "info/grafts", "info/sparse-checkout")
RESULTS = ("status", "evidence_ref", "last_evaluated_at", "last_result")
PINNED = ("run_id", "base_commit")


class Looks:
    """What is there now."""

    def __init__(self, world: World) -> None:
        self.world = world

    def text(self, rel: str) -> str:
        """A file's text; empty where there is none."""
        try:
            with open(self.world.path(rel), encoding="utf-8", errors="replace") as file:
                return file.read()
        except OSError:
            return ""

    def working_tree(self) -> Tree:
        """Every file below the top level but git's own and the runs; ignored ones, too."""
        found: Tree = {}
        top = self.world.repo
        for folder, folders, files in os.walk(top):
            rel = os.path.relpath(folder, top)
            inside = "" if rel == "." else rel + "/"
            for name in [*files, *(n for n in folders if os.path.islink(f"{folder}/{n}"))]:
                if (path := inside + name) != ".git":
                    found[path] = _entry(os.path.join(folder, name))
            folders[:] = [n for n in folders if f"{inside}{n}" not in (".git", ".flow/runs")]
        return found

    def index(self) -> Tree:
        """What is staged."""
        lines = self.world.answer("ls-files", "-s", "-z").split("\0")
        rows = [(line.split("\t")[0].split(), line.split("\t")[1]) for line in lines if line]
        return {path: (int(row[0], 8), _blob(self.world, row[1])) for row, path in rows}

    def commit_tree(self, commit: str) -> Tree:
        """What a commit holds."""
        lines = self.world.answer("ls-tree", "-r", "-z", commit).split("\0")
        rows = [(line.split("\t")[0].split(), line.split("\t")[1]) for line in lines if line]
        return {path: (int(row[0], 8), _blob(self.world, row[2])) for row, path in rows}

    def guards(self) -> dict[str, str]:
        """What could bend git's answers, or run with it."""
        found = {}
        for name in GUARDS:
            place = self.world.path(f".git/{name}")
            files = [place] if os.path.isfile(place) else []
            if os.path.isdir(place):
                files = sorted(os.path.join(place, n) for n in os.listdir(place))
            for file in files:
                found[os.path.relpath(file, self.world.path(".git"))] = str(_entry(file))
        hooks = re.findall(r"(?i)hookspath\s*=\s*(.*)", self.text(".git/config"))
        replaced = self.world.answer("for-each-ref", "refs/replace")
        return found | {"core.hooksPath": " ".join(hooks), "replace refs": replaced}


def contract_of(world: World, goal: str) -> Any:
    """A goal's contract as its file has it; None where it cannot be read."""
    try:
        with open(world.path(f".flow/goals/{goal}.goal.yaml"), encoding="utf-8") as file:
            document = yaml.safe_load(file)
        document.pop("lifecycle", None)
        for name in PINNED:
            document["scope"].pop(name, None)
        for criterion in document["objective"]["acceptance_criteria"]:
            for name in RESULTS:
                criterion.pop(name, None)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, yaml.YAMLError):
        return None
    return document


def status_of(world: World, goal: str) -> str:
    """The status that a goal's file says; empty where it says none."""
    try:
        with open(world.path(f".flow/goals/{goal}.goal.yaml"), encoding="utf-8") as file:
            return str(yaml.safe_load(file)["lifecycle"]["status"])
    except (OSError, ValueError, KeyError, TypeError, yaml.YAMLError):
        return ""


def _entry(path: str) -> tuple[int, str]:
    info = os.lstat(path)
    if stat.S_ISLNK(info.st_mode):
        return 0o120000, _digest(os.fsencode(os.readlink(path)))
    if not stat.S_ISREG(info.st_mode):
        return info.st_mode, ""
    with open(path, "rb") as file:
        return (0o100755 if info.st_mode & 0o100 else 0o100644), _digest(file.read())


def _digest(data: bytes) -> str:
    digest = hashlib.sha256(data).hexdigest()
    if data.startswith(b"---\n"):
        _fronts[digest] = data.split(b"\n---\n")[0]
    return digest


def front_of(entry: tuple[int, str] | None) -> bytes | None:
    """The front matter of a file that was looked at; None where it is not there or has none."""
    return None if entry is None else _fronts.get(entry[1])


_fronts: dict[str, bytes] = {}
"""By the digest of a file's whole content."""

_blobs: dict[str, str] = {}


def _blob(world: World, name: str) -> str:
    """The digest of a blob's content; blobs never change."""
    if name not in _blobs:
        _blobs[name] = _digest(os.fsencode(world.answer("cat-file", "blob", name)))
    return _blobs[name]
