"""What each change of a contract means (SPEC 10): every field of the schema is a case."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from flow.adapters.contracts import schemas
from flow.core.amendment.changes import ContractChange, amended, changes, overall
from flow.core.amendment.rules import COMPARED, CRITERION, DEBATE, FIELDS, SCORECARD
from flow.core.goal.model import RESULT_FIELDS, contract

CRITERION_PLACE = "objective.acceptance_criteria[AC1]"

NEITHER = ("lifecycle", "scope.run_id", *(f"{CRITERION}.{key}" for key in RESULT_FIELDS))
"""What the contract does not hold."""


def document(**more: Any) -> dict[str, Any]:
    """A contract; ``more`` are values by dotted path, ``AC1.`` for the criterion's."""
    found: dict[str, Any] = {
        "apiVersion": "flow.synapti.ai/v1",
        "kind": "FlowGoal",
        "metadata": {"id": "g", "created_at": "2026-03-01T10:15:00Z"},
        "scope": {"repo": "demo", "branch": "main"},
        "objective": {
            "outcome": "It works",
            "acceptance_criteria": [{"id": "AC1", "text": "It runs", "status": "pending"}],
        },
        "evaluator": {"type": "hybrid"},
        "lifecycle": {"status": "active"},
    }
    for path, value in more.items():
        section, _, key = path.partition("__")
        place = found["objective"]["acceptance_criteria"][0] if section == "AC1" else found
        holder = place if section == "AC1" else place.setdefault(section, {})
        if value is None:
            holder.pop(key, None)
        else:
            holder[key] = value
    return found


def classes(field: str, old: Any, new: Any) -> list[tuple[str, str]]:
    """(key, class) of what the change of one field comes to."""
    section, key = ("AC1", field.rpartition(".")[2]) if CRITERION in field else field.split(".")
    before, after = (contract(document(**{f"{section}__{key}": v})) for v in (old, new))
    return [(change.key, change.kind) for change in changes(before, after)]


S, N, W, X = "strengthening", "neutral", "weakening", "incomparable"
C = f"{CRITERION}."
TABLE: list[tuple[str, Any, Any, str]] = [
    ("metadata.id", "g", "h", X),
    ("metadata.created_at", "2026-03-01T10:15:00Z", "2026-03-02T10:15:00Z", N),
    ("metadata.created_by", None, "me", N),
    ("metadata.owner", "me", "you", N),
    ("metadata.unheard_of", None, 1, X),
    ("scope.repo", "demo", "other", N),
    ("scope.branch", "main", "work", X),
    ("scope.issue", 1, 2, N),
    ("scope.pr", None, 2, N),
    ("scope.journal", None, ".decisions/x.md", X),
    ("scope.base", "main", "work", X),
    ("scope.base_commit", "a" * 40, "b" * 40, X),
    ("objective.outcome", "It works", "It works well", X),
    ("objective.source", None, "issue 4", N),
    (f"{C}text", "It runs", "It runs fast", X),
    (f"{C}verification_command", "make check", "true", X),
    (f"{C}verification_command", "make check", None, X),
    (f"{C}verification_command", None, "make check", X),
    (f"{C}must_pass", True, False, W),
    (f"{C}must_pass", None, False, W),
    (f"{C}must_pass", False, True, S),
    (f"{C}must_pass", False, None, S),
    (f"{C}must_pass", None, True, N),
    (f"{C}timeout_seconds", 10, 20, W),
    (f"{C}timeout_seconds", 20, 10.5, S),
    (f"{C}timeout_seconds", 20, 20.0, N),
    (f"{C}timeout_seconds", None, 10, X),  # what the settings say is not known
    (f"{C}timeout_seconds", 10, None, X),
    (f"{C}cwd", None, "sub", X),
    (f"{C}report", None, "r.xml", X),
    (f"{C}report", "r.xml", None, X),
    (f"{C}serial", False, True, N),
    (f"{C}hermetic", True, False, X),
    (f"{C}hermetic", None, True, N),
    (f"{C}hermetic", False, True, X),
    (f"{C}limitations", None, ["not fast"], N),
    (f"{C}limitations", ["not fast"], [], W),
    (f"{C}rubric", "strict", "lenient", X),
    (f"{C}rubric", None, "lenient", X),
    (f"{C}scorecard", {"unheard of": 8}, {"unheard of": 7}, X),
    (f"{C}scorecard", None, "notes", X),
    (f"{C}scorecard", "notes", None, X),
    (f"{C}scorecard", {"skill": "notes"}, False, X),
    (f"{C}scorecard", None, False, N),
    (f"{C}scorecard", "notes", {"skill": "notes"}, N),
    (f"{C}scorecard", True, {}, N),
    (f"{C}scorecard", "notes", "docs", X),
    (f"{C}scorecard", True, "docs", X),
    (f"{C}scorecard", {"min_grade": "B"}, {"min_grade": "B+"}, S),
    (f"{C}scorecard", {"min_grade": "B"}, {"min_grade": "B-"}, W),
    (f"{C}scorecard", {"min_grade": "A"}, {}, W),
    (f"{C}scorecard", {"min_grade": "C"}, {}, S),
    (f"{C}scorecard", {}, {"min_grade": "B-"}, N),
    (f"{C}scorecard", {"min_grade": "F"}, {"min_grade": "A+"}, S),
    (f"{C}scorecard", {"min_grade": "B"}, {"min_grade": "none"}, X),
    (f"{C}scorecard", {"min_grade": "B"}, {"min_grade": "A", "skill": "x"}, X),
    (f"{C}scorecard", {}, {"file": "run.md"}, X),
    (f"{C}scorecard", {"file": "run.md"}, {"file": "old.md"}, X),
    (f"{C}scorecard", {"rubric": "strict"}, {}, X),
    (f"{C}debate", {"min_score": 4}, None, X),
    (f"{C}debate", None, True, X),
    (f"{C}debate", True, {}, N),
    (f"{C}debate", "design", {"kind": "design"}, N),
    (f"{C}debate", {"kind": "code"}, True, N),
    (f"{C}debate", "design", True, X),
    (f"{C}debate", {"kind": "code"}, {"kind": "design"}, X),
    (f"{C}debate", {"min_score": 4}, {"min_score": 3.5}, W),
    (f"{C}debate", {"min_score": 3.5}, {"min_score": 4}, S),
    (f"{C}debate", {"min_score": 3.5}, {}, W),
    (f"{C}debate", {}, {"min_score": 3.5}, S),
    (f"{C}debate", {}, {"min_score": 1}, N),
    (f"{C}debate", {"judges": 3}, {"judges": 5}, S),
    (f"{C}debate", {}, {"judges": 2}, W),
    (f"{C}debate", {"judges": 2}, {}, S),
    (f"{C}debate", {"judges": 3}, {}, N),
    (f"{C}debate", {"rounds": 3}, {}, N),
    (f"{C}debate", {"rounds": 1}, {"rounds": 2}, X),
    (f"{C}debate", {"mode": "vote"}, {"mode": "debate"}, X),
    (f"{C}debate", {}, {"mode": "vote"}, X),
    (f"{C}debate", {}, {"mode": "debate"}, N),
    (f"{C}debate", {"solution": ["a"]}, {"solution": ["a", "b"]}, X),
    (f"{C}debate", {"task": "add"}, {"task": "subtract"}, X),
    (f"{C}debate", {"criteria": "clarity:1"}, {"criteria": "clarity:2"}, X),
    (f"{C}evidence_command", None, "cat README", X),
    (f"{C}evidence_paths", ["a"], ["a", "b"], X),
    (f"{C}unheard_of", None, 1, X),
    ("specification.non_goals", None, ["speed"], W),
    ("specification.non_goals", ["speed"], None, S),
    ("specification.failure_modes", [], ["it hangs"], S),
    ("specification.failure_modes", ["it hangs"], [], W),
    ("specification.interface_contracts", [], [{"name": "api"}], S),
    ("specification.interface_contracts", [{"name": "api"}], [], W),
    ("specification.risk_map", ["a", "b"], ["b", "a"], N),
    ("specification.risk_map", ["a", "a"], ["a"], W),
    ("constraints.allowed_paths", None, ["src/**"], S),
    ("constraints.allowed_paths", [], ["src/**"], S),
    ("constraints.allowed_paths", ["src/**"], [], W),
    ("constraints.allowed_paths", ["src/**"], None, W),
    ("constraints.allowed_paths", None, [], N),
    ("constraints.allowed_paths", ["src/**"], ["src/**", "docs/**"], W),
    ("constraints.allowed_paths", ["src/**", "docs/**"], ["src/**"], S),
    ("constraints.allowed_paths", ["src/**"], ["src/**", "src/a.py"], N),
    ("constraints.allowed_paths", ["a", "b"], ["b", "a"], N),
    ("constraints.allowed_paths", ["src/*.py"], ["src/*.pyi", "src/*.py"], W),
    ("constraints.denied_paths", None, ["secret/**"], S),
    ("constraints.denied_paths", ["secret/**"], None, W),
    ("constraints.denied_paths", ["secret/keys/**", "secret/**"], ["secret/**"], N),
    ("constraints.denied_paths", ["a", "b"], ["b", "a"], N),
    ("constraints.protected_paths", None, ["tests/**"], S),
    ("constraints.protected_paths", ["tests/**"], [], W),
    ("constraints.require_all_pass", True, False, W),
    ("constraints.require_all_pass", False, True, S),
    ("constraints.tdd_required", True, False, W),
    ("constraints.tdd_required", None, True, S),
    ("constraints.no_calendar_estimates", True, None, W),
    ("constraints.no_calendar_estimates", None, True, S),
    ("constraints.no_tier3_without_confirmation", True, False, W),
    ("constraints.no_tier3_without_confirmation", None, False, N),
    ("constraints.unheard_of", None, 1, X),
    ("evaluator.type", "hybrid", "deterministic", S),
    ("evaluator.type", "hybrid", "flow_verdict_judge", S),
    ("evaluator.type", "deterministic", "hybrid", W),
    ("evaluator.type", "deterministic", "flow_verdict_judge", X),
    ("evaluator.type", "flow_verdict_judge", "hybrid", W),
    ("evaluator.type", "flow_verdict_judge", "deterministic", X),
    ("evaluator.judges", 3, 5, S),
    ("evaluator.judges", 3, 2, W),
    ("evaluator.judges", None, 5, X),
    ("evaluator.judges", ["a", "b"], ["a", "b", "c"], X),
    ("evaluator.judge_model", None, "small", X),
    ("evaluator.jobs", None, 4, N),
    ("evaluator.repeat", None, 3, S),
    ("evaluator.repeat", 3, None, W),
    ("evaluator.repeat", 3, 2, W),
    ("evaluator.repeat", None, 1, N),
    ("evaluator.sandbox", None, "bwrap", S),
    ("evaluator.sandbox", False, True, S),
    ("evaluator.sandbox", None, False, N),
    ("evaluator.sandbox", "bwrap", False, W),
    ("evaluator.sandbox", None, {"network": True}, X),
    ("evaluator.baseline_link", None, ["node_modules"], X),
    ("evaluator.baseline_link", ["node_modules"], None, X),
    ("evaluator.baseline_link", ["a"], ["b"], X),
    ("evaluator.denied_context", ["secret/**"], [], X),
    ("evaluator.denied_context", None, ["what speaks against it"], X),
    ("evaluator.command", None, "x", N),
    ("evaluator.judge_agent", None, "x", N),
    ("evaluator.evidence_bundle_format", None, "x", N),
    ("evaluator.unheard_of", None, 1, X),
    ("continuation.max_iterations", None, 21, W),
    ("continuation.max_iterations", 30, None, S),
    ("continuation.max_iterations", 5, 20, W),
    ("continuation.max_iterations", None, 20, N),
    ("continuation.after", None, ["other"], S),
    ("continuation.after", ["other", "more"], ["other"], W),
    ("continuation.after", ["a", "b"], ["b", "a"], N),
    ("continuation.max_seconds", None, 60, S),
    ("continuation.max_seconds", 60, None, W),
    ("continuation.max_seconds", 60, 61, W),
    ("continuation.max_cost_usd", 2, 1.5, S),
    ("continuation.max_cost_usd", 2, None, W),
    ("continuation.max_cost_usd", 2, 2.0, N),
    ("continuation.mode", "evaluator_loop", "flow_managed", W),
    ("continuation.mode", None, "flow_managed", W),
    ("continuation.mode", "flow_managed", "evaluator_loop", S),
    ("continuation.mode", "flow_managed", None, S),
    ("continuation.mode", None, "evaluator_loop", N),
    ("continuation.on_incomplete", None, "x", N),
    ("continuation.on_blocked", None, "x", N),
    ("continuation.on_complete", None, "x", N),
]


@pytest.mark.parametrize(("field", "old", "new", "kind"), TABLE)
def test_the_class_of_every_change(field: str, old: Any, new: Any, kind: str) -> None:
    found = classes(field, old, new)
    assert {found_kind for _, found_kind in found} >= {kind}, found
    assert overall(changes(*_pair(field, old, new))) == kind
    assert classes(field, old, old) == classes(field, new, new) == []
    place = field.replace(CRITERION, CRITERION_PLACE)
    assert {key for key, _ in found} == {place}


def _pair(field: str, old: Any, new: Any) -> list[dict[str, Any]]:
    section, key = ("AC1", field.rpartition(".")[2]) if CRITERION in field else field.split(".")
    return [contract(document(**{f"{section}__{key}": value})) for value in (old, new)]


def _leaves(schema: dict[str, Any], root: dict[str, Any], path: str = "") -> list[str]:
    """Every key of a goal, with the criteria's as ``objective.acceptance_criteria[].key``."""
    if "$ref" in schema:
        schema = {**root["$defs"][schema["$ref"].rpartition("/")[2]], **schema}
    if path == "objective.acceptance_criteria":
        return _leaves(schema["items"], root, CRITERION)
    if path.count(".") < 1 or path == CRITERION:
        found = []
        for key, below in (schema.get("properties") or {}).items():
            found += _leaves(below, root, f"{path}.{key}" if path else key)
        if found:
            return found
    return [path]


def test_every_field_of_the_schema_has_a_class() -> None:
    root = schemas.load("goal")
    leaves = _leaves(root, root)
    assert len(leaves) > 60
    contracted = {leaf for leaf in leaves if not leaf.startswith(NEITHER)}
    assert contracted == set(FIELDS)
    tried = {field for field, *_ in TABLE}
    never_two = {"apiVersion", "kind", f"{CRITERION}.id"}  # one value only, and the id is the key
    assert contracted - tried == never_two


@pytest.mark.parametrize(("key", "rules"), [("scorecard", SCORECARD), ("debate", DEBATE)])
def test_so_has_every_key_of_what_is_judged_apart(key: str, rules: dict[str, Any]) -> None:
    root = schemas.load("goal")
    fields = root["$defs"]["criterion"]["properties"][key]["properties"]
    assert set(rules) == set(fields)
    pairs = [pair for field, *pair in TABLE if field == f"{C}{key}"]
    tried = {k for pair in pairs for value in pair if isinstance(value, dict) for k in value}
    assert tried >= set(fields)


def test_what_is_judged_apart_is_told_key_by_key() -> None:
    old, new = _pair(
        f"{C}debate", {"judges": 3, "min_score": 4}, {"min_score": 3, "judges": 5, "kind": "code"}
    )
    assert [(c.kind, c.what) for c in changes(old, new)] == [
        ("strengthening", "judges: raised"),
        ("weakening", "min_score: lowered"),
        ("neutral", "kind: the same, written out"),
    ]


def _criteria(*criteria: dict[str, Any]) -> dict[str, Any]:
    found = document()
    found["objective"]["acceptance_criteria"] = [{"status": "pending", **c} for c in criteria]
    return contract(found)


ONE = {"id": "AC1", "text": "one", "verification_command": "true"}
TWO = {"id": "AC2", "text": "two\n  + three"}


def test_a_criterion_that_is_added_dropped_or_moved() -> None:
    one, both = _criteria(ONE), _criteria(ONE, TWO)
    place = "objective.acceptance_criteria"
    assert changes(one, both) == (
        ContractChange(f"{place}[AC2]", "strengthening", 'added: "two\\n  + three"'),
    )
    assert changes(both, one) == (
        ContractChange(f"{place}[AC2]", "weakening", 'dropped: "two\\n  + three"'),
    )
    assert changes(both, _criteria(TWO, ONE)) == (
        ContractChange(place, "neutral", "in another order"),
    )
    renamed = changes(one, _criteria({**ONE, "id": "AC9"}))
    assert [change.kind for change in renamed] == ["weakening", "strengthening"]
    assert overall(renamed) == "weakening"


def test_the_weakest_change_says_what_all_are() -> None:
    kinds = ("strengthening", "neutral", "weakening", "incomparable")
    found = [ContractChange("k", kind, "w") for kind in kinds]  # type: ignore[arg-type]
    assert overall(found) == "weakening"
    assert overall([found[0], found[3]]) == "incomparable"
    assert overall(found[:2]) == "strengthening"
    assert overall(found[1:2]) == overall([]) == "neutral"
    assert str(found[2]) == "weakening: k: w"
    assert str(found[2]._replace(key="")) == "weakening: w"
    assert str(found[3]) == "cannot be compared: k: w"
    assert found[0].to_document() == {"key": "k", "class": "strengthening", "what": "w"}


def test_what_starts_anew() -> None:
    base = _criteria(ONE, TWO)
    other = _criteria({**ONE, "text": "another"}, TWO)
    assert amended(base, base) == ()
    assert amended(base, other) == ("AC1",)
    assert amended(base, _criteria(ONE)) == ("AC2",)
    assert amended(base, base, other) == ("AC1",)
    assert amended(_criteria({**ONE, "must_pass": True}), _criteria(ONE)) == ("AC1",)


def test_results_status_and_run_are_no_part_of_it() -> None:
    old, new = document(), document(scope__run_id="r2")
    new["lifecycle"] = {"status": "blocked", "turns_evaluated": 9}
    new["objective"]["acceptance_criteria"][0].update(
        status="pass", evidence_ref="x", last_result="exit 0"
    )
    assert changes(contract(old), contract(new)) == ()


def test_sections_that_are_absent_or_null_are_empty() -> None:
    old, new = contract(document()), contract(document())
    new["constraints"] = None
    new["specification"] = {}
    assert changes(old, new) == changes(new, old) == ()
    new["constraints"] = {"denied_paths": None, "allowed_paths": []}
    assert [change.kind for change in changes(old, new)] == ["neutral"]


def test_a_section_nobody_knows_is_looked_at() -> None:
    new = {**contract(document()), "unheard of\n": {"a": 1}}
    (change,) = changes(contract(document()), new)
    assert (change.key, change.kind) == ('"unheard of\\n"', "incomparable")


def test_several_patterns_are_told_one_by_one() -> None:
    old, new = _pair(
        "constraints.allowed_paths", ["src/**", "docs/**"], ["src/a", "tests/**", "docs/**"]
    )
    assert [(c.kind, c.what) for c in changes(old, new)] == [
        ("strengthening", "src/** taken out"),
        ("neutral", "src/a added, what it covers was covered before"),
        ("weakening", "tests/** added"),
    ]


def test_thousands_of_patterns_are_told_by_their_text() -> None:
    many = [f"src/{number}/**" for number in range(COMPARED + 1)]
    old, new = _pair("constraints.allowed_paths", many, [*many, "src/1/a"])
    assert [c.kind for c in changes(old, new)] == ["weakening"]
    old, new = _pair("constraints.denied_paths", [*many, "src/1/a"], many)
    assert [c.kind for c in changes(old, new)] == ["weakening"]
    few = many[:COMPARED]
    old, new = _pair("constraints.allowed_paths", few, [*few, "src/1/a"])
    assert [c.kind for c in changes(old, new)] == ["neutral"]


def test_hostile_text_is_escaped() -> None:
    old, new = _pair("constraints.denied_paths", [], ["\x1b[2Jevil\u202e"])
    (change,) = changes(old, new)
    assert change.what == '"\\x1b[2Jevil\\u202e" added'


def test_a_comparison_changes_nothing() -> None:
    old, new = document(constraints__denied_paths=["b", "a"]), document()
    kept = copy.deepcopy((old, new))
    changes(old, new)
    assert (old, new) == kept
