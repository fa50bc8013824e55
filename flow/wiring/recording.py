"""What others write through Flow: evidence, lifecycle, journal."""

from __future__ import annotations

from flow.adapters.fs import clock
from flow.adapters.journal import store as journal
from flow.app.ports import Artifact
from flow.core import layout
from flow.core.goal import ids
from flow.errors import at_key
from flow.startup.typing import TYPE_CHECKING, Any
from flow.wiring.creating import Creating
from flow.wiring.evaluating import Evaluating

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.adapters.journal.store import Journal


class Recording(Creating, Evaluating):
    """What others write through Flow: evidence, lifecycle, journal."""

    def record_evidence(
        self, run_id: str, data: bytes, name: str, raw_output: str | None
    ) -> tuple[str, tuple[str, ...]]:
        """Record somebody else's evidence; returns the sidecar's path and warnings."""
        document = self._mapping(data, name)
        _, path, warnings = self.ledger.record_foreign(
            ids.run_id(run_id), document, raw_output, file=name, environ=self.environ
        )
        return path, warnings

    def create_goal_file(self, text: str, name: str) -> tuple[str, tuple[str, ...]]:
        """Create a goal from a file's text; returns its path and warnings.

        A file that says ``draft`` becomes a draft; any other starts as ``active``, with its base
        pinned and trust recorded, as ``flow goal create`` does it.
        """
        from flow.adapters.contracts import formats

        goal, _ = formats.read_goal(text.encode("utf-8", "surrogateescape"), file=name)
        made = self.create(
            text, name, as_draft=goal.status == "draft", base=None, source="flow-goal-record.sh"
        )
        return made.file, made.warnings

    def update_lifecycle(
        self,
        goal_id: str,
        data: bytes,
        name: str,
        *,
        from_status: str | None,
        merge: bool,
        increment_turns: bool,
    ) -> str:
        """Write a goal's lifecycle block for a caller that has asked a person; returns the path."""
        lifecycle = self._mapping(data, name)
        if set(lifecycle) == {"lifecycle"} and isinstance(lifecycle["lifecycle"], dict):
            lifecycle = lifecycle["lifecycle"]
        if lifecycle.get("status") == "achieved":
            from flow.wiring.verifying import refuse_broken

            self.ledger.finish(ids.goal_id(goal_id))
            self._refuse_stale(goal_id)
            refuse_broken(self, goal_id)
        starts = lifecycle.get("status") == "active" and from_status in (None, "draft")
        if starts and self.load(goal_id).goal.status == "draft":
            self.activate(goal_id)  # pins the base and records trust, as `active` has to
            from_status = None
        self.ledger.update_lifecycle(
            ids.goal_id(goal_id),
            lifecycle,
            from_status=from_status,
            merge=merge,
            increment_turns=increment_turns,
            file=name,
        )
        return layout.goal_file(goal_id)

    @staticmethod
    def _mapping(data: bytes, name: str) -> Mapping[str, Any]:
        """A YAML or JSON file that must hold a mapping; :class:`ContractError` otherwise."""
        from flow.adapters.contracts import formats

        document: Mapping[str, Any] = formats.parse_yaml(data, file=name)
        return document

    def _refuse_stale(self, goal_id: str) -> None:
        """Raise :class:`StaleProposal` unless the live proposal still holds."""
        from flow.app.transitions import closing as transitions_closing

        desk = self._desk()
        loaded = self.load(goal_id)
        proposal = transitions_closing.live_proposal(self.records, loaded.goal)
        moved = (
            transitions_closing.what_moved(desk, loaded, proposal)
            if proposal
            else ["there is none"]
        )
        if moved:
            raise at_key("lifecycle.status", "achieved").stale(
                f"no live proposal for goal {goal_id}: {'; '.join(moved)}",
                f"evaluate again: flow goal evaluate {goal_id}",
            )

    def journal_record(self, issue: int | None, type: str, metadata: Mapping[str, Any]) -> str:
        """Append an artifact to an issue's journal; returns the path."""
        path = layout.journal_file(issue, clock.today(), self.settings.settings.journal_dir)
        journal.append(
            self.top,
            path,
            Artifact(type, metadata),
            issue=issue,
            now=clock.now(),
            branch=self.branch(),
            key=None,
            announce=self.own_record.journal,
        )
        return path

    def journal(self, issue: int | None = None, goal_id: str | None = None) -> tuple[str, Journal]:
        """(path, content) of an issue's or a goal's journal."""
        folder = self.settings.settings.journal_dir
        path = layout.journal_file(issue, clock.today(), folder)
        if goal_id is not None:
            goal = self.load(goal_id).goal
            path = journal.journal_path(goal.journal, goal.issue, clock.today(), folder)
        return path, journal.read(self.top, path)
