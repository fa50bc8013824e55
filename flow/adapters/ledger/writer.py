"""Writing a checkout's ledger: :class:`~flow.app.ports.Ledger` over real files.

Each method that changes a goal is one transaction (see :mod:`flow.adapters.ledger.transaction`):
under the goal's lock it finishes what is pending, reads the goal afresh, compares it with what the
caller saw, asks the lifecycle table, edits only the lines that are meant, and commits.

An evaluation gets this object as a ``TurnLedger``. The types keep it from naming a terminal status;
:meth:`FileLedger.write_turn` and :meth:`FileLedger.move` refuse one at run time as well.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress

from flow.adapters.chain import event_log
from flow.adapters.fs import files, locks
from flow.adapters.journal import store as journal_store
from flow.adapters.ledger import checks as ledger_checks
from flow.adapters.ledger import evidence_store, goal_edits, transaction
from flow.adapters.ledger.reader import (
    FileRecords,
    parse_goal,
    read_goal,
    rubric_digests,
)
from flow.app.ports import Artifact, Seen
from flow.core import layout
from flow.core.goal import ids
from flow.core.goal.lifecycle import TERMINAL, Lifecycle, check_move
from flow.errors import (
    FlowError,
    InputError,
    RefusedError,
    StateError,
)
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from flow.adapters.chain.run_record import RunRecord
    from flow.adapters.journal.store import Announce
    from flow.adapters.ledger.goal_edits import Edit
    from flow.app.ports import Amendment, Approval, Closing, LoadedGoal, Move, RawOutput, Turn
    from flow.core.boundary.rules import Baseline
    from flow.core.goal.lifecycle import Status
    from flow.core.goal.model import Goal
    from flow.core.tool_calls.speaker import Speaker


class _Plan(NamedTuple):
    """What one change does to the goal it found."""

    to: str
    edits: Sequence[Edit]
    artifact: Artifact
    event: Mapping[str, Any]
    scope: Mapping[str, Any] = {}
    proposal_change: Literal["keep", "put", "drop"] = "keep"
    proposal: Mapping[str, Any] | None = None


def _move(goal: Goal, to: Status) -> None:
    """Take the goal's status through the machine; loading it costs, so only where it changes."""
    if to == goal.status:
        check_move(goal.status, to, goal=goal.id)
    else:
        Lifecycle(goal.id, goal.status).move(to)


class FileLedger:
    """The ledger of the checkout that ``record`` vouches for; each change of a run is committed.

    ``now`` gives the time as ``YYYY-MM-DDTHH:MM:SSZ``; ``journal_dir`` is the journal folder of
    runs that have pinned none; ``timeout`` is how many seconds a lock is waited for. ``quick``
    takes locks without importing ``filelock``. ``cache_dir`` is as for ``FileRecords``. ``coming``
    gets a goal and the status that it is about to have; ``left`` the goal, its run's id, status and
    contract as they are then. ``speaker`` is who gives the commands; it stands in the journal and
    event of everything that a person could have done. None: a hook, which has ``how``. ``written``
    is ``announce`` of ``journal.append``.
    """

    def __init__(
        self,
        record: RunRecord,
        *,
        now: Callable[[], str],
        journal_dir: str = layout.JOURNAL_DIR,
        timeout: float = 10.0,
        quick: bool = True,
        cache_dir: str | None = None,
        coming: Callable[[Goal, str], None] = lambda *_: None,
        left: Callable[[Goal, str, str, str], None] = lambda *_: None,
        speaker: Speaker | None = None,
        written: Announce | None = None,
    ) -> None:
        self._root = record.root
        self._record = record
        self._now = now
        self._journal_dir = journal_dir
        self._timeout = timeout
        self._quick = quick
        self._cache_dir = cache_dir
        self._speaker = speaker
        self._written = written
        self._coming = coming
        self._left = left
        self._records = FileRecords(record, cache_dir)

    # --- evidence and events -------------------------------------------------------------------

    def record_evidence(
        self, document: Mapping[str, Any], raw: RawOutput | None = None, *, suffix: bool = False
    ) -> tuple[str, str]:
        """Publish a sidecar of Flow's own; returns (evidence id, path below the checkout)."""
        done = evidence_store.record(
            self._record, document, raw, suffix=suffix, now=self._now(), cache_dir=self._cache_dir
        )
        return done.id, done.path

    def discount(self, goal_id: str, run_id: str, evidence_id: str, moved: Sequence[str]) -> None:
        """Put on record that files changed while this was measured."""
        from flow.adapters.ledger import evidence_discount

        run = self._record.run(run_id)
        evidence_discount.discount(run, goal_id, evidence_id, moved, now=self._now())
        self._record.commit(run_id)

    def record_foreign(
        self,
        run_id: str,
        document: Mapping[str, Any],
        raw_path: str | None = None,
        *,
        file: str = "evidence",
        environ: Mapping[str, str] | None = None,
    ) -> tuple[str, str, tuple[str, ...]]:
        """Record what somebody else hands over, with its ``evidence-captured`` artifact.

        ``raw_path`` (any size up to 1 GiB, no symlink) is copied; ``file`` names the document in
        messages, ``environ`` the secrets whose values are masked. Returns (evidence id, path below
        the checkout, warnings). It is kept and shown, and never counts in a decision.
        """
        from flow.adapters.ledger import evidence_foreign

        document, renamed = evidence_foreign.as_named_here(document, ids.run_id(run_id))
        evidence_foreign.check_foreign(document, raw_path, run_id=run_id, file=file)
        metadata, body = document["metadata"], document["evidence"]
        goal_id, evidence_id = str(metadata["goal"]), str(metadata["id"])
        with self._goal_lock(goal_id):
            transaction.finish(self._record, goal_id, self._written)
            now = self._now()
            try:
                goal: Goal | None = self._records.goal(goal_id).goal
            except InputError:
                goal = None  # none, or none that is well-formed: the day's journal takes the entry
            captured = Artifact(
                "evidence-captured",
                {
                    "evidence_id": evidence_id,
                    "goal_id": goal_id,
                    "proves": list(body.get("proves") or ()) or "none",
                },
            )
            rel = layout.evidence_file(run_id, evidence_id)

            def decide(fields: dict[str, Any]) -> None:
                intent = self._intent(goal, goal_id, run_id, now, captured, fields)
                journal_store.check(self._root, intent.journal, intent.artifact, now=now)
                transaction.publish(
                    self._root,
                    intent._replace(sidecar=rel, sidecar_sha256=fields["sidecar_sha256"]),
                )

            try:
                done = evidence_foreign.record_foreign(
                    self._record, document, raw_path, before=decide, now=now, environ=environ or {}
                )
            except FlowError:
                transaction.withdraw(self._root, goal_id)
                raise
            transaction.finish(self._record, goal_id, self._written)
            self._record.commit(run_id)
        return done.id, done.path, (*renamed, *done.warnings)

    def finish(self, goal_id: str) -> bool:
        """Complete what an earlier process began and did not finish; True where there was any."""
        if not files.exists(self._root, layout.pending_file(ids.goal_id(goal_id))):
            return False
        with self._goal_lock(goal_id):
            return transaction.finish(self._record, goal_id, self._written)

    def write_turn(self, goal_id: str, run_id: str, seen: Seen, turn: Turn) -> Status:
        """Write one evaluation, all or nothing; returns the status now on disk."""
        ledger_checks.refuse_terminal(goal_id, turn.status)

        def plan(loaded: LoadedGoal) -> _Plan:
            goal = loaded.goal
            edits = goal_edits.criterion_edits(goal, turn.criteria)
            edits += [
                (("lifecycle", "status"), turn.status),
                (("lifecycle", "turns_evaluated"), turn.turns_evaluated),
                (("lifecycle", "last_evaluation"), turn.last_evaluation._asdict()),
            ]
            if turn.proposal is None:
                return _Plan(
                    turn.status,
                    edits,
                    turn.artifact,
                    turn.event,
                    turn.scope,
                    self._withdrawal(goal_id, run_id),
                )
            proposal = {"goal_id": goal_id, "run_id": run_id, **turn.proposal}
            return _Plan(turn.status, edits, turn.artifact, turn.event, turn.scope, "put", proposal)

        return self._change(goal_id, run_id, seen, plan, personal=False)

    def repropose(self, goal_id: str, run_id: str, seen: Seen, proposal: Mapping[str, Any]) -> None:
        """Replace the live proposal; the goal stays as it is."""
        from flow.adapters.ledger import proposals as ledger_proposals

        self.finish(goal_id)
        ledger_proposals.replace(self._record, goal_id, run_id, seen, proposal)

    def move(self, goal_id: str, run_id: str, seen: Seen, move: Move) -> None:
        """Write a non-terminal status."""
        ledger_checks.refuse_terminal(goal_id, move.to)
        event = {"reason": move.reason, **move.event}
        self._change(
            goal_id,
            run_id,
            seen,
            lambda _: _Plan(
                move.to, [(("lifecycle", "status"), move.to)], move.artifact, event, move.scope
            ),
        )

    def approve(self, goal_id: str, run_id: str, seen: Seen, approval: Approval) -> None:
        """Write what a person's approval changes in the goal, its journal and its events."""

        def plan(loaded: LoadedGoal) -> _Plan:
            given = (approval.criterion,) if approval.criterion else ()
            edits = goal_edits.criterion_edits(loaded.goal, given)
            return _Plan(loaded.goal.status, edits, approval.artifact, approval.event)

        self._change(goal_id, run_id, seen, plan)

    def amend(self, goal_id: str, run_id: str, seen: Seen, amendment: Amendment) -> None:
        """Put another contract in the place of the goal's; the live proposal is withdrawn."""
        with self._goal_lock(goal_id):
            transaction.finish(self._record, goal_id, self._written)
            data, loaded = read_goal(self._root, goal_id)
            goal_edits.compare(loaded, seen)
            now = self._now()
            run_id = run_id or loaded.goal.run_id or layout.run_id_for(goal_id, now)
            text, goal = goal_edits.carried(
                loaded.goal, amendment.text, loaded.file, amendment.anew, run_id
            )
            if goal.digest(rubric_digests(self._root, goal)) != amendment.contract:
                raise StateError(
                    f"the contract of goal {goal_id} would be another one than was looked at",
                    code="moved",
                    file=loaded.file,
                    remedy="a rubric that it names was changed meanwhile: repeat the command",
                )
            event, pinned = dict(amendment.event), None
            if amendment.baseline is not None:
                pinned = ledger_checks.baseline_bytes(
                    self._records, goal_id, run_id, amendment.baseline
                )
                event["baseline_sha256"] = transaction.digest(pinned)
            intent = self._intent(
                loaded.goal, goal_id, run_id, now, amendment.artifact, event, personal=True
            )
            journal_store.check(self._root, intent.journal, intent.artifact, now=intent.at)
            if pinned is not None:
                self._record.announce(run_id, layout.BASELINE, pinned)
                files.replace(self._root, layout.baseline_file(run_id), pinned)
                self._record.run(run_id).wrote(layout.baseline_file(run_id), pinned)
            drop = self._withdrawal(goal_id, run_id)
            before = transaction.digest(data)
            whole = intent._replace(text=text, before=before, proposal_change=drop)
            transaction.commit(self._record, whole, self._written)
            self._record.commit(run_id)
            self._left(goal, run_id, goal.status, amendment.contract)

    def close(self, goal_id: str, run_id: str, seen: Seen, closing: Closing) -> None:
        """Write a terminal status; a ``proposal_id`` must be the live one, and is used up.

        ``achieved`` needs a live proposal for it in any case (SPEC 2).
        """
        if closing.to not in TERMINAL:
            raise StateError(
                f"{closing.to} is no terminal status", key="lifecycle.status", value=closing.to
            )

        def plan(loaded: LoadedGoal) -> _Plan:
            ledger_checks.proposal(self._records, loaded, run_id, closing.to, closing.proposal_id)
            event = {"reason": closing.reason, **closing.event}
            edits: list[Edit] = [(("lifecycle", "status"), closing.to)]
            if closing.last_evaluation is not None:
                last = closing.last_evaluation._asdict()
                edits.append((("lifecycle", "last_evaluation"), last))
            edits += goal_edits.criterion_edits(loaded.goal, closing.criteria)
            return _Plan(
                closing.to,
                edits,
                closing.artifact,
                event,
                proposal_change=self._withdrawal(goal_id, run_id or loaded.goal.run_id or ""),
            )

        self._change(goal_id, run_id, seen, plan)

    def update_lifecycle(
        self,
        goal_id: str,
        lifecycle: Mapping[str, Any],
        *,
        from_status: str | None = None,
        merge: bool = False,
        increment_turns: bool = False,
        how: str = "flow-goal-record.sh",
        file: str = "lifecycle",
    ) -> Status:
        """The second door of SPEC 2: replace the lifecycle block, or ``merge`` into it.

        ``from_status`` is what the caller saw; ``how`` goes into the journal; ``file`` names the
        given block in messages. Returns the status now on disk.
        """
        goal_edits.check_given(lifecycle, merge=merge, file=file)

        def plan(loaded: LoadedGoal) -> _Plan:
            goal = loaded.goal
            to = str(lifecycle.get("status", goal.status))
            newest = {path[1]: v for path, v in self._turn_edits(goal) if path[0] == "lifecycle"}
            known = {**goal.document["lifecycle"], **newest}
            block = {**known, **lifecycle} if merge else dict(lifecycle)
            if increment_turns:
                block["turns_evaluated"] = known.get("turns_evaluated", goal.turns_evaluated) + 1
            goal_edits.check_block(goal, block, file)
            if to in TERMINAL:
                check_move(goal.status, to, goal=goal.id)
                ledger_checks.proposal(self._records, loaded, "", to, None)
            edits = (
                [(("lifecycle", key), value) for key, value in block.items()]
                if merge
                else [(("lifecycle",), block)]
            )
            run_id = goal.run_id or layout.run_id_for(goal_id, self._now())
            reason = goal_edits.block_reason(lifecycle) or f"recorded with {how}"
            artifact = Artifact(
                "goal-evaluation",
                {
                    "goal_id": goal_id,
                    "result": goal_edits.block_result(block, to),
                    "from": goal.status,
                    "to": to,
                    "reason": reason,
                    "evidence_bundle": layout.run_dir(run_id),
                    "failures": [c.id for c in goal.criteria if c.must_pass and c.status != "pass"]
                    or "none",
                    "how": how,
                },
            )
            event = {
                "type": "transition",
                "from": goal.status,
                "to": to,
                "reason": reason,
                "how": how,
            }
            drop = self._withdrawal(goal_id, run_id) if to in TERMINAL else "keep"
            return _Plan(to, edits, artifact, event, {"run_id": run_id}, drop)

        seen = None if from_status is None else Seen(from_status)
        return self._change(goal_id, "", seen, plan)

    def create_goal(
        self,
        text: str,
        run_id: str,
        baseline: Baseline | None,
        artifact: Artifact,
        event: Mapping[str, Any],
    ) -> str:
        """Publish a new goal with its baseline; returns its path below the checkout.

        Raises :class:`RefusedError` (``exists``) where the id, or the run's baseline, is taken.
        """
        goal, _ = parse_goal(text.encode("utf-8", "surrogateescape"), "the new goal")
        rel = layout.goal_file(ids.goal_id(goal.id))
        ids.run_id(run_id)
        with self._goal_lock(goal.id):
            transaction.finish(self._record, goal.id, self._written)
            if files.exists(self._root, rel):
                raise RefusedError(
                    f"goal {goal.id} exists already",
                    code="exists",
                    file=rel,
                    key="metadata.id",
                    value=goal.id,
                    remedy=f"use another id, or: flow goal create NEW --from {goal.id}",
                )
            if baseline is not None:
                data = ledger_checks.baseline_bytes(self._records, goal.id, run_id, baseline)
                event = {**event, "baseline_sha256": transaction.digest(data)}
            intent = self._intent(
                goal, goal.id, run_id, self._now(), artifact, event, personal=True
            )
            journal_store.check(self._root, intent.journal, intent.artifact, now=intent.at)
            if baseline is not None:
                self._record.announce(run_id, layout.BASELINE, data)
                files.replace(self._root, layout.baseline_file(run_id), data)
                self._record.run(run_id).wrote(layout.baseline_file(run_id), data)
            transaction.commit(self._record, intent._replace(text=text), self._written)
            self._record.commit(run_id)
            contract = goal.digest(rubric_digests(self._root, goal))
            self._left(goal, run_id, goal.status, contract)
        return rel

    def write_baseline(self, goal_id: str, run_id: str, baseline: Baseline) -> None:
        """Replace the run's ``baseline.json``; a run that another goal has pinned is refused."""
        ids.run_id(run_id)
        with self._goal_lock(goal_id):
            data = ledger_checks.baseline_bytes(self._records, goal_id, run_id, baseline)
            with files.staged(self._root, layout.baseline_file(run_id), data) as put:
                # The event says which one counts: without it an altered one would go unseen.
                fields = {"baseline_sha256": transaction.digest(data)}
                event_log.append(self._root, run_id, goal_id, "baseline", fields, at=self._now())
                self._record.announce(run_id, layout.BASELINE, data)
                put()
            self._record.run(run_id).wrote(layout.baseline_file(run_id), data)
            self._record.commit(run_id)

    # --- inside --------------------------------------------------------------------------------

    @contextmanager
    def _goal_lock(self, goal_id: str) -> Iterator[None]:
        rel = layout.goal_lock(ids.goal_id(goal_id))
        with locks.exclusive(self._root, rel, timeout=self._timeout, quick=self._quick):
            yield

    def _change(
        self,
        goal_id: str,
        run_id: str,
        seen: Seen | None,
        plan_for: Callable[[LoadedGoal], _Plan],
        *,
        personal: bool = True,
    ) -> Status:
        """One change of a goal: finish, read, compare, check, edit, check again, commit.

        ``personal``: a person could have done it, so it says who speaks.
        """
        if run_id:
            ids.run_id(run_id)
        with self._goal_lock(goal_id):
            transaction.finish(self._record, goal_id, self._written)
            data, loaded = read_goal(self._root, goal_id, self._cache_dir)
            goal = loaded.goal
            goal_edits.compare(loaded, seen)
            plan = plan_for(loaded)
            _move(goal, cast("Status", plan.to))
            now = self._now()
            run_id = run_id or goal.run_id or layout.run_id_for(goal_id, now)
            scope = {"run_id": run_id} if goal.run_id is None else {}
            scope.update(plan.scope)
            edits = (*self._turn_edits(goal), *plan.edits)
            text = goal_edits.edited(data, loaded, plan.to, edits, scope, self._cache_dir)
            intent = self._intent(
                goal, goal_id, run_id, now, plan.artifact, plan.event, personal=personal
            )
            whole = intent._replace(
                text=text,
                before=transaction.digest(data),
                proposal_change=plan.proposal_change,
                proposal=plan.proposal,
            )
            self._coming(goal, plan.to)
            if plan.to in TERMINAL:
                self._commit_closing(whole, text, loaded)
            else:
                transaction.commit(self._record, whole, self._written)
            self._record.commit(run_id)
            self._left(goal, run_id, plan.to, loaded.contract)
        return cast("Status", plan.to)

    def _turn_edits(self, goal: Goal) -> list[Edit]:
        """What turns that left the goal's file alone came to, for the next write to carry."""
        if goal.run_id is None:
            return []
        return goal_edits.turn_edits(goal, self._records.newest_turn(goal.run_id, goal.id))

    def _commit_closing(self, intent: transaction.Intent, text: str, loaded: LoadedGoal) -> None:
        """Close a goal, and let the state folder know that a door did, and on what evidence.

        It knows before the change is decided: the command may be killed at once after that.
        """
        from flow.core.chain import closing_record as closing

        goal, _ = parse_goal(text.encode("utf-8", "surrogateescape"), loaded.file)
        name = f"{closing.FOLDER}{goal.id}"
        statement = closing.statement(goal, loaded.contract, intent.at)
        with suppress(FlowError):  # it is said later, where the head is kept
            self._record.announce(intent.run_id, name, statement)
        try:
            transaction.commit(self._record, intent, self._written)
        except BaseException:
            with suppress(FlowError):
                if not files.exists(self._root, layout.pending_file(goal.id)):
                    self._record.announce(intent.run_id, name, None)
            raise
        self._record.run(intent.run_id).wrote(f"{layout.run_dir(intent.run_id)}/{name}", statement)

    def _intent(
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
        fields = dict(event)
        if personal and self._speaker is not None:
            spoken = self._speaker.fields()
            artifact = artifact._replace(fields={**artifact.fields, **spoken})
            fields.update(spoken)
        if "evidence_bundle" in artifact.fields:  # git keeps the journal, and so the head
            head = self._record.head(run_id)
            artifact = artifact._replace(fields={**artifact.fields, "ledger_head": head})
            fields["ledger_head"] = head
        baseline = self._records.baseline(run_id)
        folder = baseline.journal_dir if baseline is not None else self._journal_dir
        return transaction.Intent(
            key=transaction.new_key(),
            goal_id=goal_id,
            run_id=run_id,
            at=now,
            journal=journal_store.journal_path(
                goal.journal if goal else None,
                goal.issue if goal else None,
                now[:10],
                folder,
            ),
            issue=goal.issue if goal else None,
            branch=goal.branch if goal else None,
            artifact=artifact,
            event_type=str(fields.pop("type", artifact.type)),
            event=fields,
        )

    def _withdrawal(self, goal_id: str, run_id: str) -> Literal["keep", "drop"]:
        """``drop`` unless the run's proposal is another goal's, or there is none."""
        return "drop" if run_id and self._records.proposal_for(run_id) == goal_id else "keep"
