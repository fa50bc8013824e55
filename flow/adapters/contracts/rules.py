"""Rules beyond the schemas: over several values, over bytes, and over path patterns.

They run on every document, also on one that the schema refuses, so that all faults are named at
once; hence every look at a value asks for its type first.
"""

from __future__ import annotations

from flow.adapters.contracts.text import dotted_path, one_line
from flow.startup import re
from flow.startup.json import items_of, object_of
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flow.adapters.contracts.text import Path


COMMAND_LIMIT = 131_072
"""Bytes at which Linux refuses one argument (MAX_ARG_STRLEN)."""

_API = r"flow\.synapti\.ai/v([0-9]{1,9})"
THIS_API = 1
_KNOWN = f"flow.synapti.ai/v{THIS_API}"
FUZZY_ONLY = ("rubric", "scorecard", "debate", "evidence_command", "evidence_paths")
_GLOBS = ("allowed_paths", "denied_paths", "protected_paths")
_CLEAR = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_*/-."


class Problem(NamedTuple):
    """A fault or a remark, before its document's file is known."""

    path: Path
    message: str
    remedy: str | None
    value: object


def newer_api_version(document: object) -> str | None:
    """The document's ``apiVersion`` if a newer Flow wrote it."""
    version = object_of(document).get("apiVersion")
    if not isinstance(version, str) or version == _KNOWN:
        return None
    match = re.fullmatch(_API, version)
    return version if match and int(match[1]) > THIS_API else None


def rule_faults(kind: str, document: Mapping[str, Any]) -> Iterator[Problem]:
    """Every rule that the document breaks."""
    if kind != "goal":
        return
    first: dict[str, int] = {}
    for place, criterion in criteria(document):
        path: Path = ("objective", "acceptance_criteria", place)
        name = criterion.get("id")
        if isinstance(name, str):
            if name in first:
                before = f"objective.acceptance_criteria[{first[name]}]"
                yield Problem(
                    (*path, "id"),
                    f"{one_line(name)} is {before}'s id too",
                    "ids are unique",
                    name,
                )
            first.setdefault(name, place)
        for key in ("verification_command", "evidence_command"):
            yield from _command((*path, key), criterion.get(key))
        yield from _patterns((*path, "evidence_paths"), criterion.get("evidence_paths"))
        yield from _report_faults((*path, "report"), criterion.get("report"))
        debate = criterion.get("debate")
        if isinstance(debate, dict):
            given = debate.get("solution")
            solution = [given] if isinstance(given, str) else given
            yield from _patterns((*path, "debate", "solution"), solution)
    linked = object_of(document.get("evaluator")).get("baseline_link")
    yield from _linked_faults(("evaluator", "baseline_link"), linked)
    constraints = object_of(document.get("constraints"))
    for key in _GLOBS:
        yield from _patterns(("constraints", key), constraints.get(key))


def remarks(kind: str, document: Mapping[str, Any]) -> Iterator[Problem]:
    """Remarks on values that are allowed and probably not meant."""
    if kind != "goal":
        return
    for place, criterion in criteria(document):
        if criterion.get("report") is not None and criterion.get("verification_command") is None:
            yield Problem(
                ("objective", "acceptance_criteria", place, "report"),
                "is for criteria with a verification_command, and does nothing here",
                "a report is what a command writes; take it out",
                None,
            )
        if isinstance(criterion.get("verification_command"), str):
            for key in FUZZY_ONLY:
                if criterion.get(key) is not None:
                    yield Problem(
                        ("objective", "acceptance_criteria", place, key),
                        "is for criteria without a verification_command, and does nothing here",
                        "the command alone decides; take one of the two out",
                        None,
                    )


def _report_faults(path: Path, value: object) -> Iterator[Problem]:
    # The schema names a path that leads out, or a text of several lines.
    if isinstance(value, str) and value.isprintable() and not value.startswith("/"):
        for _, message, remedy, item in _patterns(path, [value]):
            if ".." not in value.split("/"):
                yield Problem(path, message, remedy, item)


def _linked_faults(path: Path, value: object) -> Iterator[Problem]:
    for place, item in enumerate(items_of(value)):
        if not isinstance(item, str) or item.startswith("/") or ".." in item.split("/"):
            continue  # the schema names it
        parts = item.removesuffix("/").split("/")
        if parts[0] in (".git", ".flow"):
            yield Problem(
                (*path, place),
                f"{one_line(item)} is Flow's or git's own",
                "name a folder of dependencies",
                item,
            )
        elif "" in parts or "." in parts or set("*?[\\") & set(item):
            remedy = "as it stands below the top level: node_modules, web/node_modules"
            yield Problem(
                (*path, place),
                f"{one_line(item)} is not the plain path of one folder",
                remedy,
                item,
            )


def criteria(document: Mapping[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    """The criteria that are mappings, with their places."""
    listed = object_of(document.get("objective")).get("acceptance_criteria")
    items = enumerate(items_of(listed))
    return [(place, item) for place, item in items if isinstance(item, dict)]


def _command(path: Path, value: object) -> Iterator[Problem]:
    # The schema limits the characters already; a character has up to four bytes.
    if isinstance(value, str) and len(value) < COMMAND_LIMIT <= len(value) * 4:
        size = len(value.encode("utf-8", "surrogatepass"))
        if size >= COMMAND_LIMIT:
            yield Problem(
                path,
                f"has {size} bytes, {COMMAND_LIMIT} or more",
                "put it in a script, and call that",
                value,
            )


def _is_clear(item: object) -> bool:
    r"""Whether it is a pattern that cannot be wrong; the others are checked closely.

    ``[A-Za-z0-9_*][A-Za-z0-9_*/-]*(?:\.[A-Za-z0-9_*/-]+)*``, without loading ``re``.
    """
    if not isinstance(item, str) or item.strip(_CLEAR):
        return False
    return all(item.split(".")) and item[0] not in "/-"


def _patterns(path: Path, value: object) -> Iterator[Problem]:
    if not isinstance(value, list) or all(map(_is_clear, value)):
        return
    from flow.core.boundary.rules import check_patterns

    for place, item in enumerate(value):
        if isinstance(item, str) and item.strip():  # the schema names a blank one
            here = (*path, place)
            for fault in check_patterns([item], dotted_path(path)):
                yield Problem(here, fault.message, fault.remedy, item)
