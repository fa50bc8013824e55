"""``flow init --undo`` takes out what init put in; ``--private`` keeps it out of the repository."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support import scene
from tests.support.scene import flow

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import GitRepo, Ran

CLAUDE, PROJECT = ".claude/settings.json", ".claude/settings.flow.json"
ALL = ("--host", "claude", "--enforcement", "block", "--git-hook", "pre-push")
EXCLUDE = ".git/info/exclude"


def tree(path: Path) -> dict[str, bytes]:
    """Every file but git's own data, and those of git that init writes."""
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in path.rglob("*")
        if file.is_file()
        and (".git/" not in str(file) or "/hooks/pre-push" in str(file) or "/exclude" in str(file))
        and not str(file).endswith(".sample")
    }


def init(repo: GitRepo, *words: str) -> Ran:
    done = flow(repo, "init", *words, "--json")
    assert done.status == 0, done
    return done


def steps(done: Ran) -> dict[str, str]:
    return {step["file"]: step["did"] for step in done.json["steps"]}


THERE = {
    ".gitignore": "build/\n",
    ".gitattributes": "*.png binary",
    CLAUDE: '{\n  "model": "x",\n  "hooks": {\n  },\n  "permissions": {"ask": ["Bash(rm:*)"]}\n}',
    PROJECT: '{"flow": {"goals": {"jobs": 2}}}\r\n',
    ".codex/hooks.json": '{"hooks": {"Stop": []}}\n',
}


@pytest.mark.parametrize("there", [{}, THERE], ids=["nothing", "files"])
@pytest.mark.parametrize(
    "calls",
    [
        [()],
        [ALL],
        [(), ALL, ("--host", "codex")],
        [("--private", *ALL)],
        [("--private",), ("--private", "--host", "gemini")],
    ],
    ids=lambda calls: " + ".join(" ".join(words) for words in calls),
)
def test_undo_leaves_everything_as_it_was(
    repo: GitRepo, home: Path, there: dict[str, str], calls: list[tuple[str, ...]]
) -> None:
    scene.start(repo)
    repo.commit("files", **there)
    repo.write(EXCLUDE, "# mine\nnotes\n")
    before = tree(repo.path)
    for words in calls:
        init(repo, *words)
    assert tree(repo.path) != before
    assert flow(repo, "init", "--undo").status == 0
    assert tree(repo.path) == before
    assert not (repo.path / ".flow").exists()
    own = home / ".claude/settings.flow.json"
    assert not own.exists() or json.loads(own.read_text()) == {}


def test_undo_takes_out_only_what_is_as_flow_wrote_it(repo: GitRepo) -> None:
    scene.start(repo)
    init(repo, *ALL)
    settings = json.loads(repo.read(CLAUDE))
    settings["permissions"]["ask"] = ["Bash(mine)", *settings["permissions"]["ask"][1:]]
    settings["statusLine"]["command"] = "mine"
    settings["model"] = "x"
    repo.write(CLAUDE, json.dumps(settings))
    repo.write(".gitignore", "mine\n" + repo.read(".gitignore"))
    repo.write(".git/hooks/pre-push", repo.read(".git/hooks/pre-push") + "true\n", mode=0o755)
    repo.write(".flow/goal.schema.json", "{}")
    done = flow(repo, "init", "--undo", "--json")
    assert done.status == 0, done
    assert json.loads(repo.read(CLAUDE)) == {
        "permissions": {"ask": ["Bash(mine)"]},
        "statusLine": {"type": "command", "command": "mine"},
        "model": "x",
    }
    assert repo.read(".gitignore") == "mine\n.flow/runs/\n"  # it was there before init
    assert not (repo.path / PROJECT).exists()
    said = steps(done)
    assert "what was changed since stays" in said[CLAUDE]
    for file in (".git/hooks/pre-push", ".flow/goal.schema.json"):
        assert said[file] == "left: it was changed since Flow wrote it"
        assert (repo.path / file).exists()


def test_undo_of_files_that_were_deleted_and_made_again(repo: GitRepo) -> None:
    scene.start(repo)
    before = tree(repo.path)
    files = (CLAUDE, ".codex/hooks.json", ".gitattributes", ".flow/goal.schema.json")
    for times in range(3):
        init(repo, "--host", "codex")
        for file in files if times < 2 else ():
            (repo.path / file).unlink()
    assert flow(repo, "init", "--undo").status == 0
    assert tree(repo.path) == before


def test_undo_says_what_stays(repo: GitRepo) -> None:
    scene.start(repo)
    init(repo)
    scene.create(repo)
    done = flow(repo, "init", "--undo", "--json")
    stays = " ".join(done.json["stays"])
    assert ".flow/goals/ with 1 goal" in stays
    assert ".decisions/" in stays
    assert scene.status(repo) == "active"


def test_undo_of_a_private_set_up_says_what_git_shows_now(repo: GitRepo) -> None:
    scene.start(repo)
    repo.commit("without", **{".gitignore": ""})
    init(repo, "--private")
    scene.create(repo)
    assert flow(repo, "goal", "evaluate").status == 1
    assert repo.git("status", "--short", "-uall") == ""
    done = flow(repo, "init", "--undo")
    assert done.status == 0
    assert "git status shows it as untracked now: .decisions/, .flow/\n" in done.stdout
    assert "flow init --private\n" in done.stdout
    shown = repo.git("status", "--short", "-uall").split()[1::2]
    assert shown == [".decisions/issue-7.md", ".flow/goals/greet.goal.yaml"], "runs stay hidden"
    init(repo, "--private")
    assert repo.git("status", "--short", "-uall") == ""
    again = flow(repo, "init", "--undo", "--json").json["untracked"]
    assert again == [".decisions/", ".flow/"]
    init(repo)
    assert flow(repo, "init", "--undo", "--json").json["untracked"] == []


def test_undo_twice_and_where_nothing_is_on_record(repo: GitRepo) -> None:
    scene.start(repo)
    assert "nothing" in flow(repo, "init", "--undo").stdout
    init(repo)
    flow(repo, "init", "--undo")
    before = tree(repo.path)
    assert flow(repo, "init", "--undo").status == 0
    assert tree(repo.path) == before


def test_a_line_that_was_there_before_stays(repo: GitRepo) -> None:
    scene.start(repo)  # its .gitignore has the line already
    init(repo)
    flow(repo, "init", "--undo")
    assert repo.read(".gitignore") == ".flow/runs/\n"


def test_an_agents_shell_takes_nothing_out(repo: GitRepo) -> None:
    init(scene.start(repo), *ALL)
    before = tree(repo.path)
    done = flow(repo, "init", "--undo", "--json", env={"CLAUDECODE": "1"})
    assert (done.status, done.json["error"]["code"]) == (4, "agent_undoes")
    assert tree(repo.path) == before


def test_taking_out_what_a_goal_began_with_is_a_change(repo: GitRepo) -> None:
    init(scene.start(repo), "--host", "claude")
    repo.commit("set up")
    scene.create(repo)
    scene.meet(repo)
    repo.write(CLAUDE, repo.read(CLAUDE).replace("flow statusline", "mine"))
    repo.commit("mine")
    assert flow(repo, "init", "--undo").status == 0
    done = flow(repo, "goal", "evaluate", "greet", "--json")
    assert done.json["verdict"] == "blocked"
    assert any(row.startswith(CLAUDE) for row in done.json["path_violations"])


def test_undo_goes_with_nothing_else(repo: GitRepo) -> None:
    assert flow(repo, "init", "--undo", "--host", "claude").status == 2


# --- private ------------------------------------------------------------------------------------


def test_private_leaves_no_trace_in_the_repository(repo: GitRepo, home: Path) -> None:
    repo.commit("start", **{"src/greet.txt": "give me that\n"})
    done = flow(repo, "init", "--private", *ALL)
    assert done.status == 0, done
    assert done.stdout.splitlines()[-2].startswith("private: ")
    scene.create(repo)
    scene.meet(repo)
    assert repo.git("status", "--porcelain").split() == ["M", "src/greet.txt"]
    assert scene.confirm(repo).status == 0
    repo.git("add", "-A")
    assert repo.git("diff", "--cached", "--name-only").split() == ["src/greet.txt"]
    entry = json.loads((home / ".claude/settings.flow.json").read_text())["flow"]["checkouts"]
    assert entry == {str(repo.path): {"goals": {"stopHookEnforcement": "block"}}}
    assert "flow hook stop" in repo.read(".claude/settings.local.json")
    assert flow(repo, "doctor", "--json").json["findings"] == []


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ((), "no file of Flow's is part of this repository"),
        (("a",), "1 file of Flow's is part of this repository already"),
        (("a", "b"), "2 files of Flow's are part of this repository already"),
    ],
)
def test_private_says_what_git_tracks_already(
    repo: GitRepo, files: tuple[str, ...], said: str
) -> None:
    repo.commit("start", **{f".flow/goals/{name}.txt": "x\n" for name in files}, other="x\n")
    assert f"\nprivate: {said}" in flow(repo, "init", "--private").stdout


def test_private_after_a_goal_began_is_no_changed_guard(repo: GitRepo) -> None:
    repo.commit("start", **{"src/greet.txt": "give me that\n"})
    scene.create(repo)
    init(repo, "--private", *ALL)
    scene.meet(repo)
    assert scene.confirm(repo).status == 0


def test_another_line_there_is_a_changed_guard(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    init(repo, "--private")
    repo.write(EXCLUDE, repo.read(EXCLUDE) + "src/hidden\n")
    scene.meet(repo)
    assert flow(repo, "goal", "evaluate", "greet").status == 4


@pytest.mark.parametrize("more", [(), ("--git-hook", "pre-push"), ALL])
def test_private_stays_private(repo: GitRepo, home: Path, more: tuple[str, ...]) -> None:
    scene.start(repo)
    init(repo, "--private")
    done = flow(repo, "init", *more, "--json")
    assert (done.status, done.json["private"]) == (0, True)
    assert repo.git("status", "--porcelain") == ""
    assert ("block" in (home / ".claude/settings.flow.json").read_text()) if more == ALL else True
    assert flow(repo, "init", "--undo").status == 0
    assert flow(repo, "init", "--json").json["private"] is False
    assert ".gitattributes" in repo.git("status", "--porcelain")


def test_private_does_not_change_a_file_of_the_repository(repo: GitRepo) -> None:
    repo.commit("start", **{".codex/hooks.json": "{}\n"})
    done = flow(repo, "init", "--private", "--host", "codex", "--json")
    assert (done.status, done.json["error"]["file"]) == (2, ".codex/hooks.json")
    assert repo.git("status", "--porcelain") == ""


def test_private_needs_git(repo: GitRepo, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    done = flow(repo, "init", "--private", "--json", cwd=folder)
    assert (done.status, done.json["error"]["key"]) == (2, "--private")


def test_an_agents_shell_does_not_loosen_by_it(repo: GitRepo) -> None:
    scene.start(repo)
    flow(repo, "config", "set", "stopHookEnforcement", "block", "--user")
    words = ("init", "--private", "--host", "claude", "--enforcement", "warn", "--json")
    done = flow(repo, *words, env={"CLAUDECODE": "1"})
    assert (done.status, done.json["error"]["code"]) == (4, "agent_sets_own")
    assert not (repo.path / ".claude").exists()


def test_a_repository_without_a_checkout_is_left_as_it_is(repo: GitRepo, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    repo.git("init", "-q", "--bare", str(bare))
    before = sorted(bare.rglob("*"))
    done = flow(repo, "init", "--json", cwd=bare)
    assert (done.status, "git worktree add" in done.json["error"]["remedy"]) == (2, True), done
    assert sorted(bare.rglob("*")) == before
