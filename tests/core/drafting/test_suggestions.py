"""What a person who drafts a goal is offered."""

from __future__ import annotations

import pytest

from flow.core.drafting.offers import Offer
from flow.core.drafting.suggestions import (
    named_paths,
    split_patterns,
    suggested_name,
    suggested_paths,
    typed_criterion,
)
from flow.core.goal.ids import GOAL_ID

NAMES = {
    "parse_date(text, strict=True) refuses what ISO 8601 does not allow": (
        "parse-date-strict-refuses"
    ),
    "The greeting is polite": "greeting-polite",
    "is it": "is-it",
    "": "goal",
    "…": "goal",
    "x" * 300: "x" * 40,
    "Ünïcode wörds": "n-code-w-rds",
    "a" * 39 + " b": "a" * 39,
}


@pytest.mark.parametrize(("outcome", "name"), NAMES.items())
def test_a_name_is_a_goals_id_made_of_the_telling_words(outcome: str, name: str) -> None:
    assert suggested_name(outcome, ()) == name
    assert GOAL_ID.fits(name)


@pytest.mark.parametrize(
    ("taken", "name"),
    [((), "polite"), (("polite",), "polite-2"), (("polite", "polite-2", "x"), "polite-3")],
)
def test_a_name_is_free(taken: tuple[str, ...], name: str) -> None:
    assert suggested_name("polite", taken) == name


@pytest.mark.parametrize(
    ("tracked", "changed", "patterns"),
    [
        ([], [], ()),
        (["README.md"], [], ()),
        (["src/a.py", "tests/t.py", "docs/x.md"], [], ("src/**", "tests/**")),
        (["tests/t.py", "src/a.py"], [], ("src/**", "tests/**")),
        (["daybook/__init__.py", "daybook/a.py"], [], ("daybook/**",)),
        (["daybook/x/__init__.py"], [], ()),
        (["tests/__init__.py"], [], ("tests/**",)),
        (["src/a.py"], ["docs/x/y.md", "setup.cfg"], ("src/**", "docs/**", "setup.cfg")),
        (["src/a.py"], ["src/b.py"], ("src/**",)),
        ([".github/x", "a b/__init__.py", "*/__init__.py"], ["[x]", ".env", "\x1b/x"], ()),
        ([], [f"f{n}" for n in range(9)], tuple(f"f{n}" for n in range(6))),
    ],
)
def test_paths_are_the_folders_of_code_and_tests_and_what_is_changed(
    tracked: list[str], changed: list[str], patterns: tuple[str, ...]
) -> None:
    assert suggested_paths(tracked, changed) == patterns


@pytest.mark.parametrize(
    ("words", "paths"),
    [
        (("pytest", "-q", "tests/test_strict.py::test_a"), ("tests/test_strict.py",)),
        (("bash", "./check.sh"), ("check.sh",)),
        (("mypy", "--strict", "src/daybook/"), ("src/daybook",)),
        (("test", "-f", "x.y"), ("x.y",)),
        (("make", "test", "-j4", "A=b.c", "/etc/passwd", "../x", "*.py", "http://a/b"), ()),
        (("python", "3.11", "1.5"), ()),
        (("tests/run.sh",), ()),
        ((), ()),
    ],
)
def test_words_that_look_like_paths(words: tuple[str, ...], paths: tuple[str, ...]) -> None:
    assert named_paths([words]) == paths


OFFERS = (Offer("The tests pass", "pytest -q", ""), Offer("The types hold", "mypy .", ""))


@pytest.mark.parametrize(
    ("line", "typed"),
    [
        ("it holds :: make", "it holds :: make"),
        ("b", "The types hold :: mypy ."),
        ("a Nothing broke", "Nothing broke :: pytest -q"),
        ("Nothing broke :: a", "Nothing broke :: pytest -q"),
        ("AC7: nothing broke :: b", "AC7: nothing broke :: mypy ."),
        ("a newcomer finds it", "a newcomer finds it"),
        ("c The third", "c The third"),
        ("it holds :: c", "it holds :: c"),
        ("A", "A"),
        ("", ""),
    ],
)
def test_a_letter_stands_for_an_offer(line: str, typed: str) -> None:
    assert typed_criterion(line, OFFERS) == typed


@pytest.mark.parametrize(
    ("line", "patterns"),
    [
        ("", ()),
        ("  ", ()),
        ("src/**", ("src/**",)),
        (" src/** tests/**,docs/x.md , src/**", ("src/**", "tests/**", "docs/x.md")),
    ],
)
def test_patterns_are_set_apart_by_blanks_and_commas(line: str, patterns: tuple[str, ...]) -> None:
    assert split_patterns(line) == patterns
