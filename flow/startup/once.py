"""An attribute that is made when it is first asked for.

``functools.cached_property``, without the import: that takes as long as all that a helper loads.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from functools import cached_property as once
else:

    class once:  # noqa: N801 - a decorator
        """Decorates the method that makes the value; assigning to the attribute replaces it."""

        def __init__(self, make):
            self._make = make
            self.__doc__ = make.__doc__

        def __get__(self, instance, _owner=None):
            if instance is None:
                return self
            value = instance.__dict__[self._make.__name__] = self._make(instance)
            return value


__all__ = ["once"]
