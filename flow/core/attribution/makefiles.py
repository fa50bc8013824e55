"""Makefiles as far as their own lines show: targets, what they are made of, their recipes."""

from __future__ import annotations

import re

from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MOST_COMMANDS = 2000
"""Commands of a target that are read."""
LONGEST_COMMAND = 4000
"""Characters of one command of a recipe."""
_RULE = re.compile(r"(?!\t)([^:=#]*):(?![:=])([^#;]*)")
_CONDITION = re.compile(r" *(?:(ifn?def|ifn?eq)|endif)\b")
_ONE_SHELL = re.compile(r"^\.ONESHELL\b", re.MULTILINE)
_INCLUDE = r"^[ \t]*-?s?include\s"
_INCLUDES = re.compile(_INCLUDE, re.MULTILINE)
_NEVER_SURE = re.compile(rf"{_INCLUDE}|^define\s|\$\(eval\b|%|^\.DEFAULT\b", re.MULTILINE)
"""Lines of a makefile that may add rules which its other lines do not show."""
_DOUBLE_COLON = re.compile(r"^([^\t\n:=#][^\n:=#]*)::(?![:=])", re.MULTILINE)
"""The targets of a rule that runs each time if it names no prerequisite."""
_SETS = re.compile(r"^([A-Za-z_]\w*)[ \t]*(?:[:?]|::)?=[ \t]*([^\n#]*)", re.MULTILINE)
_VARIABLE = re.compile(r"\$[({](\w+)[)}]")
_DEEPEST = 3
"""Levels of prerequisites whose recipes are read."""


class MakeRule(NamedTuple):
    """One rule.

    ``commands`` leaves out those whose failure make ignores (``-``), and those under a condition.
    """

    targets: list[str]
    needed: list[str]
    commands: list[str]


def first_target(makefile: str) -> str:
    """The target that make takes if none is named; empty if the makefile does not show it."""
    text = _joined(makefile)
    if ".DEFAULT_GOAL" in text:
        chosen = re.findall(r"^\.DEFAULT_GOAL *[:?]*= *([\w.-]+) *$", text, re.MULTILINE)
        return chosen[0] if len(chosen) == text.count(".DEFAULT_GOAL") == 1 else ""
    for line in text.split("\n"):
        if line.startswith("$") or _INCLUDES.match(line):
            return ""  # it may add rules
        heading = _RULE.match(line) or _DOUBLE_COLON.match(line)
        if heading is None or "=" in line[heading.end(1) :].partition(";")[0]:
            continue  # no rule, or a variable of a target
        for word in heading[1].split():
            if "%" not in word and (word[0] != "." or "/" in word):
                return "" if "$" in word else word
    return ""


def may_be_phony(goal: str, makefile: str) -> bool:
    """Whether ``goal`` runs even if a file has its name, as far as this makefile shows."""
    text = _joined(makefile)
    if _INCLUDES.search(text):
        return True
    named = re.findall(r"^\.PHONY\s*:([^\n#]*)", text, re.MULTILINE)
    named += _DOUBLE_COLON.findall(text)
    return any("$" in line or goal in line.split() for line in named)


def prerequisites(goal: str, makefile: str) -> tuple[str, ...] | None:
    """The files that a target is made of, as far as a makefile's own lines show; None if unsure.

    Empty if it has no rule. A rule for one of these files may make it anew.
    """
    text = _joined(makefile)
    if _NEVER_SURE.search(text):
        return None
    rules = _rules(text)
    targets = {word for rule in rules for word in rule.targets}
    if any("$" in word for word in targets):
        return None
    named = tuple(word for rule in rules if goal in rule.targets for word in rule.needed)
    unsure = any(word == "|" or "$" in word or "*" in word or word in targets for word in named)
    return None if unsure else named


def recipe_lines(goal: str, makefile: str) -> list[str]:
    """The commands of a target and of what it is made of, as make would print them.

    Variables that the makefile sets once have their values.
    """
    text = _joined(makefile)
    values: dict[str, str] = {}
    for name, value in _SETS.findall(text):
        values[name] = f"$({name})" if name in values else value[:LONGEST_COMMAND]
    one_shell = _ONE_SHELL.search(text) is not None
    rules: dict[str, list[MakeRule]] = {}
    for rule in _rules(text):
        for target in rule.targets:
            rules.setdefault(target, []).append(rule)
    lines: list[str] = []
    for recipe in _recipes(goal, rules, _DEEPEST):
        for command in ["\n".join(recipe)] if one_shell else recipe:
            expanded = _expanded(_expanded(command[:LONGEST_COMMAND], values), values)
            lines.append(expanded.replace("$$", "$"))
            if len(lines) == MOST_COMMANDS:
                return lines
    return lines


def _recipes(target: str, rules: dict[str, list[MakeRule]], depth: int) -> Iterator[list[str]]:
    """The recipes of a target, each after those of its prerequisites.

    A rule is emptied when it is read: each is followed once, however many targets share it.
    """
    for rule in rules.pop(target, ()):
        needed, commands = rule.needed[:], rule.commands[:]
        rule.needed.clear()
        rule.commands.clear()
        for name in needed if depth else ():
            yield from _recipes(name, rules, depth - 1)
        if commands:
            yield commands


def _joined(makefile: str) -> str:
    """The text with its continued lines joined."""
    return makefile.replace("\\\n", " ")


def _rules(text: str) -> list[MakeRule]:
    """The rules of a makefile whose continued lines are joined, in order."""
    rules: list[MakeRule] = []
    recipe: list[str] = []
    conditions = 0  # that are open
    for line in text.split("\n"):
        heading = _RULE.match(line)
        condition = _CONDITION.match(line)
        if line.startswith("\t"):
            command = line.strip().lstrip("@+ ")
            if command and not command.startswith("-") and not conditions:
                recipe.append(command)
        elif condition is not None:
            conditions = max(conditions + (1 if condition[1] else -1), 0)
        elif heading is not None:
            recipe = []
            rules.append(MakeRule(heading[1].split(), heading[2].split(), recipe))
        elif line.strip():
            recipe = []
    return rules


def _expanded(text: str, values: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda use: values.get(use[1], use[0]).strip(), text)[:LONGEST_COMMAND]
