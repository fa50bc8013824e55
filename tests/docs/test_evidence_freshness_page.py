"""docs/evidence-freshness.md: its words are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

from flow.core.freshness import WORDS
from tests.support import ROOT

PAGE = Path(ROOT, "docs", "evidence-freshness.md").read_text(encoding="utf-8")


def test_every_word_is_told() -> None:
    told = re.findall(r"^\| `(\w+)` \|", PAGE, re.M)
    assert sorted(told) == sorted(["why_stale", *WORDS])
