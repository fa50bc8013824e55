"""A scripted Anthropic Messages API on loopback: for the ``claude`` CLI and the ``anthropic`` SDK.

::

    with MessagesApi(text("hello"), error(429, "rate_limit_error", retry_after="1")) as api:
        env = {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "made-up"}
        ...
        api.calls           # one Call for each POST /v1/messages: .body, .headers, .prompt, .tools

Each POST to ``/v1/messages`` takes the next :class:`Reply` of the script, and the last one is given
again and again. In place of replies a callable may stand that gets the :class:`Call` and returns a
:class:`Reply`; ``calls`` holds that call already. A reply is sent as a stream of server-sent events
where the request says ``"stream": true``, else as one JSON document. Other requests of a client
(``HEAD /``, ``count_tokens``, model lists, telemetry) are answered plainly and are in ``requests``
only.

Replies: :func:`text`, :func:`tool` (a tool call; the CLI's structured output is one, of
:data:`STRUCTURED`), :func:`structured`, which gives what a request for structured output expects in
whichever way it asks, :func:`error`, :func:`cut`, :func:`silence`, :func:`raw`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.support.loopback import Request, Response, ScriptedServer, json_response

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

STRUCTURED = "StructuredOutput"
"""The tool through which the CLI's ``--json-schema`` takes its answer."""


class Call(NamedTuple):
    """One request for a message."""

    headers: Mapping[str, str]
    body: dict[str, Any]
    number: int
    """From 0, in the order of arrival."""

    @property
    def tools(self) -> list[str]:
        """The names of the tools that the model may call."""
        return [tool["name"] for tool in self.body.get("tools", ())]

    @property
    def prompt(self) -> str:
        """All text of the user's turns."""
        return "\n".join(
            _text(message["content"])
            for message in self.body["messages"]
            if message["role"] == "user"
        )

    @property
    def system(self) -> str:
        """The system text."""
        return _text(self.body.get("system", ""))


class Reply(NamedTuple):
    """An answer to one call. ``blocks`` are content blocks as the API has them."""

    blocks: Sequence[Mapping[str, Any]] = ()
    stop_reason: str = "end_turn"
    input_tokens: int = 1000
    output_tokens: int = 100
    answer: Any = None
    """With :func:`structured`: the value, put into the block that the request asks for."""
    response: Response | None = None
    """Sent as it is, in place of all the above."""
    cut_after: int | None = None
    """Events of the stream (0: not one) after which the connection breaks off."""


def text(words: str, *, stop_reason: str = "end_turn", **usage: int) -> Reply:
    """A reply of text. ``usage``: ``input_tokens``, ``output_tokens``."""
    return Reply([{"type": "text", "text": words}], stop_reason, **usage)


def tool(name: str, arguments: Mapping[str, Any], **usage: int) -> Reply:
    """A reply that calls a tool."""
    block = {"type": "tool_use", "id": "toolu_01", "name": name, "input": dict(arguments)}
    return Reply([block], "tool_use", **usage)


def structured(answer: Any, **usage: int) -> Reply:
    """``answer`` as the request wants it: the tool it forces or offers for answers, else text."""
    return Reply(answer=answer, **usage)


def error(
    status: int,
    kind: str = "api_error",
    message: str = "scripted",
    *,
    retry_after: str | None = None,
) -> Reply:
    """An error of the API: 429 ``rate_limit_error``, 529 ``overloaded_error`` ..."""
    headers = {} if retry_after is None else {"retry-after": retry_after}
    document = {"type": "error", "error": {"type": kind, "message": message}}
    return Reply(response=json_response(status, document, headers))


def cut(reply: Reply, after: int = 3) -> Reply:
    """``reply``, whose stream breaks off after some events; without a stream, amid the document."""
    return reply._replace(cut_after=after)


def silence() -> Reply:
    """No answer until the server is closed."""
    return Reply(response=Response(hold=True))


def raw(status: int, body: bytes, content_type: str = "application/json") -> Reply:
    """Any bytes."""
    return Reply(response=Response(status, {"content-type": content_type}, [body]))


class MessagesApi(ScriptedServer):
    """The server; see the module."""

    def __init__(self, *script: Reply | Callable[[Call], Reply]) -> None:
        super().__init__(self._answer)
        self.calls: list[Call] = []
        self._replies = script

    def _answer(self, request: Request) -> Response:
        if request.method != "POST":
            return json_response(200, {"data": [], "has_more": False})
        if request.path.endswith("/count_tokens"):
            return json_response(200, {"input_tokens": 1000})
        if request.path != "/v1/messages":
            return json_response(404, {"type": "error", "error": {"type": "not_found_error"}})
        with self._came:
            call = Call(request.headers, request.json, len(self.calls))
            self.calls.append(call)
        entry = self._replies[min(call.number, len(self._replies) - 1)]
        reply = entry if isinstance(entry, Reply) else entry(call)
        if reply.answer is not None:
            reply = _as_asked(reply, call)
        return reply.response or _response(reply, call)


def _as_asked(reply: Reply, call: Call) -> Reply:
    """The answer as a call of the forced tool, or of the CLI's own; else as text."""
    choice = call.body.get("tool_choice", {})
    name = choice.get("name") if choice.get("type") == "tool" else None
    if name is None and STRUCTURED in call.tools:
        name = STRUCTURED
    if name is None:
        return reply._replace(blocks=[{"type": "text", "text": json.dumps(reply.answer)}])
    block = {"type": "tool_use", "id": "toolu_01", "name": name, "input": reply.answer}
    return reply._replace(blocks=[block], stop_reason="tool_use")


def _response(reply: Reply, call: Call) -> Response:
    message = {
        "id": f"msg_{call.number:02}",
        "type": "message",
        "role": "assistant",
        "model": call.body["model"],
        "content": list(reply.blocks),
        "stop_reason": reply.stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": reply.input_tokens, "output_tokens": reply.output_tokens},
    }
    headers = {"request-id": f"req_{call.number:02}"}
    if not call.body.get("stream"):
        whole = json_response(200, message, headers)
        if reply.cut_after is None:
            return whole
        return whole._replace(chunks=[whole.chunks[0][:-20]] if reply.cut_after else [], cut=True)
    events = [
        f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
        for event in _events(message, reply)
    ]
    headers["content-type"] = "text/event-stream"
    if reply.cut_after is None:
        return Response(200, headers, events)
    return Response(200, headers, events[: reply.cut_after], cut=True)


def _events(message: dict[str, Any], reply: Reply) -> list[dict[str, Any]]:
    usage = {"input_tokens": reply.input_tokens, "output_tokens": 1}
    start = {**message, "content": [], "stop_reason": None, "usage": usage}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
    for index, block in enumerate(reply.blocks):
        if block["type"] == "tool_use":
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        else:
            empty = {**block, "text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        events += [
            {"type": "content_block_start", "index": index, "content_block": empty},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    stop = {"stop_reason": reply.stop_reason, "stop_sequence": None}
    events.append(
        {"type": "message_delta", "delta": stop, "usage": {"output_tokens": reply.output_tokens}}
    )
    events.append({"type": "message_stop"})
    return events


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text", "") for block in content if block["type"] == "text")
