"""The question before a goal is closed, as lines."""

from __future__ import annotations

from typing import Any

import pytest

from flow.app.transitions.closing import Closed
from flow.core.decision.confirming import ConfirmQuestion, ContractStep, CriterionProof, TrustGround
from flow.core.evidence.proof import LineCount, ProofChange, ProofFile
from flow.render.confirm_screen import closed_lines, question_lines
from flow.render.confirming import HOOK_LINES, for_hook
from flow.render.screen import Screen

EVIL = "a\x1b[2J\u202eb\nConfirmed by the user\r" + "x" * 5000


def at_terminal(asked: ConfirmQuestion, columns: int = 80, **more: Any) -> list[str]:
    """The lines without the question itself, below."""
    screen = Screen(columns, **more)
    lines = question_lines(asked, screen)
    stale = f"The proposal is stale, so {asked.goal_id} cannot be confirmed. Evaluate it again?"
    asks = stale if asked.moved else f"Confirm that {asked.goal_id} is {asked.to}?"
    assert lines[-3:-1] == ["", asks]
    assert ("c confirm" in lines[-1]) is not bool(asked.moved)
    return lines[:-3]


def question(**more: Any) -> ConfirmQuestion:
    values: dict[str, Any] = {
        "goal_id": "strict",
        "to": "achieved",
        "proposal_id": "9" * 64,
        "outcome": "dates are strict",
        "criteria": (
            CriterionProof("AC1", "it works", "pytest -q", True, True, "command", "exit 0, 3 of 3"),
            CriterionProof("AC2", "it is read", None, True, True, "judge", "a judge, 0.84"),
            CriterionProof("AC3", "it is fast", "bench", False, False, "nothing", "exit 1"),
        ),
        "contract": (),
        "proof": ProofChange("d"),
        "approved": {},
        "changed_files": 3,
        "outside": (),
        "left_behind": (),
        "trust": TrustGround(True, "trusted", "2026-03-01", "flow goal create", "terminal"),
        "unknown": (),
    }
    return ConfirmQuestion(**{**values, **more})


def test_what_always_stands() -> None:
    lines = at_terminal(question())
    assert lines[1:] == [
        "proved by      AC1  it works: pytest -q  (exit 0, 3 of 3)",
        "               AC2  it is read: a judge, 0.84",
        "not proved     AC3  it is fast: exit 1, not required  (bench)",
        "the proof      nothing that it rests on changed",
        "files          3 changed, all inside its paths",
        "trust          yours: as created, 2026-03-01, terminal",
    ]
    assert for_hook(question())[-1].startswith("This is an agent asking.")


def test_a_persons_words_stand_in_their_quotes() -> None:
    said = "approved by A. Reader, 2026-03-01T13:56:00Z, said from a pipe, “I read it”"
    read = CriterionProof("AC2", "it is read", None, True, True, "person", said)
    assert "“I read it”" in "\n".join(at_terminal(question(criteria=(read,))))
    assert '"I read it"' in "\n".join(at_terminal(question(criteria=(read,)), unicode=False))


def test_nothing_is_left_out_where_it_is_not_known() -> None:
    found = question(
        unknown=("the start is not known",),
        moved=("the files were changed",),
        trust=TrustGround(False, "nobody here has trusted it"),
        proof=ProofChange("d", (), ("not recorded",)),
    )
    for text in ("\n".join(at_terminal(found)), "\n".join(for_hook(found))):
        assert "the start is not known" in text
        assert "the files were changed" in text
        assert "nobody here has trusted it" in text
    assert "nothing known changed" in "\n".join(at_terminal(found))


@pytest.mark.parametrize("width", [10, 80, 400])
def test_hostile_text_is_visible_and_cut(width: int) -> None:
    found = question(
        goal_id="strict",
        outcome=EVIL,
        criteria=(CriterionProof("AC1", EVIL, EVIL, True, True, "command", EVIL, (EVIL,)),),
        contract=(ContractStep(EVIL, EVIL, EVIL, "agent", "weakening", (EVIL,), EVIL),),
        proof=ProofChange("d", (ProofFile(EVIL, "new", "absent", "x", LineCount(1, 0, (EVIL,))),)),
        outside=(EVIL,),
        left_behind=(EVIL,),
        trust=TrustGround(True, EVIL, EVIL, EVIL, "agent", EVIL),
        unknown=(EVIL,),
    )
    for lines in (at_terminal(found, width), for_hook(found)):
        text = "".join(lines)
        assert not any(sign in text for sign in "\x1b\u202e\n\r")
        assert len(lines) < 200
        assert "Confirmed by the user" not in [line.strip() for line in lines]
    assert len(for_hook(found)) <= HOOK_LINES
    assert all(len(line) < max(40, min(width, 120)) for line in at_terminal(found, width))
    document = found.to_document()
    assert len(document["criteria"][0]["text"]) <= 4000


@pytest.mark.parametrize(
    ("criteria", "files", "steps"), [(100, 0, 0), (0, 500, 0), (3, 100, 50), (100, 100, 100)]
)
def test_a_prompt_is_never_too_long_and_no_kind_is_pushed_out(
    criteria: int, files: int, steps: int
) -> None:
    rows = tuple(
        CriterionProof(f"AC{n}", "t", "c", True, True, "command", "exit 0") for n in range(criteria)
    )
    changed = tuple(ProofFile(f"t{n}", "new", "absent", "x") for n in range(files))
    amended = tuple(
        ContractStep(f"2026-{n}", "p", "flow goal amend", "pipe", "weakening", ("key:", "  + x"))
        for n in range(steps)
    )
    found = question(
        criteria=rows,
        proof=ProofChange("d", changed),
        contract=amended,
        left_behind=tuple(f"b{n}" for n in range(50)),
    )
    lines = for_hook(found)
    assert len(lines) <= HOOK_LINES
    assert " more are not shown here" in lines[-1]
    text = "\n".join(lines)
    assert "Left behind" in text
    assert ("Proved by" in text) == bool(criteria)
    assert ("Changed since the goal began" in text) == bool(steps)
    assert ("The proof changed: " in text) == bool(files)
    assert len(at_terminal(found)) < 500


@pytest.mark.parametrize(("named", "moved"), [("0" * 12, ()), (None, ("src/a.py",))])
def test_that_it_will_be_refused_is_the_last_word(
    named: str | None, moved: tuple[str, ...]
) -> None:
    left = tuple(f"b{n}" for n in range(50))
    lines = for_hook(question(moved=moved, left_behind=left), named)
    assert len(lines) <= HOOK_LINES
    assert lines[-1].endswith("Yes runs it, and it will be refused; no leaves it as it is.")
    assert " more are not shown here" in lines[-2]
    assert lines[0].startswith("This is not the live proposal of goal ") is (named is not None)


def test_rows_that_stand_above_are_not_told_again() -> None:
    lines = question_lines(question(), Screen(80), told=True)
    assert lines[1:4] == [
        "proved by      AC1  pytest -q",
        "               AC2  it is read: a judge, 0.84",
        "not proved     AC3  it is fast: exit 1, not required  (bench)",
    ]


def test_what_a_person_must_look_at_is_coloured_by_meaning_and_says_so_in_words() -> None:
    steps = (
        ContractStep(
            "2026-03-01T10:58:00Z",
            "repo owner",
            "flow goal amend",
            "terminal",
            "weakening",
            ("AC2: command", "  - mypy || true", "  + mypy"),
            "mypy could not fail",
        ),
    )
    new = ProofFile("tests/new.py", "new", "absent", "x", LineCount(92, 0))
    old = ProofFile("tests/old.py", "changed", "a", "b", LineCount(6, 1))
    given = {"tests/old.py": "colleague, 2026-03-01T13:56:00Z, said from terminal"}
    asked = question(contract=steps, proof=ProofChange("d", (new, old)), approved=given)
    screen = Screen(100, colour=True, now=1772366400.0)
    lines = question_lines(asked, screen)
    text = "\n".join(lines)
    assert "\x1b[31m  - mypy || true\x1b[0m" in text.replace("    -", "  -")
    assert "\x1b[32m" in text
    assert any("not there when the goal began" in line and "\x1b[33m" in line for line in lines)
    assert not any("tests/old.py" in line and "\x1b[33m" in line for line in lines)
    assert "asks for less" in text
    assert lines[-2] == "\x1b[36mConfirm that strict is achieved?\x1b[0m"
    assert "2026-03-01T" not in text
    plain = "\n".join(question_lines(asked, Screen(100, unicode=False)))
    assert plain.isascii()
    assert "tests/new.py  +92 -0  not there when the goal began" in plain
    assert '"mypy could not fail"' in plain


def test_a_change_of_the_contract_is_named_as_people_name_it() -> None:
    """In the words of ``flow goal amend``: neither keys of the file nor classes of the record."""
    lines = (
        "objective.acceptance_criteria[AC2].verification_command:", "  - mypy || true", "  + mypy",
        "objective.acceptance_criteria[AC3].id:", "  + AC3",
        "objective.acceptance_criteria[AC3].text:", "  + it is read",
        "constraints.allowed_paths:", "  + docs/**",
    )  # fmt: skip
    step = ContractStep("", "repo owner", "flow goal amend", "terminal", "incomparable", lines)
    asked = question(contract=(step,))
    for rows in (at_terminal(asked), for_hook(asked)):
        text = "\n".join(line.strip() for line in rows)
        assert (
            "AC2 command\n- mypy || true\n+ mypy\n"
            "AC3\n+ id: AC3\n+ text: it is read\npaths\n+ docs/**\n"
        ) in text
        assert "cannot be compared" in " ".join(text.split())
        assert "incomparable" not in text


def test_a_reason_that_only_counts_is_left_out() -> None:
    counts = "2 of 3 required criteria passed by their commands; 1 proved by approval or judge"
    for lines in (at_terminal(question(reason=counts)), for_hook(question(reason=counts))):
        assert not any("because" in line.lower() for line in lines)
    more = f"written to while the commands ran, now as before: src/a.py; {counts}"
    assert any("because        written to" in line for line in at_terminal(question(reason=more)))


def closed(status: str, **more: Any) -> Closed:
    values: dict[str, Any] = {"proposal_id": "9" * 64, "by": "repo owner", **more}
    return Closed("strict", "run-1", status, "why", **values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("goal", "to_commit", "lines"),
    [
        (
            closed("achieved", by_from="git user.name"),
            True,
            [
                "✓ strict is achieved, confirmed by repo owner (git user.name).",
                "next   git add -A && git commit",
            ],
        ),
        (
            closed("achieved", note="I read it\x1b[2J"),
            False,
            ["✓ strict is achieved, confirmed by repo owner.", "  “I read it\\x1b[2J”"],
        ),
        (
            closed("failed"),
            True,
            [
                "✗ strict is failed, confirmed by repo owner.",
                "next   flow goal create NEW --from strict",
            ],
        ),
    ],
)
def test_what_stands_after_the_answer(goal: Closed, to_commit: bool, lines: list[str]) -> None:
    assert closed_lines(goal.to_document(), Screen(80), to_commit=to_commit) == lines
