"""What one kind of secret looks like, and how far a pattern may look."""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    Check = Callable[[bytes], bool]

REACH = 4096
"""No pattern looks further than this many bytes beyond where it begins."""

BEHIND = 32
"""No pattern looks further back than this many bytes."""


class SecretShape(NamedTuple):
    """One kind of secret.

    ``anchors`` are bytes of which one is part of every match (in lower case where ``folded``).
    Group 1 of ``pattern``, where there is one, is the secret, and ``check`` decides about it, or
    about group 2 where there is that. ``run`` is a pattern for one more byte of the secret, or,
    where it begins with ``(?>``, for some more; ``until`` is one for what ends it.
    """

    kind: str
    anchors: tuple[bytes, ...]
    pattern: bytes
    run: bytes = b""
    until: bytes = b""
    check: Check | None = None
    folded: bool = False
