"""The differences between two contracts, each with its class (SPEC 10)."""

from __future__ import annotations

from flow.core.amendment.rules import CRITERION, FIELDS, SECTIONS, Class, show, unordered
from flow.core.amendment.trust_diff import json_line
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


CRITERIA = "objective.acceptance_criteria"


class ContractChange(NamedTuple):
    """One difference between two contracts. ``key`` is its place, ``what`` describes it."""

    key: str
    kind: Class
    what: str

    def to_document(self) -> dict[str, str]:
        """The change as ``--json`` prints it."""
        return {"key": self.key, "class": self.kind, "what": self.what}

    def __str__(self) -> str:
        place = f"{self.key}: " if self.key else ""
        kind = "cannot be compared" if self.kind == "incomparable" else self.kind
        return f"{kind}: {place}{self.what}"


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[ContractChange, ...]:
    """Every difference between two contracts, with its class."""
    rated: list[ContractChange] = []
    for name in dict.fromkeys((*old, *new)):
        before, after = old.get(name), new.get(name)
        if name in SECTIONS and isinstance(before or {}, dict) and isinstance(after or {}, dict):
            rated += _section(name, before or {}, after or {})
        else:
            rated += _field_changes(name, name, before, after)
    return tuple(rated)


def overall(changes: Iterable[ContractChange]) -> Class:
    """The weakest class among ``changes``."""
    kinds = {change.kind for change in changes}
    order: tuple[Class, ...] = ("weakening", "incomparable", "strengthening")
    return next((kind for kind in order if kind in kinds), "neutral")


def amended(new: Mapping[str, Any], *olds: Mapping[str, Any]) -> tuple[str, ...]:
    """Ids of the criteria in ``new`` that are missing or different in one of ``olds``."""
    known = [
        {c["id"]: json_line(c) for c in old["objective"]["acceptance_criteria"]} for old in olds
    ]
    return tuple(
        c["id"]
        for c in new["objective"]["acceptance_criteria"]
        if any(forms.get(c["id"]) != json_line(c) for forms in known)
    )


def _section(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[ContractChange]:
    for key in dict.fromkeys((*old, *new)):
        path = f"{name}.{key}"
        if path == CRITERIA:
            yield from _criteria(old.get(key) or [], new.get(key) or [])
        else:
            yield from _field_changes(path, path, old.get(key), new.get(key))


def _field_changes(path: str, rule: str, old: Any, new: Any) -> Iterator[ContractChange]:
    """The differences of one field. A key without a value counts as absent."""
    if json_line(old) == json_line(new):
        return
    for kind, what in FIELDS.get(rule, unordered)(old, new):
        yield ContractChange(_shown_path(path), kind, what)


def _shown_path(path: str) -> str:
    return ".".join(show(part) for part in path.split("."))


def _criteria(old: list[Any], new: list[Any]) -> Iterator[ContractChange]:
    before, after = ({c["id"]: c for c in criteria} for criteria in (old, new))
    for name, criterion in before.items():
        place = f"{CRITERIA}[{name}]"
        if name not in after:
            yield ContractChange(place, "weakening", f"dropped: {show(criterion['text'])}")
            continue
        for key in dict.fromkeys((*criterion, *after[name])):
            yield from _field_changes(
                f"{place}.{key}", f"{CRITERION}.{key}", criterion.get(key), after[name].get(key)
            )
    for name, criterion in after.items():
        if name not in before:
            what = f"added: {show(criterion['text'])}"
            yield ContractChange(f"{CRITERIA}[{name}]", "strengthening", what)
    kept = [name for name in before if name in after]
    if kept != [name for name in after if name in before]:
        yield ContractChange(CRITERIA, "neutral", "in another order")
