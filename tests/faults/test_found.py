"""What killing and failing has brought to light, each with the smallest scene that shows it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from functools import partial
from pathlib import Path

import pytest

from flow.adapters.contracts import cache as contracts_cache
from flow.adapters.fs import files, locks
from flow.adapters.worktree import cache as worktree_cache
from flow.adapters.worktree.cache import Table
from flow.core import layout
from flow.core.boundary.changes import Baseline
from flow.core.boundary.rules import OwnFiles
from tests.faults.commands import EVIDENCE
from tests.faults.scenes import (
    CALL_TIMEOUT,
    GOAL,
    GOAL_FILE,
    JOURNAL,
    RUN,
    Ran,
    Scene,
    command,
    must,
)
from tests.faults.view import disagreements, look

NOBODY = (1 << 22) + 1
"""A number above the largest that Linux gives a process; another process may have a smaller one."""
TEMP = f"{layout.TEMP_PREFIX}{'0a' * (layout.TEMP_DIGITS // 2)}"


@pytest.fixture
def scene(tmp_path):
    return Scene(os.path.realpath(tmp_path / "scene")).start()


def patched(scene: Scene, code: str, *words: str, program: str = "flow") -> Ran:
    """Start ``flow``, or a helper, as a process that runs ``code`` first."""
    argv = command((program, *words) if program else words, code)
    done = subprocess.run(
        argv,
        cwd=scene.repo,
        env=scene.env,
        capture_output=True,
        timeout=CALL_TIMEOUT,
        encoding="utf-8",
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def interrupted(scene: Scene, *words: str, at: str = "events.append") -> None:
    """Call ``flow`` so that it is killed at ``at``, when the change is decided already."""
    code = (
        "import os, signal\nfrom flow.adapters.chain import event_log as events\n"
        "from flow.adapters.ledger import transaction\n"
        f"{at} = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = patched(scene, code, *words)
    assert done.status == -signal.SIGKILL, done
    assert look(scene).pending


def test_a_half_written_journal_of_a_killed_process_is_no_change_of_the_work(scene):
    proposal = scene.propose()
    scene.write(f"{os.path.dirname(JOURNAL)}/{TEMP}", "half of a jour")
    must(scene.flow("goal", "confirm", GOAL, "--proposal", proposal))
    assert look(scene).status == "achieved"


def test_a_half_written_journal_is_no_violation(scene):
    scene.meet()
    scene.write(f"{os.path.dirname(JOURNAL)}/{TEMP}", "half of a jour")
    done = must(scene.flow("goal", "evaluate", GOAL, "--json"))
    assert done.json["path_violations"] == []


@pytest.mark.parametrize(
    ("path", "own"),
    [
        (f".decisions/{TEMP}", True),
        (f".decisions/{TEMP}0", False),
        (f".decisions/{TEMP[:-1]}", False),
        (f".decisions/{TEMP[:-1]}x", False),
        (f".decisions/sub/{TEMP}", False),
        (f"src/{TEMP}", False),
        (TEMP, False),
    ],
)
def test_only_the_journal_folder_may_hold_a_half_written_file(path, own):
    assert OwnFiles(Baseline(None, {}, {}, {}, {}, {}))(path) is own


def test_temporary_files_have_the_name_that_the_boundary_knows(tmp_path):
    with files._temporary(os.open(tmp_path, os.O_RDONLY), 0o644) as (name, _):
        own = OwnFiles(Baseline(None, {}, {}, {}, {}, {}, journal_dir="j"))
        assert own(f"j/{name}")


def test_clear_finishes_what_a_killed_clear_had_decided(scene):
    interrupted(scene, "goal", "clear", GOAL, "--yes")
    again = scene.flow("goal", "clear", GOAL, "--yes")
    view = look(scene)
    assert again.status == 2
    assert not view.pending
    assert view.status == "cancelled"
    assert disagreements(view) == []


def kept_files(scene: Scene) -> list[object]:
    """What the state folder keeps of the small files of runs."""
    kept = sorted(Path(scene.state, "chains").rglob("*.json"))
    return [json.loads(each.read_bytes())["files"] for each in kept]


DOOR = ("events.append", "transaction.withdraw", "pinned_heads.PinnedHeads.pin")


@pytest.mark.parametrize("at", DOOR)
def test_a_door_that_was_killed_leaves_a_closed_goal_that_is_exported(scene, at):
    proposal = scene.propose()
    words = ("goal", "confirm", GOAL, "--proposal", proposal)
    code = (
        "import os, signal\n"
        "from flow.adapters.chain import event_log as events, pinned_heads\n"
        "from flow.adapters.ledger import transaction\n"
        f"{at} = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert patched(scene, code, *words).status == -signal.SIGKILL
    assert scene.flow(*words).status == 2  # it is closed: what was decided has been carried out
    assert look(scene).status == "achieved"
    said = must(scene.flow("goal", "status", GOAL, "--json")).json
    assert not [text for text in said["warnings"] if "state folder" in text]
    target = scene.hand("bundle.jsonl", "")
    os.unlink(target)
    shown = must(scene.flow("evidence", "export", GOAL, "--output", target)).stdout
    assert "verification summary  PASSED" in shown


def test_a_door_that_came_to_nothing_vouches_for_nothing(scene):
    """The journal cannot be written, so nothing is decided; then somebody makes it look closed."""
    proposal = scene.propose()
    before = kept_files(scene)
    code = (
        "from flow.adapters.ledger import transaction\nfrom flow.errors import StorageError\n"
        "def fail(*a, **k): raise StorageError('no space', file='j', remedy='make some')\n"
        "transaction._journal = fail"
    )
    done = patched(scene, code, "goal", "confirm", GOAL, "--proposal", proposal)
    assert done.status == 5
    assert look(scene).status == "active"
    assert kept_files(scene) == before


def test_the_helper_finishes_what_was_decided_before_it_asks_for_a_proposal(scene):
    proposal = scene.propose()
    words = ("goal", "confirm", GOAL, "--proposal", proposal)
    interrupted(scene, *words, at="transaction.withdraw")
    block = scene.hand("lifecycle.yaml", "status: achieved\n")
    words = ("--goal-id", GOAL, "--lifecycle-file", block, "--merge")
    again = scene.helper("flow-goal-record", "--update-lifecycle", *words)
    view = look(scene)
    assert again.status == 1
    assert not view.pending
    assert view.status == "achieved"
    assert disagreements(view) == []


def test_doctor_names_and_removes_what_killed_processes_left_anywhere(scene):
    dead = f"{layout.TEMP_PREFIX}{NOBODY}-00ff"
    left = [
        scene.path(TEMP),
        scene.path(f".claude/{TEMP}"),
        scene.path(f".flow/goals/{TEMP}"),
        scene.path(f".decisions/{TEMP}"),
        os.path.join(scene.state, "cache", "worktree", dead),
        os.path.join(scene.state, "cache", "parsed", f"{dead}a"),
        os.path.join(scene.state, "cache", "worktree", f"{dead}b", "git"),
        os.path.join(scene.state, "sessions", "a" * 32, f"{dead}c"),
        os.path.join(scene.state, "waits", "a" * 32, f"{dead}d"),
    ]
    for path in left:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write("half")
    alive = os.path.join(scene.state, "cache", "worktree", f"{layout.TEMP_PREFIX}{os.getpid()}-1")
    with open(alive, "w", encoding="utf-8") as file:
        file.write("somebody is at work")
    said = scene.flow("doctor", "--json")
    assert any("9 temporary files" in finding["what"] for finding in said.json["findings"])
    fixed = scene.flow("doctor", "--fix", "--json").json["fixed"]
    assert len([line for line in fixed if "flow-tmp" in line]) == 9
    assert not any(os.path.exists(path) for path in left)
    assert os.path.exists(alive)
    os.utime(alive, (1, 1))  # old: the process that has this number now is another one
    scene.flow("doctor", "--fix")
    assert not os.path.exists(alive)


def test_doctor_looks_where_the_settings_put_the_journal(scene):
    scene.write(".claude/settings.flow.json", '{"journal": {"dir": "docs/decisions"}}')
    scene.write(f"docs/decisions/{TEMP}", "half")
    said = scene.flow("doctor", "--json")
    assert any(f"docs/decisions/{TEMP}" in finding["what"] for finding in said.json["findings"])


def test_half_written_caches_do_not_grow_without_end(tmp_path):
    for number in range(40):
        (tmp_path / f"{layout.TEMP_PREFIX}{number}-a").write_text("half")
    (tmp_path / f"{layout.TEMP_PREFIX}1-folder").mkdir()
    Table("0" * 40).save(str(tmp_path / "worktree-new"), {})
    assert len([path for path in tmp_path.iterdir() if path.is_file()]) <= 25  # with the new one
    assert (tmp_path / "worktree-new").exists()


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("cache", ["worktree", "parsed"])
def test_an_interrupt_while_a_cache_is_written_leaves_nothing_and_counts(
    tmp_path, monkeypatch, cache, before
):
    real = os.replace

    def interrupt(*names):
        if not before:
            real(*names)
        raise KeyboardInterrupt

    folder = tmp_path / "goals"
    folder.mkdir(mode=0o700)
    monkeypatch.setattr(os, "replace", interrupt)
    if cache == "worktree":
        write = partial(worktree_cache._publish, str(folder / "worktree-a"), [b"data"])
    else:
        write = partial(contracts_cache.store_checked, str(folder), b"data", {"a": 1}, [])
    with pytest.raises(KeyboardInterrupt):
        write()
    assert len(list(folder.iterdir())) == (not before)
    assert list(folder.glob(f"{layout.TEMP_PREFIX}*")) == []


INTERRUPTED_LINK = """
import os
real = os.link
def link(source, name, **more):
    real(source, name, **more)
    if name.endswith(END):
        raise KeyboardInterrupt
os.link = link
"""


@pytest.mark.parametrize("end", [".evidence.yaml", ".txt"])
def test_an_interrupt_behind_the_publishing_leaves_no_half_of_a_record(scene, end):
    words = ("evidence", "record", "--run-id", RUN, "--evidence-file")
    given = scene.hand("evidence.json", json.dumps(EVIDENCE))
    words = (*words, given, "--raw-output", scene.hand("raw.txt", "what it printed\n"))
    done = patched(scene, INTERRUPTED_LINK.replace("END", repr(end)), *words)
    assert done.status == 130, done
    view = look(scene)
    assert (view.broken, view.evidence) == ((), ())
    assert not [path for path in view.files if "theirs-1" in path]
    must(scene.flow(*words))
    assert look(scene).evidence == ("theirs-1",)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_behind_standard_error_does_not_undo_a_record(scene):
    words = ("journal-record", "--issue", "7", "--type", "note")
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run(command(words), cwd=scene.repo, env=scene.env, stderr=full)
    assert done.returncode == 0
    assert sum(a["type"] == "note" for a in look(scene).artifacts) == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_an_answer_that_cannot_be_written_is_told(scene):
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run(
            command(("flow-active-goal",)),
            cwd=scene.repo,
            env=scene.env,
            stdout=full,
            stderr=subprocess.PIPE,
        )
    assert done.returncode == 2
    assert b"cannot write to standard output: No space left on device" in done.stderr
    assert b"internal" not in done.stderr


def test_a_lock_that_cannot_be_given_back_is_no_failure(tmp_path, monkeypatch):
    real = locks._filelock

    def failing(path):
        lock = real(path)
        give_back = lock.release

        def release(force=False):
            lock.release = give_back  # what the lock itself calls when it is collected
            give_back(force=force)
            raise OSError("No locks available")

        lock.release = release
        return lock

    monkeypatch.setattr(locks, "_filelock", failing)
    with locks.exclusive(str(tmp_path), "a.lock"):
        pass
    with locks.exclusive(str(tmp_path), "a.lock", quick=True, timeout=1):
        pass


BLIND_AT_FIRST = """
from flow.adapters.worktree import ignore as rules
from flow.errors import StorageError
real, calls = rules.Rules._ask, []
def once(self, paths):
    calls.append(paths)
    if len(calls) == 1:
        raise StorageError("cannot look: No space left on device")
    return real(self, paths)
rules.Rules._ask = once
"""


def test_what_could_not_be_looked_at_before_is_no_by_product(scene):
    scene.meet()
    scene.write("elsewhere.txt", "not allowed")
    first = patched(scene, BLIND_AT_FIRST, "goal", "evaluate", GOAL, "--json")
    assert first.json["verdict"] == "not_achieved"
    second = scene.flow("goal", "evaluate", GOAL, "--json")
    assert [v.partition(":")[0] for v in second.json["path_violations"]] == ["elsewhere.txt"]
    assert second.status == 3


KILLED = """
import os, signal
from flow.adapters.ledger import transaction
transaction.commit = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
"""
"""Behind the new baseline and the new trust, ahead of everything else."""


@pytest.mark.parametrize("way", ["amend", "trust"])
def test_an_amendment_killed_halfway_is_told_by_the_next_one(scene, way):
    scene.meet()
    paths = 'allowed_paths: ["src/**"]'
    more = f'{paths}\n  protected_paths: ["src/greet.txt"]'
    text = scene.read(GOAL_FILE).replace(paths, more)
    words = ("goal", "amend", GOAL, "--file", scene.hand("amended.yaml", text), "--yes")
    if way == "trust":
        scene.write(GOAL_FILE, text)
        words = ("trust", "record", GOAL, "--yes")
    assert patched(scene, KILLED, *words).status == -signal.SIGKILL
    assert not look(scene).pending
    must(scene.flow(*words))
    view = look(scene)
    assert [a["type"] for a in view.artifacts].count("contract-amended") == 1
    assert disagreements(view) == []
    assert must(scene.flow("trust", "check", GOAL))
    assert must(scene.flow("evidence", "verify", "--json"))


NO_ANSWER = """
from flow.adapters.chain import pinned_heads
from flow.adapters.ledger import reader as records
from flow.errors import StorageError
def failing(*_, **__):
    raise StorageError("cannot read it: Input/output error", file="a file")
WHAT = failing
"""


def test_what_was_imported_and_cannot_be_read_is_not_gone(scene):
    scene.meet()
    report = scene.hand("junit.xml", '<testsuite tests="1"><testcase name="a"/></testsuite>\n')
    words = ("evidence", "import", report, "--goal", GOAL, "--proves", "AC1", "--commit", "HEAD")
    code = NO_ANSWER.replace("WHAT", "records.FileRecords._sidecar_bytes")
    done = patched(scene, code, *words, "--json")
    assert (done.status, done.json["error"]["code"]) == (5, "storage")
    (id,) = look(scene).evidence
    done = patched(scene, code, "evidence", "show", id, "--goal", GOAL, "--json")
    assert (done.status, done.json["error"]["code"]) == (5, "storage")


@pytest.mark.parametrize(
    "what", ["pinned_heads.PinnedHeads._read", "records.FileRecords._sidecar_bytes"]
)
def test_an_export_does_not_take_what_cannot_be_read_for_absent(scene, what):
    proposal = scene.propose()
    must(scene.flow("goal", "confirm", GOAL, "--proposal", proposal))
    code = NO_ANSWER.replace("WHAT", what)
    done = patched(scene, code, "evidence", "export", GOAL, "--json")
    assert (done.status, done.json["error"]["code"]) == (5, "storage")
    assert "Input/output error" in done.json["error"]["message"]


NO_HEAD = """
import errno, os
from flow.adapters.fs import state_folder
wrote, room = state_folder.replace_own, [ROOM]
def full(path, *data):
    if "/chains/" in path:
        room[0] -= 1
        if room[0] < 0:
            raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))
    wrote(path, *data)
state_folder.replace_own = full
"""
"""The user's quota is used up: after ROOM of them, no file of heads can be replaced."""


@pytest.mark.parametrize("act", ["evaluate", "confirm", "clear", "pause"])
def test_no_act_looks_done_whose_head_the_state_folder_did_not_take(scene, act):
    proposal = scene.propose()
    more = {"confirm": ["--proposal", proposal], "clear": ["--yes"]}
    words = ("goal", act, GOAL, *more.get(act, []))
    before = look(scene)
    done = patched(scene, NO_HEAD.replace("ROOM", "0"), *words)
    assert (done.status, done.stdout) == (5, ""), done
    assert "chains/" in done.stderr
    assert "run it again" in done.stderr
    assert (look(scene).status, look(scene).pending) == (before.status, False)
    must(scene.flow(*words))
    told = must(scene.flow("goal", "status", GOAL)).stdout
    assert "by hand" not in told
    assert "not vouched for" not in told


def test_an_evaluation_whose_last_head_was_not_taken_is_none(scene):
    """The goal's own text was announced; what was measured is pinned at the end."""
    scene.meet()
    done = patched(scene, NO_HEAD.replace("ROOM", "1"), "goal", "evaluate", GOAL)
    assert (done.status, done.stdout) == (5, ""), done
    assert look(scene).evidence
    must(scene.flow("goal", "confirm", GOAL, "--proposal", scene.propose()))
