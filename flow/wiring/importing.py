"""Results that other tools produced: recorded as theirs, and held against the files here."""

from __future__ import annotations

from flow.core.goal import ids
from flow.errors import GitError, InputError
from flow.startup.typing import TYPE_CHECKING, NamedTuple
from flow.wiring.exporting import Exporting
from flow.wiring.parts import version

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.core.evidence.freshness import Freshness
    from flow.core.evidence.imported import CheckReport, Format
    from flow.core.evidence.model import Evidence
    from flow.core.goal.model import Goal


class ImportedEvidence(NamedTuple):
    """An import that was recorded."""

    evidence: Evidence
    path: str
    commit: str
    stand: Freshness | None
    """How it stands to the files now; None where nobody knows."""
    warnings: tuple[str, ...]


class Importing(Exporting):
    """A checkout that takes results of other tools in."""

    def import_report(
        self,
        goal_id: str,
        run_id: str | None,
        data: bytes,
        name: str,
        *,
        format: Format | None,
        proves: Sequence[str],
        commit: str | None,
    ) -> ImportedEvidence:
        """Record a report as evidence that decides nothing.

        ``commit`` is what the caller says it is about; a report that names another is refused, and
        so is one where nobody names any.
        """
        from flow.adapters.exchange import import_formats
        from flow.adapters.fs import clock
        from flow.core.evidence.imported import IMPORTER, TYPES, body_of
        from flow.core.evidence.model import evidence_document

        loaded = self.load(ids.goal_id(goal_id))
        goal = loaded.goal
        run = self.run_of(goal.id) if run_id is None else ids.run_id(run_id)
        _check_proves(goal, proves)
        found = format if format is not None else import_formats.detect_format(data, name)
        report = self._masked(import_formats.read_report(data, found, name))
        about = self._about(report, commit, name)
        blob = _blob(data, len(goal.base_commit or ""))
        body = body_of(report, commit=about, blob=blob, proves=tuple(proves))
        tree = self.tree_of(goal, run, about)
        stamp = {
            "head": about if len(about) in (40, 64) else None,
            "tree": tree,
            "contract": loaded.contract,
            "flow_version": version(),
        }
        body["subject"] = {key: value for key, value in stamp.items() if value is not None}
        document = evidence_document(
            id=_id(found, data, about, proves),
            goal=goal.id,
            run_id=run,
            created_at=clock.now(),
            created_by=IMPORTER,
            type=TYPES[found],
            body=body,
        )
        evidence_id, path, warnings = self._record_data(run, document, data, name)
        evidence = self.records.evidence_named(run, evidence_id)
        if evidence is None:
            raise InputError("the evidence that was recorded is gone", code="not_found", file=path)
        stand = self.freshness((evidence,)).get(evidence.id)
        return ImportedEvidence(evidence, path, about, stand, warnings)

    def _about(self, report: CheckReport, commit: str | None, name: str) -> str:
        """The commit the report is about, whole where this repository knows it."""
        from flow.adapters.git import names as git_names
        from flow.adapters.git import repository

        def whole(text: str, key: str | None = None) -> str | None:
            """Of a report's id (no branch is meant), or of what a person gave under ``key``."""
            try:
                if key is None:
                    return git_names.by_id(self.repo, text)
                return git_names.resolve(self.repo, text, key=key)
            except GitError:
                return None

        named = report.commit
        if named is not None and len(named) not in (40, 64):
            named = whole(named) or named
        if commit is None:
            if named is None:
                raise InputError(
                    "names no commit, so nobody can say which files it is about",
                    code="no_commit",
                    file=name,
                    key="--commit",
                    remedy="say which was checked out when it was made: --commit SHA",
                )
            return named
        given = commit.lower() if repository.is_id(commit.lower()) else whole(commit, "--commit")
        if given is None:
            raise InputError(
                f"{commit!r:.80} is no commit of this repository",
                key="--commit",
                value=commit,
                remedy="give the whole id",
            )
        if named is not None and not given.startswith(named):
            raise InputError(
                f"names the commit {named}, and --commit says {given}",
                code="other_commit",
                file=name,
                key="--commit",
                value=commit,
                remedy="leave --commit out, or import the report of that commit",
            )
        return given

    def _masked(self, report: CheckReport) -> CheckReport:
        """The report without secrets in what it quotes."""
        from flow.adapters.process.redaction import masked_text
        from flow.core.text.display import visible

        def clean(text: str | None) -> str | None:
            return None if text is None else visible(masked_text(text, self.environ))

        return report._replace(
            tool=clean(report.tool),
            url=clean(report.url),
            failing=tuple(visible(masked_text(text, self.environ)) for text in report.failing),
        )

    def _record_data(
        self, run_id: str, document: Mapping[str, object], data: bytes, name: str
    ) -> tuple[str, str, tuple[str, ...]]:
        """Record with exactly the bytes that were read, whatever the file holds by now."""
        from flow.adapters.fs import temporary

        with temporary.holding(data, "flow-import-") as path:
            return self.ledger.record_foreign(
                run_id, document, path, file=name, environ=self.environ
            )


def _check_proves(goal: Goal, proves: Sequence[str]) -> None:
    for criterion_id in proves:
        if goal.criterion(ids.criterion_id(criterion_id)) is None:
            raise InputError(
                f"goal {goal.id} has no criterion {criterion_id}",
                key="--proves",
                value=criterion_id,
                remedy=f"one of {', '.join(c.id for c in goal.criteria[:20])}",
            )


def _id(format: str, data: bytes, commit: str, proves: Sequence[str]) -> str:
    """The same report, imported for the same, has the same id: it is recorded once."""
    from flow.startup.sha import sha256

    digest = sha256(data)
    digest.update(f"\0{commit}\0{','.join(proves)}".encode())
    return f"import-{format}-{digest.hexdigest()[:16]}"


def _blob(data: bytes, digits: int) -> str | None:
    """The id that git gives these bytes in this repository."""
    from flow.startup.sha import new

    if digits not in (40, 64):
        return None
    made = new("sha256" if digits == 64 else "sha1", len(data))
    made.update(b"blob %d\0" % len(data))
    made.update(data)
    return made.hexdigest()
