"""The plan of a debate, checked: judges, rounds, task, criteria (SPEC 9.4)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256

from flow.app.judging.port import AskJudge, NoAnswer, name_of, whole_number
from flow.core.judging.debate import criteria as debate_criteria
from flow.core.judging.debate import prompt as debate_prompt
from flow.errors import at_key
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from flow.core.judging.debate.criteria import DebateCriterion
    from flow.core.judging.debate.state import Mode
    from flow.core.untrusted.fences import FencedPart

    Criteria = str | Mapping[str, Any] | Sequence[Any] | None

MODES = ("debate", "vote")
MOST_JUDGES = 25
MOST_ROUNDS = 10
DEFAULT_JUDGES = 3
DEFAULT_ROUNDS = 3
TASK_MOST = 100_000
"""Most characters of a task that are read; a prompt takes fewer, and says so."""


class DebatePlan(NamedTuple):
    """Everything that a debate is asked to do. ``name`` is the name of its reports."""

    task: str
    solution: tuple[FencedPart, ...]
    name: str
    criteria: tuple[DebateCriterion, ...]
    rounds: int = DEFAULT_ROUNDS
    mode: Mode = "debate"


class Unwatched:
    """A watcher that shows nothing."""

    def asking(self, judge: int, name: str, what: str, seconds: float) -> None:
        """Ignore it."""

    def wrote(self, judge: int, what: str, score: str) -> None:
        """Ignore it."""

    def silent(self, judge: int, what: str, why: str) -> None:
        """Ignore it."""

    def counted(self, rounds: int, agreement: Any) -> None:
        """Ignore it."""


def digest_of(question: Any, plan: DebatePlan, judges: Sequence[AskJudge | NoAnswer]) -> str:
    """Identity of a debate: a digest of everything a judge is asked, and of the judges."""
    words = debate_prompt.assess(question, 1, "0" * 32)
    parts = [[p.name, p.source, sha256(p.text).hexdigest()] for p in question.solution]
    whole = {
        "words": sha256(f"{words.system}\0{json.dumps(words.schema)}".encode()).hexdigest(),
        "task": question.task,
        "solution": parts,
        "criteria": [[c.name, str(c.share), c.description] for c in question.criteria],
        "judges": list(map(name_of, judges)),
        "rounds": plan.rounds,
        "mode": plan.mode,
        "name": plan.name,
    }
    text = json.dumps(whole, sort_keys=True)
    return sha256(text.encode("ascii")).hexdigest()[:32]


def how_many(judges: int | None, backends: Sequence[Any], mode: str) -> tuple[int, list[Any]]:
    """The number of judges, and the backend of each or one for all.

    Raises :class:`InputError` for numbers that do not fit together.
    """
    if mode not in MODES:
        raise at_key("mode", mode).invalid(f"{mode!r:.60} is no mode", f"one of {', '.join(MODES)}")
    chosen = list(backends) or [None]
    count = judges
    if count is None:
        count = len(chosen) if len(chosen) > 1 else DEFAULT_JUDGES
    least = 2 if mode == "debate" else 1
    whole_number(count, "judges", least, MOST_JUDGES)
    if len(chosen) not in (1, count):
        raise at_key("judges", count).invalid(
            f"{len(chosen)} backends are named for {count} judges",
            "name one backend for all judges, or one for each",
        )
    return count, chosen


def task_of(task: object) -> str:
    """The task, if it is a text; :class:`InputError` otherwise."""
    if isinstance(task, str) and task.strip() and len(task) <= TASK_MOST:
        return task
    missing = not task or (isinstance(task, str) and not task.strip())
    raise at_key("task").invalid(
        "the task is missing" if missing else "the task is no text of fair length",
        "say in a few sentences what the solution was supposed to accomplish",
    )


def criteria_of(criteria: Criteria, kind: str | None) -> tuple[DebateCriterion, ...]:
    """The criteria as given, or the ready-made ones of a kind; :class:`InputError` for others."""
    if criteria is not None and kind is not None:
        raise at_key("kind", kind).invalid(
            "criteria and kind exclude each other",
            "give criteria of your own, or the kind whose set is taken",
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
            raise at_key("criteria").invalid(
                f"{row!r:.60} is no criterion", "give (name, weight) or (name, weight, description)"
            )
        rows.append((row[0], row[1], row[2] if len(row) == 3 else ""))
    return debate_criteria.checked(rows)
