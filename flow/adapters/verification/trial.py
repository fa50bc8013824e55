"""Commands that are run outside of an evaluation: before a goal begins, and while one waits."""

from __future__ import annotations

from flow.adapters.verification.runner import CommandRunner
from flow.app.checks import CheckEvents
from flow.core import layout
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.app.checks import Check, CheckResult

OUTPUT_LIMIT = 1 << 16
"""Most bytes of an output: none of it is kept."""


def run_alone(
    top: str, environ: Mapping[str, str], checks: Sequence[Check]
) -> list[tuple[Check, CheckResult]]:
    """Run commands one after the other, as a goal's are run, and keep none of their output."""
    results: list[tuple[Check, CheckResult]] = []
    runner = CommandRunner(top, layout.WORK, environ=environ, output_limit=OUTPUT_LIMIT)
    events = CheckEvents(lambda _: None, lambda check, result: results.append((check, result)))
    runner(checks, jobs=1, events=events)
    return results
