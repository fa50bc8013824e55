"""The worst inputs, each given to a process of its own: time, memory, one line, no traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.hostile import places
from tests.hostile.scene import GOAL, Done, check
from tests.support import ROOT
from tests.support.effort import sizes
from tests.support.pace import exceeds

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.hostile.scene import Scene

MIB = 1 << 20
CPU = 4.0
"""Seconds of CPU time: twice what is promised; more where the machine is slower still."""
MEMORY = 200
"""MiB."""

# A process's peak counts from its fork, so a small one stands between it and the tests.
MEASURE = """
import ctypes, json, os, resource, sys
if sys.platform == "linux":  # huge pages, where the system is set to them, would count as used
    ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)  # PR_SET_THP_DISABLE
r, w = os.pipe()
pid = os.fork()
if pid == 0:
    os.dup2(w, 1); os.dup2(w, 2); os.close(r)
    resource.setrlimit(resource.RLIMIT_CPU, (300, 300))
    os.execv(sys.argv[1], sys.argv[1:])
os.close(w)
start = end = b""
while part := os.read(r, 65536):
    start = start or part[:20000]
    end = (end + part)[-20000:]
_, status, used = os.wait4(pid, 0)
text = (start if start == end else start + end).decode("utf-8", "replace")
print(json.dumps([os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime,
                  used.ru_maxrss // (1024 if sys.platform == "linux" else 1 << 20), text]))
"""


def fill(size: int, unit: bytes, before: bytes = b"", after: bytes = b"") -> bytes:
    """``size`` bytes at most: ``unit`` again and again between the other two."""
    return before + unit * ((size - len(before) - len(after)) // len(unit)) + after


def sparse(path: str) -> None:
    """A terabyte that takes no space."""
    with open(path, "wb") as file:
        file.write(b'{"at":"x","seq":1}\n')
        file.truncate(1 << 40)


def keys(count: int) -> bytes:
    return b"{" + b",".join(b'"k%x":1' % number for number in range(count)) + b"}"


STATUS = ("goal", "status", GOAL)
EVALUATE = ("goal", "evaluate", GOAL)
HISTORY = ("goal", "history", GOAL)
RECORD = ("journal", "record", "--issue", "7", "--type", "note")
SHOW = ("journal", "show", "--issue", "7")
FRONT = b"---\nissue: 7\ncreated: x\nartifacts:\n"
QUOTES = b"[" * 40 + b'"' + b'\\"' * 500_000 + b"\\"
EVENT = b'{"seq":1,"type":"x","goal_id":"greet","a":[[],[],[],[]]}\n'
A_TERABYTE = None


def baseline() -> dict[str, Any]:
    paths = {f"src/some/folder/file-{n:07}.txt": "100644 " + "a" * 64 for n in range(120_000)}
    return {"base_commit": None, "dirty": paths, "denied_ignored": {}, "ignore_rules": {}}


CASES: dict[str, tuple[str, Callable[[], bytes] | None, tuple[str, ...], int]] = {
    "10 MB goal": ("goal", lambda: b"a: b\n" * (2 * MIB), STATUS, 2),
    "a goal of a terabyte": ("goal", A_TERABYTE, EVALUATE, 2),
    "1 MiB of dashes": ("goal", lambda: fill(MIB, b"- "), STATUS, 2),
    "dashes below a key": ("goal", lambda: fill(MIB, b"- ", b"a:\n "), STATUS, 2),
    "900 brackets": ("goal", lambda: b"a: " + b"[" * 900, STATUS, 2),
    "5,000 digits": ("goal", lambda: b"a: " + b"9" * 5000, STATUS, 2),
    "aliases": (
        "goal",
        lambda: (
            b"a0: &a0 [x,x]\n"
            + b"".join(b"a%d: &a%d [*a%d,*a%d]\n" % (n, n, n - 1, n - 1) for n in range(1, 30_000))
        ),
        STATUS,
        2,
    ),
    "350,000 lists": ("goal", lambda: fill(MIB, b"[],", b"a: [", b"]"), STATUS, 2),
    "a scalar for each two bytes": ("goal", lambda: fill(MIB, b"1,", b"a: [", b"]"), STATUS, 2),
    "one key for each five bytes": (
        "goal",
        lambda: b"".join(b"%x: 1\n" % n for n in range(110_000)),
        STATUS,
        2,
    ),
    "comments": ("goal", lambda: fill(MIB, b"#\n"), STATUS, 2),
    "a goal that is dense and poses as begun": (
        "goal",
        lambda: b"scope: {run_id: x}\n" + fill(MIB, b"1,", b"a: [", b"1]\nb: ") + b"x" * (2 * MIB),
        STATUS,
        2,
    ),
    "a goal of dashes at the limit of results": (
        "goal",
        lambda: b"a:\n" + b" - - - - - - - - - - 1\n" * 130_000,
        STATUS,
        2,
    ),
    "sidecar of dashes": (
        "sidecar",
        lambda: b"a:\n" + b" - - - - - - - - - - 1\n" * 170_000,
        ("evidence", "list", GOAL),
        0,
    ),
    "sidecar of lists": (
        "sidecar",
        lambda: fill(MIB, b"[],", b'{"a":[', b"1]}"),
        ("evidence", "list", GOAL),
        0,
    ),
    "output of a terabyte": ("output", A_TERABYTE, ("evidence", "list", GOAL), 0),
    "rubric of a terabyte": ("rubric", A_TERABYTE, STATUS, 2),
    "settings of lists": (
        "settings",
        lambda: fill(MIB, b"[],", b'{"a":[', b"1]}"),
        ("config", "list"),
        0,
    ),
    "settings of keys": ("settings", lambda: keys(95_000), ("config", "list"), 0),
    "quotes without an end": ("settings", lambda: QUOTES, ("config", "list"), 2),
    "1,000,000 keys": ("verdict", lambda: keys(1_000_000), ("verdict", "show", GOAL), 2),
    "verdict of lists": ("verdict", lambda: fill(MIB, b"[],", b'{"a":[', b"1]}"), EVALUATE, 0),
    "proposal of lists": ("proposal", lambda: fill(MIB, b"[],", b'{"a":[', b"1]}"), EVALUATE, 0),
    "events of a terabyte": ("events", A_TERABYTE, EVALUATE, 2),
    "history of a terabyte": ("events", A_TERABYTE, HISTORY, 0),
    "events of lists": (
        "events",
        lambda: fill(sizes(short=2, long=4) * MIB, EVENT),
        (*HISTORY, "--json"),
        0,
    ),
    "one event of 16 MiB": (
        "events",
        lambda: fill(16 * MIB, b"[],", b'{"a":[', b"1]}\n"),
        EVALUATE,
        2,
    ),
    "large baseline": ("baseline", lambda: json.dumps(baseline()).encode(), STATUS, 0),
    "baseline of lists": (
        "baseline",
        lambda: fill(16 * MIB, b"[],", b'{"a":[', b"1]}"),
        EVALUATE,
        4,  # what it was is not known any more, so a person looks
    ),
    "baseline of a terabyte": ("baseline", A_TERABYTE, EVALUATE, 2),
    "measuring of a terabyte": ("measuring", A_TERABYTE, EVALUATE, 0),
    "intent of lists": (
        "pending",
        lambda: fill(15 * MIB, b"[],", b'{"a":[', b"1]}"),
        ("goal", "pause", GOAL),
        2,
    ),
    "journal, long": (
        "journal",
        lambda: FRONT + b"  - type: x\n---\n" + b"x\n" * 1_500_000,
        SHOW,
        0,
    ),
    "journal, many artifacts": (
        "journal",
        lambda: fill(3 * MIB, b"  - type: x\n    a: 1\n", FRONT, b"---\n"),
        SHOW,
        0,
    ),
    "journal, one more artifact": (
        "journal",
        lambda: fill(3 * MIB - 1000, b"  - type: x\n    a: 1\n", FRONT, b"---\n"),
        RECORD,
        0,
    ),
    "journal, not in Flow's form": (
        "journal",
        lambda: fill(MIB - 999, b" - {type: x}\n", FRONT, b"---\n"),
        RECORD,
        0,
    ),
    "journal, brackets": (
        "journal",
        lambda: b"---\nissue: 7\nartifacts: [{type: x}" + b"]" * MIB + b"\n---\n",
        RECORD,
        0,  # a full file is left as it is: the journal goes on in the next one
    ),
    "trust, one line": (
        "trust",
        lambda: fill(10 * MIB, b"[],", b'{"greet":[', b"1]}\n"),
        ("trust", "list"),
        5,
    ),
    "trust of a terabyte": ("trust", A_TERABYTE, ("trust", "check", GOAL), 4),
    "trust, many lines": (
        "trust",
        lambda: b'{"a":1}\n' * sizes(short=200_000, long=500_000),
        ("trust", "list"),
        0,
    ),
    "ignore file of a terabyte": ("ignore file", A_TERABYTE, ("init",), 2),
    "host settings of a terabyte": ("host settings", A_TERABYTE, ("doctor",), 1),
}


ALIKE = frozenset(
    (
        "1 MiB of dashes",  # below a key they are read so, too
        *("350,000 lists", "a scalar for each two bytes"),  # as in the one that is read twice
        *("sidecar of dashes", "sidecar of lists"),  # by what reads a goal of them, and settings
        "journal, many artifacts",  # as before one more
    )
)
"""For the long form: another case is read in the same way."""


@pytest.mark.parametrize("case", sizes(short=[c for c in CASES if c not in ALIKE], long=[*CASES]))
def test_it_costs_little(scene: Scene, case: str) -> None:
    place, data, words, status = CASES[case]
    path = f"{scene.parent}/{places.FILES[place]}"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if data is A_TERABYTE:
        sparse(path)
    else:
        with open(path, "wb") as file:
            file.write(data())
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", MEASURE, f"{ROOT}/bin/flow", *words],
            cwd=scene.top,
            env={**scene.environ, "FLOW_PYTHON": sys.executable},
            capture_output=True,
            timeout=900,
        )
    finally:
        if os.path.lexists(path):
            os.unlink(path)  # before the scene is put back: it reads what is there
    found, cpu, memory, text = json.loads(done.stdout)
    check(Done(found, text, "", cpu), case)
    assert found == status, text[-500:]
    assert not exceeds(cpu, CPU), cpu
    assert memory < MEMORY, memory
    if status in (2, 5):
        assert os.path.basename(path) in text or place == "verdict", text[-500:]
