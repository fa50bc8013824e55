"""The hosts' input to a stop hook, and the answers they accept (SPEC 6). Pure values.

A host is the program that runs the agent. Each sends one JSON object on stdin and takes one on
stdout; the caller parses and prints the text. Cursor's may begin with a byte-order mark
(U+FEFF), which the caller strips before it parses; here every value has been parsed already.

Each host's format, with its source:

=========== ==================================================================================
claude      Claude Code 2.1.197, its own schemas: ``session_id``, ``cwd``, ``hook_event_name``,
            ``prompt_id``, ``agent_id``, ``stop_hook_active``, ``background_tasks`` (a list of
            ``{id, type, status, description, command?, agent_type?, server?, tool?, name?}``
            with what runs or waits to run), ``last_assistant_message``,
            ``decision`` ``approve`` or ``block``, ``reason``,
            ``systemMessage``; a key that it does not know is dropped. More blocks in a row than
            ``CLAUDE_CODE_STOP_HOOK_BLOCK_CAP`` (default 8, 0 or less: no cap) are overridden; a
            tool call in between starts its count afresh, and ours does not know of it. By
            documentation only: strings of over 10,000 characters are cut.
codex       Codex CLI 0.169.0, the schemas inside it, and runs of it: ``session_id``, ``cwd``,
            ``turn_id`` (the same in a continuation), ``hook_event_name``, ``agent_id`` (of a
            subagent's stop), ``stop_hook_active``, ``last_assistant_message``. An
            unknown key, another decision than
            ``block`` and a ``block`` without a reason make the hook fail; of a reason over
            10,000 bytes the agent gets the beginning, the end and the name of a file. It says
            nothing about background tasks.
gemini      Gemini CLI 0.61.0, its code, and runs of it: ``session_id``, ``cwd``,
            ``hook_event_name`` ``AfterAgent``, ``stop_hook_active``, ``prompt_response``;
            ``decision`` ``deny`` with a
            ``reason`` that becomes the next prompt uncut, ``systemMessage``, which is shown. The
            reasons of all hooks are joined, so an answer that lets go carries none. It says
            nothing about background tasks.
cursor      By documentation only: ``conversation_id``, ``hook_event_name`` ``stop``,
            ``status`` (``completed``, ``aborted``, ``error``), ``loop_count`` (follow-ups used
            so far), ``workspace_roots``; ``followup_message`` continues, an empty object lets
            go; 5 follow-ups unless the entry's ``loop_limit`` says otherwise.
=========== ==================================================================================
"""

from __future__ import annotations

from flow.startup.typing import Any, Literal, NamedTuple

HOSTS = ("claude", "codex", "gemini", "cursor")

MARK = "FLOW_GOAL_CONTINUATION"
"""Start of a continuation; used alone if a caller gave no reason."""

NAME_LIMIT = 120
"""The most characters of a background task's name."""
MOST_TASKS = 20
"""Background tasks that are named, at most; the others are counted."""

MESSAGE_LIMIT = 4000
"""Characters of an agent's last message that are read."""

_MESSAGES = {
    "claude": "last_assistant_message",
    "codex": "last_assistant_message",
    "gemini": "prompt_response",
}
"""The key of the agent's last message, by host."""
_SESSION_LIMIT = 200
_CWD_LIMIT = 4096
_MOST_USED = 1_000_000
_ENDED = ("completed", "failed", "killed", "stopped", "cancelled")
"""Statuses of ended tasks, which are no reason to wait."""
_TASK_NAMES = ("description", "command", "name", "agent_type", "tool", "server", "id")


class StopEvent(NamedTuple):
    """A stop, from the host's input. A missing or invalid value has its default."""

    host: str
    session: str | None = None
    """The session's id; None if unknown, so that it can claim nothing."""
    cwd: str | None = None
    """An absolute path, not checked: it may be gone, or be in no repository."""
    continued: bool = False
    """The host's flag that the turn answers a continuation. Claude Code's can be False in a turn
    that does, so the caller counts by itself, with ``prompt`` if there is one.
    """
    background: tuple[str, ...] = ()
    """Names of the background tasks that run or wait to run; while there are any, wait."""
    prompt: str | None = None
    """The id of the user's prompt (Claude Code) or turn (Codex) that the stop ends: equal ids mean
    that no new prompt came in between."""
    used: int | None = None
    """The host's own count of continuations for this prompt (Cursor); None: it has none."""
    message: str | None = None
    """The agent's last message, unredacted; None if the host sends none (Cursor)."""
    skip: str = ""
    """Reason that this stop is not judged (a subagent's, another event, an aborted turn), or
    ``""``.
    """


class StopAnswer(NamedTuple):
    """The hook's decision, before it takes a host's form."""

    action: Literal["continue", "let_go"]
    reason: str
    next_step_hint: str = ""
    message: str = ""
    """For the user. Codex and Cursor cannot show it."""


class _Host(NamedTuple):
    event: str
    reason_limit: int
    unit: Literal["utf-16", "utf-8"]
    cap: int | None


_TABLE = {
    "claude": _Host("Stop", 10_000, "utf-16", 8),
    "codex": _Host("Stop", 10_000, "utf-8", None),
    "gemini": _Host("AfterAgent", 10_000, "utf-16", None),
    "cursor": _Host("stop", 10_000, "utf-16", 5),
}


def event_name(host: str) -> str:
    """The event's name for ``host``: the key in its settings, and ``hook_event_name``."""
    return _TABLE[host].event


def reason_limit(host: str) -> int:
    """The longest reason of a continuation for ``host``, in the unit of :func:`reason_size`.

    Claude Code and Codex cut a longer one; the two others have no known limit, and this one keeps
    the agent's prompt short.
    """
    return _TABLE[host].reason_limit


def reason_size(host: str, text: str) -> int:
    """The length of ``text`` as ``host`` counts it: UTF-16 units, for Codex bytes of UTF-8.

    Never less than its characters, so that cutting to fewer characters than are left always helps.
    """
    if _TABLE[host].unit == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text) + sum(char > "\uffff" for char in text)


def block_cap(host: str, variable: str | None = None) -> int | None:
    """Continuations in a row after which ``host`` overrides its hooks; None: never.

    ``variable`` is the value of ``CLAUDE_CODE_STOP_HOOK_BLOCK_CAP``, or None if it is unset; only
    Claude Code reads it, and uses the number at the start of the text.
    """
    cap = _TABLE[host].cap
    if host != "claude" or variable is None:
        return cap
    text = variable.strip()
    sign, rest = (text[:1], text[1:]) if text[:1] in ("+", "-") else ("", text)
    digits = rest[: next((i for i, c in enumerate(rest) if c not in "0123456789"), len(rest))]
    if not digits:
        return cap
    number = int(digits[:18])
    return None if sign == "-" or number == 0 else number


def read_event(host: str, document: object) -> tuple[StopEvent, tuple[str, ...]]:
    """Read a stop from ``document``, the parsed input of ``host`` (one of :data:`HOSTS`).

    Never raises for a document: a missing value has its default, and an invalid one also a warning
    of one line of printable characters.
    """
    if not isinstance(document, dict):
        warning = f"the host's input is {_kind_name(document)}, not an object"
        return StopEvent(host), (warning,)
    warnings: list[str] = []
    read = _cursor_event if host == "cursor" else _common_event
    event = read(host, document, warnings)
    return event._replace(skip=_skip_reason(host, document, warnings)), tuple(warnings)


SHOWING_HOSTS = ("claude", "gemini")
"""Hosts that show the person a message with every answer."""


def to_document(host: str, answer: StopAnswer) -> dict[str, str]:
    """``answer`` in the form of ``host``, with no key that it does not know.

    The reason is not cut here. An empty one is replaced if the host needs one.
    """
    message = {"systemMessage": answer.message} if answer.message else {}
    if answer.action == "continue":
        reason = answer.reason if answer.reason.strip() else MARK
        if host == "cursor":
            return {"followup_message": reason}
        shown = message if host != "codex" else {}
        return {"decision": "deny" if host == "gemini" else "block", "reason": reason, **shown}
    if host == "claude":
        return {
            "decision": "approve",
            "reason": answer.reason,
            **({"next_step_hint": answer.next_step_hint} if answer.next_step_hint else {}),
            **message,
        }
    return {"decision": "allow", **message} if host == "gemini" else {}


def _common_event(host: str, document: dict[Any, Any], warnings: list[str]) -> StopEvent:
    """A stop of Claude Code, Codex or Gemini, whose keys are alike."""
    prompt = {"claude": "prompt_id", "codex": "turn_id"}.get(host)
    continued = document.get("stop_hook_active")
    if continued is not None and not isinstance(continued, bool):
        warnings.append(_wrong_value("stop_hook_active", continued, "true or false"))
    return StopEvent(
        host,
        session=_id_value(document, "session_id", warnings),
        cwd=_path_value("cwd", document.get("cwd"), warnings),
        continued=continued is True,
        background=_task_names(document, warnings) if host == "claude" else (),
        prompt=_id_value(document, prompt, warnings) if prompt else None,
        message=_message(document, _MESSAGES[host], warnings),
    )


def _message(document: dict[Any, Any], key: str, warnings: list[str]) -> str | None:
    """The beginning of the agent's last message."""
    text = document.get(key)
    if text is None:
        return None
    if not isinstance(text, str):
        warnings.append(_wrong_value(key, text, "a text"))
        return None
    return text[:MESSAGE_LIMIT].strip() or None


def _cursor_event(host: str, document: dict[Any, Any], warnings: list[str]) -> StopEvent:
    used = document.get("loop_count")
    if used is not None and not _is_count(used):
        warnings.append(_wrong_value("loop_count", used, f"a whole number from 0 to {_MOST_USED}"))
        used = None
    return StopEvent(
        host,
        session=_id_value(document, "conversation_id", warnings),
        cwd=_cursor_root(document.get("workspace_roots"), warnings),
        continued=bool(used),
        used=used,
    )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_USED


def _cursor_root(roots: object, warnings: list[str]) -> str | None:
    """The folder that Cursor works in; the first of several."""
    if roots is None:
        return None
    if not isinstance(roots, list):
        warnings.append(_wrong_value("workspace_roots", roots, "a list of paths"))
        return None
    if len(roots) > 1:
        warnings.append(f"workspace_roots names {len(roots)} folders: the first one counts")
    return _path_value("workspace_roots[0]", roots[0], warnings) if roots else None


def _skip_reason(host: str, document: dict[Any, Any], warnings: list[str]) -> str:
    name = document.get("hook_event_name")
    expected = event_name(host)
    if name is not None and not isinstance(name, str):
        warnings.append(_wrong_value("hook_event_name", name, "a text"))
    elif name is not None and name.lower() != expected.lower():
        return f"the event is {_shown_text(name)!r}, not {expected!r}"
    agent = document.get("agent_id")
    if host in ("claude", "codex") and isinstance(agent, str) and agent:
        return "it is the stop of a subagent"
    if host in ("claude", "codex") and document.get("permission_mode") == "plan":
        return "the agent plans and may change nothing"
    status = document.get("status") if host == "cursor" else None
    if status in ("aborted", "error"):
        return f"the host says that the turn ended with {status!r}"
    if status not in (None, "completed"):
        warnings.append(_wrong_value("status", status, "completed, aborted or error"))
    return ""


def _id_value(document: dict[Any, Any], key: str, warnings: list[str]) -> str | None:
    value = document.get(key)
    if value is None or value == "":
        return None
    if isinstance(value, str) and len(value) <= _SESSION_LIMIT and value.isprintable():
        return value
    warnings.append(
        _wrong_value(key, value, f"a printable text of at most {_SESSION_LIMIT} characters")
    )
    return None


def _path_value(key: str, value: object, warnings: list[str]) -> str | None:
    if value is None:
        return None
    if (
        isinstance(value, str)
        and value.startswith("/")
        and len(value) <= _CWD_LIMIT
        and not any(_in_no_path(char) for char in value)
    ):
        return value
    warnings.append(_wrong_value(key, value, "an absolute path"))
    return None


def _in_no_path(char: str) -> bool:
    """NUL and surrogates, except those that Python uses for bytes that are not UTF-8."""
    return char == "\x00" or "\ud800" <= char < "\udc80" or "\udcff" < char <= "\udfff"


def _task_names(document: dict[Any, Any], warnings: list[str]) -> tuple[str, ...]:
    """The names of the running tasks; an invalid entry counts as one."""
    tasks = document.get("background_tasks")
    if tasks is None:
        return ()
    if not isinstance(tasks, list):
        warnings.append(_wrong_value("background_tasks", tasks, "a list of tasks"))
        return ()
    running = [task for task in tasks if _is_running(task)]
    odd = sum(not isinstance(task, dict) for task in running)
    if odd:
        warnings.append(f"background_tasks: {odd} of its {len(tasks)} entries are no objects")
    names = [_task_name(task) for task in running[:MOST_TASKS]]
    more = len(running) - len(names)
    return (*names, f"{more} more") if more else tuple(names)


def _is_running(task: object) -> bool:
    status = task.get("status") if isinstance(task, dict) else None
    return not isinstance(status, str) or status not in _ENDED


def _task_name(task: object) -> str:
    values = task if isinstance(task, dict) else {}
    texts = (values.get(key) for key in _TASK_NAMES)
    name = next((text for text in texts if isinstance(text, str) and text.strip()), "a task")
    kind = values.get("type")
    return _shown_text(f"{kind}: {name}" if isinstance(kind, str) and kind else name)


def _wrong_value(key: str, value: object, expected: str) -> str:
    text = f" {_shown_text(value)!r}" if isinstance(value, str) else ""
    return f"{key} is {_kind_name(value)}{text}, not {expected}: it is left out"


def _kind_name(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    names = {dict: "an object", list: "a list", str: "the text", int: "a number", float: "a number"}
    return names.get(type(value), "no JSON value")


def _shown_text(text: str) -> str:
    """``text`` on one line of printable characters, cut."""
    cut = text if len(text) <= NAME_LIMIT else text[: NAME_LIMIT - 1] + "…"
    return "".join(char if char.isprintable() else "?" for char in cut)
