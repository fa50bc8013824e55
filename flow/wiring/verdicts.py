"""``last-verdict.json``, written."""

from __future__ import annotations

from flow.adapters.fs import clock
from flow.adapters.ledger import verdicts
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.wiring.context import Context


def record_verdict(
    context: Context, document: Mapping[str, Any], run_id: str, source: str | None
) -> tuple[str, tuple[str, ...], str]:
    """Write the verdict; returns its path, warnings about cut strings, and when."""
    written = write_verdict(context, document, run_id, source)
    context.run_record.commit(run_id)
    return written


def write_verdict(
    context: Context, document: Mapping[str, Any], run_id: str, source: str | None
) -> tuple[str, tuple[str, ...], str]:
    """The same; the caller commits the run, and writes more before."""
    if source is not None:
        document = {**document, "source": source}
    now = clock.now()
    return (*verdicts.write_verdict(context.run_record.run(run_id), document, now=now), now)
