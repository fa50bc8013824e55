"""Whoever can write in the checkout can write a chain that fits; what counts is what Flow kept.

Each attack below went through before the state folder had to vouch for entries and proposals.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from flow import hook
from flow.adapters.contracts.formats import read_goal
from flow.core.chain.entries import Head, following
from flow.core.goal.model import canonical_digest
from tests.hook.test_judge import asked, says
from tests.support import ROOT, GitRepo, Ran, run, run_helper, scene
from tests.support import stops as hooks
from tests.support.forger import Forger
from tests.support.here import run_main
from tests.support.scene import flow

if TYPE_CHECKING:
    from pathlib import Path

PYTHON = {"FLOW_PYTHON": sys.executable}


def evaluate(repo: GitRepo, *more: str) -> dict[str, Any]:
    done = flow(repo, "goal", "evaluate", "greet", "--json", "--no-input", *more)
    found: dict[str, Any] = done.json
    return found


def stop(repo: GitRepo, **more: Any) -> dict[str, Any]:
    """One stop of an agent, by a hook that knows no more than a new process."""
    words = ["--host", "claude", "--", json.dumps(hooks.event(repo, **more))]
    answer: dict[str, Any] = run_main(lambda: hook.main(words), repo.path, None, None).json
    return answer


def forger(repo: GitRepo) -> Forger:
    return Forger(scene.run_dir(repo))


def name_in_goal(repo: GitRepo, criterion: str, ref: str, status: str = "pass") -> None:
    """The results of a criterion are no part of the contract: anyone may write them."""
    path = repo.path / ".flow/goals/greet.goal.yaml"
    before, found, after = path.read_text().partition(f"- id: {criterion}\n")
    block, rest = re.split(r"(?=\n    - id:|\nconstraints:)", after, maxsplit=1)
    block = re.sub(r"\n +(status|evidence_ref|last_result|last_evaluated_at):.*", "", block)
    block += f'\n      status: {status}\n      evidence_ref: "{ref}"\n      last_result: exit 0'
    path.write_text(before + found + block + rest)


def passing(repo: GitRepo, source: str = "evidence-ac1-eval-1") -> str:
    """The attack: the failed measurement of these files, copied as one that passed."""
    document = forger(repo).sidecar(source)
    document["metadata"]["id"] = "evidence-ac1-eval-9"
    document["evidence"] |= {"outcome": "passed", "exit_code": 0, "result": "exit 0"}
    path = forger(repo).put(document, b"", "evaluator")
    name_in_goal(repo, "AC1", path)
    return path


@pytest.mark.parametrize("kind", ["command_result", "human_approval"])
def test_what_was_handed_in_is_shown_as_that(repo: GitRepo, kind: str) -> None:
    """A copy of Flow's own sidecar, or an approval in somebody's name, by the helper for others."""
    scene.create(scene.start(repo))
    flow(repo, "goal", "evaluate", "greet")
    document = forger(repo).sidecar("evidence-ac1-eval-1")
    document["metadata"] |= {"id": "evidence-ac1-eval-9", "created_by": "ci"}
    body = document["evidence"]
    document["evidence"] = {
        **{key: body[key] for key in ("command", "limitations", "subject", "criterion_digest")},
        "type": kind,
        "exit_code": 0,
        "outcome": "passed",
        "proves": ["AC1"],
        **({"approved_by": "Ann"} if kind == "human_approval" else {}),
    }
    repo.write("../e.yaml", json.dumps(document))
    run_id = document["metadata"]["run_id"]
    words = ("evidence", "record", "--run-id", run_id, "--evidence-file", "../e.yaml")
    assert flow(repo, *words).status == 0

    listed = flow(repo, "evidence", "list", "greet")
    assert re.search(r"^○ evidence-ac1-eval-9  AC1 .* handed in ", listed.stdout, re.MULTILINE)
    shown = flow(repo, "evidence", "show", "evidence-ac1-eval-9")
    assert shown.stdout.startswith("○ AC1  passed, exit 0, handed in")
    assert flow(repo, "evidence", "show", "evidence-ac1-eval-9", "--json").json["handed_in"] is True
    own = flow(repo, "evidence", "show", "AC1", "--json").json
    assert (own["metadata"]["id"], own.get("handed_in")) == ("evidence-ac1-eval-1", False)
    assert "handed in" in flow(repo, "goal", "inspect", "greet").stdout
    page = flow(repo, "report", "greet", "--output", "-").stdout
    assert "evidence-ac1-eval-1" in page
    assert ("evidence-ac1-eval-9" in page, "Ann" in page) == (False, False)
    assert flow(repo, "evidence", "export", "greet", "--output", "../b.jsonl").status == 0
    assert flow(repo, "report", "--bundle", "../b.jsonl", "--output", "../pages").status == 0
    page = (repo.path.parent / "pages/b-greet.html").read_text()
    assert "evidence-ac1-eval-1" in page
    assert ("evidence-ac1-eval-9" in page, "Ann" in page) == (False, False)


def proposal(repo: GitRepo, results: list[tuple[str, str, str, str | None]]) -> str:
    """A ``proposal.json`` that is whole in itself; returns its id."""
    file = forger(repo)
    subject = file.sidecar("evidence-ac1-eval-1")["evidence"]["subject"]
    id = canonical_digest(
        {
            "contract": subject["contract"],
            "subject": subject["tree"],
            "verdict": "achieved",
            "to": "achieved",
            "evidence": [list(row) for row in results],
        }
    )
    document = {
        "goal_id": "greet",
        "run_id": file.run_id,
        "proposal_id": id,
        "to": "achieved",
        "verdict": "achieved",
        "reason": "all of it passed",
        "turns_evaluated": 1,
        "contract": subject["contract"],
        "head": subject["head"],
        "tree": subject["tree"],
        "results": [list(row[:3]) for row in results],
        "evidence": [row[3] for row in results],
        "created_at": file.sidecar("evidence-ac1-eval-1")["metadata"]["created_at"],
    }
    (file.run / "proposal.json").write_text(json.dumps(document))
    return id


def confirm(repo: GitRepo, id: str) -> Ran:
    return flow(repo, "goal", "confirm", "greet", "--proposal", id)


def by_helper(repo: GitRepo) -> Ran:
    """The second door of SPEC 2."""
    repo.write("../lifecycle.yaml", "status: achieved\n")
    words = ("--update-lifecycle", "--goal-id", "greet")
    words += ("--lifecycle-file", "../lifecycle.yaml", "--merge")
    return run_helper("flow-goal-record.sh", *words, cwd=repo.path)


@pytest.fixture
def work(repo: GitRepo, home: Path) -> GitRepo:
    """A goal that is not met, evaluated once, under a hook that keeps the agent at work."""
    scene.create(scene.start(repo))
    hooks.settings(home, stopHookEnforcement="block")
    done = scene.step(repo, "goal", "evaluate", "greet", "--json", "--no-input")
    assert done.json["verdict"] == "not_achieved", done
    return repo


# --- commands ------------------------------------------------------------------------------------


def test_a_forged_pass_is_not_reused_by_the_hook(work: GitRepo, home: Path) -> None:
    passing(work)
    answer = stop(work)
    assert answer["decision"] == "block", answer
    assert not (scene.run_dir(work) / "proposal.json").exists()


def test_nor_one_among_the_newest_of_the_hook(work: GitRepo, home: Path) -> None:
    assert stop(work)["decision"] == "block"
    path = passing(work)
    file = scene.run_dir(work) / "loop.json"
    loop = json.loads(file.read_text())
    assert "evidence" in loop, loop
    file.write_text(json.dumps({**loop, "evidence": {"AC1": path}}))
    assert stop(work, stop_hook_active=True)["decision"] == "block"


def test_a_forged_pass_is_not_shown_as_evidence_that_counts(work: GitRepo) -> None:
    path = passing(work)
    found = flow(work, "goal", "status", "greet", "--json").json["criteria"][0]
    assert (found["evidence_ref"], found["fresh"]) == (path, False)
    assert found["why_stale"] == ["unvouched"]


def test_a_forged_sidecar_is_not_listed_as_if_it_counted(work: GitRepo) -> None:
    """Neither one nobody recorded, nor one that is not as it was recorded."""
    passing(work)
    for command in (("evidence", "list", "greet"), ("goal", "inspect", "greet")):
        rows = flow(work, *command, "--json").json["evidence"]
        found = {row["id"]: (row["fresh"], row["why_stale"]) for row in rows}
        assert found == {
            "evidence-ac1-eval-1": (True, []),
            "evidence-ac1-eval-9": (False, ["unvouched"]),
        }
        assert "not vouched for" in flow(work, *command).stdout
    shown = flow(work, "evidence", "show", "evidence-ac1-eval-9").stdout
    assert re.search(r"stale +not vouched for", shown), shown
    sidecar = scene.run_dir(work) / "evidence/evidence-ac1-eval-1.evidence.yaml"
    sidecar.write_text(sidecar.read_text() + "# more\n")
    row = flow(work, "evidence", "list", "greet", "--json").json["evidence"][0]
    assert (row["fresh"], row["why_stale"]) == (False, ["missing"])


@pytest.mark.parametrize("rests_on", ["a forged pass", "what failed", "nothing", "no rows"])
def test_a_forged_proposal_is_not_confirmed(work: GitRepo, rests_on: str) -> None:
    """Of the last three every sidecar that they name is Flow's own: the proposal itself lies."""
    rows: list[tuple[str, str, str, str | None]] = {
        "a forged pass": lambda: [("AC1", "pass", "passed", passing(work))],
        "what failed": lambda: [("AC1", "pass", "not_run", ref(work))],
        "nothing": lambda: [("AC1", "pass", "passed", None)],
        "no rows": list,
    }[rests_on]()
    id = proposal(work, rows)
    assert (confirm(work, id).status, by_helper(work).status, scene.status(work)) == (
        2,
        1,
        "active",
    )
    assert flow(work, "goal", "status", "greet", "--json").json["proposal"] is None


def test_flow_does_not_pass_a_forged_proposal_on(work: GitRepo) -> None:
    """A change that was decided by a killed process is finished; so a forged one is, too."""
    id = proposal(work, [("AC1", "pass", "passed", None)])
    file = scene.run_dir(work) / "proposal.json"
    forged = json.loads(file.read_text())
    file.unlink()
    intent = {
        "version": 1,
        "key": "a" * 24,
        "goal_id": "greet",
        "run_id": scene.run_dir(work).name,
        "at": forged["created_at"],
        "journal": ".decisions/issue-7.md",
        "issue": 7,
        "branch": "main",
        "artifact": {"type": "verdict", "fields": {"goal_id": "greet"}},
        "event_type": "evaluated",
        "event": {},
        "text": None,
        "before": "",
        "proposal": forged,
        "proposal_change": "put",
        "sidecar": None,
        "sidecar_sha256": None,
    }
    pending = work.path / ".flow/runs/.pending"
    pending.mkdir(exist_ok=True)
    (pending / "greet.json").write_text(json.dumps(intent))
    assert flow(work, "goal", "pause", "greet", "--reason", "x").status == 0
    assert flow(work, "goal", "resume", "greet", "--reason", "x").status == 0
    assert json.loads(file.read_text())["proposal_id"] == id
    assert (confirm(work, id).status, by_helper(work).status, scene.status(work)) == (
        2,
        1,
        "active",
    )


def ref(repo: GitRepo, id: str = "evidence-ac1-eval-1") -> str:
    return f".flow/runs/{scene.run_dir(repo).name}/evidence/{id}.evidence.yaml"


def test_what_flow_writes_after_it_does_not_vouch_for_it(work: GitRepo, home: Path) -> None:
    """A newer head is kept, and the forged entry lies below it."""
    path = passing(work)
    theirs = {
        "apiVersion": "flow.synapti.ai/v1",
        "kind": "FlowEvidence",
        "metadata": {
            "id": "theirs",
            "goal": "greet",
            "run_id": scene.run_dir(work).name,
            "created_at": "2026-03-01T10:15:00Z",
        },
        "evidence": {"type": "ci_status", "proves": ["AC1"]},
    }
    work.write("../theirs.json", json.dumps(theirs))
    words = ("--run-id", scene.run_dir(work).name, "--evidence-file", "../theirs.json")
    done = run_helper("flow-record-evidence.sh", *words, cwd=work.path)
    assert done.status == 0, done
    assert stop(work)["decision"] == "block"
    assert evaluate(work)["verdict"] == "not_achieved"
    assert flow(work, "goal", "pause", "greet", "--reason", "a rest").status == 0
    assert flow(work, "goal", "resume", "greet").status == 0
    name_in_goal(work, "AC1", path)
    assert stop(work)["decision"] == "block"
    notes = "\n".join(flow(work, "evidence", "verify", "--json").json["runs"][0]["notes"])
    assert "evidence-ac1-eval-9" in notes
    assert "counts for nothing" in notes
    facts = flow(work, "doctor", "--json").json["facts"]
    assert any("evidence-ac1-eval-9" in fact["value"] for fact in facts), facts


def test_an_entry_in_the_middle_is_not_replaced(work: GitRepo, home: Path) -> None:
    """The genuine failure becomes a pass, and every hash after it is made anew."""
    evaluate(work)
    file = forger(work)
    document = file.sidecar("evidence-ac1-eval-1")
    document["evidence"] |= {"outcome": "passed", "exit_code": 0, "result": "exit 0"}
    fields = file.write(document, b"", "evaluator")
    file.rewrite(lambda entries: [{**entries[0], **fields}, *entries[1:]])
    name_in_goal(work, "AC1", ref(work))
    assert stop(work)["decision"] == "block"
    assert evaluate(work)["verdict"] == "not_achieved"
    name_in_goal(work, "AC1", ref(work))
    assert stop(work)["decision"] == "block"
    assert flow(work, "evidence", "verify").status == 1


def test_a_second_entry_with_an_old_number_does_not_count(work: GitRepo, home: Path) -> None:
    """Flow counts on from the newest line; a low number must not lie below the head for that."""
    file = forger(work)
    first = file.lines("ledger.jsonl")[0]
    path = passing(work)
    forged = file.lines("ledger.jsonl")[-1]
    rest = {k: v for k, v in forged.items() if k not in ("seq", "prev", "hash")}
    low = following(Head(0, first["hash"]), file.run_id, rest)
    text = (file.run / "ledger.jsonl").read_bytes().splitlines(keepends=True)[0]
    (file.run / "ledger.jsonl").write_bytes(text)
    file.append("ledger.jsonl", low._asdict())
    evaluate(work)
    name_in_goal(work, "AC1", path)
    assert stop(work)["decision"] == "block"


def test_a_run_that_flow_never_made(work: GitRepo, home: Path) -> None:
    """The run's id is no part of the contract."""
    old = scene.run_dir(work)
    document = forger(work).sidecar("evidence-ac1-eval-1")
    document["metadata"] |= {"run_id": "another", "id": "evidence-ac1-eval-9"}
    document["evidence"] |= {"outcome": "passed", "exit_code": 0, "result": "exit 0"}
    other = Forger(old.with_name("another"))
    (other.run / "evidence").mkdir(parents=True)
    (other.run / "events.jsonl").write_bytes((old / "events.jsonl").read_bytes())
    path = other.put(document, b"", "evaluator")
    text = scene.goal_file(work).replace(f'"{old.name}"', "another")
    (work.path / ".flow/goals/greet.goal.yaml").write_text(text)
    name_in_goal(work, "AC1", path)
    assert stop(work)["decision"] == "block"
    assert stop(work)["decision"] == "block"


CHANGES_FILES = """\
if [ -e ../ran ]; then exit 1; fi
touch ../ran
echo more >> src/greet.txt
"""


@pytest.mark.parametrize("how", ["taken away", "followed"])
def test_what_was_discounted_does_not_come_back(repo: GitRepo, home: Path, how: str) -> None:
    """It passed while it changed the files; they are put back, and the events say otherwise."""
    scene.start(repo)
    repo.commit("a check", **{"check.sh": CHANGES_FILES})
    scene.create(repo, criterion="AC1: says please :: bash check.sh")
    hooks.settings(home, stopHookEnforcement="block")
    assert evaluate(repo)["verdict"] == "not_achieved"
    repo.write("src/greet.txt", "give me that\n")
    file = forger(repo)
    evidence = next(e for e in file.lines("events.jsonl") if e["type"] == "evidence")
    assert file.sidecar(evidence["evidence_id"])["evidence"]["outcome"] == "passed"
    assert "evidence-discounted" in [e["type"] for e in file.lines("events.jsonl")]
    file.rewrite_events(
        lambda events: (
            [e for e in events if e["type"] != "evidence-discounted"]
            if how == "taken away"
            else [*events, evidence]
        )
    )
    name_in_goal(repo, "AC1", ref(repo, evidence["evidence_id"]))
    assert stop(repo)["decision"] == "block"


KILLED = """
import os
from flow.adapters.ledger import evidence_store
evidence_store.discount = lambda *_, **__: os._exit(9)
from flow.__main__ import main
main()
"""


@pytest.mark.parametrize("kept_by", ["its by-products", "the hook's runs on the base"])
def test_what_a_killed_evaluation_would_have_discounted(
    repo: GitRepo, home: Path, kept_by: str
) -> None:
    """The heads move on while it measures: for a new by-product, and for the base commit's runs."""
    scene.start(repo)
    leaves = "mkdir -p .pytest_cache; touch .pytest_cache/x\n" if "by" in kept_by else ""
    repo.commit("a check", **{"check.sh": CHANGES_FILES + leaves})
    scene.create(repo, "greet", "--draft", criterion="AC1: says please :: bash check.sh")
    if not leaves:
        goal = repo.path / ".flow/goals/greet.goal.yaml"
        text = goal.read_text()
        goal.write_text(text.replace("constraints:", "constraints:\n  tdd_required: true"))
    assert flow(repo, "goal", "activate", "greet").status == 0
    hooks.settings(home, stopHookEnforcement="block")
    words = ["goal", "evaluate", "greet"] if leaves else ["hook", "stop"]
    done = run(
        [sys.executable, "-c", KILLED, *words],
        cwd=repo.path,
        env={"PYTHONPATH": ROOT},
        input=None if leaves else json.dumps(hooks.event(repo)),
    )
    assert done.status == 9, done
    repo.write("src/greet.txt", "give me that\n")
    file = forger(repo)
    measured = "evidence-ac1-eval-1"
    assert file.sidecar(measured)["evidence"]["outcome"] == "passed"
    name_in_goal(repo, "AC1", ref(repo, measured))
    assert stop(repo)["decision"] == "block"


# --- a person's word, and a judge's --------------------------------------------------------------


def test_a_forged_approval_proves_nothing(repo: GitRepo) -> None:
    scene.create(scene.start(repo), "greet", "--fuzzy", scene.FUZZY)
    scene.meet(repo)
    assert evaluate(repo)["verdict"] == "needs_human_review"
    goal, _ = read_goal(scene.goal_file(repo).encode(), file="the goal")
    criterion = goal.criterion("AC2")
    assert criterion is not None
    document = forger(repo).sidecar("evidence-ac1-eval-1")
    document["metadata"] |= {"id": "evidence-ac2-approval-1", "created_by": "flow-approve"}
    document["evidence"] = {
        "type": "human_approval",
        "proves": ["AC2"],
        "approved_by": "A Person",
        "note": "seen",
        "criterion_digest": criterion.digest,
        "limitations": ["One person's word, for these files and this wording only."],
        "subject": document["evidence"]["subject"],
    }
    name_in_goal(repo, "AC2", forger(repo).put(document, None, "approver"))
    done = evaluate(repo)
    assert (done["verdict"], done["proposed_transition"]) == ("needs_human_review", None)
    words = ("goal", "approve", "greet", "AC2", "--by", "me", "--note", "seen", "--yes")
    assert flow(repo, *words).status == 0
    assert evaluate(repo)["verdict"] == "achieved"


@pytest.mark.parametrize("what", ["guards", "protected"])
def test_a_forged_approval_of_hooks_or_tests(repo: GitRepo, what: str) -> None:
    scene.start(repo)
    repo.commit("more", **{"tests/t.sh": "exit 1\n"})
    scene.create(repo, "greet", "--draft", "--allow", "tests/**")
    goal = repo.path / ".flow/goals/greet.goal.yaml"
    if what == "protected":
        text = goal.read_text()
        goal.write_text(text.replace("constraints:", "constraints:\n  protected_paths: [tests/**]"))
    assert flow(repo, "goal", "activate", "greet").status == 0
    scene.meet(repo)
    if what == "guards":
        repo.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 0\n", mode=0o755)
    else:
        repo.write("tests/t.sh", "exit 0\n")
    assert evaluate(repo)["verdict"] == "needs_human_review"
    words = ("goal", "approve", "greet", what, "--by", "me", "--note", "seen", "--yes")
    genuine = copied(repo, words, what)
    path = forger(repo).put(genuine, None, "approver")
    id = path.rpartition("/")[2].removesuffix(".evidence.yaml")
    forger(repo).event(f"{what}-approved", evidence_id=id)
    assert evaluate(repo)["verdict"] == "needs_human_review"
    assert flow(repo, *words).status == 0
    assert evaluate(repo)["verdict"] == "achieved"


def copied(repo: GitRepo, words: tuple[str, ...], what: str) -> dict[str, Any]:
    """The sidecar that an approval would write, without the approval: all is put back after it."""
    state = os.environ["FLOW_STATE_DIR"]
    folders = (str(repo.path / ".flow"), str(repo.path / ".decisions"), state)
    for folder in folders:
        shutil.copytree(folder, f"{folder}-before")
    assert flow(repo, *words).status == 0
    found = forger(repo).sidecar(f"evidence-{what}-approval-1")
    for folder in folders:
        shutil.rmtree(folder)
        os.rename(f"{folder}-before", folder)
    return found


def test_a_forged_opinion_is_not_recalled(repo: GitRepo, home: Path) -> None:
    scene.create(scene.start(repo), "greet", "--draft", "--fuzzy", scene.FUZZY)
    path = repo.path / ".flow/goals/greet.goal.yaml"
    text = path.read_text().replace("type: deterministic", "type: hybrid")
    material = "text: it reads well\n      evidence_paths: [src/greet.txt]"
    path.write_text(text.replace("text: it reads well", material))
    assert flow(repo, "goal", "activate", "greet").status == 0
    scene.meet(repo)
    says(home, "fail")
    assert stop(repo)["decision"] == "block"
    assert asked(home) == 1
    file = forger(repo)
    names = [entry["evidence_id"] for entry in file.lines("ledger.jsonl")]
    report = next(
        name for name in names if "ballots" in file.sidecar(name)["evidence"].get("judgement", {})
    )
    document = file.sidecar(report)
    document["metadata"]["id"] = f"{report}-9"
    body = document["evidence"]
    text = json.dumps(body["judgement"])
    body["judgement"] = json.loads(
        text.replace("not_achieved", "achieved").replace('"fail"', '"pass"')
    )
    body["proves"] = ["AC2"]
    file.put(document, None, "evaluator")
    answer = stop(repo, stop_hook_active=True)
    assert answer["decision"] == "block", answer


# --- where nothing can be kept, or was not ------------------------------------------------------


def test_without_a_state_folder_one_command_can_do_it_all(work: GitRepo, home: Path) -> None:
    scene.meet(work)
    contract = flow(work, "goal", "status", "greet", "--json").json["contract"]
    os.chmod(home / "flow-state", 0o777)
    done = evaluate(work, "--trust-digest", contract)
    told = [each for each in done["warnings"] if "counts only where it was recorded" in each]
    assert (done["verdict"], len(told)) == ("achieved", 1), done
    refused = confirm(work, done["proposed_transition"]["proposal_id"])
    assert refused.status == 2
    assert "may be written by others" in refused.stderr
    assert "--confirm" in refused.stderr
    found = flow(work, "goal", "status", "greet", "--json").json
    assert any("counts only where it was recorded" in each for each in found["warnings"])
    assert (found["criteria"][0]["fresh"], found["proposal"]) == (False, None)
    words = ["goal", "evaluate", "greet", "--confirm", "--trust-digest", contract]
    assert scene.ended(scene.at_terminal(work, words))[0] == 0
    assert scene.status(work) == "achieved"


def test_a_copied_run_says_why_nothing_of_it_counts(work: GitRepo, home: Path) -> None:
    scene.propose(work)
    shutil.rmtree(home / "flow-state" / "chains")
    found = flow(work, "goal", "status", "greet", "--json").json
    said = "your state folder knows nothing of run"
    assert [each for each in found["warnings"] if said in each]
    assert found["proposal"] is None
    done = flow(work, "goal", "confirm", "greet", "--proposal", "0" * 64)
    assert (done.status, said in done.stderr) == (2, True), done


def test_what_a_killed_evaluation_measured_is_measured_anew(repo: GitRepo, home: Path) -> None:
    """The first command has passed, and its evidence is on disk, when the second is killed."""
    waits = "touch ../here\nuntil test -e ../go; do sleep 0.05; done\n"
    scene.start(repo)
    repo.commit("a check", **{"wait.sh": waits})
    scene.create(repo, "greet", "--criterion", "AC2: waits :: bash wait.sh")
    scene.meet(repo)
    hooks.settings(home, stopHookEnforcement="block")
    words = [sys.executable, "-m", "flow", "goal", "evaluate", "greet"]
    killed = subprocess.Popen(words, cwd=repo.path, env={**os.environ, "PYTHONPATH": str(ROOT)})
    deadline = time.monotonic() + 60
    while not (repo.path.parent / "here").exists():
        assert killed.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    path = ref(repo)
    assert (repo.path / path).exists()
    killed.kill()
    killed.wait()
    name_in_goal(repo, "AC1", path)
    repo.write("../go", "")
    assert flow(repo, "goal", "status", "greet", "--json").json["criteria"][0]["fresh"] is False
    assert "confirm" in stop(repo)["reason"]
    assert (repo.path / ref(repo, "evidence-ac1-eval-1-2")).exists()
    notes = flow(repo, "evidence", "verify", "--json").json
    assert not notes["broken"]
    assert "evidence-ac1-eval-1, by evaluator" in notes["runs"][0]["notes"][0]
    id = json.loads((scene.run_dir(repo) / "proposal.json").read_text())["proposal_id"]
    assert confirm(repo, id).status == 0


def test_evaluations_and_helpers_at_once(work: GitRepo) -> None:
    """Everything that was told to be recorded counts afterwards, and nothing is disowned."""
    scene.meet(work)
    run_id = scene.run_dir(work).name
    started = []
    env = {**os.environ, **PYTHON}
    for number in range(3):
        document = {
            "apiVersion": "flow.synapti.ai/v1",
            "kind": "FlowEvidence",
            "metadata": {
                "id": f"theirs-{number}",
                "goal": "greet",
                "run_id": run_id,
                "created_at": "2026-03-01T10:15:00Z",
            },
            "evidence": {"type": "ci_status", "proves": ["AC1"]},
        }
        work.write(f"../theirs-{number}.json", json.dumps(document))
        words = ["--run-id", run_id, "--evidence-file", f"../theirs-{number}.json"]
        helper = [f"{ROOT}/bin/flow-record-evidence.sh", *words]
        started.append(subprocess.Popen(helper, cwd=work.path, env=env))
        if number % 2:
            words = [f"{ROOT}/bin/flow", "goal", "evaluate", "greet", "--no-input"]
            started.append(subprocess.Popen(words, cwd=work.path, env=env))
    assert {each.wait() for each in started} == {0}
    found = flow(work, "evidence", "verify", "--json").json["runs"][0]
    assert (found["entries"], found["notes"], found["findings"]) == (5, [], [])
    evaluate(work)
    proposed = flow(work, "goal", "status", "greet", "--json").json["proposal"]
    assert proposed["live"]
    assert confirm(work, proposed["proposal_id"]).status == 0
