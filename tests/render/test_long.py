"""Every list for people is cut, says by how much, and where the rest is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from flow.core.decision.confirming import ContractStep, CriterionProof
from flow.core.evidence.proof import LineCount, ProofChange, ProofFile
from flow.core.text.display import names
from flow.errors import ALL_IN_JSON, FEW_ROWS, MANY_ROWS
from flow.render import baseline, judgement, records, text
from flow.render.confirming import HOOK_LINES, LEFT_BEHIND, MOST_ROWS, for_hook
from flow.render.goal.goal_list import goal_list_lines
from flow.render.goal.inspect import inspect_lines
from flow.render.goal.status import status_lines
from flow.render.page.goal import goal_page
from flow.render.screen import Screen
from flow.render.setup import doctor
from flow.render.verdict import drawing
from tests.render.page.scenes import report
from tests.render.test_confirming import at_terminal, question

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MANY = 3000


LONG = "long " * 400
MOST = 20_000
"""Characters that a person is shown at most."""


def criteria() -> list[dict[str, Any]]:
    return [
        {
            "id": f"AC{number}",
            "criterion_id": f"AC{number}",
            "text": LONG,
            "status": "fail" if number == MANY - 1 else "pass",
            "last_result": "exit 0",
            "last_evaluated_at": "",
            "outcome": "passed",
            "result": "exit 0",
            "exit_code": 0,
            "fuzzy": False,
            "must_pass": True,
            "cached": False,
            "fresh": False,
            "why_stale": ["unstamped"],
        }
        for number in range(MANY)
    ]


def evidence() -> list[dict[str, Any]]:
    return [
        {
            "id": f"e{number}",
            "type": "command_output",
            "proves": [f"AC{criterion}" for criterion in range(50)],
            "outcome": "passed",
            "exit_code": 0,
            "created_at": f"at {number:04d}",
        }
        for number in range(MANY)
    ]


STATUS: dict[str, Any] = {
    "goal_id": "g",
    "status": "active",
    "outcome": "o",
    "branch": "b",
    "here": True,
    "turns_evaluated": 1,
    "turns": [],
    "files": None,
    "paused": None,
    "approvals": [],
    "closed": None,
    "run_id": "r",
    "base_commit": "c",
    "criteria": criteria(),
    "last_evaluation": None,
    "trusted": True,
    "trust": "",
    "proposal": None,
    "unfinished_write": False,
    "next": "n",
}
INSPECT: dict[str, Any] = {
    "goal_id": "g",
    "file": "f",
    "contract": "c",
    "run": "r",
    "document": {},
    "proof": {
        "files": [
            {"path": f"t{number}", "change": "new", "added": None, "removed": None, "keys": []}
            for number in range(MANY)
        ],
        "count": MANY,
        "sentence": "many",
        "unknown": [],
    },
    "evidence": evidence(),
}
GOAL = {
    "status": "draft",
    "results": [],
    "turns_evaluated": 0,
    "branch": LONG,
    "outcome": LONG,
    "here": False,
    "since": "",
    "proposal": None,
    "paused": None,
}
LISTS: dict[str, tuple[Callable[[], Sequence[str]], str, int]] = {
    "status": (lambda: status_lines(STATUS, Screen()), "flow goal status g --json", MANY_ROWS),
    "list": (
        lambda: goal_list_lines(
            {
                "goals": [{"goal_id": f"g{number}", **GOAL} for number in range(MANY)],
                "branches": None,
            },
            Screen(),
        ),
        "flow goal list --json",
        MANY_ROWS,
    ),
    "history": (
        lambda: text.history(
            {
                "goal_id": "g",
                "events": [
                    {"at": f"at {number}", "type": "evaluated", "reason": LONG, "note": LONG}
                    for number in range(MANY)
                ],
            }
        ),
        "flow goal history g --json",
        MANY_ROWS,
    ),
    "inspect": (lambda: inspect_lines(INSPECT, Screen()), "flow goal inspect g --json", MANY_ROWS),
    "evidence": (
        lambda: records.evidence_list({"run_id": "r", "evidence": evidence()}, Screen()),
        "flow evidence list --run-id r --json",
        MANY_ROWS,
    ),
    "artifacts": (
        lambda: records.journal(
            {
                "file": "f",
                "front": None,
                "artifacts": [
                    {"captured_at": f"at {number}", "type": "t", "rows": [LONG] * 9}
                    for number in range(MANY)
                ],
                "body": "",
            },
            Screen(),
        ),
        ALL_IN_JSON,
        FEW_ROWS,
    ),
    "journal's text": (
        lambda: records.journal(
            {"file": "f", "front": None, "artifacts": [], "body": f"{LONG}\n" * MANY}, Screen()
        ),
        ALL_IN_JSON,
        MANY_ROWS,
    ),
    "trust": (
        lambda: records.trust_list(
            [{"goal_id": f"g{n}", "digest": "d" * 64, "at": "at", "how": "h"} for n in range(MANY)],
            Screen(),
        ),
        "flow trust list --json",
        MANY_ROWS,
    ),
    "labels": (
        lambda: judgement.history(
            {
                "judges": [],
                "labels": [
                    {
                        "at": f"at {number}",
                        "judge": "j",
                        "about": LONG,
                        "person": True,
                        "judged": True,
                        "source": "cases",
                    }
                    for number in range(MANY)
                ],
            },
            Screen(),
        ),
        "flow judge history --json",
        judgement.NEWEST,
    ),
    "facts": (
        lambda: doctor(
            {
                "facts": [{"what": f"run {n}", "value": LONG} for n in range(MANY)],
                "fixed": [],
                "findings": [],
            },
            Screen(),
            verbose=True,
        ),
        "flow doctor --json",
        MANY_ROWS,
    ),
    "verdict": (
        lambda: drawing.verdict(
            {"goal_id": "g", "verdict": "not_achieved", "criterion_results": criteria()}, Screen()
        ),
        "flow verdict show g --json",
        MANY_ROWS,
    ),
    "baseline": (
        lambda: baseline.baseline(
            {
                "goal_id": "g",
                "base_commit": "c",
                "criteria": criteria(),
                "run_id": "r",
                "next": "n",
            },
            Screen(),
        ),
        "flow goal baseline g --json",
        MANY_ROWS,
    ),
}


@pytest.mark.parametrize("name", LISTS)
def test_each_list_is_cut_with_its_length_and_where_the_rest_is(name: str) -> None:
    written, rest, most = LISTS[name]
    lines = written()
    assert len("\n".join(lines)) < MOST
    assert f"and {MANY - most:,} more: {rest}" in [line.strip() for line in lines]


@pytest.mark.parametrize("name", ["history", "artifacts", "labels", "evidence"])
def test_of_what_grows_the_newest_is_shown(name: str) -> None:
    shown = "\n".join(LISTS[name][0]())
    assert f"at {MANY - 1}" in shown
    assert not re.search(r"\bat 0(000)?\b", shown)


@pytest.mark.parametrize("name", ["status", "verdict"])
def test_of_many_criteria_those_that_did_not_pass_are_shown(name: str) -> None:
    assert any(f"AC{MANY - 1} " in line for line in LISTS[name][0]())


def test_a_short_list_is_whole_and_in_its_order() -> None:
    rows = {**STATUS, "criteria": criteria()[-MANY_ROWS:]}
    lines = status_lines(rows, Screen())
    shown = [line.split()[1] for line in lines if line[1:4] == " AC"]
    assert shown == [row["id"] for row in rows["criteria"]]
    assert "more:" not in "\n".join(lines)


def test_names_say_how_many_and_where() -> None:
    assert names(["a", "b", "c"], 2) == "a, b and 1 more"
    assert names(["a", "b", "c"], 2, "flow x") == "a, b and 1 more: flow x"
    assert names(["a"], 2, "flow x") == "a"


def test_the_page_names_the_goal_in_its_command() -> None:
    outside = [f"p{number}" for number in range(MANY_ROWS + 1)]
    files = {"changed": [], "outside": outside, "moved": False, "problems": []}
    shown = goal_page(report(status={"files": files}))
    assert re.search(r"and \d+ more: flow goal status strict-dates --json", shown)


def test_every_list_of_the_question_is_cut_with_its_count_and_a_command() -> None:
    asked = question(
        goal_id="g",
        criteria=(
            *(CriterionProof(f"AC{n}", "t", "c", True, True, "command", "r") for n in range(500)),
            *(
                CriterionProof(f"AN{n}", "t", None, True, False, "nothing", "r", ("l",))
                for n in range(500)
            ),
        ),
        contract=tuple(
            ContractStep(f"at {n}", "p", "amend", "pipe", "weakening", ("key:", "  + x"))
            for n in range(200)
        ),
        proof=ProofChange(
            "d",
            tuple(
                ProofFile(f"t{n}", "new", "absent", "x", LineCount(1, 0, ("k",) * 90))
                for n in range(5000)
            ),
        ),
        outside=tuple(f"o{n}" for n in range(5000)),
        left_behind=tuple(f"b{n}" for n in range(5000)),
        unknown=tuple(f"u{n}" for n in range(500)),
        moved=tuple(f"m{n}" for n in range(500)),
    )
    whole = " ".join(line.strip() for line in at_terminal(asked, 120))
    assert len(whole) < MOST
    for count, rest in (
        (500 - MOST_ROWS, "flow goal inspect g"),
        (601 - MOST_ROWS, "flow goal history g --json"),
        (5001 - MOST_ROWS, "flow goal inspect g --json"),
        (4990, "flow verdict show g --json"),
        (4980, LEFT_BEHIND),
        (500 - MOST_ROWS, "flow goal status g --json"),
    ):
        assert f"and {count:,} more: {rest}" in whole, rest
    hook = for_hook(asked)
    assert len(hook) <= HOOK_LINES
    assert len("\n".join(hook)) < MOST
    cut = re.fullmatch(r"([\d,]+) lines more are not shown here: flow goal confirm g", hook[-2])
    assert cut is not None
    rows = 500 + 500 + 601 + 5000 + 5000 + 500 + 500
    shown = sum(line.startswith("  ") for line in hook)
    assert int(cut[1].replace(",", "")) == rows - shown
