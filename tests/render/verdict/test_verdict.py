"""A verdict's screen: head, rows, why it failed, what to do."""

from __future__ import annotations

import re
from typing import Any

import pytest

from flow.core.boundary.rules import Violation
from flow.core.decision.details import OutputTail, RowDetails, VerdictDetails
from flow.core.decision.outside import outside_advice
from flow.render.screen import Screen
from flow.render.text import begin_of_command
from flow.render.verdict.criterion_row import row_meaning, row_result
from flow.render.verdict.drawing import verdict

HOSTILE = "a\x1b[31mred\u202e\nb"
AT_80 = Screen(columns=80, now=1763629200.0)
PIPE = Screen()


def row(name: str = "AC1", outcome: str = "passed", **more: Any) -> dict[str, Any]:
    status = {"passed": "pass", "failed": "fail", "inconclusive": "evidence_collected"}
    return {
        "criterion_id": name,
        "text": f"text of {name}",
        "command": None if outcome == "not_run" else f"make {name}",
        "status": status.get(outcome, "pending"),
        "outcome": outcome,
        "exit_code": {"passed": 0, "failed": 1}.get(outcome),
        "evidence_ref": f"evidence/{name}.evidence.yaml" if outcome in status else None,
        "limitations": [],
        "reason": "",
        **more,
    }


def document(*rows: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "goal_id": "g",
        "run_id": "r1",
        "verdict": "not_achieved",
        "do": "work_on",
        "confidence": 1.0,
        "delta": "made_progress",
        "reason": "failed: AC1 (exit 1)",
        "next_step_hint": "work on AC1, then: flow goal evaluate g",
        "blocker_type": "none",
        "criterion_results": list(rows),
        "path_violations": [],
        "warnings": [],
        "proposed_transition": None,
        "lifecycle": {"from": "active", "to": "active", "turns_evaluated": 3},
        **more,
    }


def lines_of_output(count: int, total: int | None = None) -> OutputTail:
    return OutputTail(tuple(f"line {n}" for n in range(count)), count if total is None else total)


STRICT = (
    "flow goal amend --criterion 'AC2: The types hold :: mypy --strict src/daybook'",
    "`|| true` ends the command: a failure cannot show.",
)


def test_a_failed_evaluation_at_80_columns() -> None:
    rows = [
        row("AC1", "failed", text="Strict mode refuses impossible dates", command="pytest -q"),
        row(
            "AC2",
            "inconclusive",
            text="The types hold",
            reason=f"masked: {STRICT[1][:-1]}",
            exit_code=0,
        ),
        row("AC3", text="Parsing is at most 5 % slower"),
        row("AC4", "failed", text="Nothing else broke", command="pytest -q -n 4"),
        row("AC5", "not_run", text="The docs explain strict mode", reason="no command proves it"),
    ]
    details = VerdictDetails(
        {
            "AC1": RowDetails(seconds=1.1, failure="4 of 14 failed", output=lines_of_output(2, 63)),
            "AC2": RowDetails(seconds=4, works="mypy --strict src/daybook"),
            "AC3": RowDetails(seconds=21),
            "AC4": RowDetails(seconds=205, proved_before=True, output=lines_of_output(1, 88)),
        },
        seconds=231,
    )
    reason = (
        "failed: AC1 (exit 1), AC4 (exit 1); "
        f"inconclusive: AC2 (masked: {STRICT[1][:-1]}); no command can prove: AC5"
    )
    hint = "work on AC1 and AC4, then: flow goal evaluate strict-dates"
    shown = document(*rows, goal_id="strict-dates", reason=reason, next_step_hint=hint)
    assert verdict(shown, AT_80, details, named=False) == [
        "✗ strict-dates  not achieved                                 turn 3, 3 min 51 s",
        "",
        "✗ AC1  Strict mode refuses impossible dates  exit 1: 4 of 14 failed       1.1 s",
        "◐ AC2  The types hold                        masked                       4.0 s",
        "✓ AC3  Parsing is at most 5 % slower         exit 0                        21 s",
        "✗ AC4  Nothing else broke                    exit 1, proved before   3 min 25 s",
        "○ AC5  The docs explain strict mode          not asked",
        "",
        "── AC1  pytest -q ──────────────────────────────────────────────── last 2 of 63",
        "line 0",
        "line 1",
        "── AC4  pytest -q -n 4 ─────────────────────────────────────────── last 1 of 88",
        "line 0",
        "── AC2  masked ────────────────────────────────────────────────────────────────",
        "`|| true` ends the command: a failure cannot show. This would let it show:",
        STRICT[0],
        "",
        "next   work on AC1 and AC4, then: flow goal evaluate",
        "more   flow evidence show AC1",
    ]
    ascii_only = verdict(shown, AT_80._replace(unicode=False), details, named=False)
    assert all(line.isascii() for line in ascii_only)
    assert ascii_only[2].startswith("x AC1  Strict mode")
    assert ascii_only[8].startswith("-- AC1  pytest -q ----")
    coloured = verdict(shown, AT_80._replace(colour=True), details, named=False)
    assert "line 0" in coloured  # other programs' output is never painted
    assert f"\x1b[36m{STRICT[0]}\x1b[0m" in coloured
    assert coloured[-2].endswith("then: \x1b[36mflow goal evaluate\x1b[0m")


def test_where_there_is_room_the_commands_stand_in_the_table() -> None:
    rows = [row(command="pytest -q"), row("AC2", command="x" * 60), row("AC3", "not_run")]
    details = VerdictDetails({"AC3": RowDetails(way="rubric documentation")})
    shown = verdict(document(*rows), AT_80._replace(columns=120), details)
    assert "  pytest -q             exit 0" in shown[2]
    assert "xxx" not in shown[3]  # it would take the room of the others
    assert "  rubric documentation  not asked" in shown[4]
    assert "pytest" not in verdict(document(*rows), AT_80, details)[2]
    assert "pytest" not in verdict(document(*rows), PIPE, details)[2]


def test_a_proposal_comes_with_the_line_to_type() -> None:
    proposed = {"to": "achieved", "reason": "r", "turns_evaluated": 1, "proposal_id": "f" * 64}
    shown = document(row(), verdict="achieved", do="ask_confirm", proposed_transition=proposed)
    shown["reason"] = "1 of 1 required criteria passed by their commands"
    assert verdict(shown, AT_80, named=False) == [
        "✓ g  achieved, as proposed                                               turn 3",
        "",
        "✓ AC1  text of AC1  exit 0",
        "",
        "next   flow goal confirm",
    ]
    assert verdict(shown, PIPE)[-2:] == [
        "do     ask_confirm",
        f"next   flow goal confirm g --proposal {'f' * 12}",
    ]
    closed = verdict(shown, PIPE, closed="cancelled")
    assert closed[0].startswith("✓ g  cancelled")
    assert closed[-1] == "since  the goal is cancelled"


VIOLATIONS = (
    Violation("tools/regen.py", "outside", mend="remove", change="new"),
    Violation("py project.toml", "outside", mend="restore", before="100644:1"),
    Violation("odd.txt", "outside", mend="undo"),
)
RESTORE = "git restore -s 4b7e09d2 'py project.toml'"


def blocked(*violations: Violation, screen: Screen = AT_80) -> list[str]:
    paths = [each.path for each in violations]
    advice = outside_advice("g", violations, "4b7e09d2c1a8")
    shown = document(row(), verdict="blocked", do="put_back", path_violations=paths)
    shown["outside"] = advice.with_lines({"py project.toml": (3, 1)}).to_document()
    shown["reason"] = f"path_boundary_violation: {', '.join(paths)} outside the goal's paths"
    return verdict(shown, screen, VerdictDetails(allowed_paths=("src/**", "tests/**")), named=False)


def test_a_reason_that_names_other_paths_than_the_list_is_told_in_words() -> None:
    shown = document(row(), verdict="blocked", do="put_back", path_violations=["a.py"])
    shown["reason"] = "path_boundary_violation: a.py, b.py outside the goal's paths"
    lines = "\n".join(verdict(shown, AT_80, VerdictDetails(), named=False))
    assert "outside its paths: a.py, b.py" in lines
    assert "path_boundary_violation" not in lines


def test_files_outside_come_with_their_remedies() -> None:
    shown = blocked(*VIOLATIONS)
    assert shown[0].startswith("⊘ g  blocked")
    assert shown[4:] == [
        "3 files are outside its paths (src/**, tests/**):",
        "  ⊘ tools/regen.py   new      remove:   rm tools/regen.py",
        f"  ⊘ py project.toml  +3 -1    put back: {RESTORE}",
        "  ⊘ odd.txt          changed  take back what was changed in it",
        "",
        "next   remove what is new and put back the rest, then: flow goal evaluate",
        "or     flow goal amend --allow tools/regen.py --allow 'py project.toml' --allow odd.txt",
    ]


def test_a_file_that_no_path_opens_says_why() -> None:
    """Else it stands among files outside the very paths that name it."""
    why = "untracked; denied by '*.py'"
    shown = blocked(Violation("tests/a.py", why, mend="remove", change="new", openable=False))
    assert "  ⊘ tests/a.py  new, denied by '*.py'  remove:   rm tests/a.py" in shown


@pytest.mark.parametrize(
    ("violations", "first"),
    [
        (VIOLATIONS[:1], "remove it"),
        (VIOLATIONS[:1] * 2, "remove them"),
        (VIOLATIONS[1:2], "put it back"),
        (VIOLATIONS[1:], "put them back"),
    ],
)
def test_the_step_names_what_there_is_to_do(violations: tuple[Violation, ...], first: str) -> None:
    assert f"next   {first}, then: flow goal evaluate" in blocked(*violations)


def test_what_the_base_branch_brought_is_rebased() -> None:
    shown = blocked(VIOLATIONS[1]._replace(committed=True))
    assert "or     what only the base branch brought: flow goal rebase" in shown
    assert "put back, and commit that: git restore -s" in "".join(shown)


def test_a_line_that_opens_folders_says_so() -> None:
    shown = blocked(*(Violation(f"a/f{n}", "w", mend="remove") for n in range(9)))
    assert shown[-2:] == [
        "or     flow goal amend --allow 'a/**'",
        "       this opens whole folders: a/**",
    ]


def test_a_verdict_that_was_handed_in_says_nothing_to_type_about_files() -> None:
    files = [{"path": "x", "do": "remove", "command": "rm -rf ~", "change": "new"}]
    shown = document(path_violations=["x"], outside={"files": files, "amend": "flow x"})
    assert any("rm -rf ~" in line for line in verdict(shown, AT_80))
    assert not any("rm -rf ~" in line for line in verdict({**shown, "handed_in": True}, AT_80))
    for odd in ([], {"files": 3}, {"files": [1, {}], "folders": [1], "amend": 2}):
        assert verdict({**shown, "outside": odd}, AT_80)
    for file in ({"path": ["x"], "do": "remove"}, {"do": ["remove"]}, {"do": {}, "change": [1]}):
        assert verdict({**shown, "outside": {"files": [file]}}, AT_80)
    assert verdict({**shown, "proposed_transition": [1]}, PIPE)


def test_paths_without_advice_are_named() -> None:
    shown = verdict(document(row(), path_violations=["x", "y"], verdict="blocked"), AT_80)
    assert shown[4:7] == ["2 files are outside its paths:", "  ⊘ x", "  ⊘ y"]


@pytest.mark.parametrize(
    ("given", "details", "mark", "result"),
    [
        (row(), {}, "proved", "exit 0"),
        (row(), {"runs": (3, 3)}, "proved", "exit 0, 3 of 3"),
        (row(reused=True), {}, "proved", "exit 0, reused"),
        (row(status="evidence_collected"), {}, "undecided", "exit 0, stale"),
        (row(outcome="failed", status="evidence_collected"), {}, "undecided", "exit 1, stale"),
        (row(outcome="failed"), {"failure": "4 of 14 failed"}, "failed", "exit 1: 4 of 14 failed"),
        (row(outcome="failed"), {"required": False}, "failed", "exit 1, not required"),
        (
            row(outcome="failed"),
            {"proved_before": True, "failure": "1 of 2 failed"},
            "failed",
            "exit 1, proved before",
        ),
        (
            row(outcome="failed", exit_code=None, reason="it was ended by SEGV"),
            {},
            "failed",
            "it was ended by SEGV",
        ),
        (row(outcome="inconclusive", reason="masked: y"), {}, "undecided", "masked"),
        (row(outcome="inconclusive", reason="vacuous: y"), {}, "undecided", "vacuous"),
        (
            row(outcome="inconclusive", reason="flaky: passed 2 of 3 runs, failed 1"),
            {"runs": (2, 3)},
            "undecided",
            "flaky: 2 of 3 passed",
        ),
        (
            row(outcome="inconclusive", reason="took longer than 5 s, its time limit"),
            {},
            "undecided",
            "out of time",
        ),
        (
            row(outcome="inconclusive", exit_code=127, reason="not found"),
            {},
            "undecided",
            "exit 127, undecided",
        ),
        (row(outcome="inconclusive", reason="odd"), {}, "undecided", "undecided"),
        (row(outcome="not_run", reason="no command proves it"), {}, "unasked", "not asked"),
        (
            row(outcome="not_run", status="pass", reason="judge: pass"),
            {"judged": "0.84, needs 0.75"},
            "proved",
            "judge 0.84, needs 0.75",
        ),
        (
            row(outcome="not_run", status="fail", reason="judge: fail"),
            {"judged": "0.62, needs 0.75"},
            "failed",
            "judge 0.62, needs 0.75",
        ),
        (
            row(outcome="not_run", status="pass", reason="said so"),
            {"approved_by": "R. Viewer"},
            "proved",
            "approved by R. Viewer",
        ),
        (
            row(outcome="not_run", command="make", status="pass"),
            {"required": False},
            "unasked",
            "not run, not required",
        ),
        (
            row(outcome="not_run", command="make", reason="not reached in the time that was left"),
            {},
            "unasked",
            "not run: not reached in the time that was l…",
        ),
        (row(outcome="not_executed", reason="not trusted here"), {}, "unasked", "not run"),
    ],
)
def test_a_row_says_its_result(
    given: dict[str, Any], details: dict[str, Any], mark: str, result: str
) -> None:
    assert row_meaning(given) == mark
    assert row_result(given, RowDetails(**details)) == result


def test_what_nobody_was_asked_waits_for_a_person_where_one_is_needed() -> None:
    asked = row(outcome="not_run", reason="no command proves it")
    shown = document(asked, verdict="needs_human_review", do="person_looks", reason="")
    shown["next_step_hint"] = "AC1: flow goal approve g AC1 --by NAME --note TEXT"
    lines = verdict(shown, AT_80, named=False)
    assert lines[0].startswith("◐ g  waits for you")
    assert lines[2] == "○ AC1  text of AC1  waits for you"
    assert lines[-1] == "next   AC1: flow goal approve AC1"
    elsewhere = verdict(shown, Screen(), named=False)[-1]
    assert elsewhere.endswith(" AC1: flow goal approve AC1 --by NAME --note TEXT")


# --- output ---------------------------------------------------------------------------------------


def failing(count: int, lines: int = 15) -> tuple[dict[str, Any], VerdictDetails]:
    rows = [row(f"AC{n}", "failed") for n in range(1, count + 1)]
    details = {each["criterion_id"]: RowDetails(output=lines_of_output(lines)) for each in rows}
    return document(*rows, reason=""), VerdictDetails(details)


def test_sixty_lines_of_output_are_shown_in_all() -> None:
    lines = verdict(*failing(6)[:1], AT_80, failing(6)[1])
    assert sum(line.startswith("line ") for line in lines) == 60
    assert "AC5, AC6: flow evidence show AC5 --goal g" in lines


@pytest.mark.parametrize(("output", "count"), [("failed", 2), ("all", 5), ("none", 0)])
def test_whose_output_is_shown(output: Any, count: int) -> None:
    rows = [
        row("AC1", "failed"),
        row("AC2"),
        row("AC3", "failed"),
        row("AC4", "inconclusive", reason="vacuous: no test ran"),
        row("AC5"),
    ]
    tails = {each["criterion_id"]: RowDetails(output=lines_of_output(1)) for each in rows}
    tails["AC3"] = RowDetails(required=False, output=lines_of_output(1))
    lines = verdict(document(*rows), AT_80, VerdictDetails(tails), output=output)
    assert lines.count("line 0") == count
    assert "no test ran" in lines  # the reason is Flow's own, and stands with any of them
    heads = [line.split("  ")[0] for line in lines if line.startswith("──")]
    expected = {"failed": ["AC1", "AC4"], "none": ["AC4"]}
    every = ["AC1", "AC3", "AC4", "AC2", "AC5"]
    assert heads == [f"── {name}" for name in expected.get(output, every)]


def test_an_output_without_a_line_says_so() -> None:
    tail = OutputTail(missing="it printed nothing")
    lines = verdict(document(row(outcome="failed")), AT_80, one(output=tail))
    assert lines[5] == "it printed nothing"


def one(**details: Any) -> VerdictDetails:
    return VerdictDetails({"AC1": RowDetails(**details)})


def test_a_line_of_output_is_cut_at_the_edge_and_made_visible() -> None:
    tail = OutputTail(("\tindented", "x" * 5000, "検" * 100, "a\u202eb\x07"), None)
    lines = verdict(document(row(outcome="failed")), AT_80, one(output=tail))
    assert lines[4].endswith(" last 4")  # some of the output was not kept, so no total is known
    assert lines[5] == "        indented"
    assert lines[6] == "x" * 78 + "…"
    assert lines[7] == "検" * 39 + "…"
    assert lines[8] == "a\\u202eb\\x07"
    lines = verdict(document(row(outcome="failed")), PIPE, one(output=tail))
    assert lines[6] == "x" * 400 + "…"


def test_a_line_that_is_offered_is_quoted_for_the_shell() -> None:
    given = row(outcome="inconclusive", reason="masked: y", text="it's \x1b fine")
    lines = verdict(document(given), AT_80, one(works="make x"))
    assert "flow goal amend g --criterion $'AC1: it\\'s \\033 fine :: make x'" in lines


@pytest.mark.parametrize("command", ["flow goal evaluate g", "flow goal approve g AC1"])
def test_a_judges_hint_stands_on_no_commands_line(command: str) -> None:
    """That line is copied into a shell, where ``$(…)`` of a judge would be run."""
    words = '"$(rm x); or flow goal clear g"'
    shown = document(row(outcome="failed"), next_step_hint=f"{command}; judge: {words}")
    assert verdict(shown, AT_80)[-2:] == [f"judge  {words}", f"next   {command}"]
    shown = document(row(outcome="failed"), next_step_hint=f"judge: {words}")
    assert verdict(shown, AT_80)[-2:] == [f"judge  {words}", "next   flow goal evaluate g"]


def test_of_two_ways_each_has_a_line_of_its_own() -> None:
    """So that each command can be copied whole."""
    hint = "AC1: flow goal approve g AC1; or ask a judge: flow goal evaluate g --judge-backend x"
    shown = document(row(outcome="failed"), next_step_hint=hint)
    assert verdict(shown, AT_80)[-2:] == [
        "next   AC1: flow goal approve g AC1",
        "or     ask a judge: flow goal evaluate g --judge-backend x",
    ]


def test_a_name_is_left_out_of_commands_only_as_a_word() -> None:
    shown = document(row(outcome="failed"), next_step_hint="flow goal evaluate g-2; flow goal g")
    assert verdict(shown, AT_80, named=False)[-1] == "next   flow goal evaluate g-2; flow goal g"


def test_a_part_of_a_verdict_that_others_recorded_is_shown_too() -> None:
    part = {"verdict": "achieved", "confidence": 1, "delta": "unchanged", "reason": "by hand"}
    assert verdict(part, PIPE) == ["✓ verdict  proved, nothing is proposed", "", "why    by hand"]
    odd = verdict({**part, "criterion_results": ["x"], "path_violations": [{"a": 1}]}, PIPE)
    assert '  ⊘ {"a": 1}' in odd
    handed = verdict({**part, "handed_in": True, "source": "x", "recorded_at": "t"}, PIPE)
    assert handed[1] == "handed in t as x; Flow did not record it after a run"


@pytest.mark.parametrize("screen", [PIPE, AT_80, AT_80._replace(columns=20)])
def test_no_foreign_text_moves_the_terminal(screen: Screen) -> None:
    keys = ("criterion_id", "text", "command", "status", "outcome", "evidence_ref", "reason")
    given = dict.fromkeys(keys, HOSTILE)
    shown = document(
        {**given, "exit_code": 0},
        {**given, "outcome": "failed", "exit_code": 1},
        goal_id=HOSTILE,
        reason=HOSTILE,
        next_step_hint=HOSTILE,
        path_violations=[HOSTILE],
        warnings=[HOSTILE],
        verdict=HOSTILE,
        do=HOSTILE,
    )
    tail = OutputTail((HOSTILE,), 1)
    details = RowDetails(True, HOSTILE, 1.0, None, False, HOSTILE, HOSTILE, HOSTILE)
    known = VerdictDetails({HOSTILE: details._replace(works=HOSTILE, output=tail)})
    for line in verdict(shown, screen, known, output="all"):
        assert not {"\x1b", "\n", "\u202e"} & set(line), line


COMMAND = re.compile(r"\bflow (?:goal|trust|evidence) [a-z]")


@pytest.mark.parametrize("before", ["", "x ", "x", "_", "é", "/", "flow ", "flow goal ", "flow x "])
@pytest.mark.parametrize("group", ["goal", "trust", "evidence", "judge", "goals", ""])
@pytest.mark.parametrize("rest", [" a", " A", " é", "", " ", "  a", " a; or flow goal b"])
def test_a_command_in_a_step_begins_where_it_is_one(before: str, group: str, rest: str) -> None:
    text = f"{before}flow {group}{rest}"
    found = COMMAND.search(text)
    assert begin_of_command(text) == (found.start() if found else len(text))
