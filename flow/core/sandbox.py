"""The request of ``evaluator.sandbox`` as a value, and the paths that it opens (SPEC 1 and 3)."""

from __future__ import annotations

from flow.core.boundary.globs import GlobPart, compile_glob, literal_start
from flow.startup.json import object_of
from flow.startup.typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

BWRAP = "bwrap"
"""The only kind: bubblewrap, on Linux."""


class Sandbox(NamedTuple):
    """Confinement of a goal's commands.

    ``allowed`` and ``denied`` are path patterns as the boundary takes them; no ``allowed`` opens
    the whole checkout. ``network``: whether the commands may use the network.
    """

    network: bool
    allowed: tuple[str, ...]
    denied: tuple[str, ...]
    kind: str = BWRAP


class CoveredPath(NamedTuple):
    """The path that a pattern leads to, and the part of it that the pattern covers.

    ``exact``: the path itself, file or folder. ``folder``: everything in that folder. ``search``:
    every path below that folder that fits the pattern (``""`` is the top level).
    """

    path: str
    covers: Literal["exact", "folder", "search"]


def sandbox_of(
    document: Mapping[str, Any], allowed: tuple[str, ...], denied: tuple[str, ...]
) -> Sandbox | None:
    """The sandbox that a goal document asks for; None for no sandbox.

    The schema has accepted ``document``. ``bwrap`` and ``true`` ask for a sandbox without a
    network, ``{kind: bwrap, network: true}`` for one with it.
    """
    value = document["evaluator"].get("sandbox")
    options = object_of(value)
    kind = options.get("kind") if isinstance(value, dict) else value
    if kind in (None, False, "none"):
        return None
    return Sandbox(options.get("network") is True, allowed, denied)


def covered_path(pattern: str) -> CoveredPath:
    """The path that an allowed pattern leads to; the pattern starts at the top level."""
    glob = compile_glob(pattern, anchored=True)
    literal = literal_start(glob.parts)
    path = b"/".join(literal).decode("utf-8", "surrogateescape")
    rest = glob.parts[len(literal) :]
    if not rest:
        return CoveredPath(path, "folder" if glob.folder_only else "exact")
    anything = rest[0] in (None, GlobPart(b"", b""))
    # `**/` is folders only: their content is covered, a file beside them is not
    if len(rest) == 1 and anything and not glob.folder_only:
        return CoveredPath(path, "folder")
    return CoveredPath(path, "search")
