"""Gathers a judge's context: contract, report, fresh evidence, files (SPEC 9.1).

Left out on purpose: the diff, transcripts, the decision journal, earlier judges' reports, and
everything that ``denied_context`` names.
"""

from __future__ import annotations

import json
import re

from flow.app.evaluation.goal_rules import own_files
from flow.app.judging import changed_files
from flow.core import layout
from flow.core.boundary.by_products import subject_tree
from flow.core.boundary.globs import why_not
from flow.core.decision.explain import for_judges
from flow.core.evidence.freshness import differences
from flow.core.evidence.imported import NAMES, without_reports
from flow.core.evidence.model import EVALUATOR, Evidence, Subject
from flow.core.evidence.red_first import limitation
from flow.core.instant import ahead
from flow.core.judging.goal.context import (
    ContextItem,
    JudgeContext,
    MissingEvidence,
    PreviousVerdict,
    SoughtCriterion,
)
from flow.core.judging.goal.reply import VERDICTS
from flow.core.untrusted.fences import FencedPart
from flow.startup.json import rows_of, text_of
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from flow.app.evaluation.values import Facts, JudgeCase
    from flow.app.judging.changed_files import EvidenceFiles, Raw
    from flow.app.ports import Records
    from flow.core.goal.model import Criterion, Goal

NEVER = frozenset(
    {"git_diff", "llm_judge_report", "verdict", "human_approval", "path_boundary_check"}
)
"""Types of evidence that never enter a prompt: a diff, opinions, and what Flow reports itself."""
MOST_OF_OTHERS = 5
"""Sidecars of others for one criterion that are shown, the newest."""


class ContextSources(NamedTuple):
    """The sources of the parts of a judge context."""

    records: Records
    output: Callable[[Evidence], Raw]
    """The raw output that a sidecar names."""
    files: Callable[[Sequence[str], Sequence[str]], EvidenceFiles]
    """The content of (patterns), less what (denied patterns) cover."""
    journals: tuple[str, ...]
    """Patterns of the decision journal."""
    now: str
    """Time of the evaluation (RFC 3339); anything dated later is left out."""
    changed: Callable[[Sequence[str], Sequence[str]], EvidenceFiles] | None = None
    """The content of (changed paths), less what (denied patterns) cover; None: none is sent."""


def sought_criteria(goal: Goal, approved: Collection[str]) -> tuple[SoughtCriterion, ...]:
    """The criteria that the judge decides: those that nothing else proves.

    For ``flow_verdict_judge`` also those that commands have proved: a second look, which can only
    lower.
    """
    second_look = goal.evaluator_type == "flow_verdict_judge"
    return tuple(
        SoughtCriterion(c.id, c.text, c.must_pass, c.fuzzy)
        for c in goal.criteria
        if (c.fuzzy and c.id not in approved) or (second_look and c.must_pass and not c.fuzzy)
    )


def gather_context(case: JudgeCase, sources: ContextSources) -> JudgeContext:
    """Everything the judge is given about this goal in this evaluation."""
    facts, goal = case.facts, case.facts.loaded.goal
    sought = sought_criteria(goal, case.approved)
    patterns, texts = denied_context(goal)
    gathering = _Gathering(case, sources, sought, (*patterns, *sources.journals))
    for criterion in goal.criteria:
        gathering.add(criterion)
    gathering.share_changed_files()
    return JudgeContext(
        goal_id=goal.id,
        turn=facts.turn,
        sought=sought,
        contract=tuple(_contract(goal, {row.id for row in sought})),
        report=_boundary_text(case),
        items=tuple(gathering.items),
        missing=tuple(gathering.missing),
        previous=_previous(sources.records.previous_verdict(facts.run_id, facts.goal_so_far), goal),
        turns_left=max(goal.max_iterations - facts.turn, 0),
        denied=texts,
        left_out=tuple(gathering.left_out),
    )


class _Gathering:
    """The evidence of a judge context, criterion by criterion, and what is not there."""

    def __init__(
        self,
        case: JudgeCase,
        sources: ContextSources,
        sought: Sequence[SoughtCriterion],
        denied: tuple[str, ...],
    ) -> None:
        self._case, self._sources, self._denied = case, sources, denied
        self._goal = case.facts.loaded.goal
        self._ledger = _Ledger(case, sources)
        self._sought = {row.id: row for row in sought}
        self._unnamed = changed_files.without_evidence_named(self._goal, sought)
        self.items: list[ContextItem] = []
        self.missing: list[MissingEvidence] = []
        self.left_out: list[str] = []

    def add(self, criterion: Criterion) -> None:
        """Add what is recorded of a criterion, and the files that it names."""
        sought = self._sought.get(criterion.id)
        second_look = sought is not None and not sought.fuzzy
        items = self._ledger.items(criterion, second_look=second_look)
        if criterion.fuzzy and criterion.evidence_paths:
            items += self._named_files(criterion)
        self.items += items
        if sought is not None and criterion.id not in self._unnamed:
            self.missing += self._ledger.missing(criterion, items)

    def _named_files(self, criterion: Criterion) -> list[ContextItem]:
        files = self._sources.files(criterion.evidence_paths, self._denied)
        items = [
            ContextItem(criterion.id, "file", FencedPart("", raw.data, path, raw.unread))
            for path, raw in files.files
            if raw.data
        ]
        self.left_out += [f"{criterion.id}: {note}" for note in files.left_out]
        if not items:
            why = "its evidence_paths name no file that may be read and holds anything"
            self.missing.append(MissingEvidence(criterion.id, why))
        return items

    def share_changed_files(self) -> None:
        """Add what the criteria rest on that name no evidence of their own."""
        changed = None
        if self._unnamed and self._sources.changed is not None:
            changed = self._sources.changed(self._case.report.inside, self._denied)
        shared = changed_files.share_out(self.items, self._unnamed, changed)
        for row in shared.missing:
            criterion = next(c for c in self._goal.criteria if c.id == row.criterion_id)
            own = [item for item in self.items if item.criterion_id == criterion.id]
            self.missing += [*self._ledger.missing(criterion, own), row]
        self.items = list(shared.items)
        self.left_out += shared.left_out


def denied_context(goal: Goal) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """``evaluator.denied_context`` as (path patterns, texts for the judge).

    Every entry that can be a pattern is one. An entry is also shown to the judge as text, unless it
    can only be a path: it has no blanks, and a slash, a dot or a wildcard.
    """
    entries: list[str] = list(goal.document["evaluator"].get("denied_context") or ())
    patterns = tuple(entry for entry in entries if why_not(entry) is None)
    texts = tuple(
        entry
        for entry in entries
        if entry not in patterns or " " in entry or not any(mark in entry for mark in "/.*?[")
    )
    return patterns, texts


class _Ledger:
    """The run's sidecars, as far as a judge may see them."""

    def __init__(self, case: JudgeCase, sources: ContextSources) -> None:
        self._case, self._sources = case, sources
        run_id, tree = case.facts.run_id, case.facts.subject.tree
        sidecars, _ = sources.records.evidence(run_id)
        taken_out = sources.records.discounted(run_id)
        self._opinions: set[str] = set()
        self._stale: set[str] = set()
        self._rows: dict[str, list[Evidence]] = {}
        reports = {e.id for e in sidecars if e.imported is not None}
        for evidence in sidecars:
            if evidence.goal != case.facts.loaded.goal.id:
                continue
            named = _criteria(evidence)
            if evidence.type in NEVER:
                if evidence.type == "llm_judge_report":
                    self._opinions.update(named)
                continue
            measured_on = evidence.subject.get("tree")
            if evidence.id in reports:
                now = _apart_from_reports(case.facts, sidecars)
                stale = bool(differences(evidence, now, case.facts.loaded.goal))
            elif _by_flow(evidence):
                stale = bool(differences(evidence, case.facts.subject, case.facts.loaded.goal))
            else:
                stale = measured_on not in (None, tree)
            path = layout.evidence_file(evidence.run_id, evidence.id)
            if stale or path in taken_out or ahead(evidence.created_at, sources.now):
                self._stale.update(named)
                continue
            for criterion_id in named:
                self._rows.setdefault(criterion_id, []).append(evidence)

    def items(self, criterion: Criterion, *, second_look: bool = False) -> list[ContextItem]:
        """The newest fresh evidence of Flow's own, and what others recorded.

        At a ``second_look`` a command that passed and printed nothing is evidence, too.
        """
        rows = self._rows.get(criterion.id, ())
        own: Evidence | None = None
        others: list[Evidence] = []
        for evidence in reversed(rows):
            digest = evidence.body.get("criterion_digest")
            counted = _by_flow(evidence) and self._counted(evidence)
            if counted and own is None and digest in (None, criterion.digest):
                own = evidence
            elif not counted and len(others) < MOST_OF_OTHERS:
                others.append(evidence)
        gathered = [self._item(criterion, own, counts=True)] if own is not None else []
        gathered += [self._item(criterion, evidence, counts=False) for evidence in others]
        proved = second_look and own is not None and own.outcome == "passed"
        return [item for item in gathered if item.part.text or (proved and item.counts)]

    def missing(
        self, criterion: Criterion, gathered: Sequence[ContextItem]
    ) -> list[MissingEvidence]:
        """The evidence that is missing for a criterion that the judge decides."""
        reasons = []
        if criterion.evidence_command and not any(
            item.counts and item.kind != "file" for item in gathered
        ):
            reasons.append("its evidence_command has no fresh output")
        if not any(item.counts for item in gathered):
            reasons.append(
                "only what others recorded, which no pass can rest on"
                if gathered
                else "no evidence at all"
            )
            if criterion.id in self._stale:
                reasons.append("there is evidence of older files, which does not count")
            if criterion.id in self._opinions:
                reasons.append("an earlier judge's report is there, which alone proves nothing")
        return [MissingEvidence(criterion.id, why) for why in reasons]

    def _counted(self, evidence: Evidence) -> bool:
        path = layout.evidence_file(evidence.run_id, evidence.id)
        return self._sources.records.counted(path) is not None

    def _item(self, criterion: Criterion, evidence: Evidence, *, counts: bool) -> ContextItem:
        raw = self._sources.output(evidence)
        result = evidence.body.get("result")
        ended = f" ({result})" if counts and result else ""
        report = evidence.imported
        if report is not None:
            what = f"{NAMES[report['format']]} of another tool, about these very files"
        elif not counts:
            what = f"a sidecar of type {evidence.type}"
        elif criterion.fuzzy:
            what = f"output of its evidence_command{ended}"
        else:
            what = f"output of its command{ended}"
        return ContextItem(
            criterion.id,
            what,
            FencedPart("", raw.data, evidence.command or evidence.id, raw.unread),
            counts,
        )


def _apart_from_reports(facts: Facts, evidence: Sequence[Evidence]) -> Subject:
    """The files as they were when this evaluation began, without the reports in them."""
    tree = None
    if not facts.before.problems:
        rest = without_reports(facts.before, evidence)
        tree = subject_tree(rest, facts.baseline, own_files(facts.loaded.goal, facts.baseline))
    return facts.subject._replace(tree=tree)


def _criteria(evidence: Evidence) -> tuple[str, ...]:
    about = evidence.body.get("about") or ()
    return tuple(dict.fromkeys((*evidence.proves, *about)))


def _by_flow(evidence: Evidence) -> bool:
    return evidence.made_by == EVALUATOR


def _contract(goal: Goal, sought: set[str]) -> Iterable[FencedPart]:
    yield FencedPart("outcome", goal.outcome)
    others = [
        {
            "id": c.id,
            "text": c.text,
            "must_pass": c.must_pass,
            **({"verification_command": c.verification_command} if not c.fuzzy else {}),
        }
        for c in goal.criteria
        if c.id not in sought
    ]
    if others:
        yield FencedPart("other criteria", _laid_out(others))
    limits = {c.id: list(c.limitations) for c in goal.criteria if c.limitations}
    if limits:
        yield FencedPart("limitations of criteria", _laid_out(limits))
    for key in ("specification", "constraints"):
        if goal.document.get(key):
            yield FencedPart(key, _laid_out(goal.document[key]))


def _laid_out(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False)


def _boundary_text(case: JudgeCase) -> str:
    lines = []
    for criterion, row, each in zip(
        case.facts.loaded.goal.criteria, case.measurement.rows, case.measured, strict=True
    ):
        need = "must_pass" if criterion.must_pass else "not must_pass"
        if each.approved:
            what = "a person has approved it"
        elif criterion.fuzzy:
            what = "no command proves it"
        else:
            what = f"its command: {row.outcome}"
            what += "".join(f", {part}" for part in (row.result, row.reason) if part)
            base_run = case.facts.base_runs.get(criterion.id)
            if base_run is not None and base_run.non_discriminating:
                what += f"; {limitation(case.facts.loaded.goal.base_commit or '')}"
        lines.append(f"{criterion.id} ({need}): {what}")
    inside = {
        "inside": "The change stays inside the paths that the contract allows.",
        "outside": "The change leaves the paths that the contract allows.",
    }
    lines.append(inside.get(case.report.status, "Whether the change stays inside is not known."))
    if case.facts.protected_changes is not None:
        approval = "a person has not approved that" if case.report.protected_changed else "approved"
        lines.append(
            "Files that the proof rests on were changed since the goal was started "
            f"({approval}): {case.facts.protected_changes.sentence()}"
        )
    return "\n".join(lines)


def _previous(verdict: Mapping[str, Any] | None, goal: Goal) -> PreviousVerdict | None:
    """The previous verdict, split into Flow's own words and foreign text; None without one."""
    if verdict is None or verdict.get("verdict") not in VERDICTS:
        return None
    statuses: dict[str, Any] = dict.fromkeys(c.id for c in goal.criteria)
    for row in rows_of(verdict.get("criterion_results")):
        if row.get("criterion_id") in statuses:
            statuses[row["criterion_id"]] = row.get("status")
    words = ("pending", "evidence_collected", "pass", "fail")
    told = ", ".join(f"{id} {status}" for id, status in statuses.items() if status in words)
    reason, hint = (text_of(verdict.get(key)) for key in ("reason", "next_step_hint"))
    return PreviousVerdict(
        f"It was {verdict['verdict']}{f' ({told})' if told else ''}. Its words:",
        for_judges(reason, hint),
    )


def journals(case: JudgeCase, journal_dir: str) -> tuple[str, ...]:
    """Patterns of the decision journal, wherever it may lie; ``journal_dir`` by the settings."""
    places = (
        layout.JOURNAL_DIR,
        journal_dir,
        case.facts.baseline.journal_dir,
        case.facts.loaded.goal.journal,
    )
    names = sorted({name.strip("/") for name in places if name})
    return tuple("/" + re.sub(r"([*?\[\\])", r"\\\1", name) for name in names)
