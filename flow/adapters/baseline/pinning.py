"""Pinning the state of a checkout when a goal begins, and moving the pin."""

from __future__ import annotations

from flow.adapters.baseline import links
from flow.adapters.baseline.pinned import pin_baseline, rebase_baseline, replace_protected
from flow.adapters.baseline.working_tree import TreeContext
from flow.adapters.rubrics import score_files
from flow.core.evidence import proof
from flow.startup.typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.adapters.baseline.working_tree import WorkingTree
    from flow.core.boundary.changes import Baseline
    from flow.core.goal.model import Goal


class PinningContext(TreeContext, Protocol):
    """The parts of a checkout's context that pinning needs."""

    @property
    def tree(self) -> WorkingTree:
        """The files of the checkout."""


class Pinning:
    """Baselines made and changed for one checkout."""

    def __init__(self, context: PinningContext) -> None:
        self._context = context
        self._tree = context.tree
        self._cache = context.cache("worktree")

    def pin(self, goal: Goal, base: str | None = None) -> Baseline:
        """The baseline of a goal that begins now; ``base`` as ``--base`` names it."""
        context = self._context
        settings = context.settings.settings
        watched = self._tree.named_by_commands(goal)
        pinned = pin_baseline(
            context.repo,
            base=goal.base if base is None else base,
            denied=self._tree.denied(goal),
            journal_dir=settings.journal_dir,
            reports_dir=settings.reports_dir,
            scores_dir=score_files.folder(context.top, context.settings),
            cache_dir=self._cache,
            protected=goal.protected_paths,
            proof=watched.patterns,
            settings=context.settings.pins,
        )
        pinned = pinned._replace(linked=self._linked(goal, pinned), began=goal.created_at)
        return pinned._replace(proof_cut=watched.gap)

    def _linked(self, goal: Goal, pinned: Baseline) -> dict[str, str]:
        """Digests of the folders of ``evaluator.baseline_link``, by path.

        Raises :class:`InputError` for a path that is not allowed.
        """
        paths = goal.baseline_link
        if not paths or pinned.base_commit is None:
            return {}
        links.refuse_unusable(self._context.top, paths, pinned.ignore_rules, self._cache)
        return links.digests(self._context.top, paths)

    def rebased(self, goal: Goal, old: Baseline) -> tuple[Baseline, Sequence[str]]:
        """The baseline on the newest common commit, and the files that only the other side changed.

        Named files that came with the base branch are taken as they are now.
        """
        denied = self._tree.denied(goal)
        moved, theirs = rebase_baseline(
            self._context.repo, old, goal.base, denied=denied, cache_dir=self._cache
        )
        if moved.proof_named:
            moved = self._with_proof(moved, goal, moved.proof_named, moved.proof_cut)
        return moved, theirs

    def with_protected(self, goal: Goal, baseline: Baseline, before: Sequence[str]) -> Baseline:
        """The baseline with the files of protected patterns that ``before`` did not have."""
        return replace_protected(
            self._context.repo,
            baseline,
            goal.protected_paths,
            before,
            denied=self._tree.denied(goal),
            cache_dir=self._cache,
        )

    def with_named(self, goal: Goal, baseline: Baseline) -> Baseline:
        """The baseline with the files that the commands name now; new ones are digested now.

        A goal that began before this was recorded stays without it.
        """
        if not baseline.proof_since or baseline.base_commit is None:
            return baseline
        watched = self._tree.named_by_commands(goal)
        if watched.patterns == baseline.proof_named:
            return baseline
        return self._with_proof(baseline, goal, watched.patterns, watched.gap)

    def _with_proof(
        self, baseline: Baseline, goal: Goal, patterns: Sequence[str], cut: str
    ) -> Baseline:
        now = self._tree.snapshot(baseline, self._tree.denied(goal), None)
        return proof.pin_patterns(
            baseline,
            tuple(patterns),
            self._tree.proof.digests(patterns),
            [change.path for change in now.changes],
            at_activation=False,
            cut=cut,
        )
