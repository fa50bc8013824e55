"""The clean files of a cache: what is written is what is read, by folder and by path."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest

from flow.adapters.worktree import clean_files
from flow.adapters.worktree.clean_files import CleanFiles, clean_blocks, packed_stamps
from flow.adapters.worktree.folder_look import look_at

WIDTH = 21
PATHS = (
    b"a",
    b"a.b/c",
    b"a/b",
    b"a/b.c/d",
    b"a/c",
    b"a/d/e/f",
    b"b\xff/\xfe",
    "ü/ß".encode(),
    b"z",
)
"""Sorted as paths, the files of one folder are not side by side."""


def stamps_of(number: int) -> bytes:
    return struct.pack("<QQQQI", number, number, number, number, 33188)


STAMPS = {path: stamps_of(number) for number, path in enumerate(PATHS)}
ENTRIES = {path: bytes([0]) + bytes([number]) * 20 for number, path in enumerate(PATHS)}


def clean_of(paths: tuple[bytes, ...]) -> CleanFiles:
    stamps = {path: STAMPS[path] for path in paths}
    return CleanFiles(WIDTH, *clean_blocks(stamps, ENTRIES.get))


@pytest.mark.parametrize("paths", [(), PATHS, *((path,) for path in PATHS)], ids=repr)
@pytest.mark.parametrize("indexed", [0, clean_files._MOST_INDEXED])
def test_all_that_was_written_is_read(
    monkeypatch: pytest.MonkeyPatch, paths: tuple[bytes, ...], indexed: int
) -> None:
    monkeypatch.setattr(clean_files, "_MOST_INDEXED", indexed)
    clean = clean_of(paths)
    assert len(clean) == len(paths)
    assert sorted(clean) == sorted(clean.keys()) == sorted(paths)
    assert clean.all_stamps() == {path: STAMPS[path] for path in paths} == {**clean}
    for path in PATHS:
        assert (path in clean) is (path in paths)
        assert clean.packed_entry(path) == (ENTRIES[path] if path in paths else None)
        if path not in paths:
            with pytest.raises(KeyError):
                clean[path]
    for other in (b"", b"a/", b"nothing", b"a/b\0c", b"a/b.c/d/e"):
        assert other not in clean


def test_a_folder_has_its_own_files_only() -> None:
    clean = clean_of(PATHS)
    assert list(clean.paths_in(b"")) == [b"a", b"z"]
    assert list(clean.paths_in(b"a/")) == [b"a/b", b"a/c"]
    assert clean.names(b"a/") == b"b\0c"
    assert clean.stamps(b"a/") == STAMPS[b"a/b"] + STAMPS[b"a/c"]
    assert (clean.names(b"a"), clean.stamps(b"a/d/"), list(clean.paths_in(b"x/"))) == (b"", b"", [])


def test_blocks_that_do_not_fit_each_other_are_refused() -> None:
    good = clean_blocks(STAMPS, ENTRIES.get)
    for number, block in enumerate(good):
        shorter = block[:-1] if number else b""  # a folder by another name fits
        for bad in (b"", shorter, block + b"\0", block * 2):
            with pytest.raises((ValueError, struct.error)):
                CleanFiles(WIDTH, *good[:number], bad, *good[number + 1 :])


def folder_with(tmp_path: Path, *names: str) -> CleanFiles:
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    stamps = {name.encode(): packed_stamps(os.lstat(tmp_path / name)) for name in names}
    return CleanFiles(WIDTH, *clean_blocks(stamps, lambda _: bytes(WIDTH)))


def test_a_look_names_what_is_not_as_it_was(tmp_path: Path) -> None:
    clean = folder_with(tmp_path, "d/same", "d/gone", "d/edited", "d/folder", "d/link", "d/doubt")
    folder = tmp_path / "d"
    for name in ("gone", "folder", "link"):
        (folder / name).unlink()
    (folder / "edited").write_text("other")
    (folder / "folder").mkdir()
    (folder / "link").symlink_to("folder")
    (folder / "new").write_text("new")
    (folder / "inside").mkdir()
    top = os.open(tmp_path, os.O_RDONLY)
    try:
        look = look_at(top, b"d/", clean, [b"d/doubt"])
        assert sorted(look.files) == [
            b"d/doubt",
            b"d/edited",
            b"d/link",
            b"d/new",
        ]
        assert sorted(look.folders) == [b"d/folder", b"d/inside"]
        assert sorted(look.missing) == [b"d/folder", b"d/gone"]
        quiet = look_at(top, b"", clean)
        assert (quiet.files, quiet.folders, quiet.missing) == ([], [b"d"], [])
    finally:
        os.close(top)


@pytest.mark.parametrize("instead", ["nothing", "a file", "a symlink to a folder"])
def test_what_is_no_folder_now_is_not_looked_into(tmp_path: Path, instead: str) -> None:
    clean = folder_with(tmp_path, "d/file")
    (tmp_path / "d").rename(tmp_path / "elsewhere")
    if instead == "a file":
        (tmp_path / "d").write_text("")
    elif instead != "nothing":
        (tmp_path / "d").symlink_to("elsewhere")
    top = os.open(tmp_path, os.O_RDONLY)
    try:
        with pytest.raises(OSError, match="d/") as caught:
            look_at(top, b"d/", clean)
        assert caught.value.filename == b"d/"
    finally:
        os.close(top)
