"""Results that other tools produced: recorded as theirs, and held against the files here."""

from __future__ import annotations

from flow.app.ports import ClockPort, GoalPort
from flow.core.evidence.imported import IMPORTER, TYPES, CheckReport, Format, body_of
from flow.core.evidence.model import Evidence, evidence_document
from flow.core.goal import ids
from flow.core.text.display import visible
from flow.core.text.near import did_you_mean
from flow.errors import at_key, in_file
from flow.startup.sha import new, sha256
from flow.startup.typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.core.evidence.freshness import Freshness
    from flow.core.goal.model import Goal


class ImportedReport(NamedTuple):
    """An import that was recorded."""

    evidence: Evidence
    path: str
    commit: str
    freshness: Freshness | None
    """Freshness of the report against the files now; None if unknown."""
    warnings: tuple[str, ...]


class ImportPort(GoalPort, ClockPort, Protocol):
    """Interface of an import to the checkout."""

    @property
    def version(self) -> str:
        """Flow's own version."""

    def run_of(self, goal_id: str) -> str:
        """The run a goal writes to; :class:`StateError` if it has none yet."""

    def detect(self, data: bytes, name: str) -> Format:
        """The format of a report."""

    def read(self, data: bytes, format: Format, name: str) -> CheckReport:
        """A report; :class:`ContractError` for what is none."""

    def redacted(self, text: str) -> str:
        """A text without secrets."""

    def commit_by_id(self, text: str) -> str | None:
        """The whole id of a commit that an id, or its beginning, means here; None: none here."""

    def commit_named(self, name: str, key: str) -> str | None:
        """The id that a person means by an id or a name; a whole id may be unknown here."""

    def tree_of(self, goal: Goal, run_id: str, commit: str) -> str | None:
        """The digest of a commit's files; None if it is not in this repository."""

    def record(
        self, run_id: str, document: Mapping[str, object], data: bytes, name: str
    ) -> tuple[str, str, tuple[str, ...]]:
        """Record with exactly these bytes; (id, path, warnings)."""

    def evidence_named(self, run_id: str, evidence_id: str) -> Evidence | None:
        """One sidecar; None if it is not there."""

    def freshness(self, evidence: Sequence[Evidence]) -> Mapping[str, Freshness]:
        """The freshness of each sidecar, by its id."""


def import_report(
    port: ImportPort,
    goal_id: str,
    run_id: str | None,
    data: bytes,
    name: str,
    *,
    format: Format | None,
    proves: Sequence[str],
    commit: str | None,
) -> ImportedReport:
    """Record a report as evidence that decides nothing.

    ``commit`` is the commit that the report is about, by the caller; a report that names another is
    refused, and so is a report with no commit named anywhere.
    """
    loaded = port.load(ids.goal_id(goal_id))
    goal = loaded.goal
    run = port.run_of(goal.id) if run_id is None else ids.run_id(run_id)
    _check_proves(goal, proves)
    form = format if format is not None else port.detect(data, name)
    report = _visible(port, port.read(data, form, name))
    about = _about(port, report, commit, name)
    blob = _blob(data, len(goal.base_commit or ""))
    body = body_of(report, commit=about, blob=blob, proves=tuple(proves))
    tree = port.tree_of(goal, run, about)
    stamp = {
        "head": about if len(about) in (40, 64) else None,
        "tree": tree,
        "contract": loaded.contract,
        "flow_version": port.version,
    }
    body["subject"] = {key: value for key, value in stamp.items() if value is not None}
    document = evidence_document(
        id=_id(form, data, about, proves),
        goal=goal.id,
        run_id=run,
        created_at=port.now(),
        created_by=IMPORTER,
        type=TYPES[form],
        body=body,
    )
    evidence_id, path, warnings = port.record(run, document, data, name)
    evidence = port.evidence_named(run, evidence_id)
    if evidence is None:
        raise in_file(path).not_found("the evidence that was recorded is gone")
    freshness = port.freshness((evidence,)).get(evidence.id)
    return ImportedReport(evidence, path, about, freshness, warnings)


def _about(port: ImportPort, report: CheckReport, commit: str | None, name: str) -> str:
    """The commit the report is about, whole where this repository knows it."""
    named = report.commit
    if named is not None and len(named) not in (40, 64):
        named = port.commit_by_id(named) or named
    if commit is None:
        if named is None:
            raise in_file(name, "--commit").invalid(
                "names no commit, so nobody can say which files it is about",
                "say which was checked out when it was made: --commit SHA",
                code="no_commit",
            )
        return named
    given = port.commit_named(commit, "--commit")
    if given is None:
        raise at_key("--commit", commit).invalid(
            f"{commit!r:.80} is no commit of this repository", "give the whole id"
        )
    if named is not None and not given.startswith(named):
        raise in_file(name, "--commit", commit).invalid(
            f"names the commit {named}, and --commit says {given}",
            "leave --commit out, or import the report of that commit",
            code="other_commit",
        )
    return given


def _visible(port: ImportPort, report: CheckReport) -> CheckReport:
    """The report without secrets in what it quotes."""

    def clean(text: str | None) -> str | None:
        return None if text is None else visible(port.redacted(text))

    return report._replace(
        tool=clean(report.tool),
        url=clean(report.url),
        failing=tuple(visible(port.redacted(text)) for text in report.failing),
    )


def _check_proves(goal: Goal, proves: Sequence[str]) -> None:
    for criterion_id in proves:
        if goal.criterion(ids.criterion_id(criterion_id)) is None:
            raise at_key("--proves", criterion_id).invalid(
                f"goal {goal.id} has no criterion {criterion_id}"
                f"{did_you_mean(criterion_id, (c.id for c in goal.criteria))}",
                f"one of {', '.join(c.id for c in goal.criteria[:20])}",
            )


def _id(format: str, data: bytes, commit: str, proves: Sequence[str]) -> str:
    """Evidence id of a report: the same report imported for the same criteria is recorded once."""
    digest = sha256(data)
    digest.update(f"\0{commit}\0{','.join(proves)}".encode())
    return f"import-{format}-{digest.hexdigest()[:16]}"


def _blob(data: bytes, digits: int) -> str | None:
    """The id that git gives these bytes in this repository."""
    if digits not in (40, 64):
        return None
    made = new("sha256" if digits == 64 else "sha1", len(data))
    made.update(b"blob %d\0" % len(data))
    made.update(data)
    return made.hexdigest()
