"""Where Flow's files lie: the table of SPEC 1."""

from __future__ import annotations

import pytest

from flow.core import layout

PLACES = [
    (layout.goal_file("g"), ".flow/goals/g.goal.yaml"),
    (layout.run_dir("r"), ".flow/runs/r"),
    (layout.evidence_dir("r"), ".flow/runs/r/evidence"),
    (layout.evidence_file("r", "e"), ".flow/runs/r/evidence/e.evidence.yaml"),
    (layout.output_file("r", "e"), ".flow/runs/r/evidence/e.txt"),
    (layout.verdict_file("r"), ".flow/runs/r/last-verdict.json"),
    (layout.events_file("r"), ".flow/runs/r/events.jsonl"),
    (layout.baseline_file("r"), ".flow/runs/r/baseline.json"),
    (layout.measuring_file("r"), ".flow/runs/r/measuring.json"),
    (layout.proposal_file("r"), ".flow/runs/r/proposal.json"),
    (layout.goal_lock("g"), ".flow/runs/.locks/goal-g.lock"),
    (layout.evaluation_lock("g"), ".flow/runs/.locks/evaluate-g.lock"),
    (layout.run_lock("r"), ".flow/runs/.locks/run-r.lock"),
    (layout.journal_lock("issue-4.md"), ".flow/runs/.locks/journal-issue-4.md.lock"),
    (layout.pending_file("g"), ".flow/runs/.pending/g.json"),
    (layout.journal_file(4, "2026-11-21"), ".decisions/issue-4.md"),
    (layout.journal_file(0, "2026-11-21"), ".decisions/issue-0.md"),
    (layout.journal_file(None, "greet"), ".decisions/goal-greet.md"),
    (layout.journal_file(None, "greet", "log"), "log/goal-greet.md"),
    (layout.run_id_for("g", "2026-11-21T12:34:56Z"), "2026-11-21T123456Z-g"),
    (layout.RUBRICS, ".flow/rubrics"),
    (layout.WORK, ".flow/runs/.work"),
    (layout.TEMP_PREFIX, ".flow-tmp-"),
]


@pytest.mark.parametrize(("found", "place"), PLACES)
def test_every_file_has_its_place(found: str, place: str) -> None:
    assert found == place


def test_no_two_files_share_a_place() -> None:
    assert len({found for found, _ in PLACES}) == len(PLACES)


def test_the_path_of_a_sidecar_tells_its_run_and_id() -> None:
    assert layout.sidecar_of(layout.evidence_file("r.1", "e-2")) == ("r.1", "e-2")


@pytest.mark.parametrize(
    "reference",
    [
        "",
        "x",
        ".flow/runs/r/evidence/e.txt",
        ".flow/runs/r/evidence/.evidence.yaml",
        ".flow/runs//evidence/e.evidence.yaml",
        ".flow/runs/r/e.evidence.yaml",
        ".flow/runs/r/evidence/d/e.evidence.yaml",
        ".flow/runs/r/evidence/../../e.evidence.yaml",
        ".flow/runs/r/evidence/evidence/evidence/e.evidence.yaml",
        ".flow/runs/../r/evidence/e.evidence.yaml",
        "./.flow/runs/r/evidence/e.evidence.yaml",
        "r/evidence/e.evidence.yaml",
        "/.flow/runs/r/evidence/e.evidence.yaml",
        ".flow/runs/r/evidence/e.evidence.yaml\n",
        ".flow/runs/r/evidence/e.evidence.yaml.evidence.yaml/",
    ],
)
def test_any_other_path_is_no_sidecars(reference: str) -> None:
    assert layout.sidecar_of(reference) == ("", "")
