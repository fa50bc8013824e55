"""Storage that refuses, commands that hang, readers in the middle of writes (HAZARD A and B)."""

from __future__ import annotations

import json
import os
import subprocess
import time

import pytest

from flow.adapters.chain.run_record import RunRecord
from flow.adapters.journal import store as journal_store
from flow.adapters.ledger.reader import FileRecords
from tests.faults.scenes import (
    CALL_TIMEOUT,
    GOAL,
    GOAL_FILE,
    JOURNAL,
    RUN,
    RUN_DIR,
    TEXT,
    Scene,
    command,
    must,
)
from tests.faults.view import disagreements, look
from tests.hostile.places import as_a_user

EVIDENCE = {
    "apiVersion": "flow.synapti.ai/v1",
    "kind": "FlowEvidence",
    "metadata": {"id": "mine", "goal": GOAL, "run_id": RUN, "created_at": "2026-03-01T10:15:00Z"},
    "evidence": {"type": "review_comment_snapshot", "proves": ["AC2"]},
}


@pytest.fixture
def scene(tmp_path):
    return Scene(os.path.realpath(tmp_path / "scene")).start()


@pytest.mark.parametrize("folder", [RUN_DIR, f"{RUN_DIR}/evidence", ".flow/goals", ".decisions"])
def test_a_folder_that_cannot_be_written_is_named_and_nothing_passes(scene, folder):
    scene.meet()
    must(scene.flow("goal", "evaluate", GOAL, "--json"))
    place = scene.path(folder)
    before = look(scene)
    with as_a_user():
        os.chmod(place, 0o555)
        try:
            done = scene.flow("goal", "evaluate", GOAL, "--json")
        finally:
            os.chmod(place, 0o755)
    assert done.status == 5, done
    error = done.json["error"]
    assert error["file"].startswith(folder), error
    assert error["remedy"]
    after = look(scene)
    assert (after.status, after.turns) == (before.status, before.turns)
    must(scene.flow("goal", "evaluate", GOAL, "--json"))
    healed = look(scene)
    assert healed.broken == ()
    assert disagreements(healed) == []


def test_a_hung_command_holds_nobody_else_up(scene):
    slow = TEXT.replace("grep -q please", "touch ../files/began; sleep 3000; grep -q please")
    scene = Scene(f"{scene.folder}-slow").start(goal=slow)
    scene.hand("evidence.json", json.dumps(EVIDENCE))
    hung = subprocess.Popen(
        command(("flow", "goal", "evaluate", GOAL)),
        cwd=scene.repo,
        env=scene.env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 60
        while not os.path.exists(f"{scene.files}/began"):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        given = ("--run-id", RUN, "--evidence-file", f"{scene.files}/evidence.json")
        must(scene.flow("evidence", "record", *given))
        must(scene.flow("goal", "pause", GOAL))
        must(scene.flow("goal", "status", GOAL))
        must(scene.flow("goal", "resume", GOAL))
        must(scene.flow("journal", "record", "--issue", "7", "--type", "note"))
        assert hung.poll() is None
    finally:
        hung.kill()
        hung.wait()
    view = look(scene)
    assert view.status == "active"
    assert view.broken == ()
    assert disagreements(view) == []


WRITER = f"""
import os, sys
from flow.app.transitions import moves
from flow.wiring.context import Context
for n in range(25):
    here = Context()
    moves.pause_goal(here.persons_context(), {GOAL!r}, "x" * 300, here.remembered.paused)
    moves.shift_status(Context().closing_context(), {GOAL!r}, "active", "y")
sys.exit()
"""


def test_a_reader_sees_the_old_or_the_new_and_never_half(scene):
    argv = command(("flow",))
    place = argv.index("-c") + 1
    argv[place] = argv[place].partition("name =")[0].rstrip("; ") + WRITER
    first_line = scene.read(GOAL_FILE).splitlines(keepends=True)[0]
    writer = subprocess.Popen(argv, cwd=scene.repo, env=scene.env)
    records, seen = FileRecords(RunRecord(scene.repo)), []
    while writer.poll() is None or not seen:
        goal = records.goal(GOAL).goal
        found = journal_store.read(scene.repo, JOURNAL)
        assert found.warnings == ()
        text = scene.read(GOAL_FILE)
        assert text.startswith(first_line)
        assert text.endswith("# the end\n")
        seen.append((goal.status, len(found.artifacts)))
    assert writer.wait() == 0
    assert {status for status, _ in seen} <= {"active", "waiting_for_user"}
    assert [n for _, n in seen] == sorted(n for _, n in seen)
    assert disagreements(look(scene)) == []


@pytest.mark.parametrize("tail", ['{"at": "2026-', "\0\0\0\0", '{"seq": 9}', "\xff\xfe"])
def test_half_a_line_at_the_end_of_the_events_is_told_and_the_next_is_whole(scene, tail):
    path = scene.path(f"{RUN_DIR}/events.jsonl")
    with open(path, "ab") as file:
        file.write(tail.encode("latin-1"))
    told = scene.flow("goal", "history", GOAL, "--json")
    assert told.status == 0, told
    must(scene.flow("goal", "pause", GOAL))
    with open(path, "rb") as file:
        lines = file.read().split(b"\n")
    assert lines[-1] == b""
    assert json.loads(lines[-2])["type"] == "transition"


def test_what_a_killed_evaluation_left_is_measured_anew(scene):
    """Killed while its command runs: no turn, no verdict, nothing half; the next counts as 1."""
    kill = "test -e ../files/again || kill -9 $(cat ../files/pid); grep -q please"
    killing = TEXT.replace("grep -q please", kill)
    scene = Scene(f"{scene.folder}-killed").start(goal=killing)
    scene.meet()
    shell = ["/bin/sh", "-c", 'echo $$ > ../files/pid; exec "$@"', "sh"]
    child = subprocess.Popen(
        [*shell, *command(("flow", "goal", "evaluate", GOAL))],
        cwd=scene.repo,
        env=scene.env,
        stdout=subprocess.DEVNULL,
    )
    assert child.wait(CALL_TIMEOUT) == -9
    view = look(scene)
    assert (view.turns, view.verdict, view.broken) == (0, None, ())
    scene.hand("again", "")
    done = must(scene.flow("goal", "evaluate", GOAL, "--json"))
    assert done.json["lifecycle"]["turns_evaluated"] == 1
    assert look(scene).verdict is not None
