"""A verdict's screen with what the record has beside it."""

from __future__ import annotations

from flow.adapters.attribution.attribute import Attributor
from flow.adapters.attribution.failures import RecordedOutputs
from flow.adapters.fs import clock
from flow.app.verdict_details import verdict_details
from flow.render.verdict import drawing
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.goals import Goals

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping
    from typing import Any

    from flow.cli.output import Output
    from flow.wiring.context import Context


def verdict_lines(
    context: Context,
    document: Mapping[str, Any],
    args: argparse.Namespace,
    out: Output,
    seconds: float | None = None,
    *,
    closed: str = "",
) -> list[str]:
    """The lines of a verdict, as ``args`` asks for them.

    ``seconds`` is how long the evaluation took that has just ended. Nothing is read for a program,
    which gets the document.
    """
    if out.json:
        return []
    details = verdict_details(
        Goals(context),
        RecordedOutputs(context.top, Attributor(context.top, context.cache("parsed"))),
        document,
        seconds=seconds,
        at="" if seconds is None else clock.now(),
    )
    named = args.ID is not None or out.screen.columns is None
    return drawing.verdict(
        document,
        out.screen,
        details,
        closed=closed,
        named=named,
        output=getattr(args, "output", "failed"),
    )
