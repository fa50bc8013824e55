"""The question before a goal is closed, at a terminal."""

from __future__ import annotations

import pydoc

from flow.errors import PersonNeeded, StateError, at_key
from flow.render.confirming import at_terminal
from flow.startup.typing import TYPE_CHECKING
from flow.wiring import closing

if TYPE_CHECKING:
    from flow.cli.output import Output
    from flow.wiring.context import Context

CONFIRM = ("c", "confirm")
AGAIN = ("r", "re-evaluate")
_DIFF = ("d", "diff")


def ask_person(context: Context, goal_id: str, out: Output, *, repeatable: bool) -> tuple[str, str]:
    """(a person's answer, its proposal's id), after they were shown all that matters for it.

    With ``repeatable`` they may evaluate again. Raises :class:`StateError` without a proposal.
    """
    while True:
        question = closing.question(context, goal_id)
        if question is None:
            raise _nothing_proposed(goal_id)
        keys = "c confirm   d show the diff   " + "r evaluate again   " * repeatable
        out.tell(
            [
                *at_terminal(question, out.paint, out.columns),
                "",
                f"Confirm that {goal_id} is {question.to}?",
                f"  {keys}Enter leave it as it is",
            ]
        )
        answer = out.ask(">")
        if answer not in _DIFF:
            return answer, question.proposal_id
        _show_in_pager(closing.diff(context, goal_id))


def proposal_to_confirm(context: Context, goal_id: str, out: Output) -> str:
    """The live proposal, on a person's yes at a terminal.

    Raises :class:`PersonNeeded` where they say no, :class:`StateError` where nobody can be asked.
    """
    if not out.can_ask:
        question = closing.question(context, goal_id)
        if question is None:
            raise _nothing_proposed(goal_id)
        raise at_key("--proposal").wrong_state(
            "off a terminal the proposal must be named",
            f"flow goal confirm {goal_id} --proposal {question.proposal_id[:12]}",
            code="usage",
        )
    answer, proposal = ask_person(context, goal_id, out, repeatable=False)
    if answer not in CONFIRM:
        raise PersonNeeded("not confirmed; nothing was changed", code="declined")
    return proposal


def _nothing_proposed(goal_id: str) -> StateError:
    return at_key("--proposal").wrong_state(
        f"goal {goal_id} has no live proposal",
        f"evaluate it first: flow goal evaluate {goal_id}",
        code="no_proposal",
    )


def _show_in_pager(text: str) -> None:
    """Show ``text`` in the user's pager and come back."""
    pydoc.pager(text)
