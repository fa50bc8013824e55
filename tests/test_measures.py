"""The measures of the code's shape: that they count right, and the one that is a rule."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from tools import house

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def flow() -> house.Modules:
    """The package, parsed once for all figures."""
    return house.modules("flow")


def test_no_modules_reach_each_other_in_a_circle(flow: house.Modules) -> None:
    assert len(flow) > 300
    assert house.circles(house.import_graph(flow)) == []


def parse(**sources: str) -> house.Modules:
    return {name: ast.parse(source) for name, source in sources.items()}


def test_no_folder_holds_more_modules_than_one_can_survey() -> None:
    sizes = house.folder_sizes("flow") | house.folder_sizes("tests")
    assert {folder for folder, size in sizes.items() if size > house.FOLDER_LIMIT} == set()
    assert len(sizes) > 20


def test_the_table_has_a_value_and_an_aim_for_each_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in {
        "flow/__init__.py": "",
        "flow/a.py": "from flow.b import evaluate\n\nclass Plan:\n    a = 1\n    'What it is.'\n",
        "flow/b.py": "def evaluate():\n    from flow.a import Plan\n    found = Plan()\n",
        "flow/wiring/c.py": '"""Its words."""\n\nclass Plan: ...\n\ndef run(): ...  # soon\n',
        "tests/test_a.py": "\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(house, "ROOT", tmp_path)
    rows = house.table()
    assert [value for _, value, _ in rows] == [
        *("1, the largest of 2 modules", "none", "1 (2 classes)", "50% (1 of 2)"),
        *("1", "1", "1", "0", "8", "5"),
    ]
    assert all(figure and aim for figure, _, aim in rows)


def test_a_circle_is_a_group_of_modules_that_reach_each_other() -> None:
    graph = {
        "a": {"b"},
        "b": {"c"},
        "c": {"a"},
        "d": {"a", "e"},
        "e": set(),
        "f": {"g"},
        "g": {"f"},
    }
    assert house.circles(graph) == [["a", "b", "c"], ["f", "g"]]


def test_an_import_counts_wherever_it_stands() -> None:
    trees = parse(a="def f():\n    if 1:\n        from b import c\n    import b\n", b="")
    trees["b.c"] = ast.parse("")
    assert house.import_graph(trees)["a"] == {"b", "b.c"}
    assert house.imports_in_functions(trees) == 2


def test_names_are_counted_by_what_binds_them() -> None:
    trees = parse(
        a="class Plan: ...\nclass Other: ...\nfound = 1\n",
        b="class Plan: ...\nfor found in (): print(found)\n",
    )
    assert house.shared_class_names(trees) == {"Plan": 2}
    assert house.assignments(trees, "found") == 2


@pytest.mark.parametrize(
    ("docstring", "number"),
    [
        ("What the caller needs.", 1),
        ("Whatever it is.", 1),
        ("A value that nobody vouches for.", 1),
        ("The reasons that are\ntold.", 1),
        ("The value, or None.\n\nSomebody else checks it.", 1),
        ("Whether the goal is open.", 0),
        ("The goals that a person is shown.", 0),
    ],
)
@pytest.mark.parametrize(
    "source",
    [
        "{0}",
        "class A:\n    {0}",
        "def f():\n    {0}",
        "A = 1\n{0}",
        "class A:\n    b: int\n    {0}",
    ],
)
def test_docstrings_in_private_words_are_found(source: str, docstring: str, number: int) -> None:
    trees = parse(a=source.format(repr(docstring)))
    assert len(house.private_docstrings(trees)) == number


def test_every_docstring_of_flow_is_in_plain_words(flow: house.Modules) -> None:
    """See *Names and docstrings* in CONTRIBUTING.md."""
    assert house.private_docstrings(flow) == []


def test_names_that_grep_finds(flow: house.Modules) -> None:
    """A class name stands for one class, and a local says more than that its value was found."""
    assert len(house.shared_class_names(flow)) <= 15
    assert house.assignments(flow, "found") < 150
