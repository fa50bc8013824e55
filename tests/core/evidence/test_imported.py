"""Whether evidence is of the files as they are."""

from __future__ import annotations

from typing import Any

import pytest

from flow.core.boundary.by_products import subject_tree
from flow.core.boundary.changes import Baseline, ContentState, PathChange, Snapshot
from flow.core.evidence.freshness import Freshness, freshness
from flow.core.evidence.imported import CheckReport, body_of, without_reports
from flow.core.evidence.model import EVALUATOR, Subject, evidence_document, evidence_from_document

BASE = Baseline("b" * 40, {}, {}, {}, {}, {})
FILE, REPORT = ContentState("100644", "f" * 40), ContentState("100644", "e" * 40)
WORK = PathChange("src/a", None, FILE, FILE, FILE)


def untracked(path: str, entry: ContentState = REPORT) -> PathChange:
    return PathChange(path, None, None, None, entry)


def snapshot(*changes: PathChange, problems: tuple[str, ...] = ()) -> Snapshot:
    return Snapshot("a" * 40, "main", changes, {}, problems)


def own(change: PathChange) -> bool:
    return change.path.startswith(".decisions/")


TREE = subject_tree(snapshot(WORK), BASE, own)


def evidence(by: str = "flow-import", blob: str | None = "e" * 40, **stamp: Any) -> Any:
    subject = {"tree": TREE, "contract": "c", "flow_version": "1", **stamp}
    body: dict[str, Any] = {"subject": {k: v for k, v in subject.items() if v is not None}}
    if by == "flow-import":
        body |= {"imported": {"format": "junit", "commit": "a" * 40, "blob": blob}}
    document = evidence_document(
        id="e", goal="g", run_id="r", created_at="2026-01-01T00:00:00Z", created_by=by,
        type="test_result", body=body,
    )  # fmt: skip
    return evidence_from_document(document)


def stand(files: Snapshot, found: Any) -> Freshness:
    rest = files if found.imported is None else without_reports(files, [found])
    tree = None if files.problems else subject_tree(rest, BASE, own)
    present = Subject(files.head, tree, "c", "1")
    return freshness(found, present, None, "2026-01-01T00:00:00Z", moved=False)  # type: ignore[arg-type]


CLEAN = snapshot(WORK)
CASES = [
    (CLEAN, evidence(), "fresh"),
    (CLEAN, evidence(flow_version="0"), "stale"),
    (CLEAN, evidence(EVALUATOR), "fresh"),
    (CLEAN, evidence(EVALUATOR, flow_version="0"), "stale"),
    (CLEAN, evidence(contract="other"), "stale"),
    (CLEAN, evidence(tree="0" * 64), "stale"),
    (CLEAN, evidence(tree=None), "stale"),
    (CLEAN, evidence(EVALUATOR, tree=None), "stale"),
    (snapshot(problems=("a merge is under way",)), evidence(), "stale"),
    (snapshot(WORK, problems=("a merge",)), evidence(tree=None), "stale"),
    (snapshot(WORK._replace(worktree=REPORT)), evidence(), "stale"),
    (snapshot(WORK._replace(index=REPORT)), evidence(), "stale"),
    (snapshot(WORK, untracked("r.xml")), evidence(), "fresh"),
    (snapshot(WORK, untracked("r.xml")), evidence(EVALUATOR), "stale"),
    (snapshot(WORK, untracked("r.xml", FILE)), evidence(), "stale"),
    (snapshot(WORK, untracked("r.xml")), evidence(blob=None), "stale"),
    (snapshot(WORK, PathChange("r.xml", None, None, REPORT, REPORT)), evidence(), "stale"),
    (snapshot(WORK, PathChange("r.xml", FILE, None, None, REPORT)), evidence(), "stale"),
    (
        snapshot(WORK, PathChange(".decisions/x.md", None, REPORT, REPORT, REPORT)),
        evidence(),
        "fresh",
    ),
]


@pytest.mark.parametrize(("files", "found", "said"), CASES, ids=range(len(CASES)))
def test_of_these_files(files: Snapshot, found: Any, said: str) -> None:
    assert stand(files, found).fresh is (said == "fresh")


@pytest.mark.parametrize(("by", "why"), [("somebody", "unstamped"), ("flow-import", "commit")])
def test_without_a_stamp_nobody_knows(by: str, why: str) -> None:
    bare = evidence(by, tree=None, contract=None, flow_version=None)
    assert stand(CLEAN, bare).why == (why,)


def test_an_import_always_has_a_limitation_and_says_what_it_is() -> None:
    said = body_of(CheckReport("ci", "passed", "r"), commit=None, blob=None, proves=("AC1",))
    assert said["limitations"] == [
        "Read from a CI run's status of another tool, which Flow did not run; it decides nothing."
    ]
    assert said["imported"] == {"format": "ci", "counts": {}, "failing": []}
    assert evidence("somebody").imported is None
