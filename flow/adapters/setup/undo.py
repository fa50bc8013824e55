"""Removal of the entries that ``flow init`` made, by the record in the user's state folder.

Each line, member and item is taken out only while it is as Flow wrote it; whole files are removed
only if they hold nothing else.
"""

from __future__ import annotations

import base64
import os

from flow.adapters.contracts import formats
from flow.adapters.fs import files
from flow.adapters.fs.state_folder import key_of, write_json
from flow.adapters.git.repository import listed_files
from flow.adapters.ledger.set_up_marks import PRE_PUSH
from flow.adapters.setup import git_hook, settings_edit
from flow.adapters.setup.file_edits import InitStep
from flow.adapters.setup.json_file import JsonFile
from flow.core import layout
from flow.core.setting_keys import KEYS
from flow.errors import FlowError, GitError
from flow.startup.json import object_of
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from flow.adapters.git.find import Repo
    from flow.adapters.setup.file_edits import FileEdit
    from flow.adapters.setup.settings_edit import SettingsPlace

FOLDER = "setup"
CHANGED = "left: it was changed since Flow wrote it"
_LIMIT = 4 << 20


class SetUpRecord:
    """Record of the set-up of one checkout; ``state_dir`` is the user's state folder."""

    def __init__(self, state_dir: str, top: str) -> None:
        self._state, self._top = state_dir, top
        self._file = f"{FOLDER}/{key_of(os.path.realpath(top))}.json"

    def read(self) -> dict[str, Any]:
        """The record; empty if there is none."""
        try:
            data = files.read_optional(self._state, self._file, limit=_LIMIT)
            return object_of(formats.parse_json(data or b"{}", file=self._file))
        except FlowError:
            return {}

    def add(
        self, edits: Sequence[FileEdit], setting: tuple[str, Any] | None, *, asked: bool
    ) -> None:
        """Remember these edits; ``setting`` was written to the user's own file for this checkout.

        ``asked``: a person was asked whether the agent is kept working.
        """
        known = self.read()
        entries = [*known.get("files", []), *map(_entry, edits)]
        settings = [*known.get("settings", []), *([list(setting)] if setting else [])]
        asked = asked or known.get("asked") is True
        document = {"top": self._top, "files": entries, "settings": settings, "asked": asked}
        write_json(self._state, self._file, document, "remember what flow init wrote")

    def clear(self) -> None:
        """Forget the edits; the note that a person was asked stays."""
        asked = self.read().get("asked") is True
        write_json(self._state, self._file, {"top": self._top, "asked": asked}, "forget the set-up")


def _entry(edit: FileEdit) -> dict[str, Any]:
    return {
        "file": edit.file,
        "git": edit.git,
        "new": edit.before is None,
        "digest": sha256(edit.data).hexdigest(),
        "before": base64.b64encode(edit.before or b"").decode("ascii"),
        "lines": list(edit.lines),
        "added": [[list(each.path), each.key, each.value] for each in edit.added],
    }


def undo(
    repo: Repo | None,
    top: str,
    record: SetUpRecord,
    own_file: SettingsPlace | None,
    state_dir: str,
) -> list[InitStep]:
    """Take out the recorded entries; one step for each file."""
    known = record.read()
    steps: list[InitStep] = []
    hook = git_hook.take_out_hook(repo) if repo is not None and repo.common_dir else None
    if hook is not None:
        steps.append(InitStep(f".git/{PRE_PUSH}", hook))
    by_file: dict[tuple[bool, str], list[Mapping[str, Any]]] = {}
    for entry in known.get("files", []):
        by_file.setdefault((entry["git"], entry["file"]), []).append(entry)
    for (in_git, name), entries in reversed(by_file.items()):
        root = str(repo.common_dir) if in_git and repo is not None else top
        steps.append(_taken_out(root, name, entries, git=in_git))
    for name, value in known.get("settings", []):
        if own_file is not None:
            steps.append(_setting_taken_out(own_file, name, value, state_dir))
    record.clear()
    return steps


def _setting_taken_out(place: SettingsPlace, name: str, value: Any, state_dir: str) -> InitStep:
    key = KEYS[name]
    if settings_edit.read_setting(place, key) != value:
        return InitStep(place.shown, f"left: {name} was changed since")
    settings_edit.write_setting(place, key, settings_edit.ABSENT, state_dir)
    return InitStep(place.shown, f"took out {name} for this checkout")


def _taken_out(
    root: str,
    name: str,
    entries: Sequence[Mapping[str, Any]],
    *,
    git: bool,
) -> InitStep:
    """Take the entries of one file out.

    The change is not recorded as Flow's: removing parts that a goal began with is a change like any
    other.
    """
    shown = f".git/{name}" if git else name
    made_at = max((at for at, entry in enumerate(entries) if entry["new"]), default=0)
    entries = entries[made_at:]  # what was put into a file that is gone since is gone with it
    try:
        data = files.read_optional(root, name)
        if data is None:
            return InitStep(shown, "is gone already")
        made = entries[0]["new"]
        new, complete = _before(data, entries), True
        if made and new is not None:
            return _removed(root, name, shown)
        if new is None:
            new, complete = _without(root, name, data, entries)
    except FlowError as error:
        return InitStep(shown, f"left: {error.fault.message}")
    if new == data:
        return InitStep(shown, CHANGED)
    if made and complete and new.strip() in (b"", b"{}"):
        return _removed(root, name, shown)
    files.replace(root, name, new)
    rest = "" if complete else "; what was changed since stays"
    return InitStep(shown, f"took out what Flow put in{rest}")


def _before(data: bytes, entries: Sequence[Mapping[str, Any]]) -> bytes | None:
    """The content before the first entry, if no one but Flow has written since; else None."""
    digests = [sha256(base64.b64decode(entry["before"])).hexdigest() for entry in entries]
    states = [entry["digest"] for entry in entries]
    between = [*zip(states, digests[1:], strict=False), (states[-1], sha256(data).hexdigest())]
    if any(left != met for left, met in between):
        return None
    return base64.b64decode(entries[0]["before"])


def _without(
    root: str, name: str, data: bytes, entries: Sequence[Mapping[str, Any]]
) -> tuple[bytes, bool]:
    """The content without the entries' additions, and whether all of them were still there."""
    complete = True
    if any(entry["added"] for entry in entries):
        target = JsonFile(root, name)
        for entry in reversed(entries):
            for path, key, value in reversed(entry["added"]):
                complete = _take_out(target, tuple(path), key, value) and complete
        return target.data(), complete
    lines = data.split(b"\n")
    for entry in entries:
        for line in entry["lines"]:
            at = [n for n, text in enumerate(lines) if text.rstrip(b"\r") == line.encode()]
            if at:
                del lines[at[-1]]
            complete = complete and bool(at)
    return b"\n".join(lines), complete and any(entry["lines"] for entry in entries)


def _take_out(target: JsonFile, path: tuple[Any, ...], key: str | None, value: Any) -> bool:
    """Take out a member, or the parts of Flow's list or object; returns whether all were there."""
    if key is not None and isinstance(value, dict | list) and "command" not in value:
        members = value.items() if isinstance(value, dict) else ((None, item) for item in value)
        inner = (*path, key)
        parts = [_take_out(target, inner, name, part) for name, part in members]
        complete = all(parts)
        if complete and not target.value(inner):
            target.remove(inner)
        return complete
    try:
        section = target.part(path, list if key is None else dict)
    except FlowError:
        return False
    if section is None:
        return False
    places = [key] if key is not None else list(range(len(section)))
    equal = [at for at in places if _holds(section, at, value)]
    if not equal:
        return False
    target.remove((*path, equal[-1]))
    return True


def _holds(section: Any, at: Any, value: Any) -> bool:
    there = at in section if isinstance(section, dict) else True
    return there and section[at] == value


def _removed(root: str, name: str, shown: str) -> InitStep:
    files.remove(root, name)
    folder = os.path.dirname(name)
    while folder and folder != "info":
        try:
            os.rmdir(os.path.join(root, folder))
        except OSError:  # it is not empty
            break
        folder = os.path.dirname(folder)
    return InitStep(shown, "removed")


def untracked(repo: Repo) -> set[str]:
    """Flow's files that ``git status`` shows as untracked; empty if git cannot tell."""
    places = (".flow", layout.JOURNAL_DIR)
    words = ("--others", "--exclude-standard", "--directory", "--", *places)
    try:
        return set(listed_files(repo, *words))
    except GitError:
        return set()


def what_stays(top: str) -> Iterator[str]:
    """Flow's files that ``undo`` leaves, in words."""
    try:
        goals = files.names(top, layout.GOALS, suffix=layout.GOAL_SUFFIX, limit=1000)
    except FlowError:
        goals = []
    if goals:
        yield f"{layout.GOALS}/ with {len(goals)} goal{'' if len(goals) == 1 else 's'}"
    if os.path.isdir(os.path.join(top, layout.RUNS)):
        yield f"{layout.RUNS}/ with their evidence"
    if os.path.isdir(os.path.join(top, layout.JOURNAL_DIR)):
        yield f"{layout.JOURNAL_DIR}/ with decision journals"
