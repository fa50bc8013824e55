"""``--trust-digest`` is a pipeline's word, and ``confirm`` asks again what ``evaluate`` asked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from flow.adapters.journal.store import read as read_journal
from tests.support import run_helper, scene
from tests.support.scene import flow

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import GitRepo

WEAKER = ("grep -q please src/greet.txt", "grep -q . src/greet.txt")


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    return scene.create(scene.start(repo))


def contract(repo: GitRepo) -> str:
    return str(flow(repo, "goal", "status", "greet", "--json").json["contract"])


def weaken(repo: GitRepo) -> None:
    text = scene.goal_file(repo)
    assert WEAKER[0] in text
    repo.write(".flow/goals/greet.goal.yaml", text.replace(*WEAKER))


def named(repo: GitRepo, **more: Any) -> Any:
    words = ("goal", "evaluate", "greet", "--json", "--trust-digest", contract(repo))
    return flow(repo, *words, **more)


def amended(repo: GitRepo) -> list[dict[str, Any]]:
    text = (scene.run_dir(repo) / "events.jsonl").read_text()
    found = [json.loads(line) for line in text.splitlines()]
    return [event for event in found if event["type"] == "contract-amended"]


def test_another_contract_than_the_known_one_is_recorded_and_proposes_nothing(
    work: GitRepo,
) -> None:
    scene.propose(work)
    before = contract(work)
    weaken(work)
    for _ in range(2):  # naming it again makes it no better
        done = named(work)
        assert done.status == 4, "a person is needed: a pipeline must not take it for achieved"
        assert (done.json["verdict"], done.json["blocker_type"]) == (
            "needs_human_review",
            "missing_approval",
        )
        assert done.json["proposed_transition"] is None, done.json
        assert "flow trust record greet" in done.json["reason"]
        assert "flow trust record greet" in done.json["next_step_hint"]
        assert done.json["do"] == "ask_trust"
    (event,) = amended(work)
    assert (event["class"], event["how"]) == ("incomparable", "flow goal evaluate --trust-digest")
    assert (event["from_sha256"], event["contract_sha256"]) == (before, contract(work))
    assert event["said_from"] == "pipe"
    entries = read_journal(str(work.path), ".decisions/issue-7.md").artifacts
    assert [entry["type"] for entry in entries].count("contract-amended") == 1
    status = flow(work, "goal", "status", "greet", "--json").json
    assert status["proposal"] is None
    assert flow(work, "trust", "check", "greet").status == 4, "nothing was trusted"


def test_a_contract_at_the_limit_is_remembered(work: GitRepo, home: Path) -> None:
    scene.meet(work)
    (home / "flow-state/goal-trust.jsonl").unlink()
    text = scene.goal_file(work).replace("polite", "polite " + "é" * 400_000)
    work.write(".flow/goals/greet.goal.yaml", text)
    assert named(work).json["proposed_transition"] is not None
    weaken(work)
    assert named(work).json["proposed_transition"] is None


def test_once_a_person_trusts_it_it_is_proposed(work: GitRepo) -> None:
    weaken(work)
    assert named(work).json["proposed_transition"] is None
    assert flow(work, "trust", "record", "greet", "--yes").status == 0
    assert named(work).json["proposed_transition"] is not None


def test_a_dry_run_records_nothing(work: GitRepo) -> None:
    weaken(work)
    digest = contract(work)
    words = ("goal", "evaluate", "greet", "--json", "--dry-run", "--trust-digest", digest)
    done = flow(work, *words)
    assert (done.status, done.json["do"], done.json["proposed_transition"]) == (1, "work_on", None)
    scene.meet(work)
    assert flow(work, *words, "--only", "AC1").status == 4, "what runs, and is no one's word"
    assert amended(work) == []


def test_a_machine_that_knows_nothing_remembers_what_was_named_first(
    work: GitRepo, home: Path
) -> None:
    scene.meet(work)
    (home / "flow-state/goal-trust.jsonl").unlink()
    first = contract(work)
    assert named(work).json["proposed_transition"] is not None
    weaken(work)
    done = named(work)
    assert done.json["proposed_transition"] is None
    (event,) = amended(work)
    assert event["from_sha256"] == first
    assert any(WEAKER[1] in line for line in event["difference"])


def confirmed_when_only_named(work: GitRepo) -> Any:
    """What ``confirm`` answers to the proposal of a contract that is named and not trusted."""
    verdict = named(work).json
    assert (verdict["verdict"], verdict["do"]) == ("achieved", "ask_trust")
    assert "flow trust record greet" in verdict["next_step_hint"]
    told = flow(work, "verdict", "show").stdout
    assert "flow trust record" in told.splitlines()[-1]
    assert "flow goal confirm" not in told, "it would be refused"
    assert "nothing is proposed" not in told
    return confirm(work, verdict["proposed_transition"]["proposal_id"])


def test_a_contract_that_was_only_named_is_trusted_before_it_is_confirmed(
    work: GitRepo, home: Path
) -> None:
    scene.meet(work)
    (home / "flow-state/goal-trust.jsonl").unlink()
    assert confirmed_when_only_named(work).status == 2
    assert scene.status(work) == "active"


def test_what_was_revoked_runs_for_a_pipeline_and_nobody_can_confirm_it(work: GitRepo) -> None:
    scene.meet(work)
    assert flow(work, "trust", "revoke", "greet").status == 0
    done = confirmed_when_only_named(work)
    assert (done.status, "was revoked" in done.stdout) == (2, True)
    assert scene.status(work) == "active"


# --- confirm asks again -------------------------------------------------------------------------


def confirm(repo: GitRepo, proposal: str) -> Any:
    return flow(repo, "goal", "confirm", "greet", "--proposal", proposal, "--json")


def by_helper(repo: GitRepo) -> Any:
    repo.write("../life.json", '{"status": "achieved"}')
    words = ("--update-lifecycle", "--goal-id", "greet", "--lifecycle-file", "../life.json")
    return run_helper("flow-goal-record", *words, "--merge", cwd=repo.path)


def revoked(repo: GitRepo, home: Path) -> str:
    assert flow(repo, "trust", "revoke", "greet").status == 0
    return "was revoked"


def denied_by_the_user(repo: GitRepo, home: Path) -> str:
    (home / ".claude").mkdir(exist_ok=True)
    settings = {"flow": {"goals": {"denied_paths": ["src/greet.txt"]}}}
    (home / ".claude/settings.flow.json").write_text(json.dumps(settings))
    return "src/greet.txt"


def other_branch(repo: GitRepo, home: Path) -> str:
    repo.git("switch", "-qc", "other")
    return "belongs to branch main"


def other_contract(repo: GitRepo, home: Path) -> str:
    weaken(repo)
    return "contract"


SINCE = [revoked, denied_by_the_user, other_branch, other_contract]


@pytest.mark.parametrize("since", SINCE, ids=lambda f: f.__name__)
@pytest.mark.parametrize("door", ["confirm", "helper"])
def test_what_evaluate_asked_is_asked_again(
    work: GitRepo, home: Path, door: str, since: Any
) -> None:
    proposal = scene.propose(work)
    why = since(work, home)
    done = confirm(work, proposal) if door == "confirm" else by_helper(work)
    assert done.status == (2 if door == "confirm" else 1), done
    assert why in done.stdout + done.stderr
    assert scene.status(work) == "active"


def test_nothing_since_and_both_doors_open(work: GitRepo) -> None:
    scene.propose(work)
    assert by_helper(work).status == 0
    assert scene.status(work) == "achieved"


def test_a_proposal_that_a_pipeline_made_needs_trust_to_be_confirmed(
    work: GitRepo, home: Path
) -> None:
    scene.meet(work)
    (home / "flow-state/goal-trust.jsonl").unlink()
    proposal = named(work).json["proposed_transition"]["proposal_id"]
    done = confirm(work, proposal)
    assert (done.status, "flow trust record greet" in done.stdout) == (2, True)
    assert flow(work, "trust", "record", "greet", "--yes").status == 0
    assert confirm(work, proposal).status == 0
