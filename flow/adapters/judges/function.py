"""A plain Python function as a judge: the whole prompt in, a mapping out."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Mapping

from flow.adapters.judges.reply_json import words
from flow.adapters.process.redaction import redacted_text
from flow.app.judging.port import JudgeAnswer, NoAnswer, Usage
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable

    from flow.core.judging.common.question import Question


class FunctionJudge:
    """``function(prompt) -> mapping`` behind :class:`~flow.app.judging.port.AskJudge`.

    ``function`` may be a coroutine function; it then runs on ``loop``, or on a loop of its own. The
    time limit holds for coroutines only: a plain function cannot be stopped from outside. Its
    exception is kept in ``raised``.
    """

    def __init__(
        self,
        function: Callable[[str], Any],
        loop: AbstractEventLoop | None = None,
        *,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        """``environ`` names the values that are secret; they, and tokens by shape, are redacted."""
        self._environ = {} if environ is None else environ
        self._function = function
        self._loop = loop
        self.name = str(getattr(function, "__name__", type(function).__name__))
        self.raised: Exception | None = None

    def __call__(self, question: Question, *, seconds: float) -> JudgeAnswer | NoAnswer:
        """Ask it. The prompt it gets begins with the system text."""
        began = time.monotonic()
        prompt = redacted_text(question.prompt, self._environ)
        try:
            value = self._function(f"{question.system}\n\n{prompt}")
            if inspect.isawaitable(value):
                value = self._wait(value, seconds)
        except TimeoutError:
            return NoAnswer("timeout", f"no answer within {seconds:g} s", self._usage(began))
        except Exception as error:  # noqa: BLE001 - the caller's own function may raise anything
            self.raised = error
            raised = f"{self.name} raised {type(error).__name__}: {error}"
            reason = words(redacted_text(raised, self._environ))
            return NoAnswer("error", reason, self._usage(began))
        if not isinstance(value, Mapping):
            reason = f"{self.name} returned {type(value).__name__}, not a mapping"
            return NoAnswer("wrong_shape", reason, self._usage(began))
        return JudgeAnswer(value, self._usage(began))

    def _wait(self, awaitable: Any, seconds: float) -> Any:
        async def limited() -> Any:
            return await asyncio.wait_for(awaitable, seconds)

        if self._loop is not None:
            return asyncio.run_coroutine_threadsafe(limited(), self._loop).result()
        return asyncio.run(limited())

    def _usage(self, began: float) -> Usage:
        return Usage(self.name, duration_seconds=time.monotonic() - began)
