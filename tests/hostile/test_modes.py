"""Whatever the umask: what is the user's own stays so, and nobody else can write to a checkout."""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING

import pytest

from tests.hostile.scene import CANARY, GOAL, GOAL_TEXT, RUN, check
from tests.support import ROOT, scene
from tests.support.start import run

if TYPE_CHECKING:
    from tests.hostile.scene import Scene
    from tests.support import GitRepo

CALLS = (
    ("init",),
    ("goal", "create", "--file", "other.yaml"),
    ("goal", "evaluate", "other"),
    ("goal", "approve", "other", "AC2", "--by", "x", "--note", "y", "--yes"),
    ("goal", "amend", "other", "--file", "amended.yaml", "--yes"),
    ("goal", "pause", "other"),
    ("goal", "resume", "other"),
    (
        *("evidence", "record", "--run-id", RUN),
        *("--evidence-file", "evidence.yaml", "--raw-output", "raw.txt"),
    ),
    ("verdict", "record", "--run-id", RUN, "--verdict-file", "verdict.json"),
    ("journal", "record", "--issue", "8", "--type", "note"),
    ("trust", "revoke", GOAL),
    ("trust", "record", GOAL, "--yes"),
    ("report", "other", "--output", "page.html"),
    ("doctor", "--fix"),
)
BY_HAND = {"repo/other.yaml", "repo/amended.yaml"}


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o022, 0o077], ids=oct)
def test_modes_of_everything_written(scene: Scene, umask: int) -> None:
    from flow.adapters.fs import crash

    text = GOAL_TEXT.replace(f"id: {GOAL}", "id: other").replace(f"run_id: {RUN}", "run_id: r2")
    scene.write_top("other.yaml", text.replace("issue: 7", "issue: 8").encode())
    amended = text.replace("issue: 7", "issue: 8").replace("repo: demo", "repo: renamed")
    scene.write_top("amended.yaml", amended.encode())
    for gone in (scene.state, f"{scene.top}/.decisions", f"{scene.top}/.flow/runs"):
        _remove(gone)  # so that all of it is made anew
    before = scene._look()
    old = os.umask(umask)
    try:
        for words in CALLS:
            done = scene.flow(*words)
            check(done, words)
            assert done.status in (0, 1, 4), (words, done)
        error = crash.report(ValueError("x"), scene.environ)
        assert error.fault.file == f"{scene.state}/error.log"
    finally:
        os.umask(old)
    after = scene._look()
    written = {rel: what for rel, what in after.items() if before.get(rel) != what}
    assert len(written) > 25
    kinds = set()
    for rel, (mode, _) in written.items():
        kinds.add(rel.startswith("home/state"))
        bits = stat.S_IMODE(mode)
        assert not mode & (stat.S_ISUID | stat.S_ISGID), rel
        if rel.startswith("home/state"):
            assert bits == (0o700 if stat.S_ISDIR(mode) else 0o600), (rel, oct(bits))
        elif rel not in before:
            assert not bits & (0o022 | umask), (rel, oct(bits))
            assert stat.S_ISDIR(mode) or not bits & 0o111, rel
        else:
            assert mode == before[rel][0], (rel, oct(bits))  # a file keeps what its owner chose
    assert kinds == {True, False}
    with open(scene.canary, "rb") as file:
        assert file.read() == CANARY


@pytest.mark.parametrize("umask", ["0777", "0327"])
def test_a_umask_that_shuts_the_user_out_is_not_obeyed(repo: GitRepo, umask: str) -> None:
    scene.start(repo)
    script = f'umask {umask} && exec "$0" "$@"'
    create = ("goal", "create", "greet", "--outcome", "o", "--criterion", "AC1: a :: test -d src")
    words = ["sh", "-c", script, f"{ROOT}/bin/flow", *create, "--json"]
    done = run(words, cwd=repo.path, env={"FLOW_PYTHON": sys.executable})
    assert done.status == 0, done
    made = [path for name in (".flow", ".decisions") for path in (repo.path / name).rglob("*")]
    assert len(made) > 5
    others = 0o077 & ~int(umask, 8)
    for path in made:
        bits = stat.S_IMODE(path.lstat().st_mode)
        assert bits & 0o600 == 0o600, (path, oct(bits))
        assert not bits & 0o077 & ~others, (path, oct(bits))


def _remove(path: str) -> None:
    import shutil

    shutil.rmtree(path)
