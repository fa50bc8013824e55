"""A repository in the middle of its work, with one of every file Flow reads, that is put back fast.

Everything lies below one parent folder: ``repo``, ``home`` (with the state folder in it) and
``outside``, whose files nothing may touch. Flow runs in this process, watched: too much CPU time,
a wait that does not end, an exception, an internal error or a change outside fails the test.
"""

from __future__ import annotations

import io
import json
import os
import re
import resource
import shutil
import signal
import stat
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from flow import helpers
from flow.adapters.ledger import reader
from flow.cli import main
from tests.support.pace import exceeds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.support import GitRepo

GOAL = "greet"
RUN = "r1"
ISSUE = 7
GOAL_FILE = f".flow/goals/{GOAL}.goal.yaml"
RUN_DIR = f".flow/runs/{RUN}"
EVIDENCE = f"{RUN_DIR}/evidence"
SIDECAR = f"{EVIDENCE}/evidence-ac1-eval-1.evidence.yaml"
OUTPUT = f"{EVIDENCE}/evidence-ac1-eval-1.txt"
JOURNAL = f".decisions/issue-{ISSUE}.md"
PENDING = f".flow/runs/.pending/{GOAL}.json"
MEASURING = f"{RUN_DIR}/measuring.json"
STATE = "home/state"
TRUST = f"{STATE}/goal-trust.jsonl"
OWN_SETTINGS = "home/.claude/settings.flow.json"
CANARY = b"nobody but its owner touches this\n"

CPU_LIMIT = 2.0
"""Seconds of CPU time (this process) that one call may take."""
WALL_LIMIT = 300.0
"""Seconds after which a call counts as one that waits for ever, however loaded the machine is."""

GOAL_TEXT = f"""\
# A goal with one of everything
apiVersion: flow.synapti.ai/v1
kind: FlowGoal
metadata: {{id: {GOAL}, created_at: "2026-03-01T10:15:00Z", created_by: someone}}
scope:
  repo: demo
  branch: main
  issue: {ISSUE}
  run_id: {RUN}
objective:
  outcome: The greeting is polite
  source: a test
  acceptance_criteria:
    - id: AC1
      text: It says please
      status: pending
      must_pass: true
      timeout_seconds: 60
      verification_command: "grep -q please src/greet.txt"
      limitations: [Reads one file]
    - id: AC2
      text: It reads well
      status: pending
      must_pass: false
      rubric: house
specification:
  non_goals: [Speed]
constraints:
  allowed_paths: ["src/**", "*.yaml", "*.json", "raw.txt"]
  denied_paths: ["**/.env"]
  protected_paths: [tests/**]
evaluator:
  type: hybrid
  jobs: 1
continuation: {{max_iterations: 5}}
lifecycle:
  status: draft  # by Flow
  turns_evaluated: 0
"""
EVIDENCE_TEXT = f"""\
apiVersion: flow.synapti.ai/v1
kind: FlowEvidence
metadata:
  id: by-hand
  goal: {GOAL}
  run_id: {RUN}
  created_at: "2026-03-01T10:15:00Z"
evidence:
  type: test_result
  command: make test
  exit_code: 0
  proves: [AC1]
  limitations: [One machine only]
"""
VERDICT_TEXT = json.dumps(
    {
        "goal_id": GOAL,
        "verdict": "not_achieved",
        "confidence": 1.0,
        "delta": "unchanged",
        "reason": "AC1 failed",
        "next_step_hint": "say please",
        "blocker_type": "none",
        "criterion_results": [
            {"criterion_id": "AC1", "status": "fail", "outcome": "failed", "exit_code": 1}
        ],
        "path_violations": [],
        "warnings": [],
        "proposed_transition": None,
        "lifecycle": {"from": "active", "to": "active", "turns_evaluated": 2},
    },
    indent=1,
)
LIFECYCLE_TEXT = "lifecycle:\n  status: waiting_for_user\n  turns_evaluated: 1\n"
SETTINGS_TEXT = """\
{
  "flow": {"goals": {"jobs": 2, "commandTimeoutSeconds": 120, "denied_paths": ["*.key"],
    "judge": {"minKappa": 0.5}}},
  "journal": {"dir": ".decisions"}
}
"""
RUBRIC_TEXT = "name: house\ncriteria:\n  - name: plain\n    description: reads well\n"


class Hang(BaseException):
    """A call took more CPU time, or waited longer, than it may."""


class Done(NamedTuple):
    """What a call came to."""

    status: int
    stdout: str
    stderr: str
    cpu: float

    @property
    def text(self) -> str:
        """Both streams."""
        return self.stdout + self.stderr


@contextmanager
def watched(cpu: float = CPU_LIMIT, wall: float = WALL_LIMIT) -> Iterator[Callable[[], float]]:
    """Raise :class:`Hang` in what takes too long; the value tells the CPU seconds so far."""

    def stop(number: int, _frame: object) -> None:
        if number == signal.SIGALRM:
            raise Hang("waits for ever")
        if exceeds(used() - start, cpu):
            raise Hang(f"more than {cpu} s of CPU time")
        signal.setitimer(signal.ITIMER_PROF, cpu)  # not before: measuring takes CPU time, too

    before = {number: signal.signal(number, stop) for number in (signal.SIGPROF, signal.SIGALRM)}
    start = used()
    try:  # from here on one may come at any moment
        signal.setitimer(signal.ITIMER_PROF, cpu)
        signal.setitimer(signal.ITIMER_REAL, wall)
        yield lambda: used() - start
        spent = used() - start
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)
    if exceeds(spent, cpu):  # in one call into C that no signal interrupts
        raise Hang(f"took {spent:.1f} s of CPU time")


def used() -> float:
    """CPU seconds of this process so far."""
    found = resource.getrusage(resource.RUSAGE_SELF)
    return found.ru_utime + found.ru_stime


class Scene:
    """The prepared folders at ``parent``; ``proposal_id`` is that of a live proposal."""

    def __init__(self, parent: Path, repo: GitRepo) -> None:
        self.parent = os.path.realpath(parent)
        self.top = os.path.realpath(repo.path)
        self.git = repo.git
        self.home = f"{self.parent}/home"
        self.state = f"{self.parent}/{STATE}"
        self.canary = f"{self.parent}/outside/canary.txt"
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": self.home,
            "FLOW_STATE_DIR": self.state,
            "USER": "tester",
            "LC_ALL": "C.UTF-8",
        }
        self.proposal_id = ""
        self._saved: dict[str, tuple[int, object]] = {}
        self._build(repo)

    def _build(self, repo: GitRepo) -> None:
        for folder in ("home/.claude", "outside/folder"):
            os.makedirs(f"{self.parent}/{folder}")
        self.write("outside/canary.txt", CANARY)
        self.write("outside/folder/canary.txt", CANARY)
        repo.write("src/greet.txt", "give me that\n")
        repo.write(".gitignore", ".flow/runs/\n")
        repo.write(".gitattributes", ".flow/goals/*.goal.yaml text eol=lf\n")
        repo.write(".flow/rubrics/house.yaml", RUBRIC_TEXT)
        repo.write(".claude/settings.flow.json", SETTINGS_TEXT)
        repo.write(".claude/settings.flow.local.json", '{"flow": {"goals": {"jobs": 1}}}\n')
        repo.write(".claude/settings.json", "{}\n")
        self.write(OWN_SETTINGS, b'{"flow": {"goals": {"failAfterStuckTurns": 3}}}\n')
        self.write("home/.gitconfig", b"[user]\n\tname = T\n\temail = t@example.org\n")
        repo.commit("start")
        for name, text in (
            ("goal.yaml", GOAL_TEXT),
            ("evidence.yaml", EVIDENCE_TEXT),
            ("verdict.json", VERDICT_TEXT),
            ("lifecycle.yaml", LIFECYCLE_TEXT),
            ("raw.txt", "ok\n"),
        ):
            repo.write(name, text)
        self.must(0, "init")
        os.unlink(f"{self.top}/.flow/goals/example.goal.yaml")
        self.must(0, "goal", "create", "--file", "goal.yaml")
        repo.write("src/greet.txt", "please\n")
        self.must(0, "goal", "evaluate", GOAL, "--no-input")
        self.proposal_id = json.loads(self.read(f"{RUN_DIR}/proposal.json"))["proposal_id"]
        # An evaluation that was killed, and another write that was.
        self.write_top(MEASURING, b'["goal.yaml"]')
        self.pending = self._make_pending()
        self.save()

    def _make_pending(self) -> bytes:
        from flow.adapters.ledger import transaction
        from flow.app.ports import Artifact

        text = self.read(GOAL_FILE)
        fields = {"goal_id": GOAL, "result": "pass", "from": "active"}
        intent = transaction.Intent(
            key="00" * 12,
            goal_id=GOAL,
            run_id=RUN,
            at="2026-03-01T10:15:00Z",
            journal=JOURNAL,
            issue=ISSUE,
            branch="main",
            artifact=Artifact("goal-evaluation", fields),
            event_type="transition",
            event={"from": "active", "to": "waiting_for_user", "reason": "paused"},
            text=text.decode().replace("status: active", "status: waiting_for_user"),
            before=transaction.digest(text),
        )
        transaction.publish(self.top, intent)
        data = self.read(PENDING)
        os.unlink(f"{self.top}/{PENDING}")
        return data

    def undo_work(self) -> None:
        """From here on AC1 fails and the proposal is stale: nothing can be achieved."""
        self.write_top("src/greet.txt", b"give me that\n")
        self.save()

    # --- files ---

    def write(self, rel: str, data: bytes) -> None:
        """Write a file below the parent folder."""
        path = f"{self.parent}/{rel}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)

    def write_top(self, rel: str, data: bytes) -> None:
        """Write a file below the top level."""
        self.write(f"repo/{rel}", data)

    def read(self, rel: str) -> bytes:
        """A file below the top level."""
        with open(f"{self.top}/{rel}", "rb") as file:
            return file.read()

    def save(self) -> None:
        """What :meth:`restore` goes back to."""
        self._saved = self._look()

    def restore(self) -> None:
        """Put every file, folder, mode and owner back as it was saved."""
        now = self._look()
        if now == self._saved:
            return
        for rel in sorted(now.keys() - self._saved.keys(), reverse=True):
            _remove(f"{self.parent}/{rel}")
        for rel in sorted(self._saved):
            if now.get(rel) != self._saved[rel]:
                _put(f"{self.parent}/{rel}", *self._saved[rel])
        reader._parsed.clear()

    def _look(self, *folders: str) -> dict[str, tuple[int, object]]:
        found: dict[str, tuple[int, object]] = {}
        queue = list(folders or [""])
        while queue:
            folder = queue.pop()
            with os.scandir(f"{self.parent}/{folder}") as entries:
                for entry in entries:
                    rel = f"{folder}{entry.name}"
                    if rel == "repo/.git":
                        continue
                    seen = entry.stat(follow_symlinks=False)
                    key: object = None
                    if stat.S_ISDIR(seen.st_mode):
                        key = seen.st_uid
                        if seen.st_mode & 0o700 == 0o700 or os.geteuid() == 0:
                            queue.append(f"{rel}/")
                    elif stat.S_ISREG(seen.st_mode):
                        with open(entry.path, "rb") as file:
                            key = (seen.st_nlink, file.read(), seen.st_uid)
                    elif stat.S_ISLNK(seen.st_mode):
                        key = os.readlink(entry.path)
                    found[rel] = (seen.st_mode, key)
        return found

    def outside(self) -> dict[str, tuple[int, object]]:
        """Everything that is neither the checkout nor the state folder, but for link counts."""
        return {
            rel: (mode, what[1] if isinstance(what, tuple) else what)
            for rel, (mode, what) in self._look("outside/", "home/").items()
            if not rel.startswith(STATE)
        }

    def git_stamp(self) -> list[tuple[str, int, int]]:
        """Names, sizes and times below ``.git``, which Flow never writes."""
        found = []
        for folder, _, names in os.walk(f"{self.top}/.git"):
            for name in names:
                seen = os.lstat(os.path.join(folder, name))
                found.append((os.path.join(folder, name), seen.st_size, seen.st_mtime_ns))
        return sorted(found)

    # --- calling Flow ---

    def flow(self, *words: str, stdin: bytes = b"") -> Done:
        """``flow WORDS`` in this process."""
        return self._call(lambda: main.run(list(words)), stdin)

    def helper(self, name: str, *words: str, stdin: bytes = b"") -> Done:
        """A helper of ``bin/`` in this process."""
        return self._call(lambda: helpers.main(name, list(words)), stdin)

    def must(self, status: int, *words: str) -> Done:
        """``flow WORDS``, which has to end with ``status``."""
        done = self.flow(*words)
        assert done.status == status, (words, done)
        return done

    def _call(self, call: Callable[[], int], stdin: bytes) -> Done:
        streams = sys.stdout, sys.stderr, sys.stdin
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
        environ, cwd = dict(os.environ), os.getcwd()
        reader._parsed.clear()  # as in a process of its own
        os.environ.clear()
        os.environ.update(self.environ)
        os.chdir(self.top)
        sys.stdout, sys.stderr = out, err
        sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
        try:
            with watched() as spent:
                status = call()
                cpu = spent()
        finally:
            sys.stdout, sys.stderr, sys.stdin = streams
            os.chdir(cwd)
            os.environ.clear()
            os.environ.update(environ)
        texts = []
        for stream in (out, err):
            stream.flush()
            texts.append(stream.buffer.getvalue().decode("utf-8", "surrogateescape"))  # type: ignore[attr-defined]
        return Done(status, texts[0], texts[1], cpu)


EXIT_CODES = frozenset(range(6))
CONTROL = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|[\udc80-\udcff]"
)
"""What must not reach a terminal: C0 but for the newline, C1, marks of direction, raw bytes."""


def check(done: Done, what: object, *, as_json: bool = False) -> None:
    """What holds for every call, whatever it was given."""
    assert done.status in EXIT_CODES, (what, done)
    assert "internal" not in done.text.replace("internal/", ""), (what, done)
    assert "Traceback" not in done.text, (what, done)
    found = CONTROL.search(done.text)
    assert found is None, (what, found, done.text[found.start() - 40 : found.end() + 40])
    if as_json:
        assert done.stdout.isascii(), what
        document = json.loads(done.stdout)
        if isinstance(document, dict) and "error" in document:
            assert set(document["error"]) >= {"code", "message", "file", "key", "remedy"}, what


def statuses(scene: Scene) -> dict[str, str]:
    """Each readable goal's status, as its file says."""
    found: dict[str, Any] = {}
    folder = f"{scene.top}/.flow/goals"
    try:
        names = os.listdir(folder)
    except OSError:
        return {}
    for name in names:
        path = f"{folder}/{name}"
        if os.path.isfile(path) and not os.path.islink(path):
            with open(path, "rb") as file:
                text = file.read(1 << 20).decode("utf-8", "replace")
            match = re.search(r"status[\"']?\s*:\s*[\"']?(\w+)", text[text.rfind("lifecycle") :])
            found[name] = match[1] if match else ""
    return found


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        os.chmod(path, 0o700)
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def _put(path: str, mode: int, what: Any) -> None:
    if os.path.lexists(path) and (
        stat.S_IFMT(os.lstat(path).st_mode) != stat.S_IFMT(mode) or not stat.S_ISDIR(mode)
    ):
        _remove(path)
    if stat.S_ISDIR(mode):
        os.makedirs(path, exist_ok=True)
    elif stat.S_ISLNK(mode):
        os.symlink(what, path)
        return
    elif what is not None:
        with open(path, "wb") as file:
            file.write(what[1])
    os.chmod(path, stat.S_IMODE(mode))
    if os.geteuid() == 0:
        os.chown(path, 0, 0)
