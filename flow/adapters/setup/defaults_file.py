"""Reading ``.flow/defaults.goal.yaml``, and putting its content into a goal's text."""

from __future__ import annotations

from flow.adapters.contracts import formats
from flow.adapters.fs import files
from flow.core.drafting.defaults import (
    KEYS,
    GoalDefaults,
    as_goal,
    own_place,
    shape_faults,
    taken_over,
)
from flow.core.layout import DEFAULTS
from flow.errors import ContractError

LIMIT = 1 << 20


def read_defaults(top: str) -> GoalDefaults | None:
    """The repository's defaults; None if it has none.

    Raises :class:`RefusedError` for anything but a regular file, :class:`ContractError` with every
    fault of its content.
    """
    data = files.read_optional(top, DEFAULTS, limit=LIMIT)
    if data is None:
        return None
    document = formats.parse_yaml(data, file=DEFAULTS, what="file of defaults")
    faults = list(shape_faults(document))
    try:
        formats.check("goal", as_goal(document), file=DEFAULTS)
    except ContractError as error:
        for fault in error.faults:
            fault.message, fault.key = own_place(fault.message), own_place(fault.key or "") or None
        faults += error.faults
    if faults:
        raise ContractError(faults)
    return GoalDefaults(*(tuple(document.get(key) or ()) for key in KEYS))


def with_defaults(text: str, defaults: GoalDefaults, file: str) -> str:
    """A goal's text, which fits its schema, with the defaults; see :func:`taken_over`."""
    document = formats.parse_yaml(text.encode("utf-8", "surrogateescape"), file=file)
    return formats.edit(text, taken_over(document, defaults, file), file=file)
