"""Debates with the real parts: files, settings, backends, threads, the user's own record."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence

from flow.errors import InputError
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from flow.adapters.debates.log import Spent
    from flow.adapters.debates.solution_files import Solution
    from flow.app.judging.debate import Watcher
    from flow.app.judging.port import AskJudge, NoAnswer
    from flow.core.judging.debate.criteria import Criterion
    from flow.core.judging.debate.result import Held, Mode
    from flow.core.untrusted.fences import Part
    from flow.wiring.rubrics import Backend

    Criteria = str | Mapping[str, Any] | Sequence[Any] | None

MODES = ("debate", "vote")
MOST_JUDGES = 25
MOST_ROUNDS = 10
DEFAULT_JUDGES = 3
DEFAULT_ROUNDS = 3
TASK_MOST = 100_000
"""Characters that are looked at; a prompt takes less, and says so."""


class Hall(NamedTuple):
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


class Agenda(NamedTuple):
    """What is debated. ``name`` is what the reports are called."""

    task: str
    solution: tuple[Part, ...]
    name: str
    criteria: tuple[Criterion, ...]
    rounds: int = DEFAULT_ROUNDS
    mode: Mode = "debate"


def hold(
    hall: Hall,
    agenda: Agenda,
    judges: Sequence[AskJudge | NoAnswer],
    *,
    watch: Watcher | None = None,
    nonce: Callable[[str], str] | None = None,
) -> Held:
    """Hold a debate or a vote, or go on with one that was broken off.

    ``judges`` in the order of their numbers; the same one may be there several times. Texts are
    masked before they leave and before they are written. Raises :class:`InputError` for an agenda
    that cannot be shown whole, :class:`RefusedError` and :class:`StorageError` for files.
    """
    from flow.adapters.debates.log import DebateBook
    from flow.adapters.debates.reports import Names, claim
    from flow.adapters.fs import clock
    from flow.adapters.process.in_threads import at_once
    from flow.adapters.process.redaction import masked_text
    from flow.app.judging import debate as judging_debate
    from flow.core.judging.debate import prompt as debate_prompt
    from flow.core.judging.debate.section import About
    from flow.wiring.rubrics import random_nonce

    def mask(text: str) -> str:
        return masked_text(text, hall.environ)

    solution = tuple(_masked(part, hall.environ) for part in agenda.solution)
    task = mask(agenda.task)
    matter = debate_prompt.Matter(task, solution, agenda.criteria)
    debate_prompt.check(matter)
    digest = _digest(matter, agenda, judges)
    about = About(
        digest, task, tuple(part.source or part.name for part in solution), matter.criteria
    )
    order = judging_debate.Order(
        matter, about, tuple(judges), agenda.rounds, agenda.mode, hall.seconds
    )
    warnings: list[str] = []
    book = DebateBook(hall.state_dir, hall.top, hall.checkout, hall.common_dir)
    names = Names(hall.top, hall.reports_dir.strip("/"), agenda.name, clock.today())
    with claim(names, digest, len(judges), book, warnings.append, hall.announce) as reports:
        spent = book.spent(reports.stem)
        _charge(judges, spent)
        tools = judging_debate.Tools(
            reports,
            nonce or random_nonce,
            at_once,
            mask,
            watch or Unwatched(),
            lambda judge, cost: book.paid(reports.stem, judge, cost),
        )
        held = judging_debate.hold(order, tools)
        if held.ended:
            book.end(reports.stem)
    return held._replace(
        warnings=(*warnings, *held.warnings), earlier_usd=spent.usd if spent.usd else None
    )


def _charge(judges: Sequence[AskJudge | NoAnswer], spent: Spent) -> None:
    """Count what earlier runs of the debate spent against the judges' limits (``maxCostUsd``)."""
    from flow.adapters.judges.asking import Judge

    budgets = {id(judge.budget): judge.budget for judge in judges if isinstance(judge, Judge)}
    for budget in budgets.values():
        budget.charge(spent.usd, untold=spent.untold)


class Unwatched:
    """A watcher that shows nothing."""

    def asking(self, judge: int, name: str, what: str, seconds: float) -> None:
        """Ignore it."""

    def wrote(self, judge: int, what: str, score: str) -> None:
        """Ignore it."""

    def silent(self, judge: int, what: str, why: str) -> None:
        """Ignore it."""

    def counted(self, rounds: int, found: Any) -> None:
        """Ignore it."""


def _masked(part: Part, environ: Mapping[str, str]) -> Part:
    """The part without its secrets, so that a judge's quotes are looked up in what it saw."""
    from flow.adapters.process.redaction import known
    from flow.core.secrets.redact import mask

    data = part.text if isinstance(part.text, bytes) else part.text.encode("utf-8", "surrogatepass")
    return part._replace(text=mask(data, known(environ)).data)


def _digest(matter: Any, agenda: Agenda, judges: Sequence[AskJudge | NoAnswer]) -> str:
    """What makes two debates the same: everything that a judge is asked, and who is asked."""
    from hashlib import sha256

    from flow.app.judging.port import name_of
    from flow.core.judging.debate import prompt as debate_prompt

    words = debate_prompt.assess(matter, 1, "0" * 32)
    parts = [[p.name, p.source, sha256(p.text).hexdigest()] for p in matter.solution]
    whole = {
        "words": sha256(f"{words.system}\0{json.dumps(words.schema)}".encode()).hexdigest(),
        "task": matter.task,
        "solution": parts,
        "criteria": [[c.name, str(c.share), c.description] for c in matter.criteria],
        "judges": list(map(name_of, judges)),
        "rounds": agenda.rounds,
        "mode": agenda.mode,
        "name": agenda.name,
    }
    text = json.dumps(whole, sort_keys=True)
    return sha256(text.encode("ascii")).hexdigest()[:32]


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
    count, chosen = _how_many(judges, backends, mode)
    agenda_rounds = _whole(rounds, "rounds", 0, MOST_ROUNDS)
    asked = _criteria(criteria, kind)
    start = os.path.abspath(cwd or os.getcwd())
    hall = place(start, os.environ if environ is None else environ)
    parts, name, notes = read_solution(solution, start, hall)
    agenda = Agenda(_task(task), parts, name, asked, agenda_rounds, mode)  # type: ignore[arg-type]
    seats = _seats(chosen * count if len(chosen) == 1 else chosen, start, hall.environ, loop)
    held = hold(hall, agenda, seats, watch=watch, nonce=nonce)
    return held._replace(warnings=(*notes, *held.warnings))


def place(start: str, environ: Mapping[str, str]) -> Hall:
    """The hall of the checkout around ``start``; outside of any, ``start`` itself."""
    from flow.adapters.fs.state_folder import state_dir
    from flow.adapters.git.repository import find_repo
    from flow.adapters.user_state.settings import load

    repo = find_repo(start)
    top = None if repo is None else repo.top
    common = None if repo is None else repo.common_dir
    settings = load(top, environ.get("HOME") or None).settings
    state = state_dir(environ, environ.get("HOME") or None, top, common)
    seconds = settings.judge.timeout_seconds
    hall = Hall(top or start, top, common, state, settings.reports_dir, environ, seconds)
    if repo is None:
        return hall
    from flow.adapters.git.trees import shared_dir
    from flow.adapters.user_state.trust import repo_key
    from flow.adapters.user_state.written_files import OwnRecord

    key = repo_key(shared_dir(repo), repo.top)
    return hall._replace(announce=OwnRecord(lambda: (state, key)).file)


def read_solution(solution: Any, start: str, hall: Hall) -> Solution:
    """The files of a solution: one path or several, of files and folders, and globs."""
    from flow.adapters.debates import solution_files
    from flow.adapters.git.repository import find_repo

    given = [solution] if isinstance(solution, str | os.PathLike) else list(solution)
    where = solution_files.Where(start, hall.top, find_repo(start), hall.reports_dir)
    return solution_files.read([os.fsdecode(path) for path in given], where)


def _how_many(
    judges: int | None, backends: Sequence[Backend | None], mode: str
) -> tuple[int, list[Backend | None]]:
    if mode not in MODES:
        raise InputError(
            f"{mode!r:.60} is no mode", key="mode", value=mode, remedy=f"one of {', '.join(MODES)}"
        )
    chosen = list(backends) or [None]
    count = judges
    if count is None:
        count = len(chosen) if len(chosen) > 1 else DEFAULT_JUDGES
    least = 2 if mode == "debate" else 1
    _whole(count, "judges", least, MOST_JUDGES)
    if len(chosen) not in (1, count):
        raise InputError(
            f"{len(chosen)} backends are named for {count} judges",
            key="judges",
            value=count,
            remedy="name one backend for all judges, or one for each",
        )
    return count, chosen


def _whole(value: object, key: str, least: int, most: int) -> int:
    if type(value) is int and least <= value <= most:
        return value
    raise InputError(
        f"{value!r:.40} is no number of {key}",
        key=key,
        value=value,
        remedy=f"a whole number from {least} to {most}",
    )


def _task(task: object) -> str:
    if isinstance(task, str) and task.strip() and len(task) <= TASK_MOST:
        return task
    missing = not task or (isinstance(task, str) and not task.strip())
    raise InputError(
        "the task is missing" if missing else "the task is no text of fair length",
        key="task",
        remedy="say in a few sentences what the solution was supposed to accomplish",
    )


def _criteria(criteria: Criteria, kind: str | None) -> tuple[Criterion, ...]:
    from flow.core.judging.debate import criteria as debate_criteria

    if criteria is not None and kind is not None:
        raise InputError(
            "criteria and kind exclude each other",
            key="kind",
            value=kind,
            remedy="give criteria of your own, or the kind whose set is taken",
        )
    if criteria is None:
        return debate_criteria.ready_made("code" if kind is None else kind)
    if isinstance(criteria, str):
        return debate_criteria.parse(criteria)
    if isinstance(criteria, Mapping):
        return debate_criteria.checked([(name, weight, "") for name, weight in criteria.items()])
    rows = []
    for row in criteria:
        if not isinstance(row, list | tuple) or not 2 <= len(row) <= 3:
            raise InputError(
                f"{row!r:.60} is no criterion",
                key="criteria",
                remedy="give (name, weight) or (name, weight, description)",
            )
        rows.append((row[0], row[1], row[2] if len(row) == 3 else ""))
    return debate_criteria.checked(rows)


def _seats(
    specs: Sequence[Backend | None],
    start: str,
    environ: Mapping[str, str],
    loop: AbstractEventLoop | None,
) -> list[AskJudge | NoAnswer]:
    """What answers for each judge; all share one budget (``maxCostUsd``)."""
    from flow.adapters.judges.budget import Budget
    from flow.adapters.judges.choose import choose as by_settings
    from flow.app.judging.port import NoAnswer
    from flow.wiring import rubrics

    where = rubrics.place(start, environ)
    budget = Budget(where.settings.max_cost_usd)
    found: list[AskJudge | NoAnswer] = []
    for spec in specs:
        if spec is None or isinstance(spec, str):
            found.append(by_settings(spec, where.settings, environ, work=None, budget=budget))
        else:
            found.append(rubrics.choose(spec, where, loop))
    refused = [seat for seat in found if isinstance(seat, NoAnswer)]
    if len(refused) == len(found):
        raise rubrics.no_answer(refused[0])
    return found
