"""``flow goal list``: a row for each goal, goals that need a person first. Pure."""

from __future__ import annotations

from flow.core.text.display import clip, counted, names, visible
from flow.errors import FEW_ROWS, MANY_ROWS, more_than
from flow.render.goal.standing import criterion_mark, paragraph, since, standing
from flow.render.screen import Column, Screen, Styled, mark_of
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.render.text import Document

WIDE = 110
"""Least width of a terminal, in columns, for showing outcomes."""
ID = 24
"""Characters of a goal's id that fit beside an outcome there."""
MARKS = 12
"""Criteria with a mark each, at most; more are counted."""
OUTCOME = 100
"""Characters of an outcome without a terminal, and of a branch."""
BRANCH = 30
"""Characters of a branch next to an outcome."""


def goal_list_lines(document: Document, screen: Screen) -> list[str]:
    """The lines of ``flow goal list``; empty without a goal."""
    goals = document["goals"]
    if not goals:
        return []
    longer = max(max(len(goal["goal_id"]) for goal in goals[:MANY_ROWS]) - ID, 0)
    with_outcome = screen.columns is None or screen.columns >= WIDE + longer
    columns = [
        Column(),
        Column("goal"),
        Column("branch", cut=not with_outcome),
        Column("criteria", yields=True),
        Column("turns", right=True, yields=True),
        Column("state"),
        *([Column("outcome", cut=True)] if with_outcome else []),
        Column("age", right=True, yields=True),
    ]
    rows = [_row(goal, screen, with_outcome=with_outcome) for goal in goals[:MANY_ROWS]]
    lines = screen.table(columns, rows, heads=True)
    every = "flow goal list" + " --all-branches" * (document["branches"] is not None) + " --json"
    return [*lines, *more_than(len(goals), every), *_count(document, goals, screen)]


def _row(goal: Document, screen: Screen, *, with_outcome: bool) -> list[str | Styled]:
    state = standing(goal)
    longest = OUTCOME if screen.columns is None or not with_outcome else BRANCH
    branch = "* here" if goal["here"] else clip(visible(goal["branch"]), longest)
    words = Styled(state.words, "person") if state.words == "waits for you" else state.words
    return [
        mark_of(state.meaning),
        visible(goal["goal_id"]),
        branch,
        _criteria(goal["results"]),
        str(goal["turns_evaluated"]),
        words,
        *([_outcome(goal)] if with_outcome else []),
        Styled(since(screen, goal["since"]), "dim"),
    ]


def _criteria(results: Sequence[Document]) -> str:
    marks = [criterion_mark(row).text for row in results]
    if len(marks) <= MARKS:
        return "".join(marks)
    return " ".join(f"{marks.count(mark):,}{mark}" for mark in dict.fromkeys(marks))


def _outcome(goal: Document) -> str:
    """A goal's outcome; for a paused one the person or agent that paused it, and the reason."""
    pause = goal["paused"]
    if not pause:
        return clip(visible(goal["outcome"]), OUTCOME)
    from flow.core.stop.pause import Pause

    return clip(Pause(**pause).sentence(), OUTCOME)


def _count(document: Document, goals: Sequence[Document], screen: Screen) -> list[str]:
    """The number of goals, and of those that are not in this checkout."""
    if document["branches"] is None:
        return []
    from_git = sum(1 for goal in goals if goal["from_git"] is not None)
    count, branches = len(goals), len({goal["branch"] for goal in goals})
    told = f"{counted(count, 'goal')} on {branches:,} branch{'es' * (branches != 1)}"
    if from_git:
        word = "was" if from_git == 1 else "were"
        told += f"; {from_git:,} {word} read from git, as last committed there"
    in_trees = sum(1 for goal in goals if goal["checkout"] is not None)
    if in_trees:
        told += f"; {in_trees:,} {'is' if in_trees == 1 else 'are'} in another working tree"
    return ["", *paragraph(f"{told}.", screen)]


def none_here(document: Document, statuses: Sequence[str] = ()) -> str:
    """The place of goals if none is on this branch, or that there are none; empty if one is shown.

    ``statuses`` are the requested ones, if not all.
    """
    other = document["other_branches"]
    if other:
        branch, count = visible(document["branch"]), sum(other.values())
        goals = f"{counted(count, 'goal')} on {_branches(other)}"
        return f"no goal on {branch}; {goals}: flow goal list --all-branches"
    if document["goals"] or document["unreadable"]:
        return ""
    if statuses:
        return f"no goal is {' or '.join(statuses)}"
    return "no goals yet; make one: flow goal create"


def _branches(other: Mapping[str, int]) -> str:
    if len(other) <= 3:
        return names(list(other), FEW_ROWS)
    return f"{len(other):,} other branches"


def unreadable_lines(errors: Sequence[Document]) -> list[str]:
    """One line for each goal that cannot be read; for one that is gone with the remedy."""
    return [
        f"{visible(str(e['file']))}: cannot be read: {visible(str(e['message']))}"
        + (f" ({visible(str(e['remedy']))})" if e.get("code") == "not_found" else "")
        for e in errors
    ]
