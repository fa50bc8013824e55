"""Reading the ledger: what counts, what is named, what is never taken for absent."""

from __future__ import annotations

import hashlib
import json
import os

import pytest

from flow.adapters.chain import event_log
from flow.adapters.chain.run_record import RunRecord
from flow.adapters.fs import files
from flow.adapters.ledger import reader as ledger_reader
from flow.core.evidence.model import APPROVER, EVALUATOR
from flow.errors import ContractError, InputError, RefusedError
from tests.support import ledger_scene as scene
from tests.support.ledger_scene import GOAL, GOAL_FILE, RUN, SIDECAR

OUTPUT = SIDECAR.replace(".evidence.yaml", ".txt")
EVENTS = f".flow/runs/{RUN}/events.jsonl"
VERDICT = f".flow/runs/{RUN}/last-verdict.json"


@pytest.fixture
def root(tmp_path):
    scene.start(str(tmp_path))
    return str(tmp_path)


@pytest.fixture
def reader(root):
    return ledger_reader.FileRecords(scene.session(root))


def record(root, evidence_id="evidence-ac1-eval-1", data=b"printed", **body):
    document = scene.document(evidence_id, **body)
    return scene.ledger(root).record_evidence(document, scene.raw(root, data))[1]


def put(root, rel, data):
    if os.path.lexists(f"{root}/{rel}"):
        os.unlink(f"{root}/{rel}")
    files.publish_new(root, rel, data)


# --- goals ---------------------------------------------------------------------------------------


def test_a_goal_is_read_with_its_contract(root, reader):
    found = reader.goal(GOAL)
    assert (found.goal.id, found.goal.status, found.file) == (GOAL, "active", GOAL_FILE)
    assert found.contract == found.goal.digest({})
    assert found.seen == ("active", found.contract, 0)


def test_an_absent_goal_is_said_to_be(reader):
    with pytest.raises(InputError) as caught:
        reader.goal("no-such")
    assert caught.value.code == "not_found"
    assert ".flow/goals/no-such.goal.yaml" in str(caught.value)
    assert "flow goal list" in str(caught.value)


@pytest.mark.parametrize("goal_id", ["../x", "", "A", "x/y", "a\n", "x" * 65, "..", "\u202ex"])
def test_path_shaped_ids(reader, goal_id):
    with pytest.raises(InputError) as caught:
        reader.goal(goal_id)
    assert caught.value.code == "invalid_id"


@pytest.mark.parametrize(
    "data", [b"", b"x", b"a: 1\n---\nb: 2\n", b"\xff\xfe", b"a: " + b"x" * 2**20]
)
def test_a_malformed_goal_is_one_kind_of_error(root, reader, data):
    put(root, GOAL_FILE, data)
    with pytest.raises(ContractError, match=r"\.goal\.yaml"):
        reader.goal(GOAL)


def test_a_goal_under_another_name_is_refused(root, reader):
    put(root, ".flow/goals/other.goal.yaml", scene.TEXT.encode())
    with pytest.raises(ContractError, match=r"metadata\.id"):
        reader.goal("other")


def test_a_goal_that_is_no_regular_file(root, reader, tmp_path):
    os.rename(f"{root}/{GOAL_FILE}", tmp_path / "moved")
    os.symlink(tmp_path / "moved", f"{root}/{GOAL_FILE}")
    with pytest.raises(RefusedError, match="is a symbolic link"):
        reader.goal(GOAL)
    os.unlink(f"{root}/{GOAL_FILE}")
    os.mkfifo(f"{root}/{GOAL_FILE}")
    with pytest.raises(RefusedError, match="is not a regular file"):
        reader.goal(GOAL)


def test_a_change_of_the_file_is_seen_though_goals_are_kept(root, reader):
    reader.goal(GOAL)
    put(root, GOAL_FILE, scene.TEXT.replace("status: active ", "status: blocked ").encode())
    assert reader.goal(GOAL).goal.status == "blocked"


def test_the_contract_covers_the_projects_rubrics_that_are_named(root, reader):
    text = scene.TEXT.replace("    - id: AC2\n", "    - id: AC2\n      rubric: clarity\n")
    put(root, GOAL_FILE, text.encode())
    bare = reader.goal(GOAL).contract
    put(root, ".flow/rubrics/clarity.yaml", b"one")
    one = reader.goal(GOAL)
    assert one.contract == one.goal.digest({"clarity": hashlib.sha256(b"one").hexdigest()})
    put(root, ".flow/rubrics/clarity.yaml", b"two")
    put(root, ".flow/rubrics/other.yaml", b"not named")
    assert len({bare, one.contract, reader.goal(GOAL).contract}) == 3


def test_goal_ids_are_listed_without_reading_them(root, reader):
    put(root, ".flow/goals/broken.goal.yaml", b"]")
    for name in ("UPPER.goal.yaml", "x.yaml", ".hidden.goal.yaml", "-x.goal.yaml", "a.b.goal.yaml"):
        put(root, f".flow/goals/{name}", b"")
    assert reader.goal_ids() == ("broken", GOAL)
    assert ledger_reader.FileRecords(RunRecord(root + "/.decisions")).goal_ids() == ()


def test_many_goals(tmp_path):
    (tmp_path / ".flow/goals").mkdir(parents=True)
    for n in range(3000):
        (tmp_path / f".flow/goals/g{n}.goal.yaml").touch()
    assert len(ledger_reader.FileRecords(RunRecord(str(tmp_path))).goal_ids()) == 3000


# --- evidence ------------------------------------------------------------------------------------


def test_evidence_in_order_of_creation(root, reader):
    for evidence_id, at in (("b", 2), ("c", 1), ("a", 2)):
        document = scene.document(evidence_id)
        document["metadata"]["created_at"] = f"2026-03-01T10:15:0{at}Z"
        scene.ledger(root).record_evidence(document)
    assert [evidence.id for evidence in reader.evidence(RUN)[0]] == ["c", "a", "b"]
    assert reader.evidence("no-such-run") == ((), ())


DAMAGE = {
    "another output of the same length": lambda root: put(root, OUTPUT, b"PRINTED"),
    "a cut output": lambda root: put(root, OUTPUT, b""),
    "no output": lambda root: os.unlink(f"{root}/{OUTPUT}"),
    "an empty sidecar": lambda root: put(root, SIDECAR, b""),
    "half a sidecar": lambda root: put(root, SIDECAR, b"apiVersion: flow.synapti.ai/v1\nki"),
    "a sidecar of another id": lambda root: put(
        root, SIDECAR, files.read_bytes(root, SIDECAR).replace(b"eval-1", b"eval-2")
    ),
    "a sidecar of another run": lambda root: put(
        root, SIDECAR, files.read_bytes(root, SIDECAR).replace(b"run_id: r1", b"run_id: r2")
    ),
    "a linked sidecar": lambda root: (
        os.rename(f"{root}/{SIDECAR}", f"{root}/x"),
        os.symlink(f"{root}/x", f"{root}/{SIDECAR}"),
    ),
    "a linked output": lambda root: (
        os.rename(f"{root}/{OUTPUT}", f"{root}/x"),
        os.symlink(f"{root}/x", f"{root}/{OUTPUT}"),
    ),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damaged_evidence_is_named_and_never_used(root, reader, damage):
    record(root)
    record(root, "other-1")
    damage(root)
    found, warnings = reader.evidence(RUN)
    assert [evidence.id for evidence in found] == ["other-1"]
    assert len(warnings) >= 1
    assert all("evidence-ac1-eval-1" in warning for warning in warnings)
    assert reader.evidence_named(RUN, "evidence-ac1-eval-1") is None
    assert reader.counted(SIDECAR) is None


def test_an_output_in_another_folder_is_never_read(root, reader):
    document = scene.document()
    document["evidence"]["output_ref"] = "../../../../etc/passwd"
    from flow.adapters.contracts import formats

    try:
        put(root, SIDECAR, formats.dump_yaml(document).encode())
    except ContractError:
        pytest.fail("the writer should not be the one to stop this")
    found, warnings = reader.evidence(RUN)
    assert found == ()
    assert "output_ref" in warnings[0]


def test_one_sidecar_is_one_file(root, reader, monkeypatch):
    path = record(root)
    for n in range(2000):
        put_quick(root, f".flow/runs/{RUN}/evidence/junk-{n}.evidence.yaml")

    def never(*args, **kwargs):
        raise AssertionError("it lists the folder")

    monkeypatch.setattr(os, "scandir", never)
    monkeypatch.setattr(os, "listdir", never)
    assert reader.evidence_named(RUN, "evidence-ac1-eval-1").id == "evidence-ac1-eval-1"
    assert reader.counted(path) is not None
    record(root, "evidence-ac1-eval-2")
    scene.ledger(root).record_evidence(scene.document(), suffix=True)
    scene.ledger(root).write_turn(GOAL, RUN, scene.seen(root), scene.turn())


def put_quick(root, rel):
    with open(f"{root}/{rel}", "wb"):
        pass


@pytest.mark.parametrize(
    ("created_by", "counts"),
    [(EVALUATOR, True), (APPROVER, True), ("ci", False), (None, False)],
)
def test_only_flows_own_evidence_counts(root, reader, created_by, counts):
    document = scene.document()
    document["metadata"]["created_by"] = created_by
    if created_by is None:
        del document["metadata"]["created_by"]
    path = scene.ledger(root).record_evidence(document, scene.raw(root))[1]
    assert path == SIDECAR
    assert (reader.counted(path) is not None) is counts
    assert len(reader.evidence(RUN)[0]) == 1, "kept and shown in any case"


def test_a_sidecar_written_by_hand_under_flows_name_does_not_count(root, reader):
    from flow.adapters.contracts import formats

    put(root, SIDECAR, formats.dump_yaml(scene.document()).encode())
    assert len(reader.evidence(RUN)[0]) == 1
    assert reader.counted(SIDECAR) is None


def test_a_sidecar_altered_by_hand_does_not_count(root, reader):
    path = record(root, exit_code=1, outcome="failed")
    assert reader.counted(path) is not None
    text = files.read_bytes(root, path)
    put(root, path, text.replace(b"outcome: failed", b"outcome: passed"))
    assert len(reader.evidence(RUN)[0]) == 1
    assert reader.counted(path) is None


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_what_is_damaged_between_two_questions_is_seen_by_the_second(root, reader, damage):
    path = record(root)
    with reader.together(RUN):
        assert reader.counted(path) is not None
        damage(root)
        assert reader.counted(path) is None


@pytest.mark.parametrize(("mentioned", "counts"), [("exit_code: 0", True), ("exit_code: 9", False)])
def test_one_that_does_not_mention_what_is_asked_for_is_left_alone(
    root, reader, mentioned, counts, monkeypatch
):
    path = record(root)
    if not counts:
        monkeypatch.setattr(files, "digest", lambda *_, **__: pytest.fail("its output was read"))
    assert (reader.counted(path, mentioned) is not None) is counts
    assert (reader.counted(path, "not in it", mentioned) is not None) is counts


def test_an_output_altered_together_with_its_sidecar_does_not_count(root, reader):
    path = record(root)
    text = files.read_bytes(root, path)
    put(root, OUTPUT, b"PRINTED")
    old, new = (hashlib.sha256(data).hexdigest().encode() for data in (b"printed", b"PRINTED"))
    put(root, path, text.replace(old, new))
    assert len(reader.evidence(RUN)[0]) == 1
    assert reader.counted(path) is None


@pytest.mark.parametrize(
    "reference",
    [
        "",
        "x",
        "/etc/passwd",
        SIDECAR + "\n",
        SIDECAR.replace(RUN, ".."),
        SIDECAR.replace(RUN, "no-such-run"),
        SIDECAR.replace("evidence-ac1", "../evidence/evidence-ac1"),
        SIDECAR.replace("eval-1", "eval-9"),
        "./" + SIDECAR,
    ],
)
def test_a_reference_to_something_else_counts_for_nothing(root, reader, reference):
    record(root)
    assert reader.counted(reference) is None


def test_the_newest_event_of_a_type_names_what_counts(root, reader):
    record(root, "one")
    record(root, "two")
    assert reader.counted_last(RUN, "guards-approved") is None
    for name in ("one", "two"):
        event_log.append(root, RUN, GOAL, "guards-approved", {"evidence_id": name}, at=scene.NOW)
    assert reader.counted_last(RUN, "guards-approved").id == "two"
    for named in ("three", "../x", 7, None):
        event_log.append(root, RUN, GOAL, "guards-approved", {"evidence_id": named}, at=scene.NOW)
        assert reader.counted_last(RUN, "guards-approved") is None


# --- the run's JSON ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b'"x"', b"\xff", b"[" * 100_000, b'{"run_id": "r2"}', b'{"run_id": 7}'],
)
def test_a_verdict_that_is_missing_torn_or_foreign_is_none(root, reader, data):
    assert reader.previous_verdict(RUN) is None
    put(root, VERDICT, data)
    assert reader.previous_verdict(RUN) is None


@pytest.mark.parametrize(
    ("change", "taken"),
    [
        ({}, True),
        ({"goal_id": "other"}, False),
        ({"lifecycle": {"turns_evaluated": 7}}, False),
        ({"lifecycle": {"turns_evaluated": 0}}, True),
        ({"lifecycle": []}, True),
    ],
)
def test_a_stale_verdict_or_another_goals_is_none(root, reader, change, taken):
    verdict = {"goal_id": GOAL, "run_id": RUN, "verdict": "achieved", **change}
    put(root, VERDICT, json.dumps(verdict).encode())
    assert reader.previous_verdict(RUN) == verdict
    found = reader.previous_verdict(RUN, reader.goal(GOAL).goal)
    assert found == (verdict if taken else None)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"{}", b'{"proposal_id": 1}'])
def test_a_proposal_that_cannot_be_read_is_none(root, reader, data):
    assert reader.proposal(RUN) is None
    put(root, f".flow/runs/{RUN}/proposal.json", data)
    assert reader.proposal(RUN) is None


def test_a_baseline_is_read_back_as_written(root, reader):
    assert reader.baseline(RUN) == scene.BASELINE
    assert reader.baseline_file(RUN).goal_id == GOAL
    changed = scene.BASELINE._replace(by_products={"x": "100644:1"}, denied=("a", "b"))
    scene.ledger(root).write_baseline(GOAL, RUN, changed)
    assert reader.baseline(RUN) == changed


@pytest.mark.parametrize(
    "change",
    [
        {"base_commit": 7},
        {"base_commit": ...},
        {"dirty": None},
        {"dirty": {"a": 1}},
        {"guards": []},
        {"ignore_rules": ...},
        {"journal_dir": 7},
        {"denied": "x"},
        {"denied": [1]},
    ],
)
def test_a_baseline_with_a_wrong_field_is_none(root, reader, change):
    document = {**ledger_reader.baseline_document(scene.BASELINE, GOAL, RUN), **change}
    document = {key: value for key, value in document.items() if value is not ...}
    put(root, f".flow/runs/{RUN}/baseline.json", json.dumps(document).encode())
    assert reader.baseline(RUN) is None
