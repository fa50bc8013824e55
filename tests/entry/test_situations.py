"""Every git situation of the boundary's table once more, through ``flow goal evaluate`` (issue 3,
4).

The table itself is ``tests/adapters/test_worktree.py``. Here a goal with the command ``true`` is
created, the situation is made, and the whole command line says what it thinks of it: no false
"inside".
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from flow.cli.main import run
from flow.core.explain import visible
from tests.adapters.test_worktree import CASES, Case
from tests.support.gitbox import GitBox

REFUSALS = {(2, "wrong_branch"), (5, "git")}
"""Another branch is checked out, or git cannot say what is checked out."""

NOT_HERE = {
    "base unknown": "needs a baseline of its own",
    "Flow's folder as a link": "there is no goal then; tests/hostile has it",
}
SITUATIONS = [case for case in CASES if case.name not in NOT_HERE]


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitBox:
    made = GitBox(tmp_path)
    monkeypatch.setenv("HOME", str(made.home))
    monkeypatch.setenv("FLOW_STATE_DIR", str(made.state))
    return made


def flow(box: GitBox, monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    with monkeypatch.context() as patch:
        patch.chdir(box.top)
        return run(["goal", *words, "--json"])


@pytest.mark.parametrize("case", SITUATIONS, ids=[case.name for case in SITUATIONS])
def test_situation(
    case: Case, box: GitBox, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if case.before:
        case.before(box)
    words = ["create", "case", "--outcome", "o", "--criterion", "AC1: x :: true"]
    words += [f"--allow={pattern}" for pattern in case.allowed]
    words += [f"--deny={pattern}" for pattern in case.denied]
    created = flow(box, monkeypatch, *words)
    said = json.loads(capsys.readouterr().out)
    if case.name == "committed before activation":  # named before any goal is made of it
        assert (created, said["error"]["code"]) == (2, "outside_base")
        return
    assert created == 0, said
    if "revert" in case.name:  # takes the last commit back, which would hold the goal too
        box.git("add", "-f", ".flow/goals")
        box.git("commit", "-q", "-m", "the goal")
    case.then(box)
    status = flow(box, monkeypatch, "evaluate", "case")
    document = json.loads(capsys.readouterr().out)
    if "error" in document:  # refused before anything runs
        assert (status, document["error"]["code"]) in REFUSALS, document
        return
    if case.name == "no git any more":  # nobody has trusted anything in what is left
        assert (status, document["verdict"]) == (4, "needs_human_review")
        assert document["criterion_results"][0]["outcome"] == "not_executed"
        return
    assert not os.path.exists(box.outer / "ran")
    if case.inconclusive:
        assert (status, document["verdict"]) == (1, "not_achieved"), document
        assert document["proposed_transition"] is None
    elif case.outside:
        assert (status, document["verdict"]) == (3, "blocked"), document
        named = {visible(path) for path in case.outside}
        assert named <= set(document["path_violations"]), document
    else:
        assert document["path_violations"] == []
        assert document["verdict"] in ("achieved", "needs_human_review"), document
        if document["verdict"] == "needs_human_review":
            assert "changed since activation" in document["reason"]


def test_there_are_enough_situations() -> None:
    assert len(SITUATIONS) >= 60
    assert {case.name for case in CASES} >= set(NOT_HERE)
