"""``debate`` and its values (SPEC 9.4): several judges, and their agreement.

>>> from flow import debate
>>> result = debate("src/api/users.ts", "Implement a REST API for users", kind="code")
>>> result.consensus, result.overall, result.recommendation
>>> print(result.report)
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from flow.app.judging.debate_calls import DebateCall
from flow.app.judging.debate_plan import DEFAULT_ROUNDS
from flow.core.judging.debate.result import document
from flow.wiring.judging import debates

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from flow.adapters.judges.given_judge import Backend
    from flow.app.judging.debate_plan import Criteria
    from flow.core.judging.debate.state import DebateState

    Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

__all__ = ["DebateResult", "adebate", "debate"]


@dataclass(frozen=True)
class DebateResult:
    """Result of a debate; true if there are scores, which a vote has without a consensus.

    ``scores`` (by criterion), ``overall`` and ``recommendation`` are the judges' means and median,
    None without a result. ``rounds`` are debates held. ``strengths`` and ``weaknesses`` are those
    that all judges named; ``document`` has those of some. ``disagreements`` are the points on which
    the judges differ, ``reports`` are their files below the top level, ``report`` is the final one
    as Markdown, and ``document`` everything that ``flow judge debate --json`` prints.
    """

    consensus: bool
    rounds: int
    scores: Mapping[str, float] | None
    overall: float | None
    recommendation: Literal["pass", "needs_revision", "fail"] | None
    strengths: tuple[str, ...]
    weaknesses: tuple[str, ...]
    disagreements: tuple[Mapping[str, Any], ...]
    needs_human_review: bool
    reports: tuple[str, ...]
    report: str
    document: Mapping[str, Any]

    def __bool__(self) -> bool:
        return not self.needs_human_review


def debate(
    solution: Paths,
    task: str,
    criteria: Criteria = None,
    kind: str | None = None,
    judges: int | None = None,
    rounds: int = DEFAULT_ROUNDS,
    mode: str = "debate",
    backends: Sequence[Backend | None] = (),
    cwd: str | None = None,
) -> DebateResult:
    """Let judges evaluate ``solution`` and debate until they agree.

    ``solution`` is one path or several: of files, of folders, or globs. Files of a folder or a glob
    that no judge sees (ignored by git, binary, a symlink) are counted in a warning.

    ``criteria`` are ``"correctness:30,design:25"``, a mapping from name to weight, or a list of
    (name, weight, description); without them the set for ``kind`` (``code``, ``design``,
    ``documentation``) is taken. ``judges`` is the number of judges (default: 3, or one for each
    backend), at least two for a debate; ``rounds`` is debates at most; ``mode`` ``vote`` counts
    independent ballots only. ``backends``: none for the judge of the user's settings, one for all
    judges, or one for each; each is a backend as for :func:`flow.judge`, and a function is called
    from several threads at once. Reports are written below the checkout around ``cwd`` (default:
    the working directory).

    Raises :class:`~flow.errors.NoUsableAnswer` if no judge can be asked,
    :class:`~flow.errors.InputError` for a wrong call or a file that cannot be read, and
    :class:`~flow.errors.RefusedError` for a symlink in the place of a report.
    """
    call = DebateCall(solution, task, criteria, kind, judges, rounds, mode, backends)
    return _result(debates.debate(call, cwd=cwd))


async def adebate(
    solution: Paths,
    task: str,
    criteria: Criteria = None,
    kind: str | None = None,
    judges: int | None = None,
    rounds: int = DEFAULT_ROUNDS,
    mode: str = "debate",
    backends: Sequence[Backend | None] = (),
    cwd: str | None = None,
) -> DebateResult:
    """:func:`debate` for asynchronous code; backends that are coroutine functions run on its loop.

    Cancelling stops the waiting; questions that are out already are ended by their time limit.
    """
    call = DebateCall(solution, task, criteria, kind, judges, rounds, mode, backends)
    loop = asyncio.get_running_loop()
    return _result(await asyncio.to_thread(debates.debate, call, cwd=cwd, loop=loop))


def _result(held: DebateState) -> DebateResult:
    debated = document(held)
    return DebateResult(
        consensus=debated["consensus"],
        rounds=debated["rounds"],
        scores=debated["scores"],
        overall=debated["overall"],
        recommendation=debated["recommendation"],
        strengths=tuple(debated["strengths"]),
        weaknesses=tuple(debated["weaknesses"]),
        disagreements=tuple(debated["disagreements"]),
        needs_human_review=debated["needs_human_review"],
        reports=tuple(debated["reports"]),
        report=debated["report"],
        document=debated,
    )
