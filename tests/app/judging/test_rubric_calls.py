"""From a caller's arguments to a judgement by a rubric, without a checkout."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from flow.app.judging import calibrating, rubric_calls
from flow.app.judging.calibrating import CaseFile, TriedCase
from flow.app.judging.labelling import LabelLine
from flow.app.judging.port import AskJudge, NoAnswer, Usage, no_answer
from flow.app.judging.rubric_calls import LoadedRubric, RubricCall
from flow.core.judging.rubric.calibration import Label
from flow.core.judging.rubric.calibration_cases import Case
from flow.core.judging.rubric.model import Rubric, RubricCriterion
from flow.core.settings import JudgeSettings
from flow.core.untrusted.fences import FencedPart
from flow.errors import InputError, NotPassed, NoUsableAnswer
from tests.support.judges.rubric_replies import Scripted, reply

RUBRIC = Rubric("Greeting", [RubricCriterion("polite", "Says please or thank you")])
GOOD, BAD = reply({"polite": 0.9}, "please"), reply({"polite": 0.1})


class Form(NamedTuple):
    """A form that notes what it is filled with."""

    schema: dict[str, Any]

    def result(self, value: object, *, score: float, passed: bool) -> Any:
        return value, score, passed


class Folder:
    """A folder with two rubrics, one of them broken, and one judge."""

    def __init__(self, judge: AskJudge | None, min_kappa: float | None = None) -> None:
        self.ask = judge
        self.settings = JudgeSettings(min_kappa=min_kappa, timeout_seconds=60)
        self.rubrics = self
        self.book: list[LabelLine] = []
        self.warnings = ("line 2 was skipped",)

    def find(self, name: str) -> LoadedRubric:
        if name != "greeting":
            raise InputError(f"{name} is broken")
        return LoadedRubric(name, RUBRIC, "project", "r.yaml", "0" * 64, ("r.yaml: a warning",))

    def find_or_read(self, named: str) -> LoadedRubric:
        return self.find(named)

    def read_path(self, path: Any) -> LoadedRubric:
        return self.find(path.stem)

    def names(self) -> tuple[str, ...]:
        return ("greeting", "odd")

    def never_used(self) -> list[str]:
        return []

    def judge(self, backend: Any) -> AskJudge:
        judge = backend or self.ask
        if judge is None:
            raise no_answer(NoAnswer("not_configured", "set a backend", Usage("none")))
        return judge  # type: ignore[no-any-return]

    def parts(self, subject: Any) -> tuple[FencedPart, ...]:
        return (FencedPart("subject", subject),)

    def result_form(self, wanted: Any) -> Form:
        return Form(wanted)

    def nonce(self, content: str) -> str:
        return rubric_calls.content_nonce(content)

    def label_log(self) -> Folder:
        return self

    def subject_file(self, cases_file: str, name: str) -> bytes:
        return f"{cases_file} {name}, please".encode()

    def now(self) -> str:
        return "2026-01-05T00:00:00Z"

    def add(self, lines: Any) -> None:
        self.book += lines

    def lines(self) -> tuple[LabelLine, ...]:
        return tuple(self.book)

    def labels(self, judge: str) -> tuple[Label, ...]:
        return tuple(Label(line.person, line.judged) for line in self.book if line.judge == judge)


@pytest.mark.parametrize(
    ("rubric", "origin"),
    [
        (RUBRIC, "value"),
        (RUBRIC.to_document(), "value"),
        ("greeting", "project"),
        (Path("greeting.yaml"), "project"),
    ],
)
def test_a_rubric_in_every_form(rubric: Any, origin: str) -> None:
    loaded = rubric_calls.load(Folder(None), rubric)
    assert (loaded.origin, loaded.rubric.name) == (origin, "Greeting")


def test_anything_else_is_no_rubric() -> None:
    with pytest.raises(InputError, match="float is no rubric"):
        rubric_calls.load(Folder(None), 0.5)


def test_a_judgement_has_the_rubrics_warnings() -> None:
    result = rubric_calls.judge(Folder(Scripted(GOOD)), RubricCall("stop it, please", "greeting"))
    assert (result.passed, result.remarks[-1]) == (True, "r.yaml: a warning")


def test_one_that_does_not_pass_raises_with_the_callers_form() -> None:
    folder = Folder(Scripted({**BAD, "result": {"kind": "rude"}}))
    call = RubricCall("stop it", "greeting", result_format={"type": "object"})
    assert rubric_calls.judge(folder, call) == ({"kind": "rude"}, 0.1, False)
    with pytest.raises(NotPassed) as caught:
        rubric_calls.judge(folder, call._replace(throw_on_fail=True))
    assert caught.value.result == ({"kind": "rude"}, 0.1, False)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [({"samples": 0}, "no number of samples"), ({"instructions": 3}, "not text")],
)
def test_a_wrong_call_asks_nobody(wrong: Mapping[str, Any], words: str) -> None:
    judge = Scripted(GOOD)
    with pytest.raises(InputError, match=words):
        rubric_calls.judge(Folder(judge), RubricCall("text", "greeting")._replace(**wrong))
    assert judge.questions == []


def test_the_question_is_shown_without_a_judge() -> None:
    shown = rubric_calls.shown_question(Folder(None), RubricCall("stop it", "greeting"))
    assert "stop it" in shown.prompt
    with pytest.raises(NoUsableAnswer):
        rubric_calls.prepare(Folder(None), RubricCall("stop it", "greeting"))


def test_a_broken_rubric_is_listed_with_its_error() -> None:
    whole, broken = rubric_calls.listing(Folder(None))
    assert (whole["name"], whole["warnings"]) == ("greeting", ["r.yaml: a warning"])
    assert (broken["name"], broken["warnings"]) == ("odd", ["odd is broken"])


# --- calibrating --------------------------------------------------------------------------------


def case(id: str, label: bool, subject: Any = "x, please", **more: Any) -> Case:
    fields = {"file": None, "rubric": None, "instructions": None, **more}
    return Case(id, label, subject, **fields)


def tried(folder: Folder, *cases: Case, rubric: str | None = "greeting") -> tuple[Any, list[Any]]:
    seen: list[TriedCase] = []
    document = calibrating.try_cases(
        folder, CaseFile("cases.yaml", cases, rubric), backend=None, samples=1, progress=seen.append
    )
    return document, seen


def test_each_usable_answer_becomes_a_label() -> None:
    folder = Folder(Scripted(GOOD, "too slow", BAD))
    cases = [case(id, id == "a", f"{id}, please") for id in "abc"]
    document, seen = tried(folder, *cases)
    assert [(one.case.id, one.judged) for one in seen] == [("a", True), ("b", None), ("c", False)]
    assert [(line.about, line.person, line.judged, line.source) for line in folder.book] == [
        ("a", True, True, "calibrate"),
        ("c", False, False, "calibrate"),
    ]
    assert (document["cases"], document["labels"]) == (3, 2)
    assert [row["id"] for row in document["no_answer"]] == ["b"]


def test_one_case_is_one_key_and_other_content_another() -> None:
    folder = Folder(Scripted(GOOD))
    tried(folder, case("a", True))
    tried(folder, case("b", True), case("c", True, "y, please"))
    first, same, other = (line.key for line in folder.book)
    assert first == same != other


def test_a_case_without_a_rubric_is_refused_before_anybody_is_asked() -> None:
    judge = Scripted(GOOD)
    with pytest.raises(InputError, match="case 'b' names no rubric"):
        tried(Folder(judge), case("a", True, rubric="greeting"), case("b", True), rubric=None)
    assert judge.questions == []


def test_a_file_is_read_beside_the_cases() -> None:
    judge = Scripted(GOOD)
    tried(Folder(judge), case("a", True, None, file="sub.txt"))
    assert "cases.yaml sub.txt, please" in judge.questions[0].prompt


def test_the_history_of_each_judge() -> None:
    folder = Folder(None, min_kappa=0.5)
    folder.add(LabelLine("t", name, "k", "a", True, True, "confirm") for name in ("x", "y", "x"))
    document = calibrating.label_history(folder)
    assert [(row["judge"], row["labels"]) for row in document["judges"]] == [("x", 2), ("y", 1)]
    assert document["judges"][0]["sources"] == {"confirm": 2}
    assert not document["judges"][0]["believed"]["ok"]
    assert document["warnings"] == ["line 2 was skipped"]
