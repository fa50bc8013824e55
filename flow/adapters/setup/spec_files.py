"""Reading the Markdown files of a specification folder (SPEC 12, ``--from-spec``)."""

from __future__ import annotations

import os

from flow.adapters.fs import inputs
from flow.errors import at_key

OPTION = "--from-spec"
MOST_FILES = 100
DEPTH = 3
"""Levels of folders below the named one: ``specs/<capability>/`` and its content."""


def read_folder(path: str) -> dict[str, str]:
    """Path below ``path`` → text of each Markdown file; a file is its own only entry.

    Symlinks are not followed, pipes not read. Raises :class:`InputError` for a path that cannot be
    read, for a file over 1 MiB or not in UTF-8, and for more than ``MOST_FILES``.
    """
    if not os.path.lexists(path):
        raise at_key(OPTION, path).invalid(
            f"{path} cannot be read: it is not there", "name a folder of spec-kit, Kiro or OpenSpec"
        )
    if not os.path.isdir(path):
        return {os.path.basename(path): inputs.read_text(path, OPTION)}
    names = _markdown_below(path)
    if len(names) > MOST_FILES:
        raise at_key(OPTION, path).invalid(
            f"{path} has more than {MOST_FILES} Markdown files", "name the folder of one change"
        )
    return {name: inputs.read_text(os.path.join(path, name), OPTION) for name in names}


def _markdown_below(path: str) -> list[str]:
    names: list[str] = []
    for folder, folders, files in os.walk(path):
        below = os.path.relpath(folder, path)
        depth = 0 if below == "." else below.count(os.sep) + 1
        folders[:] = sorted(name for name in folders if depth < DEPTH)
        names += [
            os.path.normpath(os.path.join(below, name))
            for name in sorted(files)
            if name.endswith(".md") and _is_regular(os.path.join(folder, name))
        ]
        if len(names) > MOST_FILES:
            break
    return names


def _is_regular(path: str) -> bool:
    return os.path.isfile(path) and not os.path.islink(path)
