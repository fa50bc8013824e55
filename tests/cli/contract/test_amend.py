"""``flow goal amend`` in real repositories: the difference, its class, who is asked."""

from __future__ import annotations

import json
import os
import shlex
import sys
from typing import TYPE_CHECKING, Any

import pytest

from flow.adapters.journal.store import read as read_journal
from tests.support import ROOT, GitRepo, Ran, run_helper, scene
from tests.support import stops as hooks
from tests.support.scene import at_terminal, ended, flow

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """\
apiVersion: flow.synapti.ai/v1
kind: FlowGoal
# Why: politeness.
metadata:
  id: greet
  created_at: "2026-03-01T10:15:00Z"
scope: {repo: demo, branch: main, issue: 7}
objective:
  outcome: the greeting is polite
  acceptance_criteria:
    - id: AC1
      text: says please
      status: pending
      verification_command: "grep -q please src/greet.txt"   # by hand
    - id: AC2
      text: is there
      status: pending
      verification_command: test -s src/greet.txt
constraints:
  allowed_paths: ["src/**"]
evaluator:
  type: deterministic
lifecycle:
  status: active
"""
STRONGER = TEXT.replace(
    "constraints:",
    "    - id: AC3\n      text: is short\n      status: pending\n"
    "      verification_command: test $(wc -l < src/greet.txt) -lt 9\nconstraints:",
)
WEAKER = TEXT.replace("grep -q please src/greet.txt", "true || grep -q please src/greet.txt")
NEUTRAL = TEXT.replace("repo: demo", "repo: renamed")


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    scene.start(repo)
    repo.write("../goal.yaml", TEXT)
    scene.create_from(repo, "../goal.yaml")
    return repo


def amend(repo: GitRepo, text: str, *more: str) -> Ran:
    repo.write("../new.yaml", text)
    return flow(repo, "goal", "amend", "greet", "--file", "../new.yaml", *more)


def artifacts(repo: GitRepo, kind: str = "contract-amended") -> list[dict[str, Any]]:
    _, found = "", read_journal(os.fspath(repo.path), ".decisions/issue-7.md")
    return [dict(entry) for entry in found.artifacts if entry["type"] == kind]


def trusted(repo: GitRepo) -> bool:
    return flow(repo, "trust", "check", "greet").status == 0


# --- who is asked ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "kind"), [(STRONGER, "strengthening"), (NEUTRAL, "neutral")])
def test_what_asks_for_no_less_goes_in(work: GitRepo, text: str, kind: str) -> None:
    done = amend(work, text, "--json")
    assert done.status == 0, done
    assert (done.json["class"], done.json["amended"], done.json["needs_person"]) == (
        kind,
        True,
        False,
    )
    assert trusted(work)
    (event,) = hooks.events(work, "contract-amended")
    (entry,) = artifacts(work)
    assert event["class"] == entry["class"] == kind
    assert entry["asked"].startswith("not asked")
    assert entry["to"] == done.json["contract"] == event["contract_sha256"]


def test_what_asks_for_less_needs_a_person(work: GitRepo) -> None:
    before = scene.goal_file(work)
    ledger = (scene.run_dir(work) / "events.jsonl").read_bytes()
    done = amend(work, WEAKER)
    assert done.status == 4
    assert "  - grep -q please src/greet.txt" in done.stderr
    assert "  + true || grep -q please src/greet.txt" in done.stderr
    assert "cannot be compared: changed" in done.stderr
    assert "weakening" not in done.stderr
    assert "--yes" in done.stderr
    assert done.stdout == ""
    assert scene.goal_file(work) == before
    assert (scene.run_dir(work) / "events.jsonl").read_bytes() == ledger
    assert artifacts(work) == []
    assert trusted(work)


def test_with_json_it_is_one_document_either_way(work: GitRepo) -> None:
    done = amend(work, WEAKER, "--json")
    assert done.status == 4
    assert done.json["error"]["code"] == "person_needed"
    done = amend(work, WEAKER, "--json", "--yes", "--by", "R. Viewer", "--reason", "agreed")
    assert done.status == 0, done
    assert [(c["key"], c["class"]) for c in done.json["changes"]] == [
        ("objective.acceptance_criteria[AC1].verification_command", "incomparable")
    ]
    assert done.json["starts_anew"] == ["AC1"]
    assert any("true" in warning or "AC1" in warning for warning in done.json["warnings"])
    (entry,) = artifacts(work)
    assert (entry["by"], entry["reason"], entry["asked"]) == ("R. Viewer", "agreed", "--yes")
    assert entry["changes"][0].startswith("cannot be compared: objective.acceptance_criteria[AC1]")
    assert entry["criteria"] == ["AC1"]
    assert trusted(work)


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("", 4)])
def test_at_a_terminal_it_asks(work: GitRepo, answer: str, code: int) -> None:
    work.write("../new.yaml", WEAKER)
    child = at_terminal(work, ["goal", "amend", "greet", "--file", "../new.yaml"])
    child.expect(r"Change the contract of goal greet\? \[y/N\](\x1b\[0m)? ")
    assert "true || grep" in (child.before or "")
    child.sendline(answer)
    assert ended(child)[0] == code
    assert ("true || grep" in scene.goal_file(work)) is (code == 0)
    assert [entry["asked"] for entry in artifacts(work)] == (["at a terminal"] if code == 0 else [])


def test_at_a_terminal_nothing_is_asked_where_nothing_is_weakened(work: GitRepo) -> None:
    work.write("../new.yaml", STRONGER)
    child = at_terminal(work, ["goal", "amend", "greet", "--file", "../new.yaml"])
    status, said = ended(child)
    assert status == 0
    assert "[y/N]" not in said


# --- what stays -----------------------------------------------------------------------------------


def test_results_of_what_did_not_change_stay_and_others_go(work: GitRepo) -> None:
    scene.meet(work)
    assert scene.step(work, "goal", "evaluate", "greet").status == 0
    live = scene.goal_file(work)
    run = scene.run_dir(work).name
    said = TEXT.replace("text: is there", "text: is there, whole  # new")
    assert amend(work, said.replace("  status: active", "  status: draft"), "--yes").status == 0
    after = scene.goal_file(work)
    document = flow(work, "goal", "inspect", "greet", "--json").json["document"]
    one, two = document["objective"]["acceptance_criteria"]
    assert one["status"] == "pass"
    assert one["evidence_ref"] in live
    assert two == {
        "id": "AC2",
        "text": "is there, whole",
        "status": "pending",
        "verification_command": "test -s src/greet.txt",
    }
    assert document["lifecycle"]["status"] == "active"
    assert document["lifecycle"]["turns_evaluated"] == 1
    assert document["scope"]["run_id"] == run
    for line in ("# Why: politeness.", "# by hand", "is there, whole  # new"):
        assert line in after


def test_the_live_proposal_is_withdrawn(work: GitRepo) -> None:
    proposal = scene.propose(work)
    assert amend(work, STRONGER).status == 0
    assert not (scene.run_dir(work) / "proposal.json").exists()
    done = flow(work, "goal", "confirm", "greet", "--proposal", proposal)
    assert done.status == 2
    assert scene.status(work) == "active"


def test_run_base_and_id_are_not_the_files_to_change(work: GitRepo) -> None:
    before = flow(work, "goal", "inspect", "greet", "--json").json["document"]["scope"]
    said = STRONGER.replace("issue: 7}", f"issue: 7, run_id: other, base_commit: {'a' * 40}}}")
    done = amend(work, said, "--json")
    assert done.status == 0, done
    assert sum("stays as it is" in warning for warning in done.json["warnings"]) == 2
    after = flow(work, "goal", "inspect", "greet", "--json").json["document"]["scope"]
    assert (after["run_id"], after["base_commit"]) == (before["run_id"], before["base_commit"])
    done = amend(work, TEXT.replace("id: greet", "id: other"), "--yes", "--json")
    assert (done.status, done.json["error"]["key"]) == (2, "metadata.id")


def test_nothing_to_change_is_said_and_nothing_written(work: GitRepo) -> None:
    before = scene.goal_file(work)
    done = amend(work, "# another comment\n" + TEXT)
    assert (done.status, done.stdout.splitlines()) == (
        0,
        ["nothing in the contract of goal greet changes; its file stays as it is"],
    )
    assert scene.goal_file(work) == before
    assert artifacts(work) == []


def test_waiting_and_blocked_goals_stay_so_until_they_are_evaluated(work: GitRepo) -> None:
    scene.meet(work)
    opened = TEXT.replace('["src/**"]', '["src/**", docs.txt]')
    assert flow(work, "goal", "pause", "greet").status == 0
    assert amend(work, opened, "--yes").status == 0
    assert scene.status(work) == "waiting_for_user"
    assert flow(work, "goal", "evaluate", "greet").status == 0
    assert amend(work, TEXT).status == 0
    work.write("docs.txt", "x")
    assert flow(work, "goal", "evaluate", "greet").status == 3
    done = amend(work, opened)
    assert (done.status, "docs.txt added" in done.stderr) == (4, True)
    assert amend(work, opened, "--yes").status == 0
    assert scene.status(work) == "blocked"
    assert flow(work, "goal", "evaluate", "greet").status == 0


@pytest.mark.parametrize("status", ["achieved", "cancelled"])
def test_a_closed_goal_is_not_amended(work: GitRepo, status: str) -> None:
    if status == "achieved":
        proposal = scene.propose(work)
        assert flow(work, "goal", "confirm", "greet", "--proposal", proposal).status == 0
    else:
        assert flow(work, "goal", "clear", "greet", "--yes").status == 0
    done = amend(work, STRONGER, "--yes", "--json")
    assert done.status == 2
    assert "--from greet" in done.json["error"]["remedy"]


@pytest.mark.parametrize("change", [("--allow", "src/**"), ("--remove", "AC9"), ("--edit",)])
def test_a_closed_goal_is_said_first_and_no_editor_is_opened(
    work: GitRepo, change: tuple[str, ...]
) -> None:
    assert flow(work, "goal", "clear", "greet", "--yes").status == 0
    editor = {"VISUAL": "", "EDITOR": "touch opened; false"}
    done = flow(work, "goal", "amend", "greet", *change, "--json", env=editor)
    assert (done.status, done.json["error"]["code"]) == (2, "wrong_state")
    assert "cancelled" in done.json["error"]["message"]
    assert not (work.path / "opened").exists()


def test_a_draft_binds_nobody(repo: GitRepo) -> None:
    scene.start(repo)
    repo.write("../goal.yaml", TEXT)
    assert flow(repo, "goal", "create", "--draft", "--file", "../goal.yaml").status == 0
    done = amend(repo, WEAKER, "--json")
    assert (done.status, done.json["class"], done.json["needs_person"]) == (
        0,
        "incomparable",
        False,
    )
    assert done.json["next"] == "flow goal activate greet"
    assert not trusted(repo)
    assert "true || grep" in scene.goal_file(repo)


# --- trust ----------------------------------------------------------------------------------------


def by_hand(repo: GitRepo, old: str, new: str) -> None:
    path = repo.path / ".flow/goals/greet.goal.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_change_by_hand_does_not_go_in_behind_a_harmless_one(work: GitRepo) -> None:
    """The attack: weaken the file, then amend it with something that only asks for more."""
    by_hand(work, "grep -q please src/greet.txt", "true")
    weakened = STRONGER.replace("grep -q please src/greet.txt", "true")
    done = amend(work, weakened)
    assert done.status == 4
    assert "  - grep -q please src/greet.txt" in done.stderr
    assert not trusted(work)
    assert amend(work, TEXT.replace("grep -q please src/greet.txt", "true")).status == 4
    done = amend(work, weakened, "--yes", "--json")
    assert done.status == 0, done
    assert done.json["starts_anew"] == ["AC1"]
    assert trusted(work)


def test_putting_back_what_is_trusted_needs_nobody(work: GitRepo) -> None:
    by_hand(work, "grep -q please src/greet.txt", "true")
    assert flow(work, "goal", "evaluate", "greet").status == 4
    done = amend(work, TEXT, "--json")
    assert done.status == 0, done
    assert trusted(work)
    assert "grep -q please" in scene.goal_file(work)
    (entry,) = artifacts(work)
    assert entry["class"] == "incomparable"  # what the file said was another command


def test_what_nobody_trusted_needs_a_person(work: GitRepo, tmp_path: Path) -> None:
    work.commit("the goal")
    work.git("clone", "-q", str(work.path), str(tmp_path / "clone"))
    clone = GitRepo(tmp_path / "clone")
    done = amend(clone, STRONGER)
    assert done.status == 4
    assert "nobody here has trusted" in done.stderr
    assert "grep -q please" in done.stderr  # all of it is shown
    assert amend(clone, STRONGER, "--yes").status == 0
    assert trusted(clone)


def test_revoked_trust_needs_a_person(work: GitRepo) -> None:
    assert flow(work, "trust", "revoke", "greet").status == 0
    done = amend(work, STRONGER)
    assert (done.status, "was revoked" in done.stderr) == (4, True)
    assert amend(work, TEXT).status == 4
    assert amend(work, STRONGER, "--yes").status == 0
    assert trusted(work)


def test_a_changed_rubric_needs_a_person(repo: GitRepo) -> None:
    scene.start(repo)
    rubric = "name: tone\ncriteria:\n  - {name: kind, description: It is kind}\n"
    repo.write(".flow/rubrics/tone.yaml", rubric)
    fuzzy = "      verification_command: test -s src/greet.txt\n"
    text = TEXT.replace(fuzzy, "      rubric: tone\n")
    repo.write("../goal.yaml", text)
    assert flow(repo, "goal", "create", "--file", "../goal.yaml").status == 0
    repo.write(".flow/rubrics/tone.yaml", rubric.replace("It is kind", "It is there"))
    done = amend(repo, text.replace("repo: demo", "repo: renamed"))
    assert (done.status, "a rubric that it names was changed" in done.stderr) == (4, True)


def test_open_trust_compares_with_the_file(repo: GitRepo, home: Path) -> None:
    scene.start(repo)
    hooks.settings(home, executeVerificationCommands=True)
    repo.write("../goal.yaml", TEXT)
    assert flow(repo, "goal", "create", "--file", "../goal.yaml").status == 0
    (home / "flow-state").mkdir(exist_ok=True)
    assert amend(repo, STRONGER).status == 0
    assert amend(repo, TEXT).status == 4


def test_trusting_a_change_by_hand_puts_it_on_the_record(work: GitRepo) -> None:
    scene.meet(work)
    assert scene.step(work, "goal", "evaluate", "greet").status == 0
    before = flow(work, "trust", "check", "greet", "--json").json["digest"]
    by_hand(work, "grep -q please src/greet.txt", "grep -qi please src/greet.txt")
    shown = flow(work, "trust", "record", "greet")
    assert shown.status == 4
    assert "AC1 command  - grep -q please src/greet.txt" in shown.stderr
    assert "cannot be compared: changed" in shown.stderr
    assert artifacts(work) == []
    done = flow(work, "trust", "record", "greet", "--yes", "--json")
    assert done.status == 0, done
    assert [change["class"] for change in done.json["changes"]] == ["incomparable"]
    assert trusted(work)
    (entry,) = artifacts(work)
    assert (entry["how"], entry["criteria"]) == ("flow trust record", ["AC1"])
    now = flow(work, "trust", "check", "greet", "--json").json["digest"]
    assert (entry["from"], entry["to"]) == (before, now)
    document = flow(work, "goal", "inspect", "greet", "--json").json["document"]
    statuses = [c["status"] for c in document["objective"]["acceptance_criteria"]]
    assert statuses == ["pending", "pass"]
    assert not (scene.run_dir(work) / "proposal.json").exists()


def test_the_helper_that_trusts_puts_it_on_the_record_too(work: GitRepo) -> None:
    by_hand(work, "says please", "says please, or not")
    assert run_helper("flow-goal-trust.sh", "record", cwd=work.path).status == 0
    (entry,) = artifacts(work)
    assert (entry["class"], entry["how"]) == ("incomparable", "flow-goal-trust.sh record")


def test_evaluating_a_change_by_hand_names_the_way(work: GitRepo) -> None:
    by_hand(work, "says please", "says anything")
    done = flow(work, "goal", "evaluate", "greet", "--json")
    assert (done.status, done.json["blocker_type"]) == (4, "missing_approval")
    assert "flow goal amend greet" in done.json["reason"]


# --- delta ----------------------------------------------------------------------------------------


def test_an_amended_criterion_is_left_out_of_the_delta_once(work: GitRepo) -> None:
    def delta() -> str:
        done = flow(work, "goal", "evaluate", "greet", "--json")
        return str(done.json["delta"])

    assert delta() == "made_progress"  # the first: AC2 passes
    scene.meet(work)
    assert delta() == "made_progress"
    harder = TEXT.replace("grep -q please src/greet.txt", "grep -q thanks src/greet.txt")
    assert amend(work, harder, "--yes").status == 0
    assert delta() == "unchanged"  # it passed as it was worded before: no regression
    work.write("src/greet.txt", "please, thanks\n")
    assert delta() == "made_progress"
    assert amend(work, TEXT, "--yes").status == 0
    again = TEXT.replace("test -s src", "test -f src")
    assert amend(work, again, "--yes").status == 0
    assert delta() == "unchanged"  # both, over two amendments of one turn
    work.write("src/greet.txt", "\n")
    assert delta() == "regressed"


def test_a_dropped_criterion_is_no_regression(work: GitRepo) -> None:
    scene.meet(work)
    assert scene.step(work, "goal", "evaluate", "greet").status == 0
    start, end = TEXT.index("    - id: AC2"), TEXT.index("constraints:")
    assert amend(work, TEXT[:start] + TEXT[end:], "--yes").status == 0
    done = flow(work, "goal", "evaluate", "greet", "--json")
    assert (done.json["delta"], len(done.json["criterion_results"])) == ("unchanged", 1)


def test_an_added_criterion_is_no_progress(work: GitRepo) -> None:
    scene.meet(work)
    assert scene.step(work, "goal", "evaluate", "greet").status == 0
    assert amend(work, STRONGER).status == 0
    done = flow(work, "goal", "evaluate", "greet", "--json")
    assert (done.status, done.json["delta"]) == (0, "unchanged")


# --- hostile and faulty ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "goal"),
        ("- a\n", "mapping"),
        (TEXT.replace("kind: FlowGoal", "kind: Other"), "kind"),
        (TEXT.replace("text: says please", "text: &a says"), "anchor"),
        (TEXT.replace("outcome:", "outcome: a\n  outcome:"), "outcome"),
        (TEXT.replace('["src/**"]', '["../x"]'), ".."),
        (TEXT.replace("id: AC2", "id: AC1"), "AC1"),
        (TEXT.replace("flow.synapti.ai/v1", "flow.synapti.ai/v9"), "v9"),
        (TEXT + "#" * (1 << 20), "1048576"),
    ],
)
def test_a_malformed_file_changes_nothing(work: GitRepo, text: str, word: str) -> None:
    before = scene.goal_file(work)
    done = amend(work, text, "--yes", "--json")
    assert done.status == 2, done
    error = done.json["error"]
    assert word.lower() in json.dumps(error).lower()
    assert scene.goal_file(work) == before
    assert artifacts(work) == []


BARE = """\
metadata:
  id: greet
objective:
  outcome: the greeting is polite
  acceptance_criteria:
    - text: is there
      verification_command: test -s src/greet.txt
    - text: says please
      verification_command: "grep -q please src/greet.txt"   # by hand
    - text: is short
      verification_command: test $(wc -l < src/greet.txt) -lt 9
constraints:
  allowed_paths: ["src/**"]
evaluator:
  type: deterministic
"""


def document_of(work: GitRepo) -> dict[str, Any]:
    document: dict[str, Any] = flow(work, "goal", "inspect", "greet", "--json").json["document"]
    return document


def test_a_file_may_lack_what_flow_writes_itself_as_at_creating(work: GitRepo) -> None:
    before = document_of(work)
    work.write("../goal.yaml", BARE)
    done = flow(work, "goal", "amend", "--file", "../goal.yaml", "--json")
    assert done.status == 0, done.stdout
    assert [change["class"] for change in done.json["changes"]] == ["strengthening", "neutral"]
    assert sum("apiVersion is missing" in text for text in done.json["warnings"]) == 1
    after = document_of(work)
    for part in ("apiVersion", "kind", "metadata", "scope", "lifecycle"):
        assert after[part] == before[part], part
    rows = after["objective"]["acceptance_criteria"]
    assert [row["id"] for row in rows] == ["AC2", "AC1", "AC3"]
    text = scene.goal_file(work)
    assert text.startswith("# yaml-language-server: ")
    assert "# by hand" in text


def test_a_bare_file_and_a_named_change_go_together(work: GitRepo) -> None:
    work.write("../goal.yaml", BARE)
    done = flow(work, "goal", "amend", "--file", "../goal.yaml", "--allow", "docs/**", "--yes")
    assert done.status == 0, done.stderr
    assert done.stderr.count("apiVersion is missing") == 1
    assert "docs/**" in scene.goal_file(work)


def test_what_cannot_be_known_is_still_missing(work: GitRepo) -> None:
    work.write("../goal.yaml", BARE.replace("evaluator:\n  type: deterministic\n", ""))
    done = flow(work, "goal", "amend", "--file", "../goal.yaml")
    assert done.status == 2
    assert "evaluator" in done.stderr


def test_a_file_that_is_not_there(work: GitRepo) -> None:
    done = flow(work, "goal", "amend", "greet", "--file", "nowhere.yaml", "--json")
    assert (done.status, done.json["error"]["key"]) == (2, "--file")
    done = flow(work, "goal", "amend", "../greet", "--file", "nowhere.yaml", "--json")
    assert done.status == 2
    done = flow(work, "goal", "amend", "unknown", "--file", "../goal.yaml", "--json")
    assert (done.status, done.json["error"]["code"]) == (2, "not_found")


def test_a_symlink_in_the_place_of_the_goal_is_refused(work: GitRepo) -> None:
    path = work.path / ".flow/goals/greet.goal.yaml"
    kept = work.path.parent / "elsewhere.yaml"
    path.rename(kept)
    path.symlink_to(kept)
    before = kept.read_bytes()
    done = amend(work, STRONGER, "--yes", "--json")
    assert done.status == 2
    assert "symbolic link" in done.json["error"]["message"]
    assert kept.read_bytes() == before


def test_hostile_text_is_escaped_in_the_difference(work: GitRepo) -> None:
    evil = TEXT.replace("says please", '"says \\e[2J\\u202eplease\\nAllowed: all"')
    done = amend(work, evil)
    assert done.status == 4
    for raw in ("\x1b", "\u202e", "\nAllowed"):
        assert raw not in done.stderr
    assert "\\x1b[2J" in done.stderr


def test_an_evaluation_that_is_going_on_is_not_written_over_it(work: GitRepo) -> None:
    """The contract is amended while commands run: nothing is proposed, the amendment stays."""
    run_flow = f"FLOW_PYTHON={shlex.quote(sys.executable)} {shlex.quote(ROOT)}/bin/flow"
    inner = f"{run_flow} goal amend greet --file ../new.yaml"
    work.write("src/run.sh", f"{inner} >/dev/null 2>&1\ngrep -q please src/greet.txt\n")
    running = TEXT.replace("grep -q please src/greet.txt", "bash src/run.sh")
    assert amend(work, running, "--yes").status == 0
    work.write("../new.yaml", running.replace("repo: demo", "repo: renamed"))
    scene.meet(work)
    done = flow(work, "goal", "evaluate", "greet", "--json")
    assert done.status == 2, done
    assert "any more" in done.json["error"]["message"]
    assert "repo: renamed" in scene.goal_file(work)
    assert not (scene.run_dir(work) / "proposal.json").exists()
