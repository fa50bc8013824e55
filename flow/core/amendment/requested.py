"""Changes of a contract that are requested one by one, as edits of the goal's text (SPEC 12)."""

from __future__ import annotations

from flow.core.drafting.criteria import SHAPE, free_ids, parse_criterion, split_id
from flow.core.text.display import visible
from flow.errors import at_key
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from flow.core.drafting.completing import Edit

_CRITERIA = ("objective", "acceptance_criteria")


class RequestedChanges(NamedTuple):
    """The requested changes: path patterns, ``[ID:] text [:: command]``, and ids to remove."""

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()


def requested_edits(
    document: Mapping[str, Any], changes: RequestedChanges
) -> tuple[list[Edit], list[Edit]]:
    """The edits of a checked goal ``document`` in two steps, removals first.

    A criterion with an existing id is changed: its text, and its command if one is given. Any other
    is added; without an id it gets the first free ``ACn``. Raises :class:`InputError` if a request
    makes no sense.
    """
    goal_id = document["metadata"]["id"]
    criteria = [dict(criterion) for criterion in document["objective"]["acceptance_criteria"]]
    remaining = _remaining(goal_id, criteria, changes.remove)
    first: list[Edit] = [(_CRITERIA, remaining)] if changes.remove else []
    constraints = document.get("constraints") or {}
    if changes.allow and not constraints.get("allowed_paths"):
        raise at_key("--allow", changes.allow[0]).invalid(
            "constraints.allowed_paths is empty, so every path is allowed already",
            f"to allow only some paths, write them into the file: flow goal amend {goal_id} --edit",
        )
    second = [
        *_criterion_edits(goal_id, remaining, criteria, changes),
        *_pattern_edits("allowed_paths", constraints.get("allowed_paths"), changes.allow),
        *_pattern_edits("denied_paths", constraints.get("denied_paths"), changes.deny),
    ]
    return first, second


def _remaining(
    goal_id: str, criteria: Sequence[dict[str, Any]], remove: Sequence[str]
) -> list[dict[str, Any]]:
    ids = [criterion["id"] for criterion in criteria]
    for name in remove:
        if name not in ids:
            raise at_key("--remove", name).invalid(
                f"{name!r:.60} is no criterion of the goal", f"it has {', '.join(ids[:20])}"
            )
    remaining = [criterion for criterion in criteria if criterion["id"] not in remove]
    if not remaining:
        raise at_key("--remove", remove[-1]).invalid(
            "no criterion would be left",
            f"a goal that nobody wants any more: flow goal clear {goal_id}",
        )
    return remaining


def _pattern_edits(key: str, before: Sequence[str] | None, added: Sequence[str]) -> list[Edit]:
    new = [pattern for pattern in dict.fromkeys(added) if pattern not in (before or ())]
    if not before:
        return [(("constraints", key), new)] if new else []
    return [
        (("constraints", key, place), pattern) for place, pattern in enumerate(new, len(before))
    ]


def _criterion_edits(
    goal_id: str,
    remaining: Sequence[dict[str, Any]],
    before: Sequence[dict[str, Any]],
    changes: RequestedChanges,
) -> Iterator[Edit]:
    places = {criterion["id"]: place for place, criterion in enumerate(remaining)}
    rows = [split_id(text, "--criterion") for text in changes.criteria]
    free = free_ids([*(criterion["id"] for criterion in before), *(name for name, _ in rows)])
    end, seen = len(remaining), set(changes.remove)
    for name, rest in rows:
        if name and name in seen:
            raise at_key("--criterion", f"{name}:{rest}").invalid(
                f"{name} is named twice, or removed as well", "name each criterion once"
            )
        seen.add(name)
        place = places.get(name)
        if place is not None and " :: " not in rest and rest.strip():
            yield (*_CRITERIA, place, "text"), rest.strip()
            continue
        criterion = _criterion(goal_id, name or next(free), rest)
        if place is None:
            yield (*_CRITERIA, end), criterion
            end += 1
        else:
            for key in ("text", "verification_command"):
                yield (*_CRITERIA, place, key), criterion[key]


def _criterion(goal_id: str, name: str, rest: str) -> dict[str, Any]:
    if " :: " not in rest:
        raise at_key("--criterion", rest).invalid(
            f"{visible(rest.strip()) or name!r:.100} has no command",
            f"{SHAPE}; for one that no command proves: flow goal amend {goal_id} --edit",
        )
    return parse_criterion(f"{name}:{rest}", fuzzy=False)
