"""``--output``: a file of the user's is there whole, as it was or as it is to be."""

from __future__ import annotations

import os
import resource
import signal
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flow.cli.output_file import write_out
from flow.errors import InputError, StorageError
from tests.support import GitRepo
from tests.support.scene import create, flow, propose, start

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def full_disk() -> Iterator[None]:
    """No file may grow beyond 100 bytes: not even pytest's own, so for as long as it takes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_new_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_out(str(path), "one é", "page", off_limits=())
    path.chmod(0o600)
    write_out(str(path), "two", "page", off_limits=())
    assert path.read_text(encoding="utf-8") == "two"
    assert path.stat().st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path) == ["page.html"]


def test_what_does_not_fit_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # it is cut off, and taken for whole
    path = tmp_path / "page.html"
    path.write_text("as it was")
    failing = pytest.raises(StorageError, match="cannot write the page")
    with failing as raised, full_disk():
        write_out(str(path), "x" * 1000, "page", off_limits=())
    assert (raised.value.fault.file, raised.value.fault.key) == (str(path), "--output")
    assert path.read_text() == "as it was"
    assert os.listdir(tmp_path) == ["page.html"]


@pytest.mark.parametrize("name", ["link", "gone", "folder", "new/", "no/such/file", "nul\0"])
def test_what_is_no_file_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "kept").write_text("kept")
    (tmp_path / "link").symlink_to("kept")
    (tmp_path / "gone").symlink_to("nowhere")
    (tmp_path / "folder").mkdir()
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(InputError, match="cannot write the bundle: ") as raised:
        write_out(f"{tmp_path}/{name}", "text", "bundle", off_limits=())
    assert raised.value.fault.value == f"{tmp_path}/{name}"
    assert raised.value.fault.remedy == "name a file, in a folder that is there"
    assert sorted(os.listdir(tmp_path)) == before
    assert (tmp_path / "kept").read_text() == "kept"


@pytest.mark.parametrize("words", [("report", "greet"), ("evidence", "export", "greet")])
def test_a_folder_is_bad_input(repo: GitRepo, tmp_path: Path, words: tuple[str, ...]) -> None:
    propose(create(start(repo)))
    done = flow(repo, *words, "--output", str(tmp_path), "--json")
    error = done.json["error"]
    assert (done.status, error["key"], error["value"]) == (2, "--output", str(tmp_path)), done
    assert "Is a directory" in error["message"]


@pytest.mark.parametrize("words", [("report", "greet"), ("report", "--all")])
@pytest.mark.parametrize("name", ["", "file/in/it", "n" * 300], ids=["none", "below", "long"])
def test_no_report_goes_elsewhere_than_was_said(
    repo: GitRepo, words: tuple[str, ...], name: str
) -> None:
    create(start(repo))
    repo.write("file", "")
    done = flow(repo, *words, "--output", name, "--json")
    assert (done.status, done.json["error"]["key"]) == (2, "--output"), done


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    write_out(str(path), "text", "bundle", off_limits=())
    assert os.read(reader, 100) == b"text"
    os.close(reader)
    with pytest.raises(StorageError):  # nobody reads it: that is not waited for
        write_out(str(path), "text", "bundle", off_limits=())


@pytest.fixture
def scene(repo: GitRepo, tmp_path: Path) -> GitRepo:
    """An active goal, a linked worktree, a second repository, and links to all of Flow's own."""
    create(start(repo))
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"))
    GitRepo.init(tmp_path / "second")
    GitRepo.init(tmp_path / "bare.git", "--bare")
    (repo.path / "to-git").symlink_to(".git")
    (repo.path / "to-head").symlink_to(".git/HEAD")
    (repo.path / "to-goals").symlink_to(".flow/goals")
    (repo.path / "journals").symlink_to(".decisions")
    return repo


OWN = [
    ".flow/page.html",
    ".flow/goals/greet.goal.yaml",
    ".flow/new/deep/page.html",
    ".flow",
    ".FLOW/page.html",
    "src/../.flow/goals/greet.goal.yaml",
    "to-goals/greet.goal.yaml",
    "to-goals/../runs/x",
    ".git/HEAD",
    ".git/hooks/pre-commit",
    "to-git/config",
    "to-head",
    ".decisions/issue-7.md",
    ".decisions/page.html",
    "journals/issue-7.md",
    "{tmp}/linked/.git",
    "{tmp}/linked/.flow/page.html",
    "{tmp}/second/.git/config",
    "{tmp}/bare.git/HEAD",
    "{tmp}/bare.git/hooks/post-receive",
    "{state}/goal-trust.jsonl",
    "{state}/new/page.html",
    "{home}/.claude/flow-state/goal-trust.jsonl",
]


@pytest.mark.parametrize("command", [("report", "greet"), ("evidence", "export", "greet")])
def test_no_output_lies_where_only_flow_and_git_write(
    scene: GitRepo, tmp_path: Path, command: tuple[str, ...]
) -> None:
    state, home = Path(os.environ["FLOW_STATE_DIR"]), os.environ["HOME"]

    def content() -> dict[Path, bytes]:
        folders = (tmp_path, state, scene.path)
        found = (file for folder in folders for file in folder.rglob("*"))
        return {
            file: file.read_bytes()
            for file in found
            if file.is_file() and "cache" not in file.parts
        }

    before = content()
    for name in OWN:
        place = name.format(tmp=tmp_path, state=state, home=home)
        done = flow(scene, *command, "--output", place)
        assert done.status == 2, (name, done.stdout, done.stderr)
        assert "only Flow and git write" in done.stderr, name
    assert content() == before


@pytest.mark.parametrize("place", [".claude/settings.json", "{home}/.claude/settings.flow.json"])
@pytest.mark.parametrize("command", [("report", "greet"), ("evidence", "export", "greet")])
def test_no_output_takes_the_place_of_settings(
    scene: GitRepo, command: tuple[str, ...], place: str
) -> None:
    path = scene.path / place.format(home=os.environ["HOME"])
    path.parent.mkdir(exist_ok=True)
    path.write_text("{}")
    done = flow(scene, *command, "--output", str(path))
    assert (done.status, "is a file of settings" in done.stderr) == (2, True), done
    assert path.read_text() == "{}"


def test_the_journal_folder_of_the_settings_counts(scene: GitRepo) -> None:
    scene.write(".claude/settings.flow.json", '{"journal": {"dir": "notes"}}')
    scene.write("notes/a.md")
    for name in ("notes/page.html", ".decisions/page.html"):
        assert flow(scene, "report", "greet", "--output", name).status == 2


def test_from_a_linked_worktree_and_with_a_git_folder_apart(tmp_path: Path) -> None:
    apart = tmp_path / "apart"
    work = create(start(GitRepo.init(tmp_path / "work", f"--separate-git-dir={apart}")))
    for name in ("../apart/HEAD", "../apart/new/page.html", ".git"):
        done = flow(work, "report", "greet", "--output", name)
        assert (done.status, "only Flow and git" in done.stderr) == (2, True), name


def test_everywhere_else_is_fine(scene: GitRepo, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    scene.git("push", "-q", str(bare), "HEAD:refs/heads/other")
    GitRepo(bare).git("worktree", "add", "-q", str(bare / "tree"), "other")
    for place in (
        scene.path / "page.html", scene.path / ".github/page.html", tmp_path / "page.html",
        bare / "tree/page.html", tmp_path / "second/page.html", scene.path / "src/flow.html",
    ):  # fmt: skip
        place.parent.mkdir(exist_ok=True)
        done = flow(scene, "report", "greet", "--output", place)
        assert done.status == 0, done.stderr
        assert place.read_text()
