"""From the document of a rubric file to a rubric (SPEC 9.2)."""

from __future__ import annotations

from flow.core.judging.rubric import rules
from flow.core.judging.rubric.model import Rubric, RubricCriterion
from flow.core.text.display import visible
from flow.core.text.near import nearest_or_all
from flow.errors import ContractError, Fault, in_file
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

READY_MADE = ("code-quality", "security", "test-coverage", "accessibility", "documentation")
"""The rubrics that come with Flow, by file name."""
_CAMEL = {"passingThreshold": "passing_threshold"}


def read_rubric(document: Any, file: str | None = None) -> tuple[Rubric, tuple[str, ...]]:
    """The rubric of a document, and warnings; camelCase keys are accepted.

    Raises :class:`ContractError` with every fault.
    """
    if not isinstance(document, dict):
        raise in_file(file).corrupt("not a rubric: it is no mapping", "give name and criteria")
    faults: list[Fault] = []
    plain = _plain(document, rules.KEYS, "", file, faults)
    if isinstance(plain.get("criteria"), list):
        plain["criteria"] = [
            _plain(item, rules.CRITERION_KEYS, f"criteria[{place}].", file, faults)
            if isinstance(item, dict)
            else item
            for place, item in enumerate(plain["criteria"])
        ]
    faults += rules.problems(plain, file)
    if faults:
        raise ContractError(faults)
    criteria = tuple(RubricCriterion(**criterion) for criterion in plain["criteria"])
    rubric = Rubric(plain["name"], criteria, plain.get("passing_threshold", 0.7))
    return rubric, tuple(rules.warnings(plain, file))


def _plain(
    document: Mapping[Any, Any],
    keys: tuple[str, ...],
    prefix: str,
    file: str | None,
    faults: list[Fault],
) -> dict[str, Any]:
    """The fields under Flow's own names of the keys; faults of the keys are added to ``faults``."""
    fields: dict[str, Any] = {}
    for key, value in document.items():
        own = _CAMEL.get(key, key) if isinstance(key, str) else key
        if own not in keys:
            shown = visible(str(key))[:80]
            remedy = nearest_or_all(str(key), keys)
            faults.append(in_file(file, f"{prefix}{shown}").fault("is not a known key", remedy))
        elif own in fields:
            message = f"is given twice, as {key} and in its other spelling"
            faults.append(in_file(file, f"{prefix}{own}").fault(message, "keep one of them"))
        else:
            fields[own] = value
    return fields
