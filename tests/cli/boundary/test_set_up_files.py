"""Files that ``flow init`` writes after a goal began, and settings files that only tighten."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from flow.core.stop.hosts import HOSTS
from tests.support import scene
from tests.support import stops as hooks
from tests.support.scene import flow, step

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import GitRepo

CLAUDE, PROJECT = ".claude/settings.json", ".claude/settings.flow.json"
LOCAL = ".claude/settings.flow.local.json"


def begin(repo: GitRepo, *more: str) -> GitRepo:
    scene.create(scene.start(repo), "greet", *more)
    scene.meet(repo)
    return repo


def init(repo: GitRepo, *more: str) -> None:
    done = step(repo, "init", *more)
    assert done.status == 0, done


def verdict(repo: GitRepo) -> str:
    return str(flow(repo, "goal", "evaluate", "greet", "--json").json["verdict"])


def outside(repo: GitRepo) -> list[str]:
    document = flow(repo, "goal", "evaluate", "greet", "--json").json
    return [violation.partition(": ")[0] for violation in document["path_violations"]]


def put(repo: GitRepo, rel: str = PROJECT, **goals: Any) -> None:
    repo.write(rel, json.dumps({"flow": {"goals": goals}}))


@pytest.mark.parametrize("host", [None, *HOSTS])
@pytest.mark.parametrize("commit", [False, True])
def test_init_after_create_is_no_violation(repo: GitRepo, host: str | None, commit: bool) -> None:
    begin(repo)
    init(repo, *(["--host", host, "--enforcement", "block"] if host else []))
    if commit:
        repo.commit("set up")
    assert scene.confirm(repo).status == 0


def test_line_ends_that_a_checkout_turns_round_do_not_count(repo: GitRepo) -> None:
    scene.start(repo)
    repo.git("config", "core.autocrlf", "true")
    scene.create(repo)
    scene.meet(repo)
    init(repo)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "set up")
    file = repo.path / ".gitattributes"
    file.unlink()
    repo.git("checkout", "-q", "--", ".gitattributes")
    assert b"\r\n" in file.read_bytes()
    assert verdict(repo) == "achieved"
    file.write_bytes(file.read_bytes() + b"*.x -diff\r\n")
    assert outside(repo) == [".gitattributes"]


def test_init_twice_and_one_step_after_the_other(repo: GitRepo) -> None:
    begin(repo)
    for more in ((), ("--host", "claude"), ("--host", "codex", "--enforcement", "block")):
        init(repo, *more)
        assert verdict(repo) == "achieved"
    assert flow(repo, "init", "--undo").status == 0
    assert verdict(repo) == "achieved"


def test_on_top_of_a_file_that_was_dirty_at_the_start(repo: GitRepo) -> None:
    scene.start(repo)
    repo.write(".gitignore", ".flow/runs/\nmine\n")
    repo.write(CLAUDE, '{"model": "x"}')
    scene.create(repo)
    scene.meet(repo)
    init(repo, "--host", "claude")
    assert verdict(repo) == "achieved"


@pytest.mark.parametrize("rel", [CLAUDE, ".gitattributes", PROJECT])
@pytest.mark.parametrize(
    "how", ["edited before", "edited after", "edited and committed", "executable", "symlink"]
)
def test_what_is_not_as_flow_wrote_it_is_a_change(repo: GitRepo, rel: str, how: str) -> None:
    begin(repo)
    file = repo.path / rel
    if how == "edited before":
        repo.write(rel, "*.x text\n" if rel == ".gitattributes" else '{"x": 1}')
    init(repo, "--host", "claude", "--enforcement", "block")
    if how.startswith("edited a"):
        text = repo.read(rel)
        file.write_text(text + "*.x text\n" if rel == ".gitattributes" else '{"x": 1}')
    if how == "edited and committed":
        repo.commit("x")
        file.write_text(text)
    elif how == "executable":
        file.chmod(0o755)
    elif how == "symlink":
        file.rename(f"{file}.real")
        file.symlink_to(f"{file.name}.real")
    if rel == PROJECT and how == "symlink":  # no settings are read through one
        assert flow(repo, "goal", "evaluate", "greet").status == 2
        return
    assert rel in outside(repo)
    assert scene.status(repo) == "blocked"


def test_what_flow_wrote_is_a_change_where_it_is_denied(repo: GitRepo) -> None:
    begin(repo, "--deny", ".claude/**")
    init(repo, "--host", "claude")
    assert outside(repo) == [CLAUDE]


def test_what_flow_wrote_elsewhere_is_a_change(repo: GitRepo) -> None:
    begin(repo)
    init(repo, "--host", "claude")
    repo.write("sub/.claude/settings.json", repo.read(CLAUDE))
    repo.write(".codex/hooks.json", repo.read(CLAUDE))
    assert outside(repo) == [".codex/hooks.json", "sub/.claude/settings.json"]


def test_taking_it_away_is_a_change(repo: GitRepo) -> None:
    init(scene.start(repo), "--host", "claude")
    repo.commit("set up")
    scene.create(repo)
    scene.meet(repo)
    (repo.path / CLAUDE).unlink()
    assert outside(repo) == [CLAUDE]


def test_with_no_state_folder_nothing_vouches_for_it(repo: GitRepo, tmp_path: Path) -> None:
    begin(repo)
    flow(repo, "init", "--host", "claude", env={"FLOW_STATE_DIR": str(tmp_path / "other")})
    assert CLAUDE in outside(repo)


# --- a settings file that only tightens ---------------------------------------------------------

TIGHTER: list[dict[str, Any]] = [
    {"stopHookEnforcement": "warn"},
    {"stopHookEnforcement": "evaluator-loop"},
    {"enabled": True},
    {"denied_paths": ["secrets/**"]},
    {"judge": {"minKappa": 0.5, "maxCostUsd": 1, "canary": True}},
    {},
]
LOOSER: list[dict[str, Any]] = [
    {"stopHookEnforcement": "off"},
    {"enabled": False},
    {"stopHookEnforcement": "block", "jobs": 8},
    {"judge": {"model": "x"}},
    {"executeVerificationCommands": True},
    {"commandTimeoutSeconds": 1},
    {"stopHookEnforcement": "blok"},
    {"somethingElse": 1},
    {"denied_paths": "x"},
]


@pytest.mark.parametrize("goals", TIGHTER, ids=json.dumps)
@pytest.mark.parametrize("rel", [PROJECT, LOCAL])
def test_a_settings_file_that_only_tightens_is_no_violation(
    repo: GitRepo, rel: str, goals: dict[str, Any]
) -> None:
    begin(repo)
    put(repo, rel, **goals)
    assert verdict(repo) == "achieved"
    repo.commit("settings")
    assert verdict(repo) == "achieved"


@pytest.mark.parametrize("goals", LOOSER, ids=json.dumps)
def test_any_other_settings_file_is_a_violation(repo: GitRepo, goals: dict[str, Any]) -> None:
    begin(repo)
    put(repo, **goals)
    done = flow(repo, "goal", "evaluate", "greet", "--json")
    if done.status == 2:  # a wrong value stops everything
        return
    (violation,) = done.json["path_violations"]
    assert violation.startswith(PROJECT)


@pytest.mark.parametrize(
    ("before", "after", "inside"),
    [
        ({"stopHookEnforcement": "block"}, {"stopHookEnforcement": "evaluator-loop"}, True),
        ({"stopHookEnforcement": "block"}, {"stopHookEnforcement": "warn"}, False),
        ({"stopHookEnforcement": "block"}, {}, False),
        ({"jobs": 2}, {"jobs": 2, "enabled": True}, True),
        ({"jobs": 2}, {"jobs": 4}, False),
        ({"denied_paths": ["a", "b"]}, {"denied_paths": ["b", "a", "c"]}, True),
        ({"denied_paths": ["a", "b"]}, {"denied_paths": ["a"]}, False),
    ],
)
def test_a_committed_settings_file_may_only_become_stricter(
    repo: GitRepo, before: dict[str, Any], after: dict[str, Any], inside: bool
) -> None:
    scene.start(repo)
    put(repo, **before)
    repo.commit("settings")
    scene.create(repo)
    scene.meet(repo)
    put(repo, **after)
    assert outside(repo) == ([] if inside else [PROJECT])


def test_laxer_than_the_users_own_word_is_a_violation(repo: GitRepo) -> None:
    assert flow(repo, "config", "set", "stopHookEnforcement", "evaluator-loop").status == 0
    begin(repo)
    put(repo, stopHookEnforcement="block")
    assert outside(repo) == [PROJECT]


def test_more_beside_the_settings_is_a_violation(repo: GitRepo) -> None:
    begin(repo)
    repo.write(PROJECT, json.dumps({"flow": {"goals": {"enabled": True}}, "hooks": {}}))
    assert outside(repo) == [PROJECT]


def test_an_executable_or_linked_settings_file_is_a_violation(repo: GitRepo) -> None:
    begin(repo)
    put(repo, enabled=True)
    (repo.path / PROJECT).chmod(0o755)
    assert outside(repo) == [PROJECT]


def test_the_hook_goes_on_with_the_file_that_turned_it_on(
    repo: GitRepo, capfd: pytest.CaptureFixture[str]
) -> None:
    begin(repo)
    repo.write("src/greet.txt", "no\n")
    init(repo, "--host", "claude", "--enforcement", "block")
    answer = hooks.stop(repo, capfd)
    assert answer["decision"] == "block"
    assert ".claude" not in answer["reason"]
    assert os.path.exists(repo.path / PROJECT)


@pytest.mark.parametrize("rel", [CLAUDE, PROJECT])
def test_the_hook_does_not_have_removed_what_turns_it_on(
    repo: GitRepo, capfd: pytest.CaptureFixture[str], rel: str
) -> None:
    begin(repo)
    assert flow(repo, "config", "set", "stopHookEnforcement", "block").status == 0
    repo.write(rel, '{"x": 1}')
    repo.write("other.txt", "x")
    reason = hooks.stop(repo, capfd)["reason"]
    assert f"{rel} decides about this hook: do not remove it" in reason
    assert "other.txt is new: remove it" in reason
