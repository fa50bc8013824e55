"""``flow inbox --watch``: at a terminal redrawn in place, elsewhere a line for each change."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support import ROOT, GitRepo, run_flow, scene

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FLOW = os.path.join(ROOT, "bin", "flow")


class Watching:
    """A watch whose lines are read one by one."""

    def __init__(self, repo: GitRepo, *words: str, **env: str) -> None:
        self.process = subprocess.Popen(
            [FLOW, "inbox", "--watch", *words],
            cwd=repo.path,
            env={**os.environ, "FLOW_PYTHON": sys.executable, **env},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def interrupted(self) -> tuple[int, str]:
        self.process.send_signal(signal.SIGINT)
        _, errors = self.process.communicate(timeout=60)
        return self.process.returncode, errors


@pytest.fixture
def watching(greet: GitRepo, tmp_path: Path) -> Iterator[Watching]:
    tools = tmp_path / "tools"
    tools.mkdir()
    told = tools / "notify-send"
    told.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {tmp_path}/told\n', encoding="utf-8")
    told.chmod(0o755)
    watch = Watching(greet, "--json", "--notify", PATH=f"{tools}:{os.environ['PATH']}")
    try:
        yield watch
    finally:
        watch.process.kill()
        watch.process.communicate()


def test_a_line_for_each_change(greet: GitRepo, watching: Watching, tmp_path: Path) -> None:
    first = json.loads(watching.line())
    assert (first["schema"], first["change"]) == ("flow.inbox/1", "added")
    assert first["item"]["section"] == "working"
    scene.propose(greet)
    seen = json.loads(watching.line())
    while seen["item"]["section"] != "waits":  # a look between two of the evaluation's writes
        seen = json.loads(watching.line())
    assert (seen["change"], seen["item"]["command"]) == ("changed", "flow goal confirm greet")
    run_flow("goal", "clear", "greet", "--yes", cwd=greet.path)
    assert json.loads(watching.line())["item"]["section"] == "closed"
    assert watching.interrupted() == (130, "")
    told = (tmp_path / "told").read_text(encoding="utf-8").splitlines()
    assert told == ["--app-name=Flow", "--", f"repo/{branch(greet)} greet", "achieved is proposed"]


def branch(repo: GitRepo) -> str:
    return repo.git("symbolic-ref", "--short", "HEAD")


def test_it_ends_with_its_reader(greet: GitRepo) -> None:
    watch = Watching(greet)
    assert "greet: working" in watch.line()
    assert watch.process.stdout is not None
    watch.process.stdout.close()
    scene.propose(greet)
    assert watch.process.wait(timeout=60) == 0
    assert watch.process.stderr is not None
    assert watch.process.stderr.read() == ""
    watch.process.stderr.close()


def test_it_ends_with_its_reader_also_where_nothing_changes(greet: GitRepo) -> None:
    watch = Watching(greet)
    assert "greet: working" in watch.line()
    assert watch.process.stdout is not None
    watch.process.stdout.close()
    assert watch.process.wait(timeout=60) == 0
    assert watch.process.stderr is not None
    assert watch.process.stderr.read() == ""
    watch.process.stderr.close()


def test_at_a_terminal_it_is_drawn_in_place_and_tells_the_terminal(greet: GitRepo) -> None:
    child = scene.at_terminal(greet, ["inbox", "--watch", "--notify"], columns=100)
    child.expect("Nothing waits for you. 1 working.")
    scene.propose(greet)
    child.expect(r"\r\x1b\[\d+A")
    child.expect("flow goal confirm greet")
    child.expect(r"\x1b\]9;repo/\S+ greet: achieved is proposed\x07")
    child.sendintr()
    status, said = scene.ended(child)
    assert status == 130
    assert "Traceback" not in said


def test_rows_that_wrap_are_drawn_over_too(greet: GitRepo, tmp_path: Path) -> None:
    gone = GitRepo.init(tmp_path / "a-checkout-with-quite-a-long-name")
    scene.create(scene.start(gone))
    shutil.rmtree(gone.path)
    child = scene.at_terminal(greet, ["inbox", "--watch"], columns=60)
    child.expect("flow inbox forget")
    child.expect(r"\r\x1b\[(\d+)A")
    assert child.match is not None
    said = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", child.before or "").splitlines()
    gone_line = len(
        f"gone  {gone.path.name}: the checkout is not there; flow inbox forget {gone.path}"
    )
    rows = 4 + -(-gone_line // 60)  # nothing waits, blank, working, blank, and the long one
    assert int(child.match[1]) == rows, said
    child.sendintr()
    assert scene.ended(child)[0] == 130


def test_to_exit_with_a_code_it_has_to_end(greet: GitRepo) -> None:
    done = run_flow("inbox", "--watch", "--exit-code", cwd=greet.path)
    assert done.status == 2
    assert "--exit-code" in done.stderr


def test_to_notify_one_has_to_watch(greet: GitRepo) -> None:
    done = run_flow("inbox", "--notify", cwd=greet.path)
    assert done.status == 2
    assert "--watch" in done.stderr
