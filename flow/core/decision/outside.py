"""The remedy for files outside a goal's paths: put back, remove, or allow. Pure.

Every command is complete: quoted for bash and zsh, valid at the top level, and never cut. If no
command is sure to work, none is offered.
"""

from __future__ import annotations

from flow.core.boundary.changes import LINK, REGULAR
from flow.core.boundary.globs import literal_pattern
from flow.core.layout import HOOK_FILES
from flow.core.text.display import visible
from flow.core.text.shell_quote import shell_argument, shell_option
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.core.boundary.rules import Violation

MOST_PATHS = 8
"""Patterns in the amending command, at most; more files are named by their folders."""
LISTED = 200
"""Files in a document, at most; their full number is beside them."""
_LONGEST_WORD = 300
_BASE_DIGITS = 8
_SPECIAL = frozenset("*?[]:\\!^")
"""Characters with a meaning in git's path arguments."""
_MODES = (REGULAR, "100755", LINK)


class OutsideFile(NamedTuple):
    """A file outside the goal's paths, with its remedy."""

    path: str
    change: Literal["new", "changed", "deleted"]
    do: Literal["remove", "put_back"]
    command: str
    """The command that does it; empty if a person must find the way."""
    committed: bool
    """Whether the result must be committed."""
    added: int | None = None
    removed: int | None = None
    """Numbers of changed lines; None if unknown."""
    refused: str = ""
    """Reason that no allowed path opens it, ``denied by '*.py'``; empty if one would."""

    def to_document(self) -> dict[str, Any]:
        """The file's row in the verdict."""
        row = {**self._asdict(), "path": visible(self.path), "command": self.command or None}
        return {**row, "refused": visible(self.refused) or None}


class OutsideAdvice(NamedTuple):
    """All files outside, and the one command that would allow them."""

    files: tuple[OutsideFile, ...]
    amend: str
    """Empty if no allowed path would help."""
    folders: tuple[str, ...] = ()
    """The patterns of that command that name whole folders."""
    not_opened: tuple[str, ...] = ()
    """Paths that no allowed path opens: denied ones, and symlinks to other places."""

    def with_lines(self, counts: Mapping[str, tuple[int, int]]) -> OutsideAdvice:
        """A copy with the (added, removed) lines from ``counts``, by path."""
        return self._replace(
            files=tuple(
                file._replace(added=counts[file.path][0], removed=counts[file.path][1])
                if file.path in counts
                else file
                for file in self.files
            )
        )

    def to_document(self) -> dict[str, Any]:
        """The document ``outside`` of the verdict."""
        return {
            "count": len(self.files),
            "files": [file.to_document() for file in self.files[:LISTED]],
            "amend": self.amend or None,
            "folders": [visible(pattern) for pattern in self.folders],
            "not_opened": [visible(path) for path in self.not_opened[:LISTED]],
        }


def outside_advice(
    goal_id: str, violations: Sequence[Violation], base_commit: str | None
) -> OutsideAdvice:
    """The remedy of each file, and the command by which a person allows them all."""
    files = tuple(outside_file(violation, base_commit) for violation in violations)
    openable = [violation.path for violation in violations if violation.openable]
    patterns, folders = _patterns(openable)
    words = " ".join(shell_option("--allow", pattern) for pattern in patterns)
    return OutsideAdvice(
        files,
        f"flow goal amend {goal_id} {words}" if patterns else "",
        folders,
        tuple(violation.path for violation in violations if not violation.openable),
    )


def outside_file(violation: Violation, base_commit: str | None) -> OutsideFile:
    """The file of a violation, with its remedy.

    There is no command for a file that turns the Stop hook on or off: it could turn it off.
    """
    turns_hook = violation.path in HOOK_FILES and violation.change != "deleted"
    return OutsideFile(
        violation.path,
        violation.change,
        "remove" if violation.change == "new" and not turns_hook else "put_back",
        "" if turns_hook else _command(violation, base_commit),
        violation.committed,
        refused="" if violation.openable else violation.why.partition("; ")[2],
    )


def _command(violation: Violation, base_commit: str | None) -> str:
    word = shell_argument(violation.path)
    if len(word) > _LONGEST_WORD:
        return ""
    if violation.mend == "remove":
        if not (violation.staged or violation.committed):
            return f"rm {_behind_dashes(word)}"
        return f"git rm -qf {_behind_dashes(_literally(violation.path, word))}"
    kind = violation.before.partition(":")[0]
    if violation.mend == "restore" and base_commit is not None and kind in (*_MODES, "absent"):
        both = " -SW" if violation.staged or violation.committed else ""
        path = _behind_dashes(_literally(violation.path, word))
        return f"git restore -s {base_commit[:_BASE_DIGITS]}{both} {path}"
    return ""


def _literally(path: str, word: str) -> str:
    """The argument by which git names exactly this path."""
    return shell_argument(f":(literal){path}") if _SPECIAL & set(path) else word


def _behind_dashes(word: str) -> str:
    return f"-- {word}" if word.startswith(("-", "'-", "$'-")) else word


def _patterns(paths: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """(patterns for all ``paths``, those of them that name folders); both empty if too many.

    As few levels as possible are folded: ``a/b/**`` rather than ``a/**``.
    """
    if len(paths) <= MOST_PATHS:
        return [_opening_pattern(path) for path in paths], ()
    deepest = max(path.count("/") for path in paths)
    for depth in range(deepest, 0, -1):
        folded = dict.fromkeys(_folded(path, depth) for path in paths)
        if len(folded) <= MOST_PATHS:
            return list(folded), tuple(name for name in folded if name.endswith("/**"))
    return [], ()


def _folded(path: str, depth: int) -> str:
    """The pattern of the folder of ``path``, at most ``depth`` levels deep."""
    parts = path.split("/")
    if len(parts) == 1:
        return _opening_pattern(path)
    folder = "/".join(parts[: min(depth, len(parts) - 1)])
    return f"{_opening_pattern(folder)}/**"


def _opening_pattern(path: str) -> str:
    """The pattern that allows ``path``; ``?`` for a byte that no goal file, UTF-8, can hold."""
    return "".join("?" if "\udc80" <= char <= "\udcff" else char for char in literal_pattern(path))
