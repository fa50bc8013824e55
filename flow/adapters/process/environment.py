"""The environment of a criterion's command (SPEC 3), and the search for programs.

A shell and git obey variables that can make a failing check look green: a function named
``pytest``, a ``BASH_ENV`` file, another ``GIT_DIR``. They are removed, and the evidence names them.
"""

from __future__ import annotations

import os

from flow.adapters.process.child import Program
from flow.core.text.display import visible
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

GIT_LOCAL = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_CONFIG",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_PARAMETERS",
        "GIT_DIR",
        "GIT_GRAFT_FILE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_NO_REPLACE_OBJECTS",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_REPLACE_REF_BASE",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    }
)
"""Output of ``git rev-parse --local-env-vars``, of every git since 2.0."""

_NAMES = GIT_LOCAL | {
    "BASH_ENV",
    "BASHOPTS",
    "CDPATH",
    "ENV",
    "GIT_EXEC_PATH",
    "GIT_EXTERNAL_DIFF",
    "LD_AUDIT",
    "LD_PRELOAD",
    "PYTEST_ADDOPTS",
    "SHELLOPTS",
}
_PREFIXES = ("BASH_FUNC_", "__BASH_FUNC<", "DYLD_", "GIT_CONFIG_")
_FUNCTION = "() {"
"""Start of a function that bash before 4.3 exported, as the value of a variable of any name."""


def clean_environment(environ: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """``environ`` without variables that hijack a shell or git, and the sorted names of these.

    Names are given as printable text.
    """
    env: dict[str, str] = {}
    removed: list[str] = []
    for name, value in environ.items():
        if name in _NAMES or name.startswith(_PREFIXES) or value.startswith(_FUNCTION):
            removed.append(name)
        else:
            env[name] = value
    return env, tuple(sorted(map(visible, removed)))


def find_program(name: str, path: str | None, *, outside: str | None = None) -> str | None:
    """The absolute path of a program in ``path`` (a PATH value), or None.

    Relative and empty entries are skipped, so that the working directory never names a program; so
    is everything below the folder ``outside``, by its name or by its real path.
    """
    top = None if outside is None else os.path.realpath(outside)
    for folder in (path or os.defpath).split(":"):
        if not folder.startswith("/"):
            continue
        candidate = f"{folder.rstrip('/')}/{name}"
        if not os.path.isfile(candidate) or not os.access(candidate, os.X_OK):
            continue
        if top is None or not (
            is_below(os.path.realpath(folder), top) or is_below(os.path.realpath(candidate), top)
        ):
            return candidate
    return None


def locate(argv: Sequence[str], cwd: str | None, env: Mapping[str, str]) -> Program | None:
    """The program that ``argv`` names, by its path or in ``env``'s PATH; None if there is none."""
    path = argv[0] if "/" in argv[0] else find_program(argv[0], env.get("PATH"))
    return None if path is None else Program(path, list(argv), env, cwd)


def is_below(path: str, top: str) -> bool:
    """Whether ``path`` is ``top`` or below it; both are absolute and free of symlinks."""
    return path == top or path.startswith(top.rstrip("/") + "/")
