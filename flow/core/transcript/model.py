"""A transcript of one execution of a skill or agent, as values (SPEC 9.3).

The entries of a session's file in their order, for any form of file;
:func:`flow.core.transcript.layout.lay_out` lays them out for a judge.
"""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.core.untrusted.fences import FencedPart

EntryKind = Literal["prompt", "text", "tool", "error", "note"]
Form = Literal["claude", "text", "markdown"]


class TranscriptEntry(NamedTuple):
    """One event of a session.

    ``prompt``: a request of a person, or of the caller of a subagent; with ``tool`` a text inserted
    beside it (the skill's instructions). ``text``: the agent's words. ``tool``: a call (``text`` is
    its input, ``tool`` its name, ``result`` its result or None). ``error``: a fault of the session
    that belongs to no call. ``note``: a change of the session (a subagent began, the context was
    compacted).
    """

    kind: EntryKind
    text: str
    tool: str | None = None
    result: str | None = None
    failed: bool = False
    """The call, or the session at this place, ended in an error."""
    destructive: bool = False
    """The call destroys data, or revokes work that others may depend on."""


class Transcript(NamedTuple):
    """One execution. ``warnings`` name the unreadable parts of the file, in plain words."""

    path: str
    form: Form
    skill: str | None
    """The name of the skill or agent in the transcript; None if it has none."""
    execution: str
    """An id of exactly this execution, the same at every reading. An execution that has continued
    since has another id.
    """
    started_at: str | None
    entries: tuple[TranscriptEntry, ...]
    warnings: tuple[str, ...] = ()


class LaidOutTranscript(NamedTuple):
    """A transcript laid out for a judge.

    ``left_out`` is the size in bytes of the text that is in none of the ``parts``; ``summary``
    counts prompts, texts, tool_calls, errors, retries, destructive, notes, left_out_entries.
    """

    parts: tuple[FencedPart, ...]
    left_out: int
    summary: Mapping[str, int]


def quotable_text(transcript: Transcript) -> str:
    """The transcript's own text in order, for the check of quotes."""
    pieces = []
    for entry in transcript.entries:
        if entry.kind != "note":
            pieces += [piece for piece in (entry.tool, entry.text, entry.result) if piece]
    return "\n".join(pieces)


SUBAGENT_END = "end of what the subagent"
"""Start of the note after a subagent's entries."""


def has_ended(transcript: Transcript) -> bool:
    """Whether the agent has ended: it, or its subagent, spoke last, or it was interrupted.

    After a call, or after a Stop hook's continuation, it is still working.
    """
    last = transcript.entries[-1] if transcript.entries else None
    if last is None or (last.kind == "note" and not last.text.startswith(SUBAGENT_END)):
        return False
    return last.kind in ("text", "error", "note")
