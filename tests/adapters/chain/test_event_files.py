"""A run's events in several files: rolled over at the limit, read in order, one chain."""

from __future__ import annotations

import errno
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from flow.adapters.chain import event_chain, event_files, event_log
from flow.core import layout
from flow.errors import StorageError
from tests.faults.broken_calls import failing, killed
from tests.support import GitRepo, scene
from tests.support.scene import flow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.support.stage import Stage

NOW = "2026-03-01T10:15:00Z"
RUN = ".flow/runs/r1"
LINE = 400
"""Bytes of a line that :func:`add` writes."""


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that are full after ten lines."""
    monkeypatch.setattr(event_files, "FULL", 10 * LINE)
    monkeypatch.setattr(event_log, "READ_LIMIT", 10 * LINE * 5 // 4)


def add(root: Path, count: int = 1, size: int = LINE, kind: str = "x") -> None:
    """Append events, each with a line of so many bytes."""
    for _ in range(count):
        seq = event_log.last_seq(str(root), "r1") + 1
        bare = {"at": NOW, "seq": seq, "type": kind, "goal_id": "g", "pad": ""}
        fixed = len(event_log.text({**bare, "prev": "0" * 64, "hash": "0" * 64})) + 1
        pad = "p" * (size - fixed)
        event_log.append(str(root), "r1", "g", kind, {"pad": pad}, at=NOW)


def names(root: Path) -> list[str]:
    return sorted(name for name in os.listdir(root / RUN) if name.startswith("events"))


def seqs(root: Path) -> list[int]:
    events, warnings = event_log.read(str(root), "r1")
    assert warnings == ()
    return [event["seq"] for event in events]


@pytest.mark.parametrize(("last", "rolled"), [(LINE - 1, False), (LINE, False), (LINE + 1, True)])
def test_a_file_is_full_at_its_limit(tmp_path: Path, last: int, rolled: bool) -> None:
    add(tmp_path, 9)
    add(tmp_path, size=last)
    assert (names(tmp_path) == ["events.1.jsonl", "events.jsonl"]) is rolled
    assert seqs(tmp_path) == [*range(1, 11)]


def test_a_line_that_is_larger_than_a_file_has_one_of_its_own(tmp_path: Path) -> None:
    add(tmp_path, size=20 * LINE)
    add(tmp_path)
    assert names(tmp_path) == ["events.1.jsonl", "events.jsonl"]
    assert event_log.last_seq(str(tmp_path), "r1") == 2


def test_every_question_goes_over_all_files(tmp_path: Path) -> None:
    root = str(tmp_path)
    add(tmp_path, kind="first")
    add(tmp_path, 44)
    assert len(names(tmp_path)) == 5
    assert seqs(tmp_path) == [*range(1, 46)]
    first = event_log.newest(root, "r1", "type", "first", lambda _: True)
    assert first is not None
    assert event_log.holds(root, "r1", 1, first["hash"])
    assert event_log.of_type(root, "r1", "first") == [first]
    assert [event["seq"] for event in event_log.events_after(root, "r1", 15)] == [*range(16, 46)]
    assert event_log.last_seq(root, "r1") == 45


def test_more_files_than_are_read_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_log, "MOST_FILES", 2)
    add(tmp_path, 31)
    events, (warning,) = event_log.read(str(tmp_path), "r1")
    assert [event["seq"] for event in events] == [*range(21, 32)]
    assert "events.2.jsonl" in warning


def test_a_kill_between_the_new_name_and_the_next_line(tmp_path: Path) -> None:
    add(tmp_path, 10)
    os.rename(tmp_path / RUN / "events.jsonl", tmp_path / RUN / "events.1.jsonl")
    assert seqs(tmp_path) == [*range(1, 11)]
    add(tmp_path)
    assert names(tmp_path) == ["events.1.jsonl", "events.jsonl"]
    assert seqs(tmp_path) == [*range(1, 12)]


def test_half_a_line_is_ended_before_the_file_is_full(tmp_path: Path) -> None:
    add(tmp_path, 10)
    with open(tmp_path / RUN / "events.jsonl", "ab") as file:
        file.write(b'{"at":')
    add(tmp_path)
    assert names(tmp_path) == ["events.jsonl"]
    add(tmp_path)
    assert names(tmp_path) == ["events.1.jsonl", "events.jsonl"]
    assert event_log.last_seq(str(tmp_path), "r1") == 12


def test_a_file_that_cannot_be_renamed_grows_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise StorageError("no")

    monkeypatch.setattr(event_files.files, "rename", refuse)
    add(tmp_path, 12)
    assert names(tmp_path) == ["events.jsonl"]
    assert event_log.last_seq(str(tmp_path), "r1") == 12


@pytest.mark.parametrize("more", [1, 25])
def test_who_reads_while_files_roll_over_reads_each_line_once(tmp_path: Path, more: int) -> None:
    add(tmp_path, 25)
    lines = event_log.backwards(str(tmp_path), layout.events_file("r1"), b'"seq":')
    first = next(lines)
    add(tmp_path, 5 + more)
    assert len([first, *lines]) == 25


@pytest.mark.parametrize("number", [None, errno.ENOSPC, errno.EIO])
def test_killed_or_refused_at_every_call_of_a_roll_over(tmp_path: Path, number: int | None) -> None:
    full, root = tmp_path / "full", tmp_path / "root"
    full.mkdir()
    add(full, 10)
    whole = [*range(1, 11)]
    named: list[tuple[str, ...]] = []

    def refused() -> Iterator[int]:
        for at in range(1, 20):
            shutil.copytree(full, root)
            yield failing(lambda: add(root), at, number or 0)
            shutil.rmtree(root)

    def ended() -> Iterator[int]:
        shutil.copytree(full, root)
        yield from killed(lambda: add(root), root)

    ends = []
    for end in refused() if number else ended():
        ends.append(end)
        assert seqs(root) in (whole, [*whole, 11]), (end, seqs(root))
        add(root)
        assert seqs(root) == [*range(1, len(seqs(root)) + 1)]
        named.clear()
        event_chain.check(str(root), "r1", None, lambda *row: named.append(row))
        assert named == [], end
    assert len(set(ends)) > 1
    assert not number or 0 in ends, "it was not broken at every call"


# --- the chain over all files ---------------------------------------------------------------------


@pytest.fixture
def repo(stage: Stage) -> GitRepo:
    """A repository with a goal whose run has several files of events."""
    stage.begin(lambda: many_turns(stage), "many turns")
    return stage.repo


def many_turns(stage: Stage) -> None:
    repo = scene.create(scene.start(GitRepo.init(stage.repo.path)))
    for _ in range(12):
        assert flow(repo, "goal", "evaluate", "greet").status == 1


@pytest.fixture
def run(repo: GitRepo) -> Path:
    """The folder of the run."""
    folder = scene.run_dir(repo)
    files = sorted(name for name in os.listdir(folder) if name.startswith("events"))
    assert len(files) > 3, files
    return folder


def findings(repo: GitRepo) -> dict[str, str]:
    done = flow(repo, "evidence", "verify", "--json")
    rows = [row for run in done.json["runs"] for row in run["findings"]]
    assert done.status == (1 if rows else 0), done
    return {os.path.basename(row["file"]): row["kind"] for row in rows}


def test_a_goal_with_several_files_of_events_goes_all_the_way(repo: GitRepo, run: Path) -> None:
    assert findings(repo) == {}
    told = flow(repo, "goal", "history", "greet", "--json").json
    assert [event["seq"] for event in told["events"]] == [*range(1, len(told["events"]) + 1)]
    assert told["warnings"] == []
    assert flow(repo, "goal", "status", "greet", "--json").json["turns_evaluated"] == 12
    scene.meet(repo)
    assert scene.confirm(repo).status == 0
    assert findings(repo) == {}
    assert flow(repo, "report", "greet", "--output", "../report.html").status == 0
    assert flow(repo, "evidence", "export", "greet", "--output", "../bundle").status == 0
    del run


def without(name: str) -> Callable[[Path], None]:
    return lambda folder: os.unlink(folder / name)


def swapped(folder: Path) -> None:
    os.rename(folder / "events.1.jsonl", folder / "x")
    os.rename(folder / "events.2.jsonl", folder / "events.1.jsonl")
    os.rename(folder / "x", folder / "events.2.jsonl")


def repeated(folder: Path) -> None:
    last = max(event_files._numbers(str(folder.parent), folder.name + "/events.jsonl"))
    shutil.copy(folder / "events.1.jsonl", folder / f"events.{last + 1}.jsonl")


def emptied(folder: Path) -> None:
    (folder / "events.2.jsonl").write_bytes(b"")


def foreign(folder: Path) -> None:
    (folder / "events.900.jsonl").write_bytes(b"")


def shortened(folder: Path) -> None:
    path = folder / "events.2.jsonl"
    path.write_bytes(path.read_bytes()[:-1].rpartition(b"\n")[0] + b"\n")


def torn(folder: Path) -> None:
    path = folder / "events.2.jsonl"
    path.write_bytes(path.read_bytes()[:-9])


def altered(folder: Path) -> None:
    path = folder / "events.1.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"goal_id":"greet"', b'"goal_id":"great"', 1))


@pytest.mark.parametrize(
    ("change", "file", "kind"),
    [
        (without("events.1.jsonl"), "events.2.jsonl", "missing"),
        (without("events.2.jsonl"), "events.3.jsonl", "missing"),
        (without("events.jsonl"), "events.jsonl", "cut"),
        (swapped, "events.1.jsonl", "missing"),
        (repeated, "", "reordered"),
        (emptied, "events.2.jsonl", "unaccounted"),
        (foreign, "events.900.jsonl", "unaccounted"),
        (shortened, "events.3.jsonl", "missing"),
        (torn, "events.2.jsonl", "cut"),
        (altered, "events.1.jsonl", "altered"),
    ],
)
def test_a_file_that_is_not_as_flow_left_it_is_named(
    repo: GitRepo, run: Path, change: Callable[[Path], None], file: str, kind: str
) -> None:
    change(run)
    named = findings(repo)
    assert kind in named.values(), named
    assert not file or named[file] == kind


def test_a_name_that_is_like_one_of_events_is_no_file_of_a_run(repo: GitRepo, run: Path) -> None:
    for name in ("events.0.jsonl", "events.01.jsonl", "events.x.jsonl", "events.1.json"):
        (run / name).write_bytes(b"")
    assert list(findings(repo)) == [
        "events.0.jsonl", "events.01.jsonl", "events.1.json", "events.x.jsonl",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "first"),
    [
        (b'{"at":"2026-03-01T10:15:00Z","seq":1,"type":"x"}', True),
        (b'{"at":"","seq":1,', True),
        (b'{"at":"' + b"a" * 40 + b'","seq":1,', True),
        (b'{"at":"' + b"a" * 41 + b'","seq":1,', False),
        (b'{"at":"2026","seq":11,', False),
        (b'{"at":"2026","seq":2,', False),
        (b'{"at":"2026","seq":1', False),
        (b'{"at":"2026', False),
        (b'{"at": "2026","seq":1,', False),
        (b' {"at":"2026","seq":1,', False),
        (b'{"at":"a"b","seq":1,', False),
        (b"", False),
    ],
)
def test_how_a_run_begins(line: bytes, first: bool) -> None:
    assert event_files.begins_run(line) is first
