"""Selects the parts of a run that are exported (SPEC 10, *Export*).

A criterion is decided there only by evidence that Flow counts, measured on the goal's files: those
that an achieved or failed goal was closed on, for any other the files as they are now. Evidence of
others is exported as theirs; stale evidence is counted and left out.
"""

from __future__ import annotations

from urllib.parse import quote

from flow.app.evaluation.goal_rules import deciding_snapshot
from flow.app.evaluation.observing import subject_of
from flow.app.evaluation.proposals import broken_record
from flow.app.exchange.bundle_ledger import ledger_faults
from flow.app.exchange.envelopes import Envelope
from flow.app.open_goals import run_of
from flow.core import layout
from flow.core.chain import closing_record
from flow.core.evidence import attestation
from flow.core.evidence.attestation import AttestedFile, AttestedSidecar, Record
from flow.core.evidence.freshness import of_another_contract
from flow.core.goal import ids
from flow.core.goal.lifecycle import first_step
from flow.errors import StateError, at_key, in_file
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flow.app.evaluation.closing_context import ClosingContext
    from flow.app.exchange.envelopes import Signature
    from flow.core.evidence.model import Evidence
    from flow.core.goal.loaded import LoadedGoal
    from flow.core.goal.model import Criterion, Goal
    from flow.errors import FlowError

SIZE_LIMIT = 32 << 20
"""Bytes of all files that go along whole."""
OTHERS_LIMIT = 500
"""Sidecars of others that go along."""
VERIFIED = ("achieved", "failed")
"""Statuses that a summary can be made of. A cancelled goal was not verified."""


class Exported(NamedTuple):
    """An export: what it was made from, and its envelopes."""

    record: Record
    envelopes: tuple[Envelope, ...]


class ExportSources(NamedTuple):
    """Sources of an export's parts."""

    finish: Callable[[str], object]
    """Completes what a killed command had decided about a goal."""
    closing: ClosingContext
    """The records, and what the files are held against."""
    tree_of: Callable[[Goal, str, str], str | None]
    """The digest of a commit's files (goal, run, commit); None if it is not here."""
    events: Callable[[str, str], Sequence[Mapping[str, Any]]]
    """The events of (run, goal), in order."""
    closed: Callable[[LoadedGoal, str, str], bool]
    """Whether Flow closed (goal, run, at) as it is now."""
    read: Callable[[str], bytes | None]
    """A file below the top level, whole; None if it is absent."""
    read_error: Callable[[], FlowError | None]
    """The error of a file that the disk gave no answer for."""
    read_json: Callable[[bytes, str], Any]
    """Reads strict JSON (bytes, name of the file)."""
    rubrics: Callable[[Goal], Mapping[str, str]]
    version: str


def export(
    sources: ExportSources,
    goal_id: str,
    run_id: str | None,
    *,
    with_outputs: bool,
    resource_uri: str | None,
    signers: Sequence[Callable[[bytes], Signature]],
) -> Exported:
    """A goal's evidence as in-toto Statements in envelopes, each signed by all ``signers``.

    ``run_id`` None: the goal's own. Raises :class:`StateError` if there is nothing to vouch for.
    """
    sources.finish(ids.goal_id(goal_id))
    loaded = sources.closing.records.goal(goal_id)
    run = run_of(loaded.goal) if run_id is None else ids.run_id(run_id)
    try:
        record = gather_record(
            sources, loaded, run, with_outputs=with_outputs, resource_uri=resource_uri
        )
    except StateError:
        _refuse_unread(sources)
        raise
    _refuse_unread(sources)
    faults = ledger_faults(record, sources.read_json)
    if faults:  # its chain would be found broken in the bundle
        raise in_file(layout.ledger_file(run)).wrong_state(
            f"the chain of run {run} does not hold: {'; '.join(faults[:3])}",
            f"see: flow evidence verify {run}",
            code="inconsistent",
        )
    kind = attestation.PAYLOAD_TYPE
    bodies = map(attestation.payload, attestation.statements(record))
    made = [
        Envelope(
            f"line {number}",
            kind,
            body,
            tuple(sign(attestation.pae(kind, body)) for sign in signers),
        )
        for number, body in enumerate(bodies, 1)
    ]
    return Exported(record, tuple(made))


def _refuse_unread(sources: ExportSources) -> None:
    """Refuse where the disk gave no answer: what did not count may count.

    Then neither an export without it is the record, nor is it true that there is none.
    """
    error = sources.read_error()
    if error is not None:
        raise error


def gather_record(
    sources: ExportSources,
    loaded: LoadedGoal,
    run_id: str,
    *,
    with_outputs: bool,
    resource_uri: str | None,
) -> Record:
    """The record of an export. Raises :class:`StateError` if there is nothing to vouch for."""
    goal = loaded.goal
    closed_at = _closed_at(sources, loaded, run_id)
    items, left_out = _attested(sources, loaded, run_id)
    record = Record(
        goal=goal,
        contract=loaded.contract,
        run_id=run_id,
        flow_version=sources.version,
        resource_uri=resource_uri or _goal_uri(goal),
        closed_at=closed_at,
        rubrics=sources.rubrics(goal),
        left_out=left_out,
        items=items,
        files=(),
    )
    record = record._replace(files=_exported_files(sources, loaded, record, with_outputs))
    wrong = attestation.record_faults(record)
    if wrong:
        raise in_file(loaded.file).wrong_state(
            f"the record of goal {goal.id} does not hold together: {'; '.join(wrong)}",
            f"nothing is exported that the evidence does not say; see flow goal history {goal.id}",
            code="inconsistent",
        )
    return record


def _attested(
    sources: ExportSources, loaded: LoadedGoal, run_id: str
) -> tuple[tuple[AttestedSidecar, ...], dict[str, int]]:
    """The sidecars that go along: those that decide, then those of others; how many do not."""
    goal = loaded.goal
    sidecars, _ = sources.closing.records.evidence(run_id)
    mine = [e for e in sidecars if e.goal == goal.id]
    commits: dict[str, str | None] = {}
    items = [
        AttestedSidecar(
            attestation.sidecar_name(evidence.id),
            evidence,
            criterion.id,
            _measured_commit(sources, goal, run_id, evidence, commits),
        )
        for criterion, evidence in _decisive(sources, loaded, run_id, mine)
    ]
    if not items:
        state, evaluate = "are now", f"evaluate it first: flow goal evaluate {goal.id}"
        remedy = first_step(goal.status, goal.id) or evaluate
        if goal.status in VERIFIED:  # it was closed on evidence
            state = "were when it was closed"
            remedy = f"see whether its record is whole: flow evidence verify {goal.id}"
        elif broken := sources.closing.broken(run_id):
            raise at_key("ID", goal.id).wrong_state(
                broken_record(run_id, broken),
                f"see all of it: flow evidence verify {run_id}",
                code="broken_chain",
            )
        raise at_key("ID", goal.id).wrong_state(
            f"goal {goal.id} has no evidence of Flow's own for the files as they {state}",
            remedy,
            code="no_evidence",
        )
    used = {item.evidence.id for item in items}
    others = [e for e in mine if e.id not in used and not e.counts]
    items += [
        AttestedSidecar(attestation.sidecar_name(e.id), e, None) for e in others[-OTHERS_LIMIT:]
    ]
    unused = len(mine) - len(used) - len(others)
    left_out = {
        "sidecars of Flow's own that are stale or decide nothing": unused,
        "sidecars of others, the oldest": max(0, len(others) - OTHERS_LIMIT),
    }
    return tuple(items), {kind: count for kind, count in left_out.items() if count}


def _tree_now(context: ClosingContext, loaded: LoadedGoal, run_id: str) -> str | None:
    """The digest of the files as they are; None if git cannot say."""
    goal = loaded.goal
    baseline = context.baseline(goal, run_id).baseline
    now = deciding_snapshot(context, goal, baseline)
    return subject_of(loaded, now, baseline, context.version, as_recorded=True).tree


def _closed_at(sources: ExportSources, loaded: LoadedGoal, run_id: str) -> str | None:
    """Time when the goal was closed; None for an open goal.

    Raises :class:`StateError` for a status that no event explains, and for one that the user's own
    state folder does not know: anyone who can write the goal file can also write an event.
    """
    goal = loaded.goal
    if goal.status not in VERIFIED:
        return None
    at = closing_record.closed_at(sources.events(run_id, goal.id), goal.status)
    if at is None:
        raise in_file(layout.goal_file(goal.id), "lifecycle.status", goal.status).wrong_state(
            f"goal {goal.id} says that it is {goal.status}, and no event of run {run_id} says so",
            f"only a status that Flow itself wrote is exported; see flow goal history {goal.id}",
            code="inconsistent",
        )
    if not sources.closed(loaded, run_id, at):
        raise in_file(layout.goal_file(goal.id), "lifecycle.status", goal.status).wrong_state(
            f"goal {goal.id} says that it is {goal.status}, and your own state folder "
            "does not know that it was closed like this",
            "the goal or its run was changed since, or the command that closed it "
            f"was killed; its evidence goes into a new goal: flow goal create NEW --from "
            f"{goal.id}",
            code="inconsistent",
        )
    return at


def _decisive(
    sources: ExportSources, loaded: LoadedGoal, run_id: str, mine: Sequence[Evidence]
) -> list[tuple[Criterion, Evidence]]:
    """For each criterion the sidecar that decides it on the files that the goal stands for.

    An open goal stands for the files as they are: the Stop hook measures again without touching the
    goal where the result is the same. What a closed one names is what it was closed on.
    """
    deciding: list[tuple[Criterion, Evidence]] = []
    is_open = loaded.goal.status not in VERIFIED
    tree = _tree_now(sources.closing, loaded, run_id) if is_open else None
    for criterion in loaded.goal.criteria:
        for path in _candidates(criterion, run_id, mine if is_open else ()):
            evidence = sources.closing.records.counted(path)
            if evidence is None or not _decides(evidence, criterion):
                continue
            if not is_open or _is_fresh(evidence, tree, loaded):
                deciding.append((criterion, evidence))
                break
    if is_open or not deciding:
        return deciding
    newest = max((evidence for _, evidence in deciding), key=lambda e: e.created_at)
    tree = newest.subject.get("tree")
    return [(c, e) for c, e in deciding if _is_fresh(e, tree, loaded)]


def _candidates(criterion: Criterion, run_id: str, mine: Sequence[Evidence]) -> dict[str, None]:
    """The sidecar that the goal names for a criterion, then Flow's own of ``mine``."""
    folder = layout.evidence_dir(run_id) + "/"
    named = criterion.evidence_ref
    paths = [named] if named is not None and named.startswith(folder) else []
    paths += [
        layout.evidence_file(run_id, e.id)
        for e in reversed(mine)
        if e.counts and criterion.id in e.proves
    ]
    return dict.fromkeys(paths)


def _decides(evidence: Evidence, criterion: Criterion) -> bool:
    if criterion.fuzzy:
        return evidence.type in ("llm_judge_report", "human_approval")
    return evidence.type == "command_result" and criterion.id in evidence.proves


def _is_fresh(evidence: Evidence, tree: str | None, loaded: LoadedGoal) -> bool:
    """Whether it is about these files and this contract, measured by any version of Flow."""
    same_files = tree is not None and evidence.subject.get("tree") == tree
    return same_files and not of_another_contract(evidence, loaded.contract, loaded.goal)


def _measured_commit(
    sources: ExportSources,
    goal: Goal,
    run_id: str,
    evidence: Evidence,
    commits: dict[str, str | None],
) -> str | None:
    """The commit that the evidence is about; None if the files measured were not its."""
    head = evidence.subject.get("head")
    if not isinstance(head, str):
        return None
    if head not in commits:
        commits[head] = sources.tree_of(goal, run_id, head)
    tree = commits[head]
    return head if tree is not None and tree == evidence.subject.get("tree") else None


def _exported_files(
    sources: ExportSources, loaded: LoadedGoal, record: Record, with_outputs: bool
) -> tuple[AttestedFile, ...]:
    """The goal, the sidecars, their outputs, and the run's ledger where there is one."""
    folder = layout.evidence_dir(record.run_id)
    paths = {attestation.goal_name(record.goal.id): loaded.file}
    outputs: dict[str, str] = {}
    for item in record.items:
        paths[item.file] = f"{folder}/{item.file}"
        if item.evidence.output_ref is not None:
            outputs[item.evidence.output_ref] = str(item.evidence.body.get("output_sha256") or "")
    paths[attestation.LEDGER_FILE] = f"{layout.run_dir(record.run_id)}/{attestation.LEDGER_FILE}"
    kept: list[AttestedFile] = []
    total = 0
    for name, path in [*paths.items(), *((name, f"{folder}/{name}") for name in outputs)]:
        content = sources.read(path) if with_outputs or name not in outputs else None
        if content is None:
            if outputs.get(name):
                kept.append(AttestedFile(name, outputs[name]))
            continue
        total += len(content)
        if total > SIZE_LIMIT:
            alone = "export the run in which it was closed alone (--run-id)"
            raise in_file(path).wrong_state(
                f"the files of goal {record.goal.id} have more than {SIZE_LIMIT} bytes together",
                "leave out --with-outputs" if with_outputs else alone,
                code="too_large",
            )
        kept.append(AttestedFile(name, sha256(content).hexdigest(), content))
    return tuple(kept)


def _goal_uri(goal: Goal) -> str:
    """A URI for the goal: the repository's label and the goal's id."""
    return f"flow-goal:{quote(goal.repo, errors='surrogatepass')}/{ids.goal_id(goal.id)}"
