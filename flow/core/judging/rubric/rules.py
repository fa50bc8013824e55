"""The rules of a rubric: its faults, and its warnings (SPEC 9.2).

The rules check a plain mapping with the keys ``name``, ``criteria`` and ``passing_threshold``: the
same rules for a file and for a value made in Python.
"""

from __future__ import annotations

import re

from flow.core.text.display import visible
from flow.errors import Fault, in_file
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MOST_CRITERIA = 1000
NAME_LIMIT = 200
DESCRIPTION_LIMIT = 10_000
"""Characters that are refused; from :data:`LONG_DESCRIPTION` on there is a warning."""
LONG_DESCRIPTION = 200
WEIGHT_LIMIT = 1_000_000_000

KEYS = ("name", "criteria", "passing_threshold")
CRITERION_KEYS = ("name", "description", "weight", "threshold")
_KEBAB = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def problems(document: Mapping[str, Any], file: str | None = None) -> list[Fault]:
    """Every fault of a rubric, in its order."""
    faults = list(_text("name", document.get("name"), NAME_LIMIT, file, one_line=True))
    criteria = document.get("criteria")
    if not isinstance(criteria, list) or not criteria:
        message = "has no criterion" if criteria in ([], ()) else "is missing, or is no list"
        remedy = "give at least one, like {name: readability, description: ...}"
        faults.append(in_file(file, "criteria").fault(message, remedy))
    elif len(criteria) > MOST_CRITERIA:
        message = f"has {len(criteria)} criteria, more than {MOST_CRITERIA}"
        faults.append(in_file(file, "criteria").fault(message, "take some out"))
    else:
        faults += _criteria(criteria, file)
    if "passing_threshold" in document:
        faults += _share("passing_threshold", document["passing_threshold"], file)
    return faults


def warnings(document: Mapping[str, Any], file: str | None = None) -> list[str]:
    """Warnings about allowed, unwise content: names, and descriptions too long to be specific."""
    faults = []
    for place, criterion in enumerate(document["criteria"]):
        key = f"criteria[{place}]"
        if not _KEBAB.fullmatch(criterion["name"]):
            message = f"'{visible(criterion['name'])[:80]}' is not in kebab-case"
            faults.append(in_file(file, f"{key}.name").fault(message, "like error-handling"))
        length = len(criterion["description"])
        if length >= LONG_DESCRIPTION:
            message = f"has {length} characters, {LONG_DESCRIPTION} or more"
            remedy = "say less, or make two criteria of it"
            faults.append(in_file(file, f"{key}.description").fault(message, remedy))
    return [str(warning) for warning in faults]


def _criteria(criteria: list[Any], file: str | None) -> Iterator[Fault]:
    first: dict[str, int] = {}
    for place, criterion in enumerate(criteria):
        key = f"criteria[{place}]"
        if not isinstance(criterion, dict):
            remedy = "write it as {name: ..., description: ...}"
            yield in_file(file, key, criterion).fault("is no criterion", remedy)
            continue
        name = criterion.get("name")
        yield from _text(f"{key}.name", name, NAME_LIMIT, file, one_line=True)
        yield from _text(
            f"{key}.description", criterion.get("description"), DESCRIPTION_LIMIT, file
        )
        if isinstance(name, str):
            if name in first:
                message = f"{_show(name)} is criteria[{first[name]}]'s name too"
                remedy = "names are unique"
                yield in_file(file, f"{key}.name", name).fault(message, remedy)
            first.setdefault(name, place)
        if "weight" in criterion:
            yield from _weight(f"{key}.weight", criterion["weight"], file)
        if criterion.get("threshold") is not None:
            yield from _share(f"{key}.threshold", criterion["threshold"], file)


def _text(
    key: str, value: object, most: int, file: str | None, *, one_line: bool = False
) -> Iterator[Fault]:
    if not isinstance(value, str):
        message = "is missing" if value is None else f"{_show(value)} is not text"
        yield in_file(file, key, value).fault(message, "write some text")
    elif not value.strip():
        yield in_file(file, key).fault("is blank", "write some text")
    elif len(value) > most:
        message = f"has {len(value)} characters, more than {most}"
        yield in_file(file, key).fault(message, "shorten it")
    elif (bad := visible(value) != value if one_line else _hidden(value)) or bad:
        message = f"{_show(value)} holds control, invisible or bidirectional characters"
        yield in_file(file, key, visible(value)).fault(message, "take them out")


def _hidden(text: str) -> bool:
    """Whether a text of several lines contains invisible characters."""
    return any(visible(part) != part for part in re.split("[\n\t]", text))


def _weight(key: str, value: object, file: str | None) -> Iterator[Fault]:
    if not _number(value) or not 0 < value <= WEIGHT_LIMIT:  # type: ignore[operator]
        message = f"{_show(value)} is not a weight"
        remedy = "a number above 0; 1 where all weigh the same"
        yield in_file(file, key, _show(value)).fault(message, remedy)


def _share(key: str, value: object, file: str | None) -> Iterator[Fault]:
    if not _number(value) or not 0 <= value <= 1:  # type: ignore[operator]
        message = f"{_show(value)} is not a score"
        remedy = "a number from 0 to 1, like 0.7"
        yield in_file(file, key, _show(value)).fault(message, remedy)


def _number(value: object) -> bool:
    """Whether the value is a number; NaN is one, and in no range."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _show(value: object) -> str:
    if isinstance(value, int) and value.bit_length() > 128:
        return "a huge number"
    return visible(repr(value))[:80]
