"""The clock's text forms."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from flow.adapters.fs import clock


def test_now_is_utc_in_whole_seconds() -> None:
    before = int(time.time())
    text = clock.now()
    after = int(time.time())
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", text)
    moments = [
        time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(t)) for t in range(before, after + 1)
    ]
    assert text in moments


def test_today_is_the_day_of_now() -> None:
    before, today, after = clock.now(), clock.today(), clock.now()
    assert today in (before[:10], after[:10])


def test_every_moment_is_of_one_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """``gmtime()`` alone asks another, which is behind: time could seem to run backwards."""
    monkeypatch.setattr(time, "time", lambda: 86_400.0)
    assert (clock.now(), clock.today()) == ("1970-01-02T00:00:00Z", "1970-01-02")


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "XYZ+11", "UTC"])
def test_the_time_zone_changes_nothing(zone: str) -> None:
    code = (
        "from flow.adapters.fs import clock; import time; "
        "print(int(time.time()), clock.now(), int(time.time()))"
    )
    env = {**os.environ, "TZ": zone, "LC_ALL": "C"}
    found = subprocess.run(
        [sys.executable, "-c", code],
        env=env,
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    before, text, after = found.stdout.split()
    moments = range(int(before), int(after) + 1)
    assert text in [time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(t)) for t in moments]


def test_monotonic_never_steps_back() -> None:
    moments = [clock.monotonic() for _ in range(100)]
    assert moments == sorted(moments)
