"""The inbox's index: what it says never differs from the files, and it saves the work."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flow.adapters.contracts import formats
from flow.adapters.fs import combined_stamp
from flow.adapters.process import tool
from tests.cli.inbox.test_whose_turn import HISTORIES, STEPS, check, come_to, scene_of
from tests.support import GitRepo, effort, run_flow, scene
from tests.support.scene import flow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.made_once.stage import Stage


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was written just now counts as settled, so that the index is used at all."""
    monkeypatch.setattr(combined_stamp, "RACY_NS", -(1 << 62))


def index() -> Path:
    return Path(os.environ["FLOW_STATE_DIR"]) / "inbox.sqlite"


def rows(repo: GitRepo, *words: str) -> list[dict[str, Any]]:
    done = flow(repo, "inbox", "--json", *words)
    assert done.status == 0, done.stderr
    items: list[dict[str, Any]] = done.json["items"]
    return items


def assert_true(repo: GitRepo, *words: str) -> None:
    """The rows with the index are those without it."""
    shown = rows(repo, *words)
    index().unlink(missing_ok=True)
    assert shown == rows(repo, *words)


SHOWN = {tuple(steps.split()): shown for steps, shown in HISTORIES.values()}
BEGINNINGS = {steps[:length] for steps in SHOWN for length in range(len(steps) + 1)}
"""Each history as far as any of its steps: many begin with the same ones."""


@pytest.mark.parametrize("steps", sorted(BEGINNINGS), ids=" ".join)
def test_after_each_change_of_a_history(stage: Stage, steps: tuple[str, ...]) -> None:
    """The last of them: the index is of just before it. At the end it is asked whose turn it is."""
    repo = come_to(stage, steps[:-1])
    rows(repo, "--repo", ".")
    for name in steps[-1:]:
        STEPS[name](repo)
    assert_true(repo, "--repo", ".")
    if steps in SHOWN:
        assert check(repo, stage.own) == SHOWN[steps]


@effort.examples(5)
@given(steps=st.lists(st.sampled_from(sorted(STEPS)), min_size=2, max_size=6))
def test_after_any_changes(tmp_path_factory: pytest.TempPathFactory, steps: list[str]) -> None:
    before, combined_stamp.RACY_NS = combined_stamp.RACY_NS, -(1 << 62)
    try:
        repo = scene_of(tmp_path_factory.mktemp("walk"))
        assert_true(repo, "--repo", ".")
        for name in steps:
            STEPS[name](repo)
            assert_true(repo, "--repo", ".")
    finally:
        combined_stamp.RACY_NS = before


def changes(repo: GitRepo, tmp_path: Path) -> Iterator[str]:
    """Every kind of change that no step of a history is; done before its name is told."""
    scene.propose(repo)
    yield "proposed"
    repo.write(".claude/settings.flow.json", '{"deniedPaths": ["src/*.md"]}')
    yield "settings"
    (repo.path / ".claude/settings.flow.json").unlink()
    yield "settings gone"
    repo.git("config", "core.autocrlf", "input")
    yield "git's settings"
    repo.git("config", "--unset", "core.autocrlf")
    (repo.path / ".git/info").mkdir(exist_ok=True)
    repo.write(".git/info/exclude", "src/*.o\n")
    yield "what git ignores"
    (repo.path / ".git/info/exclude").unlink()
    repo.write("src/new/deep/file.txt", "new")
    yield "a new file deep below"
    (repo.path / "src/new/deep/file.txt").unlink()
    yield "and gone"
    repo.git("add", "-A")
    yield "staged"
    repo.commit("all")
    yield "committed"
    repo.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "tree"))
    yield "a worktree"
    tree = GitRepo(tmp_path / "tree")
    scene.create(tree, "second")
    yield "a goal in the worktree"
    tree.commit("second")
    yield "committed there"
    repo.git("worktree", "remove", "--force", str(tree.path))
    yield "the worktree is gone, its branch is not"
    repo.git("branch", "-q", "-D", "other")
    yield "the branch is gone"
    repo.git("checkout", "-q", "--detach")
    yield "a detached HEAD"
    repo.git("checkout", "-q", "main")
    repo.write(".flow/goals/torn.goal.yaml", "kind: [")
    yield "a goal that cannot be read"
    (repo.path / ".flow/goals/torn.goal.yaml").unlink()
    yield "and gone"
    repo.git("switch", "-q", "-c", "evil")
    repo.write(".flow/goals/evil.goal.yaml", "kind: [")
    repo.commit("evil")
    yield "a goal that cannot be read, committed"
    repo.git("switch", "-q", "main")
    yield "on another branch now"
    repo.git("branch", "-q", "-D", "evil")
    yield "whose branch is gone"
    os.chmod(repo.path / "src/greet.txt", 0o755)
    yield "a mode"
    flow(repo, "goal", "forget", "greet")
    yield "forgotten"


def test_after_every_kind_of_change(repo: GitRepo, tmp_path: Path) -> None:
    scene.start(repo)
    repo.git("branch", "-q", "-M", "main")
    scene.create(repo)
    for name in changes(repo, tmp_path):
        try:
            assert_true(repo)
        except AssertionError as error:
            raise AssertionError(name) from error


@pytest.fixture
def fleet(stage: Stage) -> list[GitRepo]:
    """Three repositories with goals, one of them with a worktree and a branch not checked out."""
    repos = [GitRepo(stage.folder / name) for name in ("repo", "a", "b")]

    def make() -> None:
        for each in repos:
            scene.start(GitRepo.init(each.path))
            scene.create(each, "second")
            flow(each, "goal", "clear", "second", "--yes")
            scene.create(each)
            each.commit("goals")
            scene.propose(each)
        repos[0].git("branch", "-q", "aside")
        repos[0].git("worktree", "add", "-q", "-b", "other", str(stage.folder / "tree"))

    stage.begin(make)
    return repos


class Work:
    """What was done: goal files parsed, processes started."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.parsed: list[str] = []
        self.started: list[tuple[str, ...]] = []
        read_goal, run_tool = formats.read_goal, tool.run_tool

        def reading(*args: Any, **more: Any) -> Any:
            self.parsed.append(more["file"])
            return read_goal(*args, **more)

        def running(argv: Any, **more: Any) -> Any:
            self.started.append(tuple(argv))
            return run_tool(argv, **more)

        monkeypatch.setattr(formats, "read_goal", reading)
        monkeypatch.setattr(tool, "run_tool", running)

    def taken(self) -> tuple[int, int]:
        counts = len(self.parsed), len(self.started)
        self.parsed.clear()
        self.started.clear()
        return counts


def test_nothing_is_read_again_where_nothing_changed(
    fleet: list[GitRepo], monkeypatch: pytest.MonkeyPatch
) -> None:
    work = Work(monkeypatch)
    first = rows(fleet[0])
    assert work.taken() > (5, 2)
    assert rows(fleet[0]) == first
    assert work.taken() == (0, 0)
    fleet[1].write("src/greet.txt", "please, please\n")
    assert rows(fleet[0]) != first
    parsed, _ = work.taken()
    assert parsed == 1, "the goal whose files changed, and no other"
    rows(fleet[0])
    assert work.taken() == (0, 0)
    flow(fleet[2], "trust", "revoke", "greet")
    work.taken()
    rows(fleet[0])
    assert work.taken()[0] == 1, "the goal that is trusted no longer, and no other"


def test_what_was_written_just_now_is_not_believed(
    fleet: list[GitRepo], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next change might have the same stamp."""
    monkeypatch.setattr(combined_stamp, "RACY_NS", 1 << 62)
    work = Work(monkeypatch)
    rows(fleet[0])
    parsed, started = work.taken()
    rows(fleet[0])
    again = work.taken()
    assert again[0] == parsed > 0
    assert again[1] > 0 < started  # git, whose answers on two commits are kept elsewhere


def spoil(file: Path, fault: str, elsewhere: Path) -> None:
    if fault in ("folder", "link"):
        file.unlink()
    if fault == "torn":
        file.write_bytes(file.read_bytes()[:5000] + b"\0" * 2000)
    elif fault == "empty":
        file.write_bytes(b"")
    elif fault == "other":
        file.write_bytes(b"no database at all" * 100)
    elif fault == "values":
        with sqlite3.connect(file) as connection:
            connection.execute("UPDATE kept SET value = '[1, {\"x\": []}]' WHERE key <> ''")
        connection.close()
    elif fault == "version":
        with sqlite3.connect(file) as connection:
            connection.execute("UPDATE kept SET value = '0 0.0.0' WHERE key = ''")
            connection.execute("UPDATE kept SET value = '{}' WHERE key <> ''")
        connection.close()
    elif fault == "folder":
        file.mkdir()
    elif fault == "link":
        file.symlink_to(elsewhere)
    else:
        file.chmod(0o666)


FAULTS = ("torn", "empty", "other", "values", "version", "open", "link", "folder")


def test_an_index_that_cannot_be_used(fleet: list[GitRepo], tmp_path: Path) -> None:
    """Nor is one that another version made; it is made anew, and then used."""
    shown = rows(fleet[0])
    for fault in FAULTS:
        spoil(index(), fault, tmp_path / "elsewhere")
        assert rows(fleet[0]) == shown, fault
        assert rows(fleet[0]) == shown, fault
        if index().is_symlink() or fault == "open":
            index().unlink()
            assert rows(fleet[0]) == shown
    assert not (tmp_path / "elsewhere").exists()


def test_a_locked_index(fleet: list[GitRepo]) -> None:
    shown = rows(fleet[0])
    connection = sqlite3.connect(index(), isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    fleet[1].write("src/greet.txt", "please, please\n")
    assert len(rows(fleet[0])) == len(shown)
    connection.execute("ROLLBACK")
    connection.close()
    assert_true(fleet[0])


def test_what_is_gone_leaves_the_index(fleet: list[GitRepo], tmp_path: Path) -> None:
    rows(fleet[0])
    assert run_flow("inbox", "forget", str(fleet[2].path), cwd=tmp_path).status == 0
    rows(fleet[0])
    with sqlite3.connect(index()) as connection:
        keys = [key for (key,) in connection.execute("SELECT key FROM kept")]
    connection.close()
    assert [key for key in keys if str(fleet[2].path) in key] == []
    assert [key for key in keys if str(fleet[1].path) in key]
