"""A program that is asked something, with real processes: nothing of it stays."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from flow.adapters.process.tree import table
from flow.adapters.process.with_input import InputRunResult, run_with_input
from tests.support.patience import LONG, eventually, long_enough

pytestmark = pytest.mark.slow

ROOT = str(Path(__file__).resolve().parents[3])
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="a subreaper is Linux's own")


def ask(
    folder: Path, *argv: str, stdin: bytes = b"", limit: int = 1000, **more: float
) -> InputRunResult:
    times = {"timeout": LONG, "grace": 0.2, **more}
    env = {"PATH": os.environ["PATH"]}
    return run_with_input(argv, cwd=str(folder), env=env, stdin=stdin, limit=limit, **times)


def shell(folder: Path, script: str, **more: float) -> InputRunResult:
    return ask(folder, "sh", "-c", script, **more)


def said(file: Path) -> bool:
    """Whether a process has written its number into ``file``."""
    return file.exists() and bool(file.read_text())


def alive(file: Path) -> bool:
    """Whether the process whose number is in ``file`` is there and no zombie."""
    row = table().get(int(file.read_text()))
    return row is not None and row.state != "Z"


def test_it_gets_the_text_and_its_own_folder_and_environment(tmp_path: Path) -> None:
    found = shell(tmp_path, "cat; pwd; env | grep -c . >&2; tty >&2; exit 3", limit=4096)
    assert (found.kind, found.status) == ("exit", 3)
    assert found.stdout.decode() == f"{tmp_path.resolve()}\n"
    assert b"not a tty" in found.stderr
    assert ask(tmp_path, "cat", stdin=b"\0\xff x").stdout == b"\0\xff x"


def test_texts_larger_than_any_pipe_go_both_ways(tmp_path: Path) -> None:
    text = bytes(range(256)) * 8000
    assert ask(tmp_path, "cat", stdin=text, limit=len(text)).stdout == text


def test_one_that_does_not_read_is_not_waited_for(tmp_path: Path) -> None:
    found = ask(tmp_path, "sh", "-c", "echo yes", stdin=b"x" * 1_000_000)
    assert (found.kind, found.stdout) == ("exit", b"yes\n")


@pytest.mark.parametrize(
    ("argv", "kind"),
    [
        (("no-such-program",), "not_found"),
        (("/no/such/program",), "not_found"),
        (("{folder}",), "not_started"),
        (("sh", "a\0b"), "not_started"),
    ],
)
def test_what_cannot_start_is_a_result(tmp_path: Path, argv: tuple[str, ...], kind: str) -> None:
    found = ask(tmp_path, *[word.format(folder=tmp_path) for word in argv])
    assert (found.kind, found.status, bool(found.why)) == (kind, None, True)


def test_a_missing_folder_is_no_missing_program(tmp_path: Path) -> None:
    assert ask(tmp_path / "gone", "/bin/sh").kind == "not_started"


def test_a_signal_is_128_and_its_number(tmp_path: Path) -> None:
    assert shell(tmp_path, "kill -9 $$").status == 137


def test_a_flood_ends_it(tmp_path: Path) -> None:
    found = shell(tmp_path, "echo $$ >pid; exec yes", limit=5000)
    assert (found.kind, len(found.stdout)) == ("too_much", 5000)
    assert not alive(tmp_path / "pid")


def test_exactly_the_limit_is_no_flood(tmp_path: Path) -> None:
    found = shell(tmp_path, "printf 12345", limit=5)
    assert (found.kind, found.stdout) == ("exit", b"12345")


def test_a_flood_of_errors_is_cut_and_changes_nothing(tmp_path: Path) -> None:
    found = shell(tmp_path, "head -c 1000000 /dev/zero >&2; echo yes")
    assert (found.kind, found.stdout, len(found.stderr)) == ("exit", b"yes\n", 1 << 16)


STUBBORN = """
trap '' TERM INT HUP
rm -f child grandchild pid
sleep 1000 & echo $! >child
%s sh -c 'trap "" TERM; echo $$ >grandchild; while :; do sleep 1000; done' &
while [ ! -s grandchild ]; do :; done
echo $$ >pid
%s
"""


@pytest.mark.parametrize("session", ["", pytest.param("setsid", marks=LINUX)])
def test_a_timeout_ends_the_whole_tree(tmp_path: Path, session: str) -> None:
    script = STUBBORN % (session, "while :; do sleep 1000; done")
    found = long_enough(
        lambda seconds: shell(tmp_path, script, timeout=seconds), lambda _: said(tmp_path / "pid")
    )
    assert (found.kind, found.status) == ("timeout", None)
    assert not any(alive(tmp_path / name) for name in ("pid", "child", "grandchild"))


@pytest.mark.parametrize("session", ["", pytest.param("setsid", marks=LINUX)])
def test_what_it_leaves_behind_is_ended(tmp_path: Path, session: str) -> None:
    found = shell(tmp_path, STUBBORN % (session, "echo yes; exit 0"))
    assert (found.kind, found.status, found.stdout) == ("exit", 0, b"yes\n")
    assert not any(alive(tmp_path / name) for name in ("child", "grandchild"))


def test_one_that_kills_its_keeper_is_ended_too(tmp_path: Path) -> None:
    found = shell(tmp_path, "echo $$ >pid; kill -9 $PPID; while :; do sleep 1000; done")
    assert (found.kind, found.status) == ("lost", None)
    assert eventually(lambda: not alive(tmp_path / "pid"))


def test_without_a_subreaper_the_tree_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on systems that have none: what did not detach itself at once is found all the same."""
    from flow.adapters.process import tree

    monkeypatch.setattr(tree, "become_subreaper", lambda: False)
    assert ask(tmp_path, "cat", stdin=b"yes").stdout == b"yes"
    script = STUBBORN % ("", "while :; do sleep 1000; done")
    found = long_enough(
        lambda seconds: shell(tmp_path, script, timeout=seconds), lambda _: said(tmp_path / "pid")
    )
    assert found.kind == "timeout"
    assert not any(alive(tmp_path / name) for name in ("pid", "child", "grandchild"))


ASK_FOREVER = """
import sys
from flow.adapters.process.with_input import run_with_input
run_with_input(("sh", "-c", "echo $$ >pid; while :; do sleep 1000; done"), cwd=sys.argv[1],
     env={"PATH": sys.argv[2]}, stdin=b"", timeout=1000, limit=10, grace=0.2)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_nothing_outlives_flow(tmp_path: Path, number: signal.Signals) -> None:
    argv = [sys.executable, "-c", ASK_FOREVER, str(tmp_path), os.environ["PATH"]]
    flow = subprocess.Popen(argv, cwd=ROOT, stderr=subprocess.DEVNULL)
    pid = tmp_path / "pid"
    assert eventually(lambda: said(pid))
    flow.send_signal(number)
    flow.wait(LONG)
    assert eventually(lambda: not alive(pid))


def test_it_gets_none_of_flows_descriptors(tmp_path: Path) -> None:
    opened = os.open(tmp_path / "lock", os.O_CREAT | os.O_RDWR)
    kept = fcntl.fcntl(opened, fcntl.F_DUPFD, 100)  # inherited, and no number that `ls` would get
    before = set(os.listdir("/dev/fd"))
    try:
        found = shell(tmp_path, "ls /dev/fd/", limit=4096)
    finally:
        os.close(kept)
        os.close(opened)
    assert str(kept) not in found.stdout.decode().split()
    assert set(os.listdir("/dev/fd")) <= before


def test_several_threads_may_ask_at_once(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        texts = [f"text {number}".encode() * 20_000 for number in range(8)]
        found = list(pool.map(lambda t: ask(tmp_path, "cat", stdin=t, limit=1 << 20), texts))
    assert [talked.stdout for talked in found] == texts
