"""One planned edit of a file by ``flow init``, and how it is carried out and put on record."""

from __future__ import annotations

from flow.adapters.fs import files
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from flow.adapters.setup.json_file import Added, JsonFile
    from flow.adapters.user_state.written_files import OwnRecord

AS_IT_SHOULD_BE = "is as it should be"
EXCLUDE = "info/exclude"
"""Below git's common folder: rules for ignored files of this repository alone."""


class InitStep(NamedTuple):
    """One file, and a description of its change.

    ``short`` is a version in a few words a line, for a terminal; empty if nothing was done.
    """

    file: str
    did: str
    short: tuple[str, ...] = ()


class FileEdit(NamedTuple):
    """The new content of a file below ``root``, and the parts that ``flow init`` put in.

    ``git``: ``root`` is git's common folder, and not the checkout.
    """

    root: str
    file: str
    before: bytes | None
    data: bytes
    did: str
    short: tuple[str, ...]
    lines: tuple[str, ...] = ()
    added: tuple[Added, ...] = ()
    git: bool = False

    @property
    def step(self) -> InitStep:
        """The edit as a step for people."""
        return InitStep(f".git/{self.file}" if self.git else self.file, self.did, self.short)

    def write(self, record: OwnRecord | None) -> None:
        """Carry it out; before that the record gets the new content as Flow's."""
        if record is not None and self.git:
            before = None if self.before is None else sha256(self.before).hexdigest()
            record.guard(self.file, before, sha256(self.data).hexdigest())
        elif record is not None:
            record.set_up(self.file, self.before, self.data)
        files.put(self.root, self.file, self.data, new=self.before is None)


def lines_added(
    root: str,
    file: str,
    wanted: tuple[str, ...],
    is_there: Callable[[str, list[str]], bool],
    *,
    git: bool = False,
) -> InitStep | FileEdit:
    """Add lines to a file of lines, except those that ``is_there`` finds in it already."""
    shown = f".git/{file}" if git else file
    data = files.read_optional(root, file)
    text = (data or b"").decode("utf-8", "surrogateescape")
    there = [part.strip() for part in text.split("\n")]
    lines = tuple(line for line in wanted if not is_there(line, there))
    if not lines:
        return InitStep(shown, AS_IT_SHOULD_BE)
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text or text.endswith("\n") else newline
    new = f"{text}{gap}{''.join(f'{line}{newline}' for line in lines)}"
    verb = "made, with" if data is None else "added"
    many = f"the line {lines[0]}" if len(lines) == 1 else f"{len(lines)} lines: {', '.join(lines)}"
    short = tuple(f"+ {line}" for line in lines)
    encoded = new.encode("utf-8", "surrogateescape")
    return FileEdit(root, file, data, encoded, f"{verb} {many}", short, lines, git=git)


def edited_json(
    root: str, target: JsonFile, did: list[str], short: list[str]
) -> InitStep | FileEdit:
    """The edit of a JSON file; ``did`` and ``short`` describe it."""
    told = "; ".join(part for part in did if part) or AS_IT_SHOULD_BE
    if not target.changed:
        return InitStep(target.name, told)
    added = tuple(target.added)
    return FileEdit(root, target.name, target.before, target.data(), told, tuple(short), (), added)
