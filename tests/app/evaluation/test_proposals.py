"""Proposals and approvals: what they rest on, and whether it still holds."""

from __future__ import annotations

from typing import Any

import pytest

from flow.app.evaluation import proposals
from flow.app.evaluation.values import Request
from flow.app.transitions.moves import approve
from flow.app.transitions.persons_word import PersonsWord
from flow.core.boundary.guards import as_approved
from flow.core.decision.verdict import CriterionResult, ProposedTransition, Verdict
from flow.core.evidence.model import Evidence, Subject, evidence_document, evidence_from_document
from flow.core.goal.model import canonical_digest
from tests.app.fakes import NOW, World, criterion, evaluate, goal_document, sidecar

TREE = "t" * 64
SUBJECT = Subject("h" * 40, TREE, "c" * 64, "0")
ROW = CriterionResult("AC1", "pass", "passed", 0, "one.evidence.yaml")
GUARDS = {"hooks/pre-commit": "d"}
GROUNDS = proposals.Grounds(SUBJECT, GUARDS)
PROPOSED = proposals.proposal_id(
    GROUNDS, "achieved", "achieved", [ROW, CriterionResult("AC2", "pending", "not_run")]
)


def made_id(subject: Subject = SUBJECT, verdict: str = "achieved", to: str = "achieved") -> str:
    return proposals.proposal_id(proposals.Grounds(subject, GUARDS), verdict, to, [ROW])


# --- the id ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "other",
    [
        made_id(SUBJECT._replace(contract="d")),
        made_id(SUBJECT._replace(tree="d")),
        made_id(verdict="other"),
        made_id(to="failed"),
        *(
            proposals.proposal_id(GROUNDS._replace(guards=guards), "achieved", "achieved", [ROW])
            for guards in ({}, {"hooks/pre-commit": "e"})
        ),
        proposals.proposal_id(GROUNDS, "achieved", "achieved", []),
        *(
            proposals.proposal_id(GROUNDS, "achieved", "achieved", [ROW._replace(**change)])  # type: ignore[arg-type]
            for change in (
                {"criterion_id": "AC2"},
                {"status": "fail"},
                {"outcome": "failed"},
                {"evidence_ref": "two.evidence.yaml"},
            )
        ),
    ],
)
def test_the_id_changes_with_all_it_rests_on(other: str) -> None:
    assert other != made_id()
    assert len(other) == 64


def test_the_id_is_written_down() -> None:
    """A proposal that is live must stay so when Flow is updated."""
    assert made_id() == canonical_digest(
        {
            "contract": "c" * 64,
            "subject": "t" * 64,
            "guards": {"hooks/pre-commit": "d"},
            "verdict": "achieved",
            "to": "achieved",
            "evidence": [["AC1", "pass", "passed", "one.evidence.yaml"]],
        }
    )


def test_the_id_does_not_change_with_anything_else() -> None:
    assert made_id(SUBJECT._replace(head="i" * 40, flow_version="9")) == made_id()
    row = ROW._replace(reason="x", limitations=("y",), exit_code=1)
    assert proposals.proposal_id(GROUNDS, "achieved", "achieved", [row]) == made_id()


def test_the_judges_report_is_part_of_the_id() -> None:
    ids = {
        proposals.proposal_id(GROUNDS._replace(judge=judge), "achieved", "achieved", [ROW])
        for judge in (None, "one.evidence.yaml", "two.evidence.yaml")
    }
    assert len(ids) == 3
    assert made_id() in ids


JUDGED = CriterionResult("AC2", "pass", "not_run", None, "judge.evidence.yaml")


def opinion(**change: Any) -> Evidence:
    """The judge's sidecar behind a proposal."""
    body: dict[str, Any] = {
        "type": "llm_judge_report",
        "goal": "issue-4",
        "proves": ["AC2"],
        "subject": {"tree": TREE},
        "verdict": "achieved",
        "sidecars": ["ballot.evidence.yaml"],
        **change,
    }
    judgement = {"verdict": body["verdict"], "ballots": {"sidecars": body["sidecars"]}}
    document = evidence_document(
        id="j",
        goal=body["goal"],
        run_id="run-1",
        created_at=NOW,
        created_by="flow-evaluator",
        type=body["type"],
        body={"proves": body["proves"], "subject": body["subject"], "judgement": judgement},
    )
    return evidence_from_document(document)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, None),
        ({"sidecars": []}, None),
        ({"type": "command_result"}, "does not say what it claims"),
        ({"goal": "issue-5"}, "does not say what it claims"),
        ({"proves": []}, "does not say what it claims"),
        ({"proves": ["AC1"]}, "does not say what it claims"),
        ({"subject": {"tree": "u" * 64}}, "does not say what it claims"),
        ({"subject": {}}, "does not say what it claims"),
        ({"verdict": "not_achieved"}, "does not say what it claims"),
        ({"sidecars": ["gone.evidence.yaml"]}, "ballot gone.evidence.yaml is missing or altered"),
        (None, "the judge's report judge.evidence.yaml is missing or altered"),
    ],
)
def test_what_a_proposal_on_a_judges_word_can_lose(change: Any, words: str | None) -> None:
    known = {"one.evidence.yaml": evidence(), "ballot.evidence.yaml": evidence()}
    if change is not None:
        known["judge.evidence.yaml"] = opinion(**change)
    grounds = GROUNDS._replace(judge="judge.evidence.yaml")
    id = proposals.proposal_id(grounds, "achieved", "achieved", [ROW, JUDGED])
    said = verdict(ROW, JUDGED)
    assert said.proposed_transition is not None
    said = said._replace(proposed_transition=said.proposed_transition._replace(proposal_id=id))
    made = proposals.document(said, grounds, NOW, None, known.get)
    assert proposals.is_intact(made)
    lost = proposals.lost_grounds(made, known.get)
    assert any(words in each for each in lost) if words else lost == []
    assert not proposals.is_intact({**made, "judge": "another.evidence.yaml"})
    assert not proposals.is_intact({**made, "judge": 5})
    assert not proposals.is_intact({key: value for key, value in made.items() if key != "judge"})


# --- the document ---------------------------------------------------------------------------------


def verdict(*rows: CriterionResult, proposed: bool = True) -> Verdict:
    return Verdict(
        goal_id="issue-4",
        run_id="run-1",
        verdict="achieved",
        confidence=1.0,
        delta="unchanged",
        reason="r",
        next_step_hint="h",
        blocker_type="none",
        criterion_results=rows or (ROW, CriterionResult("AC2", "pending", "not_run")),
        path_violations=(),
        warnings=(),
        proposed_transition=ProposedTransition("achieved", "because", 3, PROPOSED)
        if proposed
        else None,
        lifecycle_from="active",
        lifecycle_to="active",
        turns_evaluated=3,
    )


def evidence(
    *, outcome: str = "passed", proves: tuple[str, ...] = ("AC1",), tree: Any = TREE
) -> Evidence:
    body = {"proves": list(proves), "outcome": outcome, "subject": {"tree": tree}}
    return evidence_from_document(
        evidence_document(
            id="e",
            goal="issue-4",
            run_id="run-1",
            created_at=NOW,
            created_by="flow-evaluator",
            type="command_result",
            body=body,
        )
    )


def there(reference: str) -> Evidence:
    return evidence()


def gone(reference: str) -> None:
    return None


FRESH: dict[str, Any] = {
    "proposal_id": PROPOSED,
    "goal_id": "issue-4",
    "run_id": "run-1",
    "to": "achieved",
    "verdict": "achieved",
    "reason": "because",
    "turns_evaluated": 3,
    "contract": "c" * 64,
    "head": "h" * 40,
    "tree": "t" * 64,
    "guards": GUARDS,
    "results": [["AC1", "pass", "passed"], ["AC2", "pending", "not_run"]],
    "evidence": ["one.evidence.yaml", None],
    "created_at": NOW,
}


def signed(**change: Any) -> dict[str, Any]:
    """A proposal whose id is that of what it says."""
    proposal = {**FRESH, **change}
    rows = [
        CriterionResult(id, status, outcome, None, reference)
        for (id, status, outcome), reference in zip(
            proposal["results"], proposal["evidence"], strict=True
        )
    ]
    subject = Subject(None, proposal["tree"], proposal["contract"], "0")
    grounds = proposals.Grounds(subject, proposal["guards"])
    made = proposals.proposal_id(grounds, proposal["verdict"], proposal["to"], rows)
    return {**proposal, "proposal_id": made}


OLD = signed(
    turns_evaluated=2,
    reason="old",
    head="g" * 40,
    evidence=["older.evidence.yaml", "two.evidence.yaml"],
    created_at="2026-01-01T00:00:00Z",
)


def test_a_first_proposal() -> None:
    assert proposals.document(verdict(), GROUNDS, NOW, None, there) == FRESH


def test_a_live_proposal_of_the_same_result_stays() -> None:
    kept = proposals.document(verdict(), GROUNDS, NOW, OLD, there)
    assert kept == OLD
    assert kept is not OLD


@pytest.mark.parametrize(
    "change",
    [
        {"goal_id": "issue-5"},
        {"run_id": "run-2"},
        {"to": "failed"},
        {"verdict": "other"},
        {"contract": "d"},
        {"tree": "u"},
        {"results": [["AC1", "pass", "passed"], ["AC2", "pass", "passed"]]},
    ],
)
def test_any_other_live_proposal_is_replaced(change: dict[str, Any]) -> None:
    assert proposals.document(verdict(), GROUNDS, NOW, signed(**change), there) == FRESH
    missing = {key: value for key, value in OLD.items() if key not in change}
    assert proposals.document(verdict(), GROUNDS, NOW, missing, there) == FRESH


@pytest.mark.parametrize("lost", ["older.evidence.yaml", "two.evidence.yaml"])
def test_a_live_proposal_whose_evidence_is_gone_is_replaced(lost: str) -> None:
    def counted(reference: str) -> Any:
        return None if reference == lost else evidence()

    assert proposals.document(verdict(), GROUNDS, NOW, OLD, counted) == FRESH


@pytest.mark.parametrize("why", ["the clock was set back", "Flow was upgraded"])
def test_a_live_proposal_that_evaluating_again_is_to_renew_is_replaced(why: str) -> None:
    known = evidence()
    if why == "the clock was set back":
        known = known._replace(created_at="2999-01-01T00:00:00Z")
    else:
        known.document["evidence"]["subject"]["flow_version"] = "0.0.9"
    assert proposals.outdated(OLD, lambda _: known, SUBJECT.flow_version, NOW)
    assert proposals.document(verdict(), GROUNDS, NOW, OLD, lambda _: known) == FRESH


@pytest.mark.parametrize(
    ("outcome", "found", "words"),
    [
        ("passed", evidence(), None),
        ("passed", evidence(proves=("AC0", "AC1")), None),
        ("passed", None, "is missing or altered"),
        ("passed", evidence(outcome="failed"), "does not say what it claims"),
        ("passed", evidence(proves=("AC2",)), "does not say what it claims"),
        ("passed", evidence(tree="u" * 64), "does not say what it claims"),
        ("passed", evidence(tree=None), "does not say what it claims"),
        ("failed", evidence(outcome="failed", proves=(), tree=None), None),
        ("not_run", evidence(outcome="failed"), None),
        ("not_run", None, "is missing or altered"),
    ],
)
def test_what_a_proposal_has_lost(outcome: str, found: Any, words: str | None) -> None:
    rows = [["AC0", "pass", "not_run"], ["AC1", "pass", outcome], ["AC2", "pass", "not_run"]]
    old = signed(results=rows, evidence=[None, "one\x1b", "two"])

    def counted(reference: str) -> Evidence | None:
        return found if reference == "one\x1b" else None

    said = [f"evidence one\\x1b {words}"] if words else []
    assert proposals.lost_grounds(old, counted) == [*said, "evidence two is missing or altered"]


def test_what_had_no_evidence_cannot_lose_it() -> None:
    old = signed(evidence=["one.evidence.yaml", None], reason="old")
    seen: list[str] = []

    def counted(reference: str) -> Any:
        seen.append(reference)
        return evidence()

    assert proposals.document(verdict(), GROUNDS, NOW, old, counted) == old
    assert set(seen) == {"one.evidence.yaml"}


def test_a_verdict_that_proposes_nothing_has_no_document() -> None:
    with pytest.raises(ValueError, match="proposes nothing"):
        proposals.document(verdict(proposed=False), GROUNDS, NOW, None, there)


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"to": "failed"},
        {"to": "cancelled"},
        {"results": [], "evidence": []},
        {"evidence": [None, None]},
    ],
)
def test_a_proposal_that_says_what_its_id_says_is_intact(change: dict[str, Any]) -> None:
    assert proposals.is_intact(signed(**change)) is True


TEXTS = ("goal_id", "run_id", "to", "verdict", "reason", "contract", "tree")


@pytest.mark.parametrize("value", [None, 1, ["x"]])
@pytest.mark.parametrize("key", ["proposal_id", *TEXTS])
def test_a_proposal_whose_texts_are_none_is_broken(key: str, value: Any) -> None:
    broken = {**FRESH, key: value}
    if key in ("verdict", "contract", "tree"):
        broken = {**signed(**{key: value}), key: value}
    assert proposals.is_intact(broken) is False
    assert proposals.is_intact({k: v for k, v in FRESH.items() if k != key}) is False


@pytest.mark.parametrize(
    "change",
    [
        {"to": "blocked"},
        {"to": "active"},
        {"results": [["AC1", "pass", "passed"]], "evidence": ["one.evidence.yaml", None]},
        {"results": None},
        {"evidence": None},
        {"results": ["AC1", "AC2"]},
        {"results": [["AC1", "pass"], ["AC2", "pending", "not_run"]]},
        {"results": [("AC1", "pass", "passed"), ("AC2", "pending", "not_run")]},
        {"evidence": ["one.evidence.yaml", 1]},
        {"evidence": ["one.evidence.yaml"]},
        {"evidence": ("one.evidence.yaml", None)},
    ],
)
def test_a_proposal_of_another_shape_is_broken(change: dict[str, Any]) -> None:
    broken = {**FRESH, **change}
    if change.keys() == {"to"}:
        broken = signed(**change)
    assert proposals.is_intact(broken) is False
    assert proposals.document(verdict(), GROUNDS, NOW, broken, there) == FRESH


@pytest.mark.parametrize("row", [["AC1", "pass"], ["AC1", "pass", "passed", "more"], "AC1"])
def test_a_proposal_with_rows_of_another_length_is_broken_whatever_its_id(row: Any) -> None:
    body = {
        "contract": FRESH["contract"],
        "subject": FRESH["tree"],
        "verdict": "achieved",
        "to": "achieved",
        "evidence": [[*row, "one"]],
    }
    forged = {
        **FRESH,
        "results": [row],
        "evidence": ["one"],
        "proposal_id": canonical_digest(body),
    }
    assert proposals.is_intact(forged) is False


@pytest.mark.parametrize("reference", [7, True, ["one"], {"a": "one"}])
def test_a_proposal_that_rests_on_what_is_no_name_is_broken_whatever_its_id(reference: Any) -> None:
    forged = {
        **FRESH,
        "results": [["AC1", "pass", "passed"]],
        "evidence": [reference],
    }
    body = {
        "contract": forged["contract"],
        "subject": forged["tree"],
        "verdict": forged["verdict"],
        "to": forged["to"],
        "evidence": [["AC1", "pass", "passed", reference]],
    }
    forged["proposal_id"] = canonical_digest(body)
    assert proposals.is_intact(forged) is False


@pytest.mark.parametrize("key", ["to", "verdict", "contract", "tree", "results", "evidence"])
def test_a_proposal_that_was_changed_since_is_none(key: str) -> None:
    other = signed(
        to="failed",
        verdict="other",
        contract="d",
        tree="u",
        results=[["AC1", "fail", "failed"], ["AC2", "pending", "not_run"]],
        evidence=["other.evidence.yaml", None],
    )
    assert proposals.is_intact({**FRESH, key: other[key]}) is False


# --- approvals ------------------------------------------------------------------------------------


def approved(**change: Any) -> tuple[World, Subject]:
    """A world with one approved fuzzy criterion, its sidecar changed by hand, and the subject."""
    world = World(goal_document(criterion("AC1"), criterion("AC2", None)))
    path = approve(world.desk(), "issue-4", "AC2", PersonsWord("sam", None, "ok"))
    document = {
        k: dict(v) if isinstance(v, dict) else v for k, v in world.evidence[path].document.items()
    }
    for key, value in change.items():
        part = "metadata" if key in ("goal", "created_by") else "evidence"
        document[part][key] = value
    world.evidence[path] = evidence_from_document(document)
    subject = Subject("h" * 40, world_tree(world), world.goal("issue-4").contract, "0")
    return world, subject


def world_tree(world: World) -> str | None:
    from flow.app.evaluation.observing import subject_of

    return subject_of(world.goal("issue-4"), world.snapshot(world.base, ()), world.base, "0").tree


def fresh(world: World, subject: Subject) -> frozenset[str]:
    return proposals.fresh_approvals(
        world.goal("issue-4").goal,
        subject,
        world,  # type: ignore[arg-type]
        NOW,
    )


def test_an_approval_is_fresh_on_its_files_and_wording() -> None:
    assert fresh(*approved()) == {"AC2"}


@pytest.mark.parametrize(
    "change",
    [
        {"goal": "issue-5"},
        {"created_by": "flow-evaluator"},
        {"created_by": None},
        {"type": "llm_judge_report"},
        {"proves": ["AC1"]},
        {"criterion_digest": "d"},
        {"subject": {}},
    ],
)
def test_what_is_no_approval_of_this_criterion(change: dict[str, Any]) -> None:
    assert fresh(*approved(**change)) == frozenset()


def test_an_approval_is_stale_on_other_files() -> None:
    world, subject = approved()
    assert fresh(world, subject._replace(tree="u" * 64)) == frozenset()


def test_nothing_is_fresh_where_git_cannot_tell_the_files() -> None:
    world, subject = approved(subject={"tree": None})
    assert fresh(world, subject._replace(tree=None)) == frozenset()


def test_an_approval_is_stale_for_another_wording() -> None:
    world, subject = approved()
    world.document["objective"]["acceptance_criteria"][1]["text"] = "something else"
    assert fresh(world, subject) == frozenset()


def test_an_altered_approval_counts_for_nothing() -> None:
    world, subject = approved()
    world.altered.update(world.evidence)
    assert fresh(world, subject) == frozenset()


def test_an_approval_never_covers_a_command() -> None:
    world, subject = approved()
    rows = world.document["objective"]["acceptance_criteria"]
    rows[0]["evidence_ref"] = rows[1]["evidence_ref"]
    (evidence,) = world.evidence.values()
    document = dict(evidence.document)
    document["evidence"] = {
        **document["evidence"],
        "proves": ["AC1", "AC2"],
        "criterion_digest": world.goal("issue-4").goal.criteria[0].digest,
    }
    world.evidence = {path: evidence_from_document(document) for path in world.evidence}
    assert fresh(world, subject) == frozenset()


def test_the_first_of_several_fuzzy_criteria_need_not_be_approved() -> None:
    world, subject = approved()
    rows = world.document["objective"]["acceptance_criteria"]
    rows.insert(0, criterion("AC0", None))
    rows.insert(1, criterion("AC3", None, evidence_ref="not there"))
    assert fresh(world, subject) == {"AC2"}


# --- guards ---------------------------------------------------------------------------------------


def guarded() -> World:
    world = World(goal_document())
    world.guards = {"hooks/x": "d"}
    approve(world.desk(), "issue-4", "guards", PersonsWord("sam", None, "ok"))
    return world


def approves(world: World, run_id: str = "run-1") -> bool:
    goal = world.goal("issue-4").goal
    approved = proposals.approved_guards(goal, run_id, world)  # type: ignore[arg-type]
    return as_approved(world.guards, world.base.guards, approved)


def test_guards_are_approved_as_they_are_now_in_this_run() -> None:
    world = guarded()
    assert approves(world) is True
    assert approves(world, "run-2") is False
    world.guards = {"hooks/x": "e"}
    assert approves(world) is False
    world.guards = {}
    assert approves(world) is False


def test_nobody_approves_an_absence_of_guards() -> None:
    world = World(goal_document())
    approve(world.desk(), "issue-4", "guards", PersonsWord("sam", None, "ok"))
    assert approves(world) is False


def test_an_approval_of_another_goals_guards_is_none() -> None:
    world = guarded()
    path = sidecar("run-1", "evidence-guards-approval-0")
    evidence: Evidence = world.evidence[path]
    world.evidence[path] = evidence._replace(goal="issue-5")
    assert approves(world) is False
    world.altered.add(path)
    assert approves(world) is False


def test_a_whole_walk_with_an_approval_can_be_confirmed() -> None:
    from flow.app.transitions.closing import confirm

    world, _ = approved()
    said = evaluate(Request("issue-4"), world.tools())
    assert said.proposed_transition is not None
    assert world.live is not None
    assert len(world.live["evidence"]) == 2
    closed = confirm(world.desk(), "issue-4", said.proposed_transition.proposal_id, None, "door")
    assert closed.status == "achieved"
