"""What begins a goal or changes what it is measured by, and evidence that others hand over."""

from __future__ import annotations

from flow.adapters.chain import event_log
from flow.adapters.fs import files
from flow.adapters.journal import store as journal_store
from flow.adapters.ledger import checks as ledger_checks
from flow.adapters.ledger import goal_edits, transaction
from flow.adapters.ledger.goal_change import GoalChange
from flow.adapters.ledger.reader import parse_goal, read_goal, rubric_digests
from flow.app.ports import Artifact
from flow.core import layout
from flow.core.goal import ids
from flow.errors import FlowError, InputError, in_file
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.app.ports import Amendment, Seen
    from flow.core.boundary.rules import Baseline
    from flow.core.goal.model import Goal


class GoalContracts(GoalChange):
    """Changes of a goal's contract, its baseline, and its foreign evidence."""

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
        with self.goal_lock(goal.id):
            transaction.finish(self._record, goal.id, self._settings.written)
            if files.exists(self._root, rel):
                raise in_file(rel, "metadata.id", goal.id).refused(
                    f"goal {goal.id} exists already",
                    f"use another id, or: flow goal create NEW --from {goal.id}",
                    code="exists",
                )
            if baseline is not None:
                data = ledger_checks.baseline_bytes(self._records, goal.id, run_id, baseline)
                event = {**event, "baseline_sha256": transaction.digest(data)}
            intent = self.intent(
                goal, goal.id, run_id, self._settings.now(), artifact, event, personal=True
            )
            journal_store.check(self._root, intent.journal, intent.artifact, now=intent.at)
            if baseline is not None:
                self._record.announce(run_id, layout.BASELINE, data)
                files.replace(self._root, layout.baseline_file(run_id), data)
                self._record.run(run_id).wrote(layout.baseline_file(run_id), data)
            transaction.commit(self._record, intent._replace(text=text), self._settings.written)
            self._record.commit(run_id)
            contract = goal.digest(rubric_digests(self._root, goal))
            self._settings.left(goal, run_id, goal.status, contract)
        return rel

    def amend(self, goal_id: str, run_id: str, seen: Seen, amendment: Amendment) -> None:
        """Put another contract in the place of the goal's; the live proposal is withdrawn."""
        with self.goal_lock(goal_id):
            transaction.finish(self._record, goal_id, self._settings.written)
            data, loaded = read_goal(self._root, goal_id)
            goal_edits.compare(loaded, seen)
            now = self._settings.now()
            run_id = run_id or loaded.goal.run_id or layout.run_id_for(goal_id, now)
            text, goal = goal_edits.carried(
                loaded.goal, amendment.text, loaded.file, amendment.anew, run_id
            )
            if goal.digest(rubric_digests(self._root, goal)) != amendment.contract:
                raise in_file(loaded.file).wrong_state(
                    f"the contract of goal {goal_id} would be another one than was looked at",
                    "a rubric that it names was changed meanwhile: repeat the command",
                    code="moved",
                )
            event, pinned = dict(amendment.event), None
            if amendment.baseline is not None:
                pinned = ledger_checks.baseline_bytes(
                    self._records, goal_id, run_id, amendment.baseline
                )
                event["baseline_sha256"] = transaction.digest(pinned)
            intent = self.intent(
                loaded.goal, goal_id, run_id, now, amendment.artifact, event, personal=True
            )
            journal_store.check(self._root, intent.journal, intent.artifact, now=intent.at)
            if pinned is not None:
                self._record.announce(run_id, layout.BASELINE, pinned)
                files.replace(self._root, layout.baseline_file(run_id), pinned)
                self._record.run(run_id).wrote(layout.baseline_file(run_id), pinned)
            drop = self.withdrawal(goal_id, run_id)
            before = transaction.digest(data)
            whole = intent._replace(text=text, before=before, proposal_change=drop)
            transaction.commit(self._record, whole, self._settings.written)
            self._record.commit(run_id)
            self._settings.left(goal, run_id, goal.status, amendment.contract)

    def write_baseline(self, goal_id: str, run_id: str, baseline: Baseline) -> None:
        """Replace the run's ``baseline.json``; a run that another goal has pinned is refused."""
        ids.run_id(run_id)
        with self.goal_lock(goal_id):
            data = ledger_checks.baseline_bytes(self._records, goal_id, run_id, baseline)
            with files.staged(self._root, layout.baseline_file(run_id), data) as put:
                # The event says which one counts: without it an altered one would go unseen.
                fields = {"baseline_sha256": transaction.digest(data)}
                event_log.append(
                    self._root, run_id, goal_id, "baseline", fields, at=self._settings.now()
                )
                self._record.announce(run_id, layout.BASELINE, data)
                put()
            self._record.run(run_id).wrote(layout.baseline_file(run_id), data)
            self._record.pin(run_id)  # the next one may come before an evaluation ends

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
        with self.goal_lock(goal_id):
            transaction.finish(self._record, goal_id, self._settings.written)
            now = self._settings.now()
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
                intent = self.intent(goal, goal_id, run_id, now, captured, fields)
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
            transaction.finish(self._record, goal_id, self._settings.written)
            self._record.commit(run_id)
        return done.id, done.path, (*renamed, *done.warnings)
