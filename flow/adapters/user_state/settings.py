"""Read the settings files of SPEC 8.

In the order in which they win: ``.claude/settings.flow.local.json`` and
``.claude/settings.flow.json`` of the checkout, then the user's own
``~/.claude/settings.flow.json``; for ``autoJudge`` last ``judge-config.json`` (SPEC 9.3). An absent
file is fine and costs one ``lstat``.
"""

from __future__ import annotations

import os
import stat

from flow.adapters.fs import files
from flow.core import layout
from flow.core.setting_keys import STOP_HOOK
from flow.core.settings import Layer, LoadedSettings, merge_layers
from flow.core.text.display import visible
from flow.errors import ContractError, Fault, RefusedError, StorageError, in_file
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

LOCAL, PROJECT = layout.SETTINGS_LOCAL, layout.SETTINGS_PROJECT
OWN = "~/.claude/settings.flow.json"
JUDGE_CONFIG = "judge-config.json"
"""At the top level: ``{"autoJudge": true}``."""

_SAME_FILE = (
    f"{OWN} is this checkout's {PROJECT}, so it counts as the checkout's: what only your own "
    "file may set is ignored"
)
_UNREAD_MODE = f"{STOP_HOOK} counts as block until {OWN} is right"
_LIMIT = 1 << 20
_ABSENT = object()


def load(
    top: str | None, home: str | None, pinned: Mapping[str, str] | None = None
) -> LoadedSettings:
    """The settings in force in the checkout ``top`` for the user whose home folder is ``home``.

    ``pinned`` are the values that a goal pinned when it began (SPEC 17.2).

    ``top`` is None outside of any checkout; ``home`` is None if the environment names none: then
    there is no user's own file. Raises :class:`ContractError` with every fault of every file
    (broken JSON, a key twice, a wrong type or range, a symlink or an oversized file),
    :class:`StorageError` if one cannot be read. The user's own file counts as the checkout's, with
    a warning, if it is inside it or others may write it.
    """
    read = _read_files(top, home)
    if read.errors:
        raise read.errors[0]
    loaded = merge_layers(read.layers, read.faults, pinned=pinned)
    return loaded._replace(warnings=(*read.warnings, *loaded.warnings))


def load_lenient(
    top: str, home: str | None, pinned: Mapping[str, str] | None = None
) -> tuple[LoadedSettings, tuple[str, ...]]:
    """The settings as far as they can be read, and the faults of the rest, in words.

    With a fault, the keys that turn the Stop hook on have their stricter value, and the other files
    count unchanged. A mode of the hook that a faulty file of the user may say counts as ``block``.
    """
    read = _read_files(top, home)
    faults = [*read.faults, *(error.fault for error in read.errors)]
    if not read.layers and not faults and not pinned:
        return merge_layers(()), ()
    try:
        return merge_layers(read.layers, faults, pinned=pinned), ()
    except ContractError as error:
        loaded = merge_layers(read.layers, lenient=True, pinned=pinned)
        told = tuple(str(fault) for fault in error.faults)
        own = (OWN, os.path.join(home or os.sep, PROJECT))
        faulty = any(str(fault.file).startswith(own) for fault in error.faults)
        known = loaded.origins[STOP_HOOK].startswith(OWN)
        if faulty and not known and loaded.settings.stop_hook_enforcement == "warn":
            settings = loaded.settings._replace(stop_hook_enforcement="block")
            loaded, told = loaded._replace(settings=settings), (*told, _UNREAD_MODE)
        return loaded, told


class _SettingsFiles(NamedTuple):
    """The files that are there, their faults, warnings, and errors of the disk."""

    layers: list[Layer]
    faults: list[Fault]
    warnings: list[str]
    errors: list[StorageError]


def _read_files(top: str | None, home: str | None) -> _SettingsFiles:
    """Every file; one that cannot be read hides no other."""
    settings_files = _SettingsFiles([], [], [], [])
    layers, _, warnings, errors = settings_files
    for rel in (LOCAL, PROJECT):
        if top is not None and _present(os.path.join(top, rel), errors):
            _add_file(settings_files, top, rel, rel, own=False)
    path = os.path.join(home, PROJECT) if home and os.path.isabs(home) else None
    if path is not None and _present(path, errors):
        # Dotfiles are often symlinks into a folder of their own: the user's file may be one.
        real = os.path.realpath(path)
        if top is not None and os.path.realpath(os.path.join(top, PROJECT)) == real:
            warnings.append(_SAME_FILE)
        else:
            doubt = distrust(real, top)
            if doubt:
                warnings.append(f"{OWN}: {doubt}; it counts as a file of the checkout")
            folder, name = os.path.split(real)
            _add_file(settings_files, folder, name, OWN, own=not doubt)
    _add_own_layer(top, settings_files)
    if top is not None and _present(os.path.join(top, JUDGE_CONFIG), errors):
        layer = judge_config(top)
        if isinstance(layer, str):
            warnings.append(layer)
        elif layer is not None:
            layers.append(layer)
    return settings_files


def _add_own_layer(top: str | None, settings_files: _SettingsFiles) -> None:
    """Put the entry of ``flow.checkouts`` in the user's own file for this checkout first of all.

    What a checkout's file has there counts for nothing, and hides nothing of the user's.
    """
    own = None
    for number, layer in enumerate(settings_files.layers):
        section = layer.document.get("flow") if isinstance(layer.document, dict) else None
        if not isinstance(section, dict) or "checkouts" not in section:
            continue
        rest = {key: value for key, value in section.items() if key != "checkouts"}
        settings_files.layers[number] = layer._replace(document={**layer.document, "flow": rest})
        checkouts, file = section["checkouts"], f"{layer.file}, flow.checkouts"
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
            here = [checkouts[name] for name in checkouts if is_top(name, top)]
            settings_files.warnings.extend(
                f"{file}: {visible(name)} is no absolute path, so it is no checkout's"
                for name in checkouts
                if not os.path.isabs(name)
            )
            if here:
                own = Layer(file, {"flow": here[0]}, own=True, here=True)
    if own is not None:
        settings_files.layers.insert(0, own)


def is_top(name: str, top: str | None) -> bool:
    """Whether an entry of ``flow.checkouts`` is about the checkout ``top``."""
    if top is None or not os.path.isabs(name) or "\0" in name:
        return False
    return os.path.realpath(name) == os.path.realpath(top)


def judge_config(top: str) -> Layer | str | None:
    """The layer of ``judge-config.json``, a warning if it is ignored, or None if empty.

    Other programs may keep more in it, so everything but ``autoJudge`` is left alone.
    """
    try:
        document = _parsed(top, JUDGE_CONFIG, JUDGE_CONFIG)
        if document is _ABSENT:
            return None
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


def _present(path: str, errors: list[StorageError]) -> bool:
    """Whether anything at all is there, a dangling symlink too."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as error:
        errors.append(
            in_file(path).storage(
                f"cannot read the settings: {getattr(error, 'strerror', None) or error}",
                "check the owner and mode of the file and its folder",
            )
        )
        return False
    return True


def distrust(real: str, top: str | None) -> str | None:
    """Why the file does not count as the user's own; None if it does."""
    top = None if top is None else os.path.realpath(top)
    if top is not None and (real == top or real.startswith(top.rstrip("/") + "/")):
        return "it lies inside the checkout"
    try:
        status = os.stat(real)
    except OSError:
        return None  # its reader reports the fault
    if status.st_uid not in (os.geteuid(), 0):
        return "it belongs to another user"
    if stat.S_IMODE(status.st_mode) & 0o002:
        return "every user of this machine may write it (chmod 644 it)"
    return None


def _add_file(
    settings_files: _SettingsFiles, root: str, rel: str, shown: str, *, own: bool
) -> None:
    try:
        document = _parsed(root, rel, shown)
        if document is not _ABSENT:
            settings_files.layers.append(Layer(shown, document, own))
    except ContractError as error:
        settings_files.faults.extend(_renamed(fault, shown) for fault in error.faults)
    except RefusedError as error:
        settings_files.faults.append(_renamed(error.fault, shown))
    except StorageError as error:
        fault = error.fault
        message = fault.message.replace(rel, shown)
        settings_files.errors.append(in_file(shown).storage(message, fault.remedy))


def _parsed(root: str, rel: str, shown: str) -> Any:
    """The JSON value of a file, which messages name ``shown``; ``_ABSENT`` if there is none."""
    from flow.adapters.contracts import formats

    data = files.read_optional(root, rel, limit=_LIMIT)
    return _ABSENT if data is None else formats.parse_json(data, file=shown)


def _renamed(fault: Fault, shown: str) -> Fault:
    """The fault under the name that the user knows the file by."""
    return in_file(shown, fault.key, fault.value).fault(fault.message, fault.remedy)
