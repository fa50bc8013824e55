"""What a goal's proof rests on, in an evaluation and before a person confirms (SPEC 17.12)."""

from __future__ import annotations

from flow.app.evaluation.values import ProofLook
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from flow.app.evaluation.values import Drift, Facts
    from flow.app.ports import ProofDisk
    from flow.core.boundary.rules import Baseline, Snapshot
    from flow.core.evidence.proof import ProofChange, ProofFile
    from flow.core.goal.model import Goal


def files_now(
    goal: Goal, baseline: Baseline, snapshot: Snapshot, disk: ProofDisk
) -> tuple[ProofFile, ...]:
    """The files of the proof that are not as they were when the goal began."""
    if not baseline.proof_named:
        return ()
    from flow.app.evaluation.goal_rules import own_files
    from flow.core.evidence import proof

    return proof.difference(
        snapshot, baseline, disk.digests(baseline.proof_named), own_files(goal, baseline)
    )


def before(facts: Facts, disk: ProofDisk | None) -> ProofLook | None:
    """The look before any command runs; None where nobody looks."""
    if disk is None:
        return None
    return ProofLook(files_now(facts.loaded.goal, facts.baseline, facts.before, disk))


def after(
    look: ProofLook | None, facts: Facts, again: Drift, disk: ProofDisk | None
) -> ProofLook | None:
    """The look after them: what a command put back at its end is told all the same."""
    if look is None or disk is None:
        return None
    baseline, snapshot = again.baseline or facts.baseline, again.after or facts.before
    return look._replace(after=files_now(facts.loaded.goal, baseline, snapshot, disk))


def change(look: ProofLook, goal: Goal, baseline: Baseline, disk: ProofDisk) -> ProofChange:
    """All that differs in either look, with its lines, less what no test run reads."""
    from flow.core.evidence import proof

    by_path = {file.path: file for file in (*look.before, *look.after)}
    files = tuple(by_path[path] for path in sorted(by_path))
    lines = disk.lines(files) if files else {}
    counted = (file._replace(lines=lines.get(file.path)) for file in files)
    return proof.ProofChange(
        proof.digest_of(files),
        tuple(file for file in counted if file.lines is None or not file.lines.harmless),
        unknown(goal, baseline),
    )


def unknown(goal: Goal, baseline: Baseline) -> tuple[str, ...]:
    """Why something of the proof cannot be told, as sentences."""
    if baseline.base_commit is None:
        return ()  # without git nothing is known, and the boundary says so
    told = None
    if baseline.proof_since in ("", "base") and any(not c.fuzzy for c in goal.criteria):
        from flow.core.evidence import proof

        told = proof.FROM_BASE if baseline.proof_since else proof.UNRECORDED
    return tuple(filter(None, [told, baseline.proof_cut]))


def told(
    look: ProofLook,
    goal: Goal,
    baseline: Baseline,
    previous: Mapping[str, object] | None,
    disk: ProofDisk,
    aside: Collection[str] = (),
) -> tuple[Mapping[str, object] | None, tuple[str, ...]]:
    """(what the verdict says of the proof, its warnings): a line where it was not said before.

    ``aside`` are protected files, which have a line of their own.
    """
    told_gaps = str(previous.get("unknown")) if previous is not None else ""
    open_gaps = unknown(goal, baseline) if baseline.proof_since != "base" else ()
    gaps = tuple(text for text in open_gaps if text not in told_gaps)
    if not (look.before or look.after or gaps or previous):
        return None, ()
    from flow.core.evidence import proof

    files = {file.path: file for file in (*look.before, *look.after)}
    digest = proof.digest_of(files[path] for path in sorted(files))
    if previous is not None and previous.get("digest") == digest and not gaps:
        return previous, ()
    changed = change(look, goal, baseline, disk)
    rest = changed._replace(files=tuple(file for file in changed.files if file.path not in aside))
    warning = (f"the proof changed: {rest.sentence()}",) if rest.files else ()
    return changed.to_document(), (*warning, *gaps)


def digest(look: ProofLook) -> str:
    """What a proposal is tied to: the proof as the commands left it."""
    if not look.after:  # nearly always, and then nothing is loaded for it
        from flow.core.goal.model import canonical_digest

        return canonical_digest([])
    from flow.core.evidence import proof

    return proof.digest_of(look.after)
