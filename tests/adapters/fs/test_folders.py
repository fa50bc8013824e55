"""Folders that a thread holds: one walk to each, and still nothing through a symlink."""

from __future__ import annotations

import os
import sys
import threading

import pytest

from flow.adapters.fs import files
from flow.adapters.fs.folders import folders_kept_open, split
from flow.errors import RefusedError, StorageError
from tests.support.patience import LONG

FOLDER = "a/b"


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "root"
    folder.mkdir()
    return str(folder)


def swap(root, to):
    """Put something else in the place of the folder."""
    os.rename(f"{root}/{FOLDER}", f"{root}/moved")
    if to == "link":
        os.mkdir(f"{root}/../outside")
        os.symlink("../../outside", f"{root}/{FOLDER}")
    elif to == "folder":
        os.mkdir(f"{root}/{FOLDER}")


@pytest.mark.parametrize("to", ["link", "folder", "nothing"])
def test_what_is_written_within_stays_in_the_folder_that_was_there(root, to):
    with folders_kept_open(root, FOLDER):
        files.publish_new(root, f"{FOLDER}/one", b"1")
        swap(root, to)
        files.append_line(root, f"{FOLDER}/log", b"line")
        files.publish_new(root, f"{FOLDER}/two", b"2")
        assert files.read_bytes(root, f"{FOLDER}/one") == b"1"
    assert sorted(os.listdir(f"{root}/moved")) == ["log", "one", "two"]
    if to == "link":
        assert os.listdir(f"{root}/../outside") == []
        with pytest.raises(RefusedError, match="symbolic link"):
            files.read_optional(root, f"{FOLDER}/one")
    else:
        assert files.read_optional(root, f"{FOLDER}/one") is None


@pytest.mark.parametrize("to", ["link", "folder", "nothing"])
def test_what_is_below_it_is_walked_to_from_there(root, to, monkeypatch):
    os.makedirs(f"{root}/{FOLDER}/c")
    with folders_kept_open(root, FOLDER):
        swap(root, to)
        opened = []
        plain_open = os.open
        monkeypatch.setattr(
            os, "open", lambda path, *how, **at: opened.append(path) or plain_open(path, *how, **at)
        )
        files.publish_new(root, f"{FOLDER}/c/one", b"1")
        assert files.read_bytes(root, f"{FOLDER}/c/one") == b"1"
        with folders_kept_open(root, f"{FOLDER}/c", f"{FOLDER}/new"):
            files.publish_new(root, f"{FOLDER}/new/two", b"2")
        assert root not in opened
        os.symlink("c", f"{root}/moved/link")
        with pytest.raises(RefusedError, match="link: is a symbolic link"):
            files.read_optional(root, f"{FOLDER}/link/one")
    monkeypatch.undo()
    assert sorted(os.listdir(f"{root}/moved")) == ["c", "link", "new"]
    assert os.listdir(f"{root}/moved/c") + os.listdir(f"{root}/moved/new") == ["one", "two"]
    if to == "link":
        assert os.listdir(f"{root}/../outside") == []


@pytest.mark.parametrize("name", ["one", "log", "gone"])
def test_a_name_in_it_that_is_a_link_is_refused_as_ever(root, tmp_path, name):
    outside = tmp_path / "outside"
    outside.write_bytes(b"theirs")
    with folders_kept_open(root, FOLDER):
        os.symlink(outside, f"{root}/{FOLDER}/{name}")
        for call in (files.read_bytes, files.digest, files.exists, files.remove):
            with pytest.raises(RefusedError, match="symbolic link"):
                call(root, f"{FOLDER}/{name}")
        with pytest.raises(RefusedError):
            files.append_line(root, f"{FOLDER}/{name}", b"mine")
    assert outside.read_bytes() == b"theirs"


def test_only_the_thread_that_holds_it_goes_there(root):
    seen = []

    def look():
        seen.append(files.read_optional(root, f"{FOLDER}/one"))

    with folders_kept_open(root, FOLDER):
        files.publish_new(root, f"{FOLDER}/one", b"1")
        swap(root, "folder")
        thread = threading.Thread(target=look)
        thread.start()
        thread.join(LONG)
        look()
        child = os.fork()
        if child == 0:
            os._exit(files.read_optional(root, f"{FOLDER}/one") is not None)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert seen == [None, b"1"]


def test_whose_process_it_is_is_not_asked_at_each_access(root, monkeypatch):
    """A fork forgets the held folders; the system is asked for nothing but the file."""
    files.publish_new(root, f"{FOLDER}/one", b"1")
    monkeypatch.setattr(os, "getpid", lambda: pytest.fail("asked"))
    with folders_kept_open(root, FOLDER):
        assert files.read_optional(root, f"{FOLDER}/one") == b"1"


def test_a_forked_process_may_leave_the_block(root):
    child = -1
    try:
        with folders_kept_open(root, FOLDER):
            child = os.fork()
    finally:
        if child == 0:
            os._exit(sys.exc_info()[0] is not None)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def descriptors():
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("how", ["left", "raised", "again", "refused"])
def test_nothing_stays_open(root, how):
    before = descriptors()
    if how == "left":
        with folders_kept_open(root, FOLDER, "a"):
            files.exists(root, f"{FOLDER}/one")
    elif how == "again":
        with folders_kept_open(root, FOLDER), folders_kept_open(root, FOLDER, "a"):
            pass
    elif how == "raised":
        with pytest.raises(ZeroDivisionError), folders_kept_open(root, FOLDER):
            raise ZeroDivisionError
    else:
        os.symlink("a", f"{root}/link")
        with pytest.raises(RefusedError), folders_kept_open(root, FOLDER, "link/b"):
            pass
    assert descriptors() == before
    swap(root, "folder")
    assert files.read_optional(root, f"{FOLDER}/one") is None


@pytest.mark.parametrize("what", ["nothing", "link", "file"])
def test_to_read_nothing_is_made_and_each_access_says_why(root, what):
    if what == "link":
        os.symlink(".", f"{root}/a")
    elif what == "file":
        open(f"{root}/a", "w").close()
    with folders_kept_open(root, FOLDER, make=False):
        if what == "nothing":
            assert files.read_optional(root, f"{FOLDER}/one") is None
            assert os.listdir(root) == []
        else:
            with pytest.raises(RefusedError):
                files.read_optional(root, f"{FOLDER}/one")


def test_an_error_of_the_system_names_the_file(root):
    with folders_kept_open(root, FOLDER):
        os.rmdir(f"{root}/{FOLDER}")
        with pytest.raises(StorageError) as caught:
            files.publish_new(root, f"{FOLDER}/one", b"1")
    assert caught.value.fault.file == f"{FOLDER}/one"


@pytest.mark.parametrize(
    "rel", ["", "/", "a//b", "../a", "a/..", "a/./b", "a\0b", "a/", "\udc00x\ud800"]
)
def test_no_path_leads_out_however_often_it_is_asked(rel):
    for _ in range(2):
        with pytest.raises(RefusedError):
            split(rel)
