"""A repository with a home and a state folder of its own, and Flow called in it.

Flow is called in a forked child that has its modules already, which takes a few milliseconds, or
started isolated as a process of its own (:func:`command`).
"""

from __future__ import annotations

import gc
import hashlib
import importlib
import json
import os
import pkgutil
import selectors
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import flow
from tests.support import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

GOAL, RUN, ISSUE = "greet", "r1", 7
GOAL_FILE = f".flow/goals/{GOAL}.goal.yaml"
RUN_DIR = f".flow/runs/{RUN}"
JOURNAL = f".decisions/issue-{ISSUE}.md"
CALL_TIMEOUT = 300.0
"""Seconds; only ends a hang."""

TEXT = """\
apiVersion: flow.synapti.ai/v1
kind: FlowGoal
# A goal for tests; this line stays.
metadata:
  id: greet
  created_at: "2026-03-01T10:15:00Z"
scope:
  repo: demo
  branch: main
  issue: 7
  run_id: r1
objective:
  outcome: The greeting is polite
  acceptance_criteria:
    - id: AC1
      text: It says please
      status: pending  # by Flow
      verification_command: "grep -q please src/greet.txt"
    - id: AC2
      text: It reads well
      status: pending
      must_pass: false
constraints:
  allowed_paths: ["src/**"]
evaluator:
  type: deterministic
lifecycle:
  status: active   # now
  turns_evaluated: 0
# the end
"""

# As bin/_start.py does it: the folder that holds `flow` is on the path for that import only.
START = (
    "import sys; sys.path[:] = sys.argv.pop(1).split('\\n'); import flow; del sys.path[0]; "
    "from flow.startup import ctrl_c; ctrl_c.own(); "
    "name = sys.argv[1]; "
    "from flow.__main__ import main; from flow.helpers import main as helper; "
    "sys.argv[:2] = [name]; "
    "sys.exit(main() if name == 'flow' else helper(name, sys.argv[1:]))"
)


class Ran(NamedTuple):
    """What a call came to; a negative status is the signal that ended it."""

    status: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        """Standard output as one JSON document."""
        return json.loads(self.stdout)


class Scene:
    """``folder`` holds ``repo``, ``home``, ``state``, ``tmp``, and ``files`` that commands read."""

    def __init__(self, folder: str, kept: str = "") -> None:
        """``kept`` is where each beginning is kept that was made once, to be put back."""
        self.folder = folder
        self.kept = kept
        self.repo = os.path.join(folder, "repo")
        self.home = os.path.join(folder, "home")
        self.state = os.path.join(folder, "state")
        self.files = os.path.join(folder, "files")
        self.temporary = os.path.join(folder, "tmp")

    @property
    def env(self) -> dict[str, str]:
        """The environment of everything that runs here."""
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": self.home,
            "FLOW_STATE_DIR": self.state,
            "TMPDIR": self.temporary,
            "USER": "tester",
            "LC_ALL": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def path(self, rel: str) -> str:
        """An absolute path in the repository."""
        return os.path.join(self.repo, rel)

    def write(self, rel: str, text: str) -> None:
        """Write a file of the repository as an editor does: in place."""
        os.makedirs(os.path.dirname(self.path(rel)), exist_ok=True)
        with open(self.path(rel), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, rel: str) -> str:
        """A file of the repository."""
        with open(self.path(rel), encoding="utf-8") as file:
            return file.read()

    def hand(self, name: str, text: str) -> str:
        """Write a file to hand to a command; its absolute path."""
        path = os.path.join(self.files, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def git(self, *words: str) -> None:
        """Run git in the repository."""
        subprocess.run(
            ["git", *words], cwd=self.repo, env=self.env, check=True, capture_output=True
        )

    def start(self, *, goal: str | None = TEXT, draft: bool = False) -> Scene:
        """Make the repository with a first commit, and the goal unless ``goal`` is None."""
        name = hashlib.sha256(f"{draft} {goal}".encode()).hexdigest()
        kept = os.path.join(self.kept, name) if self.kept else ""
        if kept and os.path.exists(kept):
            self.restore(kept)
            return self
        for folder in (self.repo, self.home, self.files, self.temporary):
            os.makedirs(folder)
        with open(os.path.join(self.home, ".gitconfig"), "w", encoding="utf-8") as file:
            file.write("[user]\n\tname = A Tester\n\temail = tester@example.org\n")
            file.write("[gc]\n\tauto = 0\n[init]\n\tdefaultBranch = main\n")
        self.git("init", "-q", "--template=")
        self.git("symbolic-ref", "HEAD", "refs/heads/main")
        self.write("src/greet.txt", "give me that\n")
        self.write(".gitignore", ".flow/runs/\n")
        self.git("add", "--all")
        self.git("commit", "-q", "-m", "start")
        if goal is not None:
            given = self.hand("goal.yaml", goal)
            must(self.flow("goal", "create", "--file", given, *(["--draft"] if draft else [])))
        if kept:
            self.copy_to(kept)
        return self

    def meet(self) -> None:
        """Do the work that the goal asks for."""
        self.write("src/greet.txt", "please\n")

    def propose(self) -> str:
        """Meet the goal and evaluate it; the id of the proposal."""
        self.meet()
        done = must(self.flow("goal", "evaluate", GOAL, "--json"))
        return str(done.json["proposed_transition"]["proposal_id"])

    def flow(self, *words: str) -> Ran:
        """``flow`` in a forked child."""
        return self.call(("flow", *words))

    def helper(self, name: str, *words: str) -> Ran:
        """A helper of ``bin/`` in a forked child."""
        return self.call((name, *words))

    def call(self, argv: Sequence[str], timeout: float = CALL_TIMEOUT) -> Ran:
        """Call ``flow`` or a helper in a forked child, at the top of the repository."""
        return forked(lambda: entry(argv), cwd=self.repo, env=self.env, timeout=timeout)

    def copy_to(self, folder: str) -> None:
        """Keep everything there is as a template."""
        shutil.copytree(self.folder, folder, symlinks=True)

    def restore(self, template: str) -> None:
        """Start again from a template."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(template, self.folder, symlinks=True)


def entry(argv: Sequence[str]) -> int:
    """What ``bin/`` would start for these words, in this process."""
    name, *words = argv
    if name != "flow":
        from flow.helpers import main

        return main(name, words)
    if words[:1] == ["hook"]:
        from flow.hook import run as hook

        return hook(words[1:])
    from flow.cli.main import run

    return run(words)


USED = ("ctypes", "email.parser", "jsonschema", "mmap", "tree_sitter", "tree_sitter_bash", "yaml")
"""What Flow imports once it needs it."""


def preload() -> None:
    """Import all of Flow and what it uses, so that a forked child imports nothing."""
    modules = [module.name for module in pkgutil.walk_packages(flow.__path__, "flow.")]
    for name in (*modules, *USED):
        if not name.endswith(("__main__", "pytest_plugin")):
            with suppress(ImportError):  # an extra that is not installed
                importlib.import_module(name)


def command(argv: Sequence[str], first: str = "") -> list[str]:
    """The words that start ``flow`` or a helper isolated, from the checkout under test.

    ``first`` is code that runs before it.
    """
    standard = [sysconfig.get_path("stdlib"), sysconfig.get_config_var("DESTSHARED")]
    packages = sysconfig.get_path("purelib")
    places = [ROOT, *(place for place in standard if place), packages]
    code = START.replace("name =", f"exec({first!r}); name =", 1) if first else START
    return [sys.executable, "-I", "-S", "-B", "-X", "utf8", "-c", code, "\n".join(places), *argv]


def forked(
    work: Callable[[], int],
    *,
    cwd: str,
    env: Mapping[str, str],
    timeout: float = CALL_TIMEOUT,
    begun: Callable[[int], None] = lambda _: None,
) -> Ran:
    """Run ``work`` in a forked child with standard streams of its own; its status and output.

    ``timeout`` (seconds) only ends a hang, which is status -9. ``begun`` is called with the number
    of the child.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    (out_r, out_w), (err_r, err_w) = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        _become(work, cwd, env, out_w, err_w)
    os.close(out_w)
    os.close(err_w)
    begun(child)
    texts: dict[int, bytes] = {out_r: b"", err_r: b""}
    deadline = time.monotonic() + timeout
    with selectors.DefaultSelector() as selector:
        for fd in texts:
            selector.register(fd, selectors.EVENT_READ)
        while selector.get_map() and (left := deadline - time.monotonic()) > 0:
            for key, _ in selector.select(left):
                data = os.read(key.fd, 1 << 16)
                texts[key.fd] += data
                if not data:
                    selector.unregister(key.fd)
    status = wait(child, max(deadline - time.monotonic(), 0))
    for fd in texts:
        os.close(fd)
    return Ran(status, *(text.decode("utf-8", "replace") for text in texts.values()))


def _become(work: Callable[[], int], cwd: str, env: Mapping[str, str], out: int, err: int) -> None:
    status = 70
    gc.freeze()  # it would look through all that the tests hold, and so copy it
    sys.settrace(None)  # what coverage would see here is lost with the child
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(env)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        status = work()
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 70
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def wait(child: int, timeout: float) -> int:
    """The exit status of a child; one that outlives ``timeout`` is killed."""
    deadline = time.monotonic() + max(timeout, 0.1)
    pause = 0.001
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(pause)
        pause = min(pause * 1.5, 0.02)
    os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def must(done: Ran) -> Ran:
    """The same, if it went well."""
    if done.status != 0:
        raise AssertionError(f"a scene could not be made: {done}")
    return done


def strays(folder: str) -> list[int]:
    """Processes that work below ``folder``."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            with suppress(OSError):
                if os.readlink(f"/proc/{name}/cwd").startswith(folder + os.sep):
                    found.append(int(name))
    return found
