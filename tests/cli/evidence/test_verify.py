"""``flow evidence verify``, ``flow evidence head`` and ``flow gc`` as a user calls them."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from flow.adapters.chain import check as chain_check
from flow.errors import LockTimeout
from tests.hostile.places import as_a_user
from tests.support import ROOT, GitRepo, scene

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def run(repo: GitRepo) -> Path:
    """The folder of an evaluated goal's run."""
    scene.create(scene.start(repo))
    scene.propose(repo)
    return scene.run_dir(repo)


def verify(repo: GitRepo, *words: str, **more: object) -> tuple[int, str]:
    done = scene.flow(repo, "evidence", "verify", *words, **more)
    return done.status, done.stdout + done.stderr


def proposal(run: Path) -> str:
    return str(json.loads((run / "proposal.json").read_text())["proposal_id"])


def test_a_repository_without_runs(repo: GitRepo) -> None:
    scene.start(repo)
    assert verify(repo) == (0, "there is no run yet\n")


def test_a_run_that_is_not_there_has_no_head(repo: GitRepo, run: Path) -> None:
    done = scene.flow(repo, "evidence", "head", "nope")
    assert done.status == 2
    assert "there is no run nope here (see the runs there are: ls .flow/runs)" in done.stderr
    near = scene.flow(repo, "evidence", "head", "gret")
    assert "there is no run gret here" in near.stderr
    assert "greet" in near.stderr


def test_a_ledger_that_was_emptied_is_called_broken(repo: GitRepo, run: Path) -> None:
    (run / "ledger.jsonl").write_bytes(b"")
    for words in (["head", "greet"], ["export", "greet"]):
        done = scene.flow(repo, "evidence", *words)
        assert (done.status, done.stdout) == (2, "")
        assert f"the record of run {run.name} is broken" in done.stderr, done
        assert "ledger.jsonl" in done.stderr
        assert f"flow evidence verify {run.name}" in done.stderr
        assert "first" not in done.stderr


@pytest.mark.parametrize("words", ["evidence list", "evidence show AC1", "verdict show"])
def test_a_run_that_is_not_there_is_told_where_one_is_shown(
    words: str, repo: GitRepo, run: Path
) -> None:
    for name in ("nope", run.name[:-1]):
        done = scene.flow(repo, *words.split(), "--run-id", name)
        assert (done.status, done.stdout) == (2, "")
        assert f"there is no run {name} here" in done.stderr
        assert (f"did you mean {run.name}?" in done.stderr) is (name != "nope")
    assert scene.flow(repo, *words.split(), "--run-id", run.name).status == 0


def test_the_head_is_everywhere(repo: GitRepo, run: Path, home: Path) -> None:
    done = scene.flow(repo, "evidence", "head", "greet", "--json").json
    head = done["head"]
    assert head.startswith("1:")
    assert done["trailer"] == f"Flow-Ledger: {head}"
    assert scene.flow(repo, "evidence", "head").stdout == f"{head}\n"
    assert scene.flow(repo, "evidence", "head", "--trailer").stdout == f"Flow-Ledger: {head}\n"
    assert json.loads((run / "last-verdict.json").read_text())["ledger_head"] == head
    assert f'ledger_head: "{head}"' in repo.read(".decisions/issue-7.md")
    events = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    assert [e["ledger_head"] for e in events if e["type"] == "evaluated"] == [head]
    (kept,) = (home / "flow-state/chains").glob("*/*.json")
    assert kept.name == f"{run.name}.json"
    assert json.loads(kept.read_text())["ledger"] == head
    assert kept.stat().st_mode & 0o777 == 0o600
    assert scene.flow(repo, "goal", "confirm", "greet", "--proposal", proposal(run)).status == 0
    assert repo.read(".decisions/issue-7.md").count(head) == 2
    assert verify(repo)[0] == 0


def test_the_three_ways_to_name_a_run(repo: GitRepo, run: Path) -> None:
    for words in (["greet"], [run.name], ["--goal", "greet"], ["--run-id", run.name], []):
        assert verify(repo, *words)[0] == 0, words
    status, said = verify(repo, "nothing-here")
    assert status == 2
    assert "there is no run nothing-here" in said
    assert verify(repo, "--goal", "other")[0] == 2
    assert verify(repo, "--against", "no-such-ref")[0] == 2
    assert verify(repo, "--against", "--upload-pack=x")[0] == 2


def test_json_names_the_finding(repo: GitRepo, run: Path) -> None:
    (run / "evidence/evidence-ac1-eval-1.txt").write_bytes(b"other")
    done = scene.flow(repo, "evidence", "verify", "--json")
    assert done.status == 1
    (row,) = done.json["runs"]
    (finding,) = row["findings"]
    assert (finding["kind"], finding["entry"]) == ("altered", 1)
    assert finding["file"].endswith("evidence/evidence-ac1-eval-1.txt")
    assert done.json["broken"] is True


TAMPERED = {
    "an output that does not count": ("evidence/theirs-1.txt", b"other"),
    "a sidecar that does not count": ("evidence/theirs-1.evidence.yaml", None),
    "the ledger": ("ledger.jsonl", b""),
    "the events": ("events.jsonl", b""),
    "the baseline": ("baseline.json", b"{}"),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_a_proposal_is_not_confirmed_on_a_broken_record(
    repo: GitRepo, run: Path, what: str
) -> None:
    theirs = repo.path.parent / "theirs.json"
    names = {"id": "theirs-1", "goal": "greet", "run_id": run.name, "activity_id": "v",
             "created_at": "2026-03-01T10:15:00Z"}  # fmt: skip
    body = {"type": "command_result", "command": "x", "exit_code": 0, "proves": ["AC1"],
            "limitations": ["once"]}  # fmt: skip
    document = {"apiVersion": "flow.synapti.ai/v1", "kind": "FlowEvidence", "metadata": names,
                "evidence": body}  # fmt: skip
    theirs.write_text(json.dumps(document))
    words = ("--run-id", run.name, "--evidence-file", theirs, "--raw-output", theirs)
    assert scene.flow(repo, "evidence", "record", *words).status == 0
    name, data = TAMPERED[what]
    before = (run / name).read_bytes()
    (run / name).unlink()
    if data is not None:
        (run / name).write_bytes(data)
    confirm = ("goal", "confirm", "greet", "--proposal", proposal(run))
    done = scene.flow(repo, *confirm, "--json")
    assert done.status == 2
    assert scene.status(repo) == "active"
    error = done.json["error"]
    assert error["code"] == "stale_proposal"
    assert name in error["message"]
    lifecycle = repo.path.parent / "l.yaml"
    lifecycle.write_text("status: achieved\n")
    helper = ("--update-lifecycle", "--goal-id", "greet", "--lifecycle-file", lifecycle, "--merge")
    from tests.support import run_helper

    assert run_helper("flow-goal-record", *helper, cwd=repo.path).status == 1
    (run / name).write_bytes(before)
    assert scene.flow(repo, *confirm).status == 0


@pytest.mark.parametrize("strangers", [0, 250])
def test_an_evaluation_on_a_broken_record_proposes_nothing(repo: GitRepo, strangers: int) -> None:
    """A failure whose evidence is removed would else be forgotten: one pass would do.

    So many files that are nobody's, and of which only so many are named, do not hide it.
    """
    runs = repo.path.parent / "runs"
    flaky = f"echo x >> {runs}; test $(( $(wc -l < {runs}) % 2 )) = 0"
    scene.create(scene.start(repo), criterion=f"AC1: it is steady :: {flaky}")
    assert scene.flow(repo, "goal", "evaluate", "greet").status == 1
    evidence = scene.run_dir(repo) / "evidence"
    kept = {path: path.read_bytes() for path in evidence.iterdir()}
    for path in kept:
        path.unlink()
    for number in range(strangers):
        (evidence.parent / f"note-{number}").touch()

    done = scene.flow(repo, "goal", "evaluate", "greet", "--json")

    assert done.status == 4
    assert (done.json["verdict"], done.json["do"]) == ("needs_human_review", "person_looks")
    assert done.json["proposed_transition"] is None
    assert "evidence-ac1-eval-1.evidence.yaml: is missing" in done.json["reason"]
    assert done.json["next_step_hint"].endswith("flow goal evaluate greet --run-id NEW")
    again = scene.flow(repo, "goal", "evaluate", "greet", "--run-id", "anew", "--repeat", "2")
    assert again.status == 1, "the new run measures for itself"
    for path, data in kept.items():
        path.write_bytes(data)
    for path in evidence.parent.glob("note-*"):
        path.unlink()
    assert scene.flow(repo, "evidence", "verify", scene.run_dir(repo).name).status == 0


def test_a_stranger_in_the_folder_does_not_stop_a_confirmation(repo: GitRepo, run: Path) -> None:
    (run / "evidence/note.md").write_text("hello")
    assert verify(repo)[0] == 1
    assert scene.flow(repo, "goal", "confirm", "greet", "--proposal", proposal(run)).status == 0


def test_a_vanished_run_and_one_from_an_older_copy(repo: GitRepo, run: Path) -> None:
    copy = repo.path.parent / "copy"
    shutil.copytree(run, copy)
    assert scene.flow(repo, "goal", "evaluate", "greet").status == 0
    kept = repo.path.parent / "kept"
    run.rename(kept)
    status, said = verify(repo)
    assert status == 1
    assert "vanished" in said
    shutil.copytree(copy, run)
    status, said = verify(repo)
    assert status == 1
    assert "was cut, or restored from an older copy: it ends at entry 1, and entry 2" in said
    shutil.rmtree(run)
    kept.rename(run)
    assert verify(repo)[0] == 0


def test_letting_a_head_go_needs_a_yes(repo: GitRepo, run: Path) -> None:
    name = run.name
    shutil.rmtree(run)
    assert verify(repo, name)[0] == 1
    assert verify(repo, name, "--forget")[0] == 4
    assert verify(repo, name)[0] == 1
    assert verify(repo, name, "--forget", "--yes")[0] == 0
    assert verify(repo)[0] == 0
    assert verify(repo, name, "--forget", "--yes")[0] == 2


def test_another_machine_has_the_journal(repo: GitRepo, run: Path, tmp_path: Path) -> None:
    """With a state folder that knows nothing, the working tree's journal tells of a cut run."""
    other = {"FLOW_STATE_DIR": str(tmp_path / "other")}
    assert verify(repo, env=other)[0] == 0
    assert scene.flow(repo, "goal", "evaluate", "greet", "--no-record").status == 0
    lines = (run / "ledger.jsonl").read_bytes().splitlines(keepends=True)
    assert len(lines) == 2
    (run / "ledger.jsonl").write_bytes(lines[0])
    status, said = verify(repo, env=other)
    assert status == 1
    assert "ends at entry 1" in said
    assert ".decisions/issue-7.md" in said


def test_against_a_ref(repo: GitRepo, run: Path, tmp_path: Path) -> None:
    other = {"FLOW_STATE_DIR": str(tmp_path / "other")}
    trailer = scene.flow(repo, "evidence", "head", "--trailer").stdout.strip()
    repo.commit(f"work\n\n{trailer}")
    assert verify(repo, "--against", "HEAD", env=other)[0] == 0
    repo.commit("more", **{"more.txt": "x"})
    # The journal of the working tree is taken back together with the run.
    shutil.rmtree(run)
    repo.write(".decisions/issue-7.md", "---\nissue: 7\n---\n")
    assert verify(repo, env=other)[0] == 0
    status, said = verify(repo, "--against", "HEAD", env=other)
    assert status == 1
    assert "vanished" in said
    assert "as commit" in said
    status, said = verify(repo, "--against", "HEAD~2", env=other)
    assert status == 0
    assert "there is no run yet" in said
    assert "nothing was compared" in said


@pytest.mark.parametrize("planted", ["a file", "a link", "a linked ledger"])
def test_what_lies_in_a_runs_place_hides_no_other_finding(
    planted: str, repo: GitRepo, run: Path, tmp_path: Path
) -> None:
    """HAZARD I158."""
    trailer = scene.flow(repo, "evidence", "head", "--trailer").stdout.strip()
    repo.commit(f"work\n\n{trailer}")
    (run / "evidence/evidence-ac1-eval-1.txt").write_bytes(b"altered")
    other = run.with_name("other")
    if planted == "a file":
        other.write_text("notes")
        named = "runs/other: is not a folder"
    elif planted == "a link":
        other.symlink_to(tmp_path)
        named = "runs/other: is a symbolic link"
    else:
        other.mkdir()
        (other / "ledger.jsonl").symlink_to(run / "ledger.jsonl")
        named = "other/ledger.jsonl: is a symbolic link"
    status, said = verify(repo)
    assert status == 1
    assert named in said
    altered = "evidence-ac1-eval-1.txt: was altered since entry 1 recorded it"
    assert altered in said
    status, said = verify(repo, run.name, "--against", "HEAD")
    assert (status, altered in said, named in said) == (1, True, False)
    status, said = verify(repo, "other", "--against", "HEAD")
    assert (status, altered in said, named in said) == (1, False, True)


@pytest.mark.parametrize("place", [".flow/runs/other", ".flow/goals"])
def test_a_folder_that_cannot_be_read_hides_no_other_finding(
    place: str, repo: GitRepo, run: Path
) -> None:
    """HAZARD I173."""
    (run / "evidence/evidence-ac1-eval-1.txt").write_bytes(b"altered")
    run.with_name("other").mkdir()
    folder = repo.path / place
    mode = folder.stat().st_mode
    with as_a_user():
        folder.chmod(0)
        try:
            status, said = verify(repo)
        finally:
            folder.chmod(mode)
    assert status == 1, said
    assert "evidence-ac1-eval-1.txt: was altered since entry 1 recorded it" in said
    assert ("Permission denied" in said) is (folder.name == "other")


def test_a_linked_ledger_is_a_damaged_record_for_verify_and_report(
    repo: GitRepo, run: Path, tmp_path: Path
) -> None:
    shutil.move(run / "ledger.jsonl", tmp_path / "ledger.jsonl")
    (run / "ledger.jsonl").symlink_to(tmp_path / "ledger.jsonl")
    status, said = verify(repo, "greet")
    assert status == 1
    assert "altered: " in said
    page = scene.flow(repo, "report", "--output", "-").stdout
    assert "record damaged" in page
    assert "ledger.jsonl: is a symbolic link" in page


def test_a_record_that_cannot_be_looked_at_makes_no_page(
    repo: GitRepo, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process holds it. An empty record is that of a run which nothing here knows."""
    assert scene.flow(repo, "report", "--output", "-").stdout.count("whole: 1 entry") == 1

    def check(*_words: object, **_more: object) -> None:
        raise LockTimeout("another process has held this lock", file="run.lock")

    monkeypatch.setattr(chain_check, "check", check)
    done = scene.flow(repo, "report", "--output", "-")
    assert (done.status, done.stdout) == (5, "")
    assert "another process has held this lock" in done.stderr


@pytest.mark.parametrize("pattern", ["fixed", "extended", "perl"])
def test_no_configuration_hides_the_trailers(pattern: str, repo: GitRepo, run: Path) -> None:
    """The run is gone, and so is every journal: only the commit tells of it."""
    trailer = scene.flow(repo, "evidence", "head", "--trailer").stdout.strip()
    repo.commit(f"work\n\n{trailer}")
    shutil.rmtree(repo.path / ".decisions")
    repo.git("rm", "-rq", "--cached", ".decisions")
    repo.commit("no journal")
    shutil.rmtree(run)
    repo.git("config", "grep.patternType", pattern)
    status, said = verify(repo, "--against", "HEAD")
    assert status == 1
    assert "as commit" in said


@pytest.mark.parametrize(
    ("ref", "status"),
    [("annotated", 0), ("older", 0), ("unrelated", 0), ("HEAD^{tree}", 2), ("nowhere", 2), ("", 2)],
)
def test_refs_of_every_kind(ref: str, status: int, repo: GitRepo, run: Path) -> None:
    repo.git("branch", "older")
    repo.commit("work")
    repo.git("tag", "-a", "-m", "it", "annotated")
    tree = repo.git("rev-parse", "HEAD^{tree}").strip()
    repo.git("branch", "unrelated", repo.git("commit-tree", "-m", "other", tree).strip())
    ran = scene.flow(repo, "evidence", "verify", "--against", ref, "--json")
    assert ran.status == status, ran
    if status == 2:
        assert ran.json["error"]["key"] == "--against"
        return
    silent = any("nothing was compared" in one for one in ran.json["warnings"])
    assert silent == (ref == "older")


def test_a_clone_says_that_the_run_is_not_here(repo: GitRepo, run: Path, tmp_path: Path) -> None:
    repo.commit("work")
    repo.git("clone", "--quiet", str(repo.path), str(tmp_path / "clone"))
    clone = GitRepo(tmp_path / "clone")
    status, said = verify(clone)
    assert status == 0
    assert f"run {run.name} is not here" in said
    status, said = verify(clone, "--against", "HEAD")
    assert status == 1
    assert "shallow" not in said
    assert verify(clone, run.name)[0] == 1
    repo.commit("more", **{"more.txt": "x"})
    source = f"file://{repo.path}"
    repo.git("clone", "--quiet", "--depth", "1", source, str(tmp_path / "shallow"))
    status, said = verify(GitRepo(tmp_path / "shallow"), "--against", "HEAD")
    assert status == 1
    assert "the history here is cut (a shallow clone)" in said


def test_without_a_state_folder_the_rest_is_checked(repo: GitRepo, run: Path) -> None:
    nowhere = {"HOME": None, "FLOW_STATE_DIR": None}
    status, said = verify(repo, env=nowhere)
    assert status == 0
    assert "your own heads are not compared" in said
    (run / "evidence/evidence-ac1-eval-1.txt").write_bytes(b"x")
    assert verify(repo, env=nowhere)[0] == 1


def test_a_hostile_journal_is_a_warning(repo: GitRepo, run: Path) -> None:
    repo.write(".decisions/x.md", "---\n[ledger_head\n---\n")
    repo.write(
        ".decisions/y.md",
        "---\nartifacts:\n  - type: goal-evaluation\n    ledger_head: [1]\n"
        "    evidence_bundle: ../../etc\n---\n",
    )
    status, said = verify(repo)
    assert status == 0
    assert "x.md" in said


def test_a_folder_that_cannot_be_written_is_still_checked(repo: GitRepo, run: Path) -> None:
    locks = repo.path / ".flow/runs/.locks"
    shutil.rmtree(locks)
    locks.write_text("no folder")
    status, _ = verify(repo)
    assert status in (0, 1)


def test_evidence_recorded_by_a_command_is_accounted_for(repo: GitRepo) -> None:
    """A criterion's command may record evidence through Flow; the chain grows meanwhile."""
    scene.start(repo)
    theirs = repo.path.parent / "theirs.json"
    helper = os.path.join(ROOT, "bin", "flow-record-evidence.sh")
    command = f"{helper} --run-id {{run}} --evidence-file {theirs}"
    scene.create(repo, "greet", criterion="AC1: it records :: sh ../record.sh")
    run = scene.run_dir(repo)
    (repo.path.parent / "record.sh").write_text(command.format(run=run.name))
    names = {"id": "theirs-1", "goal": "greet", "run_id": run.name, "activity_id": "v",
             "created_at": "2026-03-01T10:15:00Z"}  # fmt: skip
    body = {"type": "ci_status", "proves": ["AC1"], "limitations": ["once"]}
    document = {"apiVersion": "flow.synapti.ai/v1", "kind": "FlowEvidence", "metadata": names,
                "evidence": body}  # fmt: skip
    theirs.write_text(json.dumps(document))
    done = scene.flow(repo, "goal", "evaluate", "greet", "--json")
    (row,) = done.json["criterion_results"]
    assert row["outcome"] == "passed", row
    assert done.json["ledger_head"].startswith("2:")
    assert verify(repo)[0] == 0


# --- gc --------------------------------------------------------------------------------------


def test_gc_of_a_closed_goal(repo: GitRepo, run: Path) -> None:
    assert scene.flow(repo, "gc", "--older-than", "0", "--yes").stdout == "nothing to drop\n"
    assert (run / "evidence/evidence-ac1-eval-1.txt").exists(), "the goal is live"
    assert scene.flow(repo, "goal", "confirm", "greet", "--proposal", proposal(run)).status == 0
    assert scene.flow(repo, "gc", "--yes").stdout == "nothing to drop\n", "it is not old"
    assert scene.flow(repo, "gc", "--older-than", "0", "--keep", "1").stdout == "nothing to drop\n"
    dry = scene.flow(repo, "gc", "--older-than", "0", "--dry-run", "--json").json
    assert (dry["dry_run"], dry["outputs"], [r["run_id"] for r in dry["runs"]]) == (
        True, 1, [run.name],
    )  # fmt: skip
    assert (run / "evidence/evidence-ac1-eval-1.txt").exists()
    assert scene.flow(repo, "gc", "--older-than", "0").status == 4
    assert (run / "evidence/evidence-ac1-eval-1.txt").exists()
    done = scene.flow(repo, "gc", "--older-than", "0", "--yes", "--json").json
    assert (done["dry_run"], done["outputs"]) == (False, 1)
    assert not (run / "evidence/evidence-ac1-eval-1.txt").exists()
    assert (run / "evidence/evidence-ac1-eval-1.evidence.yaml").exists()
    assert verify(repo)[0] == 0
    shown = scene.flow(repo, "evidence", "show", "evidence-ac1-eval-1", "--goal", "greet")
    assert shown.status == 0
    assert scene.flow(repo, "report", "greet").status == 0


def test_gc_leaves_alone_what_it_cannot_judge(repo: GitRepo, run: Path) -> None:
    assert scene.flow(repo, "goal", "confirm", "greet", "--proposal", proposal(run)).status == 0
    goal = repo.path / ".flow/goals/greet.goal.yaml"
    text = goal.read_text()
    goal.write_text("not: a goal\n")
    assert scene.flow(repo, "gc", "--older-than", "0", "--yes").status == 2
    goal.unlink()  # as on another branch
    assert scene.flow(repo, "gc", "--older-than", "0", "--yes").stdout == "nothing to drop\n"
    goal.write_text(text)
    (run / "evidence/evidence-ac1-eval-1.txt").write_bytes(b"x")
    done = scene.flow(repo, "gc", "--older-than", "0", "--yes")
    assert done.status == 2
    assert "is not the output that entry 1 recorded" in done.stderr
    assert (run / "evidence/evidence-ac1-eval-1.txt").exists()


def test_gc_asks_at_a_terminal(repo: GitRepo, run: Path) -> None:
    assert scene.flow(repo, "goal", "confirm", "greet", "--proposal", proposal(run)).status == 0
    for answer, there in (("n", True), ("y", False)):
        child = scene.at_terminal(repo, ["gc", "--older-than", "0"])
        child.expect("for good\\? \\[y/N\\]")
        child.sendline(answer)
        child.expect_exact("nothing was changed" if there else "dropped 1 output")
        child.wait()
        assert os.path.exists(run / "evidence/evidence-ac1-eval-1.txt") == there
