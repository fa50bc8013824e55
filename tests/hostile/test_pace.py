"""The limits of CPU time: work that does not end is ended, a slow machine is not blamed."""

from __future__ import annotations

import time

import pytest

from tests.hostile.scene import Hang, watched
from tests.support import pace


def test_a_slow_machine_has_as_much_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "pace", lambda: 3.0)
    assert not pace.exceeds(5.9, 2.0)
    assert pace.exceeds(6.1, 2.0)


def test_nothing_is_measured_within_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "pace", lambda: pytest.fail("it was measured"))
    assert not pace.exceeds(2.0, 2.0)


def test_no_machine_has_less(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "_work", lambda: None)
    assert pace.pace() == 1.0


def work_without_an_end() -> None:
    while True:
        pass


def test_work_without_an_end_is_ended() -> None:
    with pytest.raises(Hang, match="CPU time"), watched(cpu=0.05):
        work_without_an_end()


def test_so_is_a_wait() -> None:
    with pytest.raises(Hang, match="for ever"), watched(wall=0.05):
        time.sleep(300)
