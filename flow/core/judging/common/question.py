"""A question to a judge on any subject, and the result if no usable answer comes (SPEC 9.1)."""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

PROMPT_LIMIT = 200_000
"""Bytes of a whole question, both texts together (SPEC 9.1)."""

NoAnswerKind = Literal[
    "not_configured",
    "no_key",
    "timeout",
    "rate_limited",
    "unavailable",
    "refused",
    "empty",
    "not_json",
    "wrong_shape",
    "unsupported",
    "cut_off",
    "cost_limit",
    "error",
]
"""Reasons that a judge gave no usable answer."""


class QuoteSource(NamedTuple):
    """A text that may be quoted as evidence, as the judge saw it."""

    text: str
    criterion_id: str = ""
    """The only criterion that it is evidence of; empty if it is evidence of every one."""
    origin: str = ""
    """Path or command of the text; empty if it has none."""
    counts: bool = True
    """Whether a pass may depend on it."""
    also: tuple[str, ...] = ()
    """Other criteria that it is evidence of, too."""
    kind: str = ""
    """Flow's own name for this kind of text."""

    def about(self, criterion_id: str) -> bool:
        """Whether it is evidence of this criterion."""
        return criterion_id == self.criterion_id or criterion_id in self.also


class Question(NamedTuple):
    """One prompt, the required shape of its reply, and the texts that the reply may quote."""

    system: str
    """The judge's role, and the rules: Flow's own words only."""
    prompt: str
    """Everything that is judged, between fences."""
    schema: Mapping[str, Any]
    """JSON Schema (2020-12) of the reply: object, array, string, number, enum, required."""
    label: str = ""
    """For progress and errors: ``goal demo, ballot 2``."""
    sources: tuple[QuoteSource, ...] = ()
    unquotable: str = ""
    """All other shown text: a quote of it is no evidence, and not invented either."""
    reports: tuple[str, ...] = ()
    """The changes that made foreign text harmless, in plain words."""
    left_out: tuple[str, ...] = ()
    """The things that the prompt lacks, in plain words."""
    bytes_left_out: int = 0
    """Bytes of the judged text that are not in the prompt."""

    @property
    def size(self) -> int:
        """Bytes of the prompt and the system text."""
        return len(self.prompt.encode("utf-8")) + len(self.system.encode("utf-8"))

    @property
    def quotable(self) -> tuple[str, ...]:
        """The texts of its sources."""
        return tuple(source.text for source in self.sources)


class Unusable(NamedTuple):
    """Reason that a reply, or a part of one, is no answer."""

    reason: str
    kind: NoAnswerKind = "wrong_shape"
