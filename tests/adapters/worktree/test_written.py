"""Which files were written after a moment, by their time stamps."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from flow.adapters.worktree.written import written_since

if TYPE_CHECKING:
    from pathlib import Path


def test_only_what_was_written_at_or_after_the_moment(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    os.symlink("nowhere", tmp_path / "link")
    at = os.lstat(tmp_path / "link").st_ctime
    paths = ["a.txt", "link", "gone", "no\0name", "a.txt/below"]

    def moment(seconds: float) -> str:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    assert written_since(str(tmp_path), paths, moment(at - 60)) == ["a.txt", "link"]
    assert written_since(str(tmp_path), paths, moment(at + 60)) == []


@pytest.mark.parametrize("at", ["", "yesterday", "2026-11-20"])
def test_a_moment_that_is_none_names_nothing(tmp_path: Path, at: str) -> None:
    (tmp_path / "a.txt").write_text("a")
    assert written_since(str(tmp_path), ["a.txt"], at) == []
