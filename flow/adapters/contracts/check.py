"""Whether a document keeps its schema: a quick answer, made from the schema files themselves.

``jsonschema`` costs ten bare interpreter starts to import. So the schema is turned into plain
Python closures, for the keywords that Flow's schemas use, and those say yes or no. Only after a no
does :mod:`flow.adapters.contracts.faults` ask ``jsonschema`` for every fault; a test holds the two
equal over a corpus. An unknown keyword is an error here, so the schemas cannot grow beyond these
checks.
"""

from __future__ import annotations

from flow.adapters.contracts import schemas
from flow.core.goal import ids
from flow.startup import re
from flow.startup.json import texts_of
from flow.startup.sha import is_digest
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from flow.adapters.contracts.text import Path

    Test = Callable[[Any, "list[bool] | None"], bool]
    """Test of a value. The list gets an item for a key of an object that its schema does not name.
    """

KINDS: dict[str, tuple[str, str | None]] = {
    "goal": ("goal", None),
    "evidence": ("evidence", None),
    "verdict": ("verdict", None),
    "run": ("run", None),
    "event": ("run", "event"),
    "baseline": ("run", "baseline"),
    "proposal": ("run", "proposal"),
    "loop": ("run", "loop"),
    "scorecard": ("scorecard", None),
}
"""Kind of document → schema file, and the definition in it (None: the file's top)."""

ANNOTATIONS = frozenset(
    ("$schema", "$id", "$comment", "$defs", "title", "description", "default", "examples")
)


def _is_hex(text: str) -> bool:
    return not text.strip("0123456789abcdef")


def _is_sized_digest(text: str) -> bool:
    """Whether ``text`` is a digest, alone or after a size in bytes and a colon."""
    size, colon, digest = text.rpartition(":")
    sized = 0 < len(size) <= 16 and size[0] != "0" and not size.strip(ids.DIGITS)
    return is_digest(digest) and (sized or not colon)


_CONTROLS = frozenset(map(chr, [*range(32), 127]))


def _is_one_line(text: str) -> bool:
    """Whether ``text`` has something other than spaces, on one line."""
    return bool(text.strip(" ")) and _CONTROLS.isdisjoint(text)


def _is_inner_path(text: str) -> bool:
    """Whether ``text`` is a relative path that leads to no folder above."""
    relative = text != "" and text[0] != "/" and ".." not in text.split("/")
    return relative and _CONTROLS.isdisjoint(text)


def _is_file_name(text: str) -> bool:
    """Whether ``text`` is a name of up to 255 characters without a leading dot or a separator."""
    named = 0 < len(text) <= 255 and text[0] != "."
    return named and _CONTROLS.isdisjoint(text) and "/" not in text and "\\" not in text


PLAIN: Mapping[str, Callable[[str], object]] = {
    r"\S": str.strip,
    r"^(?! *$)[^\u0000-\u001f\u007f]+$": _is_one_line,
    r"^[0-9a-f]{40}([0-9a-f]{24})?$": lambda text: len(text) in {40, 64} and _is_hex(text),
    r"^(?!/)(?!(?:[^\u0000]*/)?\.\.(?:/|$))[^\u0000-\u001f\u007f]+$": _is_inner_path,
    r"^[^\u0000]*$": lambda text: "\0" not in text,
    r"^(?!\.)[^/\\\u0000-\u001f\u007f]{1,255}$": _is_file_name,
    r"^[0-9a-f]{64}$": is_digest,
    r"^([1-9][0-9]{0,15}:)?[0-9a-f]{64}$": _is_sized_digest,
    f"^$|^{ids.RUN_ID.pattern}$": lambda text: not text or ids.RUN_ID.fits(text),
    **{f"^{named.pattern}$": named.fits for named in (ids.GOAL_ID, ids.RUN_ID)},
    **{f"^{named.pattern}$": named.fits for named in (ids.EVIDENCE_ID, ids.CRITERION_ID)},
}
"""Patterns of the schemas that a start meets, each with a check that loads no `re`."""
_searches: dict[str, Callable[[str], object]] = {}
_compiled: dict[str, Test] = {}


def schema_of(kind: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The schema that a kind of document keeps, and the schema file's root (for its ``$defs``)."""
    name, definition = KINDS[kind]
    root = schemas.load(name)
    return (root["$defs"][definition] if definition else root), root


def accepts(kind: str, document: object) -> tuple[bool, bool]:
    """Whether the schema takes ``document``, and whether it may hold unknown keys to warn about."""
    if kind not in _compiled:
        schema, root = schema_of(kind)
        _compiled[kind] = _Compiler(root).test(schema)
    unknown: list[bool] = []
    return _compiled[kind](document, unknown), bool(unknown)


def pattern_search(pattern: str) -> Callable[[str], object]:
    """The pattern's search, with ``$`` only at the very end: Python's fits before a newline."""
    if pattern not in _searches:
        if pattern in PLAIN:
            _searches[pattern] = PLAIN[pattern]
        elif pattern[0] + pattern[-1] == "^$" and not {"|", "$"} & {*pattern[1:-1]}:
            _searches[pattern] = re.compile(pattern[1:-1]).fullmatch
        else:
            _searches[pattern] = re.compile(pattern.replace("$", r"\Z")).search
    return _searches[pattern]


def is_date_time(text: str) -> bool:
    """Whether ``text`` is a real date and time of RFC 3339, section 5.6 (leap seconds included)."""
    if len(text) < 20 or not text.isascii() or text[4] + text[7] + text[13] + text[16] != "--::":
        return False
    digits = text[:4] + text[5:7] + text[8:10] + text[11:13] + text[14:16] + text[17:19]
    if not digits.isdigit() or text[10] not in "Tt":
        return False
    year, month, day, hour, minute, second = (
        int(digits[:4]),
        *(int(digits[place : place + 2]) for place in range(4, 14, 2)),
    )
    zone = text[19:]
    if zone[0] == ".":
        rest = zone[1:].lstrip("0123456789")
        if len(rest) == len(zone) - 1:
            return False
        zone = rest
    offset = _utc_offset(zone)
    if offset is None or not (1 <= month <= 12 and hour <= 23 and minute <= 59):
        return False
    leap_year = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = (31, 29 if leap_year else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]
    if not 1 <= day <= days:
        return False
    # A leap second comes at the end of a day in UTC.
    return second <= 59 or (second == 60 and (hour * 60 + minute - offset) % 1440 == 1439)


def _utc_offset(zone: str) -> int | None:
    """Minutes east of UTC; None if ``zone`` is no time offset."""
    if zone in ("Z", "z"):
        return 0
    if len(zone) != 6 or zone[0] not in "+-" or zone[3] != ":":
        return None
    digits = zone[1:3] + zone[4:6]
    if not digits.isdigit() or int(digits[:2]) > 23 or int(digits[2:]) > 59:
        return None
    minutes = int(digits[:2]) * 60 + int(digits[2:])
    return -minutes if zone[0] == "-" else minutes


def unknown_keys(
    schema: Mapping[str, Any], root: Mapping[str, Any], value: Any, path: Path = ()
) -> Iterator[tuple[Path, list[str]]]:
    """The keys that an object holds and its schema does not name, with the names it has."""
    schema = resolve(schema, root)
    if isinstance(value, list):
        for place, item in enumerate(value):
            yield from unknown_keys(schema.get("items", {}), root, item, (*path, place))
    elif isinstance(value, dict) and "properties" in schema:
        known = schema["properties"]
        for key, item in value.items():
            if key in known:
                yield from unknown_keys(known[key], root, item, (*path, key))
            elif "additionalProperties" not in schema:
                yield (*path, key), list(known)


def resolve(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema that ``$ref`` names, overlaid with the keys beside the ``$ref``."""
    while "$ref" in schema:
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**root["$defs"][schema["$ref"].removeprefix("#/$defs/")], **beside}
    return schema


class _Compiler:
    """Turns a schema into a closure. Only the shapes that Flow's schemas have are supported."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self.root = root
        self.named: dict[str, Test] = {}

    def test(self, schema: Mapping[str, Any]) -> Test:
        names = schema.get("type", ())
        kinds = frozenset((names,) if isinstance(names, str) else names)
        if kinds and kinds <= _TEXTS and _OF_TEXTS.issuperset(schema):
            return _text_test(schema.get("pattern"), schema.get("maxLength"), "null" in kinds)
        if kinds and kinds <= _NUMBERS and _OF_NUMBERS.issuperset(schema):
            return _number_test(kinds, schema.get("minimum"), schema.get("maximum"))
        tests = [
            getattr(self, "_" + keyword.removeprefix("$"))(argument, schema)
            for keyword, argument in schema.items()
            if keyword not in ANNOTATIONS
            and keyword not in ("then", "required", "additionalProperties")
        ]
        if "properties" not in schema and schema.keys() & {"required", "additionalProperties"}:
            tests.append(self._properties({}, schema))
        if len(tests) == 1:
            only: Test = tests[0]
            return only
        return _all(tests)

    def _ref(self, name: str, _: Mapping[str, Any]) -> Test:
        if name not in self.named:
            self.named[name] = self.test(self.root["$defs"][name.removeprefix("#/$defs/")])
        return self.named[name]

    def _type(self, names: str | list[str], _: Mapping[str, Any]) -> Test:
        types = {
            "object": (dict,),
            "array": (list,),
            "string": (str,),
            "integer": (int,),
            "number": (int, float),
            "null": (type(None),),
            "boolean": (bool,),
        }
        wanted = [names] if isinstance(names, str) else names
        allowed = tuple(kind for name in wanted for kind in types[name])
        if "boolean" in wanted or int not in allowed:
            return lambda value, _: isinstance(value, allowed)
        return lambda value, _: isinstance(value, allowed) and not isinstance(value, bool)

    def _const(self, wanted: Any, _: Mapping[str, Any]) -> Test:
        return lambda value, _: type(value) is type(wanted) and value == wanted

    def _enum(self, wanted: list[str], _: Mapping[str, Any]) -> Test:
        names = frozenset(wanted)
        return lambda value, _: isinstance(value, str) and value in names

    def _pattern(self, pattern: str, _: Mapping[str, Any]) -> Test:
        # Compiled when first used: most documents meet few of the patterns.
        return lambda value, _: not isinstance(value, str) or bool(pattern_search(pattern)(value))

    def _format(self, name: str, _: Mapping[str, Any]) -> Test:
        if name != "date-time":
            raise ValueError(f"the format {name} has no check")
        return lambda value, _: not isinstance(value, str) or is_date_time(value)

    def _maxLength(self, most: int, _: Mapping[str, Any]) -> Test:  # noqa: N802
        return lambda value, _: not isinstance(value, str) or len(value) <= most

    def _minimum(self, least: float, _: Mapping[str, Any]) -> Test:
        return lambda value, _: not _is_number(value) or value >= least

    def _exclusiveMinimum(self, least: float, _: Mapping[str, Any]) -> Test:  # noqa: N802
        return lambda value, _: not _is_number(value) or value > least

    def _maximum(self, most: float, _: Mapping[str, Any]) -> Test:
        return lambda value, _: not _is_number(value) or value <= most

    def _minItems(self, least: int, _: Mapping[str, Any]) -> Test:  # noqa: N802
        return lambda value, _: not isinstance(value, list) or len(value) >= least

    def _maxItems(self, most: int, _: Mapping[str, Any]) -> Test:  # noqa: N802
        return lambda value, _: not isinstance(value, list) or len(value) <= most

    def _uniqueItems(self, _on: bool, schema: Mapping[str, Any]) -> Test:  # noqa: N802
        # Only strings are compared: the items have to be strings, and others fail that anyway.
        if resolve(schema["items"], self.root)["type"] != "string":
            raise ValueError("uniqueItems is known for lists of strings only")

        def unique(value: Any, _: list[bool] | None) -> bool:
            texts = texts_of(value)
            return len(set(texts)) == len(texts)

        return unique

    def _items(self, schema: Mapping[str, Any], _: Mapping[str, Any]) -> Test:
        test = self.test(schema)

        def each(value: Any, unknown: list[bool] | None) -> bool:
            if isinstance(value, list):
                for item in value:
                    if not test(item, unknown):
                        return False
            return True

        return each

    def _contains(self, schema: Mapping[str, Any], _: Mapping[str, Any]) -> Test:
        test = self.test(schema)
        return lambda value, _: (
            not isinstance(value, list) or any(test(item, None) for item in value)
        )

    def _not(self, schema: Mapping[str, Any], _: Mapping[str, Any]) -> Test:
        test = self.test(schema)
        return lambda value, _: not test(value, None)

    def _properties(self, properties: Mapping[str, Any], schema: Mapping[str, Any]) -> Test:
        tests: dict[str, Test] = {}
        required = frozenset(schema.get("required", ()))
        extra = schema.get("additionalProperties")
        other = self.test(extra) if isinstance(extra, dict) else None

        def members(value: Any, unknown: list[bool] | None) -> bool:
            if not isinstance(value, dict):
                return True
            if not required <= value.keys():
                return False
            for key, item in value.items():
                test = tests.get(key)
                if test is None and key in properties:
                    # Compiled when first met: most documents have few of the possible keys.
                    test = tests[key] = self.test(properties[key])
                elif test is None:
                    test = other
                if test is not None:
                    if not test(item, unknown):
                        return False
                elif extra is False:
                    return False
                elif extra is None and unknown is not None:
                    unknown.append(True)
            return True

        return members

    def _anyOf(self, choices: list[Mapping[str, Any]], _: Mapping[str, Any]) -> Test:  # noqa: N802
        tests = [self.test(schema) for schema in choices]
        return lambda value, _: any(test(value, None) for test in tests)

    def _allOf(self, parts: list[Mapping[str, Any]], _: Mapping[str, Any]) -> Test:  # noqa: N802
        all_of = _all([self.test(schema) for schema in parts])
        return lambda value, _: all_of(value, None)

    def _if(self, condition: Mapping[str, Any], schema: Mapping[str, Any]) -> Test:
        when, then = self.test(condition), self.test(schema["then"])
        return lambda value, _: not when(value, None) or then(value, None)


_TEXTS = frozenset(("string", "null"))
_OF_TEXTS = ANNOTATIONS | {"type", "pattern", "maxLength"}
_NUMBERS = frozenset(("integer", "number", "boolean", "null"))
_OF_NUMBERS = ANNOTATIONS | {"type", "minimum", "maximum"}


def _text_test(pattern: str | None, most: int | None, null: bool) -> Test:
    """One call for what most values are: a text, its length and its pattern."""

    def is_such_text(value: Any, _: list[bool] | None) -> bool:
        if not isinstance(value, str):
            return null and value is None
        if most is not None and len(value) > most:
            return False
        return pattern is None or bool(pattern_search(pattern)(value))

    return is_such_text


def _number_test(kinds: frozenset[str], least: float | None, most: float | None) -> Test:
    """One call for a number, its bounds, and what may stand in its place."""
    null, boolean = "null" in kinds, "boolean" in kinds
    allowed = (int, float) if "number" in kinds else (int,) if "integer" in kinds else ()

    def is_such_number(value: Any, _: list[bool] | None) -> bool:
        if value is None or isinstance(value, bool):
            return null if value is None else boolean
        if not isinstance(value, allowed):
            return False
        return (least is None or value >= least) and (most is None or value <= most)

    return is_such_number


def _all(tests: Sequence[Test]) -> Test:
    def accepted(value: Any, unknown: list[bool] | None) -> bool:
        for test in tests:  # noqa: SIM110 - a generator takes twice as long, and this is all there is
            if not test(value, unknown):
                return False
        return True

    return accepted


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
