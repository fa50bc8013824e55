"""``contextlib`` without its cost at start-up, which is half of a bare interpreter's start.

``tests/startup/test_contexts.py`` holds both alike. Rare features are left to ``contextlib``.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import ExitStack, closing, contextmanager, suppress
else:

    class suppress:  # noqa: N801 - as contextlib names it
        """Ends the block if one of ``errors`` is raised in it, and goes on after the block."""

        __slots__ = ("_errors",)

        def __init__(self, *errors):
            self._errors = errors

        def __enter__(self):
            return None

        def __exit__(self, kind, _error, _traceback):
            return kind is not None and issubclass(kind, self._errors)

    class closing:  # noqa: N801
        """Closes ``thing`` after the block."""

        __slots__ = ("_thing",)

        def __init__(self, thing):
            self._thing = thing

        def __enter__(self):
            return self._thing

        def __exit__(self, *_):
            self._thing.close()

    class _Steps:
        """A generator as a context: up to its ``yield`` before the block, the rest after it."""

        __slots__ = ("_generator",)

        def __init__(self, generator):
            self._generator = generator

        def __enter__(self):
            for value in self._generator:
                return value
            raise RuntimeError("generator didn't yield")

        def __exit__(self, kind, error, traceback):
            if kind is None:
                self._end()
                return False
            error = kind() if error is None else error
            try:
                self._generator.throw(error)
            except StopIteration as ended:
                return ended is not error  # the generator took the error for done
            except BaseException as raised:
                turned = isinstance(error, StopIteration) and raised.__cause__ is error
                if raised is not error and not (turned and isinstance(raised, RuntimeError)):
                    raise
                error.__traceback__ = traceback
                return False
            return self._refuse("generator didn't stop after throw()")

        def _end(self):
            for _ in self._generator:
                self._refuse("generator didn't stop")

        def _refuse(self, why):
            try:
                raise RuntimeError(why)
            finally:
                self._generator.close()

    def contextmanager(function):
        """Turn a function that makes a generator into one that makes a context."""

        def made(*values, **named):
            return _Steps(function(*values, **named))

        made.__doc__, made.__name__, made.__qualname__, made.__module__, made.__wrapped__ = (
            function.__doc__,
            function.__name__,
            function.__qualname__,
            function.__module__,
            function,
        )
        return made

    class ExitStack:
        """Contexts and calls that are ended after the block, the last one first."""

        def __init__(self):
            self._exits = []

        def enter_context(self, context):
            """Enter ``context``; returns its value."""
            value = context.__enter__()
            self._exits.append(context.__exit__)
            return value

        def callback(self, function, *values):
            """Have ``function`` called with ``values``."""
            self._exits.append(lambda *_: function(*values) and None)

        def __enter__(self):
            return self

        def __exit__(self, _kind, error, _traceback):
            pending = error
            while self._exits:
                leave = self._exits.pop()
                try:
                    if pending is None:
                        leave(None, None, None)
                    elif leave(type(pending), pending, pending.__traceback__):
                        pending = None
                except BaseException as raised:  # noqa: BLE001 - it goes on instead
                    pending = raised
            if pending is not None and pending is not error:
                raise pending
            return error is not None and pending is None


__all__ = ["ExitStack", "closing", "contextmanager", "suppress"]
