"""A journal in parts: where it goes on, that nothing is lost, and what an entry costs."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from flow.adapters.fs import files
from flow.adapters.journal import parts, store
from flow.adapters.user_state.written_files import OwnRecord
from flow.app.ports import Artifact
from flow.core import layout
from flow.errors import ContractError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REL = ".decisions/issue-4.md"
NOW = "2026-11-21T12:00:00Z"


def record(root: Path, number: int, **fields: Any) -> str:
    """Record one entry as a command does; the part that it went to."""
    own = OwnRecord(lambda: (str(root / "state"), "repo"))
    part = parts.part_to_write(str(root), REL)
    artifact = Artifact("goal-evaluation", {"number": number, "reason": "AC2 failed", **fields})
    store.check(str(root), part, artifact, now=NOW)
    key = f"{number:024x}"
    store.append(
        str(root),
        part,
        artifact,
        issue=4,
        now=NOW,
        branch="main",
        key=key,
        announce=own.journal,
    )
    return part


def numbers(root: Path) -> list[int]:
    """The entries of all parts, in the order in which they are read."""
    read = [store.read(str(root), name) for name in parts.parts(str(root), REL)]
    return [artifact["number"] for journal in read for artifact in journal.artifacts]


def fill(root: Path, part: str, size: int) -> None:
    """Make a part ``size`` bytes long by text below the front matter."""
    path = root / part
    path.parent.mkdir(exist_ok=True)
    held = path.read_bytes() if path.exists() else b"---\nissue: 4\n---\n"
    path.write_bytes(held + b"x" * (size - len(held)))


class Work:
    """Bytes that are read and written, and calls that are made."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bytes = self.calls = 0
        self._patch = monkeypatch

    def of(self, numbers: range, root: Path) -> tuple[int, int]:
        """(bytes, calls) for these entries."""
        self.bytes = self.calls = 0
        real_read, real_write = os.read, os.write

        def read(fd: int, length: int) -> bytes:
            data = real_read(fd, length)
            self.bytes += len(data)
            return data

        def write(fd: int, data: bytes) -> int:
            written = real_write(fd, data)
            self.bytes += written
            return written

        def count(_frame: object, event: str, _argument: object) -> None:
            self.calls += event in ("call", "c_call")

        with self._patch.context() as patch:
            patch.setattr(os, "read", read)
            patch.setattr(os, "write", write)
            before = sys.getprofile()
            sys.setprofile(count)
            try:
                for number in numbers:
                    record(root, number)
            finally:
                sys.setprofile(before)
        return self.bytes, self.calls


@pytest.mark.slow
def test_the_five_hundredth_entry_costs_what_the_tenth_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted over whole parts, so that each window has as many short ones as long ones."""
    monkeypatch.setattr(parts, "FULL", 4096)
    work = Work(monkeypatch)
    first = work.of(range(100), tmp_path)
    work.of(range(100, 400), tmp_path)
    last = work.of(range(400, 500), tmp_path)
    assert first[0] < 100 * 6 * 4096
    assert last[0] < 1.15 * first[0], (first, last)
    assert last[1] < 1.15 * first[1]
    assert numbers(tmp_path) == list(range(500))


def test_no_entry_reads_or_writes_more_than_a_few_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(tmp_path, 0)
    text = (tmp_path / REL).read_text()
    head, item, tail = text.partition("  - type")
    item, end, tail = (item + tail).partition("---\n")
    many = (parts.FULL - len(text)) // len(item)
    (tmp_path / REL).write_text(head + item * many + end + tail)
    work = Work(monkeypatch)
    assert work.of(range(1, 2), tmp_path)[0] < 5 * parts.FULL


@pytest.mark.parametrize(("missing", "part"), [(1, REL), (0, layout.journal_part(REL, 2))])
def test_at_the_limit_of_a_part_and_one_byte_before(
    tmp_path: Path, missing: int, part: str
) -> None:
    fill(tmp_path, REL, parts.FULL - missing)
    before = (tmp_path / REL).read_bytes()
    assert record(tmp_path, 1) == part
    assert numbers(tmp_path) == [1]
    assert ((tmp_path / REL).read_bytes() == before) is (part != REL)


@pytest.mark.parametrize("more", [0, 1])
def test_an_entry_that_just_fits_and_one_byte_more(tmp_path: Path, more: int) -> None:
    record(tmp_path, 0, note="")
    empty = (tmp_path / REL).stat().st_size
    (tmp_path / REL).unlink()
    room = store.LIMIT - empty
    if not more:
        record(tmp_path, 0, note=" " * room)
        assert (tmp_path / REL).stat().st_size == store.LIMIT
        assert record(tmp_path, 1) == layout.journal_part(REL, 2)
        assert numbers(tmp_path) == [0, 1]
        return
    with pytest.raises(ContractError, match="larger") as caught:
        record(tmp_path, 0, note=" " * (room + more))
    assert caught.value.fault.remedy
    assert not (tmp_path / REL).exists()
    assert record(tmp_path, 1) == REL


@pytest.mark.parametrize("size", [store.LIMIT, store.LIMIT + 1, 2 * store.LIMIT])
def test_a_journal_that_was_full_under_an_earlier_version_goes_on(
    tmp_path: Path, size: int
) -> None:
    fill(tmp_path, REL, size)
    assert record(tmp_path, 1) == layout.journal_part(REL, 2)


@pytest.mark.parametrize("full", range(18))
def test_the_first_part_that_is_not_full_is_found_by_few_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: int
) -> None:
    for number in range(1, full + 1):
        fill(tmp_path, layout.journal_part(REL, number), parts.FULL)
    looks: list[str] = []
    real = files.size

    def size(root: str, rel: str) -> int:
        looks.append(rel)
        return real(root, rel)

    monkeypatch.setattr(files, "size", size)
    assert parts.part_to_write(str(tmp_path), REL) == layout.journal_part(REL, full + 1)
    assert len(looks) <= 1 + 2 * full.bit_length()


@pytest.fixture(params=["dangling", "folder", "fifo", "outside"])
def foreign(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The fourth part, which is no regular file."""
    part = layout.journal_part(REL, 4)
    path = tmp_path / part
    path.parent.mkdir()
    if request.param == "folder":
        path.mkdir()
    elif request.param == "fifo":
        os.mkfifo(path)
    else:
        target = tmp_path / "outside.md"
        if request.param == "outside":
            target.write_bytes(b"x" * parts.FULL)
        path.symlink_to(target)
    yield part
    outside = tmp_path / "outside.md"
    assert not outside.exists() or outside.read_bytes() == b"x" * parts.FULL


@pytest.mark.parametrize("full", [0, 1, 2, 3])
def test_what_is_no_file_is_in_the_way_only_where_it_stands(
    tmp_path: Path, foreign: str, full: int
) -> None:
    for number in range(1, full + 1):
        fill(tmp_path, layout.journal_part(REL, number), parts.FULL)
    part = parts.part_to_write(str(tmp_path), REL)
    assert part == layout.journal_part(REL, full + 1)
    assert (part == foreign) is (full == 3)


def test_all_parts_are_read_in_order_whatever_is_missing(tmp_path: Path) -> None:
    folder = tmp_path / ".decisions"
    folder.mkdir()
    there = ["issue-4.10.md", "issue-4.2.md", "issue-4.9.md", "issue-4.md"]
    others = ["issue-41.2.md", "issue-4.x.md", "issue-4.02.md", "issue-4.1.md", "issue-4.2.2.md"]
    for name in (*there, *others):
        (folder / name).write_text("text")
    names = parts.parts(str(tmp_path), REL)
    assert names == [REL, *(layout.journal_part(REL, number) for number in (2, 9, 10))]
    wanted = [layout.journal_part(REL, number) for number in range(3, 9)]
    assert parts.missing_parts(names, REL) == wanted
    (folder / "issue-4.md").unlink()
    names = parts.parts(str(tmp_path), REL)
    assert parts.missing_parts(names, REL) == [REL, *wanted]
    (folder / "issue-4.999999999.md").write_text("text")
    assert len(parts.missing_parts(parts.parts(str(tmp_path), REL), REL)) == 10


def test_a_journal_whose_own_name_has_a_number(tmp_path: Path) -> None:
    rel = ".decisions/plan.2.md"
    fill(tmp_path, rel, 100)
    fill(tmp_path, ".decisions/plan.2.2.md", 100)
    assert parts.parts(str(tmp_path), rel) == [rel, ".decisions/plan.2.2.md"]
    assert parts.missing_parts(parts.parts(str(tmp_path), rel), rel) == []


def test_each_part_names_itself_and_all_share_a_lock(tmp_path: Path) -> None:
    fill(tmp_path, REL, parts.FULL)
    part = record(tmp_path, 1)
    assert (tmp_path / part).read_text().endswith("\n# Decision journal: issue 4, part 2\n")
    assert layout.journal_lock("issue-4.2.md") == layout.journal_lock("issue-4.md")
    assert layout.journal_lock("issue-4.x.md") != layout.journal_lock("issue-4.md")


def test_the_longest_name_has_a_thousandth_part(tmp_path: Path) -> None:
    rel = layout.journal_path(f".decisions/{'x' * 237}.md", None, "greet")
    assert len(os.path.basename(rel)) == 240
    part = layout.journal_part(rel, 1000)
    assert store.append(
        str(tmp_path), part, Artifact("note", {}), issue=None, now=NOW, branch=None, key=None
    )
