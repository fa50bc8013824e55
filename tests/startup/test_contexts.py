"""``flow.startup.contexts`` behaves as ``contextlib`` does, as far as Flow uses it (ADR 12)."""

from __future__ import annotations

import contextlib
import inspect
from typing import TYPE_CHECKING, Any

import pytest

from flow.startup import contexts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CLOSES = "gen.close()" in inspect.getsource(contextlib._GeneratorContextManager.__exit__)
"""Whether Python ends a generator that goes on at once, which its 3.11.2 leaves to memory's end."""


def passes(log: list[str]) -> Iterator[str]:
    log.append("in")
    yield "value"
    log.append("out")


def cleans_up(log: list[str]) -> Iterator[str]:
    try:
        yield "value"
    finally:
        log.append("cleaned")


def swallows(log: list[str]) -> Iterator[str]:
    try:
        yield "value"
    except BaseException as error:
        log.append(repr(error))


def turns(_log: list[str]) -> Iterator[str]:
    try:
        yield "value"
    except BaseException as error:
        raise KeyError("turned") from error


def raises_again(_log: list[str]) -> Iterator[str]:
    try:
        yield "value"
    except BaseException as error:  # noqa: TRY203 - a generator may
        raise error  # noqa: TRY201


def goes_on(log: list[str]) -> Iterator[str]:
    try:
        yield "value"
    except BaseException:
        yield "again"
    finally:
        log.append("closed")


def never(_log: list[str]) -> Iterator[str]:
    yield from ()


def twice(log: list[str]) -> Iterator[str]:
    try:
        yield "one"
        yield "two"
    finally:
        log.append("closed")


def fails_first(_log: list[str]) -> Iterator[str]:
    raise LookupError("first")
    yield ""


def fails_last(_log: list[str]) -> Iterator[str]:
    yield "value"
    raise LookupError("last")


GENERATORS = [
    *(passes, cleans_up, swallows, turns, raises_again, goes_on),
    *(never, twice, fails_first, fails_last),
]
ERRORS: list[BaseException | None] = [
    *(None, ValueError("x"), StopIteration("s"), StopAsyncIteration(), RuntimeError("r")),
    *(KeyboardInterrupt(), GeneratorExit(), LookupError("l")),
]


def told(error: BaseException | None) -> list[str]:
    """The chain of an error."""
    chain = []
    while error is not None:
        chain.append(repr(error))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return chain


def run(body: Callable[[list[str]], Any]) -> tuple[list[str], list[str]]:
    """What it logged and raised."""
    log: list[str] = []
    try:
        body(log)
    except BaseException as error:
        return log, told(error)
    return log, []


@pytest.mark.parametrize("make", GENERATORS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("error", ERRORS, ids=repr)
def test_a_generator_is_a_context_as_contextlib_makes_it(
    make: Callable[[list[str]], Iterator[str]], error: BaseException | None
) -> None:
    def body(module: Any) -> Callable[[list[str]], None]:
        def use(log: list[str]) -> None:
            with module.contextmanager(make)(log) as value:
                log.append(value)
                if error is not None:
                    raise type(error)(*error.args)
            log.append("behind")

        return use

    assert run(body(contexts)) == run(body(contextlib))


def test_a_maker_of_contexts_keeps_its_name_and_takes_what_the_function_takes() -> None:
    @contexts.contextmanager
    def named(one: int, *, two: int) -> Iterator[int]:
        """Doc."""
        yield one + two

    assert (named.__name__, named.__doc__) == ("named", "Doc.")
    with named(1, two=2) as value:
        assert value == 3


@pytest.mark.parametrize("error", ERRORS, ids=repr)
@pytest.mark.parametrize("kinds", [(), (ValueError,), (LookupError, RuntimeError), (Exception,)])
def test_suppress(error: BaseException | None, kinds: tuple[type[BaseException], ...]) -> None:
    def body(module: Any) -> Callable[[list[str]], None]:
        def use(log: list[str]) -> None:
            with module.suppress(*kinds):
                if error is not None:
                    raise type(error)(*error.args)
            log.append("behind")

        return use

    assert run(body(contexts)) == run(body(contextlib))


class Thing:
    """Can be closed."""

    def __init__(self, log: list[str]) -> None:
        self.log = log

    def close(self) -> None:
        """Close it."""
        self.log.append("closed")


@pytest.mark.parametrize("error", [None, ValueError("x")], ids=repr)
def test_closing(error: BaseException | None) -> None:
    def body(module: Any) -> Callable[[list[str]], None]:
        def use(log: list[str]) -> None:
            thing = Thing(log)
            with module.closing(thing) as given:
                assert given is thing
                if error is not None:
                    raise error

        return use

    assert run(body(contexts)) == run(body(contextlib))


@pytest.mark.parametrize("first", GENERATORS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("second", GENERATORS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("error", [None, ValueError("x"), KeyboardInterrupt()], ids=repr)
def test_a_stack_ends_what_it_holds(
    first: Callable[[list[str]], Iterator[str]],
    second: Callable[[list[str]], Iterator[str]],
    error: BaseException | None,
) -> None:
    def body(module: Any) -> Callable[[list[str]], None]:
        def use(log: list[str]) -> None:
            with module.ExitStack() as stack:
                stack.callback(log.append, "called last")
                log.append(stack.enter_context(contextlib.contextmanager(first)(log)))
                stack.callback(int, "no number" if second is twice else "1")
                log.append(stack.enter_context(contextlib.contextmanager(second)(log)))
                if error is not None:
                    raise type(error)(*error.args)
            log.append("behind")

        return use

    ours, theirs = run(body(contexts)), run(body(contextlib))
    if not CLOSES:
        for log, _ in (ours, theirs):
            log[:] = [each for each in log if each != "closed"]
    assert (ours[0], ours[1][:1]) == (theirs[0], theirs[1][:1])
