"""``flow goal status`` as people see it."""

from __future__ import annotations

from typing import Any

import pytest

from flow.core import instant
from flow.core.boundary.rules import BoundaryReport
from flow.core.decision.decide import Decision
from flow.core.decision.explain import VerdictGrounds, reason
from flow.core.decision.verdict import CriterionResult
from flow.errors import FEW_ROWS, MANY_ROWS
from flow.render.goal.status import TURNS, files_words, result_words, status_lines
from flow.render.screen import Screen, measure

NOW = instant.seconds("2026-11-20T14:20:00Z")
AT = "2026-11-20T14:16:00Z"
HOSTILE = "a\x1b[31mred\x07\u202eb\nsecond\tline\x9b2J"
MARKS = ("\x1b", "\x07", "\u202e", "\n", "\t", "\x9b")
NOTE = (
    "The clock is frozen and the assertions are the same. The 18 new cases are those of the "
    "issue. I read the whole diff."
)


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


def criterion(id: str = "AC1", **more: object) -> dict[str, Any]:
    return {
        "id": id,
        "text": "it works",
        "status": "pass",
        "must_pass": True,
        "fuzzy": False,
        "last_result": "exit 0",
        "evidence_ref": "e",
        "last_evaluated_at": "2026-11-20T14:04:00Z",
        "fresh": True,
        "why_stale": [],
        **more,
    }


def turn(number: int, verdict: str, answer: str | None = None) -> dict[str, Any]:
    return {"turn": number, "at": AT, "verdict": verdict, "answer": answer}


def approval(**more: object) -> dict[str, Any]:
    return {
        "about": "AC5",
        "at": "2026-11-20T13:56:00Z",
        "by": "colleague",
        "by_from": None,
        "said_from": "terminal",
        "agent": None,
        "note": NOTE,
        "evidence_id": "e",
        "paths": [],
        "vouched": True,
        **more,
    }


COUNT = "2 of 2 required criteria passed by their commands"
FILES: dict[str, Any] = {
    "changed": [f"src/{number}.py" for number in range(9)],
    "outside": [],
    "moved": False,
    "moved_paths": [],
    "problems": [],
}


def document(**more: object) -> dict[str, Any]:
    return {
        "goal_id": "strict-dates",
        "status": "active",
        "outcome": "parse_date(text, strict=True) refuses what ISO 8601 does not allow",
        "branch": "strict-dates",
        "here": True,
        "turns_evaluated": 4,
        "turns": [
            turn(1, "not_achieved"),
            turn(2, "blocked", "continue"),
            turn(3, "needs_human_review"),
            turn(4, "achieved"),
        ],
        "last_evaluation": {"result": "pass", "reason": COUNT, "at": AT},
        "criteria": [
            criterion(),
            criterion("AC3", status="fail", last_result="exit 1", must_pass=False),
            criterion("AC5", fuzzy=True, last_result="approved by colleague"),
        ],
        "files": FILES,
        "trusted": True,
        "trust": "trusted",
        "proposal": {"live": True, "to": "achieved", "moved": []},
        "paused": None,
        "approvals": [approval()],
        "closed": None,
        "unfinished_write": False,
        "next": "a person confirms achieved: flow goal confirm strict-dates",
        **more,
    }


def at_terminal(**more: object) -> list[str]:
    return status_lines(document(**more), Screen(80, now=NOW))


def test_a_proposal_waits_for_a_person() -> None:
    assert at_terminal() == [
        "✓ strict-dates  achieved, as proposed" + " " * 22 + "waits for you, 4 min",
        "parse_date(text, strict=True) refuses what ISO 8601 does not allow",
        "",
        "✓ AC1  it works  exit 0" + " " * 51 + "14:04",
        "✗ AC3  it works  exit 1, not required" + " " * 37 + "14:04",
        "✓ AC5  it works  approved by colleague" + " " * 36 + "14:04",
        "",
        "turns      ✗⊘◐✓   4, the last 14:16",
        "files      9 changed, all inside its paths; unchanged since the last turn",
        "approved   AC5: colleague, 13:56, terminal",
        "           “The clock is frozen and the assertions are the same. The 18 new",
        "           cases are those of the issue. I read the whole diff.”",
        "",
        "next   flow goal confirm strict-dates",
    ]


def test_each_of_two_ways_on_has_its_line() -> None:
    step = "remove x; or a person allows it: flow goal amend g --allow x"
    lines = status_lines(document(next=step, proposal=None), Screen(80, now=NOW))
    assert lines[-2:] == [
        "next   remove x",
        "or     a person allows it: flow goal amend g --allow x",
    ]


def test_an_approval_has_what_a_terminal_asks_for_elsewhere_only() -> None:
    given = document(next="AC3: flow goal approve g AC3 --by NAME --note TEXT", proposal=None)
    assert status_lines(given, Screen(80, now=NOW))[-1] == "next   AC3: flow goal approve g AC3"
    assert status_lines(given, Screen(now=NOW))[-1].endswith(" g AC3 --by NAME --note TEXT")


def test_off_a_terminal_times_are_whole_and_nothing_is_cut() -> None:
    lines = status_lines(document(), Screen(now=NOW))
    assert lines[0].endswith("waits for you, 2026-11-20 14:16:00 UTC")
    assert f"           “{NOTE}”" in lines
    assert "4 min" not in "\n".join(lines)


@pytest.mark.parametrize("columns", [60, 80, 100, 160])
def test_no_line_is_wider_than_the_terminal(columns: int) -> None:
    lines = status_lines(
        document(
            outcome="word " * 60,
            criteria=[criterion(text="word " * 60, last_result="exit 1")],
            files={**FILES, "outside": [f"{n}/x.py" for n in range(30)]},
        ),
        Screen(columns, now=NOW),
    )
    assert max(map(measure, lines)) < columns


@pytest.mark.parametrize(
    ("more", "first"),
    [
        ({"proposal": None, "status": "draft", "turns_evaluated": 0}, "○ strict-dates  draft"),
        ({"proposal": None, "turns_evaluated": 0}, "▸ strict-dates  working"),
        ({"proposal": None}, "▸ strict-dates  working | turn 4, 14:16"),
        (
            {"proposal": None, "last_evaluation": {"result": "fail", "reason": "", "at": AT}},
            "✗ strict-dates  not achieved | turn 4, 14:16",
        ),
        (
            {"proposal": {"live": True, "to": "failed", "moved": []}},
            "✗ strict-dates  failed, as proposed | waits for you, 4 min",
        ),
        (
            {"proposal": None, "status": "waiting_for_user"},
            "◐ strict-dates  waits for you | turn 4, 14:16",
        ),
        (
            {"proposal": None, "status": "waiting_for_ci"},
            "◐ strict-dates  waits for a command | turn 4, 14:16",
        ),
        (
            {"proposal": None, "status": "blocked"},
            "⊘ strict-dates  blocked | turn 4, 14:16",
        ),
        (
            {"proposal": None, "status": "achieved", "closed": approval(about="achieved")},
            "✓ strict-dates  achieved | 13:56",
        ),
        (
            {"proposal": None, "status": "achieved", "closed_by_hand": True, "turns_evaluated": 0},
            "✓ strict-dates  achieved, closed by hand",
        ),
        ({"proposal": None, "status": "failed", "turns_evaluated": 0}, "✗ strict-dates  failed"),
        (
            {"proposal": None, "status": "cancelled", "turns_evaluated": 0},
            "○ strict-dates  cancelled",
        ),
    ],
)
def test_the_first_line_of_every_state(more: dict[str, Any], first: str) -> None:
    left, _, right = first.partition(" | ")
    assert at_terminal(**more)[0] == left + (right and right.rjust(79 - measure(left)))


def test_who_closed_it_is_told_with_their_words() -> None:
    closed = approval(about="achieved", by="repo owner", said_from="pipe", note="Well done.")
    lines = at_terminal(status="achieved", proposal=None, closed=closed, files=None, approvals=[])
    at = lines.index("confirmed  repo owner, 13:56, pipe")
    assert lines[at + 1] == "           “Well done.”"
    cancelled = approval(about="cancelled", by="repo owner", note=None)
    lines = at_terminal(status="cancelled", proposal=None, closed=cancelled)
    assert "closed     repo owner, 13:56, terminal" in lines


def test_a_pause_is_told_with_who_and_why() -> None:
    pause = {"reason": "The fix belongs there.", "by": "sam", "said_from": "agent", "at": AT}
    lines = at_terminal(status="waiting_for_user", proposal=None, paused=pause)
    assert lines[0] == "◐ strict-dates  paused" + " " * 52 + "4 min"
    at = lines.index("paused     the agent, 14:16")
    assert lines[at + 1] == "           “The fix belongs there.”"


def test_of_several_approvals_the_newest_of_each_thing_is_told() -> None:
    acts = [
        approval(note="no"),
        approval(note="yes", said_from="agent", agent="Codex"),
        approval(about="protected", paths=["tests/a.py", "tests/b.py"], vouched=False, note=None),
    ]
    shown = "\n".join(status_lines(document(approvals=acts), Screen(now=NOW)))
    assert "“no”" not in shown
    assert "AC5: colleague, 2026-11-20 13:56:00 UTC, an agent's shell (Codex)" in shown
    assert "tests/a.py, tests/b.py: colleague" in shown
    assert "; your state folder does not know it" in shown


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, "exit 0"),
        ({"must_pass": False}, "exit 0, not required"),
        ({"fresh": False}, "stale, was exit 0"),
        ({"fresh": False, "last_result": None}, "stale"),
        ({"status": "evidence_collected"}, "undecided: exit 0"),
        ({"status": "evidence_collected", "undecided": "masked: `make` may fail"}, "masked"),
        ({"status": "evidence_collected", "undecided": "it ran out: of time"}, "undecided: exit 0"),
        ({"status": "evidence_collected", "fresh": False}, "stale, was exit 0"),
        ({"status": "pending", "last_result": None, "fresh": None}, "not run"),
        ({"status": "pending", "last_result": None, "fresh": None, "fuzzy": True}, "not asked"),
    ],
)
def test_each_result_in_words(more: dict[str, Any], words: str) -> None:
    assert result_words(criterion(**more)) == words


def test_a_stale_row_has_its_mark_and_what_is_stale_otherwise_is_said() -> None:
    rows = [
        criterion(fresh=False, why_stale=["head", "tree"]),
        criterion("AC2", fresh=False, why_stale=["tree", "contract"]),
    ]
    files = {**FILES, "moved": True, "moved_paths": ["src/1.py"]}
    lines = at_terminal(criteria=rows, proposal=None, files=files)
    assert [line[0] for line in lines[3:5]] == ["◐", "◐"]
    assert "stale      AC2: the files changed, the contract changed" in lines
    assert "changed since the last turn: src/1.py" in " ".join(" ".join(lines).split())


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"changed": []}, "nothing is changed; unchanged since the last turn"),
        ({"changed": ["a"], "moved": None}, "1 changed, inside its paths"),
        ({"changed": ["a", "b"], "moved": None}, "2 changed, all inside its paths"),
        (
            {"changed": ["a", "b"], "outside": ["b"], "moved": True},
            "2 changed, 1 outside its paths: b; changed since the last turn",
        ),
        (
            {"changed": ["a", "b"], "moved": True, "moved_paths": ["b"]},
            "2 changed, all inside its paths; changed since the last turn: b",
        ),
        ({"problems": ["a merge is under way"]}, "git cannot say what is changed: a merge is"),
    ],
)
def test_the_files_in_words(files: dict[str, Any], words: str) -> None:
    assert files_words({**FILES, **files}).startswith(words)


def test_the_turns_are_marks_of_which_the_newest_stand() -> None:
    turns = [turn(number, "not_achieved") for number in range(1, 60)]
    lines = at_terminal(turns=[*turns, turn(60, "achieved", "let_go")], turns_evaluated=60)
    line = next(line for line in lines if line.startswith("turns"))
    assert line.count("✗") == TURNS - 1
    assert line.startswith("turns      … ✗")
    assert line.endswith("✗✓   60, the last at a stop of the agent, 14:16")
    assert "turns      60" in at_terminal(turns=[], turns_evaluated=60)
    assert not [x for x in at_terminal(turns=[], turns_evaluated=0) if x.startswith("turns")]


def test_a_proposals_reason_is_told_where_it_is_more_than_a_count() -> None:
    told = "written to while the commands ran, now as before: a.py"
    counts = [CriterionResult("AC1", "pass", "passed"), CriterionResult("AC2", "pass", "not_run")]
    last = {"result": "pass", "reason": f"{told}; {counted(counts)}", "at": AT}
    assert f"because    {told}" in at_terminal(last_evaluation=last)
    last = {**last, "reason": counted(counts)}
    assert not [line for line in at_terminal(last_evaluation=last) if line.startswith("because")]


def counted(rows: list[CriterionResult]) -> str:
    """The reason of an evaluation that proved everything."""
    decision = Decision("achieved", "active", "achieved", "pass", 1.0, "none")
    inside = BoundaryReport("inside", (), (), (), (), ())
    return reason(VerdictGrounds(decision, rows, inside, None), "pass")


def test_a_proposal_that_does_not_hold_says_why() -> None:
    stale = {"live": False, "to": "achieved", "moved": ["the contract was changed"]}
    lines = at_terminal(proposal=stale, next="flow goal evaluate strict-dates")
    assert "proposed   achieved, but it is stale: the contract was changed" in lines
    assert lines[-1] == "next   flow goal evaluate strict-dates"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"status": "waiting_for_user"}, True),
        ({"status": "blocked"}, True),
        ({"status": "failed"}, True),
        ({}, True),
        ({"criteria": [criterion(status="fail")]}, False),
        ({"status": "achieved"}, False),
        ({"status": "draft"}, False),
        ({"last_evaluation": None}, False),
        ({"last_evaluation": {"result": "pass", "reason": "", "at": AT}}, False),
    ],
)
def test_why_is_said_where_the_criteria_do_not_tell(more: dict[str, Any], said: bool) -> None:
    last = {"result": "pass", "reason": "all of it", "at": AT}
    base = {"proposal": None, "criteria": [criterion()], "last_evaluation": last}
    lines = at_terminal(**{**base, **more})
    assert ("because    all of it" in lines) is said


@pytest.mark.parametrize(("state", "said"), [("active", True), ("draft", False), ("failed", False)])
def test_a_goal_that_is_not_trusted_says_so(state: str, said: bool) -> None:
    lines = at_terminal(status=state, trusted=False, trust="changed since", proposal=None)
    assert ("trust      changed since" in lines) is said
    assert ("  waits for you  " in lines[0]) is said


def test_the_branch_is_named_only_when_it_is_another() -> None:
    assert not [line for line in at_terminal() if line.startswith("branch")]
    assert "branch     strict-dates" in at_terminal(here=False)


def test_the_rest_that_a_person_must_know() -> None:
    lines = at_terminal(
        red_first=["AC1: already green"],
        protected_changes={"approved": False, "sentence": "tests/a.py (modified)"},
        sent_to_judge={
            "at": AT,
            "judges": ["j"],
            "evidence": "e",
            "given": [{"source": "src/a.py", "what": "diff"}],
        },
        unfinished_write=True,
    )
    assert "red first  AC1: already green" in lines
    assert "protected  changed, not approved: tests/a.py (modified)" in lines
    assert "sent       to j, 14:16: src/a.py (diff)" in lines
    assert "unfinished a write was interrupted; the next command finishes it" in lines


def test_where_marks_cannot_be_shown_letters_stand_for_them() -> None:
    lines = status_lines(document(), Screen(80, unicode=False, now=NOW))
    assert lines[0].startswith("+ strict-dates")
    assert "turns      x!?+   4, the last 14:16" in lines
    assert "\n".join(lines).isascii()


def test_colours_are_of_marks_and_of_what_a_person_types() -> None:
    lines = status_lines(document(), Screen(80, colour=True, now=NOW))
    assert lines[0].startswith("\x1b[32m✓\x1b[0m \x1b[1mstrict-dates\x1b[0m")
    assert lines[-1] == "next   \x1b[36mflow goal confirm strict-dates\x1b[0m"
    plain = status_lines(document(), Screen(80, now=NOW))
    assert len(lines) == len(plain)


@pytest.mark.parametrize("columns", [None, 80])
def test_no_foreign_text_moves_the_terminal(columns: int | None) -> None:
    row = criterion(id=HOSTILE, text=HOSTILE, last_result=HOSTILE, last_evaluated_at=HOSTILE)
    act = approval(about=HOSTILE, at=HOSTILE, by=HOSTILE, said_from=HOSTILE, note=HOSTILE)
    lines = status_lines(
        document(
            goal_id=HOSTILE,
            outcome=HOSTILE,
            here=False,
            branch=HOSTILE,
            status="blocked",
            turns=[{"turn": 4, "at": HOSTILE, "verdict": HOSTILE, "answer": None}],
            last_evaluation={"result": HOSTILE, "reason": HOSTILE, "at": HOSTILE},
            criteria=[row, {**row, "fresh": False, "why_stale": ["contract"]}],
            files={**FILES, "outside": [HOSTILE], "moved": True, "moved_paths": [HOSTILE]},
            trusted=False,
            trust=HOSTILE,
            proposal={"live": False, "to": HOSTILE, "moved": [HOSTILE]},
            paused={"reason": HOSTILE, "by": HOSTILE, "said_from": None, "at": HOSTILE},
            approvals=[act, {**act, "about": "b", "paths": [HOSTILE], "said_from": "agent"}],
            closed=act,
            red_first=[HOSTILE],
            protected_changes={"approved": True, "sentence": HOSTILE},
            next=HOSTILE,
        ),
        Screen(columns, now=NOW),
    )
    for line in lines:
        assert not [mark for mark in MARKS if mark in line], line


def test_of_many_criteria_those_that_did_not_pass_are_shown_and_the_rest_counted() -> None:
    rows = [criterion(f"AC{number}") for number in range(3000)]
    rows[-1]["status"] = "fail"
    lines = at_terminal(criteria=rows, approvals=[approval(about=str(n)) for n in range(99)])
    assert any(" AC2999 " in line for line in lines)
    assert f"and {3000 - MANY_ROWS:,} more: flow goal status strict-dates --json" in lines
    assert len([line for line in lines if line.startswith("approved")]) == FEW_ROWS


VIOLATION = "path_boundary_violation: a.py outside the goal's paths; failed: AC1 (exit 1)"


@pytest.mark.parametrize(
    ("outside", "because"),
    [(["a.py"], None), ([], "because    outside its paths: a.py; failed: AC1 (exit 1)")],
)
def test_a_blocked_goal_says_why_once_and_in_words(outside: list[str], because: str | None) -> None:
    lines = at_terminal(
        status="blocked",
        proposal=None,
        last_evaluation={"result": "blocked", "reason": VIOLATION, "at": "2026-11-20T14:16:00Z"},
        files={**FILES, "outside": outside},
    )
    assert [line for line in lines if line.startswith("because")] == [because] * bool(because)
    assert not any("path_boundary" in line for line in lines)


def test_of_a_step_the_command_alone_has_a_persons_colour() -> None:
    step = "remove a; or what only the base brought: flow goal rebase g; or flow goal amend g"
    lines = status_lines(document(proposal=None, next=step), Screen(80, colour=True, now=NOW))
    assert lines[-3:] == [
        "next   remove a",
        "\x1b[2mor\x1b[0m     what only the base brought: \x1b[36mflow goal rebase g\x1b[0m",
        "\x1b[2mor\x1b[0m     \x1b[36mflow goal amend g\x1b[0m",
    ]
