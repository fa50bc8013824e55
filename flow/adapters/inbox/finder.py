"""The checkouts of a look at the inbox: the named ones, or the noted ones and the one here."""

from __future__ import annotations

import os
import time
from fnmatch import fnmatchcase

from flow.adapters.fs.combined_stamp import CombinedStamp
from flow.adapters.fs.state_folder import VARIABLE, ignored_variable, state_dir
from flow.adapters.git.directories import shared_dir
from flow.adapters.git.find import Repo, find_repo
from flow.adapters.git.repository import current_branch
from flow.adapters.git.run import refusal
from flow.adapters.git.worktrees import lost_tree, main_tree, working_trees
from flow.adapters.inbox.repository import InboxRepository
from flow.adapters.user_state import noted_checkouts
from flow.app.inbox.rows import inbox_items
from flow.core.standing.items import WEEK, InboxItem, is_listed, ordered, with_distinct_names
from flow.core.text.display import visible
from flow.core.text.shell_quote import shell_argument
from flow.errors import FlowError, GitError, at_key
from flow.startup.json import items_of
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from flow.adapters.inbox.checkout import InboxCheckout
    from flow.adapters.inbox.index import InboxIndex


class InboxQuery(NamedTuple):
    """Selection of the inbox. Paths are as the user gave them."""

    repos: Sequence[str] = ()
    """Only the repositories around these folders; empty: all that are noted."""
    exclude: Sequence[str] = ()
    """Glob patterns of checkouts, by path or by the name of their folder."""
    since: float = WEEK
    """Seconds for which a closed goal is listed."""


class InboxContents(NamedTuple):
    """Everything that the inbox shows at one moment."""

    rows: list[InboxItem]
    """The rows, by section and age."""
    checkouts: list[tuple[str, InboxCheckout]]
    """Every examined checkout, by path, with its repository's top level."""


def forget(path: str) -> str | None:
    """Leave the checkout at ``path``, which may be gone, out of the inbox.

    Returns its top level; None if there is none and the inbox knows none there.
    """
    folder = own_state_folder()
    if not path:  # an empty variable does not mean the checkout here
        return None
    noted, top = noted_checkouts.noted(folder), os.path.realpath(path)
    if top not in noted:
        try:
            repo = find_repo(top) if os.path.isdir(top) else None
        except FlowError:
            repo = None
        top = repo.top if repo is not None else os.path.abspath(path)
        if repo is not None:
            noted_checkouts.note(folder, top, repo.git_dir)  # a working tree that only git named
        elif top not in noted:  # a path that is gone may have led through a link
            return None
    noted_checkouts.hide(folder, top)
    return top


def own_state_folder() -> str:
    """The state folder for many checkouts; a variable that points into the one here is ignored."""
    environ = dict(os.environ)
    try:
        here = find_repo(os.getcwd())
    except (FlowError, OSError):
        here = None
    if here is not None and ignored_variable(environ, here.top, here.common_dir) is not None:
        del environ[VARIABLE]
    return state_dir(environ, environ.get("HOME") or None, None)


class InboxFinder:
    """Finds the repositories that a query means; ``broken`` are rows for those that cannot be read.

    ``folder`` is the state folder, ``open_checkout`` opens each checkout that was found.
    """

    def __init__(
        self,
        query: InboxQuery,
        folder: str,
        index: InboxIndex,
        open_checkout: Callable[[Repo], InboxCheckout],
    ) -> None:
        self._query = query
        self._state = folder
        self._index = index
        self._open_checkout = open_checkout
        self._seen: set[str] = set()
        self.broken: list[InboxItem] = []

    def contents(self) -> InboxContents:
        """Find every row and checkout that the query means, and keep the findings."""
        rows: list[InboxItem] = []
        checkouts: list[tuple[str, InboxCheckout]] = []
        for repository in self.repositories():
            rows += inbox_items(repository)
            for checkout in repository.checkouts:
                checkout.keep()
                checkouts.append((repository.top, checkout))
        self._save()
        oldest = time.time() - self._query.since
        listed = [row for row in (*self.broken, *rows) if is_listed(row, oldest)]
        checkouts.sort(key=lambda pair: pair[1].top)
        return InboxContents(ordered(with_distinct_names(listed)), checkouts)

    def _save(self) -> None:
        """Keep the findings; those about absent checkouts are dropped."""
        whole = not self._query.repos and not self._query.exclude
        self._index.save(self._seen if whole else None)

    def repositories(self) -> Iterator[InboxRepository]:
        """Each repository with its working trees, once."""
        done: set[str] = set()
        for path in self._starts():
            repo = self._repo_at(path)
            if repo is None:
                continue
            key = shared_dir(repo) or repo.top
            if key not in done:
                done.add(key)
                yield self._repository(repo)

    def _starts(self) -> list[str]:
        """The top levels to begin with: the named ones, else the noted ones."""
        if self._query.repos:
            return [self._named(path) for path in self._query.repos]
        tops = noted_checkouts.noted(self._state)
        here = self._checkout_here()
        if here is not None and here not in tops:
            tops = [*tops, here]
        return [top for top in tops if not self._is_left_out(top)]

    def _named(self, path: str) -> str:
        repo = find_repo(path) if os.path.isdir(path) else None
        if repo is None:
            raise at_key("--repo", path).invalid(
                f"there is no checkout at {visible(path)}",
                "name a folder in a repository that has goals",
                code="usage",
            )
        return repo.top

    def _checkout_here(self) -> str | None:
        try:
            repo = find_repo(os.getcwd())
        except (FlowError, OSError):
            return None
        has_goals = repo is not None and os.path.isdir(os.path.join(repo.top, ".flow", "goals"))
        return repo.top if repo is not None and has_goals else None

    def _is_left_out(self, top: str) -> bool:
        if not self._query.repos and noted_checkouts.is_hidden(self._state, top):
            return True
        return self._is_excluded(top)

    def _is_excluded(self, top: str) -> bool:
        patterns = [os.path.expanduser(pattern).rstrip("/") for pattern in self._query.exclude]
        names = (top, os.path.basename(top))
        return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)

    def _repo_at(self, top: str) -> Repo | None:
        """The checkout at ``top``; None, and a row, if it is gone or must not be looked at.

        In place of a linked working tree that is gone: its repository's main checkout.
        """
        place = top
        try:
            # A checkout that was moved, with a link left in its place, is looked at in its new
            # place.
            repo = find_repo(top) if os.path.isdir(top) else None
            if repo is None or repo.top not in (top, os.path.realpath(top)):
                _refuse_unreadable(top)
                repo = self._main_of_lost(top)
            if repo is None:
                return None
            place, problem = repo.top, _problem(repo)
        except (FlowError, OSError) as error:
            problem = str(error)
        if problem:
            self._add_broken(place, problem)
            return None
        return repo

    def _main_of_lost(self, top: str) -> Repo | None:
        """The main checkout of the repository that had a working tree at ``top``, if it is known.

        Adds a row that ``top`` is gone, unless git no longer lists it.
        """
        git_dir = noted_checkouts.git_dir_of(self._state, top)
        lost = lost_tree(git_dir, top) if git_dir else None
        if lost is None or lost.is_listed:
            forget = f"flow inbox forget {shell_argument(top)}"
            self._add_broken(top, "the checkout is not there", forget)
        return lost.main if lost is not None else None

    def _add_broken(self, top: str, why: str, command: str = "") -> None:
        row = _broken_checkout(top, top, why, command)
        if row not in self.broken:  # several removed working trees lead to one checkout
            self.broken.append(row)

    def _repository(self, repo: Repo) -> InboxRepository:
        repository = InboxRepository(main_tree(repo), self._index)
        self._seen.add(repository.key)
        try:
            tops = self._working_trees(repo) if repo.git_dir else [repo.top]
        except FlowError as error:
            tops = [repo.top]
            self._add_broken(repo.top, f"its working trees cannot be listed: {error}")
        for top in tops:
            if self._is_left_out(top) or self._is_excluded(repository.top):
                repository.left_out |= _branch_at(top)
                continue
            tree = repo if top == repo.top else self._repo_at(top)
            if tree is None or tree.top != top:
                continue
            try:
                checkout = self._open_checkout(tree)
                checkout.branch()  # asked of each, so a HEAD that git refuses is this one's fault
            except FlowError as error:
                repository.broken.append(_broken_checkout(repository.top, top, str(error)))
                continue
            self._seen.add(checkout.key)
            repository.checkouts.append(checkout)
        return repository

    def _working_trees(self, repo: Repo) -> list[str]:
        """The repository's working trees; git is asked only if its records of them changed."""
        folder = os.path.join(shared_dir(repo) or "", "worktrees")
        if not os.path.isdir(folder):
            return [repo.top]
        key = f"trees {folder}"
        self._seen.add(key)
        stamps = CombinedStamp(repo.top)
        stamps.tree(folder, levels=1)
        value = self._index.get(key)
        tops: list[Any] = items_of(value.get("tops"))
        same = value.get("stamp") == stamps.text and bool(tops)
        if same and all(isinstance(top, str) and os.path.isdir(top) for top in tops):
            return tops
        tops = working_trees(repo)
        if stamps.settled:
            self._index.put(key, {"stamp": stamps.text, "tops": tops})
        return tops


def _refuse_unreadable(place: str) -> None:
    """Raise :class:`GitError` for a folder that exists, and that this user may not look into."""
    try:
        os.scandir(place).close()
    except PermissionError as error:
        raise GitError(f"it cannot be read: {error.strerror}") from error
    except OSError:
        return


def _branch_at(top: str) -> set[str]:
    """The branch that is checked out there, if git's files name one; else empty."""
    try:
        repo = find_repo(top)
        branch = current_branch(repo) if repo is not None else None
    except (FlowError, OSError):
        return set()
    return {branch} if branch else set()


def _problem(repo: Repo) -> str:
    """Reason not to look at a checkout; empty if there is none, as without git."""
    if repo.git_dir is None and not os.path.lexists(os.path.join(repo.top, ".git")):
        return ""
    return refusal(repo) or ""


def _broken_checkout(repository: str, top: str, why: str, command: str = "") -> InboxItem:
    return InboxItem("broken", repository, top, why, branch=None, since=None, command=command)
