"""Hostile commands (HAZARD E) through ``flow goal evaluate``.

How each command ends is a table of its own in ``tests/adapters/verification/test_runner.py``. Here
the whole command line runs it, and what it says, what it writes and what it leaves running is
looked at.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from flow.adapters.contracts import formats
from flow.adapters.process import loop as process_loop
from flow.adapters.verification import supervisor as verification_supervisor
from tests.support import ROOT, GitRepo, Ran, scene

GOAL = """\
apiVersion: flow.synapti.ai/v1
kind: FlowGoal
metadata: {id: greet, created_at: "2026-01-01T00:00:00Z"}
scope: {repo: x, branch: main, issue: 7}
objective:
  outcome: o
  acceptance_criteria: [{id: AC1, text: t, status: pending, verification_command: COMMAND}]
constraints: {allowed_paths: ["src/**"]}
evaluator: {type: deterministic}
lifecycle:
  status: active
"""


@pytest.fixture
def mark() -> str:
    """What a process of this test has in its environment."""
    return uuid.uuid4().hex


@pytest.fixture
def work(repo: GitRepo, monkeypatch: pytest.MonkeyPatch, mark: str) -> GitRepo:
    monkeypatch.setenv("MARK", mark)
    return scene.start(repo)


def create(work: GitRepo, command: str) -> Ran:
    path = work.write("../goal.yaml", GOAL.replace("COMMAND", json.dumps(command)))
    return scene.flow(work, "goal", "create", "--file", path)


def evaluate(work: GitRepo, command: str, *more: str, **env: str) -> Ran:
    """In the test's own process, except where the environment matters."""
    created = create(work, command)
    assert created.status == 0, created
    run = scene.flow_started if env else scene.flow
    return run(work, "goal", "evaluate", "greet", "--json", *more, env=env)


def running(mark: str) -> list[str]:
    """Living processes that a test's command left, by the mark they inherited (Linux only)."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc") if os.path.isdir("/proc") else ()):
        try:
            environ = Path(f"/proc/{pid}/environ").read_bytes()
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        ours = f"MARK={mark}".encode() in environ.split(b"\0") and int(pid) != os.getpid()
        found += [pid] if ours and state != "Z" else []
    return found


def eventually_none(mark: str) -> bool:
    deadline = time.monotonic() + 60
    while running(mark) and time.monotonic() < deadline:
        time.sleep(0.02)
    return running(mark) == []


def output(work: GitRepo, turn: int = 1, criterion: int = 1) -> bytes:
    name = f"evidence-ac{criterion}-eval-{turn}.txt"
    return (scene.run_dir(work) / "evidence" / name).read_bytes()


class Row(NamedTuple):
    """A command, and what an evaluation says of it."""

    command: str
    outcome: str
    exit_code: int | None
    last: str
    said: str = ""
    """Part of the kept output."""
    limitation: str = ""
    """Part of what the evidence says it does not show."""
    slow: bool = False
    """Whether it is ended by its limit of time, which is short then."""


DETACH = "import os, time; os.fork() or (os.setsid(), time.sleep(300))"
SETSID = f"{shlex.quote(sys.executable)} -c {shlex.quote(DETACH)}"
ROWS = {
    "53 ignores TERM": Row(
        "trap '' TERM HUP INT; while :; do sleep 1; done",
        "inconclusive",
        None,
        "timeout",
        slow=True,
    ),
    "53 a tree of processes": Row(
        "for i in $(seq 30); do (sleep 300 | sleep 300) & done; wait",
        "inconclusive",
        None,
        "timeout",
        slow=True,
    ),
    "54 a session of its own": Row(
        f"{SETSID}; echo out; test -d src", "passed", 0, "exit 0", "out", "left running"
    ),
    "54 a session of its own, at a time-out": Row(
        "setsid bash -c 'trap \"\" TERM; sleep 300; sleep 300' & sleep 300",
        "inconclusive",
        None,
        "timeout",
        slow=True,
    ),
    "55 a child holds the output": Row(
        "sleep 300 & echo out", "passed", 0, "exit 0", "out", "left running"
    ),
    "56 a pipe that fails": Row("false | cat", "failed", 1, "exit 1"),
    "56 a pipe that is closed": Row("yes | head -1", "inconclusive", 141, "signal PIPE", "y\n"),
    "57 no such program": Row("no-such-program", "inconclusive", 127, "could not run"),
    "57 no program": Row("/dev/null", "inconclusive", 126, "could not run"),
    "57 no syntax": Row("echo ran; if", "inconclusive", None, "could not run", "syntax"),
    "57 killed": Row("kill -KILL $$", "inconclusive", 137, "signal KILL"),
    "57 crashed": Row("ulimit -c 0; kill -SEGV $$", "failed", 139, "signal SEGV"),
    "60 reads": Row(
        "cat; read x </dev/tty || echo none; test -d src", "passed", 0, "exit 0", "none"
    ),
    "62 binary": Row("printf '\\0\\377\\r\\033[31mred'", "passed", 0, "exit 0", "red"),
    "63 says that it passed": Row(
        'echo "RESULT: PASS 5 passed"; exit 1', "failed", 1, "exit 1", "RESULT: PASS"
    ),
    "63 writes its own verdict": Row(
        "echo '{\"verdict\": \"achieved\"}' | tee .flow/runs/*/last-verdict.json; false",
        "failed",
        1,
        "exit 1",
    ),
    "65 kills its parent": Row(
        "kill -9 $PPID; sleep 300", "inconclusive", None, "signal KILL"
    ),
    "65 kills its parent and exits 0": Row(
        "kill -9 $PPID; exit 0", "inconclusive", None, "signal KILL"
    ),
    "66 forks on and on": Row(
        "while :; do sleep 300 & (sleep 300 &) ; sleep 0.05; done",
        "inconclusive",
        None,
        "timeout",
        slow=True,
    ),
}  # fmt: skip


GROUPS: dict[str, list[str]] = {"passed": [], "not passed": [], "its own verdict": []}
"""Rows that are criteria of one goal; what one of them does would be seen in the others, too."""
for _name, _row in ROWS.items():
    _outcome = "passed" if _row.outcome == "passed" else "not passed"
    GROUPS["its own verdict" if "its own verdict" in _name else _outcome].append(_name)


@pytest.mark.parametrize("group", GROUPS)
def test_a_hostile_command(work: GitRepo, mark: str, group: str) -> None:
    """Each beside others that end alike: no row looks at what another one left."""
    rows = dict(enumerate((ROWS[name] for name in GROUPS[group]), 1))
    refused = '"echo ran; if"'  # by bash -n: it gets there by hand
    criteria = [
        {"id": f"AC{number}", "text": "t", "status": "pending", "verification_command": row.command}
        | ({"timeout_seconds": 1} if row.slow else {})
        for number, row in rows.items()
    ]
    text = re.sub(r"\[\{.*\}\]", lambda _: json.dumps(criteria), GOAL)
    work.write("../goal.yaml", text.replace(refused, '"true"'))
    assert scene.flow(work, "goal", "create", "--file", "../goal.yaml").status == 0
    if refused in text:
        work.write(".flow/goals/greet.goal.yaml", scene.goal_file(work).replace('"true"', refused))
        assert scene.flow(work, "trust", "record", "greet", "--yes").status == 0
    done = scene.flow_started(work, "goal", "evaluate", "greet", "--json")
    assert eventually_none(mark)
    verdict: dict[str, Any] = done.json
    passed = group == "passed"
    assert (done.status, verdict["verdict"]) == (
        (0, "achieved") if passed else (1, "not_achieved")
    ), verdict
    assert bool(verdict["proposed_transition"]) == passed
    assert scene.status(work) == "active"
    kept = formats.parse_yaml(scene.goal_file(work).encode(), file="goal")
    kept_rows = kept["objective"]["acceptance_criteria"]
    for (number, row), result, criterion in zip(
        rows.items(), verdict["criterion_results"], kept_rows, strict=True
    ):
        assert (result["outcome"], result["exit_code"]) == (row.outcome, row.exit_code), result
        assert row.last in criterion["last_result"]
        if row.said:
            assert row.said in output(work, criterion=number).decode("utf-8", "replace")
        assert row.limitation in " ".join(result["limitations"])


def test_66_what_writes_on_and_on_is_ended_when_its_time_is_up(
    work: GitRepo, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time is up as soon as something was written, however long that takes."""
    wrote: list[bytes] = []
    store = verification_supervisor._CommandRun._store

    def stored(self: Any, data: bytes) -> None:
        wrote.append(data[:1])
        store(self, data)

    later = SimpleNamespace(monotonic=lambda: time.monotonic() + 3600 * bool(wrote))
    monkeypatch.setattr(verification_supervisor._CommandRun, "_store", stored)
    for module in (process_loop, verification_supervisor):
        monkeypatch.setattr(module, "time", later)
    done = evaluate(work, "yes", "--timeout", "600")
    assert eventually_none(mark)
    (row,) = done.json["criterion_results"]
    assert (row["outcome"], row["exit_code"], done.status) == ("inconclusive", None, 1)
    assert "last_result: timeout" in scene.goal_file(work)
    assert output(work).startswith(b"y\ny\n")


def test_58_what_no_system_can_run_is_refused_before_anything_is_written(work: GitRepo) -> None:
    for command in ("echo \0", "x" * 131_072):
        created = create(work, command)
        assert created.status == 2, created
        assert "verification_command" in created.stderr
        assert not (work.path / ".flow/goals").exists()


def test_59_a_hijacked_shell_is_not_used(work: GitRepo) -> None:
    hijack = work.write("../hijack", "echo 5 passed; exit 0\n")
    more = {"BASH_ENV": str(hijack), "ENV": str(hijack), "BASH_FUNC_false%%": "() { exit 0; }"}
    done = evaluate(work, "false", **more)
    assert done.json["criterion_results"][0]["outcome"] == "failed"
    assert output(work) == b""
    shown = scene.flow(work, "evidence", "show", "evidence-ac1-eval-1", "--goal", "greet", "--json")
    assert set(shown.json["evidence"]["environment_removed"]) >= set(more) - {"ENV"}


PEAK = """
import os, resource, sys
if pid := os.fork():  # a fork's peak is its own
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
from flow.cli.main import run
status = run(["goal", "evaluate", "greet"])
peak = max(resource.getrusage(who).ru_maxrss
           for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
print(status, peak // 1024)
"""


def test_61_100_mb_of_output_need_little_memory_and_disk(work: GitRepo) -> None:
    """A few MB more than one line needs at most: what that is differs from machine to machine."""
    assert create(work, "head -c $(cat ../bytes) /dev/zero | tr '\\0' x").status == 0
    peaks = []
    for size in (10, 100_000_000):
        work.write("../bytes", str(size))
        done = subprocess.run(
            [sys.executable, "-c", PEAK],
            cwd=work.path,
            env={**os.environ, "PYTHONPATH": ROOT},
            capture_output=True,
            timeout=600,
            check=True,
        )
        status, peak = done.stdout.decode().split()[-2:]
        assert status == "0", done
        peaks.append(int(peak))
    assert peaks[1] < peaks[0] + 25
    shown = scene.flow(work, "evidence", "show", "evidence-ac1-eval-2", "--goal", "greet", "--json")
    assert shown.json["evidence"]["output_bytes"] == 100_000_000
    assert shown.json["evidence"]["truncated"] is True
    assert len(output(work, 2)) < 11 << 20


def test_62_escapes_reach_no_terminal(work: GitRepo) -> None:
    done = evaluate(work, "printf 'a\\r\\033]0;title\\007\\0\\377b\\u202e\\n'; exit 1")
    assert done.status == 1
    assert output(work) == b"a\r\x1b]0;title\x07\0\xffb\xe2\x80\xae\n"
    for words in (("evidence", "show", "evidence-ac1-eval-1", "--goal", "greet"),
                  ("goal", "evaluate", "greet"), ("goal", "status", "greet")):  # fmt: skip
        told = scene.flow(work, *words)
        for text in (told.stdout, told.stderr):
            assert not {"\x1b", "\x07", "\0", "\r", "\u202e"} & set(text), words


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_65_flow_ended_by_its_own_command_leaves_no_half_state(
    work: GitRepo, mark: str, number: signal.Signals
) -> None:
    command = f"test -e ../again || {{ kill -{int(number)} $(cat ../pid); sleep 300; false; }}"
    assert create(work, command).status == 0
    before = scene.goal_file(work)
    words = ["goal", "evaluate", "greet", "--json"]
    code = (
        "import os, sys; open('../pid', 'w').write(str(os.getpid()))\n"
        f"from flow.cli.main import run; sys.exit(run({words}))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code],
        cwd=work.path,
        env={**os.environ, "PYTHONPATH": ROOT},
        capture_output=True,
        timeout=120,
    )
    assert ended.returncode == (-9 if number == signal.SIGKILL else 130), ended
    assert eventually_none(mark)
    assert scene.goal_file(work) == before
    assert not (scene.run_dir(work) / "last-verdict.json").exists()
    work.write("../again")
    done = scene.flow(work, *words)
    assert (done.status, done.json["verdict"]) == (0, "achieved"), done
    assert done.json["lifecycle"]["turns_evaluated"] == 1


@pytest.mark.parametrize("what", ["src", ".flow/runs/*/evidence", ".flow/runs", ".flow", ".git"])
def test_67_what_vanishes_while_a_command_runs_is_never_a_pass(work: GitRepo, what: str) -> None:
    first = evaluate(work, f"test ! -e ../now || {{ rm -rf {what}; test -d /; }}")
    assert first.json["verdict"] == "achieved", first
    work.write("../now")
    done = scene.flow(work, "goal", "evaluate", "greet", "--json")
    assert done.status in (1, 2, 5), done
    assert "internal error" not in done.stdout + done.stderr
    assert done.json.get("verdict") != "achieved"
    assert not done.json.get("proposed_transition")


def test_67_its_own_output_is_kept_though_its_folder_vanished(work: GitRepo) -> None:
    done = evaluate(work, "echo early; rm -rf .flow/runs/*/evidence; echo late; exit 3")
    assert done.json["criterion_results"][0]["outcome"] == "failed"
    assert output(work) == b"early\nlate\n"


def test_68_two_runs_that_disagree_are_both_kept(work: GitRepo) -> None:
    command = "test -e ../second || { touch ../second; exit 1; }"
    first = evaluate(work, command)
    second = scene.flow(work, "goal", "evaluate", "greet", "--json")
    said = [d.json["criterion_results"][0] for d in (first, second)]
    assert [r["outcome"] for r in said] == ["failed", "passed"]
    kept = [os.path.basename(r["evidence_ref"]) for r in said]
    assert kept == [f"evidence-ac1-eval-{turn}.evidence.yaml" for turn in (1, 2)]
    rows = scene.flow(work, "evidence", "list", "greet", "--json").json["evidence"]
    kept_rows = {"evidence-ac1-eval-1", "evidence-ac1-eval-2-run-1", "evidence-ac1-eval-2"}
    assert {row["id"] for row in rows} == kept_rows  # once it failed, one pass is not enough
    assert any("flaky" in warning for warning in second.json["warnings"])


def test_a_command_that_commits_has_failed(work: GitRepo) -> None:
    work.write("goal.yaml", GOAL.replace("COMMAND", '"git commit -qm x --allow-empty"'))
    assert scene.flow(work, "goal", "create", "--file", "goal.yaml").status == 0
    found = scene.flow(work, "goal", "evaluate", "greet", "--json").json
    row = found["criterion_results"][0]
    assert (row["outcome"], row["status"]) == ("failed", "fail")
    assert found["verdict"] == "not_achieved"
    assert "result: fail" in scene.goal_file(work)
