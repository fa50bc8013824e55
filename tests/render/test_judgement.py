"""Baseline, judgement, rubrics, calibration and their histories at a terminal and in a pipe."""

from __future__ import annotations

from typing import Any

import pytest

from flow.core.judging.scorecard.model import NAMES
from flow.render import baseline, judgement, scorecard
from flow.render.screen import Screen, measure

HOSTILE = "a\x1b[31mred\x07\u202eb\nsecond\tline\x9b2J"
MARKS = ("\x1b", "\x07", "\u202e", "\n", "\t", "\x9b")
WORDS = "Both lines say what changes, and one of them names a customer. " * 4
NOW = 1_795_435_200.0
"""2026-11-23, 12:00 UTC."""
AT = "2026-11-20T14:16:31Z"


def rubric(name: str = "house", **more: Any) -> dict[str, Any]:
    criteria = [
        {"name": HOSTILE, "weight": 3, "threshold": 0.5, "description": WORDS},
        *({"name": f"criterion-{n}", "weight": 1, "description": HOSTILE} for n in range(9)),
    ]
    content = {"name": HOSTILE, "passing_threshold": 0.7, "criteria": criteria}
    return {"name": name, "origin": "project", "file": HOSTILE, "rubric": content, **more}


JUDGEMENT = {
    "rubric": HOSTILE,
    "passed": False,
    "score": 0.9,
    "passing_threshold": 0.7,
    "judge": HOSTILE,
    "method": "median of 3 answers",
    "samples": 3,
    "spread": 0.3,
    "cost_usd": 0.0123,
    "criteria": [
        {
            "name": f"criterion-{n}",
            "score": 0.25,
            "scores": [0.25] * 3,
            "spread": 0.0,
            "passed": bool(n),
            "threshold": 0.5 if not n else None,
            "reasoning": WORDS,
        }
        for n in range(3)
    ],
    "reasoning": HOSTILE,
    "suggestions": [WORDS],
    "remarks": [HOSTILE],
}
OPINION = {
    "goal_id": "greet",
    "answered": True,
    "verdict": "not_achieved",
    "confidence": 0.9,
    "reason": HOSTILE,
    "next_step_hint": WORDS,
    "criterion_results": [{"criterion_id": "AC2", "status": "fail", "reason": WORDS}],
    "unproved_by_commands": ["AC1"],
}
SHARE = {"value": 0.67, "low": 0.3, "high": 0.9, "hits": 4, "of": 6}
CALIBRATION = {
    "judge": HOSTILE,
    "labels": 6,
    "cases": 7,
    "no_answer": ["c"],
    "recorded": False,
    "sources": {"calibrate": 6},
    "confusion": {"both_pass": 1204, "only_person": 1, "only_judge": 1, "both_fail": 2},
    "kappa": {"value": 0.33, "low": -0.42, "high": 1.0},
    "agreement": SHARE,
    "sensitivity": SHARE,
    "specificity": {"value": None},
    "believed": {"ok": True, "reason": "no agreement with people is asked for"},
}
LABEL = {
    "at": AT,
    "judge": "command",
    "about": HOSTILE * 4,
    "person": True,
    "judged": False,
    "source": "calibrate",
}
BASELINE: dict[str, Any] = {
    "goal_id": "greet",
    "base_commit": "4b7e09d2c1a8" + "0" * 28,
    "run_id": "r-1",
    "next": "flow goal evaluate greet",
    "criteria": [
        {"criterion_id": f"AC{n}", "result": HOSTILE, "cached": bool(n), "at": AT, **says}
        for n, says in enumerate(
            ({"non_discriminating": True}, {"non_discriminating": False}, {}), 1
        )
    ],
}
CHANGE = {"since_first": None, "since_previous": 0.5}
CARDS = {
    "skill": "commit",
    "folder": ".flow/scores",
    "cards": [
        {
            "file": f"x-{n}.json",
            "timestamp": AT,
            "composite": 7.4,
            "grade": "B-",
            "scores": dict.fromkeys(NAMES, 7.5),
        }
        for n in range(2)
    ],
    "change": {"composite": CHANGE, "dimensions": dict.fromkeys(NAMES, CHANGE)},
}


def drawn(screen: Screen) -> list[list[str]]:
    return [
        judgement.judgement(JUDGEMENT, screen),
        judgement.opinion(OPINION, screen),
        judgement.rubric(rubric(), screen),
        judgement.rubrics([rubric(), {"name": "broken", "error": {}}], screen),
        judgement.calibrated(CALIBRATION, screen),
        judgement.history({"judges": [CALIBRATION], "labels": [LABEL]}, screen),
        baseline.baseline(BASELINE, screen),
        scorecard.history(CARDS, screen),
    ]


@pytest.mark.parametrize("columns", [80, 160])
@pytest.mark.parametrize("unicode", [True, False])
def test_at_a_terminal_no_line_wraps_and_none_moves_it(columns: int, unicode: bool) -> None:
    for lines in drawn(Screen(columns, unicode=unicode, now=NOW)):
        for line in lines:
            assert measure(line) < columns, line
            assert not [mark for mark in MARKS if mark in line], line
            assert unicode or line.isascii(), line


def test_colours_repeat_what_the_text_says() -> None:
    plain, coloured = drawn(Screen(80, now=NOW)), drawn(Screen(80, colour=True, now=NOW))
    codes = [f"\x1b[{number}m" for number in (0, 1, 2, 31, 32, 33, 35, 36)]

    def bare(line: str) -> str:
        for code in codes:
            line = line.replace(code, "")
        return line

    assert [[bare(line) for line in lines] for lines in coloured] == plain
    assert any("\x1b[31m✗" in line for line in coloured[0])
    assert coloured[1][-1].endswith("\x1b[36mflow goal evaluate greet\x1b[0m")


def test_in_a_pipe_nothing_is_cut_and_times_are_whole() -> None:
    every = drawn(Screen())
    assert all("…" not in line for lines in every for line in lines)
    text = "\n".join(line for lines in every for line in lines)
    assert text.count("2026-11-20 14:16:31 UTC") == 1 + 3 + 2
    assert "criterion-8" in "\n".join(every[3])
    assert not [mark for mark in MARKS if mark != "\n" and mark in text]


def test_a_baseline_says_what_each_result_shows() -> None:
    lines = baseline.baseline(BASELINE, Screen(80, now=NOW))
    assert lines[0].startswith("◐ greet  1 of 3 can tell the change")
    assert lines[0].endswith("base 4b7e09d2c1a8")
    assert [line[:6] for line in lines[2:5]] == ["◐ AC1 ", "✓ AC2 ", "○ AC3 "]
    assert lines[-1] == "next       flow goal evaluate greet"
    none = baseline.baseline({**BASELINE, "criteria": []}, Screen())
    assert none[0].startswith("○ greet  no criterion has a command")
    told = [{**BASELINE["criteria"][1], "result": "exit 1"}]  # type: ignore[index]
    assert baseline.baseline({**BASELINE, "criteria": told}, Screen())[0].startswith(
        "✓ greet  1 of"
    )


def test_an_opinion_without_an_answer_is_undecided() -> None:
    empty = {**OPINION, "answered": False, "verdict": "needs_human_review", "confidence": 0.0}
    empty |= {"criterion_results": [], "unproved_by_commands": [], "next_step_hint": ""}
    lines = judgement.opinion(empty, Screen())
    assert lines[0] == "◐ greet  no opinion"
    assert lines[-2:] == [
        "record     none: this is an opinion, nothing is recorded",
        "next       flow goal evaluate greet",
    ]
