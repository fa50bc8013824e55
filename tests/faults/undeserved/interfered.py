"""The other random search: an honest agent's way to the end, with one to three acts put into it.

The state machine of ``rules.py`` goes anywhere and seldom reaches an end; these runs are short and
mostly do, so a mend that is missing shows within some hundred of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given, seed
from hypothesis import strategies as st

from tests.faults.undeserved.play import Step, Undeserved, fresh
from tests.faults.undeserved.rules import BEFORE, MISCHIEF, SETTINGS, THEMES, Search, limits

if TYPE_CHECKING:
    from tests.faults.undeserved.world import Yard

_GOOD = Step("edit", {"path": "src/app.py", "text": "state = 'good'\n"})
_EVALUATE, _CONFIRM, _STOP = Step("evaluate", {}), Step("confirm", {}), Step("stop", {})
WAYS = (
    (_GOOD, _EVALUATE, _CONFIRM),
    (_GOOD, _EVALUATE, _EVALUATE, _CONFIRM),
    (_EVALUATE, _GOOD, _EVALUATE, _CONFIRM),
    (_GOOD, _STOP, _EVALUATE, _CONFIRM),
    (_STOP, _STOP, _GOOD, _EVALUATE),
)
"""What an honest agent and a person do once the goal has begun."""


@st.composite
def runs(draw: Any, only: str) -> list[Step]:
    """One run. ``only`` is the theme of its mischief; empty: any."""
    theme = only or draw(st.sampled_from(sorted(set(THEMES) - {"none"})))
    steps = list(draw(st.sampled_from(WAYS)))
    if THEMES[theme]:
        for act in draw(st.lists(st.sampled_from(THEMES[theme]), min_size=1, max_size=3)):
            place = draw(st.integers(0, len(steps)))
            steps.insert(place, Step(act, draw(MISCHIEF[act])))
    before = draw(st.lists(BEFORE, max_size=2)) if theme in ("git", "all") else []
    if theme == "steering" and draw(st.booleans()):
        before.append(("settings", draw(MISCHIEF["settings"])))
    return [*(Step(*each) for each in before), Step("create", draw(SETTINGS)), *steps]


def interfere(yard: Yard, *, examples: int, number: int) -> Undeserved | None:
    """Look for an undeserved answer in so many runs; the first one found."""

    def one(steps: list[Step]) -> None:
        play = fresh(yard, steps)
        Search.runs += 1
        Search.last = play.steps
        try:
            for step in steps:
                play.do(step.act, **step.given)
        finally:
            Search.proposed += play.proposed > 0
            Search.confirmed += play.confirmed > 0

    try:
        limits(examples)(seed(number)(given(runs(Search.only))(one)))()
    except Undeserved as problem:
        return problem
    return None
