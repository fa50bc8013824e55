"""Whether a person is asked before an agent's tool call goes on, and what (SPEC 17.3)."""

from __future__ import annotations

import re

from flow.core.text.display import visible
from flow.core.tool_calls.questions import more_than_confirm, question, unknown_goal
from flow.core.tool_calls.rules import (
    ONLY_BESIDE_ACTIVE,
    Act,
    acts_in_folder,
    acts_in_shell,
    acts_on_path,
)
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

_CONFIRM = re.compile(r"\bconfirm\b")
_USUAL_STATE = "/.claude/flow-state"


class ToolCall(NamedTuple):
    """A call that a host announces; every path is absolute and without symlinks."""

    folder: str
    command: str | None
    paths: tuple[str, ...]
    """The files that it writes."""
    states: tuple[str, ...] = ()
    """The user's state folder as texts and paths may name it, if it is not in its usual place."""

    def with_usual_state(self) -> ToolCall:
        """The call as if the state folder were in its usual place, by which the rules know it."""

        def usual(text: str) -> str:
            for name in self.states:
                text = text.replace(name, _USUAL_STATE)
            return text

        command = None if self.command is None else usual(self.command)
        return ToolCall(usual(self.folder), command, tuple(map(usual, self.paths)))


class ToolCallPort(Protocol):
    """Interface of deciding about a tool call to the outside."""

    def is_own(self, program: str) -> bool:
        """Whether a program, by its path from the call's folder, is this Flow's."""

    def has_active_goal(self) -> bool:
        """Whether a goal is open in the call's folder, or one cannot be read and may be."""

    def confirm_lines(self, words: Sequence[str], *, surely: bool) -> list[str]:
        """The question of ``flow goal confirm`` with these words; :class:`FlowError`."""


def question_before(port: ToolCallPort, call: ToolCall) -> str | None:
    """The question for a person before the call; None if there is none."""
    acts: tuple[Act, ...] = ()
    folder, command, paths, _ = call.with_usual_state()
    if command is not None:
        acts = (*acts_in_shell(command), *acts_in_folder(folder, command))
    for path in paths:
        acts += acts_on_path(path)
    if any(act.kind in ONLY_BESIDE_ACTIVE for act in acts) and not port.has_active_goal():
        acts = tuple(act for act in acts if act.kind not in ONLY_BESIDE_ACTIVE)
    if not acts:
        return None
    if call.command is not None and any(_may_confirm(act, call.command) for act in acts):
        return _before_confirm(port, call.folder, call.command, acts)
    return question(acts)


def _may_confirm(act: Act, text: str) -> bool:
    return act.kind == "confirm" or (act.kind == "unclear" and _CONFIRM.search(text) is not None)


def _before_confirm(port: ToolCallPort, folder: str, text: str, acts: tuple[Act, ...]) -> str:
    """The question about a shell text that closes a goal, and first what else it does."""
    from flow.core.tool_calls.confirm_line import confirm_line

    line = confirm_line(text, port.is_own)
    if line.alone:
        others = tuple(act for act in acts if not _may_confirm(act, text))
        return question(others) if others else _about_confirm(port, line.alone, surely=True)
    only = len(acts) == 1 and acts[0].words[:2] == ("goal", "confirm")
    first = [more_than_confirm(text)]
    if not line.stays:
        first.append(unknown_goal(folder if only else None))
    asked = _about_confirm(port, acts[0].words, surely=line.stays) if only else question(acts)
    return "\n".join([*first, asked])


def _about_confirm(port: ToolCallPort, words: tuple[str, ...], *, surely: bool) -> str:
    """Facts that a person must know before ``flow goal confirm``, in Flow's words."""
    try:
        return "\n".join(port.confirm_lines(words, surely=surely))
    except FlowError as error:
        why = visible(str(error.faults[0]))
        asked = question((Act("confirm", words),))
        return f"{asked}\nWhat it rests on could not be looked at: {why}"
