"""The verifier lock at the command line and in the hook (SPEC 10)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from flow.wiring.context import Context
from tests.support import ROOT, GitRepo, Ran, run, scene
from tests.support import stops as hooks
from tests.support.goal_judge import GoalJudge, reply
from tests.support.scene import flow

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """\
apiVersion: flow.synapti.ai/v1
kind: FlowGoal
metadata: {id: greet, created_at: "2026-03-01T10:15:00Z"}
scope: {repo: demo, branch: main, issue: 7}
objective:
  outcome: adding works
  acceptance_criteria:
    - id: AC1
      text: the test passes
      status: pending
      verification_command: sh tests/add.sh
constraints:
  allowed_paths: ["src/**", "tests/**"]
  protected_paths: ["tests/**"]
evaluator:
  type: deterministic
lifecycle:
  status: active
"""
TEST = 'x=$(cat src/add.sh)\neval "$x"\ntest $(add 2 2) = 4 || exit 1\n'


def start(repo: GitRepo, text: str = TEXT) -> GitRepo:
    files = {"src/add.sh": "add() { echo 5; }\n", "tests/add.sh": TEST}
    repo.commit("start", **files, **{".gitignore": ".flow/runs/\n*.tmp\n"})
    repo.write("../goal.yaml", text)
    scene.create_from(repo, "../goal.yaml")
    return repo


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    return start(repo)


def evaluate(repo: GitRepo, *more: str) -> Ran:
    return flow(repo, "goal", "evaluate", "greet", "--json", *more)


def cheat(repo: GitRepo) -> None:
    """The attack: what the test asks is made true by changing the test."""
    repo.write("tests/add.sh", "true\n")


def honest(repo: GitRepo) -> None:
    repo.write("src/add.sh", "add() { echo $(($1 + $2)); }\n")


def approve(repo: GitRepo, *more: str) -> Ran:
    words = ("goal", "approve", "greet", "protected", "--by", "R. Viewer", "--note", "read it")
    return flow(repo, *words, *more)


def sidecar(repo: GitRepo, verdict: Ran) -> dict[str, Any]:
    """The document of the first criterion's evidence."""
    reference = verdict.json["criterion_results"][0]["evidence_ref"]
    name = reference.rpartition("/")[2].removesuffix(".evidence.yaml")
    shown = flow(repo, "evidence", "show", name, "--json")
    assert shown.status == 0, shown
    found: dict[str, Any] = shown.json
    return found


def body(found: dict[str, Any]) -> dict[str, Any]:
    if "document" in found:
        found = found["document"]
    result: dict[str, Any] = found["evidence"]
    return result


def test_an_agent_that_edits_the_test_does_not_get_its_goal_achieved(work: GitRepo) -> None:
    assert flow(work, "goal", "status", "greet", "--json").json["protected_changes"] is None
    cheat(work)
    done = evaluate(work)
    assert done.status == 4
    assert done.json["verdict"] == "needs_human_review"
    assert done.json["blocker_type"] == "missing_approval"
    assert done.json["proposed_transition"] is None
    assert "tests/add.sh" in done.json["reason"]
    assert "flow goal approve greet protected" in done.json["next_step_hint"]
    assert scene.status(work) == "waiting_for_user"
    held = body(sidecar(work, done))
    (file,) = held["protected_changes"]["files"]
    assert (file["path"], file["change"]) == ("tests/add.sh", "modified")
    assert file["before"] != file["after"]
    assert any("tests/add.sh (modified)" in text for text in held["limitations"])

    document = flow(work, "goal", "status", "greet", "--json").json
    shown = document["protected_changes"]
    assert (shown["count"], shown["approved"]) == (1, False)
    assert "approve greet protected" in document["next"]
    text = flow(work, "goal", "status", "greet").stdout
    assert "protected  changed, not approved: tests/add.sh (modified)" in text
    approve(work, "--yes")
    document = flow(work, "goal", "status", "greet", "--json").json
    assert document["protected_changes"]["approved"] is True
    assert "confirm" in document["next"]


def test_a_script_in_flows_folder_is_protected_like_any_other(repo: GitRepo) -> None:
    repo.commit("checks", **{".flow/checks/add.py": TEST})
    text = TEXT.replace("tests/test_add.py", ".flow/checks/add.py")
    start(
        repo, text.replace('protected_paths: ["tests/**"]', 'protected_paths: [".flow/checks/**"]')
    )
    honest(repo)
    assert evaluate(repo).status == 0
    repo.write(".flow/checks/add.py", "assert True\n")
    done = evaluate(repo)
    assert done.status == 4
    assert ".flow/checks/add.py" in done.json["reason"]


def test_the_same_without_the_lock_was_achieved(repo: GitRepo) -> None:
    start(repo, TEXT.replace('  protected_paths: ["tests/**"]\n', ""))
    cheat(repo)
    done = evaluate(repo)
    assert (done.status, done.json["verdict"]) == (0, "achieved")
    assert "protected_changes" not in body(sidecar(repo, done))


def test_what_is_put_back_needs_nobody(work: GitRepo) -> None:
    honest(work)
    cheat(work)
    assert evaluate(work).status == 4
    work.write("tests/add.sh", TEST)
    done = evaluate(work)
    assert (done.status, done.json["verdict"], done.json["warnings"]) == (0, "achieved", [])
    assert "protected_changes" not in body(sidecar(work, done))


def test_a_person_approves_exactly_this_difference(work: GitRepo) -> None:
    honest(work)
    work.write("tests/add.sh", TEST + "test $(add 1 2) = 3\n")
    assert evaluate(work).status == 4
    refused = approve(work)
    assert refused.status == 4
    assert "modified: tests/add.sh" in refused.stderr
    assert approve(work, "--yes").status == 0
    done = evaluate(work)
    assert (done.status, done.json["verdict"]) == (0, "achieved")
    assert any("approved as they are" in warning for warning in done.json["warnings"])
    assert body(sidecar(work, done))["protected_changes"]["count"] == 1
    proposal = done.json["proposed_transition"]["proposal_id"]
    # One more change ends the approval, and what was proposed on it.
    work.write("tests/test_more.py", "")
    assert flow(work, "goal", "confirm", "greet", "--proposal", proposal).status == 2
    done = evaluate(work)
    assert (done.status, done.json["verdict"]) == (4, "needs_human_review")
    assert "tests/test_more.py (added)" in " ".join(done.json["warnings"])
    (work.path / "tests/test_more.py").unlink()
    assert evaluate(work).status == 0


def test_an_approval_of_another_goals_run_or_by_hand_counts_for_nothing(work: GitRepo) -> None:
    cheat(work)
    assert approve(work, "--yes").status == 0
    (evidence,) = scene.run_dir(work).glob("evidence/evidence-protected-approval-*.evidence.yaml")
    text = evidence.read_text()
    work.write("tests/add.sh", "test 1\n")
    held = body(sidecar(work, evaluate(work)))["protected_changes"]["digest"]
    old = next(line for line in text.splitlines() if "digest: " in line and "criterion" not in line)
    evidence.write_text(text.replace(old.split(": ")[1].strip('"'), held))
    assert evaluate(work).status == 4


def test_there_is_nothing_to_approve_where_nothing_changed(work: GitRepo) -> None:
    done = approve(work, "--yes", "--json")
    assert (done.status, done.json["error"]["code"]) == (2, "nothing_changed")


def test_a_fail_stays_a_fail_and_a_violation_blocks(work: GitRepo) -> None:
    work.write("tests/add.sh", TEST + "# a comment\n")
    done = evaluate(work)
    assert (done.status, done.json["verdict"]) == (1, "not_achieved")
    assert any("protected files changed" in warning for warning in done.json["warnings"])
    work.write("elsewhere.txt", "x")
    done = evaluate(work)
    assert (done.status, done.json["blocker_type"]) == (3, "scope_violation")


def test_both_guards_and_protected_files_need_their_approval(work: GitRepo) -> None:
    cheat(work)
    work.write(".git/hooks/pre-commit", "#!/bin/sh\n", mode=0o755)
    done = evaluate(work)
    assert (done.status, "approve greet guards" in done.json["next_step_hint"]) == (4, True)
    words = ("goal", "approve", "greet", "guards", "--by", "R", "--note", "n", "--yes")
    assert flow(work, *words).status == 0
    done = evaluate(work)
    assert (done.status, "approve greet protected" in done.json["next_step_hint"]) == (4, True)
    assert approve(work, "--yes").status == 0
    assert evaluate(work).status == 0


@pytest.mark.parametrize("mode", ["warn", "evaluator-loop"])
def test_the_hook_lets_go_and_says_so(
    work: GitRepo, home: Path, capfd: pytest.CaptureFixture[str], mode: str
) -> None:
    hooks.settings(home, stopHookEnforcement=mode)
    cheat(work)
    answer = hooks.stop(work, capfd)
    assert answer["decision"] == "approve"
    assert "needs a person" in answer["reason"]
    assert "tests/add.sh" in answer["reason"]
    assert hooks.verdict(work)["verdict"] == "needs_human_review"


def test_a_test_that_the_work_writes_itself_is_no_by_product(work: GitRepo) -> None:
    """The attack: the code under test writes the file that the test reads."""
    work.write(
        "src/add.sh",
        "echo 'cheating = 1' > tests/conftest.py\nadd() { echo 4; }\n",
    )
    done = evaluate(work)
    assert (done.status, done.json["proposed_transition"]) == (1, None)
    assert "tests/conftest.py" in done.json["reason"]
    done = evaluate(work)
    assert (done.status, done.json["verdict"]) == (4, "needs_human_review")
    assert "tests/conftest.py" in " ".join(done.json["warnings"])
    assert approve(work, "--yes").status == 0
    assert evaluate(work).status == 0


def test_ignored_outputs_and_caches_are_by_products(work: GitRepo) -> None:
    work.write(
        "src/add.sh",
        "mkdir -p tests/__pycache__\necho x >> tests/__pycache__/x.pyc\necho x >> tests/out.tmp\n"
        "add() { echo 4; }\n",
    )
    for _ in range(2):
        done = evaluate(work)
        assert (done.status, done.json["verdict"]) == (0, "achieved")
    work.write("tests/mine.tmp", "not a command's\n")
    assert evaluate(work).status == 4


def test_what_was_dirty_at_activation_is_as_it_was(repo: GitRepo) -> None:
    repo.commit("start", **{"tests/add.sh": "false\n", ".gitignore": ".flow/runs/\n"})
    repo.write("tests/add.sh", "true  # not committed yet\n")
    repo.write("../goal.yaml", TEXT)
    assert flow(repo, "goal", "create", "--file", "../goal.yaml").status == 0
    assert evaluate(repo).status == 0
    repo.git("add", "tests")
    repo.git("commit", "-qm", "as it was")
    assert evaluate(repo).status == 0
    repo.write("tests/add.sh", "true\n")
    assert evaluate(repo).status == 4


def test_protecting_by_amendment_counts_from_there(repo: GitRepo) -> None:
    start(repo, TEXT.replace('["tests/**"]\n', '["other/**"]\n'))
    honest(repo)
    repo.write("tests/add.sh", TEST + "test $(add 1 2) = 3\n")
    amended = TEXT.replace('["tests/**"]\n', '["other/**", "tests/**"]\n')
    repo.write("../new.yaml", amended)
    done = flow(repo, "goal", "amend", "greet", "--file", "../new.yaml", "--json")
    assert (done.status, done.json["class"]) == (0, "strengthening")
    assert evaluate(repo).status == 0
    cheat(repo)
    assert evaluate(repo).status == 4
    # Taking the lock off is a person's to do, and putting it on again counts from then.
    repo.write("../less.yaml", TEXT.replace('["tests/**"]\n', '["other/**"]\n'))
    assert flow(repo, "goal", "amend", "greet", "--file", "../less.yaml").status == 4
    assert flow(repo, "goal", "amend", "greet", "--file", "../less.yaml", "--yes").status == 0
    assert flow(repo, "goal", "amend", "greet", "--file", "../new.yaml").status == 0
    assert evaluate(repo).status == 0


def test_an_unrelated_amendment_forgives_nothing(work: GitRepo) -> None:
    cheat(work)
    work.write("../new.yaml", TEXT.replace("repo: demo", "repo: renamed"))
    assert flow(work, "goal", "amend", "greet", "--file", "../new.yaml").status == 0
    assert evaluate(work).status == 4
    work.write("../new.yaml", TEXT.replace('["tests/**"]\n', '["tests/**", "tests/test_*"]\n'))
    assert flow(work, "goal", "amend", "greet", "--file", "../new.yaml").status == 0
    assert evaluate(work).status == 4


def test_a_baseline_without_a_record_of_it_asks_the_base(work: GitRepo) -> None:
    """One that an older Flow wrote, and vouches for."""
    context = Context(str(work.path))
    run_id = scene.run_dir(work).name
    baseline = context.pinned(run_id, context.load("greet").goal)
    assert baseline is not None
    old = baseline._replace(protected={}, protected_patterns=())
    context.ledger.write_baseline("greet", run_id, old)
    honest(work)
    done = evaluate(work)
    assert done.status == 0
    assert any("ignored files that they name" in warning for warning in done.json["warnings"])
    cheat(work)
    assert evaluate(work).status == 4


IMPORTED = """
import sys
from flow.cli.main import run
run(["goal", "evaluate", "greet", "--json"])
print(*(name for name in sys.modules if name.startswith("flow.")), sep="\\n", file=sys.stderr)
"""


@pytest.mark.parametrize("protected", [True, False])
def test_what_is_not_protected_costs_nothing(repo: GitRepo, protected: bool) -> None:
    start(repo, TEXT if protected else TEXT.replace('  protected_paths: ["tests/**"]\n', ""))
    words = [sys.executable, "-c", f"import sys; sys.path.insert(0, {ROOT!r}){IMPORTED}"]
    loaded = set(run(words, cwd=repo.path).stderr.split())
    assert "flow.app.evaluation.evaluate" in loaded
    assert (
        {"flow.core.evidence.protected_files", "flow.app.evaluation.protected_files"} <= loaded
    ) is protected
    assert not loaded & {
        "flow.core.amendment.changes",
        "flow.core.amendment.trust_diff",
        "flow.app.transitions.amend",
    }


def test_hostile_names_are_escaped(work: GitRepo) -> None:
    honest(work)
    for number in range(120):
        work.write(f"tests/f{number}", "x")
    work.write(b"tests/\x1b[2J\n\xff".decode("utf-8", "surrogateescape"), "x")
    done = evaluate(work)
    assert done.status == 4
    held = body(sidecar(work, done))["protected_changes"]
    assert (held["count"], len(held["files"])) == (121, 100)
    assert held["files"][0]["path"] == "tests/\\x1b[2J\\n\\xff"
    assert "\x1b" not in done.stdout
    assert approve(work, "--yes").status == 0
    assert evaluate(work).status == 0
    (work.path / "tests/f119").write_text("not among those that are named")
    assert evaluate(work).status == 4


def test_a_judge_is_told(repo: GitRepo, tmp_path: Path, home: Path) -> None:
    judge = GoalJudge(tmp_path / "judge", home)
    text = TEXT.replace("type: deterministic", "type: hybrid").replace(
        "constraints:",
        '    - {id: AC2, text: it reads well, status: pending, evidence_paths: ["docs/**"]}\n'
        "constraints:",
    )
    repo.commit("docs", **{"docs/guide.md": "This guide is polite.\n"})
    start(repo, text)
    cheat(repo)
    judge.says(reply("achieved", ("AC2", "pass", ["This guide is polite."])))
    done = evaluate(repo)
    assert (done.status, done.json["verdict"]) == (4, "needs_human_review")
    prompt = judge.prompts[-1]
    assert "a person has not approved that" in prompt
    assert "tests/add.sh (modified)" in prompt
