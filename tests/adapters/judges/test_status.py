"""What each HTTP status means for a judge; asked with real services in ``test_services``."""

from __future__ import annotations

import pytest

from flow.adapters.judges.openai import OpenAI
from flow.adapters.judges.retry import Retryable
from flow.adapters.judges.service import no_answer_by_status
from flow.app.judging.port import Usage

BACKEND = OpenAI("m-1", None, {})
QUOTA = '{"error": {"message": "no", "code": "insufficient_quota"}}'


@pytest.mark.parametrize(
    ("status", "text", "kind", "again"),
    [
        (400, "", "error", False),
        (401, "", "no_key", False),
        (402, "", "error", False),
        (403, "", "no_key", False),
        (404, "", "error", False),
        (408, "", "unavailable", True),
        (409, "", "unavailable", True),
        (413, "", "error", False),
        (422, "", "error", False),
        (429, "", "rate_limited", True),
        (429, QUOTA, "rate_limited", False),
        (500, "", "unavailable", True),
        (502, "", "unavailable", True),
        (503, "", "unavailable", True),
        (504, "", "unavailable", True),
        (529, "", "unavailable", True),
        (599, "", "unavailable", True),
    ],
)
def test_the_status_decides(status: int, text: str, kind: str, again: bool) -> None:
    used = Usage("x", cost_usd=1.0)
    found = no_answer_by_status(
        BACKEND, status, text, {"retry-after": "7"}, key="OPENAI_API_KEY", usage=used
    )
    assert isinstance(found, Retryable) == again
    answer = found.answer if isinstance(found, Retryable) else found
    assert answer.kind == kind
    assert f"HTTP {status}" in answer.reason
    assert answer.usage is used
    assert not isinstance(found, Retryable) or found.after == 7.0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"error": {"message": "it broke"}}', ": it broke"),
        ('{"error": "it broke"}', ": it broke"),
        ('{"message": "it broke"}', ": it broke"),
        ('{"detail": "it broke"}', ": it broke"),
        ("it broke\n\x1b[31m", ": it broke\\n\\x1b[31m"),
        ('{"error": {"message": ["x"]}}', ""),
        ('{"error": 5}', ""),
        ("[]", ""),
        ("[" * 100_000, ": [[["),
        ("", ""),
    ],
)
def test_the_services_own_words_are_shown_safely(text: str, words: str) -> None:
    found = no_answer_by_status(BACKEND, 400, text, {}, key="x")
    assert not isinstance(found, Retryable)
    assert found.reason.startswith(f"the service refuses the request (HTTP 400){words}")
    assert found.reason.isprintable()
    assert len(found.reason) < 400
