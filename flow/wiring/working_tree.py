"""The files of a checkout, compared with what a goal pinned when it began."""

from __future__ import annotations

import os

from flow.adapters.fs import clock
from flow.adapters.ledger.own_marks import marked
from flow.adapters.ledger.set_up_marks import guards_without_set_up, marked_set_up
from flow.adapters.worktree import change_set
from flow.app.evaluation.baselines import recorded_baseline
from flow.app.evaluation.values import ClosingContext, RecordedBaseline
from flow.core.layout import PLUGIN_SCORES, SCORES
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING, Any
from flow.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.adapters.git.find import Repo
    from flow.core.boundary.changes import Baseline, Changes, Deciding, PathChange, Snapshot
    from flow.core.evidence.proof import LineCount, ProofFile
    from flow.core.evidence.proof_words import Watched
    from flow.core.goal.model import Goal
    from flow.core.settings import LoadedSettings
    from flow.wiring.context import Context


class WorkingTree:
    """What has changed, and since when. Implements :class:`flow.app.evaluation.baselines` ports."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._repo = context.repo
        self.pinned = context.pinned
        self.proof = ProofFiles(context.repo)

    @property
    def settings(self) -> LoadedSettings:
        return self._context.settings

    def denied(self, goal: Goal) -> tuple[str, ...]:
        """The patterns that no change of the goal may match."""
        return (*goal.denied_paths, *self.settings.settings.denied_paths)

    def baseline(self, goal: Goal, run_id: str) -> RecordedBaseline:
        """The run's baseline, else the goal's own run's, else what the pinned commit tells."""
        return recorded_baseline(self, goal, run_id)

    def restored(self, goal: Goal) -> Baseline:
        """What a pinned commit alone tells: a fresh clone has the goal, not the run.

        Settings open no folder here but the journal's: reports and cards lie in the usual ones.
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
        # What a command names and git ignores is unknown here; of the rest the base tells.
        patterns = self.named_by_commands(goal).patterns
        return restored._replace(proof_named=patterns, proof_since="base")

    def named_by_commands(self, goal: Goal) -> Watched:
        """The patterns of what the commands of a goal rest on, as their texts say."""
        from flow.adapters.attribution.proof_files import watched_files

        return watched_files(goal, self._context.top, self._context.environ)

    def write_baseline(self, goal_id: str, run_id: str, baseline: Baseline) -> None:
        self._context.ledger.write_baseline(goal_id, run_id, baseline)

    def snapshot(
        self, baseline: Baseline, denied: Sequence[str], deciding: Deciding | None
    ) -> Snapshot:
        """The change set now; see :class:`flow.app.ports.TakeSnapshot`."""
        cache_dir = self._context.cache("worktree")
        denied = tuple(dict.fromkeys((*denied, *baseline.settings_denied)))
        taken = change_set.snapshot(
            self._repo, baseline, denied, cache_dir=cache_dir, deciding=deciding
        )
        guards = guards_without_set_up(taken.guards, baseline.guards, self._context.own_record)
        return taken._replace(changes=self.marked(taken.changes, baseline), guards=guards)

    def marked(self, changes: list[PathChange] | Changes, baseline: Baseline) -> Changes:
        """The changes, with which of them only have a name that Flow gives its files."""
        record = self._context.own_record
        changes = marked(self._repo, changes, baseline, record)
        return marked_set_up(self._repo, changes, baseline, record, self._own_values)

    def _own_values(self) -> Mapping[str, Any] | None:
        """Each setting as the user alone says it; None where that cannot be read."""
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


def closing_context(context: Context) -> ClosingContext:
    """What a person's command in a checkout is decided with; it locks with ``filelock``."""
    tree = WorkingTree(context)
    return ClosingContext(
        records=context.records,
        open_ledger=lambda: context.ledger_of(quick=False),
        baseline=tree.baseline,
        snapshot=tree.snapshot,
        write_baseline=tree.write_baseline,
        denied_paths=context.settings.settings.denied_paths,
        account=lambda: context.who,
        version=__version__,
        now=clock.now,
        speaker=context.speaker,
        proof=tree.proof,
        earlier=context.earlier,
        trusted=context.trusted,
        broken=lambda run_id: context.verification.broken(run_id),  # noqa: PLW0108  # few ask
        elsewhere=context.elsewhere,
        troubles=lambda: tuple(context.run_record.troubles),
    )


class ProofFiles:
    """The files that commands rest on; the code for it is loaded where there are any."""

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
