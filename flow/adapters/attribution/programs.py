"""The programs that a goal's commands start with, and a check that they are installed."""

from __future__ import annotations

import os
import re

from flow.adapters.process.environment import find_program
from flow.core.text.display import visible
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from flow.core.goal.model import Goal

_PLAIN_WORD = re.compile(
    r"\s*((?:[A-Za-z_][A-Za-z0-9_]*=[^\s'\"$`\\;&|<>()]*\s+)*)([\w./+-]+)(?=\s|$|;|&|\|)"
)
_WORDS = """
! . : [ [[ alias bg bind break builtin caller case cd command compgen complete compopt
continue coproc declare dirs disown do done echo elif else enable esac eval exec exit
export false fc fg fi for function getopts hash help history if in jobs kill let local
logout mapfile popd printf pushd pwd read readarray readonly return select set shift
shopt source suspend test then time times trap true type typeset ulimit umask unalias
unset until wait while {
"""
"""The builtins and the keywords of bash 5 that can begin a command."""
_SHELL_WORDS = frozenset(_WORDS.split())


def missing_programs(goal: Goal, environ: Mapping[str, str], top: str) -> list[str]:
    """A warning for each command whose first word names a program that is missing.

    Only a plain first word is looked at: what a shell would compute is not guessed.
    """
    warnings = []
    for criterion in goal.criteria:
        match = _PLAIN_WORD.match(criterion.verification_command or "")
        if match is None:
            continue
        folder = os.path.join(top, criterion.cwd or "")
        word = missing([match.group(2)], folder, environ.get("PATH"))
        if word:
            warnings.append(
                f"{criterion.id}: {visible(word)} is not here (or cannot be run), "
                f"so the command could not run"
            )
    return warnings


def missing(programs: Iterable[str], folder: str, path: str | None) -> str:
    """The first of these programs that is absent or cannot be run; empty if there is none.

    ``folder`` is the folder for names with a slash, ``path`` the value of ``PATH``.
    """
    for word in programs:
        if word in _SHELL_WORDS:
            continue
        if "/" in word:
            here = os.access(os.path.join(folder, word), os.X_OK)
        else:
            here = find_program(word, path) is not None
        if not here:
            return word
    return ""
