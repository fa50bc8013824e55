"""Creating goals."""

from __future__ import annotations

import os

from flow.adapters.attribution.command_checks import syntax_faults
from flow.adapters.baseline.pinned import commits_outside, kept_base
from flow.adapters.baseline.pinning import Pinning
from flow.adapters.contracts import formats
from flow.adapters.fs import clock
from flow.adapters.setup.beside_goals import write_beside
from flow.adapters.setup.completed import read_handed_in
from flow.adapters.setup.defaults_file import read_defaults
from flow.adapters.setup.project import about_commands
from flow.adapters.verification.trial import run_alone
from flow.app.transitions import create
from flow.app.transitions.beside import namesake, refuse_beside_active
from flow.core.drafting.completing import own_fields
from flow.core.drafting.draft import NO_DEFAULTS, new_document
from flow.core.goal import ids
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flow.app.transitions.create import Created
    from flow.core.drafting.completing import OwnFields
    from flow.core.drafting.draft import CreateRequest
    from flow.wiring.context import Context


def draft_document(
    context: Context, goal_id: str, words: CreateRequest, from_goal: str | None = None
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


def surroundings(context: Context) -> OwnFields:
    """Facts of the checkout that a conversation about a new goal starts from."""
    return own_fields(os.path.basename(context.top), context.branch(), clock.now())


def create_goal(
    context: Context,
    text: str,
    name: str,
    *,
    as_draft: bool | None,
    base: str | None,
    source: str,
    line: str = "flow goal create --file F",
    from_goal: str | None = None,
) -> Created:
    """Create a goal from a file's text (``name`` is what messages call it).

    Unless ``as_draft`` says so, it is a draft where the file says so. ``line`` is what a person
    types where an agent's shell may not; ``from_goal`` is the goal whose contract was copied.
    """
    pinning, tree, repo = Pinning(context), context.tree, context.repo
    defaults = read_defaults(context.top)
    places = (defaults or NO_DEFAULTS).places
    tools = create.CreationTools(
        parse=lambda written, file: create.Parsed(
            *read_handed_in(written, file, lambda: surroundings(context), defaults)
        ),
        edit=lambda written, changes: formats.edit(written, changes, file=name),
        new_run_id=context.records.new_run_id,
        pin=pinning.pin,
        kept_base=lambda base: kept_base(repo, base),
        outside=lambda goal, baseline: commits_outside(
            repo, baseline, allowed=goal.allowed_paths, denied=tree.denied(goal), mark=tree.marked
        ),
        write=context.ledger.contracts.create_goal,
        trust=context.record_trust,
        branch=context.branch,
        about_commands=lambda goal: about_commands(context, goal),
        syntax_faults=lambda goal: syntax_faults(goal, name, context.environ, context.top, places),
        run_checks=lambda checks: run_alone(context.top, context.environ, checks),
        refuse_beside=lambda goal_id: refuse_beside_active(context, goal_id, line),
        namesake=lambda goal_id: namesake(context, goal_id),
        defaults_known=defaults is None or context.knows_defaults(defaults.digest),
        unread=from_goal if from_goal and not context.trusted(context.load(from_goal))[0] else "",
        trusted=lambda goal_id: context.trusted(context.load(goal_id))[0],
        asked_by=context.asked_by(),
        write_beside=lambda: write_beside(context.top, repo.common_dir, context.own_record.file),
    )
    return create.create_goal(
        tools, text, name, as_draft=as_draft, base=base, source=source, now=clock.now()
    )
