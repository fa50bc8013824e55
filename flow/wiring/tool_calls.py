"""The question for a person before an agent's tool call, with the real parts (SPEC 17.3)."""

from __future__ import annotations

import os

from flow.adapters.setup import ask_rules
from flow.app import tool_calls
from flow.errors import FlowError
from flow.startup.json import text_of
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.wiring.goals import Goals

_PATHS = ("file_path", "notebook_path", "path")
"""Parameters in which tools that write a file name it."""
_READING_TOOLS = frozenset(["Glob", "Grep", "LS", "NotebookRead", "Read"])
"""Tools of Claude Code that name a path and write nothing. The plugin starts the hook before none
of them; a user's own entry may."""


def question_before(event: Mapping[str, Any]) -> str | None:
    """The question for a person before the tool call of a host's event; None: there is none.

    Raises :class:`FlowError` if the event cannot be understood.
    """
    if text_of(event.get("tool_name")) in _READING_TOOLS:
        return None
    given = event.get("tool_input")
    if not isinstance(given, dict):
        raise FlowError("the host's event has no tool_input")
    folder, command = event.get("cwd"), given.get("command")
    folder = folder if isinstance(folder, str) and os.path.isdir(folder) else os.getcwd()
    paths = [given[key] for key in _PATHS if isinstance(given.get(key), str)]
    state = os.environ.get("FLOW_STATE_DIR") or "$FLOW_STATE_DIR"
    call = tool_calls.ToolCall(
        os.path.realpath(folder),
        command if isinstance(command, str) else None,
        tuple(os.path.realpath(os.path.join(folder, path)) for path in paths),
        ("${FLOW_STATE_DIR}", "$FLOW_STATE_DIR", os.path.realpath(state), state),
    )
    return tool_calls.question_before(_CallFolder(folder), call)


class _CallFolder:
    """A folder as :class:`~flow.app.tool_calls.ToolCallPort` sees it; few calls load anything."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def is_own(self, program: str) -> bool:
        from flow.adapters.process.called_program import is_own

        return is_own(os.path.join(self._folder, program))

    def has_active_goal(self) -> bool:
        try:
            goals, unreadable = self._goals().active(any_open=True)
        except FlowError:
            return True
        return bool(goals or unreadable)

    def confirm_lines(self, words: Sequence[str], *, surely: bool) -> list[str]:
        from flow.app.open_goals import only_open
        from flow.core.tool_calls.confirm_line import confirm_call
        from flow.wiring.confirm_question import confirm_lines

        goals, call = self._goals(), confirm_call(words)
        goal_id = call.goal_id or only_open(goals.active(any_open=True)[0]).id
        return confirm_lines(goals.context, goal_id, call.proposal, surely=surely)

    def _goals(self) -> Goals:
        from flow.wiring.context import Context
        from flow.wiring.goals import Goals

        return Goals(Context(self._folder))


def input_with_question(event: Mapping[str, Any], asked: str) -> dict[str, Any] | None:
    """The input of a Bash call with ``asked`` as its description; None if that is not needed.

    Where a rule of Claude Code's settings asks too (``flow init`` writes some), Claude Code shows
    the rule and the call, and not the hook's reason: the person would be asked without being told.
    """
    given = event.get("tool_input")
    if event.get("tool_name") != "Bash" or not isinstance(given, dict):
        return None
    places = (os.environ.get("CLAUDE_PROJECT_DIR") or event.get("cwd"), os.path.expanduser("~"))
    asks = ask_rules.about_flow([place for place in places if isinstance(place, str)])
    return {**given, "description": asked} if asks else None
