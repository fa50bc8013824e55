"""A verdict's screen with what the record has beside it."""

from __future__ import annotations

import os
import sys

from flow.adapters.attribution.attributor import Attributor
from flow.adapters.attribution.failures import RecordedOutputs
from flow.adapters.fs import clock
from flow.adapters.process.speaker import is_terminal
from flow.app.verdict_details import verdict_details
from flow.core.goal.model import JUDGED
from flow.core.text.shell_quote import way_to_top
from flow.render.verdict import drawing
from flow.render.verdict.criterion_row import judged_line
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.goals import Goals

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping
    from typing import Any

    from flow.app.verdict_details import UnrecordedRun
    from flow.cli.output import Output
    from flow.core.decision.details import VerdictDetails
    from flow.wiring.context import Context


def verdict_lines(
    document: Mapping[str, Any],
    details: VerdictDetails,
    args: argparse.Namespace,
    out: Output,
    *,
    closed: str = "",
    asked: bool = False,
) -> list[str]:
    """The lines of a verdict, as ``args`` asks for them; ``asked``: a question follows them."""
    named = args.ID is not None or out.screen.columns is None or getattr(args, "all", False)
    return drawing.verdict(
        document,
        out.screen,
        details,
        closed=closed,
        named=named,
        asked=asked and out.screen.columns is not None,
        output=getattr(args, "output", "failed"),
    )


def judged_lines(document: Mapping[str, Any], details: VerdictDetails) -> list[str]:
    """A line for each judged criterion, for output without a terminal."""
    if is_terminal(sys.stderr):
        return []
    rows = [row for row in document["criterion_results"] if row["reason"].startswith(JUDGED)]
    return [judged_line(row, details.rows[row["criterion_id"]]) for row in rows]


def details_of(
    context: Context,
    document: Mapping[str, Any],
    args: argparse.Namespace,
    out: Output,
    seconds: float | None = None,
    unrecorded: Mapping[str, UnrecordedRun] | None = None,
) -> VerdictDetails:
    """The details of a verdict from the record, as :func:`verdict_lines` shows them with ``args``.

    ``seconds`` are those of its evaluation, ``unrecorded`` its runs that left no evidence.
    """
    all_outputs = getattr(args, "output", "failed") == "all"
    details = verdict_details(
        Goals(context),
        recorded_outputs(context),
        document,
        seconds=seconds,
        at="" if seconds is None else clock.now(),
        shown=None if all_outputs else drawing.listed_criteria(document, out.screen),
        unrecorded=unrecorded,
    )
    return details._replace(to_top=way_to_top(context.top, os.getcwd()))


def recorded_outputs(context: Context) -> RecordedOutputs:
    """The reader of outputs below the checkout."""
    return RecordedOutputs(context.top, Attributor(context.top, context.cache("parsed")))
