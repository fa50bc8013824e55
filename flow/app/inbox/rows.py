"""The standing of each goal of a repository: once, by the checkout that counts for it."""

from __future__ import annotations

from flow.core.goal.lifecycle import TERMINAL
from flow.core.goal.model import NO_BRANCH, GoalSummary
from flow.core.standing.items import InboxItem, StandingGoal
from flow.core.stop.lost_goals import describe_loss, persons_remedy
from flow.core.text.display import visible
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from flow.app.ports import UnreadableOnBranch
    from flow.core.stop.lost_goals import Loss


class CheckoutPort(Protocol):
    """One checkout, as the inbox looks at it."""

    top: str
    in_git: bool

    def branch(self) -> str | None:
        """The branch that is checked out; None on a detached HEAD or without git."""

    def summaries(self) -> Mapping[str, GoalSummary]:
        """The goals of the checkout by id."""

    def unreadable(self) -> Mapping[str, str]:
        """Faults of unreadable goals, by id."""

    def left_open(self, goal_id: str) -> bool:
        """Whether Flow left the goal open in this checkout."""

    def gone(self) -> Sequence[Loss]:
        """The goals of its branch that Flow left open there, and whose files are gone."""

    def standing(self, goal_id: str, *, here: bool) -> StandingGoal:
        """The standing of a goal of the checkout; ``here``: its branch is checked out."""


class BranchCopy(NamedTuple):
    """A goal as it is committed on a branch. A copy in a checkout of the branch comes first."""

    on_branch: str
    summary: GoalSummary
    stands: StandingGoal


class BranchCopies(NamedTuple):
    """The goals committed on the branches; read only if a branch is not checked out."""

    goals: Sequence[BranchCopy] = ()
    unreadable: Sequence[UnreadableOnBranch] = ()
    fault: str = ""
    """Why git cannot tell; empty if it can."""


class RepositoryPort(Protocol):
    """A repository, as the inbox looks at it."""

    @property
    def top(self) -> str:
        """The top level of its main working tree."""

    @property
    def checkouts(self) -> Sequence[CheckoutPort]:
        """The readable working trees, the main one first."""

    @property
    def broken(self) -> Sequence[InboxItem]:
        """A row for each working tree that cannot be looked at."""

    @property
    def left_out(self) -> Collection[str]:
        """Branches checked out in working trees that the user excluded from the inbox."""

    def branch_copies(self) -> BranchCopies:
        """The goals that its branches have committed; none if all branches are checked out."""


class _Rank(NamedTuple):
    """Precedence of a copy of a goal; the greatest one counts."""

    place: int
    """2: its branch is checked out; 1: its branch has it committed, or HEAD is detached; 0: another
    branch has it."""
    last_result_at: str = ""
    closed: bool = False
    """Of two copies with equally new results the closed one is the later."""
    used: int = 1
    """1, but on a detached HEAD 2 if Flow left the goal open there, else 0: then it may be just a
    commit that was looked at."""


class _Copy(NamedTuple):
    """A goal as one place has it. ``rank`` says how well that place speaks for the goal."""

    rank: _Rank
    summary: GoalSummary
    checkout: CheckoutPort
    branch: str
    """The branch that it belongs to; for a goal of every branch the one that has it committed."""
    is_here: bool = False
    """Whether a command finds the goal there: on its branch, or on a detached HEAD."""
    from_git: StandingGoal | None = None


def inbox_items(repository: RepositoryPort) -> Iterator[InboxItem]:
    """A row for each goal of a repository, and for what cannot be read there."""
    yield from repository.broken
    best: dict[tuple[str, str], _Copy] = {}
    on_branches = repository.branch_copies()
    for copy in _copies(repository, on_branches.goals):
        if not copy.is_here and copy.summary.branch in repository.left_out:
            continue
        key = copy.summary.id, copy.summary.branch
        if key not in best or copy.rank > best[key].rank:
            best[key] = copy
    for copy in best.values():
        home = None if copy.is_here else _checkout_of(repository, copy.branch)
        if home is None:
            yield _item(repository, copy, copy.checkout)
        elif copy.summary.id not in home.unreadable():  # else it is told below
            yield _item(repository, copy, home, missing=True)
    yield from _unreadable(repository, on_branches)
    yield from _gone(repository, {goal_id for goal_id, _ in best})


def _gone(repository: RepositoryPort, shown: Collection[str]) -> Iterator[InboxItem]:
    """A row for each open goal whose file is gone, and that has none by a copy elsewhere."""
    for checkout in repository.checkouts:
        for loss in checkout.gone():
            if loss.goal_id not in shown:
                why = f"{describe_loss(loss)}; {persons_remedy(loss)}"
                row = InboxItem("broken", repository.top, checkout.top, why, loss.goal_id)
                yield row._replace(branch=None, since=None)


def _copies(repository: RepositoryPort, on_branches: Iterable[BranchCopy]) -> Iterator[_Copy]:
    for checkout in repository.checkouts:
        for summary in checkout.summaries().values():
            yield _copy_in(checkout, summary)
    for copy in on_branches:
        own = copy.on_branch == copy.summary.branch
        rank = _Rank(1 if own else 0, *_age(copy.summary))
        branch = copy.on_branch if copy.summary.branch == NO_BRANCH else copy.summary.branch
        yield _Copy(rank, copy.summary, repository.checkouts[0], branch, from_git=copy.stands)


def _copy_in(checkout: CheckoutPort, summary: GoalSummary) -> _Copy:
    """A checkout's own copy.

    On a detached HEAD, as during a rebase, commands find it, too. There it counts if it is newer
    than the branch's committed copy, or as old and left open there by Flow.
    """
    checked_out = checkout.branch()
    if not checkout.in_git or summary.branch in (checked_out, NO_BRANCH):
        return _Copy(_Rank(2), summary, checkout, summary.branch, is_here=True)
    if checked_out is not None:
        return _Copy(_Rank(0, *_age(summary)), summary, checkout, summary.branch)
    used = 2 if checkout.left_open(summary.id) else 0
    rank = _Rank(1, *_age(summary), used)
    return _Copy(rank, summary, checkout, summary.branch, is_here=True)


def _age(summary: GoalSummary) -> tuple[str, bool]:
    return summary.last_result_at, summary.status in TERMINAL


def _checkout_of(repository: RepositoryPort, branch: str) -> CheckoutPort | None:
    """The checkout where the branch is checked out; None if none is."""
    return next((each for each in repository.checkouts if each.branch() == branch), None)


def _item(
    repository: RepositoryPort, copy: _Copy, checkout: CheckoutPort, *, missing: bool = False
) -> InboxItem:
    """The row of a goal at ``checkout``; ``missing``: that has its branch, and not its file."""
    goal_id = copy.summary.id
    try:
        stands = copy.from_git or copy.checkout.standing(goal_id, here=copy.is_here)
    except FlowError as error:
        return _broken(repository, copy.checkout.top, goal_id, error.faults[0].message)
    stands = stands._replace(facts=stands.facts._replace(missing=missing))
    return stands.item(repository.top, checkout.top)


def _unreadable(repository: RepositoryPort, on_branches: BranchCopies) -> Iterator[InboxItem]:
    """A row for each goal file that cannot be read; the same fault once."""
    rows: dict[tuple[str, str], InboxItem] = {}
    for checkout in repository.checkouts:
        for goal_id, fault in checkout.unreadable().items():
            row = _broken(repository, checkout.top, goal_id, fault)
            rows.setdefault((goal_id, fault), row)
    for branch, goal_id, error in on_branches.unreadable:
        if branch not in repository.left_out and not any(
            _speaks_for(checkout, branch, goal_id) for checkout in repository.checkouts
        ):
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
    in_checkout = goal_id in checkout.summaries() or goal_id in checkout.unreadable()
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
