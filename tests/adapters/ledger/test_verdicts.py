"""``last-verdict.json``: what it takes, what it cuts, what it refuses."""

from __future__ import annotations

import json

import pytest

from flow.adapters.chain.run_record import RunRecord
from flow.adapters.ledger import verdicts
from flow.core.decision.verdict import Verdict
from flow.core.layout import VERDICT_LIMIT
from flow.errors import ContractError, InputError, RefusedError

NOW = "2026-03-01T10:15:00Z"
GOOD = {"verdict": "achieved", "confidence": 1, "delta": "unchanged", "reason": "all good"}
PATH = ".flow/runs/r1/last-verdict.json"


@pytest.fixture
def root(tmp_path):
    return str(tmp_path)


def write(root, document, **more):
    return verdicts.write_verdict(RunRecord(root).run("r1"), document, now=NOW, **more)


def stored(tmp_path):
    return json.loads((tmp_path / PATH).read_text())


def test_what_is_given_is_stored_with_the_time(root, tmp_path):
    assert write(root, {**GOOD, "source": "command", "goal_id": "g"}) == (PATH, ())
    assert stored(tmp_path) == {**GOOD, "source": "command", "goal_id": "g", "recorded_at": NOW}
    write(root, {**GOOD, "verdict": "blocked", "recorded_at": "2020-01-01T00:00:00Z"})
    assert stored(tmp_path)["verdict"] == "blocked"
    assert stored(tmp_path)["recorded_at"] == NOW


def test_flows_own_verdict_is_one(root):
    own = Verdict(
        "g", "r1", "achieved", 1.0, "unchanged", "r" * 9999, "h" * 9999, "none", (), (), (), None,
        "active", "active", 1,
    )  # fmt: skip
    assert write(root, own.to_document())[1] == ()


@pytest.mark.parametrize("key", GOOD)
@pytest.mark.parametrize("value", [..., None])
def test_required_fields(root, tmp_path, key, value):
    document = {**GOOD, key: value}
    if value is ...:
        del document[key]
    with pytest.raises(ContractError) as caught:
        write(root, document)
    assert key in str(caught.value)
    assert str(caught.value).startswith("verdict: ")
    assert not (tmp_path / PATH).exists()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("confidence", True),
        ("confidence", "0.9"),
        ("confidence", 1.01),
        ("confidence", -0.1),
        ("verdict", "pass"),
        ("verdict", 1),
        ("delta", "none"),
        ("blocker_type", "other"),
        ("reason", 7),
        ("reason", ["x"]),
        ("next_step_hint", 7),
        ("criterion_results", "AC1"),
        ("run_id", "../x"),
        ("run_id", "r2"),
    ],
)
def test_wrong_values(root, tmp_path, key, value):
    with pytest.raises(ContractError) as caught:
        write(root, {**GOOD, key: value})
    assert any(fault.key == key for fault in caught.value.faults)
    assert not (tmp_path / PATH).exists()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1}, object()])
def test_what_json_cannot_hold(root, tmp_path, value):
    for key in ("confidence", "lifecycle", "warnings"):
        with pytest.raises(ContractError):
            write(root, {**GOOD, key: value})
    assert not (tmp_path / PATH).exists()


def test_every_fault_is_named_at_once(root):
    with pytest.raises(ContractError) as caught:
        write(root, {"verdict": "x", "confidence": True, "delta": "y"})
    assert len(caught.value.faults) == 4


@pytest.mark.parametrize("document", [None, [], "x", 1])
def test_what_is_no_object(root, document):
    with pytest.raises(ContractError):
        write(root, document)


@pytest.mark.parametrize(("key", "limit"), [("reason", 2048), ("next_step_hint", 500)])
@pytest.mark.parametrize("letter", ["x", "é", "\U0001f600"])
def test_long_texts_are_cut_at_characters_with_the_mark(root, tmp_path, key, limit, letter):
    assert write(root, {**GOOD, key: letter * limit})[1] == ()
    assert stored(tmp_path)[key] == letter * limit
    warnings = write(root, {**GOOD, key: letter * (limit + 1)})[1]
    assert stored(tmp_path)[key] == letter * (limit - 1) + "…"
    assert len(warnings) == 1
    assert key in warnings[0]
    assert str(limit) in warnings[0]


@pytest.mark.parametrize("run_id", ["", "..", "a/b", "../x", ".x", "a..b", "x\n", "x" * 129])
def test_path_shaped_run_ids(root, tmp_path, run_id):
    with pytest.raises(InputError):
        verdicts.write_verdict(RunRecord(root).run(run_id), GOOD, now=NOW)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("level", [PATH, ".flow/runs/r1", ".flow/runs", ".flow"])
def test_a_symlink_is_refused(root, tmp_path, level):
    target = tmp_path / "target"
    target.mkdir()
    link = tmp_path / level
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(target / "file" if level == PATH else target)
    with pytest.raises(RefusedError):
        write(root, GOOD)
    assert list(target.iterdir()) == []


def test_a_huge_one_is_refused(root, tmp_path):
    with pytest.raises(ContractError, match="is larger than"):
        write(root, {**GOOD, "warnings": ["x" * VERDICT_LIMIT]})
    assert not (tmp_path / PATH).exists()
