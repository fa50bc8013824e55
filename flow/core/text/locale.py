"""The characters that the user's locale can show, from the environment alone."""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_PLAIN = ("C", "POSIX")
_COERCED = ("C.UTF-8", "C.utf8", "UTF-8")
"""The values that Python gives ``LC_CTYPE`` if the locale is C (PEP 538)."""


def locale_named(environ: Mapping[str, str]) -> str:
    """The locale in force for characters; empty if none is named."""
    named = (environ.get(variable) for variable in ("LC_ALL", "LC_CTYPE", "LANG"))
    return next(filter(None, named), "")


def wants_ascii(environ: Mapping[str, str]) -> bool:
    """Whether the user's locale is C by name; without a name, UTF-8 is assumed."""
    if environ.get("LANG") in _PLAIN and not environ.get("LC_ALL"):
        return environ.get("LC_CTYPE", "C") in (*_PLAIN, *_COERCED)
    return locale_named(environ) in _PLAIN
