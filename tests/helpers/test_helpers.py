"""The six helpers: every flag, every exit status, what stands on which stream (SPEC 5)."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support import GitRepo, Ran, run_helper, scene, start_helper

NAMES = (
    "flow-record-evidence",
    "flow-goal-record",
    "flow-record-verdict",
    "journal-record",
    "flow-active-goal",
    "flow-goal-trust",
)
EVIDENCE = """\
apiVersion: flow.synapti.ai/v1
kind: FlowEvidence
metadata:
  id: {id}
  goal: greet
  run_id: r1
  created_at: "2026-01-01T00:00:00Z"
evidence:
  type: test_result
  command: make test
  exit_code: 0
  proves: [AC1]
  limitations: ["only the unit tests"]
"""
VERDICT: dict[str, Any] = {
    "verdict": "achieved",
    "confidence": 1.0,
    "delta": "made_progress",
    "reason": "all is proved",
}


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    return scene.create(scene.start(repo))


def call(work: GitRepo, name: str, *words: str, **more: Any) -> Ran:
    """The helper, in the test's own process."""
    return run_helper(name, *words, cwd=more.pop("cwd", work.path), **more)


def started(work: GitRepo, name: str, *words: str, **more: Any) -> Ran:
    """The helper's script, as a process of its own."""
    return start_helper(name, *words, cwd=more.pop("cwd", work.path), **more)


def quiet(done: Ran) -> Ran:
    """Nothing on standard output, no traceback."""
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return done


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_every_helper_tells_about_itself(tmp_path: Path, name: str, option: str) -> None:
    done = (run_helper if option == "--help" else start_helper)(name, option, cwd=tmp_path)
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: {name}.sh")
    assert "exit status: 0 done; 1 bad input" in done.stdout


WRONG = {
    "flow-record-evidence": [
        [],
        ["--run-id", "r1"],
        ["--evidence-file", "e.yaml"],
        ["--run-id", "--evidence-file", "e.yaml"],
        ["--run-id", "r1", "--evidence-file", "absent.yaml"],
        ["--run-id", "r1", "--evidence-file", "src"],
        ["--run-id", "../r1", "--evidence-file", "e.yaml"],
        ["--run-id", "a/b", "--evidence-file", "e.yaml"],
        ["--run-id", ".", "--evidence-file", "e.yaml"],
        ["--run-id", "r2", "--evidence-file", "e.yaml"],
        ["--run-id", "r1", "--evidence-file", "broken.yaml"],
        ["--run-id", "r1", "--evidence-file", "e.yaml", "--nonsense"],
        ["--run-id", "r1", "--run-id", "r1", "--evidence-file", "e.yaml"],
        ["--run-id", "r1", "--evidence-file", "e.yaml", "extra"],
        ["--run-id", "r1", "--evidence-file", "e.yaml", "--raw-output"],
        ["--run-id", "r1", "--evidence-file", "e.yaml", "--raw-output", "absent.txt"],
    ],
    "flow-goal-record": [
        [],
        ["--create"],
        ["--create", "--update-lifecycle"],
        ["--create", "--goal-file", "absent.yaml"],
        ["--create", "--goal-file", "broken.yaml"],
        ["--create", "--goal-file", "e.yaml"],
        ["--create", "--goal-file", "broken.yaml", "--merge"],
        ["--update-lifecycle"],
        ["--update-lifecycle", "--goal-id", "greet"],
        ["--update-lifecycle", "--goal-id", "nope", "--lifecycle-file", "l.yaml"],
        ["--update-lifecycle", "--goal-id", "../greet", "--lifecycle-file", "l.yaml"],
        ["--update-lifecycle", "--goal-id", "greet", "--lifecycle-file", "broken.yaml"],
        ["--update-lifecycle", "--goal-id", "greet", "--lifecycle-file", "absent.yaml"],
        ["--update-lifecycle", "--goal-id", "greet", "--lifecycle-file", "l.yaml",
         "--goal-file", "x"],
        ["--update-lifecycle=yes", "--goal-id", "greet", "--lifecycle-file", "l.yaml"],
        ["--update-lifecycle", "--goal-id", "greet", "--lifecycle-file", "l.yaml",
         "--from-status", "asleep"],
        ["--update-lifecycle", "--goal-id", "greet", "--lifecycle-file", "l.yaml",
         "--from-status", "blocked"],
    ],
    "flow-record-verdict": [
        [],
        ["--run-id", "r1"],
        ["--run-id", "..", "--verdict-file", "v.json"],
        ["--run-id", "r1", "--verdict-file", "absent.json"],
        ["--run-id", "r1", "--verdict-file", "broken.yaml"],
        ["--run-id", "r1", "--verdict-file", "v.json", "--quiet"],
    ],
    "journal-record": [
        [],
        ["--issue", "7"],
        ["--type", "note"],
        ["--issue", "0", "--type", "note"],
        ["--issue", "-1", "--type", "note"],
        ["--issue", "x", "--type", "note"],
        ["--issue", "٣", "--type", "note"],
        ["--issue", "99999999999999999999", "--type", "note"],
        ["--issue", "7", "--type", "Not A Type"],
        ["--issue", "7", "--type", "note", "--metadata", "novalue"],
        ["--issue", "7", "--type", "note", "--metadata", "=v"],
        ["--issue", "7", "--type", "note", "--metadata", "type=x"],
        ["--issue", "7", "--type", "note", "--metadata", "a=1", "a=2"],
    ],
    "flow-active-goal": [
        ["--path", "--id"],
        ["--nonsense"],
        ["greet"],
        ["--branch"],
        ["--branch", "main", "--branch", "main"],
    ],
    "flow-goal-trust": [
        [],
        ["nonsense"],
        ["record", "--goal-file", "absent.yaml"],
        ["record", "--goal-file", "broken.yaml"],
        ["list", "--goal-file", "x"],
        ["record", "extra"],
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "words"), [(name, words) for name in NAMES for words in WRONG[name]], ids=str
)
def test_bad_input_is_1(work: GitRepo, name: str, words: list[str]) -> None:
    work.write("e.yaml", EVIDENCE.format(id="mine"))
    work.write("broken.yaml", "a: [")
    work.write("l.yaml", "status: waiting_for_user\n")
    work.write("v.json", json.dumps(VERDICT))
    before = scene.goal_file(work)
    done = quiet((call if words else started)(work, name, *words))
    assert done.status == 1, done
    assert done.stderr.startswith(f"{name}.sh: ")
    assert scene.goal_file(work) == before
    assert not (work.path / ".flow/runs/r1/last-verdict.json").exists()


# --- evidence ---------------------------------------------------------------------------------


def evidence(work: GitRepo, id: str = "mine", **more: str) -> Ran:
    text = EVIDENCE.format(id=id)
    for old, new in more.items():
        text = text.replace(old, new)
    work.write("e.yaml", text)
    return call(work, "flow-record-evidence", "--run-id", "r1", "--evidence-file", "e.yaml")


def test_evidence_is_recorded_and_its_path_told(work: GitRepo) -> None:
    done = quiet(evidence(work))
    assert done.status == 0, done
    path = done.stderr.strip()
    assert path == str(work.path / ".flow/runs/r1/evidence/mine.evidence.yaml")
    assert "make test" in Path(path).read_text()


def test_an_id_that_is_taken_is_refused_with_2(work: GitRepo) -> None:
    evidence(work)
    path = work.path / ".flow/runs/r1/evidence/mine.evidence.yaml"
    before = path.read_bytes()
    done = quiet(evidence(work))
    assert done.status == 2
    assert "append-only" in done.stderr
    assert path.read_bytes() == before


def test_raw_output_is_copied_beside_it(work: GitRepo) -> None:
    work.write("e.yaml", EVIDENCE.format(id="mine"))
    work.write("out.bin", b"\x00\xff raw\n")
    done = quiet(
        started(
            work,
            *("flow-record-evidence", "--run-id=r1", "--evidence-file=e.yaml"),
            "--raw-output=out.bin",
        )
    )
    assert done.status == 0, done
    folder = work.path / ".flow/runs/r1/evidence"
    assert (folder / "mine.txt").read_bytes() == b"\x00\xff raw\n"
    assert "output_ref: mine.txt" in (folder / "mine.evidence.yaml").read_text()
    assert (work.path / "out.bin").exists()


def test_a_sidecar_as_the_goal_evaluator_of_the_seed_writes_it(work: GitRepo) -> None:
    text = (
        EVIDENCE.format(id="evidence-AC1-eval-1")
        + "  output_ref: evidence/evidence-AC1-eval-1.txt\n"
    )
    work.write("e.yaml", text)
    work.write("out.txt", "FAILED")
    words = ("flow-record-evidence", "--run-id", "r1", "--evidence-file", "e.yaml")
    done = quiet(call(work, *words, "--raw-output", "out.txt"))
    assert done.status == 0, done
    assert "evidence-AC1-eval-1 is kept as evidence-ac1-eval-1" in done.stderr
    assert "evidence/evidence-AC1-eval-1.txt is kept as evidence-ac1-eval-1.txt" in done.stderr
    folder = work.path / ".flow/runs/r1/evidence"
    assert (folder / "evidence-ac1-eval-1.txt").read_text() == "FAILED"
    shown = scene.flow(work, "evidence", "show", "evidence-AC1-eval-1", "--run-id", "r1", "--json")
    assert shown.status == 0, shown
    assert shown.json["metadata"]["id"] == "evidence-ac1-eval-1"
    again = quiet(call(work, *words, "--raw-output", "out.txt"))
    assert (again.status, "append-only" in again.stderr) == (2, True)


def test_another_output_name_is_refused(work: GitRepo) -> None:
    named = EVIDENCE.format(id="mine") + "  output_ref: other.txt\n"
    work.write("e.yaml", named)
    work.write("out.txt", "x")
    done = quiet(
        call(
            work,
            *("flow-record-evidence", "--run-id", "r1", "--evidence-file", "e.yaml"),
            *("--raw-output", "out.txt"),
        )
    )
    assert done.status == 1
    assert not (work.path / ".flow/runs/r1/evidence/mine.txt").exists()


@pytest.mark.parametrize("claim", ["output_ref: mine.txt", f"output_sha256: '{'0' * 64}'"])
def test_an_output_that_is_not_handed_over_is_refused(work: GitRepo, claim: str) -> None:
    """Recorded, it would be missing in the chain for good, and nothing could be proposed."""
    done = quiet(evidence(work, **{"type: ": f"{claim}\n  type: "}))
    assert done.status == 1
    assert f"evidence.{claim.partition(':')[0]}: names an output that is not" in done.stderr
    assert scene.flow(work, "evidence", "verify").status == 0
    assert not (work.path / ".flow/runs/r1/evidence").exists()


def test_evidence_from_standard_input_and_as_json(work: GitRepo) -> None:
    done = call(
        work,
        *("flow-record-evidence", "--run-id", "r1", "--evidence-file", "-"),
        input=EVIDENCE.format(id="piped"),
    )
    assert done.status == 0, done
    import yaml

    document = yaml.safe_load(EVIDENCE.format(id="as-json"))
    document["evidence"]["limitations"] = ["only the unit tests \U0001f600"]
    work.write("e.json", json.dumps(document))
    done = call(work, "flow-record-evidence", "--run-id", "r1", "--evidence-file", "e.json")
    assert done.status == 0, done
    stored = (work.path / ".flow/runs/r1/evidence/as-json.evidence.yaml").read_text("utf-8")
    assert yaml.safe_load(stored)["evidence"]["limitations"] == ["only the unit tests \U0001f600"]


def test_a_limitation_is_asked_for(work: GitRepo) -> None:
    done = quiet(evidence(work, **{'limitations: ["only the unit tests"]': "limitations: []"}))
    assert done.status == 1
    assert "limitations" in done.stderr


def test_a_link_in_the_way_is_refused_with_2(work: GitRepo, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (work.path / ".flow/runs").mkdir(parents=True, exist_ok=True)
    (work.path / ".flow/runs/r1").symlink_to(tmp_path / "elsewhere")
    done = quiet(evidence(work))
    assert done.status == 2
    assert not list((tmp_path / "elsewhere").iterdir())


def test_what_others_record_counts_for_nothing(work: GitRepo) -> None:
    scene.flow(work, "goal", "evaluate", "greet")
    run = scene.run_dir(work).name
    work.write("e.yaml", EVIDENCE.format(id="mine").replace("run_id: r1", f"run_id: {run}"))
    done = call(work, "flow-record-evidence", "--run-id", run, "--evidence-file", "e.yaml")
    assert done.status == 0, done
    os.unlink(work.path / "e.yaml")
    again = scene.flow(work, "goal", "evaluate", "greet", "--json")
    assert (again.status, again.json["verdict"]) == (1, "not_achieved")


# --- goals ------------------------------------------------------------------------------------


def lifecycle(work: GitRepo, text: str, *words: str) -> Ran:
    work.write("../l.yaml", text)
    return call(
        work,
        *("flow-goal-record", "--update-lifecycle", "--goal-id", "greet"),
        *("--lifecycle-file", "../l.yaml", *words),
    )


def test_create_a_goal(work: GitRepo) -> None:
    text = scene.goal_file(work).replace("greet", "second")
    text = "\n".join(
        line for line in text.split("\n") if "run_id:" not in line and "base_commit:" not in line
    )
    work.write("../g.yaml", text)
    words = ("flow-goal-record", "--create", "--goal-file", "../g.yaml")
    done = quiet(started(work, *words))
    assert done.status == 0, done
    assert str(work.path / ".flow/goals/second.goal.yaml") in done.stderr
    assert scene.status(work, "second") == "active"
    again = quiet(started(work, *words))
    assert again.status == 2
    assert scene.flow(work, "trust", "check", "second").status == 0


def test_create_a_goal_of_json_with_an_escaped_emoji(work: GitRepo) -> None:
    document = yaml.safe_load(scene.goal_file(work).replace("greet", "second"))
    del document["scope"]["run_id"], document["scope"]["base_commit"]
    document["objective"]["outcome"] = "polite \U0001f600"
    work.write("../g.json", json.dumps(document))
    done = quiet(started(work, "flow-goal-record", "--create", "--goal-file", "../g.json"))
    assert done.status == 0, done
    assert scene.flow(work, "trust", "check", "second").status == 0


@pytest.mark.parametrize(
    "text",
    [
        "status: waiting_for_user\n",
        "lifecycle:\n  status: waiting_for_user\n",
        '{"status": "waiting_for_user"}',
        '{"lifecycle": {"status": "waiting_for_user"}}',
    ],
)
def test_update_the_lifecycle(work: GitRepo, text: str) -> None:
    done = quiet(lifecycle(work, text))
    assert done.status == 0, done
    assert done.stderr.strip() == str(work.path / ".flow/goals/greet.goal.yaml")
    assert scene.status(work) == "waiting_for_user"
    assert "waiting_for_user" in work.read(".decisions/issue-7.md")


@pytest.mark.parametrize("words", [(), ("--merge",)])
def test_a_key_that_no_lifecycle_has_is_kept_and_warned_about(
    work: GitRepo, words: tuple[str, ...]
) -> None:
    done = lifecycle(work, "status: active\ncurent_phase: one\n", *words)
    assert done.status == 0
    assert "curent_phase: one" in scene.goal_file(work)
    warning, path = done.stderr.splitlines()
    assert path.endswith("greet.goal.yaml")
    assert "lifecycle.curent_phase: is not a known key" in warning
    assert "did you mean current_phase?" in warning


def test_replace_and_merge(work: GitRepo) -> None:
    assert lifecycle(work, "status: active\ncurrent_phase: one\nturns_evaluated: 3\n").status == 0
    assert lifecycle(work, "current_activity: two\n", "--merge").status == 0
    text = scene.goal_file(work)
    assert "current_phase: one" in text
    assert "current_activity: two" in text
    assert "turns_evaluated: 3" in text
    assert lifecycle(work, "status: active\nturns_evaluated: 3\n").status == 0
    assert "current_phase" not in scene.goal_file(work)


def test_increment_turns(work: GitRepo) -> None:
    for turn in (1, 2):
        assert lifecycle(work, "status: active\n", "--merge", "--increment-turns").status == 0
        assert f"turns_evaluated: {turn}" in scene.goal_file(work)


def test_from_status_is_compared(work: GitRepo) -> None:
    words = ("--from-status", "waiting_for_user", "--merge")
    refused = quiet(lifecycle(work, "status: active\n", *words))
    assert refused.status == 1
    assert "active" in refused.stderr
    assert "waiting_for_user" in refused.stderr
    assert lifecycle(work, "status: blocked\n", "--from-status", "active", "--merge").status == 0


@pytest.mark.parametrize("target", ["draft", "asleep", "Active"])
def test_a_move_that_is_not_in_the_table(work: GitRepo, target: str) -> None:
    assert quiet(lifecycle(work, f"status: {target}\n", "--merge")).status == 1
    assert scene.status(work) == "active"


def test_achieved_needs_a_live_proposal(work: GitRepo) -> None:
    assert quiet(lifecycle(work, "status: achieved\n", "--merge")).status == 1
    scene.propose(work)
    scene_file = work.path / "src/greet.txt"
    scene_file.write_text("please?\n")
    assert quiet(lifecycle(work, "status: achieved\n", "--merge")).status == 1
    scene_file.write_text("please\n")
    done = quiet(lifecycle(work, "status: achieved\n", "--merge"))
    assert done.status == 0, done
    assert scene.status(work) == "achieved"
    assert quiet(lifecycle(work, "status: active\n", "--merge")).status == 1


@pytest.mark.parametrize("target", ["failed", "cancelled"])
def test_other_ends_need_no_proposal(work: GitRepo, target: str) -> None:
    assert lifecycle(work, f"status: {target}\n", "--merge").status == 0
    assert scene.status(work) == target
    assert f"to: {target}" in work.read(".decisions/issue-7.md").replace('"', "")


@pytest.mark.parametrize("target", ["achieved", "failed", "cancelled", "waiting_for_user"])
def test_the_journal_says_who_and_how(work: GitRepo, target: str) -> None:
    """A final status has a name, as at each other way to one; without one no pause is made up."""
    scene.propose(work)
    assert quiet(lifecycle(work, f"status: {target}\n", "--merge")).status == 0
    entry = work.read(".decisions/issue-7.md").rpartition("  - type:")[2].replace('"', "")
    assert f"to: {target}" in entry
    assert "how: flow-goal-record.sh" in entry
    told = ["    by: " in entry, "by_from: git user.name" in entry]
    assert told == [target != "waiting_for_user"] * 2, entry
    status = scene.flow(work, "goal", "status", "greet", "--json").json
    if target == "waiting_for_user":
        assert status["paused"] is None
    else:
        assert status["closed"]["by_from"] == "git user.name"


def test_a_held_lock_is_2(work: GitRepo) -> None:
    import fcntl

    scene.flow(work, "goal", "pause", "greet")
    scene.flow(work, "goal", "resume", "greet")
    with open(work.path / ".flow/runs/.locks/goal-greet.lock", "a+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = quiet(lifecycle(work, "status: blocked\n", "--merge"))
    assert done.status == 2
    assert "goal-greet.lock" in done.stderr


def test_every_fault_of_a_goal_is_told(work: GitRepo) -> None:
    text = scene.goal_file(work).replace("AC1", "ac1").replace("kind: FlowGoal", "kind: Goal")
    work.write(".flow/goals/greet.goal.yaml", text)
    done = quiet(lifecycle(work, "status: blocked\n", "--merge"))
    assert done.status == 1
    assert "ac1" in done.stderr
    assert "kind" in done.stderr


# --- verdicts ---------------------------------------------------------------------------------


def verdict(work: GitRepo, env: dict[str, str] | None = None, /, **more: Any) -> Ran:
    document = {key: value for key, value in {**VERDICT, **more}.items() if value != "absent"}
    work.write("../v.json", json.dumps(document))
    words = ("flow-record-verdict", "--run-id", "r1", "--verdict-file", "../v.json")
    return quiet(call(work, *words, env=env or {}))


def stored(work: GitRepo) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(work.read(".flow/runs/r1/last-verdict.json"))
    return found


def test_a_verdict_is_recorded(work: GitRepo) -> None:
    done = verdict(work)
    assert done.status == 0, done
    assert done.stderr.strip() == str(work.path / ".flow/runs/r1/last-verdict.json")
    found = stored(work)
    assert found.pop("recorded_at").endswith("Z")
    assert found == VERDICT
    assert verdict(work, reason="newer").status == 0
    assert stored(work)["reason"] == "newer"


@pytest.mark.parametrize(
    "wrong",
    [
        *({key: "absent"} for key in VERDICT),
        {"verdict": "pass"},
        {"delta": "better"},
        {"blocker_type": "weather"},
        {"confidence": True},
        {"confidence": "1.0"},
        {"confidence": 1.5},
        {"confidence": -0.1},
        {"reason": 5},
        {"run_id": "r2"},
        {"criterion_results": {}},
    ],
    ids=str,
)
def test_a_verdict_that_is_wrong(work: GitRepo, wrong: dict[str, Any]) -> None:
    done = verdict(work, **wrong)
    assert done.status == 1
    assert f"flow-record-verdict.sh: ../v.json: {next(iter(wrong))}" in done.stderr
    assert not (work.path / ".flow/runs/r1/last-verdict.json").exists()


@pytest.mark.parametrize("text", ["", "[]", "null", "{", '{"a": NaN}', '{"a": 1, "a": 2}'])
def test_a_verdict_that_is_none(work: GitRepo, text: str) -> None:
    words = ("flow-record-verdict", "--run-id", "r1", "--verdict-file", "-")
    assert quiet(call(work, *words, input=text)).status == 1


@pytest.mark.parametrize(("field", "cap"), [("reason", 2048), ("next_step_hint", 500)])
def test_long_texts_are_cut_with_a_warning(work: GitRepo, field: str, cap: int) -> None:
    fits: dict[str, Any] = {field: "ü" * cap}
    assert verdict(work, None, **fits).stderr.count("warning") == 0
    longer: dict[str, Any] = {field: "ü" * (cap + 1)}
    done = verdict(work, None, **longer)
    assert done.status == 0
    assert f"warning: ../v.json: {field}: is cut from {cap + 1} to {cap} char" in done.stderr
    assert stored(work)[field] == "ü" * (cap - 1) + "…"


def test_quiet(work: GitRepo) -> None:
    env = {"FLOW_RECORD_VERDICT_QUIET": "1"}
    done = verdict(work, env, reason="x" * 3000)
    assert (done.status, done.stderr) == (0, "")
    done = verdict(work, env, verdict="pass")
    assert done.status == 1
    assert done.stderr != ""


def test_a_verdict_is_not_written_through_a_link(work: GitRepo, tmp_path: Path) -> None:
    (work.path / ".flow/runs/r1").mkdir(parents=True)
    (work.path / ".flow/runs/r1/last-verdict.json").symlink_to(tmp_path / "target")
    assert verdict(work).status == 2
    assert not (tmp_path / "target").exists()


# --- the journal ------------------------------------------------------------------------------


def test_journal_metadata(work: GitRepo) -> None:
    done = quiet(
        started(
            work,
            *("journal-record", "--issue", "12", "--type", "note"),
            *("--metadata", "goal_id=greet", "count=3", "--metadata", "failures=AC1,AC2"),
            *("--metadata=text=a=b", "--metadata", "none="),
        )
    )
    assert done.status == 0, done
    assert done.stderr.strip() == str(work.path / ".decisions/issue-12.md")
    shown = scene.flow(work, "journal", "show", "--issue", "12", "--json").json
    entry = shown["artifacts"][0]
    del entry["captured_at"]
    assert entry == {
        "type": "note",
        "goal_id": "greet",
        "count": 3,
        "failures": ["AC1", "AC2"],
        "text": "a=b",
        "none": "",
    }
    assert shown["front"]["issue"] == 12


def test_a_journal_that_is_broken_is_2_and_stays(work: GitRepo) -> None:
    work.write(".decisions/issue-12.md", "---\nartifacts: [\n---\nbody\n")
    done = quiet(call(work, "journal-record", "--issue", "12", "--type", "note"))
    assert done.status == 2
    assert work.read(".decisions/issue-12.md") == "---\nartifacts: [\n---\nbody\n"


# --- the active goal --------------------------------------------------------------------------


def test_the_active_goal(work: GitRepo) -> None:
    path = str(work.path / ".flow/goals/greet.goal.yaml")
    work.write("deep/x")
    for words, said in (
        ([], path),
        (["--path"], path),
        (["--id"], "greet"),
        (["--status"], "active"),
        (["--branch", "main"], path),
        (["--id", "--branch=main"], "greet"),
    ):
        done = (call if words else started)(
            work, "flow-active-goal", *words, cwd=work.path / "deep"
        )
        assert (done.status, done.stdout, done.stderr) == (0, f"{said}\n", "")
    found = call(work, "flow-active-goal", "--json").json
    assert (found["id"], found["path"], found["status"]) == ("greet", path, "active")


def test_the_path_is_told_to_a_program_byte_by_byte(repo: GitRepo) -> None:
    """A folder with a tab, or a name that reads from the right, is found by what is printed."""
    top = repo.path.with_name("a\tb\u200fc")
    repo.path.rename(top)
    work = scene.create(scene.start(GitRepo(top)))
    told = started(work, "flow-active-goal").stdout
    assert told == f"{top}/.flow/goals/greet.goal.yaml\n"


@pytest.mark.skipif(sys.platform == "darwin", reason="file names are UTF-8 there")
def test_a_folder_that_is_not_utf8_is_no_half_a_character_in_json(repo: GitRepo) -> None:
    top = repo.path.with_name(os.fsdecode(b"caf\xe9"))
    repo.path.rename(top)
    work = scene.create(scene.start(GitRepo(top)))
    done = call(work, "flow-active-goal", "--json")
    assert done.json["path"].endswith("/caf\\xe9/.flow/goals/greet.goal.yaml"), done


def test_no_active_goal_is_1(work: GitRepo) -> None:
    assert quiet(call(work, "flow-active-goal", "--branch", "other")).status == 1
    scene.flow(work, "goal", "pause", "greet")
    assert quiet(call(work, "flow-active-goal")).status == 1
    waiting = call(work, "flow-active-goal", "--any", "--status")
    assert (waiting.status, waiting.stdout) == (0, "waiting_for_user\n")
    scene.flow(work, "goal", "clear", "greet", "--yes")
    assert quiet(call(work, "flow-active-goal", "--any")).status == 1


def test_several_active_goals_are_3(work: GitRepo) -> None:
    scene.create(work, "second")
    done = quiet(started(work, "flow-active-goal", "--json"))
    assert done.status == 3
    assert "greet" in done.stderr
    assert "second" in done.stderr


def test_a_goal_that_cannot_be_read_is_named(work: GitRepo) -> None:
    work.write(".flow/goals/broken.goal.yaml", "a: [")
    done = call(work, "flow-active-goal", "--id")
    assert (done.status, done.stdout) == (0, "greet\n")
    assert "broken.goal.yaml" in done.stderr
    os.unlink(work.path / ".flow/goals/greet.goal.yaml")
    done = quiet(call(work, "flow-active-goal", "--id"))
    assert done.status == 1
    assert "broken.goal.yaml" in done.stderr


# --- trust ------------------------------------------------------------------------------------


def test_trust_check_record_list(work: GitRepo) -> None:
    path = ".flow/goals/greet.goal.yaml"
    for words in ([], ["--goal-file", path], [f"--goal-file={work.path / path}"]):
        done = call(work, "flow-goal-trust", "check", *words)
        assert (done.status, done.stdout, done.stderr) == (0, "TRUSTED=yes\n", "")
    work.write(path, work.read(path).replace("is polite", "is very polite"))
    done = call(work, "flow-goal-trust", "check")
    assert (done.status, done.stdout) == (1, "TRUSTED=no\n")
    assert "changed" in done.stderr
    done = quiet(started(work, "flow-goal-trust", "record", "--goal-file", path))
    assert done.status == 0, done
    assert "very polite" in done.stderr
    assert call(work, "flow-goal-trust", "check").stdout == "TRUSTED=yes\n"
    listed = started(work, "flow-goal-trust", "list")
    assert listed.status == 0
    assert listed.stdout.startswith("greet ")
    assert listed.stdout.count("\n") == 1


@pytest.mark.parametrize("words", [["--goal-file", "absent.yaml"], ["--goal-file", "broken.yaml"]])
def test_what_cannot_be_checked_is_not_trusted(work: GitRepo, words: list[str]) -> None:
    work.write("broken.yaml", "a: [")
    done = call(work, "flow-goal-trust", "check", *words)
    assert (done.status, done.stdout) == (1, "TRUSTED=no\n")


def test_a_trust_ledger_that_others_can_write_is_no_trust(work: GitRepo, home: Path) -> None:
    (home / "flow-state").chmod(0o777)
    done = call(work, "flow-goal-trust", "check")
    assert (done.status, done.stdout) == (1, "TRUSTED=no\n")
    assert "may be written by others" in done.stderr
    done = quiet(call(work, "flow-goal-trust", "record"))
    assert done.status == 2


# --- all of them ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["flow-active-goal", "flow-goal-trust"])
def test_outside_a_repository(work: GitRepo, tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    words = ["check"] if name == "flow-goal-trust" else []
    done = call(work, name, *words, cwd=outside)
    assert done.status == 1
    assert "no git repository" in done.stderr


def test_from_a_folder_below_with_a_path_of_its_own(work: GitRepo) -> None:
    folder = work.path / "a folder with spaces"
    folder.mkdir()
    (folder / "e.yaml").write_text(EVIDENCE.format(id="below"))
    done = call(
        work,
        *("flow-record-evidence", "--run-id", "r1", "--evidence-file", "e.yaml"),
        cwd=folder,
    )
    assert done.status == 0, done
    assert (work.path / ".flow/runs/r1/evidence/below.evidence.yaml").exists()


def test_hostile_words_reach_no_terminal(work: GitRepo) -> None:
    for name in NAMES:
        done = call(work, name, "\x1b[2J\u202e", "--\x1b[2J")
        assert done.status == 1
        assert "\x1b" not in done.stderr
        assert "\u202e" not in done.stderr
