"""Creating goals."""

from __future__ import annotations

import os

from flow.adapters.attribution.command_checks import syntax_faults
from flow.adapters.baseline.pinned import commits_outside
from flow.adapters.contracts import formats
from flow.adapters.fs import clock
from flow.app.transitions import create
from flow.app.transitions.beside import refuse_beside_active
from flow.core.goal import ids
from flow.core.goal.draft import new_document
from flow.core.text.display import visible
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.pinning import Pinning, about_commands, record_trust
from flow.wiring.running import run_checks
from flow.wiring.working_tree import WorkingTree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.app.transitions.create import Created, Outside
    from flow.core.boundary.changes import Baseline
    from flow.core.goal.draft import Words
    from flow.core.goal.model import Goal
    from flow.wiring.context import Context


def draft_text(context: Context, goal_id: str, words: Words, from_goal: str | None = None) -> str:
    """The YAML text of a new goal from the command line's words."""
    document = new_document(
        ids.goal_id(goal_id),
        words,
        repo=visible(os.path.basename(context.top)) or "repository",
        branch=context.branch(),
        now=clock.now(),
        author=context.who,
        old=context.load(from_goal).goal.document if from_goal is not None else None,
    )
    return formats.dump_yaml(document)


def create_goal(
    context: Context,
    text: str,
    name: str,
    *,
    as_draft: bool,
    base: str | None,
    source: str,
    line: str = "flow goal create --file F",
) -> Created:
    """Create a goal from a file's text (``name`` is what messages call it).

    ``line`` is what a person types where an agent's shell may not.
    """
    pinning = Pinning(context)

    def parse(written: str, file: str) -> create.Parsed:
        goal, warnings = formats.read_goal(written.encode("utf-8", "surrogateescape"), file=file)
        if not as_draft:
            refuse_beside_active(context, goal.id, line)
        return create.Parsed(written, goal, warnings)

    tools = create.CreationTools(
        parse=parse,
        edit=lambda written, changes: formats.edit(written, changes, file=name),
        pin=pinning.pin,
        outside=lambda goal, baseline: _outside(context, goal, baseline),
        write=context.ledger.create_goal,
        trust=lambda goal, how: record_trust(context, goal, how),
        branch=context.branch,
        about_commands=lambda goal: about_commands(context, goal),
        syntax_faults=lambda goal: syntax_faults(goal, name, context.environ, context.top),
        run_checks=lambda checks: run_checks(context, checks),
    )
    return create.create_goal(
        tools, text, name, as_draft=as_draft, base=base, source=source, now=clock.now()
    )


def _outside(context: Context, goal: Goal, baseline: Baseline) -> Sequence[Outside]:
    tree = WorkingTree(context)
    return commits_outside(
        context.repo,
        baseline,
        allowed=goal.allowed_paths,
        denied=tree.denied(goal),
        mark=tree.marked,
    )
