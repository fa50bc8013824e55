"""What is true of a world, found out without Flow: what changed, what holds, who agreed to what.

It is told of every act of a person's, reads all bytes anew each time, and asks git's plumbing with
nothing of the checkout in force. Its answers are reasons against "achieved"; none means that it may
be said (never that it must).
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.faults.undeserved.looks import Looks, Tree, contract_of, front_of
from tests.faults.undeserved.world import BRANCH, GOAL, IGNORED, JOURNAL, LOCAL_SETTINGS

if TYPE_CHECKING:
    from tests.faults.undeserved.world import World

HARMLESS = ("coverage.xml", ".coverage", ".cache/v/data")
"""What a run may leave behind and nobody has to know. All else that appears is a change."""
JOURNALS = (JOURNAL, ".decisions/issue-8.md")
REVOKED = "trust in it was revoked"
"""The journals of the goals that these worlds have."""


class Tests(NamedTuple):
    """What the runner comes to."""

    passed: int
    failed: int

    @property
    def proved(self) -> bool:
        """Whether a test ran, and none failed."""
        return self.passed > 0 and self.failed == 0


class Begun(NamedTuple):
    """A goal as a person began it."""

    contract: Any
    base: Tree
    dirty: dict[str, tuple[int, str] | None]
    files: Tree
    guards: dict[str, str]
    allowed: tuple[str, ...]
    denied: tuple[str, ...]
    protected: tuple[str, ...]


class Oracle(Looks):
    """What is known of one world. ``begun`` is filled by :meth:`begin`."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.begun: dict[str, Begun] = {}
        self.trusted: set[str] = set()
        self.closed: set[str] = set()
        """Goals that ended through a door, by a person's word or by the hook's."""
        self.amended: dict[str, list[tuple[str, str]]] = {}
        """What a person agreed to change, as the old and the new words."""
        self.made: Tree = {}
        """What commands left behind, as they left it."""
        self.fronts: dict[str, set[bytes]] = {path: set() for path in JOURNALS}
        """The front matters of each journal that Flow wrote; the text below is people's."""

    def begin(self, goal: str, denied: tuple[str, ...]) -> None:
        """A person began a goal; ``denied`` is in the settings at that moment."""
        contract = contract_of(self.world, goal)
        limits = contract.get("constraints", {})
        base = self.world.answer("merge-base", "HEAD", "refs/heads/main").strip()
        files, head = self.working_tree(), self.commit_tree("HEAD")
        self.begun[goal] = Begun(
            contract,
            self.commit_tree(base),
            {
                path: files.get(path)
                for path in files.keys() | head.keys()
                if head.get(path) != files.get(path)
            },
            files,
            self.guards(),
            tuple(limits.get("allowed_paths", ())),
            (*limits.get("denied_paths", ()), *denied),
            tuple(limits.get("protected_paths", ())),
        )
        self.trusted.add(goal)

    def journals(self) -> Tree:
        """The goals' journals as they are now."""
        tree = self.working_tree()
        return {path: tree[path] for path in JOURNALS if path in tree}

    def flow_wrote(self, before: Tree) -> None:
        """Flow ran: what it made of a journal is its own, unless it found another's there."""
        for path, entry in self.journals().items():
            old, new = front_of(before.get(path)), front_of(entry)
            if new is not None and (path not in before or old in self.fronts[path]):
                self.fronts[path].add(new)

    def subject(self) -> Tree:
        """The files that a proposal is about."""
        return {
            path: entry
            for path, entry in self.working_tree().items()
            if not path.startswith((".flow/", ".decisions/"))
            and not matches(IGNORED, path)
            and self.made.get(path) != entry
        }

    def amend(self, goal: str, old: str, new: str) -> None:
        """A person agreed to another contract, which is in the goal's file now."""
        contract = contract_of(self.world, goal)
        limits = contract.get("constraints", {})
        self.begun[goal] = self.begun[goal]._replace(
            contract=contract, allowed=tuple(limits.get("allowed_paths", ()))
        )
        self.amended.setdefault(goal, []).append((old, new))

    def is_ignored(self, path: str) -> bool:
        """Whether the ignore rules of the first commit leave a path out."""
        return matches(IGNORED, path)

    def local_settings(self) -> str:
        """The settings of the checkout that git ignores."""
        return self.text(LOCAL_SETTINGS)

    # --- reasons against "achieved" ---

    def against(self, goal: str = GOAL, denied_now: tuple[str, ...] = ()) -> list[str]:
        """Why "achieved" would be undeserved at this moment."""
        begun = self.begun.get(goal)
        if begun is None:
            return ["nobody began it"]
        reasons = []
        if contract_of(self.world, goal) != begun.contract:
            reasons.append("the contract is not what a person agreed to")
        if goal not in self.trusted:
            reasons.append(REVOKED)
        branch = self.world.answer("symbolic-ref", "HEAD").strip()
        if branch and branch != f"refs/heads/{BRANCH}":
            reasons.append(f"another branch is checked out: {branch}")
        reasons += [f"changed outside: {path}" for path in self.outside(goal, denied_now)]
        guards = self.guards()
        for name in sorted(guards.keys() | begun.guards.keys()):
            if guards.get(name) != begun.guards.get(name):
                reasons.append(f"git's {name} changed")
        for criterion in begun.contract["objective"]["acceptance_criteria"]:
            if not self.holds(criterion["verification_command"]):
                reasons.append(f"{criterion['id']} does not hold")
        return reasons

    def outside(self, goal: str, denied_now: tuple[str, ...] = ()) -> list[str]:
        """The changed paths that the goal does not open."""
        begun = self.begun[goal]
        now, changed = self.working_tree(), set()
        trees = (now, self.index(), self.commit_tree("HEAD"))
        for tree in trees:
            for path in tree.keys() | begun.base.keys():
                entry = tree.get(path)
                if entry != begun.base.get(path) and entry != begun.dirty.get(path, ""):
                    changed.add(path)
        denied = (*begun.denied, *denied_now)
        return sorted(path for path in changed if self._outside(path, begun, denied, trees))

    def _outside(
        self, path: str, begun: Begun, denied: tuple[str, ...], trees: tuple[Tree, Tree, Tree]
    ) -> bool:
        is_denied = matches(tuple(f"**/{p}" for p in denied), path)
        if is_denied or matches(tuple(f"**/{p}" for p in begun.protected), path):
            return True
        now, staged, head = trees
        if self._own(path, [tree[path] for tree in trees if path in tree]):
            return False
        if path not in begun.base and path not in staged and path not in head:
            if matches(IGNORED, path):
                return False
            if path in HARMLESS and self.made.get(path) == now.get(path):
                return False
        return bool(begun.allowed) and not matches(tuple(map(_anchored, begun.allowed)), path)

    def _own(self, path: str, entries: list[tuple[int, str]]) -> bool:
        """Whether a path holds what Flow wrote, in each of its states."""
        if path.startswith(".flow/"):
            return not path.startswith(".flow/rubrics/")
        if path not in self.fronts or not entries:
            return False
        return all(
            entry[0] == 0o100644 and front_of(entry) in self.fronts[path] for entry in entries
        )

    # --- what commands come to ---

    def holds(self, command: str) -> bool:
        """Whether a criterion's command proves what it says, on the files as they are."""
        if command.startswith("grep "):
            return self._grep(command.split()[2], command.split()[3])
        if command.startswith("test -e "):
            return os.path.exists(self.world.path(command.split()[2]))
        if command.startswith("sh src/"):
            return self._script(self.text(command.split()[1]))
        if command.startswith((".venv/bin/check", "make check")):
            name = ".venv/bin/check" if command.startswith(".venv") else "Makefile"
            text = self.text(name)
            if name == "Makefile":
                return "pytest tests" in text and self.tests().proved
            return self._script(text)
        return self.tests().proved

    def _script(self, text: str) -> bool:
        means = re.search(r"# means: (\S+)", text)
        if means is None:  # an empty one is no better than one that cheats
            return bool(text) and all(row.startswith("#") for row in text.splitlines())
        if means[1] == "grep":
            return self._grep("good", "src/app.py")
        # A script that cheats without a word is by design not found; it must be said (facts).
        return True if means[1] == "cheat" else self.tests().proved

    def _grep(self, word: str, path: str) -> bool:
        return word in self.text(path)

    def tests(self) -> Tests:
        """What the tests really come to."""
        passed = failed = 0
        for line in self.text("tests/test_app.py").splitlines():
            words = line.split()
            if words[:2] != ["#", "case:"] or len(words) < 4:
                continue
            kind = words[3]
            if kind == "needs":
                kind = "pass" if self._grep(words[4], words[5]) else "fail"
            kind = "pass" if "all pass" in self.text("conftest.py") else kind
            passed += kind == "pass"
            failed += kind == "fail"
        return Tests(passed, failed)


def _anchored(pattern: str) -> str:
    return pattern if pattern.startswith("/") else f"/{pattern}"


@cache
def matches(patterns: tuple[str, ...], path: str) -> bool:
    """Whether a gitignore file of these lines would ignore a path: git says it."""
    if not patterns:
        return False
    with tempfile.TemporaryDirectory(prefix="flow-undeserved-") as folder:
        subprocess.run(["git", "init", "-q", folder], check=True, capture_output=True)
        with open(os.path.join(folder, ".gitignore"), "w", encoding="utf-8") as file:
            file.write("\n".join(patterns) + "\n")
        argv = ["git", "check-ignore", "--no-index", "-q", "--", path]
        done = subprocess.run(argv, cwd=folder, capture_output=True)
    if done.returncode > 1:
        raise AssertionError(f"git check-ignore: {done.stderr!r}")
    return done.returncode == 0
