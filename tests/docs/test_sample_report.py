"""The sample report in the docs is the page that ``flow report`` writes today of the example."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import ROOT
from tools import make_report


@pytest.mark.needs_tool("git")
def test_the_sample_is_the_page_of_today(tmp_path: Path) -> None:
    shown = make_report.SAMPLE.read_text(encoding="utf-8")
    assert make_report.sample(tmp_path) == shown, "run: python tools/make_report.py"


def test_it_is_small_and_a_page_leads_to_it() -> None:
    assert make_report.SAMPLE.stat().st_size < 64 * 1024
    text = Path(ROOT, "docs/tour.md").read_text(encoding="utf-8")
    assert "](pictures/report.html)" in text
