"""The generated parts of the docs are current, and the docs' links lead somewhere."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from flow.core.goal.lifecycle import TABLE
from tests.support import ROOT
from tools import make_docs

pytestmark = pytest.mark.smoke

PAGES = [
    *sorted(Path(ROOT).glob("*.md")),
    *sorted(Path(ROOT, "docs").rglob("*.md")),
    *sorted(Path(ROOT, "benchmarks").glob("*.md")),
]
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


@pytest.mark.parametrize("page", make_docs.pages(), ids=lambda page: page.name)
def test_generated_blocks_are_current(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert make_docs.current(text) == text, "run: python tools/make_docs.py"


def test_the_diagram_is_in_the_docs() -> None:
    page = Path(ROOT, "docs", "lifecycle.md").read_text(encoding="utf-8")
    assert make_docs.lifecycle_diagram() in page


def test_a_changed_table_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    page = Path(ROOT, "docs", "lifecycle.md").read_text(encoding="utf-8")
    monkeypatch.setitem(TABLE, "achieved", ("active",))
    assert make_docs.current(page) != page


def test_every_key_of_a_goal_file_is_in_the_reference() -> None:
    import json

    page = Path(ROOT, "docs", "goal-file.md").read_text(encoding="utf-8")
    schema = json.loads(Path(ROOT, "schemas/v1/goal.schema.json").read_text(encoding="utf-8"))
    keys = set(schema["properties"]) | set(schema["$defs"]["criterion"]["properties"])
    for part in schema["properties"].values():
        keys |= set(part.get("properties", ()))
    missing = {key for key in keys if f"`{key}`" not in page and f"`{key}:" not in page}
    assert not missing


def _anchor(heading: str) -> str:
    words = re.sub(r"[^\w\s-]", "", heading.strip().lower())
    return re.sub(r"\s", "-", words)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    for target in LINK.findall(text):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        there = (page.parent / name) if name else page
        assert there.exists(), f"{page.name}: {target}"
        if anchor:
            headings = re.findall(r"^#+ (.+)$", there.read_text(encoding="utf-8"), re.M)
            assert anchor in {_anchor(heading) for heading in headings}, f"{page.name}: {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_path_of_somebodys_machine(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"/(?:root|home/\w+|Users/\w+|work)/", text)


def test_the_map_of_the_code_names_what_is_there() -> None:
    text = Path(ROOT, "docs", "maintainers", "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(flow/[\w/.]+)`", text))
    assert len(named) > 10
    rooms = [row.split("|")[2:5] for row in re.findall(r"^\| .*\|$", text, re.M)]
    layers = ("flow/core/", "flow/app/", "flow/adapters/")
    for cells in rooms:
        for layer, cell in zip(layers, cells, strict=False):
            named |= {layer + name for name in re.findall(r"`([\w]+(?:/|\.py))`", cell)}
    assert [name for name in sorted(named) if not Path(ROOT, name).exists()] == []


def test_every_room_is_on_the_map() -> None:
    text = Path(ROOT, "docs", "maintainers", "architecture.md").read_text(encoding="utf-8")
    rooms = {
        path.parent.name
        for layer in ("core", "app", "adapters")
        for path in Path(ROOT, "flow", layer).glob("*/__init__.py")
    }
    assert [room for room in sorted(rooms) if f"`{room}/`" not in text] == []


INSTALL_LINE = re.compile(
    r"(?:pip|pipx|uv tool|uv pip) install [^\n`]*(?:flow-goal|git\+)"
    r"|\b(?:uvx|pipx run|uv run) --?\w"
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_one_page_has_the_install_lines(page: Path) -> None:
    here = INSTALL_LINE.findall(page.read_text(encoding="utf-8"))
    if page == Path(ROOT, "docs", "start", "install.md"):
        assert len(here) > 3
    elif page.name != "CHANGELOG.md":
        assert here == []


def test_no_message_names_a_package_index_that_does_not_have_flow() -> None:
    files = [*Path(ROOT, "flow").rglob("*.py"), *Path(ROOT, "bin").glob("*.py")]
    texts = {file: file.read_text(encoding="utf-8") for file in files}
    assert [
        str(file) for file, text in texts.items() if re.search(r"install .*flow-goal\b(?!-)", text)
    ] == []


def test_the_install_page_names_every_extra() -> None:
    project = tomllib.loads(Path(ROOT, "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = Path(ROOT, "docs", "start", "install.md").read_text(encoding="utf-8")
    for extra in set(project["optional-dependencies"]) - {"dev"}:
        assert f"| `{extra}` |" in page
    assert f"{project['name']}[" in page
    assert f"Python {project['requires-python'].removeprefix('>=')} or newer" in page
