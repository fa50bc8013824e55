"""Creating goals and moving their base."""

from __future__ import annotations

import os

from flow.adapters.fs import clock
from flow.app.ports import Check, CheckEvents, CheckResult
from flow.core import layout
from flow.core.goal import ids
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.parts import Parts

if TYPE_CHECKING:
    from flow.app.transitions.create import Created
    from flow.core.boundary.changes import Baseline
    from flow.core.goal.draft import Words
    from flow.core.goal.model import Goal


LOOK_SECONDS = 5.0
"""The time limit of a command that is run to see whether it is green already."""


class Creating(Parts):
    """Creating goals and moving their base."""

    def draft_text(self, goal_id: str, words: Words, from_goal: str | None = None) -> str:
        """The YAML text of a new goal from the command line's words."""
        from flow.adapters.contracts import formats
        from flow.core.goal.draft import new_document
        from flow.core.text.display import visible

        old = self.load(from_goal).goal.document if from_goal is not None else None
        document = new_document(
            ids.goal_id(goal_id),
            words,
            repo=visible(os.path.basename(self.top)) or "repository",
            branch=self.branch(),
            now=clock.now(),
            author=self.who,
            old=old,
        )
        return formats.dump_yaml(document)

    def create(
        self,
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
        from flow.adapters.attribution.command_checks import syntax_faults
        from flow.adapters.baseline.pinned import commits_outside
        from flow.adapters.contracts import formats
        from flow.app.transitions import create
        from flow.app.transitions.beside import refuse_beside_active

        def parse(found: str, file: str) -> create.Parsed:
            goal, warnings = formats.read_goal(found.encode("utf-8", "surrogateescape"), file=file)
            if not as_draft:
                refuse_beside_active(self, goal.id, line)
            return create.Parsed(found, goal, warnings)

        def outside(goal: Goal, baseline: Baseline) -> list[create.Outside]:
            return commits_outside(
                self.repo,
                baseline,
                allowed=goal.allowed_paths,
                denied=self._denied(goal),
                mark=self._marked,
            )

        shop = create.Workshop(
            parse=parse,
            edit=lambda found, changes: formats.edit(found, changes, file=name),
            pin=self._pin,
            outside=outside,
            write=self.ledger.create_goal,
            trust=self._trust,
            branch=self.branch,
            about_commands=self._about_commands,
            syntax_faults=lambda goal: syntax_faults(goal, name, self.environ, self.top),
            already_green=self._already_green,
        )
        return create.create_goal(
            shop, text, name, as_draft=as_draft, base=base, source=source, now=clock.now()
        )

    def _already_green(self, goal: Goal) -> list[str]:
        """A warning for each command that passes before any work was done.

        Only commands that look and change nothing are run for it, a few seconds each; ``flow goal
        baseline`` runs them all.
        """
        from flow.adapters.verification.runner import CommandRunner
        from flow.core.attribution.harmless import harmless

        looking = [c for c in goal.criteria if harmless(c.verification_command or "")]
        checks = [
            Check(c.id, c.verification_command or "", c.cwd or "", LOOK_SECONDS) for c in looking
        ]
        found = []

        def ended(check: Check, result: CheckResult) -> None:
            if result.outcome == "passed":
                found.append(
                    f"{check.criterion_id}: already green: its command passes now, before any "
                    f"work, so it proves nothing (flow goal baseline {goal.id} looks closer)"
                )

        runner = CommandRunner(self.top, layout.WORK, environ=self.environ, output_limit=1 << 16)
        runner(checks, jobs=1, events=CheckEvents(lambda _: None, ended))
        return found
