"""Debates with the real parts: files, settings, backends, threads, the user's own record."""

from __future__ import annotations

import os
from functools import cached_property

from flow.adapters.debates import solution_files
from flow.adapters.debates.context import DebateContext
from flow.adapters.git.directories import repo_key, shared_dir
from flow.adapters.user_state.written_files import OwnRecord
from flow.app.judging import debate_calls
from flow.startup.typing import TYPE_CHECKING, Any
from flow.wiring.judging.context import JudgingContext

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Sequence

    from flow.adapters.debates.solution_files import Solution
    from flow.app.judging.debate import Watcher
    from flow.app.judging.debate_calls import DebateCall
    from flow.app.judging.port import AskJudge, NoAnswer
    from flow.core.judging.debate.state import DebateState


class DebatingContext(JudgingContext):
    """A folder as a :class:`~flow.app.judging.debate_calls.DebateCaller`."""

    @cached_property
    def context(self) -> DebateContext:
        context = DebateContext(
            self.top or self.start,
            self.top,
            self.common_dir,
            self.state_dir,
            self.user_settings.reports_dir,
            self.environ,
            self.settings.timeout_seconds,
        )
        if self.repo is None:
            return context
        own = context.state_dir, repo_key(shared_dir(self.repo), self.repo.top)
        return context._replace(announce=OwnRecord(lambda: own).file)

    def read_solution(self, solution: Any) -> Solution:
        given = [solution] if isinstance(solution, str | os.PathLike) else list(solution)
        own = self.context
        where = solution_files.Where(self.start, own.top, self.repo, own.reports_dir)
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
