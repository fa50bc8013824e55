"""Whatever signals the parent ignores or blocks, Flow's own processes do their work."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support import ROOT, GitRepo, Ran, run, scene
from tests.support.stops import SCRIPT, event, settings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SIGNALS = ("SIGCHLD", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGHUP", "SIGINT", "SIGUSR1", "SIGTSTP")
PARENT = """
import os, signal, sys
way, names, *argv = sys.argv[1:]
numbers = [getattr(signal, name) for name in names.split(",")]
for number in numbers if way == "ignored" else ():
    signal.signal(number, signal.SIG_IGN)
if way == "blocked":
    signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
os.execv(argv[0], argv)
"""
EVALUATE = ("goal", "evaluate", "greet", "--no-input", "--json")
OF_PROGRAMS = (1 << 31) - 1
"""The signals of which a program may say what they do; the C library has 32 and 33 for itself."""


def under(parent: str, argv: Sequence[str], repo: GitRepo, text: str = "") -> Ran:
    """Run ``argv`` as the child of a program that treats signals as ``parent`` says."""
    way, _, names = parent.partition(" ")
    first = [sys.executable, "-I", "-S", "-c", PARENT, way, names] if parent else []
    env = {"FLOW_PYTHON": sys.executable}
    return run([*first, *argv], cwd=repo.path, env=env, input=text, timeout=60)


def entries(repo: GitRepo) -> dict[str, tuple[list[str], str]]:
    """Each way to start a process of Flow's: its words, and its standard input."""
    data = json.dumps(event(repo))
    return {
        "launcher": ([f"{ROOT}/bin/flow", *EVALUATE], ""),
        "module": ([sys.executable, "-m", "flow", *EVALUATE], ""),
        "hook": ([SCRIPT], data),
        "judge hook": ([f"{ROOT}/hooks/judge-on-stop.sh"], data),
        "helper": ([f"{ROOT}/bin/flow-active-goal.sh"], ""),
        "status": ([f"{ROOT}/bin/flow", "goal", "status", "greet", "--json"], ""),
    }


@pytest.fixture
def failing(repo: GitRepo, home: Path) -> GitRepo:
    """A goal that is not met, whose command shows the signals that it inherits."""
    shown = "for k in SigBlk SigIgn; do grep $k /proc/self/status | tr '\\n' ,; done; false"
    scene.create(scene.start(repo), criterion=f"AC1: shows its signals :: {shown}")
    settings(home, stopHookEnforcement="block")
    return repo


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("way", ["ignored", "blocked"])
@pytest.mark.parametrize(
    "name",
    [*(pytest.param(name, marks=pytest.mark.long) for name in SIGNALS), ",".join(SIGNALS)],
)
def test_every_entry_works_as_under_any_other_parent(failing: GitRepo, name: str, way: str) -> None:
    for entry, (argv, text) in entries(failing).items():
        done = under(f"{way} {name}", argv, failing, text)
        assert "Traceback" not in done.stderr, entry
        assert "internal" not in done.stdout + done.stderr, entry
        if entry in ("launcher", "module"):
            assert done.status == 1, (entry, done.stdout, done.stderr)
            assert "(exit 1)" in done.json["reason"]
            output = sorted(scene.run_dir(failing).glob("evidence/*.txt"))[-1]
            masks = [int(mask, 16) for mask in re.findall(r"\t(\w+),", output.read_text())]
            assert [mask & OF_PROGRAMS for mask in masks] == [0, 0]
        elif entry == "hook":
            assert done.status == 0
            assert done.json["decision"] == "block", done.stdout
        else:
            assert done.status == 0, (entry, done.stderr)


def test_a_blocked_alarm_still_ends_the_hook(repo: GitRepo, home: Path) -> None:
    """The hook's own limit of time is an alarm."""
    scene.create(scene.start(repo), criterion="AC1: takes long :: sleep 40")
    settings(home, stopHookEnforcement="block", hookTimeoutSeconds=10)
    done = under("blocked SIGALRM", [SCRIPT], repo, json.dumps(event(repo)))
    assert done.status == 0
    assert "decision" in done.json


SETTLED = """
import signal
from flow.startup import ctrl_c
ctrl_c.settle()
print(*signal.pthread_sigmask(signal.SIG_BLOCK, ()))
print(*(n.name for n in signal.Signals if signal.getsignal(n) == signal.SIG_IGN))
"""


@pytest.mark.parametrize(
    ("way", "ignored"), [("ignored", "SIGHUP SIGINT SIGPIPE SIGTSTP SIGUSR1"), ("blocked", "")]
)
def test_what_flow_waits_for_and_what_ends_it_is_as_under_any_other_parent(
    tmp_path: Path, way: str, ignored: str
) -> None:
    names = ",".join(SIGNALS)
    argv = [sys.executable, "-I", "-S", "-c", PARENT, way, names, sys.executable, "-c", SETTLED]
    done = run(argv, cwd=tmp_path, env={"PYTHONPATH": os.fspath(ROOT)})
    mask, still = done.stdout.splitlines()
    assert mask == ""
    own = {"SIGPIPE", "SIGXFSZ", "SIGXFZ"}  # Python ignores these itself
    assert sorted(set(still.split()) - own) == sorted(set(ignored.split()) - own)


NOHUP = """
import signal
from flow.startup import ctrl_c
ctrl_c.own()
print(*(signal.getsignal(n) == signal.SIG_IGN for n in (signal.SIGHUP, signal.SIGINT)))
"""


def test_who_says_that_a_hangup_does_not_matter_is_heard(repo: GitRepo) -> None:
    """``nohup flow ...`` outlives its terminal, and a job in the background its Ctrl-C."""
    argv = [sys.executable, "-c", NOHUP]
    done = run(
        [sys.executable, "-I", "-S", "-c", PARENT, "ignored", "SIGHUP,SIGINT", *argv],
        cwd=repo.path,
        env={"PYTHONPATH": os.fspath(ROOT)},
    )
    assert done.stdout == "True True\n", done.stderr
    assert signal.getsignal(signal.SIGHUP) != signal.SIG_IGN
