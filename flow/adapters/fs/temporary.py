"""A file of one command's own, in the system's folder for temporary files."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager

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
