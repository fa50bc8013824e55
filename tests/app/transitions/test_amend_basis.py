"""The contract that an amendment is held against, and other decisions before a goal changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import pytest

from flow.app.transitions.amend import Basis, basis_of
from flow.app.transitions.create import already_green, denied_journal
from flow.core.goal.loaded import LoadedGoal
from flow.core.goal.model import contract, goal_from_document
from flow.errors import StorageError
from tests.app.fakes import Shop, criterion, goal_document

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.app.checks import Check

GOAL = goal_from_document(goal_document())
OLD: dict[str, Any] = {"objective": {}}


class Line(NamedTuple):
    """A line of the trust ledger."""

    action: Any
    digest: str
    contract: dict[str, Any] | None


GIVEN, TAKEN = Line("record", "old", OLD), Line("revoke", "old", None)
NOW_TRUSTED = Line("record", "now", OLD)
TRUSTED = Basis(contract(GOAL.document), trusted=True)


@pytest.mark.parametrize(
    ("newest", "recorded", "rubrics", "all_trusted", "expected"),
    [
        (None, None, "old", True, TRUSTED),
        (None, None, "old", False, Basis(None, "nobody here has trusted this goal yet")),
        (TAKEN, TAKEN, "old", False, Basis(None, "nobody here has trusted this goal yet")),
        (NOW_TRUSTED, NOW_TRUSTED, "now", False, TRUSTED),
        (GIVEN, GIVEN, "old", False, Basis(OLD, digest="old")),
        (TAKEN, GIVEN, "old", False, Basis(OLD, "trust in this goal was revoked", digest="old")),
        (
            *(GIVEN, GIVEN, "other", False),
            Basis(OLD, "a rubric that it names was changed since it was trusted", digest="old"),
        ),
    ],
)
def test_the_basis_of_an_amendment(
    newest: Line | None, recorded: Line | None, rubrics: str, all_trusted: bool, expected: Basis
) -> None:
    loaded = LoadedGoal(GOAL, "now", (), "f")
    basis = basis_of(loaded, newest, recorded, lambda _: rubrics, all_trusted=all_trusted)
    assert basis == expected


def test_only_commands_that_look_are_run_to_see_whether_they_are_green() -> None:
    shop = Shop()
    shop.passing = ("grep -q a b", "make")
    criteria = [criterion("AC1", "grep -q a b"), criterion("AC2", "make"), criterion("AC3", "true")]
    goal = goal_from_document(goal_document(*criteria))
    (warning,) = already_green(goal, shop.run_checks)
    assert warning.startswith("AC1: already green")
    assert "make" not in shop.asked


def test_a_look_that_cannot_start_takes_no_created_goal_back() -> None:
    def refused(_: Sequence[Check]) -> NoReturn:
        raise StorageError("cannot start a process", remedy="close some")

    goal = goal_from_document(goal_document(criterion("AC1", "grep -q a b")))
    (warning,) = already_green(goal, refused)
    assert warning.endswith("not known: cannot start a process (close some)")


@pytest.mark.parametrize(
    ("denied", "count"), [((".decisions/**",), 1), ((), 0), (("src/**",), 0), (("[",), 0)]
)
def test_a_goal_that_denies_its_own_journal_is_told(denied: tuple[str, ...], count: int) -> None:
    assert len(denied_journal(".decisions/issue-4.md", denied)) == count
