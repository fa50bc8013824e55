"""A small project with a goal, a runner of tests that takes a millisecond, and calls of Flow.

All that a criterion's command can do here is known by construction: tests are lines of a file, and
a script says in its first comment what it does.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.faults.scenes import CALL_TIMEOUT, Ran, Scene, entry, forked, preload, wait
from tests.support.gitrepo import refresh_index

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

GOAL, RUN, ISSUE = "greet", "r1", 7
BRANCH = "work"
GOAL_FILE = f".flow/goals/{GOAL}.goal.yaml"
JOURNAL = f".decisions/issue-{ISSUE}.md"
LOCAL_SETTINGS = ".claude/settings.flow.local.json"
PROJECT_SETTINGS = ".claude/settings.flow.json"
GREP, SCRIPT, TESTS = "grep -q good src/app.py", "sh src/check.sh", "pytest tests"
SHIMMED, MAKE = ".venv/bin/check tests", "make check"
"""Commands of criteria."""
AGENT = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s1"}
"""What the shell of an agent has in its environment."""

AHEAD = 8
"""Worlds that are made before they are needed."""
STAMPED = 2.5
"""Seconds after which Flow believes a file's stamp."""

RUNNER = """\
#!/bin/sh
# Prints what pytest prints, for tests that are lines: "# case: NAME pass|fail|skip|xfail" or
# "# case: NAME needs WORD FILE".
passed=0 failed=0 skipped=0 xfailed=0 marks= names=
while read -r hash word name kind want file; do
    [ "$hash $word" = '# case:' ] || continue
    [ "$kind" = needs ] && { grep -q "$want" "$file" 2>/dev/null && kind=pass || kind=fail; }
    [ -e conftest.py ] && grep -q 'all pass' conftest.py && kind=pass
    case $kind in
    pass) passed=$((passed + 1)) marks=$marks. ;;
    fail) failed=$((failed + 1)) marks=${marks}F names="$names $name" ;;
    skip) skipped=$((skipped + 1)) marks=${marks}s ;;
    xfail) xfailed=$((xfailed + 1)) marks=${marks}x ;;
    esac
done < tests/test_app.py
total=$((passed + failed + skipped + xfailed))
line='=============================='
echo "$line test session starts $line"
echo "platform linux -- Python 3.11.7, pytest-8.3.3, pluggy-1.5.0"
echo "collected $total items"
echo
[ $total = 0 ] || { echo "tests/test_app.py $marks [100%]"; echo; }
if [ $failed -gt 0 ]; then
    echo "$line short test summary info $line"
    for name in $names; do echo "FAILED tests/test_app.py::$name - assert 0"; done
fi
text=
add() { [ "$1" = 0 ] || text="${text:+$text, }$1 $2"; }
add $failed failed; add $passed passed; add $skipped skipped; add $xfailed xfailed
[ $total = 0 ] && text='no tests ran'
echo "$line $text in 0.01s $line"
[ $total = 0 ] && exit 5
[ $failed = 0 ]
"""
SHIM = '#!/bin/sh\n# means: tests\nexec pytest "$@"\n'
FORGED = r"""
cd "/proc/$PPID/fdinfo" && last=
for fd in $(grep -l '^flags:.*1$' * 2>/dev/null | sort -n); do  # what is only written to
    # What watches it reports to Flow with one of these; with the last it tells whom it started.
    [ -n "$last" ] && [ -p "../fd/$last" ] &&
        echo '{"i":0,"kind":"exit","status":0}' > "../fd/$last"
    last=$fd
done
cd "$OLDPWD"
"""
SCRIPTS: Mapping[str, str] = {
    "tests": "pytest tests\n",
    "dropped": "pytest tests\nexit 0\n",
    "shown": "pytest tests\necho done\n",
    "grep": "grep -q good src/app.py\n",
    "cheat": "exit 0\n",
    "forged": f"{FORGED}$(echo pytest) tests\n",  # a runner in its text would have to report
}
"""What ``src/check.sh`` can be; its first line names it."""
FILES: Mapping[str, str] = {
    "src/app.py": "state = 'evil'\n",
    "src/lib/util.py": "value = 1\n",
    "src/notes.txt": "none\n",
    "src/check.sh": f"# means: tests\n{SCRIPTS['tests']}",
    "tests/test_app.py": "# case: one pass\n# case: two needs good src/app.py\n",
    "secrets/key.txt": "secret\n",
    "docs/guide.md": "# Guide\n",
    "docs/local.md": "# Local\n",
    "Makefile": "check:\n\tpytest tests\n",
    "README.md": "hello\n",
    ".gitignore": f".flow/runs/\n*.log\nbuild/\n.venv/\n{LOCAL_SETTINGS}\n",
}
IGNORED = (".flow/runs/", "*.log", "build/", ".venv/", LOCAL_SETTINGS)
"""The ignore rules of the first commit."""


class Setting(NamedTuple):
    """The contract a person agrees to, and what they said in their own settings."""

    commands: tuple[str, ...] = (GREP,)
    allowed: tuple[str, ...] = ("src/**",)
    denied: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    base: str | None = None
    mode: str = "warn"
    local_denied: tuple[str, ...] = ()
    """``denied_paths`` of the checkout's own settings when the goal begins."""

    def contract(self, goal: str = GOAL, issue: int = ISSUE) -> dict[str, Any]:
        """The goal file's content."""
        scope = {"repo": "demo", "branch": BRANCH, "issue": issue, "run_id": f"r-{goal}"}
        criteria = [
            {"id": f"AC{n}", "text": f"It holds ({n})", "status": "pending"}
            | {"verification_command": command}
            for n, command in enumerate(self.commands, 1)
        ]
        constraints = {
            "allowed_paths": list(self.allowed),
            "denied_paths": list(self.denied),
            "protected_paths": list(self.protected),
        }
        return {
            "apiVersion": "flow.synapti.ai/v1",
            "kind": "FlowGoal",
            "metadata": {"id": goal, "created_at": "2026-03-01T10:15:00Z"},
            "scope": scope | ({"base": self.base} if self.base else {}),
            "objective": {"outcome": "It is good", "acceptance_criteria": criteria},
            "constraints": {name: value for name, value in constraints.items() if value},
            "evaluator": {"type": "deterministic"},
            "lifecycle": {"status": "active", "turns_evaluated": 0},
        }


class World(Scene):
    """``folder`` as a scene has it, with a branch ``work`` and the runner first on the PATH."""

    @property
    def env(self) -> dict[str, str]:
        """The environment of everything that runs here."""
        before = super().env
        return {**before, "PATH": os.path.join(self.folder, "bin") + os.pathsep + before["PATH"]}

    def make(self) -> World:
        """The repository with its first commit, without a goal."""
        self.start(goal=None)
        self.place("bin/pytest", RUNNER, 0o755)
        for name, text in FILES.items():
            self.write(name, text)
        self.git("rm", "-q", "--cached", "src/greet.txt")
        os.unlink(self.path("src/greet.txt"))
        self.git("add", "--all")
        self.git("commit", "-q", "--amend", "-m", "start")
        self.git("switch", "-q", "-c", BRANCH)
        self.write(".venv/bin/check", SHIM)
        os.chmod(self.path(".venv/bin/check"), 0o755)
        return self

    def place(self, rel: str, text: str, mode: int = 0o644) -> str:
        """Write a file outside the repository."""
        path = os.path.join(self.folder, rel)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def user_settings(self, **goals: Any) -> None:
        """The user's own settings below ``flow.goals``."""
        self.place("home/.claude/settings.flow.json", json.dumps({"flow": {"goals": goals}}))

    def answer(self, *words: str) -> str:
        """What git's plumbing says, with nothing of the checkout in force that could bend it."""
        env = {**self.env, "GIT_NO_REPLACE_OBJECTS": "1", "GIT_CONFIG_GLOBAL": os.devnull}
        env |= {"GIT_DIR": self.path(".git"), "GIT_WORK_TREE": self.repo}
        env |= {"GIT_GRAFT_FILE": os.devnull}
        argv = ["git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", *words]
        done = subprocess.run(argv, cwd=self.repo, env=env, capture_output=True, check=False)
        return os.fsdecode(done.stdout) if done.returncode == 0 else ""

    def try_git(self, *words: str) -> None:
        """Run git as an agent does, whether or not it works."""
        subprocess.run(["git", *words], cwd=self.repo, env=self.env, capture_output=True)

    def run(
        self, *argv: str, cwd: str = "", agent: bool = True, kill_after: float | None = None
    ) -> Ran:
        """Call ``flow`` or a helper; with ``kill_after`` it is killed after so many seconds."""
        env = {**self.env, **(AGENT if agent else {})}
        where = cwd or self.repo
        if kill_after is None:
            return forked(lambda: entry(argv), cwd=where, env=env, timeout=CALL_TIMEOUT)
        return _killed(lambda: forked(lambda: entry(argv), cwd=where, env=env), kill_after)

    def stop(self, session: str, prompt: str, *, continued: bool) -> dict[str, Any]:
        """The hook's answer to a stop of Claude Code's."""
        event = {"session_id": session, "prompt_id": prompt, "cwd": self.repo}
        event |= {"hook_event_name": "Stop", "stop_hook_active": continued}  # type: ignore[dict-item]
        done = self.run("flow", "hook", "stop", "--", json.dumps(event))
        if done.status != 0:
            raise AssertionError(f"the hook ended with {done}")
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer


def _killed(call: Any, after: float) -> Ran:
    """Run ``call`` in a group of processes of its own that is killed after so many seconds."""
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        try:
            call()
        finally:
            os._exit(0)
    time.sleep(after)
    try:
        os.killpg(child, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        os.kill(child, signal.SIGKILL)
    return Ran(wait(child, CALL_TIMEOUT), "", "")


class Yard:
    """Worlds one after the other in the same folder.

    They are made ahead: Flow hashes a file anew while its stamp is younger than its clock's
    grain, so only in a world of some age can a stamp be believed too much. A rename keeps stamps.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.world = World(os.path.join(folder, "world"))
        self.world.make().copy_to(os.path.join(folder, "template"))
        self._made: list[tuple[float, str]] = []
        for _ in range(AHEAD):
            self._make()

    def new(self, age: float = 0.0) -> World:
        """The world as it was before anything was done in it, at least ``age`` seconds old."""
        shutil.rmtree(self.world.folder, ignore_errors=True)
        made, place = self._made.pop(0)
        time.sleep(max(made + age - time.monotonic(), 0))
        os.rename(place, self.world.folder)
        self._make()
        return self.world

    def _make(self) -> None:
        place = tempfile.mkdtemp(dir=self.folder)
        template = os.path.join(self.folder, "template")
        shutil.copytree(template, place, symlinks=True, dirs_exist_ok=True)
        if not refresh_index(Path(place) / "repo"):
            World(place).try_git("update-index", "-q", "--refresh")
        self._made.append((time.monotonic(), place))


@contextmanager
def yard(folder: str | None = None) -> Iterator[Yard]:
    """A yard in a folder of its own, on tmpfs where there is one: mappings leave no stamp."""
    memory = "/dev/shm"
    where = folder or (memory if os.access(memory, os.W_OK) else None)
    made = os.path.realpath(tempfile.mkdtemp(prefix="flow-undeserved-", dir=where))
    preload()
    try:
        yield Yard(made)
    finally:
        shutil.rmtree(made, ignore_errors=True)
