"""``judge`` and its values (SPEC 9.2): an independent opinion on anything, by a rubric.

>>> from flow import Rubric, RubricCriterion, judge
>>> rubric = Rubric("Changelog", [RubricCriterion("users-first", "Says what changes for users")])
>>> result = judge("- Faster start", rubric)
>>> result.passed, result.score
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar, overload

from flow.app.judging import rubric_calls
from flow.app.judging.rubric_calls import RubricCall
from flow.core.judging.rubric.model import CriterionResult, JudgeResult, Rubric, RubricCriterion
from flow.errors import NotPassed, NoUsableAnswer
from flow.wiring.judging.context import JudgingContext

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.adapters.judges.given_judge import Backend
    from flow.wiring.judging.context import RubricLike

__all__ = [
    "CriterionResult",
    "JudgeResult",
    "NoUsableAnswer",
    "NotPassed",
    "Rubric",
    "RubricCriterion",
    "ajudge",
    "judge",
]
_Result = TypeVar("_Result")


@overload
def judge(
    subject: Any,
    rubric: RubricLike,
    instructions: str | None = None,
    result_format: None = None,
    throw_on_fail: bool = False,
    backend: Backend | None = None,
    samples: int = 1,
) -> JudgeResult: ...


@overload
def judge(
    subject: Any,
    rubric: RubricLike,
    instructions: str | None = None,
    result_format: type[_Result] = ...,
    throw_on_fail: bool = False,
    backend: Backend | None = None,
    samples: int = 1,
) -> _Result: ...


@overload
def judge(
    subject: Any,
    rubric: RubricLike,
    instructions: str | None = None,
    result_format: Mapping[str, Any] = ...,
    throw_on_fail: bool = False,
    backend: Backend | None = None,
    samples: int = 1,
) -> dict[str, Any]: ...


def judge(
    subject: Any,
    rubric: RubricLike,
    instructions: str | None = None,
    result_format: Any = None,
    throw_on_fail: bool = False,
    backend: Backend | None = None,
    samples: int = 1,
) -> Any:
    """Score ``subject`` by ``rubric`` and return a :class:`JudgeResult`.

    ``subject`` is text, bytes, a path object (or a list of them), or any value that JSON can hold.
    ``rubric`` is a :class:`Rubric`, a mapping, the name of one of the project's or Flow's rubrics,
    or the path of a file. ``instructions`` are added to the prompt. ``backend`` is
    ``BACKEND[:MODEL]``, a function from prompt to mapping, or an object like those of
    :mod:`flow.adapters.judges`; without one, the user's settings decide. ``samples`` (1 to 25)
    opinions become one by the median of each criterion.

    With ``result_format`` (a JSON Schema, dataclass, ``TypedDict``, pydantic model or msgspec
    ``Struct``) a value of that form is returned; a ``score`` or ``passed`` in it is Flow's. With
    ``throw_on_fail``, :class:`NotPassed` is raised if it does not pass, with the result in
    ``result``.

    Raises :class:`NoUsableAnswer` if no judge is configured or no usable answer came,
    :class:`~flow.errors.InputError` for a subject that cannot be judged, and
    :class:`~flow.errors.ContractError` naming every fault of a rubric.
    """
    return _judge(
        RubricCall(subject, rubric, instructions, result_format, throw_on_fail, backend, samples)
    )


@overload
async def ajudge(
    subject: Any,
    rubric: RubricLike,
    instructions: str | None = None,
    result_format: None = None,
    throw_on_fail: bool = False,
    backend: Backend | None = None,
    samples: int = 1,
) -> JudgeResult: ...


@overload
async def ajudge(
    subject: Any,
    rubric: RubricLike,
    instructions: str | None = None,
    result_format: type[_Result] = ...,
    throw_on_fail: bool = False,
    backend: Backend | None = None,
    samples: int = 1,
) -> _Result: ...


@overload
async def ajudge(
    subject: Any,
    rubric: RubricLike,
    instructions: str | None = None,
    result_format: Mapping[str, Any] = ...,
    throw_on_fail: bool = False,
    backend: Backend | None = None,
    samples: int = 1,
) -> dict[str, Any]: ...


async def ajudge(
    subject: Any,
    rubric: RubricLike,
    instructions: str | None = None,
    result_format: Any = None,
    throw_on_fail: bool = False,
    backend: Backend | None = None,
    samples: int = 1,
) -> Any:
    """:func:`judge` for asynchronous code: the asking is done in a thread.

    A ``backend`` that is a coroutine function runs on the caller's own loop. Cancelling stops the
    waiting; a question that is out already is ended by its time limit.
    """
    call = RubricCall(subject, rubric, instructions, result_format, throw_on_fail, backend, samples)
    return await asyncio.to_thread(_judge, call, asyncio.get_running_loop())


def _judge(call: RubricCall, loop: asyncio.AbstractEventLoop | None = None) -> Any:
    return rubric_calls.judge(JudgingContext(loop=loop), call)
