"""A judge's reply, read strictly: one JSON object of the requested shape, or nothing.

Nothing is repaired and nothing is searched for inside a text: words around the JSON, a second
object or an unknown key make it no answer (SPEC 9.1).
"""

from __future__ import annotations

from flow.adapters.contracts.strict_json import read_json
from flow.core.judging.common.question import Unusable
from flow.core.secrets.redact import redact
from flow.core.text.display import visible
from flow.errors import ContractError
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

LIMIT = 1 << 20
"""Most bytes of a reply."""

_REASON = 300


def read_document(data: bytes, *, what: str, limit: int = LIMIT) -> dict[str, Any] | Unusable:
    """One JSON object, read as strictly as Flow's own files; ``what`` names it in reasons."""
    if len(data) > limit:
        return Unusable(f"{what} has more than {limit} bytes", "not_json")
    if not data.strip():
        return Unusable(f"{what} is empty", "empty")
    try:
        document = read_json(data, file=what, what="JSON document", limit=limit)
    except ContractError as error:
        fault = error.faults[0]
        place = f" ({fault.key})" if fault.key else ""
        return Unusable(words(f"{what}: {fault.message}{place}"), "not_json")
    if not isinstance(document, dict):
        return Unusable(f"{what} is no JSON object")
    return document


def read_reply(data: bytes | str, schema: Mapping[str, Any]) -> dict[str, Any] | Unusable:
    """The reply's object, if it has the shape of ``schema`` and holds nothing else."""
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")  # the reader refuses half characters by name
    document = read_document(data, what="the reply")
    return document if isinstance(document, Unusable) else fitting(document, schema)


def fitting(value: Any, schema: Mapping[str, Any]) -> dict[str, Any] | Unusable:
    """``value`` itself, if it is an object that has the shape of ``schema``."""
    from flow.adapters.contracts.shapes import misfits  # choosing a judge loads no jsonschema

    if not isinstance(value, dict):
        return Unusable("the reply is no JSON object")
    faults = misfits(closed(schema), value)
    return Unusable(words(f"the reply: {faults[0].removeprefix('it: ')}")) if faults else value


def closed(schema: Any, *, without: frozenset[str] = frozenset()) -> Any:
    """The schema with every object limited to the properties it names; ``without`` some keywords.

    Keys that a judge adds must not pass as checked.
    """
    return _closed(schema, without, names=False)


def _closed(part: Any, without: frozenset[str], *, names: bool) -> Any:
    if isinstance(part, list | tuple):
        return [_closed(item, without, names=False) for item in part]
    if not hasattr(part, "items"):
        return part
    result = {
        key: value
        if not names and key in ("enum", "const", "examples", "default")
        else _closed(value, without, names=not names and key in ("properties", "$defs"))
        for key, value in part.items()
        if names or key not in without
    }
    if not names and "properties" in result and "additionalProperties" not in result:
        result["additionalProperties"] = False
    return result


def words(text: str | bytes, secrets: tuple[str, ...] = (), *, last: int | None = None) -> str:
    """Text from outside as part of a reason: one line, escaped, cut, without the keys.

    ``last``: keep only this many characters of its end. Keys are removed before the text is cut:
    half a key would not be recognized any more.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8", "backslashreplace")
    for secret in secrets:
        text = text.replace(secret, "(key)")
    text = redact(text.encode("utf-8", "surrogatepass")).data.decode("utf-8", "replace").strip()
    if last is not None:
        text = text[-last:]
    shown = visible(text.strip())
    return shown if len(shown) <= _REASON else shown[: _REASON - 1] + "…"
