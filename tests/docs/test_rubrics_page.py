"""docs/rubrics.md: its keys and ready-made rubrics are those of the code."""

from __future__ import annotations

from pathlib import Path

from flow.adapters.rubrics import rubric_files
from flow.core.judging.rubric.files import READY_MADE
from flow.core.judging.rubric.rules import CRITERION_KEYS, KEYS
from tests.support import ROOT

PAGE = Path(ROOT, "docs", "rubrics.md")
TEXT = PAGE.read_text(encoding="utf-8")


def test_every_key_and_ready_made_rubric_is_told() -> None:
    for key in (*KEYS, *CRITERION_KEYS):
        assert f"`{key}`" in TEXT, key
    for name in READY_MADE:
        loaded = rubric_files.ready_made(name)
        assert f"`{name}`" in TEXT
        for criterion in loaded.rubric.criteria:
            assert criterion.name in TEXT
