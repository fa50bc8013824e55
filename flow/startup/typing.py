"""The names of ``typing`` that Flow uses, without its cost at start-up.

Importing ``typing`` takes as long as a third of a bare interpreter, and each of its NamedTuples as
much again as fifty imports of a cached name: it compiles every annotation. The Stop hook and the
helpers start after every turn of an agent and define about eighty such types. A type checker sees
``typing`` itself; ``tests/startup/test_typing.py`` checks that both behave alike (ADR 16).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal, NamedTuple, NoReturn, Protocol, Self, TextIO, cast, get_args
else:
    from _collections import _tuplegetter

    Any = NoReturn = Self = TextIO = object

    class _Interface:
        """``Protocol`` at run time: one object for all of them, since only type checkers read it.

        A class of its own for each would cost as much as looking for half a module.
        """

        __slots__ = ()

        def __new__(cls, name=None, bases=(), body=None):
            if name is None:
                return object.__new__(cls)
            if Protocol in bases:
                return _INTERFACE
            return type(name, (), body)  # a class that names its interface

    Protocol, _INTERFACE = _Interface(), _Interface()

    class _Literal:
        """``Literal["a", "b"]`` is the tuple of its values."""

        def __getitem__(self, values):
            return values if isinstance(values, tuple) else (values,)

    Literal = _Literal()

    def get_args(literal):
        """The values of a ``Literal``."""
        return literal

    def cast(_kind, value):
        """``value``."""
        return value

    class _Tuple(tuple):
        """Base of the classes that ``NamedTuple`` makes, without a constructor compiled for each.

        Each class gets these methods as its own: making one looks for ninety names in all classes
        above it, so ``tuple`` is the only one there.
        """

        __slots__ = ()

        def __new__(cls, *values, **named):
            if named or len(values) != len(cls._fields):
                values = cls._complete(values, named)
            return tuple.__new__(cls, values)

        @classmethod
        def _complete(cls, values, named):
            """``values`` with those given by name, and the defaults."""
            count = len(cls._fields)
            if len(values) > count:
                raise TypeError(f"{cls.__name__} takes {count} values, not {len(values)}")
            rest = cls._fields[len(values) :]
            if tuple(named) == rest:  # all of them, in their order
                return (*values, *named.values())
            others = {**cls._field_defaults, **named} if named else cls._field_defaults
            try:
                completed = [*values, *map(others.__getitem__, rest)]
            except KeyError:
                missing = [key for key in rest if key not in others]
                raise TypeError(f"{cls.__name__} lacks {', '.join(missing)}") from None
            if not named.keys() <= set(rest):
                wrong = [key for key in named if key not in rest]
                raise TypeError(f"{cls.__name__} does not take {', '.join(wrong)}")
            return completed

        @classmethod
        def _make(cls, values):
            """An instance from an iterable of all values."""
            return cls(*values)

        def _replace(self, **changed):
            """A copy with other values for some fields."""
            fields = self._fields
            if not changed.keys() <= set(fields):
                wrong = [key for key in changed if key not in fields]
                raise ValueError(f"Got unexpected field names: {wrong}")
            pairs = zip(fields, self, strict=True)
            return tuple.__new__(type(self), [changed.get(key, value) for key, value in pairs])

        def _asdict(self):
            """The fields and their values, in order."""
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            shown = (f"{key}={value!r}" for key, value in self._asdict().items())
            return f"{type(self).__name__}({', '.join(shown)})"

        def __getnewargs__(self):
            return tuple(self)

    _NAMES = ("__new__", "__repr__", "__getnewargs__", "_asdict", "_complete", "_make", "_replace")
    _METHODS = {name: _Tuple.__dict__[name] for name in _NAMES}

    class _Fields(type):
        """Makes the annotated names of a class the fields of a tuple, in their order."""

        def __new__(_mcls, name, _bases, body):
            fields = tuple(body.get("__annotations__", ()))
            body["_fields"] = body["__match_args__"] = fields
            body["_field_defaults"] = {key: body[key] for key in fields if key in body}
            body["__slots__"] = ()
            for index, key in enumerate(fields):
                body[key] = _tuplegetter(index, None)
            return type(name, (tuple,), _METHODS | body)

    NamedTuple = type.__new__(_Fields, "NamedTuple", (), {})


__all__ = [
    "TYPE_CHECKING",
    "Any",
    "Literal",
    "NamedTuple",
    "NoReturn",
    "Protocol",
    "Self",
    "TextIO",
    "cast",
    "get_args",
]
