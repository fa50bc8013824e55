"""What a checkout offers for a new goal: its own commands, its files, the editor's text."""

from __future__ import annotations

import os

from flow.adapters.fs import files
from flow.adapters.git import repository
from flow.core.drafting.presets import MARKERS, READ, offers
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flow.adapters.git.find import Repo
    from flow.core.drafting.presets import Offer

LIMIT = 1 << 18
"""Bytes of a file that is read for its commands; a larger one offers nothing."""


def project_offers(top: str) -> tuple[Offer, ...]:
    """The commands that the files at the top offer; one that cannot be read offers nothing.

    Symlinks are not followed.
    """
    texts = {name: text for name in READ if (text := _text(top, name)) is not None}
    texts |= {name: "" for name in MARKERS if os.path.isfile(os.path.join(top, name))}
    return offers(texts)


def _text(top: str, name: str) -> str | None:
    try:
        data = files.read_optional(top, name, limit=LIMIT)
    except FlowError:
        return None
    return None if data is None else data.decode("utf-8", "replace")


def tracked_and_changed(repo: Repo) -> tuple[list[str], list[str]]:
    """(paths in git's index, paths changed or untracked on disk); nothing where git cannot say."""
    try:
        tracked = _paths(repository.git(repo, "ls-files", "-z"))
        changed = _paths(
            repository.git(repo, "ls-files", "-z", "--others", "--modified", "--exclude-standard")
        )
    except FlowError:
        return [], []
    return tracked, sorted({path for path in changed if not path.startswith(".flow/")})


def _paths(listing: bytes) -> list[str]:
    return [os.fsdecode(name) for name in listing.split(b"\0") if name]


def first_missing(top: str, paths: Iterable[str]) -> str:
    """The first of ``paths`` that is not below the top; empty: all are."""
    return next((path for path in paths if not os.path.lexists(os.path.join(top, path))), "")


def missing_protected(top: str, patterns: Iterable[str]) -> list[str]:
    """A warning for each protected path without a pattern in it that names no file."""
    return [
        f"constraints.protected_paths: {path} is not there, so nothing of it is protected yet"
        for path in patterns
        if not set("*?[!\\") & set(path) and not os.path.lexists(os.path.join(top, path.strip("/")))
    ]
