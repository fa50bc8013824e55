"""Every cell of the table of exit statuses (SPEC 5), from outside."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from flow.adapters.fs import locks
from flow.adapters.ledger import goal_change
from tests.support import ROOT, GitRepo, scene

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    return scene.start(repo)


def test_0_achieved_and_done(work: GitRepo) -> None:
    scene.create(work)
    proposal = scene.propose(work)
    assert scene.flow(work, "goal", "evaluate", "greet").status == 0
    done = scene.flow(work, "goal", "confirm", "greet", "--proposal", proposal, "--json")
    assert done.status == 0
    assert done.json == {
        "goal_id": "greet",
        "run_id": scene.run_dir(work).name,
        "status": "achieved",
        "reason": done.json["reason"],
        "proposal_id": proposal,
        "by": "A Tester",
        "by_from": "git user.name",
        "note": "",
        "said_from": "pipe",
    }


def test_1_not_achieved_whatever_the_commands_returned(work: GitRepo) -> None:
    exits = ("exit 2", "exit 3", "exit 4", "exit 5", "exit 126")
    commands = ("false", *exits, "kill -9 $$", "sleep 30")
    first, *others = (f"AC{n}: x :: {command}" for n, command in enumerate(commands, 1))
    more = [word for each in others for word in ("--criterion", each)]
    scene.create(work, "greet", *more, criterion=first)
    done = scene.flow(work, "goal", "evaluate", "greet", "--timeout", "1", "--json")
    assert (done.status, done.json["verdict"]) == (1, "not_achieved")
    assert len(done.json["criterion_results"]) == len(commands)
    for only in ("AC3", "AC5"):  # as where a path is outside, and where something outside failed
        done = scene.flow(work, "goal", "evaluate", "greet", "--only", only)
        assert done.status == 1


def test_1_doctor_has_findings(work: GitRepo) -> None:
    work.git("config", "core.fsmonitor", "/bin/true")
    assert scene.flow(work, "doctor").status == 1


WRONG = (
    (["goal", "evaluate", "nope"], "not_found"),
    (["goal", "evaluate", "greet", "--only", "AC9"], "invalid_input"),
    (["goal", "status", "nope"], "not_found"),
    (["goal", "resume", "nope"], "not_found"),
    (["goal", "activate", "greet"], "wrong_state"),
    (["goal", "approve", "greet", "AC1", "--by", "a", "--note", "b"], "wrong_state"),
    (["goal", "approve", "greet", "AC9", "--by", "a", "--note", "b"], "invalid_input"),
    (["goal", "confirm", "greet", "--proposal", "0" * 64], "stale_proposal"),
    (["goal", "create", "--file", "absent.yaml"], "not_found"),
    (["goal", "create", "--file", "src"], "unreadable"),
    (["goal", "create", "greet", "--outcome", "o", "--criterion", "AC1: x :: true"], "exists"),
    (["goal", "create", "other", "--outcome", "o"], "usage"),
    (["goal", "create", "other", "--from", "nope"], "not_found"),
    (["goal", "evaluate", "greet", "--trust-digest", "0" * 64], "other_contract"),
    (["evidence", "show", "nope"], "not_found"),
    (["verdict", "show", "--run-id", "nope"], "not_found"),
    (["journal", "show", "--issue", "99"], "not_found"),
)


def test_2_bad_input_and_wrong_state(work: GitRepo) -> None:
    scene.create(work)
    for words, code in WRONG:
        done = scene.flow(work, *words, "--json")
        assert (done.status, done.json["error"]["code"]) == (2, code), words
        assert done.json["error"]["remedy"]
        told = scene.flow(work, *words)
        assert (told.status, told.stdout) == (2, "")
        assert told.stderr.startswith("flow: ")


def test_2_a_draft_a_closed_goal_and_another_branch(work: GitRepo) -> None:
    scene.create(work, "later", "--draft")
    assert scene.flow(work, "goal", "evaluate", "later").status == 2
    assert scene.flow(work, "goal", "clear", "later", "--yes").status == 0
    assert scene.flow(work, "goal", "evaluate", "later").status == 2
    assert scene.flow(work, "goal", "clear", "later", "--yes").status == 2
    scene.create(work)
    work.git("switch", "-qc", "elsewhere")
    done = scene.flow(work, "goal", "evaluate", "greet", "--json")
    assert (done.status, done.json["error"]["code"]) == (2, "wrong_branch")


def test_2_a_broken_file_names_every_fault(work: GitRepo) -> None:
    scene.create(work)
    text = scene.goal_file(work).replace("AC1", "ac1").replace("status: active", "status: on")
    work.write(".flow/goals/greet.goal.yaml", text)
    done = scene.flow(work, "goal", "status", "greet", "--json")
    assert (done.status, done.json["error"]["code"]) == (2, "invalid_file")
    assert len(done.json["error"]["faults"]) == 2
    told = scene.flow(work, "goal", "status", "greet")
    assert told.stderr.count("flow: ") == 2
    listed = scene.flow(work, "goal", "list")
    assert listed.status == 0
    assert "greet.goal.yaml" in listed.stderr


def test_2_settings_that_are_wrong(work: GitRepo) -> None:
    scene.create(work)
    work.write(".claude/settings.flow.json", '{"flow": {"goals": {"jobs": "many"}}}')
    done = scene.flow(work, "goal", "evaluate", "greet", "--json")
    assert done.status == 2
    assert done.json["error"]["key"] == "flow.goals.jobs"


def test_3_blocked(work: GitRepo) -> None:
    scene.create(work)
    work.write("outside.txt")
    done = scene.flow(work, "goal", "evaluate", "greet", "--json")
    assert (done.status, done.json["verdict"]) == (3, "blocked")


def test_4_a_person_is_needed(work: GitRepo) -> None:
    scene.create(work, "greet", "--fuzzy", scene.FUZZY)
    scene.meet(work)
    assert scene.flow(work, "goal", "evaluate", "greet").status == 4
    approve = ("goal", "approve", "greet", "AC2", "--by", "Reader", "--note", "n")
    for words in (
        ("goal", "clear", "greet"),
        approve,
    ):
        done = scene.flow(work, *words, "--json")
        assert (done.status, done.json["error"]["code"]) == (4, "person_needed")
        assert "--yes" in done.json["error"]["remedy"]
        assert scene.flow(work, *words).status == 4
    assert scene.flow(work, "trust", "revoke", "greet").status == 0
    assert scene.flow(work, "goal", "evaluate", "greet").status == 4
    assert scene.flow(work, "trust", "check", "greet").status == 4
    assert scene.flow(work, "trust", "record", "greet").status == 4
    assert scene.flow(work, "trust", "check", "greet").status == 4


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_5_standard_output_is_full(work: GitRepo) -> None:
    scene.create(work)
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [os.path.join(ROOT, "bin", "flow"), "goal", "list"],
            cwd=work.path,
            stdout=full,
            stderr=subprocess.PIPE,
            env={**os.environ, "FLOW_PYTHON": sys.executable},
            timeout=300,
        )
    assert done.returncode == 5
    assert b"cannot write to standard output" in done.stderr


def test_5_a_lock_that_is_held(work: GitRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    def sooner(root: str, rel: str, *, timeout: float, quick: bool) -> AbstractContextManager[None]:
        return locks.exclusive(root, rel, timeout=timeout / 100, quick=quick)

    monkeypatch.setattr(goal_change, "locks", SimpleNamespace(exclusive=sooner))
    scene.create(work)
    scene.flow(work, "goal", "pause", "greet")
    lock = work.path / ".flow/runs/.locks/goal-greet.lock"
    with open(lock, "a") as held:  # filelock before 3.21 removes what it gives back
        fcntl.flock(held, fcntl.LOCK_EX)
        done = scene.flow(work, "goal", "resume", "greet", "--json")
    assert (done.status, done.json["error"]["code"]) == (5, "locked")
    assert done.json["error"]["file"].endswith("goal-greet.lock")


def test_130_interrupted(work: GitRepo) -> None:
    scene.create(work, criterion="AC1: x :: echo $$ > ../pid; sleep 60")
    before = scene.goal_file(work)
    process = subprocess.Popen(
        [os.path.join(ROOT, "bin", "flow"), "goal", "evaluate", "greet", "--json"],
        cwd=work.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "FLOW_PYTHON": sys.executable},
        start_new_session=True,
    )
    pid_file = work.path.parent / "pid"
    deadline = time.monotonic() + 60
    while not (pid_file.exists() and pid_file.read_text().strip()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 130
    assert json.loads(out)["error"]["code"] == "interrupted"
    assert scene.goal_file(work) == before
    child = int(pid_file.read_text())
    deadline = time.monotonic() + 60
    while lives(child):  # what it started is ended, too
        assert time.monotonic() < deadline
        time.sleep(0.02)


def lives(pid: int) -> bool:
    """Whether it is at work; in a container nobody may ever take note that it has ended."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_an_unexpected_error_is_one_line_and_a_log(
    work: GitRepo, home: os.PathLike[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault of Flow's own, made here by breaking a part of it."""
    code = (
        "import sys, flow.app.goal_list\n"
        "def broken(*words, **more): raise KeyError('a defect')\n"
        "flow.app.goal_list.goal_list = broken\n"
        "from flow.cli.main import run\n"
        "sys.exit(run(sys.argv[1:]))"
    )
    for words, stream in ((["goal", "list"], "stderr"), (["goal", "list", "--json"], "stdout")):
        done = subprocess.run(
            [sys.executable, "-c", code, *words],
            cwd=work.path,
            capture_output=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONPATH": ROOT},
            timeout=300,
        )
        assert done.returncode == 5
        assert "Traceback" not in done.stdout + done.stderr
        log = os.path.join(os.environ["FLOW_STATE_DIR"], "error.log")
        assert log in getattr(done, stream)
        assert oct(os.stat(log).st_mode & 0o777) == "0o600"
        with open(log, encoding="utf-8") as file:
            assert "a defect" in file.read()
    assert done.stderr == ""


IN_NO_FOLDER = ["flow goal status", "flow goal list --json", "flow config list", "flow init"]


@pytest.mark.parametrize("command", [*IN_NO_FOLDER, "flow-active-goal.sh"])
def test_in_a_folder_that_is_gone(tmp_path: Path, command: str) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    name, *words = command.split()
    script = 'cd "$1" && rmdir "$1" && shift && exec "$@"'
    done = subprocess.run(
        ["sh", "-c", script, "sh", str(gone), os.path.join(ROOT, "bin", name), *words],
        env={**os.environ, "FLOW_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == (2 if name.endswith(".sh") else 5), done
    told = done.stdout + done.stderr
    assert "the folder that this was started in is gone" in told
    assert "internal error" not in told
    assert "Traceback" not in told
