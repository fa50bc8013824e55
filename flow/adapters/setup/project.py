"""Commands that a checkout offers for a new goal, and warnings on a goal that begins there."""

from __future__ import annotations

import os

from flow.adapters.attribution.attributor import Attributor
from flow.adapters.attribution.command_checks import command_warnings
from flow.adapters.attribution.programs import missing_programs
from flow.adapters.fs import files
from flow.adapters.git import repository
from flow.app.transitions.create import denied_journal
from flow.core import layout
from flow.core.decision import after
from flow.core.drafting.offers import MARKERS, READ, offers
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from flow.adapters.baseline.working_tree import WorkingTree
    from flow.adapters.git.find import Repo
    from flow.adapters.ledger.reader import FileRecords
    from flow.app.open_goals import EarlierGoals
    from flow.core.drafting.offers import Offer
    from flow.core.goal.model import Goal
    from flow.core.settings import LoadedSettings

LIMIT = 1 << 18
"""Most bytes of a file that is read for its commands; a larger one offers nothing."""


def project_offers(top: str) -> tuple[Offer, ...]:
    """The commands that the files at the top offer; one that cannot be read offers nothing.

    Symlinks are not followed.
    """
    texts = {name: text for name in READ if (text := _text(top, name)) is not None}
    texts |= {name: "" for name in MARKERS if os.path.isfile(os.path.join(top, name))}
    return offers(texts)


def _text(top: str, name: str) -> str | None:
    try:
        data = files.read_optional(top, name, limit=LIMIT)
    except FlowError:
        return None
    return None if data is None else data.decode("utf-8", "replace")


def tracked_and_changed(repo: Repo) -> tuple[list[str], list[str]]:
    """(paths in git's index, paths changed or untracked on disk); empty if git cannot say."""
    try:
        tracked = repository.listed_files(repo)
        changed = repository.listed_files(repo, "--others", "--modified", "--exclude-standard")
    except FlowError:
        return [], []
    return tracked, sorted({path for path in changed if not path.startswith(".flow/")})


def first_missing(top: str, paths: Iterable[str]) -> str:
    """The first of ``paths`` that is not below the top; empty if all are."""
    return next((path for path in paths if not os.path.lexists(os.path.join(top, path))), "")


def missing_protected(top: str, patterns: Iterable[str]) -> list[str]:
    """A warning for each protected path without a pattern in it that names no file."""
    return [
        f"constraints.protected_paths: {path} is not there, so nothing of it is protected yet"
        for path in patterns
        if not set("*?[!\\") & set(path) and not os.path.lexists(os.path.join(top, path.strip("/")))
    ]


class NewGoalContext(Protocol):
    """The parts of a checkout's context that warnings on a new goal need."""

    top: str
    environ: Mapping[str, str]

    @property
    def settings(self) -> LoadedSettings:
        """The settings in force."""

    @property
    def tree(self) -> WorkingTree:
        """The files of the checkout."""

    @property
    def records(self) -> FileRecords:
        """The reading side of the ledger."""

    @property
    def earlier(self) -> EarlierGoals:
        """Looks up goals that come first."""


def about_commands(context: NewGoalContext, goal: Goal) -> list[str]:
    """A warning for each command that cannot run or cannot prove its criterion.

    Also one for each earlier goal that can never be achieved in its present state.
    """
    folder = context.settings.settings.journal_dir
    journal = layout.journal_path(goal.journal, goal.issue, goal.id, folder)
    return [
        *missing_programs(goal, context.environ, context.top),
        *denied_journal(journal, context.tree.denied(goal)),
        *missing_protected(context.top, goal.protected_paths),
        *command_warnings(goal, Attributor(context.top)),
        *after.warnings(goal.id, goal.after, context.earlier, context.records.goal_ids()),
    ]
