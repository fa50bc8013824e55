"""The Stop hook's script, whatever a host or a machine throws at it: one JSON object, exit 0."""

from __future__ import annotations

import glob
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import ROOT, GitRepo, run_flow, scene
from tests.support.effort import sizes
from tests.support.stops import SCRIPT, event, handed_on, one_day, run_script, settings, stop

if TYPE_CHECKING:
    from pathlib import Path

OLDER = os.path.join(ROOT, "hooks", "scripts", "flow-goal-stop.sh")


@pytest.fixture
def blocking(repo: GitRepo, home: Path) -> GitRepo:
    """A goal that is not met, in a mode that keeps the agent working."""
    scene.create(scene.start(repo))
    settings(home, stopHookEnforcement="block")
    return repo


@pytest.fixture
def stub(tmp_path: Path) -> dict[str, str]:
    """An interpreter that blocks, and says in which folder it was started.

    It starts in no time where the script alone is asked: whether it finds its own folder, and goes
    on to the interpreter, in the folder that the event is about.
    """
    program = tmp_path / "stub"
    program.write_text(
        '#!/bin/sh\n[ -f "$5" ] || exit 1\nprintf \'{"decision": "block"}\\n\'\npwd >"$0.in"\n'
    )
    program.chmod(0o755)
    return {"FLOW_PYTHON": str(program)}


@pytest.fixture
def goals(repo: GitRepo) -> GitRepo:
    """A repository with a goal, as far as the script can tell."""
    repo.write(".flow/goals/greet.goal.yaml")
    return repo


def started_in(stub: dict[str, str]) -> str:
    """The folder in which the stub was started last."""
    with open(f"{stub['FLOW_PYTHON']}.in", encoding="utf-8") as file:
        return file.read().removesuffix("\n")


def answer(data: str, cwd: Path | GitRepo, *words: str, **more: Any) -> dict[str, Any]:
    """What the script prints; it must be one JSON object, and the status 0."""
    done = run_script(data, *words, cwd=cwd.path if isinstance(cwd, GitRepo) else cwd, **more)
    assert done.status == 0
    assert done.stdout.count("\n") == 1
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def test_it_blocks_and_lets_go(blocking: GitRepo, tmp_path: Path) -> None:
    data = json.dumps(event(blocking))
    assert answer(data, tmp_path, script=OLDER)["decision"] == "block"
    scene.meet(blocking)
    assert answer(data, tmp_path)["decision"] == "approve"


def test_a_judges_session_is_let_go_and_never_in_silence_where_goals_are(
    goals: GitRepo, tmp_path: Path
) -> None:
    """An agent can put the variable into its host's settings."""
    guard = {"CLAUDE_HOOK_GOAL_JUDGE_MODE": "1"}
    said = answer(json.dumps(event(goals)), tmp_path, **guard)
    assert said["decision"] == "approve"
    assert "CLAUDE_HOOK_GOAL_JUDGE_MODE" in said["systemMessage"]
    data = json.dumps({**event(goals), "cwd": str(tmp_path)})
    assert "systemMessage" not in answer(data, tmp_path, **guard)


def test_it_works_through_a_link_and_from_a_folder_with_spaces(
    goals: GitRepo, tmp_path: Path, stub: dict[str, str]
) -> None:
    folder = tmp_path / "with spaces"
    folder.mkdir()
    link = folder / "a link.sh"
    link.symlink_to(SCRIPT)
    found = answer(json.dumps(event(goals)), folder, script=str(link), **stub)
    assert found["decision"] == "block"


def test_every_hook_finds_what_it_shares_by_the_same_two_lines() -> None:
    scripts = glob.glob(os.path.join(ROOT, "hooks", "**", "*.sh"), recursive=True)
    found = set()
    for path in scripts:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        start = next(n for n, line in enumerate(lines) if "BASH_SOURCE" in line)
        found.add((lines[start], lines[start + 1]))
        assert sum("readlink" in line for line in lines) == 1, path
    assert (len(scripts), len(found)) == (4, 1)


@pytest.mark.parametrize("name", ["flow-goal-evaluator.sh", "flow-goal-stop.sh", "a link.sh"])
@pytest.mark.parametrize("way", ["hooks/scripts/{}", "./hooks/scripts/{}", "../x/hooks/scripts/{}"])
def test_a_relative_path_is_found_wherever_the_event_is_about(
    name: str, way: str, goals: GitRepo, tmp_path: Path, stub: dict[str, str]
) -> None:
    """The script goes to the event's folder, and must not lose its own on the way."""
    folder = copied(tmp_path / "x")
    found = answer(json.dumps(event(goals)), folder, script=way.format(name), **stub)
    assert found["decision"] == "block"
    assert started_in(stub) == str(goals.path)


@pytest.mark.parametrize("name", ["flow-goal-evaluator.sh", "a link.sh"])
def test_so_is_what_it_starts(name: str, blocking: GitRepo, tmp_path: Path) -> None:
    folder = copied(tmp_path / "x")
    script = f"../x/hooks/scripts/{name}"
    assert answer(json.dumps(event(blocking)), folder, script=script)["decision"] == "block"


def copied(folder: Path) -> Path:
    """Flow's folder with hooks of its own, one of which has a link."""
    folder.mkdir()
    for part in ("bin", "flow", "schemas"):
        (folder / part).symlink_to(os.path.join(ROOT, part))
    shutil.copytree(os.path.join(ROOT, "hooks"), folder / "hooks")
    (folder / "hooks/scripts/a link.sh").symlink_to("flow-goal-evaluator.sh")
    return folder


@pytest.mark.parametrize("about", ["the same folder", "another one"])
def test_the_other_hook_finds_itself_by_a_relative_path(about: str, blocking: GitRepo) -> None:
    script = "hooks/judge-on-stop.sh"
    blocking.write("judge-config.json", '{"autoJudge": true}')
    where = ROOT if about == "the same folder" else os.path.dirname(os.path.join(ROOT, script))
    name = script if where == ROOT else f"./{os.path.basename(script)}"
    done = run_script(json.dumps(event(blocking)), script=name, cwd=where)
    assert (done.status, done.stderr) == (0, "")
    assert "cannot run" not in done.stdout


@pytest.mark.parametrize(
    "name", sorted(n for n in os.listdir(os.path.join(ROOT, "bin")) if n.startswith("flow"))
)
def test_so_does_every_script_of_bin(name: str, stub: dict[str, str]) -> None:
    own = os.path.join(ROOT, "bin")
    for where, path in ((ROOT, f"bin/{name}"), (own, f"./{name}")):
        done = run_script("", "--help", script=path, cwd=where, **stub)
        assert (done.status, done.stderr, started_in(stub)) == (0, "", where), done
        if name == "flow":
            done = run_script("", "--help", script=path, cwd=where)
            assert (done.status, done.stderr) == (0, ""), done
            assert "usage" in done.stdout.lower()


def test_json_is_known_as_to_every_command_and_turns_no_stop_off(blocking: GitRepo) -> None:
    words = ["hook", "stop", "--json"]
    done = run_flow(*words, cwd=blocking.path, input=json.dumps(event(blocking)))
    assert (done.status, done.json["decision"]) == (0, "block")


@pytest.mark.parametrize(
    ("words", "status", "key"),
    [
        ("hook --json", 0, "help"),
        ("--json hook", 0, "help"),
        ("hook --help --json", 0, "help"),
        ("hook stop --help --json", 0, "help"),
        ("help hook --json", 0, "help"),
        ("hook stpo --json", 2, "error"),
        ("--json hook stpo", 2, "error"),
        ("hook pre-push --json", 0, "goal_id"),
        ("--json hook stop", 0, "decision"),
    ],
)
def test_json_is_one_document_whatever_is_asked(
    words: str, status: int, key: str, repo: GitRepo
) -> None:
    scene.start(repo)
    done = run_flow(*words.split(), cwd=repo.path)
    assert (done.status, done.stderr) == (status, "")
    assert key in done.json


def test_help_without_a_reader_is_no_traceback() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "flow", "hook", "--help"]
    done = subprocess.run(command, cwd=ROOT, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


# --- no goals: no interpreter ----------------------------------------------------------------

NOTHING = {"FLOW_PYTHON": "/nonexistent"}
"""An interpreter that cannot be started: whoever answers, it was not Python."""


@pytest.mark.parametrize("where", ["repository", "below", "no repository", "gone"])
def test_without_goals_no_interpreter_is_started(where: str, repo: GitRepo, tmp_path: Path) -> None:
    folder = {
        "repository": repo.path,
        "below": repo.path / "a/b",
        "no repository": tmp_path,
        "gone": tmp_path / "gone",
    }[where]
    if where == "below":
        folder.mkdir(parents=True)
    found = answer(json.dumps(event(folder)), tmp_path, **NOTHING)
    assert found == {"decision": "approve", "reason": "there are no goals here"}


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("claude", {"decision": "approve", "reason": "there are no goals here"}),
        ("codex", {}),
        ("gemini", {"decision": "allow"}),
        ("cursor", {}),
    ],
)
@pytest.mark.parametrize("form", ["--host {}", "--host={}"])
def test_every_host_gets_its_words_from_the_script_too(
    host: str, expected: dict[str, str], form: str, tmp_path: Path
) -> None:
    words = form.format(host).split()
    assert answer(json.dumps(event(tmp_path)), tmp_path, *words, **NOTHING) == expected


NAMES = ["a b", "a,b", "ü", "a'b", "{a}", "a$(touch x)b", "a*"]


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_with_any_name_is_found(name: str, tmp_path: Path, stub: dict[str, str]) -> None:
    repo = GitRepo.init(tmp_path / name)
    repo.write(".flow/goals/greet.goal.yaml")
    texts = json.dumps(event(repo)), json.dumps(event(repo), ensure_ascii=False)
    for text in texts:
        assert answer(text, tmp_path, **stub)["decision"] == "block"
    assert started_in(stub) == str(repo.path)


@pytest.mark.parametrize("name", ["ü", "a$(touch x)b"])
def test_a_goal_in_a_folder_with_any_name_is_judged(
    name: str, tmp_path: Path, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    repo = GitRepo.init(tmp_path / name)
    scene.create(scene.start(repo))
    settings(home, stopHookEnforcement="block")
    for text in (json.dumps(event(repo)), json.dumps(event(repo), ensure_ascii=False)):
        assert handed_on(text, tmp_path, capfd)["decision"] == "block"


def test_the_events_folder_counts_not_the_hosts(
    blocking: GitRepo, tmp_path: Path, stub: dict[str, str]
) -> None:
    """Also where `cwd` comes late, after a long message that speaks of another one."""
    below = blocking.path / "src"
    assert answer(json.dumps(event(below)), tmp_path, **stub)["decision"] == "block"
    said = {"last_assistant_message": 'x "cwd": "/tmp", ' * 1000}
    found = answer(json.dumps({**said, **event(blocking)}), tmp_path)
    assert found["decision"] == "block"
    other = event(tmp_path, session_id="s2")  # the first one's goal is judged wherever it goes
    assert answer(json.dumps(other), blocking)["decision"] == "approve"


BEFORE = {  # what stands before the event's own folder, and names another one
    "in an object": '"tool_input": {"cwd": "/tmp"}',
    "deep in lists": '"a": [[{"b": [{"cwd": "/tmp"}]}]]',
    "roots in an object": '"a": {"workspace_roots": ["/tmp"]}',
    "in a text": '"last_assistant_message": "x \\"cwd\\": \\"/tmp\\", y"',
    "in a text with a backslash": '"m": "\\\\", "n": "\\"cwd\\": \\"/tmp\\""',
    "as a value": '"key": "cwd", "x": "/tmp"',
    "spread over lines": '"a" :\n {\n "cwd"\n:\n"/tmp"\n}',
    "an empty object": '"a": {}, "b": {"cwd": "/tmp"}',
    "at the end of a key": '"x\\"cwd": "/tmp"',
}


SENT = [  # by either script, without a byte-order mark and with one
    (before, script, mark)
    for before in BEFORE
    for script in (SCRIPT, OLDER)
    for mark in ("", "\ufeff")
]


@pytest.mark.parametrize(
    ("name", "script", "mark"),
    sizes(short=[SENT[4 * row + row % 4] for row in range(len(BEFORE))], long=SENT),
)
def test_only_the_events_own_folder_counts(
    name: str,
    script: str,
    mark: str,
    goals: GitRepo,
    tmp_path: Path,
    stub: dict[str, str],
    capfd: pytest.CaptureFixture[str],
) -> None:
    """For the script, with blanks and without, and for what it starts."""
    for before, separators in ((BEFORE[name], None), (BEFORE[name].replace(": ", ":"), (",", ":"))):
        own, elsewhere = (
            f"{mark}{{{before},{json.dumps(sent, separators=separators)[1:]}"
            for sent in (event(goals), event(tmp_path, session_id="s2"))
        )
        assert json.loads(own.removeprefix("\ufeff"))["cwd"] == str(goals.path)
        assert answer(own, tmp_path, script=script, **stub)["decision"] == "block"
        assert "greet" in handed_on(own, tmp_path, capfd)["systemMessage"]
        assert handed_on(elsewhere, goals.path, capfd)["decision"] == "approve"
        assert "systemMessage" not in handed_on(elsewhere, goals.path, capfd)


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "mark"])
@pytest.mark.parametrize(
    "before", ['"n": -1.5e3, "t": true, "f": false, "u": null', '"a" : "x,{y}:[z]"', '"": ""']
)
def test_plain_members_before_it_start_no_interpreter(
    before: str, mark: str, tmp_path: Path
) -> None:
    for separators in ((", ", ": "), (",", ":"), (" , ", " : ")):
        data = f"{mark}{{{before}, {json.dumps(event(tmp_path), separators=separators)[1:]}"
        assert answer(data, tmp_path, **NOTHING)["reason"] == "there are no goals here"


def test_a_folder_behind_a_link_is_found(
    goals: GitRepo, tmp_path: Path, stub: dict[str, str]
) -> None:
    below = goals.path / "src"
    below.mkdir()
    (tmp_path / "link").symlink_to(below)
    assert answer(json.dumps(event(tmp_path / "link")), tmp_path, **stub)["decision"] == "block"
    assert started_in(stub) == str(below)


# --- whatever is thrown at it ----------------------------------------------------------------

INPUTS = {
    "nothing": "",
    "a blank": " \n",
    "half": '{"session_id": "s", "cwd": "@',
    "no JSON": "hello, world",
    "a list": "[1, 2]",
    "null": "null",
    "a number": "12",
    "a text": '"x"',
    "deep": "[" * 100_000,
    "deep objects": '{"a":' * 50_000,
    "two": '{"cwd": "@"}{"cwd": "@"}',
    "wrong types": '{"session_id": 5, "cwd": ["@"], "stop_hook_active": "yes"}',
    "a null folder": '{"cwd": null}',
    "a relative folder": '{"cwd": "x/y"}',
    "an escaped folder": '{"cwd": "@\\u0000x"}',
    "half a character": '{"cwd": "@\\ud800"}',
    "a huge number": '{"cwd": "@", "n": ' + "9" * 10_000 + "}",
    "a million commas": "," * 1_000_000,
    "no end of text": '{"cwd": "@", "x": "' + "a" * 2_000_000,
}

LONG = {"no comma": "a" * 2_000_000, "commas": "a," * 9_000, "at its limit": "a" * 16_370}


@pytest.mark.parametrize("name", list(LONG))
def test_a_long_text_before_the_folder_hides_nothing(
    name: str, blocking: GitRepo, stub: dict[str, str]
) -> None:
    """What is behind it is read by the interpreter, as far as the script left it."""
    data = json.dumps({"last_assistant_message": LONG[name], **event(blocking)})
    more = {} if name == "no comma" else stub
    assert answer(data, blocking, **more)["decision"] == "block"
    other = os.path.join(ROOT, "hooks", "judge-on-stop.sh")
    blocking.write(".claude/settings.flow.json", '{"judge": {"autoJudge": true}}')
    assert "cannot run" not in str(answer(data, blocking, script=other, **more))


@pytest.mark.parametrize("name", list(INPUTS))
def test_any_input_gets_an_answer(
    name: str, goals: GitRepo, stub: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    """From the script, and from what it starts."""
    data = INPUTS[name].replace("@", str(goals))
    assert answer(data, goals, **stub)["decision"] in ("approve", "block")
    done = run_flow("hook", "stop", cwd=goals.path, input=data)
    assert (done.status, done.json["decision"]) == (0, "approve")


def test_half_an_event_gets_an_answer_from_both(goals: GitRepo) -> None:
    assert answer(INPUTS["half"].replace("@", str(goals)), goals)["decision"] == "approve"


def test_a_byte_order_mark_is_read_over(blocking: GitRepo) -> None:
    data = "\ufeff" + json.dumps(event(blocking, "cursor"))
    done = run_flow("hook", "stop", "--host", "cursor", cwd=blocking.path, input=data)
    assert done.json["followup_message"].startswith("FLOW_GOAL_CONTINUATION")


def test_any_option_gets_an_answer(blocking: GitRepo) -> None:
    data = json.dumps(event(blocking))
    for words in (["--host", "nobody"], ["--nonsense"], ["--host"], ["a", "b"]):
        done = run_flow("hook", "stop", *words, cwd=blocking.path, input=data)
        for found in (done.json, *([answer(data, blocking, *words)] if words[1:] else [])):
            assert found["decision"] == "approve"
            assert "flow hook stop" in found["systemMessage"] or "--host" in found["systemMessage"]


def test_closed_input_and_output(goals: GitRepo) -> None:
    env = {**os.environ, "FLOW_PYTHON": sys.executable}
    for redirect in ("<&-", ">&-", "<&- >&- 2>&-", ">/dev/full", "2>&-"):
        command = f'exec "$0" {redirect}'
        done = subprocess.run(
            ["bash", "-c", command, SCRIPT], cwd=goals.path, env=env,
            capture_output=True, input=b"", timeout=300,
        )  # fmt: skip
        assert done.returncode == 0, redirect
        if ">" not in redirect.replace("2>&-", ""):
            json.loads(done.stdout)


@pytest.mark.parametrize("shell", [{}, {"POSIXLY_CORRECT": "1"}], ids=["bash", "posix"])
@pytest.mark.parametrize("script", ["scripts/flow-goal-evaluator.sh", "judge-on-stop.sh"])
def test_a_closed_input_is_an_empty_one(
    goals: GitRepo, tmp_path: Path, script: str, shell: dict[str, str]
) -> None:
    """Else the interpreter in the script's ``$( )`` has its own output there, and waits for it."""
    goals.write("judge-config.json", '{"autoJudge": true}')
    reads = tmp_path / "reads"
    reads.write_text("#!/bin/sh\ncat\necho '{}'\n")
    reads.chmod(0o755)
    done = subprocess.run(
        ["bash", "-c", 'exec "$0" <&-', f"{ROOT}/hooks/{script}"],
        cwd=goals.path, env={**os.environ, "FLOW_PYTHON": str(reads), **shell},
        capture_output=True, input=b"", timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, b"{}\n", b"")


BROKEN_STARTS = {
    "no such interpreter": "/nonexistent",
    "one that fails": "/bin/false",
    "one that prints rubbish": "rubbish",
    "one that dies": "dies",
    "one without the packages": "bare",
}


@pytest.mark.parametrize("name", list(BROKEN_STARTS))
def test_what_cannot_start_is_said_once_a_day(
    name: str, blocking: GitRepo, tmp_path: Path, home: Path
) -> None:
    python = BROKEN_STARTS[name]
    scripts = {"rubbish": "echo Hello", "dies": "kill -9 $$"}
    if python in scripts:
        fake = tmp_path / python
        fake.write_text(f"#!/bin/sh\n{scripts[python]}\n")
        fake.chmod(0o755)
        python = str(fake)
    if python == "bare":
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "v"], check=True)
        python = str(tmp_path / "v/bin/python")
    data = json.dumps(event(blocking))
    more = {"FLOW_PYTHON": python, "PATH": one_day(tmp_path)}
    first = answer(data, blocking, **more)
    assert first["decision"] == "approve"
    assert "cannot run" in first["systemMessage"]
    assert first["systemMessage"].rstrip().endswith("bin/flow doctor")
    second = answer(data, blocking, **more)
    assert "systemMessage" not in second
    assert "cannot run" in second["reason"]
    [mark] = (home / "flow-state").glob("said-hook-*")
    mark.rename(mark.with_name("said-hook-2001-01-01"))
    assert "systemMessage" in answer(data, blocking, **more)
    assert len(list((home / "flow-state").glob("said-hook-*"))) == 1


@pytest.mark.parametrize(
    ("state", "made"), [("new", True), ("new/", True), ("none/new", False), ("", True)]
)
def test_a_state_folder_that_is_not_there_yet_is_made(
    state: str, made: bool, blocking: GitRepo, tmp_path: Path, home: Path
) -> None:
    """One whose parent is not there is nobody's: then it is said each time."""
    more: dict[str, Any] = {"FLOW_PYTHON": "/bin/false", "PATH": one_day(tmp_path)}
    folder = tmp_path / state if state else home / ".claude/flow-state"
    more["FLOW_STATE_DIR"] = str(tmp_path) + f"/{state}" if state else None
    first = answer(json.dumps(event(blocking)), blocking, **more)
    assert "cannot run" in first["systemMessage"]
    second = answer(json.dumps(event(blocking)), blocking, **more)
    assert ("systemMessage" in second) is not made
    assert len(list(folder.glob("said-hook-*"))) == made
    if made:
        assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("path", ["", "@/none", "relative"], ids=["empty", "none", "relative"])
def test_without_a_home_it_answers(path: str, blocking: GitRepo, tmp_path: Path) -> None:
    more = {"HOME": path.replace("@", str(tmp_path)), "FLOW_STATE_DIR": None}
    assert answer(json.dumps(event(blocking)), blocking, **more)["decision"] == "approve"
    more["FLOW_PYTHON"] = "/bin/false"
    assert answer(json.dumps(event(blocking)), blocking, **more)["decision"] == "approve"


def test_an_environment_that_is_not_prepared_is_named_and_not_prepared(
    blocking: GitRepo, tmp_path: Path
) -> None:
    """Preparing one takes longer than a stop may, and needs a network."""
    copy = tmp_path / "copy of flow"
    for name in ("bin", "hooks", "flow", "schemas"):
        shutil.copytree(
            os.path.join(ROOT, name), copy / name, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(os.path.join(ROOT, "pyproject.toml"), copy)
    script = str(copy / "hooks/scripts/flow-goal-evaluator.sh")
    found = answer(json.dumps(event(blocking)), blocking, script=script, FLOW_PYTHON=None)
    assert "cannot run" in found["systemMessage"]
    # The folder has spaces in its name, and what is told can be copied to a shell.
    assert shlex.split(found["systemMessage"].rpartition(": ")[2]) == [f"{copy}/bin/flow", "doctor"]
    assert not (copy / ".venv-flow/venv").exists()


HOSTILE = {
    "BASH_ENV": "evil.sh",
    "ENV": "evil.sh",
    "PYTHONPATH": ".",
    "PYTHONSTARTUP": "evil.py",
    "BASH_FUNC_printf%%": "() { touch evil; }",
    "IFS": ",",
    "SHELLOPTS": "noglob",
}


def test_nothing_of_the_folder_or_the_environment_is_run(blocking: GitRepo) -> None:
    for name in ("json.py", "yaml.py", "sitecustomize.py", "flow/__init__.py", "evil.py"):
        blocking.write(f"src/{name}", "open('evil', 'w')")
    blocking.write("src/evil.sh", "touch evil")
    folder = blocking.path / "src"
    found = answer(json.dumps(event(folder)), folder, **HOSTILE)
    assert found["decision"] == "block"
    assert not (folder / "evil").exists()


def test_a_crash_inside_is_named_and_logged(
    blocking: GitRepo, capfd: pytest.CaptureFixture[str]
) -> None:
    """A folder where Flow's own lock belongs: refused by name, not in silence."""
    lock = blocking.path / ".flow/runs/.locks/stop-greet.lock"
    lock.mkdir(parents=True)
    found = stop(blocking, capfd)
    assert found["decision"] == "approve"
    assert "stop-greet.lock" in found["systemMessage"]


def test_the_end_of_the_host_leaves_no_process(blocking: GitRepo, home: Path) -> None:
    """The script is killed while a command runs: nothing of it goes on."""
    scene.flow(blocking, "goal", "clear", "greet", "--yes")
    scene.create(blocking, "slow", criterion="AC1: x :: touch $HOME/began; sleep 300")
    env = {**os.environ, "FLOW_PYTHON": sys.executable}
    process = subprocess.Popen(
        [SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, cwd=blocking.path
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(event(blocking)).encode())
    process.stdin.close()
    _until((home / "began").exists)
    process.send_signal(signal.SIGKILL)
    process.wait()
    _until(lambda: not _processes(blocking))
    assert process.stdout is not None
    process.stdout.close()


def _until(there: Any) -> None:
    for _ in range(600):
        if there():
            return
        time.sleep(0.1)
    pytest.fail("it did not come")


def _processes(repo: GitRepo) -> list[str]:
    found = []
    for pid in os.listdir("/proc"):
        try:
            if pid.isdigit() and os.readlink(f"/proc/{pid}/cwd").startswith(str(repo)):
                found.append(pid)
        except OSError:
            continue
    return found


def test_hooks_json_starts_this_script_with_time_to_spare() -> None:
    with open(os.path.join(ROOT, "hooks", "hooks.json")) as file:
        document = json.load(file)
    entry, _ = [each for group in document["hooks"]["Stop"] for each in group["hooks"]]
    assert entry["timeout"] == 330
    command = entry["command"].replace("${CLAUDE_PLUGIN_ROOT}", ROOT).replace('"', "")
    assert command == SCRIPT
    assert os.access(SCRIPT, os.X_OK)
    assert os.access(OLDER, os.X_OK)


HOOKS = os.path.join(ROOT, "hooks")
ASKS = os.path.join(HOOKS, "scripts", "flow-ask-person.sh")
SCORES = os.path.join(HOOKS, "judge-on-stop.sh")


MOST_TAKEN = {SCRIPT: 3_300, ASKS: 3_100, SCORES: 2_300}
"""Bytes of its own code that bash takes apart, which is most of what it does, before an answer."""


@pytest.mark.parametrize("script", MOST_TAKEN, ids=os.path.basename)
def test_a_hook_with_nothing_to_say_takes_little_of_itself_apart(
    script: str, tmp_path: Path, home: Path
) -> None:
    call = {"tool_name": "Bash", "tool_input": {"command": "ls -l src"}}
    env = {"HOME": str(home), "PATH": os.environ["PATH"], **NOTHING}
    done = subprocess.run(
        ["bash", "-pv", script], env=env, input=json.dumps(event(tmp_path, **call)), text=True,
        cwd=tmp_path, capture_output=True, check=True,
    )  # fmt: skip
    assert done.stdout in ("", "{}\n") or "no goals here" in done.stdout
    assert len(done.stderr) <= MOST_TAKEN[script]


@pytest.fixture(params=[SCRIPT, ASKS, SCORES], ids=os.path.basename)
def starting(request: pytest.FixtureRequest, goals: GitRepo, home: Path) -> tuple[str, str]:
    """A script of a hook, and an event for which it starts the interpreter."""
    call = {"tool_name": "Bash", "tool_input": {"command": "flow goal confirm greet"}}
    (home / ".claude").mkdir()
    (home / ".claude/settings.flow.json").write_text('{"flow": {"judge": {"autoJudge": true}}}')
    return request.param, json.dumps(event(goals, **call))


def lets_go_or_asks(script: str, out: str) -> bool:
    found = json.loads(out)
    if script == ASKS:
        return bool(found["hookSpecificOutput"]["permissionDecision"] == "ask")
    return found.get("decision", "approve") == "approve"


def test_a_script_that_is_ended_answers(starting: tuple[str, str], tmp_path: Path) -> None:
    script, text = starting
    program, mark = tmp_path / "waits", tmp_path / "started"
    program.write_text(f"#!/bin/sh\necho $$ >{shlex.quote(str(mark))}\nexec sleep 60\n")
    program.chmod(0o755)
    env = {**os.environ, "FLOW_PYTHON": str(program)}
    with subprocess.Popen(
        ["bash", "-p", script], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(text)
        process.stdin.close()
        until = time.monotonic() + 60
        while not (mark.exists() and mark.read_text().strip()) and time.monotonic() < until:
            time.sleep(0.01)
        process.terminate()
        assert lets_go_or_asks(script, process.stdout.readline())
        os.kill(int(mark.read_text()), signal.SIGKILL)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may start any number of processes")
def test_a_shell_that_can_start_no_process_answers(starting: tuple[str, str]) -> None:
    script, text = starting
    shell = 'ulimit -u 1; exec bash -p "$0"'
    done = subprocess.run(
        ["bash", "-c", shell, script], input=text, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert lets_go_or_asks(script, done.stdout)
