"""The copy of the goal schema that the first line of every goal file names, for editors."""

from __future__ import annotations

from flow.adapters.contracts import schemas
from flow.adapters.fs import files
from flow.errors import RefusedError
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

SCHEMA = ".flow/goal.schema.json"
"""A copy, since an installation's path belongs to one machine."""


def publish_schema(top: str, announce: Callable[[str, bytes], None]) -> bool:
    """Write it where it is missing; False where a file is there, which is left as it is.

    ``announce`` gets its path and bytes before it is written. Raises :class:`RefusedError` where
    something else than a regular file is there, :class:`StorageError` for the disk.
    """
    if files.exists(top, SCHEMA):
        return False
    data = schemas.text("goal").encode("utf-8")
    announce(SCHEMA, data)
    try:
        files.publish_new(top, SCHEMA, data)
    except RefusedError as error:
        if error.code != "exists":
            raise
        return False
    return True
