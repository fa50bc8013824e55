"""What keeps a journal from taking an entry is told before any command runs, and mended by hand."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from flow.adapters.journal import parts, store
from flow.adapters.setup import doctor_setup
from tests.support import GitRepo, scene
from tests.support.scene import flow
from tests.support.stops import settings, stop

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.made_once.stage import Stage

FIRST, SECOND = ".decisions/issue-7.md", ".decisions/issue-7.2.md"


def fill(path: Path, size: int = parts.FULL) -> None:
    """Make a journal file ``size`` bytes long by text below its front matter."""
    path.write_bytes(path.read_bytes().ljust(size, b"x"))


def _is_link(path: Path) -> None:
    path.symlink_to(path.parent.parent / "src/greet.txt")


def _is_broken(path: Path) -> None:
    path.write_text("---\nissue: [\n---\n")


def _is_unended(path: Path) -> None:
    path.write_text("---\nissue: 7\n")


def _is_utf16(path: Path) -> None:
    path.write_bytes("---\n".encode("utf-16"))


OBSTACLES: dict[str, Callable[[Path], None]] = {
    "symlink": _is_link,
    "folder": lambda path: path.mkdir(),
    "pipe": os.mkfifo,
    "broken": _is_broken,
    "unended": _is_unended,
    "utf16": _is_utf16,
}


class Ran:
    """How often the goal's command ran."""

    def __init__(self, file: Path) -> None:
        self._file = file

    @property
    def times(self) -> int:
        return len(self._file.read_text()) if self._file.exists() else 0


@pytest.fixture
def repo(stage: Stage) -> GitRepo:
    """A goal that is met."""
    repo, count = stage.repo, stage.folder / "count"

    def make() -> None:
        command = f"AC1: polite :: printf . >>'{count}'; grep -q please src/greet.txt"
        scene.create(scene.start(GitRepo.init(repo.path)), criterion=command)
        scene.meet(repo)

    stage.begin(make)
    return repo


@pytest.fixture
def ran(repo: GitRepo, stage: Stage) -> Ran:
    """How often the command of the goal ran."""
    return Ran(stage.folder / "count")


def obstruct(repo: GitRepo, place: str, kind: str) -> Path:
    """Put something in the way of the next entry."""
    if place == SECOND:
        fill(repo.path / FIRST)
    else:
        (repo.path / FIRST).unlink()
    OBSTACLES[kind](repo.path / place)
    return repo.path / place


def clear_away(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


@pytest.mark.parametrize("place", [FIRST, SECOND])
def test_an_evaluation_tells_it_before_anything_runs(repo: GitRepo, ran: Ran, place: str) -> None:
    before, first = scene.goal_file(repo), (repo.path / FIRST).read_bytes()
    for kind in OBSTACLES:
        obstacle = obstruct(repo, place, kind)
        done = flow(repo, "goal", "evaluate", "greet", "--json")
        assert done.status == 2, (kind, done)
        assert done.json["error"]["file"] == place
        assert done.json["error"]["remedy"]
        refused = flow(repo, "goal", "clear", "greet", "--yes", "--json")
        assert (refused.status, refused.json["error"]["file"]) == (2, place), kind
        assert ran.times == 0
        assert scene.goal_file(repo) == before
        clear_away(obstacle)
        (repo.path / FIRST).write_bytes(first)
    clear_away(obstruct(repo, place, "symlink"))
    assert scene.confirm(repo).status == 0
    assert ran.times == 1
    assert flow(repo, "evidence", "verify").status == 0


def test_a_stop_that_has_something_to_record_names_it(
    repo: GitRepo, ran: Ran, stage: Stage, capfd: pytest.CaptureFixture[str]
) -> None:
    """It looks after the commands: what is as it was before goes into no journal."""
    settings(stage.home, stopHookEnforcement="block")
    before = scene.goal_file(repo)
    for kind in OBSTACLES:
        obstacle = obstruct(repo, SECOND, kind)
        assert SECOND in stop(repo, capfd)["systemMessage"], kind
        assert scene.goal_file(repo) == before
        clear_away(obstacle)
    assert SECOND not in stop(repo, capfd)["systemMessage"]
    assert (repo.path / SECOND).exists()


def test_a_dry_run_writes_no_journal_and_needs_none(repo: GitRepo, ran: Ran) -> None:
    obstruct(repo, SECOND, "broken")
    done = flow(repo, "goal", "evaluate", "greet", "--dry-run", "--only", "AC1", "--json")
    assert done.status in (0, 3), done
    assert ran.times == 1


def test_a_waiting_goal_is_not_resumed_into_it(repo: GitRepo, ran: Ran) -> None:
    assert flow(repo, "goal", "pause", "greet").status == 0
    obstruct(repo, SECOND, "symlink")
    assert flow(repo, "goal", "evaluate", "greet").status == 2
    assert scene.status(repo) == "waiting_for_user"
    assert ran.times == 0


@pytest.mark.parametrize(
    ("size", "missing"), [(parts.FULL, 0), (store.LIMIT, 0), (store.LIMIT, -1)]
)
def test_at_every_limit_a_goal_is_evaluated_confirmed_and_cleared(
    repo: GitRepo, ran: Ran, size: int, missing: int
) -> None:
    """A byte less and more, and entries of each size: ``tests/adapters/journal/test_parts.py``."""
    fill(repo.path / FIRST, size - missing)
    readable = size - missing <= store.LIMIT  # only a hand makes a larger one
    assert scene.confirm(repo).status == (0 if readable else 3)
    assert ran.times == 1
    assert flow(repo, "goal", "clear", "greet", "--yes").status == (2 if readable else 0)
    scene.create(repo, "second")
    latest = repo.path / (SECOND if (repo.path / SECOND).exists() else FIRST)
    fill(latest, size - missing)
    assert flow(repo, "goal", "clear", "second", "--yes").status == 0
    shown = flow(repo, "journal", "show", "--issue", "7", "--json")
    if not readable:
        assert (shown.status, shown.json["error"]["file"]) == (2, FIRST)
        return
    types = [artifact["type"] for artifact in shown.json["artifacts"]]
    assert types.count("goal-created") == 2
    assert len(types) >= 5
    assert flow(repo, "evidence", "verify").status == 0


def test_many_files_are_read_in_order(repo: GitRepo, ran: Ran) -> None:
    """As after many thousand evaluations of one issue."""
    text = (repo.path / FIRST).read_text()
    item = text[text.index("  - type") : text.index("---\n", 4)]
    for number in range(1, 31):
        many = item * (parts.FULL // len(item) + 1)
        numbered = many.replace("source:", f"number: {number}\n    source:")
        name = FIRST if number == 1 else FIRST.replace(".md", f".{number}.md")
        (repo.path / name).write_text(text.replace(item, numbered))
    assert scene.confirm(repo, "--json").status == 3  # nobody knows who wrote these
    assert (repo.path / ".decisions/issue-7.31.md").exists()
    artifacts = flow(repo, "journal", "show", "--issue", "7", "--json").json["artifacts"]
    numbers = [artifact["number"] for artifact in artifacts if "number" in artifact]
    assert numbers == sorted(numbers)
    assert set(numbers) == set(range(1, 31))
    assert flow(repo, "goal", "clear", "greet", "--yes").status == 0


def test_a_missing_file_is_named_and_the_later_ones_are_read(repo: GitRepo, ran: Ran) -> None:
    fill(repo.path / FIRST)
    flow(repo, "goal", "evaluate", "greet")
    fill(repo.path / SECOND)
    repo.write("src/greet.txt", "please do\n")
    flow(repo, "goal", "evaluate", "greet")
    (repo.path / SECOND).unlink()
    shown = flow(repo, "journal", "show", "--issue", "7", "--json")
    assert shown.status == 0
    assert shown.json["warnings"] == [f"{SECOND} is missing"]
    assert [a["type"] for a in shown.json["artifacts"]] == ["goal-created", "goal-evaluation"]


def found(repo: GitRepo) -> list[str]:
    """What ``flow doctor`` finds about journals."""
    rows = flow(repo, "doctor", "--json").json["findings"]
    return [f"{row['what']}: {row['do']}" for row in rows if ".decisions" in row["what"]]


def test_doctor_names_a_file_that_is_near_its_limit(repo: GitRepo, ran: Ran) -> None:
    for size, told in (
        (store.LIMIT * 3 // 4, ""),
        (store.LIMIT * 3 // 4 + 1, "has 2359297 bytes: move text"),
        (store.LIMIT, "has 3145728 bytes: move text"),
        (store.LIMIT + 1, "is larger than 3145728 bytes"),
    ):
        fill(repo.path / FIRST, size)
        lines = found(repo)
        assert len(lines) == bool(told), size
        assert told in "".join(lines)


def test_doctor_names_a_missing_file(repo: GitRepo, ran: Ran) -> None:
    text = (repo.path / FIRST).read_text()
    repo.write(".decisions/notes.2.md", "a person's own\n")
    assert found(repo) == []
    repo.write(".decisions/issue-7.4.md", text)
    (line,) = found(repo)
    assert line.startswith(f"{SECOND} is missing, and .decisions/issue-7.4.md is there: ")
    repo.write(".decisions/issue-8.2.md", text)
    assert any(line.startswith(".decisions/issue-8.md is missing") for line in found(repo))


def test_doctor_counts_the_files(repo: GitRepo, ran: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(8, 16):
        repo.write(f".decisions/issue-{number}.md", "---\nissue: 8\n---\n")
    monkeypatch.setattr(doctor_setup, "MOST_FILES", 12)
    assert found(repo) == []
    monkeypatch.setattr(doctor_setup, "MOST_FILES", 11)
    (line,) = found(repo)
    assert line == ".decisions/ holds 9 files: move those of closed goals to another folder"
    monkeypatch.setattr(doctor_setup, "MOST_FILES", 8)
    assert "more than 8" in "".join(found(repo))


def test_doctor_removes_what_is_left_over_beside_many_files(repo: GitRepo, ran: Ran) -> None:
    """All files of a journal share one lock, which is taken once."""
    fill(repo.path / FIRST)
    flow(repo, "goal", "evaluate", "greet")
    left = repo.path / ".decisions" / f".flow-tmp-{'a' * 18}"
    left.write_text("half")
    done = flow(repo, "doctor", "--fix", "--json")
    assert not left.exists(), done
    assert any(str(left.name) in text for text in done.json["fixed"])
