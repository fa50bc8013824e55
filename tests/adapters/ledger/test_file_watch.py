"""What a command did to Flow's files, told from what another Flow process writes meanwhile."""

from __future__ import annotations

import fcntl
import os
import threading
from typing import TYPE_CHECKING

import pytest

from flow.adapters.chain import event_files, event_log
from flow.adapters.fs import files, locks
from flow.adapters.git import find as git_find
from flow.adapters.ledger import file_watch
from flow.adapters.ledger.file_watch import FileWatch
from flow.core import layout
from tests.support.patience import LONG

if TYPE_CHECKING:
    from tests.support import GitRepo

RUN = "run-1"


@pytest.fixture
def watched(repo: GitRepo) -> FileWatch:
    repo.commit("start", a="a")
    top = str(repo.path)
    os.makedirs(os.path.join(top, layout.evidence_dir(RUN)))
    event_log.append(top, RUN, "greet", "started", {}, at="2026-01-01T00:00:00Z")
    found = git_find.find_repo(top)
    assert found is not None
    # Many systems count in steps of milliseconds: what follows must not lie in the same one.
    os.utime(os.path.join(top, layout.evidence_dir(RUN)), (1, 1))
    made = FileWatch(found, "greet", RUN)
    made.settle()
    return made


def tell(top: str, lock: str, begun: threading.Event, go: threading.Event, told: bool) -> None:
    """Another Flow process: a sidecar first, and its event last, both within one lock."""
    with locks.exclusive(top, lock, quick=True):
        files.publish_new(top, layout.evidence_file(RUN, "theirs"), b"a sidecar")
        begun.set()
        go.wait(LONG)
        if told:
            fields = {"evidence_id": "theirs"}
            event_log.append(top, RUN, "greet", "evidence", fields, at="2026-01-01T00:00:00Z")


@pytest.mark.parametrize("told", [True, False])
def test_a_record_under_way_is_waited_for(
    repo: GitRepo, watched: FileWatch, told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_watch, "WAIT", LONG)
    top, begun, go = str(repo.path), threading.Event(), threading.Event()
    other = threading.Thread(
        target=tell, args=(top, layout.goal_lock("greet"), begun, go, told), daemon=True
    )
    other.start()
    assert begun.wait(LONG)
    threading.Timer(0.2, go.set).start()
    blamed = watched.changed()
    other.join(LONG)
    assert blamed == (() if told else (layout.evidence_dir(RUN),))


def test_who_never_lets_go_is_not_waited_for_long(
    repo: GitRepo, watched: FileWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_watch, "WAIT", 0.1)
    top, begun, go = str(repo.path), threading.Event(), threading.Event()
    lock = layout.goal_lock("greet")
    other = threading.Thread(target=tell, args=(top, lock, begun, go, True), daemon=True)
    other.start()
    assert begun.wait(LONG)
    assert watched.changed() == (layout.evidence_dir(RUN),)
    go.set()
    other.join(LONG)
    assert watched.changed() == ()


def record(top: str, name: str) -> None:
    """What another Flow process does under its locks, all of it."""
    files.publish_new(top, layout.evidence_file(RUN, name), b"a sidecar")
    fields = {"evidence_id": name}
    event_log.append(top, RUN, "greet", "evidence", fields, at="2026-01-01T00:00:00Z")


def test_a_record_while_the_state_is_taken_is_not_blamed_later(
    repo: GitRepo, watched: FileWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes between the look at the files and the one at the events."""
    look, names = FileWatch._observe, ["theirs"]

    def interrupted(self: FileWatch) -> dict[str, object]:
        found = look(self)
        if names:
            record(str(repo.path), names.pop())
        return found

    monkeypatch.setattr(FileWatch, "_observe", interrupted)
    watched.settle()
    assert watched.changed() == ()


def test_nobody_is_half_way_when_it_looks_again(
    repo: GitRepo, watched: FileWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of several that record at once the next one begins as soon as the first is done."""
    top, look, held = str(repo.path), FileWatch._observe, []

    def watching(self: FileWatch) -> dict[str, object]:
        held.append([is_held(top, layout.goal_lock("greet")), is_held(top, layout.run_lock(RUN))])
        return look(self)

    monkeypatch.setattr(FileWatch, "_observe", watching)
    record(top, "theirs")
    event_log.append(top, RUN, "greet", "other", {}, at="2026-01-01T00:00:00Z")
    files.publish_new(top, f"{layout.run_dir(RUN)}/more", b"what nobody tells of")
    assert watched.changed() == (f"{layout.run_dir(RUN)}/more",)
    assert held == [[False, False], [True, True]]


def is_held(top: str, lock: str) -> bool:
    """Whether any process or thread holds a lock."""
    with open(os.path.join(top, *lock.split("/")), "a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_a_roll_over_by_another_process_is_not_blamed(
    repo: GitRepo, watched: FileWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_files, "FULL", 300)
    record(str(repo.path), "theirs")
    folder = repo.path / layout.run_dir(RUN)
    assert (folder / "events.1.jsonl").exists()
    assert watched.changed() == ()
    watched.settle()
    (folder / "events.1.jsonl").write_bytes(b"")
    record(str(repo.path), "theirs-2")
    assert watched.changed() == (f"{layout.run_dir(RUN)}/events.1.jsonl",)


def test_a_file_of_events_that_a_command_makes_is_blamed(repo: GitRepo, watched: FileWatch) -> None:
    name = f"{layout.run_dir(RUN)}/events.7.jsonl"
    (repo.path / name).write_bytes(b"{}\n")
    assert watched.changed() == (name,)
