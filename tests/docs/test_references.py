"""What code, tests and docs refer to is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support import ROOT

PAGES = [
    *sorted(Path(ROOT).glob("*.md")),
    *sorted(Path(ROOT, "docs").rglob("*.md")),
    *sorted(Path(ROOT, "benchmarks").glob("*.md")),
]


TESTS = {path: path.read_text(encoding="utf-8") for path in Path(ROOT, "tests").rglob("*.py")}


def has(text: str, test: str) -> bool:
    return re.search(rf"^ *(async )?def {test}\(", text, re.M) is not None


def missing_tests(text: str) -> list[str]:
    """The tests that a page names and that are not there.

    A file is named by its path (``tests/x/test_y.py``, a pattern), a test by ``path::test``; after
    that both may be named by their name alone. What stands in a code block is the reader's.
    """
    missing, after = [], False
    for span in re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.S)):
        path, _, test = span.partition("::")
        if re.fullmatch(r"tests/[\w./*]+", path):
            found, after = sorted(Path(ROOT).glob(path)), True
            there = any(not test or has(TESTS.get(file, ""), test) for file in found)
        elif after and re.fullmatch(r"test_\w+\.py", span):
            there = any(file.name == span for file in TESTS)
        elif after and re.fullmatch(r"test_\w+", span):
            there = any(has(text, span) for text in TESTS.values())
        else:
            continue
        missing += [] if there else [span]
    for module in re.findall(r"python -m (tests\.[\w.]+)", text):
        path = Path(ROOT, *module.split("."))
        missing += [] if {path / "__main__.py", path.with_suffix(".py")} & {*TESTS} else [module]
    return missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_tests_that_a_page_names_exist(page: Path) -> None:
    assert missing_tests(page.read_text(encoding="utf-8")) == []


def test_a_test_that_is_gone_would_be_noticed() -> None:
    here = "tests/docs/test_references.py"
    kept = f"`{here}::test_a_test_that_is_gone_would_be_noticed`, `test_references.py`"
    assert missing_tests(kept) == []
    gone = ["tests/nowhere.py", f"{here}::test_a", "test_b", "test_c.py"]
    assert missing_tests(", ".join(f"`{name}`" for name in gone)) == gone
    assert missing_tests("`python -m tests.nowhere`") == ["tests.nowhere"]


def test_every_hazard_has_one_row_and_a_test() -> None:
    text = Path(ROOT, "docs/maintainers/hazards.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([A-Z])(\d+) \|(.*)\|$", text, re.M)
    numbers = [int(number) for _, number, _ in rows]
    assert len(set(numbers)) == len(numbers)
    subjects = re.findall(r"^## ([A-Z])\. ", text, re.M)
    assert [subject for subject, _, _ in rows] == sorted(subject for subject, _, _ in rows)
    assert {subject for subject, _, _ in rows} == set(subjects)
    untested = [f"{subject}{number}" for subject, number, row in rows if "`tests/" not in row]
    assert untested == []


def test_every_decision_says_its_status_and_what_replaced_it() -> None:
    folder = next(Path(ROOT, "docs").rglob("0001-intent-file.md")).parent
    for page in sorted(folder.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        number = int(page.name[:4])
        assert text.startswith(f"# {number}. "), page.name
        status = text.split("\n\n")[1]
        assert re.match("Status: (accepted|superseded by )", status), page.name
        if status.startswith("Status: superseded"):
            assert re.search(r"\(\d{4}-[\w-]+\.md\)", status), page.name
