"""One report of a test runner, as a value."""

from __future__ import annotations

from flow.startup.typing import NamedTuple


class Summary(NamedTuple):
    """How many tests ran and how many were left out, as a runner says."""

    runner: str
    ran: int
    """Tests that passed or failed; one that fails as it is expected to is left out."""
    skipped: int
    said: str
    """The words it was read from."""
    failed: int = 0
    """Of those that ran, failures and errors."""
