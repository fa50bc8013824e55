"""What is lost: every status, branch and state of the file, as values."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from flow.core.goal.lifecycle import TERMINAL, UNDER_WAY
from flow.core.goal.model import goal_from_document
from flow.core.stop import lost_goals
from flow.core.stop import messages as stop_messages
from flow.core.stop.lost_goals import Loss, LossKind, OpenGoal, SessionNotes
from flow.startup.typing import get_args
from tests.app.fakes import criterion, goal_document

KNOWN = OpenGoal("issue-4", "run-1", "main", ("active",), "c")


def goal(status: str = "active", branch: str = "main") -> Any:
    document = goal_document(criterion("AC1"), status=status)
    document["scope"]["branch"] = branch
    return goal_from_document(document)


def losses(
    found: Any,
    *,
    known: OpenGoal = KNOWN,
    branch: str | None = "main",
    judged: tuple[str, ...] = ("issue-4",),
    closed: frozenset[str] = frozenset(),
    unreadable: dict[str, str] | None = None,
) -> list[str]:
    goals = {} if found is None else {"issue-4": found}
    return [
        loss.kind
        for loss in lost_goals.lost_goals(
            [known],
            goals,
            unreadable=unreadable or {},
            closed=closed,
            branch=branch,
            judged=judged,
        )
    ]


@pytest.mark.parametrize("status", sorted([*UNDER_WAY, *TERMINAL]))
@pytest.mark.parametrize("left", sorted(UNDER_WAY))
def test_every_status_beside_every_one_that_flow_left(status: str, left: str) -> None:
    found = losses(goal(status), known=KNOWN._replace(statuses=(left,)))
    if status in TERMINAL:
        assert found == ["closed_by_hand"]
    elif status in ("active", left):
        assert found == []
    else:
        assert found == ["status_by_hand"]


def test_what_flow_was_about_to_write_is_its_own() -> None:
    known = KNOWN._replace(statuses=("active", "waiting_for_user"))
    assert losses(goal("waiting_for_user"), known=known) == []
    assert losses(goal("draft"), known=known) == ["status_by_hand"]


@pytest.mark.parametrize("status", sorted(TERMINAL))
def test_a_closing_on_record_is_none(status: str) -> None:
    assert losses(goal(status), closed=frozenset(["issue-4"])) == []


BRANCHES = ("main", "other", "third", "none")


@pytest.mark.parametrize(
    ("file", "known", "head", "judged"),
    list(itertools.product(BRANCHES, ("main", "none"), ("main", "other", None), (True, False))),
)
def test_every_branch(file: str, known: str, head: str | None, judged: bool) -> None:
    found = losses(
        goal(branch=file),
        known=KNOWN._replace(branch=known),
        branch=head,
        judged=("issue-4",) if judged else (),
    )
    here = head is None or file in (head, "none")
    was_here = head is None or known in (head, "none")
    if here:
        assert found == []
    elif was_here and file != known:
        assert found == ["branch_by_hand"]
    else:
        assert found == (["switched"] if judged else [])


@pytest.mark.parametrize(
    ("head", "judged"), list(itertools.product(("main", "other", None), (0, 1)))
)
def test_a_file_that_is_gone(head: str | None, judged: int) -> None:
    found = losses(None, branch=head, judged=("issue-4",) if judged else ())
    assert found == (["switched"] * judged if head == "other" else ["gone"])
    found = losses(None, branch=head, unreadable={"issue-4": "x"}, judged=("issue-4",))
    assert found == ["unreadable"]


@pytest.mark.parametrize("kind", get_args(LossKind))
def test_every_kind_has_words_that_a_terminal_takes(kind: Any) -> None:
    loss = Loss("issue-4", kind, "\x1b[31mnow{0}", "before\n")
    text = lost_goals.sentence(loss)
    assert text.startswith("goal issue-4: ")
    assert text.isprintable()
    assert "{" not in text.replace("now{0}", "")
    asked = stop_messages.restore_request([loss], SessionNotes(), 3)
    assert "\x1b" not in asked
    assert "1 of 3" in asked


@pytest.mark.parametrize("kind", get_args(LossKind))
@pytest.mark.parametrize("continued", [True, False])
@pytest.mark.parametrize("asked", [0, 2, 3])
def test_who_is_asked_to_put_it_back(kind: Any, continued: bool, asked: int) -> None:
    notes = SessionNotes(continued=("issue-4",) if continued else ("b",), asked={"issue-4": asked})
    by_hand = kind not in ("switched", "claimed", "handed_over", "unclaimed")
    found = lost_goals.asks_to_restore(Loss("issue-4", kind), notes, 3)
    assert found == (by_hand and continued and asked < 3)


def test_it_is_news_once_and_again_after_a_change() -> None:
    notes = SessionNotes()
    first, second = Loss("a", "gone"), Loss("a", "status_by_hand", "draft", "active")
    assert lost_goals.is_news(first, notes)
    notes = lost_goals.notes_after(notes, [first], [first])
    assert notes.asked == {"a": 1}
    assert not lost_goals.is_news(first, notes)
    assert lost_goals.is_news(second, notes)
    notes = lost_goals.notes_after(notes, [], [])
    assert lost_goals.is_news(first, notes)
    assert notes.asked == {"a": 1}
