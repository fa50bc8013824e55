"""Reports of goals as values, of any size, for the tests of the page."""

from __future__ import annotations

from typing import Any

from flow.core.decision.details import OutputTail, RowDetails
from flow.core.report import (
    DebateVoice,
    GoalReport,
    OpinionDimension,
    OpinionVoice,
    RecordChain,
    ReportedCard,
    ReportedCriterion,
    ReportedDebate,
    ReportedOpinion,
    ReportedResult,
    ReportedRevision,
    ReportedScores,
    ReportedTurn,
)

WAYS = ("ballots", "rubric", "scorecard", "debate")
LINES = tuple(f"tests/test_dates.py:{n}: AssertionError: {n} is no date" for n in range(20, 35))


def stamp(turn: int, second: int = 0) -> str:
    """The moment of a turn: one an hour from the first of March on."""
    return f"2026-03-{1 + turn // 24:02d}T{turn % 24:02d}:{second // 60:02d}:{second % 60:02d}Z"


def criterion(number: int, turns: int, text: str = "Dates are read strictly") -> ReportedCriterion:
    """A criterion; every third fails at its newest turn, every fifth is for a judge."""
    name = f"AC{number}"
    fails, fuzzy = number % 3 == 0, number % 5 == 0
    results = [_result(name, turn, turns, text, fails, fuzzy) for turn in range(1, turns + 1)]
    now = {
        "id": name,
        "text": text,
        "status": "fail" if fails and turns else "pass" if turns else "pending",
        "must_pass": number % 4 != 0,
        "fuzzy": fuzzy,
        "last_result": ("exit 1" if fails else "exit 0") if turns else None,
        "last_evaluated_at": stamp(turns) if turns else None,
        "fresh": True if turns else None,
        "why_stale": [],
    }
    command = "" if fuzzy else f"pytest -q tests/test_{name.lower()}.py"
    way = "rubric documentation" if fuzzy else ""
    return ReportedCriterion(name, text, number % 4 != 0, command, way, now, tuple(results))


def _result(
    name: str, turn: int, turns: int, text: str, fails: bool, fuzzy: bool
) -> ReportedResult:
    failed = (fails and turn > turns // 3) or (turn + len(name)) % 7 == 0
    row: dict[str, Any] = {
        "criterion_id": name,
        "text": text,
        "command": None if fuzzy else f"pytest -q tests/test_{name.lower()}.py",
        "status": "fail" if failed else "pass",
        "outcome": "not_run" if fuzzy else "failed" if failed else "passed",
        "exit_code": None if fuzzy else int(failed),
        "reason": "judge: it reads well" if fuzzy else "",
    }
    details = RowDetails(
        seconds=0.4 + turn % 5,
        judged="0.62, needs 0.75" if fuzzy else "",
        failure="4 of 14 failed" if failed and not fuzzy else "",
        output=OutputTail(LINES, 63) if failed and not fuzzy else None,
    )
    return ReportedResult(turn, row, details, f"evidence-{name.lower()}-eval-{turn}", stamp(turn))


def events(turns: int, text: str) -> list[dict[str, Any]]:
    """What happened: turns, an amendment, an approval, a pause."""
    told: list[dict[str, Any]] = [
        {"at": stamp(0), "seq": 1, "type": "created", "to": "active", "said_from": "terminal"}
    ]
    for turn in range(1, turns + 1):
        verdict = "blocked" if turn == 5 else "achieved" if turn == turns else "not_achieved"
        told.append(
            {
                "at": stamp(turn),
                "type": "evaluated",
                "turn": turn,
                "verdict": verdict,
                "reason": f"failed: AC3 ({text})",
                "subject": {"tree": "b81d66f02c3e" * 5, "head": "a94f0c7715be" * 3},
            }
        )
        if turn % 2:
            told.append({"at": stamp(turn, 9), "type": "stop", "turn": turn, "answer": "continue"})
        if turn == 3:
            told.append(
                {
                    "at": stamp(turn, 30),
                    "type": "contract-amended",
                    "turn": turn,
                    "by": text,
                    "said_from": "terminal",
                    "reason": f"mypy could not fail: {text}",
                    "changes": [f"weakening: constraints.allowed_paths: {text} added"],
                    "difference": ["AC2.verification_command", "  - mypy || true", "  + mypy"],
                }
            )
    return told


def report(
    criteria: int = 5, turns: int = 12, text: str = "Dates are read strictly", **more: Any
) -> GoalReport:
    """A report of this many criteria and turns; ``text`` stands wherever somebody's text does."""
    rows = tuple(criterion(number, turns, text) for number in range(1, criteria + 1))
    status: dict[str, Any] = {
        "goal_id": "strict-dates",
        "status": "active",
        "outcome": text,
        "branch": text,
        "issue": 118,
        "run_id": "2026-03-01T000000Z-strict-dates",
        "base_commit": "4b7e09d2c1a8" * 3,
        "turns_evaluated": turns,
        "last_evaluation": {"result": "fail", "at": stamp(turns)} if turns else None,
        "criteria": [row.now for row in rows],
        "files": {"changed": ["src/a.py"], "outside": [], "moved": False, "problems": []},
        "trusted": True,
        "trust": text,
        "contract": "e07b52cd91f4" * 5,
        "proposal": None,
        "protected_changes": None,
        "next": "flow goal evaluate strict-dates",
        "paused": None,
        "approvals": [_approval(text)],
        "closed": None,
        "closed_by_hand": False,
        "red_first": [text],
        **more.pop("status", {}),
    }
    number = range(1, turns + 1)
    told = [
        ReportedTurn(n, stamp(n), "not_achieved", outside=(text,) * (n == 5), seconds=30.0 + n % 4,
                     amended=n == 4)
        for n in number
    ]  # fmt: skip
    values: dict[str, Any] = {
        "status": status,
        "contract": {"constraints": {"allowed_paths": ["src/**", text], "denied_paths": ["*.key"]}},
        "verdict": None,
        "criteria": rows,
        "turns": tuple(told),
        "events": tuple(events(turns, text)),
        "evidence": ({"limitations": [text], "proves": ["AC1"]},),
        "chain": RecordChain("54:7c1fa90b34d2aa", 54),
        "warnings": (text,),
        "opinions": tuple(opinion(way, text, turns) for way in WAYS) if turns else (),
        "version": "0.1.0",
    }
    return GoalReport(**{**values, **more})


def opinion(way: str, text: str, turn: int) -> ReportedOpinion:
    """What judges said in one of the ways, with dimensions, voices and a past."""
    number = WAYS.index(way) + 1
    highest = {"scorecard": 10.0, "debate": 5.0}.get(way, 1.0)
    return ReportedOpinion(
        f"AC{number}",
        turn,
        way,
        text,
        f"0.62, needs 0.75 {text}",
        highest,
        0.75 * highest,
        text,
        f"evidence-judge-eval-{number}",
        (
            OpinionDimension("clear", 0.4 * highest, 0.6, False, 0.25, None, text, (text,)),
            OpinionDimension(text, 0.9 * highest, None, True, None, None, text, ()),
        ),
        (
            OpinionVoice(f"model a {text}", "achieved", "0.9", text, {"clear": 0.5}),
            OpinionVoice("model b", "not_achieved", "0.7", text),
        ),
        (("turn 1", 0.3 * highest), ("turn 2", 0.5 * highest), ("turn 3", 0.62 * highest)),
        (text,),
    )


def scores(text: str = "Dates are read strictly", cards: int = 12) -> ReportedScores:
    """A skill's scorecards; ``text`` stands wherever somebody's text does."""
    given = opinion("scorecard", text, 1)
    rows = tuple(row._replace(mean=7.5, needed=None) for row in given.dimensions)
    past = tuple((stamp(n)[:10], 5 + n % 5) for n in range(1, cards + 1))
    return ReportedScores(
        text,
        text,
        text,
        given._replace(figure="7.73", dimensions=rows, past=past),
        tuple(ReportedCard(text, stamp(n), 5 + n % 5, "B") for n in range(cards, 0, -1)),
        "B",
        "Above Average",
        (5, 7.72) if cards > 1 else None,
        (text,),
        (text, text),
        (("Judge", text), ("Transcript", text)),
        (text,),
        3,
    )


def debate(text: str = "Short and easy", judges: int = 3, agree: bool = True) -> ReportedDebate:
    """A debate of this many judges; ``text`` stands wherever somebody's text does."""
    changed = (
        ReportedRevision(text, 4.5, 4, text, (text,)),
        ReportedRevision(text, 3, 4, text, ()),
    )
    voices = tuple(
        DebateVoice(n, text, {text: 3 + n % 2, "docs": 4}, {text: 4, "docs": 4}, 3.5, 4.0,
                    "pass", "needs_revision", changed)
        for n in range(1, judges + 1)
    )  # fmt: skip
    return ReportedDebate(
        text, "2026-03-01", text, (text,), ((text, "60", 4.0), ("docs", "40", 4.0)), 4.0, agree,
        "needs_revision", 1, 0.8, 0.0, () if agree else (text,), voices,
        ((text, tuple(range(1, judges + 1))),), ((text, (1,)),), (text,),
    )  # fmt: skip


def _approval(text: str) -> dict[str, Any]:
    return {
        "about": "protected",
        "at": stamp(2),
        "by": text,
        "by_from": None,
        "said_from": "agent",
        "agent": text,
        "note": text,
        "evidence_id": "evidence-protected-approval-2",
        "paths": [text],
        "vouched": False,
    }
