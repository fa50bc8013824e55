"""Where a goal stands: each row of the table, and which of several applies."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flow.core.goal.lifecycle import STATUSES, TERMINAL, UNDER_WAY
from flow.core.standing.table import TABLE, GoalFacts, standing_of

ASKS: dict[str, Any] = {"status": "waiting_for_user"}
BLOCKED: dict[str, Any] = {"status": "blocked", "by_paths": True, "outside": 2, "new_outside": 0}

ROWS: list[tuple[str, dict[str, Any], str, str, str]] = [
    # row, facts, section, why, command
    (
        "closed by hand",
        {"status": "achieved", "by_hand": True},
        "closed",
        "achieved, by hand: Flow did not close it",
        "",
    ),
    ("achieved", {"status": "achieved", "proposal": "failed"}, "closed", "achieved", ""),
    ("failed", {"status": "failed", "here": False}, "closed", "failed", ""),
    ("cancelled", {"status": "cancelled", "unfinished": True}, "closed", "cancelled", ""),
    ("another status", {"status": "done"}, "broken", "done is no status", ""),
    (
        "unfinished",
        {"unfinished": True, "pause": "p"},
        "waits",
        "a change was decided and not carried out",
        "flow goal evaluate greet",
    ),
    ("draft", {"status": "draft", "doubt": "never"}, "working", "a draft", ""),
    (
        "away, and stopped",
        {"here": False, "proposal": "achieved"},
        "blocked",
        "achieved is proposed; its branch is not checked out",
        "",
    ),
    (
        "away, and stopped",
        {**ASKS, "here": False},
        "blocked",
        "a person is asked; its branch is not checked out",
        "",
    ),
    (
        "away, and stopped",
        {**BLOCKED, "here": False},
        "blocked",
        "blocked; its branch is not checked out",
        "",
    ),
    (
        "away",
        {"here": False, "required": 2, "proved": 1, "turns": 3},
        "working",
        "1 of 2 proved, turn 3; its branch is not checked out",
        "",
    ),
    (
        "away",
        {"here": False, "missing": True},
        "working",
        "not evaluated yet; the checkout of its branch no longer has it",
        "",
    ),
    (
        "paused",
        {**ASKS, "pause": 'paused by the agent: "why"', "doubt": "never"},
        "waits",
        'paused by the agent: "why"',
        "flow goal resume greet",
    ),
    (
        "trust unknown",
        {"doubt": "unusable"},
        "broken",
        "the ledger of trust cannot be used",
        "",
    ),
    (
        "not trusted",
        {"doubt": "never", "proposal": "achieved"},
        "waits",
        "not trusted here",
        "flow trust record greet",
    ),
    (
        "not trusted",
        {"doubt": "changed"},
        "waits",
        "changed since it was trusted",
        "flow trust record greet",
    ),
    (
        "not trusted",
        {"doubt": "revoked"},
        "waits",
        "its trust was taken back",
        "flow trust record greet",
    ),
    (
        "record broken",
        {"proposal": "achieved", "record_fault": "the chain ends"},
        "broken",
        "the chain ends",
        "",
    ),
    (
        "proposed",
        {"proposal": "achieved"},
        "waits",
        "achieved is proposed",
        "flow goal confirm greet",
    ),
    (
        "proposed",
        {**ASKS, "proposal": "failed"},
        "waits",
        "failed is proposed",
        "flow goal confirm greet",
    ),
    (
        "files unknown",
        {"proposal": "achieved", "moved": ("git",), "files_known": False},
        "broken",
        "git cannot say what its files are now",
        "",
    ),
    (
        "outside its paths",
        {**BLOCKED, "amend": "flow goal amend greet --allow 'a{id}'"},
        "blocked",
        "2 files outside its paths",
        "flow goal amend greet --allow 'a{id}'",
    ),
    (
        "outside its paths",
        {**BLOCKED, "outside": 1, "new_outside": 1},
        "blocked",
        "1 new file outside its paths",
        "",
    ),
    (
        "no longer outside",
        {**BLOCKED, "outside": 0},
        "waits",
        "blocked, and nothing is outside its paths any more",
        "flow goal evaluate greet",
    ),
    (
        "blocked",
        {"status": "blocked", "reason": "missing_dep: x"},
        "blocked",
        "missing_dep: x",
        "",
    ),
    (
        "measured elsewhere",
        {**ASKS, "elsewhere": True, "protected": True},
        "waits",
        "its run is of another checkout",
        "flow goal evaluate greet",
    ),
    (
        "protected files",
        {**ASKS, "protected": True, "guards": True},
        "waits",
        "a protected file changed",
        "flow goal approve greet protected",
    ),
    (
        "guards",
        {**ASKS, "guards": True, "unproved": ("AC2",)},
        "waits",
        "git's hooks or settings changed",
        "flow goal approve greet guards",
    ),
    (
        "a person's word",
        {**ASKS, "unproved": ("AC2",), "held": "x"},
        "waits",
        "AC2: no command can prove it",
        "flow goal approve greet AC2",
    ),
    (
        "a person's word",
        {**ASKS, "unproved": ("AC2", "AC3")},
        "waits",
        "AC2, AC3: no command can prove them",
        "flow goal approve greet AC2",
    ),
    (
        "held",
        {**ASKS, "held": "goal one comes first and is failed"},
        "blocked",
        "goal one comes first and is failed",
        "flow goal amend greet --edit",
    ),
    (
        "held",
        {**ASKS, "held": "goal one comes first and is failed", "judged": ("AC2",)},
        "blocked",
        "goal one comes first and is failed",
        "flow goal amend greet --edit",
    ),
    (
        "a judge's word",
        {**ASKS, "judged": ("AC2", "AC3"), "reason": "a judge was unsure"},
        "waits",
        "a judge was unsure",
        "flow goal approve greet AC2",
    ),
    ("asks", {**ASKS, "reason": "a judge was unsure"}, "waits", "a judge was unsure", "evaluate"),
    (
        "waits for a command",
        {"status": "waiting_for_ci"},
        "working",
        "waits for a command",
        "",
    ),
    (
        "let go",
        {"limit": "throttled"},
        "blocked",
        "the agent was let go: throttled",
        "",
    ),
    (
        "open again",
        {"open_again": True, "proposal": "achieved", "moved": ("x",)},
        "working",
        "was closed, and its file says active again; not evaluated yet",
        "",
    ),
    (
        "moved",
        {"proposal": "achieved", "moved": ("the files were changed since it was made",)},
        "working",
        "achieved was proposed; the files were changed since it was made",
        "",
    ),
    ("working", {}, "working", "not evaluated yet", ""),
]


@pytest.mark.parametrize(("row", "facts", "section", "why", "command"), ROWS)
def test_row(row: str, facts: dict[str, Any], section: str, why: str, command: str) -> None:
    stands = standing_of(GoalFacts("greet", **{"status": "active", **facts}))
    shown = "flow goal evaluate greet" if command == "evaluate" else command
    assert stands[:2] == (row, section)
    assert (stands.why, stands.command) == (why, shown)
    assert stands.waits == (section == "waits")


def test_every_row_is_tested() -> None:
    assert {row for row, *_ in ROWS} == {row.name for row in TABLE}


FACTS = st.builds(
    GoalFacts,
    goal_id=st.just("greet"),
    status=st.sampled_from([*STATUSES, "else"]),
    here=st.booleans(),
    missing=st.booleans(),
    unfinished=st.booleans(),
    by_hand=st.booleans(),
    open_again=st.booleans(),
    pause=st.sampled_from(["", "paused"]),
    doubt=st.sampled_from(["", "never", "revoked", "changed", "unusable"]),
    proposal=st.sampled_from(["", "achieved", "failed"]),
    moved=st.sampled_from([(), ("x",), None]),
    record_fault=st.sampled_from(["", "x"]),
    elsewhere=st.booleans(),
    files_known=st.booleans(),
    protected=st.booleans(),
    guards=st.booleans(),
    unproved=st.sampled_from([(), ("AC2",)]),
    judged=st.sampled_from([(), ("AC2",)]),
    held=st.sampled_from(["", "x"]),
    by_paths=st.booleans(),
    outside=st.sampled_from([None, 0, 1]),
    amend=st.sampled_from(["", "flow goal amend greet --allow x"]),
    limit=st.sampled_from(["", "throttled"]),
)


@given(FACTS)
def test_exactly_what_waits_has_a_command(facts: GoalFacts) -> None:
    stands = standing_of(facts)
    if stands.section == "blocked":
        taken_out = "flow goal amend greet --edit" if stands.row == "held" else ""
        assert stands.command in ("", facts.amend, taken_out)
    else:
        assert bool(stands.command) == stands.waits
    assert stands.words
    assert stands.why
    if facts.status in TERMINAL:
        assert stands.section == "closed"
    if facts.status in UNDER_WAY and not facts.here and not facts.unfinished:
        assert not stands.waits
