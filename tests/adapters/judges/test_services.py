"""The backends that ask a service: the real CLI and the real SDKs against scripted servers.

The same failures for all three (CASES 84, 85, 87, 90); what only one of them does has its own file.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from flow.adapters.judges.budget import Budget
from flow.app.judge_port import Answer, NoAnswer
from flow.core.settings import JudgeSettings
from tests.adapters.judges.scene import ANSWER, KEY, QUESTION, SCHEMA, SECONDS, judge
from tests.support.judge_servers import ChatApi, chat, refuse
from tests.support.loopback import Response
from tests.support.messages_api import (
    STRUCTURED,
    MessagesApi,
    Reply,
    cut,
    error,
    raw,
    silence,
    structured,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tests.adapters.judges.scene import Asked


class Service(NamedTuple):
    """One backend, and how its service says things."""

    backend: str
    server: Callable[..., Any]
    suffix: str
    key: str
    answer: Callable[[Any], Any]
    refuse: Callable[..., Any]
    words: Callable[[str], Any]
    cut: Any
    refusal: Any
    too_long: Any
    silence: Any
    garbage: Any
    tokens: tuple[int | None, int | None]
    retries_seen: bool = True
    """Whether the service's Retry-After reaches Flow; the CLI keeps it to itself."""

    def ask(self, api: Any, work: Path, **more: Any) -> Asked:
        settings = JudgeSettings(
            backend=self.backend,  # type: ignore[arg-type]
            model="model-1",
            base_url=api.url + self.suffix,
            max_cost_usd=more.pop("max_cost_usd", None),
        )
        return judge(settings, work, env={self.key: KEY, **more.pop("env", {})}, **more)


def _messages_error(status: int, **more: Any) -> Reply:
    return error(status, **more)


def _chat_answer(value: Any) -> Response:
    return chat(json.dumps(value))


SERVICES = {
    "claude": Service(
        "claude",
        MessagesApi,
        "",
        "ANTHROPIC_API_KEY",
        structured,
        _messages_error,
        text,
        cut(structured(ANSWER)),
        text("I will not.", stop_reason="refusal"),
        text("partly", stop_reason="max_tokens"),
        silence(),
        raw(200, b"<html>"),
        (1000, 100),
        retries_seen=False,
    ),
    "anthropic": Service(
        "anthropic",
        MessagesApi,
        "",
        "ANTHROPIC_API_KEY",
        structured,
        _messages_error,
        text,
        cut(structured(ANSWER)),
        text("I will not.", stop_reason="refusal"),
        text("partly", stop_reason="max_tokens"),
        silence(),
        raw(200, b"<html>"),
        (1000, 100),
    ),
    "openai": Service(
        "openai",
        ChatApi,
        "/v1",
        "OPENAI_API_KEY",
        _chat_answer,
        lambda status, retry_after=None: refuse(
            status, **({"retry_after": retry_after} if retry_after else {})
        ),
        chat,
        chat(json.dumps(ANSWER))._replace(chunks=[b'{"id": "cut'], cut=True),
        chat(None, refusal="I will not."),
        chat('{"verdict": "achi', finish_reason="length"),
        Response(hold=True),
        Response(200, {"content-type": "application/json"}, [b"<html>"]),
        (1000, 100),
    ),
}


@pytest.fixture(
    params=[
        pytest.param("claude", marks=[pytest.mark.needs_tool("claude"), pytest.mark.slow]),
        "anthropic",
        "openai",
    ]
)
def service(request: pytest.FixtureRequest) -> Service:
    return SERVICES[request.param]


def silent(found: Answer | NoAnswer, kind: str) -> NoAnswer:
    """``found``, which has to be no answer of this kind, with a reason one may print."""
    assert isinstance(found, NoAnswer), found
    assert found.kind == kind, found
    assert found.reason.isprintable()
    assert 0 < len(found.reason) <= 700
    assert KEY not in found.reason
    return found


def test_an_answer_comes_with_its_usage_and_leaves_nothing(
    service: Service, tmp_path: Path
) -> None:
    with service.server(service.answer(ANSWER)) as api:
        asked = service.ask(api, tmp_path)
        assert asked.ask.name == f"{service.backend}:model-1"
        found = asked.ask(QUESTION, seconds=SECONDS)
    assert isinstance(found, Answer), found
    assert found.value == ANSWER
    usage = found.usage
    assert (usage.backend, usage.attempts) == (service.backend, 1)
    assert (usage.input_tokens, usage.output_tokens) == service.tokens
    assert usage.model
    assert os.listdir(tmp_path) == []
    sent = json.dumps([request.json for request in api.requests if request.method == "POST"])
    assert json.dumps(QUESTION.system)[1:-1] in sent
    assert json.dumps(QUESTION.prompt)[1:-1] in sent
    assert KEY not in sent


@pytest.mark.parametrize(
    ("status", "kind"), [(429, "rate_limited"), (500, "unavailable"), (529, "unavailable")]
)
def test_trouble_that_passes_is_waited_out(
    service: Service, status: int, kind: str, tmp_path: Path
) -> None:
    with service.server(service.refuse(status), service.answer(ANSWER)) as api:
        asked = service.ask(api, tmp_path)
        found = asked.ask(QUESTION, seconds=SECONDS)
    assert isinstance(found, Answer), found
    assert (found.usage.attempts, asked.waits, len(api.calls)) == (2, [1.0], 2)
    with service.server(service.refuse(status)) as api:
        asked = service.ask(api, tmp_path, tries=2)
        found = silent(asked.ask(QUESTION, seconds=SECONDS), kind)
    assert (found.usage.attempts, asked.waits, len(api.calls)) == (2, [1.0], 2)
    assert f"HTTP {status}" in found.reason


def test_the_services_own_wish_is_waited(service: Service, tmp_path: Path) -> None:
    script = [service.refuse(429, retry_after="7"), service.answer(ANSWER)]
    with service.server(*script) as api:
        asked = service.ask(api, tmp_path)
        assert isinstance(asked.ask(QUESTION, seconds=SECONDS), Answer)
    assert asked.waits == [7.0 if service.retries_seen else 1.0]
    with service.server(service.refuse(429, retry_after="3600")) as api:
        asked = service.ask(api, tmp_path, tries=2)
        silent(asked.ask(QUESTION, seconds=SECONDS), "rate_limited")
    assert asked.waits == ([] if service.retries_seen else [1.0])


@pytest.mark.parametrize(("status", "kind"), [(400, "error"), (401, "no_key")])
def test_what_does_not_pass_is_not_tried_again(
    service: Service, status: int, kind: str, tmp_path: Path
) -> None:
    with service.server(service.refuse(status)) as api:
        asked = service.ask(api, tmp_path)
        found = silent(asked.ask(QUESTION, seconds=SECONDS), kind)
    assert (found.usage.attempts, asked.waits) == (1, [])
    assert f"HTTP {status}" in found.reason


def test_a_stream_that_breaks_off_is_tried_again(service: Service, tmp_path: Path) -> None:
    with service.server(service.cut, service.answer(ANSWER)) as api:
        asked = service.ask(api, tmp_path)
        assert isinstance(asked.ask(QUESTION, seconds=SECONDS), Answer)
    assert len(api.calls) == 2
    with service.server(service.cut) as api:
        asked = service.ask(api, tmp_path, tries=1)
        silent(asked.ask(QUESTION, seconds=SECONDS), "unavailable")
    assert len(api.calls) == 1


def test_nobody_listens(service: Service, tmp_path: Path) -> None:
    with service.server(service.answer(ANSWER)) as api:
        asked = service.ask(api, tmp_path, tries=2)
    found = silent(asked.ask(QUESTION, seconds=SECONDS), "unavailable")
    assert (found.usage.attempts, asked.waits) == (2, [1.0])


@pytest.mark.parametrize(
    ("which", "kinds"),
    [
        ("refusal", ["refused"]),
        ("too_long", ["cut_off"]),
        ("garbage", ["not_json", "unavailable", "error"]),
    ],
)
def test_no_usable_reply(
    service: Service, which: str, kinds: Sequence[str], tmp_path: Path
) -> None:
    with service.server(getattr(service, which)) as api:
        found = service.ask(api, tmp_path).ask(QUESTION, seconds=SECONDS)
    assert isinstance(found, NoAnswer)
    assert found.kind in kinds
    silent(found, found.kind)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ("", "empty"),
        (":", "not_json"),
        (f"Sure! {json.dumps(ANSWER)}", "not_json"),
    ],
)
def test_a_reply_of_words_is_no_answer(
    service: Service, reply: str, kind: str, tmp_path: Path
) -> None:
    with service.server(service.words(reply)) as api:
        silent(service.ask(api, tmp_path).ask(QUESTION, seconds=SECONDS), kind)


@pytest.mark.parametrize(
    "value",
    [
        {},
        {**ANSWER, "confidence": 1.5},
        {**ANSWER, "override": True},
    ],
)
def test_a_reply_of_another_shape_is_no_answer(
    service: Service, value: Any, tmp_path: Path
) -> None:
    with service.server(service.answer(value)) as api:
        silent(service.ask(api, tmp_path).ask(QUESTION, seconds=SECONDS), "wrong_shape")


def test_one_that_never_answers_is_ended(service: Service, tmp_path: Path) -> None:
    with service.server(service.silence) as api:
        asked = service.ask(api, tmp_path)
        found = silent(asked.ask(QUESTION, seconds=3.0), "timeout")
        assert (found.usage.attempts, asked.waits) == (1, [])
    assert os.listdir(tmp_path) == []


def test_without_a_key_there_is_no_answer(service: Service, tmp_path: Path) -> None:
    settings = JudgeSettings(backend=service.backend, model="model-1")  # type: ignore[arg-type]
    asked = judge(settings, tmp_path, env={service.key: None})
    found = silent(asked.ask(QUESTION, seconds=SECONDS), "no_key")
    assert service.key in found.reason


def test_a_key_that_the_service_shows_is_hidden(service: Service, tmp_path: Path) -> None:
    said = f"the key {KEY} is wrong\x1b[31m\u202e"
    refusal = refuse(401, said) if service.backend == "openai" else error(401, message=said)
    with service.server(refusal) as api:
        found = silent(service.ask(api, tmp_path).ask(QUESTION, seconds=SECONDS), "no_key")
    assert "the key (key) is wrong" in found.reason


def test_a_budget_that_is_used_up_asks_nothing(service: Service, tmp_path: Path) -> None:
    budget = Budget(1.0)
    assert budget.add(1.0) is None
    with service.server(service.answer(ANSWER)) as api:
        asked = service.ask(api, tmp_path, budget=budget)
        found = silent(asked.ask(QUESTION, seconds=SECONDS), "cost_limit")
    assert (api.requests, found.usage.attempts) == ([], 0)


def test_the_schema_that_is_sent_names_every_key_there_may_be(
    service: Service, tmp_path: Path
) -> None:
    with service.server(service.answer(ANSWER)) as api:
        service.ask(api, tmp_path).ask(QUESTION, seconds=SECONDS)
    body = next(request.json for request in api.requests if request.method == "POST")
    if service.backend == "openai":
        sent = body["response_format"]["json_schema"]["schema"]
    else:
        (only,) = body["tools"]
        assert only["name"] in (STRUCTURED, "give_answer")
        sent = only["input_schema"]
    assert sent["properties"] == SCHEMA["properties"]
    assert sent["additionalProperties"] is False
