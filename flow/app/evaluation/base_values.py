"""The question about runs on the base commit, and its answer."""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from flow.core.evidence.red_first import BaseRun
    from flow.core.goal.model import Criterion, Goal


class BaseRequest(NamedTuple):
    """Commands to run on the base commit, and their limits."""

    goal: Goal
    contract: str
    run_id: str
    criteria: tuple[Criterion, ...]
    jobs: int
    timeout_seconds: float
    rerun: bool = False
    """Whether to run cached commands too."""
    seconds_left: Callable[[], float] | None = None


class BaseRows(NamedTuple):
    """Every known run on the base commit, and the criteria by how this call got theirs."""

    rows: dict[str, BaseRun]
    ran: tuple[str, ...]
    cached: tuple[str, ...]
    out_of_time: tuple[str, ...]
