"""The checkouts in which Flow was used, from the user's state folder, for ``flow inbox``.

A checkout that has a folder of notes (:mod:`flow.adapters.user_state.checkouts`) is noted: Flow
left a goal open there once, or was asked about one. One file in that folder keeps the checkout out
of the inbox, another has its git directory; no other code reads them.
"""

from __future__ import annotations

import os

from flow.adapters.fs.state_folder import check_state_dir, ensure_below, write_own
from flow.adapters.git.find import read_regular
from flow.errors import GitError
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = "checkouts"
MARKER = ":flow"
"""The folder of a checkout's own notes; no checkout has this name, so it holds nothing else."""
SESSIONS = ":sessions"
"""The folder, beside the checkouts, that maps sessions to the checkouts they were kept working in.
"""
HIDDEN = "hidden"
"""A file in a checkout's notes: the inbox leaves it out, until Flow leaves a goal open there."""
GIT_DIR = "git-dir"
"""A file in a checkout's notes: its git directory; empty if it has none."""
_DEEPEST = 128
"""Most levels of folders that are searched."""


def note(folder: str, top: str, git_dir: str | None) -> None:
    """Note that Flow is used in the checkout ``top``; if it is noted already, one look shows it.

    ``folder`` is the state folder. Raises :class:`~flow.errors.FlowError` if it cannot be used.
    """
    rel = notes_folder(top)
    if os.path.lexists(os.path.join(folder, rel, GIT_DIR)):
        return
    ensure_below(folder, rel)
    write_own(folder, f"{rel}/{GIT_DIR}", os.fsencode(git_dir or ""), "note a checkout")


def git_dir_of(folder: str, top: str) -> str | None:
    """The git directory that a noted checkout had; None if it is not known."""
    try:
        name = read_regular(os.path.join(folder, notes_folder(top), GIT_DIR))
    except GitError:
        return None
    return os.fsdecode(name) if name and b"\0" not in name else None


def noted(folder: str) -> list[str]:
    """The top levels of the checkouts that are noted, sorted; those that are hidden, too.

    Raises :class:`~flow.errors.FlowError` for a state folder that cannot be relied on.
    """
    if not check_state_dir(folder):
        return []
    return sorted(_below(os.path.join(folder, FOLDER), "", _DEEPEST))


def is_hidden(folder: str, top: str) -> bool:
    """Whether the inbox leaves the checkout out."""
    return os.path.lexists(os.path.join(folder, notes_folder(top), HIDDEN))


def hide(folder: str, top: str) -> None:
    """Leave the checkout out of the inbox, if it is noted."""
    rel = notes_folder(top)
    is_noted = check_state_dir(folder) and os.path.isdir(os.path.join(folder, rel))
    if is_noted and not is_hidden(folder, top):
        write_own(folder, f"{rel}/{HIDDEN}", b"", "leave a checkout out of the inbox")


def notes_folder(top: str) -> str:
    """The folder of the notes about the checkout ``top``, below the state folder."""
    return f"{FOLDER}{top.rstrip('/')}/{MARKER}"


def _below(folder: str, top: str, levels: int) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            names = [e.name for e in entries if e.is_dir(follow_symlinks=False)]
    except OSError:  # a folder that cannot be listed holds no notes of Flow's
        return
    for name in names:
        if name == MARKER:
            yield top or "/"
        elif levels and not (name == SESSIONS and not top):
            yield from _below(f"{folder}/{name}", f"{top}/{name}", levels - 1)
