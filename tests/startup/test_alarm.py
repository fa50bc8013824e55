"""Input of a host is read to its end, and waited for no longer than it may take."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from flow.startup.alarm import TooLate, read_input, set_alarm
from tests.support import ROOT
from tests.support.patience import LONG

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def writer() -> Iterator[int]:
    """The other end of standard input, which is a pipe."""
    before = os.dup(0)
    reading, writing = os.pipe()
    os.dup2(reading, 0)
    os.close(reading)
    yield writing
    os.dup2(before, 0)
    os.close(before)


def write(writer: int, *parts: bytes) -> threading.Thread:
    def run() -> None:
        for part in parts:
            os.write(writer, part)
        os.close(writer)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


@pytest.mark.parametrize("size", [0, 1, 70_000, 3 << 20])
def test_all_of_it(writer: int, size: int) -> None:
    thread = write(writer, b"x" * size, b"end")
    assert read_input(1 << 30, LONG) == b"x" * size + b"end"
    thread.join(LONG)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_no_more_than_the_limit(writer: int) -> None:
    thread = write(writer, b"x" * 1000)
    assert read_input(10, LONG) == b"x" * 10
    thread.join(LONG)


def test_who_does_not_end_it_is_waited_for_no_longer(writer: int) -> None:
    os.write(writer, b"as far as it came")
    assert read_input(1 << 20, 0.05) == b"as far as it came"
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    os.close(writer)


def test_a_pipe_that_does_not_wait(writer: int) -> None:
    os.set_blocking(0, False)
    timer = threading.Timer(0.05, lambda: (os.write(writer, b"late"), os.close(writer)))
    timer.start()
    assert read_input(1 << 20, LONG) == b"late"
    timer.join(LONG)


def test_none_at_all() -> None:
    code = "from flow.startup.alarm import read_input; print(read_input(9, 9))"
    program = f"import os, sys; sys.path.insert(0, {ROOT!r}); os.close(0); {code}"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True)
    assert done.stdout == b"b''\n", done


def test_an_alarm_that_was_cancelled_does_not_ring() -> None:
    set_alarm(0.02)
    set_alarm(0)
    threading.Event().wait(0.05)
    assert rings_through(LONG)


def rings_through(seconds: float) -> bool:
    """Whether the alarm ends a wait that lets no Exception out."""
    try:
        with suppress(Exception):
            set_alarm(0.01)
            threading.Event().wait(seconds)
    except TooLate:
        return True
    return False
