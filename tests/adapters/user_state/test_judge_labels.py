"""The user's record of what people and judges said: real files, real modes."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from flow.adapters.user_state.judge_labels import FILE, LabelLog
from flow.app.judging.labelling import LabelLine
from flow.core.judging.rubric.calibration import Label
from flow.errors import ContractError, RefusedError

NOW = "2026-11-21T12:00:00Z"


def line(
    key: str = "k", *, judge: str = "claude", person: bool = True, judged: bool = True
) -> LabelLine:
    return LabelLine(NOW, judge, key, f"case {key}", person, judged, "calibrate")


@pytest.fixture
def book(tmp_path: Path) -> LabelLog:
    return LabelLog(str(tmp_path / "state"), None, None)


def test_nothing_is_there_at_first(book: LabelLog) -> None:
    assert (book.lines(), book.labels("claude"), book.warnings) == ((), (), ())


def test_what_is_added_is_read(book: LabelLog, tmp_path: Path) -> None:
    book.add([line("a"), line("b", judged=False)])
    book.add([line("c", judge="openai:ü")])
    assert [x.key for x in book.lines()] == ["a", "b", "c"]
    assert book.labels("claude") == (Label(True, True), Label(True, False))
    path = tmp_path / "state" / FILE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_of_one_judge_about_one_thing_the_newest_counts(book: LabelLog) -> None:
    book.add([line("a"), line("b"), line("a", person=False), line("a", judge="other")])
    assert book.labels("claude") == (Label(True, True), Label(False, True))
    assert book.labels("other") == (Label(True, True),)


TORN = [
    b"{", b"[]", b"null", b"{}", b"\xff", b'{"at": 1}',
    json.dumps({**line()._asdict(), "person": "yes"}).encode(),
    json.dumps({**line()._asdict(), "judge": None}).encode(),
]  # fmt: skip


@pytest.mark.parametrize("text", TORN)
def test_a_line_that_is_not_whole_is_skipped_and_said(
    text: bytes, book: LabelLog, tmp_path: Path
) -> None:
    book.add([line("a")])
    path = tmp_path / "state" / FILE
    path.write_bytes(path.read_bytes() + text)
    book.add([line("b")])
    assert [x.key for x in book.lines()] == ["a", "b"]
    assert book.warnings == (f"{FILE}: line 2 is not whole and was skipped",)


def test_a_folder_in_the_checkout_is_refused(tmp_path: Path) -> None:
    top = tmp_path / "repo"
    top.mkdir()
    book = LabelLog(str(top / "state"), str(top), None)
    with pytest.raises(RefusedError, match="inside the checkout"):
        book.add([line()])
    with pytest.raises(RefusedError, match="inside the checkout"):
        book.lines()
    assert not (top / "state").exists()


@pytest.mark.parametrize("which", ["folder", "file"])
def test_what_others_may_write_is_refused(which: str, book: LabelLog, tmp_path: Path) -> None:
    book.add([line()])
    path = tmp_path / "state" if which == "folder" else tmp_path / "state" / FILE
    os.chmod(path, 0o777 if which == "folder" else 0o666)
    with pytest.raises(RefusedError, match="may be written by others"):
        book.lines()


def test_a_symlink_is_refused(book: LabelLog, tmp_path: Path) -> None:
    book.add([line()])
    path = tmp_path / "state" / FILE
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RefusedError, match="symbolic link"):
        book.lines()


def test_a_file_without_end_is_refused(book: LabelLog, tmp_path: Path) -> None:
    book.add([line()])
    with open(tmp_path / "state" / FILE, "r+b") as file:
        file.truncate(1 << 40)
    with pytest.raises(ContractError):
        book.lines()
