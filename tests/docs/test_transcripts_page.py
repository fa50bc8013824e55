"""docs/transcripts.md and docs/auto-judge.md: their facts are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

from flow.adapters.attribution.shell_syntax import parse
from flow.adapters.rubrics.scorecard_rubrics import READY_MADE
from flow.core.attribution.destructive import destroys
from flow.wiring.auto_judging import MOST_SECONDS
from tests.support import ROOT

PAGES = {
    name: Path(ROOT, "docs", f"{name}.md").read_text("utf-8")
    for name in ("transcripts", "auto-judge")
}


def test_what_the_page_calls_destructive_is_found() -> None:
    (sentence,) = re.findall(r"\*\*destructive\*\*: (.*?)and more", PAGES["transcripts"], re.DOTALL)
    named = re.findall(r"`([^`]+)`", sentence)
    assert len(named) >= 6
    for command in named:
        shown = f"psql -c '{command} x'" if command.isupper() else f"{command} x"
        assert destroys(shown, parse), command
    assert not destroys('echo "rm -rf x"', parse)
    assert destroys("bash -c 'rm -rf x'", parse)


def test_every_rubric_is_named() -> None:
    for name in READY_MADE:
        assert f"rubric-{name}.md" in PAGES["transcripts"]


def test_the_limit_is_the_one_that_is_told() -> None:
    assert "an hour at the latest" in PAGES["auto-judge"]
    assert MOST_SECONDS == 3600
