"""The files of a checkout, compared with the goal's baseline."""

from __future__ import annotations

import os

from flow.adapters.ledger.own_marks import marked
from flow.adapters.ledger.set_up_marks import guards_without_set_up, marked_set_up
from flow.adapters.worktree import change_set, guards, trees
from flow.app.evaluation.baselines import recorded_baseline
from flow.app.evaluation.goal_rules import own_files
from flow.core.boundary.by_products import with_guards, with_submodules
from flow.core.layout import PLUGIN_SCORES, SCORES
from flow.errors import FlowError
from flow.startup.contexts import suppress
from flow.startup.typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.adapters.baseline.links import BaseLinks
    from flow.adapters.git.find import Repo
    from flow.adapters.user_state.written_files import OwnRecord
    from flow.app.evaluation.values import RecordedBaseline
    from flow.core.boundary.changes import Baseline, Changes, DecidingFiles, PathChange, Snapshot
    from flow.core.evidence.proof import LineCount, ProofFile
    from flow.core.evidence.proof_words import Watched
    from flow.core.goal.model import Goal
    from flow.core.settings import LoadedSettings


class TreeContext(Protocol):
    """The parts of a checkout's context that are needed to compare its files."""

    top: str
    repo: Repo
    environ: Mapping[str, str]

    @property
    def home(self) -> str | None:
        """The user's home folder."""

    @property
    def state_dir(self) -> str:
        """The user's state folder; :class:`FlowError` if none can be used."""

    @property
    def settings(self) -> LoadedSettings:
        """The settings in force."""

    @property
    def own_record(self) -> OwnRecord:
        """The files that Flow wrote into this repository."""

    def cache(self, name: str) -> str | None:
        """A folder in the user's state folder; None if that cannot be used."""

    def pinned(self, run_id: str, goal: Goal) -> Baseline | None:
        """The run's baseline as Flow left it for this goal; None if there is none."""

    def write_baseline(self, goal_id: str, run_id: str, baseline: Baseline) -> None:
        """Write the baseline of a run."""


class WorkingTree:
    """Changes since a baseline: a checkout as two ports see it.

    :class:`~flow.app.evaluation.baselines.BaselinePort` and
    :class:`~flow.app.evaluation.baselines.PinningPort`.
    """

    def __init__(self, context: TreeContext) -> None:
        self._context = context
        self._repo = context.repo
        self.pinned = context.pinned
        self.write_baseline = context.write_baseline
        self.proof = ProofFiles(context.repo)

    @property
    def settings(self) -> LoadedSettings:
        """The settings in force."""
        return self._context.settings

    def denied(self, goal: Goal) -> tuple[str, ...]:
        """The patterns that no change of the goal may match."""
        return (*goal.denied_paths, *self.settings.settings.denied_paths)

    def baseline(self, goal: Goal, run_id: str) -> RecordedBaseline:
        """The run's baseline, else the goal's own run's, else one from the pinned commit alone."""
        return recorded_baseline(self, goal, run_id)

    def restored(self, goal: Goal) -> Baseline:
        """Baseline from the pinned commit alone: a fresh clone has the goal, not the run.

        Only the journal's folder is taken from the settings: reports and cards are in the usual
        ones.
        """
        from flow.adapters.baseline.restored import restore

        top = self._context.top
        restored = restore(
            self._repo,
            goal.base_commit,
            denied=self.denied(goal),
            journal_dir=self.settings.settings.journal_dir,
            scores_dir=PLUGIN_SCORES if os.path.isdir(os.path.join(top, PLUGIN_SCORES)) else SCORES,
            cache_dir=self._context.cache("worktree"),
        )
        # Files that a command names and git ignores are unknown here; the base has the others.
        patterns = self.named_by_commands(goal).patterns
        return restored._replace(proof_named=patterns, proof_since="base")

    def named_by_commands(self, goal: Goal) -> Watched:
        """The patterns of the files that the commands of a goal rest on, from their texts."""
        from flow.adapters.attribution.proof_files import watched_files

        return watched_files(goal, self._context.top, self._context.environ)

    def snapshot(
        self, baseline: Baseline, denied: Sequence[str], deciding: DecidingFiles | None
    ) -> Snapshot:
        """The change set now; see :class:`flow.app.ports.TakeSnapshot`."""
        cache_dir = self._context.cache("worktree")
        denied = tuple(dict.fromkeys((*denied, *baseline.settings_denied)))
        taken = change_set.snapshot(
            self._repo, baseline, denied, cache_dir=cache_dir, deciding=deciding
        )
        remaining = guards_without_set_up(taken.guards, baseline.guards, self._context.own_record)
        return taken._replace(changes=self.marked(taken.changes, baseline), guards=remaining)

    def tree_of(self, goal: Goal, run_id: str, commit: str) -> str | None:
        """The digest of a commit's files, as evidence about the working tree has it.

        The submodules that are checked out now belong to it, and git's hooks and settings. None if
        the commit is not in this repository.
        """
        baseline = self.baseline(goal, run_id).baseline
        own = own_files(goal, baseline)
        tree = trees.commit_tree(self._repo, baseline, commit, own, self.marked)
        if tree is None:
            return None
        if os.path.lexists(os.path.join(self._repo.top, ".gitmodules")):
            now = self.snapshot(baseline, self.denied(goal), None)
            tree = with_submodules(tree, now.submodules, baseline)
        return with_guards(tree, guards.guards(self._repo), baseline)

    def shown(self, goal: Goal) -> tuple[Baseline, Snapshot]:
        """The goal's baseline and the change set, to show them and never to decide."""
        baseline = self.baseline(goal, goal.run_id or "").baseline
        return baseline, self.snapshot(baseline, self.denied(goal), None)

    def sweep(self) -> None:
        """Remove the base checkouts of killed calls; others are left to ``flow doctor``."""
        with suppress(FlowError):
            state = self._context.state_dir
            if os.path.isdir(os.path.join(state, "work")):
                from flow.adapters.baseline import work_folder  # most calls end by themselves

                work_folder.remove_abandoned(state)

    def linked(self, goal: Goal) -> BaseLinks:
        """The folders to copy into each base checkout; :class:`InputError` if one is unfit."""
        from flow.adapters.baseline.links import BaseLinks, base_links

        if not goal.baseline_link:
            return BaseLinks()
        baseline = self.baseline(goal, goal.run_id or "").baseline
        return base_links(
            self._context.top, goal.baseline_link, baseline, self._context.cache("worktree")
        )

    def anything_to_commit(self, goal: Goal) -> bool:
        """Whether a file differs from HEAD, ignored ones aside; False if git cannot say."""
        try:
            _, snapshot = self.shown(goal)
        except FlowError:
            return False
        return not snapshot.problems and any(c.worktree != c.head for c in snapshot.changes)

    def marked(self, changes: list[PathChange] | Changes, baseline: Baseline) -> Changes:
        """The changes, marked where a file only has a name like Flow's own files."""
        record = self._context.own_record
        changes = marked(self._repo, changes, baseline, record)
        return marked_set_up(self._repo, changes, baseline, record, self._own_values)

    def _own_values(self) -> Mapping[str, Any] | None:
        """Each setting as the user alone sets it; None if that cannot be read."""
        from flow.adapters.user_state.settings import load
        from flow.core.settings import config_rows

        try:
            return {row.key: row.value for row in config_rows(load(None, self._context.home))}
        except FlowError:
            return None

    def widened(self, baseline: Baseline, base: str) -> tuple[Baseline, bool]:
        """The baseline moved to another base, and whether its range contains the pinned one."""
        from flow.adapters.baseline.pinned import widen_baseline

        return widen_baseline(self._repo, baseline, base)


class ProofFiles:
    """The files that commands rest on; the code for it is loaded only if there are any."""

    def __init__(self, repo: Repo) -> None:
        self._repo = repo

    def digests(self, patterns: Sequence[str]) -> Mapping[str, str]:
        """See :class:`flow.app.ports.ProofDisk`."""
        from flow.adapters.attribution.proof_files import on_disk

        return on_disk(self._repo, patterns)

    def lines(self, files: Sequence[ProofFile]) -> Mapping[str, LineCount]:
        """See :class:`flow.app.ports.ProofDisk`."""
        from flow.adapters.attribution.proof_files import count_lines

        return count_lines(self._repo, files)
