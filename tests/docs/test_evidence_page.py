"""docs/evidence.md: what it shows is run again, and its rule file is a valid one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flow.adapters import contracts
from flow.core.attribution_rules import read_rules
from tests.docs.console import environment, replay
from tests.support import ROOT

PAGE = Path(ROOT, "docs", "evidence.md").read_text(encoding="utf-8")


@pytest.mark.needs_tool("git", "bash", "python3")
def test_the_page_says_what_happens(tmp_path: Path, home: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    commands = list(replay(PAGE, work, environment(home)))
    assert len(commands) >= 4
    differences = [command.difference for command in commands if command.difference]
    assert not differences, "\n\n".join(differences)


def test_its_rule_file_is_valid() -> None:
    (text,) = re.findall(r"```yaml\n(runners:.*?)```", PAGE, re.S)
    document = contracts.parse_yaml(text.encode(), file="runners.yaml")
    rules, faults = read_rules(document)
    assert [rule.name for rule in rules] == ["nextest"]
    assert not faults
