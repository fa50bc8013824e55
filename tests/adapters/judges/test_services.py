"""The backends that ask a service: the real CLI and the real SDKs against scripted servers.

The same failures for all three (HAZARD G84, G85, G87, G90); what only one of them does has its own
file. A start of the CLI costs seconds of work: each failure is shown to it once, and what Flow does
about it afterwards (waits, counts, gives up) is shown with the SDKs.
"""

from __future__ import annotations

import json
import os
import socket
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from flow.adapters.judges.budget import Budget
from flow.app.judging.port import JudgeAnswer, NoAnswer
from flow.core.settings import JudgeSettings
from tests.adapters.judges.scene import (
    ANSWER,
    KEY,
    NEVER,
    QUESTION,
    SCHEMA,
    SECONDS,
    WOULD_WAIT,
    judge,
)
from tests.support.judges.judge_servers import ChatApi, chat, refuse
from tests.support.judges.messages_api import (
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
from tests.support.loopback import Response

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    from tests.adapters.judges.scene import Asked

pytestmark = pytest.mark.slow


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


CHEAPEST = "openai"
"""The one to show with what Flow does alike for all, once a service has said its word."""


@pytest.fixture(params=["anthropic", "openai"])
def sdk(request: pytest.FixtureRequest) -> Service:
    """One that costs less than a start of the CLI."""
    return SERVICES[request.param]


CLI = (pytest.mark.needs_tool("claude"), pytest.mark.slow)


ONCE = pytest.mark.parametrize(
    "service",
    [pytest.param("claude", marks=(*CLI, pytest.mark.long)), "anthropic", "openai"],
    indirect=True,
)
"""Another test shows the same of the CLI, in the short form."""


@pytest.fixture(params=[pytest.param("claude", marks=CLI), "anthropic", "openai"])
def service(request: pytest.FixtureRequest) -> Service:
    return SERVICES[request.param]


def each_with(*rows: tuple[Any, ...], cli: Collection[object]) -> list[Any]:
    """Each row with each service; with the CLI those that do not begin as ``cli`` says are long."""
    return [
        pytest.param(
            name,
            *row,
            marks=() if name != "claude" else CLI if row[0] in cli else (*CLI, pytest.mark.long),
        )
        for name in SERVICES
        for row in rows
    ]


def silent(found: JudgeAnswer | NoAnswer, kind: str) -> NoAnswer:
    """``found``, which has to be no answer of this kind, with a reason one may print."""
    assert isinstance(found, NoAnswer), found
    assert found.kind == kind, found
    assert found.reason.isprintable()
    assert 0 < len(found.reason) <= 700
    assert KEY not in found.reason
    return found


@pytest.mark.cold
def test_an_answer_comes_with_its_usage_and_leaves_nothing(
    service: Service, tmp_path: Path
) -> None:
    with service.server(service.answer(ANSWER)) as api:
        asked = service.ask(api, tmp_path)
        assert asked.ask.name == f"{service.backend}:model-1"
        found = asked.ask(QUESTION, seconds=SECONDS)
    assert isinstance(found, JudgeAnswer), found
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
    body = next(request.json for request in api.requests if request.method == "POST")
    if service.backend == "openai":
        schema = body["response_format"]["json_schema"]["schema"]
    else:
        (only,) = body["tools"]
        assert only["name"] in (STRUCTURED, "give_answer")
        schema = only["input_schema"]
    assert schema["properties"] == SCHEMA["properties"]  # every key there may be
    assert schema["additionalProperties"] is False


def would_be_tried_again(service: Service, work: Path, reply: Any, kind: str) -> NoAnswer:
    """What one call comes to where the server says ``reply``: ``kind``, and one more try."""
    with service.server(reply) as api:
        asked = service.ask(api, work, first=NEVER)
        found = silent(asked.ask(QUESTION, seconds=SECONDS), kind)
    assert (found.usage.attempts, asked.waits, len(api.calls)) == (1, [], 1)
    assert WOULD_WAIT in found.reason
    return found


@pytest.mark.parametrize(
    ("service", "status", "kind"),
    each_with((429, "rate_limited"), (500, "unavailable"), (529, "unavailable"), cli=[429]),
    indirect=["service"],
)
def test_trouble_that_passes_would_be_waited_out(
    service: Service, status: int, kind: str, tmp_path: Path
) -> None:
    hidden = service.backend == "claude"  # a service's own wish stays with the CLI
    reply = service.refuse(status, retry_after="7") if hidden else service.refuse(status)
    found = would_be_tried_again(service, tmp_path, reply, kind)
    assert f"HTTP {status}" in found.reason


def test_trouble_is_waited_out(tmp_path: Path) -> None:
    sdk = SERVICES[CHEAPEST]
    with sdk.server(sdk.refuse(429), sdk.answer(ANSWER)) as api:
        asked = sdk.ask(api, tmp_path)
        found = asked.ask(QUESTION, seconds=SECONDS)
    assert isinstance(found, JudgeAnswer), found
    assert (found.usage.attempts, asked.waits, len(api.calls)) == (2, [1.0], 2)


def test_trouble_that_stays_is_given_up(tmp_path: Path) -> None:
    sdk = SERVICES[CHEAPEST]
    with sdk.server(sdk.refuse(500)) as api:
        asked = sdk.ask(api, tmp_path, tries=2)
        found = silent(asked.ask(QUESTION, seconds=SECONDS), "unavailable")
    assert (found.usage.attempts, asked.waits, len(api.calls)) == (2, [1.0], 2)
    assert "HTTP 500" in found.reason


def test_the_services_own_wish_is_waited(tmp_path: Path) -> None:
    sdk = SERVICES[CHEAPEST]
    script = [sdk.refuse(429, retry_after="7"), sdk.answer(ANSWER)]
    with sdk.server(*script) as api:
        asked = sdk.ask(api, tmp_path)
        assert isinstance(asked.ask(QUESTION, seconds=SECONDS), JudgeAnswer)
    assert asked.waits == [7.0]


def test_a_wish_that_is_too_long_is_not_waited(sdk: Service, tmp_path: Path) -> None:
    with sdk.server(sdk.refuse(429, retry_after="3600")) as api:
        asked = sdk.ask(api, tmp_path, tries=2)
        found = silent(asked.ask(QUESTION, seconds=SECONDS), "rate_limited")
    assert asked.waits == []
    assert "the service asks to wait 3.6e+03 s" in found.reason


@ONCE  # as a key that is wrong
def test_what_does_not_pass_is_not_tried_again(service: Service, tmp_path: Path) -> None:
    with service.server(service.refuse(400)) as api:
        asked = service.ask(api, tmp_path)
        found = silent(asked.ask(QUESTION, seconds=SECONDS), "error")
    assert (found.usage.attempts, asked.waits) == (1, [])
    assert "HTTP 400" in found.reason


def test_a_stream_that_breaks_off_would_be_tried_again(service: Service, tmp_path: Path) -> None:
    would_be_tried_again(service, tmp_path, service.cut, "unavailable")


def test_a_stream_that_breaks_off_is_tried_again(tmp_path: Path) -> None:
    sdk = SERVICES[CHEAPEST]
    with sdk.server(sdk.cut, sdk.answer(ANSWER)) as api:
        asked = sdk.ask(api, tmp_path)
        assert isinstance(asked.ask(QUESTION, seconds=SECONDS), JudgeAnswer)
    assert len(api.calls) == 2


@ONCE  # as a stream that breaks off
def test_nobody_listens(service: Service, tmp_path: Path) -> None:
    with socket.socket() as taken:  # a number that nobody else can be given meanwhile
        taken.bind(("127.0.0.1", 0))
        nobody = SimpleNamespace(url=f"http://127.0.0.1:{taken.getsockname()[1]}")
        asked = service.ask(nobody, tmp_path, first=NEVER)
        found = silent(asked.ask(QUESTION, seconds=SECONDS), "unavailable")
    assert WOULD_WAIT in found.reason


@pytest.mark.parametrize(
    ("service", "which", "kinds"),
    each_with(
        ("refusal", ["refused"]),
        ("too_long", ["cut_off"]),
        ("garbage", ["not_json", "unavailable", "error"]),
        cli=["refusal", "too_long"],
    ),
    indirect=["service"],
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
    ("service", "reply", "kind"),
    each_with(("", "empty"), (f"Sure! {json.dumps(ANSWER)}", "not_json"), cli=[""]),
    indirect=["service"],
)
def test_a_reply_of_words_is_no_answer(
    service: Service, reply: str, kind: str, tmp_path: Path
) -> None:
    with service.server(service.words(reply)) as api:
        silent(service.ask(api, tmp_path).ask(QUESTION, seconds=SECONDS), kind)


def test_neither_is_one_of_no_word(sdk: Service, tmp_path: Path) -> None:
    with sdk.server(sdk.words(":")) as api:
        silent(sdk.ask(api, tmp_path).ask(QUESTION, seconds=SECONDS), "not_json")


SHAPES: list[dict[str, Any]] = [
    {},
    {**ANSWER, "confidence": 1.5},
    {**ANSWER, "override": True},
]


@pytest.mark.parametrize("value", SHAPES)
def test_a_reply_of_another_shape_is_no_answer(sdk: Service, value: Any, tmp_path: Path) -> None:
    with sdk.server(sdk.answer(value)) as api:
        silent(sdk.ask(api, tmp_path).ask(QUESTION, seconds=SECONDS), "wrong_shape")


@pytest.mark.needs_tool("claude")
@pytest.mark.slow
def test_the_cli_takes_no_reply_of_another_shape(tmp_path: Path) -> None:
    """It asks once more for each, and gives up after the third."""
    cli = SERVICES["claude"]
    with cli.server(*(cli.answer(value) for value in SHAPES)) as api:
        silent(cli.ask(api, tmp_path).ask(QUESTION, seconds=SECONDS), "wrong_shape")
    assert len(api.calls) == len(SHAPES)


@pytest.mark.parametrize(
    "service",
    [
        pytest.param("claude", marks=CLI),
        "anthropic",
        pytest.param("openai", marks=pytest.mark.cold),  # it is one worker for both
    ],
    indirect=True,
)
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
        asked = service.ask(api, tmp_path)
        found = silent(asked.ask(QUESTION, seconds=SECONDS), "no_key")
    assert (found.usage.attempts, asked.waits, len(api.calls)) == (1, [], 1)  # it does not pass
    assert "HTTP 401" in found.reason
    assert "the key (key) is wrong" in found.reason


def test_a_budget_that_is_used_up_asks_nothing(service: Service, tmp_path: Path) -> None:
    budget = Budget(1.0)
    assert budget.add(1.0) is None
    with service.server(service.answer(ANSWER)) as api:
        asked = service.ask(api, tmp_path, budget=budget)
        found = silent(asked.ask(QUESTION, seconds=SECONDS), "cost_limit")
    assert (api.requests, found.usage.attempts) == ([], 0)
