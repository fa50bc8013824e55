"""Build tools that were asked for tests, exited with 0 and report that they ran none.

make: ``message`` of GNU make 3.81 to 4.4, recorded with 4.3. Gradle: the outcomes of tasks in its
manual, as its plain console prints them after a task's name. go-task, SCons and ninja: their
sources as of November 2026.
"""

from __future__ import annotations

import posixpath
import re

from flow.core.attribution.reading import Attribution
from flow.core.masked_exit.programs import MAKES, main_programs
from flow.core.masked_exit.runner_words import option_values
from flow.core.masked_exit.shell import base_name, in_folders
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_CHECKING_GOAL = re.compile(
    r"(?:\w+[-_])?(?:tests?|checks?|specs?|lint|verify|typecheck)(?:[-_:].*)?", re.ASCII
)


class _IdleBuild(NamedTuple):
    """The line with which a program says that it ran nothing, for the target in its groups."""

    programs: tuple[str, ...]
    literal: str
    pattern: str
    remedy: str


_IDLE_BUILDS = (
    _IdleBuild(
        MAKES,
        "make: ",
        r"g?make: (?:['`](.*)' is up to date|Nothing to be done for ['`](.*)')\.",
        "where it is no file, declare it .PHONY",
    ),
    _IdleBuild(
        ("task", "go-task"),
        "task: ",
        r'task: Task "(.*)" is up to date',
        "let it run, with --force",
    ),
    _IdleBuild(
        ("scons",),
        "scons: ",
        r"scons: [`'](.*)' is up to date\.",
        "let it run, with AlwaysBuild",
    ),
    _IdleBuild(
        ("ninja", "samu"),
        "no work to do",
        r"(?:ninja|samu): no work to do\.",
        "let its target run each time",
    ),
)
_TASKS = {"all", "ci", "qa", "e2e", "validate", "default"}
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_ALWAYS = re.compile(r"-[^-CEfIjlOoW]*B.*|--always-make")
"""``-B``, perhaps behind other short options, none of which takes the rest as its value."""
_GRADLES = {"gradle", "gradlew"}
_TEST_TASK = re.compile(r"(?:.*:)?\w*[tT]est", re.ASCII)
_GRADLE_OUTCOME = re.compile(r"> Task :(?:[^ ]+:)?\w*[tT]est(?: ([A-Z-]+))?", re.ASCII)
_NO_RUN = {"NO-SOURCE", "SKIPPED"}


def idle_make(commands: Sequence[Sequence[str]], lines: Sequence[str]) -> Attribution | None:
    """A vacuous attribution if make, or its like, ran nothing for the tests it was asked for.

    For example because a folder is called ``test`` and the target is not declared phony. None if
    other programs are started, too: it may have built what those run.
    """
    goals = {word for words in commands for word in words if _CHECKING_GOAL.fullmatch(word)}
    for row in _IDLE_BUILDS if goals else ():
        if not all(any(base_name(word) in row.programs for word in words) for words in commands):
            continue
        for line in lines:
            idle = re.fullmatch(row.pattern, line, re.ASCII) if row.literal in line else None
            if idle is not None and (not idle.groups() or goals.intersection(idle.groups())):
                why = f"{row.programs[0]} ran nothing ({line}): {row.remedy}"
                return Attribution("vacuous", why, row.programs[0], 0, None, "output")
    return None


class SilentMake(NamedTuple):
    """A make that printed nothing: the folder, makefiles and targets to look at."""

    folder: str
    """The folder, relative to the command's own."""
    makefiles: tuple[str, ...]
    """Candidates; the first that exists counts."""
    goals: tuple[str, ...]
    """Requested targets that are tasks; if no target is requested, it is the makefile's first."""
    always: bool
    """Whether it runs targets even if files have their names (``-B``)."""
    words: tuple[str, ...]
    """The words that may be targets; the values of options are among them."""

    @property
    def is_task(self) -> bool:
        """Whether it is asked for a task, or for no target by name."""
        return bool(self.goals) or not self.words


def is_task_name(goal: str) -> bool:
    """Whether a target's name is that of a task, not of a file to build."""
    return goal in _TASKS or _CHECKING_GOAL.fullmatch(goal) is not None


def silent_makes(commands: Sequence[Sequence[str]]) -> list[SilentMake]:
    """The makes among ``commands``; ``cd`` sets the folder of the commands after it.

    Each may have run nothing without printing so (``-s``, also in a makefile).
    """
    makes = []
    for folder, words in in_folders(commands):
        place = next((n for n, word in enumerate(words) if base_name(word) in MAKES), None)
        if place is None:
            continue
        given = words[place + 1 :]
        inside = posixpath.join(folder, *option_values(given, "-C", "--directory"))
        named = (*option_values(given, "-f", "--file"), *option_values(given, "", "--makefile"))
        targets = tuple(word for word in given if not word.startswith("-") and "=" not in word)
        goals = tuple(filter(is_task_name, targets))
        always = any(map(_ALWAYS.fullmatch, given))
        makes.append(SilentMake(inside, named[:1] or _MAKEFILES, goals, always, targets))
    return makes


def only_makes(commands: Sequence[tuple[str, ...]]) -> bool:
    """Whether nothing but make decides how a command ends."""
    programs = main_programs(commands)
    return bool(programs) and all(any(base_name(w) in MAKES for w in words) for words in programs)


def idle_gradle(commands: Sequence[Sequence[str]], lines: Sequence[str]) -> Attribution | None:
    """A vacuous attribution if gradle had no test to run in any test task; None if unknown.

    Only a test task requested by name counts: ``gradle build`` is common in projects without tests.
    ``lines`` are all the output. A task that is up to date has run before.
    """
    asked = (
        any(base_name(word) in _GRADLES for word in words) and any(map(_TEST_TASK.fullmatch, words))
        for words in commands
    )
    if not any(asked):
        return None
    matches = (_GRADLE_OUTCOME.fullmatch(line) for line in lines if line.startswith("> Task :"))
    outcomes = [(match[0], match[1]) for match in matches if match is not None]
    if not outcomes or any(outcome not in _NO_RUN for _, outcome in outcomes):
        return None
    why = f"gradle reports that no test ran ({outcomes[-1][0][2:]})"
    return Attribution("vacuous", why, "gradle", 0, None, "output")
