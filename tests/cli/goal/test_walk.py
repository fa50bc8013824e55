"""One goal from its creation to its end, as a user and an agent walk it (SPEC 2 and 3)."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from flow.adapters.ledger import file_watch
from tests.support import GitRepo, Ran, run_flow, run_helper, scene, start_flow

pytestmark = pytest.mark.smoke

CREATE = (
    "goal",
    "create",
    "greet",
    "--outcome",
    "the greeting is polite",
    "--criterion",
    "AC1: says please :: grep -q please src/greet.txt",
    "--allow",
    "src/**",
    "--issue",
    "7",
)


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    repo.commit("start", **{"src/greet.txt": "give me that\n", ".gitignore": ".flow/runs/\n"})
    return repo


def flow(work: GitRepo, *words: str) -> Ran:
    """In the test's own process, which knows no more than a new one would."""
    return run_flow(*words, cwd=work.path)


def started(work: GitRepo, *words: str) -> Ran:
    """As a process of its own, as a user starts it."""
    return start_flow(*words, cwd=work.path)


def created(work: GitRepo) -> GitRepo:
    done = scene.step(work, *CREATE)
    assert done.status == 0, done.stderr
    return work


def goal_text(work: GitRepo) -> str:
    return work.read(".flow/goals/greet.goal.yaml")


def run_dir(work: GitRepo) -> Path:
    found = re.search(r"run_id: *[\"']?([^\s\"']+)", goal_text(work))
    assert found
    return work.path / ".flow/runs" / found.group(1)


def proposal(done: Ran) -> str:
    return str(done.json["proposed_transition"]["proposal_id"])


def test_the_whole_walk(work: GitRepo) -> None:
    assert started(work, *CREATE).status == 0
    failing = started(work, "goal", "evaluate", "greet", "--json")
    assert failing.status == 1
    assert failing.json["verdict"] == "not_achieved"
    assert failing.json["criterion_results"][0]["exit_code"] == 1
    assert failing.json["delta"] == "made_progress"

    work.write("src/greet.txt", "give me that please\n")
    passing = started(work, "goal", "evaluate", "greet", "--json")
    assert passing.status == 0, passing.stderr
    assert passing.json["verdict"] == "achieved"
    assert passing.json["lifecycle"] == {"from": "active", "to": "active", "turns_evaluated": 2}
    assert "status: active" in goal_text(work)

    closed = started(work, "goal", "confirm", "greet", "--proposal", proposal(passing))
    assert closed.status == 0, closed.stderr
    assert "status: achieved" in goal_text(work)

    run = run_dir(work)
    evidence = sorted(path.name for path in (run / "evidence").iterdir())
    assert evidence == [
        "evidence-ac1-eval-1.evidence.yaml",
        "evidence-ac1-eval-1.txt",
        "evidence-ac1-eval-2.evidence.yaml",
        "evidence-ac1-eval-2.txt",
    ]
    verdict = json.loads((run / "last-verdict.json").read_text())
    assert verdict["verdict"] == "achieved"
    assert verdict["source"] == "command"
    journal = work.read(".decisions/issue-7.md")
    kinds = re.findall(r"type: *\"?([a-z-]+)", journal)
    assert kinds == ["goal-created", "goal-evaluation", "goal-evaluation", "goal-evaluation"]
    assert re.search(r"to: *\"?achieved", journal)
    events = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert [e["type"] for e in events if e["type"] != "evidence"] == [
        "created",
        "evaluated",
        "evaluated",
        "confirmed",
    ]


def test_a_proposal_works_once(work: GitRepo) -> None:
    created(work)
    name = scene.propose(work)
    assert flow(work, "goal", "confirm", "greet", "--proposal", name).status == 0
    again = flow(work, "goal", "confirm", "greet", "--proposal", name, "--json")
    assert again.status == 2
    assert again.json["error"]["code"] in ("stale_proposal", "wrong_state", "refused_transition")


def test_an_evaluation_that_proposes_nothing_ends_the_live_one_and_a_dry_run_does_not(
    work: GitRepo,
) -> None:
    created(work)
    name = scene.propose(work)
    confirm = ("goal", "confirm", "greet", "--proposal", name, "--json")
    for words, live in (("--dry-run", True), ("--only=AC1", False)):
        assert flow(work, "goal", "evaluate", "greet", words, "--json").status in (0, 1, 4)
        shown = flow(work, "goal", "status", "greet", "--json").json["proposal"]
        assert (shown is not None and shown["live"]) is live, words
    assert flow(work, *confirm).json["error"]["code"] == "stale_proposal"


@pytest.mark.parametrize(
    "spoil", ["rm $F", "rm $F; mkdir $F", "echo junk > $F", "rm $F; ln -s x $F", "rm $F; mkfifo $F"]
)
def test_a_command_that_spoils_its_own_goals_file_is_named(work: GitRepo, spoil: str) -> None:
    """The turn cannot be written there, and the command has failed by its evidence."""
    file = ".flow/goals/greet.goal.yaml"
    scene.create(work, criterion=f"AC1: it is rude :: F={file}; {spoil}")
    kept = work.read(file)
    done = flow(work, "goal", "evaluate", "greet", "--json")
    error = done.json["error"]
    assert (done.status, error["code"], error["file"]) == (2, "goal_spoilt", file), done
    assert "(AC1) failed" in error["message"]
    if (work.path / file).is_dir():  # Python 3.11's rmtree waits for a pipe's other end
        (work.path / file).rmdir()
    (work.path / file).unlink(missing_ok=True)
    work.write(file, kept)
    (row,) = flow(work, "evidence", "list", "greet", "--json").json["evidence"]
    assert row["outcome"] == "failed"


def test_another_id_is_not_the_proposal(work: GitRepo) -> None:
    created(work)
    scene.propose(work)
    done = flow(work, "goal", "confirm", "greet", "--proposal", "0" * 64, "--json")
    assert (done.status, done.json["error"]["code"]) == (2, "stale_proposal")
    assert "status: active" in goal_text(work)


def edit_file(work: GitRepo) -> None:
    work.write("src/greet.txt", "please, now\n")


def add_file(work: GitRepo) -> None:
    work.write("src/other.txt", "more\n")


def commit_work(work: GitRepo) -> None:
    work.commit("the work")


def edit_contract(work: GitRepo) -> None:
    path = ".flow/goals/greet.goal.yaml"
    work.write(path, work.read(path).replace("is polite", "is very polite"))


def edit_output(work: GitRepo) -> None:
    (run_dir(work) / "evidence/evidence-ac1-eval-1.txt").write_text("5 passed\n")


def drop_evidence(work: GitRepo) -> None:
    (run_dir(work) / "evidence/evidence-ac1-eval-1.evidence.yaml").unlink()


MOVES = {
    "a file": (edit_file, "files"),
    "a new file": (add_file, "files"),
    "a commit": (commit_work, "files"),
    "the contract": (edit_contract, "contract"),
    "an output": (edit_output, "evidence"),
    "a sidecar": (drop_evidence, "evidence"),
}


@pytest.mark.parametrize("name", MOVES)
def test_a_proposal_ends_when_what_it_rests_on_moves(work: GitRepo, name: str) -> None:
    created(work)
    found = scene.propose(work)
    move, said = MOVES[name]
    move(work)
    done = flow(work, "goal", "confirm", "greet", "--proposal", found, "--json")
    assert done.status == 2
    assert done.json["error"]["code"] == "stale_proposal"
    assert said in done.json["error"]["message"]
    assert "status: active" in goal_text(work)


def test_a_proposal_made_up_of_failing_evidence_is_none(work: GitRepo) -> None:
    """Its id is right for what it says; the sidecar it names says something else."""
    from flow.app.evaluation.proposals import Grounds, proposal_id
    from flow.core.decision.verdict import CriterionResult
    from flow.core.evidence.model import Subject

    created(work)
    assert flow(work, "goal", "evaluate", "greet").status == 1
    sidecar = next((run_dir(work) / "evidence").glob("*.evidence.yaml"))
    tree = re.search(r"tree: *\"?([0-9a-f]{64})", sidecar.read_text())
    contract = flow(work, "trust", "check", "greet", "--json").json["digest"]
    assert tree
    reference = str(sidecar.relative_to(work.path))
    row = CriterionResult("AC1", "pass", "passed", 0, reference)
    grounds = Grounds(Subject(None, tree.group(1), contract, ""), {})
    name = proposal_id(grounds, "achieved", "achieved", [row])
    made_up = {
        "proposal_id": name,
        "guards": {},
        "goal_id": "greet",
        "run_id": run_dir(work).name,
        "to": "achieved",
        "verdict": "achieved",
        "reason": "trust me",
        "turns_evaluated": 1,
        "contract": contract,
        "head": work.head,
        "tree": tree.group(1),
        "results": [["AC1", "pass", "passed"]],
        "evidence": [reference],
        "created_at": "2026-01-01T00:00:00Z",
    }
    (run_dir(work) / "proposal.json").write_text(json.dumps(made_up))
    done = flow(work, "goal", "confirm", "greet", "--proposal", name, "--json")
    assert (done.status, done.json["error"]["code"]) == (2, "stale_proposal")
    assert "no live proposal" in done.json["error"]["message"]
    assert "status: active" in goal_text(work)


def journal_entry(work: GitRepo) -> None:
    run_helper(
        "journal-record", "--issue", "7", "--type", "note", "--metadata", "a=b", cwd=work.path
    )


def commit_goal(work: GitRepo) -> None:
    work.git("add", ".flow/goals", ".decisions")
    work.git("commit", "-qm", "the record")


def pause(work: GitRepo) -> None:
    assert flow(work, "goal", "pause", "greet").status == 0


def evaluate_again(work: GitRepo) -> None:
    assert flow(work, "goal", "evaluate", "greet").status == 0


def test_a_proposal_outlives_what_it_does_not_rest_on(work: GitRepo) -> None:
    created(work)
    found = scene.propose(work)
    for move in (journal_entry, commit_goal, evaluate_again, pause):
        move(work)
    done = flow(work, "goal", "confirm", "greet", "--proposal", found)
    assert done.status == 0, done.stderr
    assert "status: achieved" in goal_text(work)


def test_the_goal_file_changes_only_where_it_must(work: GitRepo) -> None:
    created(work)
    path = ".flow/goals/greet.goal.yaml"
    text = "# why: the users asked\n" + work.read(path).replace(
        "outcome:", "# in their words\n  outcome:", 1
    )
    work.write(path, text)
    assert flow(work, "trust", "record", "greet", "--yes").status == 0
    flow(work, "goal", "evaluate", "greet")
    before, after = text.splitlines(), work.read(path).splitlines()
    kept = [line for line in before if line in after]
    gone = [line for line in before if line not in after]
    assert len(gone) <= 2, gone  # the criterion's status, and the turns
    assert [line for line in after if line in before] == kept


def test_a_goal_changed_by_hand_does_not_run(work: GitRepo) -> None:
    created(work)
    path = ".flow/goals/greet.goal.yaml"
    work.write(path, work.read(path).replace("grep -q please", "touch ran; grep -q please"))
    before = work.read(path)
    done = flow(work, "goal", "evaluate", "greet", "--json")
    assert done.status == 4
    assert done.json["verdict"] == "needs_human_review"
    assert done.json["blocker_type"] == "missing_approval"
    assert done.json["criterion_results"][0]["outcome"] == "not_executed"
    assert not (work.path / "ran").exists()
    assert work.read(path) == before
    assert not (run_dir(work) / "last-verdict.json").exists()


@pytest.mark.parametrize("ignored", [True, False])
def test_an_untrusted_contract_leaves_no_file(repo: GitRepo, ignored: bool) -> None:
    repo.commit("start", **{".gitignore": ".flow/runs/\n" if ignored else "x\n"})
    created(repo)
    assert flow(repo, "trust", "revoke", "greet").status == 0
    shutil.rmtree(repo.path / ".flow/runs")  # as in a fresh clone
    before = _paths(repo)
    for options in ((), ("--no-record",), ("--all",), ("--reuse",), ("--run-id", "r2")):
        goal = () if options == ("--all",) else ("greet",)
        done = flow(repo, "goal", "evaluate", *goal, *options, "--json")
        assert done.status == 4, done
        assert _paths(repo) == before
    assert flow(repo, "trust", "record", "greet", "--yes").status == 0
    assert flow(repo, "goal", "evaluate", "greet").status == 1


def _paths(repo: GitRepo) -> set[str]:
    paths = repo.path.rglob("*")
    return {str(path) for path in paths if ".git" not in path.relative_to(repo.path).parts}


def test_a_pipeline_names_the_contract_it_means(work: GitRepo) -> None:
    created(work)
    digest = flow(work, "trust", "check", "greet", "--json").json["digest"]
    assert flow(work, "trust", "revoke", "greet").status == 0
    work.write("src/greet.txt", "please\n")
    assert flow(work, "goal", "evaluate", "greet").status == 4
    assert flow(work, "goal", "evaluate", "greet", "--trust-digest", digest).status == 0
    wrong = flow(work, "goal", "evaluate", "greet", "--trust-digest", "0" * 64, "--json")
    assert wrong.status == 2
    assert digest in wrong.json["error"]["message"]


def test_a_violation_blocks_and_putting_it_back_resumes(work: GitRepo) -> None:
    created(work)
    work.write("src/greet.txt", "please\n")
    work.write("other.txt", "not mine\n")
    done = flow(work, "goal", "evaluate", "greet", "--json")
    assert (done.status, done.json["verdict"]) == (3, "blocked")
    assert done.json["path_violations"] == ["other.txt"]
    assert "status: blocked" in goal_text(work)
    (work.path / "other.txt").unlink()
    assert flow(work, "goal", "evaluate", "greet").status == 0
    journal = work.read(".decisions/issue-7.md")
    assert re.search(r"from: *\"?blocked", journal)


def test_a_person_proves_what_no_command_can(work: GitRepo) -> None:
    done = flow(work, *CREATE, "--fuzzy", "AC2: it reads well")
    assert done.status == 0, done.stderr
    work.write("src/greet.txt", "please\n")
    asked = flow(work, "goal", "evaluate", "greet", "--json")
    assert (asked.status, asked.json["verdict"]) == (4, "needs_human_review")
    assert asked.json["confidence"] == 0.0
    approve = ("goal", "approve", "greet", "AC2", "--by", "Reader", "--note", "read it", "--yes")
    assert flow(work, *approve).status == 0
    proved = flow(work, "goal", "evaluate", "greet", "--json")
    assert (proved.status, proved.json["verdict"]) == (0, "achieved")
    work.write("src/greet.txt", "please!\n")
    stale = flow(work, "goal", "evaluate", "greet", "--json")
    assert (stale.status, stale.json["verdict"]) == (4, "needs_human_review")
    assert "AC2" in stale.json["reason"]


def test_an_approval_written_by_hand_proves_nothing(work: GitRepo) -> None:
    flow(work, *CREATE, "--fuzzy", "AC2: it reads well")
    work.write("src/greet.txt", "please\n")
    approve = ("goal", "approve", "greet", "AC2", "--by", "Reader", "--note", "read it", "--yes")
    flow(work, *approve)
    folder = run_dir(work) / "evidence"
    real = next(folder.glob("*approval*.evidence.yaml"))
    real.rename(folder / "evidence-forged.evidence.yaml")
    path = ".flow/goals/greet.goal.yaml"
    work.write(path, work.read(path).replace(real.name, "evidence-forged.evidence.yaml"))
    done = flow(work, "goal", "evaluate", "greet", "--json")
    assert done.json["verdict"] != "achieved"


def test_a_command_is_never_approved_away(work: GitRepo) -> None:
    created(work)
    approve = ("goal", "approve", "greet", "AC1", "--by", "Reader", "--note", "fine", "--yes")
    done = flow(work, *approve, "--json")
    assert done.status == 2
    assert "verification_command" in done.json["error"]["message"]


def test_changed_hooks_wait_for_a_person(work: GitRepo) -> None:
    created(work)
    work.write("src/greet.txt", "please\n")
    work.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 0\n", mode=0o755)
    done = flow(work, "goal", "evaluate", "greet", "--json")
    assert (done.status, done.json["verdict"]) == (4, "needs_human_review")
    approve = ("goal", "approve", "greet", "guards", "--by", "Reader", "--note", "mine", "--yes")
    assert flow(work, *approve).status == 0
    assert flow(work, "goal", "evaluate", "greet").status == 0
    work.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n", mode=0o755)
    assert flow(work, "goal", "evaluate", "greet").status == 4


COMMANDS_THAT_TOUCH = {
    "HEAD": "git -c user.name=x -c user.email=x@example.org commit -q --allow-empty -m x",
    "the branch": "git switch -q -c other; git switch -q main; git switch -q other",
    "the goal": "echo '# hi' >> .flow/goals/greet.goal.yaml",
    "the events": "echo x >> .flow/runs/*/events.jsonl",
    "the evidence": "echo x > .flow/runs/*/evidence/evidence-mine.evidence.yaml || "
    "for d in .flow/runs/*/evidence; do echo x > $d/evidence-mine.evidence.yaml; done",
}


def test_a_command_that_moves_what_it_must_not_has_failed(work: GitRepo) -> None:
    words = [
        word
        for number, command in enumerate(COMMANDS_THAT_TOUCH.values(), 1)
        for word in ("--criterion", f"AC{number}: x :: {command}")
    ]
    done = flow(work, "goal", "create", "greet", "--outcome", "o", "--allow", "src/**", *words)
    assert done.status == 0, done.stderr
    result = flow(work, "goal", "evaluate", "greet", "--json")
    assert result.status == 1, result
    rows = result.json["criterion_results"]
    assert [row["outcome"] for row in rows] == ["failed"] * len(COMMANDS_THAT_TOUCH)
    touched = [row["reason"].partition(",")[0].split("/")[-1] for row in rows]
    head = "it changed HEAD"
    assert touched == [head, head, "it changed goal greet", "events.jsonl", "evidence"]
    assert result.json["proposed_transition"] is None


@pytest.mark.parametrize("what", ["another goal's run", "the journal"])
def test_a_command_that_takes_a_record_away_has_failed(repo: GitRepo, what: str) -> None:
    """What others may write to at any time is not watched, but Flow takes none of it away."""
    scene.create(scene.start(repo), "other")
    scene.create(repo, criterion='AC1: x :: rm -rf "$(cat ../gone)"')
    journal = repo.path / ".decisions/issue-7.md"
    gone = journal if what == "the journal" else scene.run_dir(repo, "other")
    (repo.path.parent / "gone").write_text(str(gone))
    done = flow(repo, "goal", "evaluate", "greet", "--json")
    assert done.status == 1, done.json["criterion_results"]
    [row] = done.json["criterion_results"]
    path = gone.relative_to(repo.path)
    why = f"it changed {path}, which only Flow or a person may change"
    assert (row["outcome"], row["reason"]) == ("failed", why)


def test_a_contract_changed_while_commands_run_is_not_proposed(work: GitRepo) -> None:
    command = "sed -i.bak 's/greeting is polite/greeting is there/' .flow/goals/greet.goal.yaml"
    words = list(CREATE)
    words[words.index("--criterion") + 1] = f"AC1: x :: {command}"
    assert flow(work, *words).status == 0
    done = flow(work, "goal", "evaluate", "greet", "--json")
    assert done.status in (1, 2)
    assert "status: active" in goal_text(work)
    assert "proposal.json" not in {p.name for p in run_dir(work).iterdir()}


def test_no_turn_is_counted_beyond_the_largest_number(work: GitRepo) -> None:
    flow(work, *CREATE)
    most = 1 << 53
    text = scene.goal_file(work)
    for turns, status in ((most - 1, 1), (most, 2)):
        given = re.sub("turns_evaluated: .*", f"turns_evaluated: {turns}", text)
        work.write(".flow/goals/greet.goal.yaml", given)
        done = flow(work, "goal", "evaluate", "greet")
        assert done.status == status, done
    assert "greet.goal.yaml: lifecycle.turns_evaluated: " in done.stderr
    assert "[1/1]" not in done.stderr, "it is said before a command runs"


def test_another_run_keeps_its_own_folder(work: GitRepo) -> None:
    created(work)
    work.write("src/greet.txt", "please\n")
    done = flow(work, "goal", "evaluate", "greet", "--run-id", "night-1", "--json")
    assert done.status == 0, done.stderr
    assert done.json["run_id"] == "night-1"
    assert (work.path / ".flow/runs/night-1/evidence/evidence-ac1-eval-1.txt").exists()
    assert flow(work, "goal", "confirm", "greet", "--proposal", proposal(done)).status == 0


@pytest.mark.parametrize(
    ("target", "pays_for"), [("another goal", 64), ("another goal", 1), ("an earlier sidecar", 1)]
)
def test_a_command_that_writes_to_one_of_many_files_of_flows_own_has_failed(
    repo: GitRepo, monkeypatch: pytest.MonkeyPatch, target: str, pays_for: int
) -> None:
    """Also where nobody looks at them after every command, and its evidence is recorded already."""
    monkeypatch.setattr(file_watch, "_LOOKS_PER_COMMAND", pays_for)
    beside = repo.path.parent
    (beside / "more").touch()
    (beside / "target").write_text("/dev/null")
    writes = 'cat ../more >> "$(cat ../target)"'
    scene.create(scene.start(repo), "other")
    rest = ("--criterion", f"AC2: writes :: {writes}", "--criterion", "AC3: is true :: true")
    scene.create(repo, "greet", *rest)
    scene.meet(repo)
    done = flow(repo, "goal", "evaluate", "greet", "--json")
    assert done.status == 0, done.json["criterion_results"]
    place = repo.path / ".flow/goals/other.goal.yaml"
    if target == "an earlier sidecar":
        [place] = repo.path.glob(".flow/runs/*/evidence/evidence-ac3-eval-1.evidence.yaml")
    (beside / "more").write_text("# more\n")
    (beside / "target").write_text(str(place))
    verdict = flow(repo, "goal", "evaluate", "greet", "--json").json
    assert verdict["verdict"] != "achieved"
    rows = {row["criterion_id"]: row for row in verdict["criterion_results"]}
    assert rows["AC2"]["outcome"] == "failed"
    assert "which only Flow or a person may change" in rows["AC2"]["reason"]
    assert pays_for == 1 or rows["AC1"]["outcome"] == "passed"
