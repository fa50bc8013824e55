"""The user's own editor and pager, in the foreground, on a copy of a text."""

from __future__ import annotations

import os
import signal
import tempfile

from flow.adapters.fs.inputs import check_file
from flow.core.layout import GOAL_LIMIT
from flow.errors import OutsideError, at_key
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLES = ("VISUAL", "EDITOR")
_FALLBACK = "vi"
NOT_FOUND = 127
"""The exit status of a shell that has no such command."""


def editor_of(environ: Mapping[str, str]) -> str | None:
    """The command of ``VISUAL``, else ``EDITOR``; None if neither is set."""
    return next((environ[name] for name in VARIABLES if environ.get(name, "").strip()), None)


def edited_by_hand(text: str, name: str, environ: Mapping[str, str]) -> str:
    """``text`` as the user's editor leaves it; the copy is named ``name``.

    The editor is a shell's command, as for git, followed by the copy's path; ``vi`` if none is set.
    Raises :class:`OutsideError` if it cannot be started or ends with a failure, and
    :class:`InputError` if the result is no regular file or not UTF-8.
    """
    command = editor_of(environ) or _FALLBACK
    with tempfile.TemporaryDirectory(prefix="flow-edit-") as folder:
        path = os.path.join(folder, name)
        with open(path, "x", encoding="utf-8", newline="") as file:
            file.write(text)
        status = run_in_foreground(("sh", "-c", f'{command} "$@"', command, path), environ)
        if status != 0:
            raise OutsideError(
                f"the editor ended with status {status}",
                key=next((name for name in VARIABLES if environ.get(name, "").strip()), "EDITOR"),
                value=command,
                remedy="nothing was changed; set EDITOR to one that works here",
            )
        check_file(path, "--edit")  # a FIFO would be waited for
        try:
            with open(path, encoding="utf-8", newline="") as file:
                return file.read(GOAL_LIMIT + 1)
        except (OSError, UnicodeDecodeError) as error:
            raise at_key("--edit").invalid(
                f"what the editor left cannot be read: {error}", "save it as UTF-8"
            ) from error


def show_in_pager(text: str, environ: Mapping[str, str]) -> None:
    """Show ``text`` in the command of ``PAGER`` on the terminal of standard error, and wait for it.

    As for git: without it ``less``, which ends by itself if everything fits; an empty one is
    ``cat``. Standard output may lead elsewhere and gets none of the text.
    """
    pager = environ.get("PAGER", "less").strip() or "cat"
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", errors="replace") as file:
        file.write(text)
        file.flush()
        command = f'{pager} < "$1" >&2'
        given = {"LESS": "FRX", **environ}
        if run_in_foreground(("sh", "-c", command, pager, file.name), given) == NOT_FOUND:
            run_in_foreground(("sh", "-c", 'cat "$1" >&2', "cat", file.name), given)


def run_in_foreground(argv: tuple[str, ...], environ: Mapping[str, str]) -> int:
    """Run a shell on this terminal; returns its exit status. Ctrl-C there is the program's alone.

    ``argv`` begins with ``sh``.
    """
    numbers = (signal.SIGINT, signal.SIGQUIT)
    before = [signal.signal(number, signal.SIG_IGN) for number in numbers]
    try:
        pid = os.posix_spawn("/bin/sh", argv, environ, setsigdef=numbers)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
