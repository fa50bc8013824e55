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


def test_init_after_create_is_no_violation(repo: GitRepo) -> None:
    """The files of each host, and then all in a commit."""
    begin(repo)
    for host in HOSTS:
        init(repo, "--host", host, "--enforcement", "block")
    assert outside(repo) == []
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


@pytest.mark.parametrize(
    "how", ["edited before", "edited after", "edited and committed", "executable", "symlink"]
)
def test_what_is_not_as_flow_wrote_it_is_a_change(repo: GitRepo, how: str) -> None:
    texts = {CLAUDE: '{"x": 1}', PROJECT: '{"x": 1}', ".gitattributes": "*.x text\n"}
    begin(repo)
    if how == "edited before":
        for rel, text in texts.items():
            repo.write(rel, text)
    init(repo, "--host", "claude", "--enforcement", "block")
    texts[".gitattributes"] = repo.read(".gitattributes") + texts[".gitattributes"]
    was = {rel: repo.read(rel) for rel in texts}
    for rel, text in texts.items():
        file = repo.path / rel
        if how.startswith("edited a"):
            file.write_text(text)
        elif how == "executable":
            file.chmod(0o755)
        elif how == "symlink" and rel != PROJECT:
            file.rename(f"{file}.real")
            file.symlink_to(f"{file.name}.real")
    if how == "edited and committed":
        repo.commit("x")
        for rel, text in was.items():
            repo.write(rel, text)
    assert {rel for rel in texts if rel != PROJECT or how != "symlink"} <= set(outside(repo))
    assert scene.status(repo) == "blocked"


def test_no_settings_are_read_through_a_symlink(repo: GitRepo) -> None:
    begin(repo)
    repo.write(f"{PROJECT}.real", "{}")
    (repo.path / PROJECT).symlink_to("settings.flow.json.real")
    assert flow(repo, "goal", "evaluate", "greet").status == 2


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


@pytest.mark.parametrize("rel", [PROJECT, LOCAL])
def test_a_settings_file_that_only_tightens_is_no_violation(repo: GitRepo, rel: str) -> None:
    """What tightens: ``tests/core/test_settings.py``."""
    begin(repo)
    put(repo, rel, stopHookEnforcement="evaluator-loop", denied_paths=["secrets/**"])
    assert verdict(repo) == "achieved"
    repo.commit("settings")
    assert verdict(repo) == "achieved"
    put(repo, rel, stopHookEnforcement="evaluator-loop", jobs=8)
    assert outside(repo) == [rel]


def test_a_settings_file_with_a_wrong_value_stops_everything(repo: GitRepo) -> None:
    begin(repo)
    put(repo, stopHookEnforcement="blok")
    assert flow(repo, "goal", "evaluate", "greet", "--json").status == 2


@pytest.mark.parametrize(("after", "inside"), [("evaluator-loop", True), ("warn", False)])
def test_a_committed_settings_file_may_only_become_stricter(
    repo: GitRepo, after: str, inside: bool
) -> None:
    scene.start(repo)
    put(repo, stopHookEnforcement="block", jobs=2)
    repo.commit("settings")
    scene.create(repo)
    scene.meet(repo)
    put(repo, stopHookEnforcement=after, jobs=2)
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
