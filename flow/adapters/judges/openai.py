"""The backend ``openai``: any endpoint that speaks OpenAI's chat completions, local ones included.

It needs the ``openai`` SDK, an extra. The schema is sent as ``response_format``; a server that does
not know that is asked once more with the schema in the prompt, and from then on always. The usage
names it (``openai, schema in the prompt``), since such a reply is only checked by Flow.
"""

from __future__ import annotations

import json

from flow.adapters.judges.asking import answered, none
from flow.adapters.judges.reply_json import closed, read_reply, words
from flow.adapters.judges.retry import Retryable
from flow.adapters.judges.service import ServiceBackend, ServiceError, usage_of
from flow.app.judging.port import JudgeAnswer
from flow.startup.json import items_of, object_of
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flow.adapters.judges.asking import Call
    from flow.adapters.judges.service import Body
    from flow.app.judging.port import NoAnswer
    from flow.core.judging.common.question import Question

KEY = "OPENAI_API_KEY"
_NO_KEY = "none-needed"
"""Key for local servers, which need none although the SDK does."""

_UNKNOWN_FORMAT = (400, 404, 415, 422, 501)
_NAMES_IT = ("response_format", "json_schema", "guided_json", "structured output")
_NOT_SENT = frozenset(
    ("$schema", "$id", "title", "default", "examples", "minLength", "maxLength", "uniqueItems")
)
"""Keywords that strict mode refuses; Flow checks the reply against all of them anyway."""


class OpenAI(ServiceBackend):
    """One model of one endpoint."""

    name = "openai"
    variables = (KEY, "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID")
    tells_cost = True
    """True since some routers name it (``usage.cost``); a limit refuses the first reply without it.
    """
    _in_prompt = False

    def ask(self, call: Call) -> JudgeAnswer | NoAnswer | Retryable:
        """Send one request, or two if the server does not know ``response_format``."""
        if not (self._base_url or self._credentials.keys() & {KEY, "OPENAI_BASE_URL"}):
            reason = (
                f"no key: set {KEY} in the environment (or flow.goals.judge.baseUrl for a server "
                "that needs none)"
            )
            return none(self, "no_key", reason)
        in_prompt, tries = self._in_prompt, 1
        response = self._request(call, in_prompt)
        if isinstance(response, ServiceError) and not in_prompt and _format_unknown(response):
            in_prompt, tries = True, 2
            self._in_prompt = True
            response = self._request(call, in_prompt)
        return _told_result(self._answer(response, call), in_prompt, tries)

    def _request(self, call: Call, in_prompt: bool) -> Body | ServiceError | NoAnswer | Retryable:
        return self.send(call, _body(self.model, call.question, in_prompt), **{KEY: _NO_KEY})

    def _read(self, completion: dict[str, Any], call: Call) -> JudgeAnswer | NoAnswer:
        told = object_of(completion.get("usage"))
        usage = usage_of(
            self,
            completion.get("model"),
            told.get("prompt_tokens"),
            told.get("completion_tokens"),
            told.get("cost"),
        )
        choices = items_of(completion.get("choices"))
        choice = object_of(choices[0] if len(choices) == 1 else None)
        message = choice.get("message")
        if not isinstance(message, dict):
            return none(self, "wrong_shape", "the response does not hold exactly one reply", usage)
        if message.get("refusal"):
            reason = f"the model refused to answer: {words(str(message['refusal']))}"
            return none(self, "refused", reason, usage)
        if choice.get("finish_reason") == "content_filter":
            return none(self, "refused", "the service's filter withheld the reply", usage)
        if choice.get("finish_reason") == "length":
            return none(self, "cut_off", "the reply was cut off at the model's limit", usage)
        if message.get("tool_calls"):
            return none(self, "wrong_shape", "the model called a tool; it has none", usage)
        content = message.get("content")
        if not isinstance(content, str) or not content.strip():
            return none(self, "empty", "the reply is empty", usage)
        return answered(self, read_reply(content, call.question.schema), usage)


def _told_result(
    result: JudgeAnswer | NoAnswer | Retryable, in_prompt: bool, tries: int
) -> JudgeAnswer | NoAnswer | Retryable:
    """The result with its number of requests, and with the fall-back named."""
    if isinstance(result, Retryable):
        inner = _told_result(result.answer, in_prompt, tries)
        assert not isinstance(inner, JudgeAnswer | Retryable)  # noqa: S101  # it was no answer before
        return result._replace(answer=inner)
    usage = result.usage._replace(attempts=tries)
    if in_prompt:
        usage = usage._replace(backend=f"{usage.backend}, schema in the prompt")
    return result._replace(usage=usage)


def _format_unknown(response: ServiceError) -> bool:
    text = response.text.lower()
    return response.status in _UNKNOWN_FORMAT and any(name in text for name in _NAMES_IT)


def _body(model: str | None, question: Question, in_prompt: bool) -> dict[str, Any]:
    schema = closed(question.schema, without=_NOT_SENT)
    system = question.system
    if in_prompt:
        system += (
            "\n\nReply with one JSON object and nothing else: no words before or after it, no code "
            f"fence. It has to fit this JSON Schema:\n{json.dumps(schema)}"
        )
    body: dict[str, Any] = {
        "model": model,
        "messages": [
            {"role": "system", "content": system},
            {"role": "user", "content": question.prompt},
        ],
    }
    if not in_prompt:
        strict = {"name": "answer", "strict": _all_required(schema), "schema": schema}
        body["response_format"] = {"type": "json_schema", "json_schema": strict}
    return body


def _all_required(schema: Any) -> bool:
    """Whether strict mode accepts it: each object must require all its properties."""
    if isinstance(schema, list):
        return all(map(_all_required, schema))
    if not isinstance(schema, dict):
        return True
    properties = schema.get("properties")
    if isinstance(properties, dict):
        if set(schema.get("required", ())) != set(properties):
            return False
        return all(map(_all_required, properties.values()))
    return all(map(_all_required, schema.values()))
