"""One value of a setting: read from the command line, checked, compared by who may change it."""

from __future__ import annotations

from flow.core.setting_keys import DENIED, FOLDERS, Key
from flow.errors import ContractError, Fault, in_file
from flow.startup.typing import Any


def value_from_text(key: Key, typed: str) -> Any:
    """The value of ``typed``: parsed as JSON, or the text itself if that fits the key."""
    import json

    try:
        value = json.loads(typed)
    except (ValueError, RecursionError):
        value = typed
    return typed if not key.kind.fits(value) and key.kind.fits(typed) else value


def value_faults(key: Key, value: Any, file: str) -> list[Fault]:
    """The faults of a value that ``file`` gives the key."""
    if not key.kind.fits(value):
        return [
            in_file(file, key.name, shown_value(value)).fault(
                f"{shown_value(value)} is not {key.kind.expected}",
                "correct the value, or remove the key to use the default",
            )
        ]
    if key.name != DENIED:
        return []
    from flow.core.boundary.rules import check_patterns

    return check_patterns(value, key.name, file=file)


def checked_value(key: Key, value: Any, file: str) -> Any:
    """Return ``value``; raise :class:`ContractError` with its faults if it has any."""
    faults = value_faults(key, value, file)
    if faults:
        raise ContractError(faults)
    return usable_value(key, value)


def usable_value(key: Key, value: Any) -> Any:
    """A value without faults, in the form that :class:`Settings` holds."""
    return value.removesuffix("/") if key.name in FOLDERS else value


def loosens(key: Key, before: Any, after: Any) -> bool:
    """Whether ``after`` in the user's own file allows more than ``before``, the value in force.

    For a key that only the user may set, every value counts as allowing more.
    """
    if key.rule == "union":
        return not set(before) <= set(after)
    if key.rule == "stricter" and key.strictness is not None:
        lax = float("-inf")  # of no limit at all
        strictness = [lax if value is None else key.strictness(value) for value in (before, after)]
        return strictness[1] < strictness[0]
    return key.own_only


def shown_value(value: Any) -> str:
    """The value as JSON, short and safe for a terminal."""
    import json

    text = json.dumps(value, ensure_ascii=True)  # which is printable, DEL included
    return text if len(text) <= 80 else text[:79] + "…"
