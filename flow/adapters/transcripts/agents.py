"""Transcripts of subagents: their files, and one execution with all of its subagents'.

Claude Code writes an agent's acts into a file of its own, beside the session's. The call it belongs
to is named in the call's result, in a note beside the file, or in its first lines.
"""

from __future__ import annotations

from flow.adapters.attribution.shell_syntax import parse_shell
from flow.adapters.transcripts import session_files
from flow.core.attribution.destructive import tool_destroys
from flow.core.text.display import visible
from flow.core.transcript.claude import Session, names_skill
from flow.core.transcript.model import SUBAGENT_END, TranscriptEntry
from flow.core.transcript.pending import replace_unwritable
from flow.errors import InputError
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.core.transcript.claude import Execution
    from flow.core.transcript.pending import PendingEntries

MOST_AGENTS = 40
"""Most subagents whose transcripts are read for one execution."""
MOST_DEPTH = 3
"""Most levels of subagents of subagents."""
FIRST_LINES = 20
"""Lines of an agent's transcript that may name the call that started it."""
MOST_CHARACTERS = 16 << 20
"""Most characters of one execution with its subagents."""


def file_of_agent(execution: Execution, path: str) -> str | None:
    """The transcript of the execution's agent."""
    if execution.call is None:
        return None
    return _agent_of_call(path, execution.call, execution.spawned.get(execution.call))


def _agent_of_call(path: str, call: str, agent: str | None) -> str | None:
    """The transcript of the agent that a call started: by its id, else by the note beside it."""
    if agent is not None:
        return session_files.agent_file(path, agent)
    for file in session_files.agent_files(path):
        if session_files.small_json(note_beside(file)).get("toolUseId") == call:
            return file
    return None


def forked(execution: Execution, path: str) -> str | None:
    """The transcript of the agent that a skill with a context of its own ran in."""
    if execution.kind != "fork" or execution.prompt_id is None:
        return None
    for file in session_files.agent_files(path):
        first = _first_lines(file)
        if any(line.get("promptId") == execution.prompt_id for line in first) and any(
            names_skill(execution.name, str(line.get("attributionSkill", ""))) for line in first
        ):
            return file
    return None


def _first_lines(path: str) -> list[dict[str, Any]]:
    try:
        source = session_files.open_source(path, follow=False)
    except InputError:
        return []
    lines = []
    for line in session_files.SessionLines(source):
        if isinstance(line, dict):
            lines.append(line)
        if len(lines) >= FIRST_LINES:
            break
    return lines


def note_beside(path: str) -> str:
    """The path of the note beside a transcript."""
    return "" if path == session_files.STDIN else path.removesuffix(".jsonl") + ".meta.json"


class Gathering:
    """The entries of one execution, with those of its subagents at their calls."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.entries: list[TranscriptEntry] = []
        self.warnings: list[str] = []
        self.characters = 0
        self.agents: set[str] = set()

    def add_all(
        self, pending: PendingEntries, spawned: Mapping[str, str | None], depth: int
    ) -> None:
        """Add the entries of one file, and after each call of an agent its transcript."""
        for entry in pending.all():
            self._add(entry.snapshot())
            if entry.call is not None and entry.call in spawned:
                file = _agent_of_call(self.path, entry.call, spawned[entry.call])
                if file is not None:
                    self.add_agent(file, depth + 1, name=entry.tool)

    def add_execution(self, execution: Execution) -> None:
        """Add an agent's execution: its prompt, its own transcript, its result."""
        own = execution.entries.all()
        file = file_of_agent(execution, self.path)
        if file is None:
            for entry in own:
                self._add(entry.snapshot())
            return
        self.add_agent(file, 1, set_off=False)
        texts = {entry.text for entry in self.entries}
        for entry in own:
            if entry.kind == "prompt" and entry.text not in texts:
                self.entries.insert(0, entry.snapshot())
            elif entry.kind != "prompt" and not any(text in entry.text for text in texts if text):
                self._add(entry.snapshot())

    def add_agent(
        self, path: str, depth: int, *, set_off: bool = True, name: str | None = None
    ) -> None:
        """Add the transcript of a subagent, between two notes if it is to be ``set_off``."""
        if path in self.agents:
            return
        if (
            depth > MOST_DEPTH
            or len(self.agents) >= MOST_AGENTS
            or self.characters > MOST_CHARACTERS
        ):
            self._warn("transcripts of some subagents were not read: there are too many")
            return
        self.agents.add(path)
        try:
            source = session_files.open_source(path, follow=False)
        except InputError:
            self._warn("the transcript of a subagent could not be read")
            return
        lines = session_files.SessionLines(source)
        session = Session(None, destroys, whole=True)
        lines.read_into(session)
        for warning in lines.warnings:
            self._warn(f"a subagent's transcript: {warning}")
        who = visible(replace_unwritable(session.agent or name or "agent"))[:120]
        if set_off:
            self._add(TranscriptEntry("note", f"what the subagent {who} did:", None, None))
        self.add_all(session.everything, session.spawned, depth)
        if set_off:
            self._add(TranscriptEntry("note", f"{SUBAGENT_END} {who} did", None, None))

    def _add(self, entry: TranscriptEntry) -> None:
        self.entries.append(entry)
        self.characters += len(entry.text) + len(entry.result or "")

    def _warn(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)


def destroys(tool: str, given: Mapping[str, Any]) -> bool:
    """Whether a call destroys something."""
    return tool_destroys(tool, given, parse_shell)
