"""The subject of a judgement as text: text, bytes, a file, or any JSON-able value."""

from __future__ import annotations

import dataclasses
import json
import os

from flow.adapters.fs import inputs
from flow.core.untrusted.fences import FencedPart
from flow.errors import InputError, at_key
from flow.startup.typing import Any

LIMIT = 8 << 20
"""Most bytes of one file. A judge sees less: the beginning and the end, and the size between."""
MOST_FILES = 100


def parts(subject: Any) -> tuple[FencedPart, ...]:
    """The parts to put between fences.

    A ``str`` is text, never a path. A path-like is read, a list or tuple of them is several parts.
    Anything else is shown as JSON: mappings, lists, numbers, dataclasses, pydantic models, and
    objects with ``to_document()``. Raises :class:`InputError` for any other value, for an empty
    one, and for a file that cannot be read.
    """
    if isinstance(subject, list | tuple) and len(subject) == 1:
        subject = subject[0] if isinstance(subject[0], os.PathLike) else subject
    if isinstance(subject, os.PathLike):
        return (_file(subject),)
    if isinstance(subject, list | tuple) and subject:
        paths = [item for item in subject if isinstance(item, os.PathLike)]
        if len(paths) == len(subject):
            if len(paths) > MOST_FILES:
                raise _refused(f"{len(paths)} files are more than {MOST_FILES}")
            return tuple(
                _file(path, f"subject, part {number} of {len(paths)}")
                for number, path in enumerate(paths, 1)
            )
    if isinstance(subject, bytearray | memoryview):
        subject = bytes(subject)
    text = subject if isinstance(subject, str | bytes) else _json(subject)
    if not text.strip():
        raise _refused("it is empty")
    return (FencedPart("subject", text),)


def _file(path: os.PathLike[Any], part: str = "subject") -> FencedPart:
    name = os.fsdecode(path)
    inputs.check_file(name, "subject")
    data = inputs.read(name, "subject", limit=LIMIT)
    if not data.strip():
        raise _refused(f"the file {name!r:.200} is empty")
    # A prompt must not show the names of this machine's folders, and is the same on the next one.
    return FencedPart(part, data, os.path.basename(name) if os.path.isabs(name) else name)


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False, default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise _refused(f"{type(value).__name__} cannot be shown as JSON: {error!s:.200}") from error


def _plain(value: Any) -> Any:
    """A form of ``value`` that ``json`` can write; TypeError if there is none."""
    for method in ("to_document", "model_dump"):
        convert = getattr(value, method, None)
        if callable(convert) and not isinstance(value, type):
            return convert()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _refused(fault: str) -> InputError:
    return at_key("subject").invalid(
        f"nothing that can be judged: {fault}",
        "give text, bytes, a path object, or a value that JSON can hold",
    )
