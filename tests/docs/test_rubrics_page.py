"""docs/rubrics.md: everything it shows is run again, with the replies that are kept beside this."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from flow.adapters import rubrics
from flow.core.rubric_files import READY_MADE
from flow.core.rubric_rules import CRITERION_KEYS, KEYS
from tests.docs import recorded
from tests.support import ROOT

PAGE = Path(ROOT, "docs", "rubrics.md")
TEXT = PAGE.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.needs_tool("git", "bash")
def test_the_page_says_what_happens(tmp_path: Path, home: Path) -> None:
    commands = recorded.run(PAGE, tmp_path, home)
    assert len(commands) > 8
    differences = [command.difference for command in commands if command.difference]
    assert not differences, "\n\n".join(differences)


@pytest.mark.slow
@pytest.mark.needs_tool("git", "bash")
def test_a_changed_prompt_is_noticed(tmp_path: Path, home: Path) -> None:
    changed = tmp_path / "rubrics.md"
    changed.write_text(TEXT.replace("Says what changes for users", "Says what changes for all"))
    commands = recorded.run(changed, tmp_path, home)
    assert any("has changed" in command.actual for command in commands)


def test_every_kept_reply_is_used_by_the_page() -> None:
    rows = json.loads((recorded.REPLIES / "rubrics.json").read_text(encoding="utf-8"))
    assert all(re.fullmatch("[0-9a-f]{64}", row["prompt_sha256"]) for row in rows)
    assert len({row["prompt_sha256"] for row in rows}) == len(rows)


def test_every_key_and_ready_made_rubric_is_told() -> None:
    for key in (*KEYS, *CRITERION_KEYS):
        assert f"`{key}`" in TEXT, key
    for name in READY_MADE:
        loaded = rubrics.ready_made(name)
        assert f"`{name}`" in TEXT
        for criterion in loaded.rubric.criteria:
            assert criterion.name in TEXT
