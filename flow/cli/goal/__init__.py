"""``flow goal``: which commands there are; each is loaded when it is named."""

from __future__ import annotations

from flow.cli.parsing import CommandSpec
from flow.startup.finder import import_module

COMMANDS = {
    "create": "write a new goal, trust it, and start it",
    "activate": "start a draft: pin its base, trust it",
    "evaluate": "run the commands, check the paths, propose what comes next",
    "confirm": "close a goal as proposed, on a person's word",
    "status": "where a goal stands and what to do next",
    "list": "the goals of this repository, those that need you first",
    "history": "everything that happened to a goal",
    "inspect": "the contract and the evidence behind each criterion",
    "pause": "set a goal aside until it is resumed",
    "resume": "go on with a waiting or blocked goal",
    "watch": "run the commands whenever the goal's files change; nothing is recorded",
    "baseline": "run the commands on the base commit: which of them can tell the change",
    "claim": "say which session works on a goal",
    "wait": "wait until a command exits 0, and resume then",
    "forget": "end the Stop hook's memory of a goal that is gone",
    "approve": "prove a fuzzy criterion by a person's word",
    "amend": "change the contract of a goal, on the record",
    "rebase": "move the pinned base after the base branch was merged in",
    "clear": "cancel a goal",
}

_MODULES = {
    "create": "create",
    "evaluate": "evaluate",
    "watch": "watch",
    "baseline": "baseline",
    "status": "show",
    "list": "show",
    "history": "show",
    "inspect": "show",
    "amend": "amend",
    "claim": "loop",
    "wait": "loop",
    "forget": "loop",
}


def load(name: str) -> CommandSpec:
    """The command ``name`` of this group."""
    module = import_module(f"flow.cli.goal.{_MODULES.get(name, 'move')}")
    return CommandSpec(COMMANDS[name], *module.COMMANDS[name])
