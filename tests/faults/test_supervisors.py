"""Those who watch a command, broken at some of their calls, or all."""

from __future__ import annotations

import os

import pytest

from tests.faults.supervisors import FAULTS, MOST, Bench
from tests.support.effort import sizes


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    return Bench(os.path.realpath(tmp_path_factory.mktemp("supervisors")))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_broken_supervisor_is_never_a_pass_and_leaves_nothing(bench, fault, record_property):
    """A kill at every ninth call, each error at every eighteenth, other ones for each of them.

    In the long form every call. Two commands make the same calls: what is left out at the first is
    met at the second.
    """
    trials = 0
    few = (1, 9) if fault == "KILL" else (5 * FAULTS.index(fault) - 1, 18)
    first, step = sizes(short=few, long=(1, 1))
    for at in range(first, MOST, step):
        broke, wrong = bench.trial(fault, at)
        assert wrong == []
        if not broke:
            break
        trials += 1
    assert trials > 2
    record_property("summary", f"supervisors: {trials} trials of {fault}, 0 failures")
