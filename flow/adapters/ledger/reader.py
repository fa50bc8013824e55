"""Read a checkout's ledger: :class:`~flow.app.ports.Records` over real files.

An unreadable file is never taken for absent: a goal raises, a sidecar becomes a warning, and a
sidecar whose output is not the recorded one counts for nothing. The questions of an evaluation read
one file each, however many sidecars a run has.
"""

from __future__ import annotations

import os
from itertools import count

from flow.adapters.chain import event_log, ledger_file
from flow.adapters.chain.newest_lines import NewestLines
from flow.adapters.fs import files, lenient_json
from flow.adapters.fs.folders import folders_kept_open
from flow.core import layout
from flow.core.chain.entries import DROPPED
from flow.core.goal import ids
from flow.core.goal.loaded import LoadedGoal
from flow.errors import ContractError, FlowError, StorageError, in_file
from flow.startup.contexts import contextmanager
from flow.startup.json import items_of, object_of
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from flow.adapters.chain.run_record import RunRecord
    from flow.core.boundary.changes import Baseline
    from flow.core.evidence.model import Evidence
    from flow.core.goal.model import Goal, GoalSummary
    from flow.core.stop.turns import RecordedTurn

FILES_LIMIT = 1_000_000
"""Most goals, or sidecars of one run, that are listed."""

BY_FLOW = ("evaluator", "approver")
"""``by`` of the ledger's entries of sidecars that count in a decision."""

DISCOUNTED = "evidence-discounted"
"""The type of the events of sidecars that do not count after all."""
AMENDED = "contract-amended"
"""Type of the event of a changed contract, and of its artifact."""

_RECORDED, _EVIDENCE_ID = b'"type":"evidence",', b'"evidence_id":"'
"""Parts of the line of an event that records a sidecar, as Flow writes it: enough for most lines.
"""

_PARSED_LIMIT = 64
_SIDECARS_LIMIT = 4096
"""About 20 MiB. A goal with more criteria is answered by the cache on the disk."""

_parsed: dict[tuple[str, str | None, bytes], tuple[Goal, tuple[str, ...]]] = {}
"""Goals this process has parsed, by file and digest: a command reads the same bytes often."""

_sidecars: dict[tuple[str, str], Evidence] = {}
"""Sidecars this process has parsed, likewise."""


class BaselineFile(NamedTuple):
    """``baseline.json`` of a run, as it was read."""

    baseline: Baseline | None
    """None if the file is missing or unreadable."""
    goal_id: str | None
    """The goal that it names, if any."""
    digest: str
    """SHA-256 of its bytes."""

    def of(self, goal: Goal) -> Baseline | None:
        """The baseline, unless another goal pinned it, or an earlier one of the same name."""
        if self.baseline is None or self.goal_id != goal.id:
            return None
        began = self.baseline.began
        later = self.baseline.recorded and began not in ("", goal.created_at)
        return None if later else self.baseline


class FileRecords:
    """The ledger of the checkout that ``record`` vouches for.

    ``cache_dir`` is a folder of the user's own, outside the checkout, for parsed goals and
    sidecars; ``index_dir`` another one, for an index of the goals.
    """

    def __init__(
        self, record: RunRecord, cache_dir: str | None = None, index_dir: str | None = None
    ) -> None:
        self._root = record.root
        self._record = record
        self._cache_dir = cache_dir
        self._index_dir = index_dir
        self._events: tuple[str, NewestLines] | None = None
        """The last requested run, and the state of each sidecar from its events."""
        self._dropped: tuple[str, NewestLines] | None = None
        """The last requested run, and the dropped outputs from its ledger."""
        self._baseline = BaselineFile(None, None, "")
        """The last one that was read: a stop reads the same one often."""

    def goal(self, goal_id: str) -> LoadedGoal:
        """The goal, its contract's digest and the reader's warnings.

        Raises :class:`InputError` (``not_found``), or :class:`ContractError` with every fault.
        """
        return read_goal(self._root, goal_id, self._cache_dir)[1]

    def contract_digest(self, goal: Goal) -> str:
        """The digest of a goal's contract, with the project's rubrics as they are now."""
        return goal.digest(rubric_digests(self._root, goal))

    def goal_ids(self) -> tuple[str, ...]:
        """The ids of all goal files, sorted; names that are no goal id are left out."""
        return goal_ids(self._root)

    def may_have(self, goal_id: str) -> bool:
        """Whether the goal has a file; True, too, of a text that is no goal's id: it lacks none."""
        if not ids.GOAL_ID.fits(goal_id):
            return True
        return files.exists(self._root, layout.goal_file(goal_id))

    def parsed_goal(self, goal_id: str) -> Goal:
        """A goal alone; raises as :meth:`goal` does."""
        rel = layout.goal_file(goal_id)
        data = files.read_bytes(self._root, rel, limit=layout.GOAL_LIMIT)
        return parse_goal(data, rel, expect_id=goal_id, cache_dir=self._cache_dir)[0]

    def summaries(self) -> tuple[dict[str, GoalSummary], dict[str, FlowError]]:
        """Every goal's summary by id, and the errors of those that cannot be read."""
        from flow.adapters.ledger import goal_index

        return goal_index.summaries(
            self._root,
            self._index_dir,
            lambda goal_id: self.parsed_goal(goal_id).summary,
            limit=FILES_LIMIT,
        )

    def evidence(self, run_id: str) -> tuple[tuple[Evidence, ...], tuple[str, ...]]:
        """The run's sidecars in order of creation, and warnings about unusable ones."""
        folder = layout.evidence_dir(ids.run_id(run_id))
        usable: list[Evidence] = []
        warnings: list[str] = []
        suffix = layout.EVIDENCE_SUFFIX
        names = set(files.names(self._root, folder, suffix=suffix, limit=FILES_LIMIT))
        try:
            names.update(files.archived_names(self._root, folder, suffix=suffix))
        except files.NO_ARCHIVE as error:
            warnings += [str(fault) for fault in error.faults]
        for name in sorted(names):
            try:
                usable.append(self._sidecar(run_id, name[: -len(suffix)])[0])
            except FlowError as error:
                warnings += [str(fault) for fault in error.faults]
        usable.sort(key=lambda evidence: (evidence.created_at, evidence.id))
        return tuple(usable), tuple(warnings)

    def evidence_named(self, run_id: str, evidence_id: str) -> Evidence | None:
        """One sidecar; None if it is absent or unusable.

        Raises :class:`StorageError` if the disk does not tell which.
        """
        try:
            return self._sidecar(ids.run_id(run_id), evidence_id)[0]
        except FlowError as error:
            if isinstance(error, StorageError) and error.code == StorageError.code:
                raise
            return None

    @contextmanager
    def together(self, run_id: str) -> Iterator[None]:
        """Look up the run's folder and pinned heads once; see :class:`flow.app.ports.Records`."""
        folder = layout.evidence_dir(ids.run_id(run_id))
        with folders_kept_open(self._root, folder, make=False), self._record.heads_read_once():
            yield

    def counted(self, evidence_ref: str, *mentioning: str) -> Evidence | None:
        """The sidecar at this path if Flow itself wrote it and it is as Flow wrote it, else None.

        Anyone can write a sidecar's author, and an entry of the run's chain. Only an entry that the
        user's own state folder vouches for decides: it has the digests of sidecar and output. A
        sidecar whose text contains none of ``mentioning`` is not examined any further.
        """
        run_id, evidence_id = layout.sidecar_of(evidence_ref)
        if not run_id:
            return None
        with folders_kept_open(self._root, layout.evidence_dir(run_id), make=False):
            return self._counted(run_id, evidence_id, mentioning)

    def _counted(self, run_id: str, evidence_id: str, mentioning: Sequence[str]) -> Evidence | None:
        try:
            data = self._sidecar_bytes(ids.run_id(run_id), evidence_id)
            if mentioning and not any(text.encode("utf-8") in data for text in mentioning):
                return None
            evidence, digest = self._parsed_sidecar(run_id, evidence_id, data)
            was_dropped = not self._has_output(run_id, evidence_id, evidence)
        except FlowError as error:
            if isinstance(error, StorageError) and error.code != "not_found":
                self._record.read_error = self._record.read_error or error
            elif self._record.entry(run_id, evidence_id) is not None:
                self._record.damaged.add(run_id)
            return None
        entry = self._record.entry(run_id, evidence_id)
        if entry is None or entry.by not in BY_FLOW:
            return None
        output = evidence.document["evidence"].get("output_sha256")
        if entry.sidecar_sha256 != digest or entry.output_sha256 != output:
            self._record.damaged.add(run_id)
            return None
        if self._is_discounted(run_id, evidence_id):
            return None
        if was_dropped:
            dropped = self._record.entry(run_id, evidence_id, DROPPED)
            return evidence if dropped is not None else None
        return evidence

    def measured(self, run_id: str, criterion_id: str) -> Iterator[str]:
        """The paths of evaluations' sidecars of a criterion's command, the newest first.

        The user's own state folder decides, independent of the goal's file. For a command that ran
        several times only the last one.
        """
        prefix = f"evidence-{criterion_id.lower()}-eval-"
        for name in self._record.evidence_ids(ids.run_id(run_id), prefix):
            if layout.RUN_MARK not in name[len(prefix) :]:
                yield layout.evidence_file(run_id, name)

    def judged(self, run_id: str) -> Iterator[str]:
        """The paths of judges' sidecars, the newest first."""
        for name in self._record.evidence_ids(ids.run_id(run_id), "evidence-judge-"):
            yield layout.evidence_file(run_id, name)

    def doubt(self, evidence_ref: str) -> Literal["missing", "unvouched"] | None:
        """Difference between the sidecar at this path and Flow's record; None if there is none.

        ``missing``: it is gone, or another one was recorded. ``unvouched``: the user's own state
        folder has no record of it. Its author does not matter.
        """
        run_id, evidence_id = layout.sidecar_of(evidence_ref)
        try:
            _, digest = self._sidecar(ids.run_id(run_id), evidence_id)
        except FlowError:
            return "missing"
        entry = self._record.entry(run_id, evidence_id)
        if entry is None:
            return "unvouched"
        return None if entry.sidecar_sha256 == digest else "missing"

    def _is_discounted(self, run_id: str, evidence_id: str) -> bool:
        """Whether the newest event about a sidecar is that it was discounted."""
        if self._events is None or self._events[0] != run_id:
            events = layout.events_file(run_id)
            newest = NewestLines(self._root, events, b'"evidence_id":"', _recorded_or_discounted)
            self._events = run_id, newest
        return self._events[1].get(evidence_id) == DISCOUNTED

    def discounted(self, run_id: str) -> frozenset[str]:
        """The paths of the run's sidecars that were measured while the files changed."""
        events = event_log.of_type(self._root, ids.run_id(run_id), DISCOUNTED)
        return frozenset(
            layout.evidence_file(run_id, str(event.get("evidence_id"))) for event in events
        )

    def counted_last(self, run_id: str, event_type: str) -> Evidence | None:
        """The counted sidecar that the newest event of this type names."""
        event = event_log.newest(self._root, ids.run_id(run_id), "type", event_type, lambda _: True)
        named = event.get("evidence_id") if event is not None else None
        if not isinstance(named, str) or not ids.EVIDENCE_ID.fits(named):
            return None
        return self.counted(layout.evidence_file(run_id, named))

    def ledger_head(self, run_id: str) -> str | None:
        """The head of the run's hash chain, ``<n>:<hash>``; None if it has no entry."""
        return self._record.head(ids.run_id(run_id))

    def new_run_id(self, goal_id: str, now: str) -> str:
        """A run id that neither this checkout nor the user's state folder knows yet.

        The clock names it, and a clock can be set back, stand still, or not have moved on.
        """
        first = layout.run_id_for(goal_id, now)
        names = (f"{first}-{number}" if number > 1 else first for number in count(1))
        return next(name for name in names if not self._knows_run(name))

    def _knows_run(self, run_id: str) -> bool:
        folder = os.path.join(self._root, layout.run_dir(run_id))
        return os.path.lexists(folder) or self._record.knows(run_id)

    def is_damaged(self, run_id: str) -> bool:
        """Whether something of the run that was looked up so far is gone or was altered.

        Looks nothing up itself, so False does not mean that the record is intact.
        """
        return run_id in self._record.damaged

    def newest_turn(self, run_id: str, goal_id: str) -> RecordedTurn | None:
        """The goal's newest turn on record; None if the run has none of it."""
        from flow.core.stop import turns

        written = False

        def is_turn(event: Mapping[str, Any]) -> bool:
            nonlocal written
            if turns.has_turn(event):
                return True
            written = written or "goal_sha256" in event
            return False

        event = event_log.newest(self._root, ids.run_id(run_id), "goal_id", goal_id, is_turn)
        return turns.recorded_turn(event, written_since=written) if event is not None else None

    def amended(self, run_id: str, turns_evaluated: int) -> frozenset[str]:
        """The criteria that were amended since the evaluation with this number."""
        amended: set[str] = set()

        def older(event: Mapping[str, Any]) -> bool:
            turn = event.get("turn")
            if turn != turns_evaluated:
                return isinstance(turn, int) and turn < turns_evaluated
            amended.update(map(str, items_of(event.get("criteria"))))
            return False

        event_log.newest(self._root, ids.run_id(run_id), "type", AMENDED, older)
        return frozenset(amended)

    def previous_verdict(self, run_id: str, goal: Goal | None = None) -> Mapping[str, Any] | None:
        """``last-verdict.json``; None if it is missing, torn or another run's.

        With ``goal``, one of another goal or of another turn than the goal's last is None too.
        """
        try:
            verdict = self._json_object(
                layout.verdict_file(ids.run_id(run_id)), layout.VERDICT_LIMIT
            )
        except FlowError:
            if goal is None:
                raise
            return None  # an aid for the next delta, never worth an evaluation
        if verdict is None or verdict.get("run_id", run_id) != run_id:
            return None
        if goal is not None:
            turns = object_of(verdict.get("lifecycle")).get("turns_evaluated")
            if verdict.get("goal_id") != goal.id or turns not in (None, goal.turns_evaluated):
                return None
        return verdict

    def accepted_verdict(self, run_id: str) -> Mapping[str, Any] | None:
        """Like :meth:`previous_verdict`; None also if Flow would not write such a verdict."""
        from flow.adapters.contracts.check import accepts

        verdict = self.previous_verdict(run_id)
        return verdict if verdict is not None and accepts("verdict", verdict)[0] else None

    def proposal(self, run_id: str) -> Mapping[str, Any] | None:
        """The live proposal; None if there is none, or none that Flow left there.

        Anyone can write a whole one, so the state folder must have its digest.
        """
        rel = layout.proposal_file(ids.run_id(run_id))
        data = files.read_optional(self._root, rel)
        proposal = lenient_json.mapping(data)
        needed = ("proposal_id", "goal_id", "to")
        if not data or proposal is None:
            return None
        if not all(isinstance(proposal.get(key), str) for key in needed):
            return None
        name, digest = rel.rpartition("/")[2], sha256(data).hexdigest()
        return proposal if self._record.file(run_id, name, digest) else None

    def proposal_for(self, run_id: str) -> str | None:
        """The goal that ``proposal.json`` names, also in a forged one; None if it names none."""
        return _goal_named(self._json_object(layout.proposal_file(ids.run_id(run_id))))

    def baseline(self, run_id: str) -> Baseline | None:
        """The baseline recorded at activation; None if it is missing or unreadable."""
        return self.baseline_file(run_id).baseline

    def baseline_file(self, run_id: str) -> BaselineFile:
        """``baseline.json`` of the run."""
        rel = layout.baseline_file(ids.run_id(run_id))
        data = files.read_optional(self._root, rel, limit=layout.BASELINE_LIMIT)
        digest = sha256(data or b"").hexdigest()
        if self._baseline.digest != digest:
            document = lenient_json.mapping(data)
            baseline = baseline_from_document(document) if document else None
            self._baseline = BaselineFile(baseline, _goal_named(document), digest)
        return self._baseline

    def _sidecar(self, run_id: str, evidence_id: str) -> tuple[Evidence, str]:
        """A sidecar and its file's SHA-256; raises :class:`FlowError` if it is unusable."""
        data = self._sidecar_bytes(run_id, evidence_id)
        evidence, digest = self._parsed_sidecar(run_id, evidence_id, data)
        self._has_output(run_id, evidence_id, evidence)
        return evidence, digest

    def _sidecar_bytes(self, run_id: str, evidence_id: str) -> bytes:
        rel = layout.evidence_file(run_id, ids.evidence_id(evidence_id))
        data = files.read_bytes(self._root, rel, limit=layout.SIDECAR_LIMIT)
        if not data:
            raise _corrupt(rel, "is empty: corrupt, as after a power cut")
        return data

    def _parsed_sidecar(self, run_id: str, evidence_id: str, data: bytes) -> tuple[Evidence, str]:
        rel = layout.evidence_file(run_id, evidence_id)
        key = (rel, sha256(data).hexdigest())
        evidence = _sidecars.get(key)
        if evidence is None:
            from flow.adapters.contracts import formats

            evidence, _ = formats.read_evidence(
                data, file=rel, expect_id=evidence_id, cache_dir=self._cache_dir
            )
            remember_sidecar(*key, evidence)
        if evidence.run_id != run_id:
            raise _corrupt(rel, f"is of run {evidence.run_id}, not {run_id}", "metadata.run_id")
        return evidence, key[1]

    def _has_output(self, run_id: str, evidence_id: str, evidence: Evidence) -> bool:
        """Whether the output it names is there, or it names none; False if the output was dropped.

        Raises :class:`ContractError` if the output is missing or is not the recorded one.
        """
        rel, name = layout.evidence_file(run_id, evidence_id), evidence.output_ref
        if name is None:
            return True
        if "/" in name:
            raise _corrupt(rel, "names an output outside its own folder", "evidence.output_ref")
        output = f"{layout.evidence_dir(evidence.run_id)}/{name}"
        digest = files.digest(self._root, output, limit=layout.OUTPUT_LIMIT)
        if digest is None:
            if self._was_dropped(evidence):
                return False  # by flow gc, as an entry says
            raise _corrupt(rel, f"its output {name} is missing", "evidence.output_ref")
        recorded = evidence.document["evidence"].get("output_sha256")
        if recorded is not None and digest != recorded:
            raise _corrupt(rel, f"its output {name} was altered", "evidence.output_sha256")
        return True

    def _was_dropped(self, evidence: Evidence) -> bool:
        if self._dropped is None or self._dropped[0] != evidence.run_id:
            self._dropped = evidence.run_id, ledger_file.dropped(self._root, evidence.run_id)
        return self._dropped[1].get(evidence.id) is not None

    def _json_object(self, rel: str, limit: int = files.READ_LIMIT) -> dict[str, Any] | None:
        return lenient_json.mapping(files.read_optional(self._root, rel, limit=limit))


def _goal_named(document: Mapping[str, Any] | None) -> str | None:
    goal_id = document.get("goal_id") if document is not None else None
    return goal_id if isinstance(goal_id, str) else None


def remember_sidecar(rel: str, digest: str, evidence: Evidence) -> None:
    """Remember the evidence in the sidecar at ``rel`` with this SHA-256, for this process."""
    if len(_sidecars) >= _SIDECARS_LIMIT:
        del _sidecars[next(iter(_sidecars))]
    _sidecars[rel, digest] = evidence


def _recorded_or_discounted(line: bytes) -> tuple[str, str] | None:
    """The sidecar that an event records or discounts, and which of both it does."""
    if _RECORDED in line and b"\\" not in line and b"discounted" not in line:
        before, key, rest = line.partition(_EVIDENCE_ID)
        if key and _EVIDENCE_ID not in rest and before[:1] == b"{" and rest[-1:] == b"}":
            return rest.partition(b'"')[0].decode("utf-8", "replace"), "evidence"
    event = lenient_json.mapping(line) or {}
    evidence_id, kind = event.get("evidence_id"), event.get("type")
    if isinstance(evidence_id, str) and kind in (DISCOUNTED, "evidence"):
        return evidence_id, str(kind)
    return None


def goal_ids(root: str) -> tuple[str, ...]:
    """The ids of all goal files of a checkout, sorted; names that are no goal id are left out."""
    names = files.names(root, layout.GOALS, suffix=layout.GOAL_SUFFIX, limit=FILES_LIMIT)
    stems = (name.removesuffix(layout.GOAL_SUFFIX) for name in names)
    return tuple(stem for stem in stems if ids.GOAL_ID.fits(stem))


def read_goal(root: str, goal_id: str, cache_dir: str | None = None) -> tuple[bytes, LoadedGoal]:
    """A goal file's bytes, and its goal. Raises as :meth:`FileRecords.goal` does.

    ``cache_dir`` is as for :func:`flow.adapters.contracts.formats.read_goal`.
    """
    rel = layout.goal_file(ids.goal_id(goal_id))
    data = files.read_optional(root, rel, limit=layout.GOAL_LIMIT)
    if data is None:
        from flow.core.text.near import did_you_mean

        near = did_you_mean(goal_id, goal_ids(root))
        raise in_file(rel, "goal id", goal_id).not_found(
            f"there is no goal {goal_id}{near}",
            "see the goals there are: flow goal list --all-branches",
        )
    goal, warnings = parse_goal(data, rel, expect_id=goal_id, cache_dir=cache_dir)
    return data, LoadedGoal(goal, goal.digest(rubric_digests(root, goal)), warnings, rel)


def parse_goal(
    data: bytes, file: str, *, expect_id: str | None = None, cache_dir: str | None = None
) -> tuple[Goal, tuple[str, ...]]:
    """A goal text as a value, and warnings; callers must not change its ``document``.

    ``expect_id`` is the id in the file's name.
    """
    key = (file, expect_id, sha256(data).digest())
    parsed = _parsed.get(key)
    if parsed is None:
        from flow.adapters.contracts import formats

        parsed = formats.read_goal(data, file=file, expect_id=expect_id, cache_dir=cache_dir)
        if len(_parsed) >= _PARSED_LIMIT:
            del _parsed[next(iter(_parsed))]
        _parsed[key] = parsed
    return parsed


def rubric_digests(root: str, goal: Goal) -> dict[str, str]:
    """SHA-256 of the project rubrics among those the goal names (SPEC 7)."""
    return rubric_digests_of(root, goal.rubrics, goal.scorecard_rubrics)


def rubric_digests_of(root: str, names: Sequence[str], cards: Sequence[str] = ()) -> dict[str, str]:
    """SHA-256 of the project rubrics among ``names``; ``cards`` are rubrics of scorecards."""
    digests = {}
    for name in names:
        for end in layout.RUBRIC_SUFFIXES if ids.RUBRIC_NAME.fits(name) else ():
            digest = files.digest(root, f"{layout.RUBRICS}/{name}{end}")
            if digest is not None:
                digests[name] = digest
                break
    for name in filter(ids.RUBRIC_NAME.fits, cards):
        for folder in (layout.RUBRICS, layout.PLUGIN_RUBRICS):
            for file in (name, f"{name}.md", f"rubric-{name}.md"):
                rel = f"{folder}/{file}"
                digest = files.digest(root, rel)
                if digest is not None:
                    digests[rel] = digest
    return digests


def baseline_document(baseline: Baseline, goal_id: str, run_id: str) -> dict[str, Any]:
    """``baseline.json``: its goal and run, and the baseline's fields."""
    return {"goal_id": goal_id, "run_id": run_id, **baseline._asdict()}


def baseline_from_document(document: Mapping[str, Any]) -> Baseline | None:
    """A baseline, or None if a field is missing or of another kind than Flow writes."""
    from flow.core.boundary.changes import Baseline  # `boundary` itself loads far more

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


def _corrupt(rel: str, fault: str, key: str | None = None) -> ContractError:
    return in_file(rel, key).corrupt(fault, "it is not used; record it again under a new id")
