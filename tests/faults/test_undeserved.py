"""No undeserved "achieved"; the long form: ``python -m tests.faults.undeserved --long``."""

from __future__ import annotations

import os
import time

import pytest

from tests.faults.undeserved import mends
from tests.faults.undeserved.__main__ import outcome
from tests.faults.undeserved.directed import DIRECTED, HONEST, play
from tests.faults.undeserved.interfered import interfere
from tests.faults.undeserved.oracle import Oracle, matches
from tests.faults.undeserved.rules import Search, search
from tests.faults.undeserved.world import STAMPED, yard
from tests.support.effort import sizes

SEED, RUNS = 20261122, sizes(short=4, long=300)


@pytest.fixture(scope="module")
def place():
    with yard() as made:
        yield made


@pytest.mark.parametrize("steps", HONEST)
def test_an_honest_agent_gets_there(place, steps):
    assert play(place, steps).confirmed == 1


ALIKE = {"I99": (2, 3), "I105": (3, 4, 5), "I109": (1, 2, 3), "I111": (1,)}
"""Sequences that the mend of another one's fault stops, too; played in the long form."""


@pytest.mark.parametrize("kind", DIRECTED)
def test_no_kind_that_was_found_once_is_there_again(place, kind):
    for number, steps in enumerate(DIRECTED[kind]):
        if number not in sizes(short=ALIKE.get(kind, ()), long=()):
            assert not outcome(place, steps)


FOUND_BY = {
    "I99 a proposal does not hold the guards": 1,
    "I102 a reported failure is not read": 1,
    "I103 origin/HEAD leads anywhere": 1,
    "I104 blanks at the end": 1,
    "I105 a name makes a file Flow's": 2,
    "I106 confirm knows what was denied": 1,
    "I107 amendments are not told": 3,
    "I107 changes of the proof are not told": 2,
    "I107 by-products are not told": 4,
    "I108 a named contract is proposed like a trusted one": 1,
    "I109 a made-up session's claim is silent": 7,
}
"""Which sequence of its kind finds what a mend is taken out for, where it is not the first."""


@pytest.mark.parametrize("mend", mends.MENDS)
def test_without_its_mend_each_kind_is_found(place, mend):
    """So the sequences, and the oracle, can fail."""
    with mends.without(mend):
        assert outcome(place, DIRECTED[mend.split()[0]][FOUND_BY.get(mend, 0)])


def test_an_edit_that_no_longer_fits_says_so():
    for edit in (
        mends.Edit("flow.core.boundary.globs:without_end_blanks", "no such text", ""),
        mends.Edit("flow.core.boundary.globs:no_such_function", "", ""),
    ):
        with pytest.raises(mends.Stale), mends._edited(edit):
            pass


@pytest.mark.parametrize(
    ("patterns", "path", "is_match"),
    [
        (("/src/**",), "src/app.py", True),
        (("/src/**/",), "src/app.py", False),
        (("/src/**/",), "src/lib/util.py", True),
        (("**/secrets/** ",), "secrets/key.txt", True),
        (("/src/**",), "evil/src/app.py", False),
        ((), "src/app.py", False),
    ],
)
def test_the_oracle_reads_patterns_as_git_does(patterns, path, is_match):
    assert matches(patterns, path) is is_match


def test_the_oracle_sees_what_no_stamp_tells(place):
    world = place.new(STAMPED)
    oracle = Oracle(world)
    before = oracle.working_tree()
    path = world.path("docs/guide.md")
    stamp = os.stat(path).st_mtime_ns
    with open(path, "r+b") as file:
        file.write(b"%")
    os.utime(path, ns=(stamp, stamp))
    after = oracle.working_tree()
    assert [name for name in after if after[name] != before[name]] == ["docs/guide.md"]


def test_the_oracle_is_not_bent_by_the_checkout(place):
    world = place.new()
    oracle = Oracle(world)
    before = oracle.index(), oracle.commit_tree("HEAD")
    world.git("config", "core.hooksPath", "docs")
    world.git("config", "core.worktree", "../files")
    assert (oracle.index(), oracle.commit_tree("HEAD")) == before
    assert oracle.guards()["core.hooksPath"] == "docs"


def test_a_search_finds_nothing(place, record_property):
    started = time.monotonic()
    for look in (search, interfere):
        problem = look(place, examples=RUNS, number=SEED)
        assert problem is None, problem
    came_to = f"{Search.runs} runs, {Search.proposed} proposed, {Search.confirmed} confirmed"
    took = f"seed {SEED}, {time.monotonic() - started:.0f} s"
    record_property("summary", f"undeserved: {came_to}; 0 failures, {took}")
    assert Search.proposed > 1
    assert Search.confirmed > 0
