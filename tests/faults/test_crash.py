"""Every writing command killed and failed at some system calls; at all of them: ``--long``."""

from __future__ import annotations

import os
import random
import time

import pytest

from tests.faults import crash
from tests.faults.commands import TRIALS
from tests.faults.scenes import Ran
from tests.support.effort import sizes

SEED = 20261121
ALIKE = frozenset(
    (
        *("evaluate-outside", "evaluate-waiting", "evaluate-repeat", "confirm-blocked", "clear"),
        *("lifecycle-achieved", "create-helper", "activate", "resume", "hook-first"),
    )
)
"""They write in the way of another command, from another beginning."""
NAMES = [trial.name for trial in TRIALS if not trial.reader and trial.name not in ALIKE]
"""Those that change something, each in its way; the others are for the long form."""


@pytest.mark.needs_tool("strace")
def test_commands_survive_kills_and_failing_calls(tmp_path, capsys, record_property):
    started = time.monotonic()
    names = sizes(short=NAMES, long=[trial.name for trial in TRIALS])
    outcomes = crash.trials(
        os.path.realpath(tmp_path),
        names=names,
        count=sizes(short=crash.SAMPLE, long=None),
        seed=SEED,
        workers=sizes(short=1, long=2),  # each prepares the scene of each command
        reads=sizes(short=False, long=True),
    )
    failures = crash.report(outcomes, seed=SEED, seconds=time.monotonic() - started)
    said = capsys.readouterr().out
    assert not failures, said
    record_property("summary", said.splitlines()[-1])
    assert {outcome.job.trial for outcome in outcomes} == set(names)
    assert {outcome.job.fault for outcome in outcomes} == set(crash.TURNS)
    assert sum(outcome.job.fault == "KILL" for outcome in outcomes) >= len(outcomes) // 3


def test_a_sample_has_kills_from_the_whole_run():
    call = crash.tracer.Call
    jobs = [crash.Job("record", call("write", n, ""), "KILL") for n in range(1, 41)]
    jobs += [crash.Job("record", call("write", n, ""), "EIO") for n in range(1, 41)]
    chosen = crash.sample(jobs, ["KILL", "EIO", "KILL", "ENOLCK", "KILL"], random.Random(1))
    first, second, third = ({job.call.number for job in tries} for tries in chosen[:3])
    assert max(first) < min(second) <= max(second) < min(third)
    assert {job.fault for job in chosen[3]} == {"EIO"}
    assert len(chosen) == 5  # one for the fault that fits no call, too


def test_a_file_that_the_command_line_names_is_the_callers(tmp_path):
    bench, scene = crash.Bench(str(tmp_path)), crash.Scene(str(tmp_path / "scene"))
    bench.given["scorecard"] = ""
    job = crash.Job("scorecard", crash.tracer.Call("openat", 1, ""), "EMFILE")
    for path, own in (("repo/run.md", True), ("files/judge.sh", True), ("repo/.flow", False)):
        hit = f'openat(AT_FDCWD, "{scene.folder}/{path}", O_RDONLY) = -1 EMFILE (INJECTED)'
        found = crash.tracer.Broken(Ran(2, "", ""), hit, True)
        asked = crash._Questions(bench, crash.BY_NAME["scorecard"], scene, job, found)
        assert asked._of_the_caller() is own


def test_a_report_of_yesterday_has_the_same_name():
    names = [f"repo/.specs/reports/greet-2026-11-{day}.1.md" for day in (21, 22)]
    assert crash.undated(names[0]) == crash.undated(names[1]) != names[0]
    assert crash.undated("repo/2026-11-22") == "repo/2026-11-22"


def test_a_folder_that_was_to_go_counts_once():
    paths = ["repo/a/.flow-tmp-1", "state/cache/.flow-tmp-2-a/git/HEAD", "repo/b.txt"]
    paths += ["state/cache/.flow-tmp-2-a/top/.gitignore"]
    assert crash.temporary(paths) == {"repo/a/.flow-tmp-1", "state/cache/.flow-tmp-2-a"}
