"""The stage of ``flow demo``: a temporary repository, and the commands run in it so far.

Every Flow command is a process of its own, as it would be for a user, with a home folder and a
trust ledger that belong to the demo. The user's own are never read.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys

from flow.adapters.fs import shipped
from flow.adapters.process.editor import run_in_foreground
from flow.adapters.process.environment import clean_environment
from flow.adapters.process.tool import ToolResult, run_tool
from flow.errors import GitError, OutsideError, in_file
from flow.render.goal.standing import paragraph
from flow.render.screen import Screen
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


START = (
    "import sys; sys.path[:] = sys.argv.pop(1).split('\\n'); import flow; del sys.path[0]; "
    "from flow.__main__ import main; sys.exit(main())"
)
"""Starts the same Flow isolated, whether it is installed or started by ``bin/flow``.

As ``bin/_start.py`` does it: the folder that holds ``flow`` is on the path for that import only.
"""

BESIDE = ("README.md", "changes", "judge", "recorded", "rubrics")
"""Parts of the example that do not belong to its project."""


class Stage:
    """The temporary repository, and what has been run in it so far."""

    def __init__(
        self,
        folder: str,
        *,
        tell: Callable[[str], None],
        at_terminal: bool = False,
        screen: Screen | None = None,
    ) -> None:
        self.folder = folder
        self.project = os.path.join(folder, "project")
        self.tell = tell
        self.at_terminal = at_terminal
        """Whether Flow's commands have this terminal themselves: they colour, and can ask."""
        self._screen = screen or Screen()
        self.confirmed_by: str | None = None
        self.steps: list[dict[str, Any]] = []
        self.goals: dict[str, str] = {}
        self.differences: list[str] = []
        self.env = _environment(folder)
        if not at_terminal:
            # Nobody confirms, so the journal must not name the person who is logged in.
            self.env.update(USER="flow-demo", LOGNAME="flow-demo")

    def set_up(self) -> None:
        """Make the repository with its first commit, the home and the state folder."""
        source = example_folder()
        try:
            _copy_files(source, self.project, leave_out=BESIDE)
            rubrics = os.path.join(self.project, ".flow", "rubrics")
            _copy_files(os.path.join(source, "rubrics"), rubrics)
            for part in ("changes", "judge"):
                _copy_files(os.path.join(source, part), os.path.join(self.folder, part))
            os.mkdir(self.env["HOME"])
            # The goals' commands say python3: this interpreter, whatever PATH may hold.
            os.mkdir(os.path.join(self.folder, "tools"))
            os.symlink(
                os.path.realpath(sys.executable), os.path.join(self.folder, "tools", "python3")
            )
        except OSError as error:
            raise in_file(self.folder).storage(
                f"the example cannot be copied: {error}",
                "make room there, or set TMPDIR to another folder",
            ) from error
        self.tell("A small project, with a home folder of its own:")
        self.tell(f"  {self.project}")
        self.git("init", "-q", "--template=")
        self.git("symbolic-ref", "HEAD", "refs/heads/main")
        self.commit("A program that counts words")

    def title(self, text: str) -> None:
        """A new chapter."""
        self.tell("\n" + self._screen.paint("bold", f"== {text} =="))

    def say(self, text: str) -> None:
        """Sentences of the story, apart from what a command printed."""
        self.tell("\n" + "\n".join(paragraph(text, self._screen)))

    def flow(self, *arguments: str, expected: int = 0) -> None:
        """Run a Flow command as a user would type it, show what it says, check its exit status."""
        shown = self._typed(arguments)
        if self.at_terminal:
            status = self._run_here(arguments, asks=False)
        else:
            result = self._start_flow(arguments, merged=True)
            self._print_output(result.stdout)
            status = result.status
        if status:
            self.tell(self._screen.paint("dim", f"[exit {status}]"))
        self.steps.append({"command": shown, "exit_code": status, "told": expected})
        self.expect(status == expected, f"{shown}: exit {expected}, not {status}")

    def _typed(self, arguments: tuple[str, ...]) -> str:
        shown = _typed_command("flow", arguments)
        self.tell("\n" + self._screen.paint("bold", f"$ {shown}"))
        return shown

    def _run_here(self, arguments: tuple[str, ...], *, asks: bool) -> int:
        """Run a Flow command on this terminal; without ``asks`` it cannot ask."""
        stdin = "" if asks else " </dev/null"
        script = f'cd "$1" && shift && exec "$@"{stdin}'
        argv = ("sh", "-c", script, "sh", self.project, *self._program(), *arguments)
        return run_in_foreground(argv, self.env)

    def confirm(self, goal: str) -> bool:
        """Have ``goal`` confirmed as proposed; returns whether it is.

        At a terminal the person who watches is asked; elsewhere the demo does it, and says so.
        """
        if self.at_terminal:
            self.confirmed_by = "person"
            self.say("Now you are asked, as you are in your own project. Any answer will do here.")
            shown = self._typed(("goal", "confirm", goal))
            status = self._run_here(("goal", "confirm", goal), asks=True)
            self.steps.append({"command": shown, "exit_code": status, "told": 0})
            return bool(self.status(goal)["status"] == "achieved")
        self.confirmed_by = "demo"
        self.say("Nobody can be asked here, so this is confirmed by the demo on your behalf.")
        proposal = self.status(goal)["proposal"] or {"proposal_id": "none"}
        self.flow("goal", "confirm", goal, "--proposal", proposal["proposal_id"][:12])
        return True

    def status(self, goal: str) -> dict[str, Any]:
        """The document of ``flow goal status --json``."""
        result = self._start_flow(("goal", "status", goal, "--json"))
        try:
            document: dict[str, Any] = json.loads(result.stdout)
            if result.status == 0:
                return document
        except ValueError:
            pass
        raise OutsideError(
            f"flow goal status {goal} did not answer (exit {result.status}): "
            f"{(result.stdout + result.stderr).decode('utf-8', 'replace').strip()[-500:]}",
            remedy="flow doctor says what is wrong with this set-up",
        )

    def git(self, *arguments: str, shown: bool = False) -> None:
        """Run git in the project."""
        if shown:
            self.tell("\n" + self._screen.paint("bold", f"$ {_typed_command('git', arguments)}"))
        # No hooks, templates or signatures of the user's: this is the demo's own repository.
        plain = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        result = run_tool(
            ("git", *arguments), cwd=self.project, env={**self.env, **plain}, timeout=60
        )
        if result.status != 0:
            raise GitError(
                f"git {arguments[0]}: {result.stderr.decode('utf-8', 'replace').strip()[-500:]}",
                remedy="the demo needs git 2.23 or newer; flow doctor tells which one is found",
            )

    def switch(self, branch: str, *start: str) -> None:
        """Make a branch and switch to it."""
        self.git("switch", "-q", "-c", branch, *start)

    def commit(self, message: str) -> None:
        """Commit everything under a neutral name."""
        self.git("add", "-A")
        who = ("-c", "user.name=demo", "-c", "user.email=demo@example.invalid")
        self.git(*who, "commit", "-q", "-m", message)

    def change(self, goal: str) -> None:
        """Make the recorded change for ``goal``."""
        source = os.path.join(self.folder, "changes", goal)
        for parent, _, names in sorted(os.walk(source)):
            for name in sorted(names):
                path = os.path.join(parent, name)
                relative = os.path.relpath(path, source)
                target = os.path.join(self.project, relative)
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copyfile(path, target)
                self.tell(f"(changed: {relative})")

    def judge(self) -> None:
        """Make the example's stand-in for a model the judge of the demo's own settings."""
        program = os.path.join(self.folder, "judge", "judge.py")
        command = [os.path.realpath(sys.executable), "-I", program]
        settings = {"flow": {"goals": {"judge": {"backend": "command", "command": command}}}}
        folder = os.path.join(self.env["HOME"], ".claude")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "settings.flow.json"), "w", encoding="utf-8") as file:
            json.dump(settings, file)

    def append(self, relative: str, text: str) -> None:
        """Add a line to a file of the project, as another developer would."""
        with open(os.path.join(self.project, relative), "a", encoding="utf-8") as file:
            file.write(f"{text}\n")
        self.tell(f"(changed: {relative})")

    def check_status(self, goal: str, expected: str) -> None:
        """Check the status of ``goal`` at the end of its chapter, and show it."""
        status = self.status(goal)["status"]
        self.goals[goal] = status
        self.say(f"{goal} is {status}.")
        self.expect(status == expected, f"{goal} is {expected}, not {status}")

    def expect(self, as_told: bool, claim: str) -> bool:
        """Note a difference from what the story tells."""
        if not as_told:
            self.differences.append(claim)
            self.tell(f"NOT AS TOLD: {claim}")
        return as_told

    def report(self) -> dict[str, Any]:
        """The document of ``--json``."""
        return {
            "as_told": not self.differences,
            "differences": self.differences,
            "goals": self.goals,
            "confirmed_by": self.confirmed_by,
            "steps": self.steps,
        }

    def _start_flow(self, arguments: tuple[str, ...], *, merged: bool = False) -> ToolResult:
        """Run ``flow``; ``merged`` puts standard error into the output, in the order printed."""
        argv = (*self._program(), *arguments)
        if merged:
            argv = ("/bin/sh", "-c", 'exec "$@" 2>&1', "sh", *argv)
        return run_tool(argv, cwd=self.project, env=self.env, timeout=300)

    def _program(self) -> tuple[str, ...]:
        """The words that start this very Flow; its arguments follow."""
        folder = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        path = "\n".join([folder, *(os.path.abspath(entry) for entry in sys.path if entry)])
        return (sys.executable, "-I", "-S", "-X", "utf8", "-c", START, path)

    def _print_output(self, output: bytes) -> None:
        for line in output.decode("utf-8", "replace").rstrip("\n").split("\n") if output else ():
            self.tell(line.rstrip())


def example_folder() -> str:
    """The folder of the example: in the installed package, else in the checkout."""
    places = shipped.folders("example", ".flow-example")
    return os.path.dirname(shipped.find(places, "changes", "the example"))


def _copy_files(source: str, target: str, *, leave_out: tuple[str, ...] = ()) -> None:
    """Copy a folder's files, not their modes: Flow may lie in a folder that is read-only.

    What pip compiled on installing stays behind.
    """
    os.makedirs(target)
    with os.scandir(source) as entries:
        for entry in entries:
            if entry.name in leave_out or entry.name == "__pycache__":
                continue
            place = os.path.join(target, entry.name)
            if entry.is_dir():
                _copy_files(entry.path, place)
            else:
                shutil.copyfile(entry.path, place)


def _environment(folder: str) -> dict[str, str]:
    env, _ = clean_environment(os.environ)
    for name in ("XDG_CONFIG_HOME", "FLOW_PYTHON"):
        env.pop(name, None)
    env["HOME"] = os.path.join(folder, "home")
    env["FLOW_STATE_DIR"] = os.path.join(folder, "state")
    env["PATH"] = os.path.join(folder, "tools") + os.pathsep + env.get("PATH", os.defpath)
    return env


def _typed_command(program: str, arguments: tuple[str, ...]) -> str:
    return shlex.join((program, *arguments))
