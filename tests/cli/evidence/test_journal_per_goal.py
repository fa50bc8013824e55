"""A journal for each goal that has no issue; those of days go on being read (SPEC 17.11)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from flow.adapters.journal import parts
from tests.support import run_flow, scene
from tests.support.made_once.replay import replay_flow
from tests.support.scene import flow

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import GitRepo

JOURNAL, SECOND = ".decisions/goal-greet.md", ".decisions/goal-greet.2.md"


def create(repo: GitRepo, goal: str = "greet") -> GitRepo:
    """An active goal without an issue."""
    words = ("goal", "create", goal, "--outcome", "polite", "--criterion", scene.PASSES)
    done = replay_flow(*words, "--allow", "src/**", cwd=repo.path)
    assert done.status == 0, done
    return repo


def entries(repo: GitRepo, goal: str = "greet") -> list[str]:
    document = flow(repo, "journal", "show", "--goal", goal, "--json").json
    return [artifact["type"] for artifact in document["artifacts"]]


def fill(repo: GitRepo, rel: str) -> None:
    size = (repo.path / rel).stat().st_size
    with open(repo.path / rel, "a", encoding="utf-8") as file:
        file.write("x" * (parts.FULL - size))


def test_two_goals_of_one_day_have_two_journals(repo: GitRepo) -> None:
    create(create(scene.start(repo)), "other")
    assert sorted(os.listdir(repo.path / ".decisions")) == ["goal-greet.md", "goal-other.md"]
    assert "# Decision journal: goal greet" in repo.read(JOURNAL)
    scene.meet(repo)
    assert scene.confirm(repo).status == 0
    assert flow(repo, "evidence", "verify").status == 0
    assert "goal-status-change" in entries(repo) or len(entries(repo)) > 1
    assert len(entries(repo, "other")) == 1


def test_two_branches_merge_without_a_conflict(repo: GitRepo) -> None:
    scene.start(repo)
    for goal in ("greet", "other"):
        repo.git("switch", "-q", "-c", goal, "main")
        create(repo, goal)
        repo.commit(goal)
    repo.git("switch", "-q", "main")
    repo.git("merge", "-q", "greet")
    repo.git("merge", "-q", "other", "-m", "both")
    assert len(os.listdir(repo.path / ".decisions")) == 2


def test_both_sides_of_an_issues_journal_are_kept(repo: GitRepo) -> None:
    scene.start(repo)
    flow(repo, "init")
    flow(repo, "journal", "record", "--issue", "7", "--type", "start", "--metadata", "at=main")
    repo.commit("set up")
    for branch in ("one", "two"):
        repo.git("switch", "-q", "-c", branch, "main")
        words = ("--issue", "7", "--type", branch, "--metadata", f"on={branch}")
        assert flow(repo, "journal", "record", *words).status == 0
        repo.commit(branch)
    repo.git("merge", "-q", "one", "-m", "both")
    shown = flow(repo, "journal", "show", "--issue", "7", "--json").json["artifacts"]
    assert sorted(artifact["type"] for artifact in shown) == ["one", "start", "two"]
    assert all(artifact["captured_at"] for artifact in shown)


def test_a_full_journal_goes_on_in_a_second_part(repo: GitRepo) -> None:
    create(scene.start(repo))
    fill(repo, JOURNAL)
    before = repo.read(JOURNAL)
    scene.meet(repo)
    assert scene.confirm(repo).status == 0
    assert repo.read(JOURNAL) == before
    assert (repo.path / SECOND).exists()
    assert len(entries(repo)) > 2
    assert flow(repo, "evidence", "verify").status == 0


@pytest.mark.parametrize("name", [JOURNAL, SECOND])
def test_a_part_that_somebody_else_wrote_is_a_change(repo: GitRepo, name: str) -> None:
    create(scene.start(repo))
    repo.write(name, "whatever\n")
    scene.meet(repo)
    done = flow(repo, "goal", "evaluate", "greet", "--json")
    if name == JOURNAL:
        assert done.status in (2, 3)
    else:
        assert done.status == 3
        assert name in done.json["path_violations"][0]


def test_in_a_fresh_clone_the_journal_of_the_goal_is_no_change(
    repo: GitRepo, tmp_path: Path
) -> None:
    create(scene.start(repo))
    repo.commit("goal")
    scene.meet(repo)
    flow(repo, "goal", "evaluate", "greet")
    repo.commit("work")
    env = {"FLOW_STATE_DIR": str(tmp_path / "another")}
    digest = flow(repo, "goal", "inspect", "greet", "--json").json["contract"]
    words = ("goal", "evaluate", "greet", "--no-input", "--trust-digest", digest, "--json")
    clone = tmp_path / "clone"
    repo.git("clone", "-q", str(repo.path), str(clone))
    done = run_flow(*words, cwd=clone, env=env)
    assert done.json["path_violations"] == []
    other = clone / ".decisions/goal-another.md"
    other.write_bytes((clone / JOURNAL).read_bytes())
    done = run_flow(*words, cwd=clone, env=env)
    assert "goal-another.md" in done.json["path_violations"][0]


def test_a_days_journal_of_before_goes_on_being_read(repo: GitRepo) -> None:
    create(scene.start(repo))
    (repo.path / JOURNAL).rename(repo.path / ".decisions/session-2026-01-31.md")
    before = entries(repo)
    assert before
    scene.meet(repo)
    done = flow(repo, "goal", "evaluate", "greet", "--json")
    assert done.json["path_violations"] == []
    assert entries(repo) != before
    assert (repo.path / ".decisions/session-2026-01-31.md").exists()
    assert flow(repo, "evidence", "verify").status == 0


def test_a_days_journal_in_two_parts_is_read_as_one(repo: GitRepo) -> None:
    create(scene.start(repo))
    day = repo.path / ".decisions/session-2026-01-31.md"
    text = repo.read(JOURNAL)
    day.write_text(text)
    day.with_name("session-2026-01-31.2.md").write_text(text.replace("goal-created", "second"))
    (repo.path / JOURNAL).unlink()
    assert entries(repo) == ["goal-created", "second"]
