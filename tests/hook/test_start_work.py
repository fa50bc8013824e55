"""How much work a start does, by counts: times depend on the machine, these do not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from flow.adapters.fs import files, stamps
from flow.adapters.ledger import reader, transaction
from flow.adapters.verification import variables as verification_variables
from flow.adapters.worktree import change_set
from flow.app.transitions.confirming import live_question
from flow.app.transitions.moves import pause_goal
from flow.core.attribution.rules import matches_whole
from flow.wiring.context import Context
from tests.support import ROOT, scene
from tests.support import stops as hooks

if TYPE_CHECKING:
    from tests.support import GitRepo

LOADED = """
import json, sys
sys.path.insert(0, {root!r})
before = set(sys.modules)
from flow.hook import main
main(["--", {event!r}])
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def _printed(repo: GitRepo, *arguments: str) -> list[str]:
    """The lines that Python prints, started in the repository."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=repo.path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout.splitlines()


def loaded_by_a_stop(repo: GitRepo) -> set[str]:
    """The modules that a stop in a process of its own loads."""
    code = LOADED.format(root=str(ROOT), event=json.dumps(hooks.event(repo)))
    answer, modules = _printed(repo, "-c", code)
    assert json.loads(answer)["decision"] == "approve", answer
    return set(json.loads(modules))


def test_a_stop_after_a_turn_was_written_loads_only_what_it_needs(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    scene.meet(repo)
    assert scene.flow(repo, "goal", "evaluate", "greet").status == 0
    modules = loaded_by_a_stop(repo)
    assert "flow.app.stop.turn" in modules
    rare = {"yaml", "flow.adapters.contracts.strict_yaml", "flow.adapters.contracts.edit"}
    rare |= {
        "flow.adapters.git.blobs",
        "fnmatch",
        "signal",
        "filelock",
        "transitions",
        "git",
        "jsonschema",
        "subprocess",
    }
    rare |= {
        "flow.core.evidence.proof",
        "flow.core.evidence.protected_files",
        "flow.core.evidence.repeat",
        "flow.app.evaluation.repeating",
        "flow.app.evaluation.command_runs",
        "flow.app.evaluation.recording",
        "flow.app.checks",
        "flow.app.ports",
        "flow.adapters.process.speaker",
        "flow.app.transitions.closing",
    }
    assert not rare & modules


def test_status_loads_neither_the_parser_nor_what_only_a_stop_needs(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    scene.meet(repo)
    assert scene.flow(repo, "goal", "evaluate", "greet").status == 0  # a proposal to look at
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from flow.__main__ import run\n"
    code += "run(['goal', 'status']); print(*sys.modules)"
    lines = _printed(repo, "-I", "-S", "-c", code)
    assert "greet" in lines[0]
    modules = set(lines[-1].split())
    assert not {"argparse", "gettext", "yaml", "flow.adapters.user_state.checkouts"} & modules
    assert not {"pwd", "flow.adapters.ledger.writer"} & modules  # nothing is written


HEAVY = {"re", "enum", "collections", "functools", "contextlib", "json", "importlib", "typing"}
"""Modules of the standard library that take a bare interpreter's start together."""


STOP = "from flow.hook import run; run(['stop', '--', sys.argv[2]])"


@pytest.mark.parametrize(
    "start",
    [
        "from flow.__main__ import run; run(['goal', 'status'])",
        "from flow.__main__ import run; run(['goal', 'list'])",
        "from flow.__main__ import run; run(['statusline'])",
        "from flow.helpers import main; main('flow-active-goal.sh', [])",
        STOP,
    ],
)
def test_a_start_without_work_loads_little_of_the_standard_library(
    repo: GitRepo, capfd: pytest.CaptureFixture[str], start: str
) -> None:
    scene.create(scene.start(repo))
    scene.meet(repo)
    for _ in range(2):  # from here on nothing changes
        hooks.stop(repo, capfd)
    assert not (HEAVY | {"flow.adapters.ledger.evidence_store"}) & _loaded(repo, start)


def test_neither_does_a_stop_that_runs_commands(
    repo: GitRepo, capfd: pytest.CaptureFixture[str]
) -> None:
    scene.create(scene.start(repo))
    scene.meet(repo)
    hooks.stop(repo, capfd)
    repo.write("src/greet.txt", "please, again\n")  # a change: the commands are run again
    assert not sorted((HEAVY | {"flow.app.ports"}) & _loaded(repo, STOP))
    assert len([*repo.path.glob(".flow/runs/*/evidence/*.evidence.yaml")]) == 2


@pytest.mark.parametrize("options", ["", "'greet', '--no-input', '--output', 'all'"])
def test_neither_does_an_evaluation_that_writes_a_turn(repo: GitRepo, options: str) -> None:
    scene.create(scene.start(repo), criterion="AC1: x :: true")
    assert scene.flow(repo, "goal", "evaluate", "greet").status == 0
    repo.write("src/greet.txt", "please, again\n")
    start = f"from flow.__main__ import run; run(['goal', 'evaluate', {options}])"
    assert not sorted((HEAVY | {"argparse", "gettext"}) & _loaded(repo, start))
    assert "turns_evaluated: 2" in scene.goal_file(repo)
    [journal] = repo.path.glob(".decisions/*.md")
    assert journal.read_text().count("type: goal-evaluation") == 2


def _loaded(repo: GitRepo, start: str) -> set[str]:
    """The modules that a start of its own has loaded at its end."""
    packages = os.path.dirname(os.path.dirname(yaml.__file__))
    code = f"import sys; sys.path[:0] = [sys.argv[1], {packages!r}]; {start}; print(*sys.modules)"
    words = "It is done: src/paths/greet.py, https://example.com/x?y=1, tokens by default. " * 40
    event = json.dumps(hooks.event(repo, last_assistant_message=words))
    *lines, modules = _printed(repo, "-I", "-S", "-X", "utf8", "-c", code, ROOT, event)
    assert "greet" in "".join(lines)
    return set(modules.split())


def test_a_command_that_is_no_stop_loads_nothing_of_the_hook(repo: GitRepo) -> None:
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import flow.wiring.stopping\n"
    code += "print(*(name for name in sys.modules if name.startswith('flow.wiring.loop_')))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == []


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every look at the working tree."""
    taken: list[Any] = []
    snapshot = change_set.snapshot

    def counted(*words: Any, **more: Any) -> Any:
        taken.append(snapshot(*words, **more))
        return taken[-1]

    monkeypatch.setattr(change_set, "snapshot", counted)
    return taken


def test_one_decision_looks_at_the_files_before_and_after_its_commands(
    repo: GitRepo, looks: list[Any]
) -> None:
    scene.create(scene.start(repo))
    scene.meet(repo)
    looks.clear()
    done = scene.flow(repo, "goal", "evaluate", "greet", "--json")
    assert done.json["proposed_transition"]["confirm"]["moved"] == []
    assert len(looks) == 2


def test_the_question_before_a_goal_is_closed_looks_once(repo: GitRepo, looks: list[Any]) -> None:
    scene.create(scene.start(repo))
    scene.meet(repo)
    assert scene.flow(repo, "goal", "evaluate", "greet").status == 0
    looks.clear()
    question = ask(repo)
    assert question is not None
    assert (len(looks), question.moved) == (1, ())


def test_what_moves_after_an_evaluation_is_told_by_the_next_question(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    scene.meet(repo)
    assert scene.flow(repo, "goal", "evaluate", "greet").status == 0
    repo.write("src/other.txt", "later\n")
    question = ask(repo)
    assert question is not None
    assert question.moved == ("the files were changed since it was made",)


def test_a_stop_with_nothing_changed_looks_once(
    repo: GitRepo, looks: list[Any], capfd: pytest.CaptureFixture[str]
) -> None:
    scene.create(scene.start(repo))
    scene.meet(repo)
    hooks.stop(repo, capfd)
    looks.clear()
    assert "proved" in hooks.stop(repo, capfd)["reason"]
    assert len(looks) == 1


def test_only_a_stop_that_changed_something_waits_for_the_disk(
    repo: GitRepo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    synced: list[int] = []
    sync = os.fsync

    def noted(fd: int) -> None:
        synced.append(os.fstat(fd).st_ino)
        sync(fd)

    scene.create(scene.start(repo))
    scene.meet(repo)
    monkeypatch.setattr(os, "fsync", noted)
    hooks.stop(repo, capfd)
    [verdict] = repo.path.glob(".flow/runs/*/last-verdict.json")
    assert verdict.parent.stat().st_ino in synced, "the verdict of a turn that was written"
    hooks.stop(repo, capfd)  # what the first one was told is remembered
    before = verdict.read_bytes()
    synced.clear()
    hooks.stop(repo, capfd)
    assert synced == []
    assert verdict.read_bytes() != before


def test_an_unchanged_stop_replaces_what_is_new_and_reads_its_last_verdict_once(
    repo: GitRepo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """To replace a file makes the disk write the new one at once, which can take long."""
    replaced: list[str] = []
    rename, read_optional, reads = os.rename, files.read_optional, list[str]()

    def noted(source: Any, target: Any, **more: Any) -> None:
        replaced.append(os.path.basename(target))
        rename(source, target, **more)

    def read(root: str, rel: str, **more: Any) -> bytes | None:
        reads.append(os.path.basename(rel))
        return read_optional(root, rel, **more)

    scene.create(scene.start(repo))
    scene.meet(repo)
    for _ in range(2):
        hooks.stop(repo, capfd)
    monkeypatch.setattr(os, "rename", noted)
    monkeypatch.setattr(os, "replace", noted)
    monkeypatch.setattr(files, "read_optional", read)
    hooks.stop(repo, capfd)
    assert replaced == ["last-verdict.json", f"{scene.run_dir(repo).name}.json"]
    assert reads.count("last-verdict.json") == 1


def test_an_unchanged_stop_looks_back_over_its_events_once(
    repo: GitRepo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    scene.create(scene.start(repo))
    scene.meet(repo)
    for _ in range(12):  # their events are more than one block
        hooks.stop(repo, capfd)
    few = bytes_read_back(repo, monkeypatch, capfd)
    [events] = repo.path.glob(".flow/runs/*/events.jsonl")
    size = events.stat().st_size
    for _ in range(30):
        hooks.stop(repo, capfd)
    many = bytes_read_back(repo, monkeypatch, capfd)
    # One look goes back to what tells of the evidence; no other looks for what is not there.
    assert 0 < many - few < 1.5 * (events.stat().st_size - size)


def test_a_stop_that_runs_commands_does_not_look_back_to_the_first_evidence(
    repo: GitRepo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The goal names the evidence that proved it first, as long as its result is the same."""

    def bytes_after(turns: int) -> int:
        for number in range(turns):
            repo.write("src/greet.txt", f"please, {turns} {number}\n")
            hooks.stop(repo, capfd)
        repo.write("src/greet.txt", f"please, {turns}\n")
        return bytes_read_back(repo, monkeypatch, capfd)

    scene.create(scene.start(repo))
    scene.meet(repo)
    few = bytes_after(12)
    assert "evidence-ac1-eval-1\n" in scene.goal_file(repo).replace(".evidence.yaml", "")
    many = bytes_after(24)
    assert many - few < 16_384, (few, many)
    assert len([*repo.path.glob(".flow/runs/*/evidence/*.evidence.yaml")]) == 13 + 25


def bytes_read_back(
    repo: GitRepo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> int:
    """Bytes that one stop reads at places within files, as it looks back over a run's record."""
    lengths: list[int] = []
    read = os.pread

    def noted(fd: int, size: int, at: int) -> bytes:
        data = read(fd, size, at)
        lengths.append(len(data))
        return data

    with monkeypatch.context() as patched:
        patched.setattr(os, "pread", noted)
        hooks.stop(repo, capfd)
    return sum(lengths)


def ask(repo: GitRepo) -> Any:
    return live_question(Context(str(repo.path)), "greet")


FORMS = sorted(
    {
        form
        for variable in verification_variables.VARIABLES
        for form in (variable.name, *variable.stays, *variable.quiet)
    }
)
WORDS = (
    *("", "*", "-X", "-Xmx1g", '"-Xmx1g"', "CARGO_TARGET_A_RUNNER", "CARGO_TARGET_RUNNER"),
    *("CARGO_TARGET__RUNNER", "CARGO_PROFILE_dev_DEBUG_ASSERTIONS", "NEXTEST_FILTER", "vstestX"),
    *("-Dmy.logger.level=1", "-Dlogger", "-D*logger*", "-rbundler/setup", "-r/bundler/setup"),
    *("-r/a/bundler/setup", "a.passenv+=b", "x.passenv+", "-tags=", "-count=1", "-count=12"),
)


@pytest.mark.parametrize("form", [*FORMS, "a*a", "*a*b*", "**", "a*b*a"])
def test_a_form_names_what_a_shell_pattern_names(form: str) -> None:
    more = (form, form.replace("*", ""), form.replace("*", "x"), form + "x", "x" + form, form[:-1])
    for word in (*WORDS, *more, "a", "aa", "aba", "ab", "abba", "ba"):
        assert matches_whole(form, word) == fnmatchcase(word, form), word


def test_a_stop_reads_all_goals_once_and_the_judged_one_again(
    repo: GitRepo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    scene.create(scene.start(repo))
    scene.create(repo, "other", "--draft")
    hooks.stop(repo, capfd)
    goals: list[str] = []
    read_goal = reader.read_goal

    def counted(root: str, goal_id: str, *more: Any) -> Any:
        goals.append(goal_id)
        return read_goal(root, goal_id, *more)

    monkeypatch.setattr(reader, "read_goal", counted)
    hooks.stop(repo, capfd)
    assert goals.count("other") == 1
    assert goals.count("greet") <= 4  # for its settings, its trust, and the watch over its file


def test_a_stop_among_many_closed_goals_reads_none_of_them_and_sees_one_that_is_opened(
    repo: GitRepo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(stamps, "_stamps_show_writes", lambda _file: True)  # also in memory
    monkeypatch.setattr(stamps, "RACY_NS", -3_600_000_000_000)
    scene.create(scene.start(repo))
    text = scene.goal_file(repo).replace("status: active", "status: cancelled")
    for number in range(60):
        repo.write(
            f".flow/goals/old{number}.goal.yaml", text.replace("id: greet", f"id: old{number}")
        )
    hooks.stop(repo, capfd)
    read: list[str] = []
    parse = reader.parse_goal

    def counted(data: bytes, file: str, **more: Any) -> Any:
        read.append(file)
        return parse(data, file, **more)

    monkeypatch.setattr(reader, "parse_goal", counted)
    hooks.stop(repo, capfd)
    assert set(read) == {".flow/goals/greet.goal.yaml"}
    text = text.replace("status: cancelled", "status: active")
    repo.write(".flow/goals/old7.goal.yaml", text.replace("id: greet", "id: old7"))
    assert "old7" in hooks.stop(repo, capfd)["systemMessage"]


def test_a_change_that_was_pending_is_seen_by_the_stop_that_completes_it(
    repo: GitRepo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    scene.create(scene.start(repo))
    hooks.stop(repo, capfd)

    def killed(*_: Any) -> None:
        raise SystemExit(137)

    context = Context(str(repo.path))
    with monkeypatch.context() as patched:
        patched.setattr(transaction, "_journal", killed)
        with pytest.raises(SystemExit):
            pause_goal(context.persons_context(), "greet", "later", context.remembered.paused)
    assert "status: active" in scene.goal_file(repo)
    answer = hooks.stop(repo, capfd)
    assert "status: waiting_for_user" in scene.goal_file(repo)
    assert "greet is waiting_for_user" in answer["reason"]


def test_a_goal_is_as_the_state_folder_left_it_at_every_look(repo: GitRepo) -> None:
    """What is remembered of a file within a process is told by the file's bytes."""
    scene.create(scene.start(repo))
    context = Context(str(repo.path))
    run_id, goal = scene.run_dir(repo).name, context.load("greet").goal
    assert context.pinned(run_id, goal) is not None
    rel = f".flow/runs/{run_id}/baseline.json"
    text = repo.read(rel)
    repo.write(rel, text.replace('"base_commit"', '"base_commit" ', 1))
    assert context.pinned(run_id, goal) is None
    repo.write(rel, text)
    assert context.pinned(run_id, goal) is not None
    path = context.heads.path(run_id)
    with open(path, encoding="utf-8") as file:
        kept = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write("{")
    assert context.pinned(run_id, goal) is None
    with open(path, "w", encoding="utf-8") as file:
        file.write(kept)
    assert context.pinned(run_id, goal) is not None
