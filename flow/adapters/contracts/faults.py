"""Every fault of a document, as people read it: key path, value, remedy.

``jsonschema`` finds them; this module words them. It is loaded only after a document was refused.
"""

from __future__ import annotations

from itertools import islice

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from flow.adapters.contracts import check
from flow.adapters.contracts.rules import Problem
from flow.adapters.contracts.text import MISSING, MOST_FAULTS, one_line
from flow.core.text.near import nearest, nearest_or_all
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flow.adapters.contracts.text import Path

MOST_VALUES = 100_000
"""Most values of a document whose faults are listed; that takes 10 µs and more each."""

LINE = (
    "one line of text",
    "put it on one line, without control characters",
)
SHAPES: dict[str, tuple[str, str]] = {
    r"^flow ": ("a command of Flow's", "write it whole: flow goal status"),
    r"^[a-z0-9][a-z0-9-]{0,63}$": (
        "a goal id",
        "use lower-case letters, digits and hyphens, at most 64 characters",
    ),
    r"^[A-Za-z0-9](?!.*\.\.)[A-Za-z0-9_.-]{0,127}$": (
        "a run id",
        "use letters, digits, '_', '.' and '-', without '..', at most 128 characters",
    ),
    r"^$|^[A-Za-z0-9](?!.*\.\.)[A-Za-z0-9_.-]{0,127}$": (
        "a run id",
        "use letters, digits, '_', '.' and '-', without '..', at most 128 characters",
    ),
    r"^[a-z0-9][a-z0-9_-]{0,199}$": (
        "an evidence id",
        "use lower-case letters, digits, '_' and '-', at most 200 characters",
    ),
    r"^[A-Z]+[0-9]+$": ("an upper-case prefix and a number", "like AC2"),
    r"^[0-9a-f]{64}$": ("a SHA-256", "64 lower-case hexadecimal digits"),
    r"^([1-9][0-9]{0,15}:)?[0-9a-f]{64}$": (
        "the head of a chain",
        "the number of entries, a colon and 64 lower-case hexadecimal digits",
    ),
    r"^[0-9a-f]{7,64}$": ("a commit id", "7 to 64 lower-case hexadecimal digits"),
    r"^[0-9a-f]{40}([0-9a-f]{24})?$": ("a full commit id", "40 lower-case hexadecimal digits"),
    r"^(?!-)[^\u0000-\u0020\u007f]+$": (
        "a git ref",
        "no spaces, no control characters, no '-' at the start",
    ),
    r"^(?!/)(?!(?:[^\u0000]*/)?\.\.(?:/|$))[^\u0000-\u001f\u007f]+$": (
        "a path below the top level",
        "a relative path without '..'",
    ),
    r"^(?!\.)[^/\\\u0000-\u001f\u007f]{1,255}$": (
        "a file name in the sidecar's own folder",
        "a bare name, without '/' and without a '.' at the start",
    ),
    r"^[a-z][a-z0-9_-]{0,63}$": ("an event type", "lower-case letters, digits, '_' and '-'"),
    r"^(?! *$)[^\u0000-\u001f\u007f]+$": LINE,
}
"""Pattern → its meaning, and the remedy. A test checks that it is complete."""

TYPES = {
    "object": "a mapping of keys and values",
    "array": "a list",
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}


def schema_faults(kind: str, document: Any) -> list[Problem]:
    """Every fault that the schema finds, at most ``MOST_FAULTS``, in ``jsonschema``'s order."""
    schema, root = check.schema_of(kind)
    if _count_values(document) > MOST_VALUES:
        return [Problem((), f"holds more than {MOST_VALUES} values", "shorten it", None)]
    errors = _validator({**schema, "$defs": root["$defs"]}).iter_errors(document)
    by_place: dict[tuple[Path, str], Problem] = {}
    for error in islice(errors, MOST_FAULTS + 1):
        if error.validator == "contains" and not error.instance:
            continue  # an empty list is a fault of its own
        problem = _problem(error, root)
        by_place.setdefault((problem.path, problem.message), problem)
    problems = list(by_place.values())
    if len(problems) > MOST_FAULTS:
        more = f"has more than {MOST_FAULTS} faults"
        problems[MOST_FAULTS:] = [Problem((), more, "these are the first ones", None)]
    return problems


def _count_values(document: Any) -> int:
    count, waiting = 0, [document]
    while waiting and count <= MOST_VALUES:
        value = waiting.pop()
        count += 1
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return count


def _validator(schema: Mapping[str, Any]) -> Any:
    """``jsonschema``'s 2020-12 validator, with Flow's rules for ``$``, formats, whole numbers."""

    def pattern(_: Any, wanted: str, instance: Any, __: Any) -> Iterator[ValidationError]:
        if isinstance(instance, str) and not check.pattern_search(wanted)(instance):
            yield ValidationError("pattern")

    def required(_: Any, names: list[str], instance: Any, __: Any) -> Iterator[ValidationError]:
        for name in names if isinstance(instance, dict) else ():
            if name not in instance:
                yield ValidationError(name)

    ordinary = Draft202012Validator.VALIDATORS["additionalProperties"]

    def additional(v: Any, rule: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if rule is not False:
            yield from ordinary(v, rule, instance, schema)
            return
        for name in instance if isinstance(instance, dict) else ():
            if name not in schema["properties"]:
                yield ValidationError(name)

    types = Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    )
    formats = FormatChecker(formats=())
    formats.checks("date-time")(
        lambda value: not isinstance(value, str) or check.is_date_time(value)
    )
    strict: Any = extend(  # type: ignore[no-untyped-call]
        Draft202012Validator,
        {"pattern": pattern, "required": required, "additionalProperties": additional},
        type_checker=types,
    )
    # At a "$schema", jsonschema would continue with the ordinary class for that draft.
    bare = {key: value for key, value in schema.items() if key not in ("$schema", "$id")}
    return strict(bare, format_checker=formats)


def _problem(error: ValidationError, root: Mapping[str, Any]) -> Problem:
    path: Path = tuple(error.absolute_path)
    value = error.instance
    rule = error.validator
    argument: Any = error.validator_value
    schema: Any = error.schema
    if rule == "required":
        return _missing((*path, error.message), schema, root)
    if rule == "additionalProperties":
        name = error.message
        return Problem(
            (*path, name),
            "is not a known key here",
            nearest_or_all(name, schema["properties"]),
            name,
        )
    if rule == "type":
        return _type_fault(path, value, argument, schema)
    if rule == "pattern":
        if argument == r"\S" or not str(value).strip():
            return Problem(
                path,
                "is blank" if value else "is empty",
                "write something, or take the key out",
                value,
            )
        if argument == r"^[^\u0000]*$":
            return Problem(path, "holds a NUL character", "take it out", value)
        shape, remedy = SHAPES[argument]
        return Problem(path, f"{one_line(value)} is not {shape}", remedy, value)
    if rule == "enum":
        close = nearest(value, argument) if isinstance(value, str) else None
        remedy = f"did you mean {close}?" if close else f"one of {', '.join(argument)}"
        return Problem(path, f"{one_line(value)} is not one of its values", remedy, value)
    if rule == "const":
        return Problem(
            path, f"{one_line(value)} is not {one_line(argument)}", f"write {argument}", value
        )
    if rule == "format":
        return Problem(
            path, f"{one_line(value)} is not a date and time", "like 2026-03-01T10:15:00Z", value
        )
    if rule == "uniqueItems":
        return Problem(path, "names something twice", "name each once", None)
    return Problem(path, *_bound_fault(str(rule), argument, value), value)


def _bound_fault(rule: str, limit: Any, value: Any) -> tuple[str, str]:
    if rule == "contains":
        return "has no criterion that must pass", "leave must_pass out, or true, in one at least"
    if rule == "anyOf":
        return "is none of the documents of a run", "an event, a baseline, a proposal or a loop"
    if rule in ("minItems", "maxItems"):
        few = rule == "minItems"
        remedy = f"give {'at least' if few else 'at most'} {limit}"
        return ("is an empty list" if not value else f"has {len(value)} entries"), remedy
    if rule == "maxLength":
        return f"has {len(value)} characters", f"at most {limit}"
    words = {"minimum": "at least", "maximum": "at most", "exclusiveMinimum": "more than"}
    return f"{one_line(value)} is out of range", f"{words[rule]} {limit}"


def _type_fault(path: Path, value: Any, names: Any, schema: Mapping[str, Any]) -> Problem:
    wanted = [names] if isinstance(names, str) else [name for name in names if name != "null"]
    what = " or ".join(TYPES[name] for name in wanted)
    if value is None:
        return Problem(
            path, f"is empty, and has to be {what}", _example(schema) or "write a value", value
        )
    if "string" in wanted and isinstance(value, (bool, int, float)):
        return Problem(path, f"{one_line(value)} is not {what}", "put it in quotes", value)
    if wanted == ["boolean"]:
        return Problem(
            path,
            f"{one_line(value)} is not {what}",
            "write true or false, without quotes",
            value,
        )
    return Problem(
        path, f"{one_line(value)} is not {what}", _example(schema) or f"write {what}", value
    )


def _missing(path: Path, schema: Mapping[str, Any], root: Mapping[str, Any]) -> Problem:
    name = path[-1]
    inner = check.resolve(schema.get("properties", {}).get(name, {}), root)
    if "const" in inner:
        remedy = f"add {name}: {inner['const']}"
    elif "examples" in inner:
        remedy = f"add it, like {name}: {inner['examples'][0]}"
    elif "enum" in inner:
        remedy = f"add it: one of {', '.join(inner['enum'])}"
    else:
        remedy = "add it"
    return Problem(path, MISSING, remedy, None)


def _example(schema: Mapping[str, Any]) -> str:
    return f"like {schema['examples'][0]}" if "examples" in schema else ""
