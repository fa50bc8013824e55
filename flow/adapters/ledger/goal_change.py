"""One change of a goal as one transaction (see :mod:`flow.adapters.ledger.transaction`).

Under the goal's lock: finish pending changes, read the goal afresh, compare it with the caller's
view, check the lifecycle table, edit only the intended lines, commit.
"""

from __future__ import annotations

from flow.adapters.chain.run_record import without_folder
from flow.adapters.fs import files, locks
from flow.adapters.journal import parts
from flow.adapters.ledger import goal_edits, transaction
from flow.adapters.ledger.reader import FileRecords, parse_goal, read_goal
from flow.core import layout
from flow.core.chain import closing_record
from flow.core.goal import ids
from flow.core.goal.lifecycle import TERMINAL, Lifecycle, check_move
from flow.errors import FlowError
from flow.startup.contexts import ExitStack, contextmanager, suppress
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from flow.adapters.chain.run_record import RunRecord
    from flow.adapters.ledger.goal_edits import Edit
    from flow.adapters.ledger.settings import LedgerSettings
    from flow.app.ports import Artifact
    from flow.core.goal.lifecycle import Status
    from flow.core.goal.loaded import ExpectedState, LoadedGoal
    from flow.core.goal.model import Goal


class Plan(NamedTuple):
    """One change of a goal as it was read."""

    to: str
    edits: Sequence[Edit]
    artifact: Artifact
    event: Mapping[str, Any]
    scope: Mapping[str, Any] = {}
    proposal_change: Literal["keep", "put", "drop"] = "keep"
    proposal: Mapping[str, Any] | None = None


def _move(goal: Goal, to: Status) -> None:
    """Take the goal's status through the machine; loading it costs, so only if it changes."""
    if to == goal.status:
        check_move(goal.status, to, goal=goal.id)
    else:
        Lifecycle(goal.id, goal.status).move(to)


class GoalChange:
    """Base of all changes of a goal; ``record`` vouches for its runs."""

    def __init__(self, record: RunRecord, settings: LedgerSettings) -> None:
        self._root = record.root
        self._record = record
        self._settings = settings
        self._records = FileRecords(record, settings.cache_dir)

    def finish(self, goal_id: str) -> bool:
        """Complete a change that an earlier process began; True if there was one."""
        with self.resumed_goal(goal_id) as completed:
            return completed

    def goal_lock(self, goal_id: str) -> AbstractContextManager[None]:
        """Hold the goal's lock, which comes before those of its run and journal."""
        rel, settings = layout.goal_lock(ids.goal_id(goal_id)), self._settings
        return locks.exclusive(self._root, rel, timeout=settings.timeout, quick=settings.quick)

    @contextmanager
    def resumed_goal(self, goal_id: str) -> Iterator[bool]:
        """Hold the goal's lock with no pending change; yields whether one had to be finished."""
        with self.goal_lock(goal_id):
            yield self._finish(goal_id)

    def _finish(self, goal_id: str) -> bool:
        return transaction.finish(self._record, goal_id, self._settings.before_journal)

    def _commit(self, intent: transaction.Intent) -> None:
        """Commit a change; the state folder gets a goal's new text before the file has it."""
        with ExitStack() as stack:
            if intent.text is not None:
                name, text = f"{layout.GOAL_DIGESTS}{intent.goal_id}", intent.text.encode("utf-8")
                stack.enter_context(self._announced(intent, name, text))
            transaction.commit(self._record, intent, self._settings.before_journal)

    def change(
        self,
        goal_id: str,
        run_id: str,
        seen: ExpectedState | None,
        plan_for: Callable[[LoadedGoal], Plan],
        *,
        personal: bool = True,
    ) -> Status:
        """One change of a goal: finish, read, compare, check, edit, check again, commit.

        ``personal``: a person could have done it, so it records the speaker.
        """
        if run_id:
            ids.run_id(run_id)
        with self.resumed_goal(goal_id):
            data, loaded = read_goal(self._root, goal_id, self._settings.cache_dir)
            goal = loaded.goal
            goal_edits.compare(loaded, seen)
            plan = plan_for(loaded)
            _move(goal, cast("Status", plan.to))
            now = self._settings.now()
            run_id = run_id or goal.run_id or layout.run_id_for(goal_id, now)
            scope = {"run_id": run_id} if goal.run_id is None else {}
            scope.update(plan.scope)
            edits = (*self._turn_edits(goal), *plan.edits)
            text = goal_edits.edited(data, loaded, plan.to, edits, scope, self._settings.cache_dir)
            intent = self.intent(
                goal, goal_id, run_id, now, plan.artifact, plan.event, personal=personal
            )
            intent = intent._replace(
                text=text,
                before=transaction.digest(data),
                proposal_change=plan.proposal_change,
                proposal=plan.proposal,
            )
            self._settings.before_change(goal, plan.to)
            if plan.to in TERMINAL:
                self._commit_closing(intent, text, loaded)
            else:
                self._commit(intent)
            self._record.commit(run_id)
            self._settings.after_change(goal, run_id, plan.to, loaded.contract)
        return cast("Status", plan.to)

    def _turn_edits(self, goal: Goal) -> list[Edit]:
        """The results of turns that left the goal's file unchanged, for its next write."""
        if goal.run_id is None:
            return []
        return goal_edits.turn_edits(goal, self._records.newest_turn(goal.run_id, goal.id))

    def _commit_closing(self, intent: transaction.Intent, text: str, loaded: LoadedGoal) -> None:
        """Close a goal, and record in the state folder that Flow did, and on which evidence."""
        goal, _ = parse_goal(text.encode("utf-8", "surrogateescape"), loaded.file)
        statement = closing_record.statement(goal, loaded.contract, intent.at)
        with self._announced(intent, f"{layout.CLOSINGS}{goal.id}", statement):
            self._commit(intent)
        self._record.share_closing(goal.id, closing_record.shared_statement(goal, loaded.contract))

    @contextmanager
    def _announced(self, intent: transaction.Intent, name: str, data: bytes) -> Iterator[None]:
        """Record in the state folder, under this name in the run, content that a change will write.

        It comes before the change is decided: the command may be killed at once after that. A disk
        that does not take it prevents the change, which would look like one that a hand made.
        """
        with without_folder():
            self._record.announce(intent.run_id, name, data)
        try:
            yield
        except BaseException:
            with suppress(FlowError):
                if not files.exists(self._root, layout.pending_file(intent.goal_id)):
                    self._record.announce(intent.run_id, name, None)
            raise
        self._record.run(intent.run_id).wrote(f"{layout.run_dir(intent.run_id)}/{name}", data)

    def intent(
        self,
        goal: Goal | None,
        goal_id: str,
        run_id: str,
        now: str,
        artifact: Artifact,
        event: Mapping[str, Any],
        *,
        personal: bool = False,
    ) -> transaction.Intent:
        """The change to commit, with the head of the run's chain if it names the run."""
        fields = dict(event)
        if personal and self._settings.speaker is not None:
            speaker = self._settings.speaker.fields()
            artifact = artifact._replace(fields={**artifact.fields, **speaker})
            fields.update(speaker)
        if "evidence_bundle" in artifact.fields:  # git keeps the journal, and so the head
            head = self._record.head(run_id)
            artifact = artifact._replace(fields={**artifact.fields, "ledger_head": head})
            fields["ledger_head"] = head
        baseline = self._records.baseline(run_id)
        folder = baseline.journal_dir if baseline is not None else self._settings.journal_dir
        issue, branch = (goal.issue, goal.branch) if goal is not None else (None, None)
        journal = (
            layout.journal_path(goal.journal, issue, goal_id, folder)
            if goal is not None
            else layout.day_journal(now[:10], folder)
        )
        return transaction.Intent(
            key=transaction.new_key(),
            goal_id=goal_id,
            run_id=run_id,
            at=now,
            journal=parts.part_to_write(self._root, journal),
            issue=issue,
            branch=branch,
            artifact=artifact,
            event_type=str(fields.pop("type", artifact.type)),
            event=fields,
        )

    def withdrawal(self, goal_id: str, run_id: str) -> Literal["keep", "drop"]:
        """``drop`` unless the run's proposal is another goal's.

        Also where there is none: a process that was killed may have dropped it without the heads
        in the state folder knowing, and it would be called missing.
        """
        mine = run_id and self._records.proposal_for(run_id) in (goal_id, None)
        return "drop" if mine else "keep"
