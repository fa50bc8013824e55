"""Publishing files: whole or not at all, nothing through a symlink, every failure told."""

from __future__ import annotations

import errno
import hashlib
import os
import socket
import stat
import subprocess
import sys
import threading
from typing import NamedTuple

import pytest

from flow.adapters.fs import files
from flow.adapters.fs.folders import FREE_SPACE
from flow.adapters.git import find
from flow.errors import ContractError, RefusedError, StorageError
from tests.support.patience import LONG

WRITERS = {
    "publish_new": lambda root, rel: files.publish_new(root, rel, b"new"),
    "replace": lambda root, rel: files.replace(root, rel, b"new"),
    "append_line": lambda root, rel: files.append_line(root, rel, b"new"),
    "remove": files.remove,
    "copy_new": lambda root, rel: files.copy_new(root, rel, __file__),
}
READERS = {
    "read_bytes": files.read_bytes,
    "read_optional": files.read_optional,
    "digest": files.digest,
    "exists": files.exists,
}
EVERYTHING = {**WRITERS, **READERS}


def tree(folder):
    """Every path below ``folder`` with its bytes (None for a folder, the target for a link)."""
    found = {}
    for top, folders, names in os.walk(folder):
        for name in folders + names:
            path = os.path.join(top, name)
            rel = os.path.relpath(path, folder)
            if os.path.islink(path):
                found[rel] = os.readlink(path)
            elif os.path.isfile(path):
                with open(path, "rb") as file:
                    found[rel] = file.read()
            else:
                found[rel] = None
    return found


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "root"
    folder.mkdir()
    return str(folder)


def test_what_is_written_is_read_back(root):
    files.publish_new(root, "a/b/one", b"1")
    files.replace(root, "a/b/two", b"2")
    files.replace(root, "a/b/two", b"3")
    files.append_line(root, "a/log", b"first")
    files.append_line(root, "a/log", b"second\n")

    assert files.read_bytes(root, "a/b/one") == b"1"
    assert files.read_bytes(root, "a/b/two") == b"3"
    assert files.read_bytes(root, "a/log") == b"first\nsecond\n"
    assert files.digest(root, "a/b/one") == hashlib.sha256(b"1").hexdigest()
    assert files.leftovers(root, ("a",)) == []


def test_absent_is_none_and_only_absent(root):
    assert files.read_optional(root, "no/such") is None
    assert files.digest(root, "no/such") is None
    assert not files.exists(root, "no/such")
    files.remove(root, "no/such")
    with pytest.raises(StorageError) as caught:
        files.read_bytes(root, "no/such")
    assert caught.value.code == "not_found"
    assert tree(root) == {}, "reading made a folder"


@pytest.mark.parametrize("act", EVERYTHING.values(), ids=EVERYTHING)
@pytest.mark.parametrize("level", [0, 1, 2])
def test_a_symlink_at_any_level_is_refused_by_name(tmp_path, root, act, level):
    outside = tmp_path / "outside"
    (outside / "b").mkdir(parents=True)
    (outside / "b" / "f").write_bytes(b"secret")
    parts = ["a", "b", "f"]
    link = "/".join(parts[: level + 1])
    if level:
        os.makedirs(os.path.join(root, *parts[:level]))
    os.symlink(outside / "/".join(parts[1 : level + 1]) if level else outside, f"{root}/{link}")
    before = tree(outside)

    with pytest.raises(RefusedError) as caught:
        act(root, "a/b/f")

    assert caught.value.code == "unsafe_path"
    assert str(caught.value).startswith(f"{link}: is a symbolic link")
    assert tree(outside) == before
    assert files.leftovers(root, (".",)) == []


def test_the_root_itself_may_be_reached_through_a_symlink(tmp_path, root):
    (tmp_path / "link").symlink_to(root)
    files.publish_new(str(tmp_path / "link"), "a/f", b"x")
    assert files.read_bytes(root, "a/f") == b"x"


def test_a_folder_swapped_for_a_symlink_while_writing_leads_nowhere(tmp_path, root, monkeypatch):
    outside = tmp_path / "outside"
    outside.mkdir()
    os.mkdir(f"{root}/a")
    real = os.fsync

    def swap(fd):
        if not os.path.islink(f"{root}/a"):
            os.rename(f"{root}/a", f"{root}/old")
            os.symlink(outside, f"{root}/a")
        real(fd)

    monkeypatch.setattr(os, "fsync", swap)
    files.publish_new(root, "a/f", b"x")
    assert tree(outside) == {}
    assert tree(root)["old/f"] == b"x"


@pytest.mark.parametrize("act", EVERYTHING.values(), ids=EVERYTHING)
@pytest.mark.parametrize(
    "rel", ["", "/etc/passwd", "../x", "a/../x", "a/./x", "a//x", "a/", "a\0b", "\udfff\ud800"]
)
def test_a_path_that_could_leave_the_root_is_refused(root, act, rel):
    with pytest.raises(RefusedError) as caught:
        act(root, rel)
    assert caught.value.code == "unsafe_path"
    assert tree(root) == {}


@pytest.mark.parametrize("act", EVERYTHING.values(), ids=EVERYTHING)
@pytest.mark.parametrize("kind", ["fifo", "socket", "folder", "device"])
def test_only_regular_files_and_no_waiting(root, act, kind):
    path = f"{root}/f"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        os.mkdir(path)
    elif kind == "socket":
        here = os.getcwd()
        os.chdir(root)  # socket paths are short
        try:
            socket.socket(socket.AF_UNIX).bind("f")
        finally:
            os.chdir(here)
    else:
        try:
            os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 5))
        except OSError:
            pytest.skip("may not make a device here")
    failures = []

    def run():
        try:
            act(root, "f")
        except (RefusedError, StorageError) as error:
            failures.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(LONG)
    assert not thread.is_alive(), "it waits"
    assert len(failures) == 1
    assert failures[0].code in ("unsafe_path", "exists")
    assert files.leftovers(root, (".",)) == []


def test_a_size_limit_is_inclusive_and_one_error(root):
    files.publish_new(root, "f", b"x" * 10)
    assert files.read_bytes(root, "f", limit=10) == b"x" * 10
    with pytest.raises(ContractError) as caught:
        files.read_bytes(root, "f", limit=9)
    assert "f: is larger than 9 bytes" in str(caught.value)
    with pytest.raises(ContractError):
        files.copy_new(root, "copy", f"{root}/f", limit=9)
    assert set(tree(root)) == {"f"}


READERS = {
    "read_bytes": lambda root: files.read_bytes(root, "f", limit=1 << 20),
    "digest": lambda root: files.digest(root, "f", limit=1 << 20),
    "read_end": lambda root: files.read_end(root, "f", limit=1 << 20),
    "read_regular": lambda root: find.read_regular(f"{root}/f"),
}


@pytest.mark.parametrize("size", [1, 1000, 1 << 16])
@pytest.mark.parametrize("name", READERS)
def test_a_file_is_read_by_one_look_at_its_size_and_one_read(root, monkeypatch, name, size):
    files.publish_new(root, "f", b"x" * size)
    calls = []
    for call in ("fstat", "read", "pread"):
        real = getattr(os, call)
        monkeypatch.setattr(os, call, lambda *a, c=call, r=real: (calls.append(c), r(*a))[1])
    content = READERS[name](root)
    expected = hashlib.sha256(b"x" * size).hexdigest() if name == "digest" else b"x" * size
    assert content == expected
    assert calls == ["fstat", "pread" if name == "read_end" else "read"]


@pytest.mark.parametrize("added", [1, 1 << 17])
@pytest.mark.parametrize("name", ["read_bytes", "digest", "read_regular"])
def test_what_is_appended_before_the_read_is_read_too(root, monkeypatch, name, added):
    files.publish_new(root, "f", b"x" * 1000)
    real = os.fstat

    def grown(fd):
        status = real(fd)
        with open(f"{root}/f", "ab") as file:
            file.write(b"y" * added)
        return status

    monkeypatch.setattr(os, "fstat", grown)
    content = READERS[name](root)
    monkeypatch.undo()
    assert content == READERS[name](root)


def test_a_taken_name_is_refused_and_nothing_stays(root):
    files.publish_new(root, "f", b"first")
    for act in (WRITERS["publish_new"], WRITERS["copy_new"]):
        with pytest.raises(RefusedError) as caught:
            act(root, "f")
        assert caught.value.code == "exists"
    with pytest.raises(RefusedError):
        files.publish_file(root, "f", __file__)
    assert tree(root) == {"f": b"first"}


def test_of_500_racing_publishers_exactly_one_wins(root):
    barrier = threading.Barrier(50)
    won, lost, other = [], [], []

    def race(number):
        barrier.wait()
        for name in range(10):
            try:
                files.publish_new(root, f"d/{name}", f"{number}".encode())
                won.append((name, number))
            except RefusedError:
                lost.append(number)
            except Exception as error:
                other.append(error)

    threads = [threading.Thread(target=race, args=(n,)) for n in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert not other
    assert (len(won), len(lost)) == (10, 490)
    for name, number in won:
        assert files.read_bytes(root, f"d/{name}") == f"{number}".encode()
    assert len(os.listdir(f"{root}/d")) == 10


RACER = """
import sys
from flow.adapters.fs import files
from flow.adapters.fs.folders import FREE_SPACE
from flow.errors import RefusedError
root, me = sys.argv[1:]
won = 0
for name in range(60):
    try:
        files.publish_new(root, f"d/{name}", me.encode() * 50_000)
        won += 1
    except RefusedError:
        pass
print(won)
"""


def test_racing_processes_never_replace_each_other(root):
    args = [sys.executable, "-c", RACER, root]
    racers = [
        subprocess.Popen([*args, str(n)], stdout=subprocess.PIPE, text=True) for n in range(6)
    ]
    assert sum(int(racer.communicate(timeout=10 * LONG)[0]) for racer in racers) == 60
    for name in range(60):
        data = files.read_bytes(root, f"d/{name}")
        assert len(data) == 50_000
        assert len(set(data)) == 1


class Failing:
    """Makes the nth call of an ``os`` function fail, once."""

    def __init__(self, monkeypatch, name, number, at=1):
        real, self.calls = getattr(os, name), 0

        def call(*args, **kwargs):
            self.calls += 1
            if self.calls == at:
                raise OSError(number, os.strerror(number))
            return real(*args, **kwargs)

        monkeypatch.setattr(os, name, call)


CODES = ["ENOSPC", "EDQUOT", "EIO", "EROFS", "EACCES", "EMFILE", "ENAMETOOLONG"]
PUBLISHING = ["publish_new", "replace", "append_line", "copy_new"]


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("call", ["open", "write", "fsync", "link", "rename", "mkdir"])
@pytest.mark.parametrize("writer", PUBLISHING)
def test_a_failing_call_is_told_and_leaves_what_was(root, monkeypatch, writer, call, code):
    if writer == "replace":
        files.publish_new(root, "d/f", b"old")
    if writer == "append_line":
        files.append_line(root, "d/f", b"old")
    os.makedirs(f"{root}/d", exist_ok=True)
    number, at = getattr(errno, code), 1
    while True:
        before = tree(root)
        with monkeypatch.context() as patch:
            failing = Failing(patch, call, number, at)
            try:
                WRITERS[writer](root, "d/f")
                failed = None
            except StorageError as error:
                failed = error
        if failed is None:
            assert failing.calls < at or call == "open", "a failure was swallowed"
            break
        assert failed.fault.file
        assert os.strerror(number) in str(failed)
        assert failed.fault.remedy
        after = tree(root)
        if writer == "replace" and call == "fsync" and at > 1:
            assert after == {**before, "d/f": b"new"}, "whole, though perhaps not on the disk"
        else:
            assert after == before
        at += 1
        assert at < 20


def test_a_short_write_is_continued(root, monkeypatch):
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, bytes(data)[:7]))
    data = bytes(range(256))
    files.publish_new(root, "f", data)
    files.append_line(root, "log", b"a whole line of text")
    assert files.read_bytes(root, "f") == data
    assert files.read_bytes(root, "log") == b"a whole line of text\n"


def test_a_write_that_takes_nothing_is_a_full_disk(root, monkeypatch):
    monkeypatch.setattr(os, "write", lambda fd, data: 0)
    with pytest.raises(StorageError, match="No space left"):
        files.publish_new(root, "f", b"x")
    assert tree(root) == {}


class Disk(NamedTuple):
    """What a file system says of its room."""

    f_frsize: int = 4096
    f_blocks: int = 1000
    f_bfree: int = 20
    f_bavail: int = 10
    f_files: int = 1000
    f_favail: int = files.FILES_NEEDED


@pytest.mark.parametrize(
    ("disk", "user", "needed", "room"),
    [
        (Disk(), 1000, 40960, True),
        (Disk(), 1000, 40961, False),
        (Disk(), 0, 40961, True),
        (Disk(), 0, 81921, False),
        (Disk(f_bavail=0, f_bfree=0), 0, 1, False),
        (Disk(f_blocks=0, f_bavail=0, f_bfree=0), 1000, 1 << 20, True),
        (Disk(f_favail=files.FILES_NEEDED - 1), 1000, 1, False),
        (Disk(f_files=0, f_favail=0), 1000, 1, True),
    ],
)
def test_a_disk_has_room_or_is_told_to_be_full(root, monkeypatch, disk, user, needed, room):
    monkeypatch.setattr(os, "statvfs", lambda path: disk)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    if room:
        files.check_space(root, needed)
        return
    with pytest.raises(StorageError, match="No space left") as caught:
        files.check_space(root, needed)
    assert caught.value.fault.remedy == FREE_SPACE
    assert caught.value.fault.file == ".flow/runs"


def test_a_failed_sync_is_never_tried_again(root, monkeypatch):
    calls = []

    def fsync(fd):
        calls.append(os.fstat(fd).st_ino)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", fsync)
    for writer in PUBLISHING:
        calls.clear()
        with pytest.raises(StorageError, match="Input/output error"):
            WRITERS[writer](root, f"{writer}.f")
        assert len(calls) == 1, writer


def test_a_file_system_without_links_is_named(root, monkeypatch):
    Failing(monkeypatch, "link", errno.EPERM)
    with pytest.raises(StorageError) as caught:
        files.publish_new(root, "f", b"x")
    assert caught.value.code == "no_hard_links"
    assert "no hard links" in str(caught.value)
    assert tree(root) == {}


def test_a_name_that_is_too_long(root):
    with pytest.raises(StorageError, match="File name too long"):
        files.publish_new(root, "d/" + "x" * 256, b"x")
    assert tree(root) == {"d": None}


def test_no_descriptor_is_lost(root):
    files.publish_new(root, "d/f", b"x")
    os.symlink("/", f"{root}/link")
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for name, act in EVERYTHING.items():
        for rel in ("d/f", "d/f/below", "no/such", "link/x", f"d/{name}"):
            try:
                act(root, rel)
            except (RefusedError, StorageError):
                pass
    if before:
        assert len(os.listdir("/proc/self/fd")) <= before


@pytest.mark.parametrize(("umask", "mode"), [(0o000, 0o644), (0o022, 0o644), (0o077, 0o600)])
def test_modes_follow_the_umask_and_are_never_open_to_others(root, umask, mode):
    old = os.umask(umask)
    try:
        files.publish_new(root, "d/new", b"x")
        files.replace(root, "d/replaced", b"x")
        files.append_line(root, "d/log", b"x")
        files.copy_new(root, "d/copy", __file__)
        files.publish_new(root, "d/private", b"x", mode=0o600)
    finally:
        os.umask(old)
    found = {
        name: stat.S_IMODE(os.stat(f"{root}/d/{name}").st_mode) for name in os.listdir(f"{root}/d")
    }
    assert found == {
        "new": mode, "replaced": mode, "log": mode, "copy": mode, "private": 0o600,
    }  # fmt: skip
    assert stat.S_IMODE(os.stat(f"{root}/d").st_mode) & 0o022 == 0


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
def test_a_replaced_file_keeps_its_mode(root, mode):
    files.publish_new(root, "f", b"x")
    os.chmod(f"{root}/f", mode)
    files.replace(root, "f", b"y")
    assert stat.S_IMODE(os.stat(f"{root}/f").st_mode) == mode


def test_a_torn_tail_is_ended_before_the_next_line(root):
    files.append_line(root, "log", b"whole")
    with open(f"{root}/log", "ab") as file:
        file.write(b'{"half":')
    files.append_line(root, "log", b"next")
    assert files.read_bytes(root, "log") == b'whole\n{"half":\nnext\n'


def test_a_line_is_one_line(root):
    with pytest.raises(ValueError, match="one line"):
        files.append_line(root, "log", b"two\nlines")


def test_staged_changes_nothing_until_it_is_put(root):
    files.publish_new(root, "d/f", b"old")
    with files.staged(root, "d/f", b"new"):
        assert files.read_bytes(root, "d/f") == b"old"
    assert tree(root) == {"d": None, "d/f": b"old"}
    with files.staged(root, "d/f", b"new") as put:
        put()
        assert files.read_bytes(root, "d/f") == b"new"
    assert tree(root) == {"d": None, "d/f": b"new"}


def test_publish_file_links_and_copies_across_file_systems(root, tmp_path, monkeypatch):
    source = tmp_path / "raw"
    source.write_bytes(b"output")
    files.publish_file(root, "d/linked", str(source))
    Failing(monkeypatch, "link", errno.EXDEV)
    files.publish_file(root, "d/copied", str(source))
    assert files.read_bytes(root, "d/linked") == files.read_bytes(root, "d/copied") == b"output"
    assert source.exists(), "the caller drops it"


@pytest.mark.parametrize("act", [files.publish_file, files.copy_new])
def test_a_source_that_is_a_symlink_is_refused(root, tmp_path, act):
    (tmp_path / "link").symlink_to("/etc/passwd")
    with pytest.raises(RefusedError):
        act(root, "f", str(tmp_path / "link"))
    assert tree(root) == {}


def test_names_are_sorted_and_bounded(root):
    for name in ("b.x", "a.x", "c.y", files.TEMP_PREFIX + "d.x"):
        files.publish_new(root, f"d/{name}", b"")
    assert files.names(root, "d", suffix=".x", limit=2) == ["a.x", "b.x"]
    assert files.names(root, "no", suffix=".x", limit=2) == []
    with pytest.raises(StorageError, match="more than 1"):
        files.names(root, "d", suffix=".x", limit=1)


def test_leftovers_are_found_and_links_not_followed(root, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / ".flow-tmp-1").write_bytes(b"")
    files.publish_new(root, ".flow/runs/r/.flow-tmp-2", b"")
    files.publish_new(root, ".decisions/.flow-tmp-3", b"")
    files.publish_new(root, "src/.flow-tmp-4", b"")
    os.symlink(tmp_path / "outside", f"{root}/.flow/out")
    assert files.leftovers(root) == [".decisions/.flow-tmp-3", ".flow/runs/r/.flow-tmp-2"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_an_error_never_absent(root):
    files.publish_new(root, "d/f", b"x")
    os.chmod(f"{root}/d/f", 0)
    with pytest.raises(StorageError, match="Permission denied"):
        files.read_optional(root, "d/f")
    os.chmod(f"{root}/d", 0)
    with pytest.raises(StorageError, match="Permission denied"):
        files.read_optional(root, "d/f")
    os.chmod(f"{root}/d", 0o755)


@pytest.mark.parametrize("folder", ["a", "link", "gone", "closed"])
def test_stamps_of_one_folder_are_those_of_each_file(tmp_path, folder):
    root = str(tmp_path)
    for name in ("a", "closed"):
        os.mkdir(f"{root}/{name}")
        for file in ("one", "two"):
            files.publish_new(root, f"{name}/{file}", file.encode())
        os.symlink("one", f"{root}/{name}/pointer")
    os.symlink("a", f"{root}/link")
    os.chmod(f"{root}/closed", 0o100)
    names = ["two", "absent", "pointer", "one"]
    paths = {name: f"{folder}/{name}" for name in names}
    stamps = files.stamps(root, paths)
    os.chmod(f"{root}/closed", 0o700)
    assert stamps == {path: files.stamp(root, path) for path in paths.values()}
    assert list(map(bool, stamps.values())) == [folder != "gone" and n != "absent" for n in names]
