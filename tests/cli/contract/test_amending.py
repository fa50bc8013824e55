"""Amending, in this process: what moves meanwhile, and what is taken back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from flow.adapters.ledger import transaction
from flow.adapters.transitions.amending import Amending
from flow.adapters.transitions.creating import Creating
from flow.app.evaluation.protected_files import current_difference
from flow.app.transitions import moves, trusting
from flow.app.transitions.amend import carry_out, plan_handed_in
from flow.app.transitions.create import NewGoal, create_goal
from flow.app.transitions.persons_word import PersonsWord
from flow.cli.output import Output
from flow.core.boundary.changes import Baseline
from flow.errors import InputError, StateError, StorageError
from flow.wiring import evaluating
from flow.wiring.context import Context
from flow.wiring.trusting import Trusting
from tests.cli.contract.test_amend import STRONGER, TEXT, WEAKER
from tests.support import scene

if TYPE_CHECKING:
    from flow.adapters.chain.run_record import RunRecord
    from flow.app.transitions.amend import AmendmentPlan
    from flow.core.evidence.protected_files import Difference
    from tests.support import GitRepo


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    scene.start(repo)
    repo.write("../goal.yaml", TEXT)
    scene.create_from(repo, "../goal.yaml")
    return repo


def here(repo: GitRepo) -> Context:
    return Context(str(repo.path))


def protected_changes(repo: GitRepo) -> Difference | None:
    return current_difference(here(repo).closing_context(), here(repo).load("greet"))


def amending(repo: GitRepo) -> Amending:
    return Amending(here(repo))


def plan(repo: GitRepo, text: str) -> AmendmentPlan:
    return plan_handed_in(amending(repo), "greet", text, "new.yaml")


def do(repo: GitRepo, made: AmendmentPlan) -> None:
    word, how = PersonsWord("a person"), "flow goal amend"
    carry_out(amending(repo), made, word=word, how=how, asked="a test", reason=None)


def trusted(repo: GitRepo) -> bool:
    return here(repo).trusted(here(repo).load("greet"))[0]


def record_trust(repo: GitRepo, goal_id: str | None = None, goal_file: str | None = None) -> None:
    port = Trusting(here(repo))
    trusting.record_trust(port, port.named(goal_id, goal_file), "a test")


def pause(repo: GitRepo) -> None:
    context = here(repo)
    moves.pause_goal(context.persons_context(), "greet", "later", context.remembered.paused)


def evaluate(repo: GitRepo) -> None:
    from flow.app.evaluation.values import Request

    evaluating.evaluate(here(repo), Request("greet"))


def edit(repo: GitRepo, old: str = "says please", new: str = "says anything") -> None:
    file = repo.path / ".flow/goals/greet.goal.yaml"
    file.write_text(file.read_text().replace(old, new))


@pytest.mark.parametrize("meanwhile", [pause, evaluate, edit])
def test_what_moves_between_question_and_answer_is_refused(work, meanwhile) -> None:
    made = plan(work, WEAKER)
    meanwhile(work)
    before, was_trusted = scene.goal_file(work), trusted(work)
    with pytest.raises(StateError) as refused:
        do(work, made)
    assert refused.value.code == "moved"
    assert scene.goal_file(work) == before
    assert trusted(work) is was_trusted
    entries = (scene.run_dir(work) / "events.jsonl").read_text()
    assert "contract-amended" not in entries


def test_a_comment_or_an_approval_meanwhile_is_kept(work) -> None:
    made = plan(work, STRONGER)
    file = work.path / ".flow/goals/greet.goal.yaml"
    evidence = ".flow/runs/r/evidence/x.evidence.yaml"
    file.write_text(
        file.read_text().replace(
            "status: pending", f"status: fail\n      evidence_ref: {evidence}", 1
        )
    )
    do(work, made)
    assert f"evidence_ref: {evidence}" in scene.goal_file(work)
    assert trusted(work)


def test_a_contract_that_changes_after_it_was_shown_is_not_trusted(work) -> None:
    edit(work)
    port = Trusting(here(work))
    shown = port.named("greet")
    edit(work, "says anything", "says nothing")
    with pytest.raises(StateError) as refused:
        port.amend_by_hand(shown, "a test")
    assert refused.value.code == "moved"
    assert not trusted(work)


def test_trust_is_taken_back_where_the_goal_cannot_be_written(work, monkeypatch) -> None:
    made = plan(work, WEAKER)

    def full(*_: object) -> None:
        raise StorageError("no space left on device")

    monkeypatch.setattr(transaction, "commit", full)
    with pytest.raises(StorageError):
        do(work, made)
    assert trusted(work)
    assert "true ||" not in scene.goal_file(work)
    how = [entry.how for entry in here(work).trust_ledger.standing()]
    assert how == ["flow goal amend, taken back"]


def test_trust_stays_where_the_change_was_decided(work, monkeypatch) -> None:
    """The intent is published, and writing the goal fails: the next command completes it."""
    made = plan(work, WEAKER)
    commit = transaction.commit

    def late(record: RunRecord, intent: transaction.Intent, *_: object) -> None:
        transaction.publish(record.root, intent)
        raise StorageError("the disk went away")

    monkeypatch.setattr(transaction, "commit", late)
    with pytest.raises(StorageError):
        do(work, made)
    monkeypatch.setattr(transaction, "commit", commit)
    assert "true ||" in scene.goal_file(work)
    assert trusted(work)


def test_nothing_can_be_taken_back_where_nothing_can_be_read(work, monkeypatch) -> None:
    made = plan(work, WEAKER)

    def gone(record: RunRecord, intent: transaction.Intent, *_: object) -> None:
        (work.path / ".flow/goals/greet.goal.yaml").unlink()
        raise StorageError("the disk went away")

    monkeypatch.setattr(transaction, "commit", gone)
    with pytest.raises(StorageError):
        do(work, made)
    with pytest.raises(InputError):
        trusted(work)


def test_an_untrusted_goal_that_cannot_be_written_stays_untrusted(work, monkeypatch) -> None:
    edit(work)
    made = plan(work, WEAKER)

    def full(*_: object) -> None:
        raise StorageError("no space left on device")

    monkeypatch.setattr(transaction, "commit", full)
    with pytest.raises(StorageError):
        do(work, made)
    assert not trusted(work)


def test_a_rubric_that_moves_meanwhile_is_refused(repo: GitRepo) -> None:
    scene.start(repo)
    rubric = repo.write(".flow/rubrics/tone.yaml", "name: tone\n")
    text = TEXT.replace(
        "      verification_command: test -s src/greet.txt\n", "      rubric: tone\n"
    )
    create_goal(Creating(here(repo)), NewGoal(text, "goal.yaml", "a test"))
    made = plan(repo, text.replace("repo: demo", "repo: renamed"))
    rubric.write_text("name: another\n")
    with pytest.raises(StateError):
        do(repo, made)


def test_a_goal_without_a_run_gets_one(work) -> None:
    """A file that somebody wrote as active, trusted as it is."""
    other = TEXT.replace("id: greet", "id: other")
    work.write(".flow/goals/other.goal.yaml", other)
    record_trust(work, "other")
    text = STRONGER.replace("id: greet", "id: other")
    made = plan_handed_in(amending(work), "other", text, "new.yaml")
    assert made.kind == "strengthening"
    do(work, made)
    assert here(work).load("other").goal.run_id is not None


def test_protecting_without_a_record_of_the_start_leaves_it_unrecorded(work) -> None:
    (scene.run_dir(work) / "baseline.json").unlink()
    made = plan(
        work, TEXT.replace('["src/**"]', '["src/**"]\n  protected_paths: ["src/greet.txt"]')
    )
    do(work, made)
    assert not (scene.run_dir(work) / "baseline.json").exists()


def test_a_baseline_of_no_git_can_be_relocked(work) -> None:
    from flow.adapters.baseline.pinned import replace_protected

    none = Baseline(None, {}, {}, {}, {}, {})
    made = replace_protected(here(work).repo, none, ["tests/**"], [], denied=())
    assert (made.protected, made.protected_patterns) == ({}, ("tests/**",))


def test_hundreds_of_changes_are_counted_in_the_journal(work) -> None:
    paths = json.dumps([f"src/{n}" for n in range(250)])
    made = plan(work, TEXT.replace('["src/**"]', f'["src/**"]\n  denied_paths: {paths}'))
    assert len(made.changes) == 250
    do(work, made)
    text = (work.path / ".decisions/issue-7.md").read_text()
    assert "and 50 more" in text
    assert "src/199 added" in text
    assert "src/200 added" not in text


def test_a_trusted_copy_of_the_live_file_is_the_live_one(work, tmp_path) -> None:
    edit(work)
    live = work.path / ".flow/goals/greet.goal.yaml"
    record_trust(work, goal_file=str(live))
    assert "contract-amended" in (scene.run_dir(work) / "events.jsonl").read_text()
    other = tmp_path / "other.yaml"
    other.write_text(live.read_text().replace("says anything", "says nothing"))
    before = scene.goal_file(work)
    record_trust(work, goal_file=str(other))
    assert scene.goal_file(work) == before
    stranger = tmp_path / "stranger.yaml"
    stranger.write_text(live.read_text().replace("id: greet", "id: stranger"))
    record_trust(work, goal_file=str(stranger))
    port = Trusting(here(work))
    assert trusting.changes_since_trusted(port, port.named(goal_file=str(stranger))) == ()


def test_a_person_trusts_what_they_were_shown(
    work: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(work)
    shown = here(work).load("greet").contract

    def swapped(*_: Any, **__: Any) -> None:
        edit(work, "grep -q please", "true")

    monkeypatch.setattr(Output, "need_yes", swapped)
    done = scene.flow(work, "trust", "record", "greet", "--json")
    assert done.json["digest"] == shown
    assert [entry.digest for entry in here(work).trust_ledger.standing()] == [shown]
    assert not trusted(work)


def test_what_a_plan_says_of_what_is_not_its_to_change(work) -> None:
    given = STRONGER.replace("issue: 7}", f"issue: 7, run_id: other, base_commit: {'a' * 40}}}")
    made = plan(work, given)
    assert [warning.partition(" ")[0] for warning in made.warnings] == [
        "scope.base_commit",
        "scope.run_id",
    ]
    assert not made.empty
    assert plan(work, TEXT).empty
    document = made.to_document()
    assert (document["class"], document["needs_person"]) == ("strengthening", False)
    with pytest.raises(InputError):
        plan(work, TEXT.replace("id: greet", "id: other"))


def test_a_draft_is_written_and_not_trusted(repo: GitRepo) -> None:
    scene.start(repo)
    create_goal(Creating(here(repo)), NewGoal(TEXT, "goal.yaml", "a test", as_draft=True))
    locked = '["src/**"]\n  protected_paths: ["src/greet.txt"]'
    made = plan(repo, WEAKER.replace('["src/**"]', locked))
    assert (made.kind, made.needs_person) == ("incomparable", False)
    do(repo, made)
    assert not trusted(repo)
    assert "protected_paths" in scene.goal_file(repo)


def test_what_is_protected_anew_is_recorded_with_it(work) -> None:
    scene.meet(work)
    locked = '["src/**"]\n  protected_paths: ["src/greet.txt"]'
    do(work, plan(work, TEXT.replace('["src/**"]', locked)))
    document = json.loads((scene.run_dir(work) / "baseline.json").read_text())
    assert list(document["protected"]) == ["src/greet.txt"]
    assert document["protected_patterns"] == ["src/greet.txt"]
    assert protected_changes(work) is None
    work.write("src/greet.txt", "other\n")
    found = protected_changes(work)
    assert found is not None
    assert found.paths == ("src/greet.txt",)
