"""Commands that a project offers as proofs, from the files at its top level (SPEC 12).

They are only offered: each is shown, run once and accepted by a person. The tables name the
checks of each tool's own documentation (as of November 2026).
"""

from __future__ import annotations

import json
import re
import tomllib

from flow.startup.json import object_of, text_of, texts_of
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

READ = ("pyproject.toml", "package.json", "Cargo.toml", "go.mod", "Makefile")
"""Files whose text :func:`offers` reads."""

_PYTHON = (
    ("pytest", "The tests pass", "pytest -q"),
    ("mypy", "The types hold", "mypy"),
    ("pyright", "The types hold", "pyright"),
    ("ruff", "The linter finds nothing", "ruff check ."),
)
"""(tool, criterion, command): offered if ``pyproject.toml`` configures or requires the tool."""
_AIMS = frozenset(("files", "packages", "modules"))
"""Settings with mypy's targets; mypy without an argument needs one of them."""
_SCRIPTS = (
    ("test", "The tests pass"),
    ("lint", "The linter finds nothing"),
    ("typecheck", "The types hold"),
    ("type-check", "The types hold"),
    ("check-types", "The types hold"),
)
"""(script of ``package.json``, criterion)."""
_RUNNERS = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun", "bun.lockb": "bun"}
MARKERS = tuple(_RUNNERS)
"""Files whose existence alone counts: they name the package manager."""
_FIXED = {
    "Cargo.toml": (
        ("The tests pass", "cargo test"),
        ("The linter finds nothing", "cargo clippy -- -D warnings"),
    ),
    "go.mod": (("The tests pass", "go test ./..."), ("go vet finds nothing", "go vet ./...")),
}
_TARGETS = (
    ("test", "The tests pass"),
    ("check", "The project's checks pass"),
    ("lint", "The linter finds nothing"),
)
_NO_TEST = "no test specified"
"""The text in the test script that ``npm init`` writes, which tests nothing."""


class Offer(NamedTuple):
    """A command of the project that may prove a criterion."""

    text: str
    command: str
    file: str
    """The file that it was read from."""


def offers(files: Mapping[str, str]) -> tuple[Offer, ...]:
    """The commands offered by ``files`` (name at the top → text; markers with any text), each once.

    A file that cannot be parsed offers nothing; it is the project's file, so this is no error of
    Flow's input.
    """
    offered: dict[str, Offer] = {}
    for offer in _all_offers(files):
        offered.setdefault(offer.command, offer)
    return tuple(offered.values())


def _all_offers(files: Mapping[str, str]) -> Iterator[Offer]:
    if "pyproject.toml" in files:
        yield from _python_offers(files["pyproject.toml"])
    if "package.json" in files:
        yield from _script_offers(files)
    for name, rows in _FIXED.items():
        if name in files:
            yield from (Offer(text, command, name) for text, command in rows)
    if "Makefile" in files:
        yield from _target_offers(files["Makefile"])


def _python_offers(text: str) -> Iterator[Offer]:
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError):
        return
    configured = object_of(document.get("tool"))
    names = set(configured)
    names |= {match[0].lower() for match in map(_REQUIREMENT.match, _strings(document)) if match}
    aimed = not _AIMS.isdisjoint(object_of(configured.get("mypy")))
    for tool, criterion, command in _PYTHON:
        if tool in names:
            whole = " ." if tool == "mypy" and not aimed else ""
            yield Offer(criterion, command + whole, "pyproject.toml")


_REQUIREMENT = re.compile(r"[A-Za-z][A-Za-z0-9_-]*(?=\s*(?:[\[<>=!~;@ ]|$))")


def _strings(document: Mapping[str, Any]) -> Iterator[str]:
    """Every requirement that ``pyproject.toml`` lists: dependencies, extras, dependency groups."""
    project = object_of(document.get("project"))
    tables = (document.get("dependency-groups"), project.get("optional-dependencies"))
    for table in ({"": project.get("dependencies")}, *map(object_of, tables)):
        for rows in table.values():
            yield from texts_of(rows)


def _script_offers(files: Mapping[str, str]) -> Iterator[Offer]:
    try:
        document = json.loads(files["package.json"])
    except (ValueError, RecursionError):
        return
    scripts = object_of(object_of(document).get("scripts"))
    runner = next((name for marker, name in _RUNNERS.items() if marker in files), "npm")
    for script, criterion in _SCRIPTS:
        body = text_of(scripts.get(script))
        if body.strip() and _NO_TEST not in body:
            short = script == "test" and runner != "bun"
            command = f"{runner} {script}" if short else f"{runner} run {script}"
            yield Offer(criterion, command, "package.json")


def _target_offers(text: str) -> Iterator[Offer]:
    targets = set(re.findall(r"^([A-Za-z][\w-]*)\s*:(?!:?=)", text, re.MULTILINE))
    for target, criterion in _TARGETS:
        if target in targets:
            yield Offer(criterion, f"make {target}", "Makefile")
