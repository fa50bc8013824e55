"""``flow demo``: the story is told, for real, and nothing of the user's is touched."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pexpect
import pytest

from flow.cli import demo, stage
from tests.support import ROOT, run_flow
from tests.support.scene import ended

pytestmark = pytest.mark.needs_tool("git", "bash")


@pytest.mark.parametrize(
    ("words", "chapters", "differences"),
    [
        ((), (False, False), []),
        (("--judge",), (True, False), ["nothing is done"]),
        (("--all", "--keep"), (True, True), []),
    ],
)
def test_what_is_played_kept_and_reported(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    chapters: object,
    differences: list[str],
) -> None:
    """What a play itself comes to: see the one at a terminal, and ``test_packaging``."""
    played: list[object] = []

    def play(there: stage.Stage, *, judged: bool, waiting: bool, opinions: bool) -> None:
        played.append((judged, waiting))
        assert opinions
        there.set_up()
        there.flow("goal", "status", "nothing", expected=2)
        there.goals["nothing"] = "active"
        there.confirmed_by = "demo"
        for claim in differences:
            there.expect(False, claim)

    monkeypatch.setattr(demo, "play_story", play)
    ran = run_flow("demo", "--json", *words, cwd=tmp_path, env={"TMPDIR": str(tmp_path)})
    assert played == [chapters]
    folders = list(tmp_path.iterdir())
    assert [(folder / "project/.git").is_dir() for folder in folders] == [True] * (
        "--keep" in words
    )
    report = {
        "as_told": not differences,
        "differences": differences,
        "goals": {"nothing": "active"},
        "confirmed_by": "demo",
        "steps": [{"command": "flow goal status nothing", "exit_code": 2, "told": 2}],
        "folder": str(folders[0]) if folders else None,
    }
    assert {name: ran.json[name] for name in report} == report
    assert ran.status == (demo.DIFFERED if differences else 0)


def test_a_difference_is_told(tmp_path: Path) -> None:
    told: list[str] = []
    there = stage.Stage(str(tmp_path), tell=told.append)
    assert there.expect(True, "fine")
    assert not there.expect(False, "count-lines is achieved, not active")
    assert there.report()["as_told"] is False
    assert there.report()["differences"] == ["count-lines is achieved, not active"]
    assert "NOT AS TOLD: count-lines is achieved, not active" in told
    assert demo.DIFFERED == 5


def test_without_git(tmp_path: Path) -> None:
    empty = tmp_path / "bin"
    empty.mkdir()
    (empty / "bash").symlink_to(shutil.which("bash") or "/bin/bash")
    ran = run_flow("demo", cwd=tmp_path, env={"TMPDIR": str(tmp_path), "PATH": str(empty)})
    assert ran.status == 5
    assert re.search(r"git.*not found", ran.stderr), ran.stderr
    assert [entry for entry in os.listdir(tmp_path) if entry.startswith("flow-demo")] == []


@pytest.mark.slow
def test_an_example_that_was_byte_compiled_and_is_read_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    example = tmp_path / "example"
    shutil.copytree(stage.example_folder(), example)
    for package in example.rglob("wordcount"):  # as pip does on installing
        (package / "__pycache__").mkdir(exist_ok=True)
        (package / "__pycache__" / "__init__.cpython-311.pyc").write_bytes(b"compiled")
    for path in example.rglob("*"):  # a clone that nobody may write
        path.chmod(0o555 if path.is_dir() else 0o444)
    example.chmod(0o555)
    monkeypatch.setattr(stage, "example_folder", lambda: str(example))
    there = stage.Stage(str(tmp_path / "demo"), tell=lambda _: None)
    there.set_up()
    assert not list((tmp_path / "demo").rglob("__pycache__"))
    assert not [path for path in (tmp_path / "demo" / "project").rglob("*") if not _may_write(path)]
    there.change("count-lines")
    assert there.differences == []


def _may_write(path: Path) -> bool:
    return bool(path.lstat().st_mode & 0o200) or ".git" in path.parts


WHERE_ASKED = """
import sys; sys.path.insert(0, sys.argv.pop(1))
from flow import __main__
from flow.cli import demo
demo._show_failing = demo._show_opinions = lambda *_: None
demo._blocked = lambda stage, _: stage.append("README.md", "more")
sys.exit(__main__.main())
"""


@pytest.mark.slow
def test_a_person_at_a_terminal_is_asked(tmp_path: Path, home: Path) -> None:
    """Twice: the first time an empty line confirms nothing, and the story goes on.

    Chapters in which nobody is asked are left out: ``test_packaging`` has the whole story.
    """
    env = {**os.environ, "TMPDIR": str(tmp_path), "FLOW_PYTHON": sys.executable, "TERM": "xterm"}
    child = pexpect.spawn(
        sys.executable,
        ["-I", "-X", "utf8", "-c", WHERE_ASKED, ROOT, "demo", "--judge", "--keep"],
        cwd=str(tmp_path),
        env=env,
        encoding="utf-8",
        timeout=120,
    )
    child.expect("Now you are asked, as you are in your own project")
    told = str(child.before)
    child.expect("Confirm that count-lines is achieved")
    assert "\x1b[32m" in told, "at a terminal it is in colour"
    story = (
        "\r\n\r\nA goal says what must be true, which commands prove it, and which files may\r\n"
    )
    assert f"{story}change.\r\n" in told, "broken at blanks"
    child.expect("\n> ")
    child.sendline("")
    child.expect(r"count-lines is active\.")
    child.expect("Confirm that usage-page is achieved")
    child.expect("\n> ")
    child.sendline("c")
    child.expect("> ")
    child.sendline("looks right")
    child.expect(r"usage-page is achieved\.")
    child.expect("Everything went as told")
    child.expect(r"The files are kept in (\S+)\.")
    folder = Path(str(child.match and child.match[1]))
    assert ended(child)[0] == 0
    assert folder.parent == tmp_path
    assert (folder / "project/.decisions/issue-1.md").is_file()
    assert (folder / "state/goal-trust.jsonl").is_file()
    assert [entry.name for entry in home.iterdir()] == [".gitconfig"]
