"""docs/evidence-import.md: its formats are those of the code."""

from __future__ import annotations

from pathlib import Path

from flow.core.imported import FORMATS, TYPES
from tests.support import ROOT

PAGE = Path(ROOT, "docs", "evidence-import.md").read_text(encoding="utf-8")


def test_its_table_has_every_format() -> None:
    rows = [line.split("|") for line in PAGE.splitlines() if line.startswith("| `")]
    told = {row[1].strip(" `"): row[3].strip(" `") for row in rows if row[1].strip(" `") in FORMATS}
    assert told == {name: TYPES[name] for name in FORMATS}
