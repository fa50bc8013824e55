"""The pinned base at the command line: create, --base, a lost record, a clone, by-products."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import GitRepo, Ran, run_flow, start_flow

CRITERION = "AC1: says please :: grep -q please src/greet.txt"


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    repo.commit("start", **{"src/greet.txt": "please\n", ".gitignore": ".flow/runs/\n"})
    return repo


def flow(work: GitRepo, *words: str) -> Ran:
    return run_flow(*words, cwd=work.path)


def create(work: GitRepo, *more: str, criterion: str = CRITERION) -> Ran:
    words = ("goal", "create", "greet", "--outcome", "o", "--allow", "src/**")
    return flow(work, *words, "--criterion", criterion, "--json", *more)


def on_a_branch(work: GitRepo) -> None:
    work.git("switch", "-qc", "topic")
    work.commit("outside", **{"other.txt": "x\n"})


def scope(work: GitRepo) -> dict[str, Any]:
    return dict(flow(work, "goal", "inspect", "greet", "--json").json["document"]["scope"])


def evaluate(work: GitRepo, *more: str) -> Ran:
    return flow(work, "goal", "evaluate", "greet", "--json", *more)


def test_create_lists_what_lies_outside_already_and_asks_for_a_base(work: GitRepo) -> None:
    on_a_branch(work)
    done = create(work)
    assert done.status == 2
    assert "other.txt" in done.json["error"]["message"]
    assert "--base" in done.json["error"]["remedy"]
    assert not (work.path / ".flow/goals/greet.goal.yaml").exists()


def test_create_counts_from_the_base_it_is_given(work: GitRepo) -> None:
    on_a_branch(work)
    assert create(work, "--base", "HEAD").status == 0
    assert evaluate(work).status == 0


@pytest.mark.parametrize("base", ["develop", "refs/heads/develop", "develop~1", "HEAD"])
def test_the_base_that_create_is_given_is_the_goals(work: GitRepo, base: str) -> None:
    """A branch by its name, which ``rebase`` follows; anything else by the commit it is now."""
    work.git("switch", "-qc", "develop")
    first = work.commit("one", **{"other.txt": "x\n"})
    work.commit("two", **{"other.txt": "y\n"})
    on_a_branch(work)
    done = create(work, "--base", base, "--draft")
    assert done.status == 0, done
    commit = first if base == "develop~1" else work.git("rev-parse", base).strip()
    kept = base if base.endswith("develop") else commit
    assert scope(work)["base"] == kept
    work.commit("later", **{"src/greet.txt": "please\n"})
    assert flow(work, "goal", "activate", "greet").status == 0
    assert scope(work)["base_commit"] == commit, "also where HEAD has moved on"


def test_rebase_follows_the_branch_that_create_was_given(work: GitRepo) -> None:
    work.git("switch", "-qc", "develop")
    work.commit("one", **{"other.txt": "x\n"})
    work.git("switch", "-qc", "topic")
    assert create(work, "--base", "develop").status == 0
    work.git("switch", "-q", "develop")
    work.commit("theirs", **{"other.txt": "y\n"})
    work.git("switch", "-q", "topic")
    work.git("merge", "-q", "develop")
    done = flow(work, "goal", "rebase", "greet", "--yes")
    assert done.status == 0, done
    assert "other.txt" in done.stderr


def test_a_base_that_is_no_commit_is_refused(work: GitRepo) -> None:
    for base in ("nowhere", "--upload-pack=x", "HEAD:src", ""):
        done = create(work, f"--base={base}")
        assert done.status == 2, done
        assert not list(work.path.glob(".flow/goals/*.yaml"))


def test_a_narrower_range_shows_and_proposes_nothing(work: GitRepo) -> None:
    assert create(work).status == 0
    work.git("switch", "-q", "main")
    work.commit("more work", **{"src/more.txt": "x\n"})
    narrow = evaluate(work, "--base", "HEAD")
    assert (narrow.status, narrow.json["proposed_transition"]) == (1, None)
    assert narrow.json["verdict"] == "not_achieved"
    why = "nothing is proposed: the range from HEAD does not contain the pinned base"
    assert narrow.json["reason"] == why
    assert narrow.json["next_step_hint"] == "flow goal evaluate greet"
    assert evaluate(work).json["proposed_transition"] is not None


def test_a_narrower_range_hides_no_file_outside(work: GitRepo) -> None:
    assert create(work).status == 0
    work.commit("outside", **{"other.txt": "x\n"})
    assert evaluate(work).status == 3
    assert evaluate(work, "--base", "HEAD").status == 1
    work.write("another.txt", "x\n")
    narrow = evaluate(work, "--base", "HEAD")
    assert (narrow.status, narrow.json["path_violations"]) == (3, ["another.txt"])


def test_a_lost_record_of_the_start_waits_for_a_person(work: GitRepo) -> None:
    create(work)
    assert evaluate(work).status == 0
    next(work.path.glob(".flow/runs/*/baseline.json")).unlink()
    lost = evaluate(work)
    assert (lost.status, lost.json["verdict"]) == (4, "needs_human_review")
    approve = ("goal", "approve", "greet", "guards", "--by", "Reader", "--note", "mine", "--yes")
    assert flow(work, *approve).status == 0
    assert evaluate(work).status == 0


def test_a_fresh_clone_evaluates_with_the_contract_named(work: GitRepo, tmp_path: Path) -> None:
    create(work)
    work.commit("the goal")
    digest = flow(work, "trust", "check", "greet", "--json").json["digest"]
    work.git("clone", "-q", str(work.path), str(tmp_path / "clone"))
    clone = GitRepo(tmp_path / "clone")
    assert evaluate(clone).status == 4  # not trusted there
    done = evaluate(clone, "--trust-digest", digest)
    assert done.status == 0, done
    clone.write("other.txt", "x\n")
    assert evaluate(clone, "--trust-digest", digest).status == 3


CONVERTED = {
    "*.bat text eol=crlf": ("echo\n", b"echo\r\n"),
    "*.id ident": ("# $Id$\n", None),
    "*.le text working-tree-encoding=UTF-16LE": ("caf\u00e9\n", "caf\u00e9\n".encode("utf-16-le")),
    "*.bom text working-tree-encoding=UTF-16": ("caf\u00e9\n", "caf\u00e9\n".encode("utf-16")),
    "*.both text ident eol=crlf": ("$Id$\nx\n", None),
}


def test_a_fresh_clone_knows_what_git_converts_at_a_checkout(work: GitRepo, tmp_path: Path) -> None:
    work.write(".gitattributes", "".join(f"{attributes}\n" for attributes in CONVERTED))
    files = {f"it{line.partition(' ')[0][1:]}": row for line, row in CONVERTED.items()}
    for name, (text, disk) in files.items():
        (work.path / name).write_bytes(text.encode() if disk is None else disk)
    work.commit("attributes")
    create(work)
    work.commit("the goal")
    digest = flow(work, "trust", "check", "greet", "--json").json["digest"]
    work.git("clone", "-q", str(work.path), str(tmp_path / "clone"))
    clone = GitRepo(tmp_path / "clone")
    shown = {name: (clone.path / name).read_bytes() for name in files}
    assert not [name for name, (text, _) in files.items() if shown[name] == text.encode()]
    done = evaluate(clone, "--trust-digest", digest)
    assert done.json["path_violations"] == [], done
    for name, data in shown.items():
        more = "x\n".encode("utf-16-le" if b"\0" in data else "utf-8")
        (clone.path / name).write_bytes(data + more)
    assert evaluate(clone, "--trust-digest", digest).json["path_violations"] == sorted(files)


def test_trust_recorded_in_a_fresh_clone_makes_its_own_baseline(
    work: GitRepo, tmp_path: Path
) -> None:
    create(work)
    work.commit("the goal")
    work.git("clone", "-q", str(work.path), str(tmp_path / "clone"))
    clone = GitRepo(tmp_path / "clone")
    assert flow(clone, "trust", "record", "greet", "--yes").status == 0
    assert evaluate(clone).status == 0


def test_a_by_product_is_named_and_kept_apart(work: GitRepo) -> None:
    assert create(work, criterion="AC1: x :: echo $RANDOM > build.log").status == 0
    for _ in range(2):  # it writes something else each time
        done = evaluate(work)
        assert done.status == 0, done
    assert any("build.log" in warning for warning in done.json["warnings"])
    work.write("build.log", "by hand\n")
    assert evaluate(work).status == 3


def test_a_killed_evaluations_caches_are_by_products_too(work: GitRepo) -> None:
    command = "mkdir -p lib/__pycache__ && echo x > lib/__pycache__/a.pyc && kill -9 $PPID; sleep 5"
    assert create(work, criterion=f"AC1: x :: test -e stop || {{ {command}; }}").status == 0
    start_flow("goal", "evaluate", "greet", cwd=work.path)
    work.write("src/ok", "")
    measuring = list(work.path.glob(".flow/runs/*/measuring.json"))
    work.write(".git/info/nothing", "")
    if measuring:  # the evaluation itself was killed
        assert json.loads(measuring[0].read_text()) == []
    done = evaluate(work)
    assert done.json["path_violations"] == []


def test_a_goal_without_git_is_made_and_never_achieved(tmp_path: Path) -> None:
    folder = GitRepo(tmp_path / "plain")
    folder.path.mkdir()
    (folder.path / ".flow").mkdir()
    folder.write("src/greet.txt", "please\n")
    assert create(folder).status == 0
    done = evaluate(folder)
    assert (done.status, done.json["verdict"]) == (1, "not_achieved")
    assert "boundary" in done.json["reason"]


def test_moving_the_base_trusts_no_contract_that_a_person_has_not_seen(work: GitRepo) -> None:
    work.git("switch", "-qc", "topic")
    assert create(work).status == 0
    work.git("switch", "-q", "main")
    work.commit("theirs", **{"other.txt": "x\n"})
    work.git("switch", "-q", "topic")
    work.git("merge", "-q", "main")
    file = work.path / ".flow/goals/greet.goal.yaml"
    text = file.read_text()
    file.write_text(text.replace("grep -q please", "grep -q p"))
    done = flow(work, "goal", "rebase", "greet", "--yes", "--json")
    assert (done.status, done.json["error"]["code"]) == (4, "not_trusted"), done
    assert "flow trust record greet" in done.json["error"]["remedy"]
    assert flow(work, "trust", "check", "greet").status == 4
    file.write_text(text)
    assert flow(work, "goal", "rebase", "greet", "--yes").status == 0
    assert flow(work, "trust", "check", "greet").status == 0


@pytest.mark.parametrize("branch", ["main", "trunk"])
def test_own_commits_are_nobody_elses(work: GitRepo, branch: str) -> None:
    """On the base branch itself, or without one, a moved base would hide what the goal changed."""
    work.git("branch", "-qM", branch)
    assert create(work).status == 0
    work.commit("own", **{"other.txt": "x\n"})
    assert evaluate(work).status == 3
    done = flow(work, "goal", "rebase", "greet", "--yes", "--json")
    assert (done.status, done.json["error"]["code"]) == (2, "no_base"), done
    assert "scope.base" in done.json["error"]["remedy"]
    assert evaluate(work).json["path_violations"] == ["other.txt"]
