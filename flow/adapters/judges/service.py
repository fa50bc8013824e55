"""The base of the backends that ask a service through its SDK, in a process of its own."""

from __future__ import annotations

import json
import os
import sys

from flow.adapters.judges.asking import environment, none, secrets
from flow.adapters.judges.reply_json import read_document, words
from flow.adapters.judges.retry import Retryable, retry_after
from flow.adapters.process.with_input import run_with_input
from flow.app.judging.port import Usage
from flow.core.judging.common.question import Unusable
from flow.startup.json import text_of
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.adapters.judges.asking import Call, NamedBackend
    from flow.app.judging.port import JudgeAnswer, NoAnswer
    from flow.core.judging.common.question import NoAnswerKind

_WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "worker.py")
_LIMIT = 4 << 20
"""Most bytes of the worker's report: a body of 1 MiB can become longer as JSON text."""


class Body(NamedTuple):
    """A successful response's document."""

    document: dict[str, Any]


class ServiceError(NamedTuple):
    """A response of HTTP status 400 or more."""

    status: int
    headers: Mapping[str, str]
    text: str
    """The start of its body; hostile."""


class ServiceBackend:
    """Asks one model through an SDK, in a process of its own that ends with the call.

    So the SDK is loaded only if it is used, a service that answers in drops or without end can be
    stopped at any time, and the SDK sees only a judge's environment.
    """

    name: str
    """Name of the backend, and of its SDK."""
    variables: tuple[str, ...]
    """Names that it reads in the environment: the key first, other credentials, addresses."""

    def __init__(self, model: str, base_url: str | None, environ: Mapping[str, str]) -> None:
        self.model: str | None = model
        self._base_url = base_url
        self._credentials = {
            name: environ[name] for name in self.variables if environ.get(name, "").strip()
        }
        self._environ, self._secrets = environment(environ), secrets(environ)

    def _read(self, document: dict[str, Any], call: Call) -> JudgeAnswer | NoAnswer:
        """The answer in a response."""
        raise NotImplementedError

    def _answer(
        self, response: Body | ServiceError | NoAnswer | Retryable, call: Call
    ) -> JudgeAnswer | NoAnswer | Retryable:
        if isinstance(response, ServiceError):
            return no_answer_by_status(
                self, response.status, response.text, response.headers, key=self.variables[0]
            )
        return self._read(response.document, call) if isinstance(response, Body) else response

    def send(
        self, call: Call, body: Mapping[str, Any], **default: str
    ) -> Body | ServiceError | NoAnswer | Retryable:
        """POST ``body``; credentials go through the environment, never through arguments.

        ``default`` are credentials for an environment without any.
        """
        credentials = {**default, **self._credentials}
        if not sys.executable:
            return none(self, "error", "this Python cannot name its own interpreter")
        request = {
            "sdk": self.name,
            "path": [entry for entry in sys.path if entry],
            "base_url": self._base_url,
            "seconds": call.seconds,
            "body": body,
        }
        ended = run_with_input(
            (sys.executable, "-I", _WORKER),
            cwd=call.folder.cwd,
            env={**self._environ, **credentials},
            stdin=json.dumps(request).encode("ascii"),
            timeout=call.seconds,
            limit=_LIMIT,
        )
        hidden = (*self._secrets, *secrets(credentials))
        if ended.kind == "timeout":
            return none(self, "timeout", f"no reply within {call.seconds:.3g} s")
        if ended.kind == "too_much":
            return none(self, "not_json", "the service's response has more than 1 MiB")
        report = read_document(ended.stdout, what="the worker's report", limit=_LIMIT)
        if ended.kind != "exit" or ended.status != 0 or isinstance(report, Unusable):
            why = ended.why or ended.stderr or f"exit {ended.status}"
            return none(self, "error", f"the worker failed: {words(why, hidden, last=300)}")
        return self._reported(report, call, hidden)

    def _reported(
        self, report: dict[str, Any], call: Call, hidden: tuple[str, ...]
    ) -> Body | ServiceError | NoAnswer | Retryable:
        message = words(report.get("message", ""), hidden)
        kind = report["kind"]
        if kind == "body":
            document = read_document(report["text"].encode("utf-8"), what="the service's response")
            if isinstance(document, Unusable):
                return none(self, document.kind, words(document.reason, hidden))
            return Body(document)
        if kind == "refused":
            text = report["text"]
            for secret in hidden:
                text = text.replace(secret, "(key)")
            return ServiceError(report["status"], report["headers"], text)
        if kind == "timeout":
            return none(self, "timeout", f"no reply within {call.seconds:.3g} s")
        if kind == "connection":
            reason = f"no connection, or it broke off: {message}"
            return Retryable(none(self, "unavailable", reason))
        if kind == "missing":
            reason = (
                f"the package {self.name} is not installed for {words(sys.executable)}: "
                f"pip install {self.name} there, or set FLOW_PYTHON to an interpreter that has it"
            )
            return none(self, "not_configured", reason)
        if kind == "too_long":
            return none(self, "not_json", "the service's response has more than 1 MiB")
        return none(self, "error", message)


def no_answer_by_status(
    backend: NamedBackend,
    status: int,
    text: str,
    headers: Mapping[str, str],
    *,
    key: str,
    usage: Usage | None = None,
) -> NoAnswer | Retryable:
    """No answer for this HTTP status; ``key`` names the source of the credentials."""
    message = words(_message(text))
    told = f" (HTTP {status}): {message}" if message else f" (HTTP {status})"

    def final(kind: NoAnswerKind, reason: str) -> NoAnswer:
        return none(backend, kind, reason + told, usage)

    if status in (401, 403):
        return final("no_key", f"the service does not accept {key}")
    if status == 429 and ("insufficient_quota" in text or "billing" in text):
        return final("rate_limited", "the account's quota is used up")
    if status == 429:
        return Retryable(final("rate_limited", "too many requests"), retry_after(headers))
    if status in (408, 409) or status >= 500:
        why = "overloaded" if status == 529 else "in trouble"
        return Retryable(final("unavailable", f"the service is {why}"), retry_after(headers))
    if status == 404:
        model = f"model {words(backend.model)}" if backend.model else "model"
        return final("error", f"the service knows no such address or {model}")
    return final("error", "the service refuses the request")


def _message(text: str) -> str:
    """The error's own words, if the body is JSON of the usual shapes."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return text
    for _ in range(2):
        if isinstance(message, dict):
            message = message.get("error", message.get("message", message.get("detail", "")))
            if isinstance(message, dict):
                message = message.get("message", "")
    return text_of(message)


def tokens(value: Any) -> int | None:
    """A service's value as a count; None if it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def dollars(value: Any) -> float | None:
    """A service's value as a cost; None if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1e9:
        return None
    return float(value)


def usage_of(
    backend: NamedBackend, model: Any, input_tokens: Any, output_tokens: Any, cost: Any = None
) -> Usage:
    """Usage from a service's own numbers, each of which may be any value."""
    named = words(model)[:100] if isinstance(model, str) and model else backend.model
    return Usage(backend.name, named, tokens(input_tokens), tokens(output_tokens), dollars(cost))
