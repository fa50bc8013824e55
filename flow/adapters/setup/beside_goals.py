"""What Flow writes beside goals: the schema for editors, and what keeps runs out of commits."""

from __future__ import annotations

import os

from flow.adapters.contracts import schemas
from flow.adapters.fs import files
from flow.adapters.setup.file_edits import EXCLUDE
from flow.core import layout
from flow.errors import FlowError, RefusedError
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SCHEMA = ".flow/goal.schema.json"
"""A copy, since an installation's path belongs to one machine."""
IGNORED = f"{layout.RUNS}/"
"""The line of ``.gitignore`` that ``flow init`` adds."""
OWN_IGNORE = f"{layout.RUNS}/.gitignore"
"""It ignores its whole folder, itself included, so git never sees it."""
_ALL = "*"


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


def names_runs(lines: Sequence[str]) -> bool:
    """Whether one of ``lines`` of a ``.gitignore`` at the top covers the folders of runs."""
    return any(line.removeprefix("/").rstrip("/*") in (layout.RUNS, ".flow") for line in lines)


def ignores_runs(top: str, common_dir: str | None = None) -> bool:
    """Whether they are kept out of commits: by the repository, ``.git/info/exclude`` or itself."""
    places = [(top, ".gitignore"), *([(common_dir, EXCLUDE)] if common_dir else [])]
    if any(names_runs(_lines(root, name)) for root, name in places):
        return True
    return _ALL in _lines(top, OWN_IGNORE)


def keep_runs_out(top: str, common_dir: str | None) -> None:
    """Let the folder of runs, once it is there, ignore itself where nothing else does.

    A file that is there is left alone, and so is a place that cannot be written.
    """
    try:
        if os.path.isdir(os.path.join(top, layout.RUNS)) and not ignores_runs(top, common_dir):
            files.publish_new(top, OWN_IGNORE, f"{_ALL}\n".encode())
    except FlowError:
        return  # what is wrong there is told by what is written next


def _lines(root: str, name: str) -> list[str]:
    data = files.read_optional(root, name) or b""
    return [line.strip() for line in data.decode("utf-8", "replace").split("\n")]
