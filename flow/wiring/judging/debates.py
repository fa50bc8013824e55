"""Debates with the real parts: files, settings, backends, threads, the user's own record."""

from __future__ import annotations

import os

from flow.adapters.debates import solution_files
from flow.adapters.debates.log import DebateLog
from flow.adapters.debates.reports import Names, claim_reports
from flow.adapters.fs import clock
from flow.adapters.fs.state_folder import state_dir
from flow.adapters.git.repository import find_repo
from flow.adapters.git.trees import shared_dir
from flow.adapters.judges.asking import BackendJudge
from flow.adapters.judges.budget import Budget
from flow.adapters.judges.choose import choose as by_settings
from flow.adapters.process.in_threads import run_in_threads
from flow.adapters.process.redaction import masked_text, secret_values
from flow.adapters.user_state.settings import load
from flow.adapters.user_state.trust import repo_key
from flow.adapters.user_state.written_files import OwnRecord
from flow.app.judging import debate as judging_debate
from flow.app.judging.debate_plan import (
    DEFAULT_ROUNDS,
    MOST_ROUNDS,
    DebatePlan,
    Unwatched,
    criteria_of,
    digest_of,
    how_many,
    task_of,
    whole_number,
)
from flow.app.judging.port import NoAnswer, no_answer
from flow.core.judging.debate import prompt as debate_prompt
from flow.core.judging.debate.section import DebateSubject
from flow.core.secrets.redact import redact
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple
from flow.wiring.judging import rubrics
from flow.wiring.judging.rubrics import random_nonce

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable, Mapping, Sequence

    from flow.adapters.debates.log import Spent
    from flow.adapters.debates.solution_files import Solution
    from flow.app.judging.debate import Watcher
    from flow.app.judging.debate_plan import Criteria
    from flow.app.judging.port import AskJudge
    from flow.core.judging.debate.state import Held
    from flow.core.untrusted.fences import FencedPart
    from flow.wiring.judging.rubrics import Backend


class DebateContext(NamedTuple):
    """Where a debate is held: plain values, so that a goal's evaluation can bring its own.

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


def hold(
    context: DebateContext,
    plan: DebatePlan,
    judges: Sequence[AskJudge | NoAnswer],
    *,
    watch: Watcher | None = None,
    nonce: Callable[[str], str] | None = None,
) -> Held:
    """Hold a debate or a vote, or go on with one that was broken off.

    ``judges`` in the order of their numbers; the same one may be there several times. Texts are
    masked before they leave and before they are written. Raises :class:`InputError` for a plan
    that cannot be shown whole, :class:`RefusedError` and :class:`StorageError` for files.
    """

    def mask(text: str) -> str:
        return masked_text(text, context.environ)

    solution = tuple(_masked(part, context.environ) for part in plan.solution)
    task = mask(plan.task)
    matter = debate_prompt.DebateQuestion(task, solution, plan.criteria)
    debate_prompt.check(matter)
    digest = digest_of(matter, plan, judges)
    about = DebateSubject(
        digest, task, tuple(part.source or part.name for part in solution), matter.criteria
    )
    order = judging_debate.DebateRequest(
        matter, about, tuple(judges), plan.rounds, plan.mode, context.seconds
    )
    warnings: list[str] = []
    book = DebateLog(context.state_dir, context.top, context.checkout, context.common_dir)
    names = Names(context.top, context.reports_dir.strip("/"), plan.name, clock.today())
    with claim_reports(
        names, digest, len(judges), book, warnings.append, context.announce
    ) as reports:
        spent = book.spent(reports.stem)
        _charge(judges, spent)
        tools = judging_debate.DebateTools(
            reports,
            nonce or random_nonce,
            run_in_threads,
            mask,
            watch or Unwatched(),
            lambda judge, cost: book.paid(reports.stem, judge, cost),
        )
        held = judging_debate.hold_debate(order, tools)
        if held.ended:
            book.end(reports.stem)
    return held._replace(
        warnings=(*warnings, *held.warnings), earlier_usd=spent.usd if spent.usd else None
    )


def _charge(judges: Sequence[AskJudge | NoAnswer], spent: Spent) -> None:
    """Count what earlier runs of the debate spent against the judges' limits (``maxCostUsd``)."""
    budgets = {
        id(judge.budget): judge.budget for judge in judges if isinstance(judge, BackendJudge)
    }
    for budget in budgets.values():
        budget.charge(spent.usd, untold=spent.untold)


def _masked(part: FencedPart, environ: Mapping[str, str]) -> FencedPart:
    """The part without its secrets, so that a judge's quotes are looked up in what it saw."""
    data = part.text if isinstance(part.text, bytes) else part.text.encode("utf-8", "surrogatepass")
    return part._replace(text=redact(data, secret_values(environ)).data)


def debate(
    solution: Any,
    task: str,
    *,
    criteria: Criteria = None,
    kind: str | None = None,
    judges: int | None = None,
    rounds: int = DEFAULT_ROUNDS,
    mode: str = "debate",
    backends: Sequence[Backend | None] = (),
    cwd: str | None = None,
    environ: Mapping[str, str] | None = None,
    loop: AbstractEventLoop | None = None,
    watch: Watcher | None = None,
    nonce: Callable[[str], str] | None = None,
) -> Held:
    """A debate as the command line and :func:`flow.debate` ask for it.

    ``solution`` is one path or several: files, folders, globs. ``backends``: none for the
    configured judge, one for all judges, or one for each. Raises :class:`NoUsableAnswer` where
    nobody at all can be asked.
    """
    count, chosen = how_many(judges, backends, mode)
    debate_rounds = whole_number(rounds, "rounds", 0, MOST_ROUNDS)
    asked = criteria_of(criteria, kind)
    start = os.path.abspath(cwd or os.getcwd())
    context = place(start, os.environ if environ is None else environ)
    parts, name, notes = read_solution(solution, start, context)
    plan = DebatePlan(task_of(task), parts, name, asked, debate_rounds, mode)  # type: ignore[arg-type]
    panel = _panel(chosen * count if len(chosen) == 1 else chosen, start, context.environ, loop)
    held = hold(context, plan, panel, watch=watch, nonce=nonce)
    return held._replace(warnings=(*notes, *held.warnings))


def place(start: str, environ: Mapping[str, str]) -> DebateContext:
    """The context of the checkout around ``start``; outside of any, ``start`` itself."""
    repo = find_repo(start)
    top = None if repo is None else repo.top
    common = None if repo is None else repo.common_dir
    settings = load(top, environ.get("HOME") or None).settings
    state = state_dir(environ, environ.get("HOME") or None, top, common)
    seconds = settings.judge.timeout_seconds
    context = DebateContext(
        top or start, top, common, state, settings.reports_dir, environ, seconds
    )
    if repo is None:
        return context
    key = repo_key(shared_dir(repo), repo.top)
    return context._replace(announce=OwnRecord(lambda: (state, key)).file)


def read_solution(solution: Any, start: str, context: DebateContext) -> Solution:
    """The files of a solution: one path or several, of files and folders, and globs."""
    given = [solution] if isinstance(solution, str | os.PathLike) else list(solution)
    where = solution_files.Where(start, context.top, find_repo(start), context.reports_dir)
    return solution_files.read_solution([os.fsdecode(path) for path in given], where)


def _panel(
    specs: Sequence[Backend | None],
    start: str,
    environ: Mapping[str, str],
    loop: AbstractEventLoop | None,
) -> list[AskJudge | NoAnswer]:
    """What answers for each judge; all share one budget (``maxCostUsd``)."""
    where = rubrics.place(start, environ)
    budget = Budget(where.settings.max_cost_usd)
    found: list[AskJudge | NoAnswer] = []
    for spec in specs:
        if spec is None or isinstance(spec, str):
            found.append(by_settings(spec, where.settings, environ, work=None, budget=budget))
        else:
            found.append(rubrics.choose(spec, where, loop))
    refused = [judge for judge in found if isinstance(judge, NoAnswer)]
    if len(refused) == len(found):
        raise no_answer(refused[0])
    return found
