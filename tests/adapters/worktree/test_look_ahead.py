"""A second process takes looks at a large checkout: the answer is the same with it and without."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from flow.adapters.process import beside
from flow.adapters.process.beside import WorkBeside
from flow.adapters.worktree import look_ahead, scan
from flow.adapters.worktree.cache import Table
from flow.adapters.worktree.change_set import snapshot
from flow.adapters.worktree.clean_files import CleanFiles, clean_blocks, packed_stamps
from flow.adapters.worktree.look_ahead import LookAhead
from flow.core.boundary.changes import DecidingFiles, Snapshot
from tests.adapters.worktree.test_change_set import all_kinds_of_changes, submodule
from tests.support.effort import sizes
from tests.support.gitbox import GitBox

Change = Callable[[GitBox], None]
MANY = 8


@pytest.fixture
def box(tmp_path: Path) -> GitBox:
    """A repository of a few folders."""
    made = GitBox(tmp_path)
    for number in range(MANY):
        made.write(f"part{number}/deep/one.txt", "one\n")
        made.write(f"part{number}/two.txt", "two\n")
    made.commit("many")
    made.git("update-ref", "refs/heads/main", "HEAD")
    return made


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The folders of which the second process told; it is started for any checkout."""
    monkeypatch.setattr(scan, "LARGE", 1)
    monkeypatch.setattr(look_ahead, "can_work_beside", lambda: True)
    told: list[bytes] = []
    take = LookAhead.take

    def noted(self: LookAhead, folder: bytes) -> object:
        look = take(self, folder)
        if look is not None:
            told.append(folder)
        return look

    monkeypatch.setattr(LookAhead, "take", noted)
    return told


def remember(box: GitBox) -> Callable[[], None]:
    """Let the cache hold the stamps of now for all files of the base, on any file system.

    What is returned puts the cache back.
    """
    baseline = box.pin()
    box.snapshot()
    for file in box.state.iterdir():
        table = Table.load(str(file), baseline.base_commit or "")
        if table is not None:
            break
    statuses = {path: os.lstat(os.fsencode(box.top) + b"/" + path) for path in table}
    files = {path: status for path, status in statuses.items() if path not in table.gitlinks()}
    table.save(str(file), {path: packed_stamps(status) for path, status in files.items()})
    data = file.read_bytes()

    def put_back() -> None:
        file.write_bytes(data)

    return put_back


_begun: list[int] = []
"""The processes that this test has started so: the worker may have others."""


@pytest.fixture(autouse=True)
def _noted(monkeypatch: pytest.MonkeyPatch) -> None:
    _begun.clear()
    fork_to = beside.fork_to

    def noted(work: Callable[[], int]) -> int:
        pid = fork_to(work)
        _begun.append(pid)
        return pid

    monkeypatch.setattr(beside, "fork_to", noted)


def no_child_is_left() -> bool:
    for pid in _begun:
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
            return False
    return True


def look(box: GitBox, deciding: DecidingFiles | None) -> Snapshot:
    assert box.baseline is not None
    now = snapshot(box.repo, box.baseline, box.denied, cache_dir=str(box.state), deciding=deciding)
    assert no_child_is_left()
    return now._replace(began=0)


def removed_folder(box: GitBox, parts: Iterable[int] = range(MANY)) -> None:
    for number in parts:
        os.rename(box.path(f"part{number}"), box.path(f"src/moved{number}"))


def folders_as_links(box: GitBox, parts: Iterable[int] = range(MANY)) -> None:
    for number in parts:
        os.rename(box.path(f"part{number}/deep"), box.path(f"part{number}/elsewhere"))
        os.symlink("elsewhere", box.path(f"part{number}/deep"))


def folders_as_files(box: GitBox, parts: Iterable[int] = range(MANY)) -> None:
    for number in parts:
        box.remove(f"part{number}/deep/one.txt")
        box.path(f"part{number}/deep").rmdir()
        box.write(f"part{number}/deep")


def files_as_folders(box: GitBox, parts: Iterable[int] = range(MANY)) -> None:
    for number in parts:
        box.remove(f"part{number}/two.txt")
        box.write(f"part{number}/two.txt/inside")


def everywhere(box: GitBox, parts: Iterable[int] = range(MANY)) -> None:
    for number in parts:
        box.write(f"part{number}/two.txt", "edited\n")
        box.remove(f"part{number}/deep/one.txt")
        box.write(f"part{number}/deep/new")
        box.write(f"part{number}/new/er")
        box.write(f"part{number}/local.env")
        os.mkfifo(box.path(f"part{number}/fifo"))


def tracked_since(box: GitBox, parts: Iterable[int] = range(MANY)) -> None:
    for number in parts:
        box.write(f"part{number}/later/x.log")
        box.git("add", "-f", f"part{number}/later/x.log")
    box.write(f"part{number}/later/y.log")


def renamed_folders(box: GitBox, parts: Iterable[int] = range(MANY)) -> None:
    for number in parts:
        os.rename(box.path(f"part{number}/deep"), box.path(f"part{number}/other"))
        os.rename(box.path(f"part{number}/other"), box.path(f"part{number}/deep"))


def nothing(box: GitBox) -> None:
    """All is as it was."""


def one_of_each(box: GitBox) -> None:
    """Each part in its own way; the last one stays as it was."""
    for number, change in enumerate(EACH):
        change(box, (number,))


EACH = (
    everywhere,
    removed_folder,
    folders_as_links,
    folders_as_files,
    files_as_folders,
    tracked_since,
    renamed_folders,
)
CHANGES: tuple[Change, ...] = sizes(
    short=(nothing, one_of_each), long=(nothing, one_of_each, *EACH)
)
DECIDING = {
    "shown": None,
    "decides": DecidingFiles(),
    "decides on files": DecidingFiles(("two.txt",), frozenset({"part3/deep/one.txt", "README.md"})),
}


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_the_change_set_is_the_same(
    box: GitBox, taken: list[bytes], monkeypatch: pytest.MonkeyPatch, change: Change
) -> None:
    put_back = remember(box)
    change(box)
    for deciding in DECIDING.values():
        put_back()
        taken.clear()
        with_it = look(box, deciding)
        assert with_it.problems == ()
        assert taken
        put_back()
        with monkeypatch.context() as alone:
            alone.setattr(scan, "LARGE", 1 << 40)
            assert look(box, deciding) == with_it


def test_all_kinds_of_changes_are_the_same(
    box: GitBox, taken: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    submodule(box)
    put_back = remember(box)
    all_kinds_of_changes(box)
    put_back()
    with_it = look(box, DecidingFiles())
    assert taken
    put_back()
    monkeypatch.setattr(scan, "LARGE", 1 << 40)
    assert look(box, DecidingFiles()) == with_it


@pytest.mark.parametrize("deciding", DECIDING)
def test_a_deciding_file_is_hashed_whatever_the_second_process_says(
    box: GitBox, taken: list[bytes], deciding: str
) -> None:
    """The cache holds the stamps of now for other content."""
    remember(box)
    changed = ("part3/deep/one.txt", "part5/two.txt")
    for path in changed:
        box.write(path, "evil\n")
    (file,) = [f for f in box.state.iterdir() if f.name.startswith("worktree-")]
    assert box.baseline is not None
    table = Table.load(str(file), box.baseline.base_commit or "")
    assert table is not None
    now = {path.encode(): packed_stamps(os.lstat(box.path(path))) for path in changed}
    table.save(str(file), {**table.clean, **now})
    paths = [change.path for change in look(box, DECIDING[deciding]).changes]
    assert taken
    assert paths == ([*changed] if deciding == "decides on files" else [])


def fail() -> bytes:
    raise OSError(5, "it failed")


def end_itself() -> bytes:
    os.kill(os.getpid(), signal.SIGKILL)
    return b""


def stop_itself() -> bytes:
    os.kill(os.getpid(), signal.SIGSTOP)
    return b""


@pytest.mark.parametrize("work", [fail, end_itself, stop_itself])
def test_an_answer_that_does_not_come_costs_time_only(
    box: GitBox, taken: list[bytes], monkeypatch: pytest.MonkeyPatch, work: Callable[[], bytes]
) -> None:
    put_back = remember(box)
    everywhere(box)
    put_back()
    with_it = look(box, None)
    assert taken
    taken.clear()
    put_back()
    monkeypatch.setattr(look_ahead, "_looks", lambda *_: work())
    assert look(box, None) == with_it
    assert not taken


def test_no_second_process_can_be_made(
    box: GitBox, taken: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(box)

    def none(_: object) -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(beside, "fork_to", none)
    assert look(box, None).problems == ()
    assert not taken


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_it_is_ended_with_what_is_raised_meanwhile(
    box: GitBox, taken: list[bytes], monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    remember(box)
    stay, go = os.pipe()
    monkeypatch.setattr(look_ahead, "_looks", lambda *_: wait_for_ever())

    def stopped(*_: Any) -> None:
        raise error

    monkeypatch.setattr(scan, "_staged_entries", stopped)
    with pytest.raises(error):
        look(box, None)
    assert no_child_is_left()
    for fd in (stay, go):
        os.close(fd)


def wait_for_ever() -> bytes:
    threading.Event().wait()
    return b""


def test_a_file_that_became_a_folder_after_the_look_is_looked_at_again(
    box: GitBox, taken: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(box)
    box.write("part1/deep/one.txt", "edited\n")
    take = LookAhead.take

    def too_late(self: LookAhead, folder: bytes) -> object:
        if folder == b"part1/deep/" and box.path("part1/deep/one.txt").is_file():
            self.take(b"none/")  # it has told
            box.remove("part1/deep/one.txt")
            box.write("part1/deep/one.txt/inside")
        return take(self, folder)

    monkeypatch.setattr(LookAhead, "take", too_late)
    assert [c.path for c in look(box, None).changes] == [
        "part1/deep/one.txt",
        "part1/deep/one.txt/inside",
    ]
    assert taken


# --- when it is started ---


def clean_of(folders: int, files: int) -> CleanFiles:
    paths = [b"d%d/f%d" % (folder, file) for folder in range(folders) for file in range(files)]
    return CleanFiles(21, *clean_blocks(dict.fromkeys(paths, bytes(36)), lambda _: bytes(21)))


@pytest.mark.parametrize(
    ("folders", "files", "started"),
    [
        pytest.param(100, 100, True, id="many folders"),
        pytest.param(3, 4000, True, id="three folders"),
        pytest.param(1, 10_000, False, id="one folder"),
    ],
)
def test_it_takes_about_half_or_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folders: int, files: int, *, started: bool
) -> None:
    monkeypatch.setattr(look_ahead, "can_work_beside", lambda: True)
    clean = clean_of(folders, files)
    ahead = LookAhead(str(tmp_path), clean)
    try:
        assert bool(ahead.folders) is started
        share = sum(place.files for name, place in clean.folders.items() if name in ahead.folders)
        assert (0.3 if started else -1) < share / len(clean) < 0.6
    finally:
        ahead.close()
    assert no_child_is_left()


@pytest.mark.parametrize("more", [0, 1])
def test_only_for_a_large_checkout(
    box: GitBox, taken: list[bytes], monkeypatch: pytest.MonkeyPatch, more: int
) -> None:
    remember(box)
    baseline = box.baseline
    assert baseline is not None
    files = box.git("ls-tree", "-r", "--name-only", baseline.base_commit or "").count("\n") + 1
    monkeypatch.setattr(scan, "LARGE", files + more)
    look(box, None)
    assert bool(taken) is (more == 0)


def test_only_beside_one_thread_and_on_two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = {"/proc/self/task": ["1"]}
    monkeypatch.setattr(os, "listdir", lambda path: seen[path])
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    assert beside.can_work_beside()
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    assert not beside.can_work_beside()
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    seen["/proc/self/task"].append("2")
    assert not beside.can_work_beside()


def test_it_holds_nothing_of_this_process(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("w"):
        work = WorkBeside(lambda: "\n".join(descriptors()).encode())
        try:
            told = (work.result() or b"").decode().splitlines()
        finally:
            work.close()
    assert len(told) == 1
    assert told[0].startswith("socket:")


def descriptors() -> list[str]:
    found = []
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # the one that listed them
            found.append(os.readlink(f"/proc/self/fd/{name}"))
    return found


def test_an_answer_of_any_length_comes_whole() -> None:
    answer = os.urandom(3 << 20)
    work = WorkBeside(lambda: answer)
    try:
        assert work.result() == answer
    finally:
        work.close()
    assert no_child_is_left()
