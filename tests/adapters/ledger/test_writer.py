"""The ledger's changes: what they write, what they refuse, and that no two of them get lost."""

from __future__ import annotations

import difflib
import json
import os
import subprocess
import sys

import pytest

from flow.adapters.contracts import cache as contracts_cache
from flow.adapters.contracts import formats
from flow.adapters.fs import files
from flow.adapters.ledger import transaction
from flow.app.checks import RawOutput
from flow.app.ports import CriterionUpdate
from flow.core import layout
from flow.core.evidence.model import APPROVER, EVALUATOR
from flow.core.goal.lifecycle import STATUSES, TERMINAL, Lifecycle, allowed
from flow.core.goal.loaded import ExpectedState
from flow.errors import (
    ContractError,
    FlowError,
    InputError,
    LockTimeout,
    RefusedError,
    StaleProposal,
    StateError,
    StorageError,
)
from tests.support import ledger_scene as scene
from tests.support.ledger_scene import GOAL, GOAL_FILE, JOURNAL, NOW, RUN, SIDECAR
from tests.support.patience import LONG


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "checkout"
    folder.mkdir()
    scene.start(str(folder))
    return str(folder)


@pytest.fixture
def ledger(root):
    return scene.ledger(root)


@pytest.fixture
def records(root):
    return scene.records(root)


def goal_text(root):
    with open(f"{root}/{GOAL_FILE}") as file:
        return file.read()


def journal(root):
    with open(f"{root}/{JOURNAL}") as file:
        return file.read()


def events(root, run=RUN):
    with open(f"{root}/.flow/runs/{run}/events.jsonl") as file:
        return [json.loads(line) for line in file]


def in_status(root, status):
    """Put the goal into a status behind the ledger's back."""
    text = goal_text(root).replace("status: active   # now", f"status: {status}   # now")
    with open(f"{root}/{GOAL_FILE}", "w") as file:
        file.write(text)


def put_proposal(root, proposal):
    files.replace(root, f".flow/runs/{RUN}/proposal.json", json.dumps(proposal).encode())


def changed_lines(before, after):
    """The lines that differ, each with its mark."""
    lines = difflib.ndiff(before.splitlines(), after.splitlines())
    return [line for line in lines if line[0] in "+-"]


def propose(root, proposal=scene.PROPOSAL):
    scene.ledger(root).write_turn(GOAL, RUN, scene.seen(root), scene.turn(proposal=proposal))


# --- goal changes --------------------------------------------------------------------------------


def test_a_turn_changes_the_lines_it_means_and_no_other(root, ledger):
    before = goal_text(root)
    assert ledger.write_turn(GOAL, RUN, scene.seen(root), scene.turn()) == "active"
    assert changed_lines(before, goal_text(root)) == [
        "-       status: pending  # by Flow",
        "+       status: pass  # by Flow",
        f"+       evidence_ref: {SIDECAR}",
        f'+       last_evaluated_at: "{NOW}"',
        "+       last_result: exit 0",
        "-   turns_evaluated: 0",
        "+   turns_evaluated: 1",
        "+   last_evaluation:",
        "+     result: pass",
        '+     reason: "all: good # really"',
        f'+     at: "{NOW}"',
    ]
    assert journal(root).count("type: goal-evaluation") == 1
    assert events(root)[-1]["type"] == "evaluated"
    assert events(root)[-1]["goal_sha256"] == files.digest(root, GOAL_FILE)
    assert scene.records(root).proposal(RUN)["proposal_id"] == scene.PROPOSAL["proposal_id"]


def test_the_same_turn_again_changes_only_what_differs(root, ledger):
    ledger.write_turn(GOAL, RUN, scene.seen(root), scene.turn())
    before = goal_text(root)
    ledger.write_turn(GOAL, RUN, scene.seen(root), scene.turn(2))
    assert changed_lines(before, goal_text(root)) == [
        "-   turns_evaluated: 1",
        "+   turns_evaluated: 2",
    ]


def test_a_turn_without_a_proposal_withdraws_its_own(root, ledger, records):
    propose(root)
    ledger.write_turn(GOAL, RUN, scene.seen(root), scene.turn(2, proposal=None))
    assert records.proposal(RUN) is None
    other = {**scene.PROPOSAL, "goal_id": "other"}
    put_proposal(root, other)
    ledger.write_turn(GOAL, RUN, scene.seen(root), scene.turn(3, proposal=None))
    assert records.proposal(RUN) == other


def test_a_proposal_that_a_killed_process_dropped_is_dropped_on_the_record_too(root):
    """It pinned no heads any more: else the state folder calls the file missing for ever."""
    propose(root)
    os.unlink(f"{root}/{layout.proposal_file(RUN)}")
    scene.session.cache_clear()
    turn = scene.turn(2, proposal=None)
    scene.ledger(root).write_turn(GOAL, RUN, scene.seen(root), turn)
    assert scene.session(root).run(RUN).unpinned().files["proposal.json"] is None


@pytest.mark.parametrize("target", STATUSES)
@pytest.mark.parametrize("source", STATUSES)
def test_every_cell_of_the_table(root, ledger, source, target, monkeypatch):
    """Every change of a status goes through the machine; what changes none does not load it."""
    moved, machine = [], Lifecycle.move

    def move(self, to):
        moved.append((self.status, to))
        machine(self, to)

    monkeypatch.setattr(Lifecycle, "move", move)
    in_status(root, source)
    if target == "achieved":
        put_proposal(root, scene.PROPOSAL)
    before = scene.tree(root)

    def act():
        if target in TERMINAL:
            ledger.close(GOAL, RUN, ExpectedState(source), scene.closing(target, None))
        else:
            ledger.move(GOAL, RUN, ExpectedState(source), scene.move(target, source))

    if allowed(source, target):
        act()
        assert moved == ([] if source == target else [(source, target)])
        assert scene.records(root).goal(GOAL).goal.status == target
        assert journal(root).count(f"to: {target}") == 1
        assert events(root)[-1]["to"] == target
        assert not os.path.exists(f"{root}/.flow/runs/.pending/{GOAL}.json")
    else:
        with pytest.raises(StateError, match=f"is {source} and cannot become {target}"):
            act()
        assert scene.tree(root) == before


@pytest.mark.parametrize("status", [*sorted(TERMINAL), "done", ""])
def test_an_evaluation_cannot_close_a_goal_at_run_time_either(root, ledger, status):
    propose(root)
    before = scene.tree(root)
    with pytest.raises(StateError) as caught:
        ledger.write_turn(GOAL, RUN, scene.seen(root), scene.turn(2, status))
    assert caught.value.code == "refused_transition"
    with pytest.raises(StateError):
        ledger.move(GOAL, RUN, scene.seen(root), scene.move(status))
    with pytest.raises(StateError):
        ledger.close(GOAL, RUN, scene.seen(root), scene.closing("active"))
    assert scene.tree(root) == before


@pytest.mark.parametrize(
    ("seen", "named"),
    [
        (ExpectedState("blocked"), "the status of goal issue-4 is active, not blocked"),
        (
            ExpectedState("active", "f" * 64),
            "the contract of goal issue-4 is .{12}, not f{12} any more",
        ),
        (ExpectedState("active", None, 7), "the turns_evaluated of goal issue-4 is 0, not 7"),
    ],
)
def test_compare_and_set_names_both_values(root, ledger, seen, named):
    before = scene.tree(root)
    for act in (
        lambda: ledger.write_turn(GOAL, RUN, seen, scene.turn()),
        lambda: ledger.move(GOAL, RUN, seen, scene.move()),
        lambda: ledger.close(GOAL, RUN, seen, scene.closing("cancelled", None)),
    ):
        with pytest.raises(StateError, match=named) as caught:
            act()
        assert caught.value.code == "moved"
    assert scene.tree(root) == before


def test_a_criterion_that_is_gone_refuses_the_turn(root, ledger):
    turn = scene.turn()._replace(criteria=(CriterionUpdate("AC9", "pass"),))
    with pytest.raises(StateError, match="no criterion AC9"):
        ledger.write_turn(GOAL, RUN, scene.seen(root), turn)


def test_a_proposal_works_once(root, ledger, records):
    propose(root)
    ledger.close(GOAL, RUN, scene.seen(root), scene.closing())
    assert records.goal(GOAL).goal.status == "achieved"
    assert records.proposal(RUN) is None
    in_status(root, "active")  # the goal is opened by hand: the used proposal stays used
    text = goal_text(root).replace("status: achieved", "status: active")
    files.replace(root, GOAL_FILE, text.encode())
    with pytest.raises(StaleProposal):
        ledger.close(GOAL, RUN, scene.seen(root), scene.closing())


@pytest.mark.parametrize(
    ("live", "given", "to", "error"),
    [
        (None, None, "achieved", StateError),
        (None, "b" * 64, "achieved", StaleProposal),
        ({}, "c" * 64, "achieved", StaleProposal),
        ({}, "b" * 64, "failed", StaleProposal),
        ({"to": "failed"}, "b" * 64, "achieved", StaleProposal),
        ({"to": "failed"}, None, "achieved", StateError),
        ({"goal_id": "other"}, None, "achieved", StateError),
        ({"goal_id": "other"}, "b" * 64, "achieved", StaleProposal),
        ({"contract": "0" * 64}, "b" * 64, "achieved", StaleProposal),
        ({"contract": "0" * 64}, None, "achieved", StaleProposal),
    ],
)
def test_the_live_proposal_must_be_the_one(root, ledger, live, given, to, error):
    if live is not None:
        put_proposal(root, {**scene.PROPOSAL, **live})
    before = scene.tree(root)
    with pytest.raises(error):
        ledger.close(GOAL, RUN, scene.seen(root), scene.closing(to, given))
    if given is None:
        with pytest.raises(error):
            ledger.update_lifecycle(GOAL, {"status": to}, merge=True)
    assert scene.tree(root) == before


@pytest.mark.parametrize("to", ["failed", "cancelled"])
def test_other_final_states_need_no_proposal_and_end_the_live_one(root, ledger, records, to):
    propose(root)
    ledger.close(GOAL, RUN, scene.seen(root), scene.closing(to, None))
    assert records.goal(GOAL).goal.status == to
    assert records.proposal(RUN) is None


def test_a_run_is_made_where_the_goal_has_none(tmp_path):
    root = str(tmp_path)
    text = scene.TEXT.replace("  run_id: r1\n", "")
    scene.start(root, text)
    made = f"2026-03-01T101500Z-{GOAL}"
    scene.ledger(root).move(GOAL, "", scene.seen(root), scene.move())
    assert scene.records(root).goal(GOAL).goal.run_id == made
    assert events(root, made)[-1]["type"] == "transition"


def test_an_approval_proves_a_criterion_and_leaves_the_status(root, ledger, records):
    scene.CHANGES["approve"][1](root)
    goal = records.goal(GOAL).goal
    assert (goal.status, goal.criterion("AC2").status) == ("active", "pass")
    assert goal.criterion("AC2").last_result == "approved by A Tester"
    assert "type: evidence-captured" in journal(root)


def test_the_journal_is_the_goals_own_where_it_lies_in_the_folder(tmp_path):
    text = scene.TEXT.replace("  issue: 4\n", "  journal: .decisions/mine.md\n")
    scene.start(str(tmp_path), text)
    assert (tmp_path / ".decisions/mine.md").exists()
    text = text.replace(".decisions/mine.md", "src/evil.md").replace("issue-4", "other")
    text = text.replace("run_id: r1", "run_id: r2")
    made = scene.Artifact("goal-created", {"goal_id": "other", "source": "x"})
    scene.ledger(str(tmp_path)).contracts.create_goal(
        text, "r2", None, made, {"type": "created"}, lambda: None
    )
    assert (tmp_path / ".decisions/goal-other.md").exists()
    assert not (tmp_path / "src").exists()


def test_a_broken_journal_refuses_the_change_and_nothing_is_written(root, ledger):
    propose(root)
    with open(f"{root}/{JOURNAL}", "w") as file:
        file.write("---\nissue: [4\n---\nbody\n")
    before = scene.tree(root)
    for act in (
        lambda: ledger.write_turn(GOAL, RUN, scene.seen(root), scene.turn(2)),
        lambda: ledger.close(GOAL, RUN, scene.seen(root), scene.closing()),
        lambda: ledger.update_lifecycle(GOAL, {"status": "blocked"}, merge=True),
        lambda: ledger.contracts.record_foreign(RUN, scene.foreign()),
    ):
        with pytest.raises(RefusedError) as caught:
            act()
        assert caught.value.code == "broken_journal"
        assert scene.tree(root) == before


@pytest.mark.parametrize("written", [False, True], ids=["nothing written", "written, not synced"])
def test_a_journal_that_cannot_be_written_takes_the_decision_back(
    root, ledger, monkeypatch, written
):
    """Unless the entry is there: then the change is decided, and the next writer completes it."""
    from flow.adapters.journal import store as journals

    real = journals.append

    def append(*args, **kwargs):
        if written:
            real(*args, **kwargs)
        raise StorageError("cannot write it: No space left on device", file=JOURNAL)

    before, start = scene.tree(root), scene.seen(root)
    with monkeypatch.context() as patch:
        patch.setattr(journals, "append", append)
        with pytest.raises(StorageError):
            ledger.move(GOAL, RUN, start, scene.move())
    if not written:
        assert scene.tree(root) == before
        return
    assert scene.ledger(root).finish(GOAL)
    assert "status: blocked" in goal_text(root)
    assert [event["type"] for event in events(root)].count("transition") == 1
    assert journal(root).count("to: blocked") == 1


@pytest.mark.parametrize(
    "rel",
    [
        GOAL_FILE,
        JOURNAL,
        ".flow/goals",
        ".flow/runs",
        ".decisions",
        f".flow/runs/{RUN}/events.jsonl",
        f".flow/runs/.locks/goal-{GOAL}.lock",
        f".flow/runs/.locks/run-{RUN}.lock",
    ],
)
def test_a_symlink_where_flow_writes_is_refused_by_name(root, tmp_path, ledger, rel):
    seen = scene.seen(root)
    moved = tmp_path / "moved"
    os.rename(f"{root}/{rel}", moved)
    os.symlink(moved, f"{root}/{rel}")
    before = scene.tree(str(moved)) if moved.is_dir() else moved.read_bytes()
    with pytest.raises(RefusedError) as caught:
        ledger.write_turn(GOAL, RUN, seen, scene.turn())
    assert caught.value.code == "unsafe_path"
    assert rel in str(caught.value)
    if not rel.endswith("events.jsonl"):  # refused once decided: the rest is finished later
        assert (scene.tree(str(moved)) if moved.is_dir() else moved.read_bytes()) == before


def test_a_goal_that_cannot_be_edited_safely_is_refused(root, ledger, monkeypatch):
    from flow.adapters.contracts import formats

    real = formats.edit
    monkeypatch.setattr(
        formats, "edit", lambda *a, **k: real(*a, **k).replace("It works", "It is great")
    )
    before = scene.tree(root)
    with pytest.raises(StateError) as caught:
        ledger.move(GOAL, RUN, scene.seen(root), scene.move())
    assert caught.value.code == "not_editable"
    assert scene.tree(root) == before


def test_an_edit_by_hand_between_reading_and_writing_is_kept(root, ledger, monkeypatch):
    seen = scene.seen(root)
    mine = goal_text(root) + "# my own words\n"
    real = files.staged

    def staged(top, rel, data, **more):
        if rel == GOAL_FILE:
            with open(f"{root}/{GOAL_FILE}", "w") as file:
                file.write(mine)
        return real(top, rel, data, **more)

    monkeypatch.setattr(files, "staged", staged)
    with pytest.raises(StateError, match="edited while Flow was writing"):
        ledger.move(GOAL, RUN, seen, scene.move())
    assert goal_text(root) == mine
    assert journal(root).count("goal-evaluation") == 0


# --- the second door -----------------------------------------------------------------------------


def test_update_lifecycle_replaces_the_block(root, ledger, records):
    propose(root)
    status = ledger.update_lifecycle(
        GOAL, {"status": "waiting_for_user", "turns_evaluated": 5}, from_status="active"
    )
    assert status == "waiting_for_user"
    assert goal_text(root).endswith(
        "lifecycle:\n  status: waiting_for_user   # now\n  turns_evaluated: 5\n# the end\n"
    )
    entry = journal(root).rpartition("  - type:")[2]
    for line in ("result: needs_human_review", "from: active", "to: waiting_for_user"):
        assert line in entry
    assert "how: flow-goal-record.sh" in entry
    assert events(root)[-1]["to"] == "waiting_for_user"
    assert records.proposal(RUN) is not None


def test_update_lifecycle_merges_and_counts(root, ledger):
    ledger.write_turn(GOAL, RUN, scene.seen(root), scene.turn())
    before = goal_text(root)
    ledger.update_lifecycle(GOAL, {"status": "blocked"}, merge=True, increment_turns=True)
    assert changed_lines(before, goal_text(root)) == [
        "-   status: active   # now",
        "+   status: blocked   # now",
        "-   turns_evaluated: 1",
        "+   turns_evaluated: 2",
    ]


@pytest.mark.parametrize(
    ("block", "more", "named"),
    [
        ({}, {}, "L: "),
        ([1], {}, "L: "),
        ({"turns_evaluated": 1}, {}, "L: status: is missing"),
        ({"status": "done"}, {"merge": True}, "L: status: 'done' is not one of draft"),
        ({"status": None}, {"merge": True}, "L: status: nothing is not one of"),
        ({"status": "blocked", "turns_evaluated": "x"}, {}, "L: lifecycle.turns_evaluated"),
        ({"last_evaluation": {"result": "great"}}, {"merge": True}, "L: lifecycle.last_evaluation"),
    ],
)
def test_update_lifecycle_refuses_a_bad_block(root, ledger, block, more, named):
    before = scene.tree(root)
    with pytest.raises(ContractError) as caught:
        ledger.update_lifecycle(GOAL, block, file="L", **more)
    assert named in str(caught.value)
    assert scene.tree(root) == before


def test_update_lifecycle_compares_and_uses_the_proposal_up(root, ledger, records):
    propose(root)
    with pytest.raises(StateError, match="is active, not blocked"):
        ledger.update_lifecycle(GOAL, {"status": "achieved"}, from_status="blocked", merge=True)
    ledger.update_lifecycle(GOAL, {"status": "achieved"}, from_status="active", merge=True)
    assert records.goal(GOAL).goal.status == "achieved"
    assert records.proposal(RUN) is None
    with pytest.raises(StateError, match="cannot become active"):
        ledger.update_lifecycle(GOAL, {"status": "active"}, merge=True)


# --- creating ------------------------------------------------------------------------------------


def test_create_writes_all_and_never_over_another(root, ledger, records):
    assert records.baseline(RUN) == scene.BASELINE
    assert records.goal(GOAL).goal.status == "active"
    assert "type: goal-created" in journal(root)
    assert [event["type"] for event in events(root)] == ["created"]
    before = scene.tree(root)
    with pytest.raises(RefusedError) as caught:
        scene.start(root)
    assert caught.value.code == "exists"
    assert scene.tree(root) == before


def test_a_run_that_another_goal_has_pinned_is_refused(root, ledger):
    other = scene.TEXT.replace("issue-4", "other")
    made = scene.Artifact("goal-created", {"goal_id": "other", "source": "x"})
    before = scene.tree(root)
    with pytest.raises(RefusedError, match="run r1 belongs to goal issue-4"):
        ledger.contracts.create_goal(
            other, RUN, scene.BASELINE, made, {"type": "created"}, pytest.fail
        )
    with pytest.raises(RefusedError):
        ledger.write_baseline("other", RUN, scene.BASELINE)
    assert scene.tree(root) == before


@pytest.mark.parametrize(
    "text", ["", "x: 1", scene.TEXT.replace("issue-4", "../x"), scene.TEXT + "\udcff"]
)
def test_create_refuses_what_is_no_goal(tmp_path, text):
    with pytest.raises(ContractError):
        scene.start(str(tmp_path), text)
    assert scene.tree(str(tmp_path)) == {}


# --- evidence ------------------------------------------------------------------------------------


def test_evidence_is_the_output_and_a_sidecar_that_names_it(root, ledger, records):
    raw = scene.raw(root)
    assert ledger.record_evidence(scene.document(), raw) == ("evidence-ac1-eval-1", SIDECAR)
    assert not os.path.exists(raw.path), "the source is consumed"
    found = records.evidence_named(RUN, "evidence-ac1-eval-1")
    body = found.document["evidence"]
    assert found.output_ref == "evidence-ac1-eval-1.txt"
    assert (body["output_sha256"], body["output_bytes"]) == (raw.sha256, raw.size)
    assert files.digest(root, SIDECAR.replace(".evidence.yaml", ".txt")) == raw.sha256
    event = events(root)[-1]
    assert (event["type"], event["by"]) == ("evidence", "evaluator")
    assert event["evidence_id"] == found.id
    assert event["sidecar_sha256"] == files.digest(root, SIDECAR)
    assert event["output_sha256"] == raw.sha256


def test_a_parsed_sidecar_is_kept_at_once_or_when_there_is_time(root, tmp_path):
    folder = str(tmp_path / "cache")

    def kept() -> int:
        return len(os.listdir(folder)) if os.path.isdir(folder) else 0

    scene.ledger(root, cache_dir=folder).record_evidence(scene.document(), suffix=True)
    assert kept() == 1
    ledger = scene.ledger(root, cache_dir=folder)
    ledger.put_off()
    ids = [ledger.record_evidence(scene.document(), suffix=True)[0] for _ in range(2)]
    assert kept() == 1
    ledger.catch_up()
    assert kept() == 3
    ledger.catch_up()
    assert kept() == 3, "each is kept once"
    for evidence_id in ids:
        path = layout.evidence_file(RUN, evidence_id)
        data = files.read_bytes(root, path)
        document, warnings = contracts_cache.load_checked(folder, data, "evidence")
        assert (document, warnings) == (formats.parse_yaml(data, file=path), [])


def test_a_taken_id_is_refused_or_gets_a_suffix(root, ledger):
    ledger.record_evidence(scene.document(), scene.raw(root))
    before = scene.tree(root)
    raw = scene.raw(root, b"other")
    with pytest.raises(RefusedError, match="evidence-ac1-eval-1 is recorded already") as caught:
        ledger.record_evidence(scene.document(), raw)
    assert caught.value.code == "exists"
    with pytest.raises(RefusedError):
        ledger.record_evidence(scene.document())
    os.unlink(raw.path)
    assert scene.tree(root) == before
    ids = [ledger.record_evidence(scene.document(), suffix=True)[0] for _ in range(3)]
    assert ids == [f"evidence-ac1-eval-1-{n}" for n in (2, 3, 4)]


def test_a_suffix_keeps_a_long_id_within_its_limit(root, ledger):
    long = "e" * 200
    ledger.record_evidence(scene.document(long))
    assert ledger.record_evidence(scene.document(long), suffix=True)[0] == "e" * 198 + "-2"


def test_an_output_without_a_sidecar_neither_blocks_nor_counts(root, ledger, records):
    orphan = SIDECAR.replace(".evidence.yaml", ".txt")
    files.publish_new(root, orphan, b"left by a crash")
    assert records.evidence(RUN) == ((), ())
    ledger.record_evidence(scene.document())
    assert not os.path.exists(f"{root}/{orphan}"), "it would be taken for this sidecar's"


@pytest.mark.parametrize(
    "change",
    [
        {"id": "../x"},
        {"id": "A"},
        {"id": "x\n"},
        {"id": ""},
        {"id": "e" * 201},
        {"run_id": "a/../b"},
        {"run_id": ".."},
        {"goal": "x/y"},
        {"goal": "\u202ex"},
    ],
)
def test_hostile_ids_touch_nothing(root, ledger, change):
    document = scene.document()
    document["metadata"].update(change)
    before = scene.tree(root)
    with pytest.raises(InputError):
        ledger.record_evidence(document, scene.raw(root))
    os.unlink(f"{root}/.flow/runs/{RUN}/raw.out")
    with pytest.raises(InputError):
        ledger.contracts.record_foreign(RUN, document)
    assert scene.tree(root) == before


def test_a_sidecar_that_breaks_its_format_touches_nothing(root, ledger):
    before = scene.tree(root)
    raw = scene.raw(root)
    with pytest.raises(ContractError):
        ledger.record_evidence(scene.document(limitations=[]), raw)
    os.unlink(raw.path)
    assert scene.tree(root) == before


@pytest.mark.parametrize("what", ["sidecar", "output", "source"])
def test_a_symlink_at_an_evidence_path_is_refused(root, tmp_path, ledger, what):
    target = tmp_path / "target"
    target.write_text("theirs")
    raw = scene.raw(root)
    if what == "source":
        os.unlink(raw.path)
        os.symlink(target, raw.path)
    else:
        rel = SIDECAR if what == "sidecar" else SIDECAR.replace(".evidence.yaml", ".txt")
        os.makedirs(f"{root}/{os.path.dirname(SIDECAR)}", exist_ok=True)
        os.symlink(target, f"{root}/{rel}")
    with pytest.raises(RefusedError) as caught:
        ledger.record_evidence(scene.document(), raw)
    assert caught.value.code == "unsafe_path"
    assert target.read_text() == "theirs"


def test_foreign_evidence_is_kept_shown_journalled_and_never_counted(
    root, ledger, records, tmp_path
):
    output = tmp_path / "out.log"
    output.write_bytes(b"\x1b[31m\xff\x00 raw")
    found = ledger.contracts.record_foreign(RUN, scene.foreign(), str(output))
    path = SIDECAR.replace("evidence-ac1-eval-1", "theirs-1")
    assert found == ("theirs-1", path, ())
    assert output.exists()
    assert files.read_bytes(root, path.replace(".evidence.yaml", ".txt")) == output.read_bytes()
    assert [evidence.id for evidence in records.evidence(RUN)[0]] == ["theirs-1"]
    assert records.counted(path) is None
    entry = journal(root).rpartition("  - type:")[2]
    assert "evidence-captured" in entry
    assert "evidence_id: theirs-1" in entry
    assert events(root)[-1]["by"] == "caller"
    with pytest.raises(RefusedError) as caught:
        ledger.contracts.record_foreign(RUN, scene.foreign(), str(output))
    assert caught.value.code == "exists"


@pytest.mark.parametrize("name", [EVALUATOR, APPROVER])
def test_foreign_evidence_cannot_bear_flows_name(root, ledger, name):
    document = scene.foreign()
    document["metadata"]["created_by"] = name
    before = scene.tree(root)
    with pytest.raises(InputError) as caught:
        ledger.contracts.record_foreign(RUN, document, file="E")
    assert caught.value.fault.key == "metadata.created_by"
    assert caught.value.fault.file == "E"
    assert scene.tree(root) == before


@pytest.mark.parametrize(
    ("name", "with_output", "accepted"),
    [
        ("theirs-1.txt", True, True),
        ("theirs-1.txt", False, False),
        ("other.txt", True, False),
        ("../theirs-1.txt", True, False),
        ("other.txt", False, False),
    ],
)
def test_foreign_output_has_one_name(root, tmp_path, ledger, name, with_output, accepted):
    output = tmp_path / "out.log"
    output.write_text("x")
    document = scene.foreign(output_ref=name)
    given = str(output) if with_output else None
    if accepted:
        ledger.contracts.record_foreign(RUN, document, given)
        return
    before = scene.tree(root)
    with pytest.raises(InputError) as caught:
        ledger.contracts.record_foreign(RUN, document, given)
    assert "output_ref" in str(caught.value)
    assert scene.tree(root) == before


@pytest.mark.parametrize(
    ("name", "accepted"),
    [
        ("theirs-AC1.txt", True),
        ("theirs-ac1.txt", True),
        ("evidence/theirs-AC1.txt", True),
        ("evidence/theirs-ac1.txt", True),
        (f".flow/runs/{RUN}/evidence/theirs-AC1.txt", True),
        ("THEIRS-AC1.txt", False),
        ("evidence/other.txt", False),
        ("evidence/evidence/theirs-AC1.txt", False),
        ("evidence//theirs-AC1.txt", False),
        ("evidence/../theirs-AC1.txt", False),
        ("evidence/..", False),
        ("evidence/", False),
        ("../evidence/theirs-AC1.txt", False),
        ("/evidence/theirs-AC1.txt", False),
        ("./evidence/theirs-AC1.txt", False),
        (f"/.flow/runs/{RUN}/evidence/theirs-AC1.txt", False),
        (".flow/runs/r2/evidence/theirs-AC1.txt", False),
        (f".flow/runs/{RUN}/theirs-AC1.txt", False),
        ("evidence\\theirs-AC1.txt", False),
        ("other/theirs-AC1.txt", False),
    ],
)
def test_names_as_other_tools_write_them_are_taken(root, tmp_path, ledger, records, name, accepted):
    output = tmp_path / "out.log"
    output.write_text("x")
    document = scene.foreign("theirs-AC1", output_ref=name)
    before = scene.tree(root)
    if not accepted:
        with pytest.raises(InputError) as caught:
            ledger.contracts.record_foreign(RUN, document, str(output))
        assert "output_ref" in str(caught.value)
        assert scene.tree(root) == before
        return
    evidence_id, path, warnings = ledger.contracts.record_foreign(RUN, document, str(output))
    assert (evidence_id, path.rpartition("/")[2]) == ("theirs-ac1", "theirs-ac1.evidence.yaml")
    kept = "the evidence id theirs-AC1 is kept as theirs-ac1"
    moved = () if name == "theirs-ac1.txt" else (f"the output {name} is kept as theirs-ac1.txt",)
    assert warnings == (kept, *moved)
    (found,), _ = records.evidence(RUN)
    assert (found.id, found.output_ref) == ("theirs-ac1", "theirs-ac1.txt")
    assert document["metadata"]["id"] == "theirs-AC1"  # the caller's own stays as it is
    with pytest.raises(RefusedError) as caught:
        ledger.contracts.record_foreign(RUN, scene.foreign("THEIRS-ac1"), None)
    assert caught.value.code == "exists"


@pytest.mark.parametrize("given", ["THEIRS-\u212a", "THEIRS-É", "../THEIRS", "THEIRS.1", "A" * 201])
def test_only_plain_capitals_are_folded(root, ledger, given):
    before = scene.tree(root)
    with pytest.raises(InputError):
        ledger.contracts.record_foreign(RUN, scene.foreign(given))
    assert scene.tree(root) == before


def test_foreign_evidence_for_another_run_is_refused(root, ledger):
    with pytest.raises(InputError, match="is not the run r2"):
        ledger.contracts.record_foreign("r2", scene.foreign())


@pytest.mark.parametrize("kind", ["absent", "link", "fifo", "folder"])
def test_a_foreign_output_that_is_no_file_is_refused(root, tmp_path, ledger, kind):
    output = tmp_path / "out.log"
    if kind == "link":
        output.symlink_to("/etc/passwd")
    elif kind == "fifo":
        os.mkfifo(output)
    elif kind == "folder":
        output.mkdir()
    before = scene.tree(root)
    with pytest.raises((RefusedError, StorageError)):
        ledger.contracts.record_foreign(RUN, scene.foreign(), str(output))
    assert scene.tree(root) == before


@pytest.mark.parametrize("goal", ["absent", "malformed"])
def test_foreign_evidence_without_a_goal_goes_to_the_days_journal(root, ledger, goal):
    if goal == "absent":
        os.unlink(f"{root}/{GOAL_FILE}")
    else:
        files.replace(root, GOAL_FILE, b"][")
    ledger.contracts.record_foreign(RUN, scene.foreign())
    assert os.path.exists(f"{root}/.decisions/session-2026-03-01.md")


# --- finishing -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{",
        b'{"version": 9}',
        b"[" * 100_000,
        json.dumps({"version": 1, "artifact": {"type": "x", "fields": {}}, "key": 1}).encode(),
    ],
)
def test_an_intent_that_cannot_be_read_is_named_and_nothing_done(root, ledger, data):
    files.replace(root, f".flow/runs/.pending/{GOAL}.json", data)
    before = scene.tree(root)
    for act in (
        lambda: ledger.finish(GOAL),
        lambda: ledger.move(GOAL, RUN, scene.seen(root), scene.move()),
    ):
        with pytest.raises(RefusedError) as caught:
            act()
        assert caught.value.code == "broken_pending"
        assert f".pending/{GOAL}.json" in str(caught.value)
    assert scene.tree(root) == before


@pytest.mark.parametrize(
    "change",
    [
        {"journal": "src/code.py"},
        {"journal": "../x.md"},
        {"goal_id": "other"},
        {"run_id": "../../x"},
        {"text": "x: 1"},
        {"text": scene.TEXT.replace("issue-4", "other")},
    ],
)
def test_an_intent_may_write_only_what_a_change_of_its_goal_writes(root, ledger, change):
    intent = transaction.Intent(
        key="k", goal_id=GOAL, run_id=RUN, at=NOW, journal=JOURNAL, issue=4, branch="main",
        artifact=scene.artifact(), event_type="x", event={}, text=scene.TEXT,
        before=files.digest(root, GOAL_FILE),
    )  # fmt: skip
    document = {"version": 1, **intent._asdict(), "artifact": intent.artifact._asdict(), **change}
    files.replace(root, f".flow/runs/.pending/{GOAL}.json", json.dumps(document).encode())
    before = scene.tree(root)
    with pytest.raises(FlowError):
        ledger.finish(GOAL)
    assert scene.tree(root) == before


def test_nothing_to_finish_makes_nothing(tmp_path):
    assert not scene.ledger(str(tmp_path)).finish(GOAL)
    assert scene.tree(str(tmp_path)) == {}
    assert not os.listdir(tmp_path)


# --- two at once ---------------------------------------------------------------------------------

WORKER = """
import sys
from flow.errors import FlowError
from tests.support import ledger_scene as scene
from tests.support.patience import patient_locks
patient_locks()
what, root, me = sys.argv[1:]
ledger = scene.ledger(root, timeout=1200)
done = 0
for n in range(8):
    if what == "count":
        block = {"current_activity": me}
        ledger.update_lifecycle(scene.GOAL, block, merge=True, increment_turns=True)
        done += 1
    elif what == "evidence":
        ledger.record_evidence(scene.document(), suffix=True)
        done += 1
    else:
        seen = scene.seen(root)
        try:
            ledger.write_turn(scene.GOAL, scene.RUN, seen, scene.turn(seen.turns_evaluated + 1))
            done += 1
        except FlowError as error:
            assert error.code == "moved", error
print(done)
"""


@pytest.mark.parametrize("what", ["count", "evidence", "turns"])
def test_processes_at_once_lose_nothing(root, records, what):
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, what, root, str(n)], stdout=subprocess.PIPE, text=True
        )
        for n in range(4)
    ]
    done = sum(int(worker.communicate(timeout=10 * LONG)[0]) for worker in workers)
    found = events(root)
    assert [event["seq"] for event in found] == list(range(1, len(found) + 1))
    assert len(found) == done + 1
    if what == "evidence":
        assert done == 32
        assert len(records.evidence(RUN)[0]) == 32
    else:
        assert done == 32 if what == "count" else done > 0
        assert records.goal(GOAL).goal.turns_evaluated == done
        assert journal(root).count("type: goal-evaluation") == done


def test_a_lock_held_elsewhere_is_waited_for_and_named(root):
    from flow.adapters.fs import locks

    with locks.exclusive(root, f".flow/runs/.locks/goal-{GOAL}.lock", quick=True):
        code = (
            "import sys\nfrom tests.support import ledger_scene as scene\n"
            "from flow.errors import LockTimeout\n"
            "try:\n    scene.ledger(sys.argv[1], timeout=0.2).move("
            "scene.GOAL, scene.RUN, scene.seen(sys.argv[1]), scene.move())\n"
            "except LockTimeout as error:\n    print(error)\n"
        )
        child = subprocess.run(
            [sys.executable, "-c", code, root], capture_output=True, text=True, timeout=LONG
        )
    assert f"goal-{GOAL}.lock" in child.stdout, child.stderr


def test_the_timeout_is_an_error_of_the_outside():
    assert (LockTimeout.exit_code, LockTimeout.helper_code) == (5, 2)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="asks which file is synced")
@pytest.mark.parametrize("printed", [b"", b"text"])
def test_the_outputs_name_is_synced_before_the_entry(root, ledger, monkeypatch, printed):
    """Of an output without bytes it is all there is to sync."""
    output = f"{root}/{SIDECAR.replace('.evidence.yaml', '.txt')}"
    synced = []

    def sync(fd):
        synced.append((os.readlink(f"/proc/self/fd/{fd}"), os.path.exists(output)))

    raw = scene.raw(root, printed)
    monkeypatch.setattr(os, "fsync", sync)
    ledger.record_evidence(scene.document("evidence-ac1-eval-1"), raw)
    folder = synced.index((os.path.dirname(output), True))
    assert folder < synced.index((f"{root}/.flow/runs/{RUN}/ledger.jsonl", True))


def test_raw_output_may_be_empty(root, ledger, records):
    raw = scene.raw(root, b"")
    ledger.record_evidence(scene.document(), RawOutput(raw.path, raw.sha256, 0))
    assert records.evidence(RUN)[1] == ()
