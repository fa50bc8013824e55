"""The scripted Messages API itself, asked with plain HTTP: other tests rest on it."""

from __future__ import annotations

import http.client
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from tests.support.judges.messages_api import (
    STRUCTURED,
    MessagesApi,
    cut,
    error,
    structured,
    text,
    tool,
)
from tests.support.loopback import ScriptedServer

if TYPE_CHECKING:
    from tests.support.judges.messages_api import Call, Reply


def ask(api: MessagesApi, **more: Any) -> tuple[int, dict[str, str], bytes]:
    place = urlsplit(api.url)
    link = http.client.HTTPConnection(place.hostname or "", place.port, timeout=300)
    body = {"model": "m", "messages": [{"role": "user", "content": "the question"}], **more}
    link.request("POST", "/v1/messages", json.dumps(body))
    answer = link.getresponse()
    try:
        return answer.status, {n.lower(): v for n, v in answer.getheaders()}, answer.read()
    finally:
        link.close()


def test_replies_are_taken_in_order_and_the_last_one_stays() -> None:
    with MessagesApi(error(429, "rate_limit_error", retry_after="7"), text("yes")) as api:
        status, headers, body = ask(api)
        assert (status, headers["retry-after"]) == (429, "7")
        assert json.loads(body)["error"]["type"] == "rate_limit_error"
        for _ in range(2):
            assert json.loads(ask(api)[2])["content"] == [{"type": "text", "text": "yes"}]
    assert [call.prompt for call in api.calls] == ["the question"] * 3


def test_a_stream_holds_the_whole_message() -> None:
    with MessagesApi(tool("shell", {"a": [1]}, output_tokens=9)) as api:
        status, headers, body = ask(api, stream=True)
    assert (status, headers["content-type"]) == (200, "text/event-stream")
    events = [json.loads(line[6:]) for line in body.splitlines() if line.startswith(b"data: ")]
    kinds = [event["type"].removeprefix("content_block_") for event in events]
    assert kinds == ["message_start", "start", "delta", "stop", "message_delta", "message_stop"]
    assert json.loads(events[2]["delta"]["partial_json"]) == {"a": [1]}
    assert events[4]["usage"] == {"output_tokens": 9}


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ({}, None),
        ({"tools": [{"name": STRUCTURED}]}, STRUCTURED),
        ({"tools": [{"name": "x"}], "tool_choice": {"type": "tool", "name": "x"}}, "x"),
    ],
)
def test_an_answer_comes_in_the_way_that_was_asked_for(
    more: dict[str, Any], name: str | None
) -> None:
    with MessagesApi(structured({"v": 1})) as api:
        (block,) = json.loads(ask(api, **more)[2])["content"]
    if name is None:
        assert json.loads(block["text"]) == {"v": 1}
    else:
        assert (block["name"], block["input"]) == (name, {"v": 1})


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("after", [0, 2])
def test_a_reply_can_break_off(stream: bool, after: int) -> None:
    with MessagesApi(cut(text("yes"), after)) as api:
        with pytest.raises((http.client.HTTPException, ConnectionError)):
            ask(api, stream=stream)


def test_a_callable_sees_the_call_and_its_mistakes_come_out() -> None:
    def script(call: Call) -> Reply:
        assert call.number == 0
        return text(call.system)

    with MessagesApi(script) as api:
        assert b"be strict" in ask(api, system="be strict")[2]

    def twice() -> None:
        with MessagesApi(script) as api:
            ask(api)
            assert ask(api)[0] == 500

    with pytest.raises(AssertionError):
        twice()


def test_other_requests_are_not_calls() -> None:
    with MessagesApi(text("yes")) as api:
        place = urlsplit(api.url)
        link = http.client.HTTPConnection(place.hostname or "", place.port, timeout=300)
        link.request("HEAD", "/")
        assert link.getresponse().read() == b""
        link.request("POST", "/v1/messages/count_tokens", "{}")
        assert json.loads(link.getresponse().read()) == {"input_tokens": 1000}
        link.close()
    assert (len(api.calls), len(api.requests)) == (0, 2)
    assert isinstance(api, ScriptedServer)
