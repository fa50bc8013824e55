"""A place where a scene that many tests begin with is made once, and put back for each of them."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from tests.support.gitrepo import GitRepo

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Stage:
    """``folder`` holds ``home`` (with Flow's own folder) and whatever the scenes need beside it.

    It is always the same place, since trust knows a repository by its path. Only contents and
    times of files are put back: what knows files by their identity takes them for other ones.
    """

    def __init__(self, parent: Path, git_config: bytes) -> None:
        self.folder = parent / "stage"
        self.home = self.folder / "home"
        self.own = self.home / "flow-state"
        self.repo = GitRepo(self.folder / "repo")
        self._kept = parent / "kept"
        self._git_config = git_config

    def begin(self, make: Callable[[], object], name: str = "") -> None:
        """Come to where ``make`` leads from an empty place; it is called once for each ``name``.

        ``make`` may begin with another scene itself.
        """
        kept = self._kept / (name or make.__qualname__)
        if self.folder.exists():
            shutil.rmtree(self.folder)
        if kept.exists():
            shutil.copytree(kept, self.folder, symlinks=True)
            for index in self.folder.glob("*/.git/index"):
                # The copies are other files; some are not as the index has them.
                GitRepo(index.parent.parent).git("update-index", "-q", "--refresh", check=False)
            return
        self.home.mkdir(parents=True)
        (self.home / ".gitconfig").write_bytes(self._git_config)
        make()
        shutil.copytree(self.folder, kept, symlinks=True)
