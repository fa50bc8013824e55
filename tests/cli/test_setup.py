"""``flow init`` and ``flow doctor``."""

from __future__ import annotations

import json
import os
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from flow.adapters.fs import locks
from flow.adapters.git import run as git_run
from flow.adapters.ledger import evidence_store
from flow.adapters.setup import doctor_disk
from flow.adapters.setup import init as setup_init
from flow.errors import StorageError
from tests.support import ROOT, GitRepo, run, scene

if TYPE_CHECKING:
    from collections.abc import Iterator

FILES = {
    ".gitignore",
    ".gitattributes",
    ".claude/settings.json",
    ".flow/goal.schema.json",
    ".flow/goals/example.goal.yaml",
}


@pytest.fixture(autouse=True)
def _no_settings_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Doctor names them, too, and an administrator may have said ``safe.directory=*``."""
    environment = git_run.environment

    def without(*, config: bool = True) -> dict[str, str]:
        return {**environment(config=config), "GIT_CONFIG_NOSYSTEM": "1"}

    monkeypatch.setattr(git_run, "environment", without)


def tree(path: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in path.rglob("*")
        if file.is_file() and ".git/" not in str(file)
    }


def test_init_makes_what_is_missing(repo: GitRepo) -> None:
    repo.commit("start", a="b")
    done = scene.flow(repo, "init", "--json")
    assert done.status == 0, done
    assert {step["file"] for step in done.json["steps"]} == FILES
    assert not FILES - set(tree(repo.path))
    assert repo.read(".gitignore") == ".flow/runs/\n"
    assert json.loads(repo.read(".claude/settings.json"))["permissions"]["ask"]
    assert scene.flow(repo, "doctor").status == 0


def test_the_example_works(repo: GitRepo) -> None:
    repo.commit("start", **{"README.md": "first: make\n"})
    scene.flow(repo, "init")
    repo.commit("flow")
    text = repo.read(".flow/goals/example.goal.yaml")
    schema = text.splitlines()[0].partition("$schema=")[2]
    assert (repo.path / ".flow/goals" / schema).resolve().is_file()
    assert scene.status(repo, "example") == "draft"
    assert scene.flow(repo, "goal", "activate", "example").status == 0
    done = scene.flow(repo, "goal", "evaluate", "example", "--json")
    assert done.status == 4
    assert done.json["criterion_results"][0]["status"] == "pass"
    approve = ("goal", "approve", "example", "AC2", "--by", "Newcomer", "--note", "found it")
    assert scene.flow(repo, *approve, "--yes").status == 0
    assert scene.confirm(repo, goal="example").status == 0


def test_init_twice_changes_nothing(repo: GitRepo) -> None:
    scene.flow(repo, "init")
    before = tree(repo.path)
    done = scene.flow(repo, "init")
    assert done.status == 0
    assert "added" not in done.stdout
    assert "made" not in done.stdout
    assert tree(repo.path) == before


def test_init_from_a_folder_below(repo: GitRepo) -> None:
    repo.write("deep/down/x")
    done = scene.flow(repo, "init", "--json", cwd=repo.path / "deep/down")
    assert done.json["top"] == str(repo.path)
    assert (repo.path / ".flow/goals").is_dir()
    assert not (repo.path / "deep/down/.flow").exists()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"build/", b"build/\n.flow/runs/\n"),
        (b"build/\n", b"build/\n.flow/runs/\n"),
        (b"a\r\nb\r\n", b"a\r\nb\r\n.flow/runs/\r\n"),
        (b"\xff\xfe\n", b"\xff\xfe\n.flow/runs/\n"),
        (b"", b".flow/runs/\n"),
        (b"/.flow/runs\n", b"/.flow/runs\n"),
        (b".flow/runs/* \n", b".flow/runs/* \n"),
        (b" .flow/runs/*\n", b" .flow/runs/*\n.flow/runs/\n"),
        (b".flow/runs/\n", b".flow/runs/\n"),
        (b"# .flow/runs/\n", b"# .flow/runs/\n.flow/runs/\n"),
    ],
)
def test_lines_are_added_and_nothing_else_moves(repo: GitRepo, before: bytes, after: bytes) -> None:
    repo.write(".gitignore", before)
    assert scene.flow(repo, "init").status == 0
    assert (repo.path / ".gitignore").read_bytes() == after


def test_rules_join_those_that_are_there(repo: GitRepo) -> None:
    there = {
        "model": "opus",
        "permissions": {"allow": ["Bash(ls)"], "ask": ["Bash(rm:*)"], "deny": ["Read(.env)"]},
        "hooks": {"Stop": []},
        "ünï": "✓",
    }
    repo.write(".claude/settings.json", json.dumps(there, indent="\t", ensure_ascii=False))
    assert scene.flow(repo, "init").status == 0
    text = repo.read(".claude/settings.json")
    now = json.loads(text)
    ask = now["permissions"].pop("ask")
    there["permissions"].pop("ask")  # type: ignore[attr-defined]
    assert now == there
    assert list(now) == list(there)
    assert ask == ["Bash(rm:*)", *setup_init.ASK_RULES]
    assert text.startswith('{\n\t"model"')
    assert "✓" in text
    assert not text.endswith("\n")


@pytest.mark.parametrize(
    "broken",
    ["{", "[]", '{"permissions": []}', '{"permissions": {"ask": "all"}}', '{"a": 1, "a": 2}'],
)
def test_settings_that_are_broken_are_refused_and_nothing_is_written(
    repo: GitRepo, broken: str
) -> None:
    repo.write(".claude/settings.json", broken)
    before = tree(repo.path)
    done = scene.flow(repo, "init", "--json")
    assert done.status == 2
    assert done.json["error"]["file"] == ".claude/settings.json"
    assert tree(repo.path) == before


@pytest.mark.parametrize("name", [".gitignore", ".claude/settings.json", ".flow/goal.schema.json"])
def test_init_writes_through_no_link(repo: GitRepo, name: str, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.write_text("{}")
    (repo.path / name).parent.mkdir(parents=True, exist_ok=True)
    (repo.path / name).symlink_to(target)
    done = scene.flow(repo, "init", "--json")
    assert (done.status, done.json["error"]["code"]) == (2, "unsafe_path")
    assert target.read_text() == "{}"


def test_init_without_git(tmp_path: Path, repo: GitRepo) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    done = scene.flow(repo, "init", cwd=folder)
    assert done.status == 0
    assert "boundary is inconclusive" in done.stderr
    assert (folder / ".flow/goals/example.goal.yaml").exists()
    listed = scene.flow(repo, "goal", "list", "--json", cwd=folder)
    assert [goal["goal_id"] for goal in listed.json["goals"]] == ["example"]


def test_init_leaves_own_goals_alone(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    assert scene.flow(repo, "init").status == 0
    assert not (repo.path / ".flow/goals/example.goal.yaml").exists()


def findings(repo: GitRepo, *words: str, status: int = 1, **more: object) -> list[str]:
    done = scene.flow(repo, "doctor", "--json", *words, **more)
    assert done.status == status, done
    for finding in done.json["findings"]:
        assert finding["what"]
        assert finding["why"]
        assert finding["do"]
    return [finding["what"] for finding in done.json["findings"]]


@pytest.fixture
def ready(repo: GitRepo) -> GitRepo:
    scene.start(repo)
    scene.step(repo, "init")
    return repo


def test_doctor_tells_what_is_there(ready: GitRepo) -> None:
    facts = {f["what"]: f["value"] for f in scene.flow(ready, "doctor", "--json").json["facts"]}
    assert {"flow", "python", "git", "state folder", "file system", "goals"} <= set(facts)
    assert "package pyyaml" in facts
    for ability in ("hard links", "flock", "fsync", "O_NOFOLLOW", "rename"):
        assert ability in facts["file system"]
    assert not [name for name in os.listdir(ready.path / ".flow") if "tmp" in name]


CONFIG = {
    "core.fsmonitor": "/bin/true",
    "core.hooksPath": "hooks",
    "core.fileMode": "false",
    "core.trustctime": "false",
    "core.excludesFile": "x",
    "filter.x.clean": "cat",
    "filter.x.process": "cat",
    "diff.external": "cat",
    "diff.x.textconv": "cat",
    "status.showUntrackedFiles": "no",
    "core.sshCommand": "ssh",
    "submodule.x.ignore": "all",
}


def test_doctor_names_settings_of_git(ready: GitRepo) -> None:
    for key, value in CONFIG.items():
        ready.git("config", key, value)
    found = "\n".join(findings(ready)).lower()
    assert [key for key in CONFIG if f"{key.lower()}=" not in found] == []


def test_doctor_leaves_usual_settings_alone(ready: GitRepo) -> None:
    for key, value in (("core.fsmonitor", "false"), ("core.fileMode", "true"), ("user.name", "x")):
        ready.git("config", key, value)
    assert findings(ready, status=0) == []


def test_doctor_names_a_working_tree_that_was_moved_by_hand(ready: GitRepo, tmp_path: Path) -> None:
    ready.commit("all of it")
    ready.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
    moved = GitRepo(tmp_path / "moved")
    os.rename(tmp_path / "linked", moved.path)
    assert any("git's records do not name" in what for what in findings(moved))
    moved.git("worktree", "repair")
    assert "git's records" not in scene.flow(moved, "doctor", "--json").stdout


def test_doctor_names_what_hides_changes(ready: GitRepo) -> None:
    ready.git("update-index", "--assume-unchanged", "src/greet.txt")
    assert any("assume-unchanged: src/greet.txt" in what for what in findings(ready))
    ready.git("update-index", "--no-assume-unchanged", "src/greet.txt")
    ready.git("update-index", "--skip-worktree", "src/greet.txt")
    assert any("skip-worktree" in what for what in findings(ready))
    ready.git("update-index", "--no-skip-worktree", "src/greet.txt")
    ready.commit("other", x="y")
    ready.git("replace", "HEAD", "HEAD~1")
    assert any("refs/replace" in what for what in findings(ready))


def test_doctor_names_broken_files(ready: GitRepo) -> None:
    ready.write(".flow/goals/broken.goal.yaml", "kind: no\n")
    ready.write(".decisions/issue-1.md", "---\n[\n---\n")
    ready.write(".claude/settings.flow.json", '{"flow": {"goals": {"jobs": 0}}}')
    found = "\n".join(findings(ready))
    assert "broken.goal.yaml" in found
    assert "flow.goals.jobs" in found
    ready.write(".claude/settings.flow.json", "{}")
    assert "issue-1.md" in "\n".join(findings(ready))


def test_doctor_names_what_verify_calls_unaccounted(ready: GitRepo) -> None:
    scene.create(ready)
    scene.meet(ready)
    assert scene.step(ready, "goal", "evaluate", "greet").status == 0
    assert scene.flow(ready, "evidence", "verify").status == 0
    folder = scene.run_dir(ready)
    assert "did not put there" not in scene.flow(ready, "doctor").stdout
    strays = ("evidence/extra.txt", "evidence/copy.evidence.yaml", "notes.md", "evidence/sub/a.txt")
    for stray in strays:
        (folder / stray).parent.mkdir(exist_ok=True)
        (folder / stray).write_text("whatever")
        name = f"{folder.name}/{stray.removesuffix('/a.txt')}"
        for words in (("evidence", "verify"), ("doctor",)):
            ran = scene.flow(ready, *words)
            assert ran.status == 1
            assert name in ran.stdout
        assert f"a file lies in run {folder.name} that Flow did not put there" in ran.stdout
        (folder / stray).unlink()


def test_doctor_promises_to_finish_no_write_that_cannot_be_read(ready: GitRepo) -> None:
    scene.create(ready)
    ready.write(".flow/runs/.pending/greet.json", "{}")
    for words in ((), ("--fix",)):
        done = scene.flow(ready, "doctor", *words)
        assert done.status == 1
        assert ".pending/greet.json: a change that was decided earlier cannot be" in done.stdout
        assert "compare the goal with its journal, then remove this file" in done.stdout
        assert "mended by" not in done.stdout


def test_doctor_removes_what_is_left_over(ready: GitRepo) -> None:
    scene.create(ready)
    left = [
        ".flow/goals/.flow-tmp-a",
        ".flow/runs/x/evidence/.flow-tmp-b",
        ".decisions/.flow-tmp-c",
    ]
    for name in left:
        ready.write(name, "half")
    assert any("3 temporary files" in what for what in findings(ready))
    assert all((ready.path / name).exists() for name in left)
    done = scene.flow(ready, "doctor", "--fix", "--json")
    assert done.status == 0, done
    assert len(done.json["fixed"]) == 3
    assert not any((ready.path / name).exists() for name in left)
    assert findings(ready, status=0) == []


def test_doctor_finds_what_a_debate_or_a_card_left_half_written(
    ready: GitRepo, home: Path, tmp_path: Path
) -> None:
    scene.create(ready)
    setting = {"judge": {"reportsDir": "docs/reports", "scoresDir": "docs/cards"}}
    ready.write(".claude/settings.flow.json", json.dumps(setting))
    name = ".flow-tmp-0123456789abcdef01"
    folders = (".specs/reports", "docs/reports", "docs/cards", "skills/judge/scores")
    for folder in folders:
        ready.write(f"{folder}/{name}", "half")
    assert not any("temporary" in what for what in findings(ready, status=0))  # at work, maybe
    for folder in folders:
        os.utime(ready.path / folder / name, (1, 1))
    outside = tmp_path / "outside"
    (outside / "reports").mkdir(parents=True)
    (outside / "reports" / name).write_text("another's")
    os.utime(outside / "reports" / name, (1, 1))
    done = scene.flow(ready, "doctor", "--fix", "--json")
    assert sorted(done.json["fixed"]) == sorted(f"removed {folder}/{name}" for folder in folders)
    shutil.rmtree(ready.path / ".specs")
    (ready.path / ".specs").symlink_to(outside)
    assert scene.flow(ready, "doctor", "--fix", "--json").json["fixed"] == []
    assert (outside / "reports" / name).exists()


def test_doctor_waits_for_a_process_that_is_at_work(ready: GitRepo) -> None:
    import fcntl

    scene.create(ready)
    scene.flow(ready, "goal", "pause", "greet")
    ready.write(".flow/goals/.flow-tmp-a", "half")
    with open(ready.path / ".flow/runs/.locks/goal-greet.lock", "a+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert any("held" in what for what in findings(ready, "--fix"))
    assert (ready.path / ".flow/goals/.flow-tmp-a").exists()


@pytest.fixture
def leftover(ready: GitRepo) -> Path:
    """A temporary file of an ended process, in a run that has evidence."""
    scene.create(ready)
    scene.meet(ready)
    assert scene.step(ready, "goal", "evaluate", "greet").status == 0
    path = scene.run_dir(ready) / "evidence/.flow-tmp-0123456789abcdef01"
    path.write_text("half")
    return path


def test_doctor_holds_one_lock_at_a_time(
    ready: GitRepo, leftover: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(50):
        ready.write(f".flow/runs/.locks/goal-g{number}.lock", "")
    held: list[str] = []
    taken: list[str] = []
    most = 0

    @contextmanager
    def counted(root: str, rel: str, **more: Any) -> Iterator[None]:
        nonlocal most
        held.append(rel)
        taken.append(rel)
        most = max(most, len(held))
        try:
            with locks.exclusive(root, rel, **more):
                yield
        finally:
            held.remove(rel)

    monkeypatch.setattr(doctor_disk, "locks", SimpleNamespace(exclusive=counted))
    assert str(leftover.relative_to(ready.path)) in str(fixed(ready))
    assert most == 1
    names = {os.path.basename(rel) for rel in taken}
    assert names == set(os.listdir(ready.path / ".flow/runs/.locks")), "and every one"
    assert len(names) > 50


def fixed(repo: GitRepo) -> list[str]:
    rows: list[str] = scene.flow(repo, "doctor", "--fix", "--json").json["fixed"]
    return rows


def test_doctor_leaves_alone_what_comes_while_it_waits(
    ready: GitRepo, leftover: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for new in (leftover, leftover.with_name(".flow-tmp-aa3456789abcdef012")):

        @contextmanager
        def begins(root: str, rel: str, *, new: Path = new, **more: Any) -> Iterator[None]:
            with locks.exclusive(root, rel, **more):
                yield
            if rel.endswith("/goal-greet.lock"):  # another process is at work from now on
                leftover.unlink()
                new.write_text("half of another")

        with monkeypatch.context() as patch:
            patch.setattr(doctor_disk, "locks", SimpleNamespace(exclusive=begins))
            assert fixed(ready) == []
        assert new.read_text() == "half of another"


def test_doctor_waits_for_whatever_holds_a_lock(
    ready: GitRepo, leftover: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    monkeypatch.setattr(doctor_disk, "LOCK_SECONDS", 0.05)
    own = f"run-{scene.run_dir(ready).name}"
    for lock in ("evaluate-greet", "baseline-greet", "stop-greet", own, "journal-x"):
        with open(ready.path / f".flow/runs/.locks/{lock}.lock", "a+") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            assert any("held" in what for what in findings(ready, "--fix")), lock
            assert leftover.exists()
    assert len(fixed(ready)) == 1


def test_doctor_keeps_what_a_run_still_needs(
    ready: GitRepo, leftover: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_run: object) -> None:
        raise StorageError("no space left", file="x", remedy="free some")

    ready.write(".flow/goals/.flow-tmp-a", "half")
    with monkeypatch.context() as patch:
        patch.setattr(evidence_store, "finish_record", full)
        assert fixed(ready) == ["removed .flow/goals/.flow-tmp-a"]
    assert leftover.exists()
    assert len(fixed(ready)) == 1


def test_doctor_mends_with_few_open_files(ready: GitRepo, leftover: Path) -> None:
    text = scene.goal_file(ready)
    for number in range(90):
        other = f"g{number}"
        ready.write(f".flow/goals/{other}.goal.yaml", text.replace("greet", other))
        ready.write(f".flow/runs/.locks/goal-{other}.lock", "")
    shell = f"ulimit -n 64; exec {ROOT}/bin/flow doctor --fix --json"
    env = {"FLOW_PYTHON": sys.executable}
    done = run(["bash", "-c", shell], cwd=ready.path, env=env)
    assert str(leftover.relative_to(ready.path)) in done.stdout, done
    assert not leftover.exists()


def test_doctor_looks_at_the_state_folder(ready: GitRepo, home: Path) -> None:
    scene.create(ready)
    folder = home / "flow-state"
    (folder / "goal-trust.jsonl").chmod(0o644)
    assert any("0644" in what for what in findings(ready))
    (folder / "goal-trust.jsonl").chmod(0o600)
    folder.chmod(0o755)
    assert any("0755" in what for what in findings(ready))
    folder.chmod(0o777)
    assert any("may be written by others" in what for what in findings(ready))
    folder.chmod(0o700)
    inside = findings(ready, env={"FLOW_STATE_DIR": str(ready.path / "state")})
    assert any("lies inside the checkout" in what for what in inside)


def test_doctor_names_what_init_would_add(ready: GitRepo) -> None:
    (ready.path / ".gitignore").unlink()
    (ready.path / ".claude/settings.json").unlink()
    found = "\n".join(findings(ready))
    assert "git does not ignore .flow/runs/" in found
    assert "lacks" in found
    assert scene.flow(ready, "init").status == 0
    assert findings(ready, status=0) == []


def test_doctor_names_run_files_in_git(ready: GitRepo) -> None:
    ready.write(".flow/runs/r/x", "y")
    ready.git("add", "-f", ".flow/runs/r/x")
    assert any("tracked by git" in what for what in findings(ready))


def test_doctor_without_a_repository(repo: GitRepo, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    assert any("no git repository" in what for what in findings(repo, cwd=folder))


def test_doctor_without_git(ready: GitRepo, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("bash", "readlink"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name) or f"/bin/{name}")
    found = findings(ready, env={"PATH": str(tmp_path / "bin")})
    assert "git cannot be started" in found


def test_doctor_starts_no_git_of_the_checkout(ready: GitRepo) -> None:
    ready.write(
        "bin/git", "#!/bin/sh\ntouch ../started started; echo git version 9.9\n", mode=0o755
    )
    path = f"{ready.path}/bin:{os.environ['PATH']}"
    scene.flow(ready, "doctor", env={"PATH": path})
    assert not (ready.path / "started").exists()
    assert not (ready.path.parent / "started").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_doctor_where_nothing_can_be_written(ready: GitRepo) -> None:
    (ready.path / ".flow").chmod(0o555)
    try:
        assert any("cannot be written" in what for what in findings(ready))
    finally:
        (ready.path / ".flow").chmod(0o755)
