"""A transcript of one execution of a skill or agent, as values (SPEC 9.3).

What a reader found in a session's file, in the order in which it happened, whatever the file's form
was. :func:`flow.core.transcript.layout.lay_out` makes of it what a judge is given.
"""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.core.untrusted.fences import FencedPart

EntryKind = Literal["prompt", "text", "tool", "error", "note"]
Form = Literal["claude", "text", "markdown"]


class TranscriptEntry(NamedTuple):
    """One thing that happened.

    ``prompt``: what a person, or whoever called a subagent, asked; with ``tool`` what was put in
    beside it (the skill's instructions). ``text``: what the agent said. ``tool``: a call (``text``
    is its input, ``tool`` its name, ``result`` what came back, None where nothing did). ``error``:
    a fault of the session that belongs to no call. ``note``: what happened to the session (a
    subagent began, the context was compacted).
    """

    kind: EntryKind
    text: str
    tool: str | None = None
    result: str | None = None
    failed: bool = False
    """The call, or the session at this place, ended in an error."""
    destructive: bool = False
    """The call destroys something, or takes back what others may rest on."""


class Transcript(NamedTuple):
    """One execution. ``warnings`` say what of the file could not be read, in plain words."""

    path: str
    form: Form
    skill: str | None
    """The skill or agent as the transcript names it; None where the file does not tell."""
    execution: str
    """Stays the same as often as this execution is read, and is no other's: one that has gone on
    since is another."""
    started_at: str | None
    entries: tuple[TranscriptEntry, ...]
    warnings: tuple[str, ...] = ()


class Laid(NamedTuple):
    """What a judge is given of a transcript.

    ``left_out`` is in bytes: what of the transcript's text is in none of the ``parts``. ``summary``
    counts (prompts, texts, tool_calls, errors, retries, destructive, notes, left_out_entries).
    """

    parts: tuple[FencedPart, ...]
    left_out: int
    summary: Mapping[str, int]


def quotable_text(transcript: Transcript) -> str:
    """Everything in the transcript's own words, in order: what a quote of it must occur in."""
    pieces = []
    for entry in transcript.entries:
        if entry.kind != "note":
            pieces += [piece for piece in (entry.tool, entry.text, entry.result) if piece]
    return "\n".join(pieces)


SUBAGENT_END = "end of what the subagent"
"""How the note begins that ends what a subagent did."""


def has_ended(transcript: Transcript) -> bool:
    """Whether the agent has come to an end: it spoke last, or its subagent did, or it broke off.

    After a call, or after a Stop hook sent it on, it is still at work.
    """
    last = transcript.entries[-1] if transcript.entries else None
    if last is None or (last.kind == "note" and not last.text.startswith(SUBAGENT_END)):
        return False
    return last.kind in ("text", "error", "note")
