"""What only the ``openai`` backend does. The real SDK against a scripted server on loopback."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from flow.adapters.judges.budget import Budget
from flow.app.judging.port import JudgeAnswer, NoAnswer
from flow.core.judging.common.question import Question
from flow.core.settings import JudgeSettings
from tests.adapters.judges.scene import ANSWER, KEY, QUESTION, SCHEMA, SECONDS, judge
from tests.support.judges.judge_servers import ChatApi, chat, refuse
from tests.support.loopback import Response, json_response

if TYPE_CHECKING:
    from pathlib import Path

    from tests.adapters.judges.scene import Asked

pytestmark = pytest.mark.slow

GOOD = chat(json.dumps(ANSWER))


def asked(api: ChatApi, work: Path, **more: Any) -> Asked:
    env = {"OPENAI_API_KEY": KEY, **more.pop("env", {})}
    settings = JudgeSettings(backend="openai", model="m:8b", base_url=f"{api.url}/v1")
    return judge(settings, work, env=env, **more)


def test_the_schema_goes_along_in_strict_mode(tmp_path: Path) -> None:
    with ChatApi(GOOD) as api:
        judged = asked(api, tmp_path)
        found = judged.ask(QUESTION, seconds=SECONDS)
    assert isinstance(found, JudgeAnswer)
    assert judged.ask.name == "openai:m:8b"
    (body,) = api.calls
    assert body["model"] == "m:8b"
    assert body["response_format"]["json_schema"]["strict"] is True
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert api.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert "tools" not in body


def test_a_schema_with_optional_keys_is_not_called_strict(tmp_path: Path) -> None:
    schema = {**SCHEMA, "required": ["verdict"]}
    with ChatApi(GOOD) as api:
        question = QUESTION._replace(schema=schema)
        assert isinstance(asked(api, tmp_path).ask(question, seconds=SECONDS), JudgeAnswer)
    assert api.calls[0]["response_format"]["json_schema"]["strict"] is False


def test_keywords_that_services_refuse_stay_here_and_are_checked(tmp_path: Path) -> None:
    quotes = {"type": "array", "items": {"type": "string", "maxLength": 3}}
    schema = {**SCHEMA, "properties": {**SCHEMA["properties"], "quotes": quotes}}
    with ChatApi(GOOD) as api:
        found = asked(api, tmp_path).ask(QUESTION._replace(schema=schema), seconds=SECONDS)
    assert isinstance(found, NoAnswer)
    assert found.kind == "wrong_shape"
    assert "maxLength" not in json.dumps(api.calls)


UNKNOWN = [
    refuse(400, "Unknown parameter: 'response_format'"),
    refuse(400, "response_format.type: json_schema is not supported by this model"),
    refuse(422, "body.response_format: extra fields not permitted"),
    json_response(400, {"detail": "Invalid request: json_schema"}),
]


@pytest.mark.parametrize("refusal", UNKNOWN)
def test_a_server_that_knows_no_schema_gets_it_in_the_prompt(
    refusal: Response, tmp_path: Path
) -> None:
    def script(body: dict[str, Any]) -> Response:
        return refusal if "response_format" in body else GOOD

    with ChatApi(script) as api:
        judged = asked(api, tmp_path)
        first = judged.ask(QUESTION, seconds=SECONDS)
        second = judged.ask(QUESTION, seconds=SECONDS)
    assert isinstance(first, JudgeAnswer), first
    assert (first.usage.backend, first.usage.attempts) == ("openai, schema in the prompt", 2)
    assert isinstance(second, JudgeAnswer)
    assert (second.usage.backend, second.usage.attempts) == ("openai, schema in the prompt", 1)
    assert judged.waits == []
    assert ["response_format" in body for body in api.calls] == [True, False, False]
    system = api.calls[1]["messages"][0]["content"]
    assert system.startswith(QUESTION.system)
    assert json.dumps(SCHEMA["properties"]["verdict"]) in system


def test_there_is_one_fall_back_and_its_replies_are_checked(tmp_path: Path) -> None:
    with ChatApi(UNKNOWN[0]) as api:
        found = asked(api, tmp_path).ask(QUESTION, seconds=SECONDS)
    assert isinstance(found, NoAnswer)
    assert (found.kind, len(api.calls)) == ("error", 2)
    with ChatApi(UNKNOWN[0], chat(f"```json\n{json.dumps(ANSWER)}\n```")) as api:
        found = asked(api, tmp_path).ask(QUESTION, seconds=SECONDS)
    assert isinstance(found, NoAnswer)
    assert (found.kind, found.usage.backend) == ("not_json", "openai, schema in the prompt")


def test_another_refusal_is_no_reason_to_fall_back(tmp_path: Path) -> None:
    with ChatApi(refuse(400, "context length exceeded")) as api:
        found = asked(api, tmp_path).ask(QUESTION, seconds=SECONDS)
    assert isinstance(found, NoAnswer)
    assert (found.kind, len(api.calls)) == ("error", 1)
    assert "context length exceeded" in found.reason


def test_a_quota_that_is_used_up_does_not_come_back(tmp_path: Path) -> None:
    with ChatApi(refuse(429, "You exceeded", code="insufficient_quota")) as api:
        found = asked(api, tmp_path).ask(QUESTION, seconds=SECONDS)
    assert isinstance(found, NoAnswer)
    assert (found.kind, len(api.calls)) == ("rate_limited", 1)


def test_a_local_server_needs_no_key(tmp_path: Path) -> None:
    with ChatApi(GOOD) as api:
        judged = asked(api, tmp_path, env={"OPENAI_API_KEY": None})
        assert isinstance(judged.ask(QUESTION, seconds=SECONDS), JudgeAnswer)
    with ChatApi(GOOD) as api:
        settings = JudgeSettings(backend="openai", model="m")
        env = {"OPENAI_BASE_URL": f"{api.url}/v1"}
        found = judge(settings, tmp_path, env=env).ask(QUESTION, seconds=SECONDS)
    assert isinstance(found, JudgeAnswer)


BODY: dict[str, Any] = json.loads(GOOD.chunks[0])
CHOICE = BODY["choices"][0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("document", "kind"),
    [
        ({**BODY, "choices": []}, "wrong_shape"),
        ({**BODY, "choices": [CHOICE, CHOICE]}, "wrong_shape"),
        ({**BODY, "choices": {"0": CHOICE}}, "wrong_shape"),
        ({**BODY, "choices": [{}]}, "wrong_shape"),
        ({**BODY, "choices": ["yes"]}, "wrong_shape"),
        ({**BODY, "choices": [{**CHOICE, "message": {"content": ANSWER}}]}, "empty"),
        ({**BODY, "choices": [{**CHOICE, "message": {}}]}, "empty"),
        ({**BODY, "choices": [{**CHOICE, "finish_reason": "content_filter"}]}, "refused"),
        (
            {**BODY, "choices": [{**CHOICE, "message": {**CHOICE["message"], "tool_calls": [1]}}]},
            "wrong_shape",
        ),
        ([BODY], "wrong_shape"),
        (None, "wrong_shape"),
    ],
)
def test_a_strange_completion_is_no_answer(document: Any, kind: str, tmp_path: Path) -> None:
    with ChatApi(json_response(200, document)) as api:
        found = asked(api, tmp_path).ask(QUESTION, seconds=SECONDS)
    assert isinstance(found, NoAnswer), found
    assert found.kind == kind


def test_strange_numbers_are_no_usage(tmp_path: Path) -> None:
    usage = {"prompt_tokens": -1, "completion_tokens": "many", "cost": True}
    with ChatApi(json_response(200, {**BODY, "usage": usage, "model": 7})) as api:
        found = asked(api, tmp_path).ask(QUESTION, seconds=SECONDS)
    assert isinstance(found, JudgeAnswer)
    assert found.usage[:5] == ("openai", "m:8b", None, None, None)


def test_a_response_without_end_is_ended(tmp_path: Path) -> None:
    huge = json.dumps({**BODY, "padding": "x" * (1 << 20)})
    with ChatApi(json_response(200, json.loads(huge))) as api:
        found = asked(api, tmp_path).ask(QUESTION, seconds=SECONDS)
    assert isinstance(found, NoAnswer)
    assert found.kind == "not_json"


def test_a_response_that_drips_ends_with_the_calls_time(tmp_path: Path) -> None:
    """The SDK's own limit is for each read; the call's is for all of it."""
    drips = Response(200, {"content-type": "application/json"}, [b"{"], hold=True, drip=b" ")
    with ChatApi(drips) as api:
        found = asked(api, tmp_path).ask(QUESTION, seconds=3.0)
    assert isinstance(found, NoAnswer)
    assert found.kind == "timeout"


@pytest.mark.parametrize(
    ("cost", "spent", "kind"),
    [(0.25, 0.25, None), (1.0, 1.0, None), (1.01, 1.01, "cost_limit"), (None, 0.0, "cost_limit")],
)
def test_a_limit_counts_what_the_service_tells(
    cost: float | None, spent: float, kind: str | None, tmp_path: Path
) -> None:
    budget = Budget(1.0)
    usage = {} if cost is None else {"cost": cost}
    with ChatApi(chat(json.dumps(ANSWER), **usage)) as api:
        judged = asked(api, tmp_path, budget=budget)
        found = judged.ask(QUESTION, seconds=SECONDS)
        calls = len(api.calls)
        more = judged.ask(QUESTION, seconds=SECONDS) if spent != 0.25 else None
    assert budget.spent == spent
    assert calls == 1
    assert (found.kind if isinstance(found, NoAnswer) else None) == kind
    if more is not None:
        assert isinstance(more, NoAnswer)
        assert (more.kind, len(api.calls)) == ("cost_limit", 1)


def test_half_characters_in_a_prompt_do_not_break_the_call(tmp_path: Path) -> None:
    question = Question("s", "half \ud800 and \udcff", SCHEMA, "x")
    with ChatApi(GOOD) as api:
        found = asked(api, tmp_path).ask(question, seconds=SECONDS)
    assert isinstance(found, JudgeAnswer), found


@pytest.mark.cold
def test_the_sdk_may_be_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    left = [entry for entry in sys.path if not os.path.isdir(os.path.join(entry, "openai"))]
    monkeypatch.setattr(sys, "path", left)
    with ChatApi(GOOD) as api:
        found = asked(api, tmp_path).ask(QUESTION, seconds=SECONDS)
    assert isinstance(found, NoAnswer)
    assert found.kind == "not_configured"
    assert "pip install openai there" in found.reason
