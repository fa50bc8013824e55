"""Ending the groups of commands that nobody watches any more."""

from __future__ import annotations

import os
import subprocess
import sys

from flow.adapters.process import tree

LARGE = "held = b'x' * (1 << 27); print(flush=True); import time; time.sleep(300)"
"""A process of this size takes a while to end once it was killed."""


def started() -> tuple[subprocess.Popen[bytes], str | None]:
    """A large process that leads a group, and when it began."""
    words = [sys.executable, "-I", "-S", "-c", LARGE]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, process_group=0)
    assert process.stdout is not None
    process.stdout.readline()
    return process, tree.start_of(process.pid)


def test_what_is_killed_has_ended_when_it_returns() -> None:
    process, start = started()
    with process:
        tree.end_groups_of([(process.pid, start)], 60)
        row = tree.table()[process.pid]
        process.wait()
    assert row.state in "ZX"


def test_the_number_of_a_later_process_is_left_alone() -> None:
    process, _ = started()
    with process:
        tree.end_groups_of([(process.pid, "earlier")], 0)
        assert process.poll() is None
        os.kill(process.pid, 9)
