"""``--output``: a file of the user's is there whole, as it was or as it is to be."""

from __future__ import annotations

import os
import resource
import signal
import sys
from typing import TYPE_CHECKING

import pytest

from flow.cli.written import write_out
from flow.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No file may grow beyond 100 bytes."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # it is cut off, and taken for whole
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


def test_new_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_out(str(path), "one é", "page")
    path.chmod(0o600)
    write_out(str(path), "two", "page")
    assert path.read_text(encoding="utf-8") == "two"
    assert path.stat().st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path) == ["page.html"]


def test_what_does_not_fit_leaves_what_was_there(tmp_path: Path, full_disk: None) -> None:
    path = tmp_path / "page.html"
    path.write_text("as it was")
    with pytest.raises(StorageError, match="cannot write the page") as raised:
        write_out(str(path), "x" * 1000, "page")
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
    with pytest.raises(StorageError, match="cannot write the bundle: "):
        write_out(f"{tmp_path}/{name}", "text", "bundle")
    assert sorted(os.listdir(tmp_path)) == before
    assert (tmp_path / "kept").read_text() == "kept"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    write_out(str(path), "text", "bundle")
    assert os.read(reader, 100) == b"text"
    os.close(reader)
    with pytest.raises(StorageError):  # nobody reads it: that is not waited for
        write_out(str(path), "text", "bundle")
