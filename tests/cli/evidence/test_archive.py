"""``flow gc --archive`` as a user calls it: one file a run, and every command answers as before."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from flow.adapters.fs import files
from flow.core import layout
from tests.support import GitRepo, scene, stops
from tests.support.here import forget

if TYPE_CHECKING:
    from pathlib import Path

ARCHIVE = ("gc", "--archive", "--older-than", "0")
LOUD = "AC1: says please :: grep please src/greet.txt"


@pytest.fixture
def run(repo: GitRepo) -> Path:
    """The folder of a closed goal's run; its command failed once, and has an output."""
    scene.create(scene.start(repo), criterion=LOUD)
    assert scene.step(repo, "goal", "evaluate", "greet").status == 1
    scene.propose(repo)
    folder = scene.run_dir(repo)
    proposal = json.loads((folder / "proposal.json").read_text())["proposal_id"]
    assert scene.step(repo, "goal", "confirm", "greet", "--proposal", proposal).status == 0
    return folder


def inside(run: Path) -> list[str]:
    """The files of a run."""
    return sorted(str(path.relative_to(run)) for path in run.rglob("*") if path.is_file())


READERS = (
    ("goal", "status", "greet"),
    ("goal", "list", "--all-branches"),
    ("goal", "inspect", "greet"),
    ("goal", "history", "greet"),
    ("goal", "history", "greet", "--details"),
    ("evidence", "list", "--goal", "greet"),
    ("evidence", "show", "AC1", "--goal", "greet"),
    ("evidence", "show", "evidence-ac1-eval-1", "--goal", "greet", "--details"),
    ("evidence", "verify"),
    ("evidence", "head", "greet"),
    ("evidence", "export", "greet"),
    ("evidence", "export", "greet", "--with-outputs"),
    ("report", "greet", "--output", "-"),
    ("inbox",),
    ("doctor",),
    ("journal", "show", "--goal", "greet"),
)


def plain(document: Any) -> Any:
    """A document without the event that tells of the archive."""
    if isinstance(document, dict):
        return {key: plain(value) for key, value in document.items()}
    if isinstance(document, list):
        archived = ("type", "evidence-archived")
        return [
            plain(each)
            for each in document
            if not (isinstance(each, dict) and archived in each.items())
        ]
    return document


def test_every_reader_answers_as_before(repo: GitRepo, run: Path) -> None:
    def answers() -> list[Any]:
        said: list[Any] = []
        for words in READERS:
            forget()
            done = scene.flow(repo, *words)
            told = [line for line in done.stdout.splitlines() if "evidence-archived" not in line]
            said.append((words, done.status, told, done.stderr))
            if words[:2] != ("evidence", "export") and "-" not in words:
                forget()
                done = scene.flow(repo, *words, "--json")
                said.append((words, done.status, plain(done.json), done.stderr))
        return said

    before = answers()
    assert len(inside(run)) == 8
    done = scene.flow(repo, *ARCHIVE, "--yes")
    assert done.status == 0
    assert "archived 4 files, " in done.stdout
    assert inside(run) == [
        "baseline.json", "events.jsonl", "evidence.zip", "last-verdict.json", "ledger.jsonl",
    ]  # fmt: skip
    for old, new in zip(before, answers(), strict=True):
        assert new == old


def test_the_question_and_the_dry_run(repo: GitRepo, run: Path) -> None:
    all_files = inside(run)
    dry = scene.flow(repo, *ARCHIVE, "--dry-run")
    assert dry.stdout.splitlines()[-1] == "next       flow gc --archive --older-than 0"
    spared = scene.flow(repo, *ARCHIVE, "--keep", "0", "--dry-run").stdout.splitlines()
    assert spared[-1] == "next       flow gc --archive --older-than 0", "none is the default"
    document = scene.flow(repo, *ARCHIVE, "--dry-run", "--json").json
    assert (document["dry_run"], document["files"]) == (True, 4)
    (row,) = document["runs"]
    assert (row["run_id"], row["goals"], row["files"]) == (run.name, ["greet"], 4)
    assert scene.flow(repo, *ARCHIVE).status == 4
    assert scene.flow(repo, "gc", "--archive").stdout == "nothing to archive\n", "it is not old"
    assert scene.flow(repo, *ARCHIVE, "--keep", "1").stdout == "nothing to archive\n"
    assert inside(run) == all_files
    child = scene.at_terminal(repo, list(ARCHIVE))
    child.expect("Put 4 files .* of 1 run into one archive each\\? \\[y/N\\]")
    child.sendline("y")
    child.expect_exact("archived 4 files")
    assert scene.ended(child)[0] == 0
    assert scene.flow(repo, *ARCHIVE).stdout == "nothing to archive\n"
    assert scene.flow(repo, "gc", "--older-than", "0").stdout == "nothing to drop\n"


def test_outputs_that_were_dropped_before(repo: GitRepo, run: Path) -> None:
    assert scene.flow(repo, "gc", "--older-than", "0", "--yes").status == 0
    done = scene.flow(repo, *ARCHIVE, "--yes", "--json").json
    assert done["files"] == 2
    assert scene.flow(repo, "evidence", "verify").status == 0
    assert scene.flow(repo, "evidence", "show", "AC1", "--goal", "greet").status == 0


def kept(repo: GitRepo, why: str) -> None:
    """Nothing is archived, and the reason is told."""
    done = scene.flow(repo, *ARCHIVE, "--yes")
    assert (done.status, done.stdout) == (0, "nothing to archive\n")
    assert why in done.stderr


def test_a_run_of_an_open_goal_is_left_alone(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    scene.propose(repo)
    assert scene.flow(repo, *ARCHIVE, "--yes").stdout == "nothing to archive\n"


def test_a_run_that_git_tracks_is_left_alone(repo: GitRepo, run: Path) -> None:
    """A file that git tracks and that is removed would be a change of the user's files."""
    repo.git("add", "-f", str(run / "evidence"))
    before = repo.git("status", "--porcelain", "-uno")
    kept(repo, "git tracks files of it (git rm -r --cached .flow/runs, then commit)")
    assert repo.git("status", "--porcelain", "-uno") == before
    repo.git("rm", "-q", "-r", "--cached", ".flow/runs")
    assert scene.flow(repo, *ARCHIVE, "--yes", "--json").json["files"] == 4


def test_a_run_whose_closing_is_not_on_record_is_left_alone(
    repo: GitRepo, run: Path, tmp_path: Path
) -> None:
    """As of an older version of Flow, or of another machine; or closed by hand."""
    other = {"FLOW_STATE_DIR": str(tmp_path / "other")}
    (tmp_path / "other").mkdir(mode=0o700)
    done = scene.flow(repo, *ARCHIVE, "--yes", env=other)
    assert (done.status, done.stdout) == (0, "nothing to archive\n")
    assert "your own state folder does not know how goal greet was closed" in done.stderr
    scene.flow(repo, *ARCHIVE, "--yes")
    assert len(inside(run)) == 5


def test_a_status_that_was_written_by_hand(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    scene.propose(repo)
    text = scene.goal_file(repo)
    repo.write(".flow/goals/greet.goal.yaml", text.replace("status: active", "status: achieved"))
    kept(repo, "something is proposed in it")
    (scene.run_dir(repo) / "proposal.json").unlink()
    kept(repo, "your own state folder does not know how goal greet was closed")


def test_a_change_that_is_not_finished(repo: GitRepo, run: Path) -> None:
    repo.write(".flow/runs/.pending/greet.json", "{}")
    kept(repo, "a change of goal greet is not finished yet (flow doctor --fix)")


def test_a_run_that_is_not_as_it_was_recorded(repo: GitRepo, run: Path) -> None:
    (run / "evidence/evidence-ac1-eval-2.txt").write_bytes(b"x")
    before = inside(run)
    done = scene.flow(repo, *ARCHIVE, "--yes")
    assert done.status == 2
    assert f"nothing of run {run.name} is archived" in done.stderr
    assert inside(run) == before


@pytest.mark.parametrize("kind", ["file", "link", "folder"])
def test_what_is_planted_in_an_open_run_holds_nothing_up(
    repo: GitRepo, home: Path, kind: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """What is no archive holds no evidence: an agent cannot get rid of its goal by making one."""
    scene.create(scene.start(repo))
    scene.flow(repo, "goal", "evaluate", "greet")
    planted = scene.run_dir(repo) / "evidence.zip"
    if kind == "file":
        planted.write_bytes(b"no archive")
    elif kind == "link":
        planted.symlink_to("/dev/zero")
    else:
        planted.mkdir()
    repo.write("src/greet.txt", "nothing\n")
    stops.settings(home, stopHookEnforcement="block")
    answer = stops.stop(repo, capfd)
    assert (answer["decision"], "AC1 failed" in answer["reason"]) == ("block", True), answer
    listed = scene.flow(repo, "evidence", "list")
    assert (listed.status, "evidence.zip: " in listed.stderr) == (0, True)
    assert scene.flow(repo, "evidence", "verify").status == 1
    told = scene.flow(repo, "doctor").stdout
    assert ("a file lies in run" in told, "evidence.zip" in told) == (True, True)
    scene.meet(repo)
    held = scene.flow(repo, "goal", "evaluate", "greet", "--json")
    assert (held.status, held.json["do"]) == (4, "person_looks")
    assert "evidence.zip" in held.json["reason"]
    if kind == "folder":
        planted.rmdir()
    else:
        planted.unlink()
    assert scene.confirm(repo).status == 0


def test_verify_names_an_archive_that_was_altered(repo: GitRepo, run: Path) -> None:
    scene.flow(repo, *ARCHIVE, "--yes")
    archive = run / "evidence.zip"
    whole = archive.read_bytes()
    archive.write_bytes(whole[:60] + bytes([whole[60] ^ 1]) + whole[61:])
    done = scene.flow(repo, "evidence", "verify")
    assert done.status == 1
    assert "evidence.zip: was altered since Flow wrote it" in done.stdout
    archive.unlink()
    done = scene.flow(repo, "evidence", "verify")
    assert done.status == 1
    assert done.stdout.count("is missing: entry ") == 4
    archive.write_bytes(whole)
    assert scene.flow(repo, "evidence", "verify").status == 0


def test_a_new_goal_and_a_stop_beside_an_archived_run(
    repo: GitRepo, run: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    scene.flow(repo, *ARCHIVE, "--yes")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "done")
    words = ("goal", "create", "again", "--from", "greet")
    done = scene.flow(repo, *words)
    assert done.status == 0, done.stderr
    assert scene.confirm(repo, goal="again").status == 0
    assert stops.stop(repo, capfd)["decision"] == "approve"
    assert scene.flow(repo, *ARCHIVE, "--yes", "--json").json["files"] == 2
    assert scene.flow(repo, "evidence", "verify").status == 0


def test_a_goal_that_is_opened_again_by_hand_measures_anew(repo: GitRepo, run: Path) -> None:
    """Its run is archived: what is there is read, and what is recorded lies beside it."""
    scene.flow(repo, *ARCHIVE, "--yes")
    text = scene.goal_file(repo)
    repo.write(".flow/goals/greet.goal.yaml", text.replace("status: achieved", "status: active"))
    done = scene.flow(repo, "goal", "evaluate", "greet", "--json")
    assert done.status == 0, done.stderr
    assert scene.flow(repo, "evidence", "verify").status == 0
    with zipfile.ZipFile(run / "evidence.zip") as packed:
        archived = {name.rpartition("/")[2] for name in packed.namelist()}
    assert not archived & {path.name for path in (run / "evidence").glob("*")}
    rel = layout.evidence_dir(run.name)
    assert archived == set(files.archived_names(str(repo.path), rel, suffix=""))
