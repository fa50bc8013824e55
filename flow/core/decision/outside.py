"""What to do about files outside a goal's paths: put back, remove, or allow. Pure.

Every command stands whole: it is quoted for bash and zsh, works from the top level, and is never
cut. Where no command is sure to do it, none is offered.
"""

from __future__ import annotations

from flow.core.boundary.changes import LINK, REGULAR
from flow.core.boundary.globs import literal_pattern
from flow.core.text.display import visible
from flow.core.text.shell_quote import shell_argument
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.core.boundary.rules import Violation

MOST_PATHS = 8
"""Patterns that the line to amend names; more files are named by their folders."""
LISTED = 200
"""Files that a document names; it has their count beside them."""
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
    """The line that does it; empty where a person has to see how."""
    committed: bool
    """Whether the line is to be committed then."""
    added: int | None = None
    removed: int | None = None
    """Changed lines; None where they are not known."""

    def to_document(self) -> dict[str, Any]:
        """Its row in the verdict."""
        return {**self._asdict(), "path": visible(self.path), "command": self.command or None}


class OutsideAdvice(NamedTuple):
    """All files outside, and the one line that would allow them."""

    files: tuple[OutsideFile, ...]
    amend: str
    """Empty where no allowed path would do."""
    folders: tuple[str, ...] = ()
    """The patterns of that line that stand for whole folders."""
    not_opened: tuple[str, ...] = ()
    """Paths that no allowed path opens: denied ones, and symlinks to elsewhere."""

    def with_lines(self, counts: Mapping[str, tuple[int, int]]) -> OutsideAdvice:
        """The same with the (added, removed) lines of the files that ``counts`` knows, by path."""
        return self._replace(
            files=tuple(
                file._replace(added=counts[file.path][0], removed=counts[file.path][1])
                if file.path in counts
                else file
                for file in self.files
            )
        )

    def to_document(self) -> dict[str, Any]:
        """``outside`` in the verdict."""
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
    """The remedy of each file, and the line by which a person allows them all."""
    files = tuple(outside_file(violation, base_commit) for violation in violations)
    openable = [violation.path for violation in violations if violation.openable]
    patterns, folders = _patterns(openable)
    words = " ".join(map(_allowing, patterns))
    return OutsideAdvice(
        files,
        f"flow goal amend {goal_id} {words}" if patterns else "",
        folders,
        tuple(violation.path for violation in violations if not violation.openable),
    )


def _allowing(pattern: str) -> str:
    return f"--allow{'=' if pattern.startswith('-') else ' '}{shell_argument(pattern)}"


def outside_file(violation: Violation, base_commit: str | None) -> OutsideFile:
    """What to do about one file."""
    return OutsideFile(
        violation.path,
        violation.change,
        "remove" if violation.change == "new" else "put_back",
        _command(violation, base_commit),
        violation.committed,
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
    """The argument by which git means this path and no other."""
    return shell_argument(f":(literal){path}") if _SPECIAL & set(path) else word


def _behind_dashes(word: str) -> str:
    return f"-- {word}" if word.startswith(("-", "'-", "$'-")) else word


def _patterns(paths: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """(patterns for all ``paths``, those of them that stand for folders); none where too many.

    The fewest levels are folded: ``a/b/**`` rather than ``a/**``.
    """
    if len(paths) <= MOST_PATHS:
        return [literal_pattern(path) for path in paths], ()
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
        return literal_pattern(path)
    folder = "/".join(parts[: min(depth, len(parts) - 1)])
    return f"{literal_pattern(folder)}/**"
