"""``functools`` without its cost at start-up: the same C code, without the Python around it.

Importing it loads ``collections`` and more. ``tests/startup/test_functools.py`` checks that both
answer alike.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from functools import cache, lru_cache, partial
else:
    try:
        from _functools import _lru_cache_wrapper, partial
    except ImportError:  # an interpreter that was built without it
        from functools import cache, lru_cache, partial
    else:

        def lru_cache(maxsize):
            """``functools.lru_cache(maxsize=...)``."""

            def decorated(function):
                kept = _lru_cache_wrapper(function, maxsize, False, lambda *counts: counts)
                kept.__name__, kept.__qualname__ = function.__name__, function.__qualname__
                kept.__doc__, kept.__module__ = function.__doc__, function.__module__
                kept.__wrapped__ = function
                return kept

            return decorated

        def cache(function):
            """``functools.cache``."""
            return lru_cache(maxsize=None)(function)


__all__ = ["cache", "lru_cache", "partial"]
