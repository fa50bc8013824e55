"""Debates with the real parts: files, settings, backends, threads, the user's own record."""

from __future__ import annotations

import os
from functools import cached_property

from flow.adapters.debates import solution_files
from flow.adapters.debates.log import DebateLog
from flow.adapters.debates.reports import Names, claim_reports
from flow.adapters.fs import clock
from flow.adapters.git.trees import shared_dir
from flow.adapters.judges.asking import BackendJudge
from flow.adapters.process.in_threads import run_in_threads
from flow.adapters.process.redaction import redacted_text, secret_values
from flow.adapters.user_state.trust import repo_key
from flow.adapters.user_state.written_files import OwnRecord
from flow.app.judging import debate_calls
from flow.core.secrets.redact import redact
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple
from flow.wiring.judging.context import JudgingContext, random_nonce

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from flow.adapters.debates.reports import Reports
    from flow.adapters.debates.solution_files import Solution
    from flow.app.judging.debate import Watcher
    from flow.app.judging.debate_calls import DebateCall, Spent
    from flow.app.judging.port import AskJudge, NoAnswer
    from flow.core.judging.debate.state import DebateState


class DebateContext(NamedTuple):
    """A :class:`~flow.app.judging.debate_calls.DebatePlace` of plain values.

    ``top`` is the folder that reports lie below, ``checkout`` the repository around it, if any.
    """

    top: str
    checkout: str | None
    common_dir: str | None
    state_dir: str
    reports_dir: str
    environ: Mapping[str, str]
    seconds: float
    announce: Callable[[str, bytes], None] = lambda *_: None
    """Gets path and bytes of each report before it is written."""

    def nonce(self, content: str) -> str:
        return random_nonce(content)

    def run_in_threads(self, calls: Sequence[Callable[[], Any]]) -> list[Any]:
        return run_in_threads(calls)

    def mask(self, text: str) -> str:
        return redacted_text(text, self.environ)

    def redact(self, data: bytes) -> bytes:
        return redact(data, secret_values(self.environ)).data

    def claim_reports(
        self, name: str, debate: str, judges: int, warn: Callable[[str], None]
    ) -> AbstractContextManager[Reports]:
        book = DebateLog(self.state_dir, self.top, self.checkout, self.common_dir)
        names = Names(self.top, self.reports_dir.strip("/"), name, clock.today())
        return claim_reports(names, debate, judges, book, warn, self.announce)

    def charge(self, judges: Sequence[AskJudge | NoAnswer], spent: Spent) -> None:
        budgets = {
            id(judge.budget): judge.budget for judge in judges if isinstance(judge, BackendJudge)
        }
        for budget in budgets.values():
            budget.charge(spent.usd, untold=spent.untold)


class DebatingContext(JudgingContext):
    """A folder as a :class:`~flow.app.judging.debate_calls.DebateCaller`."""

    @cached_property
    def place(self) -> DebateContext:
        place = DebateContext(
            self.top or self.start,
            self.top,
            self.common_dir,
            self.state_dir,
            self.user_settings.reports_dir,
            self.environ,
            self.settings.timeout_seconds,
        )
        if self.repo is None:
            return place
        own = place.state_dir, repo_key(shared_dir(self.repo), self.repo.top)
        return place._replace(announce=OwnRecord(lambda: own).file)

    def read_solution(self, solution: Any) -> Solution:
        given = [solution] if isinstance(solution, str | os.PathLike) else list(solution)
        where = solution_files.Where(self.start, self.place.top, self.repo, self.place.reports_dir)
        return solution_files.read_solution([os.fsdecode(path) for path in given], where)

    def panel(self, backends: Sequence[Any]) -> list[AskJudge | NoAnswer]:
        return self.judges.panel(backends)


def debate(
    call: DebateCall,
    *,
    cwd: str | None = None,
    loop: AbstractEventLoop | None = None,
    watch: Watcher | None = None,
) -> DebateState:
    """Hold a debate as the command line and :func:`flow.debate` ask for it."""
    return debate_calls.debate(call, lambda: DebatingContext(cwd, loop=loop), watch)
