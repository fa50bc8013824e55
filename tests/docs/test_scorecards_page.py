"""docs/scorecards.md: its numbers, keys and tests are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

from flow.adapters.attribution.shell_syntax import parse_shell
from flow.adapters.contracts import schemas
from flow.adapters.rubrics.scorecard_rubrics import READY_MADE
from flow.core.attribution.destructive import destroys
from flow.core.judging.scorecard.model import DIMENSIONS, GRADES
from flow.wiring.judging.auto_mode import MOST_SECONDS
from tests.support import ROOT

PAGE = Path(ROOT, "docs", "scorecards.md")
TEXT = PAGE.read_text(encoding="utf-8")
RULES = Path(ROOT, "docs", "maintainers", "seed-rules.md").read_text(encoding="utf-8")
RULES = RULES[: RULES.index("## Debates")]
SPECIFICATION = Path(ROOT, "docs/reference/specification.md").read_text(encoding="utf-8")
SPECIFICATION = SPECIFICATION.partition("### 9.3 Scorecard")[2].partition("### 9.4")[0]


def test_the_numbers_are_the_codes() -> None:
    for dimension in DIMENSIONS:
        assert f"| {dimension.name} | {int(dimension.weight * 100)}% |" in TEXT
    names = " | ".join(name for name, _, _ in GRADES)
    least = " | ".join(str(bound) for _, bound, _ in GRADES[:-1])
    assert f"| {names} |" in TEXT
    assert f"| {least} | below |" in TEXT


def test_every_key_and_rubric_is_told() -> None:
    schema = schemas.load("scorecard")
    for key in (*schema["properties"], *schema["$defs"]["dimension"]["properties"]):
        assert f"`{key}`" in SPECIFICATION, key
    for name in READY_MADE:
        assert f"`rubric-{name}.md`" in TEXT


def test_every_test_that_a_rule_names_is_there() -> None:
    source = "".join(
        path.read_text(encoding="utf-8") for path in Path(ROOT, "tests").rglob("test_*.py")
    )
    named = re.findall(r"`(test_\w+)`", RULES)
    assert len(named) > 20
    assert [name for name in named if f"def {name}(" not in source] == []
    files = re.findall(r"`(tests/[\w/]+\.py)`", RULES)
    assert [file for file in files if not Path(ROOT, file).is_file()] == []


def test_what_the_page_calls_destructive_is_found() -> None:
    (sentence,) = re.findall(r"\*\*destructive\*\*:(.*?)and\s+more", TEXT, re.DOTALL)
    named = re.findall(r"`([^`]+)`", sentence)
    assert len(named) >= 6
    for command in named:
        shown = f"psql -c '{command} x'" if command.isupper() else f"{command} x"
        assert destroys(shown, parse_shell), command
    assert not destroys('echo "rm -rf x"', parse_shell)
    assert destroys("bash -c 'rm -rf x'", parse_shell)


def test_the_limit_is_the_one_that_is_told() -> None:
    assert "an hour at the latest" in TEXT
    assert MOST_SECONDS == 3600
