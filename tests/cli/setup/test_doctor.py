"""``flow doctor``: findings with why and what to do, what is fine by name, and safe mending."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from flow.adapters.git import run as git_run
from flow.adapters.setup import doctor_disk
from flow.core.text.shell_quote import shell_argument
from tests.support import ROOT, GitRepo, scene
from tests.support.scene import ended, flow

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.made_once.stage import Stage

HOOK = ".git/hooks/pre-push"


@pytest.fixture(autouse=True)
def _no_settings_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = git_run.environment

    def without(*, config: bool = True) -> dict[str, str]:
        return {**environment(config=config), "GIT_CONFIG_NOSYSTEM": "1"}

    monkeypatch.setattr(git_run, "environment", without)


@pytest.fixture
def ready(stage: Stage) -> GitRepo:
    """A repository that is set up, with the hook before a push."""

    def make() -> None:
        repo = scene.start(GitRepo.init(stage.repo.path))
        done = flow(repo, "init", "--host", "claude", "--git-hook", "pre-push")
        assert done.status == 0, done
        assert flow(repo, "doctor").status == 0

    stage.begin(make)
    return stage.repo


def findings(repo: GitRepo, *words: str, status: int = 1) -> list[dict[str, Any]]:
    done = flow(repo, "doctor", *words, "--json")
    assert done.status == status, done
    rows: list[dict[str, Any]] = done.json["findings"]
    return rows


def test_what_is_fine_is_named_and_shown_with_v(ready: GitRepo) -> None:
    scene.create(ready)
    done = flow(ready, "doctor")
    assert done.status == 0
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("Fine: "))
    for name in (
        *("Python 3.", "packages", "git 2.", "state folder", "file system", "settings"),
        *("2 goals", "1 journal", "Claude Code's rules", "pre-push hook", "-v shows each"),
    ):
        assert name in line
    assert done.stdout.endswith("nothing is wrong\n")
    more = flow(ready, "doctor", "-v").stdout
    assert "package pyyaml" in more
    assert "Fine: " not in more


def test_what_is_not_fine_is_not_named_so(ready: GitRepo) -> None:
    ready.write(".flow/goals/broken.goal.yaml", "kind: no\n")
    done = flow(ready, "doctor")
    assert done.status == 1
    assert "goals," not in done.stdout.partition("Fine: ")[2]
    assert re.search(r"^✗ .*broken.goal.yaml", done.stdout, re.MULTILINE)
    assert re.search(r"\n\d findings\n$", done.stdout)


def test_evidence_that_was_altered_is_a_finding_while_its_goal_is_under_way(
    ready: GitRepo,
) -> None:
    """Of a goal that has ended only the ledger is looked at, and the rest is named."""
    scene.create(ready)
    scene.propose(ready)
    (sidecar,) = scene.run_dir(ready).glob("evidence/*.evidence.yaml")
    for file in (sidecar, sidecar.with_name("evidence-ac1-eval-1.txt")):
        before = file.read_bytes()
        file.write_bytes(before + b"# more\n")
        (found,) = findings(ready)
        assert f"{file.name}: was altered" in found["what"], found
        assert f"flow evidence verify {scene.run_dir(ready).name}" in found["do"]
        file.write_bytes(before)
    assert scene.confirm(ready).status == 0
    file.write_bytes(b"more\n")
    done = flow(ready, "doctor", "-v")
    assert (done.status, "of the others: flow evidence verify" in done.stdout) == (0, True), done


def test_the_hook_gets_the_path_of_flow_as_it_is_now(ready: GitRepo, tmp_path: Path) -> None:
    text = ready.read(HOOK)
    for how in ("gone", "moved", "no program"):
        if how == "no program":
            (ready.path / HOOK).chmod(0o644)
        else:
            ready.write(HOOK, text.replace(f"{ROOT}/bin/flow", str(tmp_path / "flow")), mode=0o755)
        if how == "moved":
            (tmp_path / "flow").write_text("not a program")
        (finding,) = findings(ready)
        assert finding["fixable"], how
        assert finding["mark"] == "failed"
        assert "pre-push" in finding["what"]
        assert findings(ready, "--fix", status=0) == []
        assert ready.read(HOOK) == text
        assert os.access(ready.path / HOOK, os.X_OK)


def test_a_hook_that_was_changed_is_left_alone(ready: GitRepo) -> None:
    text = ready.read(HOOK).replace("exit 1\n", "exit 0\n")
    ready.write(HOOK, text, mode=0o755)
    (finding,) = findings(ready, "--fix")
    assert "not as Flow wrote it" in finding["what"]
    assert ready.read(HOOK) == text
    assert f"rm {shell_argument(str(ready.path / HOOK))} && " in finding["do"]


def test_the_missing_line_is_mended(ready: GitRepo) -> None:
    ready.write(".gitignore", "build/\n")
    (finding,) = findings(ready)
    assert (finding["what"], finding["fixable"]) == ("git does not ignore .flow/runs/", True)
    assert "1 finding, 1 mended by flow doctor --fix" in flow(ready, "doctor").stdout
    done = flow(ready, "doctor", "--fix")
    assert done.status == 0
    assert "mended: .gitignore: added the line .flow/runs/" in done.stdout
    assert ready.read(".gitignore") == "build/\n.flow/runs/\n"


RULES = {
    ".flow/\n!.flow/runs/\n": True,
    ".flow/*\n!.flow/runs/\n": False,
    ".flow/runs/\n!.flow/runs/\n": False,
    ".flow/runs/\n!*/evidence/\n": True,
    ".flow/runs/*\n!.flow/runs/*/\n": False,
    "*\n": True,
}


def test_whether_runs_are_ignored_git_says(ready: GitRepo) -> None:
    for rules, is_ignored in RULES.items():
        ready.write(".gitignore", rules)
        told = [finding["what"] for finding in findings(ready, status=1 - is_ignored)]
        assert told == ([] if is_ignored else ["git does not ignore .flow/runs/"]), rules
        adds_line = rules == "*\n" or not is_ignored
        for _ in range(2):
            assert flow(ready, "init").status == 0
            assert ready.read(".gitignore") == rules + ".flow/runs/\n" * adds_line
        if adds_line:
            assert findings(ready, status=0) == []


def test_a_rule_below_takes_runs_back(ready: GitRepo) -> None:
    ready.write(".flow/.gitignore", "!runs/\n")
    before = ready.read(".gitignore")
    for words in ((), ("--fix",), ("--fix",)):
        done = flow(ready, "doctor", *words)
        assert (done.status, "git does not ignore .flow/runs/" in done.stdout) == (1, True)
    assert "take the line with ! out of .flow/.gitignore" in done.stdout
    assert ready.read(".gitignore") == before


def test_mending_after_a_goal_began_is_no_violation(ready: GitRepo) -> None:
    ready.write(".gitignore", "")
    ready.commit("without")
    scene.create(ready)
    assert flow(ready, "doctor", "--fix").status == 0
    assert scene.confirm(scene_met(ready)).status == 0


def scene_met(repo: GitRepo) -> GitRepo:
    scene.meet(repo)
    return repo


def test_modes_of_the_state_folder_are_mended(ready: GitRepo, stage: Stage) -> None:
    scene.create(ready)
    trust = stage.own / "goal-trust.jsonl"
    trust.chmod(0o640)
    (finding,) = findings(ready)
    assert finding["fixable"]
    assert findings(ready, "--fix", status=0) == []
    assert trust.stat().st_mode & 0o777 == 0o600


def test_a_home_that_can_hold_no_state_folder_is_a_finding(
    ready: GitRepo, tmp_path: Path, monkeypatch: Any
) -> None:
    home = tmp_path / "of-nobody"
    home.mkdir()
    access = os.access

    def refused(path: str, mode: int, **more: Any) -> bool:
        return path != str(home) and access(path, mode, **more)

    monkeypatch.setattr(os, "access", refused)
    done = flow(ready, "doctor", env={"HOME": str(home), "FLOW_STATE_DIR": ""})
    assert f"{home}/.claude/flow-state cannot be made" in done.stdout


def test_a_limit_on_files_is_no_fault_of_the_file_system(ready: GitRepo) -> None:
    shell = ("bash", "-c", 'ulimit -f 0; exec "$@"', "bash")
    done = subprocess.run(
        (*shell, sys.executable, "-m", "flow", "doctor"),
        cwd=ready.path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert ".flow cannot be written: File too large" in done.stdout
    assert "local file system" not in done.stdout


def test_a_disk_without_room_to_evaluate_is_a_finding(ready: GitRepo, monkeypatch: Any) -> None:
    monkeypatch.setattr(doctor_disk, "SPACE", 1 << 60)
    (finding,) = findings(ready)
    assert finding["what"] == ".flow cannot be written: No space left on device"


def test_a_disk_that_knows_no_letter_case_is_told(ready: GitRepo, monkeypatch: Any) -> None:
    assert "letter case" not in flow(ready, "doctor", "-v").stdout
    monkeypatch.setattr(os.path, "exists", _exists_in_any_case)
    assert "names that differ only in case are one file here" in flow(ready, "doctor", "-v").stdout


def _exists_in_any_case(path: str | os.PathLike[str]) -> bool:
    """What a disk without letter case answers."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.isdir(folder) and name.lower() in map(str.lower, os.listdir(folder))


def test_a_setting_that_is_not_obeyed_is_told_with_the_line_for_it(ready: GitRepo) -> None:
    assert flow(ready, "config", "set", "stopHookEnforcement", "block").status == 0
    words = ("config", "set", "stopHookEnforcement", "warn", "--project")
    assert flow(ready, *words).status == 0
    (finding,) = findings(ready)
    assert finding["what"] == "stopHookEnforcement of this checkout is not obeyed"
    assert finding["mark"] == "undecided"
    line = finding["do"]
    assert line == "flow config set stopHookEnforcement warn --user --here"
    assert flow(ready, *line.split()[1:]).status == 0
    assert findings(ready, status=0) == []


def test_at_a_terminal_it_fits_and_falls_back_to_ascii(ready: GitRepo) -> None:
    ready.write(".gitignore", "")
    for term in ("xterm", "dumb"):
        child = scene.at_terminal(ready, ["doctor"], 80, TERM=term, NO_COLOR="1")
        code, shown = ended(child)
        assert code == 1
        assert all(len(line) < 80 for line in shown.splitlines())
        assert shown.isascii() == (term == "dumb")


def test_one_marked_file_is_one_file(ready: GitRepo) -> None:
    ready.commit("set up")
    ready.git("update-index", "--assume-unchanged", ".gitignore")
    assert findings(ready)[0]["what"] == "1 file is marked assume-unchanged: .gitignore"
    ready.git("update-index", "--assume-unchanged", ".gitattributes")
    assert findings(ready)[0]["what"].startswith("2 files are marked assume-unchanged: ")
