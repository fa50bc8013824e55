"""docs/evidence-secrets.md: its demonstration is run again, its kinds are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flow.core.secret_shapes import shapes
from flow.core.secrets import KNOWN
from tests.docs.console import environment, replay
from tests.support import ROOT

PAGE = Path(ROOT, "docs", "evidence-secrets.md").read_text(encoding="utf-8")


@pytest.mark.needs_tool("git", "bash")
def test_the_demonstration_says_what_happens(tmp_path: Path, home: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    commands = list(replay(PAGE, work, environment(home)))
    assert len(commands) > 5
    differences = [command.difference for command in commands if command.difference]
    assert not differences, "\n\n".join(differences)
    assert any("[masked:" in command.actual for command in commands)


def test_every_kind_is_told() -> None:
    rows = [line.split("|")[2] for line in PAGE.splitlines() if line.startswith("| ")]
    told = [kind for row in rows for kind in re.findall(r"`(\w+)`", row)]
    told.remove("masked")
    assert sorted(told) == sorted({shape.kind for shape in shapes()} | {KNOWN})
