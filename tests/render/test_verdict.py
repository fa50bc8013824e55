"""A verdict's table and the lines below it."""

from __future__ import annotations

from typing import Any

from flow.render.verdict import verdict

HOSTILE = "a\x1b[31mred\u202e\nb"


def plain(style: str, word: str) -> str:
    return word


def document(**more: Any) -> dict[str, Any]:
    return {
        "goal_id": "g",
        "run_id": "r1",
        "verdict": "not_achieved",
        "confidence": 1.0,
        "delta": "made_progress",
        "reason": "failed: AC2",
        "next_step_hint": "work on AC2",
        "blocker_type": "none",
        "criterion_results": [
            {
                "criterion_id": "AC1",
                "status": "pass",
                "outcome": "passed",
                "exit_code": 0,
                "evidence_ref": ".flow/runs/r1/evidence/evidence-ac1-eval-1.evidence.yaml",
                "limitations": [],
                "reason": "",
            },
            {
                "criterion_id": "AC2",
                "status": "fail",
                "outcome": "failed",
                "exit_code": 3,
                "evidence_ref": None,
                "limitations": [],
                "reason": "it was ended by SEGV",
            },
        ],
        "path_violations": [],
        "warnings": [],
        "proposed_transition": None,
        "lifecycle": {"from": "active", "to": "active", "turns_evaluated": 1},
        "ledger_head": None,
        "source": None,
        "recorded_at": None,
        **more,
    }


def test_the_table_and_what_it_means() -> None:
    assert verdict(document(), plain) == [
        "goal g, turn 1",
        "",
        "  id   status  outcome  result  evidence",
        "  AC1  pass    passed   exit 0  evidence-ac1-eval-1",
        "  AC2  fail    failed   exit 3  -",
        "  AC2: it was ended by SEGV",
        "",
        "verdict     not_achieved (made_progress)",
        "because     failed: AC2",
        "evidence    .flow/runs/r1/evidence/",
        "next        work on AC2",
    ]


def test_the_next_act_stands_below_why() -> None:
    lines = verdict(document(do="work_on"), plain)
    assert lines[lines.index("because     failed: AC2") + 1] == "do          work_on"
    assert "do          work_on" not in verdict(document(do="work_on"), plain, closed="achieved")


def test_each_reason_stands_there_once() -> None:
    rows = [
        {"criterion_id": f"AC{n}", "status": "fail", "outcome": "failed", "reason": reason}
        for n, reason in enumerate(["no such file", "no such file", "it was ended by SEGV"], 1)
    ]
    because = "failed: AC3 (it was ended by SEGV)"
    lines = verdict(document(criterion_results=rows, reason=because), plain)
    assert "  AC1, AC2: no such file" in lines
    assert sum("SEGV" in line for line in lines) == 1
    assert sum("no such file" in line for line in lines) == 1


def test_violations_warnings_status_and_confidence() -> None:
    lines = verdict(
        document(
            verdict="blocked",
            confidence=0.5,
            path_violations=["evil.txt", "other.txt"],
            warnings=["by-product: x"],
            lifecycle={"from": "active", "to": "blocked", "turns_evaluated": 1},
        ),
        plain,
    )
    assert "verdict     blocked (made_progress, confidence 0.5)" in lines
    assert "status      active -> blocked" in lines
    at = lines.index("outside     evil.txt")
    assert lines[at + 1 : at + 3] == ["            other.txt", "warning     by-product: x"]


def test_a_proposal_comes_with_the_exact_command() -> None:
    proposed = {"to": "achieved", "reason": "r", "turns_evaluated": 1, "proposal_id": "f" * 64}
    lines = verdict(document(verdict="achieved", proposed_transition=proposed), plain)
    assert lines[-2:] == [
        "proposed    achieved",
        f"to confirm  flow goal confirm g --proposal {'f' * 64}",
    ]


def test_where_the_goal_is_closed_there_is_nothing_to_confirm() -> None:
    proposed = {"to": "achieved", "reason": "r", "turns_evaluated": 1, "proposal_id": "f" * 64}
    shown = document(verdict="achieved", proposed_transition=proposed)
    assert verdict(shown, plain, closed="cancelled")[-2:] == [
        "proposed    achieved",
        "since       the goal is cancelled",
    ]


def test_a_part_of_a_verdict_that_others_recorded_is_shown_too() -> None:
    part = {"verdict": "achieved", "confidence": 1, "delta": "unchanged", "reason": "by hand"}
    assert verdict(part, plain) == [
        "verdict     achieved (unchanged)",
        "because     by hand",
    ]
    assert "evidence" not in "".join(verdict({**part, "run_id": "r1"}, plain))
    odd = verdict({**part, "criterion_results": ["x"], "path_violations": [{"a": 1}]}, plain)
    assert 'outside     {"a": 1}' in odd


def test_no_foreign_text_moves_the_terminal() -> None:
    row = dict.fromkeys(("criterion_id", "status", "outcome", "evidence_ref", "reason"), HOSTILE)
    lines = verdict(
        document(
            goal_id=HOSTILE,
            run_id=HOSTILE,
            reason=HOSTILE,
            next_step_hint=HOSTILE,
            path_violations=[HOSTILE],
            warnings=[HOSTILE],
            criterion_results=[{**row, "exit_code": 0}],
        ),
        plain,
    )
    for line in lines:
        assert not {"\x1b", "\n", "\u202e"} & set(line), line
