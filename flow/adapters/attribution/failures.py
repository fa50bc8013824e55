"""Recorded outputs of commands, read for people: their ends, and their meaning."""

from __future__ import annotations

import os

from flow.adapters.fs import files
from flow.app.verdict_details import OutputEnd
from flow.core.attribution.reading import WINDOW
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.adapters.attribution.attributor import Attributor

_BLOCK = 1 << 16


class RecordedOutputs:
    """The outputs below a checkout; an :class:`~flow.app.verdict_details.OutputReader`."""

    def __init__(self, top: str, attributor: Attributor) -> None:
        self._top, self._attributor = top, attributor

    def end(self, path: str) -> OutputEnd | None:
        """The end of an output; None if it is not there."""
        descriptor = files.open_regular(self._top, path)
        if descriptor is None:
            return None
        lines, size = 0, 0
        blocks: list[bytes] = []
        try:
            while block := os.read(descriptor, _BLOCK):
                lines += block.count(b"\n")
                size += len(block)
                blocks.append(block)
                if sum(map(len, blocks[1:])) >= WINDOW:
                    del blocks[0]
        finally:
            os.close(descriptor)
        last = b"".join(blocks)[-WINDOW:]
        unended = bool(last) and not last.endswith(b"\n")
        return OutputEnd(last, lines + unended, whole=size <= WINDOW)

    def failure(self, command: str, end: OutputEnd, exit_code: int | None) -> str:
        """The runner's own words about the command's failure; empty if none are certain."""
        from flow.core.attribution.failures import failure_words

        reading = self._attributor.reading(command)
        return failure_words(reading, end.data, exit_code, whole=end.whole)

    def works(self, command: str) -> str:
        """A form of a masked command whose exit status shows a failure; empty: none is known."""
        from flow.core.attribution.failures import without_mask

        form = without_mask(command)
        if not form:
            return ""
        masked, works = self._attributor.reading(command), self._attributor.reading(form)
        understood = bool(works.commands) and set(works.commands) <= set(masked.commands)
        return form if understood and masked.masked_exit and not works.masked_exit else ""
