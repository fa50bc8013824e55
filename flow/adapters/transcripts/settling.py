"""Waiting until a host has written the end of a transcript."""

from __future__ import annotations

import os
import time

STILL_SECONDS = 0.6
LONGEST_STILL = 6.0
"""Most seconds to wait for a transcript's end, which the host writes around the time when it calls
the hook: the file must stay unchanged for :data:`STILL_SECONDS`.
"""


def wait_until_still(path: str) -> None:
    """Wait until the file has not grown for a while; return at once if it cannot be looked at."""
    deadline = time.monotonic() + LONGEST_STILL
    before, since = -1, time.monotonic()
    while time.monotonic() < deadline:
        try:
            size = os.stat(path).st_size
        except (OSError, ValueError):
            return
        if size != before:
            before, since = size, time.monotonic()
        elif time.monotonic() - since >= STILL_SECONDS:
            return
        time.sleep(0.1)
