"""The programs that a goal's commands start with: whether they are installed, and for what."""

from __future__ import annotations

import os
import re

from flow.adapters.fs.state_folder import read_small
from flow.adapters.git.find import upward
from flow.adapters.process.environment import find_program
from flow.core.text.display import visible
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

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


_TEMPORARY = re.compile(
    r"(?:^|[;&|({\n]|\b(?:ba|da|z)?sh|\bpython[\d.]*|\bnode|\bsource|\.|\bPATH=[^\s;]*?)[ \"':]*"
    r"((?:/var)?/tmp/[^\s\"':;|&)]+|/dev/shm/[^\s\"':;|&)]+)"
)


def of_temporary_folder(command: str, top: str) -> str:
    """The first program or script of a command, or folder of its ``PATH``, that is in such a one.

    Not one in the checkout ``top``, or that the command names before, since it may write it.
    """
    for match in _TEMPORARY.finditer(command):
        own = f"{os.path.realpath(match[1])}/".startswith(f"{top}/")
        if not own and match[1] not in command[: match.start(1)]:
            return match[1]
    return ""


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


_PROJECT_FILES = ("pyproject.toml", "setup.cfg", "setup.py", "pytest.ini")
_NAME = re.compile(rb"\bname\s*=\s*[\"']?([\w.-]+)")
_PLACES = re.compile(rb"(?m)^(/[^\n]+?)\r?$|'(/[^'\n]+)'")
"""The folders in a ``.pth`` file, and in the finder that setuptools writes in its place."""
_LARGEST = 1 << 16


def installed_elsewhere(top: str, programs: Iterable[str], path: str | None) -> str:
    """Place in another checkout of the project of ``top`` from which Python imports it, if any.

    ``pip install -e`` there, and one environment for two working trees: tests of this one then pass
    by the code of the other. ``programs`` are the paths that the command names, ``path`` is its
    ``PATH``. A project that puts its own folders first (pytest's ``pythonpath``) is left out.
    """
    python = find_program("python", path) or find_program("python3", path)
    for program in filter(None, (*programs, python)):
        prefix = os.path.dirname(os.path.dirname(os.path.normpath(program)))
        for place in _linked_places(os.path.join(prefix, "lib")):
            if not f"{place}/".startswith(f"{top}/") and _is_project_of(top, place):
                return place
    return ""


def _linked_places(libraries: str) -> Iterator[str]:
    """The folders that the files of editable installations below ``lib`` name."""
    versions = [name for name in _names(libraries) if name.startswith("python3")]
    for folder in (f"{libraries}/{name}/site-packages" for name in versions):
        for name in _names(folder):
            if name.endswith(".pth") or name.startswith("__editable__"):
                for line, mapped in _PLACES.findall(_content(folder, name)):
                    yield os.path.realpath(os.fsdecode(line or mapped))


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _content(folder: str, name: str) -> bytes:
    return read_small(f"{folder}/{name}", _LARGEST) or b""


def _is_project_of(top: str, place: str) -> bool:
    """Whether ``place`` lies in a checkout of a project that ``top`` has at the same path."""
    outer = next((each for each in upward(place) if os.path.lexists(f"{each}/.git")), "/")
    own = os.path.normpath(f"{top}/{os.path.relpath(place, outer)}")
    while outer != "/" and len(own) >= len(top) and os.path.isdir(own):
        there, here = (
            b"\n".join(_content(folder, name) for name in _PROJECT_FILES) for folder in (place, own)
        )
        names = [match and match[1] for match in map(_NAME.search, (there, here))]
        if names[0] is not None:
            return names[0] == names[1] and b"pythonpath" not in here
        place, own = os.path.dirname(place), os.path.dirname(own)
    return False
