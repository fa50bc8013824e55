"""Creating goals and moving their base."""

from __future__ import annotations

import os

from flow.cheap_typing import TYPE_CHECKING
from flow.core import ids
from flow.wiring.parts import Parts

if TYPE_CHECKING:
    from flow.app.create import Created
    from flow.core.boundary import Baseline
    from flow.core.draft import Words
    from flow.core.goal import Goal


class Creating(Parts):
    """Creating goals and moving their base."""

    def draft_text(self, goal_id: str, words: Words, from_goal: str | None = None) -> str:
        """The YAML text of a new goal from the command line's words."""
        from flow.adapters import clock, contracts
        from flow.core.draft import new_document

        old = self.load(from_goal).goal.document if from_goal is not None else None
        document = new_document(
            ids.goal_id(goal_id),
            words,
            repo=os.path.basename(self.top) or "repository",
            branch=self.branch(),
            now=clock.now(),
            author=self.who,
            old=old,
        )
        return contracts.dump_yaml(document)

    def create(
        self, text: str, name: str, *, as_draft: bool, base: str | None, source: str
    ) -> Created:
        """Create a goal from a file's text (``name`` is what messages call it)."""
        from flow.adapters import clock, contracts
        from flow.adapters.attribution import Attributor, masked_commands
        from flow.adapters.base import commits_outside
        from flow.adapters.programs import missing_programs
        from flow.app import create

        def parse(found: str, file: str) -> create.Parsed:
            goal, warnings = contracts.read_goal(
                found.encode("utf-8", "surrogateescape"), file=file
            )
            return create.Parsed(found, goal, warnings)

        def outside(goal: Goal, baseline: Baseline) -> list[create.Outside]:
            return commits_outside(
                self.repo, baseline, allowed=goal.allowed_paths, denied=self._denied(goal)
            )

        shop = create.Workshop(
            parse=parse,
            edit=lambda found, changes: contracts.edit(found, changes, file=name),
            pin=self._pin,
            outside=outside,
            write=self.ledger.create_goal,
            trust=self._trust,
            branch=self.branch,
            missing_programs=lambda goal: missing_programs(goal, self.environ, self.top),
            masked_commands=lambda goal: masked_commands(goal, Attributor(self.top)),
        )
        return create.create(
            shop, text, name, as_draft=as_draft, base=base, source=source, now=clock.now()
        )
