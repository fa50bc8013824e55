"""A file of one command's own, outside of the checkout; and the end of what programs used."""

from __future__ import annotations

import os
import stat
import tempfile
from typing import TYPE_CHECKING, Any

import pytest

from flow.adapters.fs import temporary
from flow.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_it_is_there_for_the_while_and_nobody_elses(place: Path) -> None:
    with temporary.holding(b"data", "flow-a-") as path:
        assert os.path.dirname(os.path.dirname(path)) == str(place)
        assert stat.S_IMODE(os.lstat(os.path.dirname(path)).st_mode) == 0o700
        with open(path, "rb") as file:
            assert file.read() == b"data"
    assert os.listdir(place) == []


@pytest.mark.parametrize("at", ["mkdtemp", "open", "nowhere"])
def test_a_disk_that_refuses_it_is_told_and_leaves_nothing(
    place: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    real = os.open

    def full(*words: Any, **more: Any) -> Any:
        if at == "open" and not words[0].endswith("/content"):
            return real(*words, **more)
        if at == "nowhere":  # what tempfile says where no folder can be written
            raise FileNotFoundError(2, "No usable temporary directory found in ['/tmp']")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(*((os, "open") if at == "open" else (tempfile, "mkdtemp")), full)
    with pytest.raises(StorageError, match="no temporary file can be written: No "):
        with temporary.holding(b"data", "flow-a-"):
            pass
    monkeypatch.undo()
    assert os.listdir(place) == []


def _closed(path: Path) -> None:
    (path / "a/b").mkdir(parents=True)
    (path / "a/b/file").write_text("x")
    (path / "a/pipe").touch()
    for folder in (path / "a/b", path / "a", path):
        folder.chmod(0)


def _link(path: Path) -> None:
    other = path.with_name("other")
    other.mkdir()
    (other / "kept").write_text("x")
    path.symlink_to(other)


LEFT: dict[str, Callable[[Path], None]] = {
    "folders without permissions": _closed,
    "a pipe": os.mkfifo,  # Python 3.11's rmtree waits for its other end
    "a file": lambda path: path.write_text("x") and None,
    "a link to a folder": _link,
    "a link to nowhere": lambda path: path.symlink_to("gone"),
    "nothing": lambda path: None,
}


@pytest.mark.parametrize("left", LEFT)
def test_whatever_a_program_left_in_its_folders_place_goes(left: str, place: Path) -> None:
    path = place / "work"
    LEFT[left](path)
    assert temporary.remove_folder(str(path))
    assert not os.path.lexists(path)
    if left == "a link to a folder":
        assert (place / "other/kept").exists()
