"""One thread forks at a time: filelock makes an error of two at once on Python 3.12 and newer."""

from __future__ import annotations

import os
import re
import threading
import time
from pathlib import Path

import pytest

from flow.adapters.process import child as process_child
from flow.adapters.process.in_threads import run_in_threads
from tests.support import ROOT


def test_forks_of_several_threads_wait_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    now: list[int] = []
    most: list[int] = []

    def fork() -> int:
        now.append(threading.get_ident())
        most.append(len(now))
        time.sleep(0.01)
        now.pop()
        return 7

    monkeypatch.setattr(os, "fork", fork)
    assert run_in_threads([process_child.fork] * 5) == [7] * 5
    assert most == [1] * 5


def test_a_fork_that_fails_lets_the_next_one_go(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fork", none)
        for _ in range(2):
            with pytest.raises(BlockingIOError):
                process_child.fork()
    child = process_child.fork()
    if child == 0:  # a child forks too
        inner = process_child.fork()
        if inner == 0:
            os._exit(3)
        os._exit(os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1]) + 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 4


def test_nobody_forks_by_itself() -> None:
    for path in sorted(Path(ROOT, "flow").rglob("*.py")):
        found = len(re.findall(r"os\.fork\(\)(?!`)", path.read_text("utf-8")))
        assert found == (path == Path(ROOT, "flow/adapters/process/child.py")), path
