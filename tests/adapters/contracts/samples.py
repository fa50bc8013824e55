"""Valid documents of every kind, each with every key its schema names."""

from __future__ import annotations

import copy
from typing import Any

NOW = "2026-03-01T10:15:00Z"
SHA = "ab" * 32
COMMIT = "0123456789" * 4

CRITERION: dict[str, Any] = {
    "id": "AC1",
    "text": "The tests pass.",
    "status": "pass",
    "verification_command": "pytest -q | tee log",
    "must_pass": True,
    "timeout_seconds": 12.5,
    "cwd": "services/api",
    "serial": False,
    "hermetic": True,
    "limitations": ["Says nothing about speed."],
    "evidence_ref": ".flow/runs/r1/evidence/evidence-ac1-eval-1.evidence.yaml",
    "last_evaluated_at": NOW,
    "last_result": "exit 0",
}
FUZZY: dict[str, Any] = {
    "id": "AC2",
    "text": "The text is clear.",
    "status": "pending",
    "must_pass": False,
    "rubric": "documentation",
    "scorecard": None,
    "debate": None,
    "evidence_command": "cat README.md",
    "evidence_paths": ["docs/**"],
}
GOAL: dict[str, Any] = {
    "apiVersion": "flow.synapti.ai/v1",
    "kind": "FlowGoal",
    "metadata": {"id": "issue-4", "created_at": NOW, "created_by": "somebody", "owner": "a team"},
    "scope": {
        "repo": "demo",
        "branch": "feature/four",
        "issue": 4,
        "pr": None,
        "journal": ".decisions/issue-4.md",
        "base": "origin/main",
        "base_commit": COMMIT,
        "run_id": "2026-03-01T101500Z-issue-4",
    },
    "objective": {
        "outcome": "It works.",
        "acceptance_criteria": [CRITERION, FUZZY],
        "source": "issue 4",
    },
    "specification": {
        "non_goals": ["Speed."],
        "failure_modes": [{"mode": "it hangs", "sign": "no output"}],
        "interface_contracts": ["The exit codes stay."],
        "risk_map": [{"risk": "a flaky test", "likelihood": 2, "guard": "repeat"}],
    },
    "constraints": {
        "allowed_paths": ["src/**", "tests/**"],
        "denied_paths": ["secrets/"],
        "protected_paths": ["tests/conftest.py"],
        "require_all_pass": True,
        "tdd_required": False,
        "no_calendar_estimates": True,
        "no_tier3_without_confirmation": True,
    },
    "evaluator": {
        "type": "hybrid",
        "judges": 3,
        "judge_model": "some-model",
        "jobs": 4,
        "repeat": 1,
        "sandbox": False,
        "denied_context": ["*.pem"],
        "command": "flow",
        "judge_agent": "judge",
        "evidence_bundle_format": "v1",
    },
    "continuation": {
        "max_iterations": 20,
        "mode": "evaluator_loop",
        "on_incomplete": "continue",
        "on_blocked": "ask",
        "on_complete": "ask",
    },
    "lifecycle": {
        "status": "active",
        "turns_evaluated": 2,
        "last_evaluation": {"result": "incomplete", "reason": "AC2 is open", "at": NOW},
        "current_phase": "build",
        "current_activity": None,
    },
}
SMALL_GOAL: dict[str, Any] = {
    "apiVersion": "flow.synapti.ai/v1",
    "kind": "FlowGoal",
    "metadata": {"id": "small", "created_at": NOW},
    "scope": {"repo": "demo", "branch": "main"},
    "objective": {
        "outcome": "It works.",
        "acceptance_criteria": [{"id": "AC1", "text": "It runs.", "status": "pending"}],
    },
    "evaluator": {"type": "deterministic"},
    "lifecycle": {"status": "draft"},
}
EVIDENCE: dict[str, Any] = {
    "apiVersion": "flow.synapti.ai/v1",
    "kind": "FlowEvidence",
    "metadata": {
        "id": "evidence-ac1-eval-1",
        "goal": "issue-4",
        "run_id": "r1",
        "activity_id": None,
        "created_at": NOW,
        "created_by": "flow-evaluator",
    },
    "evidence": {
        "type": "command_result",
        "command": "pytest -q | tee log",
        "exit_code": 0,
        "output_ref": "evidence-ac1-eval-1.txt",
        "proves": ["AC1"],
        "limitations": ["Shows only how this command exited."],
        "negative_cases": ["A wrong password is refused."],
        "outcome": "passed",
        "result": "exit 0",
        "reason": None,
        "duration_seconds": 0.25,
        "output_sha256": SHA,
        "output_bytes": 12,
        "truncated": False,
        "truncated_bytes": None,
        "environment_removed": ["BASH_ENV"],
        "criterion_digest": SHA,
        "subject": {"head": COMMIT, "tree": SHA, "contract": SHA, "flow_version": "0.1.0"},
        "violations": [{"path": "secrets/key", "why": "denied by secrets/"}],
        "approved_by": "somebody",
        "note": "looked at it",
        "guards": {"hooks/pre-commit": SHA},
    },
}
VERDICT: dict[str, Any] = {
    "goal_id": "issue-4",
    "run_id": "r1",
    "verdict": "achieved",
    "confidence": 1.0,
    "delta": "made_progress",
    "reason": "everything passed",
    "next_step_hint": "confirm it",
    "blocker_type": "none",
    "criterion_results": [
        {
            "criterion_id": "AC1",
            "status": "pass",
            "outcome": "passed",
            "exit_code": 0,
            "evidence_ref": "x",
            "limitations": [],
            "reason": "",
        }
    ],
    "path_violations": [],
    "warnings": [],
    "proposed_transition": {
        "to": "achieved",
        "reason": "everything passed",
        "turns_evaluated": 1,
        "proposal_id": SHA,
    },
    "lifecycle": {"from": "active", "to": "active", "turns_evaluated": 1},
    "ledger_head": None,
    "source": "command",
    "recorded_at": NOW,
}
EVENT: dict[str, Any] = {
    "at": NOW,
    "seq": 1,
    "type": "evaluated",
    "goal_id": "issue-4",
    "more": [1],
}
BASELINE: dict[str, Any] = {
    "base_commit": COMMIT,
    "dirty": {"a.txt": "absent"},
    "denied_ignored": {},
    "ignore_rules": {".gitignore": "*.pyc\n"},
    "guards": {},
    "by_products": {},
    "journal_dir": ".decisions",
}
PROPOSAL: dict[str, Any] = {
    "proposal_id": SHA,
    "goal_id": "issue-4",
    "run_id": "r1",
    "to": "achieved",
    "verdict": "achieved",
    "reason": "everything passed",
    "turns_evaluated": 1,
    "contract": SHA,
    "head": COMMIT,
    "tree": SHA,
    "results": [["AC1", "pass", "passed"]],
    "evidence": ["x"],
    "created_at": NOW,
}
LOOP: dict[str, Any] = {
    "goal_id": "issue-4",
    "continuations": 2,
    "stuck_turns": 0,
    "passing_sha256": SHA,
    "recent": [],
    "session": None,
    "updated_at": NOW,
}
VALID: list[tuple[str, dict[str, Any]]] = [
    ("goal", GOAL),
    ("goal", SMALL_GOAL),
    ("evidence", EVIDENCE),
    ("verdict", VERDICT),
    ("event", EVENT),
    ("baseline", BASELINE),
    ("proposal", PROPOSAL),
    ("loop", LOOP),
    ("run", EVENT),
    ("run", BASELINE),
    ("run", PROPOSAL),
    ("run", LOOP),
]


class Gone:
    """As a value: the key is taken out."""


def altered(document: dict[str, Any], path: tuple[str | int, ...], value: object) -> dict[str, Any]:
    """A copy of the document with ``value`` at ``path``."""
    result = copy.deepcopy(document)
    holder: Any = result
    for step in path[:-1]:
        holder = holder[step]
    if value is Gone:
        del holder[path[-1]]
    else:
        holder[path[-1]] = copy.deepcopy(value)
    return result
