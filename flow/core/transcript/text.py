"""A transcript that was saved as plain text or Markdown (SPEC 9.3).

Such a text has no fixed form. The reader recognises speakers (``User:``, ``**Assistant:**``, ``##
Human``), the marks of Claude Code's own export (``>`` a prompt, a dot the agent and its calls, a
corner a call's result), and commands with their output (``$ make``; in Markdown in a block).
Other text belongs to the last speaker; a text without any such mark is one entry.
"""

from __future__ import annotations

import re

from flow.core.transcript.pending import PendingEntries, PendingEntry
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flow.core.transcript.model import EntryKind

MOST_LINES = 400_000

_SPEAKERS: dict[str, EntryKind] = {
    "user": "prompt",
    "human": "prompt",
    "prompt": "prompt",
    "task": "prompt",
    "assistant": "text",
    "agent": "text",
    "claude": "text",
    "ai": "text",
    "model": "text",
}
_ROLE = re.compile(
    r"(?:\#{1,6}\s+|>\s+)?(?:[^\w\s#>*_`-]{1,3}\s*)?(?P<mark>\*\*|__)?\[?"
    r"(?P<who>user|human|prompt|task|assistant|agent|claude|ai|model)\]?"
    r"(?:\s*\([^()]{0,60}\))?(?P<colon>\s*:)?(?(mark)\s*(?:\*\*|__))(?P<late>\s*:)?(?:\s+(?P<rest>.*))?\Z",
    re.IGNORECASE,
)
_CALL = re.compile(r"[⏺●•]\s+(?P<tool>[A-Za-z][\w-]{0,80})\((?P<input>.*)\)\s*\Z")
_AGENT_TEXT = re.compile(r"[⏺●]\s+(?P<text>.*)\Z")
_RESULT = re.compile(r"\s*⎿\s*(?P<text>.*)\Z")
_PROMPT = re.compile(r"[>❯]\s+(?P<text>\S.*)\Z")
_COMMAND = re.compile(r"\s*(?:[\w.@~/:-]{1,60})?[$%❯]\s+(?P<text>\S.*)\Z")
_FENCE = re.compile(r"\s*(?P<fence>`{3,}|~{3,})(?P<info>.*)\Z")
_FAILED = re.compile(
    r"\s*(?:error\b|exit (?:code|status):? *[1-9]|traceback \(most recent call last\)|fatal: )",
    re.IGNORECASE,
)


def read_text(
    text: str, *, markdown: bool, destroys: Callable[[str, Mapping[str, str]], bool]
) -> PendingEntries:
    """The entries of a saved text; ``destroys`` decides whether a call is destructive."""
    return _TextReader(markdown, destroys).read(text)


class _TextReader:
    def __init__(self, markdown: bool, destroys: Callable[[str, Mapping[str, str]], bool]) -> None:
        self.entries = PendingEntries()
        self.markdown, self.destroys = markdown, destroys
        self.kind: EntryKind = "text"
        self.lines: list[str] = []
        self.tool: tuple[str, str] | None = None
        self.fence = ""
        self.exported = False

    def read(self, text: str) -> PendingEntries:
        lines = text.replace("\r\n", "\n").split("\n", MOST_LINES)
        self.exported = any(line[:1] in "⏺●" and line for line in lines[:2000])
        for line in lines:
            self._line(line)
        self._close()
        return self.entries

    def _line(self, line: str) -> None:
        fence = _FENCE.match(line) if self.markdown else None
        if fence is not None and (not self.fence or fence["fence"].startswith(self.fence)):
            self.fence = "" if self.fence else fence["fence"]
            if self.tool is not None:
                self._close()
            return
        command = _COMMAND.match(line) if self._may_be_command(line) else None
        if command is not None:
            self._open_call("shell", command["text"])
        elif self.fence or not self._speaks(line):
            self.lines.append(line)

    def _may_be_command(self, line: str) -> bool:
        if self.markdown:
            return bool(self.fence) or line.startswith("    ")
        return not self.exported

    def _speaks(self, line: str) -> bool:
        """Start a new entry if the line begins one."""
        call = _CALL.match(line)
        if call is not None:
            self._open_call(call["tool"], call["input"])
            return True
        result = _RESULT.match(line)
        if result is not None and self.tool is not None:
            self.lines.append(result["text"])
            return True
        agent_text = _AGENT_TEXT.match(line)
        if agent_text is not None:
            return self._open("text", agent_text["text"])
        if self.exported:
            prompt = _PROMPT.match(line)
            return prompt is not None and self._open("prompt", prompt["text"])
        role = _ROLE.match(line.strip()) if len(line) < 2000 else None
        if role is None or not _is_role(line, role):
            return False
        return self._open(_SPEAKERS[role["who"].lower()], role["rest"] or "")

    def _open(self, kind: EntryKind, first: str) -> bool:
        self._close()
        self.kind = kind
        if first:
            self.lines.append(first)
        return True

    def _open_call(self, tool: str, input: str) -> None:
        self._close()
        self.tool = (tool, input)

    def _close(self) -> None:
        text = "\n".join(self.lines).strip("\n")
        self.lines = []
        if self.tool is not None:
            tool, input = self.tool
            self.tool = None
            name = "Bash" if tool == "shell" else tool
            destructive = self.destroys(name, {"command": input})
            failed = any(_FAILED.match(line) for line in text.split("\n")[:200])
            entry = PendingEntry(
                "tool", input, tool, failed=failed, destructive=destructive, result=text
            )
            self.entries.add(entry)
            self.kind = "text"
        elif text.strip():
            self.entries.add(PendingEntry(self.kind, text))


def _is_role(line: str, role: re.Match[str]) -> bool:
    """Whether the line names a speaker: by a heading or bold word alone, or by a colon."""
    if role["colon"] or role["late"]:
        return True
    return not role["rest"] and (line.lstrip().startswith("#") or bool(role["mark"]))
