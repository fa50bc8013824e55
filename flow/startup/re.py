"""``re``, loaded when something of it is first asked for.

It takes as long to load as a bare interpreter to start, and most starts need none of it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from re import (
        Match,
        Pattern,
        compile,  # noqa: A004 - as it is called there
        escape,
        findall,
        finditer,
        fullmatch,
        match,
        search,
        split,
        sub,
    )
else:

    def escape(pattern):
        """``re.escape``."""
        special = {code: f"\\{chr(code)}" for code in b"()[]{}?*+-|^$\\.&~# \t\n\r\v\f"}
        if isinstance(pattern, str):
            return pattern.translate(special)
        return str(pattern, "latin1").translate(special).encode("latin1")

    def __getattr__(name):
        import re

        value = globals()[name] = getattr(re, name)
        return value


__all__ = [
    "Match",
    "Pattern",
    "compile",
    "escape",
    "findall",
    "finditer",
    "fullmatch",
    "match",
    "search",
    "split",
    "sub",
]
