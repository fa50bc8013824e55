"""An unexpected error: its traceback goes to a log, one line about it to the user."""

from __future__ import annotations

import os
import stat

from flow.errors import FlowError, OutsideError
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

LOG = "error.log"
LOG_LIMIT = 1 << 20
"""Bytes; a larger log is started anew."""


def report(error: BaseException, environ: Mapping[str, str]) -> OutsideError:
    """Write ``error`` with its traceback to the log; return the one line about it.

    Raises nothing: where no file can be opened, no module can be imported either.
    """
    if isinstance(error, FileNotFoundError) and _is_here_gone():
        return OutsideError(
            "the folder that this was started in is gone",
            code="no_folder",
            remedy="go to one that is there, and try again",
        )
    try:
        where = _write_log(_entry(error), environ)
    except Exception:  # noqa: BLE001 - the error itself is told all the same
        where = None
    name = type(error).__name__
    return OutsideError(
        f"internal error ({name}); the details are in this log"
        if where
        else f"internal error ({name}: {str(error)[:200]}); no log could be written",
        code="internal",
        file=where,
        remedy="please report it, with the log" if where else "please report it",
    )


def _entry(error: BaseException) -> bytes:
    import traceback

    from flow.adapters.fs import clock
    from flow.version import __version__

    text = "".join(traceback.format_exception(error))
    return f"{clock.now()} flow {__version__}\n{text}\n".encode("utf-8", "backslashreplace")


def _is_here_gone() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def _write_log(data: bytes, environ: Mapping[str, str]) -> str | None:
    try:
        from flow.adapters.fs import state_folder

        folder = state_folder.state_dir(environ, environ.get("HOME"), None)
        state_folder.ensure_state_dir(folder)
        path = os.path.join(folder, LOG)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        fd = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
                raise OSError("the log is not a file of its own")
            if status.st_size > LOG_LIMIT:
                os.ftruncate(fd, 0)
            os.write(fd, data)
        finally:
            os.close(fd)
        return path
    except (OSError, FlowError):
        pass
    try:
        import tempfile

        fd, path = tempfile.mkstemp(prefix="flow-error-", suffix=".log")  # mode 0600
        try:
            os.write(fd, data)
        finally:
            os.close(fd)
        return path
    except OSError:
        return None
