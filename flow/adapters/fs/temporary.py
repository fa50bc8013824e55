"""A file of one command's own, among temporary files; and removing what foreign programs used."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager, suppress

from flow.errors import in_file
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def holding(data: bytes, prefix: str) -> Iterator[str]:
    """The path of a file with ``data``, alone in a folder that is removed afterwards.

    Only this user may look into the folder. Raises :class:`StorageError` if none can be made.
    """
    folder = None
    try:
        try:
            folder = tempfile.mkdtemp(prefix=prefix)
            path = os.path.join(folder, "content")
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(data)
        except OSError as error:
            raise in_file(folder).storage(
                f"no temporary file can be written: {error.strerror or error}",
                "make room there, or set TMPDIR to a folder that can be written",
            ) from error
        yield path
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def remove_folder(path: str) -> bool:
    """Remove a folder with all that a foreign program may have made of it; True if it is gone.

    A program may have put something else in its place: a pipe there would be waited for by
    ``shutil.rmtree`` of Python 3.11, and a link refused.
    """
    for _ in range(2):
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                os.unlink(path)
        if not os.path.lexists(path):
            return True
        _open_up(path)
    return False


def _open_up(path: str) -> None:
    """Make every folder below one that can be emptied."""
    _make_writable(path)
    for above, folders, _ in os.walk(path):
        for name in folders:
            _make_writable(os.path.join(above, name))


def _make_writable(path: str) -> None:
    if not os.path.islink(path):
        with suppress(OSError):
            os.chmod(path, 0o700)
