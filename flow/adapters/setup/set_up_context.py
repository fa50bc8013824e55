"""The checkout that ``flow init`` works on, and its records in the user's state folder."""

from __future__ import annotations

import os

from flow.adapters.fs.state_folder import ensure_state_dir, state_dir
from flow.adapters.git.directories import repo_key, shared_dir
from flow.adapters.git.find import find_repo, is_bare
from flow.adapters.git.run import refusal
from flow.adapters.setup.undo import SetUpRecord
from flow.adapters.user_state import settings
from flow.adapters.user_state.written_files import OwnRecord
from flow.errors import FlowError
from flow.startup.once import once
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.core.settings import LoadedSettings


class SetUpContext:
    """The repository around ``cwd``; without one, ``cwd`` itself."""

    def __init__(self, cwd: str, environ: Mapping[str, str]) -> None:
        self.environ = environ
        self.repo = find_repo(os.path.abspath(cwd))
        self.top = self.repo.top if self.repo is not None else os.path.abspath(cwd)
        self.no_git = (
            refusal(self.repo) if self.repo is not None else "there is no git repository here"
        )
        """Why git cannot be used here, or None."""
        self.home = environ.get("HOME") or None

    @property
    def is_git_folder(self) -> bool:
        """Whether this is git's own folder without a checkout: a bare repository."""
        return self.repo is None and is_bare(self.top)

    @property
    def common_dir(self) -> str | None:
        """The git directory that linked worktrees share; None if git cannot be used."""
        return self.repo.common_dir if self.repo is not None and self.no_git is None else None

    @once
    def state_dir(self) -> str | None:
        """The user's state folder; None if that cannot be used."""
        try:
            folder = state_dir(self.environ, self.home, self.top, self.common_dir)
            ensure_state_dir(folder)
        except FlowError:
            return None
        return folder

    @once
    def own_record(self) -> OwnRecord | None:
        """The files that Flow wrote into this repository; None without a state folder."""
        folder = self.state_dir
        if folder is None or self.repo is None:
            return None
        key = repo_key(shared_dir(self.repo), self.top)
        return OwnRecord(lambda: (folder, key))

    @once
    def record(self) -> SetUpRecord | None:
        """The record of the set-up of this checkout; None without a state folder."""
        return SetUpRecord(self.state_dir, self.top) if self.state_dir is not None else None

    @once
    def settings(self) -> LoadedSettings:
        """The settings in force; unreadable ones are left out."""
        return settings.load_lenient(self.top, self.home)[0]
