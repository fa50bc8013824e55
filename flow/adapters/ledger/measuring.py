"""The untracked paths at the start of an evaluation, in case it is killed.

By them the next evaluation tells leftovers of the killed commands from other new files.
"""

from __future__ import annotations

from flow.adapters.fs import files, lenient_json
from flow.core import layout
from flow.errors import ContractError
from flow.startup import json
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LIMIT = 16 << 20
"""Most bytes; with more untracked paths, leftovers of a killed evaluation are not recognized."""


def began(top: str, run_id: str, untracked: Sequence[str]) -> None:
    """Remember the untracked paths."""
    data = json.dumps(untracked, ensure_ascii=True).encode("ascii")
    if len(data) <= LIMIT:
        # Not synced: a kill leaves the file. If a power cut takes it, leftovers count as changes.
        files.replace(top, layout.measuring_file(run_id), data, sync=False)


def ended(top: str, run_id: str) -> None:
    """Forget them."""
    files.remove(top, layout.measuring_file(run_id), sync=False)


def unfinished(top: str, run_id: str) -> frozenset[str] | None:
    """The paths of an evaluation that was killed; None if none was."""
    try:
        data = files.read_optional(top, layout.measuring_file(run_id), limit=LIMIT)
        paths = lenient_json.loads(data) if data else None
    except (ContractError, ValueError):
        return None
    return frozenset(map(str, paths)) if isinstance(paths, list) else None
