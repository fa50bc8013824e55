"""What only the ``anthropic`` backend does. The real SDK against a scripted server on loopback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from flow.app.judging.port import JudgeAnswer, NoAnswer
from flow.core.settings import JudgeSettings
from tests.adapters.judges.scene import ANSWER, KEY, QUESTION, SECONDS, judge
from tests.support.judges.messages_api import MessagesApi, Reply, raw, structured, tool

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

CALL = {"type": "tool_use", "id": "t1", "name": "give_answer", "input": ANSWER}


def ask(api: MessagesApi, work: Path, **more: Any) -> JudgeAnswer | NoAnswer:
    env = {"ANTHROPIC_API_KEY": KEY, **more.pop("env", {})}
    settings = JudgeSettings(backend="anthropic", model="m-1", base_url=api.url, **more)
    return judge(settings, work, env=env, tries=1).ask(QUESTION, seconds=SECONDS)


def test_the_model_has_to_answer_through_the_only_tool(tmp_path: Path) -> None:
    with MessagesApi(structured(ANSWER)) as api:
        assert isinstance(ask(api, tmp_path), JudgeAnswer)
    (call,) = api.calls
    assert call.body["model"] == "m-1"
    assert call.body["tool_choice"] == {
        "type": "tool",
        "name": "give_answer",
        "disable_parallel_tool_use": True,
    }
    assert call.tools == ["give_answer"]
    assert (call.system, call.prompt) == (QUESTION.system, QUESTION.prompt)
    sent = (call.headers.get("x-api-key"), call.headers.get("authorization"))
    assert sent in ((KEY, None), (None, f"Bearer {KEY}"))  # older and newer releases of the SDK
    assert "stream" not in call.body


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply([CALL, {**CALL, "id": "t2"}], "tool_use"), "wrong_shape"),
        (tool("other", ANSWER), "wrong_shape"),
        (Reply([{**CALL, "input": "yes"}], "tool_use"), "wrong_shape"),
        (Reply([{**CALL, "input": [ANSWER]}], "tool_use"), "wrong_shape"),
        (Reply([], "end_turn"), "empty"),
        (Reply([CALL], "max_tokens"), "cut_off"),
        (Reply([CALL], "model_context_window_exceeded"), "cut_off"),
        (Reply([CALL], "refusal"), "refused"),
        (raw(200, b'{"content": 1}'), "wrong_shape"),
        (raw(200, b'{"content": ["x"]}'), "wrong_shape"),
        (raw(200, b"[]"), "wrong_shape"),
        (raw(200, b'{"content": [], "content": []}'), "not_json"),
        (raw(200, b""), "empty"),
    ],
)
def test_a_strange_message_is_no_answer(reply: Reply, kind: str, tmp_path: Path) -> None:
    with MessagesApi(reply) as api:
        found = ask(api, tmp_path)
    assert isinstance(found, NoAnswer), found
    assert found.kind == kind, found


def test_words_beside_the_answer_do_not_matter(tmp_path: Path) -> None:
    blocks = [{"type": "text", "text": "Let me see: achieved!"}, CALL]
    with MessagesApi(Reply(blocks, "tool_use")) as api:
        found = ask(api, tmp_path)
    assert isinstance(found, JudgeAnswer)
    assert found.value == ANSWER


def test_a_token_is_a_key_too_and_the_environment_may_name_the_service(tmp_path: Path) -> None:
    with MessagesApi(structured(ANSWER)) as api:
        env = {"ANTHROPIC_AUTH_TOKEN": KEY, "ANTHROPIC_BASE_URL": api.url}
        settings = JudgeSettings(backend="anthropic", model="m-1")
        found = judge(settings, tmp_path, env=env).ask(QUESTION, seconds=SECONDS)
    assert isinstance(found, JudgeAnswer), found
    assert api.calls[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_limit_in_dollars_cannot_be_kept_and_nothing_is_asked(tmp_path: Path) -> None:
    with MessagesApi(structured(ANSWER)) as api:
        found = ask(api, tmp_path, max_cost_usd=5.0)
    assert isinstance(found, NoAnswer)
    assert (found.kind, api.requests) == ("cost_limit", [])
    assert "does not tell what a call costs" in found.reason


def test_a_model_that_is_not_there(tmp_path: Path) -> None:
    from tests.support.judges.messages_api import error

    with MessagesApi(error(404, "not_found_error", "model: m-1")) as api:
        found = ask(api, tmp_path)
    assert isinstance(found, NoAnswer)
    assert found.kind == "error"
    assert "m-1" in found.reason
