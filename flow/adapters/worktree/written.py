"""Files that were written after a moment, by their time stamps: to be shown, never to decide."""

from __future__ import annotations

import os

from flow.core import instant
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def written_since(top: str, paths: Iterable[str], at: str) -> list[str]:
    """The files among ``paths`` whose content, name or mode changed at or after ``at``.

    ``at`` is a moment in the form of stored times. A file that is gone has no time stamp and is
    left out.
    """
    try:
        moment = instant.seconds(at)
    except (ValueError, IndexError):  # an event that Flow did not write
        return []
    newer = []
    for path in paths:
        try:
            if os.lstat(os.path.join(top, path)).st_ctime >= moment:
                newer.append(path)
        except (OSError, ValueError):
            continue
    return newer
