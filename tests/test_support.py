"""What the tests are built on, where a mistake in it would let other tests pass."""

from __future__ import annotations

import os
import shutil
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests import conftest
from tests.support import here, scene
from tests.support.gitrepo import GitRepo, head_of, refresh_index
from tests.support.made_once import replay

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.start import Ran


@pytest.mark.parametrize(("form", "id_bytes"), [("sha1", 20), ("sha256", 32)])
def test_a_copys_index_is_byte_for_byte_gits_own(form: str, id_bytes: int, tmp_path: Path) -> None:
    model = GitRepo.init(tmp_path / "model", f"--object-format={form}")
    (model.path / "link").symlink_to("nowhere")
    model.write("run.sh", mode=0o755)
    names = ["src/a.py", "ä/é", *("x" * length for length in range(1, 9))]  # every padding
    model.commit("one", **dict.fromkeys(names, "text\n"))
    copy = GitRepo(tmp_path / "copy")
    shutil.copytree(model.path, copy.path, symlinks=True)
    index = copy.path / ".git" / "index"
    copied = index.read_bytes()
    assert refresh_index(copy.path, id_bytes=id_bytes)
    ours = index.read_bytes()
    index.write_bytes(copied)
    copy.git("update-index", "-q", "--refresh")
    assert ours == index.read_bytes() != copied
    assert copy.status() == []


def test_an_index_of_another_form_is_left_to_git(repo: GitRepo) -> None:
    repo.commit("one", a="text\n")
    index = repo.path / ".git" / "index"
    for words in (["--assume-unchanged", "a"], ["--index-version", "4"]):
        repo.git("update-index", *words)
        before = index.read_bytes()
        assert not refresh_index(repo.path)
        assert index.read_bytes() == before
        repo.git("update-index", "--no-assume-unchanged", "a")


def test_the_head_is_the_one_that_git_says(repo: GitRepo) -> None:
    assert head_of(repo.path) is None  # a branch without a commit
    first = repo.commit("one", a="text\n")
    assert first == head_of(repo.path) == repo.git("rev-parse", "HEAD")
    repo.git("switch", "--quiet", "--detach")
    second = repo.commit("two", a="other\n")
    assert second == head_of(repo.path) == repo.git("rev-parse", "HEAD") != first
    repo.git("switch", "--quiet", "main")
    repo.git("pack-refs", "--all")
    assert head_of(repo.path) is None
    assert repo.head == first
    repo.git("worktree", "add", "--quiet", "../beside", second)
    beside = GitRepo(repo.path.parent / "beside")
    assert head_of(beside.path) is None
    assert beside.head == second


@pytest.fixture
def replaying(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[list[tuple[str, ...]]]:
    """The commands that are run in earnest while steps are put back."""
    commands: list[tuple[str, ...]] = []

    def run_flow(*words: str, **more: Any) -> Ran:
        commands.append(words)
        return here.run_flow(*words, **more)

    with monkeypatch.context() as patched, replay.places(tmp_path, home, monkeypatch=monkeypatch):
        patched.setattr(replay, "run_flow", run_flow)
        patched.setattr(replay, "_steps", {})
        yield commands


def everything_in(*folders: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.lstat().st_mode, path.read_bytes() if path.is_file() else b"")
        for folder in folders
        for path in folder.rglob("*")
        if path.name != "index"  # of git: it has the files' stamps
    }


def begin_again(repo: GitRepo, home: Path, **files: str) -> None:
    """The same repository at the same place, which no Flow has seen."""
    shutil.rmtree(repo.path, ignore_errors=True)
    shutil.rmtree(home / "flow-state", ignore_errors=True)
    GitRepo.init(repo.path).commit("start", **{"src/greet.txt": "give me that\n"})
    for name, text in files.items():
        repo.write(name, text)


def test_a_step_that_is_put_back_leaves_what_the_command_left(
    tmp_path: Path, home: Path, replaying: list[tuple[str, ...]]
) -> None:
    repo = GitRepo(tmp_path / "repo")
    begin_again(repo, home)
    scene.create(repo)
    created = everything_in(tmp_path, home)
    scene.meet(repo)
    proposal = scene.propose(repo)
    proposed = everything_in(tmp_path, home)
    assert len(replaying) == 2
    begin_again(repo, home)
    scene.create(repo)
    assert everything_in(tmp_path, home) == created
    scene.meet(repo)
    assert scene.propose(repo) == proposal
    assert everything_in(tmp_path, home) == proposed != created
    assert len(replaying) == 2
    done = scene.flow(repo, "goal", "confirm", "greet", "--proposal", proposal)
    assert done.status == 0, done.stderr
    assert repo.status()[0] == " M src/greet.txt"


def test_a_step_is_done_in_earnest_where_anything_is_another(
    tmp_path: Path,
    home: Path,
    replaying: list[tuple[str, ...]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    repo = GitRepo(tmp_path / "repo")

    def earnest(*more: str, **files: str) -> bool:
        replaying.clear()
        begin_again(repo, home, **files)
        scene.create(repo, "greet", *more)
        return bool(replaying)

    assert earnest()
    assert not earnest()
    assert earnest("--draft")
    assert earnest(more="a file")
    assert earnest(more="another")
    (home / "noted").touch()
    assert earnest()
    (home / "noted").chmod(0o600)
    assert earnest()
    monkeypatch.setenv("NO_COLOR", "1")
    assert earnest()
    assert not earnest()
    os.link(home / "noted", home / "also")  # which the one who puts it back would not know
    assert earnest()
    assert earnest()
    (home / "also").unlink()
    assert not earnest()
    shutil.copytree(home, tmp_path.parent / f"{tmp_path.name}-home")
    with pytest.MonkeyPatch.context() as outside:
        outside.setenv("HOME", str(tmp_path.parent / f"{tmp_path.name}-home"))
        assert earnest()
        assert earnest()
    assert not earnest()
    monkeypatch.setattr(scene, "PASSES", scene.PASSES)
    assert earnest()


PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


def told(
    monkeypatch: pytest.MonkeyPatch,
    outcomes: dict[str, str],
    *,
    worker: bool = True,
    **options: Any,
) -> list[str] | None:
    """Which reports of a test with these outcomes are sent; None where pytest itself does it."""
    sent: list[str] = []
    reports = [
        SimpleNamespace(when=when, passed=outcome == PASSED) for when, outcome in outcomes.items()
    ]
    monkeypatch.setattr(conftest, "runtestprotocol", lambda *_, **__: reports)
    option = SimpleNamespace(**{"verbose": 0, "xmlpath": None, "durations": None, **options})
    config = SimpleNamespace(option=option, **({"workerinput": {}} if worker else {}))
    ihook = SimpleNamespace(pytest_runtest_logreport=lambda report: sent.append(report.when))
    item: Any = SimpleNamespace(config=config, ihook=ihook)
    return sent if conftest.pytest_runtest_protocol(item, None) else None


@pytest.mark.parametrize(
    ("setup", "call", "teardown", "expected"),
    [
        (PASSED, PASSED, PASSED, ["call"]),
        (PASSED, FAILED, PASSED, ["call"]),
        (PASSED, SKIPPED, PASSED, ["call"]),
        (PASSED, PASSED, FAILED, ["call", "teardown"]),
        (PASSED, FAILED, FAILED, ["call", "teardown"]),
        (FAILED, None, PASSED, ["setup"]),
        (FAILED, None, FAILED, ["setup", "teardown"]),
        (SKIPPED, None, PASSED, ["setup"]),
    ],
)
def test_no_report_that_counts_is_kept_back(
    setup: str,
    call: str | None,
    teardown: str,
    expected: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outcomes = {"setup": setup, **({"call": call} if call else {}), "teardown": teardown}
    assert told(monkeypatch, outcomes) == expected


@pytest.mark.parametrize(
    "more", [{"worker": False}, {"verbose": 1}, {"xmlpath": "x"}, {"durations": 3}]
)
def test_who_asks_for_more_gets_all(more: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(monkeypatch, {"setup": PASSED}, **more) is None


def test_each_form_names_what_it_leaves_out() -> None:
    def lines(*chosen: str) -> list[str]:
        config: Any = SimpleNamespace(getoption=lambda name: name in chosen)
        return conftest.left_out_by_choice(config)

    assert lines("--long") == []
    assert [line.partition(":")[0] for line in lines()] == ["without --long"]
    _, slow, outside = lines("--fast")
    assert slow.endswith("wiring: tests marked slow")
    assert "api, cli, docs, e2e, faults" in outside
    assert "test_growth.py" in outside
    assert "adapters" not in outside
