"""docs/evidence-attribution.md: its rule file is a valid one."""

from __future__ import annotations

import re
from pathlib import Path

from flow.adapters import contracts
from flow.core.attribution_rules import read_rules
from tests.support import ROOT

PAGE = Path(ROOT, "docs", "evidence-attribution.md").read_text(encoding="utf-8")


def test_its_rule_file_is_valid() -> None:
    (text,) = re.findall(r"```yaml\n(runners:.*?)```", PAGE, re.S)
    document = contracts.parse_yaml(text.encode(), file="runners.yaml")
    rules, faults = read_rules(document)
    assert [rule.name for rule in rules] == ["nextest"]
    assert not faults
