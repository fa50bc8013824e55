"""Many processes on one goal at once; the long form: ``python -m tests.faults.crowd --long``."""

from __future__ import annotations

import os
import time

from tests.faults import crowd, crowd_check, editor
from tests.faults.crowd_check import Operation

SEED = 20261121


def test_what_a_crowd_was_told_is_what_happened(tmp_path, capsys, record_property):
    started = time.monotonic()
    found = crowd.crowd(os.path.realpath(tmp_path), seed=SEED, operations=12)
    crowd.report(found, seed=SEED, seconds=time.monotonic() - started)
    said = capsys.readouterr().out
    assert not found.problems, said
    record_property("summary", said.splitlines()[-1])
    assert len(found.operations) > 100
    assert found.killed > 3
    assert sum(op.done for op in found.operations) > 50


def test_of_two_evaluations_one_waits(tmp_path):
    assert editor.two_at_once(os.path.realpath(tmp_path)) == []


def test_an_edit_during_an_evaluation_is_never_lost(tmp_path):
    assert editor.edited(os.path.realpath(tmp_path), seed=SEED, rounds=8) == []


def _operation(token, called, answered):
    return Operation(0, 0, "pause", token, {}, called, answered, {"ok": True})


def test_the_check_sees_a_wrong_order():
    first, second = _operation("a", 1.0, 2.0), _operation("b", 3.0, 4.0)
    assert crowd_check._order([first, second], {"a": 1, "b": 2}) == []
    assert len(crowd_check._order([first, second], {"a": 2, "b": 1})) == 1
    at_once = _operation("c", 1.5, 5.0)
    assert crowd_check._order([first, second, at_once], {"c": 1, "a": 2, "b": 3}) == []
