"""Checks of the whole working tree, in which Flow's own files lie, too.

An evaluation writes to the goal and the journal, and Flow's files are in no formatter's style: a
check of all files fails for these.
"""

from __future__ import annotations

from flow.core.masked_exit.shell import base_name
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_FORMATTERS = {
    "prettier": (("--check", "-c", "--list-different", "-l"), ".prettierignore"),
    "yamllint": ((), "ignore: in .yamllint"),
    "biome": (("check", "ci", "format"), "files.includes in biome.json"),
    "dprint": (("check",), "excludes in dprint.json"),
}
"""Programs that check YAML, JSON or Markdown of all folders, hidden ones too: the words with which
they do, and the place to leave files out (each one's documentation, November 2026).
"""
_ALL = (".", "./", "*", "**/*", "**")
_GIT = {"diff": ("--exit-code", "--quiet"), "status": ("--porcelain", "-s", "--short")}
_LEFT_OUT = "-- . ':!.flow' ':!.decisions'"


def whole_tree_remedy(words: Sequence[str]) -> str:
    """A way to leave Flow's own files out of a check of the whole tree; empty if it is none."""
    name, rest = base_name(words[0]), words[1:]
    if name in ("npx", "pnpm", "yarn", "bunx") and rest:
        behind = [word for word in rest if not word.startswith("-") and word != "exec"]
        name = base_name(behind[0]) if behind else name
        rest = rest[rest.index(behind[0]) + 1 :] if behind else rest
    if name == "git":
        return _git_remedy(rest)
    asks, place = _FORMATTERS.get(name, ((), ""))
    if not place or (asks and not any(word in asks for word in rest)):
        return ""
    paths = [word for word in rest if not word.startswith("-") and word not in asks]
    everything = any(path in _ALL for path in paths) or (not paths and name in ("biome", "dprint"))
    return f"leave .flow and .decisions out of it ({place})" if everything else ""


def _git_remedy(rest: Sequence[str]) -> str:
    """As :func:`whole_tree_remedy`, for ``git diff --exit-code`` and ``git status --porcelain``."""
    command = next((word for word in rest if word in _GIT), "")
    given = rest[rest.index(command) + 1 :] if command else ()
    options = [word for word in given if word.partition("=")[0] in _GIT[command]] if command else []
    plain = [word for word in given if not word.startswith("-")]
    if not options or "--" in given or any(word not in ("HEAD", "@") for word in plain):
        return ""
    return f"git {command} {options[0]} {_LEFT_OUT}"
