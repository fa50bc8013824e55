"""A file that changes through a shared mapping is seen by evaluate, by the hook and at confirm."""

from __future__ import annotations

import mmap
import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flow.adapters.fs import stamps
from flow.adapters.fs.stamps import RACY_NS
from flow.adapters.setup import doctor_git
from tests.support import GitRepo, scene
from tests.support import stops as hooks
from tests.support.effort import sizes
from tests.support.scene import flow

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.needs_tool("git", "bash"), pytest.mark.slow]
MEMORY = Path("/dev/shm")
"""A file system in memory, on Linux."""
TEXT = b"0123456789\n"
GOAL = """\
apiVersion: flow.synapti.ai/v1
kind: FlowGoal
metadata: {id: greet, created_at: "2026-03-01T10:15:00Z"}
scope: {repo: demo, branch: main, issue: 7}
objective:
  outcome: the greeting is polite
  acceptance_criteria:
    - id: AC1
      text: says please
      status: pending
      verification_command: grep -q please src/greet.txt
constraints:
  allowed_paths: ["src/**"]
  protected_paths: ["src/test.txt"]
evaluator: {type: deterministic}
lifecycle:
  status: active
"""
PLACES = {"outside": "docs/a.txt", "protected": "src/test.txt", "changed": "src/new.txt"}


@pytest.fixture(params=["disk", "memory"])
def repo(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[GitRepo]:
    if request.param == "disk":
        yield scene.start(GitRepo.init(tmp_path / "repo"))
        return
    if not MEMORY.is_dir() or not os.access(MEMORY, os.W_OK):
        pytest.skip("there is no /dev/shm")
    with tempfile.TemporaryDirectory(dir=MEMORY) as place:
        yield scene.start(GitRepo.init(Path(place) / "repo"))


def mapped(repo: GitRepo, path: str) -> mmap.mmap:
    """A mapping whose page is dirty: its next write moves no stamp."""
    with (repo.path / path).open("r+b") as file:
        page = mmap.mmap(file.fileno(), len(TEXT))
    page[:] = TEXT
    return page


@pytest.mark.parametrize("place", PLACES)
def test_a_write_that_moves_no_stamp_is_no_secret(
    repo: GitRepo,
    place: str,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    old = sizes(short=0.05, long=RACY_NS / 1e9)
    """Seconds after which a stamp tells of every later write."""
    monkeypatch.setattr(stamps, "RACY_NS", int(old * 1e9))
    path = PLACES[place]
    repo.commit("more", **{path: TEXT.decode(), "docs/b.txt": "b\n"})
    repo.write("../goal.yaml", GOAL)
    scene.create_from(repo, "../goal.yaml")
    page = mapped(repo, path)
    if place == "changed":
        page[:1] = b"1"
    time.sleep(old + 0.1)
    proposal = scene.propose(repo)
    proved = hooks.stop(repo, capfd)
    page[:1] = b"x"
    refused = flow(repo, "goal", "confirm", "greet", "--proposal", proposal)
    assert refused.status == 2, refused
    assert "the files were changed" in refused.stderr
    page[:1] = b"y"
    again = hooks.stop(repo, capfd)
    page[:1] = b"z"
    evaluated = flow(repo, "goal", "evaluate", "greet", "--json").json
    if place == "changed":
        assert evaluated["proposed_transition"]["proposal_id"] != proposal
    else:
        assert again != proved
        assert path in str(again)
        assert path in str(evaluated)
        assert evaluated["proposed_transition"] is None
    assert scene.status(repo) != "achieved"


def test_doctor_says_whether_stamps_tell(repo: GitRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.create(repo)

    def said() -> tuple[str, list[str]]:
        document = flow(repo, "doctor", "--json").json
        (fact,) = [f["value"] for f in document["facts"] if f["what"] == "time stamps"]
        return fact, [f["what"] for f in document["findings"] if "time stamps" in f["what"]]

    in_memory = str(repo.path).startswith(str(MEMORY))
    fact, findings = said()
    assert findings == []
    if in_memory:
        assert "do not tell" in fact
    monkeypatch.setattr(doctor_git, "MANY_FILES", 1)
    fact, findings = said()
    assert bool(findings) is ("do not tell" in fact)
