"""docs/evidence-amendments.md: its table has every field."""

from __future__ import annotations

import re
from pathlib import Path

from flow.core.amendment_rules import FIELDS
from tests.support import ROOT


def test_every_field_that_decides_something_is_in_the_table() -> None:
    page = Path(ROOT, "docs", "evidence-amendments.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| ")]
    told = {word for row in rows for word in re.findall(r"[a-z_0-9]+", row)}
    carried = {"on_incomplete", "on_blocked", "on_complete", "command", "judge_agent"}
    carried |= {"evidence_bundle_format", "apiVersion", "kind", "id"}
    assert {key.rpartition(".")[2] for key in FIELDS} - carried <= told
