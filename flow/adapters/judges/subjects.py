"""What is judged, as text for a judge: text, bytes, a file, or any JSON-able value."""

from __future__ import annotations

import dataclasses
import json
import os

from flow.adapters.fs import inputs
from flow.core.untrusted.fences import FencedPart
from flow.errors import InputError, at_key
from flow.startup.typing import Any

LIMIT = 8 << 20
"""Bytes of one file. A judge sees less: the beginning and the end, and how much lies between."""
MOST_FILES = 100


def parts(subject: Any) -> tuple[FencedPart, ...]:
    """The parts to put between fences.

    A ``str`` is text, never a path. A path-like is read, a list or tuple of them is several parts.
    Anything else is shown as JSON: mappings, lists, numbers, dataclasses, pydantic models, and what
    has a ``to_document()``. Raises :class:`InputError` for what can be neither, for what is empty,
    and for a file that cannot be read.
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
    # A prompt tells nobody how this machine's folders are called, and is the same on the next one.
    return FencedPart(part, data, os.path.basename(name) if os.path.isabs(name) else name)


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False, default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise _refused(f"{type(value).__name__} cannot be shown as JSON: {error!s:.200}") from error


def _plain(value: Any) -> Any:
    """What ``json`` cannot show by itself."""
    for method in ("to_document", "model_dump"):
        convert = getattr(value, method, None)
        if callable(convert) and not isinstance(value, type):
            return convert()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    raise TypeError(f"a {type(value).__name__} has no JSON form")


def _refused(fault: str) -> InputError:
    return at_key("subject").invalid(
        f"nothing that can be judged: {fault}",
        "give text, bytes, a path object, or a value that JSON can hold",
    )
