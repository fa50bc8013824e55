"""Does a failure of each runner reach the exit? The answers are held against bash's own."""

from __future__ import annotations

import os
import random
import subprocess
from typing import TYPE_CHECKING

import pytest

from flow.adapters.attribution.shell_syntax import parse_shell
from flow.core.attribution.attribute import read_command
from tests.adapters.attribution.status_ways import KEPT, LOST, NOT_RUN, STRICTER
from tests.support.patience import LONG

if TYPE_CHECKING:
    from pathlib import Path

SEED = 11
SAMPLE = 60
"""Commands that are run for real each time; all of them were when the lists were made."""


def text_of(line: str) -> str:
    return line.replace("⏎", "\n")


def masked_exit(line: str) -> str:
    return read_command(text_of(line), parse_shell).masked_exit


def test_a_lost_status_is_told() -> None:
    assert [line for line in (*LOST, *STRICTER) if not masked_exit(line)] == []


def test_a_status_that_reaches_the_end_raises_no_alarm() -> None:
    assert [line for line in KEPT if masked_exit(line)] == []


@pytest.mark.parametrize("line", NOT_RUN)
def test_a_runner_that_may_not_start_has_to_show_its_report(line: str) -> None:
    reading = read_command(text_of(line), parse_shell)
    assert (reading.runners, reading.certain_runners) == (("pytest",), ())


def test_the_lists_are_long_and_without_doubles() -> None:
    assert len(LOST) > 300
    assert len(KEPT) > 150
    assert len({*LOST, *KEPT, *STRICTER, *NOT_RUN}) == sum(
        map(len, (LOST, KEPT, STRICTER, NOT_RUN))
    )


def test_many_variables_before_a_runner_are_no_alarm() -> None:
    text = "; ".join(f"if x{i}; then y{i}=1; else y{i}=2; fi" for i in range(14))
    assert read_command(f"{text}; pytest", parse_shell).masked_exit == ""
    assert read_command(f"{text}; pytest; ls", parse_shell).masked_exit


def test_what_stands_behind_many_others_is_followed_like_the_first() -> None:
    runners, others = (" && ".join(f"{name}{i}" for i in range(30)) for name in ("pytest t", "./t"))
    assert read_command(runners, parse_shell).certain_runners == ("pytest",) * 30
    assert masked_exit(f"{runners} && {{ pytest t; ls; }}")
    assert masked_exit(f"{others}; grep -q a x; ls")
    guards = "; ".join(f"test -f a{i} || {{ echo no; exit 1; }}" for i in range(60))
    assert masked_exit(f"{guards}; test -f x || false; ls")
    assert read_command(f"{others} && ! rg a src", parse_shell).must_fail == ("rg",)
    assert read_command(f'{others} && test -z "$(rg a src)"', parse_shell).unheard == ("rg",)


def ended(folder: Path, line: str, failing: str) -> int:
    """How bash ends with a runner of that name that fails, as Flow runs a command."""
    for name in ("pytest", "jest"):
        path = folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\nexit {int(name == failing)}\n")
        path.chmod(0o755)
    env = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    words = ["bash", "--norc", "--noprofile", "-o", "pipefail", "-c", text_of(line)]
    return subprocess.run(
        words, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=LONG
    ).returncode


PROGRAMS = ("script", "flock", "perl", "awk", "node", "setsid", "stdbuf", "python3 ")


def test_bash_still_says_so(tmp_path: Path) -> None:
    """A sample of what needs nothing but bash and the usual programs."""
    plain = [line for line in (*LOST, *KEPT) if not any(name in line for name in PROGRAMS)]
    for line in random.Random(SEED).sample(plain, SAMPLE):
        runners = [name for name in ("pytest", "jest") if name in line]
        heard = all(ended(tmp_path, line, name) != 0 for name in runners)
        assert heard is (line in KEPT), line
