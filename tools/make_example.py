"""Plays the whole story of ``flow demo`` and keeps its files as ``.flow-example/recorded/``.

``python tools/make_example.py``: run it after a change of what Flow writes, and read the difference
before you keep it. What would differ from run to run or from machine to machine is held still: the
clock, how long things took, keys and nonces, dates of commits, git's settings, and the paths and
times that Python prints.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)

from flow.cli import demo, stage  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

RECORDED = Path(ROOT, ".flow-example", "recorded")
NAMES = {".flow": "flow", ".decisions": "decisions"}
"""Folder of a checkout → its name here. With its own name Flow would take it for its own."""
SCHEMA = "goal.schema.json"
"""The copy of the schema for editors is left out: it is as long as all the rest."""
BEGAN = 1767603600
"""2026-01-05T09:00:00Z, in seconds since 1970. Each command of the story is a minute later."""
SECONDS = 0.1
"""How long each command is said to have taken."""
USER = "flow-demo"

START = (
    "import sys; sys.path[:] = sys.argv.pop(1).split('\\n'); "
    "from tools.make_example import hold_still; hold_still(int(sys.argv.pop(1))); "
    "from flow.__main__ import main; sys.exit(main())"
)
GIT_CONFIG = """\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
"""

PYTHON = '''\
"""Runs ``-m MODULE`` so that what it prints depends on neither the clock nor the folder."""
import os, runpy, sys, time
from importlib.machinery import SourceFileLoader

compiled = SourceFileLoader.source_to_code

def source_to_code(self, data, path, *more, **named):
    near = os.path.relpath(path)
    return compiled(self, data, path if near.startswith("..") else near, *more, **named)

SourceFileLoader.source_to_code = source_to_code
sys.path.insert(0, os.getcwd())
time.perf_counter = lambda: 0.0
_, module = sys.argv[1:3]
sys.argv[:] = [module, *sys.argv[3:]]
runpy.run_module(module, run_name="__main__", alter_sys=True)
'''
"""The ``python3`` of the goals' commands."""


def hold_still(now: int) -> None:
    """Make this process's Flow write the same at each run: ``now`` in seconds since 1970."""
    import secrets

    from flow.adapters.fs import clock
    from flow.adapters.git import settings as git_settings
    from flow.adapters.judges import retry
    from flow.adapters.ledger import transaction
    from flow.app.evaluation import command_runs

    keys = iter(range(1, 1000))
    moment, digests, fields = clock_time(now), git_settings.digests, command_runs.run_fields

    def own_digests(repo: Any) -> dict[str, str]:  # without those of /etc/gitconfig
        return {name: value for name, value in digests(repo).items() if name.startswith("config [")}

    def run_fields(*about: Any) -> dict[str, Any]:
        return {**fields(*about), "duration_seconds": SECONDS}

    changes: tuple[tuple[object, str, object], ...] = (
        (clock, "now", lambda: moment),
        (clock, "today", lambda: moment[:10]),
        (secrets, "token_hex", lambda size: f"{now}{next(keys):03}".rjust(2 * size, "0")),
        (transaction, "new_key", lambda: f"{now}{next(keys):03}".rjust(24, "0")),
        (git_settings, "digests", own_digests),
        (command_runs, "run_fields", run_fields),
        (retry, "real_clock", lambda: retry.Clock(lambda: 0.0, time.sleep, lambda: 0.0)),
    )
    for module, name, value in changes:
        if not hasattr(module, name):
            raise AttributeError(f"{module} has no {name} any more: see tools/make_example.py")
        real = getattr(module, name)
        modules = [place for place in sys.modules.values() if hasattr(place, "__dict__")]
        classes = [
            each for place in modules for each in vars(place).values() if isinstance(each, type)
        ]
        for place in [*modules, *classes]:  # who imported it has it already
            held = vars(place).get(name)
            if held is real:
                setattr(place, name, value)
            elif isinstance(held, staticmethod) and held.__func__ is real:
                setattr(place, name, staticmethod(value))


def clock_time(now: int) -> str:
    """``now`` as Flow writes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))


class Recorder(stage.Stage):
    """A stage on which nothing depends on the machine or the moment."""

    def __init__(self, folder: str, tell: Callable[[str], None]) -> None:
        super().__init__(folder, tell=tell)
        self.env = {
            **{name: self.env[name] for name in ("HOME", "FLOW_STATE_DIR", "PATH")},
            "GIT_DEFAULT_HASH": "sha1",
            "LC_ALL": "C.UTF-8",
            "LOGNAME": USER,
            "TMPDIR": folder,
            "TZ": "UTC",
            "USER": USER,
        }
        self.files: dict[str, bytes] = {}
        self._now = BEGAN

    def set_up(self) -> None:
        """Make the repository; git's settings and the commands' Python are the same everywhere."""
        super().set_up()
        Path(self.project, ".git", "config").write_text(GIT_CONFIG, encoding="utf-8")
        tools = Path(self.folder, "tools")
        (tools / "steady.py").write_text(PYTHON, encoding="utf-8")
        program = tools / "python3"
        real = program.resolve()
        program.unlink()
        line = f"exec '{real}' -B -E -s -X no_debug_ranges '{tools}/steady.py' \"$@\""
        program.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        program.chmod(0o755)

    def git(self, *arguments: str, shown: bool = False) -> None:
        """Run git, on the date of the story."""
        plain, date = self.env, f"{self._now} +0000"
        self.env = {**plain, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        try:
            super().git(*arguments, shown=shown)
        finally:
            self.env = plain

    def check_status(self, goal: str, told: str) -> None:
        """Check the status of ``goal``, and keep the files as they are: each has its branch."""
        super().check_status(goal, told)
        for folder, name in NAMES.items():
            for path in sorted(Path(self.project, folder).rglob("*")):
                rel = path.relative_to(Path(self.project, folder))
                hidden = any(part.startswith(".") for part in rel.parts)
                if path.is_file() and not hidden and path.name != SCHEMA:
                    self.files[f"{name}/{rel.as_posix()}"] = path.read_bytes()

    def _program(self) -> tuple[str, ...]:
        *start, _, path = super()._program()
        return (*start, START, path, str(self._later()))

    def _later(self) -> int:
        self._now += 60
        return self._now


def make(
    folder: str, tell: Callable[[str], None] = lambda _: None, kind: type[Recorder] = Recorder
) -> dict[str, bytes]:
    """Name → content of each file of the record; ``folder`` is empty and may stay behind."""
    recorder = kind(folder, tell)
    demo.play_story(recorder, judged=True, waiting=True)
    if recorder.differences:
        raise SystemExit("\n".join(["not as told:", *recorder.differences]))
    return recorder.files


def main() -> int:
    """Write the record anew."""
    folder = os.path.realpath(tempfile.mkdtemp(prefix="flow-example-"))
    try:
        made = make(folder, tell=print)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(RECORDED, ignore_errors=True)
    for name, content in made.items():
        path = RECORDED / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    print(f"{RECORDED}: {len(made)} files, {sum(map(len, made.values()))} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
