"""``flow statusline`` as a host calls it: always one line, always exit 0, nothing written."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.support import ROOT, GitRepo, run_flow, scene
from tests.support.scene import flow

if TYPE_CHECKING:
    from pathlib import Path

FLOW = os.path.join(ROOT, "bin", "flow")
NO_GOAL = "◎ no goal\n"


def line(cwd: Path, said: str | bytes = "", *words: str, **env: str) -> str:
    """What it prints where the host sends ``said``; for bytes a process of its own is started."""
    if isinstance(said, str):
        ran = run_flow("statusline", *words, cwd=cwd, input=said, env={"LC_ALL": "C.UTF-8", **env})
        assert (ran.status, ran.stderr) == (0, "")
        assert ran.stdout.count("\n") == 1
        return ran.stdout
    done = subprocess.run(
        [FLOW, "statusline", *words],
        cwd=cwd,
        input=said,
        capture_output=True,
        env={**os.environ, "FLOW_PYTHON": sys.executable, "LC_ALL": "C.UTF-8", **env},
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode()
    assert text.count("\n") == 1
    return text


def event(folder: Path | str) -> str:
    return json.dumps({"model": {"id": "m"}, "cwd": "/", "workspace": {"current_dir": str(folder)}})


def test_it_follows_the_goal_and_writes_nothing(repo: GitRepo) -> None:
    assert line(repo.path, b"") == NO_GOAL
    scene.create(scene.start(repo), "greet", "--fuzzy", scene.FUZZY)
    assert line(repo.path) == "◎ greet 0/2 · not evaluated yet\n"
    assert flow(repo, "goal", "evaluate").status == 1
    assert line(repo.path) == "◎ greet 0/2 · AC1 failed · turn 1\n"
    scene.meet(repo)
    assert flow(repo, "goal", "evaluate").status == 4
    files = sorted(path for path in repo.path.rglob("*") if ".git/" not in str(path))
    goal = scene.goal_file(repo)
    assert line(repo.path, b"") == "◎ greet 1/2 · AC2 waits for you\n"
    assert files == sorted(path for path in repo.path.rglob("*") if ".git/" not in str(path))
    assert goal == scene.goal_file(repo)


def test_a_draft_that_is_older_than_the_last_closing_is_not_shown(repo: GitRepo) -> None:
    """As in ``flow goal status``: the example that ``flow init`` drafts is nobody's work."""
    scene.create(scene.start(repo), "example", "--draft")
    assert line(repo.path) == "◎ example 0/1 · draft\n"
    scene.create(repo)
    assert flow(repo, "goal", "clear", "greet", "--yes").status == 0
    assert line(repo.path) == NO_GOAL
    assert "greet" in flow(repo, "goal", "status").stdout


def test_a_proposal_a_moved_file_and_what_is_outside(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    scene.propose(repo)
    assert line(repo.path) == "◎ greet 1/1 · waits for you: confirm\n"
    repo.write("src/more.txt", "x")
    # A turn's moment is in whole seconds, so a file of the same second may be counted, too.
    assert re.fullmatch(r"◎ greet 1/1 · [12] files? moved since turn 1\n", line(repo.path))
    repo.write("other.txt", "x")
    assert flow(repo, "goal", "evaluate").status == 3
    assert line(repo.path) == "◎ greet 1/1 · blocked, 1 file outside its paths\n"
    assert flow(repo, "goal", "pause", "--reason", "Later.").status == 0
    assert line(repo.path) == "◎ greet paused · “Later.”\n"


def test_the_host_names_the_folder(repo: GitRepo, tmp_path: Path) -> None:
    scene.create(scene.start(repo))
    away = tmp_path / "away"
    away.mkdir()
    for said in (event(repo.path), event(repo.path / "src"), json.dumps({"cwd": str(repo)})):
        assert line(away, said).startswith("◎ greet 0/1")
    assert line(repo.path, event(away)) == NO_GOAL
    assert line(repo.path, event(tmp_path / "gone")) == NO_GOAL, "its cwd is /"


NO_EVENTS = (
    "no json",
    "[]",
    '{"workspace": 5, "cwd": []}',
    '{"cwd": "relative"}',
    r'{"cwd": "/a\u0000b"}',
    '{"cwd": "/nowhere/at/all"}',
    b"\xff\xfe{",
    b"[" * 100_000,
    " ",
)


def test_what_is_no_event_means_the_folder_it_runs_in(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    for said in NO_EVENTS:
        assert line(repo.path, said).startswith("◎ greet 0/1"), said[:40]


def test_a_broken_goal_and_no_git_have_their_line(repo: GitRepo, tmp_path: Path) -> None:
    scene.create(scene.start(repo))
    repo.write(".flow/goals/greet.goal.yaml", "{: no goal")
    assert line(repo.path) == "◎ 1 goal cannot be read: flow goal list\n"
    repo.write(".claude/settings.flow.json", "{")
    assert line(repo.path) == "◎ 1 goal cannot be read: flow goal list\n"
    plain = tmp_path / "plain"
    (plain / ".flow/goals").mkdir(parents=True)
    assert line(plain) == NO_GOAL
    assert line(tmp_path) == NO_GOAL


def test_where_the_locale_has_no_marks_letters_stand_for_them(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    assert line(repo.path, b"", LC_ALL="C") == "(o) greet 0/1, not evaluated yet\n"
    coerced = {"LC_ALL": "", "LANG": "C", "LC_CTYPE": "C.UTF-8"}  # C, as Python leaves it
    assert line(repo.path, b"", **coerced) == "(o) greet 0/1, not evaluated yet\n"


def test_as_a_document_and_its_help(repo: GitRepo) -> None:
    assert json.loads(line(repo.path, "", "--json")) == {"line": "◎ no goal"}
    done = scene.flow_started(repo, "statusline", "--help")
    assert (done.status, "statusLine" in done.stdout) == (0, True)
    done = scene.flow_started(repo, "statusline", "--help", "--json")
    assert json.loads(done.stdout)["help"].startswith("usage: flow statusline")


def test_a_terminal_is_not_waited_for(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    code, shown = scene.ended(scene.at_terminal(repo, ["statusline"], 80, LC_ALL="C.UTF-8"))
    assert (code, shown.strip()) == (0, "◎ greet 0/1 · not evaluated yet")


def test_several_goals_are_named(repo: GitRepo) -> None:
    scene.start(repo)
    scene.create(repo, "one")
    scene.create(repo, "two")
    assert line(repo.path) == "◎ 2 goals: one, two\n"
    assert flow(repo, "goal", "clear", "two", "--yes").status == 0
    assert line(repo.path) == "◎ one 0/1 · not evaluated yet\n"


def test_it_loads_no_more_than_a_status_bar_needs(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    scene.propose(repo)
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); from flow.__main__ import run\n"
        "run(['statusline']); print(*sorted(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code],
        cwd=repo.path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    first, second = done.stdout.splitlines()
    assert "greet 1/1" in first
    modules = set(second.split())
    assert "flow.render.goal.statusline" in modules
    rare = {"argparse", "yaml", "git", "jsonschema", "subprocess", "filelock", "transitions"}
    rare |= {
        "flow.cli",
        "flow.render.text",
        "flow.render.goal.status",
        "flow.app.evaluation.evaluate",
    }
    assert not rare & modules
