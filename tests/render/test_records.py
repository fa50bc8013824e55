"""Lists of what is on record, as a terminal and a pipe are shown them."""

from __future__ import annotations

from typing import Any

import pytest

from flow.core import instant
from flow.render import chain, records
from flow.render.screen import Screen, measure
from tests.render.goal.test_inspect import evidence

NOW = instant.seconds("2026-11-20T14:00:00Z")
TERMINAL = Screen(columns=80, colour=True, now=NOW)
ASCII = Screen(columns=80, unicode=False, now=NOW)
PIPE = Screen()


LISTED = {
    "run_id": "r-1",
    "evidence": [
        evidence(1, outcome="failed", exit_code=1),
        evidence(2, fresh=False, why_stale=["tree"]),
        evidence(3, type="human_approval", exit_code=None),
    ],
}


def plain(lines: list[str]) -> list[str]:
    return [line.replace("  ", " ").strip() for line in lines]


def test_evidence_is_a_row_each_with_its_mark_and_the_newest_last() -> None:
    lines = records.evidence_list(LISTED, PIPE)
    assert lines[0] == "run r-1  3 pieces of evidence"
    rows = [line.split()[:2] for line in lines if "evidence-ac1-eval-" in line][:3]
    assert rows == [["✗", "evidence-ac1-eval-1"], ["◐", "evidence-ac1-eval-2"],
                    ["✓", "evidence-ac1-eval-3"]]  # fmt: skip
    assert "exit 1" in lines[2]
    assert "stale: " in lines[3]
    assert lines[-1] == "newest     flow evidence show evidence-ac1-eval-3 --run-id r-1"
    unmeasured = {"run_id": "r-1", "evidence": [evidence(1, outcome=None, exit_code=None)]}
    row = records.evidence_list(unmeasured, PIPE)[2]
    assert row.split()[0] == "○"
    assert "-" not in row.split()  # empty is empty


def test_no_evidence() -> None:
    lines = records.evidence_list({"run_id": "r-1", "evidence": []}, PIPE)
    assert lines == ["run r-1  no evidence yet"]


CHAIN: dict[str, Any] = {
    "runs": [
        {"run_id": "good", "entries": 2, "head": "2:ab", "findings": [], "more": 0, "notes": []},
        {
            "run_id": "bad",
            "entries": 1,
            "head": "1:cd",
            "findings": [{"kind": "not_there", "file": "f", "message": "is gone"}],
            "more": 3,
            "notes": ["a note"],
        },
    ],
    "findings": [],
}


def test_runs_are_intact_or_broken() -> None:
    assert chain.verified(CHAIN, PIPE) == [
        "✓ intact  good  2 entries, head 2:ab",
        "✗ broken  bad  1 entry, head 1:cd",
        "  not there: f: is gone",
        "  and 3 more",
        "  note: a note",
        "",
        "1 of 2 runs broken",
    ]
    assert chain.verified({**CHAIN, "runs": CHAIN["runs"][:1]}, PIPE) == [
        "✓ intact  good  2 entries, head 2:ab"
    ]
    assert chain.verified({"runs": [], "findings": []}, PIPE) == ["there is no run yet"]
    whole = {**CHAIN["runs"][0], "head": f"2:{'ab' * 32}"}
    for screen, head in ((PIPE, "ab" * 32), (Screen(80), "ab" * 6)):
        lines = chain.verified({**CHAIN, "runs": [whole]}, screen)
        assert lines == [f"✓ intact  good  2 entries, head 2:{head}"]


@pytest.mark.parametrize("would", [True, False])
def test_what_gc_drops(would: bool) -> None:
    document = {
        "dry_run": would,
        "runs": [{"run_id": "r", "outputs": 2, "bytes": 2048, "why": "goal g is achieved"}],
        "outputs": 2,
        "bytes": 2048,
    }
    lines = chain.collected(document, PIPE, "flow gc --older-than 9")
    mark, verb = ("○", "would drop") if would else ("✓", "dropped")
    assert lines[:3] == [
        f"{mark} r  2 outputs  2.0 KiB  goal g is achieved",
        "",
        f"{verb} 2 outputs, 2.0 KiB in all",
    ]
    assert lines[3:] == (["next       flow gc --older-than 9"] if would else [])
    nothing = chain.collected({**document, "runs": []}, PIPE, "flow gc")
    assert nothing == ["nothing to drop"]


TRUSTED = [{"goal_id": "g", "digest": "d" * 64, "at": "2026-11-20T11:00:00Z", "how": "created"}]


def test_trust() -> None:
    assert records.trust_list([], PIPE) == []
    (line,) = records.trust_list(TRUSTED, PIPE)
    assert line == "✓ g  contract dddddddddddd  created  2026-11-20 11:00:00 UTC"
    document = {"goal": "g", "trusted": False, "why": "it changed", "digest": "d" * 64}
    assert records.trust_check(document, "flow trust record g", PIPE) == [
        "◐ g  is not trusted: it changed",
        "",
        f"contract   {'d' * 64}",
        "next       flow trust record g",
    ]
    trusted = records.trust_check({**document, "trusted": True}, "flow trust record g", PIPE)
    assert (trusted[0], len(trusted)) == ("✓ g  is trusted: it changed", 3)
    why = {**document, "trusted": True, "why": "since 2026-11-18T11:00:00Z (flow goal create)"}
    line = records.trust_check(why, "", ASCII)[0]
    assert line == "+ g  is trusted: since 18 Nov (flow goal create)"


JOURNAL: dict[str, Any] = {
    "file": ".decisions/issue-7.md",
    "front": {"issue": 7},
    "artifacts": [{"type": "goal_started", "captured_at": "2026-11-20T11:00:00Z", "goal": "g"}],
    "body": "What we decided\n",
}


def test_a_journal_is_its_front_its_artifacts_and_its_text() -> None:
    assert records.journal(JOURNAL, PIPE) == [
        ".decisions/issue-7.md",
        "issue: 7",
        "",
        "2026-11-20 11:00:00 UTC  goal_started",
        "  goal: g",
        "",
        "What we decided",
    ]


SCREENS = {
    "evidence": lambda screen: records.evidence_list(LISTED, screen),
    "trust": lambda screen: records.trust_list(TRUSTED, screen),
    "journal": lambda screen: records.journal(JOURNAL, screen),
    "chain": lambda screen: chain.verified(CHAIN, screen),
}


@pytest.mark.parametrize("name", SCREENS)
def test_a_terminal_gets_colour_and_lines_that_fit_and_a_dumb_one_ascii(name: str) -> None:
    ascii_lines = SCREENS[name](ASCII)
    assert all(line.isascii() for line in ascii_lines)
    rows = [line for line in ascii_lines if not line.startswith("newest")]  # is typed: never cut
    assert max(measure(line) for line in rows) < 80
    assert any("\x1b[" in line for line in SCREENS[name](TERMINAL))
