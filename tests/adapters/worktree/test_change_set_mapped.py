"""Writes through shared mappings, which time stamps do not tell of until a file was flushed."""

from __future__ import annotations

import mmap
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from flow.adapters.fs import stamps
from flow.adapters.fs.stamps import flush
from flow.adapters.worktree import contents as worktree_contents
from flow.adapters.worktree.cache import Table
from flow.adapters.worktree.change_set import snapshot
from flow.adapters.worktree.clean_files import packed_stamps
from flow.core.boundary.changes import DecidingFiles
from tests.support.gitbox import GitBox

pytestmark = pytest.mark.slow

MEMORY = Path("/dev/shm")
"""A file system in memory, on Linux."""
TEXT = b"0123456789\n"
TRACKED = "docs/guide.md"


class Mapped:
    """A file that is open for writing through a shared mapping, its page dirty."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("r+b" if path.exists() else "w+b") as file:
            file.truncate(len(TEXT))
            self.page = mmap.mmap(file.fileno(), len(TEXT))
        self.page[:] = TEXT
        self.path = path

    def write(self, data: bytes) -> None:
        self.page[:] = data.ljust(len(TEXT), b".")

    def stamps(self) -> tuple[int, int]:
        status = os.stat(self.path)
        return status.st_mtime_ns, status.st_ctime_ns


@pytest.fixture(params=["disk", "memory"])
def box(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[GitBox]:
    """A repository where ``tmp_path`` is, and one on a file system in memory."""
    monkeypatch.setattr(stamps, "RACY_NS", 50_000_000)
    monkeypatch.setattr(worktree_contents, "UNFLUSHED", 0)
    if request.param == "disk":
        yield GitBox(tmp_path)
        return
    if not MEMORY.is_dir() or not os.access(MEMORY, os.W_OK):
        pytest.skip("there is no /dev/shm")
    with tempfile.TemporaryDirectory(dir=MEMORY) as place:
        yield GitBox(Path(place))


def worktree_of(
    box: GitBox, paths: Sequence[str], deciding: DecidingFiles | None
) -> list[str | None]:
    assert box.baseline is not None
    now = snapshot(box.repo, box.baseline, box.denied, cache_dir=str(box.state), deciding=deciding)
    assert now.problems == ()
    found = {change.path: change.worktree for change in now.changes}
    states = [found.get(path) for path in paths]
    return [state.digest if state is not None else None for state in states]


@pytest.mark.parametrize("deciding", [DecidingFiles(), None], ids=["deciding", "showing"])
def test_a_second_write_through_a_mapping_is_seen(
    box: GitBox, deciding: DecidingFiles | None
) -> None:
    box.write(TRACKED, TEXT)
    box.commit()
    paths = [TRACKED, "notes.md", "secrets/local.env"]  # a dirty one, and an ignored one
    mapped = [Mapped(box.path(path)) for path in paths]
    time.sleep(0.2)
    box.pin("HEAD")

    def written(text: bytes) -> None:
        for each in mapped:
            each.write(text)

    def are_seen() -> bool:
        hashed = box.git("hash-object", "--no-filters", *paths).split("\n")
        return worktree_of(box, paths, deciding) == hashed

    written(b"one")  # since the base: a change, by a page that stays dirty
    time.sleep(0.2)
    assert are_seen()
    for text in (b"two", b"three"):
        written(text)
        assert are_seen()
    written(TEXT)


def test_a_clean_file_changes_by_a_second_write(box: GitBox) -> None:
    """It was as in the base when it was remembered, and nobody had named it."""
    path = "docs/guide.md"
    box.write(path, TEXT)
    box.commit()
    mapped = Mapped(box.path(path))
    box.pin("HEAD")
    time.sleep(0.2)
    assert worktree_of(box, [path], DecidingFiles()) == [None]
    mapped.write(b"evil")
    assert [v.path for v in box.report().violations] == [path]


def test_on_disk_a_flushed_file_is_remembered_and_in_memory_none_is(box: GitBox) -> None:
    on_disk = flush(str(box.top)) is not None
    time.sleep(0.2)
    pinned = box.pin()
    box.snapshot()
    assert pinned.base_commit is not None
    (file,) = [f for f in box.state.iterdir() if f.name.startswith("worktree-")]
    table = Table.load(str(file), pinned.base_commit)
    assert table is not None
    assert bool(table.clean) is on_disk
    if str(box.top).startswith(str(MEMORY)):
        assert not on_disk


CHOICES: dict[str, Callable[[GitBox], DecidingFiles]] = {
    "a protected file": lambda _: DecidingFiles(),
    "a path": lambda _: DecidingFiles(paths=frozenset({"docs/guide.md"})),
    "a pattern": lambda _: DecidingFiles(patterns=("docs/**", "[")),
}


@pytest.mark.parametrize("choice", CHOICES)
def test_deciding_files_are_hashed_whatever_their_stamps_say(box: GitBox, choice: str) -> None:
    """The cache is made to hold the stamps of now for other content."""
    path = "docs/guide.md"
    box.protected = ("docs/**",) if choice == "a protected file" else ()
    pinned = box.pin()
    box.write(path, "evil\n")
    status = os.stat(box.path(path))
    assert pinned.base_commit is not None
    box.snapshot()
    (file,) = [f for f in box.state.iterdir() if f.name.startswith("worktree-")]
    table = Table.load(str(file), pinned.base_commit)
    assert table is not None
    table.save(str(file), {**table.clean, path.encode(): packed_stamps(status)})
    assert worktree_of(box, [path], None) == [None]  # the stamps are believed: this only shows
    good = file.read_bytes()
    assert worktree_of(box, [path], CHOICES[choice](box)) == [box.git("hash-object", path)]
    file.write_bytes(good)
    box.remove(path)
    now = snapshot(
        box.repo, pinned, box.denied, cache_dir=str(box.state), deciding=CHOICES[choice](box)
    )
    assert [(c.path, c.worktree) for c in now.changes] == [(path, None)]


def test_few_files_are_hashed_again_instead_of_a_flush(
    box: GitBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushes: list[object] = []
    monkeypatch.setattr(worktree_contents, "flush", flushes.append)
    monkeypatch.setattr(worktree_contents, "UNFLUSHED", 256 << 10)
    box.pin()
    time.sleep(0.2)
    box.snapshot()
    assert flushes == []
    for number in range(70):
        box.write(f"src/{number}.py")
    time.sleep(0.2)
    box.snapshot()
    assert len(flushes) == 1


@pytest.mark.parametrize("what", ["open", "syncfs", "mmap"])
def test_where_nobody_can_tell_no_stamp_is_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(95, "not supported")

    if what == "open":
        monkeypatch.delattr(os, "O_TMPFILE")
    elif what == "syncfs":
        monkeypatch.setattr(stamps, "_syncfs", lambda _: False)
    else:
        monkeypatch.setattr(mmap, "mmap", refuse)
    assert flush(str(tmp_path)) is None
    assert list(tmp_path.iterdir()) == []
