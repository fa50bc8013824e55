"""The folder in which a judgement is asked for: its rubrics, its judges, the user's settings."""

from __future__ import annotations

import os

from flow.adapters.fs import clock
from flow.adapters.fs.state_folder import state_dir
from flow.adapters.git.find import find_repo
from flow.adapters.judges import subjects
from flow.adapters.judges.given_judge import JudgeChoice, random_nonce
from flow.adapters.judges.result_formats import result_format
from flow.adapters.rubrics.case_files import read_subject
from flow.adapters.rubrics.rubric_files import RubricFolder
from flow.adapters.user_state.judge_labels import LabelLog
from flow.adapters.user_state.settings import load
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable, Mapping

    from flow.adapters.judges.given_judge import Backend
    from flow.app.judging.port import AskJudge
    from flow.core.judging.rubric.model import Rubric

    RubricLike = Rubric | Mapping[str, Any] | str | os.PathLike[str]


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
