"""Commands in a sandbox: real bubblewrap, processes, files and sockets (SPEC 1, HAZARD E66)."""

from __future__ import annotations

import os
import pwd
import shlex
import shutil
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from signal import SIGKILL
from typing import TYPE_CHECKING, Any

import pytest

from flow.adapters.process import ending as process_ending
from flow.adapters.process import tree as process_tree
from flow.adapters.sandbox import bubblewrap
from flow.adapters.sandbox import home as sandbox_home
from flow.adapters.sandbox import paths as sandbox_paths
from flow.adapters.verification import watchdog as verification_watchdog
from flow.adapters.verification.runner import CommandRunner
from flow.app.checks import Check, CheckEvents, CheckResult
from flow.core.sandbox import Sandbox, sandbox_of
from tests.support.patience import LONG, NAMED_SLEEP, eventually, long_enough

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow

WORK = ".flow/runs/.work"
PYTHON = shlex.quote(os.path.realpath(sys.executable))
"""Not the environment's link: that may lie below /tmp, which is another one in there."""
needs_bwrap = pytest.mark.needs_tool("bwrap")


class Scene:
    """A checkout with a repository in it, a home, a state folder; and what a command came to."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.top, self.home, self.state = folder / "checkout", home, home / "flow-state"
        for path in (self.top / "src", self.top / "tests", self.top / WORK, self.state):
            path.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", self.top], check=True)
        (self.top / "src/a.py").write_text("a = 1\n")
        (self.top / "tests/test_a.py").write_text("assert True\n")
        (self.state / "goal-trust.jsonl").write_text("trusted\n")
        self.environ = {**os.environ, "HOME": str(home), "FLOW_STATE_DIR": str(self.state)}
        self.output = b""
        self.sleep = f"sleep 1000.{time.monotonic_ns()}{os.getpid()}"
        """A command that no other test has."""

    def sleeps(self) -> bool:
        """Whether one of them is there."""
        shown = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
        return self.sleep in shown.stdout

    def run(
        self,
        command: str,
        allowed: tuple[str, ...] = ("src/**",),
        denied: tuple[str, ...] = (),
        *,
        network: bool = False,
        grace: float = 0.3,
        **fields: Any,
    ) -> CheckResult:
        """Run it in a sandbox that opens ``allowed``."""
        wanted = Sandbox(network, allowed, denied)
        options = {"cwd": "", "timeout_seconds": LONG, **fields}
        found: list[CheckResult] = []

        def take(_: Check, result: CheckResult) -> None:
            found.append(result)
            self.output = b""
            if result.output is not None:
                self.output = Path(result.output.path).read_bytes()
                os.unlink(result.output.path)

        runner = CommandRunner(str(self.top), WORK, environ=self.environ, grace=grace)
        check = Check("AC1", command, sandbox=wanted, **options)
        runner([check], jobs=1, events=CheckEvents(lambda _: None, take))
        assert os.listdir(self.top / WORK) == []
        return found[0]


@pytest.fixture
def scene(tmp_path: Path, home: Path) -> Scene:
    return Scene(tmp_path, home)


# --- how a command ends is told as without a sandbox ----------------------------------------------


ENDS = {
    "true": ("passed", "exit 0"),
    "exit 3": ("failed", "exit 3"),
    "false | cat": ("failed", "exit 1"),
    "kill -SEGV $$": ("failed", "signal SEGV"),
    "kill -KILL $$": ("inconclusive", "signal KILL"),
    "kill -TERM $$": ("inconclusive", "signal TERM"),
    "exit 130": ("inconclusive", "signal INT"),
    "no-such-program": ("inconclusive", "could not run"),
    "if": ("inconclusive", "could not run"),
}


@needs_bwrap
def test_the_exit_is_the_commands(scene: Scene) -> None:
    for command, end in ENDS.items():
        found = scene.run(command)
        assert (found.outcome, found.result) == end, command
        assert found.sandbox is not None
        assert found.sandbox["kind"] == "bwrap"


@needs_bwrap
def test_output_is_in_the_order_written_and_the_shell_has_its_name(scene: Scene) -> None:
    assert (
        scene.run("echo a; echo b >&2; echo c; echo $0; echo ${BASH_VERSION:+bash}").exit_code == 0
    )
    assert scene.output == b"a\nb\nc\nbash\nbash\n"
    assert scene.run("no-such-program").exit_code == 127
    assert scene.output == b"bash: line 1: no-such-program: command not found\n"


@needs_bwrap
def test_it_runs_in_its_folder_with_its_input_closed(scene: Scene) -> None:
    assert scene.run("pwd; cat; test ! -t 0", cwd="src").exit_code == 0
    assert scene.output.decode() == f"{scene.top}/src\n"


@needs_bwrap
def test_what_reads_its_output_may_still_write(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (process_ending, verification_watchdog):
        monkeypatch.setattr(module, "SETTLE", LONG)  # how long a moment is, not that it is
    assert scene.run("echo last > >(sleep 0.03; cat)").outcome == "passed"
    assert scene.output == b"last\n"


@needs_bwrap
def test_a_time_out_is_polite_first(scene: Scene) -> None:
    command = "trap 'echo bye; exit 0' TERM; echo ready; sleep 1000 & wait"
    found = long_enough(
        lambda seconds: scene.run(command, timeout_seconds=seconds, grace=LONG),
        lambda _: b"ready" in scene.output,
    )
    assert (found.outcome, found.result) == ("inconclusive", "timeout")
    assert scene.output == b"ready\nbye\n"


@needs_bwrap
def test_what_ignores_it_is_ended_with_all_it_started(scene: Scene) -> None:
    command = f"trap '' TERM; (trap '' TERM; setsid {scene.sleep} &) ; {scene.sleep}"
    assert scene.run(command, timeout_seconds=0.5).result == "timeout"
    assert eventually(lambda: not scene.sleeps())


@needs_bwrap
def test_a_daemon_is_ended_and_told(scene: Scene) -> None:
    command = f"(setsid {scene.sleep} >/dev/null 2>&1 & up $!); echo done"
    found = scene.run(NAMED_SLEEP + command)
    assert found.outcome == "passed"
    assert found.limitations == ("Flow ended a process that the command left running: sleep.",)
    assert eventually(lambda: not scene.sleeps())


@needs_bwrap
@pytest.mark.parametrize("target", ["$PPID", "1", "-1"])
def test_it_cannot_end_who_watches_it(scene: Scene, target: str) -> None:
    scene.run(f"kill -9 {target}; kill -0 {os.getpid()} && echo found")
    assert b"found" not in scene.output
    assert scene.run("true").outcome == "passed"


@needs_bwrap
def test_it_sees_no_descriptor_but_its_own_three(scene: Scene) -> None:
    scene.run(
        "for fd in /proc/self/fd/*; do readlink $fd; done | grep -c pipe; "
        "ls /proc | grep -c '^[0-9]'"
    )
    pipes, processes = map(int, scene.output.split())
    assert pipes <= 2  # both of its output, one of them inside `$(...)`
    assert processes <= 8


# --- files: the attacks ---------------------------------------------------------------------------


OUTSIDE = (
    "README.md",
    "tests/test_a.py",
    ".git/hooks/pre-commit",
    ".git/config",
    ".flow/goals/greet.goal.yaml",
    ".flow/runs/r1/events.jsonl",
    "src/../tests/new.py",
    "src/link/new.py",
)


@needs_bwrap
@pytest.mark.parametrize(
    "how",
    [
        "echo x >> {path}",
        "echo x > src/x; mv -f src/x {path}",
        "mount -o remount,rw,bind . ; mount -o remount,rw / ; echo x >> {path}",
    ],
    ids=["write", "rename", "remount"],
)
def test_nothing_is_written_outside_the_allowed_paths(scene: Scene, how: str) -> None:
    os.symlink("../tests", scene.top / "src/link")
    tries = [f"({how.format(path=path)}) 2>/dev/null; echo $?" for path in OUTSIDE]
    before = {p: p.read_bytes() for p in scene.top.rglob("*") if p.is_file() and p.name != "x"}
    assert scene.run("; ".join(tries)).outcome == "passed"
    assert scene.output.split() == [b"1"] * len(OUTSIDE)
    after = {p: p.read_bytes() for p in scene.top.rglob("*") if p.is_file() and p.name != "x"}
    assert after == before


@needs_bwrap
def test_the_allowed_paths_are_really_written(scene: Scene) -> None:
    found = scene.run("echo 'a = 2' > src/a.py && mkdir src/new && touch src/new/b.py")
    assert found.outcome == "passed"
    assert (scene.top / "src/a.py").read_text() == "a = 2\n"
    assert (scene.top / "src/new/b.py").exists()
    assert found.sandbox is not None
    assert found.sandbox["writable"] == ["src"]


NOT_THERE = "Read-only in the sandbox: %s: not there yet (a / at its end would make it a folder)."
ONE_BY_ONE = "Read-only in the sandbox: %s: only the %d paths that fit it already."


@needs_bwrap
@pytest.mark.parametrize(
    ("allowed", "denied", "writes", "writable", "said"),
    [
        ((), (), {"new": True, "src/n": True, ".git/n": False, ".flow/n": False}, ["."], ()),
        (("*",), (), {"new": True, ".git/n": False}, ["."], ()),
        (("src",), (), {"src/n": True, "n": False}, ["src"], ()),
        (("src/*",), (), {"src/n": True, "n": False}, ["src"], ()),
        (("src/a.py",), (), {"src/a.py": True, "src/n": False}, ["src/a.py"], ()),
        (("out/deep/**",), (), {"out/deep/n": True, "out/n": False}, ["out/deep"], ()),
        (("out/",), (), {"out/n": True}, ["out"], ()),
        (("out",), (), {"out": False}, [], (NOT_THERE % "out",)),
        (
            ("src/*.py",),
            (),
            {"src/a.py": True, "src/n.py": False},
            ["src/a.py"],
            (ONE_BY_ONE % ("src/*.py", 1),),
        ),
        (
            ("**/test_*",),
            (),
            {"tests/test_a.py": True, "src/a.py": False},
            ["tests/test_a.py"],
            (ONE_BY_ONE % ("**/test_*", 1),),
        ),
        (("src/**", "src/a.py"), (), {"src/a.py": True}, ["src"], ()),
        (("src/**",), ("a.py",), {"src/a.py": False, "src/n": True}, ["src"], ()),
        ((), ("tests/**",), {"tests/n": False, "tests/test_a.py": False}, ["."], ()),
        ((), ("tests/",), {"tests/n": False, "src/n": True}, ["."], ()),
        (("src/**",), ("src",), {"src/n": False}, [], ()),
        (
            (".git/hooks/**", ".flow/**"),
            (),
            {".git/hooks/n": False, ".flow/n": False},
            [],
            (
                "Read-only in the sandbox: .git/hooks/**: Flow and git write there, nobody else.",
                "Read-only in the sandbox: .flow/**: Flow and git write there, nobody else.",
            ),
        ),
        (
            ("link/**",),
            (),
            {"link/n": False},
            [],
            ("Read-only in the sandbox: link/**: reached through a symlink.",),
        ),
        (
            ("src/a.py/**",),
            (),
            {"src/a.py": False},
            [],
            (
                (
                    "Read-only in the sandbox: src/a.py/**: neither a file nor a folder that it "
                    "could cover."
                ),
            ),
        ),
    ],
)
def test_what_the_patterns_open(
    scene: Scene,
    allowed: tuple[str, ...],
    denied: tuple[str, ...],
    writes: dict[str, bool],
    writable: list[str],
    said: tuple[str, ...],
) -> None:
    os.symlink("src", scene.top / "link")
    command = "; ".join(f"(echo >> {path}) 2>/dev/null; echo $?" for path in writes)
    found = scene.run(command, allowed, denied)
    assert scene.output.split() == [b"0" if well else b"1" for well in writes.values()]
    assert found.limitations == said
    assert found.sandbox is not None
    assert found.sandbox["writable"] == writable


@needs_bwrap
def test_a_folder_that_cannot_be_made_is_told(scene: Scene) -> None:
    found = scene.run("true", ("src/a.py/x/**", "src/deep/x/**"))
    assert found.limitations == ("Read-only in the sandbox: src/a.py/x/**: Not a directory.",)
    assert found.sandbox is not None
    assert found.sandbox["writable"] == ["src/deep/x"]
    assert not (scene.top / "src/deep").exists()


def test_a_folder_that_cannot_be_listed_opens_nothing(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: str) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "scandir", fail)
    found = sandbox_paths.opened(str(scene.top), Sandbox(False, ("src/*.py",), ()))
    assert found.writable == ()


@needs_bwrap
def test_a_folder_that_was_made_to_be_opened_goes_if_it_stays_empty(scene: Scene) -> None:
    scene.run("ls out", ("out/deep/**",))
    assert not (scene.top / "out").exists()
    scene.run("touch out/deep/x", ("out/deep/**",))
    assert (scene.top / "out/deep/x").exists()


@needs_bwrap
def test_a_pattern_that_covers_too_much_opens_nothing(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flow.adapters.sandbox.paths.MOST", 3)
    for number in range(4):
        (scene.top / f"src/{number}.c").touch()
    found = scene.run("echo >> src/1.c", ("src/*.c",))
    assert found.outcome == "failed"
    assert found.limitations == (
        "Read-only in the sandbox: src/*.c: covers too much to be opened one by one.",
    )
    found = scene.run("echo >> src/a.py", ("src/**",), ("*.c",))
    assert found.outcome == "failed"
    assert found.limitations == ("Read-only in the sandbox: src: too many denied paths in it.",)
    monkeypatch.setattr("flow.adapters.sandbox.paths.LOOKED_AT", 2)
    assert scene.run("echo >> src/1.c", ("src/*.c",)).outcome == "failed"


# --- home, secrets, the rest of the machine -------------------------------------------------------


SECRETS = (
    *(".ssh/id_ed25519", ".netrc", ".claude/flow-state/goal-trust.jsonl", ".unknown"),
    *(".config/anything/token", ".cargo/credentials.toml", "flow-state/goal-trust.jsonl"),
)


@needs_bwrap
def test_secrets_of_the_user_cannot_be_read(scene: Scene) -> None:
    files = [scene.home / path for path in SECRETS]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("TOP SECRET\n")
    each = f"for path in {' '.join(SECRETS)}; do %s; done"
    assert scene.run(each % "cat ~/$path || echo refused").outcome == "passed"
    assert scene.output.count(b"refused") == len(SECRETS), scene.output
    assert b"TOP SECRET" not in scene.output
    scene.run(each % "echo x > ~/$path", ())  # into the private home, at most
    assert [file.read_text() for file in files] == ["TOP SECRET\n"] * len(files)


@needs_bwrap
def test_the_accounts_own_home_is_private_too(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = scene.home / "account"
    (account / ".ssh").mkdir(parents=True)
    (account / ".ssh/key").write_text("TOP SECRET\n")
    entry = list(pwd.getpwuid(os.getuid()))
    entry[5] = str(account)
    monkeypatch.setattr(pwd, "getpwuid", lambda _: pwd.struct_passwd(entry))
    assert scene.run(f"cat {account}/.ssh/key").outcome == "failed"
    assert b"TOP SECRET" not in scene.output

    def nobody(_: int) -> pwd.struct_passwd:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    assert scene.run("test -d ~").outcome == "passed"


@needs_bwrap
def test_tools_of_the_home_folder_are_there_and_writes_to_it_vanish(scene: Scene) -> None:
    for name in (".cargo/bin/tool", ".own/bin/other", "notes.txt", ".local/bin/third"):
        file = scene.home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("#!/bin/sh\necho ran $0\n")
        file.chmod(0o755)
    os.symlink("notes.txt", scene.home / "link")
    scene.environ["PATH"] = f"{scene.home}/.own/bin:{scene.environ['PATH']}"
    found = scene.run(
        "~/.cargo/bin/tool && ~/.local/bin/third && other && cat ~/link >/dev/null "
        "&& echo y > ~/.new"
    )
    assert found.outcome == "passed", scene.output
    assert scene.output.count(b"ran") == 3
    assert not (scene.home / ".new").exists()
    assert scene.run("echo y >> ~/notes.txt").outcome == "failed"


@needs_bwrap
def test_a_checkout_that_is_the_home_folder_shows_no_keys(scene: Scene) -> None:
    scene.environ["HOME"] = str(scene.top)
    for name in (".ssh/key", ".claude/flow-state/goal-trust.jsonl", ".netrc"):
        (scene.top / name).parent.mkdir(parents=True, exist_ok=True)
        (scene.top / name).write_text("TOP SECRET\n")
    scene.run("cat .ssh/key .claude/flow-state/goal-trust.jsonl .netrc; cat src/a.py", ())
    assert b"TOP SECRET" not in scene.output
    assert b"a = 1" in scene.output


@needs_bwrap
def test_tmp_is_private_and_limited_and_the_rest_is_read_only(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bubblewrap, "TMP_BYTES", 1 << 20)
    scene.environ["TMPDIR"] = str(scene.home)
    mark = f"flow-sandbox-{os.getpid()}"
    assert scene.run(f"touch /tmp/{mark} /var/tmp/{mark} && echo $TMPDIR").outcome == "passed"
    assert scene.output == b"/tmp\n"
    assert not os.path.exists(f"/tmp/{mark}")
    assert scene.run("head -c 3000000 /dev/zero > /tmp/big").outcome == "failed"
    assert b"No space left" in scene.output
    assert (
        scene.run(f"touch /etc/{mark} /usr/{mark} {scene.top.parent}/{mark}/x").outcome == "failed"
    )
    assert scene.run("ls -A /run").outcome == "passed"
    assert scene.output == b""


# --- network, processes ---------------------------------------------------------------------------


@pytest.fixture
def server() -> Iterator[int]:
    """A loopback server outside; its port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        accepting = threading.Thread(target=_accept, args=(listening,), daemon=True)
        accepting.start()
        yield listening.getsockname()[1]


def _accept(listening: socket.socket) -> None:
    try:
        while True:
            listening.accept()[0].close()
    except OSError:
        pass


@needs_bwrap
@pytest.mark.parametrize(("network", "outcome"), [(False, "failed"), (True, "passed")])
def test_there_is_no_network_unless_it_is_asked_for(
    scene: Scene, server: int, network: bool, outcome: str
) -> None:
    found = scene.run(f"exec 3<>/dev/tcp/127.0.0.1/{server}", network=network)
    assert found.outcome == outcome, scene.output
    assert found.sandbox is not None
    assert found.sandbox["network"] is network


SOCKETS = {
    "agent": ("SSH_AUTH_SOCK", "{}"),
    "docker": ("DOCKER_HOST", "unix://{}"),
    "bus": ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/none;unix:path={},guid=1"),
    "slashes": ("TWO_SLASHES", "/{}"),
    "linked": ("A_LINK", "{}.link"),
}
"""By its name in the checkout the variable that says where a socket is, and how."""
CONNECT = f"""
import socket
for name in {(*SOCKETS, "other")}:
    try:
        socket.socket(socket.AF_UNIX).connect("src/" + name)
        print(name)
    except OSError:
        pass
"""


@needs_bwrap
def test_nobody_acts_for_it_who_listens_where_a_variable_says(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the socket lies in a folder that it may write, and the mount is read-only."""
    monkeypatch.chdir(scene.top / "src")  # a socket's name is at most 108 bytes
    with ExitStack() as stack:
        for name in (*SOCKETS, "other"):
            listening = stack.enter_context(socket.socket(socket.AF_UNIX))
            listening.bind(name)
            listening.listen()
        os.symlink("linked", "linked.link")
        for name, (variable, value) in SOCKETS.items():
            scene.environ[variable] = value.format(scene.top / "src" / name)
        for allowed in (("src/**",), ("tests/**",)):
            found = scene.run(f"{PYTHON} -c {shlex.quote(CONNECT)}", allowed)
            assert (found.outcome, scene.output) == ("passed", b"other\n")


@needs_bwrap
@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="no folder in memory")
def test_a_checkout_in_memory_is_seen() -> None:
    """It lies below ``/dev``, which is another one in there."""
    top, account = "/dev/shm", {"PATH": "/usr/bin:/bin"}
    found = bubblewrap.confine(top, Sandbox(False, ("none",), ()), "/bin/bash", {}, account)
    command = found.command(top, 9, ["-c", "stat -c %d:%i . && ! test -w . && test -w /dev/null"])
    started = ["bash", "-c", 'exec "$@" 9>/dev/null', "bash", *command]
    done = subprocess.run(started, capture_output=True, text=True, env=account)
    here = os.stat(top)
    assert (done.returncode, done.stdout) == (0, f"{here.st_dev}:{here.st_ino}\n"), done.stderr
    assert found.made == ()


@needs_bwrap
def test_it_has_no_rights_and_no_way_to_new_ones(scene: Scene) -> None:
    scene.run("grep CapEff /proc/self/status; grep NoNewPrivs /proc/self/status; unshare -U true")
    assert b"0000000000000000" in scene.output
    assert b"NoNewPrivs:\t1" in scene.output
    assert b"unshare failed" in scene.output


@needs_bwrap
def test_a_fork_bomb_ends_with_its_time(scene: Scene) -> None:
    bomb = f"while :; do for i in 1 2 3 4 5 6 7 8; do {scene.sleep} & done; sleep 0.02; done"
    assert scene.run(bomb, timeout_seconds=0.5).result == "timeout"
    assert eventually(lambda: not scene.sleeps())


@needs_bwrap
@pytest.mark.needs_tool("setpriv")
@pytest.mark.skipif(os.getuid() != 0, reason="starts bwrap as another user")
def test_the_number_of_processes_is_limited(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for root, whom the system lets start as many as it likes."""
    account = 61_234  # nobody's: the system counts all that an account has
    monkeypatch.setattr(bubblewrap, "PROCESSES", 20)
    monkeypatch.setattr(os, "getuid", lambda: account)
    found = bubblewrap.confine(
        "/srv", Sandbox(False, ("none",), ()), "/bin/bash", {}, {"PATH": "/usr/bin:/bin"}
    )
    assert found.record["processes"] == 20
    forks = "for i in $(seq 40); do sleep 1000 & done; exit 7"
    argv = found.command("/", 9, ["-c", forks])
    user = ["setpriv", f"--reuid={account}", f"--regid={account}", "--clear-groups"]
    said: list[str] = []
    with subprocess.Popen(
        ["bash", "-c", 'exec "$@" 9>/dev/null', "bash", *user, *argv],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={"PATH": "/usr/bin:/bin"},
    ) as child:
        assert child.stderr is not None
        for line in child.stderr:
            said.append(line)
            if "fork: retry" in line:
                break
        process_tree.send(process_tree.descendants(child.pid, process_tree.table()), SIGKILL)
        child.kill()
    if any("Permission denied" in line or "No permissions" in line for line in said):
        pytest.skip("needs user namespaces for everyone")
    assert "fork: retry" in "".join(said)


# --- no silent way around -------------------------------------------------------------------------


def without(scene: Scene, *programs: str) -> None:
    """A PATH that has bash, and no bwrap but those that are given."""
    folder = scene.home / "only"
    folder.mkdir()
    os.symlink(shutil.which("bash") or "/bin/bash", folder / "bash")
    for text in programs:
        (folder / "bwrap").write_text(text)
        (folder / "bwrap").chmod(0o755)
    scene.environ["PATH"] = str(folder)


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (None, "sandbox bwrap: the program bwrap was not found in PATH (install bubblewrap)"),
        (
            "#!/bin/bash\necho bubblewrap 0.4.1\n",
            "sandbox bwrap: bubblewrap 0.4.1 is older than 0.8.0",
        ),
        ("#!/bin/bash\nexit 1\n", "sandbox bwrap: bwrap --version fails"),
        (
            (
                "#!/bin/bash\n[[ $1 == --version ]] && echo bubblewrap 0.9.0 && exit\n"
                "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1\n"
            ),
            "sandbox bwrap: setting up uid map: Permission denied",
        ),
        (
            "#!/bin/bash\n[[ $1 == --version ]] && echo bubblewrap 0.9.0\nexit 0\n",
            "sandbox bwrap: it was ended",
        ),
    ],
)
def test_without_a_sandbox_nothing_runs(scene: Scene, program: str | None, why: str) -> None:
    without(scene, *([program] if program else []))
    found = scene.run("echo ran > src/ran; echo ran", ())
    assert (found.outcome, found.exit_code) == ("inconclusive", None)
    assert (found.result, found.reason) == ("could not run", why)
    assert not (scene.top / "src/ran").exists()
    assert b"ran" not in scene.output
    assert found.sandbox is not None
    assert found.sandbox["kind"] == "bwrap"


def test_no_bwrap_of_the_checkout_is_used(scene: Scene) -> None:
    without(scene)
    fake = scene.top / "bin/bwrap"
    fake.parent.mkdir()
    fake.write_text("#!/bin/bash\necho bubblewrap 9.9.9\n")
    fake.chmod(0o755)
    scene.environ["PATH"] = f"{scene.top}/bin:{scene.environ['PATH']}"
    assert "not found" in scene.run("true").reason


@pytest.mark.parametrize(
    ("printed", "why"),
    [
        (
            b"bwrap: No permissions to create new namespace\n",
            "No permissions to create new namespace",
        ),
        (b"noise\nbwrap: Can't bind\n", "Can't bind"),
        (b"\xff\n", "\ufffd"),
        (b"", "it was ended"),
    ],
)
def test_what_bwrap_says_is_the_reason(printed: bytes, why: str) -> None:
    assert bubblewrap.Confinement.refusal(printed, b"") == f"sandbox bwrap: {why}"


@pytest.mark.parametrize(
    ("status", "ran"),
    [
        (b'{ "child-pid": 12 }\n', False),
        (b'{ "child-pid": 12 }\n{ "exit-code": 0 }\n', True),
        (b"", False),
    ],
)
def test_a_command_ran_if_bwrap_tells_its_exit(status: bytes, ran: bool) -> None:
    assert (bubblewrap.Confinement.refusal(b"no", status) == "") is ran


@pytest.mark.parametrize(
    ("leads_to", "mounts"),
    [
        ("/run/resolve/stub.conf", {"/run/resolve/stub.conf": "read"}),
        ("/etc/resolv.conf", {}),
    ],
)
def test_with_a_network_names_are_resolved(
    leads_to: str, mounts: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os.path, "realpath", lambda _: leads_to)
    monkeypatch.setattr(os.path, "isfile", lambda _: True)
    found: dict[str, str] = {}
    bubblewrap._show_resolver(found)
    assert found == mounts


def test_elsewhere_than_on_linux_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert bubblewrap.find_bwrap(None, os.environ["PATH"]) == (None, "", "it needs Linux")
    assert bubblewrap.try_sandbox(None, os.environ["PATH"]) == ("", "it needs Linux")


@needs_bwrap
def test_it_can_be_set_up_here() -> None:
    version, why = bubblewrap.try_sandbox(None, os.environ["PATH"])
    assert why is None, f"bubblewrap {version}: {why}"


def test_why_it_cannot_be_set_up_is_what_bwrap_says(scene: Scene) -> None:
    without(
        scene,
        "#!/bin/bash\n[[ $1 == --version ]] && echo bubblewrap 0.9.0 && exit\n"
        "echo 'bwrap: No permissions to create new namespace' >&2; exit 1\n",
    )
    found = bubblewrap.try_sandbox(None, scene.environ["PATH"])
    assert found == ("0.9.0", "No permissions to create new namespace")


# --- what a goal asks for -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "network"),
    [
        (None, None),
        (False, None),
        ("none", None),
        ({"kind": "none"}, None),
        ("bwrap", False),
        (True, False),
        ({"kind": "bwrap"}, False),
        ({"kind": "bwrap", "network": False}, False),
        ({"kind": "bwrap", "network": True}, True),
    ],
)
def test_what_a_goal_asks_for(value: object, network: bool | None) -> None:
    found = sandbox_of({"evaluator": {"sandbox": value}}, ("src/**",), ("a",))
    assert found == (None if network is None else Sandbox(network, ("src/**",), ("a",)))


def test_a_home_folder_of_many_entries_is_shown_in_part(home: Path) -> None:
    for number in range(sandbox_home.MOST + 5):
        (home / f"f{number}").touch()
    assert len(sandbox_home.shown(str(home), {})) == sandbox_home.MOST
    assert sandbox_home.shown(str(home / "nothing"), {}) == {}
