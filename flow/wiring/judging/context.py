"""The folder in which a judgement is asked for: its rubrics, its judges, the user's settings."""

from __future__ import annotations

import os
from secrets import token_hex

from flow.adapters.fs import clock
from flow.adapters.fs.state_folder import state_dir
from flow.adapters.git.repository import find_repo
from flow.adapters.judges import choose, subjects
from flow.adapters.judges.budget import Budget
from flow.adapters.judges.function import FunctionJudge
from flow.adapters.judges.result_formats import result_format
from flow.adapters.rubrics.case_files import read_subject
from flow.adapters.rubrics.rubric_files import RubricFolder
from flow.adapters.user_state.judge_labels import LabelLog
from flow.adapters.user_state.settings import load
from flow.app.judging.port import AskJudge, NoAnswer, no_answer
from flow.errors import at_key
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable, Mapping, Sequence

    from flow.core.judging.rubric.model import Rubric
    from flow.core.settings import JudgeSettings

    RubricLike = Rubric | Mapping[str, Any] | str | os.PathLike[str]
    Backend = str | AskJudge | Callable[[str], Any]


def random_nonce(_: str = "") -> str:
    """A nonce that nobody could know beforehand."""
    return token_hex(16)


class JudgeChoice(NamedTuple):
    """What a judge is chosen by. ``loop`` is where a coroutine function as judge runs."""

    settings: JudgeSettings
    environ: Mapping[str, str]
    loop: AbstractEventLoop | None = None

    def choose(self, backend: Backend | None, budget: Budget | None = None) -> AskJudge | NoAnswer:
        """The judge that ``backend`` names or is; :class:`InputError` where it can be neither."""
        if backend is None or isinstance(backend, str):
            return choose.choose(backend, self.settings, self.environ, work=None, budget=budget)
        if isinstance(getattr(backend, "name", None), str) and callable(backend):
            return backend  # type: ignore[return-value]
        if callable(backend):
            function: Callable[[str], Any] = backend  # type: ignore[assignment]
            return FunctionJudge(function, self.loop, environ=self.environ)
        raise at_key("backend").invalid(
            f"a {type(backend).__name__} is no judge",
            "give BACKEND[:MODEL], a function from prompt to mapping, or a backend object",
        )

    def judge(self, backend: Backend | None) -> AskJudge:
        """As :meth:`choose`; :class:`NoUsableAnswer` where none is configured or usable."""
        judge = self.choose(backend)
        if isinstance(judge, NoAnswer):
            raise no_answer(judge)
        return judge

    def panel(self, backends: Sequence[Backend | None]) -> list[AskJudge | NoAnswer]:
        """One judge for each; all share one budget (``maxCostUsd``)."""
        budget = Budget(self.settings.max_cost_usd)
        return [self.choose(backend, budget) for backend in backends]


class JudgingContext:
    """A :class:`~flow.app.judging.calibrating.CalibrationPort`; outside of any checkout, too."""

    parts = staticmethod(subjects.parts)
    result_form = staticmethod(result_format)
    subject_file = staticmethod(read_subject)
    now = staticmethod(clock.now)

    def __init__(
        self,
        cwd: str | None = None,
        environ: Mapping[str, str] | None = None,
        loop: AbstractEventLoop | None = None,
    ) -> None:
        self.environ = os.environ if environ is None else environ
        self.start = os.path.abspath(cwd or os.getcwd())
        self.repo = find_repo(self.start)
        self.top = None if self.repo is None else self.repo.top
        self.home = self.environ.get("HOME") or None
        self.user_settings = load(self.top, self.home).settings
        self.settings = self.user_settings.judge
        self.judges = JudgeChoice(self.settings, self.environ, loop)
        self.rubrics = RubricFolder(self.top)
        self.nonce: Callable[[str], str] = random_nonce

    def judge(self, backend: Backend | None) -> AskJudge:
        return self.judges.judge(backend)

    @property
    def common_dir(self) -> str | None:
        return None if self.repo is None else self.repo.common_dir

    @property
    def state_dir(self) -> str:
        return state_dir(self.environ, self.home, self.top, self.common_dir)

    def label_log(self) -> LabelLog:
        return LabelLog(self.state_dir, self.top, self.common_dir)
