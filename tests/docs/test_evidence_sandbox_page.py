"""docs/evidence-sandbox.md: its numbers are those of the code."""

from __future__ import annotations

from pathlib import Path

from flow.adapters import sandbox, sandbox_home, sandbox_paths
from tests.support import ROOT

PAGE = Path(ROOT, "docs", "evidence-sandbox.md").read_text(encoding="utf-8")


def test_its_numbers_are_those_of_the_code() -> None:
    assert f"{sandbox.PROCESSES:,} processes" in PAGE
    assert sandbox.TMP_BYTES == 1 << 30
    assert f"at most {sandbox_paths.MOST}" in PAGE
    assert ".".join(map(str, sandbox.OLDEST)) in PAGE
    assert {".cargo", ".rustup", ".pyenv", ".nvm"} <= sandbox_home.TOOLS
    assert {".ssh", ".aws", ".netrc", ".claude"} <= set(sandbox_home.SECRETS)
