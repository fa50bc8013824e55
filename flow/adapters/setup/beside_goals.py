"""Flow's files beside goals: the schema for editors, the rule that keeps runs out of commits."""

from __future__ import annotations

import os

from flow.adapters.contracts import schemas
from flow.adapters.fs import files
from flow.adapters.git.find import would_block_git
from flow.adapters.git.run import git
from flow.adapters.setup.file_edits import EXCLUDE
from flow.core import layout
from flow.core.layout import SCHEMA
from flow.errors import FlowError, GitError, RefusedError
from flow.startup.contexts import suppress
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flow.adapters.git.find import Repo

IGNORED = f"{layout.RUNS}/"
"""The line of ``.gitignore`` that ``flow init`` adds."""
OWN_IGNORE = f"{layout.RUNS}/.gitignore"
"""Ignores its whole folder, itself included, so git never sees it."""
_ALL = "*"
_EVIDENCE = f"{layout.RUNS}/run/evidence/evidence.json"
"""An example of a file in a run."""


def publish_schema(top: str, announce: Callable[[str, bytes], None]) -> None:
    """Write the schema if it is missing; an existing file is left unchanged.

    ``announce`` gets its path and bytes before it is written. Raises :class:`RefusedError` if
    anything but a regular file is there, :class:`StorageError` for the disk.
    """
    if files.exists(top, SCHEMA):
        return
    data = schemas.text("goal").encode("utf-8")
    announce(SCHEMA, data)
    try:
        files.publish_new(top, SCHEMA, data)
    except RefusedError as error:
        if error.code != "exists":
            raise


def write_beside(
    top: str, common_dir: str | None, announce: Callable[[str, bytes], None]
) -> tuple[str, ...]:
    """Write the files that belong beside a new goal; a warning if the schema cannot be written."""
    keep_runs_out(top, common_dir)
    try:
        publish_schema(top, announce)
    except FlowError as error:
        return (f"the goal is written; the schema for editors is not: {error}",)
    return ()


def names_runs(lines: Sequence[str]) -> bool:
    """Whether one of ``lines`` of a ``.gitignore`` at the top covers the folders of runs."""
    return any(line.removeprefix("/").rstrip("/*") in (layout.RUNS, ".flow") for line in lines)


def ignores_runs(repo: Repo) -> bool:
    """Whether git ignores runs: by the repository, ``.git/info/exclude`` or the folder's own file.

    The user's own ``core.excludesFile`` does not count: others work here, too. Starts git; if that
    cannot answer, the rules' text counts.
    """
    rules = [
        os.path.join(repo.top, name) for name in (".gitignore", ".flow/.gitignore", OWN_IGNORE)
    ]
    rules += [os.path.join(repo.common_dir, EXCLUDE)] if repo.common_dir is not None else []
    if not any(map(would_block_git, rules)):
        with suppress(GitError):
            return bool(git(repo, "check-ignore", "--no-index", "--", _EVIDENCE, ok=(0, 1)))
    return _seem_ignored(repo.top, repo.common_dir)


def _seem_ignored(top: str, common_dir: str | None) -> bool:
    """Like :func:`ignores_runs`, by the rules' text alone; a file with ``!`` does not count."""
    places = [(top, ".gitignore"), *([(common_dir, EXCLUDE)] if common_dir else [])]
    for root, name in places:
        lines = _lines(root, name)
        if names_runs(lines) and not any(line.startswith("!") for line in lines):
            return True
    return _ALL in _lines(top, OWN_IGNORE)


def keep_runs_out(top: str, common_dir: str | None) -> None:
    """Let an existing folder of runs ignore itself, unless another rule does.

    An existing file is left alone, and so is a place that cannot be written.
    """
    try:
        if os.path.isdir(os.path.join(top, layout.RUNS)) and not _seem_ignored(top, common_dir):
            files.publish_new(top, OWN_IGNORE, f"{_ALL}\n".encode())
    except FlowError:
        return  # the next write reports the fault


def _lines(root: str, name: str) -> list[str]:
    data = files.read_optional(root, name) or b""
    return [line.strip() for line in data.decode("utf-8", "replace").split("\n")]
