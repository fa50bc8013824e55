"""Changes of a goal's contract: creating it, amending it, its baseline; and foreign evidence."""

from __future__ import annotations

import json

from flow.adapters.chain import event_log
from flow.adapters.fs import files
from flow.adapters.journal import store as journal_store
from flow.adapters.ledger import evidence_foreign, goal_edits, transaction
from flow.adapters.ledger.goal_change import GoalChange
from flow.adapters.ledger.reader import baseline_document, parse_goal, read_goal, rubric_digests
from flow.app.ports import Artifact
from flow.core import layout
from flow.core.goal import ids
from flow.core.layout import BASELINE_LIMIT
from flow.errors import FlowError, InputError, in_file
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flow.app.ports import Amendment
    from flow.core.boundary.changes import Baseline
    from flow.core.goal.loaded import ExpectedState
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
        trust: Callable[[], None],
    ) -> str:
        """Publish a new goal with its baseline; returns its path below the checkout.

        ``trust`` is called before, under the goal's lock: trust in a contract that is not published
        harms no one, and a contract that is refused must not replace the current goal's. Raises
        :class:`RefusedError` (``exists``) if the id, or the run's baseline, is taken.
        """
        goal, _ = parse_goal(text.encode("utf-8", "surrogateescape"), "the new goal")
        rel = layout.goal_file(ids.goal_id(goal.id))
        ids.run_id(run_id)
        with self.resumed_goal(goal.id):
            if files.exists(self._root, rel):
                raise in_file(rel, "metadata.id", goal.id).refused(
                    f"goal {goal.id} exists already",
                    f"use another id, or: flow goal create NEW --from {goal.id}",
                    code="exists",
                )
            pinned, event = self._pinned(goal.id, run_id, baseline, event)
            now = self._settings.now()
            intent = self.intent(goal, goal.id, run_id, now, artifact, event, personal=True)
            contract = goal.digest(rubric_digests(self._root, goal))
            trust()
            self._commit_contract(intent._replace(text=text), pinned, goal, contract)
        return rel

    def amend(self, goal_id: str, run_id: str, seen: ExpectedState, amendment: Amendment) -> None:
        """Replace the goal's contract; the live proposal is withdrawn."""
        with self.resumed_goal(goal_id):
            data, loaded = read_goal(self._root, goal_id)
            current = loaded.goal
            goal_edits.compare(loaded, seen)
            now = self._settings.now()
            run_id = run_id or current.run_id or layout.run_id_for(goal_id, now)
            text, goal = goal_edits.carried(
                current, amendment.text, loaded.file, amendment.anew, run_id
            )
            if goal.digest(rubric_digests(self._root, goal)) != amendment.contract:
                raise in_file(loaded.file).wrong_state(
                    f"the contract of goal {goal_id} would be another one than was looked at",
                    "a rubric that it names was changed meanwhile: repeat the command",
                    code="moved",
                )
            pinned, event = self._pinned(goal_id, run_id, amendment.baseline, amendment.event)
            artifact = amendment.artifact
            intent = self.intent(current, goal_id, run_id, now, artifact, event, personal=True)
            intent = intent._replace(
                text=text,
                before=transaction.digest(data),
                proposal_change=self.withdrawal(goal_id, run_id),
            )
            self._commit_contract(intent, pinned, goal, amendment.contract)

    def _pinned(
        self, goal_id: str, run_id: str, baseline: Baseline | None, event: Mapping[str, Any]
    ) -> tuple[bytes | None, Mapping[str, Any]]:
        """The text of ``baseline.json``, if any, and the event that records its digest."""
        if baseline is None:
            return None, event
        data = self._baseline_bytes(goal_id, run_id, baseline)
        return data, {**event, "baseline_sha256": transaction.digest(data)}

    def _commit_contract(
        self, intent: transaction.Intent, pinned: bytes | None, goal: Goal, contract: str
    ) -> None:
        """Commit a goal's new text, its baseline first."""
        run_id = intent.run_id
        journal_store.check(self._root, intent.journal, intent.artifact, now=intent.at)
        if pinned is not None:
            self._record.announce(run_id, layout.BASELINE, pinned)
            self._record.run(run_id).replace(layout.baseline_file(run_id), pinned)
        self._commit(intent)
        self._record.commit(run_id)
        self._settings.after_change(goal, run_id, goal.status, contract)

    def write_baseline(self, goal_id: str, run_id: str, baseline: Baseline) -> None:
        """Replace the run's ``baseline.json``; a run that another goal has pinned is refused."""
        ids.run_id(run_id)
        with self.goal_lock(goal_id):
            data = self._baseline_bytes(goal_id, run_id, baseline)
            with files.staged(self._root, layout.baseline_file(run_id), data) as put:
                # The event names the one that counts: without it an altered one would go unseen.
                fields = {"baseline_sha256": transaction.digest(data)}
                event_log.append(
                    self._root, run_id, goal_id, "baseline", fields, at=self._settings.now()
                )
                self._record.announce(run_id, layout.BASELINE, data)
                put()
            self._record.run(run_id).wrote(layout.baseline_file(run_id), data)
            self._record.pin(run_id)  # the next one may come before an evaluation ends

    def _baseline_bytes(self, goal_id: str, run_id: str, baseline: Baseline) -> bytes:
        """The text of ``baseline.json``, if this goal may write it."""
        rel = layout.baseline_file(run_id)
        owner = self._records.baseline_file(run_id).goal_id
        if owner is not None and owner != goal_id:
            raise in_file(rel, "scope.run_id", run_id).refused(
                f"run {run_id} belongs to goal {owner}",
                "give this goal a run of its own (leave scope.run_id out)",
                code="exists",
            )
        document = baseline_document(baseline, goal_id, run_id)
        text = json.dumps(document, indent=1, ensure_ascii=True) + "\n"
        if len(text) > BASELINE_LIMIT:
            raise in_file(rel).wrong_state(
                f"too many files are uncommitted: their record has {len(text)} bytes, more than "
                f"{BASELINE_LIMIT}",
                "commit them, or name them in .gitignore",
                code="too_large",
            )
        return text.encode("ascii")

    def record_foreign(
        self,
        run_id: str,
        document: Mapping[str, Any],
        raw_path: str | None = None,
        *,
        file: str = "evidence",
        environ: Mapping[str, str] | None = None,
    ) -> tuple[str, str, tuple[str, ...]]:
        """Record evidence that a caller hands over, with its ``evidence-captured`` artifact.

        ``raw_path`` (any size up to 1 GiB, no symlink) is copied; ``file`` names the document in
        messages, ``environ`` the secrets whose values are redacted. Returns (evidence id, path
        below the checkout, warnings). It is stored and shown, and never counts in a decision.
        """
        document, renamed = evidence_foreign.as_named_here(document, ids.run_id(run_id))
        evidence_foreign.check_foreign(document, raw_path, run_id=run_id, file=file)
        goal_id = str(document["metadata"]["goal"])
        with self.resumed_goal(goal_id):
            now = self._settings.now()
            try:
                published = evidence_foreign.record_foreign(
                    self._record,
                    document,
                    raw_path,
                    before=self._announcer(document, run_id, now),
                    now=now,
                    environ=environ or {},
                )
            except FlowError:
                transaction.withdraw(self._root, goal_id)
                raise
            self._finish(goal_id)
            self._record.commit(run_id)
        return published.id, published.path, (*renamed, *published.warnings)

    def _announcer(
        self, document: Mapping[str, Any], run_id: str, now: str
    ) -> Callable[[dict[str, Any]], None]:
        """The function that publishes the intent to journal this sidecar, by its event's fields."""
        goal_id, evidence_id = str(document["metadata"]["goal"]), str(document["metadata"]["id"])
        try:
            goal: Goal | None = self._records.goal(goal_id).goal
        except InputError:
            goal = None  # none, or none that is well-formed: the day's journal takes the entry
        proves = list(document["evidence"].get("proves") or ()) or "none"
        captured = Artifact(
            "evidence-captured", {"evidence_id": evidence_id, "goal_id": goal_id, "proves": proves}
        )

        def decide(fields: dict[str, Any]) -> None:
            intent = self.intent(goal, goal_id, run_id, now, captured, fields)
            journal_store.check(self._root, intent.journal, intent.artifact, now=now)
            rel, digest = layout.evidence_file(run_id, evidence_id), fields["sidecar_sha256"]
            transaction.publish(self._root, intent._replace(sidecar=rel, sidecar_sha256=digest))

        return decide
