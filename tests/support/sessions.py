"""Sessions as Claude Code 2.1.197 writes them: one JSON object for each line.

``tests/e2e/test_transcripts.py`` holds the form to the real one; what is in them is made up here.
"""

from __future__ import annotations

import calendar
import itertools
import json
import os
import time
from pathlib import Path
from typing import Any

from flow.adapters.transcripts.session_files import project_name

_numbers = itertools.count(1)
_FIRST = calendar.timegm((2026, 11, 21, 18, 0, 0))


def folder(home: Path, cwd: str | os.PathLike[str]) -> Path:
    """Where the sessions that were started in ``cwd`` lie."""
    return home / ".claude" / "projects" / project_name(os.path.realpath(cwd))


def _stamp(number: int) -> str:
    """A second for each line, however many there were before."""
    return time.strftime("%Y-%m-%dT%H:%M:%S.925Z", time.gmtime(_FIRST + number))


class SessionFile:
    """A session that grows. ``side`` makes it a subagent's."""

    def __init__(self, path: Path, *, side: str | None = None) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        self.side = side
        self.parent: str | None = None
        self.prompt_id = "p0"

    def raw(self, data: bytes) -> SessionFile:
        """Append bytes as they are."""
        with self.path.open("ab") as file:
            file.write(data)
        return self

    def line(self, kind: str, **more: Any) -> SessionFile:
        """Append a line; its uuid is ``u`` and a number."""
        number = next(_numbers)
        uuid = f"u{number:06}"
        document = {
            "parentUuid": self.parent,
            "isSidechain": self.side is not None,
            **({"agentId": self.side} if self.side else {}),
            "type": kind,
            "uuid": uuid,
            "timestamp": _stamp(number),
            "sessionId": self.path.stem,
            "version": "2.1.197",
            **more,
        }
        self.parent = uuid
        return self.raw(json.dumps(document).encode() + b"\n")

    def user(self, content: Any, **more: Any) -> SessionFile:
        """A user's line, whoever wrote it."""
        message = {"role": "user", "content": content}
        return self.line("user", promptId=self.prompt_id, message=message, **more)

    def prompt(self, text: str) -> SessionFile:
        """What a person typed."""
        self.prompt_id = f"p{next(_numbers)}"
        return self.user(text, promptSource="typed")

    def command(self, name: str, args: str = "", text: str = "Do it.") -> SessionFile:
        """A slash command with its instructions."""
        self.prompt_id = f"p{next(_numbers)}"
        self.user(
            f"<command-message>{name}</command-message>\n<command-name>/{name}</command-name>\n"
            f"<command-args>{args}</command-args>"
        )
        return self.user([{"type": "text", "text": text}], isMeta=True)

    def local(self, name: str) -> SessionFile:
        """A command that Claude Code answers itself."""
        self.user("<local-command-caveat>Caveat: ...</local-command-caveat>", isMeta=True)
        self.user(
            f"<command-name>/{name}</command-name>\n            "
            f"<command-message>{name}</command-message>\n            <command-args></command-args>"
        )
        return self.user("<local-command-stdout>done</local-command-stdout>")

    def says(self, text: str, **more: Any) -> SessionFile:
        """Words of the agent."""
        return self._assistant({"type": "text", "text": text}, **more)

    def call(self, tool: str, given: Any, id: str | None = None) -> str:
        """A call without its result; the call's id."""
        id = id or f"toolu_{next(_numbers):06}"
        self._assistant({"type": "tool_use", "id": id, "name": tool, "input": given})
        return id

    def result(self, id: str, content: Any, *, failed: bool = False, **more: Any) -> SessionFile:
        """What a call came to."""
        block = {"type": "tool_result", "tool_use_id": id, "content": content, "is_error": failed}
        return self.user([block], **more)

    def used(self, tool: str, given: Any, result: str = "", *, failed: bool = False) -> SessionFile:
        """A call and its result."""
        return self.result(self.call(tool, given), result, failed=failed)

    def bash(self, command: str, result: str = "", *, failed: bool = False) -> SessionFile:
        """A call of Bash."""
        given = {"command": command, "description": "a step"}
        return self.used("Bash", given, result, failed=failed)

    def skill(self, name: str, args: str = "", text: str = "Do it.") -> SessionFile:
        """The agent itself starts a skill."""
        id = self.call("Skill", {"skill": name, "args": args})
        told = {"success": True, "commandName": name}
        self.result(id, f"Launching skill: {name}", toolUseResult=told)
        block = [{"type": "text", "text": text}]
        return self.user(block, isMeta=True, sourceToolUseID=id)

    def agent(self, name: str, task: str, agent: str, result: str) -> SessionFile:
        """The agent asks a subagent, whose own file :func:`subagent` writes."""
        given = {"subagent_type": name, "description": "d", "prompt": task}
        id = self.call("Agent", given)
        told = {"status": "completed", "agentId": agent, "agentType": name}
        content = [{"type": "text", "text": result}, {"type": "text", "text": f"agentId: {agent}"}]
        return self.result(id, content, toolUseResult=told)

    def subagent(self, agent: str, kind: str = "", call: str = "") -> SessionFile:
        """The file of a subagent of this session."""
        base = self.path.with_suffix("") / "subagents" / f"agent-{agent}"
        base.parent.mkdir(parents=True, exist_ok=True)
        if kind:
            note = {"agentType": kind, "description": "d", **({"toolUseId": call} if call else {})}
            Path(f"{base}.meta.json").write_text(json.dumps(note))
        return SessionFile(Path(f"{base}.jsonl"), side=agent)

    def _assistant(self, block: dict[str, Any], **more: Any) -> SessionFile:
        message = {"id": "msg_1", "type": "message", "role": "assistant", "content": [block]}
        return self.line("assistant", message=message, **more)
