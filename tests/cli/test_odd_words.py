"""Odd words and odd places at the command line: each is answered for what it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import GitRepo, scene
from tests.support.scene import flow


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    return scene.create(scene.start(repo))


@pytest.mark.parametrize("ref", ["HEAD^{tree}", "@{u}", "main..main", ""])
def test_a_base_that_names_no_commit_is_bad_input(work: GitRepo, ref: str) -> None:
    done = flow(work, "goal", "evaluate", "greet", "--base", ref, "--json")
    assert (done.status, done.json["error"]["code"]) == (2, "no_base"), done


@pytest.mark.parametrize("ref", ["nope", "HEAD^{tree}", "main~1", ""])
def test_a_branch_without_a_commit_takes_no_base_that_is_not_there(
    tmp_path: Path, ref: str
) -> None:
    """A slip in ``--base`` would be ignored, and what it asked about called achieved."""
    place = tmp_path / "young"
    place.mkdir()
    new = GitRepo(place)
    new.git("init", "-q", "-b", "main")
    words = ("goal", "create", "greet", "--outcome", "It greets.", "--criterion", "AC1: it :: true")
    done = flow(new, *words, "--base", ref, "--json")
    assert (done.status, done.json["error"]["code"]) == (2, "no_base"), done
    for own in ("HEAD", "main"):
        assert flow(new, *words, "--base", own, "--draft").status == 0
        (place / ".flow/goals/greet.goal.yaml").unlink()
    assert flow(new, *words).status == 0
    done = flow(new, "goal", "evaluate", "greet", "--base", ref, "--json")
    assert (done.status, done.json["error"]["code"]) == (2, "no_base"), done
    assert flow(new, "goal", "evaluate", "greet", "--base", "main").status == 0


@pytest.mark.parametrize("words", ["", ",", " , "])
@pytest.mark.parametrize("command", ["evaluate", "baseline"])
def test_an_only_that_names_nothing_is_not_everything(
    work: GitRepo, command: str, words: str
) -> None:
    scene.meet(work)
    done = flow(work, "goal", command, "greet", "--only", words, "--json")
    assert (done.status, done.json["error"]["code"]) == (2, "usage"), done


@pytest.mark.parametrize(
    "command",
    [
        ("goal", "evaluate", "greet"),
        ("judge", "run", "greet"),
        ("judge", "scorecard", "greet"),
        ("judge", "debate", "--solution", "greeting.txt", "--task", "greet"),
    ],
)
@pytest.mark.parametrize("named", ["", " ", "bogus", "gemini:pro", "claude:two words", "claude:-x"])
def test_an_option_that_names_no_judge_is_bad_input(
    work: GitRepo, command: tuple[str, ...], named: str
) -> None:
    """Before anything is run, read or asked."""
    done = flow(work, *command, "--judge-backend", named, "--json")
    error = done.json["error"]
    assert (done.status, error["key"]) == (2, "--judge-backend"), done
    assert error["value"] == named
    assert not list(scene.run_dir(work).glob("AC1-*"))


@pytest.mark.parametrize("name", ["two\nlines", "a\ttab", "red\x1b[31m", "half\udcff", "\u202e"])
def test_a_checkout_in_a_folder_with_an_odd_name(repo: GitRepo, name: str) -> None:
    odd = GitRepo.init(repo.path.parent / name)
    scene.create(scene.start(odd))
    scene.propose(odd)


def test_a_draft_cannot_be_approved_and_says_what_to_do(repo: GitRepo) -> None:
    scene.create(scene.start(repo), "greet", "--fuzzy", scene.FUZZY, "--draft")
    words = ("AC2", "--by", "Reader", "--note", "n", "--yes")
    done = flow(repo, "goal", "approve", "greet", *words, "--json")
    assert (done.status, done.json["error"]["code"]) == (2, "wrong_state")
    assert done.json["error"]["remedy"] == "flow goal activate greet"


def test_confirming_a_closed_goal_does_not_say_to_evaluate_it(work: GitRepo) -> None:
    proposal = scene.propose(work)
    confirm = ("goal", "confirm", "greet", "--proposal", proposal)
    assert flow(work, *confirm).status == 0
    done = flow(work, *confirm, "--json")
    assert (done.status, done.json["error"]["code"]) == (2, "stale_proposal")
    assert "achieved" in done.json["error"]["message"]
    assert done.json["error"]["remedy"].endswith("flow goal create NEW --from greet")


def test_the_verdict_that_is_printed_is_the_one_on_record(work: GitRepo) -> None:
    done = flow(work, "goal", "evaluate", "greet", "--json").json
    assert done == flow(work, "verdict", "show", "greet", "--json").json
    assert done["recorded_at"]
    kept = flow(work, "goal", "evaluate", "greet", "--json", "--no-record").json
    assert (kept["source"], kept["recorded_at"]) == (None, None)


@pytest.mark.parametrize("kind", ["a link", "a folder"])
def test_a_verdict_that_cannot_be_read_or_written_stands(work: GitRepo, kind: str) -> None:
    place = scene.run_dir(work) / "last-verdict.json"
    place.mkdir() if kind == "a folder" else place.symlink_to(work.path / "README")
    scene.meet(work)
    done = flow(work, "goal", "evaluate", "greet", "--json")
    assert (done.status, done.json["verdict"]) == (0, "achieved"), done
    assert "last-verdict.json" in " ".join(done.json["warnings"])
    assert not (work.path / "README").exists()
