"""The conversation that drafts a goal, as it is drawn."""

from __future__ import annotations

from typing import Any

import pytest

from flow.core.drafting import questions
from flow.core.drafting.offers import Offer
from flow.render.creating import created, notice_lines, question_lines, running_line
from flow.render.screen import Screen

SCREEN = Screen(columns=80)
PASSED = questions.Trial("passed", "exit 0", 201.0)
DOCUMENT: dict[str, Any] = {
    "goal_id": "strict-dates",
    "status": "active",
    "branch": "strict-dates",
    "base": "main",
    "base_commit": "4b7e09d2c1a8" + "0" * 28,
    "next": "do the work, then: flow goal evaluate",
}


def test_the_answer_is_two_lines() -> None:
    assert created(DOCUMENT, SCREEN) == [
        "✓ strict-dates is active on branch strict-dates, base main 4b7e09d2c1a8.",
        "next   do the work, then: flow goal evaluate",
    ]


ON = "✓ strict-dates is active"


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ({"status": "draft"}, "○ strict-dates is a draft on branch strict-dates."),
        ({"branch": None}, f"{ON}, base main 4b7e09d2c1a8."),
        ({"branch": "a\x1b", "base_commit": None, "base": ""}, f"{ON} on branch a\\x1b."),
    ],
)
def test_what_is_not_known_is_left_out(more: dict[str, Any], line: str) -> None:
    assert created({**DOCUMENT, **more}, SCREEN)[0] == line


TRIALS = [
    (PASSED, "  ✓ AC3  exit 0, is green already: it shows that nothing breaks      3 min 21 s"),
    (
        questions.Trial("failed", "exit 4", 0.9, missing="tests/test_strict.py"),
        "  ○ AC3  nothing to run yet: tests/test_strict.py is not there            0.9 s",
    ),
    (
        questions.Trial("failed", "exit 1", 1.0),
        "  ✗ AC3  exit 1, is red: the work can turn it green                       1.0 s",
    ),
    (
        questions.Trial("inconclusive", "timeout", 600, "took longer than 600 s, its time limit"),
        "  ◐ AC3  timeout: took longer than 600 s, its time limit             10 min 0 s",
    ),
]


@pytest.mark.parametrize(("trial", "line"), TRIALS)
def test_how_a_command_ended(trial: questions.Trial, line: str) -> None:
    assert notice_lines(questions.Tried("AC3", trial), SCREEN) == [line]
    assert len(line) == 79


def test_the_questions() -> None:
    offers = (Offer("t", "pytest -q", "pyproject.toml"), Offer("m", "make\x1b", "Makefile"))
    lines, prompt = question_lines(questions.AskCriterion(True, offers), SCREEN)
    assert prompt == "> "
    assert lines[-1] == "Found here:  a  pytest -q    b  make\\x1b    (pyproject.toml, Makefile)"
    many = [Offer("t", f"npm run check-{n}", "package.json") for n in range(9)]
    lines, _ = question_lines(questions.AskCriterion(True, many), SCREEN)
    assert lines[2].startswith("Found here:  a  npm run check-0    b  ")
    assert lines[3].startswith(" " * 13 + "d  npm run check-3    e  ")
    assert lines[-1] == " " * 13 + "(package.json)"
    assert all(len(line) < 80 for line in lines)
    assert question_lines(questions.AskCriterion(True, ()), SCREEN)[0][-1].endswith("Enter ends.")
    assert question_lines(questions.AskCriterion(False, offers), SCREEN) == ([], "> ")
    assert question_lines(questions.AskName("a-b"), SCREEN) == (["Name [a-b]"], "> ")
    assert question_lines(questions.AskPaths(()), SCREEN)[0][-1].endswith("[everywhere]")
    assert question_lines(questions.AskRubric("AC4", "x"), SCREEN) == (
        ["  ○ AC4  no command. c it is one, r rubric, Enter: a person or a judge says so"],
        "  > ",
    )


def test_the_file_before_it_is_written() -> None:
    text = "# one\na: \x1b[31m\n" + "b: 1\n" * 32
    lines, _ = question_lines(questions.AskWrite(".flow/goals/x.goal.yaml", text), SCREEN)
    assert lines == [
        "",
        "─" * 50 + " .flow/goals/x.goal.yaml, new",
        "# one",
        "a: \\x1b[31m",
        "..." + " " * 53 + "(34 lines, v views all)",
        "",
        "Write it and start?  y yes   e edit first   d as a draft   Enter no",
    ]
    assert notice_lines(questions.WholeFile("a\x1b\nb\n"), SCREEN) == ["a\\x1b", "b"]


def test_what_is_told_between() -> None:
    assert notice_lines(questions.Refused("no\x1b", ""), SCREEN) == ["  no\\x1b"]
    assert notice_lines(questions.Refused("no", "so"), SCREEN) == ["  no", "  so"]
    assert notice_lines(questions.Noted("masked"), SCREEN) == ["  masked"]
    long = questions.Noted("word " * 30), questions.Refused("word " * 30, "word " * 30)
    lines = [line for one in long for line in notice_lines(one, SCREEN)]
    assert all(line.startswith("  word") and len(line) < 80 for line in lines)
    assert notice_lines(questions.ChangedAlready((), ()), SCREEN) == [
        "Changed there already: nothing."
    ]
    assert notice_lines(questions.ChangedAlready(("a\x1b", "b"), ("*.key", ".env*")), SCREEN) == [
        "Changed there already: a\\x1b, b.   Denied by your settings: *.key, .env*"
    ]
    assert notice_lines(questions.TrialBegan("AC1"), SCREEN) == []


def test_without_marks() -> None:
    plain = Screen(columns=80, unicode=False)
    assert running_line("AC1", plain) == "  > AC1  runs, Ctrl-C leaves"
    assert notice_lines(questions.Tried("AC3", PASSED), plain)[0].startswith("  + AC3  exit 0")
    lines, _ = question_lines(questions.AskWrite("f", "x\n"), plain)
    assert all(line.isascii() for line in lines)
