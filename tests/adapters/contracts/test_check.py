"""Checking documents: one mutation for each rule, and the quick check held equal to jsonschema."""

from __future__ import annotations

import json
import re
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker
from rfc3339_validator import validate_rfc3339

from flow.adapters.contracts import check as contracts_check
from flow.adapters.contracts import formats, schemas
from flow.adapters.contracts import rules as contracts_rules
from flow.core.boundary.rules import check_patterns
from flow.errors import ContractError
from tests.adapters.contracts.samples import (
    BASELINE,
    COMMIT,
    CRITERION,
    EVENT,
    EVIDENCE,
    GOAL,
    LOOP,
    NOW,
    PROPOSAL,
    SHA,
    SMALL_GOAL,
    VALID,
    VERDICT,
    Gone,
    altered,
)
from tests.support.effort import examples

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = "goals/issue-4.goal.yaml"
BIG = 2**53 + 1
AC = ("objective", "acceptance_criteria")

# Path, value, key named by the fault (None: the path), words in it.
GOAL_FAULTS: list[tuple[tuple[str | int, ...], Any, str | None, str]] = [
    *[
        ((key,), Gone, None, "is missing")
        for key in (
            "kind",
            "metadata",
            "scope",
            "objective",
            "evaluator",
            "lifecycle",
            "apiVersion",
        )
    ],
    (("extra",), 1, None, "is not a known key here"),
    (("objectiv",), 1, None, "did you mean objective?"),
    (("apiVersion",), "flow.synapti.ai/v0", None, "write flow.synapti.ai/v1"),
    (("apiVersion",), 1, None, "is not 'flow.synapti.ai/v1'"),
    (("kind",), "FlowEvidence", None, "'FlowEvidence' is not 'FlowGoal'"),
    (("metadata",), [], None, "a list is not a mapping"),
    (("metadata", "id"), Gone, None, "add it, like id: issue-4"),
    (("metadata", "id"), "Issue-4", None, "'Issue-4' is not a goal id"),
    (("metadata", "id"), "issue-4\n", None, "is not a goal id"),
    (("metadata", "id"), "../x", None, "is not a goal id"),
    (("metadata", "id"), "a" * 65, None, "is not a goal id"),
    (("metadata", "id"), 4, None, "put it in quotes"),
    (("metadata", "created_at"), Gone, None, "is missing"),
    (("metadata", "created_at"), "2026-13-45T10:15:00Z", None, "is not a date and time"),
    (("metadata", "created_at"), "2026-03-01", None, "is not a date and time"),
    (("metadata", "created_at"), NOW + "\n", None, "is not a date and time"),
    (("metadata", "created_by"), "a\nb", None, "is not one line of text"),
    (("metadata", "owner"), 4, None, "is not text"),
    (("scope", "repo"), Gone, None, "is missing"),
    (("scope", "repo"), "  ", None, "is blank"),
    (("scope", "repo"), "", None, "is empty"),
    (("scope", "branch"), Gone, None, "is missing"),
    (("scope", "branch"), "a\x1b[31m", None, "is not one line of text"),
    *[
        (("scope", key), value, None, "is out of range")
        for key in ("issue", "pr")
        for value in (0, -1, BIG)
    ],
    (("scope", "issue"), True, None, "true is not a whole number"),
    (("scope", "issue"), 4.0, None, "4.0 is not a whole number"),
    (("scope", "issue"), "4", None, "'4' is not a whole number (like 4)"),
    (("scope", "base"), "--upload-pack=x", None, "is not a git ref"),
    (("scope", "base"), "a b", None, "is not a git ref"),
    (("scope", "base_commit"), "abc", None, "is not a full commit id"),
    (("scope", "base_commit"), COMMIT.upper().replace("0", "A"), None, "is not a full commit id"),
    *[
        (("scope", "run_id"), value, None, "is not a run id")
        for value in (".", "..", "a..b", "a/b", "-a", "a" * 129, "a\n", "a b", "é")
    ],
    (("objective", "outcome"), Gone, None, "is missing"),
    (("objective", "outcome"), "\n", None, "is blank"),
    (("objective", "outcome"), None, None, "is empty, and has to be text"),
    (("objective", "outcomes"), "x", None, "did you mean outcome?"),
    (AC, Gone, None, "is missing"),
    (AC, [], None, "is an empty list"),
    (AC, {}, None, "is not a list"),
    (AC, [{**CRITERION, "must_pass": False}], None, "has no criterion that must pass"),
    (AC, [{**CRITERION, "id": f"AC{n}"} for n in range(1001)], None, "has 1001 entries"),
    ((*AC, 1), "AC2", None, "is not a mapping"),
    ((*AC, 1, "id"), "ac2", None, "'ac2' is not an upper-case prefix and a number (like AC2)"),
    ((*AC, 1, "id"), "AC2\n", None, "is not an upper-case prefix and a number"),
    ((*AC, 1, "id"), "AC" + "1" * 63, None, "has 65 characters"),
    ((*AC, 1, "id"), "AC1", None, "'AC1' is objective.acceptance_criteria[0]'s id too"),
    ((*AC, 0, "id"), Gone, None, "is missing"),
    ((*AC, 0, "text"), Gone, None, "is missing"),
    ((*AC, 0, "text"), " \t", None, "is blank"),
    ((*AC, 0, "status"), Gone, None, "is missing"),
    ((*AC, 0, "status"), "passed", None, "did you mean pass?"),
    ((*AC, 0, "status"), True, None, "true is not one of its values"),
    ((*AC, 0, "verification_command"), " \n", None, "is blank"),
    ((*AC, 0, "verification_command"), "a\0b", None, "holds a NUL"),
    ((*AC, 0, "verification_command"), "x" * 131_072, None, "has 131072 characters"),
    ((*AC, 0, "verification_command"), "é" * 65_536, None, "has 131072 bytes"),
    ((*AC, 0, "verification_command"), ["a"], None, "a list is not text"),
    ((*AC, 0, "must_pass"), "yes", None, "write true or false, without quotes"),
    ((*AC, 0, "must_pass"), 1, None, "1 is not true or false"),
    ((*AC, 0, "must_pass"), None, None, "is empty, and has to be true or false"),
    *[((*AC, 0, "timeout_seconds"), v, None, "out of range") for v in (0, -1, 604_801)],
    ((*AC, 0, "timeout_seconds"), True, None, "true is not a number"),
    *[
        ((*AC, 0, "cwd"), value, None, "is not a path below the top level")
        for value in ("/etc", "..", "../x", "a/..", "a/../b", "a/..\n", "a\n/../b", "a\nb", "\0")
    ],
    *[
        ((*AC, 0, "report"), value, None, "is not a path below the top level")
        for value in ("/etc/r.xml", "..", "../r.xml", "a/../b", "a\nb", "\0")
    ],
    ((*AC, 0, "report"), 3, None, "put it in quotes"),
    ((*AC, 0, "report"), "!x", None, "starts with '!'"),
    ((*AC, 0, "serial"), 0, None, "is not true or false"),
    ((*AC, 0, "hermetic"), "no", None, "is not true or false"),
    ((*AC, 0, "limitations"), "none", None, "is not a list"),
    ((*AC, 0, "limitations"), [""], "objective.acceptance_criteria[0].limitations[0]", "is empty"),
    ((*AC, 0, "last_evaluated_at"), "yesterday", None, "is not a date and time"),
    ((*AC, 0, "last_result"), 0, None, "put it in quotes"),
    ((*AC, 1, "rubric"), ["a"], None, "is not text"),
    ((*AC, 1, "scorecard"), 3, None, "put it in quotes"),
    ((*AC, 1, "debate"), [], None, "is not"),
    ((*AC, 1, "evidence_command"), "", None, "is empty"),
    ((*AC, 1, "evidence_paths", 0), "../secrets", None, ".."),
    ((*AC, 1, "evidence_paths", 0), 5, None, "put it in quotes"),
    (("specification", "nongoals"), [], None, "did you mean non_goals?"),
    (("specification", "non_goals"), "x", None, "is not a list"),
    (("specification", "risk_map"), [1], "specification.risk_map[0]", "is not text or a mapping"),
    *[
        (("constraints", key, 0), value, None, words)
        for key in ("allowed_paths", "denied_paths", "protected_paths")
        for value, words in (
            ("!a", "starts with '!'"),
            ("a/../b", "holds '..'"),
            ("../a", "holds '..'"),
            ("/etc", "is absolute"),
            ("", "is empty"),
        )
    ],
    (("constraints", "allowed_paths"), "src/**", None, "is not a list"),
    (("constraints", "require_all_pass"), "true", None, "is not true or false"),
    (("constraints", "tdd_required"), 1, None, "is not true or false"),
    (("evaluator", "type"), Gone, None, "one of deterministic, hybrid, flow_verdict_judge"),
    (("evaluator", "type"), "hybird", None, "did you mean hybrid?"),
    *[(("evaluator", "jobs"), value, None, "out of range") for value in (0, 257)],
    (("evaluator", "jobs"), True, None, "is not a whole number"),
    (("evaluator", "repeat"), 0, None, "out of range"),
    (("evaluator", "judges"), 0, None, "out of range"),
    (("evaluator", "judges"), "three", None, "is not a whole number or a list"),
    (("continuation", "max_iterations"), 0, None, "out of range"),
    (("continuation", "mode"), "loop", None, "is not one of its values"),
    (("lifecycle", "status"), Gone, None, "add it: one of draft, active"),
    (("lifecycle", "status"), "done", None, "'done' is not one of its values"),
    (("lifecycle", "turns_evaluated"), -1, None, "out of range"),
    (("lifecycle", "turns_evaluated"), BIG, None, "out of range"),
    (("lifecycle", "last_evaluation"), "pass", None, "is not a mapping"),
    *[
        (("lifecycle", "last_evaluation", key), Gone, None, "is missing")
        for key in ("result", "reason", "at")
    ],
    (("lifecycle", "last_evaluation", "result"), "achieved", None, "is not one of its values"),
    (
        ("lifecycle", "last_evaluation", "at"),
        "2026-02-29T00:00:00Z",
        None,
        "is not a date and time",
    ),
]
E = "evidence"
EVIDENCE_FAULTS: list[tuple[tuple[str | int, ...], Any, str | None, str]] = [
    (("kind",), "FlowGoal", None, "'FlowGoal' is not 'FlowEvidence'"),
    (("more",), 1, None, "is not a known key here"),
    (("metadata", "id"), "AC1", None, "is not an evidence id"),
    (("metadata", "id"), "a" * 201, None, "is not an evidence id"),
    (("metadata", "id"), "a\n", None, "is not an evidence id"),
    (("metadata", "goal"), "a_b", None, "is not a goal id"),
    (("metadata", "goal"), Gone, None, "is missing"),
    (("metadata", "run_id"), "a..b", None, "is not a run id"),
    (("metadata", "run_id"), Gone, None, "is missing"),
    (("metadata", "created_at"), "now", None, "is not a date and time"),
    ((E, "type"), "command", None, "is not one of its values"),
    ((E, "type"), Gone, None, "is missing"),
    ((E, "exit_code"), "0", None, "is not a whole number"),
    ((E, "exit_code"), False, None, "false is not a whole number"),
    *[
        ((E, "output_ref"), value, None, "is not a file name in the sidecar's own folder")
        for value in ("../x.txt", "/x", "a/b", ".hidden", "a\n", "..", "a\\b")
    ],
    ((E, "proves"), ["AC1", "AC1"], None, "names something twice"),
    ((E, "proves"), ["ac1"], "evidence.proves[0]", "is not an upper-case prefix"),
    ((E, "proves"), "AC1", None, "is not a list"),
    ((E, "limitations"), [], None, "is an empty list"),
    ((E, "limitations"), None, None, "is empty, and has to be a list"),
    ((E, "limitations"), Gone, None, "is missing"),
    ((E, "limitations"), [" "], "evidence.limitations[0]", "is blank"),
    ((E, "outcome"), "pass", None, "did you mean passed?"),
    ((E, "duration_seconds"), -0.5, None, "out of range"),
    ((E, "output_sha256"), "abc", None, "is not a SHA-256"),
    ((E, "output_bytes"), -1, None, "out of range"),
    ((E, "truncated"), -1, None, "out of range"),
    ((E, "environment_removed"), "BASH_ENV", None, "is not a list"),
    ((E, "subject"), "x", None, "is not a mapping"),
    ((E, "subject", "head"), "HEAD", None, "is not a full commit id"),
    ((E, "violations"), ["a"], "evidence.violations[0]", "is not a mapping"),
    ((E, "guards"), {"a": 1}, "evidence.guards.a", "put it in quotes"),
]
VERDICT_FAULTS: list[tuple[tuple[str | int, ...], Any, str | None, str]] = [
    *[((key,), Gone, None, "is missing") for key in ("verdict", "confidence", "delta", "reason")],
    (("verdict",), "passed", None, "is not one of its values"),
    (("confidence",), True, None, "true is not a number"),
    (("confidence",), 1.01, None, "out of range (at most 1)"),
    (("confidence",), -0.1, None, "out of range (at least 0)"),
    (("delta",), "same", None, "is not one of its values"),
    (("reason",), "x" * 2049, None, "has 2049 characters (at most 2048)"),
    (("next_step_hint",), "x" * 501, None, "has 501 characters"),
    (("next_step_hnt",), "x", None, "did you mean next_step_hint?"),
    (("blocker_type",), "other", None, "is not one of its values"),
    (("run_id",), "a/b", None, "is not a run id"),
    (("criterion_results", 0, "status"), "ok", None, "is not one of its values"),
    (("criterion_results", 0, "criterion_id"), Gone, None, "is missing"),
    (("path_violations",), "a", None, "is not a list"),
    (("proposed_transition", "to"), "active", None, "is not one of its values"),
    (("proposed_transition", "proposal_id"), "x", None, "is not a SHA-256"),
    (("lifecycle", "from"), Gone, None, "is missing"),
    (("lifecycle", "to"), "x", None, "is not one of its values"),
    (("recorded_at",), "today", None, "is not a date and time"),
]
RUN_FAULTS: list[tuple[str, tuple[str | int, ...], Any, str]] = [
    ("event", ("seq",), -1, "out of range"),
    ("event", ("seq",), True, "is not a whole number"),
    ("event", ("type",), "Evaluated!", "is not an event type"),
    ("event", ("goal_id",), Gone, "is missing"),
    ("event", ("at",), "x", "is not a date and time"),
    ("baseline", ("dirty", "a"), 1, "put it in quotes"),
    ("baseline", ("guards",), Gone, "is missing"),
    ("baseline", ("base_commit",), "main", "is not a full commit id"),
    ("proposal", ("to",), "blocked", "is not one of its values"),
    ("proposal", ("proposal_id",), SHA.upper(), "is not a SHA-256"),
    ("loop", ("continuations",), -1, "out of range"),
    ("loop", ("goal_id",), "X", "is not a goal id"),
    ("run", ("goal_id",), "X", "is none of the documents of a run"),
]
SAMPLES = {
    "goal": GOAL,
    "evidence": EVIDENCE,
    "verdict": VERDICT,
    "event": EVENT,
    "baseline": BASELINE,
    "proposal": PROPOSAL,
    "loop": LOOP,
    "run": LOOP,
}


def faults_of(kind: str, document: Any) -> list[Any]:
    with pytest.raises(ContractError) as caught:
        formats.check(kind, document, file=FILE)
    return list(caught.value.faults)


def name_of(path: tuple[str | int, ...]) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")


@pytest.mark.parametrize(("kind", "document"), VALID)
def test_a_valid_document_is_taken_without_a_word(kind: str, document: Any) -> None:
    assert formats.check(kind, document, file=FILE) == ()


@pytest.mark.parametrize(
    ("kind", "path", "value", "key", "words"),
    [
        *[("goal", *row) for row in GOAL_FAULTS],
        *[("evidence", *row) for row in EVIDENCE_FAULTS],
        *[("verdict", *row) for row in VERDICT_FAULTS],
        *[
            (kind, path, value, "" if kind == "run" else None, w)
            for kind, path, value, w in RUN_FAULTS
        ],
    ],
)
def test_one_broken_rule_is_one_fault_with_its_place(
    kind: str, path: tuple[str | int, ...], value: Any, key: str | None, words: str
) -> None:
    faults = faults_of(kind, altered(SAMPLES[kind], path, value))
    assert [fault.key or "" for fault in faults] == [name_of(path) if key is None else key]
    assert faults[0].file == FILE
    assert faults[0].remedy
    assert words in str(faults[0])


def test_the_message_names_file_key_value_and_remedy() -> None:
    (fault,) = faults_of("goal", altered(GOAL, (*AC, 1, "id"), "ac2"))
    assert str(fault) == (
        "goals/issue-4.goal.yaml: objective.acceptance_criteria[1].id: "
        "'ac2' is not an upper-case prefix and a number (like AC2)"
    )
    assert fault.value == "ac2"


def test_all_faults_are_named_at_once_in_the_order_of_the_text() -> None:
    document = altered(GOAL, ("lifecycle", "status"), "done")
    document = altered(document, (*AC, 1, "id"), "AC1")
    document = altered(document, ("metadata", "id"), "X")
    document = altered(document, ("scope", "repo"), Gone)
    document = altered(document, ("constraints", "denied_paths", 0), "!a")
    assert [fault.key for fault in faults_of("goal", document)] == [
        "metadata.id",
        "scope.repo",
        "objective.acceptance_criteria[1].id",
        "constraints.denied_paths[0]",
        "lifecycle.status",
    ]


@pytest.mark.parametrize("document", [None, [], "x", 4, True])
@pytest.mark.parametrize("kind", ["goal", "event"])
def test_what_is_no_mapping_is_refused(kind: str, document: Any) -> None:
    assert "it is no mapping" in str(faults_of(kind, document)[0])


@pytest.mark.parametrize("version", ["flow.synapti.ai/v2", "flow.synapti.ai/v10"])
@pytest.mark.parametrize("kind", ["goal", "evidence"])
def test_a_newer_format_is_refused_as_such_and_as_nothing_else(kind: str, version: str) -> None:
    with pytest.raises(ContractError) as caught:
        formats.check(kind, {"apiVersion": version, "new": {}}, file=FILE)
    assert caught.value.code == "newer_version"
    assert len(caught.value.faults) == 1
    assert "newer Flow" in str(caught.value)
    assert "update Flow" in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "path", "close"),
    [
        ("goal", (*AC, 0, "verification_comand"), "verification_command"),
        ("goal", ("metadata", "ownr"), "owner"),
        ("goal", ("scope", "isue"), "issue"),
        ("goal", ("constraints", "allowed_path"), "allowed_paths"),
        ("goal", ("evaluator", "typ"), "type"),
        ("goal", ("continuation", "max_iteration"), "max_iterations"),
        ("goal", ("lifecycle", "last_evaluation", "results"), "result"),
        ("evidence", ("metadata", "runid"), "run_id"),
        ("evidence", ("evidence", "limitation"), "limitations"),
        ("evidence", ("evidence", "subject", "trees"), "tree"),
        ("verdict", ("lifecycle", "turns"), "turns_evaluated"),
        ("proposal", ("proposalid",), "proposal_id"),
    ],
)
def test_an_unknown_key_elsewhere_is_kept_and_warned_about(
    kind: str, path: tuple[str | int, ...], close: str
) -> None:
    (warning,) = formats.check(kind, altered(SAMPLES[kind], path, 1), file=FILE)
    assert warning.startswith(f"{FILE}: {name_of(path)}: is not a known key; it is kept")
    assert close in warning


@pytest.mark.parametrize(
    "path",
    [
        ("specification", "risk_map", 0, "anything"),
        ("specification", "failure_modes", 0, "anything"),
    ],
)
def test_rows_and_other_open_mappings_take_any_key(path: tuple[str | int, ...]) -> None:
    assert formats.check("goal", altered(GOAL, path, {"any": {"thing": 1}}), file=FILE) == ()


@pytest.mark.parametrize(
    ("way", "key", "close"),
    [("scorecard", "min_grad", "min_grade"), ("debate", "soluton", "solution")],
)
def test_a_mistyped_key_of_what_is_judged_apart_is_named(way: str, key: str, close: str) -> None:
    document = altered(GOAL, (*AC, 1, way), {key: "A"})
    (warning,) = formats.check("goal", document, file=FILE)
    assert f"acceptance_criteria[1].{way}.{key}: is not a known key; it is kept" in warning
    assert f"did you mean {close}?" in warning


@pytest.mark.parametrize("solution", ["../a", ["a", "!b"], "/a/../b"])
def test_a_debates_solution_is_checked_like_other_patterns(solution: object) -> None:
    with pytest.raises(ContractError) as caught:
        formats.check("goal", altered(GOAL, (*AC, 1, "debate"), {"solution": solution}), file=FILE)
    assert "acceptance_criteria[1].debate.solution[" in str(caught.value)


@pytest.mark.parametrize(
    "key", ["rubric", "scorecard", "debate", "evidence_command", "evidence_paths"]
)
def test_what_is_for_fuzzy_criteria_is_a_warning_beside_a_command(key: str) -> None:
    value = ["a"] if key == "evidence_paths" else "a"
    (warning,) = formats.check("goal", altered(GOAL, (*AC, 0, key), value), file=FILE)
    assert f"objective.acceptance_criteria[0].{key}: is for criteria without" in warning


def test_a_report_without_a_command_is_remarked() -> None:
    document = altered(GOAL, (*AC, 1, "report"), "out/*.xml")
    (warning,) = formats.check("goal", document, file=FILE)
    assert "objective.acceptance_criteria[1].report: is for criteria with a" in warning


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        *[
            ("goal", ("scope", key))
            for key in ("issue", "pr", "journal", "base", "base_commit", "run_id")
        ],
        *[("goal", (*AC, 0, key)) for key in ("timeout_seconds", "cwd", "report")],
        *[("goal", (*AC, 0, key)) for key in ("limitations", "evidence_ref", "last_evaluated_at")],
        *[("goal", ("constraints", key)) for key in ("allowed_paths", "denied_paths")],
        *[("goal", (key,)) for key in ("constraints", "specification", "continuation")],
        ("goal", ("lifecycle", "last_evaluation")),
        ("goal", ("lifecycle", "turns_evaluated")),
        ("evidence", ("evidence", "exit_code")),
        ("evidence", ("evidence", "output_ref")),
        ("verdict", ("proposed_transition",)),
        ("baseline", ("base_commit",)),
    ],
)
def test_an_optional_key_may_be_left_empty(kind: str, path: tuple[str | int, ...]) -> None:
    assert formats.check(kind, altered(SAMPLES[kind], path, None), file=FILE) == ()


@pytest.mark.parametrize(
    "type_", schemas.load("evidence")["properties"]["evidence"]["properties"]["type"]["enum"]
)
@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("negative", [False, True])
def test_each_evidence_type_must_say_its_limits_where_the_spec_wants_it(
    type_: str, limited: bool, negative: bool
) -> None:
    body: dict[str, Any] = {"type": type_}
    if limited:
        body["limitations"] = ["It is only this."]
    if negative:
        body["negative_cases"] = ["It refuses that."]
    wanting = type_ in (
        "command_result",
        "test_result",
        "lint_result",
        "visual_result",
        "llm_judge_report",
        "runtime_smoke_result",
    )
    missing = [
        *(["evidence.limitations"] if wanting and not limited else []),
        *(["evidence.negative_cases"] if type_ == "runtime_smoke_result" and not negative else []),
    ]
    document = altered(EVIDENCE, ("evidence",), body)
    if missing:
        assert [fault.key for fault in faults_of("evidence", document)] == missing
    else:
        assert formats.check("evidence", document, file=FILE) == ()


def test_every_smallest_evidence_is_taken() -> None:
    document = altered(EVIDENCE, ("evidence",), {"type": "path_boundary_check", "proves": []})
    assert formats.check("evidence", document, file=FILE) == ()


def test_the_list_of_faults_ends(monkeypatch: Any) -> None:
    many = {f"key{n}": n for n in range(5000)}
    faults = faults_of("goal", {**GOAL, **many})
    assert 1000 <= len(faults) <= 1001
    assert "more than 1000 faults" in str(faults[0])


def test_a_flood_of_values_is_one_fault() -> None:
    (fault,) = faults_of("goal", altered(GOAL, ("evaluator", "denied_context"), [0] * 200_000))
    assert "more than 100000 values" in str(fault)


# The quick check against jsonschema -----------------------------------------------------


def oracle(kind: str) -> Draft202012Validator:
    """jsonschema as it is, but for what Flow settles: ``$``, no 4.0 for 4, real dates."""
    name, definition = contracts_check.KINDS[kind]
    root = json.loads(schemas.text(name), object_hook=_end_of_text)
    schema = root["$defs"][definition] if definition else root
    schema = {**{k: v for k, v in schema.items() if k != "$schema"}, "$defs": root["$defs"]}
    checker = FormatChecker(formats=())
    checker.checks("date-time")(lambda value: not isinstance(value, str) or _real_time(value))
    return Draft202012Validator(schema, format_checker=checker)


def _end_of_text(schema: dict[str, Any]) -> dict[str, Any]:
    if isinstance(schema.get("pattern"), str):
        schema["pattern"] = schema["pattern"].replace("$", r"\Z")
    return schema


def _real_time(text: str) -> bool:
    return not text.endswith("\n") and validate_rfc3339(text)


ORACLES = {kind: oracle(kind) for kind in contracts_check.KINDS}


def agree(kind: str, document: Any) -> bool:
    """Whether the document is valid; fails where the two checks disagree."""
    quick = contracts_check.accepts(kind, document)[0]
    assert quick is ORACLES[kind].is_valid(document)
    return quick


@pytest.mark.parametrize(("kind", "document"), VALID)
def test_both_checks_take_what_is_valid(kind: str, document: Any) -> None:
    assert agree(kind, document)


@pytest.mark.parametrize(
    ("kind", "path", "value"),
    [
        # (jsonschema takes 4.0 for a whole number, Flow does not.)
        *[("goal", row[0], row[1]) for row in GOAL_FAULTS if row[1] != 4.0],
        *[("evidence", row[0], row[1]) for row in EVIDENCE_FAULTS],
        *[("verdict", row[0], row[1]) for row in VERDICT_FAULTS],
        *[(row[0], row[1], row[2]) for row in RUN_FAULTS],
    ],
)
def test_both_checks_agree_on_every_mutation(kind: str, path: Any, value: Any) -> None:
    agree(kind, altered(SAMPLES[kind], path, value))


def _paths(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [p for key, item in items for p in ((*path, key), *_paths(item, (*path, key)))]


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 5),
    st.integers(),
    st.sampled_from([0.5, -0.5, 1.5]),
    st.text(max_size=8),
    st.sampled_from(
        [
            "AC1",
            "ac",
            "active",
            "passed",
            "pass",
            NOW,
            SHA,
            COMMIT,
            "a\n",
            "..",
            "x/../y",
            "FlowGoal",
        ]
    ),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["id", "x", "to"]), inner, max_size=3),
    ),
    max_leaves=5,
)


@examples(200, long=12000)
@given(st.data())
def test_both_checks_agree_on_what_chance_makes(data: st.DataObject) -> None:
    kind, document = data.draw(st.sampled_from([*VALID, ("goal", SMALL_GOAL)]))
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(_paths(document) or [("apiVersion",)]))
        how = data.draw(st.sampled_from(["set", "drop", "add", "value"]))
        if how == "drop" and isinstance(path[-1], str):
            document = altered(document, path, Gone)
        elif how == "add" and isinstance(path[-1], str):
            document = altered(document, (*path[:-1], data.draw(st.text(max_size=6))), 1)
        else:
            document = altered(document, path, data.draw(VALUES if how == "value" else SCALARS))
    agree(kind, document)


@examples(100, long=6000)
@given(st.sampled_from(sorted(contracts_check.KINDS)), VALUES)
def test_both_checks_agree_on_any_value(kind: str, value: Any) -> None:
    agree(kind, value)


def test_a_keyword_without_a_check_is_an_error_not_a_hole() -> None:
    with pytest.raises(AttributeError):
        contracts_check._Compiler({}).test({"minProperties": 1})
    with pytest.raises(ValueError, match="email"):
        contracts_check._Compiler({}).test({"format": "email"})


def _properties(schema: Any) -> Iterator[dict[str, Any]]:
    """The schema of every property, however deep."""
    for key, inner in schema.items() if isinstance(schema, dict) else enumerate(schema):
        if key == "properties":
            yield from inner.values()
        if isinstance(inner, (dict, list)) and key not in ("default", "examples", "enum"):
            yield from _properties(inner)


@pytest.mark.parametrize("name", schemas.NAMES)
def test_every_property_has_its_checks_though_compiled_only_when_met(name: str) -> None:
    root = schemas.load(name)
    compiler = contracts_check._Compiler(root)
    found = list(_properties(root))
    assert len(found) > 10
    for schema in found:
        compiler.test(schema)
    with pytest.raises(AttributeError):
        compiler.test({"properties": {"a": {"minProperties": 1}}})({"a": {}}, None)


# Dates and times ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        NOW,
        "2026-03-01T10:15:00.123456789z",
        "2026-03-01t10:15:00+01:00",
        "2024-02-29T23:59:59-23:59",
        "2000-02-29T00:00:00Z",
        "1990-12-31T23:59:60Z",
        "1990-12-31T15:59:60-08:00",
    ],
)
def test_a_date_and_time_of_rfc_3339_is_taken(text: str) -> None:
    assert contracts_check.is_date_time(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-03-01",
        "2026-13-01T10:15:00Z",
        "2026-00-01T10:15:00Z",
        "2026-02-29T10:15:00Z",
        "1900-02-29T10:15:00Z",
        "2026-04-31T10:15:00Z",
        "2026-04-00T10:15:00Z",
        "2026-03-01T24:00:00Z",
        "2026-03-01T10:60:00Z",
        "2026-03-01T10:15:60Z",
        "2026-03-01T23:59:61Z",
        "2026-03-01 10:15:00Z",
        "2026-03-01T10:15:00",
        "2026-03-01T10:15:00.Z",
        "2026-03-01T10:15:00+24:00",
        "2026-03-01T10:15:00+01:60",
        "2026-03-01T10:15:00+0100",
        "2026-03-01T10:15:00ZZ",
        "2026-03-01T10:15:00Z\n",
        "2026-03-01T1٠:15:00Z",
        "2026-3-01T10:15:000Z",
        "2026-03-01T+1:15:00Z",
    ],
)
def test_what_is_no_date_and_time_is_refused(text: str) -> None:
    assert not contracts_check.is_date_time(text)


TIME_PARTS = st.tuples(
    st.integers(1, 9999),
    *[st.integers(low, high) for low, high in ((0, 13), (0, 32), (0, 24), (0, 60), (0, 59))],
    st.sampled_from(["", ".5", ".", ".123456789"]),
    st.sampled_from(["Z", "+00:00", "-23:59", "+24:00", "+1:00", ""]),
)


@examples(133, long=8000)
@given(TIME_PARTS)
def test_dates_are_those_of_the_validator_that_jsonschema_uses(parts: Any) -> None:
    text = "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}{}".format(*parts)
    assert contracts_check.is_date_time(text) is validate_rfc3339(text)


CLEAR = r"[A-Za-z0-9_*][A-Za-z0-9_*/-]*(?:\.[A-Za-z0-9_*/-]+)*"


@examples(100, long=6000)
@given(st.text(max_size=12))
def test_the_quick_patterns_are_the_patterns(text: str) -> None:
    for pattern in (r"\S", r"^[^\u0000]*$"):
        assert bool(contracts_check.pattern_search(pattern)(text)) is bool(
            re.search(pattern.replace("$", r"\Z"), text)
        )


def test_a_pattern_is_clear_where_the_expression_says_so() -> None:
    for count in range(6):
        for chars in product("aZ0_*/-.!é", repeat=count):
            text = "".join(chars)
            expected = re.fullmatch(CLEAR, text) is not None
            assert contracts_rules._is_clear(text) == expected, text
    assert not contracts_rules._is_clear(None)


@examples(100, long=6000)
@given(st.from_regex(CLEAR, fullmatch=True))
def test_what_the_rules_take_for_a_clear_pattern_is_one(pattern: str) -> None:
    assert contracts_rules._is_clear(pattern)
    assert check_patterns([pattern], "x") == []


NEAR_PATTERNS = [
    *("a" * 255, "a" * 256, "a\\b", ".a", "a.", "a/b"),
    *("", " ", "a", "\0", "a\0b", "\n", "0" * 64, "f" * 64, "0" * 63, "0" * 65, "g" * 64),
    *("F" * 64, "0" * 64 + "\n", "1:" + "a" * 64, "0:" + "a" * 64, ":" + "a" * 64, "a" * 64 + ":"),
    *(
        "1" * 16 + ":" + "a" * 64,
        "1" * 17 + ":" + "a" * 64,
        "1:2:" + "a" * 64,
        "\u0661:" + "a" * 64,
    ),
    *("a..b", "a.b", "r1\n", "AC1", "AC", "A" * 129, "a" * 64, "a" * 65, "a" * 201, "\u0661" * 64),
    *("0" * 39, "0" * 40, "0" * 40 + "\n", "0" * 41, "F" * 40, "0" * 20 + " " + "0" * 19),
    *(
        "..",
        "../a",
        "a/..",
        "a/../b",
        "a/..b",
        "a../b",
        "/",
        "/a",
        "/..",
        "a/",
        "a//b",
        "./a",
        "...",
    ),
    *("  ", " a", "a ", "a\x1f", "a\x7f", "\x7f", "a\nb", "\u2028", "\xa0", "\ud800", "a/..\n"),
]


@pytest.mark.parametrize("pattern", contracts_check.PLAIN)
def test_a_pattern_with_a_check_of_its_own_says_the_same(pattern: str) -> None:
    search = re.compile(pattern.replace("$", r"\Z")).search
    for text in NEAR_PATTERNS:
        assert bool(contracts_check.pattern_search(pattern)(text)) is bool(search(text)), text


def test_every_pattern_with_a_check_of_its_own_is_one_of_the_schemas() -> None:
    texts = "".join(schemas.text(name) for name in schemas.NAMES)
    for pattern in contracts_check.PLAIN:
        assert json.dumps(pattern)[1:-1] in texts.replace("\\\\u0000", r"\\u0000"), pattern
