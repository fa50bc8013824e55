"""Writing a question: Flow's own words, and all foreign text between fences.

Outside the fences there are only Flow's words, criterion ids and numbers. A prompt never contains
weights and thresholds: Flow applies them, and a judge that knew them could score towards them. (A
debate's prompt has its weights, as in the seed.)
"""

from __future__ import annotations

import json

from flow.core.judging.common.question import Question, QuoteSource
from flow.core.untrusted.fences import LIMIT, Fenced, FencedPart, fence
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

TEXT: dict[str, Any] = {"type": "string"}
TEXTS: dict[str, Any] = {"type": "array", "items": TEXT}
REPLY_LIMIT = 16_000
"""Bytes of the judge's own first reply, if it is sent back."""


class Rejected(NamedTuple):
    """A reply that needs a repair, and its faults by criterion."""

    reply: Mapping[str, Any]
    faults: Mapping[str, str]


class PromptWriter:
    """Collects the lines of one prompt; ``nonce`` (letters and digits) is in all of its fences.

    The nonce must be unknown to the authors of the fenced text.
    """

    def __init__(self, nonce: str, limit: int = LIMIT) -> None:
        """``limit``: bytes of a fenced part without a limit of its own."""
        self.nonce, self._limit = nonce, limit
        self._lines: list[str] = []
        self._reports: dict[str, None] = {}
        self.shortened: list[tuple[FencedPart, int]] = []
        """Parts that were too long, each with its number of bytes left out."""

    def say(self, *lines: str) -> None:
        """Add lines of Flow's own."""
        self._lines += lines

    def fence(self, part: FencedPart, limit: int | None = None) -> Fenced:
        """Add foreign text between fences."""
        fenced = fence(part, self.nonce, limit=self._limit if limit is None else limit)
        self.say(fenced.text, "")
        self._reports.update(dict.fromkeys(fenced.reports))
        if fenced.left_out:
            self.shortened.append((part, fenced.left_out))
        return fenced

    def ask_again(self, rejected: Rejected, request: str) -> None:
        """Add the request to repair an earlier reply."""
        self.say(
            "# Sent back",
            "",
            "You have answered before, and this is wrong with your answer:",
            *(f"- {name}: {fault}." for name, fault in rejected.faults.items()),
            f"{request} Your first answer:",
        )
        text = json.dumps(rejected.reply, ensure_ascii=False, indent=1)
        self.fence(FencedPart("your first answer", text), REPLY_LIMIT)

    def report(self, sentence: str) -> None:
        """Add a sentence to the reports about the prompt, which people read."""
        self._reports[sentence] = None

    @property
    def size(self) -> int:
        """Bytes so far."""
        return len("\n".join(self._lines).encode("utf-8"))

    def question(
        self, system: str, schema: Mapping[str, Any], sources: Iterable[QuoteSource], **more: Any
    ) -> Question:
        """The prompt as a question; NONCE in ``system`` becomes the nonce."""
        system, prompt = system.replace("NONCE", self.nonce), "\n".join(self._lines)
        reports = tuple(self._reports)
        return Question(system, prompt, schema, "", tuple(sources), reports=reports, **more)


def sources_of(parts: Iterable[Fenced]) -> tuple[QuoteSource, ...]:
    """The parts as evidence of every criterion."""
    return tuple(QuoteSource(part.data) for part in parts)


def rotated(items: Sequence[Any], turn: int) -> list[Any]:
    """``items`` starting at another place.

    Judges favour the first and the last item; over the ballots each item takes each place.
    """
    start = turn % len(items) if items else 0
    return [*items[start:], *items[:start]]


def closed_object(properties: Mapping[str, Any], optional: Sequence[str] = ()) -> dict[str, Any]:
    """The JSON Schema of an object with these properties and no other.

    A debate's identity holds its schema's text: with another order of the keywords, no report file
    of an unfinished debate would be found again.
    """
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


def list_of(items: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """The JSON Schema of a list."""
    return {"type": "array", "items": items, **more}
