"""Reading a checkout's ledger: :class:`~flow.app.ports.Records` over real files.

What cannot be read is never taken for absent: a goal raises, a sidecar becomes a warning, and a
sidecar whose output is not the bytes it was recorded with counts for nothing. The questions an
evaluation asks read one file each, however many sidecars a run has.
"""

from __future__ import annotations

import re

from flow.adapters import events, files, own_json
from flow.app.ports import LoadedGoal
from flow.cheap_typing import TYPE_CHECKING, Any
from flow.core import ids, layout
from flow.errors import ContractError, Fault, FlowError, InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.core.boundary import Baseline
    from flow.core.evidence import Evidence
    from flow.core.goal import Goal

FILES_LIMIT = 1_000_000
"""Goals, or sidecars of one run, that are listed at most."""

BY_FLOW = ("evaluator", "approver")
"""``by`` of the events of sidecars that count in a decision."""

_REFERENCE = re.compile(
    rf"{re.escape(layout.RUNS)}/([^/]+)/evidence/([^/]+){re.escape(layout.EVIDENCE_SUFFIX)}"
)
OUTPUT_LIMIT = 1 << 30
"""Bytes: the largest output that Flow records."""
BASELINE_LIMIT = 16 << 20
"""Bytes: the largest ``baseline.json``; about 140,000 paths."""

_PARSED_LIMIT = 64

_parsed: dict[tuple[str, str | None, bytes], tuple[Goal, tuple[str, ...]]] = {}
"""Goals this process has parsed, by file and digest: a command reads the same bytes often."""

_sidecars: dict[tuple[str, str], Evidence] = {}
"""Sidecars this process has parsed, likewise."""


class FileRecords:
    """The ledger below the checkout ``root`` (absolute path).

    ``cache_dir`` is a folder of the user's own, outside the checkout, for goals and sidecars that
    were parsed.
    """

    def __init__(self, root: str, cache_dir: str | None = None) -> None:
        self._root = root
        self._cache_dir = cache_dir

    def goal(self, goal_id: str) -> LoadedGoal:
        """The goal, its contract's digest and the reader's warnings.

        Raises :class:`InputError` (``not_found``), or :class:`ContractError` with every fault.
        """
        return read_goal(self._root, goal_id, self._cache_dir)[1]

    def goal_ids(self) -> tuple[str, ...]:
        """The ids of all goal files, sorted; names that are no goal id are left out."""
        found = files.names(self._root, layout.GOALS, suffix=layout.GOAL_SUFFIX, limit=FILES_LIMIT)
        names = (name[: -len(layout.GOAL_SUFFIX)] for name in found)
        return tuple(name for name in names if ids.GOAL_ID.fullmatch(name))

    def evidence(self, run_id: str) -> tuple[tuple[Evidence, ...], tuple[str, ...]]:
        """The run's sidecars in order of creation, and what could not be used, as warnings."""
        folder = layout.evidence_dir(ids.run_id(run_id))
        found: list[Evidence] = []
        warnings: list[str] = []
        suffix = layout.EVIDENCE_SUFFIX
        for name in files.names(self._root, folder, suffix=suffix, limit=FILES_LIMIT):
            try:
                found.append(self._sidecar(run_id, name[: -len(suffix)])[0])
            except FlowError as error:
                warnings += [str(fault) for fault in error.faults]
        found.sort(key=lambda evidence: (evidence.created_at, evidence.id))
        return tuple(found), tuple(warnings)

    def evidence_named(self, run_id: str, evidence_id: str) -> Evidence | None:
        """One sidecar; None where it is absent or unusable."""
        try:
            return self._sidecar(ids.run_id(run_id), evidence_id)[0]
        except FlowError:
            return None

    def counted(self, evidence_ref: str) -> Evidence | None:
        """The sidecar at this path if Flow itself wrote it and it is as Flow wrote it, else None.

        What a sidecar says of its author can be written by anyone, so the event that Flow appended
        when it recorded the sidecar decides: it holds the digests of sidecar and output.
        """
        match = _REFERENCE.fullmatch(evidence_ref)
        if match is None:
            return None
        run_id, evidence_id = match.groups()
        try:
            evidence, digest = self._sidecar(ids.run_id(run_id), evidence_id)
        except FlowError:
            return None
        event = events.newest(
            self._root,
            run_id,
            "evidence_id",
            evidence_id,
            lambda event: event.get("type") == "evidence" and event.get("by") in BY_FLOW,
        )
        if event is None or event.get("sidecar_sha256") != digest:
            return None
        output = evidence.document["evidence"].get("output_sha256")
        return evidence if event.get("output_sha256") == output else None

    def counted_last(self, run_id: str, event_type: str) -> Evidence | None:
        """The counted sidecar that the newest event of this type names."""
        event = events.newest(self._root, ids.run_id(run_id), "type", event_type, lambda _: True)
        named = event.get("evidence_id") if event is not None else None
        if not isinstance(named, str) or not ids.EVIDENCE_ID.fullmatch(named):
            return None
        return self.counted(layout.evidence_file(run_id, named))

    def previous_verdict(self, run_id: str, goal: Goal | None = None) -> Mapping[str, Any] | None:
        """``last-verdict.json``; None where it is missing, torn or another run's.

        With ``goal``, one of another goal or of another turn than the goal's last is None too.
        """
        found = self._json_object(layout.verdict_file(ids.run_id(run_id)))
        if found is None or found.get("run_id", run_id) != run_id:
            return None
        if goal is not None:
            lifecycle = found.get("lifecycle")
            turns = lifecycle.get("turns_evaluated") if isinstance(lifecycle, dict) else None
            if found.get("goal_id") != goal.id or turns not in (None, goal.turns_evaluated):
                return None
        return found

    def proposal(self, run_id: str) -> Mapping[str, Any] | None:
        """The live proposal; None where there is none, or none that can be read."""
        found = self._json_object(layout.proposal_file(ids.run_id(run_id)))
        needed = ("proposal_id", "goal_id", "to")
        if found is None or not all(isinstance(found.get(key), str) for key in needed):
            return None
        return found

    def baseline(self, run_id: str) -> Baseline | None:
        """What was recorded at activation; None where it is missing or unreadable."""
        found = self._json_object(layout.baseline_file(ids.run_id(run_id)), BASELINE_LIMIT)
        return None if found is None else baseline_from_document(found)

    def baseline_owner(self, run_id: str) -> str | None:
        """The goal that pinned the run's baseline; None where there is none that says so."""
        found = self._json_object(layout.baseline_file(ids.run_id(run_id)), BASELINE_LIMIT)
        owner = found.get("goal_id") if found is not None else None
        return owner if isinstance(owner, str) else None

    def _sidecar(self, run_id: str, evidence_id: str) -> tuple[Evidence, str]:
        """A usable sidecar and its file's SHA-256; a FlowError that says why it is none."""
        from flow.adapters import contracts
        from flow.core.sha import sha256

        rel = layout.evidence_file(run_id, ids.evidence_id(evidence_id))
        data = files.read_bytes(self._root, rel)
        if not data:
            raise _corrupt(rel, "is empty: corrupt, as after a power cut")
        key = (rel, sha256(data).hexdigest())
        evidence = _sidecars.get(key)
        if evidence is None:
            evidence, _ = contracts.read_evidence(
                data, file=rel, expect_id=evidence_id, cache_dir=self._cache_dir
            )
            if len(_sidecars) >= _PARSED_LIMIT:
                del _sidecars[next(iter(_sidecars))]
            _sidecars[key] = evidence
        if evidence.run_id != run_id:
            raise _corrupt(rel, f"is of run {evidence.run_id}, not {run_id}", "metadata.run_id")
        self._check_output(rel, evidence)
        return evidence, key[1]

    def _check_output(self, rel: str, evidence: Evidence) -> None:
        name = evidence.output_ref
        if name is None:
            return
        if "/" in name:
            raise _corrupt(rel, "names an output outside its own folder", "evidence.output_ref")
        output = f"{layout.evidence_dir(evidence.run_id)}/{name}"
        found = files.digest(self._root, output, limit=OUTPUT_LIMIT)
        if found is None:
            raise _corrupt(rel, f"its output {name} is missing", "evidence.output_ref")
        wanted = evidence.document["evidence"].get("output_sha256")
        if wanted is not None and found != wanted:
            raise _corrupt(rel, f"its output {name} was altered", "evidence.output_sha256")

    def _json_object(self, rel: str, limit: int = files.READ_LIMIT) -> dict[str, Any] | None:
        data = files.read_optional(self._root, rel, limit=limit)
        try:
            found = own_json.loads(data) if data else None
        except ValueError:
            return None
        return found if isinstance(found, dict) else None


def read_goal(root: str, goal_id: str, cache_dir: str | None = None) -> tuple[bytes, LoadedGoal]:
    """A goal file's bytes, and what they say. Raises as :meth:`FileRecords.goal` does.

    ``cache_dir`` is as for :func:`flow.adapters.contracts.read_goal`.
    """
    rel = layout.goal_file(ids.goal_id(goal_id))
    data = files.read_optional(root, rel)
    if data is None:
        raise InputError(
            f"there is no goal {goal_id}",
            code="not_found",
            file=rel,
            key="goal id",
            value=goal_id,
            remedy="see the goals there are: flow goal list",
        )
    goal, warnings = parse_goal(data, rel, expect_id=goal_id, cache_dir=cache_dir)
    return data, LoadedGoal(goal, goal.digest(rubric_digests(root, goal)), warnings, rel)


def parse_goal(
    data: bytes, file: str, *, expect_id: str | None = None, cache_dir: str | None = None
) -> tuple[Goal, tuple[str, ...]]:
    """A goal text as a value, and warnings; callers must not change its ``document``.

    ``expect_id`` is the id that the file's name says.
    """
    from flow.core.sha import sha256

    key = (file, expect_id, sha256(data).digest())
    found = _parsed.get(key)
    if found is None:
        from flow.adapters import contracts

        found = contracts.read_goal(data, file=file, expect_id=expect_id, cache_dir=cache_dir)
        if len(_parsed) >= _PARSED_LIMIT:
            del _parsed[next(iter(_parsed))]
        _parsed[key] = found
    return found


def rubric_digests(root: str, goal: Goal) -> dict[str, str]:
    """SHA-256 of the project rubrics among those the goal names (SPEC section 7)."""
    found = {}
    for name in goal.rubrics:
        if ids.RUBRIC_NAME.fullmatch(name):
            digest = files.digest(root, f"{layout.RUBRICS}/{name}.yaml")
            if digest is not None:
                found[name] = digest
    return found


def baseline_document(baseline: Baseline, goal_id: str, run_id: str) -> dict[str, Any]:
    """``baseline.json``: whose it is, and the baseline's fields."""
    return {"goal_id": goal_id, "run_id": run_id, **baseline._asdict()}


def baseline_from_document(document: Mapping[str, Any]) -> Baseline | None:
    """A baseline, or None where a field is missing or of another kind than Flow writes."""
    from flow.core.boundary import Baseline

    values: list[Any] = []
    for name in Baseline._fields:
        default = Baseline._field_defaults.get(name)
        value = document.get(name, default)
        if name == "base_commit":
            good = name in document and (value is None or isinstance(value, str))
        elif isinstance(default, str):
            good = isinstance(value, str)
        elif isinstance(default, tuple):
            good = isinstance(value, list | tuple) and all(isinstance(v, str) for v in value)
            value = tuple(value) if good else None
        else:
            good = isinstance(value, dict) and all(isinstance(v, str) for v in value.values())
        if not good:
            return None
        values.append(value)
    return Baseline(*values)


def _corrupt(rel: str, why: str, key: str | None = None) -> ContractError:
    return ContractError(
        [Fault(why, file=rel, key=key, remedy="it is not used; record it again under a new id")]
    )
