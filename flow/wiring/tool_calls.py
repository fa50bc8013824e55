"""The question for a person before an agent's tool call goes on (SPEC 17.3)."""

from __future__ import annotations

import os
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
from flow.errors import FlowError, StateError
from flow.startup.typing import TYPE_CHECKING, Any
from flow.wiring.checkout import Checkout
from flow.wiring.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Mapping

_PATHS = ("file_path", "notebook_path", "path")
"""Where tools that write a file name it."""


def question_before(event: Mapping[str, Any]) -> str | None:
    """What a person is asked before the tool call of a host's event; None: nothing.

    Raises :class:`FlowError` where the event cannot be understood.
    """
    given = event.get("tool_input")
    if not isinstance(given, dict):
        raise FlowError("the host's event has no tool_input")
    folder = event.get("cwd")
    folder = folder if isinstance(folder, str) and os.path.isdir(folder) else os.getcwd()
    acts: tuple[Act, ...] = ()
    command = given.get("command")
    if isinstance(command, str):
        acts = (*acts_in_shell(command), *acts_in_folder(os.path.realpath(folder), command))
    for key in _PATHS:
        if isinstance(given.get(key), str):
            acts += acts_on_path(os.path.realpath(os.path.join(folder, given[key])))
    if any(act.kind in ONLY_BESIDE_ACTIVE for act in acts) and not _has_active_goal(folder):
        acts = tuple(act for act in acts if act.kind not in ONLY_BESIDE_ACTIVE)
    if not acts:
        return None
    if isinstance(command, str) and any(_may_confirm(act, command) for act in acts):
        return _before_confirm(folder, command, acts)
    return question(acts)


def _may_confirm(act: Act, text: str) -> bool:
    return act.kind == "confirm" or (act.kind == "unclear" and _CONFIRM.search(text) is not None)


_CONFIRM = re.compile(r"\bconfirm\b")


def _before_confirm(folder: str, text: str, acts: tuple[Act, ...]) -> str:
    """The question about a shell text that closes a goal, and first what else it does."""
    from flow.core.tool_calls.confirm_line import confirm_line

    line = confirm_line(text, lambda path: _is_own(os.path.join(folder, path)))
    if line.alone:
        others = tuple(act for act in acts if not _may_confirm(act, text))
        return question(acts) if others else _about_confirm(folder, line.alone, True)
    only = len(acts) == 1 and acts[0].words[:2] == ("goal", "confirm")
    first = [more_than_confirm(text)]
    if not line.stays:
        first.append(unknown_goal(os.path.realpath(folder) if only else None))
    asked = _about_confirm(folder, acts[0].words, line.stays) if only else question(acts)
    return "\n".join([*first, asked])


def _is_own(program: str) -> bool:
    """Whether ``program`` is what ``flow`` is on the PATH, or the plugin's."""
    import shutil

    import flow

    tops = (os.path.dirname(os.path.dirname(flow.__file__)), os.environ.get("CLAUDE_PLUGIN_ROOT"))
    own = [os.path.join(top, "bin", "flow") for top in tops if top]
    programs = (*own, shutil.which("flow"))
    return os.path.realpath(program) in {os.path.realpath(path) for path in programs if path}


def input_with_question(event: Mapping[str, Any], asked: str) -> dict[str, Any] | None:
    """The input of a Bash call with ``asked`` as its description; None where that is not needed.

    Where a rule of Claude Code's settings asks too (``flow init`` writes some), Claude Code shows
    the rule and the call, and not the hook's reason: the person would be asked without being told.
    """
    given = event.get("tool_input")
    if event.get("tool_name") != "Bash" or not isinstance(given, dict):
        return None
    folder = event.get("cwd")
    places = (os.environ.get("CLAUDE_PROJECT_DIR") or folder, os.path.expanduser("~"))
    files = [
        os.path.join(place, ".claude", name)
        for place in places
        if isinstance(place, str)
        for name in ("settings.json", "settings.local.json")
    ]
    return {**given, "description": asked} if any(map(_asks_about_flow, files)) else None


def _asks_about_flow(file: str) -> bool:
    """Whether a settings file of Claude Code has a rule to ask before a command of Flow's."""
    import json

    try:
        with open(file, encoding="utf-8") as stream:
            rules = json.loads(stream.read(_SETTINGS_LIMIT))["permissions"]["ask"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False
    return any("flow" in str(rule) for rule in rules if rule) if isinstance(rules, list) else False


_SETTINGS_LIMIT = 1 << 20


def _has_active_goal(folder: str) -> bool:
    """Whether a goal is active on the branch, or one cannot be read and may be."""
    try:
        goals, unreadable = Reading(folder).active(None)
    except FlowError:
        return True
    return bool(goals or unreadable)


def _about_confirm(folder: str, words: tuple[str, ...], surely: bool) -> str:
    """What a person has to know before they say yes to ``flow goal confirm``, in Flow's words."""
    from flow.core.tool_calls.confirm_line import confirm_call

    try:
        checkout = Checkout(folder)
        call = confirm_call(words)
        goal_id = call.goal_id or _only_goal(checkout)
        return "\n".join(checkout.confirm_lines(goal_id, call.proposal, surely=surely))
    except FlowError as error:
        why = visible(str(error.faults[0]))
        asked = question((Act("confirm", words),))
        return f"{asked}\nWhat it rests on could not be looked at: {why}"


def _only_goal(checkout: Checkout) -> str:
    goals, _ = checkout.active(None, any_open=True)
    if len(goals) != 1:
        raise StateError(f"{len(goals)} goals are open on this branch")
    return goals[0].id
