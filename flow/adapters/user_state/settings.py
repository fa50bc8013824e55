"""Read the settings files of SPEC 8.

In the order in which they win: ``.claude/settings.flow.local.json`` and
``.claude/settings.flow.json`` of the checkout, then the user's own
``~/.claude/settings.flow.json``; of ``autoJudge`` last ``judge-config.json`` (SPEC 9.3). An
absent file is fine and costs one ``lstat``.
"""

from __future__ import annotations

import os
import stat

from flow.adapters.fs import files
from flow.core.settings import Layer, LoadedSettings, merge_layers
from flow.errors import ContractError, Fault, RefusedError, StorageError, in_file
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["JUDGE_CONFIG", "LOCAL", "OWN", "PROJECT", "LoadedSettings", "load"]

LOCAL = ".claude/settings.flow.local.json"
PROJECT = ".claude/settings.flow.json"
OWN = "~/.claude/settings.flow.json"
JUDGE_CONFIG = "judge-config.json"
"""At the top level: ``{"autoJudge": true}``."""

_LIMIT = 1 << 20


def load(
    top: str | None, home: str | None, pinned: Mapping[str, str] | None = None
) -> LoadedSettings:
    """The settings in force in the checkout ``top`` for the user whose home folder is ``home``.

    ``pinned`` is what a goal pinned of them when it began (SPEC 17.2).

    ``top`` is None outside of any checkout; ``home`` is None where the environment names none: then
    there is no user's own file. Raises :class:`ContractError` with every fault of every file
    (broken JSON, a key twice, a wrong type or range, a symlink or an oversized file),
    :class:`StorageError` where one cannot be read. The user's own file counts as the checkout's,
    with a warning, where it lies inside it or others may write it.
    """
    layers, faults, warnings, unread = _layers(top, home)
    if unread:
        raise unread[0]
    loaded = merge_layers(layers, faults, pinned=pinned)
    return loaded._replace(warnings=(*warnings, *loaded.warnings))


def load_lenient(
    top: str, home: str | None, pinned: Mapping[str, str] | None = None
) -> tuple[LoadedSettings, tuple[str, ...]]:
    """The settings as far as they can be read, and what is wrong with the rest, in words.

    Where something is wrong, the stricter value of what turns the Stop hook on is in force, and
    what the other files say stays.
    """
    layers, faults, _, unread = _layers(top, home)
    faults += [error.fault for error in unread]
    if not layers and not faults and not pinned:
        return merge_layers(()), ()
    try:
        return merge_layers(layers, faults, pinned=pinned), ()
    except ContractError as error:
        return merge_layers(layers, lenient=True, pinned=pinned), tuple(
            str(fault) for fault in error.faults
        )


class _SettingsFiles(NamedTuple):
    """The files that are there, what is wrong with them, warnings, and what the disk refused."""

    layers: list[Layer]
    faults: list[Fault]
    warnings: list[str]
    unread: list[StorageError]


def _layers(top: str | None, home: str | None) -> _SettingsFiles:
    """Every file; one that cannot be read hides no other."""
    settings_files = _SettingsFiles([], [], [], [])
    layers, _, warnings, unread = settings_files
    for rel in (LOCAL, PROJECT):
        if top is not None and _present(os.path.join(top, rel), unread):
            _add_file(settings_files, top, rel, rel, own=False)
    path = os.path.join(home, PROJECT) if home and os.path.isabs(home) else None
    if path is not None and _present(path, unread):
        # Dotfiles are often symlinks into a folder of their own: the user's file may be one.
        real = os.path.realpath(path)
        if top is not None and os.path.realpath(os.path.join(top, PROJECT)) == real:
            warnings.append(_same_file())
        else:
            distrust = _why_not_own(real, top)
            if distrust:
                warnings.append(f"{OWN}: {distrust}; it counts as a file of the checkout")
            folder, name = os.path.split(real)
            _add_file(settings_files, folder, name, OWN, own=not distrust)
    _own_word_for(top, settings_files)
    if top is not None and _present(os.path.join(top, JUDGE_CONFIG), unread):
        said = judge_config(top)
        if isinstance(said, str):
            warnings.append(said)
        elif said is not None:
            layers.append(said)
    return settings_files


def _own_word_for(top: str | None, settings_files: _SettingsFiles) -> None:
    """Put what ``flow.checkouts`` of the user's own file says of this checkout before all else."""
    for number, layer in enumerate(settings_files.layers):
        section = layer.document.get("flow") if isinstance(layer.document, dict) else None
        if not isinstance(section, dict) or "checkouts" not in section:
            continue
        rest = {key: value for key, value in section.items() if key != "checkouts"}
        settings_files.layers[number] = layer._replace(document={**layer.document, "flow": rest})
        checkouts = section["checkouts"]
        if not layer.own:
            settings_files.warnings.append(
                f"{layer.file}: flow.checkouts: ignored, since only your own {OWN} may set it"
            )
        elif not isinstance(checkouts, dict):
            settings_files.faults.append(
                in_file(layer.file, "flow.checkouts").fault(
                    "is not an object",
                    'write it as {"/path/of/the/checkout": {"goals": {"jobs": 4}}}',
                )
            )
        else:
            here = [checkouts[name] for name in checkouts if _is_top(name, top)]
            for word in here[:1]:
                file = f"{layer.file}, flow.checkouts"
                settings_files.layers.insert(0, Layer(file, {"flow": word}, own=True, here=True))
        return


def _is_top(name: str, top: str | None) -> bool:
    if top is None or not os.path.isabs(name) or "\0" in name:
        return False
    return os.path.realpath(name) == os.path.realpath(top)


def judge_config(top: str) -> Layer | str | None:
    """What ``judge-config.json`` sets; why it is not obeyed; None where it sets nothing.

    Other programs may keep more in it, so everything but ``autoJudge`` is left alone.
    """
    from flow.adapters.contracts import formats

    try:
        data = files.read_optional(top, JUDGE_CONFIG, limit=_LIMIT)
        if data is None:
            return None
        document = formats.parse_json(data, file=JUDGE_CONFIG)
    except (ContractError, RefusedError, StorageError) as error:
        return f"{error.fault}; it is not obeyed"
    if not isinstance(document, dict):
        return f'{JUDGE_CONFIG}: is not an object; it is not obeyed (write {{"autoJudge": true}})'
    value = document.get("autoJudge")
    if value is None:
        return None
    if not isinstance(value, bool):
        return f"{JUDGE_CONFIG}: autoJudge: {value!r:.60} is not true or false; it is not obeyed"
    return Layer(JUDGE_CONFIG, {"judge": {"autoJudge": value}}, own=False)


def _same_file() -> str:
    return (
        f"{OWN} is this checkout's {PROJECT}, so it counts as the checkout's: what only your own "
        "file may set is ignored"
    )


def _present(path: str, unread: list[StorageError]) -> bool:
    """Whether anything at all is there, a dangling symlink too."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as error:
        unread.append(
            in_file(path).storage(
                f"cannot read the settings: {getattr(error, 'strerror', None) or error}",
                "check the owner and mode of the file and its folder",
            )
        )
        return False
    return True


def _why_not_own(real: str, top: str | None) -> str | None:
    """Why the file cannot speak for the user; None where it can."""
    top = None if top is None else os.path.realpath(top)
    if top is not None and (real == top or real.startswith(top.rstrip("/") + "/")):
        return "it lies inside the checkout"
    try:
        status = os.stat(real)
    except OSError:
        return None  # reading it says what is wrong
    if status.st_uid not in (os.geteuid(), 0):
        return "it belongs to another user"
    if stat.S_IMODE(status.st_mode) & 0o002:
        return "every user of this machine may write it (chmod 644 it)"
    return None


def _add_file(
    settings_files: _SettingsFiles, root: str, rel: str, shown: str, *, own: bool
) -> None:
    from flow.adapters.contracts import formats

    try:
        data = files.read_optional(root, rel, limit=_LIMIT)
        if data is not None:
            settings_files.layers.append(Layer(shown, formats.parse_json(data, file=shown), own))
    except ContractError as error:
        settings_files.faults.extend(_renamed(fault, shown) for fault in error.faults)
    except RefusedError as error:
        settings_files.faults.append(_renamed(error.fault, shown))
    except StorageError as error:
        fault = error.fault
        message = fault.message.replace(rel, shown)
        settings_files.unread.append(in_file(shown).storage(message, fault.remedy))


def _renamed(fault: Fault, shown: str) -> Fault:
    """The fault under the name that the user knows the file by."""
    return in_file(shown, fault.key, fault.value).fault(fault.message, fault.remedy)
