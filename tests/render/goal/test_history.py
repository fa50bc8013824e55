"""``flow goal history`` as people see it: a line for each turn and each act."""

from __future__ import annotations

import time
from typing import Any

import pytest

from flow.app.evaluation import recording
from flow.core import instant
from flow.core.stop.pause import ARRIVED, WAITS, Pause
from flow.errors import MANY_ROWS
from flow.render.goal import history
from flow.render.goal.history import history_lines
from flow.render.screen import Screen, measure

NOW = instant.seconds("2026-11-20T14:20:00Z")
DAY = "2026-11-20T"
HOSTILE = "a\x1b[31mred\x07\u202eb\nsecond\tline\x9b2J"


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


def event(kind: str, clock: str = "09:06:00", **more: object) -> dict[str, Any]:
    return {"type": kind, "at": f"{DAY}{clock}Z", "goal_id": "g", **more}


def edge(left: str, right: str) -> str:
    return left + right.rjust(79 - measure(left))


def turn(number: int, verdict: str, reason: str, clock: str = "09:08:00") -> dict[str, Any]:
    return event("evaluated", clock, turn=number, verdict=verdict, reason=reason)


def shown(*events: dict[str, Any], columns: int | None = 80, **more: object) -> list[str]:
    document = {"goal_id": "strict-dates", "events": list(events), "approvals": [], **more}
    return history_lines(document, Screen(columns, now=NOW))


COUNTED = "required criteria passed by their commands"
WHOLE = [
    event(
        "created", to="active", said_from="terminal", by="repo owner",
        base_commit="4b7e09d2c1a8" * 2,
    ),
    event("evidence", proves=["AC1"]),
    turn(1, "not_achieved", "failed: AC1 (exit 1)"),
    turn(2, "blocked", "path_boundary_violation: a.py outside the goal's paths; x", "10:29:00"),
    event("stop", "10:29:01", turn=2, answer="continue", verdict="blocked"),
    event("transition", "10:30:00", to="active", reason=history.RESUMED, **{"from": "blocked"}),
    turn(3, "needs_human_review", "inconclusive: AC2 (masked)", "10:41:00"),
    event("stop", "10:41:01", turn=3, answer="let_go"),
    event("evidence-discounted", evidence_id="e"),
    event(
        "contract-amended", "10:58:00", by="repo owner", said_from="terminal",
        changes=[
            "weakening: constraints.allowed_paths: docs/a.md added",
            "strengthening: objective.acceptance_criteria[AC3]: added: it is read",
        ],
        reason="mypy could not fail.", **{"class": "weakening"},
    ),
    event(
        "transition", "12:31:00", to="waiting_for_user", by="root", said_from="agent",
        agent="Codex", reason="The fix belongs into that test, and that is protected. So I stop.",
    ),
    event(
        "transition", "13:02:00", to="active", by="repo owner", said_from="pipe",
        reason="Freeze the clock.", **{"from": "waiting_for_user"},
    ),
    event("approved", "13:56:00", criterion_id="AC3", by="colleague", evidence_id="e1"),
    event("protected-approved", "13:57:00", by="colleague", evidence_id="e2", note="Read."),
    {**turn(4, "achieved", f"1 of 1 {COUNTED}"), "proposal_id": "p"},
    event("confirmed", "14:16:00", to="achieved", by="repo owner", note="Well done."),
]  # fmt: skip


def test_a_line_for_each_turn_and_each_act_with_peoples_words() -> None:
    notes = [{"evidence_id": "e1", "note": "I read it."}]
    assert shown(*WHOLE, approvals=notes) == [
        "strict-dates  4 turns",
        "",
        edge("09:06  ±  repo owner created it; base 4b7e09d2c1a8", "terminal"),
        "09:08  ✗  turn 1   failed: AC1 (exit 1)",
        edge("10:29  ⊘  turn 2   outside its paths: a.py; x", "the agent goes on"),
        edge("10:41  ◐  turn 3   inconclusive: AC2 (masked)", "the agent may stop"),
        "10:58  ±  repo owner amended, asks for less: paths docs/a.md added;…   terminal",
        "           “mypy could not fail.”",
        edge("12:31     the agent paused it", "Codex's shell"),
        "           “The fix belongs into that test, and that is protected. So I stop.”",
        edge("13:02     repo owner resumed it", "pipe"),
        "           “Freeze the clock.”",
        "13:56  ✓  colleague approved AC3",
        "           “I read it.”",
        "13:57  ✓  colleague approved the protected files",
        "           “Read.”",
        "09:08  ✓  turn 4   proved; a person confirms",
        "14:16  ✓  repo owner confirmed: achieved",
        "           “Well done.”",
        "",
        "more   flow goal history strict-dates --details",
    ]


@pytest.mark.parametrize(
    "act",
    [
        {"to": "failed", "by": "the Stop hook", "how": "Stop hook, evaluator-loop"},
        {"to": "waiting_for_user", "proposal_id": "p", "reason": "r"},
        {"to": "waiting_for_user", "how": "Stop hook, evaluator-loop", "reason": "r"},
    ],
)
def test_a_turn_comes_before_what_its_limit_did(act: dict[str, str]) -> None:
    """The stop is recorded last; what was done before the turn began stays before it."""
    stops = [event("stop", turn=n, verdict="incomplete", answer="let_go") for n in (1, 2)]
    resumed = event("transition", to="active", by="sam", **{"from": "blocked"})
    lines = shown(stops[0], resumed, event("transition", **act), stops[1])[2:]
    assert ["turn" in line for line in lines[:4]] == [True, False, True, False]
    assert "sam resumed it" in lines[1]


@pytest.mark.parametrize(
    ("told", "line"),
    [
        (event("created", to="draft"), "±  created as a draft"),
        (event("transition", to="active", by="sam", **{"from": "draft"}), "   sam activated it"),
        (event("transition", to="cancelled", by="sam"), "○  sam cancelled it"),
        (event("transition", to="failed", by="sam"), "✗  sam closed it as failed"),
        (
            event("transition", to="waiting_for_user", proposal_id="p", reason="r"),
            "   failed is proposed: r",
        ),
        (event("transition", to="active", proposal_id="p", reason="r"), "   failed is proposed: r"),
        (event("transition", to="blocked", how="a.sh"), "⊘  a.sh moved it to blocked"),
        (event("confirmed", to="failed", by="sam"), "✗  sam confirmed: failed"),
        (event("guards-approved", by="sam"), "✓  sam approved the changed git settings"),
        (event("rebased", by="sam"), "±  sam moved the base"),
        (event("claimed", session="s1"), "   session s1 works on it"),
        (event("forgotten"), "   forgotten by the Stop hook"),
        (event("claimed"), "   the session that stops next works on it"),
        (event("baseline", ran=["AC1"]), "   its commands ran on the base commit"),
        (event("new-kind", reason="why"), "   new-kind: why"),
        (event("stop", turn=5, verdict="blocked", answer="continue"), "⊘  turn 5   blocked"),
        (turn(1, "achieved", ""), "✓  turn 1   proved"),
        (turn(1, "achieved", "left behind: a"), "✓  turn 1   proved; left behind: a"),
    ],
)
def test_each_kind_in_words(told: dict[str, Any], line: str) -> None:
    assert shown(told)[2].removeprefix("09:06  ").removeprefix("09:08  ").startswith(line)


def test_an_activation_is_one_line_without_words_that_nobody_said() -> None:
    started = event("baseline", baseline_sha256="a" * 64)
    moved = event("transition", to="active", by="sam", reason="activated", **{"from": "draft"})
    lines = shown(started, moved)
    assert [line for line in lines if "base commit" in line or "“" in line] == []
    assert len([line for line in lines if "sam activated it" in line]) == 1


def test_several_days_have_heads_and_off_a_terminal_times_are_whole() -> None:
    events = [turn(1, "blocked", "r"), {**turn(2, "blocked", "r"), "at": "2026-11-21T08:00:00Z"}]
    lines = shown(*events)
    assert lines[2].startswith("── 20 Nov 2026 ─")
    assert lines[4].startswith("── 21 Nov 2026 ─")
    away = shown(*events, columns=None)
    assert away[3].startswith("2026-11-21 08:00:00 UTC  ⊘  turn 2   r")
    assert not [line for line in away if line.startswith("──")]


@pytest.mark.parametrize("columns", [60, 80, 100, 160])
def test_no_line_is_wider_than_the_terminal(columns: int) -> None:
    long = [turn(1, "blocked", "word " * 100), event("approved", by="b", note="word " * 100)]
    assert max(map(measure, shown(*WHOLE, *long, columns=columns))) < columns


def test_the_newest_are_shown_and_the_rest_counted() -> None:
    lines = shown(*(turn(number, "blocked", "r") for number in range(1, 100)))
    assert lines[0] == "strict-dates  99 turns"
    assert any("turn 99 " in line for line in lines)
    assert not any("turn 1 " in line for line in lines)
    assert f"and {99 - MANY_ROWS} more: flow goal history strict-dates --json" in lines
    assert shown() == ["goal strict-dates has no events yet"]


def test_no_foreign_text_moves_the_terminal() -> None:
    more = {"by": HOSTILE, "note": HOSTILE, "said_from": HOSTILE, "to": HOSTILE, "how": HOSTILE}
    kinds = [*history._ENTRIES, HOSTILE, "evaluated", "stop"]
    events = [
        {**event(kind), **more, "at": at, "reason": HOSTILE, "changes": [HOSTILE],
         "criterion_id": HOSTILE, "session": HOSTILE, "verdict": HOSTILE, "turn": place}
        for place, kind in enumerate(kinds, 1)
        for at in (HOSTILE, f"{DAY}09:06:00Z")
    ]  # fmt: skip
    for columns in (None, 80):
        for line in shown(*events, columns=columns):
            assert not [mark for mark in "\x1b\x07\u202e\n\t\x9b" if mark in line], line


@pytest.mark.parametrize(
    ("moved", "lines"),
    [
        ({"to": "active", "reason": "resumed: AC2 was approved"}, []),
        ({"to": "active", "reason": "resumed to be paused: hard"}, []),
        ({"to": "active", "reason": "resumed by a person"}, ["   sam resumed it"]),
        (
            {"to": "active", "reason": "resumed, as said"},
            ["   sam resumed it", "“resumed, as said”"],
        ),
        ({"to": "cancelled", "reason": "cleared by a person"}, ["○  sam cancelled it"]),
        (
            {"to": "waiting_for_user", "reason": "paused by a person, who gave no reason"},
            ["   sam paused it"],
        ),
        (
            {"to": "waiting_for_ci", "reason": f"{WAITS}make ci"},
            ["   it waits until this exits 0: make ci"],
        ),
        (
            {"to": "active", "reason": f"{ARRIVED}make ci"},
            ["   what it waited for is there: make ci"],
        ),
    ],
)
def test_what_flow_wrote_is_not_quoted_as_a_persons_words(
    moved: dict[str, Any], lines: list[str]
) -> None:
    told = event("transition", by="sam", **{"from": "waiting_for_user"}, **moved)
    begun = event("created", to="draft")
    rows = [line.removeprefix("09:06  ").strip() for line in shown(begun, told)[3:-2]]
    assert rows == [line.strip() for line in lines]


def test_a_pause_without_a_reason_quotes_nobody() -> None:
    for by in ("a person", "the agent"):
        pause = Pause(f"paused by {by}, who gave no reason", "sam", None, DAY)
        assert (pause.words, pause.sentence()) == ("", "paused by sam, who gave no reason")
    assert Pause("hard", "sam", "agent", DAY).sentence() == 'paused by the agent: "hard"'


def test_what_it_leaves_out_is_what_an_evaluation_writes() -> None:
    with open(recording.__file__, encoding="utf-8") as file:
        assert f'"{history.RESUMED}"' in file.read()
