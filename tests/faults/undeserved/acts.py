"""What an agent does to the files, to git and to Flow's own files, without asking Flow."""

from __future__ import annotations

import json
import mmap
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tests.faults.undeserved.world import BRANCH, GOAL, GREP, LOCAL_SETTINGS, SCRIPTS, SHIM

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.faults.undeserved.oracle import Oracle
    from tests.faults.undeserved.world import World


class Acts:
    """A method for each act; what the file system refuses is no act."""

    def __init__(self, world: World, oracle: Oracle) -> None:
        self.world, self.oracle = world, oracle
        self._maps: dict[str, mmap.mmap] = {}

    # --- files ---

    def act_edit(self, path: str, text: str = "changed\n") -> None:
        """Write a file, as an editor does; through a link where the path leads through one."""
        self._try(lambda: self.world.write(path, text))

    def act_delete(self, path: str) -> None:
        """Remove a file."""
        self._try(lambda: os.unlink(self.world.path(path)))

    def act_rename(self, path: str, to: str) -> None:
        """Rename a file."""

        def rename() -> None:
            os.makedirs(os.path.dirname(self.world.path(to)), exist_ok=True)
            os.rename(self.world.path(path), self.world.path(to))

        self._try(rename)

    def act_link(self, path: str, to: str) -> None:
        """Put a symlink where a file was, or nothing."""

        def link() -> None:
            os.makedirs(os.path.dirname(self.world.path(path)), exist_ok=True)
            if os.path.lexists(self.world.path(path)):
                os.unlink(self.world.path(path))
            os.symlink(to, self.world.path(path))

        self._try(link)

    def act_chmod(self, path: str) -> None:
        """Make a file executable, or not any more."""

        def chmod() -> None:
            place = self.world.path(path)
            os.chmod(place, os.stat(place).st_mode ^ 0o111)

        self._try(chmod)

    def act_map(self, path: str) -> None:
        """Map a file for writing, and write once what is there already."""

        def open_map() -> None:
            with open(self.world.path(path), "r+b") as file:
                self._maps[path] = mmap.mmap(file.fileno(), 0)
            self._maps[path][0] = self._maps[path][0]

        self._try(open_map)

    def act_write_map(self, path: str) -> None:
        """Write through a mapping: the same size, and on tmpfs no stamp moves."""
        if path not in self._maps:
            self.act_map(path)
        if path in self._maps:
            self._maps[path][0] ^= 1

    def act_same_stamp(self, path: str) -> None:
        """Change a byte and set the time of the last change back: the clock is the agent's."""

        def change() -> None:
            place = self.world.path(path)
            info = os.stat(place)
            with open(place, "r+b") as file:
                first = file.read(1)
                file.seek(0)
                file.write(bytes([first[0] ^ 1]))
            os.utime(place, ns=(info.st_atime_ns, info.st_mtime_ns))

        self._try(change)

    def act_script(self, means: str, spill: str = "", guard: str = "") -> None:
        """Rewrite the script that a command calls; it may leave a file, or a git hook, behind."""
        extra = (
            f"mkdir -p {os.path.dirname(spill) or '.'}; echo all pass > {spill}\n" if spill else ""
        )
        extra += f"mkdir -p .git/hooks; echo exit 0 > .git/hooks/{guard}\n" if guard else ""
        self.act_edit("src/check.sh", f"# means: {means}\n{extra}{SCRIPTS[means]}")

    def act_shim(self, honest: bool = False) -> None:
        """Rewrite the ignored program that a command starts."""
        self.act_edit(".venv/bin/check", SHIM if honest else "#!/bin/sh\n# means: cheat\nexit 0\n")

    def act_tests(self, kinds: list[str]) -> None:
        """Rewrite the tests."""
        self.act_edit(
            "tests/test_app.py", "".join(f"# case: t{n} {k}\n" for n, k in enumerate(kinds))
        )

    # --- git ---

    def act_git(self, argv: tuple[str, ...]) -> None:
        """Any call of git's."""
        self.world.try_git(*argv)

    def act_commit(self, path: str = "") -> None:
        """Commit everything, a change of ``path`` with it."""
        if path:
            self.act_edit(path)
        self.world.try_git("add", "--all")
        self.world.try_git("commit", "-q", "--no-verify", "--allow-empty", "-m", "work")

    def act_hide(self, path: str, flag: str) -> None:
        """Tell git's index not to look at a file."""
        self.world.try_git("update-index", flag, "--", path)

    def act_put_back(self) -> None:
        """Everything as the base has it, but the work."""
        self.world.try_git("reset", "-q", "refs/heads/main")
        self.world.try_git("checkout", "-q", "-f", "refs/heads/main", "--", ":!src/app.py")
        self.world.try_git(
            "clean", "-q", "-f", "-d", "--", ":!.flow", ":!.decisions", ":!src/app.py"
        )

    def act_replace(self) -> None:
        """Let git show another commit where the first one is asked for."""
        self.world.try_git("commit", "-q", "--no-verify", "--allow-empty", "-m", "other")
        self.world.try_git("replace", "HEAD~1", "HEAD")

    def act_guard(self, name: str, text: str = "exit 0\n") -> None:
        """Write a file below ``.git``: a hook, or one of ``info``."""
        self.act_edit(f".git/{name}", text)

    def act_settings(self, goals: dict[str, Any]) -> None:
        """Write the settings of the checkout that git ignores."""
        self.act_edit(LOCAL_SETTINGS, json.dumps({"flow": {"goals": goals}}))

    def act_goal_file(self, change: str, goal: str = GOAL) -> None:
        """Change a goal's file by hand."""
        path = f".flow/goals/{goal}.goal.yaml"
        if change == "delete":
            self.act_delete(path)
            return
        old, new = {
            "garbage": (self.oracle.text(path), "{"),
            "weaken": (GREP, "test -e README.md"),
            "widen": ("allowed_paths:\n", "allowed_paths:\n  - '**'\n"),
            "achieved": ("  status: active\n  turns", "  status: achieved\n  turns"),
            "cancelled": ("  status: active\n  turns", "  status: cancelled\n  turns"),
            "draft": ("  status: active\n  turns", "  status: draft\n  turns"),
            "branch": (f"branch: {BRANCH}", "branch: other"),
        }[change]
        self.act_edit(path, self.oracle.text(path).replace(old, new))

    def _try(self, work: Callable[[], object]) -> None:
        """An act that the file system may refuse is no act."""
        with suppress(OSError, ValueError):
            work()
