"""An approval that proves the last criterion leads to the proposal, and nothing runs again.

A wrong proposal is the worst thing here: each row of `WITHHELD` is a reason why there is none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from flow.app.transitions.confirming import live_question
from flow.wiring.context import Context
from tests.support import scene
from tests.support.scene import ended, flow, step

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support import GitRepo, Ran

RUNS = "AC1: says please :: echo x >> ../runs; grep -q please src/greet.txt"
WORDS = ("--by", "R. Viewer", "--note", "I read it, twice", "--yes")


def counted(repo: GitRepo) -> int:
    """How often AC1's command has run."""
    return len((repo.path.parent / "runs").read_text().split())


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    """AC1 is proved, and AC2 waits for a person."""
    scene.create(scene.start(repo), "greet", "--fuzzy", scene.FUZZY, criterion=RUNS)
    (repo.path.parent / "runs").write_text("")
    scene.meet(repo)
    assert step(repo, "goal", "evaluate", "greet", "--no-judge").status == 4
    assert (scene.status(repo), counted(repo)) == ("waiting_for_user", 1)
    return repo


def approve(repo: GitRepo, about: str = "AC2", **more: Any) -> Ran:
    return flow(repo, "goal", "approve", "greet", about, *WORDS, "--json", **more)


def status(repo: GitRepo) -> dict[str, Any]:
    document: dict[str, Any] = flow(repo, "goal", "status", "greet", "--json").json
    return document


def test_the_proposal_follows_and_nothing_runs_again(work: GitRepo) -> None:
    done = approve(work)
    assert (done.status, counted(work)) == (0, 1), done
    live = status(work)["proposal"]
    assert (live["to"], live["live"]) == ("achieved", True)
    assert done.json["proposal"]["proposal_id"] == live["proposal_id"]
    assert (done.json["status"], done.json["by"], done.json["note"]) == (
        "active",
        "R. Viewer",
        "I read it, twice",
    )
    confirm = f"flow goal confirm greet --proposal {live['proposal_id'][:12]}"
    assert done.json["next"] == confirm
    assert status(work)["turns_evaluated"] == 2
    verdict = flow(work, "verdict", "show", "greet", "--json").json
    assert verdict["proposed_transition"]["proposal_id"] == live["proposal_id"]
    asked = live_question(Context(str(work.path)), "greet")
    assert asked is not None
    assert asked.criteria[1].result.endswith(", “I read it, twice”")
    assert [row.get("reused", False) for row in verdict["criterion_results"]] == [True, False]
    assert flow(work, *confirm.split()[1:]).status == 0
    assert scene.status(work) == "achieved"


def test_at_a_terminal_the_note_is_asked_for_and_the_next_line_asks(work: GitRepo) -> None:
    child = scene.at_terminal(work, ["goal", "approve", "AC2"], columns=80)
    child.expect_exact("AC2, for the files as they are now: ")
    child.expect_exact("On what grounds?")
    child.sendline("It reads Well")
    child.expect(r"\[y/N\]")
    assert child.before.count("It reads Well") == 1, "what was just typed is not said again"
    child.sendline("y")
    code, said = ended(child)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", said).replace("\r", "")
    assert code == 0, said
    assert "✓ AC2 of greet is approved by A Tester (git user.name).\n  “It reads Well”\n" in plain
    assert "nothing was run again" in plain
    assert plain.endswith("next   flow goal confirm greet\n")
    assert all(len(line) < 80 for line in plain.splitlines())


def test_a_note_of_the_command_line_stands_in_its_quotes_above_the_question(work: GitRepo) -> None:
    child = scene.at_terminal(work, ["goal", "approve", "AC2", "--note", "Read it"], columns=80)
    child.expect_exact("  A Tester: “Read it”\r\n")
    child.expect(r"\[y/N\]")
    child.sendline("n")
    assert ended(child)[0] == 4
    done = approve(work)
    assert "I read it, twice" not in done.stderr, "with --yes the result says it"


def hook_changes(repo: GitRepo, text: str) -> None:
    repo.write(".git/hooks/pre-commit", f"#!/bin/sh\n{text}\n")


def protected_changes(repo: GitRepo, text: str) -> None:
    repo.write("tests/all.sh", f"exit 0 # {text}\n")


def work_changes(repo: GitRepo, text: str) -> None:
    repo.write("src/greet.txt", f"please {text}\n")


def text_changes(repo: GitRepo, text: str) -> None:
    file = ".flow/goals/greet.goal.yaml"
    repo.write(file, re.sub(r"it reads \w+", f"it reads {text}", repo.read(file)))


@pytest.mark.parametrize(
    ("about", "change"),
    [
        ("guards", hook_changes),
        ("protected", protected_changes),
        ("AC2", work_changes),
        ("AC2", text_changes),
    ],
)
def test_what_changes_while_a_person_is_asked_is_not_approved(
    repo: GitRepo, about: str, change: Callable[[GitRepo, str], None]
) -> None:
    scene.start(repo)
    repo.commit("tests", **{"tests/all.sh": "exit 0\n"})
    scene.create(
        repo, "greet", "--fuzzy", scene.FUZZY, "--allow", "tests/**", "--protect", "tests/**"
    )
    change(repo, "one")
    child = scene.at_terminal(repo, ["goal", "approve", "greet", about, "--note", "n"], columns=100)
    child.expect(r"\[y/N\]")
    change(repo, "two")
    child.sendline("y")
    code, said = ended(child)
    assert (code, "since the question was asked" in said) == (2, True), said
    events = (scene.run_dir(repo) / "events.jsonl").read_text()
    assert "approved" not in events
    if change is not text_changes:
        assert approve(repo, about).status == 0, "as it is now"


def test_nobody_is_asked_about_what_will_be_refused(work: GitRepo) -> None:
    code, said = ended(scene.at_terminal(work, ["goal", "approve", "AC1"], columns=100))
    assert code == 2
    assert "AC1 has a verification_command; only its exit code can prove it" in said
    assert "On what grounds?" not in said
    earlier_evidence_altered(work)
    code, said = ended(scene.at_terminal(work, ["goal", "approve", "AC2"], columns=100))
    assert (code, "is broken" in said, "On what grounds?" in said) == (2, True, False), said


def changed_file(repo: GitRepo) -> None:
    repo.write("src/other.txt", "new\n")


def outside(repo: GitRepo) -> None:
    repo.write("README.md", "outside\n")


def untrusted(repo: GitRepo) -> None:
    assert flow(repo, "trust", "revoke", "greet").status == 0


def contract_by_hand(repo: GitRepo) -> None:
    path = ".flow/goals/greet.goal.yaml"
    repo.write(path, repo.read(path).replace("says please", "says please loudly"))


def trusted_again(repo: GitRepo) -> None:
    scene.edit(repo, ("says please", "says please loudly"))


def altered_evidence(repo: GitRepo) -> None:
    (file,) = scene.run_dir(repo).glob("evidence/evidence-ac1-eval-1.evidence.yaml")
    file.write_text(file.read_text() + "# more\n")


def earlier_evidence_altered(repo: GitRepo) -> None:
    assert step(repo, "goal", "evaluate", "greet", "--no-judge").status == 4
    altered_evidence(repo)


def denied_by_settings(repo: GitRepo) -> None:
    repo.write(".claude/settings.flow.json", '{"flow": {"denied_paths": ["src/**"]}}')


def failed_since(repo: GitRepo) -> None:
    """The same files failed once more recently: a pass that is named by hand is not the newest."""
    repo.write("src/greet.txt", "give me that\n")
    assert flow(repo, "goal", "evaluate", "greet", "--no-judge").status == 1


def a_hook(repo: GitRepo) -> None:
    repo.write(".git/hooks/pre-commit", "#!/bin/sh\n")


WITHHELD: dict[str, tuple[Callable[[GitRepo], None], str, str]] = {
    "files": (changed_file, "no fresh evidence of AC1", "flow goal evaluate greet --reuse"),
    "boundary": (outside, "README.md", "remove README.md; or a person allows them"),
    "trust": (untrusted, "not trusted", "flow trust record greet"),
    "contract": (contract_by_hand, "not trusted", "flow trust record greet"),
    "trusted contract": (trusted_again, "no fresh evidence", "flow goal evaluate greet --reuse"),
    "failed": (failed_since, "failed: AC1", "work on AC1"),
    "guards": (a_hook, "no fresh evidence of AC1", "flow goal evaluate greet --reuse"),
}


@pytest.mark.parametrize("reason", WITHHELD)
def test_without_fresh_proof_of_everything_there_is_no_proposal(work: GitRepo, reason: str) -> None:
    spoil, why, next_step = WITHHELD[reason]
    spoil(work)
    before, turns = counted(work), status(work)["turns_evaluated"]
    done = approve(work)
    assert done.status == 0, done
    assert done.json["proposal"] is None
    assert why in done.json["not_proposed"], done.json
    assert next_step in done.json["next"], done.json
    assert counted(work) == before
    now = status(work)
    assert now["proposal"] is None
    assert now["turns_evaluated"] == turns  # what proposes nothing is no turn


@pytest.mark.parametrize(
    ("about", "spoil"),
    [("AC2", altered_evidence), ("AC2", earlier_evidence_altered), ("guards", altered_evidence)],
)
def test_on_a_broken_record_nothing_is_approved(
    work: GitRepo, about: str, spoil: Callable[[GitRepo], None]
) -> None:
    """Nothing would ever be proposed from it; a run apart from it takes the approval."""
    spoil(work)
    before = {path: path.read_bytes() for path in scene.run_dir(work).rglob("*") if path.is_file()}
    done = approve(work, about)
    error = done.json["error"]
    assert (done.status, error["code"]) == (2, "stale_proposal"), error
    assert "evidence-ac1-eval-1.evidence.yaml" in error["message"]
    assert "flow goal evaluate greet --run-id NEW" in error["remedy"]
    assert {path: path.read_bytes() for path in before} == before
    assert status(work)["approvals"] == []
    assert flow(work, "goal", "evaluate", "greet", "--run-id", "anew", "--no-judge").status == 4
    assert approve(work, about).status == 0


def test_what_another_criterion_lacks_is_said(repo: GitRepo) -> None:
    more = ("--fuzzy", scene.FUZZY, "--fuzzy", "AC3: it is short")
    scene.create(scene.start(repo), "greet", *more)
    scene.meet(repo)
    flow(repo, "goal", "evaluate", "greet", "--no-judge")
    first = approve(repo)
    assert first.json["proposal"] is None
    assert "AC3" in first.json["next"]
    assert approve(repo, "AC3").json["proposal"]["to"] == "achieved"


def from_file(repo: GitRepo, *criteria: str) -> None:
    """A goal with AC1, AC2, which a person approves, and more criteria; evaluated once."""
    rows = (
        "{id: AC1, text: t, status: pending, verification_command: test -e src/greet.txt}",
        "{id: AC2, text: it reads well, status: pending}",
        *criteria,
    )
    listed = "".join(f"    - {row}\n" for row in rows)
    repo.write("../goal.yaml", GOAL.replace("CRITERIA\n", listed))
    scene.create_from(scene.start(repo), "../goal.yaml")
    flow(repo, "goal", "evaluate", "greet", "--no-judge")


GOAL = """\
apiVersion: flow.synapti.ai/v1
kind: FlowGoal
metadata: {id: greet, created_at: "2026-03-01T10:15:00Z"}
scope: {repo: demo, branch: main}
objective:
  outcome: o
  acceptance_criteria:
CRITERIA
constraints:
  allowed_paths: ["src/**"]
evaluator:
  type: hybrid
lifecycle:
  status: active
"""


def test_a_criterion_without_fresh_evidence_holds_it_back(repo: GitRepo) -> None:
    rows = ("hermetic: false, verification_command: 'true'", "verification_command: 'kill $$'")
    more = [(must_pass, row) for must_pass in ("true", "false") for row in rows]
    text = "{{id: AC{}, text: t, status: pending, must_pass: {}, {}}}"
    from_file(repo, *(text.format(number, *each) for number, each in enumerate(more, 3)))
    done = approve(repo)
    assert done.json["proposal"] is None
    assert "no fresh evidence of AC3, AC4, AC5, AC6" in done.json["not_proposed"], done.json
    assert done.json["next"] == "flow goal evaluate greet --reuse"


def test_an_optional_criterion_that_failed_holds_nothing_back(repo: GitRepo) -> None:
    row = "{id: AC3, text: t, status: pending, must_pass: false, verification_command: 'false'}"
    from_file(repo, row)
    assert approve(repo).json["proposal"]["to"] == "achieved"


def test_a_broken_name_is_refused_before_anything_is_shown(work: GitRepo) -> None:
    words = ("goal", "approve", "greet", "AC2", "--note", "n", "--yes", "--by")
    for name in ("", " ", "a\nb", "x" * 300):
        done = flow(work, *words, name)
        assert (done.status, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1
        assert done.stderr.startswith("flow: --by is ")


@pytest.mark.parametrize("note", [(), ("--note", " ")])
def test_off_a_terminal_an_approval_without_a_note_is_refused(
    work: GitRepo, note: tuple[str, ...]
) -> None:
    done = flow(work, "goal", "approve", "greet", "AC2", "--by", "jo", *note, "--yes", "--json")
    assert (done.status, done.json["error"]["key"]) == (2, "--note")


def test_protected_files_that_a_person_approved_lead_to_the_proposal(repo: GitRepo) -> None:
    scene.start(repo)
    repo.commit("tests", **{"tests/all.sh": "exit 0\n"})
    scene.create(repo, "greet", "--allow", "tests/**", "--protect", "tests/**")
    scene.meet(repo)
    repo.write("tests/all.sh", "exit 0 # more\n")
    assert flow(repo, "goal", "evaluate", "greet").status == 4
    done = approve(repo, "protected")
    assert done.json["proposal"]["to"] == "achieved", done
    repo.write("tests/all.sh", "exit 0 # and more\n")
    assert status(repo)["proposal"]["live"] is False


def test_a_paused_goal_is_resumed_and_that_is_said(work: GitRepo) -> None:
    assert flow(work, "goal", "pause", "greet", "--reason", "later").status == 0
    done = approve(work)
    assert 'greet was paused by A Tester: "later"; this approval resumes it' in done.stderr or (
        "this approval resumes it" in done.stderr
    )
    assert (scene.status(work), done.json["proposal"]["to"]) == ("active", "achieved")
