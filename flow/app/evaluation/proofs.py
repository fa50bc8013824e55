"""The files that a goal's proof rests on, in an evaluation and a confirmation (SPEC 17.12)."""

from __future__ import annotations

from flow.app.evaluation.goal_rules import own_files
from flow.app.evaluation.values import Drift, Facts, ProofObservation
from flow.core.goal.model import Goal, canonical_digest
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from flow.app.evaluation.closing_context import ClosingContext
    from flow.app.ports import ProofDisk
    from flow.core.boundary.changes import Baseline, Snapshot
    from flow.core.evidence.proof import ProofChange, ProofFile

UNRECORDED = (
    "this goal began before Flow recorded what its commands rest on, so changes there are not told"
)
FROM_BASE = (
    "no record of the goal's start is here: what its commands rest on is held against the base "
    "commit, and files that git ignores are not told"
)


def files_now(
    goal: Goal, baseline: Baseline, snapshot: Snapshot, disk: ProofDisk
) -> tuple[ProofFile, ...]:
    """The files of the proof that are not as they were when the goal began."""
    if not baseline.proof_named:
        return ()
    from flow.core.evidence.proof import difference

    return difference(
        snapshot, baseline, disk.digests(baseline.proof_named), own_files(goal, baseline)
    )


def shown_now(context: ClosingContext, goal: Goal) -> dict[str, Any] | None:
    """The files of the proof that changed, to be shown; None without a run."""
    if goal.run_id is None or goal.base_commit is None or context.proof is None:
        return None
    baseline = context.baseline(goal, goal.run_id).baseline
    snapshot = context.snapshot(baseline, context.denied(goal), None)
    observation = ProofObservation(files_now(goal, baseline, snapshot, context.proof))
    return proof_change(observation, goal, baseline, context.proof).to_document(listed=None)


def before(facts: Facts, disk: ProofDisk | None) -> ProofObservation | None:
    """The observation before any command runs; None without a disk to observe."""
    if disk is None:
        return None
    return ProofObservation(files_now(facts.loaded.goal, facts.baseline, facts.before, disk))


def after(
    observation: ProofObservation | None, facts: Facts, drift: Drift, disk: ProofDisk | None
) -> ProofObservation | None:
    """Add the files after the commands; one that a command put back at its end stays listed."""
    if observation is None or disk is None:
        return None
    baseline, snapshot = drift.baseline or facts.baseline, drift.after or facts.before
    return observation._replace(after=files_now(facts.loaded.goal, baseline, snapshot, disk))


def proof_change(
    observation: ProofObservation, goal: Goal, baseline: Baseline, disk: ProofDisk
) -> ProofChange:
    """Every file that differs in an observation, with its lines, less those no test run reads."""
    from flow.core.evidence.proof import ProofChange

    files = _changed_files(observation)
    lines = disk.lines(files) if files else {}
    counted = (file._replace(lines=lines.get(file.path)) for file in files)
    return ProofChange(
        _digest_of(files),
        tuple(file for file in counted if file.lines is None or not file.lines.harmless),
        unknown_changes(goal, baseline),
    )


def unknown_changes(goal: Goal, baseline: Baseline) -> tuple[str, ...]:
    """Why changes of the proof may be missed, as sentences."""
    if baseline.base_commit is None:
        return ()  # without git the boundary says that nothing is known
    gap = None
    if baseline.proof_since in ("", "base") and any(not c.fuzzy for c in goal.criteria):
        gap = FROM_BASE if baseline.proof_since else UNRECORDED
    return tuple(filter(None, [gap, baseline.proof_cut]))


def verdict_proof(
    observation: ProofObservation,
    goal: Goal,
    baseline: Baseline,
    previous: Mapping[str, object] | None,
    disk: ProofDisk,
    aside: Collection[str] = (),
) -> tuple[Mapping[str, object] | None, tuple[str, ...]]:
    """The verdict's part about the proof, and warnings that the ``previous`` part does not have.

    ``aside`` are protected files, which have a line of their own.
    """
    previous_gaps = str(previous.get("unknown")) if previous is not None else ""
    open_gaps = unknown_changes(goal, baseline) if baseline.proof_since != "base" else ()
    gaps = tuple(text for text in open_gaps if text not in previous_gaps)
    if not (observation.before or observation.after or gaps or previous):
        return None, ()
    digest = _digest_of(_changed_files(observation))
    if previous is not None and previous.get("digest") == digest and not gaps:
        return previous, ()
    changed = proof_change(observation, goal, baseline, disk)
    rest = changed._replace(files=tuple(file for file in changed.files if file.path not in aside))
    warning = (f"the proof changed: {rest.sentence()}",) if rest.files else ()
    return changed.to_document(), (*warning, *gaps)


def digest(observation: ProofObservation) -> str:
    """The digest that a proposal is tied to: the proof as the commands left it."""
    return _digest_of(observation.after)


def _changed_files(observation: ProofObservation) -> tuple[ProofFile, ...]:
    by_path = {file.path: file for file in (*observation.before, *observation.after)}
    return tuple(by_path[path] for path in sorted(by_path))


def _digest_of(files: Iterable[ProofFile]) -> str:
    """SHA-256 (hex) over the changes, to compare them with those reported or proposed."""
    return canonical_digest([[file.path, file.before, file.after] for file in files])
