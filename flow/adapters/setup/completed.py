"""Reading a goal text that a caller hands in, completed with Flow's own fields."""

from __future__ import annotations

from flow.adapters.contracts import formats
from flow.adapters.contracts.strict_yaml import with_whole_characters
from flow.adapters.contracts.text import MISSING
from flow.adapters.setup.defaults_file import with_defaults
from flow.app.transitions.create import Parsed
from flow.core.amendment.requested import requested_edits
from flow.core.drafting.completing import HEAD, completion
from flow.errors import ContractError, FlowError
from flow.startup import re
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from flow.core.amendment.requested import RequestedChanges
    from flow.core.drafting.completing import Completion, OwnFields
    from flow.core.drafting.defaults import GoalDefaults


_OWN = (
    r"apiVersion|kind|metadata\.created_at|(?:scope|lifecycle)(?:\.\w+)?"
    r"|objective\.acceptance_criteria\[\d+\]\.(?:id|status)"
)
"""The keys that :func:`completion` adds to a text that can be read."""


def read_handed_in(
    text: str,
    file: str,
    own: Callable[[], OwnFields],
    defaults: GoalDefaults | None = None,
) -> Parsed:
    """The goal of ``text``, completed with Flow's own fields if it lacks them, with ``defaults``.

    ``own`` is called only then. Raises :class:`ContractError` with every remaining fault.
    """
    whole = with_whole_characters(text.encode("utf-8", "surrogateescape"))
    text = whole.decode("utf-8", "surrogateescape")
    read = _completed(text, file, own, () if defaults is None else defaults.ids)
    if defaults is None:
        return read
    more = with_defaults(read.text, defaults, file)
    return read if more == read.text else _read_whole(more, file)._replace(warnings=read.warnings)


def _completed(text: str, file: str, own: Callable[[], OwnFields], taken: Iterable[str]) -> Parsed:
    try:
        return _read_whole(text, file)
    except ContractError as error:
        try:
            document = formats.parse_yaml(text.encode("utf-8", "surrogateescape"), file=file)
            added = completion(document, own(), taken)
            whole = formats.edit(_with_head(text, added, file), added.changes, file=file)
        except FlowError:
            raise _without_own_fields(error) from None  # says more than why it cannot be completed
        if whole == text:
            raise
    read = _read_whole(whole, file)
    told = (f"{file}: {warning}" for warning in added.warnings)
    return read._replace(warnings=(*told, *read.warnings))


def _without_own_fields(error: ContractError) -> ContractError:
    """The error without the faults that Flow's own fields would have mended."""
    faults = [
        f for f in error.faults if f.message != MISSING or not re.fullmatch(_OWN, f.key or "")
    ]
    return ContractError(faults) if faults else error


def _with_head(text: str, added: Completion, file: str) -> str:
    """``text`` with its format's lines on top, if they can be there: they are read first."""
    head = {path[0]: value for path, value in added.changes if path[0] in HEAD}
    try:
        above = formats.dump_yaml(head) + text if head else text
        formats.parse_yaml(above.encode("utf-8", "surrogateescape"), file=file)
    except FlowError:
        return text
    return above


def _read_whole(text: str, file: str) -> Parsed:
    goal, warnings = formats.read_goal(text.encode("utf-8", "surrogateescape"), file=file)
    return Parsed(text, goal, warnings)


def with_requested(text: str, name: str, changes: RequestedChanges) -> str:
    """A goal's ``text`` with changes that were named one by one; nothing is written."""
    if not any(changes):
        return text
    goal = _read_whole(text, name).goal
    for edits in requested_edits(goal.document, changes):
        text = formats.edit(text, edits, file=name)
    return text
