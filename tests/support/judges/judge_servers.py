"""A scripted server of OpenAI's chat completions on loopback, as Ollama or vLLM would be one.

::

    with ChatApi(chat('{"verdict": "achieved"}'), refuse(429, retry_after="1")) as api:
        settings = JudgeSettings(backend="openai", model="m", base_url=f"{api.url}/v1")
        ...
        api.calls           # the bodies of the POSTs to /v1/chat/completions, in order

Replies are taken in order and the last one stays; a callable gets the request's body and returns
one. The Messages API is in ``messages_api``; what both stand on is ``loopback``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.loopback import Request, Response, ScriptedServer, json_response

if TYPE_CHECKING:
    from collections.abc import Callable


def chat(
    content: str | None,
    *,
    finish_reason: str = "stop",
    refusal: str | None = None,
    choices: int = 1,
    **usage: Any,
) -> Response:
    """A completion. ``usage``: ``prompt_tokens``, ``completion_tokens``, ``cost``."""
    message = {"role": "assistant", "content": content, "refusal": refusal}
    row = {"index": 0, "message": message, "finish_reason": finish_reason, "logprobs": None}
    document = {
        "id": "chatcmpl-01",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted-1",
        "choices": [{**row, "index": index} for index in range(choices)],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100, **usage},
    }
    return json_response(200, document)


def refuse(
    status: int, message: str = "scripted", *, code: str | None = None, **headers: str
) -> Response:
    """An error; ``retry_after="1"`` and other headers go along."""
    error = {"message": message, "type": "scripted", "param": None, "code": code}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return json_response(status, {"error": error}, named)


class ChatApi(ScriptedServer):
    """The server; see the module."""

    def __init__(self, *script: Response | Callable[[dict[str, Any]], Response]) -> None:
        super().__init__(self._answer)
        self.calls: list[dict[str, Any]] = []
        self._replies = script

    def _answer(self, request: Request) -> Response:
        if (request.method, request.path) != ("POST", "/v1/chat/completions"):
            return refuse(404, f"no such address: {request.path}")
        body: dict[str, Any] = request.json
        with self._came:
            self.calls.append(body)
            number = len(self.calls) - 1
        entry = self._replies[min(number, len(self._replies) - 1)]
        return entry if isinstance(entry, Response) else entry(body)
