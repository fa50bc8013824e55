"""Cases that people have labelled, for ``flow judge calibrate``."""

from __future__ import annotations

from flow.core.text.display import visible
from flow.errors import ContractError, Fault, in_file
from flow.startup.json import object_of
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_CASES = 10_000
KEYS = ("id", "label", "subject", "file", "rubric", "instructions", "by", "note")
"""Keys of a case. ``by`` and ``note`` are for people."""
LABELS = {"pass": True, "fail": False}
SUBJECT_REMEDY = "give a subject, or a file below the folder of this one"


class Case(NamedTuple):
    """One case that a person has passed or failed. Either ``subject`` or ``file`` is given."""

    id: str
    label: bool
    subject: Any
    file: str | None
    rubric: str | None
    instructions: str | None


def cases_of(document: Any, file: str) -> tuple[Case, ...]:
    """The cases of ``{rubric: NAME, cases: [...]}``, or of a list of them.

    Raises :class:`ContractError` with every fault.
    """
    faults: list[Fault] = []
    rows, rubric = document, None
    if isinstance(document, dict):
        rows, rubric = document.get("cases"), document.get("rubric")
        faults += _top_faults(document, file)
    if not isinstance(rows, list) or not 0 < len(rows) <= MOST_CASES:
        many = isinstance(rows, list) and len(rows)
        message = f"has {many} cases, more than {MOST_CASES}" if many else "has no cases"
        remedy = "split the file" if many else "give a list of {id, label, subject}"
        raise ContractError([*faults, _fault(file, "cases", message, remedy)])
    names: dict[str, int] = {}
    for place, row in enumerate(rows):
        faults += _case_faults(row, f"cases[{place}]", file)
        name = object_of(row).get("id")
        if isinstance(name, str) and names.setdefault(name, place) != place:
            message = f"is cases[{names[name]}]'s id too"
            faults.append(_fault(file, f"cases[{place}].id", message, "ids are unique"))
    if faults:
        raise ContractError(faults)
    return tuple(_case(row, rubric) for row in rows)


def _top_faults(document: Mapping[Any, Any], file: str) -> list[Fault]:
    known = "known here: rubric, cases"
    faults = [
        _fault(file, visible(str(key))[:80], "is not a known key", known)
        for key in document
        if key not in ("cases", "rubric")
    ]
    if not isinstance(document.get("rubric", ""), str):
        faults.append(_fault(file, "rubric", "is not text", "write a rubric's name"))
    return faults


def _case(row: Mapping[str, Any], rubric: str | None) -> Case:
    label = LABELS[row["label"]]
    named = row.get("rubric", rubric)
    return Case(
        row["id"], label, row.get("subject"), row.get("file"), named, row.get("instructions")
    )


def _case_faults(row: object, key: str, file: str) -> list[Fault]:
    if not isinstance(row, dict):
        return [_fault(file, key, "is no case", "write {id, label, subject}")]
    faults = []
    for name in row:
        if name not in KEYS:
            remedy = f"known here: {', '.join(KEYS)}"
            shown = visible(str(name))[:80]
            faults.append(_fault(file, f"{key}.{shown}", "is not a known key", remedy))
    for name in ("id", "file", "rubric", "instructions", "by", "note"):
        value = row.get(name)
        needed = name == "id"
        if (needed or name in row) and (not isinstance(value, str) or not value.strip()):
            message = "is missing" if name not in row else "is not text"
            faults.append(_fault(file, f"{key}.{name}", message, "write some text"))
    label = row.get("label")
    if not isinstance(label, str) or label not in LABELS:
        message = "is missing" if "label" not in row else f"is {label!r:.40}"
        faults.append(_fault(file, f"{key}.label", message, "what a person decided: pass or fail"))
    if ("subject" in row) == ("file" in row):
        message = "has both a subject and a file" if "file" in row else "has no subject"
        faults.append(_fault(file, key, message, SUBJECT_REMEDY))
    return faults


def _fault(file: str, key: str, message: str, remedy: str) -> Fault:
    return in_file(file, key).fault(message, remedy)
