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

PROGRESS = re.compile(r"\[\d+/\d+\] ")


@pytest.mark.slow
def test_the_story_goes_as_told_whatever_surrounds_it(tmp_path: Path, home: Path) -> None:
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.flow.json").write_text(
        '{"flow": {"goals": {"denied_paths": ["*"]}}}'
    )
    (home / ".gitconfig").write_text("[core]\n\thooksPath = /nowhere\n[commit]\n\tgpgsign = true\n")
    outer = tmp_path / "outer"
    outer.mkdir()
    git = {"GIT_DIR": str(outer), "GIT_INDEX_FILE": "x"}
    ran = run_flow("demo", cwd=outer, env={"TMPDIR": str(tmp_path), **git})
    assert ran.status == 0, ran.stdout + ran.stderr
    assert "NOT AS TOLD" not in ran.stdout
    story = ran.stdout
    places = [
        story.index(words)
        for words in (
            "$ flow goal create --file goals/count-lines.goal.yaml",
            "$ flow goal evaluate count-lines --output none\n",
            "[exit 1]",
            "Somebody does the work.",
            "it is stale, and nothing can be confirmed.",
            "[exit 2]",
            "confirmed by the demo on your behalf",
            "count-lines is achieved",
            "|| true",
            "unique-words is active.",
            "[exit 3]",
            "hyphens is blocked.",
            "Everything went as told",
        )
    ]
    assert places == sorted(places)
    assert "tests/test_hyphens.py" in story[places[-4] : places[-3]]
    assert "masked" in story[: places[-4]]
    told = [line for line in story.splitlines() if not PROGRESS.match(line)]
    assert len(told) <= 142  # of which some are a traceback, whose lines depend on Python
    assert list(tmp_path.iterdir()) == [outer], "the folder is removed"
    assert not (home / "flow-state").exists(), "the user's own trust ledger is left alone"


@pytest.mark.slow
def test_keep_and_json_with_judges(tmp_path: Path, home: Path) -> None:
    """What the judges' recorded replies come to in words: ``test_packaging``'s installed demo."""
    words = ("demo", "--judge", "--keep", "--json")
    ran = run_flow(*words, cwd=tmp_path, env={"TMPDIR": str(tmp_path)})
    assert ran.status == 0, ran.stdout + ran.stderr
    report = ran.json
    assert report["as_told"] is True
    assert report["differences"] == []
    assert report["confirmed_by"] == "demo"
    assert report["goals"] == {
        "count-lines": "achieved",
        "unique-words": "active",
        "hyphens": "blocked",
        "usage-page": "achieved",
    }
    codes = [step["exit_code"] for step in report["steps"] if "evaluate" in step["command"]]
    assert codes == [1, 0, 0, 1, 3, 1, 0]
    folder = Path(report["folder"])
    assert folder.parent == tmp_path
    project = folder / "project"
    assert (project / ".decisions" / "issue-1.md").is_file()
    sidecars = list(project.glob(".flow/runs/*count-lines/evidence/*.evidence.yaml"))
    assert len(sidecars) == 9  # three criteria, three evaluations
    assert (folder / "state" / "goal-trust.jsonl").is_file()
    assert [entry.name for entry in home.iterdir()] == [".gitconfig"]


@pytest.mark.slow
@pytest.mark.long  # tests/cli/test_example.py plays them, too, and compares all that they write
def test_all_chapters(tmp_path: Path, home: Path) -> None:
    ran = run_flow("demo", "--all", "--json", cwd=tmp_path, env={"TMPDIR": str(tmp_path)})
    assert ran.status == 0, ran.stdout + ran.stderr
    assert ran.json["differences"] == []
    assert ran.json["goals"] == {
        "count-lines": "achieved",
        "unique-words": "waiting_for_user",
        "hyphens": "blocked",
        "usage-page": "achieved",
    }
    judged = [step for step in ran.json["steps"] if "evaluate usage-page" in step["command"]]
    assert [step["exit_code"] for step in judged] == [1, 0]
    assert list(tmp_path.iterdir()) == [], "the folder is removed"


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


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "status"), [("c", "achieved"), ("", "active")])
def test_a_person_at_a_terminal_is_asked(
    tmp_path: Path, home: Path, answer: str, status: str
) -> None:
    env = {**os.environ, "TMPDIR": str(tmp_path), "FLOW_PYTHON": sys.executable, "TERM": "xterm"}
    child = pexpect.spawn(
        f"{ROOT}/bin/flow", ["demo"], cwd=str(tmp_path), env=env, encoding="utf-8", timeout=120
    )
    child.expect("Confirm that count-lines is achieved")
    assert "\x1b[32m" in str(child.before), "at a terminal it is in colour"
    child.expect("\n> ")
    child.sendline(answer)
    if answer:
        child.expect("> ")
        child.sendline("looks right")
    child.expect(rf"count-lines is {status}\.")
    child.expect("Everything went as told")
    assert ended(child)[0] == 0
