"""A small checkout with a goal, and every kind of change that a ledger makes to it."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from typing import TYPE_CHECKING, Any

from flow.adapters.chain.run_record import RunRecord
from flow.adapters.ledger.reader import FileRecords
from flow.adapters.ledger.settings import LedgerSettings
from flow.adapters.ledger.writer import FileLedger
from flow.app.checks import RawOutput
from flow.app.ports import Approval, Artifact, Closing, CriterionUpdate, LastEvaluation, Move, Turn
from flow.core.boundary.changes import Baseline
from flow.core.evidence.model import EVALUATOR, evidence_document

if TYPE_CHECKING:
    from collections.abc import Callable

    from flow.adapters.chain.session_writes import RunWrites

NOW = "2026-03-01T10:15:00Z"
GOAL = "issue-4"
RUN = "r1"
GOAL_FILE = f".flow/goals/{GOAL}.goal.yaml"
JOURNAL = ".decisions/issue-4.md"
SIDECAR = f".flow/runs/{RUN}/evidence/evidence-ac1-eval-1.evidence.yaml"
TEXT = """\
# What this is for
apiVersion: flow.synapti.ai/v1
kind: FlowGoal
metadata: {id: issue-4, created_at: "2026-03-01T10:15:00Z"}   # inline
scope:
  repo: demo
  branch: main
  issue: 4
  run_id: r1
objective:
  outcome: It works
  acceptance_criteria:
    - id: AC1
      text: The tests pass
      status: pending  # by Flow
      verification_command: "true"
    - id: AC2
      text: It reads well
      status: pending
evaluator:
  type: deterministic
lifecycle:
  status: active   # now
  turns_evaluated: 0
# the end
"""
BASELINE = Baseline("a" * 40, {"a\udcff": "absent"}, {}, {".gitignore": "*.o\n"}, {}, {})
PROPOSAL = {"proposal_id": "b" * 64, "goal_id": GOAL, "to": "achieved", "verdict": "achieved"}


@cache
def session(root: str) -> RunRecord:
    """The record of a test's own writes; ``session.cache_clear()`` makes it a new process's."""
    return RunRecord(root)


class AnyFile(RunRecord):
    """Vouches for every small file, as if a state folder knew those that a test has put there."""

    def run(self, run_id: str) -> RunWrites:
        return session(self.root).run(run_id)

    def file(self, run_id: str, name: str, digest: str) -> bool:
        return True


def ledger(root: str, **more: Any) -> FileLedger:
    """A ledger whose clock stands still."""
    return FileLedger(AnyFile(root), LedgerSettings(now=lambda: NOW, **more))


def records(root: str) -> FileRecords:
    """The reading side."""
    return FileRecords(AnyFile(root))


def artifact(to: str = "active", start: str = "active") -> Artifact:
    """What a change of status puts into the journal."""
    return Artifact(
        "goal-evaluation",
        {
            "goal_id": GOAL,
            "result": "pass",
            "from": start,
            "to": to,
            "reason": "as told",
            "evidence_bundle": f".flow/runs/{RUN}",
            "failures": ["AC2"],
        },
    )


def start(root: str, text: str = TEXT) -> None:
    """Create the goal."""
    made = Artifact("goal-created", {"goal_id": GOAL, "source": "a test"})
    ledger(root).contracts.create_goal(
        text, RUN, BASELINE, made, {"type": "created", "to": "active"}, lambda: None
    )


def document(evidence_id: str = "evidence-ac1-eval-1", **body: Any) -> dict[str, Any]:
    """An evaluator's sidecar."""
    return evidence_document(
        id=evidence_id,
        goal=GOAL,
        run_id=RUN,
        created_at=NOW,
        created_by=EVALUATOR,
        type="command_result",
        body={
            "command": "true",
            "exit_code": 0,
            "outcome": "passed",
            "proves": ["AC1"],
            "limitations": ["only that"],
            **body,
        },
    )


def foreign(evidence_id: str = "theirs-1", **body: Any) -> dict[str, Any]:
    """A sidecar of somebody else's."""
    found = document(evidence_id, **body)
    found["metadata"]["created_by"] = "ci"
    return found


def raw(root: str, data: bytes = b"what it printed\n") -> RawOutput:
    """Output on disk, as a command runner leaves it."""
    folder = os.path.join(root, ".flow/runs", RUN)
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "raw.out")
    with open(path, "wb") as file:
        file.write(data)
        os.fsync(file.fileno())
    return RawOutput(path, hashlib.sha256(data).hexdigest(), len(data))


def turn(number: int = 1, status: Any = "active", proposal: Any = PROPOSAL) -> Turn:
    """One evaluation's writing."""
    return Turn(
        status=status,
        turns_evaluated=number,
        last_evaluation=LastEvaluation("pass", "all: good # really", NOW),
        criteria=(CriterionUpdate("AC1", "pass", SIDECAR, NOW, "exit 0"),),
        artifact=artifact(status),
        event={"type": "evaluated", "turn": number},
        proposal=proposal,
    )


def move(to: Any = "blocked", start: str = "active") -> Move:
    """A change of status outside an evaluation."""
    return Move(to, "as told", artifact(to, start), {"type": "transition", "to": to})


def closing(to: Any = "achieved", proposal_id: str | None = PROPOSAL["proposal_id"]) -> Closing:
    """A terminal status."""
    return Closing(to, "yes", artifact(to), {"type": "confirmed", "to": to}, proposal_id)


def seen(root: str) -> Any:
    """What a reader sees of the goal now."""
    return records(root).goal(GOAL).seen


def proposed(root: str) -> None:
    """The goal after an evaluation that proposes to close it."""
    start(root)
    ledger(root).write_turn(GOAL, RUN, seen(root), turn())


def with_raw(root: str) -> None:
    """The goal, and a command's output waiting to be recorded."""
    start(root)
    raw(root)


def _approve(root: str) -> None:
    captured = Artifact("evidence-captured", {"evidence_id": "x", "goal_id": GOAL, "proves": "AC2"})
    update = CriterionUpdate("AC2", "pass", SIDECAR, NOW, "approved by A Tester")
    approval = Approval(update, captured, {"type": "approved", "evidence_id": "x"})
    ledger(root).approve(GOAL, RUN, seen(root), approval)


def _foreign(root: str) -> None:
    ledger(root).contracts.record_foreign(RUN, foreign(), f"{root}/.flow/runs/{RUN}/raw.out")


def _evidence(root: str) -> None:
    found = os.path.join(root, ".flow/runs", RUN, "raw.out")
    with open(found, "rb") as file:
        data = file.read()
    given = RawOutput(found, hashlib.sha256(data).hexdigest(), len(data))
    ledger(root).record_evidence(document(), given)


def _turn(root: str, number: int = 1, proposal: Any = PROPOSAL) -> None:
    ledger(root).write_turn(GOAL, RUN, seen(root), turn(number, proposal=proposal))


def _lifecycle(root: str) -> None:
    ledger(root).update_lifecycle(GOAL, {"status": "achieved"}, merge=True, from_status="active")


CHANGES: dict[str, tuple[Callable[[str], None], Callable[[str], None]]] = {
    "create": (lambda root: None, start),
    "write_turn": (start, _turn),
    "withdraw": (proposed, lambda root: _turn(root, 2, None)),
    "move": (proposed, lambda root: ledger(root).move(GOAL, RUN, seen(root), move())),
    "close": (proposed, lambda root: ledger(root).close(GOAL, RUN, seen(root), closing())),
    "approve": (start, _approve),
    "lifecycle": (proposed, _lifecycle),
    "evidence": (with_raw, _evidence),
    "foreign": (with_raw, _foreign),
}
"""Name → (what must be there before, the change)."""


def tree(root: str) -> dict[str, bytes]:
    """Every file below ``root`` with its bytes, without locks and temporary files."""
    found = {}
    for top, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != ".locks"]
        for name in names:
            path = os.path.join(top, name)
            if not name.startswith(".flow-tmp-"):
                with open(path, "rb") as file:
                    found[os.path.relpath(path, root)] = file.read()
    return found
