"""The stamps of the files that a goal's standing rests on, beside its own file.

- Every goal's rests on the branch, on settings, rubrics and changes under way, and on the
  checkout's notes in the state folder;
- an open goal's also on its run's folder and head;
- and if the files were looked at, on HEAD's commit, every file of the checkout, the run's
  evidence, git's index, hooks and settings.
"""

from __future__ import annotations

import os

from flow.adapters.fs.combined_stamp import CombinedStamp
from flow.adapters.git.repository import head_commit
from flow.adapters.user_state.checkouts import GOALS
from flow.adapters.user_state.noted_checkouts import notes_folder
from flow.adapters.worktree.guards import guards
from flow.core import layout
from flow.startup.once import once
from flow.startup.typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from flow.adapters.chain.pinned_heads import PinnedHeads
    from flow.adapters.git.find import Repo


class StampedCheckout(Protocol):
    """Places of the files of a checkout that a standing rests on."""

    repo: Repo

    @property
    def home(self) -> str | None:
        """The user's home folder, None if HOME is unset."""

    @property
    def state_dir(self) -> str:
        """The user's state folder."""

    @property
    def heads(self) -> PinnedHeads:
        """The heads of the checkout's runs."""


class CheckoutStamps:
    """The stamps of one checkout, during one look at the inbox."""

    def __init__(self, checkout: StampedCheckout, branch: Callable[[], str | None]) -> None:
        self._checkout = checkout
        self._branch = branch
        self._repo = checkout.repo
        self._top = checkout.repo.top

    def text_of(self, run_id: str | None, *, with_files: bool) -> str:
        """Like :meth:`of`, but only the text."""
        if run_id is None and not with_files:
            return self._of_closed
        return self.of(run_id, with_files=with_files).text

    def of(self, run_id: str | None, *, with_files: bool) -> CombinedStamp:
        """The stamp for an open goal with this run, for a closed one without.

        ``with_files``: the standing rests on a look at the files, too.
        """
        stamps = CombinedStamp(self._around.text)
        stamps.add(str(int(with_files)))
        if run_id is not None:
            folder = os.path.join(self._top, layout.run_dir(run_id))
            if with_files:
                stamps.tree(folder)
            else:
                stamps.folder(folder)
            stamps.file(self._checkout.heads.path(run_id))
        if with_files:
            stamps.add(self._files.text)
        stamps.settle_with(self._around, *([self._files] if with_files else []))
        return stamps

    @once
    def _of_closed(self) -> str:
        """The stamp of every closed goal."""
        return self.of(None, with_files=False).text

    @once
    def _around(self) -> CombinedStamp:
        """Stamp of the files that every goal of the checkout rests on."""
        checkout, top = self._checkout, self._top
        home, branch = checkout.home or "", self._branch() or ""
        stamps = CombinedStamp(home, branch, str(self._repo.git_dir is not None))
        stamps.folder(os.path.join(top, layout.PENDING))
        stamps.tree(os.path.join(top, layout.RUBRICS))
        stamps.tree(os.path.join(top, layout.PLUGIN_RUBRICS))
        for name in (layout.SETTINGS_LOCAL, layout.SETTINGS_PROJECT):
            stamps.file(os.path.join(top, name))
        stamps.file(os.path.join(home or "/", ".claude", "settings.flow.json"))
        stamps.file(os.path.join(checkout.state_dir, notes_folder(top), GOALS))
        return stamps

    @once
    def _files(self) -> CombinedStamp:
        """Stamp of the files that a look at the checkout's files rests on."""
        stamps = CombinedStamp()
        if os.path.lexists(os.path.join(self._top, ".gitmodules")):
            stamps.unsettle()  # the repositories of submodules are not watched
        leave_out = (os.path.join(self._top, ".git"), os.path.join(self._top, layout.RUNS))
        stamps.tree(self._top, leave_out)
        if self._repo.git_dir:
            stamps.folder(self._repo.git_dir)
            stamps.add(str(head_commit(self._repo)))
            stamps.add(repr(sorted(guards(self._repo).items())))
        return stamps
