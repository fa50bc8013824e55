"""Running verification commands: real bash, processes and signals (SPEC 3, HAZARD E)."""

from __future__ import annotations

import hashlib
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from flow.adapters.process import ending as process_ending
from flow.adapters.process import tree as process_tree
from flow.adapters.process.outcome import read_exit
from flow.adapters.verification import runner as runner_module
from flow.adapters.verification import watchdog as verification_watchdog
from flow.adapters.verification.runner import CommandRunner
from flow.adapters.verification.supervisor import send_report
from flow.adapters.verification.variables import VARIABLES
from flow.app.checks import Check, CheckEvents, CheckResult
from flow.errors import Interrupted, RefusedError, StorageError
from tests.support.effort import sizes
from tests.support.patience import LONG, NAMED_SLEEP, eventually, long_enough

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

pytestmark = pytest.mark.slow

ROOT = str(Path(__file__).resolve().parents[3])
WORK = ".flow/runs/r1/evidence"
PYTHON = shlex.quote(sys.executable)


class Ran(NamedTuple):
    """A result and the bytes of its output, taken as the ledger would take them."""

    result: CheckResult
    output: bytes | None


class Scene:
    """A checkout, and a runner for it whose calls are noted."""

    def __init__(self, top: Path) -> None:
        self.top = top
        top.mkdir()
        self.environ = {**os.environ, "MARK": f"scene-{os.getpid()}-{time.monotonic_ns()}"}
        self.events: list[str] = []

    def check(self, command: str, **fields: Any) -> Check:
        return Check("AC1", command, **{"cwd": "", "timeout_seconds": LONG, **fields})

    def run(
        self,
        checks: list[Check],
        *,
        jobs: int = 1,
        ended: Callable[[Check, CheckResult], Callable[[], None] | None] | None = None,
        **options: Any,
    ) -> list[Ran]:
        found: dict[int, Ran] = {}

        def note_start(check: Check) -> None:
            self.events.append(f"+{check.criterion_id}")

        def take(check: Check, result: CheckResult) -> Callable[[], None] | None:
            self.events.append(f"-{check.criterion_id}")
            record = ended(check, result) if ended else None
            output = None
            if result.output:
                output = Path(result.output.path).read_bytes()
                os.unlink(result.output.path)
            found[checks.index(check)] = Ran(result, output)
            return record

        options = {"environ": self.environ, "grace": 0.3, **options}
        events = CheckEvents(note_start, take, options.pop("tick", None), options.pop("fits", None))
        runner = CommandRunner(str(self.top), WORK, **options)
        try:
            runner(checks, jobs=jobs, events=events)
        finally:
            assert self.left_files() == []
        return [found[number] for number in range(len(checks)) if number in found]

    def one(self, command: str, **fields: Any) -> Ran:
        options = {key: fields.pop(key) for key in list(fields) if key not in Check._fields}
        return self.run([self.check(command, **fields)], **options)[0]

    def left_files(self) -> list[str]:
        folder = self.top / WORK
        return sorted(os.listdir(folder)) if folder.is_dir() else []

    def processes(self) -> list[str]:
        """Living processes with this scene's mark in their environment."""
        mark = b"MARK=" + self.environ["MARK"].encode()
        found = []
        for pid, row in process_tree.table().items():
            try:
                environ = Path(f"/proc/{pid}/environ").read_bytes()
            except OSError:
                continue
            if mark in environ.split(b"\0") and row.state != "Z":
                found.append(f"{pid} {row.name}")
        return found


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    made = Scene(tmp_path / "top")
    yield made
    left = made.processes()
    for line in left:
        os.kill(int(line.split()[0]), signal.SIGKILL)
    assert left == []


def python(code: str) -> str:
    return f"{PYTHON} -c {shlex.quote(code)}"


DAEMON = python(
    "import os, time\n"
    "if os.fork(): os._exit(0)\n"
    "os.setsid()\n"
    "if os.fork(): os._exit(0)\n"
    "for fd in range(3): os.close(fd)\n"
    "time.sleep(300)"
)

# command, outcome, exit code, last_result, what the output holds, what the reason holds
TABLE = [
    ("true", "passed", 0, "exit 0", "", ""),
    ("echo one; echo two >&2", "passed", 0, "exit 0", "one\ntwo\n", ""),
    ("echo RESULT: PASS; exit 1", "failed", 1, "exit 1", "RESULT: PASS\n", "exit 1"),
    ("false", "failed", 1, "exit 1", "", ""),
    ("exit 2", "failed", 2, "exit 2", "", ""),
    ("exit 125", "failed", 125, "exit 125", "", ""),
    ("exit 128", "failed", 128, "exit 128", "", ""),
    ("exit 200", "failed", 200, "exit 200", "", ""),
    ("exit 255", "failed", 255, "exit 255", "", ""),
    ("exit 256", "passed", 0, "exit 0", "", ""),
    ("false | cat", "failed", 1, "exit 1", "", ""),
    ("false | true; true", "passed", 0, "exit 0", "", ""),
    ("set -e; false; true", "failed", 1, "exit 1", "", ""),
    ("exit 126", "inconclusive", 126, "could not run", "", "exit 126"),
    ("exit 127", "inconclusive", 127, "could not run", "", "exit 127"),
    ("no-such-program-here", "inconclusive", 127, "could not run", "not found", "not found"),
    ("/dev/null", "inconclusive", 126, "could not run", "", "cannot be executed"),
    ("if true", "inconclusive", None, "could not run", "syntax error", "bash -n"),
    ("echo ran\nif", "inconclusive", None, "could not run", "syntax error", "bash -n"),
    ("echo 'open", "inconclusive", None, "could not run", "", "bash -n"),
    ("echo ran; done", "inconclusive", None, "could not run", "", "bash -n"),
    ("while true", "inconclusive", None, "could not run", "", "bash -n"),
    ("  done", "inconclusive", None, "could not run", "", "bash -n"),
    ("echo if done", "passed", 0, "exit 0", "if done\n", ""),
    ("yes | head -1", "inconclusive", 141, "signal PIPE", "y\n", "pipe"),
    ("kill -TERM $$", "inconclusive", 143, "signal TERM", "", "signal TERM"),
    ("kill -KILL $$", "inconclusive", 137, "signal KILL", "", "outside"),
    ("kill -HUP $$", "inconclusive", 129, "signal HUP", "", ""),
    ("kill -INT $$; sleep 9", "inconclusive", 130, "signal INT", "", ""),
    ("kill -USR1 $$", "inconclusive", 138, "signal USR1", "", ""),
    ("kill -ALRM $$", "inconclusive", 142, "signal ALRM", "", ""),
    ("kill -PIPE $$", "inconclusive", 141, "signal PIPE", "", ""),
    ("kill -XFSZ $$", "inconclusive", 153, "signal XFSZ", "", ""),
    ("kill -TRAP $$", "inconclusive", 133, "signal TRAP", "", ""),
    ("kill -RTMIN+3 $$", "inconclusive", 165, "signal RTMIN+3", "", ""),
    ("exit 143", "inconclusive", 143, "signal TERM", "", ""),
    ("exit 160", "failed", 160, "exit 160", "", ""),
    ("(kill -KILL $BASHPID); exit $?", "inconclusive", 137, "signal KILL", "", ""),
    ("kill -ABRT $$", "failed", 134, "signal ABRT", "", "crashed"),
    ("kill -SEGV $$", "failed", 139, "signal SEGV", "", "crashed"),
    ("kill -BUS $$", "failed", 135, "signal BUS", "", "crashed"),
    ("kill -FPE $$", "failed", 136, "signal FPE", "", "crashed"),
    ("kill -ILL $$", "failed", 132, "signal ILL", "", "crashed"),
    ("exit 134", "failed", 134, "signal ABRT", "", ""),
    ("bash -c 'kill -SEGV $$'; exit $?", "failed", 139, "signal SEGV", "", ""),
    ("cat; echo read", "passed", 0, "exit 0", "read\n", ""),
    ("read -r line; echo \"<$line>\"", "passed", 0, "exit 0", "<>\n", ""),
    ("if read -r x </dev/tty; then echo got; else echo none; fi 2>/dev/null", "passed", 0,
     "exit 0", "none\n", ""),
    ("exec >&- 2>&-; exit 0", "passed", 0, "exit 0", "", ""),
    ("exec >&- 2>&-; sleep 0.2; exit 5", "failed", 5, "exit 5", "", ""),
    ("printf 'a\\0b\\377\\r\\033[31m'", "passed", 0, "exit 0", "", ""),
    ("exec no-such-program-here", "inconclusive", 127, "could not run", "", ""),
    ("   ", "passed", 0, "exit 0", "", ""),
    ("# a comment", "passed", 0, "exit 0", "", ""),
    ("exec sh -c 'exit 7'", "failed", 7, "exit 7", "", ""),
    ("trap 'exit 9' EXIT; true", "failed", 9, "exit 9", "", ""),
    ("ulimit -f 1; head -c 9000 /dev/zero > big; echo $?", "passed", 0, "exit 0", "153\n", ""),
    ("for i in 1 2 3; do echo $i; echo -$i >&2; done", "passed", 0, "exit 0",
     "1\n-1\n2\n-2\n3\n-3\n", ""),
]  # fmt: skip


def test_every_kind_of_end_has_its_outcome(scene: Scene) -> None:
    """Each is run by who has run those before it, and none of them leaves anything behind."""
    every = scene.run([scene.check(row[0]) for row in TABLE])
    for (command, outcome, code, last, said, why), ran in zip(TABLE, every, strict=True):
        result, output = ran
        assert (result.outcome, result.exit_code, result.result) == (outcome, code, last), command
        assert output is not None, command
        assert result.output is not None, command
        assert said in output.decode("utf-8", "replace"), command
        assert why in result.reason, command
        assert bool(result.reason) == (outcome != "passed"), command
        assert hashlib.sha256(output).hexdigest() == result.output.sha256, command
        assert len(output) == result.output.size == result.output_bytes, command
        assert (result.truncated_bytes, result.limitations) == (0, ()), command
        assert "ran" not in output.decode("utf-8", "replace").split() or "echo ran" not in command
        assert 0 <= result.duration_seconds <= LONG, command


def test_binary_output_is_kept_byte_for_byte(scene: Scene) -> None:
    assert scene.one("printf 'a\\0b\\377\\r\\033[31m'").output == b"a\0b\xff\r\x1b[31m"


def test_exits_are_read_by_the_table() -> None:
    crashes = (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)
    for number in range(1, 256):
        found = read_exit(number << 8)
        known = number - 128 in signal.valid_signals()
        expected = "inconclusive" if known or number in (126, 127) else "failed"
        assert found.outcome == ("failed" if number - 128 in crashes else expected), number
        assert found.exit_code == number
        if known:
            assert found.result.startswith("signal "), number
            assert read_exit(number - 128) == found  # bash itself killed by that signal
        else:
            assert found.result == ("could not run" if number in (126, 127) else f"exit {number}")


MANY = sizes(short=50, long=200)
BUSY = ("while :; do :; done", "yes", "cat /dev/zero")


UNENDING = (
    *BUSY,
    "sleep 300",
    "sleep 300; echo never",
    "trap '' TERM HUP INT; while :; do sleep 1; done",
    "(trap '' TERM; sleep 300; sleep 300) & wait",
    "sleep 300 | cat",
    "kill -STOP $$",
    "nohup sleep 300 & sleep 300",
    "for i in $(seq 50); do sleep 300 & done; wait",
)
ALIKE = ("yes", "cat /dev/zero", "sleep 300; echo never", "nohup sleep 300 & sleep 300")
"""Another command shows the same of those that are followed."""
DETACHED = (
    f"{DAEMON}; sleep 300",
    "setsid sleep 300 & sleep 300",
    "setsid bash -c 'trap \"\" TERM; sleep 300; sleep 300' & sleep 300",
)
"""Only a subreaper finds what detached itself."""


@pytest.mark.parametrize(
    ("command", "follow"),
    [
        *((command, False) for command in (*UNENDING, *DETACHED)),
        *((command, True) for command in UNENDING if command not in ALIKE),
        *(pytest.param(command, True, marks=pytest.mark.long) for command in ALIKE),
    ],
)
def test_a_time_out_ends_everything(scene: Scene, command: str, follow: bool) -> None:
    seconds = 0.1 if command in BUSY else 0.5
    result, _ = scene.one(command, timeout_seconds=seconds, follow=follow, output_limit=10_000)
    assert (result.outcome, result.exit_code, result.result) == ("inconclusive", None, "timeout")
    assert f"{seconds} s" in result.reason
    assert result.duration_seconds >= seconds
    assert scene.processes() == []


@pytest.mark.parametrize(
    ("command", "named", "code"),
    [
        ("sleep 300 & up $!; echo out", "sleep", 0),
        ("sleep 300 & up $!; echo out", "sleep", 1),
        ("setsid sleep 300 & up $!; echo out", "sleep", 0),
        ("nohup sleep 300 >/dev/null 2>&1 & up $!; disown; echo out", "sleep", 0),
        (f"{DAEMON}; echo out", "python", 0),
        (f"{DAEMON}; echo out", "python", 1),
        ("(setsid sleep 300 & up $!) & wait; echo out", "sleep", 0),
        ("bash -c 'trap \"\" TERM HUP; while :; do sleep 1; done' & echo out", "bash", 0),
        ("env -i setsid sleep 300 & up $!; echo out", "sleep", 0),
        (f"for i in $(seq {MANY}); do setsid sleep 300 & done; echo out", f"{MANY} processes", 0),
        ("coproc sleep 300; up $COPROC_PID; echo out", "sleep", 0),
        ("sleep 300 & up $!; kill -STOP $!; echo out", "sleep", 1),
    ],
)
def test_what_is_left_running_is_ended_and_named(
    scene: Scene, command: str, named: str, code: int
) -> None:
    result, output = scene.one(f"{NAMED_SLEEP}{command}; exit {code}")
    assert result.outcome == ("failed" if code else "passed")
    assert output == b"out\n"
    assert len(result.limitations) == 1
    assert named in result.limitations[0]
    assert "left running" in result.limitations[0]
    assert scene.processes() == []


def test_without_a_subreaper_it_says_what_may_be_left(scene: Scene) -> None:
    result, _ = scene.one(f"{NAMED_SLEEP}sleep 300 & up $!", follow=True)
    assert result.outcome == "passed"
    assert result.limitations[1] == process_tree.CANNOT_FOLLOW
    assert "sleep" in result.limitations[0]


def test_what_ends_by_itself_in_a_moment_may_finish(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (process_ending, verification_watchdog):
        monkeypatch.setattr(module, "SETTLE", LONG)  # how long a moment is, not that it is
    late = "(until [ -e go ]; do sleep 0.01; done; echo late)"
    result, output = scene.one(f"{late} & echo early; touch go")
    assert output == b"early\nlate\n"
    assert result.limitations == ()


def test_it_is_asked_to_end_before_it_is_forced(scene: Scene) -> None:
    command = "trap 'echo cleaned up; exit 0' TERM; echo ready; sleep 300 & wait"
    result, output = long_enough(
        lambda seconds: scene.one(command, timeout_seconds=seconds, grace=LONG),
        lambda ran: ran.output is not None and b"ready" in ran.output,
    )
    assert (result.result, output) == ("timeout", b"ready\ncleaned up\n")


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="only Linux names descriptors")
@pytest.mark.parametrize("reported", [0, 1], ids=["its own", "one beside it"])
def test_no_command_reports_how_one_ended(scene, reported):
    forge = f"""
for watcher in $PPID $(cut -d' ' -f4 /proc/$PPID/stat); do
    for fd in /proc/$watcher/fd/*; do
        grep -q '^flags:.*[12]$' /proc/$watcher/fdinfo/${{fd##*/}} || continue
        echo '{{"i":{reported},"kind":"exit","status":0}}' > $fd
    done
done
touch forged
exit 1
"""
    beside = "until [ -e forged ]; do sleep 0.01; done; exit 3"
    first, second = scene.run([scene.check(forge), scene.check(beside)], jobs=2)
    assert (first.result.outcome, first.result.exit_code) == ("failed", 1)
    assert (second.result.outcome, second.result.exit_code) == ("failed", 3)
    assert b"No such device" in first.output  # a socket: so the command got as far as that


@pytest.mark.parametrize(
    "command",
    [
        "kill -9 $PPID; sleep 300",
        "kill -9 $PPID; exit 0",
        "setsid sleep 300 & kill -9 $PPID",
        "kill -TERM $PPID; sleep 300",
        "kill -INT $PPID; sleep 300",
        "kill -9 $(ps -o ppid= -p $PPID); sleep 300",
        "kill -9 $(ps -o ppid= -p $PPID) $PPID; sleep 300",
    ],
)
@pytest.mark.parametrize("follow", [False, True])
def test_killing_those_who_watch_is_never_a_pass(scene: Scene, command: str, follow: bool) -> None:
    if follow and "setsid" in command:
        pytest.skip("only a subreaper finds what detached itself")
    left: list[list[str]] = []
    checks = [scene.check(command), scene.check("echo fine")]
    warden_lives = "$(" not in command
    killed, after = scene.run(
        checks, follow=follow, ended=lambda *_: left.append(scene.processes() * warden_lives)
    )
    assert follow or left == [[], []]  # ended before its result is handed over
    assert killed.result.outcome == "inconclusive"
    assert killed.result.result in ("signal KILL", "signal TERM", "signal INT")
    assert killed.output is None
    assert killed.result.output is None
    assert after.result.outcome == "passed"
    assert after.output == b"fine\n"
    assert eventually(lambda: scene.processes() == [])


@pytest.mark.parametrize("then", ["sleep 300", "exit 0"])
def test_a_stopped_supervisor_is_ended_at_once_whatever_the_time_limit(
    scene: Scene, then: str
) -> None:
    result, _ = scene.one(f"kill -STOP $PPID; {then}", timeout_seconds=3600)
    assert result.outcome == "inconclusive"
    assert eventually(lambda: scene.processes() == [])


@pytest.mark.parametrize(
    "command",
    [
        "watchdog=$(ps -o ppid= -p $PPID); kill -STOP $PPID; kill -9 $watchdog; sleep 300",
        "watchdog=$(ps -o ppid= -p $PPID); kill -9 $watchdog; kill -STOP $PPID; sleep 300",
        "kill -STOP $PPID $(ps -o ppid= -p $PPID); sleep 300",
    ],
)
def test_nothing_is_left_where_both_who_watch_are_gone_or_stopped(
    scene: Scene, command: str
) -> None:
    left: list[list[str]] = []
    checks = [scene.check(command), scene.check("exit 3")]
    lost, after = scene.run(checks, ended=lambda *_: left.append(scene.processes()))
    assert lost.result.outcome == "inconclusive"
    assert (after.result.outcome, after.result.exit_code) == ("failed", 3)
    assert left == [[], []]


@pytest.mark.parametrize("follow", [False, True])
@pytest.mark.parametrize("then", ["true", "sleep 300"])
def test_a_stopped_watchdog_does_not_hang_the_run(scene: Scene, then: str, follow: bool) -> None:
    stop = f"kill -STOP $(ps -o ppid= -p $PPID); {then}"
    checks = [scene.check(command) for command in (stop, "true", "exit 3")]
    stopped, lost, after = scene.run(checks, follow=follow)
    outcomes = {stopped.result.outcome, lost.result.outcome}
    assert "inconclusive" in outcomes
    assert outcomes <= {"inconclusive", "passed"}
    assert (after.result.outcome, after.result.exit_code) == ("failed", 3)
    assert eventually(lambda: scene.processes() == [])


def _numbered(scene: Scene, *commands: str) -> list[Check]:
    pairs = enumerate(commands, 1)
    return [scene.check(command)._replace(criterion_id=f"AC{number}") for number, command in pairs]


def _parents(ran: list[Ran]) -> list[bytes]:
    return [each.output or b"" for each in ran]


@pytest.mark.parametrize("follow", [False, True])
@pytest.mark.parametrize("jobs", [1, 3])
def test_a_supervisor_serves_one_command_after_the_other(
    scene: Scene, jobs: int, follow: bool
) -> None:
    checks = _numbered(scene, *["echo $PPID"] * 6)
    assert 1 <= len(set(_parents(scene.run(checks, jobs=jobs, follow=follow)))) <= jobs


def test_a_supervisor_keeps_nothing_of_a_command(scene: Scene) -> None:
    looks = (
        "for look in 1 2 3 4 5 6 7 8 9; do ls /proc/$PPID/fd | wc -l; done | sort -n | head -n 1"
    )
    listing = f"{looks}; readlink /proc/$PPID/cwd"  # the start's own pipes may still be closing
    kinds = ["seq 5000", "if", "exit 3", "no-such-program-here", "setsid sleep 300 &"]
    checks = _numbered(scene, listing, *kinds, *kinds, listing)
    checks.insert(3, scene.check("true", cwd="gone"))
    ran = scene.run(checks, output_limit=2000)
    assert ran[0].output == ran[-1].output  # no descriptor more than before
    assert [bool(each.result.limitations) for each in ran[5:8]] == [False, True, False]
    assert ran[-1].result.limitations == ()


@pytest.mark.parametrize("killer", ["kill -9 $PPID", "kill -9 $PPID; sleep 300"])
def test_a_killed_supervisor_serves_no_more(scene: Scene, killer: str) -> None:
    who = "echo $PPID"
    ran = scene.run(_numbered(scene, who, killer, who, who))
    first, _, second, third = _parents(ran)
    assert first != second == third
    assert [each.result.outcome for each in ran] == ["passed", "inconclusive", "passed", "passed"]


def test_a_supervisor_that_is_killed_between_two_commands_costs_neither(scene: Scene) -> None:
    pids: list[int] = []

    def ended(_: Check, result: CheckResult) -> None:
        assert result.output is not None
        pid = int(Path(result.output.path).read_bytes())
        if not pids:
            os.kill(pid, signal.SIGKILL)
            assert eventually(lambda: pid not in process_tree.table())
        pids.append(pid)

    ran = scene.run(_numbered(scene, *["echo $PPID"] * 3), ended=ended)
    assert [each.result.outcome for each in ran] == ["passed"] * 3
    assert pids[0] != pids[1] == pids[2]


def test_a_supervisor_with_something_that_it_cannot_end_serves_no_more(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as inside:
        inside.setattr(process_ending, "FORCE", 0.05)
        inside.setattr(process_ending, "send", lambda *_: None)
        checks = _numbered(scene, "setsid sleep 300 & echo $PPID", "echo $PPID")
        first, second = scene.run(checks)
    assert "could not end" in first.result.limitations[-1]
    assert second.result.limitations == ()
    assert first.output != second.output


HIJACKS = {
    "BASH_ENV": "hijack.sh",
    "ENV": "hijack.sh",
    "BASH_FUNC_pytest%%": "() { echo 5 passed; }",
    "pytest": "() { echo 5 passed; }",
    "SHELLOPTS": "noexec",
    "BASHOPTS": "extdebug",
    "CDPATH": "/usr",
    "LD_PRELOAD": "./hijack.so",
    "PYTEST_ADDOPTS": "--collect-only",
    "MAKEFLAGS": "n",
    "GNUMAKEFLAGS": "-i",
    "PYTHONOPTIMIZE": "1",
    "GOFLAGS": "-mod=mod -run=^$",
    "GOENV": "/tmp/env",
    "NODE_OPTIONS": "--max-old-space-size=99 --require ./hijack.js",
    "NODE_TEST_CONTEXT": "child-v8",
    "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER": "true",
    "CARGO_PROFILE_TEST_DEBUG_ASSERTIONS": "false",
    "RUSTC_WRAPPER": "./hijack.sh",
    "MAVEN_ARGS": "-B -DskipTests",
    "MAVEN_OPTS": "-Xmx1g -DskipTests",
    "RUBYOPT": "-r./hijack",
    "NPM_CONFIG_SCRIPT_SHELL": "/bin/true",
    "npm_config_usage": "true",
    "NPM_CONFIG_WORKSPACES": "true",
    "SKIP": "mypy,pytest",
    "SHELLCHECK_OPTS": "-e SC2086",
    "SCONSFLAGS": "-n",
    "TF_CLI_ARGS_test": "-filter=none",
    "LUA_INIT_5_4": "os.exit(0)",
    "SBT_OPTS": "-Xmx1g -Dtest.skip=true",
    "VSTestTestCaseFilter": "x",
    "GTEST_FILTER": "-*",
    "INSTA_FORCE_PASS": "1",
    "INSTA_UPDATE": "always",
    "UPDATE_EXPECT": "1",
    "TRYBUILD": "overwrite",
    "PROPTEST_CASES": "0",
    "LEFTHOOK": "0",
    "HADOLINT_NOFAIL": "1",
    "GIT_DIR": "/nowhere",
    "GIT_CONFIG_COUNT": "1",
    "GIT_EXTERNAL_DIFF": "true",
}


def test_a_hijacked_environment_changes_nothing(scene: Scene) -> None:
    (scene.top / "hijack.sh").write_text("echo hijacked; exit 0\n")
    (scene.top / "lib").mkdir()
    scene.environ.update(HIJACKS)
    command = (
        "pytest() { return 3; }; env | grep -a hijack[.]s; type -t pytest; cd lib && pwd; pytest"
    )
    (result, output), (_, names) = scene.run([scene.check(command), scene.check("env")])
    assert (result.outcome, result.exit_code) == ("failed", 3)
    assert output == f"function\n{scene.top.resolve()}/lib\n".encode()
    assert sorted(result.environment_removed) == sorted(HIJACKS)
    assert names is not None
    assert not {line.split(b"=")[0].decode() for line in names.splitlines()} & HIJACKS.keys()


STAYS = {
    "GOFLAGS": "-mod=mod -tags=unit", "NODE_OPTIONS": "--max-old-space-size=4096",
    "RUSTC_WRAPPER": "/opt/bin/sccache", "MAVEN_OPTS": "-Xmx1g", "TOXENV": "py312",
    "JAVA_OPTS": "-Xmx1g -Djava.awt.headless=true",
    "PROPTEST_CASES": "1000", "RIPGREP_CONFIG_PATH": "/tmp/ripgreprc",
    "RUBYOPT": "-rbundler/setup", "NPM_CONFIG_USERCONFIG": "/tmp/npmrc",
}  # fmt: skip


def test_a_variable_with_a_harmless_value_stays_and_is_named(scene: Scene) -> None:
    scene.environ.update(STAYS)
    result, output = scene.one("env")
    assert output is not None
    assert result.environment_removed == ()
    for name, value in STAYS.items():
        assert f"{name}={value}\n".encode() in output
        assert any(name in text for text in result.limitations)


def test_what_says_where_something_lies_is_left_alone(scene: Scene) -> None:
    names = ("CARGO_HOME", "CARGO_TARGET_DIR", "GOPATH", "PYTHONPATH")
    places = dict.fromkeys(names, "/x")
    places["TOX_OVERRIDE"] = "testenv.passenv+=X_*;run.passenv+=Y"
    scene.environ.update(places, GOFLAGS="", MAKELEVEL="1", CARGO_TERM_COLOR="always")
    result, _ = scene.one("env")
    assert (result.environment_removed, result.limitations) == ((), ())


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"LANG": "de_DE.UTF-8"}, {"LANG": "de_DE.UTF-8", "LC_MESSAGES": "C"}),
        ({"LC_ALL": "C.UTF-8", "LANGUAGE": "de"}, {"LANG": "C.UTF-8", "LC_MESSAGES": "C"}),
        (
            {"LC_ALL": "fr_FR.UTF-8", "LC_CTYPE": "C", "LANG": "C"},
            {"LANG": "fr_FR.UTF-8", "LC_MESSAGES": "C"},
        ),
        (
            {"LC_MESSAGES": "ja_JP", "LC_TIME": "en_GB.UTF-8"},
            {"LC_MESSAGES": "C", "LC_TIME": "en_GB.UTF-8"},
        ),
        ({"LANG": "en_US.UTF-8", "LC_TIME": "de_DE"}, {"LANG": "en_US.UTF-8", "LC_TIME": "de_DE"}),
        ({"LC_ALL": "C"}, {"LC_ALL": "C"}),
        ({}, {}),
    ],
)
def test_programs_print_no_translated_messages(
    scene: Scene, given: dict[str, str], wanted: dict[str, str]
) -> None:
    names = {name for name in scene.environ if name.startswith(("LC_", "LANG"))}
    for name in names:
        del scene.environ[name]
    scene.environ.update(given)
    result, output = scene.one("env | grep -E '^(LANG|LC_)' | sort")
    assert output is not None
    assert output.decode().split() == sorted(f"{name}={value}" for name, value in wanted.items())
    assert set(result.environment_removed) <= set(given)


@pytest.mark.skipif(not os.path.exists("/usr/share/locale/de/LC_MESSAGES/make.mo"), reason="German")
def test_an_idle_make_says_so_in_english(scene: Scene) -> None:
    (scene.top / "Makefile").write_text("test:\n")
    scene.environ.update({"LC_ALL": "C.UTF-8", "LANGUAGE": "de"})
    _, output = scene.one("make test")
    assert output == b"make: Nothing to be done for 'test'.\n"


def test_every_row_says_why_and_by_what_source() -> None:
    assert all(variable.why and variable.source for variable in VARIABLES)
    assert len({variable.name for variable in VARIABLES}) == len(VARIABLES)


def test_the_rest_of_the_environment_is_the_users(scene: Scene) -> None:
    scene.environ.update({"ODD-NAME": "1", "BYTES": "\udcff", "EMPTY": "", "LINES_": "a\nb"})
    result, output = scene.one("env -0 | sort -z")
    assert output is not None
    assert result.environment_removed == ()
    entries = output.split(b"\0")
    for entry in (b"ODD-NAME=1", b"BYTES=\xff", b"EMPTY=", b"LINES_=a\nb"):
        assert entry in entries


def test_a_bash_in_the_checkout_is_not_used(scene: Scene) -> None:
    fake = scene.top / "bin" / "bash"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\necho fake\n")
    fake.chmod(0o755)
    scene.environ["PATH"] = f"{fake.parent}:bin::{os.environ['PATH']}"
    assert scene.one("echo real").output == b"real\n"


def test_without_bash_nothing_can_run(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flow.adapters.verification.runner.FALLBACK_BASH", "/nowhere/bash")
    scene.environ["PATH"] = "/nowhere"
    result, _ = scene.one("true")
    assert (result.outcome, result.result) == ("inconclusive", "could not run")
    assert "bash" in result.reason


@pytest.mark.parametrize(
    ("cwd", "expected"),
    [
        ("", "."),
        ("sub", "sub"),
        ("sub/deep", "sub/deep"),
        ("to-sub", "sub"),
        ("absent", None),
        ("file", None),
        ("outside", None),
        ("sub/outside", None),
        ("outside/below", None),
        ("..", None),
        ("../outer", None),
        ("/", None),
        ("/tmp", None),
    ],
)
def test_the_folder_is_below_the_top_level(scene: Scene, cwd: str, expected: str | None) -> None:
    outer = scene.top.parent / "outer"
    (outer / "below").mkdir(parents=True)
    (scene.top / "sub" / "deep").mkdir(parents=True)
    (scene.top / "to-sub").symlink_to("sub")
    (scene.top / "outside").symlink_to(outer)
    (scene.top / "sub" / "outside").symlink_to("../../outer")
    (scene.top / "file").write_text("")
    result, output = scene.one("pwd -P; touch was-here", cwd=cwd)
    if expected is None:
        assert (result.outcome, result.result) == ("inconclusive", "could not run")
        assert repr(cwd) in result.reason
        assert not list(scene.top.parent.rglob("was-here"))
    else:
        assert output is not None
        assert output.decode().strip() == str((scene.top / expected).resolve())


def test_the_folder_may_vanish_while_it_runs(scene: Scene) -> None:
    (scene.top / "sub").mkdir()
    result, output = scene.one("echo before; rmdir ../sub; echo after", cwd="sub")
    assert (result.outcome, output) == ("passed", b"before\nafter\n")


@pytest.mark.parametrize(
    "away", ["rm -rf .flow", "mv .flow elsewhere", "rm -f .flow/runs/r1/evidence/.f*"]
)
@pytest.mark.parametrize("limit", [1 << 20, 1000])
def test_output_survives_the_loss_of_its_folder(scene: Scene, away: str, limit: int) -> None:
    result, output = scene.one(f"seq 1000; {away}; seq 1000", output_limit=limit)
    whole = "".join(f"{n}\n" for n in range(1, 1001)).encode() * 2
    assert result.outcome == "passed"
    assert output is not None
    assert output[:500] == whole[:500]
    assert output[-500:] == whole[-500:]
    assert result.output is not None
    assert hashlib.sha256(output).hexdigest() == result.output.sha256


def test_a_command_line_that_the_system_refuses_could_not_run(scene: Scene) -> None:
    longest = 32 * os.sysconf("SC_PAGE_SIZE")  # of one argument, on Linux
    result, _ = scene.one("true " + "x" * longest)
    assert (result.outcome, result.result) == ("inconclusive", "could not run")
    assert "Argument list too long" in result.reason


def test_a_huge_command_runs(scene: Scene) -> None:
    assert scene.one("echo " + "x" * 100_000).output == b"x" * 100_000 + b"\n"


@pytest.mark.parametrize("limit", [1, 2, 7, 1000, 70_001, 200_000])
def test_head_and_tail_are_exact(scene: Scene, limit: int) -> None:
    (scene.top / "data").write_bytes(bytes(i % 251 for i in range(limit + 100_000)))
    beyond = (-1, 0, 1, 2, 500, 100_000)
    sizes = [limit + extra for extra in beyond]
    checks = [scene.check(f"head -c {size} data" if size else "true") for size in sizes]
    for extra, (result, output) in zip(beyond, scene.run(checks, output_limit=limit), strict=True):
        whole = (scene.top / "data").read_bytes()[: limit + extra]
        assert result.output_bytes == limit + extra
        assert result.truncated_bytes == max(extra, 0)
        if extra <= 0:
            assert output == whole
        else:
            head, tail = limit // 2, limit - limit // 2
            line = b"\n[flow: %d bytes of output left out here]\n" % extra
            assert output == whole[:head] + line + whole[-tail:]


def test_streams_keep_their_order(scene: Scene) -> None:
    code = "import os\nfor i in range(5000): os.write(1 + i % 2, b'%d\\n' % i)"
    output = scene.one(python(code)).output
    assert output == b"".join(b"%d\n" % i for i in range(5000))


# The system counts what the process that started this one had in memory, up to the exec, as this
# one's peak; a fork starts from its own.
MEMORY = """
import os, resource, sys
if pid := os.fork():
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
from flow.adapters.verification.runner import CommandRunner
from flow.app.checks import Check, CheckEvents
seen = []
def ended(check, result):
    seen.append((result.outcome, result.output_bytes, result.output.size, result.truncated_bytes))
runner = CommandRunner(sys.argv[1], ".flow/runs/r/evidence", environ=os.environ)
runner([Check("AC1", "head -c 100000000 /dev/zero | tr '\\\\0' x", "", 120.0)], jobs=1,
       events=CheckEvents(lambda check: None, ended))
peak = max(resource.getrusage(who).ru_maxrss
           for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
print(seen[0], peak // 1024)
"""


def test_100_mb_of_output_need_little_memory(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": ROOT},
        capture_output=True,
        timeout=300,
        check=True,
    )
    facts, _, peak = done.stdout.decode().strip().rpartition(" ")
    limit = 10 << 20
    line = len(f"\n[flow: {100_000_000 - limit} bytes of output left out here]\n")
    assert facts == str(("passed", 100_000_000, limit + line, 100_000_000 - limit))
    assert int(peak) < 60


def full_disk(monkeypatch: pytest.MonkeyPatch, function: str) -> None:
    real = getattr(os, function)

    def fail(fd: int, *rest: Any) -> Any:
        if ".flow-tmp-" in os.readlink(f"/proc/self/fd/{fd}"):
            raise OSError(28, "No space left on device")
        return real(fd, *rest)

    monkeypatch.setattr(os, function, fail)


@pytest.mark.parametrize("function", ["write", "fsync"])
def test_what_cannot_be_recorded_is_no_pass(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    command = "seq 100000; sleep 300" if function == "write" else "echo text"
    with monkeypatch.context() as inside:
        full_disk(inside, function)
        with pytest.raises(StorageError, match="output of AC1: No space left on device"):
            scene.one(command)
    assert scene.events == ["+AC1"]


def test_only_what_was_printed_is_synced(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """No output is a name without bytes: whoever records it syncs the name's folder."""
    with monkeypatch.context() as inside:
        full_disk(inside, "fsync")
        assert scene.one("true").output == b""


def test_a_short_write_is_written_on(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write

    def short(fd: int, data: bytes) -> int:
        return real(fd, data if bytes(data[:1]) == b"{" else data[:7])  # reports stay whole

    with monkeypatch.context() as inside:
        inside.setattr(os, "write", short)
        assert scene.one("seq 50").output == "".join(f"{n}\n" for n in range(1, 51)).encode()


LIMITED = """
import os, resource, sys
from flow.adapters.verification.runner import CommandRunner
from flow.app.checks import Check, CheckEvents
from flow.errors import StorageError
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
ended = []
runner = CommandRunner(sys.argv[1], "work", environ=os.environ, output_limit=20000)
try:
    runner([Check("AC1", "seq 4000; sleep 300", "", 120.0)], jobs=1,
           events=CheckEvents(lambda check: None, lambda check, result: ended.append(result)))
except StorageError as error:
    print(error.exit_code, ended, error)
"""


def test_a_disk_that_takes_no_more_is_no_pass(scene: Scene) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(scene.top)],
        # Python takes a module's cached code that was cut off at the limit for a whole one.
        env={**scene.environ, "PYTHONPATH": ROOT, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        timeout=LONG,
        check=True,
    )
    said = done.stdout.decode()
    assert said.startswith("5 [] ")
    assert "cannot record the output of AC1: File too large" in said
    assert os.listdir(scene.top / "work") == []


@pytest.mark.parametrize("place", [".flow", ".flow/runs", ".flow/runs/r1", WORK])
def test_a_symlink_on_the_way_to_the_output_is_refused(scene: Scene, place: str) -> None:
    elsewhere = scene.top.parent / "elsewhere"
    elsewhere.mkdir()
    link = scene.top / place
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(elsewhere)
    with pytest.raises(RefusedError) as caught:
        scene.one("true")
    assert caught.value.code == "unsafe_path"
    link.unlink()
    assert os.listdir(elsewhere) == []


def test_one_job_runs_in_the_goals_order(scene: Scene) -> None:
    scene.run([scene.check("true")._replace(criterion_id=f"AC{n}") for n in range(1, 6)])
    assert scene.events == [f"{sign}AC{n}" for n in range(1, 6) for sign in "+-"]


def test_jobs_bound_what_runs_at_once(scene: Scene) -> None:
    for_all = "touch $$.here; until set -- *.here; [ $# -ge 3 ]; do sleep 0.01; done"
    commands = [for_all] * 3 + ["sleep 0.02"] * 6
    checks = [
        scene.check(f"echo + >>runs; {command}; echo - >>runs")._replace(criterion_id=f"AC{n}")
        for n, command in enumerate(commands, 1)
    ]
    scene.run(checks, jobs=3)
    running, most = 0, 0
    for sign in (scene.top / "runs").read_text().split():
        running += 1 if sign == "+" else -1
        most = max(most, running)
    assert most == 3
    starts = [event for event in scene.events if event[0] == "+"]
    assert starts == [f"+AC{n}" for n in range(1, 10)]


def test_each_free_place_is_taken_before_a_result_is_recorded(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two that ended together: the look at the first came after the end of the other."""

    class Together:
        """A watchdog whose commands end when it is asked, all that run at once."""

        def __init__(self, *_: object, **_more: object) -> None:
            self.running: list[int] = []

        def start(self, indexes: Sequence[int]) -> None:
            orders.append(list(indexes))
            self.running += indexes

        def reports(self, _seconds: float) -> list[dict[str, Any]]:
            ended, self.running[:] = self.running[:], []
            return [{"i": index, "kind": "refused", "why": "", "seconds": 0.0} for index in ended]

        def close(self) -> None:
            pass

    monkeypatch.setattr(runner_module, "Watchdog", Together)
    orders: list[list[int]] = []
    checks = [scene.check("true")._replace(criterion_id=f"AC{n}") for n in range(1, 6)]

    def look(check: Check, _: CheckResult) -> Callable[[], None]:
        return lambda: scene.events.append(f"={check.criterion_id}")

    scene.run(checks, jobs=2, ended=look)
    told = "+AC1 +AC2 -AC1 +AC3 +AC4 =AC1 -AC2 =AC2 -AC3 +AC5 =AC3 -AC4 =AC4 -AC5 =AC5"
    assert " ".join(scene.events) == told
    assert orders == [[0, 1], [2, 3], [4]], "what may start at once is one order"


def test_results_come_as_they_end(scene: Scene) -> None:
    go = scene.top / "go"
    checks = [
        scene.check(f"until test -e {go}; do sleep 0.01; done")._replace(criterion_id="AC1"),
        scene.check(f"touch {go}; sleep 0")._replace(criterion_id="AC2", serial=False),
        scene.check("true")._replace(criterion_id="AC3"),
    ]
    scene.run(checks, jobs=2)
    assert sorted(scene.events[:2]) == ["+AC1", "+AC2"]
    assert set(scene.events) == {f"{sign}AC{n}" for n in (1, 2, 3) for sign in "+-"}


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("serial", [True, False])
def test_the_next_one_runs_while_a_result_is_recorded_where_several_run(
    scene: Scene, jobs: int, serial: bool
) -> None:
    """And never before that was looked at, nor a serial one before it is on disk."""
    checks = [
        scene.check("true")._replace(criterion_id=f"AC{n}", serial=serial and n == 3)
        for n in (1, 2, 3)
    ]

    def look(check: Check, result: CheckResult) -> Callable[[], None]:
        return lambda: scene.events.append(f"={check.criterion_id}")

    scene.run(checks, jobs=jobs, ended=look)
    events = scene.events
    for check in checks:
        looked, recorded = (events.index(f"{mark}{check.criterion_id}") for mark in "-=")
        between = events[looked + 1 : recorded]
        assert all(event.startswith("+") for event in between), "another result was looked at"
        assert jobs > 1 or not between
        assert not serial or "+AC3" not in between
    first = min(events.index("=AC1"), events.index("=AC2"))
    if jobs == 2 and not serial:
        assert events.index("+AC3") < first
    else:
        assert events.index("+AC3") > first


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_ended_is_recorded_though_the_next_one_cannot_start(scene: Scene, jobs: int) -> None:
    recorded = []
    checks = [scene.check("true")._replace(criterion_id=f"AC{n}") for n in range(1, 4)]

    def started(check: Check) -> None:
        if check.criterion_id == "AC3":
            raise TimeoutError

    def look(check: Check, result: CheckResult) -> Callable[[], None]:
        return lambda: recorded.append(check.criterion_id)

    runner = CommandRunner(str(scene.top), WORK, environ=scene.environ)
    with pytest.raises(TimeoutError):
        runner(checks, jobs=jobs, events=CheckEvents(started, look))
    assert len(recorded) == (2 if jobs == 1 else 1)
    assert scene.processes() == []


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_what_does_not_fit_is_left_out_and_ends_nothing(scene: Scene, jobs: int) -> None:
    checks = [scene.check("sleep 0.2")._replace(criterion_id=f"AC{n}") for n in range(1, 5)]
    for left_out in ({"AC2"}, {"AC1", "AC4"}, {"AC1", "AC2", "AC3", "AC4"}):
        scene.events.clear()
        scene.run(checks, jobs=jobs, fits=lambda check, out=left_out: check.criterion_id not in out)
        ran = {f"AC{n}" for n in range(1, 5)} - left_out
        assert sorted(scene.events) == sorted([f"+{id}" for id in ran] + [f"-{id}" for id in ran])


def test_serial_ones_run_alone(scene: Scene) -> None:
    serial = {3, 4, 7}
    checks = [
        scene.check("sleep 0.05")._replace(criterion_id=f"AC{n}", serial=n in serial)
        for n in range(1, 9)
    ]
    scene.run(checks, jobs=4)
    running: set[str] = set()
    for event in scene.events:
        if event[0] == "+":
            running.add(event[1:])
        if running & {f"AC{n}" for n in serial}:
            assert len(running) == 1
        if event[0] == "-":
            running.remove(event[1:])
    assert [e for e in scene.events if e[0] == "+"] == [f"+AC{n}" for n in range(1, 9)]


def test_no_checks_is_no_work(scene: Scene) -> None:
    assert scene.run([]) == []
    assert not (scene.top / ".flow").exists()


@pytest.mark.parametrize("where", ["started", "ended", "tick"])
@pytest.mark.parametrize("error", [ValueError("callback"), KeyboardInterrupt()])
def test_an_error_in_a_callback_ends_everything(
    scene: Scene, where: str, error: BaseException
) -> None:
    calls: list[str] = []

    def call(name: str) -> None:
        calls.append(name)
        if name == where and (where != "started" or calls.count("started") == 3):
            raise error

    runner = CommandRunner(str(scene.top), WORK, environ=scene.environ, grace=0.3)
    commands = ["sleep 300", "sleep 0.2", "setsid sleep 300 & sleep 300"]
    expected = Interrupted if isinstance(error, KeyboardInterrupt) else ValueError
    with pytest.raises(expected):
        runner(
            [scene.check(command) for command in commands],
            jobs=3,
            events=CheckEvents(
                lambda _: call("started"), lambda *_: call("ended"), lambda: call("tick")
            ),
        )
    assert scene.processes() == []
    assert scene.left_files() == []


def test_outputs_that_nobody_took_are_removed(scene: Scene) -> None:
    seen: list[bool] = []
    runner = CommandRunner(str(scene.top), WORK, environ=scene.environ)
    runner(
        [scene.check("echo x")] * 3,
        jobs=2,
        events=CheckEvents(
            lambda _: None,
            lambda _, result: seen.append(os.path.exists(result.output.path)),  # type: ignore[union-attr]
        ),
    )
    assert seen == [True] * 3
    assert scene.left_files() == []


def test_ticks_come_while_something_runs(scene: Scene) -> None:
    ticks: list[int] = []

    def tick() -> None:
        ticks.append(1)
        if len(ticks) == 5:
            (scene.top / "go").touch()

    result, _ = scene.one("until [ -e go ]; do sleep 0.01; done", tick=tick, tick_seconds=0.02)
    assert result.outcome == "passed"


def test_descriptors_are_neither_kept_nor_inherited(scene: Scene) -> None:
    lock = os.open(scene.top / "lock", os.O_CREAT | os.O_RDWR)
    os.set_inheritable(lock, True)
    try:
        before = set(os.listdir("/proc/self/fd"))
        watchers = "for p in $$ $PPID $(ps -o ppid= -p $PPID); do ls -l /proc/$p/fd; done"
        _, output = scene.one(watchers)
        assert set(os.listdir("/proc/self/fd")) <= before
    finally:
        os.close(lock)
    assert output is not None
    assert b"pipe:" in output
    assert b"/lock" not in output
    own = scene.one("exec ls /proc/self/fd").output
    assert own == b"0\n1\n2\n3\n"  # the last one is how ls reads the folder


def test_no_terminal_and_a_session_of_its_own(scene: Scene) -> None:
    output = scene.one("ps -o pid=,sid=,pgid=,tty= -p $$").output
    assert output is not None
    pid, session, group, tty = output.split()
    assert pid == session == group
    assert tty == b"?"


RUNNER = """
import os, sys
from flow.adapters.verification.runner import CommandRunner
from flow.app.checks import Check, CheckEvents
from flow.errors import Interrupted
top, jobs = sys.argv[1], int(sys.argv[2])
runner = CommandRunner(top, ".flow/runs/r1/evidence", environ=os.environ, grace=0.3)
checks = [Check(f"AC{n}", command, "", 120.0) for n, command in enumerate(sys.argv[3:])]
try:
    runner(checks, jobs=jobs, events=CheckEvents(lambda check: None, lambda *_: None))
except Interrupted as error:
    print("interrupted", error.exit_code, flush=True)
    sys.exit(error.exit_code)
"""

COMMANDS = [
    "echo text; touch a; sleep 300",
    "trap '' TERM INT HUP; touch b; while :; do sleep 1; done",
    "setsid sleep 300 & touch c; sleep 300",
    f"{DAEMON}; touch d; sleep 300",
]


@pytest.mark.parametrize(
    ("jobs", "group"),
    [
        (1, False),
        pytest.param(1, True, marks=pytest.mark.long),
        pytest.param(4, False, marks=pytest.mark.long),
        (4, True),
    ],
)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_when_flow_is_ended_so_is_everything(
    scene: Scene, jobs: int, number: signal.Signals, group: bool
) -> None:
    flow = subprocess.Popen(
        [sys.executable, "-c", RUNNER, str(scene.top), str(jobs), *COMMANDS],
        env={**scene.environ, "PYTHONPATH": ROOT},
        stdout=subprocess.PIPE,
        process_group=0,
    )
    try:
        wanted = ["a", "b", "c", "d"][:jobs]
        assert eventually(lambda: all((scene.top / name).exists() for name in wanted))
        (os.killpg if group else os.kill)(flow.pid, number)
        said, _ = flow.communicate(timeout=LONG)
    finally:
        flow.kill()
    if number == signal.SIGKILL:
        assert flow.returncode == -9
    else:
        assert flow.returncode == 130
        assert b"interrupted 130" in said
    assert eventually(lambda: scene.processes() == [])
    assert eventually(lambda: scene.left_files() == [])


def test_a_signal_lets_the_recording_finish(scene: Scene) -> None:
    recorded: list[str] = []

    def ended(check: Check, _: CheckResult) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.05)
        recorded.append(check.criterion_id)

    with pytest.raises(Interrupted):
        scene.run([scene.check("true"), scene.check("sleep 300")], ended=ended)
    assert recorded == ["AC1"]
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_handlers_of_the_program_stay(scene: Scene) -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: heard.append(number))
    try:
        scene.one("kill -TERM $(ps -o ppid= -p $(ps -o ppid= -p $PPID)); sleep 0.1")
    finally:
        signal.signal(signal.SIGTERM, before)
    assert heard == [signal.SIGTERM]


CLOSED = """
import os, sys
from flow.adapters.verification.runner import CommandRunner
from flow.app.checks import Check, CheckEvents
def ended(check, result):
    with open(sys.argv[2], "a") as file, open(result.output.path) as output:
        file.write(f"{result.result} {output.read()!r}; ")
CommandRunner(sys.argv[1], ".flow/runs/r1/evidence", environ=os.environ)(
    [Check("AC1", command, "", 60.0) for command in ("echo a; echo b >&2; cat", "if", "exit 3")],
    jobs=1, events=CheckEvents(lambda check: None, ended))
"""


def test_it_works_where_flow_has_no_standard_streams(scene: Scene) -> None:
    said = scene.top.parent / "said"
    subprocess.run(
        ["sh", "-c", '"$@" <&- >&- 2>&-', "sh", sys.executable, "-c", CLOSED, scene.top, said],
        env={**scene.environ, "PYTHONPATH": ROOT},
        timeout=LONG,
        check=True,
    )
    text = said.read_text()
    assert text.startswith("exit 0 'a\\nb\\n'; could not run 'bash: ")
    assert text.endswith("exit 3 ''; ")


@pytest.mark.parametrize("then", ["seq 5000; sleep 300", "true"])
def test_a_folder_that_becomes_a_link_is_refused_at_once(scene: Scene, then: str) -> None:
    elsewhere = scene.top.parent / "elsewhere"
    elsewhere.mkdir()
    with pytest.raises(RefusedError) as caught:
        scene.one(f"rm -rf .flow; ln -s {elsewhere} .flow; {then}", output_limit=2000)
    assert caught.value.code == "unsafe_path"
    assert os.listdir(elsewhere) == []
    assert scene.processes() == []


def test_a_defect_of_a_supervisor_is_no_result(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a defect")

    with monkeypatch.context() as inside:
        inside.setattr("flow.adapters.process.ending.EndingSteps.settle", fail)
        result, output = scene.one("setsid sleep 300 & true")
    assert (result.outcome, output) == ("inconclusive", None)
    assert "RuntimeError: a defect" in result.reason
    assert scene.processes() == []


def test_a_supervisor_that_cannot_report_is_waited_for_by_nobody(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    from flow.adapters.verification import supervisor as verification_supervisor

    real = verification_supervisor.send_report

    def fail(fd: int, index: int, found: dict[str, Any]) -> None:
        if found["kind"] == "exit":
            raise OSError(5, "Input/output error")
        real(fd, index, found)

    with monkeypatch.context() as inside:
        inside.setattr(verification_supervisor, "send_report", fail)
        result, output = scene.one("setsid sleep 300 & true")
    assert (result.outcome, output) == ("inconclusive", None)
    assert "the process that watched it failed" in result.reason  # and was not ended as hung
    assert scene.processes() == []


SIZES = {"sha": "f" * 64, "size": 2**53, "printed": 2**53, "cut": 2**53, "seconds": 1e300 / 7}
NAMED = [2**22, *["n" * 15] * 5]


@pytest.mark.parametrize(
    "found",
    [
        {"kind": "timeout", "status": None, "loose": False, "left": NAMED, "stuck": NAMED, **SIZES},
        {"kind": "refused", "why": '\x1b"\\ü' * 200, **SIZES},
    ],
)
def test_the_longest_report_is_written_in_one_piece(found: dict[str, Any]) -> None:
    read, write = os.pipe()
    send_report(write, 999, found)
    os.close(write)
    with open(read, "rb") as file:
        line = file.read()
    assert line.endswith(b"}\n")
    assert len(line) <= 512  # the smallest PIPE_BUF that POSIX allows


def test_runs_in_a_thread_too(scene: Scene) -> None:
    import threading

    found: list[Ran] = []
    thread = threading.Thread(target=lambda: found.append(scene.one("sleep 300 & echo hi")))
    thread.start()
    thread.join()
    assert found[0].result.outcome == "passed"
    assert found[0].output == b"hi\n"


def test_a_fork_storm_is_ended(scene: Scene) -> None:
    storm = (
        "bomb() { for i in $(seq 6); do (sleep 300 & bomb2 &) & done; wait; }; "
        "bomb2() { for i in $(seq 4); do (setsid sleep 300 & sleep 300) & done; wait; }; "
        "for n in $(seq 4); do bomb & done; sleep 300"
    )
    result, _ = scene.one(storm, timeout_seconds=1.0)
    assert result.result == "timeout"
    assert scene.processes() == []
