"""Picks the real parts and puts them together.

:class:`Checkout` is one repository as a user sees it from a folder inside. Everything is built at
the point of use: a helper that only writes a verdict never loads YAML, git or the settings. Whoever
starts often (hook, helpers, ``status``) takes only the side of it that is needed, from its module.
"""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING, Any
from flow.wiring.parts import version

if TYPE_CHECKING:
    from flow.wiring.checkout import Checkout as Checkout

__all__ = ["Checkout", "version"]


def __getattr__(name: str) -> Any:
    if name == "Checkout":
        from flow.wiring.checkout import Checkout

        return Checkout
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
