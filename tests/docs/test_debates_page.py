"""docs/debates.md: its numbers, criteria and the tests of its rules are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

from flow.core.judging.debate import criteria as debate_criteria
from flow.core.judging.debate import prompt as debate_prompt
from tests.support import ROOT

PAGE = Path(ROOT, "docs", "debates.md")
TEXT = PAGE.read_text(encoding="utf-8")
RULES = Path(ROOT, "docs", "maintainers", "seed-rules.md").read_text(encoding="utf-8")


def test_numbers_and_sets_are_those_of_the_code() -> None:
    assert f"{debate_prompt.SOLUTION_LIMIT:,} bytes" in TEXT
    for kind in debate_criteria.KINDS:
        named = [f"{c.name} {c.percent}" for c in debate_criteria.ready_made(kind)]
        assert f"- `{kind}`: {', '.join(named)}\n" in TEXT


def test_the_tests_that_its_rules_name_exist() -> None:
    debate = "core/judging/debate/"
    named = (debate + "test_model", debate + "test_reply", debate + "test_report")
    named += ("app/judging/test_debate", "cli/judge/test_debate", "api/test_debate")
    files = [f"{name}.py" for name in named]
    modules = {name.rpartition("/")[2] for name in named}
    code = "\n".join(Path(ROOT, "tests", name).read_text(encoding="utf-8") for name in files)
    rules = RULES[RULES.index("## Debates") :]
    for name in set(re.findall(r"`(test_\w+)`", rules)) - modules:
        assert f"def {name}(" in code, name
