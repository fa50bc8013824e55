"""Where each goal of a repository stands: once, in the checkout that is the right one."""

from __future__ import annotations

from flow.app.goal_views import is_here
from flow.app.inbox.goal_facts import FactsPort, away, here
from flow.core.goal.model import NO_BRANCH
from flow.core.standing.items import InboxItem
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from flow.app.ports import BranchGoals, LoadedGoal
    from flow.core.goal.model import Goal


class CheckoutPort(FactsPort, Protocol):
    """One checkout, as the inbox looks at it."""

    top: str
    in_git: bool

    def loaded_goals(self) -> tuple[Mapping[str, LoadedGoal], Mapping[str, FlowError]]:
        """Every goal of the checkout by id, and what is wrong with those that cannot be read."""


class RepositoryPort(Protocol):
    """A repository, as the inbox looks at it."""

    @property
    def top(self) -> str:
        """The top level of its main working tree."""

    @property
    def checkouts(self) -> Sequence[CheckoutPort]:
        """Its working trees, the main one first; those that cannot be looked at left out."""

    @property
    def broken(self) -> Sequence[InboxItem]:
        """A row for each working tree that cannot be looked at."""

    def branch_goals(self) -> BranchGoals | None:
        """The goals of the branches that are not checked out; None where git cannot answer."""


class _Copy(NamedTuple):
    """A goal as one place has it; ``branch`` is that of a copy that was read from git."""

    goal: Goal
    checkout: CheckoutPort
    loaded: LoadedGoal | None = None
    branch: str | None = None

    @property
    def rank(self) -> tuple[int, str]:
        """How well this place speaks for the goal; of the same rank the newest one does."""
        if self.branch is not None:
            return 2 if self.branch == self.goal.branch else 0, self.goal.touched
        checked_out = self.checkout.branch()
        if not self.checkout.in_git or self.goal.branch in (checked_out, NO_BRANCH):
            return 3, ""
        return 0 if checked_out is not None else 1, self.goal.touched


def items_of(repository: RepositoryPort) -> Iterator[InboxItem]:
    """A row for each goal of a repository, and for what cannot be read there."""
    yield from repository.broken
    best: dict[tuple[str, str], _Copy] = {}
    for copy in _copies(repository):
        key = (copy.goal.id, copy.goal.branch)
        if key not in best or copy.rank > best[key].rank:
            best[key] = copy
    for copy in best.values():
        yield _item(repository, copy)
    yield from _unreadable(repository)


def _copies(repository: RepositoryPort) -> Iterator[_Copy]:
    for checkout in repository.checkouts:
        for loaded in checkout.loaded_goals()[0].values():
            yield _Copy(loaded.goal, checkout, loaded)
    elsewhere = repository.branch_goals()
    if elsewhere is not None and repository.checkouts:
        for branch, goal in elsewhere.goals:
            yield _Copy(goal, repository.checkouts[0], branch=branch)


def _item(repository: RepositoryPort, copy: _Copy) -> InboxItem:
    checkout = copy.checkout
    try:
        if copy.loaded is not None and is_here(copy.goal, checkout.branch()):
            stands = here(checkout, copy.loaded)
        else:
            stands = away(checkout, copy.goal)
    except FlowError as error:
        return _broken(repository, checkout.top, copy.goal.id, error)
    return stands.item(repository.top, checkout.top)


def _unreadable(repository: RepositoryPort) -> Iterable[InboxItem]:
    """A row for each goal file that cannot be read; the same fault once."""
    rows: dict[tuple[str, str], InboxItem] = {}
    for checkout in repository.checkouts:
        for goal_id, error in checkout.loaded_goals()[1].items():
            row = _broken(repository, checkout.top, goal_id, error)
            rows.setdefault((goal_id, row.why), row)
    return rows.values()


def _broken(repository: RepositoryPort, path: str, goal_id: str, error: FlowError) -> InboxItem:
    return InboxItem(
        "broken",
        repository.top,
        path,
        f"cannot be read: {error.faults[0].message}",
        goal_id=goal_id,
        branch=None,
        since=None,
    )
