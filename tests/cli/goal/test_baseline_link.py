"""``evaluator.baseline_link``: ignored folders in the checkout of the base commit."""

from __future__ import annotations

import os
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import GitRepo
from tests.support.scene import create, flow, goal_file, run_dir, start, step

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

GREEN = "sh src/uses.sh"
USES = "grep -q 'VALUE = 1' node_modules/dep/dep.py\n"
WRECKS = "rm -rf node_modules/dep; echo x > node_modules/new; test ! -e node_modules/dep"


def text_with(link: str, text: str) -> str:
    return text.replace("evaluator:\n", f"evaluator:\n  baseline_link: {link}\n", 1)


def made(repo: GitRepo, command: str, link: str = "[node_modules]") -> Any:
    """A goal from a file, in a repository with an ignored folder of dependencies."""
    start(repo)
    ignored = ".flow/runs/\nnode_modules/\nvendor/\n*.kept\n__pycache__/\n"
    repo.commit("code", **{"src/uses.sh": USES, ".gitignore": ignored})
    repo.write("node_modules/dep/dep.py", "VALUE = 1\n")
    repo.write("node_modules/dep/__pycache__/x.pyc", "cache")
    os.symlink("dep", repo.path / "node_modules/alias")
    done = step(
        repo, "goal", "create", "greet", "--outcome", "o", "--allow", "src/**", "--draft",
        "--criterion", f"AC1: x :: {command}",
    )  # fmt: skip
    assert done.status == 0, done
    path = repo.path / ".flow/goals/greet.goal.yaml"
    path.write_text(text_with(link, path.read_text()))
    return flow(repo, "goal", "activate", "greet", "--json")


def baseline(repo: GitRepo, *words: str) -> dict[str, Any]:
    done = flow(repo, "goal", "baseline", "greet", "--json", *words)
    assert done.status == 0, done
    (row,) = done.json["criteria"]
    return row


def sidecar(repo: GitRepo) -> str:
    folder = run_dir(repo) / "evidence"
    newest = max(folder.glob("evidence-ac1-base*.yaml"), key=lambda path: path.stat().st_mtime_ns)
    return newest.read_text()


def tree(folder: Path) -> dict[str, Any]:
    return {
        os.fspath(p.relative_to(folder)): (p.lstat().st_mtime_ns, p.lstat().st_ino)
        for p in sorted(folder.rglob("*"))
    }


@pytest.mark.parametrize("link", ["[node_modules]", "[node_modules/, vendor]"])
def test_the_dependencies_are_there(repo: GitRepo, link: str) -> None:
    assert made(repo, GREEN, link).status == 0
    assert baseline(repo)["non_discriminating"] is True
    assert "Copied from the checkout, as they are now: node_modules." in sidecar(repo)
    assert ("Not here, so they were not linked: vendor." in sidecar(repo)) is ("vendor" in link)


def test_without_it_they_are_not(repo: GitRepo) -> None:
    assert made(repo, GREEN, "[]").status == 0
    assert baseline(repo)["outcome"] == "failed"


@pytest.mark.parametrize("sandbox", ["", "\n  sandbox: bwrap"])
def test_a_run_of_the_base_cannot_change_the_real_folder(repo: GitRepo, sandbox: str) -> None:
    if sandbox and shutil.which("bwrap") is None:
        pytest.skip("needs bwrap")
    assert made(repo, WRECKS, f"[node_modules]{sandbox}").status == 0
    before = tree(repo.path / "node_modules")
    assert baseline(repo)["outcome"] == "passed", sidecar(repo)
    assert tree(repo.path / "node_modules") == before


ATTACKS: dict[str, Callable[[Path], object]] = {
    "all-gone": shutil.rmtree,
    "closed": lambda deps: (deps / "dep.py").chmod(0o000),
    "new": lambda deps: (deps / "new.py").write_text(""),
    "one-gone": lambda deps: (deps / "dep.py").unlink(),
    "written": lambda deps: (deps / "dep.py").write_text("VALUE = 2\n"),
}


def test_a_changed_folder_makes_no_red(repo: GitRepo) -> None:
    """An agent that breaks the dependencies so that the base fails has shown nothing by it."""
    repo.write(".git/info/exclude", "vendor/\n")
    for name in ATTACKS:
        repo.write(f"vendor/{name}/dep.py", "VALUE = 1\n")
    folders = [f"vendor/{name}" for name in ATTACKS]
    assert made(repo, f"{GREEN} && false", f"[node_modules, {', '.join(folders)}]").status == 0
    for name, attack in ATTACKS.items():
        attack(repo.path / "vendor" / name)
    row = baseline(repo)
    assert row["outcome"] == "inconclusive", row
    said = "linked by evaluator.baseline_link, changed since the goal began"
    assert row["reason"] == f"not red: {', '.join(folders)}, {said}"


def test_another_time_is_a_change_as_well(repo: GitRepo) -> None:
    assert made(repo, "false").status == 0
    os.utime(repo.path / "node_modules/dep/dep.py", ns=(1, 1))
    assert baseline(repo)["outcome"] == "inconclusive"


def test_written_back_with_its_times_is_a_change_as_well(repo: GitRepo) -> None:
    assert made(repo, "false").status == 0
    file = repo.path / "node_modules/dep/dep.py"
    known = file.stat()
    file.write_text("VALUE = 2\n")
    os.utime(file, ns=(known.st_atime_ns, known.st_mtime_ns))
    assert baseline(repo)["outcome"] == "inconclusive"


def test_caches_in_it_are_no_change(repo: GitRepo) -> None:
    assert made(repo, f"test ! -e node_modules/dep/__pycache__ && {GREEN} && false").status == 0
    repo.write("node_modules/dep/__pycache__/x.pyc", "another")
    repo.write("node_modules/.cache/y", "new")
    assert baseline(repo)["outcome"] == "failed"


def test_a_file_that_is_linked_elsewhere_too_is_no_change(repo: GitRepo, tmp_path: Path) -> None:
    """Package managers share files between projects by hard links."""
    start(repo)
    os.makedirs(repo.path / "node_modules/dep")
    repo.write("node_modules/dep/shared.py", "VALUE = 1\n")
    os.link(repo.path / "node_modules/dep/shared.py", tmp_path / "store")
    assert made(repo, "false").status == 0
    os.link(tmp_path / "store", tmp_path / "another project")
    assert baseline(repo)["outcome"] == "failed"


def test_it_holds_as_long_as_the_folder(repo: GitRepo) -> None:
    """What came of it is not remembered for other calls: the folder is no part of the commit."""
    made(repo, GREEN)
    assert baseline(repo)["cached"] is False
    assert baseline(repo)["cached"] is False


def test_in_an_evaluation_too(repo: GitRepo) -> None:
    assert made(repo, GREEN).status == 0
    path = repo.path / ".flow/goals/greet.goal.yaml"
    path.write_text(
        path.read_text().replace("constraints:\n", "constraints:\n  tdd_required: true\n")
    )
    assert flow(repo, "trust", "record", "greet", "--yes").status == 0
    done = flow(repo, "goal", "evaluate", "greet", "--json")
    (row,) = done.json["criterion_results"]
    assert row["base"]["non_discriminating"] is True


def test_what_cannot_be_linked_is_refused_by_name(repo: GitRepo) -> None:
    for link, why in (
        ("[src]", "not ignored"),
        ("[nothing]", "not ignored"),
        ("[/etc]", "baseline_link"),
        ("[../x]", "baseline_link"),
        ("[node_modules/../src]", "baseline_link"),
        ("[.git]", "git's own"),
        ("[.flow/runs]", "git's own"),
        ("['node_*']", "plain path"),
        ("['./node_modules']", "plain path"),
        ("['']", "baseline_link"),
        ("[1]", "baseline_link"),
        ("node_modules", "baseline_link"),
    ):
        if not (repo.path / ".flow").exists():
            done = made(repo, GREEN, link)
        else:
            text = re.sub(r"baseline_link: .*", f"baseline_link: {link}", goal_file(repo))
            repo.write(".flow/goals/greet.goal.yaml", text)
            done = flow(repo, "goal", "activate", "greet", "--json")
        assert done.status == 2, done
        assert "evaluator.baseline_link" in done.stdout
        assert why in done.stdout


@pytest.mark.parametrize("where", ["itself", "above"])
def test_no_symlink_is_followed(repo: GitRepo, tmp_path: Path, where: str) -> None:
    (tmp_path / "outside/vendor").mkdir(parents=True)
    start(repo)
    os.symlink(tmp_path / "outside", repo.path / "vendor")
    link = "[vendor]" if where == "itself" else "[vendor/vendor]"
    done = made(repo, GREEN, link)
    assert done.status == 2
    assert "symlink" in done.stdout
    assert goal_file(repo)


def test_one_that_becomes_a_symlink_later(repo: GitRepo, tmp_path: Path) -> None:
    made(repo, GREEN)
    shutil.move(repo.path / "node_modules", tmp_path / "away")
    os.symlink(tmp_path / "away", repo.path / "node_modules")
    done = flow(repo, "goal", "baseline", "greet")
    assert done.status == 2
    assert re.search("node_modules.* symlink", done.stderr)


def test_changing_it_in_a_live_goal_needs_a_person(repo: GitRepo) -> None:
    made(repo, GREEN, "[]")
    repo.write("new.yaml", goal_file(repo).replace("baseline_link: []", "baseline_link: [vendor]"))
    done = flow(repo, "goal", "amend", "greet", "--file", "new.yaml", "--json")
    assert done.status == 4, done


def test_the_minimal_goal_is_as_before(repo: GitRepo) -> None:
    create(start(repo))
    assert "baseline_link" not in goal_file(repo)
