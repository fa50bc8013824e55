"""Results that other tools produced, as values (SPEC 5, ``flow evidence import``).

They are kept and shown, and given to a judge as what they are while they are fresh; they never
decide anything. A report is about the commit it names, so it is fresh while the files here are
exactly that commit's (Flow's own files and by-products aside, and reports that were imported, which
often lie in the checkout).
"""

from __future__ import annotations

import re

from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from flow.core.boundary.changes import PathChange, Snapshot
    from flow.core.evidence.model import Evidence, Outcome

IMPORTER = "flow-import"
"""``metadata.created_by`` of sidecars that an import wrote. It counts for nothing."""

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
_COMMIT = r"[0-9a-fA-F]{7,64}"


class NoReport(ValueError):
    """Why something is no report of its format; whoever knows the file names it."""


class CheckReport(NamedTuple):
    """What a report says."""

    format: Format
    outcome: Outcome
    result: str
    """One line for people, without what anybody else wrote."""
    commit: str | None = None
    """The commit it names, in lower case; maybe not whole."""
    tool: str | None = None
    url: str | None = None
    counts: Mapping[str, int] = {}
    failing: tuple[str, ...] = ()
    """Names of what failed, the first ones."""
    doubts: tuple[str, ...] = ()
    """What this report does not show, beyond what none of its kind does."""


MOST_FAILING = 20
LONGEST_NAME = 200


def commit_in(values: Iterable[object]) -> str | None:
    """The commit that a report's fields name. None: none does.

    Only hexadecimal ids count: a branch's name, or ``HEAD``, would fit whatever is checked out.
    Raises :class:`NoReport` where they name different ones.
    """
    texts = [value for value in values if isinstance(value, str)]
    ids = {text.lower() for text in texts if re.fullmatch(_COMMIT, text)}
    if not ids:
        return None
    longest = max(ids, key=len)
    if not all(longest.startswith(one) for one in ids):
        raise NoReport(f"it names different commits: {', '.join(sorted(ids)[:5])}")
    return longest


def limitations(report: CheckReport) -> list[str]:
    """What such evidence does not show; at least one sentence."""
    source = f"Read from {NAMES[report.format]} of another tool, which Flow did not run"
    return [f"{source}; it decides nothing.", *report.doubts]


def body_of(
    report: CheckReport, *, commit: str | None, blob: str | None, proves: tuple[str, ...]
) -> dict[str, Any]:
    """The ``evidence`` part of the sidecar; ``commit`` is what it is taken to be about.

    ``blob`` is the report's id as git would name it.
    """
    said = {
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
        "imported": {key: value for key, value in said.items() if value is not None},
    }


def without_reports(snapshot: Snapshot, evidence: Iterable[Evidence]) -> Snapshot:
    """``snapshot`` without the reports of this evidence that still lie in the checkout."""
    blobs = {(one.imported or {}).get("blob") for one in evidence} - {None}
    rest = tuple(change for change in snapshot.changes if not _is_report(change, blobs))
    return snapshot._replace(changes=rest)


def _is_report(change: PathChange, blobs: Iterable[object]) -> bool:
    """Whether an untracked file is a report that was imported, byte for byte."""
    entry = change.worktree
    return change.untracked and change.base is None and entry is not None and entry.digest in blobs
