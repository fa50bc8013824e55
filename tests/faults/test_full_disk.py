"""A disk that is full at any moment of a command; every amount of room: ``--long``."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.faults.full_disk import ALONE, REMEDY, UNABLE
from tests.faults.scenes import GOAL, Scene, command, must
from tests.faults.view import look
from tests.support import ROOT
from tests.support.effort import sizes

NAMES = ("evaluate", "confirm", "hook-first", "journal")


def mounting(words):
    """Run a program that mounts a file system of its own; where it may not, the test is skipped."""
    done = subprocess.run(words, cwd=ROOT, check=False, capture_output=True, text=True)
    if done.returncode == UNABLE:
        pytest.skip(f"nobody may mount a file system here: {done.stderr.strip()}")
    return done


@pytest.mark.needs_tool("unshare")
def test_a_full_disk_leaves_nothing_half_and_says_what_to_do(record_property):
    few = [word for name in NAMES for word in ("--only", name)]
    words = sizes(short=few, long=["--long"])
    done = mounting([sys.executable, "-m", "tests.faults.full_disk", *words])
    assert done.returncode == 0, done.stdout + done.stderr
    summary = done.stdout.splitlines()[-1]
    record_property("summary", summary)
    assert ", 0 failures" in summary
    assert int(summary.split()[1]) > 30


@pytest.mark.needs_tool("unshare")
def test_no_look_at_a_full_disk_ends_its_process(tmp_path):
    mount = f'mount -t tmpfs -o size=64k none "$1" || exit {UNABLE}'
    fill = 'head -c 1M /dev/zero >"$1/all" 2>/dev/null; exec "$2" -c "$3" "$1"'
    look = "import sys; from flow.adapters.fs import stamps; print(stamps.flush(sys.argv[1]))"
    done = mounting([*ALONE, "sh", "-c", f"{mount}; {fill}", "sh", tmp_path, sys.executable, look])
    assert (done.returncode, done.stdout) == (0, "None\n"), done.stderr


FULL_STATE = f"""
cp -a "$1" "$1.copy" && mount -t tmpfs -o size=2m,mode=700 none "$1" || exit {UNABLE}
cp -a "$1.copy/." "$1"; head -c 4M /dev/zero >"$1/all" 2>/dev/null; shift; exec "$@"
"""


def with_full_state(scene, *words):
    """Run ``flow`` where the state folder is a disk of its own, without room."""
    done = subprocess.run(
        [*ALONE, "sh", "-c", FULL_STATE, "sh", scene.state, *command(("flow", *words))],
        cwd=scene.repo,
        env=scene.env,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == UNABLE:
        pytest.skip(f"nobody may mount a file system here: {done.stderr.strip()}")
    return done


@pytest.mark.needs_tool("unshare")
def test_a_full_disk_of_the_state_folder_is_told_before_any_command_runs(tmp_path):
    scene = Scene(os.path.realpath(tmp_path / "scene")).start()
    scene.meet()
    before = look(scene)
    done = with_full_state(scene, "goal", "evaluate", GOAL)
    assert (done.returncode, done.stdout) == (5, ""), done.stderr
    assert scene.state in done.stderr
    assert REMEDY in done.stderr
    after = look(scene)
    assert (after.status, after.turns, after.evidence) == (before.status, before.turns, ())
    must(scene.flow("goal", "evaluate", GOAL))
    done = with_full_state(scene, "doctor")
    assert f"{scene.state}: cannot write it: No space left on device" in done.stdout
