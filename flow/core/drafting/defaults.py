"""The defaults of a repository's new goals: ``.flow/defaults.goal.yaml`` (SPEC 12, 17.1)."""

from __future__ import annotations

from flow.core.drafting.completing import HEAD
from flow.core.goal.model import RESULT_FIELDS, canonical_digest, without_results
from flow.core.layout import DEFAULTS
from flow.errors import ContractError, Fault, in_file
from flow.startup.json import items_of, object_of
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flow.core.drafting.completing import Edit

PATH_KEYS = ("denied_paths", "protected_paths")
KEYS = ("criteria", *PATH_KEYS)
_CRITERIA = ("objective", "acceptance_criteria")


class GoalDefaults(NamedTuple):
    """The file's content, checked."""

    criteria: tuple[Mapping[str, Any], ...] = ()
    denied_paths: tuple[str, ...] = ()
    protected_paths: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The criteria's ids."""
        return tuple(criterion["id"] for criterion in self.criteria)

    @property
    def places(self) -> dict[str, tuple[str, str]]:
        """(file, key) of each criterion, by id."""
        return {name: (DEFAULTS, f"criteria[{place}]") for place, name in enumerate(self.ids)}

    @property
    def digests(self) -> tuple[str, ...]:
        """The digest of each criterion, computed as for a goal's criterion."""
        return tuple(canonical_digest(without_results(criterion)) for criterion in self.criteria)

    @property
    def fuzzy(self) -> bool:
        """Whether a criterion is fuzzy."""
        return any("verification_command" not in criterion for criterion in self.criteria)

    @property
    def digest(self) -> str:
        """SHA-256 over the whole content: the user trusts this."""
        return canonical_digest(self.to_document())

    def to_document(self) -> dict[str, Any]:
        """The defaults as the trust ledger stores them."""
        return {key: list(getattr(self, key)) for key in KEYS if getattr(self, key)}


def not_trusted(goal_id: str) -> str:
    """The refusal for a goal that holds defaults which the user has not trusted."""
    return (
        f"goal {goal_id} is not trusted, and nothing of it was run: this user does not know "
        f"{DEFAULTS} as it is (read it, then: flow trust record --defaults, and flow trust record "
        f"{goal_id})"
    )


def as_goal(document: Mapping[str, Any]) -> dict[str, Any]:
    """A goal with the file's values and nothing else, so that the checks of goals apply."""
    rows = document.get("criteria")
    listed = [
        {"status": "pending", **row} if isinstance(row, dict) else row for row in items_of(rows)
    ]
    needed = {"id": "DEFAULTS0", "text": "x", "status": "pending", "must_pass": True}
    return {
        **HEAD,
        "metadata": {"id": "defaults", "created_at": "2026-01-01T00:00:00Z"},
        "scope": {"repo": "x", "branch": "x"},
        "objective": {
            "outcome": "x",
            "acceptance_criteria": [*listed, needed]
            if rows is None or isinstance(rows, list)
            else rows,
        },
        "constraints": {key: document[key] for key in PATH_KEYS if key in document},
        "evaluator": {"type": "hybrid"},
        "lifecycle": {"status": "draft"},
    }


def shape_faults(document: Mapping[str, Any]) -> Iterator[Fault]:
    """Faults of content that a goal may have and the defaults file may not."""
    for key in document:
        if key not in KEYS:
            known = ", ".join(KEYS)
            yield in_file(DEFAULTS, key).fault("is not a known key", f"the keys are {known}")
    for place, row in enumerate(map(object_of, items_of(document.get("criteria")))):
        for key in RESULT_FIELDS:
            if row.get(key, "pending") != "pending":
                yield in_file(DEFAULTS, f"criteria[{place}].{key}", row[key]).fault(
                    "is a result, which only an evaluation writes", "take it out"
                )


def own_place(text: str) -> str:
    """A key of :func:`as_goal`, or a message with one, in terms of the defaults file."""
    return text.replace("objective.acceptance_criteria", "criteria").removeprefix("constraints.")


def taken_over(document: Mapping[str, Any], defaults: GoalDefaults, file: str) -> list[Edit]:
    """The changes that add the defaults to a goal that fits the schema.

    Existing values stay. Raises :class:`ContractError` with both places if the goal uses a
    default's id for another criterion.
    """
    rows = document["objective"]["acceptance_criteria"]
    places = {row["id"]: place for place, row in enumerate(rows)}
    changes: list[Edit] = []
    faults = []
    for place, criterion in enumerate(defaults.criteria):
        there = places.get(criterion["id"])
        if there is None:
            path = (*_CRITERIA, len(rows) + len(changes))
            changes.append((path, {**criterion, "status": "pending"}))
        elif without_results(rows[there]) != without_results(criterion):
            faults.append(
                in_file(file, f"objective.acceptance_criteria[{there}].id", criterion["id"]).fault(
                    f"{criterion['id']} is the id of criteria[{place}] in {DEFAULTS} too",
                    "leave the id out, and the criterion is numbered",
                )
            )
    if faults:
        raise ContractError(faults)
    return [*changes, *_paths_added(document.get("constraints") or {}, defaults)]


def _paths_added(constraints: Mapping[str, Any], defaults: GoalDefaults) -> Iterator[Edit]:
    for key in PATH_KEYS:
        there = list(constraints.get(key) or ())
        missing = [path for path in getattr(defaults, key) if path not in there]
        if missing:
            yield ("constraints", key), [*there, *missing]
