"""Locks: alone, bounded, gone with their holder, the same for both ways of taking them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from flow.adapters.fs.locks import exclusive
from flow.errors import LockTimeout, RefusedError, StorageError
from tests.support.patience import LONG

REL = ".flow/runs/.locks/goal-x.lock"
WAYS = pytest.mark.parametrize("quick", [True, False], ids=["fcntl", "filelock"])

HOLDER = """
import sys, time
from flow.adapters.fs.locks import exclusive
root, rel, quick = sys.argv[1:]
with exclusive(root, rel, quick=quick == "True"):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def root(tmp_path):
    return str(tmp_path)


@pytest.fixture
def hold(root):
    """Starts processes that hold a lock until they are let go."""
    started = []

    def start(quick, rel=REL):
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, root, rel, str(quick)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout.readline() == "held\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate(timeout=LONG)


@WAYS
@pytest.mark.parametrize("other", [True, False], ids=["by fcntl", "by filelock"])
def test_both_ways_exclude_each_other(root, hold, quick, other):
    holder = hold(other)
    with pytest.raises(LockTimeout) as caught, exclusive(root, REL, timeout=0.2, quick=quick):
        pass
    assert caught.value.fault.file == REL
    assert caught.value.fault.remedy
    holder.communicate("go\n", timeout=LONG)
    with exclusive(root, REL, timeout=LONG, quick=quick):
        pass


@WAYS
def test_a_lock_outside_the_checkout_is_named_whole(root, hold, quick):
    """A message that named ``own/1e8e/rows.lock`` said nothing of the state folder."""
    hold(quick, "own/rows.lock")
    with pytest.raises(LockTimeout) as caught, exclusive(root, "own/rows.lock", timeout=0.1):
        pass
    assert caught.value.fault.file == f"{root}/own/rows.lock"


@WAYS
@pytest.mark.parametrize("other", [True, False], ids=["by fcntl", "by filelock"])
def test_a_killed_holder_frees_it(root, hold, quick, other):
    holder = hold(other)
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait(LONG)
    with exclusive(root, REL, timeout=LONG, quick=quick):
        pass


@WAYS
def test_children_do_not_inherit_it(root, quick):
    with exclusive(root, REL, quick=quick):
        child = subprocess.Popen(["sleep", f"{2 * LONG}"], close_fds=False)
    try:
        with exclusive(root, REL, timeout=LONG, quick=not quick):
            pass
    finally:
        child.kill()
        child.wait(LONG)


@WAYS
def test_a_lock_file_deleted_while_held_is_noticed_by_who_waited(root, hold, quick):
    holder = hold(True)
    entered, leave = threading.Event(), threading.Event()

    def wait():
        with exclusive(root, REL, timeout=LONG, quick=quick):
            entered.set()
            leave.wait(LONG)

    waiter = threading.Thread(target=wait)
    waiter.start()
    time.sleep(0.2)
    os.unlink(f"{root}/{REL}")  # the waiter may have the old file open
    holder.communicate("go\n", timeout=LONG)
    assert entered.wait(LONG)
    with pytest.raises(LockTimeout), exclusive(root, REL, timeout=0, quick=not quick):
        pass
    leave.set()
    waiter.join(LONG)


@WAYS
def test_a_lock_file_deleted_between_opening_and_locking(root, monkeypatch, quick):
    import fcntl

    real, deleted = fcntl.flock, []

    def flock(fd, operation):
        if not deleted:
            os.unlink(f"{root}/{REL}")
            deleted.append(True)
        return real(fd, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    impatient = HOLDER.replace("rel, quick=", "rel, timeout=0.2, quick=")
    with exclusive(root, REL, timeout=LONG, quick=quick):
        other = subprocess.run(
            [sys.executable, "-c", impatient, root, REL, "True"],
            capture_output=True,
            text=True,
            timeout=LONG,
        )
    assert deleted
    assert "LockTimeout" in other.stderr
    assert "held" not in other.stdout


@WAYS
def test_a_thread_may_take_it_again_and_others_wait(root, quick):
    order = []

    def other():
        with exclusive(root, REL, timeout=LONG, quick=quick):
            order.append("other")

    thread = threading.Thread(target=other)
    with exclusive(root, REL, quick=quick):
        with exclusive(root, REL, quick=not quick):
            thread.start()
        time.sleep(0.2)
        order.append("first")
    thread.join(LONG)
    assert order == ["first", "other"]


@WAYS
@pytest.mark.parametrize("again", [True, False], ids=["again by fcntl", "again by filelock"])
def test_a_thread_may_take_it_again_by_another_path(root, tmp_path, quick, again):
    other = tmp_path.with_name(f"{tmp_path.name}-other")
    other.symlink_to(tmp_path)
    with exclusive(root, REL, quick=quick):
        with exclusive(str(other), REL, timeout=0.2, quick=again):
            pass
        impatient = HOLDER.replace("rel, quick=", "rel, timeout=0.2, quick=")
        outcome = subprocess.run(
            [sys.executable, "-c", impatient, root, REL, "True"],
            capture_output=True,
            text=True,
            timeout=LONG,
        )
    assert "LockTimeout" in outcome.stderr, "the inner one has let it go"


@WAYS
def test_an_error_inside_frees_it(root, quick):
    with pytest.raises(ZeroDivisionError), exclusive(root, REL, quick=quick):
        raise ZeroDivisionError
    done = []
    thread = threading.Thread(target=lambda: done.append(_take(root, quick)))
    thread.start()
    thread.join(LONG)
    assert done == [True]


def _take(root, quick):
    with exclusive(root, REL, timeout=LONG, quick=quick):
        return True


@WAYS
def test_a_forked_child_does_not_think_it_holds_it(root, quick):
    with exclusive(root, REL, quick=quick):
        child = os.fork()
        if child == 0:
            try:
                with exclusive(root, REL, timeout=0.2, quick=quick):
                    os._exit(1)
            except LockTimeout:
                os._exit(0)
            finally:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@WAYS
@pytest.mark.parametrize(
    "what", ["link to a file", "link to nothing", "link above", "folder", "fifo"]
)
def test_only_a_regular_file_in_real_folders(root, tmp_path, quick, what):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "goal-x.lock").write_text("theirs")
    path = tmp_path / REL
    path.parent.parent.mkdir(parents=True)
    if what == "link above":
        path.parent.symlink_to(outside)
    else:
        path.parent.mkdir()
    if what == "link to a file":
        path.symlink_to(outside / "goal-x.lock")
    elif what == "link to nothing":
        path.symlink_to(outside / "new")
    elif what == "folder":
        path.mkdir()
    elif what == "fifo":
        os.mkfifo(path)
    with pytest.raises(RefusedError) as caught, exclusive(root, REL, timeout=1, quick=quick):
        pass
    assert caught.value.code == "unsafe_path"
    assert (outside / "goal-x.lock").read_text() == "theirs"
    assert sorted(os.listdir(outside)) == ["goal-x.lock"]


@WAYS
def test_a_folder_that_cannot_be_made(root, tmp_path, quick):
    (tmp_path / ".flow").write_text("a file")
    with pytest.raises(RefusedError, match="is not a folder"), exclusive(root, REL, quick=quick):
        pass


@WAYS
def test_a_file_system_without_locks(root, monkeypatch, quick):
    import errno
    import fcntl

    def flock(fd, operation):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(StorageError, match="No locks available"), exclusive(root, REL, quick=quick):
        pass


COUNTER = """
import sys
from flow.adapters.fs.locks import exclusive
root, rel, quick = sys.argv[1:]
for _ in range(40):
    with exclusive(root, rel, timeout=1200, quick=quick == "True"):
        with open(root + "/count") as file:
            number = int(file.read())
        with open(root + "/count", "w") as file:
            file.write(str(number + 1))
"""


def test_no_update_is_lost_between_processes(root, tmp_path):
    (tmp_path / "count").write_text("0")
    args = [sys.executable, "-c", COUNTER, root, REL]
    workers = [subprocess.Popen([*args, str(n % 2 == 0)]) for n in range(4)]
    assert [worker.wait(10 * LONG) for worker in workers] == [0] * 4
    assert (tmp_path / "count").read_text() == "160"
