"""JSON Schemas that callers bring (``result_format``), and values checked against them."""

from __future__ import annotations

import re
from itertools import islice

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from flow.adapters.contracts.text import DEPTH, dotted_path, one_line
from flow.core.text.display import names
from flow.errors import InputError, at_key
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_VALUES = 5_000
"""Most values of a schema once its references are put in."""


def self_contained(schema: Mapping[str, Any]) -> dict[str, Any]:
    """``schema`` with each local ``$ref`` replaced by its target.

    A judge's backend gets it as part of a larger schema, where a reference would lead elsewhere,
    and nothing is ever fetched. Raises :class:`InputError` for anything but a JSON Schema, for a
    reference to another document, and for one that leads back to itself.
    """
    inlined = _Inliner(schema).inline(schema, ())
    for key in ("$schema", "$id", "$defs", "definitions"):
        inlined.pop(key, None)
    try:
        Draft202012Validator.check_schema(inlined)
    except SchemaError as error:
        place = dotted_path(tuple(error.absolute_path)) or "the schema"
        raise _no_schema(f"{place}: {error.message[:200]}") from None
    return dict(inlined)


def misfits(schema: Mapping[str, Any], value: object) -> list[str]:
    """Places where ``value`` breaks a schema from :func:`self_contained`, as sentences.

    Empty if it fits.
    """
    errors = islice(Draft202012Validator(dict(schema)).iter_errors(value), 5)
    return [
        f"{dotted_path(tuple(error.absolute_path)) or 'it'}: {_error_text(error)}"
        for error in errors
    ]


def _error_text(error: Any) -> str:
    rule, wanted, value = error.validator, error.validator_value, error.instance
    if rule == "required":
        return str(error.message)[:200]
    if rule == "enum":
        return f"{one_line(value)} is none of {names([*map(one_line, wanted)])}"
    if rule == "additionalProperties" and wanted is False:
        named, patterns = (error.schema.get(key, {}) for key in ("properties", "patternProperties"))
        known = {key for key in value if key in named or any(re.search(p, key) for p in patterns)}
        return f"it may not hold {names([one_line(key) for key in value if key not in known])}"
    if rule in ("minItems", "maxItems"):
        bound = "at least" if rule == "minItems" else "at most"
        return f"has {len(value)} entries, and needs {bound} {wanted}"
    return f"{one_line(value)} does not fit {rule}: {one_line(wanted)}"


class _Inliner:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._left = MOST_VALUES

    def inline(self, value: Any, seen: tuple[str, ...], depth: int = 0) -> Any:
        self._left -= 1
        if self._left < 0 or depth > DEPTH:
            raise _no_schema(f"it has more than {MOST_VALUES} values, or nests too deeply")
        if isinstance(value, list | tuple):
            return [self.inline(item, seen, depth + 1) for item in value]
        if not isinstance(value, dict):
            return value
        reference = value.get("$ref")
        if isinstance(reference, str):
            if reference in seen:
                raise _no_schema(f"{one_line(reference)} leads back to itself: recursive types")
            target = self.inline(self._target(reference), (*seen, reference), depth + 1)
            rest = {key: item for key, item in value.items() if key != "$ref"}
            beside = self.inline(rest, seen, depth + 1)
            return {**target, **beside} if isinstance(target, dict) else target
        return {
            str(key): item
            if key in ("enum", "const", "default", "examples")
            else self.inline(item, seen, depth + 1)
            for key, item in value.items()
            if depth or key not in ("$defs", "definitions")
        }

    def _target(self, reference: str) -> Any:
        if reference != "#" and not reference.startswith("#/"):
            raise _no_schema(f"{one_line(reference)} is not in the schema itself")
        target: Any = self._root
        for part in reference.split("/")[1:]:
            step = part.replace("~1", "/").replace("~0", "~")
            if isinstance(target, list) and step.isdecimal() and int(step) < len(target):
                target = target[int(step)]
            elif isinstance(target, dict) and step in target:
                target = target[step]
            else:
                raise _no_schema(f"{one_line(reference)} leads nowhere")
        return target


def _no_schema(why: str) -> InputError:
    return at_key("result_format").invalid(
        f"not a JSON Schema that a judge can be given: {why}",
        "give a JSON Schema without recursion or outside references, or a typed model",
    )
