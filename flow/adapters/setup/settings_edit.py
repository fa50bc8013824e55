"""Setting and unsetting one key of a settings file (``flow config``, SPEC 17.2).

The text is edited, so everything else in the file stays unchanged. All files are written under one
lock of the user's, and through no symlink.
"""

from __future__ import annotations

import os
from contextlib import contextmanager

from flow.adapters.fs import files, locks
from flow.adapters.fs.state_folder import ensure_state_dir
from flow.adapters.setup.json_file import JsonFile
from flow.adapters.user_state.settings import LOCAL, OWN, PROJECT, distrust, is_top
from flow.errors import FlowError, at_key, in_file
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flow.core.setting_keys import Key

    Scope = Literal["user", "project", "local"]

LOCK = "settings.lock"
ABSENT = object()
"""The value of a key that a file does not set."""
_CHECKOUTS = ("flow", "checkouts")


class SettingsPlace(NamedTuple):
    """A file, and its section, in which a key is set."""

    root: str
    file: str
    """Below ``root``."""
    shown: str
    """The name that people know the file by."""
    here: str | None = None
    """The checkout that an entry of ``flow.checkouts`` is about; None: any."""


def settings_place(
    scope: Scope, home: str | None, top: str | None, *, here: bool = False
) -> SettingsPlace:
    """The place of ``scope``: the user's own file, the checkout's, or its local one.

    Raises :class:`InputError` if there is no such place, :class:`RefusedError` if the user's own
    file counts as the checkout's.
    """
    if scope != "user":
        if top is None:
            raise at_key(f"--{scope}").invalid(
                "there is no repository here, so no file of its own", "cd into it, or use --user"
            )
        file = PROJECT if scope == "project" else LOCAL
        return SettingsPlace(top, file, file)
    if here and top is None:
        raise at_key("--here").invalid("there is no repository here", "cd into it")
    if not home or not os.path.isabs(home):
        raise at_key("HOME", home).invalid("HOME names no home folder of yours", "set HOME")
    folder = os.path.join(home, os.path.dirname(PROJECT))
    name = os.path.basename(PROJECT)
    doubt = distrust(os.path.realpath(os.path.join(folder, name)), top)
    if doubt:
        raise in_file(OWN).refused(
            f"{doubt}, so it does not count as your own", "make it a file of your own, in HOME"
        )
    entry = top if here else None
    if os.path.isdir(folder):  # dotfiles are often symlinks to folders
        return SettingsPlace(os.path.realpath(folder), name, OWN, entry)
    return SettingsPlace(home, PROJECT, OWN, entry)


def read_setting(place: SettingsPlace, key: Key) -> Any:
    """The value that the file gives the key; ``ABSENT`` if it gives none."""
    with _named(place):
        target = JsonFile(place.root, place.file)
        return _value(target, _path(target, place, key))


def write_setting(place: SettingsPlace, key: Key, value: Any, state_dir: str) -> Any:
    """Set the key to ``value``, or take it out for ``ABSENT``; returns the value before.

    Sections that become empty go, too.

    Raises :class:`ContractError` for a file that is no JSON or has another kind of value on the
    way, :class:`RefusedError` for a symlink; then nothing is written.
    """
    ensure_state_dir(state_dir)
    with locks.exclusive(state_dir, LOCK, quick=True), _named(place):
        target = JsonFile(place.root, place.file)
        path = _path(target, place, key)
        before = _value(target, path)
        if value is ABSENT:
            _unset(target, path)
        else:
            set_member(target, path, value)
        if target.changed:
            files.put(place.root, place.file, target.data(), new=target.new)
    return before


def _path(target: JsonFile, place: SettingsPlace, key: Key) -> tuple[str, ...]:
    """The names that lead to the key in the file."""
    names = tuple(key.name.split("."))
    if place.here is None:
        return names
    if names[0] != "flow":
        raise at_key(key.name).invalid(
            "cannot be set for one checkout in your own file",
            f"write it to the checkout's local file: flow config set {key.name} VALUE --local",
        )
    entries = target.part(_CHECKOUTS, dict) or {}
    entry = next((name for name in entries if is_top(name, place.here)), place.here)
    return (*_CHECKOUTS, entry, *names[1:])


def _value(target: JsonFile, path: tuple[str, ...]) -> Any:
    section = target.part(path[:-1], dict)
    return ABSENT if section is None else section.get(path[-1], ABSENT)


def set_member(target: JsonFile, path: tuple[str, ...], value: Any) -> None:
    """Set the value at ``path``, with the objects on the way to it."""
    if _value(target, path) is not ABSENT:
        target.put(path, value)
        return
    depth = len(path) - 1
    while target.part(path[:depth], dict) is None:
        depth -= 1
    for name in reversed(path[depth + 1 :]):
        value = {name: value}
    target.add(path[:depth], path[depth], value)


def _unset(target: JsonFile, path: tuple[str, ...]) -> None:
    if _value(target, path) is not ABSENT:
        target.remove(path)
        section = path[:-1]
        while section and not target.value(section):
            target.remove(section)
            section = section[:-1]


@contextmanager
def _named(place: SettingsPlace) -> Iterator[None]:
    """Name the file in errors as people know it."""
    try:
        yield
    except FlowError as error:
        for fault in error.faults:
            fault.file = place.shown if fault.file == place.file else fault.file
        raise
