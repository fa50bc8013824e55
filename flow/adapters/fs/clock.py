"""The time, as text (SPEC 1): UTC, ISO-8601, second resolution, ending in ``Z``.

``time`` alone suffices; importing ``datetime`` would cost more than the rest of a helper. No
variable of the environment changes the answers of these functions. ``time.gmtime()`` would read a
coarser clock that is some milliseconds late: as a second begins it still gives the one before.
"""

from __future__ import annotations

import time


def now() -> str:
    """The present moment as ``YYYY-MM-DDTHH:MM:SSZ``."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time()))


def today() -> str:
    """The present day, in UTC, as ``YYYY-MM-DD``."""
    return time.strftime("%Y-%m-%d", time.gmtime(time.time()))


def monotonic() -> float:
    """Seconds on a clock that never steps back; only differences mean anything (HAZARD H94)."""
    return time.monotonic()


def days_ago(days: int) -> str:
    """The moment that many days before now, as :func:`now` writes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - days * 86_400))
