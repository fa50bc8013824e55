"""How large a goal file may be (SPEC 1): what Flow writes into it does not count.

So whatever people can write and Flow can read, Flow can also evaluate, confirm and clear: a result
is never lost because the file that it goes into is full. Sidecars repeat what a goal says, so they
may be larger than it.
"""

from __future__ import annotations

import re

from flow.adapters.contracts.nodes import yaml_tree
from flow.adapters.contracts.strict_yaml import read_yaml
from flow.core import layout
from flow.core.drafting.completing import SCHEMA_LINE
from flow.core.goal.model import RESULT_FIELDS
from flow.errors import in_file
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from flow.adapters.contracts.nodes import YamlNode
    from flow.adapters.contracts.strict_yaml import ParsedYaml
    from flow.errors import ContractError

DENSE = layout.GOAL_TEXT_LIMIT // 2
"""Bytes from which on a file is looked at here; a shorter one has fewer values than this."""
_MOST_VALUES = DENSE + 8192
"""Lines and commas: what Flow adds to a file must not let it take longer to read."""
_VALUE = re.compile(rb",|\n *[^\s#]")

_LIFECYCLE = ("status", "turns_evaluated", "last_evaluation")
_SCOPE = ("run_id", "base_commit")


def read_large(kind: str, data: bytes, *, file: str, what: str) -> ParsedYaml:
    """Read a goal or a sidecar of more than :data:`DENSE` bytes.

    Raises :class:`ContractError` where it is too large even without what Flow wrote.
    """
    if sum(1 for _ in _VALUE.finditer(data)) > _MOST_VALUES:
        raise _too_large(file, what, f"it has more than {_MOST_VALUES} lines and commas")
    limit = layout.GOAL_LIMIT if kind == "goal" else layout.SIDECAR_LIMIT
    reading = read_yaml(data, file=file, what=what, limit=limit)
    if kind != "goal" or len(data) <= layout.GOAL_TEXT_LIMIT:
        return reading
    own = 0 if reading.faults else written_by_flow(data.decode("utf-8"), file)
    size = len(data) - own
    if size > layout.GOAL_TEXT_LIMIT:
        besides = ", besides what Flow wrote there" if own else ""
        fault = f"it has {size} bytes{besides}, more than {layout.GOAL_TEXT_LIMIT}"
        raise _too_large(file, what, fault)
    return reading


def _too_large(file: str, what: str, fault: str) -> ContractError:
    remedy = "shorten its texts, or make two goals of it"
    return in_file(file).corrupt(f"not a {what}: {fault}", remedy)


def written_by_flow(text: str, file: str) -> int:
    """Bytes of results in a goal's text, which the strict reader has passed.

    Zero for a goal that Flow has not begun: then all of it is people's.
    """
    root = yaml_tree(text, file)
    scope, lifecycle = _value(root, "scope"), _value(root, "lifecycle")
    if _value(scope, "run_id") is None:
        return 0
    whole = _bytes(text, lifecycle, _LIFECYCLE) + _bytes(text, scope, _SCOPE)
    criteria = _value(_value(root, "objective"), "acceptance_criteria")
    rows = criteria.entries if criteria is not None else ()
    results = sum(min(_bytes(text, row, RESULT_FIELDS), layout.RESULTS_LIMIT) for _, row in rows)
    head = len(SCHEMA_LINE) + 1 if text.startswith(SCHEMA_LINE) else 0
    return head + min(whole, layout.LIFECYCLE_LIMIT) + results


def _value(mapping: YamlNode | None, key: str) -> YamlNode | None:
    for name, value in mapping.entries if mapping is not None else ():
        if name is not None and name.value == key:
            return value
    return None


def _bytes(text: str, mapping: YamlNode | None, keys: Collection[str]) -> int:
    """Bytes of these entries of a mapping, each on a line of its own, or after a comma."""
    if mapping is None:
        return 0
    size = 0
    newline = 2 if "\r\n" in text[: text.find("\n") + 1] else 1
    for key, value in mapping.entries:
        if key is not None and key.value in keys:
            around = 2 if mapping.is_flow else key.column + newline
            size += around + len(text[key.start : value.leaf.end].rstrip().encode("utf-8"))
    return size
