"""Run commands on a base commit, each in a clean checkout of its own (SPEC 10)."""

from __future__ import annotations

import os
from contextlib import contextmanager

from flow.adapters.attribution.attributor import Attributor, attributed
from flow.adapters.baseline import work_folder
from flow.adapters.baseline.checkout import make_checkout, require_commit
from flow.adapters.baseline.links import KEY, BaseLinks, copy_links
from flow.adapters.fs import files
from flow.adapters.fs.temporary import remove_folder
from flow.adapters.git import repository
from flow.adapters.git.run import git
from flow.adapters.verification.runner import CommandRunner
from flow.app.checks import CheckEvents
from flow.core import layout
from flow.core.attribution.reading import RULE_FILE
from flow.core.text.display import names
from flow.errors import ContractError, GitError
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from flow.adapters.git.find import Repo
    from flow.app.checks import Check, CheckResult

NO_LINKS = BaseLinks()
SHELLS_OWN = frozenset(("PWD", "OLDPWD", "_"))


@contextmanager
def open_base_runner(
    repo: Repo,
    commit: str,
    state: str,
    *,
    environ: Mapping[str, str],
    output_limit: int,
    cache_dir: str | None,
    seconds_left: Callable[[], float],
    links: BaseLinks = NO_LINKS,
) -> Iterator[BaseRunner]:
    """A runner of commands on ``commit``; everything that it made is removed at the end.

    ``state`` is the user's state folder, ``seconds_left`` the time it may still take, ``links`` the
    folders that each checkout gets beside the commit.
    """
    require_commit(repo, commit)
    work_folder.remove_abandoned(state)
    with work_folder.new_folder(state) as work:
        yield BaseRunner(repo, commit, work, environ, output_limit, cache_dir, seconds_left, links)


class BaseRunner:
    """A :class:`flow.app.ports.RunChecks` on a base commit. Made by :func:`open_base_runner`."""

    def __init__(
        self,
        repo: Repo,
        commit: str,
        work: str,
        environ: Mapping[str, str],
        output_limit: int,
        cache_dir: str | None,
        seconds_left: Callable[[], float],
        links: BaseLinks,
    ) -> None:
        self._links = links
        self._repo, self._commit, self._work = repo, commit, work
        self._environ, self._seconds_left = environ, seconds_left
        runner = CommandRunner(
            work, layout.WORK, environ=environ, output_limit=output_limit, outside=repo.top
        )
        attributor = Attributor(work, cache_dir, environ.get("PATH"))
        self._notes = self._use_base_rules(attributor)
        self._run = attributed(runner, attributor, on_base=True)
        self._number = 0

    def __call__(self, checks: Sequence[Check], *, jobs: int, events: CheckEvents) -> None:
        """Run each command in a checkout of its own, which is there only while it runs."""
        originals: dict[str, Check] = {}
        notes: dict[str, tuple[str, ...]] = {}
        moved = []
        for check in checks:
            self._number += 1
            cwd = os.path.normpath(f"{self._number}/{check.cwd}")
            originals[cwd] = check
            moved.append(check._replace(cwd=cwd))

        def begin(check: Check) -> None:
            events.started(originals[check.cwd])
            folder = self._folder(check)
            notes[check.cwd] = (
                *make_checkout(self._repo, self._commit, folder, seconds_left=self._seconds_left),
                *copy_links(self._repo.top, self._links.paths, folder, self._seconds_left),
                *self._leads_back(originals[check.cwd], folder),
            )

        def end(check: Check, result: CheckResult) -> Callable[[], None] | None:
            limitations = (*result.limitations, *self._notes, *notes.pop(check.cwd))
            record = events.ended(
                originals[check.cwd], self._weighed(result)._replace(limitations=limitations)
            )
            remove_folder(self._folder(check))
            return record

        self._run(moved, jobs=jobs, events=CheckEvents(begin, end, events.tick))

    def _weighed(self, result: CheckResult) -> CheckResult:
        """The result; if linked folders changed, a failure is inconclusive: they may cause it."""
        if result.outcome != "failed" or not self._links.changed:
            return result
        changed = names(self._links.changed, 5)
        reason = f"not red: {changed}, linked by {KEY}, changed since the goal began"
        return result._replace(outcome="inconclusive", reason=reason)

    def _folder(self, check: Check) -> str:
        return os.path.join(self._work, check.cwd.partition("/")[0])

    def _use_base_rules(self, attributor: Attributor) -> tuple[str, ...]:
        """Use the base commit's own rules about runners; returns a note if they are broken."""
        if repository.is_empty_tree(self._commit):
            return ()
        try:
            data = git(self._repo, "cat-file", "blob", f"{self._commit}:{RULE_FILE}", ok=(0,))
        except GitError:
            return ()  # there are none
        files.replace(self._work, RULE_FILE, data, sync=False)
        try:
            attributor.rules()
        except ContractError:
            files.remove(self._work, RULE_FILE, sync=False)
            return (f"{RULE_FILE} of the base commit is broken, so its rules were left out.",)
        return ()

    def _leads_back(self, check: Check, folder: str) -> tuple[str, ...]:
        """A note if the command, or its environment, leads back into the checkout."""
        top = self._repo.top
        places = ["the command itself"] if top in check.command else []
        places += [
            name
            for name, value in sorted(self._environ.items())
            if name not in SHELLS_OWN and _leads_into_checkout(value, top, folder)
        ]
        if not places:
            return ()
        named = f"{names(places, 5)} names the checkout by its path"
        return (f"{named}, so this run may have used files of the change.",)


def _leads_into_checkout(value: str, top: str, folder: str) -> bool:
    """Whether a path in ``value`` is inside the checkout, and part of the commit too."""
    return any(
        part == top
        or (part.startswith(top + "/") and os.path.lexists(folder + part.removeprefix(top)))
        for part in value.split(":")
    )
