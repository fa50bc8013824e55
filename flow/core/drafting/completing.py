"""The parts of a new goal file that may be left out, because Flow writes them (SPEC 17.1).

The schema describes the written file; this module only adds parts before the check.
"""

from __future__ import annotations

from flow.core.drafting.criteria import free_ids
from flow.core.goal.model import API_VERSION, NO_BRANCH
from flow.core.text.display import is_utf8, visible
from flow.errors import at_key
from flow.startup.json import items_of, object_of
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Edit = tuple[tuple[str | int, ...], Any]

SCHEMA_LINE = "# yaml-language-server: $schema=../goal.schema.json"
"""The first line of every goal file, by which editors find the schema."""
_SERVER = "# yaml-language-server:"
HEAD = {"apiVersion": API_VERSION, "kind": "FlowGoal"}
"""The format's own keys, which Flow adds to a file without them and reports."""


class OwnFields(NamedTuple):
    """Flow's own values for the file of one goal, for keys that the file lacks."""

    created_at: str
    """``metadata.created_at``."""
    scope: dict[str, Any]
    """The whole ``scope``."""
    lifecycle: dict[str, Any]
    """The whole ``lifecycle``."""
    ids: Mapping[str, str] = {}
    """Ids of existing criteria, by their texts."""


def own_fields(folder: str, branch: str | None, now: str) -> OwnFields:
    """The fields of a goal that is created now in ``folder``, on ``branch``.

    ``branch`` is None on a detached HEAD, and without git. Raises :class:`StateError` if its name
    is not UTF-8.
    """
    if branch is not None and not is_utf8(branch):
        raise at_key("scope.branch", visible(branch)).wrong_state(
            f"the branch that is checked out, {visible(branch)}, has a name that is not UTF-8,"
            " and a goal file names its branch",
            "git branch -m NAME gives it one",
        )
    scope = {"repo": visible(folder) or "repository", "branch": branch or NO_BRANCH}
    return OwnFields(now, scope, {"status": "active", "turns_evaluated": 0})


def current_fields(document: Mapping[str, Any]) -> OwnFields:
    """The fields of an existing goal's checked document."""
    rows = document["objective"]["acceptance_criteria"]
    ids = {row["text"]: row["id"] for row in reversed(rows)}
    return OwnFields(
        document["metadata"]["created_at"], document["scope"], document["lifecycle"], ids
    )


class Completion(NamedTuple):
    """The changes that complete a file, and the warnings about them."""

    changes: tuple[Edit, ...]
    warnings: tuple[str, ...]


def completion(document: object, own: OwnFields, taken: Iterable[str] = ()) -> Completion:
    """The keys that Flow must add to ``document``, which is parsed and not yet checked.

    An existing key stays with any value: the schema judges it later. ``taken`` are criterion ids
    that are not free. A criterion without an id gets the existing id of its text, else the next
    free one.
    """
    if not isinstance(document, dict):
        return Completion((), ())
    changes: list[Edit] = [((key,), value) for key, value in HEAD.items() if key not in document]
    warnings = [f"{path[0]} is missing: it was written as {value}" for path, value in changes]
    changes += _missing(document, "metadata", {"created_at": own.created_at}, whole=False)
    changes += _missing(document, "scope", own.scope, whole=True)
    changes += _criteria(document, own.ids, taken)
    changes += _missing(document, "lifecycle", own.lifecycle, whole=True)
    return Completion(tuple(changes), tuple(warnings))


def _missing(
    document: dict[str, Any], key: str, values: dict[str, Any], *, whole: bool
) -> Iterator[Edit]:
    """The required entries that ``document[key]`` lacks; all if it is missing and ``whole``."""
    part = document.get(key)
    if whole and (key not in document or part == {}):
        yield (key,), values
    elif isinstance(part, dict):
        needed = ((name, value) for name, value in values.items() if name in _NEEDED)
        yield from (((key, name), value) for name, value in needed if name not in part)


_NEEDED = frozenset({"created_at", "repo", "branch", "status", "turns_evaluated"})
"""Keys that a file must have; another key may have been left out of its section on purpose."""


def _criteria(
    document: dict[str, Any], ids: Mapping[str, str], taken: Iterable[str]
) -> Iterator[Edit]:
    rows = items_of(object_of(document.get("objective")).get("acceptance_criteria"))
    rows = [row if isinstance(row, dict) else {"id": None, "status": None} for row in rows]
    own = {row.get("id") for row in rows if isinstance(row.get("id"), str)}
    open_ids = {text: name for text, name in ids.items() if name not in own}
    free = free_ids([*taken, *ids.values(), *own])
    for place, row in enumerate(rows):
        path = ("objective", "acceptance_criteria", place)
        if "id" not in row:
            yield (*path, "id"), open_ids.pop(str(row.get("text")), None) or next(free)
        if "status" not in row:
            yield (*path, "status"), "pending"


def with_schema_line(text: str) -> str:
    """``text`` with the line for editors on top, unless its head already has one."""
    for line in text.splitlines():
        if line.startswith(_SERVER):
            return text
        if line.strip() and not line.startswith("#"):
            break
    newline = "\r\n" if "\r\n" in text[: text.find("\n") + 1] else "\n"
    return f"{SCHEMA_LINE}{newline}{text}"
