"""The backend ``anthropic``: the Messages API through the ``anthropic`` SDK, an extra.

The reply comes as the arguments of a tool that the model has to call; there is no other tool.
"""

from __future__ import annotations

from flow.adapters.judges.asking import answered, none
from flow.adapters.judges.reply_json import closed, fitting
from flow.adapters.judges.service import ServiceBackend, tokens, usage_of
from flow.startup.json import object_of
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flow.adapters.judges.asking import Call
    from flow.adapters.judges.retry import Retryable
    from flow.app.judging.port import JudgeAnswer, NoAnswer, Usage
    from flow.core.judging.common.question import NoAnswerKind, Question

KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
_TOOL = "give_answer"
_MOST_TOKENS = 16_000
_INPUTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_ENDS: dict[str, tuple[NoAnswerKind, str]] = {
    "max_tokens": ("cut_off", f"the reply was cut off at {_MOST_TOKENS} tokens"),
    "model_context_window_exceeded": ("cut_off", "the model's context was too small"),
    "refusal": ("refused", "the model refused to answer"),
}


class Anthropic(ServiceBackend):
    """One model of the Messages API."""

    name = "anthropic"
    variables = (*KEYS, "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS")
    tells_cost = False

    def ask(self, call: Call) -> JudgeAnswer | NoAnswer | Retryable:
        """Send one request."""
        if not self._credentials.keys() & set(KEYS):
            return none(self, "no_key", f"no key: set {KEYS[0]} in the environment")
        return self._answer(self.send(call, _body(self.model, call.question)), call)

    def _read(self, message: dict[str, Any], call: Call) -> JudgeAnswer | NoAnswer:
        usage = self._usage(message)
        stop = message.get("stop_reason")
        if isinstance(stop, str) and stop in _ENDS:
            return none(self, *_ENDS[stop], usage)
        blocks = message.get("content")
        if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
            return none(self, "wrong_shape", "the response has no content blocks", usage)
        calls = [block for block in blocks if block.get("type") == "tool_use"]
        if not calls:
            texts = [str(block.get("text", "")) for block in blocks]
            if "".join(texts).strip():
                return none(self, "not_json", "the model wrote text, and gave no answer", usage)
            return none(self, "empty", "the reply is empty", usage)
        if len(calls) > 1 or calls[0].get("name") != _TOOL:
            return none(self, "wrong_shape", "the model did not give exactly one answer", usage)
        return answered(self, fitting(calls[0].get("input"), call.question.schema), usage)

    def _usage(self, message: dict[str, Any]) -> Usage:
        told = object_of(message.get("usage"))
        counts = [count for name in _INPUTS if (count := tokens(told.get(name))) is not None]
        total = sum(counts) if counts else None
        return usage_of(self, message.get("model"), total, told.get("output_tokens"))


def _body(model: str | None, question: Question) -> dict[str, Any]:
    return {
        "model": model,
        "max_tokens": _MOST_TOKENS,
        "system": question.system,
        "messages": [{"role": "user", "content": question.prompt}],
        "tools": [
            {
                "name": _TOOL,
                "description": "Gives the whole answer. Call it once.",
                "input_schema": closed(question.schema),
            }
        ],
        "tool_choice": {"type": "tool", "name": _TOOL, "disable_parallel_tool_use": True},
    }
