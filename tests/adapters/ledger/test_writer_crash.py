"""SIGKILL, and failing calls, at every single call of every change: nothing, or the whole, once."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from flow.adapters.fs import files, locks
from flow.adapters.ledger import evidence_store, transaction
from flow.core import layout
from tests.faults.broken_calls import failing, killed
from tests.support import ledger_scene as scene
from tests.support.effort import sizes
from tests.support.patience import LONG

pytestmark = pytest.mark.slow

MOST = 300

# What may stay beside "nothing": it is no evidence, no goal and no change, and does no harm.
LEDGER = f".flow/runs/{scene.RUN}/ledger.jsonl"
"""A kill between its making and its first entry leaves it empty."""
HARMLESS = {
    "create": {f".flow/runs/{scene.RUN}/baseline.json"},
    "evidence": {scene.SIDECAR.replace(".evidence.yaml", ".txt"), LEDGER},
    "foreign": {f".flow/runs/{scene.RUN}/evidence/theirs-1.txt", LEDGER},
}


@pytest.fixture
def states(tmp_path, monkeypatch):
    """Gives (template, tree before, tree after) of a change; all keys are the same."""
    monkeypatch.setattr(transaction, "new_key", lambda: "0" * 24)

    def make(name):
        prepare, change = scene.CHANGES[name]
        template, whole = tmp_path / "template", tmp_path / "whole"
        template.mkdir()
        prepare(str(template))
        monkeypatch.setattr(transaction, "new_key", lambda: "1" * 24)
        shutil.copytree(template, whole)
        change(str(whole))
        return template, scene.tree(template), scene.tree(whole)

    return make


def settle(root):
    scene.ledger(root).finish(scene.GOAL)
    with locks.exclusive(root, layout.run_lock(scene.RUN), quick=True):
        evidence_store.finish_record(scene.session(root).run(scene.RUN))


def check(name, root, before, after):
    """Either nothing happened or everything did, once; returns whether it did."""
    settle(root)
    found = scene.tree(root)
    strays = {path for path in found if path not in before and path not in after}
    assert not strays, strays
    assert files.leftovers(root) == temps(root)
    if name == "evidence":  # the command's own file is the runner's to clear away
        before = {path: data for path, data in before.items() if not path.endswith("raw.out")}
        found = {path: data for path, data in found.items() if not path.endswith("raw.out")}
    if found == after:
        return True
    extra = HARMLESS.get(name, set())
    assert {path: data for path, data in found.items() if path not in extra} == before
    assert not found.get(LEDGER), "an entry without its sidecar"
    return False


def temps(root):
    return sorted(
        os.path.relpath(os.path.join(top, name), root)
        for top, _, names in os.walk(root)
        for name in names
        if name.startswith(files.TEMP_PREFIX)
    )


@pytest.mark.parametrize("name", scene.CHANGES)
def test_killed_at_any_call(tmp_path, states, name):
    template, before, after = states(name)
    change = scene.CHANGES[name][1]
    root = str(tmp_path / "root")
    shutil.copytree(template, root)
    outcomes = []
    for _ in killed(lambda: change(root), root):
        done = check(name, root, before, after)
        outcomes.append(done)
        # What was not done can be done now, with the very same call.
        if not done:
            if name in ("evidence", "foreign"):
                scene.raw(root)
            change(root)
            assert scene.tree(root) == after
    assert sorted(outcomes) == outcomes, "once decided, always done"
    assert not outcomes[0]
    assert outcomes[-1]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO], ids=errno.errorcode.get)
@pytest.mark.parametrize("name", scene.CHANGES)
def test_any_call_that_fails(tmp_path, states, name, number):
    template, before, after = states(name)
    change = scene.CHANGES[name][1]
    for at in range(1, MOST):
        root = tmp_path / f"{at}"
        shutil.copytree(template, root)
        status = failing(lambda r=str(root): change(r), at, number)
        assert temps(root) == [], "a temporary file stays"
        done = check(name, str(root), before, after)
        if status == 0:
            assert done
            break
        shutil.rmtree(root)
    assert at > 8


@pytest.mark.parametrize("name", ["create", "write_turn", "foreign"])
def test_no_descriptor_left_at_any_open(tmp_path, states, name):
    """At any; in the short form at every third, as what one open's failure does, any call's does.

    That is above: at every call that writes.
    """
    template, before, after = states(name)
    change = scene.CHANGES[name][1]
    for at in range(1, MOST, sizes(short=3, long=1)):
        root = tmp_path / f"{at}"
        shutil.copytree(template, root)
        status = failing(lambda r=str(root): change(r), at, errno.EMFILE, ("open",), opens=-1)
        done = check(name, str(root), before, after)
        if status == 0:
            assert done
            break
        shutil.rmtree(root)
    assert at > 20


@pytest.mark.parametrize("name", ["write_turn", "foreign", "create"])
def test_killed_again_while_finishing(tmp_path, states, name):
    """At any call; then, while it finishes, at any (of the short form: every 13th) once more."""
    template, before, after = states(name)
    change = scene.CHANGES[name][1]
    root, again = str(tmp_path / "root"), str(tmp_path / "again")
    shutil.copytree(template, root)
    rounds, step = 0, sizes(short=13, long=1)
    for at in killed(lambda: change(root), root):
        if not os.path.exists(f"{root}/.flow/runs/.pending/{scene.GOAL}.json"):
            continue
        shutil.copytree(root, again)
        for _ in killed(lambda: settle(again), again, 1 + at % step, step):
            check(name, again, before, after)
            rounds += 1
    assert rounds > 10


MOST_CALLS = 30
CHILD = """
import os, shutil, sys
from tests.support import ledger_scene as scene
name, call, template, most = *sys.argv[1:4], int(sys.argv[4])
here = os.open(template, os.O_RDONLY)
dummies = {
    "rename": lambda: os.rename("", "", src_dir_fd=here, dst_dir_fd=here),
    "fsync": lambda: os.fsync(here),
    "linkat": lambda: os.link("", "", src_dir_fd=here, dst_dir_fd=here),
    "unlinkat": lambda: os.unlink("", dir_fd=here),
}
for at in range(1, most):
    root = f"{template}-{at}"
    shutil.copytree(template, root)
    child = os.fork()
    if child == 0:
        for _ in range(most - at):
            try:
                dummies[call]()
            except OSError:
                pass
        scene.CHANGES[name][1](root)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(status, root, flush=True)
    if status == 0:
        break
"""
"""Each process that it forks is killed at its last call but so many: the first ones do nothing."""


@pytest.mark.needs_tool("strace")
@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("write_turn", "rename"),
        pytest.param("write_turn", "fsync", marks=pytest.mark.long),
        ("evidence", "linkat"),
        pytest.param("evidence", "fsync", marks=pytest.mark.long),
        ("close", "unlinkat"),
    ],
)
def test_killed_by_the_kernel_at_a_system_call(states, name, call):
    template, _, _ = states(name)
    what = f"/^{call}(at|at2)?$" if call == "rename" else call
    words = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={what}"]
    words += ["-e", f"inject={what}:signal=KILL:when={MOST_CALLS}"]
    words += [sys.executable, "-B", "-c", CHILD, name, call, template, str(MOST_CALLS)]
    ran = subprocess.run(words, capture_output=True, timeout=LONG)  # -B: only Flow's own writes
    if b"ptrace" in ran.stderr.lower():
        pytest.skip("may not trace here")
    assert ran.returncode == 0, ran.stderr
    statuses = []
    for line in ran.stdout.decode().splitlines():
        status, root = line.split(" ", 1)
        statuses.append(int(status))
        root = Path(root)
        settle(str(root))
        goal = scene.records(str(root)).goal(scene.GOAL).goal
        journal = (root / scene.JOURNAL).read_text()
        events = (root / f".flow/runs/{scene.RUN}/events.jsonl").read_text()
        if name == "write_turn":
            changed = goal.turns_evaluated
            assert journal.count("type: goal-evaluation") == events.count('"evaluated"') == changed
        elif name == "close":
            changed = int(goal.status == "achieved")
            assert journal.count("to: achieved") == events.count('"confirmed"') == changed
        else:
            found, warnings = scene.records(str(root)).evidence(scene.RUN)
            assert not warnings
            changed = len(found)
    assert changed == 1, "it never finished"
    assert len(statuses) > 1, "the call was never made"
    assert statuses == [-signal.SIGKILL] * (len(statuses) - 1) + [0]


def test_an_edit_after_the_crash_is_kept_and_told(tmp_path, states):
    template, before, _ = states("write_turn")
    change = scene.CHANGES["write_turn"][1]
    root = tmp_path / "root"
    shutil.copytree(template, root)
    told = 0
    for _ in killed(lambda: change(str(root)), root):
        path = root / scene.GOAL_FILE
        if not os.path.exists(root / f".flow/runs/.pending/{scene.GOAL}.json"):
            continue
        edited = path.read_text().replace("# the end", "# my own words")
        path.write_text(edited)
        settle(str(root))
        assert path.read_text() == edited
        journal, events = (
            (root / scene.JOURNAL).read_text(),
            scene.tree(root)[f".flow/runs/{scene.RUN}/events.jsonl"].decode(),
        )
        assert journal.count("type: goal-evaluation") == 1
        assert events.count('"type":"evaluated"') == 1
        told += transaction.EDITED in events
        assert not scene.ledger(str(root)).finish(scene.GOAL)
    assert told > 3
    assert scene.GOAL_FILE in before
