"""The question before a goal is closed, at a terminal."""

from __future__ import annotations

from flow.adapters.process.editor import show_in_pager
from flow.app.transitions.confirming import live_question
from flow.app.transitions.persons_word import persons_word
from flow.core.goal.lifecycle import TERMINAL, first_step
from flow.core.text.display import visible
from flow.errors import StateError, at_key
from flow.render.confirm_screen import closed_lines, question_lines
from flow.startup.typing import TYPE_CHECKING
from flow.wiring import confirm_question

if TYPE_CHECKING:
    from flow.app.transitions.closing import Closed
    from flow.app.transitions.persons_word import PersonsWord
    from flow.cli.output import Output
    from flow.core.decision.confirming import ConfirmQuestion
    from flow.wiring.context import Context

CONFIRM = ("c", "confirm")
AGAIN = ("r", "re-evaluate")
_DIFF = ("d", "diff")


def ask_person(
    context: Context, goal_id: str, out: Output, *, told: bool
) -> tuple[str, ConfirmQuestion]:
    """(a person's answer, the question), after they were shown all that matters for it.

    ``told``: an evaluation's rows stand above. Raises :class:`StateError` without a proposal, and
    for a yes to one that the question says is stale.
    """
    while True:
        question = live_question(context, goal_id)
        if question is None:
            raise _nothing_proposed(context, goal_id)
        out.forget_typed()
        out.tell(["", *question_lines(question, out.asking, told=told)])
        answer = out.ask(">")
        if answer in CONFIRM and question.moved:
            raise _stale(question)
        if answer not in _DIFF:
            return answer, question
        show_in_pager(confirm_question.diff(context, goal_id), context.environ)


def closing_word(context: Context, by: str | None, note: str | None, out: Output) -> PersonsWord:
    """The person who confirms, and their note: as given, else as typed at a terminal."""
    word = persons_word(context, by, note or "")
    if note is not None or not out.can_ask:
        return word
    out.tell([out.asking.paint("person", "A note for the record?  Enter: none")])
    return persons_word(context, by, out.ask_line(">"))


def show_closed(context: Context, closed: Closed, out: Output) -> int:
    """Show a goal that was closed on a person's word, and what comes next."""
    achieved = closed.status == "achieved"
    to_commit = achieved and context.tree.anything_to_commit(context.load(closed.goal_id).goal)
    document = {**closed.to_document(), **said_from(context)}
    out.result(document, closed_lines(document, out.screen, to_commit=to_commit))
    return 0


def said_from(context: Context) -> dict[str, str]:
    """From where the command comes, as a document has it."""
    return {} if context.speaker is None else context.speaker.fields()


def unnamed_proposal(context: Context, goal_id: str) -> StateError:
    """The error without a terminal to ask at, with the line to type."""
    question = live_question(context, goal_id)
    if question is None:
        return _nothing_proposed(context, goal_id)
    if question.moved:
        return _stale(question)
    return at_key("--proposal").wrong_state(
        "off a terminal the proposal must be named",
        f"flow goal confirm {goal_id} --proposal {question.proposal_id[:12]}",
        code="usage",
    )


def _stale(question: ConfirmQuestion) -> StateError:
    goal_id = question.goal_id
    return at_key("--proposal").stale(
        f"the proposal for goal {visible(goal_id)} is stale: {'; '.join(question.moved)}",
        f"evaluate again: flow goal evaluate {goal_id}",
    )


def _nothing_proposed(context: Context, goal_id: str) -> StateError:
    status = context.load(goal_id).goal.status
    remedy = first_step(status, goal_id) or f"evaluate it first: flow goal evaluate {goal_id}"
    is_what = "has no live proposal" if status not in TERMINAL else f"is {status} already"
    return at_key("--proposal").wrong_state(
        f"goal {visible(goal_id)} {is_what}", remedy, code="no_proposal"
    )
