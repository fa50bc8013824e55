"""Build tools that were asked for tests, ended with 0 and say themselves that they ran none.

make: ``message`` of GNU make 3.81 to 4.4, recorded with 4.3. Gradle: the outcomes of tasks in its
manual, as its plain console prints them behind a task's name.
"""

from __future__ import annotations

import re

from flow.core.attribution.reading import Attribution
from flow.core.masked_exit.shell import base_name
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_MAKES = {"make", "gmake"}
_CHECKING_GOAL = re.compile(
    r"(?:\w+[-_])?(?:tests?|checks?|specs?|lint|verify|typecheck)(?:[-_:].*)?", re.ASCII
)
_IDLE_MAKE = re.compile(
    r"g?make: (?:['`](.*)' is up to date|Nothing to be done for ['`](.*)')\.", re.ASCII
)
_GRADLES = {"gradle", "gradlew"}
_TEST_TASK = re.compile(r"(?:.*:)?\w*[tT]est", re.ASCII)
_GRADLE_OUTCOME = re.compile(r"> Task :(?:[^ ]+:)?\w*[tT]est(?: ([A-Z-]+))?", re.ASCII)
_NO_RUN = {"NO-SOURCE", "SKIPPED"}


def idle_make(commands: Sequence[Sequence[str]], lines: Sequence[str]) -> Attribution | None:
    """That make ran no recipe for the tests it was asked for; None where that is not known.

    As where a folder is called ``test`` and the target is not declared phony. Beside other
    programs than make it may have built what those run.
    """
    if not all(any(base_name(word) in _MAKES for word in words) for words in commands):
        return None
    goals = {word for words in commands for word in words if _CHECKING_GOAL.fullmatch(word)}
    for line in lines:
        idle = _IDLE_MAKE.fullmatch(line) if "make: " in line else None
        if idle is not None and (idle[1] or idle[2]) in goals:
            why = f"make ran nothing ({line}): where it is no file, declare it .PHONY"
            return Attribution("vacuous", why, "make", 0, None, "output")
    return None


def idle_gradle(commands: Sequence[Sequence[str]], lines: Sequence[str]) -> Attribution | None:
    """That gradle had no test to run in any task for tests; None where that is not known.

    Only where such a task is asked for by its name: ``gradle build`` is also asked of a project
    without tests. ``lines`` are all the output. A task that is up to date has run before.
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
