"""What a goal file that is handed in may lack, since Flow writes it (SPEC 17.1).

The schema says what the written file holds; here is only what is added before it is checked.
"""

from __future__ import annotations

from flow.core.drafting.criteria import free_ids
from flow.core.goal.model import API_VERSION, NO_BRANCH
from flow.core.text.display import is_utf8, visible
from flow.errors import at_key
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Edit = tuple[tuple[str | int, ...], Any]

SCHEMA_LINE = "# yaml-language-server: $schema=../goal.schema.json"
"""The first line of every goal file: editors find the schema by it."""
_SERVER = "# yaml-language-server:"
HEAD = {"apiVersion": API_VERSION, "kind": "FlowGoal"}
"""What says of a file which format it has: Flow writes it, and says so."""


class OwnFields(Protocol):
    """What Flow writes itself into the file of one goal, where the file lacks it."""

    @property
    def created_at(self) -> str:
        """``metadata.created_at``."""

    @property
    def scope(self) -> dict[str, Any]:
        """The whole ``scope``."""

    @property
    def lifecycle(self) -> dict[str, Any]:
        """The whole ``lifecycle``."""

    @property
    def ids(self) -> Mapping[str, str]:
        """Ids of criteria by their texts."""


def surroundings_of(folder: str, branch: str | None, now: str) -> Surroundings:
    """What is known of a goal that is created in ``folder``, on ``branch``.

    Raises :class:`StateError` for a branch whose name no goal file can hold.
    """
    if branch is not None and not is_utf8(branch):
        raise at_key("scope.branch", visible(branch)).wrong_state(
            f"the branch that is checked out, {visible(branch)}, has a name that is not UTF-8,"
            " and a goal file names its branch",
            "git branch -m NAME gives it one",
        )
    return Surroundings(visible(folder) or "repository", branch, now)


class Surroundings(NamedTuple):
    """What Flow knows by itself about a goal that is created here and now."""

    repo: str
    branch: str | None
    """None on a detached HEAD, and without git."""
    now: str

    @property
    def scope(self) -> dict[str, str]:
        """The ``scope`` of a goal that names none."""
        return {"repo": self.repo, "branch": self.branch or NO_BRANCH}

    @property
    def created_at(self) -> str:
        """The moment at which it is created."""
        return self.now

    @property
    def lifecycle(self) -> dict[str, Any]:
        """How it begins."""
        return {"status": "active", "turns_evaluated": 0}

    @property
    def ids(self) -> Mapping[str, str]:
        """None: no criterion is known yet."""
        return {}


class LiveFields(NamedTuple):
    """What the file of a goal that is there already has of what Flow writes itself."""

    created_at: str
    scope: dict[str, Any]
    lifecycle: dict[str, Any]
    ids: Mapping[str, str]


def live_fields(document: Mapping[str, Any]) -> LiveFields:
    """Those of a goal's checked document."""
    rows = document["objective"]["acceptance_criteria"]
    ids = {row["text"]: row["id"] for row in reversed(rows)}
    return LiveFields(
        document["metadata"]["created_at"], document["scope"], document["lifecycle"], ids
    )


class Completion(NamedTuple):
    """The changes that complete a file, and what to say of them."""

    changes: tuple[Edit, ...]
    warnings: tuple[str, ...]


def completion(document: object, own: OwnFields, taken: Iterable[str] = ()) -> Completion:
    """What ``document``, parsed and not checked, lacks of what Flow writes.

    A key that is there stays, whatever it holds: the schema has its word. ``taken`` are criterion
    ids that are not free. A criterion without one gets that of its text, else the next free one.
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
    """The entries that ``document[key]`` needs and lacks; where it is missing, all if ``whole``."""
    part = document.get(key)
    if whole and (key not in document or part == {}):
        yield (key,), values
    elif isinstance(part, dict):
        needed = ((name, value) for name, value in values.items() if name in _NEEDED)
        yield from (((key, name), value) for name, value in needed if name not in part)


_NEEDED = frozenset({"created_at", "repo", "branch", "status", "turns_evaluated"})
"""What a file has to have; the rest of a part that is there may have been left out on purpose."""


def _criteria(
    document: dict[str, Any], ids: Mapping[str, str], taken: Iterable[str]
) -> Iterator[Edit]:
    objective = document.get("objective")
    rows = objective.get("acceptance_criteria") if isinstance(objective, dict) else None
    if not isinstance(rows, list):
        return
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
    """``text`` with the line for editors on top, unless its head has one already."""
    for line in text.splitlines():
        if line.startswith(_SERVER):
            return text
        if line.strip() and not line.startswith("#"):
            break
    newline = "\r\n" if "\r\n" in text[: text.find("\n") + 1] else "\n"
    return f"{SCHEMA_LINE}{newline}{text}"
