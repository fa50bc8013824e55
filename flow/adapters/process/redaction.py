"""Redaction of an environment's secret values, by the names of its variables (SPEC 10)."""

from __future__ import annotations

from _collections_abc import Mapping  # collections itself loads much

from flow.adapters.process.many_strings import make_finder
from flow.adapters.process.secret_values import secret_values
from flow.core.secrets.plain import is_plain
from flow.core.secrets.redact import Redactor, redact
from flow.core.secrets.variants import may_hold
from flow.startup import json
from flow.startup.typing import Any


def redactor(environ: Mapping[str, str]) -> Redactor:
    """A stream that redacts the shapes of tokens and the secrets of ``environ``."""
    return Redactor(secret_values(environ), make_finder)


def redacted_value(value: Any, environ: Mapping[str, str]) -> Any:
    """A JSON value without secrets in its texts."""
    secret = secret_values(environ)
    whole = json.dumps(value, ensure_ascii=False, default=dict)
    if not redact(whole.encode("utf-8", "surrogatepass"), secret).counts:
        return value

    def clean(part: Any) -> Any:
        if isinstance(part, str):
            return _redacted(part, secret)
        if isinstance(part, Mapping):
            return {clean(key): clean(each) for key, each in part.items()}
        return [clean(each) for each in part] if isinstance(part, list) else part

    return clean(value)


def redacted_text(text: str, environ: Mapping[str, str]) -> str:
    """``text`` without its secrets."""
    return _redacted(text, secret_values(environ))


def _redacted(text: str, secret: tuple[bytes, ...]) -> str:
    data = text.encode("utf-8", "surrogatepass")
    if is_plain(data) and not may_hold(data, secret):
        return text
    data = redact(data, secret).data
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:  # a redaction has cut a character
        return data.decode("utf-8", "replace")
