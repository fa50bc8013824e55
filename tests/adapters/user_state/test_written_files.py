"""The record of what Flow wrote: by digest, whole at every moment, bounded."""

from __future__ import annotations

from pathlib import Path

import pytest

from flow.adapters.user_state import written_files
from flow.adapters.user_state.written_files import FLOW_BEGAN, OwnRecord, front_digest
from flow.errors import StorageError

REL = ".decisions/issue-1.md"


@pytest.fixture
def record(tmp_path: Path) -> OwnRecord:
    return OwnRecord(lambda: (str(tmp_path / "state"), "repo"))


def journal(*lines: str) -> bytes:
    return "".join(f"{line}\n" for line in ("---", "issue: 1", *lines, "---", "text")).encode()


def test_a_front_matter_s_digest_goes_on_line_by_line() -> None:
    whole = front_digest(b"a\nb\nc\n")
    assert front_digest(b"b\nc\n", front_digest(b"a\n")) == whole != front_digest(b"a\nbc\n")


def test_what_is_announced_is_known(record: OwnRecord) -> None:
    assert record.rows(REL) == ()
    record.journal(REL, None, journal("a: 1"))
    record.journal(REL, journal("a: 1"), journal("a: 1", "b: 2"))
    assert [row.origin for row in record.rows(REL)] == [FLOW_BEGAN] * 2
    assert record.rows("other.md") == ()


def test_what_somebody_edited_is_not_known_but_what_it_is_without_the_edit(
    record: OwnRecord,
) -> None:
    record.journal(REL, None, journal("a: 1"))
    record.journal(REL, journal("a: 9"), journal("a: 9", "b: 2"))
    last = record.rows(REL)[-1]
    assert last.front == front_digest(b"---\nissue: 1\na: 1\nb: 2\n")
    assert last.blobs == ()


def test_what_flow_went_on_with_keeps_its_origin(record: OwnRecord) -> None:
    found = front_digest(b"---\nissue: 1\na: 1\n")
    record.journal(REL, journal("a: 1"), journal("a: 1", "b: 2"))
    record.journal(REL, journal("a: 1", "b: 2"), journal("a: 1", "b: 2", "c: 3"))
    assert [row.origin for row in record.rows(REL)] == [found, found]


def test_a_torn_line_is_none_and_the_next_one_is_whole(record: OwnRecord, tmp_path: Path) -> None:
    record.file("a.md", b"one")
    (file,) = [p for p in (tmp_path / "state/own").rglob("*") if p.is_file() and p.suffix == ""]
    file.write_bytes(file.read_bytes() + b"- - 12")
    record.file("a.md", b"two")
    assert len(record.rows("a.md")) == 2


def test_it_is_bounded(record: OwnRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(written_files, "LIMIT", 2_000)
    for number in range(100):
        record.file("a.md", b"%d" % number)
    rows = record.rows("a.md")
    assert 5 < len(rows) < 25
    assert rows[-1].blobs == written_files.blob_names(b"99")


def test_a_folder_that_others_may_write_vouches_for_nothing(
    record: OwnRecord, tmp_path: Path
) -> None:
    record.file("a.md", b"one")
    (tmp_path / "state").chmod(0o777)
    record.file("a.md", b"two")
    assert record.rows("a.md") == ()


def test_without_a_state_folder_nothing_is_known() -> None:
    def nowhere() -> tuple[str, str]:
        raise StorageError("no", file="x")

    assert OwnRecord(nowhere).rows(REL) == ()


def test_a_history_that_cannot_be_read_just_now_is_not_taken_for_none(
    record: OwnRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the journal that Flow began would be somebody's from then on."""

    def unreadable(*_: object, **__: object) -> bytes:
        raise StorageError("cannot read it: Too many open files", file="own")

    record.journal(REL, None, journal("a: 1"))
    before = record.rows(REL)
    with monkeypatch.context() as patch:
        patch.setattr(written_files.files, "read_optional", unreadable)
        assert record.rows(REL) == ()
        with pytest.raises(StorageError):
            record.journal(REL, journal("a: 1"), journal("a: 1", "b: 2"))
    assert record.rows(REL) == before


def test_a_journal_that_is_made_again_is_known_by_all_of_it(record: OwnRecord) -> None:
    record.journal(REL, None, journal("a: 1"))
    record.journal(REL, journal("a: 9"), journal("a: 9", "b: 2"))
    record.journal(REL, None, journal("c: 3"))
    assert record.rows(REL)[-1].front == front_digest(b"---\nissue: 1\nc: 3\n")


def test_a_front_matter_that_changed_elsewhere_is_known_by_all_of_it(record: OwnRecord) -> None:
    """Only what is added at its end continues a digest."""
    record.journal(REL, None, journal("a: 1"))
    record.journal(REL, journal("a: 1"), journal("b: 2", "a: 1"))
    assert record.rows(REL)[-1].front == front_digest(b"---\nissue: 1\nb: 2\na: 1\n")
