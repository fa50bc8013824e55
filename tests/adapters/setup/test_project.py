"""What a checkout offers for a new goal."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from flow.adapters.git.find import find_repo
from flow.adapters.setup.project import (
    LIMIT,
    first_missing,
    missing_protected,
    project_offers,
    tracked_and_changed,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import GitRepo

MYPY = "[tool.mypy]\nfiles = ['src']\n"


def commands(top: Path) -> list[str]:
    return [offer.command for offer in project_offers(str(top))]


def test_files_at_the_top_offer_their_commands(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(MYPY)
    (tmp_path / "package.json").write_text('{"scripts": {"test": "vitest"}}')
    (tmp_path / "pnpm-lock.yaml").write_text("")
    assert commands(tmp_path) == ["mypy", "pnpm test"]


@pytest.mark.parametrize("kind", ["symlink", "folder", "FIFO", "huge", "not UTF-8", "missing"])
def test_what_is_no_plain_file_offers_nothing(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "top" / "pyproject.toml"
    file.parent.mkdir()
    if kind == "symlink":
        (tmp_path / "there.toml").write_text(MYPY)
        file.symlink_to(tmp_path / "there.toml")
    elif kind == "folder":
        file.mkdir()
    elif kind == "FIFO":
        os.mkfifo(file)
    elif kind == "huge":
        file.write_text(MYPY + "#" * LIMIT)
    elif kind == "not UTF-8":
        file.write_bytes(b"[tool.mypy]\nx = \xff\n")
    assert commands(file.parent) == []


def test_the_index_and_what_is_changed(repo: GitRepo) -> None:
    repo.commit("start", **{"src/a.py": "", "b.py": "", ".gitignore": "*.log\n"})
    repo.write("b.py", "1")
    repo.write("src/new.py", "")
    repo.write("x.log", "")
    repo.write(".flow/goals/x.goal.yaml", "")
    found = find_repo(str(repo.path))
    assert found is not None
    assert tracked_and_changed(found) == (
        [".gitignore", "b.py", "src/a.py"],
        ["b.py", "src/new.py"],
    )


@pytest.mark.parametrize(
    ("paths", "missing"),
    [
        ((), ""),
        (("a.py", "sub/b.py"), ""),
        (("a.py", "no.py", "none.py"), "no.py"),
        (("b.py",), "b.py"),
    ],
)
def test_the_first_path_that_is_not_there(
    tmp_path: Path, paths: tuple[str, ...], missing: str
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.py").touch()
    (tmp_path / "sub/b.py").touch()
    assert first_missing(str(tmp_path), paths) == missing


@pytest.mark.parametrize(
    ("pattern", "told"),
    [("a.py", 0), ("/a.py", 0), ("b.py", 1), ("tests/", 1), ("b*.py", 0), ("!x", 0), ("[b]", 0)],
)
def test_a_protected_path_without_a_pattern_is_looked_for(
    tmp_path: Path, pattern: str, told: int
) -> None:
    (tmp_path / "a.py").touch()
    assert len(missing_protected(str(tmp_path), [pattern])) == told
