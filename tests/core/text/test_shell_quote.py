"""A quoted command does in a shell what it does for Flow: tried by running it."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flow.core.text.display import visible
from flow.core.text.shell_quote import as_flow_runs, shell_option, shell_word, way_to_top

if TYPE_CHECKING:
    from pathlib import Path

SHELLS = [shell for shell in ("bash", "zsh") if shutil.which(shell)]
TEXTS = [
    "plain",
    "",
    'it\'s "two" $HOME `date` \\ \\n !! #',
    "a\nb\tc\rd",
    "\x1b[31mred\u202e\u2066 \x85\xad",
    "\U0001f600 ä é",
    "\x01'7",
    "\udce4 raw byte",
    "-n *",
]


def run(shell: str, line: str, cwd: Path | str = "/", **more: object) -> tuple[int, bytes]:
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
    done = subprocess.run(
        [shell, "-c", os.fsencode(line)], cwd=cwd, env=env, capture_output=True, check=False, **more
    )  # type: ignore[call-overload]
    return done.returncode, done.stdout


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("text", TEXTS)
def test_a_word_is_one_visible_line_and_means_the_text(text: str, shell: str) -> None:
    word = shell_word(text)
    assert visible(word) == word
    assert run(shell, f"printf %s {word}") == (0, os.fsencode(text))


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20))
def test_any_text(text: str) -> None:
    word = shell_word(text)
    assert visible(word) == word
    assert run("bash", f"printf %s {word}") == (0, text.encode())


@pytest.mark.parametrize(
    ("command", "status", "output"),
    [
        ("false | true", 1, b""),
        ("exit 3", 3, b""),
        ("cat; echo 'it'\"'\"'s done'", 0, b"it's done\n"),
        ("for i in 1 2; do\n  echo $i\ndone\nexit 4", 4, b"1\n2\n"),
        ("printf '%s\\n' \"$0\"", 0, b"bash\n"),
    ],
)
@pytest.mark.parametrize("shell", SHELLS)
def test_the_line_does_what_flow_does(command: str, status: int, output: bytes, shell: str) -> None:
    line = as_flow_runs(command)
    assert "\n" not in line
    assert run(shell, line, input=b"typed by nobody\n") == (status, output)


def test_the_line_goes_where_the_command_runs(tmp_path: Path) -> None:
    (tmp_path / "a b").mkdir()
    line = as_flow_runs('basename "$PWD"', "a b")
    assert run("bash", line, tmp_path) == (0, b"a b\n")
    assert as_flow_runs("true", ".") == "bash -o pipefail -c 'true' </dev/null"


@pytest.mark.parametrize(
    ("value", "typed"),
    [("src/a.py", "--allow src/a.py"), ("-a b", "--allow='-a b'"), ("a\nb", "--allow $'a\\nb'")],
)
def test_an_option_keeps_its_value(value: str, typed: str) -> None:
    assert shell_option("--allow", value) == typed


@pytest.mark.parametrize(
    ("folder", "line"),
    [
        ("/a/b", ""),
        ("/a/b/c", "cd .."),
        ("/a/b/c/d", "cd ../.."),
        ("/a/bc", "cd /a/b"),
        ("/else", "cd /a/b"),
    ],
)
def test_the_way_to_the_top(folder: str, line: str) -> None:
    assert way_to_top("/a/b", folder) == line
    assert way_to_top("/", "/a") == "cd .."
