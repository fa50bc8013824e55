"""The conversation that drafts a goal, with a person and a checkout in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from flow.app.drafting.conversation import Drafted, converse
from flow.core.drafting.draft import CreateRequest
from flow.core.drafting.offers import Offer
from flow.core.drafting.questions import (
    AskCriterion,
    AskEditAgain,
    AskName,
    AskOutcome,
    AskPaths,
    AskRubric,
    AskWrite,
    ChangedAlready,
    Noted,
    Refused,
    Trial,
    TrialBegan,
    Tried,
    WholeFile,
)
from flow.errors import InputError, OutsideError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.core.drafting.questions import DraftQuestion, Notice

NOTHING = CreateRequest()
PASSED = Trial("passed", "exit 0", 1.0)
FILE = ".flow/goals/NAME.goal.yaml"
FAILS = "the editor ends with status 1"


class Script:
    """A person whose answers are known; an answer too few is a fault of the test."""

    def __init__(self, *answers: str) -> None:
        self.left = list(answers)
        self.said: list[DraftQuestion | Notice] = []

    def ask(self, question: DraftQuestion) -> str:
        self.said.append(question)
        return self.left.pop(0)

    def tell(self, notice: Notice) -> None:
        self.said.append(notice)

    def asked(self) -> list[str]:
        return [type(one).__name__ for one in self.said if type(one).__name__.startswith("Ask")]


class Checkout:
    """A checkout whose goal file is what it was asked to hold."""

    def __init__(self) -> None:
        self.tried: list[str] = []
        self.edits: list[str] = []
        self.held: tuple[str, CreateRequest] | None = None

    def offered_commands(self) -> Sequence[Offer]:
        return (Offer("The tests pass", "pytest -q", "pyproject.toml"),)

    def goal_ids(self) -> Sequence[str]:
        return ("polite",)

    def check_name(self, name: str) -> None:
        if name in ("polite", "No"):
            raise InputError(f"{name} is not free", remedy="another")

    def default_ids(self) -> Sequence[str]:
        return ("AC2",)

    def check_command(self, criterion: dict[str, Any]) -> None:
        if criterion["verification_command"] == "if":
            raise InputError("bash -n refuses it", remedy="type it again")

    def remarks(self, criterion: dict[str, Any]) -> Sequence[str]:
        return ["masked"] if "||" in criterion["verification_command"] else []

    def attempt(self, criterion: dict[str, Any]) -> Trial:
        self.tried.append(criterion["verification_command"])
        return PASSED

    def check_rubric(self, name: str) -> None:
        if name != "documentation":
            raise InputError("there is no such rubric")

    def suggested_paths(self) -> Sequence[str]:
        return ("src/**",)

    def check_patterns(self, patterns: Sequence[str]) -> None:
        if "[" in patterns:
            raise InputError("no pattern")

    def changed_within(self, patterns: Sequence[str]) -> Sequence[str]:
        return ("src/a.py",)

    def denied(self) -> Sequence[str]:
        return ("*.key",)

    def text(self, goal_id: str, words: CreateRequest) -> tuple[str, str]:
        self.held = (goal_id, words)
        return FILE, "the text"

    def edited(self, text: str) -> str:
        left = self.edits.pop(0)
        if left == FAILS:
            raise OutsideError(left)
        return left

    def faults(self, text: str) -> Sequence[str]:
        return ["line 1: no"] if text == "bad" else []


def talk(
    *answers: str,
    words: CreateRequest = NOTHING,
    goal_id: str | None = None,
    edits: Sequence[str] = (),
) -> tuple[Drafted | None, Script, Checkout]:
    person, checkout = Script(*answers), Checkout()
    checkout.edits = list(edits)
    drafted = converse(person, checkout, words, goal_id)
    assert person.left == [], person.said
    return drafted, person, checkout


def held(checkout: Checkout) -> tuple[str, CreateRequest]:
    assert checkout.held is not None
    return checkout.held


def test_the_whole_conversation() -> None:
    drafted, person, checkout = talk(
        "It is polite now", "", "says so :: make", "a", "it reads well", "r documentation",
        "", "", "y",
    )  # fmt: skip
    assert drafted == Drafted("the text", as_draft=False, edited=False)
    name, words = held(checkout)
    assert (name, words.outcome, words.allow) == ("polite-now", "It is polite now", ("src/**",))
    rows = [(row["id"], row.get("verification_command"), row.get("rubric")) for row in words.more]
    assert rows == [
        ("AC1", "make", None), ("AC3", "pytest -q", None), ("AC4", None, "documentation"),
    ]  # fmt: skip
    assert checkout.tried == ["make", "pytest -q"]
    assert person.said == [
        AskOutcome(),
        AskName("polite-now"),
        AskCriterion(True, checkout.offered_commands()),
        TrialBegan("AC1"),
        Tried("AC1", PASSED),
        AskCriterion(False, checkout.offered_commands()),
        TrialBegan("AC3"),
        Tried("AC3", PASSED),
        AskCriterion(False, checkout.offered_commands()),
        AskRubric("AC4", "it reads well"),
        AskCriterion(False, checkout.offered_commands()),
        AskPaths(("src/**",)),
        ChangedAlready(("src/a.py",), ("*.key",)),
        AskWrite(FILE, "the text"),
    ]


ALL = CreateRequest(outcome="o", criteria=("c :: make",), allow=("src/**",))


@pytest.mark.parametrize(
    ("words", "goal_id", "answers", "asked"),
    [
        (ALL, "free", ("y",), []),
        (ALL, None, ("", "y"), ["AskName"]),
        (ALL._replace(outcome=None), "free", ("o", "y"), ["AskOutcome"]),
        (ALL._replace(criteria=()), "free", ("c", "", "", "y"), ["AskCriterion", "AskRubric"] * 1),
        (ALL._replace(criteria=(), fuzzy=("f",)), "free", ("y",), []),
        (ALL._replace(allow=()), "free", ("", "y"), ["AskPaths"]),
    ],
)
def test_a_question_that_a_flag_has_answered_is_left_out(
    words: CreateRequest, goal_id: str | None, answers: tuple[str, ...], asked: list[str]
) -> None:
    drafted, person, _ = talk(*answers, words=words, goal_id=goal_id)
    assert drafted is not None
    assert person.asked()[: len(asked)] == asked
    assert len(set(person.asked()) - {*asked, "AskWrite"}) == 0


def test_a_name_of_the_command_line_is_looked_at_before_anything_is_asked() -> None:
    with pytest.raises(InputError, match="polite is not free"):
        talk(goal_id="polite")


REFUSED = {
    "an outcome": (("", "o", "n", "c", "", "", "", ""), "a goal needs an outcome"),
    "a name": (("o", "No", "n", "c", "", "", "", ""), "No is not free"),
    "no criterion": (("o", "n", "", "c", "", "", "", ""), "at least one criterion"),
    "a command that bash refuses": (
        ("o", "n", "x :: if", "c", "", "", "", ""), "bash -n refuses it",
    ),
    "a criterion without text": (("o", "n", " :: x", "c", "", "", "", ""), "has no text"),
    "a command without a text": (("o", "n", ":: x", "c", "", "", "", ""), "has no text"),
    "a small id": (("o", "n", "ac1: x :: y", "c", "", "", "", ""), "ac1 is no criterion id"),
    "an id that is taken": (("o", "n", "AC2: x", "c", "", "", "", ""), "AC2 is there already"),
    "a rubric": (("o", "n", "c", "r no", "", "", "", ""), "there is no such rubric"),
    "a text that is no command": (
        ("o", "n", "if", "c", "", "", "", ""), "bash -n refuses it",
    ),
    "an answer of another kind": (("o", "n", "c", "what", "", "", "", ""), "that is no answer"),
    "a rubric without a name": (("o", "n", "c", "r", "", "", "", ""), "that is no answer"),
    "a pattern": (("o", "n", "c", "", "", "[", "", ""), "no pattern"),
}  # fmt: skip


@pytest.mark.parametrize(("answers", "why"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_taken_is_asked_for_again(answers: tuple[str, ...], why: str) -> None:
    drafted, person, checkout = talk(*answers)
    assert drafted is None  # the last answer is Enter
    (refusal,) = [one for one in person.said if isinstance(one, Refused)]
    assert why in refusal.why
    assert checkout.tried == []
    (row,) = held(checkout)[1].more
    assert row["text"] in ("c", "if")
    assert "verification_command" not in row


def test_a_command_that_was_typed_alone_is_one_on_a_word() -> None:
    _, person, checkout = talk("o", "n", "pytest -q tests", "c", "", "", "y")
    assert checkout.tried == ["pytest -q tests"]
    assert person.asked().count("AskRubric") == 1
    (row,) = held(checkout)[1].more
    assert (row["text"], row["verification_command"]) == ("pytest -q tests",) * 2


def test_a_masked_command_is_taken_with_a_note() -> None:
    _, person, checkout = talk("o", "n", "x :: make || true", "", "", "")
    assert Noted("masked") in person.said
    assert [row["verification_command"] for row in held(checkout)[1].more] == ["make || true"]


@pytest.mark.parametrize(
    ("answers", "edits", "expected"),
    [
        (("",), (), None),
        (("n",), (), None),
        (("q",), (), None),
        (("maybe", "y"), (), Drafted("the text", False, False)),
        (("e", "ee", "", "y"), ("bad", "mine"), Drafted("mine", False, True)),
        (("y",), (), Drafted("the text", False, False)),
        (("YES",), (), Drafted("the text", False, False)),
        (("d",), (), Drafted("the text", True, False)),
        (("v", "d"), (), Drafted("the text", True, False)),
        (("e", "y"), ("mine",), Drafted("mine", False, True)),
        (("e", "y"), ("the text",), Drafted("the text", False, False)),
        (("e", "", "y"), ("bad", "mine"), Drafted("mine", False, True)),
        (("e", "n"), ("bad",), None),
        (("e",), ("",), None),
        (("e", "y"), (FAILS,), Drafted("the text", False, False)),
        (("e", "", "y"), ("bad", FAILS), Drafted("the text", False, False)),
        (("e", "e", "y"), ("mine", FAILS), Drafted("mine", False, True)),
        (("e", ""), ("mine",), None),
    ],
)
def test_nothing_is_written_without_a_yes(
    answers: tuple[str, ...], edits: tuple[str, ...], expected: Drafted | None
) -> None:
    drafted, person, _ = talk(*answers, words=ALL, goal_id="free", edits=edits)
    assert drafted == expected
    assert (WholeFile("the text") in person.said) == ("v" in answers)
    assert (AskEditAgain(["line 1: no"]) in person.said) == ("bad" in edits)
    assert (FAILS in str(person.said)) == (FAILS in edits)
    slipped = [said.why for said in person.said if isinstance(said, Refused) and said.remedy]
    assert slipped == ["that is no answer here"] * bool({"maybe", "ee"} & set(answers))
