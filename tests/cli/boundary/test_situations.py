"""Every git situation of the boundary's table once more, through ``flow goal evaluate``.

The table itself is ``tests/adapters/worktree/test_change_set.py``. Here a goal with the command
``true`` is created, the situation is made, and the whole command line says what it thinks of it:
no false "inside".
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from flow.cli.main import run
from flow.core.text.display import visible
from tests.adapters.worktree.test_change_set import CANARIES, CASES, Case
from tests.support.effort import sample
from tests.support.gitbox import GitBox

REFUSALS = {(2, "wrong_branch"), (5, "git")}
"""Another branch is checked out, or git cannot say what is checked out."""

NOT_HERE = {
    "base unknown": "needs a baseline of its own",
    "Flow's folder as a link": "there is no goal then; tests/hostile has it",
}
SITUATIONS = [case for case in CASES if case.name not in NOT_HERE]


def kind(case: Case) -> tuple[object, ...]:
    """What a situation comes to here; those of :func:`test_situation` itself are each their own."""
    apart = case.name if "revert" in case.name or case.name in APART else ""
    return bool(case.outside), bool(case.inconclusive), case.before is None, apart


APART = ("committed before activation", "no git any more", "journals")
TRIED = sample(SITUATIONS, 2, kind)
"""In short some of each kind: the table says the same of each one below the command line."""


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


@pytest.mark.parametrize("case", TRIED, ids=[case.name for case in TRIED])
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
    if case.name == "journals":  # by name alone; Flow knows that it did not write them
        assert [path.partition("-")[0] for path in document["path_violations"]] == [
            ".decisions/issue",
            ".decisions/session",
        ]
        return
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


# --- repositories that the table has no room for ------------------------------------------------


def create(box: GitBox, monkeypatch: pytest.MonkeyPatch, *more: str) -> int:
    words = ("--outcome", "o", "--criterion", "AC1: x :: true", "--allow=src/**", *more)
    return flow(box, monkeypatch, "create", "case", *words)


def evaluated(
    box: GitBox,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *more: str,
) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    status = flow(box, monkeypatch, "evaluate", "case", *more)
    return status, json.loads(capsys.readouterr().out)


def test_nothing_that_the_checkout_names_is_started(
    box: GitBox, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    box.add_submodule()
    assert create(box, monkeypatch, "--base", "HEAD") == 0
    box.write("src/app.py", "committed\n")
    box.commit()
    marker, script = box.outer / "ran", box.outer / "canary"
    script.write_text(f'#!/bin/sh\necho "$0 $*" >> {marker}\ncat 2>/dev/null\n')
    script.chmod(0o755)
    for folder in (box.top, box.path("vendor/sub")):
        for key, value in CANARIES.items():
            box.git("config", key, value.replace("CANARY", str(script)), cwd=folder)
        box.git("config", "core.repositoryFormatVersion", "1", cwd=folder)
    for name in ("pre-commit", "post-index-change", "reference-transaction", "fsmonitor-watchman"):
        hook = box.write(f".git/hooks/{name}", script.read_text())
        hook.chmod(0o755)
    box.write(".gitattributes", "* diff=fake filter=fake merge=fake\n")
    box.write("README.md")
    box.write("vendor/sub/sub.py")
    marker.unlink(missing_ok=True)

    status, document = evaluated(box, monkeypatch, capsys)
    assert (status, document["verdict"]) == (3, "blocked"), document
    named = set(document["path_violations"])
    assert {"README.md", ".gitattributes", "vendor/sub/sub.py"} <= named
    assert not marker.exists(), marker.read_text()
    for words in (["status", "case"], ["list"], ["history", "case"], ["rebase", "case"]):
        flow(box, monkeypatch, *words)
    assert not marker.exists(), marker.read_text()
    box.git("status", check=False)
    assert marker.exists()  # the canary itself works


def test_a_sha256_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    box = GitBox(tmp_path, object_format="sha256")
    assert create(box, monkeypatch) == 0
    assert evaluated(box, monkeypatch, capsys)[0] == 0
    box.write("README.md")
    status, document = evaluated(box, monkeypatch, capsys)
    assert (status, document["path_violations"]) == (3, ["README.md"])


def test_a_branch_without_commits(
    box: GitBox, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    box.top = box.outer / "young"
    box.top.mkdir()
    box.git("init", "-q", "-b", "main")
    assert create(box, monkeypatch) == 0
    box.write("src/a.py")
    assert evaluated(box, monkeypatch, capsys)[0] == 0
    box.write("b.py")
    for step in (lambda: None, box.commit):
        step()
        status, document = evaluated(box, monkeypatch, capsys)
        assert status == 3
        assert "b.py" in document["path_violations"]


def test_a_shallow_clone_without_the_base_proposes_nothing(
    box: GitBox, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert create(box, monkeypatch) == 0
    box.write("src/app.py")
    box.commit()
    capsys.readouterr()
    with monkeypatch.context() as patch:
        patch.chdir(box.top)
        assert run(["trust", "check", "case", "--json"]) == 0
    digest = json.loads(capsys.readouterr().out)["digest"]
    box.git("clone", "-q", "--depth=1", f"file://{box.top}", str(box.outer / "shallow"))
    box.top = box.outer / "shallow"
    status, document = evaluated(box, monkeypatch, capsys, "--trust-digest", digest)
    assert (status, document["verdict"]) == (1, "not_achieved"), document
    assert "shallow" in document["reason"]
    assert document["proposed_transition"] is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository to another user")
def test_a_repository_of_another_user_is_refused_by_name(
    box: GitBox, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from flow.adapters.git import run as git_run

    assert create(box, monkeypatch) == 0
    # The system's own settings may call every folder safe: an empty value clears that.
    (box.home / ".gitconfig").write_text("[safe]\n\tdirectory =\n")
    os.chown(box.top, 12345, 12345)
    monkeypatch.setattr(git_run, "_refusals", {})
    status, document = evaluated(box, monkeypatch, capsys)
    assert document.get("verdict") != "achieved"
    assert status in (1, 2, 4, 5)
    assert "safe.directory" in json.dumps(document)


def test_no_repository_and_a_bare_one_are_refused_by_name(
    box: GitBox, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, options in (("no git", None), ("a bare", ("--bare",))):
        box.top = box.outer / name
        box.top.mkdir()
        if options:
            box.git("init", "-q", *options)
        capsys.readouterr()
        assert create(box, monkeypatch) in (2, 5)
        assert f"is in {name} repository" in json.loads(capsys.readouterr().out)["error"]["message"]
        assert not (box.top / ".flow").exists()


def test_a_file_that_claims_any_size_proposes_nothing(
    box: GitBox, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert create(box, monkeypatch) == 0
    with open(box.path("src/huge"), "wb") as file:
        file.truncate(1 << 43)  # sparse: it takes no room
    status, document = evaluated(box, monkeypatch, capsys)
    assert (status, document["verdict"]) == (1, "not_achieved"), document
    assert "src/huge" in document["reason"]
    assert document["proposed_transition"] is None
