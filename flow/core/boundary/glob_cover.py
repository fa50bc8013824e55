"""A conservative check whether one path pattern covers all paths of another."""

from __future__ import annotations

from flow.core.boundary.globs import compile_glob, literal_start, without_end_blanks


def covers(wider: str, narrower: str, *, anchored: bool) -> bool:
    """Whether every path that ``narrower`` matches is matched by ``wider`` too.

    False also if it is uncertain. The names that ``narrower`` starts with decide: all its paths are
    there or below, and a pattern that matches a folder matches everything below it. Both patterns
    must have passed :func:`flow.core.boundary.globs.why_not`.
    """
    if without_end_blanks(wider) == without_end_blanks(narrower):
        return True
    outer, inner = compile_glob(wider, anchored=anchored), compile_glob(narrower, anchored=True)
    if outer.folder_only and outer.needle is None:
        return False  # it leaves out files directly in the folders that it matches
    if all(part is None for part in outer.parts):
        return True
    names = literal_start(inner.parts)
    if not names:
        return False
    below = len(names) < len(inner.parts) or inner.folder_only
    return outer.matches(b"/".join(names), folder=below)
