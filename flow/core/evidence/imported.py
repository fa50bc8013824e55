"""Results of other tools, as values (SPEC 5, ``flow evidence import``).

They are stored and shown, and passed to a judge under their own name while they are fresh; they
never decide anything. A report is about the commit it names, so it is fresh while the files here
are exactly that commit's. Flow's own files, by-products and imported reports, which are often in
the checkout, do not matter for this.
"""

from __future__ import annotations

from flow.core.boundary.changes import PathChange, Snapshot, where
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from flow.core.evidence.model import Evidence, Outcome

IMPORTER = "flow-import"
"""``metadata.created_by`` of the sidecars of an import, which decide nothing."""

Format = Literal["junit", "ctrf", "sarif", "ci"]
FORMATS: tuple[Format, ...] = ("junit", "ctrf", "sarif", "ci")
TYPES: Mapping[str, str] = {
    "junit": "test_result",
    "ctrf": "test_result",
    "sarif": "lint_result",
    "ci": "ci_status",
}
NAMES: Mapping[str, str] = {
    "junit": "a JUnit XML report",
    "ctrf": "a CTRF report",
    "sarif": "a SARIF log",
    "ci": "a CI run's status",
}


class CheckReport(NamedTuple):
    """The content of a report."""

    format: Format
    outcome: Outcome
    result: str
    """One line for people, without foreign text."""
    commit: str | None = None
    """The commit it names, in lower case; may be abbreviated."""
    tool: str | None = None
    url: str | None = None
    counts: Mapping[str, int] = {}
    failing: tuple[str, ...] = ()
    """The first names of failed tests or rules."""
    doubts: tuple[str, ...] = ()
    """Limitations of this report beyond those of its format."""


def limitations(report: CheckReport) -> list[str]:
    """The limitations of such evidence; at least one sentence."""
    source = f"Read from {NAMES[report.format]} of another tool, which Flow did not run"
    return [f"{source}; it decides nothing.", *report.doubts]


def body_of(
    report: CheckReport, *, commit: str | None, blob: str | None, proves: tuple[str, ...]
) -> dict[str, Any]:
    """The ``evidence`` part of the sidecar; ``commit`` is the one that the report is about.

    ``blob`` is the git blob id of the report.
    """
    imported = {
        "format": report.format,
        "commit": commit,
        "tool": report.tool,
        "url": report.url,
        "counts": dict(report.counts),
        "failing": list(report.failing),
        "blob": blob,
    }
    return {
        "proves": list(proves),
        "outcome": report.outcome,
        "result": report.result,
        "limitations": limitations(report),
        "imported": {key: value for key, value in imported.items() if value is not None},
    }


def without_reports(snapshot: Snapshot, evidence: Iterable[Evidence]) -> Snapshot:
    """``snapshot`` without the reports of this evidence that are still in the checkout."""
    blobs = {(each.imported or {}).get("blob") for each in evidence} - {None}
    rest = where(snapshot.changes, lambda change: not _is_report(change, blobs))
    return snapshot._replace(changes=rest)


def _is_report(change: PathChange, blobs: Iterable[object]) -> bool:
    """Whether an untracked file is an imported report, byte for byte."""
    entry = change.worktree
    return change.untracked and change.base is None and entry is not None and entry.digest in blobs
