"""Where rubrics come from, and that the ready-made ones are what the seed says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flow.adapters.rubrics import rubric_files
from flow.adapters.rubrics.rubric_files import RubricFolder
from flow.core.judging.rubric.files import READY_MADE
from flow.errors import ContractError, InputError, RefusedError

SEED = {
    "code-quality": (0.75, [("readability", 2, None), ("maintainability", 3, None),
                            ("error-handling", 2, None), ("type-safety", 1, None)]),
    "security": (0.85, [("authentication", 5, 0.9), ("input-validation", 4, 0.9),
                        ("sensitive-data", 3, 1.0), ("security-headers", 2, None)]),
    "test-coverage": (0.7, [("unit-tests", 3, None), ("edge-cases", 2, None),
                            ("test-quality", 1, None)]),
    "accessibility": (0.8, [("semantic-html", 2, None), ("aria-labels", 3, None),
                            ("keyboard-nav", 2, None), ("color-contrast", 1, None)]),
    "documentation": (0.75, [("api-docs", 3, None), ("readme", 2, None),
                             ("inline-comments", 1, None)]),
}  # fmt: skip
OWN = "name: Ours\ncriteria:\n  - {name: kind, description: is kind}\n"


def write(top: Path, name: str, text: str = OWN) -> Path:
    path = top / ".flow" / "rubrics" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_the_ready_made_rubrics_are_those_of_the_seed() -> None:
    assert tuple(SEED) == READY_MADE


@pytest.mark.parametrize("name", READY_MADE)
def test_names_weights_and_thresholds_are_the_seeds(name: str) -> None:
    found = RubricFolder(None).find(name)
    criteria = [(c.name, c.weight, c.threshold) for c in found.rubric.criteria]
    assert (found.rubric.passing_threshold, criteria) == SEED[name]
    assert (found.name, found.origin, found.warnings) == (name, "flow", ())


@pytest.mark.parametrize("name", READY_MADE)
def test_each_description_says_something_of_its_own(name: str) -> None:
    found = [c.description for c in RubricFolder(None).find(name).rubric.criteria]
    assert all(80 <= len(text) < 200 for text in found)
    assert len(set(found)) == len(found)


def test_a_projects_own_goes_first(tmp_path: Path) -> None:
    write(tmp_path, "security.yaml")
    found = RubricFolder(str(tmp_path)).find("security")
    assert (found.rubric.name, found.origin) == ("Ours", "project")
    assert found.file == ".flow/rubrics/security.yaml"
    assert RubricFolder(str(tmp_path)).find("documentation").origin == "flow"


def test_an_unknown_name_says_which_there_are(tmp_path: Path) -> None:
    write(tmp_path, "house.yaml")
    with pytest.raises(InputError, match="use one of house, code-quality, security"):
        RubricFolder(str(tmp_path)).find("hause")


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a..b", "a/b", ".hidden", "a\0b", "a b", "x" * 129]
)
def test_a_name_cannot_leave_the_folder(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a rubric's name"):
        RubricFolder(str(tmp_path)).find(name)


def test_a_symlink_is_refused(tmp_path: Path) -> None:
    outside = tmp_path / "outside.yaml"
    outside.write_text(OWN)
    top = tmp_path / "repo"
    write(top, "other.yaml")
    (top / ".flow/rubrics/house.yaml").symlink_to(outside)
    with pytest.raises(RefusedError, match="symbolic link"):
        RubricFolder(str(top)).find("house")


def test_only_files_with_safe_names_are_listed(tmp_path: Path) -> None:
    for name in ("b.yaml", "a.yaml", "c.yml", "d.json", "a.json", "e..yaml.bak", "x y.yaml"):
        write(tmp_path, name)
    assert rubric_files.project_names(str(tmp_path)) == ("a", "b", "c", "d")
    assert rubric_files.project_names(str(tmp_path / "nowhere")) == ()


FILES = [
    ("r.yaml", OWN),
    ("r.yml", OWN),
    ("r.json", json.dumps({"name": "Ours", "criteria": [{"name": "kind", "description": "d"}]})),
]


@pytest.mark.parametrize(("name", "text"), FILES)
def test_a_file_that_is_named(name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    found = RubricFolder(None).find_or_read(str(path))
    assert (found.name, found.rubric.name, found.origin) == ("r", "Ours", "file")
    assert len(found.sha256) == 64


BROKEN = [
    ("a key twice", "name: a\nname: b\ncriteria: []\n", "given twice"),
    ("an alias", "name: &a x\ncriteria: *a\n", "alias"),
    ("a tag", "name: !!python/object x\ncriteria: []\n", "tag"),
    ("NaN", "name: a\ncriteria: []\npassing_threshold: .nan\n", "finite"),
    ("two documents", "name: a\n---\nname: b\n", "document"),
    ("nothing", "", "empty"),
    ("a list", "- a\n", "mapping"),
    ("no YAML", "name: [a\n", "not valid YAML"),
]


@pytest.mark.parametrize(("text", "why"), [r[1:] for r in BROKEN], ids=[r[0] for r in BROKEN])
def test_files_are_read_strictly(text: str, why: str, tmp_path: Path) -> None:
    write(tmp_path, "house.yaml", text)
    with pytest.raises(ContractError) as caught:
        RubricFolder(str(tmp_path)).find("house")
    assert why in str(caught.value)
    assert all(fault.file == ".flow/rubrics/house.yaml" for fault in caught.value.faults)


def test_warnings_name_the_file_and_the_place(tmp_path: Path) -> None:
    text = f"name: a\ncriteria:\n  - {{name: Not Kebab, description: {'x' * 200}}}\n"
    write(tmp_path, "house.yaml", text)
    said = RubricFolder(str(tmp_path)).find("house").warnings
    assert [text.split(": ")[:2] for text in said] == [
        [".flow/rubrics/house.yaml", "criteria[0].name"],
        [".flow/rubrics/house.yaml", "criteria[0].description"],
    ]
