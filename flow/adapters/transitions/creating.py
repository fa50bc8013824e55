"""Creating goals."""

from __future__ import annotations

import os
from functools import partial

from flow.adapters.attribution.command_checks import syntax_faults
from flow.adapters.baseline.pinned import commits_outside, kept_base
from flow.adapters.baseline.pinning import Pinning, PinningContext
from flow.adapters.contracts import formats
from flow.adapters.setup.beside_goals import write_beside
from flow.adapters.setup.completed import read_handed_in
from flow.adapters.setup.defaults_file import read_defaults
from flow.adapters.setup.project import NewGoalContext, about_commands
from flow.adapters.verification.trial import run_alone
from flow.app.ports import ClockPort, GoalPort, TrustingPort
from flow.app.transitions.beside import OpenGoalsPort
from flow.core.drafting.completing import own_fields
from flow.core.drafting.draft import NO_DEFAULTS, new_document
from flow.core.goal import ids
from flow.startup.typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.adapters.ledger.reader import FileRecords
    from flow.adapters.ledger.writer import FileLedger
    from flow.app.transitions.create import Edit, Outside, Parsed
    from flow.app.transitions.remembered import RememberedGoals
    from flow.core.boundary.changes import Baseline
    from flow.core.drafting.completing import OwnFields
    from flow.core.drafting.draft import CreateRequest
    from flow.core.goal.model import Goal
    from flow.errors import Fault


class CreatingContext(
    NewGoalContext, PinningContext, OpenGoalsPort, GoalPort, TrustingPort, ClockPort, Protocol
):
    """The parts of a checkout's context that creating a goal needs."""

    @property
    def records(self) -> FileRecords:
        """The reading side of the ledger."""

    @property
    def ledger(self) -> FileLedger:
        """The writing side."""

    @property
    def who(self) -> str:
        """The account's name."""

    def asked_by(self) -> Mapping[str, str]:
        """The caller, as an event has them."""

    def knows_defaults(self, digest: str) -> bool:
        """Whether the user trusts the repository's file of defaults as it is."""

    def record_trust(self, goal: Goal, how: str) -> None:
        """Trust the contract of a goal; ``how`` is the command."""


def draft_document(
    context: CreatingContext, goal_id: str, words: CreateRequest, from_goal: str | None = None
) -> dict[str, Any]:
    """A new goal from the command line's words."""
    return new_document(
        ids.goal_id(goal_id),
        words,
        here=surroundings(context),
        author=context.who,
        old=context.load(from_goal).goal.document if from_goal is not None else None,
        defaults=read_defaults(context.top) or NO_DEFAULTS,
    )


def surroundings(context: CreatingContext) -> OwnFields:
    """Facts of the checkout that a conversation about a new goal starts from."""
    return own_fields(os.path.basename(context.top), context.branch(), context.now())


class Creating:
    """A checkout as :class:`~flow.app.transitions.create.CreationTools` sees it."""

    def __init__(self, context: CreatingContext) -> None:
        self._context = context
        self._defaults = read_defaults(context.top)
        self.pin = Pinning(context).pin
        self.records, self.run_record = context.records, context.run_record
        self.speaker, self.branch, self.now = context.speaker, context.branch, context.now
        self.load, self.trusted = context.load, context.trusted
        self.asked_by, self.record_trust = context.asked_by, context.record_trust
        self.new_run_id = context.records.new_run_id
        self.write = context.ledger.contracts.create_goal
        self.kept_base = partial(kept_base, context.repo)
        self.about_commands = partial(about_commands, context)
        self.run_checks = partial(run_alone, context.top, context.environ)
        defaults = self._defaults
        self.defaults_known = defaults is None or context.knows_defaults(defaults.digest)

    @property
    def remembered(self) -> RememberedGoals:
        return self._context.remembered

    def parse(self, text: str, name: str) -> Parsed:
        return read_handed_in(text, name, lambda: surroundings(self._context), self._defaults)

    def edit(self, text: str, changes: Sequence[Edit], name: str) -> str:
        return formats.edit(text, changes, file=name)

    def syntax_faults(self, goal: Goal, name: str) -> Sequence[Fault]:
        places = (self._defaults or NO_DEFAULTS).places
        return syntax_faults(goal, name, self._context.environ, self._context.top, places)

    def outside(self, goal: Goal, baseline: Baseline) -> Sequence[Outside]:
        tree = self._context.tree
        return commits_outside(
            self._context.repo,
            baseline,
            allowed=goal.allowed_paths,
            denied=tree.denied(goal),
            mark=tree.marked,
        )

    def write_beside(self) -> Sequence[str]:
        context = self._context
        return write_beside(context.top, context.repo.common_dir, context.own_record.file)
