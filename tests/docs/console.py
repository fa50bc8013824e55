"""Replays the console and Python blocks of a page, in order, in a folder of their own.

A block of the kind ``console`` holds commands (lines that start with ``$ ``, continued where they
end in ``\\``) and what they print; a line of ``...`` stands for any. One of the kind ``pycon``
is an interactive Python session. A block after ``<!-- file: NAME -->`` is written to that file
first. All run in the same folder, one after the other.

``python -m tests.docs.console docs/tour.md`` replays a page and writes what it printed into
it; blocks
with a ``...`` are left as they are.
"""

from __future__ import annotations

import difflib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from flow.core.tool_calls.speaker import AGENT_VARIABLES
from tests.support import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FENCE = re.compile(
    r"(?:^<!-- file: (?P<file>\S+) -->\n)?^```(?P<kind>\w+)\n(?P<body>.*?)^```$", re.M | re.S
)
ANY = "..."
MARK = "\x1e"
USER = "you"
PROPOSAL = r"[0-9a-f]{12,64}"

VOLATILE = (
    (re.compile(r"\b[0-9a-f]{12,64}\b(?:\.\.\.)?"), "<digest>"),
    (re.compile(r"\bSHA256:[A-Za-z0-9+/]{43}"), "<fingerprint>"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC"), "<time>"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:?\d\d:?\d\dZ"), "<time>"),
    (re.compile(r"\d{4}-\d\d-\d\d(?: \d\d:\d\d:\d\d UTC)?"), "<date>"),
    (re.compile(r"\b\d{8}-\d{6}(?:-\d+)?\b"), "<stamp>"),
    (re.compile(r" *\b(?:\d+ min )?\d+(?:\.\d+)? ?(?:ms|s)\b"), " <duration>"),  # set to the right
    (re.compile(r"\b\d+\.\d+\.\d+\b"), "<version>"),
    (re.compile(r"/[\w./-]*/flow-demo-\w+"), "<folder>"),
)


class Command(NamedTuple):
    """A command of a block, what the page says it prints, and what it printed."""

    line: int
    typed: str
    expected: str
    actual: str
    ran: str = ""

    @property
    def difference(self) -> str:
        """How both differ, volatile parts aside; empty where they agree."""
        expected, actual = normal(self.expected).split("\n"), normal(self.actual).split("\n")
        if _matches(expected, actual):
            return ""
        diff = difflib.unified_diff(expected, actual, "the page", "now", lineterm="", n=2)
        return f"line {self.line}: $ {self.typed}\n" + "\n".join(diff)


def normal(text: str) -> str:
    """``text`` with what differs from run to run named instead."""
    for pattern, name in VOLATILE:
        text = pattern.sub(name, text)
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))


def _matches(expected: list[str], actual: list[str]) -> bool:
    if not expected:
        return not actual
    if expected[0].strip() == ANY:
        return any(_matches(expected[1:], actual[i:]) for i in range(len(actual) + 1))
    return bool(actual) and expected[0] == actual[0] and _matches(expected[1:], actual[1:])


def replay(page: str, folder: Path, env: Mapping[str, str]) -> Iterator[Command]:
    """Run every block of ``page`` in ``folder``."""
    cwd = str(folder)
    proposal = ""
    for fence in FENCE.finditer(page):
        line = page.count("\n", 0, fence.start("body")) + 1
        body = fence["body"]
        if fence["file"]:
            path = Path(cwd, fence["file"])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(body, encoding="utf-8")
        elif fence["kind"] == "console":
            typed = _commands(body)
            # A proposal that the page shows is another one now.
            here = rf"\1 {proposal}" if proposal else r"\g<0>"
            now = [re.sub(rf"(--proposal) {PROPOSAL}", here, text) for text, _ in typed]
            outputs, cwd = _bash(now, cwd, env)
            for (command, expected), ran, actual in zip(typed, now, outputs, strict=True):
                found = re.findall(rf"--proposal ({PROPOSAL})", actual)
                proposal = found[-1] if found else proposal
                yield Command(line, command, expected, _placeless(actual, folder, env), ran)
        elif fence["kind"] == "pycon":
            yield Command(line, "python", body, _placeless(_python(body, cwd, env), folder, env))


def _placeless(text: str, folder: Path, env: Mapping[str, str]) -> str:
    """``text`` without the paths of this machine."""
    for path, name in ((str(folder), "/path/to"), (env["HOME"], "~"), (ROOT, "/path/to/flow")):
        text = text.replace(path, name)
    return text


def _commands(body: str) -> list[tuple[str, str]]:
    """(command, expected output) for each ``$ `` line."""
    found: list[tuple[str, str]] = []
    going_on = False
    for text in body.splitlines(keepends=True):
        if text.startswith("$ ") or going_on:
            if going_on:
                found[-1] = (f"{found[-1][0]}\n{text.rstrip()}", "")
            else:
                found.append((text[2:].rstrip(), ""))
            going_on = found[-1][0].endswith("\\")
        else:
            found[-1] = (found[-1][0], found[-1][1] + text)
    return found


def _bash(commands: list[str], cwd: str, env: Mapping[str, str]) -> tuple[list[str], str]:
    """What each command prints, standard error included, and the folder they end in."""
    script = ["status=0"]
    for command in commands:
        # `$?` is that of the command before, as it would be for somebody who types them.
        script += [f"printf '{MARK}'", "(exit $status)", command, "status=$?"]
    script += [f"printf '{MARK}%s' \"$PWD\""]
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-c", "\n".join(script)],
        cwd=cwd,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=900,
    )
    parts = done.stdout.decode("utf-8", "replace").split(MARK)
    return parts[1:-1], parts[-1]


def _python(body: str, cwd: str, env: Mapping[str, str]) -> str:
    """The session of ``body``, with what Python answers now."""
    done = subprocess.run(
        [sys.executable, "-c", SESSION],
        input=body.encode("utf-8"),
        cwd=cwd,
        env={**env, "PYTHONPATH": ROOT},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=900,
    )
    return done.stdout.decode("utf-8", "replace")


SESSION = """
import code, sys
lines = sys.stdin.read().split("\\n")
console = code.InteractiveConsole()
for line in lines:
    if line[:4] in (">>> ", "... ", "...", ">>>"):
        print(line)
        console.push(line[4:])
"""


def environment(home: Path, *first: str) -> dict[str, str]:
    """An environment of its own: commands of this checkout, a home, a trust ledger, a user.

    Commands in the folders ``first`` come before those of the checkout.
    """
    with (home / ".gitconfig").open("a") as identity:
        identity.write("[user]\n\tname = You\n\temail = you@example.org\n")
    left_out = ("GIT_", "CI", "BUILD_NUMBER", "FLOW_STATE_DIR")  # in CI pytest cuts nothing
    agents = {variable.name for variable in AGENT_VARIABLES}  # a page is typed by a person
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(left_out) and name not in agents
    }
    return {
        **env,
        "PATH": os.pathsep.join(
            (*first, f"{ROOT}/bin", os.path.dirname(sys.executable), env["PATH"])
        ),
        "HOME": str(home),
        "FLOW_PYTHON": sys.executable,
        "USER": USER,
        "LC_ALL": "C.UTF-8",
    }


def updated(page: str, commands: list[Command]) -> str:
    """``page`` with what the commands printed now."""
    waiting = iter(commands)

    def renew(fence: re.Match[str]) -> str:
        if fence["file"] or fence["kind"] not in ("console", "pycon"):
            return fence[0]
        if fence["kind"] == "pycon":
            body = next(waiting).actual
        else:
            body = ""
            for _ in _commands(fence["body"]):
                command = next(waiting)
                keep = ANY in command.expected.split("\n")
                printed = command.expected if keep else command.actual
                body += f"$ {command.ran}\n" + (
                    printed if printed.endswith("\n") or not printed else printed + "\n"
                )
        return f"```{fence['kind']}\n{body}```"

    return FENCE.sub(renew, page)


def main() -> int:
    """Replay the pages that are named and write what was printed into them."""
    import tempfile

    for name in sys.argv[1:]:
        page = Path(name).read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder, "home")
            (work := Path(folder, "work")).mkdir()
            home.mkdir()
            commands = list(replay(page, work, environment(home)))
        for command in commands:
            if command.difference:
                print(command.difference)
        Path(name).write_text(updated(page, commands), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
