"""The outputs of a dry run, which leaves no evidence to read them from."""

from __future__ import annotations

import os

from flow.app.verdict_details import UnrecordedRun
from flow.cli.progress import Forwarding
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.app.checks import Check, CheckResult
    from flow.app.evaluation.values import Listener
    from flow.app.verdict_details import OutputReader


class DryRuns(Forwarding):
    """Reads the end of each output before it is removed, and hands all on."""

    def __init__(self, inner: Listener, top: str, outputs: OutputReader) -> None:
        super().__init__(inner)
        self._top, self._outputs = top, outputs
        self.runs: dict[str, UnrecordedRun] = {}
        """By the criterion's id."""

    def ended(self, check: Check, result: CheckResult) -> None:
        """Keep the end of the output."""
        body = {
            "exit_code": result.exit_code,
            "duration_seconds": result.duration_seconds,
            "output_bytes": result.output_bytes,
            "truncated": result.truncated_bytes > 0,
        }
        end = None
        if result.output is not None:
            end = self._outputs.end(os.path.relpath(result.output.path, self._top))
        self.runs[check.criterion_id] = UnrecordedRun(body, end)
        self.inner.ended(check, result)
