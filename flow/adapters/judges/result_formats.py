"""Values for ``judge(result_format=...)``: a JSON Schema, or a typed model (SPEC 9.2).

A model is a dataclass, a ``TypedDict``, a pydantic model or a msgspec ``Struct``. Each becomes a
JSON Schema for the judge, and turns the reply back into a value of its own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from enum import Enum
from importlib import import_module
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    NamedTuple,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from flow.adapters.contracts.shapes import misfits, self_contained
from flow.errors import InputError, NoUsableAnswer, at_key

if TYPE_CHECKING:
    from collections.abc import Callable

_SCALARS: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    NoneType: {"type": "null"},
    Any: {},
    object: {},
}
_OWN: dict[str, tuple[object, ...]] = {"score": (0.0, 0.5, 1.0), "passed": (True, False)}
"""Keys that Flow sets in a judge's reply, with values that a format must accept."""
DEPTH = 32


class ResultFormat(NamedTuple):
    """A caller's form: its JSON Schema, and the function that makes a value of it."""

    schema: dict[str, Any]
    build: Callable[[Any], Any]

    def result(self, value: object, *, score: float, passed: bool) -> Any:
        """The judge's ``value`` in the caller's form, with Flow's ``score`` and ``passed`` in it.

        Raises :class:`NoUsableAnswer` for a value that does not fit.
        """
        own: dict[str, object] = {"score": score, "passed": passed}
        if not isinstance(value, Mapping):
            raise _unfit(["it is no object"])
        declared = self.schema.get("properties", {})
        filled = {**value, **{k: v for k, v in own.items() if k in declared or k in value}}
        faults = misfits(self.schema, filled)
        if faults:
            raise _unfit(faults)
        try:
            return self.build(filled)
        except Exception as error:  # a model's own checks may raise anything
            raise _unfit([f"{type(error).__name__}: {str(error)[:300]}"]) from error


def result_format(given: object) -> ResultFormat:
    """The form that ``given`` means; :class:`InputError` for anything else.

    Also for one whose ``score`` cannot hold every number from 0 to 1, or whose ``passed`` both
    truth values: Flow writes them.
    """
    chosen = _format(given)
    schema = self_contained(chosen.schema)
    if schema.get("type", "object") != "object":
        raise _refused("it has to describe an object")
    properties = schema.get("properties", {})
    for name, values in _OWN.items():
        for value in values if name in properties else ():
            if misfits(properties[name], value):
                kind = "a number from 0 to 1" if name == "score" else "true or false"
                raise _refused(f"its {name!r} has no room for {value!r}; Flow writes {kind} there")
    return chosen._replace(schema={"type": "object", **schema})


def _format(given: Any) -> ResultFormat:
    if isinstance(given, Mapping):
        return ResultFormat(dict(given), dict)
    if not isinstance(given, type) and not is_typeddict(given):
        raise _refused(f"{type(given).__name__} is neither a JSON Schema nor a typed model")
    if callable(getattr(given, "model_json_schema", None)):
        return ResultFormat(given.model_json_schema(), given.model_validate)
    if hasattr(given, "__struct_fields__"):
        msgspec = import_module("msgspec")
        schema = import_module("msgspec.json").schema(given)
        return ResultFormat(schema, lambda value: msgspec.convert(value, given))
    if dataclasses.is_dataclass(given) or is_typeddict(given):
        return ResultFormat(_schema(given, 0), lambda value: _build(given, value))
    raise _refused(f"{given.__name__} is no dataclass, TypedDict, pydantic model or msgspec Struct")


def _schema(hint: Any, depth: int) -> dict[str, Any]:
    """The JSON Schema of a type of a dataclass's or TypedDict's field."""
    if depth > DEPTH:
        raise _refused("its types nest too deeply, or lead back to themselves")
    if hint in _SCALARS:
        return dict(_SCALARS[hint])
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, UnionType):
        return {"anyOf": [_schema(argument, depth + 1) for argument in arguments]}
    if hint in (list, tuple) or origin in (list, Sequence):
        items = _schema(arguments[0], depth + 1) if arguments else {}
        return {"type": "array", "items": items}
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        return {"type": "array", "items": _schema(arguments[0], depth + 1)}
    if hint is dict or (origin in (dict, Mapping) and arguments[0] is str):
        more = _schema(arguments[1], depth + 1) if arguments else {}
        return {"type": "object", "additionalProperties": more}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {"enum": [member.value for member in hint]}
    if dataclasses.is_dataclass(hint) or is_typeddict(hint):
        return _record(hint, depth)
    raise _refused(f"a field of the type {hint!r:.80} has no JSON Schema")


def _record(model: Any, depth: int) -> dict[str, Any]:
    hints = _hints(model)
    if is_typeddict(model):
        required = _required(model)
    else:
        fields = [field for field in dataclasses.fields(model) if field.init]
        hints = {field.name: hints[field.name] for field in fields}
        required = [f.name for f in fields if f.default is f.default_factory is dataclasses.MISSING]
    return {
        "type": "object",
        "properties": {name: _schema(hint, depth + 1) for name, hint in hints.items()},
        "required": required,
    }


def _required(model: Any) -> list[str]:
    """The keys that a TypedDict needs.

    ``__required_keys__`` alone does not know if annotations are texts, as they are under ``from
    __future__ import annotations``.
    """
    marks = {name: get_origin(h) for name, h in get_type_hints(model, include_extras=True).items()}
    return [
        name
        for name, mark in marks.items()
        if mark is Required or (mark is not NotRequired and name in model.__required_keys__)
    ]


def _hints(model: Any) -> dict[str, Any]:
    try:
        return get_type_hints(model)
    except (NameError, TypeError) as error:
        raise _refused(f"the types of {model.__name__} cannot be read: {error}") from error


def _build(hint: Any, value: Any) -> Any:
    """``value``, which fits the schema of ``hint``, as a value of the type ``hint``."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        fitting = [a for a in arguments if not misfits(_schema(a, 0), value)]
        return _build(fitting[0], value)
    if (hint is tuple or origin is tuple) and isinstance(value, list):
        return tuple(_build(arguments[0], item) if arguments else item for item in value)
    if origin in (list, Sequence):
        return [_build(arguments[0], item) for item in value]
    if origin in (dict, Mapping):
        return {key: _build(arguments[1], item) for key, item in value.items()}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint(value)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if is_typeddict(hint) or dataclasses.is_dataclass(hint):
        hints = _hints(hint)
        made = {name: _build(hints[name], value[name]) for name in hints if name in value}
        return made if is_typeddict(hint) else hint(**made)
    return value


def _refused(fault: str) -> InputError:
    return at_key("result_format").invalid(
        f"not a result format: {fault}",
        "give a JSON Schema, a dataclass, a TypedDict, a pydantic model or a msgspec Struct",
    )


def _unfit(faults: list[str]) -> NoUsableAnswer:
    return NoUsableAnswer(
        f"the judge's result does not fit the result format: {'; '.join(faults)}",
        code="wrong_shape",
        key="result",
        remedy="ask again, or describe the fields in the format",
    )
