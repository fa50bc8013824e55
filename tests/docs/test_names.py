"""Names of Python that docs and docstrings mention are there, and are what they are said to be."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

import flow
from flow import errors
from tests.support import ROOT

PAGES = [
    page
    for page in (Path(ROOT, "README.md"), *sorted(Path(ROOT, "docs").rglob("*.md")))
    if "maintainers" not in page.parts
]
SOURCES = sorted(Path(ROOT, "flow").rglob("*.py"))
BLOCK = re.compile(r"^```(?:python|pycon)\n(.*?)^```$", re.M | re.S)
SPAN = re.compile(r"`([^`\n]+)`")
ERRORS = {
    name
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, Exception)
}


def imported(text: str) -> set[tuple[str, str]]:
    """(module, name) of each import from Flow in a page's Python blocks."""
    names = set()
    for block in BLOCK.findall(text):
        typed = [line.removeprefix(">>> ") for line in block.splitlines()]
        for line in filter(re.compile(r"from flow[\w.]* import \w").match, typed):
            (statement,) = ast.parse(line).body
            assert isinstance(statement, ast.ImportFrom)
            names |= {(statement.module or "", alias.name) for alias in statement.names}
    return names


def mentioned(text: str) -> set[str]:
    """Names that code spans say are of ``flow``: ``flow.Name``, ``flow.name(``, and errors."""
    names = set()
    for span in SPAN.findall(re.sub(r"```.*?```", "", text, flags=re.S)):
        names |= set(re.findall(r"(?<![\w.])flow\.([A-Z]\w*|\w+(?=\())", span))
        names |= {word for word in re.findall(r"\w+", span) if word in ERRORS}
    return names


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_imports_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for module, name in imported(text):
        assert hasattr(import_module(module), name), f"from {module} import {name}"
    for name in mentioned(text):
        assert name in flow.__all__, f"flow.{name}"


def test_the_pages_do_import_something() -> None:
    names = {name for page in PAGES for name in imported(page.read_text(encoding="utf-8"))}
    assert {("flow", "evaluate"), ("flow", "judge"), ("flow", "scorecards")} <= names


def test_everything_that_flow_names_is_there() -> None:
    assert [name for name in flow.__all__ if getattr(flow, name, None) is None] == []
    assert set(flow.__all__) <= set(dir(flow))


@pytest.mark.parametrize("name", ["file", "key", "value", "message", "remedy", "code"])
def test_an_error_has_the_fields_that_the_docs_promise(name: str) -> None:
    error = errors.in_file("a.yaml", "jobs", 0).invalid("is none", "write 1", code="zero")
    shown = error.to_dict()
    assert str(getattr(error, name)) == str(shown[name])
    promise = Path(ROOT, "docs", "tour.md").read_text(encoding="utf-8")
    assert f"`{name}`" in promise.partition("Errors are")[2].partition("\n\n")[0]


def test_an_error_of_several_faults_has_the_fields_of_the_first() -> None:
    first = errors.Fault("is none", file="a.yaml", key="x", value="y", remedy="z")
    error = errors.ContractError([first, errors.Fault("is odd")])
    assert (error.file, error.key, error.value, error.remedy) == ("a.yaml", "x", "y", "z")
    assert [fault.message for fault in error.faults] == ["is none", "is odd"]


@pytest.mark.parametrize("folder", sorted({path.relative_to(ROOT).parts[1] for path in SOURCES}))
def test_what_a_docstring_refers_to_is_there(folder: str) -> None:
    gone = []
    for source in SOURCES:
        if source.relative_to(ROOT).parts[1] != folder:
            continue
        text = source.read_text(encoding="utf-8")
        for name in re.findall(r":(?:class|mod|func|meth|data|attr):`~?(flow\.[\w.]+)`", text):
            gone += [] if _is_there(name) else [f"{source.relative_to(ROOT)}: {name}"]
    assert gone == []


def _is_there(name: str) -> bool:
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            value = import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            if not hasattr(value, part):
                return False
            value = getattr(value, part)
        return True
    return False
