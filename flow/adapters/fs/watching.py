"""Waiting until files change, by ``watchfiles``, which is loaded here alone."""

from __future__ import annotations

import os

from flow.errors import OutsideError
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

INSTALL = "pip install watchfiles beside Flow (the extra is called watch)"

_LOOK = 5000
"""Milliseconds after which it returns in any case."""


def changes(
    top: str, folders: Sequence[str], wanted: Callable[[bytes], bool]
) -> Iterator[frozenset[bytes]]:
    """Yield the paths below ``top`` that changed and are ``wanted``, at each change; never ends.

    Every five seconds it also yields an empty set, so that a change without a notice is not missed.
    ``folders`` are those to look below, relative to ``top``; absent ones are looked for from the
    top level. Raises :class:`OutsideError` (``no_watchfiles``) if the library is missing; Ctrl-C is
    KeyboardInterrupt.
    """
    try:
        from watchfiles import watch
    except ImportError as error:
        raise OutsideError(
            "watchfiles, which tells when files change, is not installed",
            code="no_watchfiles",
            remedy=INSTALL,
        ) from error
    roots = [os.path.join(top, folder) for folder in folders]
    if not roots or not all(map(os.path.isdir, roots)):
        roots = [top]

    def keeps(_change: object, path: str) -> bool:
        return wanted(os.fsencode(os.path.relpath(path, top)))

    seen = watch(*roots, watch_filter=keeps, rust_timeout=_LOOK, yield_on_timeout=True)
    return (frozenset(os.fsencode(os.path.relpath(p, top)) for _, p in each) for each in seen)
