"""``from flow import judge``: what a caller in Python gets."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import flow
from flow import NotPassed, NoUsableAnswer, Rubric, RubricCriterion, ajudge, judge
from flow.errors import ContractError, FlowError, InputError, PersonNeeded
from tests.support import ROOT, GitRepo
from tests.support.goal_judge import GoalJudge
from tests.support.judges.rubric_replies import Scripted, reply

RUBRIC = Rubric(
    "Greeting",
    [
        RubricCriterion("polite", "Says please or thank you", weight=3),
        RubricCriterion("short", "Has at most ten words", threshold=0.5),
    ],
)
GOOD = reply({"polite": 0.8, "short": 0.5}, "please")
BAD = reply({"polite": 0.8, "short": 0.4})


def says(value: Any) -> Any:
    def scripted(prompt: str) -> Any:
        assert "<<<flow-data" in prompt
        return value

    return scripted


def test_a_judgement() -> None:
    result = judge("give me that, please", RUBRIC, backend=says(GOOD))
    assert result.passed is True
    assert result.score == 0.725
    assert [(c.name, c.score, c.passed) for c in result.criteria] == [
        ("polite", 0.8, True),
        ("short", 0.5, True),
    ]
    assert result.reasoning == "the overall picture"
    assert result.suggestions == ("do more",)


def test_a_criterion_below_its_own_threshold_fails_the_rubric() -> None:
    result = judge("give me that, please", RUBRIC, backend=says(BAD))
    assert (result.score, result.passed) == (0.7, False)


def test_throw_on_fail_raises_with_the_result() -> None:
    with pytest.raises(NotPassed) as caught:
        judge("text", RUBRIC, backend=says(BAD), throw_on_fail=True)
    assert isinstance(caught.value, FlowError)
    assert isinstance(caught.value.result, flow.JudgeResult)
    assert caught.value.result.score == 0.7
    assert str(caught.value).endswith("0.7, passing at 0.7; below its own threshold: "
                                      "short 0.4 (needs 0.5)")  # fmt: skip
    assert judge("text", RUBRIC, backend=says(GOOD), throw_on_fail=True).passed


@dataclass
class Review:
    passed: bool
    score: float
    issues: list[str]


def test_a_result_format_is_what_comes_back() -> None:
    said = {**BAD, "result": {"passed": True, "score": 100, "issues": ["long"]}}
    found = judge("text", RUBRIC, result_format=Review, backend=says(said))
    assert found == Review(False, 0.7, ["long"])
    with pytest.raises(NotPassed) as caught:
        judge("text", RUBRIC, result_format=Review, backend=says(said), throw_on_fail=True)
    assert caught.value.result == found


def test_a_result_format_is_asked_for() -> None:
    one = Scripted({**GOOD, "result": {"passed": True, "score": 1, "issues": []}})
    judge("text", RUBRIC, result_format=Review, backend=one)
    schema = one.questions[0].schema
    assert schema["properties"]["result"]["required"] == ["passed", "score", "issues"]
    assert "result" in schema["required"]


def test_a_reply_without_the_asked_result_is_no_answer() -> None:
    with pytest.raises(NoUsableAnswer, match="does not fit"):
        judge("text", RUBRIC, result_format=Review, backend=says(GOOD))


def test_samples_are_counted_by_the_median_and_said() -> None:
    replies = [reply({"polite": s, "short": 1}) for s in (0.2, 0.9, 0.8)]
    result = judge("text", RUBRIC, backend=Scripted(*replies), samples=3)
    assert result.criteria[0].score == 0.8
    assert result.criteria[0].scores == (0.2, 0.9, 0.8)
    assert (result.method, result.samples) == ("median of 3 answers", 3)
    assert result.spread == 0.525


def test_instructions_reach_the_prompt_as_the_callers_words() -> None:
    one = Scripted(GOOD)
    judge("text", RUBRIC, "Judge the first line only.", backend=one)
    assert "\n> Judge the first line only.\n" in one.questions[0].prompt


def test_every_call_has_another_nonce() -> None:
    one = Scripted(GOOD)
    judge("text", RUBRIC, backend=one)
    judge("text", RUBRIC, backend=one)
    assert one.questions[0].prompt != one.questions[1].prompt


def test_an_answer_never_comes_from_nowhere() -> None:
    with pytest.raises(NoUsableAnswer, match="no judge is configured") as caught:
        judge("text", RUBRIC)
    assert isinstance(caught.value, PersonNeeded)
    assert caught.value.code == "not_configured"


def test_what_a_callers_function_raises_is_the_cause() -> None:
    def broken(prompt: str) -> Any:
        raise OSError("no line")

    with pytest.raises(NoUsableAnswer, match="broken raised OSError: no line") as caught:
        judge("text", RUBRIC, backend=broken)
    assert isinstance(caught.value.__cause__, OSError)


UNUSABLE: list[tuple[Any, str]] = [
    ({}, "wrong_shape"), (reply({"polite": 1}), "wrong_shape"), ("text", "wrong_shape"),
    (reply({"polite": 2, "short": 1}), "wrong_shape"),
    (reply({"polite": float("nan"), "short": 1}), "wrong_shape"),
]  # fmt: skip


@pytest.mark.parametrize(("said", "code"), UNUSABLE)
def test_anything_else_is_no_answer(said: Any, code: str) -> None:
    with pytest.raises(NoUsableAnswer) as caught:
        judge("text", RUBRIC, backend=says(said))
    assert caught.value.code == code


WRONG: list[tuple[dict[str, Any], type[FlowError], str]] = [
    ({"rubric": 3}, InputError, "no rubric"),
    ({"rubric": "nonsense"}, InputError, "there is no rubric"),
    ({"rubric": {"name": "x"}}, ContractError, "criteria"),
    ({"subject": ""}, InputError, "empty"),
    ({"subject": Path("missing")}, InputError, "cannot be read"),
    ({"samples": 0}, InputError, "no number of samples"),
    ({"samples": 26}, InputError, "no number of samples"),
    ({"samples": True}, InputError, "no number of samples"),
    ({"instructions": 3}, InputError, "not text"),
    ({"backend": 3}, InputError, "no judge"),
    ({"backend": "nonsense"}, NoUsableAnswer, "names no backend"),
    ({"result_format": 3}, InputError, "not a result format"),
]


@pytest.mark.parametrize(("change", "error", "why"), WRONG, ids=[row[2] for row in WRONG])
def test_a_wrong_call_is_an_error_of_flows(
    change: dict[str, Any], error: type[FlowError], why: str
) -> None:
    call = {"subject": "text", "rubric": RUBRIC, "backend": says(GOOD), **change}
    with pytest.raises(error) as caught:
        judge(**call)
    assert why in str(caught.value)


def test_rubrics_by_mapping_name_and_file(repo: GitRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    document = {"name": "G", "criteria": [{"name": "polite", "description": "d"}],
                "passingThreshold": 0.9}  # fmt: skip
    repo.write(".flow/rubrics/house.yaml", json.dumps(document))
    repo.write("own.json", json.dumps(document))
    monkeypatch.chdir(repo.path)
    said = says(reply({"polite": 0.9}))
    for rubric in (document, "house", "own.json", Path("own.json")):
        result = judge("text", rubric, backend=said)
        assert (result.rubric, result.passing_threshold, result.passed) == ("G", 0.9, True)
    ready = reply({"api-docs": 1, "readme": 1, "inline-comments": 1})
    assert judge("text", "documentation", backend=says(ready)).score == 1


def test_warnings_of_a_rubric_are_remarks() -> None:
    rubric = Rubric("G", [RubricCriterion("Not Kebab", "d")])
    result = judge("text", rubric, backend=says(reply({"Not Kebab": 1})))
    assert any("kebab-case" in remark for remark in result.remarks)


# --- async ---------------------------------------------------------------------------------------


def test_the_async_twin() -> None:
    async def several() -> list[Any]:
        return await asyncio.gather(
            ajudge("text", RUBRIC, backend=says(GOOD)), ajudge("text", RUBRIC, backend=says(BAD))
        )

    assert [result.passed for result in asyncio.run(several())] == [True, False]


def test_a_coroutine_as_backend_runs_on_the_callers_loop() -> None:
    loops = []

    async def scripted(prompt: str) -> Any:
        await asyncio.sleep(0)
        loops.append(asyncio.get_running_loop())
        return GOOD

    async def main() -> bool:
        result = await ajudge("text", RUBRIC, backend=scripted)
        return result.passed and loops == [asyncio.get_running_loop()]

    assert asyncio.run(main())
    assert judge("text", RUBRIC, backend=scripted).passed


def test_the_async_twin_raises_the_same() -> None:
    with pytest.raises(NotPassed):
        asyncio.run(ajudge("text", RUBRIC, backend=says(BAD), throw_on_fail=True))


# --- with the settings' judge ---------------------------------------------------------------------


def test_the_configured_judge_is_a_real_program(tmp_path: Path, home: Path) -> None:
    program = GoalJudge(tmp_path / "judge", home)
    program.answers(GOOD)
    result = judge("give me that, please", RUBRIC)
    assert (result.passed, result.judge) == (True, "command")
    assert "give me that, please" in program.prompts[0]
    assert program.schemas[0]["required"] == ["criteria", "reasoning", "suggestions"]
    program.says({"exit": 3})
    with pytest.raises(NoUsableAnswer, match="command"):
        judge("text", RUBRIC, backend="command")


def test_a_checkout_cannot_name_a_judge(repo: GitRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"flow": {"goals": {"judge": {"backend": "command", "command": ["true"]}}}}
    repo.write(".claude/settings.flow.json", json.dumps(settings))
    monkeypatch.chdir(repo.path)
    with pytest.raises(NoUsableAnswer, match="no judge is configured"):
        judge("text", RUBRIC)


def test_importing_flow_costs_nothing() -> None:
    code = (
        "import sys, flow; heavy = {'dataclasses', 'yaml', 'jsonschema', 'flow.api_judge'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {ROOT!r}); {code}"],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert done.stdout == "[]\n"


def test_errors_have_the_fields_that_the_docs_name() -> None:
    kinds = {"InputError", "ContractError", "StateError", "RefusedError", "OutsideError"}
    assert kinds | {"FlowError", "PersonNeeded", "NotPassed"} <= set(flow.__all__)
    with pytest.raises(flow.InputError) as caught:
        flow.judge("text", "nonsense")
    error = caught.value
    assert isinstance(error, flow.FlowError)
    assert (error.code, error.exit_code) == ("not_found", 2)
    for field in ("message", "file", "key", "value", "remedy"):
        assert hasattr(error, field)


def test_every_public_name_is_there() -> None:
    for name in flow.__all__:
        assert getattr(flow, name) is not None
    assert callable(flow.judge)
