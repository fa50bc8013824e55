"""Tools that Flow calls, and the environment and program look-up they and the criteria share."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flow.adapters.process import child as process_child
from flow.adapters.process import tool as process_tool
from flow.adapters.process.environment import GIT_LOCAL, clean_environment, find_program
from flow.adapters.process.tool import ToolResult, run_tool
from tests.support.patience import LONG, eventually, long_enough

if TYPE_CHECKING:
    from pathlib import Path

ENV = dict(os.environ)


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b") ")[2][:1] != b"Z"
    except FileNotFoundError:
        return False


def descriptors() -> set[str]:
    return set(os.listdir("/dev/fd"))


@pytest.mark.parametrize("where", ["here", "elsewhere"])
@pytest.mark.parametrize(
    ("argv", "stdin", "status", "stdout", "stderr"),
    [
        (("echo", "a b", "c"), None, 0, b"a b c\n", b""),
        (("sh", "-c", "echo out; echo err >&2; exit 3"), None, 3, b"out\n", b"err\n"),
        (("cat",), None, 0, b"", b""),
        (("cat",), b"", 0, b"", b""),
        (("cat",), b"x" * 300_000, 0, b"x" * 300_000, b""),
        (("true",), b"x" * 300_000, 0, b"", b""),
        (("sh", "-c", "kill -TERM $$"), None, 143, b"", b""),
        (("sh", "-c", "kill -PIPE $$"), None, 141, b"", b""),
        (("sh", "-c", "exec >&- 2>&-; exit 4"), None, 4, b"", b""),
        (("no-such-program",), None, 127, b"", b"flow: cannot start no-such-program: not found"),
        (("/etc/hostname-that-is-not",), None, 127, b"", b"flow: cannot start /etc/hostname"),
        (("echo", "nul\0"), None, 127, b"", b"flow: cannot start echo: "),
    ],
)
def test_a_tool_is_run_and_its_end_is_a_result(
    where: str,
    argv: tuple[str, ...],
    stdin: bytes | None,
    status: int,
    stdout: bytes,
    stderr: bytes,
    tmp_path: Path,
) -> None:
    before = descriptors()
    cwd = os.getcwd() if where == "here" else str(tmp_path)
    result = run_tool(argv, cwd=cwd, env=ENV, stdin=stdin, timeout=LONG)
    assert (result.status, result.stdout) == (status, stdout)
    assert result.stderr.startswith(stderr)
    assert bool(result.stderr) == bool(stderr)
    assert descriptors() <= before


def test_it_runs_in_the_folder_that_was_asked_for(tmp_path: Path) -> None:
    here = os.getcwd()
    assert run_tool(("pwd", "-P"), cwd=str(tmp_path), env=ENV).stdout == os.fsencode(
        f"{os.path.realpath(tmp_path)}\n"
    )
    assert os.getcwd() == here
    gone = run_tool(("pwd",), cwd=str(tmp_path / "gone"), env=ENV)
    assert (gone.status, gone.stderr) == (
        127,
        b"flow: cannot start pwd: No such file or directory\n",
    )


def test_without_posix_spawn_sessions_it_forks(monkeypatch: pytest.MonkeyPatch) -> None:
    def spawn(*_: object, **__: object) -> int:
        raise NotImplementedError

    monkeypatch.setattr(process_child.os, "posix_spawn", spawn)
    result = run_tool(("sh", "-c", "ps -o sid= -p $$; echo $$"), cwd=os.getcwd(), env=ENV)
    session, pid = result.stdout.split()
    assert session == pid


@pytest.mark.parametrize(
    ("script", "status", "stdout"),
    [
        ("echo out; exit 3", 3, b"out\n"),
        ("exec >&- 2>&-; sleep 0.05; exit 4", 4, b""),
        ("sleep 3000 & echo $!", 0, None),
        ("yes", 125, b"y\n" * 500),
    ],
)
def test_where_an_end_cannot_be_polled_it_is_looked_for(
    script: str, status: int, stdout: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on macOS, on old kernels, and without a free descriptor."""

    def none(_: int) -> int:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(os, "pidfd_open", none, raising=False)
    argv, began = ("sh", "-c", script), time.monotonic()
    result = run_tool(argv, cwd=os.getcwd(), env=ENV, limit=1000, timeout=LONG)
    assert time.monotonic() - began < LONG / 2
    if stdout is None:
        os.kill(int(result.stdout), signal.SIGKILL)
    assert result.status == status
    assert stdout in (None, result.stdout)


def test_a_tool_ends_with_the_interrupt_that_its_caller_gets(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    code = (
        "import os; from flow.adapters.process.tool import run_tool\n"
        f"run_tool(('sh', '-c', 'echo $$ >\"{file}\"; sleep 3000'), cwd='/', env=dict(os.environ))"
    )
    flow = subprocess.Popen(
        [sys.executable, "-c", code], cwd=Path(__file__).parents[3], stderr=subprocess.DEVNULL
    )
    assert eventually(lambda: file.exists() and bool(file.read_text()))
    flow.send_signal(signal.SIGINT)
    flow.wait(LONG)
    assert eventually(lambda: not alive(int(file.read_text())))


def test_ctrl_c_while_a_tool_is_started_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids: list[int] = []

    def started(*words: Any) -> int:
        pids.append(process_child.start(*words))
        os.kill(os.getpid(), signal.SIGINT)
        return pids[0]

    monkeypatch.setattr(process_tool, "start", started)
    with pytest.raises(KeyboardInterrupt):
        run_tool(("sleep", "3000"), cwd=str(tmp_path), env=ENV)
    assert not alive(pids[0])


@pytest.mark.parametrize("where", ["here", "elsewhere"])
def test_a_time_out_ends_the_whole_group(where: str, tmp_path: Path) -> None:
    file = tmp_path / "pid"
    script = f"trap '' TERM; sleep 3000 & echo $! > '{file}'; cat /dev/zero >/dev/null"
    cwd = os.getcwd() if where == "here" else str(tmp_path)
    limits: list[float] = []

    def attempt(seconds: float) -> ToolResult:
        limits.append(seconds)
        return run_tool(("sh", "-c", script), cwd=cwd, env=ENV, timeout=seconds)

    result = long_enough(attempt, lambda _: file.exists() and bool(file.read_text()))
    said = f"flow: ended after {limits[-1]:g} s, its time limit\n"
    assert (result.status, result.stderr) == (124, said.encode())
    assert eventually(lambda: not alive(int(file.read_text())))


@pytest.mark.parametrize(("size", "status"), [(99_999, 0), (100_000, 0), (100_001, 125)])
def test_output_is_bounded(size: int, status: int) -> None:
    argv = (sys.executable, "-c", f"import sys; sys.stdout.write('x' * {size})")
    result = run_tool(argv, cwd=os.getcwd(), env=ENV, limit=100_000)
    assert result.status == status
    assert len(result.stdout) == min(size, 100_000)
    assert (b"flow: ended after 100000 bytes" in result.stderr) == (status == 125)


def test_endless_output_is_ended() -> None:
    result = run_tool(("yes",), cwd=os.getcwd(), env=ENV, limit=1_000_000)
    assert (result.status, len(result.stdout)) == (125, 1_000_000)


def test_much_standard_error_is_cut_and_does_no_harm() -> None:
    result = run_tool(("sh", "-c", "head -c 5000000 /dev/zero >&2"), cwd=os.getcwd(), env=ENV)
    assert result.status == 0
    assert 1 << 20 <= len(result.stderr) <= 2 << 20


def test_it_waits_for_the_tool_and_not_for_who_holds_its_pipes() -> None:
    script = "sleep 3000 & echo $!"
    result = run_tool(("sh", "-c", script), cwd=os.getcwd(), env=ENV, timeout=LONG)
    os.kill(int(result.stdout), signal.SIGKILL)  # it is there: nobody has waited for it
    assert result.status == 0


def test_it_inherits_no_lock_no_terminal_and_no_ignored_signal(tmp_path: Path) -> None:
    fd = os.open(tmp_path / "lock", os.O_CREAT | os.O_RDWR)
    try:
        script = "ls -l /proc/self/fd; grep SigIgn /proc/self/status; cat /dev/tty"
        result = run_tool(("sh", "-c", script), cwd=os.getcwd(), env=ENV)
    finally:
        os.close(fd)
    assert b"lock" not in result.stdout
    ignored = int(result.stdout.rpartition(b"SigIgn:\t")[2], 16)
    assert ignored & 0x7FFF_FFFF == 0  # 32 and up are the C library's own
    assert b"/dev/tty" in result.stderr
    assert result.status != 0


def test_it_works_where_flow_has_no_standard_streams(tmp_path: Path) -> None:
    code = (
        "import os; from flow.adapters.process.tool import run_tool\n"
        "for cwd in (os.getcwd(), '/'):\n"
        "    r = run_tool(('sh', '-c', 'cat; echo out; echo err >&2'), cwd=cwd,"
        " env=dict(os.environ), stdin=b'in ')\n"
        f"    open({str(tmp_path / 'said')!r}, 'a').write(repr(tuple(r)) + chr(10))\n"
    )
    root = str(Path(__file__).parents[3])
    subprocess.run(
        ["sh", "-c", '"$0" -c "$1" <&- >&- 2>&-', sys.executable, code],
        cwd=root,
        env={**ENV, "PYTHONPATH": root},
        timeout=LONG,
        check=True,
    )
    assert (tmp_path / "said").read_text() == "(0, b'in out\\n', b'err\\n')\n" * 2


KEPT = {
    "PATH": "/bin",
    "HOME": "/h",
    "GIT_AUTHOR_NAME": "A",
    "GIT_PAGER": "cat",
    "LD_LIBRARY_PATH": "/l",
}


@pytest.mark.parametrize(
    "name",
    [
        "BASH_ENV",
        "BASH_FUNC_pytest%%",
        "BASH_FUNC_pytest()",
        "__BASH_FUNC<pytest>()",
        "SHELLOPTS",
        "BASHOPTS",
        "ENV",
        "CDPATH",
        "LD_PRELOAD",
        "LD_AUDIT",
        "DYLD_INSERT_LIBRARIES",
        "DYLD_LIBRARY_PATH",
        "PYTEST_ADDOPTS",
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_CONFIG",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_KEY_0",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_EXEC_PATH",
        "GIT_EXTERNAL_DIFF",
    ],
)
def test_what_hijacks_a_shell_or_git_is_removed(name: str) -> None:
    env, removed = clean_environment({**KEPT, name: "x"})
    assert env == KEPT
    assert removed == (name,)


def test_functions_of_old_shells_are_removed_by_their_value() -> None:
    env, removed = clean_environment({**KEPT, "pytest": "() { echo 5 passed; }", "A": "()"})
    assert env == {**KEPT, "A": "()"}
    assert removed == ("pytest",)


def test_removed_names_are_sorted_and_printable() -> None:
    _, removed = clean_environment({"GIT_DIR": "", "BASH_FUNC_\x1b\udcff%%": "", "ENV": ""})
    assert removed == ("BASH_FUNC_\\x1b\\xff%%", "ENV", "GIT_DIR")


def test_the_list_holds_what_git_itself_calls_local() -> None:
    said = run_tool(("git", "rev-parse", "--local-env-vars"), cwd=os.getcwd(), env=ENV)
    names = set(said.stdout.decode().split())
    assert said.status == 0
    assert "GIT_DIR" in names
    assert names <= GIT_LOCAL


def program(folder: Path, name: str = "tool", mode: int = 0o755) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text("#!/bin/sh\n")
    file.chmod(mode)
    return file


def test_programs_are_looked_up_in_absolute_folders_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "here")
    wanted = program(tmp_path / "real")
    with monkeypatch.context() as inside:
        inside.chdir(tmp_path / "here")
        for path in (":", ".", "", "../here", f":.:{tmp_path}/none"):
            assert find_program("tool", path) is None
        assert find_program("tool", f".:{tmp_path}/real/") == str(wanted)


def test_what_is_no_program_is_passed_over(tmp_path: Path) -> None:
    program(tmp_path / "a", mode=0o644)
    (tmp_path / "b" / "tool").mkdir(parents=True)
    wanted = program(tmp_path / "c")
    path = ":".join(str(tmp_path / name) for name in "abc")
    assert find_program("tool", path) == str(wanted)


def test_a_program_inside_the_checkout_can_be_refused(tmp_path: Path) -> None:
    top, outside = tmp_path / "top", program(tmp_path / "outside")
    program(top / "bin")
    (tmp_path / "link").symlink_to(top / "bin")  # a folder outside that leads in
    (top / "lib").mkdir()
    (top / "lib" / "tool").symlink_to(outside)  # a name inside that leads out
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "tool").symlink_to(top / "bin" / "tool")
    hostile = [top / "bin", tmp_path / "link", top / "lib", tmp_path / "links"]
    path = ":".join(str(folder) for folder in hostile)
    assert find_program("tool", path) == f"{top}/bin/tool"
    assert find_program("tool", path, outside=str(top)) is None
    assert find_program("tool", f"{path}:{outside.parent}", outside=str(top)) == str(outside)
