"""The lines of a Claude Code session as executions of skills and agents (SPEC 9.3).

The format is that of Claude Code 2.1.197 (``tests/e2e/test_transcripts.py`` compares them), and the
older forms that it still reads. One line is one JSON object; here it is a value.

An execution begins with a slash command, a call of the tool ``Skill``, or a call of ``Agent``
(older: ``Task``), and lasts to a person's next prompt, the next skill, or the end; an agent's lasts
to its result. A call of an agent inside a skill's execution is part of that one.
"""

from __future__ import annotations

import json
import re
from copy import copy

from flow.core.transcript.pending import (
    PendingEntries,
    PendingEntry,
    replace_unwritable,
    shown_input,
)
from flow.startup.json import object_of, rows_of, text_of
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

AGENT_TOOLS = ("Agent", "Task")
JUDGES = ("judge", "flow:judge")
"""Skills that score others: the newest execution is never one of theirs."""
MOST_EXECUTIONS = 4
"""Executions that are stored: more than one, since the newest ones may turn out to be none."""
MOST_CALLS = 10_000
"""Calls that are stored, to recognise them on a second line."""

_NAME = re.compile(r"<command-name>\s*/?([^<]{1,200}?)\s*</command-name>")
_ARGS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_SLASH = re.compile(r"/([A-Za-z0-9][\w.:-]{0,199})(?:\s+(.*))?\Z", re.DOTALL)
_LOCAL = ("<local-command-stdout>", "<local-command-stderr>")
_IGNORED = ("<local-command-caveat>", "<bash-", "<user-memory-input>")
_STAMP = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?Z\Z")


class Execution:
    """One use of a skill or agent, while its lines are read."""

    def __init__(self, name: str, kind: str, line: Mapping[str, Any], key: str) -> None:
        self.name = name
        self.kind = kind
        """``command``, ``skill``, ``agent``, ``fork`` (a skill that may have run in an agent)."""
        self.key = key
        """Digest of the ids of its line and call."""
        self.prompt_id = _text_field(line, "promptId")
        self.started_at = utc_stamp(line.get("timestamp"))
        self.entries = PendingEntries()
        self.call: str | None = None
        self.spawned: dict[str, str | None] = {}
        """Call id → agent id, if known."""
        self.number = 0
        """Its index among all executions of the session."""
        self.turn = 0
        """Number of a person's prompts before it."""
        self.local = False
        """Whether Claude Code answered it itself: no skill ran."""
        self.over = False


class Session:
    """A reader of a session's lines, one by one; then ``executions`` are the newest that match.

    ``wanted`` None is any skill or agent but the judge itself. With ``whole``, ``everything`` has
    the entries of the whole session. ``destroys`` decides whether a call is destructive. ``most``
    is the number of executions to store; ``begun`` counts all that match.
    """

    def __init__(
        self,
        wanted: str | None,
        destroys: Callable[[str, Mapping[str, Any]], bool],
        *,
        whole: bool = False,
        most: int = MOST_EXECUTIONS,
    ) -> None:
        self.wanted = wanted
        self.begun = 0
        self.turns = 0
        """Number of a person's prompts."""
        self._most = most
        self.executions: list[Execution] = []
        self.skills: dict[str, None] = {}
        """Names of all skills that ran."""
        self.everything = PendingEntries()
        self._whole = whole
        self.spawned: dict[str, str | None] = {}
        self.agent: str | None = None
        """The agent's name, if this is an agent's own transcript."""
        self.started_at: str | None = None
        self._destroys = destroys
        self._execution: Execution | None = None
        self._agents: dict[str, Execution] = {}
        self._asked: str | None = None
        self._side: bool | None = None
        self._calls: dict[str, None] = {}

    @property
    def side(self) -> bool:
        """Whether it is the transcript of a subagent."""
        return self._side is True

    # --- lines ---------------------------------------------------------------------------------

    def line(self, line: Any) -> bool:
        """Read one line; False if it is not a session's."""
        if not isinstance(line, dict):
            return False
        kind, message = line.get("type"), line.get("message")
        if not isinstance(kind, str) and isinstance(line.get("role"), str):
            kind, message = line["role"], line  # a message in the API's own form
        if not isinstance(kind, str):
            return False
        if kind in ("user", "human", "assistant"):
            message = object_of(message)
            if not isinstance(message.get("content"), (str, list)):
                return False
            self._message(line, kind, message)
        elif kind == "system":
            self._system(line)
        elif kind == "attachment":
            self._attachment(line.get("attachment"))
        return True

    def _message(self, line: dict[str, Any], kind: str, message: dict[str, Any]) -> None:
        if self._side is None:
            self._side = line.get("isSidechain") is True
        if self.started_at is None:
            self.started_at = utc_stamp(line.get("timestamp"))
        aside = line.get("isSidechain") is True and not self._side
        if self._side and self.agent is None:
            self.agent = _text_field(line, "attributionAgent") or _text_field(
                line, "attributionSkill"
            )
        content = message["content"]
        is_text = isinstance(content, str)
        blocks = [{"type": "text", "text": content}] if is_text else rows_of(content)
        if kind == "assistant":
            self._assistant(line, blocks, aside)
        else:
            self._user(line, blocks, aside)

    def _assistant(self, line: dict[str, Any], blocks: list[Any], aside: bool) -> None:
        failed = line.get("isApiErrorMessage") is True
        for block in blocks:
            text = text_of(block.get("text")) if block.get("type") == "text" else ""
            if text.strip():
                entry = PendingEntry("error" if failed else "text", text, failed=failed)
                self._add(entry, aside=aside)
            elif block.get("type") == "tool_use" and isinstance(block.get("name"), str):
                self._call(line, block, aside)

    def _call(self, line: dict[str, Any], block: dict[str, Any], aside: bool) -> None:
        name, input = block["name"][:200], block.get("input")
        call = block["id"] if isinstance(block.get("id"), str) else None
        if call is not None:
            if call in self._calls:
                return  # the same block on a second line
            self._calls[call] = None
            if len(self._calls) > MOST_CALLS:
                del self._calls[next(iter(self._calls))]
        fields = object_of(input)
        if not aside and name == "Skill":
            skill = text_of(fields.get("skill") or fields.get("command")).strip()
            if skill:
                named = skill.lstrip("/")[:200]
                self._begin(named, "skill", line, call).call = call
        entry = PendingEntry(
            "tool", shown_input(input), name, call=call, destructive=self._destroys(name, fields)
        )
        if name in AGENT_TOOLS and not aside:
            named = text_of(fields.get("subagent_type")).strip() or "general-purpose"
            self._agent(named, line, call, fields)
        self._add(entry, aside=aside)

    def _agent(
        self, name: str, line: dict[str, Any], call: str | None, input: dict[str, Any]
    ) -> None:
        if call is None:
            return
        self.spawned[call] = None
        if self._execution is not None:
            self._execution.spawned[call] = None
        inside = self._execution is not None and not self._execution.local
        if self._matches(name, inside=inside):
            execution = Execution(
                replace_unwritable(name[:200]), "agent", line, self._key(line, call)
            )
            execution.call = call
            execution.spawned[call] = None
            task = input.get("prompt")
            text = task if isinstance(task, str) else shown_input(input)
            execution.entries.add(PendingEntry("prompt", text))
            self._take(execution)
            self._agents[call] = execution

    def _user(self, line: dict[str, Any], blocks: list[Any], aside: bool) -> None:
        texts: list[str] = []
        for block in blocks:
            if block.get("type") == "tool_result":
                self._result(line, block)
            elif block.get("type") == "text" and isinstance(block.get("text"), str):
                texts.append(block["text"])
            elif block.get("type") in ("image", "document"):
                texts.append(f"({block['type']})")
        text = "\n".join(texts)
        if text.strip():
            self._user_text(line, text, aside)

    def _user_text(self, line: dict[str, Any], text: str, aside: bool) -> None:
        """Sort the text of a user's line by its author."""
        start = text.lstrip()
        kind = object_of(line.get("origin")).get("kind")
        if line.get("isCompactSummary") is True:
            self._add(PendingEntry("note", "the context was compacted here"))
        elif start.startswith(_LOCAL):
            self._answered_locally(start)
        elif kind == "task-notification" or start.startswith("<task-notification>"):
            self._add(PendingEntry("note", f"news of a background task: {text}"))
        elif start.startswith("[Request interrupted by user"):
            self._add(PendingEntry("note", "the user interrupted the agent"))
        elif start.startswith("Stop hook feedback:"):
            self._add(PendingEntry("note", f"a Stop hook sent the agent on: {text}"))
        elif line.get("isMeta") is True:
            self._instructions(line, text)
        elif not start.startswith(_IGNORED):
            self._prompt(line, text, aside)

    def _prompt(self, line: dict[str, Any], text: str, aside: bool) -> None:
        if aside:  # an older version: a subagent's task among the session's own lines
            self._add(PendingEntry("note", f"a subagent was asked: {text}"), aside=True)
            return
        self.turns += 1
        named = _NAME.search(text) if "<command-name>" in text else None
        if named is None:
            self._asked = text
            slash = _SLASH.match(text.strip())
            if slash is None or self._side:
                self._end()
                self._add(PendingEntry("prompt", text))
                return
            self._begin(slash.group(1), "fork", line, None)
            self._add(PendingEntry("prompt", text))
            return
        args = _ARGS.search(text)
        self._asked = f"/{named.group(1)} {args.group(1) if args else ''}".strip()
        self._begin(named.group(1), "command", line, None)
        self._add(PendingEntry("prompt", self._asked))

    def _instructions(self, line: dict[str, Any], text: str) -> None:
        """Add the skill's own text, which Claude Code inserts."""
        if text.lstrip().startswith(_IGNORED):
            return
        execution = self._execution
        source = _text_field(line, "sourceToolUseID")
        if execution is not None and not execution.over:
            of_call = execution.call is not None and source == execution.call
            of_command = (
                execution.call is None and source is None and not execution.entries.of_agent
            )
            if of_call or of_command:
                self._add(PendingEntry("prompt", text, "instructions of the skill"))
        elif self._side and not self.everything.of_agent:
            self._add(PendingEntry("prompt", text, "instructions of the skill"))

    def _answered_locally(self, text: str) -> None:
        execution = self._execution
        if execution is not None and not execution.entries.of_agent:
            if execution.kind != "fork":
                execution.local = True
                self.skills.pop(execution.name, None)
            else:
                self._add(PendingEntry("text", re.sub(r"</?local-command-\w+>", "", text).strip()))

    def _result(self, line: dict[str, Any], block: dict[str, Any]) -> None:
        call = block.get("tool_use_id")
        if not isinstance(call, str):
            return
        failed = block.get("is_error") is True
        text = _result_text(block.get("content"))
        details = object_of(line.get("toolUseResult"))
        agent = details.get("agentId")
        for entries in self._holders():
            entries.result(call, text, failed=failed)
        done = self._agents.pop(call, None)
        if done is not None:
            if details.get("isAsync") is True:
                done.entries.add(PendingEntry("note", "it was started in the background"))
            else:
                done.entries.add(PendingEntry("error" if failed else "text", text, failed=failed))
            done.over = True
        for waiting in self._agents.values():  # an older version: a call by an agent
            waiting.entries.result(call, text, failed=failed)
        if isinstance(agent, str):
            self.spawned[call] = agent
            for execution in (self._execution, done):
                if execution is not None and (call in execution.spawned or execution.call == call):
                    execution.spawned[call] = agent

    def _system(self, line: dict[str, Any]) -> None:
        kind, text = line.get("subtype"), text_of(line.get("content"))
        if kind == "compact_boundary":
            self._add(PendingEntry("note", "the context was compacted here"))
        elif kind == "local_command" and text.startswith(_LOCAL):
            self._answered_locally(text)
        elif kind == "api_error":
            message = object_of(line.get("error")).get("message")
            text = text or str(message or "an error of the API")
            self._add(PendingEntry("error", text, failed=True))

    def _attachment(self, attachment: Any) -> None:
        attached = object_of(attachment)
        if attached.get("type") == "queued_command":
            text = attached.get("prompt")
            if isinstance(text, str) and not text.lstrip().startswith("<task-notification>"):
                self._add(PendingEntry("prompt", text))  # typed while the agent worked

    # --- executions ----------------------------------------------------------------------------

    def _begin(self, name: str, kind: str, line: dict[str, Any], call: str | None) -> Execution:
        """Start the execution of a skill, which ends the one before."""
        if self._execution is not None and kind == "skill":
            self._add(PendingEntry("note", f"the skill {name} began here; what follows is its run"))
        self._end()
        execution = Execution(replace_unwritable(name), kind, line, self._key(line, call))
        if kind == "skill" and self._asked is not None:
            execution.entries.add(PendingEntry("prompt", self._asked))
        self._execution = execution
        if kind != "fork":
            self.skills[execution.name] = None
        if self._matches(execution.name, inside=False):
            self._take(execution)
        return execution

    def _take(self, execution: Execution) -> None:
        execution.number, execution.turn = self.begun, self.turns
        self.begun += 1
        self.executions = [*self.executions, execution][-self._most :]

    def _end(self) -> None:
        if self._execution is not None:
            self._execution.over = True
        self._execution = None

    def _matches(self, name: str, *, inside: bool) -> bool:
        if self.wanted is None:
            return not inside and name not in JUDGES
        return names_skill(self.wanted, name)

    def _key(self, line: dict[str, Any], call: str | None) -> str:
        own = _text_field(line, "uuid")
        if own is None:
            own = json.dumps(line, sort_keys=True)
        return sha256(f"{own}\0{call or ''}".encode("utf-8", "replace")).hexdigest()[:32]

    def _holders(self) -> list[PendingEntries]:
        holders = [self.everything] if self._whole else []
        if self._execution is not None:
            holders.append(self._execution.entries)
        return holders

    def _add(self, entry: PendingEntry, *, aside: bool = False) -> None:
        """Add a copy of an entry to each execution that it belongs to: results come later."""
        holders = self._holders()
        if aside and self._agents:
            holders.append(list(self._agents.values())[-1].entries)
        for number, entries in enumerate(holders):
            entries.add(entry if number == 0 else copy(entry))


def names_skill(wanted: str, name: str) -> bool:
    """Whether ``wanted`` names it: exactly, with a slash, or without the prefix of its plugin."""
    wanted = wanted.removeprefix("/")
    return wanted == name or (":" not in wanted and wanted == name.rpartition(":")[2])


def utc_stamp(value: Any) -> str | None:
    """A time stamp of the transcript in whole seconds, UTC; None for anything else."""
    match = _STAMP.match(value) if isinstance(value, str) and len(value) < 64 else None
    return f"{match.group(1)}Z" if match else None


def _text_field(line: Mapping[str, Any], key: str) -> str | None:
    value = line.get(key)
    return value if isinstance(value, str) and 0 < len(value) <= 300 else None


def _result_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    texts = ((block.get("text"), block.get("type")) for block in rows_of(content))
    return "\n".join(text if isinstance(text, str) else f"({kind})" for text, kind in texts)
