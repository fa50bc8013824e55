"""The JSON Schemas of Flow's files: one accessor for the checkout and for the wheel."""

from __future__ import annotations

from flow.adapters.fs import shipped
from flow.errors import at_key, in_file
from flow.startup import json
from flow.startup.typing import Any

NAMES = ("goal", "evidence", "run", "verdict", "scorecard", "inbox")
"""The names of all schemas; ``flow schema NAME`` prints one."""

_FOLDERS = shipped.folders("schemas/v1", "schemas/v1")
_loaded: dict[str, dict[str, Any]] = {}


def path(name: str) -> str:
    """The absolute path of a schema's file, for a ``yaml-language-server`` line.

    Raises :class:`InputError` for a name not in :data:`NAMES`, :class:`StorageError` if the file
    is missing from this installation.
    """
    if name not in NAMES:
        raise at_key("NAME", name).invalid(
            f"{name!r:.80} is not a schema", f"one of {', '.join(NAMES)}"
        )
    return shipped.find(_FOLDERS, f"{name}.schema.json", f"the schema {name}")


def text(name: str) -> str:
    """A schema's file as it is; raises as :func:`path` does."""
    file = path(name)
    try:
        with open(file, encoding="utf-8") as stream:
            return stream.read()
    except OSError as error:
        raise in_file(file).storage(
            f"cannot read the schema: {error.strerror}", "install Flow again"
        ) from error


def load(name: str) -> dict[str, Any]:
    """A schema as a document, read once per process; raises as :func:`path` does."""
    if name not in _loaded:
        _loaded[name] = json.loads(text(name))
    return _loaded[name]
