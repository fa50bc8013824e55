"""Many processes on one goal at once; in the long form each does more."""

from __future__ import annotations

import json
import os
import signal
import time

from tests.faults import crowd, crowd_check, editor
from tests.faults.crowd_check import Operation
from tests.faults.scenes import Scene
from tests.faults.view import View
from tests.support.effort import sizes

SEED = 20261121


def test_what_a_crowd_was_told_is_what_happened(tmp_path, capsys, record_property):
    started = time.monotonic()
    found = crowd.crowd(
        os.path.realpath(tmp_path), seed=SEED, operations=sizes(short=12, long=crowd.OPERATIONS)
    )
    crowd.report(found, seed=SEED, seconds=time.monotonic() - started)
    said = capsys.readouterr().out
    assert not found.problems, said
    record_property("summary", said.splitlines()[-1])
    assert len(found.operations) > 100
    assert found.killed > 3
    # On a slow machine some wait longer for a lock than Flow does.
    assert sum(op.done or op.code == "locked" for op in found.operations) > 50


def test_of_two_evaluations_one_waits(tmp_path):
    assert editor.two_at_once(os.path.realpath(tmp_path)) == []


def test_an_edit_during_an_evaluation_is_never_lost(tmp_path):
    assert (
        editor.edited(os.path.realpath(tmp_path), seed=SEED, rounds=sizes(short=8, long=200)) == []
    )


def _operation(token, called, answered, code="", **given):
    answer = {"ok": False, "code": code} if code else {"ok": True}
    return Operation(0, 0, "pause", token, given, called, answered, answer)


def test_the_check_sees_a_wrong_order():
    first, second = _operation("a", 1.0, 2.0), _operation("b", 3.0, 4.0)
    assert crowd_check._order([first, second], {"a": 1, "b": 2}) == []
    assert len(crowd_check._order([first, second], {"a": 2, "b": 1})) == 1
    at_once = _operation("c", 1.5, 5.0)
    assert crowd_check._order([first, second, at_once], {"c": 1, "a": 2, "b": 3}) == []


def test_what_waited_too_long_for_a_lock_may_still_happen():
    """On a slow machine: it was decided, and the next one completes it."""
    first, second = _operation("a", 1.0, 2.0, "locked"), _operation("b", 3.0, 4.0)
    assert crowd_check._order([first, second], {"a": 2, "b": 1}) == []
    view = View("active", 1, (), (), (), None, (), False, (), frozenset(), 0)
    view = view._replace(
        evidence=("race-1",), events=({"type": "evidence", "evidence_id": "race-1"},)
    )
    for code, problems in (("exists", 1), ("locked", 0)):
        wanted = [_operation("a", 1.0, 2.0, code, id="race-1")]
        assert len(crowd_check._races(wanted, view)) == problems


def test_half_a_line_of_a_killed_process_is_left_out(tmp_path):
    scene = Scene(str(tmp_path))
    os.makedirs(scene.files)
    call = {"number": 0, "kind": "pause", "token": "w0-0", "given": {}, "at": 1.0}
    answer = {"number": 0, "answer": {"ok": True}, "at": 2.0}
    scene.hand("worker-0.log", f"{json.dumps(call)}\n{json.dumps(answer)[:20]}")
    (found,) = crowd._calls(scene, 0)
    assert (found.token, found.answered) == ("w0-0", None)


class Quick(crowd.Chaos):
    """Its processes have all begun everything they will, and end when they are told to."""

    def _start(self, count):
        child = os.fork()
        if child == 0:
            signal.pause()
            os._exit(0)
        os.write(self._begins_w, b"." * count)
        self.running[child] = self.started
        self.started += 1

    def _run(self, deadline):
        self._disturb(deadline)
        for child in self.running:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        return []


def test_a_machine_that_is_done_at_once_has_its_processes_killed_too(tmp_path):
    scene = Scene(str(tmp_path))
    chaos = Quick(scene, seed=SEED, processes=4, operations=3)
    chaos.run()
    assert chaos.killed > 2
