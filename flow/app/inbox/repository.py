"""Where each goal of a repository stands: once, in the checkout that is the right one."""

from __future__ import annotations

from flow.core.goal.model import NO_BRANCH
from flow.core.standing.items import InboxItem
from flow.core.text.display import visible
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from flow.app.ports import UnreadableOnBranch
    from flow.core.goal.model import GoalSummary
    from flow.core.standing.items import StandingGoal


class CheckoutPort(Protocol):
    """One checkout, as the inbox looks at it."""

    top: str
    in_git: bool

    def branch(self) -> str | None:
        """The branch that is checked out; None on a detached HEAD or without git."""

    def in_short(self) -> Mapping[str, GoalSummary]:
        """The goals of the checkout by id."""

    def unreadable(self) -> Mapping[str, str]:
        """What is wrong with the goals that cannot be read, by id."""

    def standing(self, goal_id: str, *, here: bool) -> StandingGoal:
        """Where a goal of the checkout stands; ``here``: its branch is checked out."""


class BranchCopy(NamedTuple):
    """A goal as a branch that is not checked out has it, committed."""

    on_branch: str
    summary: GoalSummary
    stands: StandingGoal


class BranchCopies(NamedTuple):
    """What the branches that are not checked out have committed."""

    goals: Sequence[BranchCopy] = ()
    unreadable: Sequence[UnreadableOnBranch] = ()
    fault: str = ""
    """Why git cannot tell; empty where it can."""


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

    def branch_copies(self) -> BranchCopies:
        """The goals of the branches that are not checked out, as far as git can tell."""


class _Copy(NamedTuple):
    """A goal as one place has it. ``rank`` says how well that place speaks for the goal."""

    rank: tuple[int, str]
    summary: GoalSummary
    checkout: CheckoutPort
    from_git: StandingGoal | None = None

    @property
    def is_here(self) -> bool:
        """Whether a command finds the goal where it is, on its branch."""
        return self.rank[0] in (1, 3)


def items_of(repository: RepositoryPort) -> Iterator[InboxItem]:
    """A row for each goal of a repository, and for what cannot be read there."""
    yield from repository.broken
    best: dict[tuple[str, str], _Copy] = {}
    on_branches = repository.branch_copies()
    for copy in _copies(repository, on_branches.goals):
        key = copy.summary.id, copy.summary.branch
        if key not in best or copy.rank > best[key].rank:
            best[key] = copy
    for copy in best.values():
        yield _item(repository, copy)
    yield from _unreadable(repository, on_branches)


def _copies(repository: RepositoryPort, on_branches: Iterable[BranchCopy]) -> Iterator[_Copy]:
    for checkout in repository.checkouts:
        for summary in checkout.in_short().values():
            yield _Copy(_rank(summary, checkout), summary, checkout)
    for copy in on_branches:
        own = copy.on_branch == copy.summary.branch
        rank = 2 if own else 0, copy.summary.touched
        yield _Copy(rank, copy.summary, repository.checkouts[0], copy.stands)


def _rank(summary: GoalSummary, checkout: CheckoutPort) -> tuple[int, str]:
    """3 where the goal's branch is checked out; 1 on a detached HEAD, 0 beside another branch.

    What its own branch has committed (2) tells more than those.
    """
    checked_out = checkout.branch()
    if not checkout.in_git or summary.branch in (checked_out, NO_BRANCH):
        return 3, ""
    return 0 if checked_out is not None else 1, summary.touched


def _item(repository: RepositoryPort, copy: _Copy) -> InboxItem:
    goal_id, checkout = copy.summary.id, copy.checkout
    try:
        stands = copy.from_git or checkout.standing(goal_id, here=copy.is_here)
    except FlowError as error:
        return _broken(repository, checkout.top, goal_id, error.faults[0].message)
    return stands.item(repository.top, checkout.top)


def _unreadable(repository: RepositoryPort, on_branches: BranchCopies) -> Iterator[InboxItem]:
    """A row for each goal file that cannot be read; the same fault once."""
    rows: dict[tuple[str, str], InboxItem] = {}
    for checkout in repository.checkouts:
        for goal_id, fault in checkout.unreadable().items():
            row = _broken(repository, checkout.top, goal_id, fault)
            rows.setdefault((goal_id, fault), row)
    for branch, goal_id, error in on_branches.unreadable:
        if not any(_speaks_for(checkout, branch, goal_id) for checkout in repository.checkouts):
            fault, first = error.faults[0].message, repository.checkouts[0]
            row = _broken(repository, first.top, goal_id, fault, branch)
            rows.setdefault((goal_id, fault), row)
    yield from rows.values()
    if on_branches.fault:
        why = f"the goals of its other branches cannot be read: {on_branches.fault}"
        path = repository.checkouts[0].top
        yield InboxItem("broken", repository.top, path, why, branch=None, since=None)


def _speaks_for(checkout: CheckoutPort, branch: str, goal_id: str) -> bool:
    """Whether the checkout has the goal as it is on the branch now."""
    in_checkout = goal_id in checkout.in_short() or goal_id in checkout.unreadable()
    return checkout.branch() == branch and in_checkout


def _broken(
    repository: RepositoryPort, path: str, goal_id: str, fault: str, branch: str | None = None
) -> InboxItem:
    """The row of a goal that cannot be read; ``branch`` is the one that git read it from."""
    where = f" on branch {visible(branch)}" if branch is not None else ""
    why = f"cannot be read{where}: {fault}"
    return InboxItem(
        "broken", repository.top, path, why, goal_id=goal_id, branch=branch, since=None
    )
