"""`flow goal evaluate --reuse`: fresh evidence of Flow's own stands for a run, as at a stop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support import scene
from tests.support.scene import flow
from tests.support.stops import stop

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import GitRepo

RUNS = "AC1: says please :: echo x >> ../runs; grep -q please src/greet.txt"


def counted(repo: GitRepo) -> int:
    return len((repo.path.parent / "runs").read_text().split())


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    scene.create(scene.start(repo), criterion=RUNS)
    (repo.path.parent / "runs").write_text("")
    return repo


def evaluate(repo: GitRepo, *more: str) -> dict[str, Any]:
    document: dict[str, Any] = flow(repo, "goal", "evaluate", "greet", "--json", *more).json
    return document


@pytest.mark.parametrize("met", [True, False])
def test_unchanged_work_is_not_run_again_and_is_a_turn(work: GitRepo, met: bool) -> None:
    if met:
        scene.meet(work)
    first = evaluate(work, "--reuse")
    second = evaluate(work, "--reuse")
    assert counted(work) == 1
    assert [d["criterion_results"][0].get("reused", False) for d in (first, second)] == [
        False,
        True,
    ]
    assert (first["verdict"], second["verdict"]) == (
        ("achieved",) * 2 if met else ("not_achieved",) * 2
    )
    assert [d["lifecycle"]["turns_evaluated"] for d in (first, second)] == [1, 2]
    refs = [d["criterion_results"][0]["evidence_ref"] for d in (first, second)]
    assert refs[0] == refs[1]
    shown = flow(work, "goal", "evaluate", "greet", "--reuse").stdout
    assert "reused" in shown
    event = flow(work, "goal", "history", "greet", "--json").json["events"][-1]
    assert (event["type"], event["reused"]) == ("evaluated", ["AC1"])


def test_what_changed_runs_and_without_the_option_everything_does(work: GitRepo) -> None:
    scene.meet(work)
    evaluate(work)
    evaluate(work)
    assert counted(work) == 2
    work.write("src/more.txt", "x\n")
    row = evaluate(work, "--reuse")["criterion_results"][0]
    assert (counted(work), "reused" in row) == (3, False)


def test_the_evidence_of_a_stop_stands_for_a_run_and_turns_go_on_counting(
    work: GitRepo, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    scene.meet(work)
    assert stop(work, capfd)
    assert counted(work) == 1
    assert stop(work, capfd)  # quiet: the goal's file has it already
    document = evaluate(work, "--reuse")
    assert counted(work) == 1
    assert document["lifecycle"]["turns_evaluated"] == 3
    assert document["proposed_transition"]["to"] == "achieved"


@pytest.mark.parametrize("more", [("--repeat", "2"), ("--run-id", "new")])
def test_what_measures_anew_reuses_nothing(work: GitRepo, more: tuple[str, ...]) -> None:
    done = flow(work, "goal", "evaluate", "greet", "--reuse", *more)
    assert (done.status, counted(work)) == (2, 0)
    assert "--reuse excludes" in done.stderr


def test_altered_evidence_stands_for_nothing(work: GitRepo) -> None:
    scene.meet(work)
    evaluate(work)
    (file,) = scene.run_dir(work).glob("evidence/evidence-ac1-eval-1.evidence.yaml")
    file.write_text(file.read_text() + "# more\n")
    evaluate(work, "--reuse")
    assert counted(work) == 2
