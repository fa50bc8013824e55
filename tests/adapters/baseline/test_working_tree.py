"""The files of a checkout against what a goal pinned: what is only shown, and what is swept."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flow.adapters.baseline import work_folder
from flow.errors import FlowError, GitError
from flow.wiring.context import Context
from tests.support import GitRepo, scene


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    return scene.create(scene.start(repo))


def changed(repo: GitRepo) -> list[str]:
    context = Context(str(repo.path))
    _, snapshot = context.tree.shown(context.load("greet").goal)
    return [change.path for change in snapshot.changes]


def to_commit(repo: GitRepo) -> bool:
    context = Context(str(repo.path))
    return context.tree.anything_to_commit(context.load("greet").goal)


def test_what_is_shown_is_compared_with_the_goals_base(work: GitRepo) -> None:
    assert "src/greet.txt" not in changed(work)
    scene.meet(work)
    assert "src/greet.txt" in changed(work)
    work.commit("polite")
    assert "src/greet.txt" in changed(work)


def test_whether_there_is_anything_to_commit(
    work: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    work.commit("the goal itself")
    assert not to_commit(work)
    scene.meet(work)
    assert to_commit(work)
    work.commit("polite")
    assert not to_commit(work)
    scene.meet(work)
    work.write("src/other.txt", "x\n")
    assert to_commit(work)
    context = Context(str(work.path))

    def broken(*_: object) -> None:
        raise GitError("git cannot say")

    monkeypatch.setattr(context.tree, "snapshot", broken)
    assert not context.tree.anything_to_commit(context.load("greet").goal)


def test_what_killed_calls_left_is_removed(work: GitRepo) -> None:
    context = Context(str(work.path))
    context.tree.sweep()  # nothing was ever there
    with work_folder.new_folder(context.state_dir) as at_work:
        dead = Path(context.state_dir, "work", f"{work_folder.TEMP_PREFIX}dead")
        dead.mkdir(mode=0o700)
        (dead / "file").write_text("x")
        context.tree.sweep()
        assert (dead.exists(), os.path.exists(at_work)) == (False, True)


def test_without_a_state_folder_that_can_be_used_no_call_is_stopped(work: GitRepo) -> None:
    context = Context(str(work.path), {"PATH": os.defpath})  # no home
    with pytest.raises(FlowError):
        _ = context.state_dir
    context.tree.sweep()
