"""A verdict is recorded before another evaluation of the goal may begin.

Else the next one finds it changed while its commands run, and blames them.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from flow.adapters.chain.pinned_heads import PinnedHeads
from flow.adapters.chain.session_writes import COMING
from flow.adapters.fs import locks
from flow.adapters.ledger import verdicts
from flow.core import layout
from flow.errors import LockTimeout
from tests.support import scene
from tests.support.stops import settings, stop

if TYPE_CHECKING:
    from pathlib import Path

    from flow.adapters.chain.pinned_heads import PinnedRun
    from flow.adapters.chain.session_writes import RunWrites
    from tests.support import GitRepo


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each verdict that is written: whether another evaluation had to wait at that moment."""
    found: list[bool] = []
    write = verdicts.write_verdict

    def look(run: RunWrites, *words: Any, **given: Any) -> Any:
        def take() -> None:
            try:
                with locks.exclusive(run.root, layout.evaluation_lock("greet"), timeout=0.0):
                    found.append(False)
            except LockTimeout:
                found.append(True)

        other = threading.Thread(target=take)
        other.start()
        other.join()
        return write(run, *words, **given)

    monkeypatch.setattr(verdicts, "write_verdict", look)
    return found


def test_evaluate_records_before_the_next_evaluation(repo: GitRepo, held: list[bool]) -> None:
    scene.create(scene.start(repo))
    for words in ([], ["--no-record"], ["--dry-run"]):
        scene.flow(repo, "goal", "evaluate", "greet", *words)
    assert held == [True]


def test_a_stop_records_before_the_next_evaluation(
    repo: GitRepo, home: Path, capfd: pytest.CaptureFixture[str], held: list[bool]
) -> None:
    scene.create(scene.start(repo))
    settings(home, stopHookEnforcement="block")
    stop(repo, capfd)
    assert held == [True]


@pytest.mark.parametrize("way", ["command", "stop"])
def test_an_evaluation_and_its_verdict_pin_the_heads_once(
    repo: GitRepo, home: Path, capfd: pytest.CaptureFixture[str], way: str, monkeypatch: Any
) -> None:
    replaced: list[str] = []
    write = PinnedHeads._write

    def counted(heads: PinnedHeads, run_id: str, pinned: PinnedRun) -> None:
        coming = [name for name in pinned.files if name.endswith(COMING)]
        replaced.append(", ".join(coming) or "heads")
        write(heads, run_id, pinned)

    settings(home, stopHookEnforcement="block")
    scene.create(scene.start(repo))
    monkeypatch.setattr(PinnedHeads, "_write", counted)
    if way == "command":
        scene.propose(repo)
    else:
        scene.meet(repo)
        stop(repo, capfd)
    assert replaced == ["goals/greet~", "heads"]  # the first before the goal's file is written
    assert scene.flow(repo, "evidence", "verify").status == 0
