"""The sources of an export's parts."""

from __future__ import annotations

from functools import partial

from flow.adapters.chain import event_log
from flow.adapters.exchange import dsse
from flow.adapters.fs import files
from flow.adapters.ledger.reader import rubric_digests
from flow.app.exchange.export import ExportSources
from flow.core.layout import OUTPUT_LIMIT
from flow.startup.typing import TYPE_CHECKING
from flow.version import __version__

if TYPE_CHECKING:
    from flow.wiring.context import Context


def export_sources(context: Context) -> ExportSources:
    """The sources that an export is made from."""
    record, top = context.run_record, context.top
    return ExportSources(
        finish=context.ledger.finish,
        closing=context.closing_context(),
        tree_of=context.tree.tree_of,
        events=lambda run, goal: event_log.read(top, run, goal)[0],
        closed=lambda goal, run, at: record.closed(run, goal.goal, goal.contract, at),
        read=partial(files.read_optional, top, limit=OUTPUT_LIMIT),
        read_error=lambda: record.read_error,
        read_json=dsse.strict_json,
        rubrics=partial(rubric_digests, top),
        version=__version__,
    )
