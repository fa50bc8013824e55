"""The judge that a caller gives: by a word, as a function of their own, as a backend object."""

from __future__ import annotations

from secrets import token_hex

from flow.adapters.judges import choose
from flow.adapters.judges.budget import Budget
from flow.adapters.judges.function import FunctionJudge
from flow.app.judging.port import AskJudge, NoAnswer, no_answer
from flow.errors import at_key
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable, Mapping, Sequence

    from flow.core.settings import JudgeSettings

    Backend = str | AskJudge | Callable[[str], Any]


def random_nonce(_: str = "") -> str:
    """A nonce that cannot be known beforehand."""
    return token_hex(16)


class JudgeChoice(NamedTuple):
    """Context of the choice. ``loop`` is the event loop for a coroutine function as judge."""

    settings: JudgeSettings
    environ: Mapping[str, str]
    loop: AbstractEventLoop | None = None

    def choose(self, backend: Backend | None, budget: Budget | None = None) -> AskJudge | NoAnswer:
        """The judge that ``backend`` names or is; :class:`InputError` if it can be neither."""
        if backend is None or isinstance(backend, str):
            return choose.choose(backend, self.settings, self.environ, work=None, budget=budget)
        if isinstance(getattr(backend, "name", None), str) and callable(backend):
            return backend  # type: ignore[return-value]
        if callable(backend):
            function: Callable[[str], Any] = backend  # type: ignore[assignment]
            return FunctionJudge(function, self.loop, environ=self.environ)
        raise at_key("backend").invalid(
            f"{type(backend).__name__} is no judge",
            "give BACKEND[:MODEL], a function from prompt to mapping, or a backend object",
        )

    def judge(self, backend: Backend | None) -> AskJudge:
        """Like :meth:`choose`; :class:`NoUsableAnswer` if none is configured or usable."""
        judge = self.choose(backend)
        if isinstance(judge, NoAnswer):
            raise no_answer(judge)
        return judge

    def panel(self, backends: Sequence[Backend | None]) -> list[AskJudge | NoAnswer]:
        """One judge for each backend; all share one budget (``maxCostUsd``)."""
        budget = Budget(self.settings.max_cost_usd)
        return [self.choose(backend, budget) for backend in backends]
