"""What an evaluation knows of the files, before and after its commands."""

from __future__ import annotations

from typing import Any

import pytest

from flow.app.evaluation import observing
from flow.app.evaluation.values import Drift, EvaluationLimits, Facts, Request
from flow.app.transitions.moves import approve
from flow.app.transitions.persons_word import PersonsWord
from flow.core.boundary.changes import Baseline, ContentState, PathChange
from flow.core.decision.verdict import Verdict
from flow.core.evidence.model import Subject
from flow.errors import StateError
from tests.app.fakes import BASE, World, changed, criterion, evaluate, goal_document

RUN = "2026-11-21T120000Z-issue-4"


def run(world: World, **request: Any) -> Verdict:
    return evaluate(Request("issue-4", **request), world.tools())


def look(world: World, **request: Any) -> Facts:
    return observing.observe(world.goal("issue-4"), Request("issue-4", **request), world.tools())


# --- before ---------------------------------------------------------------------------------------


def test_the_facts_before_any_command() -> None:
    world = World(goal_document(turns=4))
    world.changes = (changed("src/a"),)
    facts = look(world)
    snapshot = world.snapshot(world.base, ())
    assert facts == Facts(
        world.goal("issue-4"),
        "run-1",
        5,
        world.base,
        True,
        snapshot,
        observing.subject_of(world.goal("issue-4"), snapshot, world.base, "0"),
        True,
    )
    assert world.kept == []


@pytest.mark.parametrize(
    ("asked", "goals", "expected"),
    [
        ("mine", "run-1", "mine"),
        (None, "run-1", "run-1"),
        (None, None, RUN),
        ("mine", None, "mine"),
    ],
)
def test_which_run_is_meant(asked: str | None, goals: str | None, expected: str) -> None:
    world = World(goal_document())
    if goals is None:
        del world.document["scope"]["run_id"]
    assert look(world, run_id=asked).run_id == expected


@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize("dry", [True, False])
@pytest.mark.parametrize("asked", ["run-1", "run-2"])
def test_a_new_run_starts_where_the_old_one_did(asked: str, dry: bool, recorded: bool) -> None:
    world = World(goal_document())
    world.recorded = recorded
    before = world.base
    facts = look(world, run_id=asked, dry_run=dry)
    new = asked == "run-2" and recorded and not dry
    assert world.kept == ([("issue-4", "run-2", before)] if new else [])
    assert facts.baseline_recorded is recorded


@pytest.mark.parametrize("contains", [True, False])
def test_another_base_is_looked_at(contains: bool) -> None:
    world = World(goal_document())
    world.contains_pinned = contains
    assert look(world, base="v1").proposable is contains
    assert world.widened == ["v1"]
    assert look(world).proposable is True
    assert world.widened == ["v1"]


def test_denied_patterns_of_goal_and_settings_are_looked_for() -> None:
    world = World(goal_document(denied_paths=["*.pem"]))
    world.limits = EvaluationLimits(1, 600, ("*.env",))
    run(world)
    assert world.denied_seen == [("*.pem", "*.env")] * 2


@pytest.mark.parametrize(
    ("goals", "now", "refused"),
    [
        ("main", "main", False),
        ("main", None, False),
        ("none", "main", False),
        ("main", "other", True),
        ("other", "main", True),
        ("ma\x1b", "none", True),
    ],
)
def test_another_branch(goals: str, now: str | None, refused: bool) -> None:
    world = World(goal_document())
    world.document["scope"]["branch"] = goals
    goal = world.goal("issue-4").goal
    if not refused:
        observing.refuse_other_branch(goal, now)
        return
    with pytest.raises(StateError) as caught:
        observing.refuse_other_branch(goal, now)
    error = caught.value.to_dict()
    assert (error["code"], error["key"], error["value"]) == ("wrong_branch", "scope.branch", goals)
    assert "\x1b" not in str(caught.value)


# --- the subject ----------------------------------------------------------------------------------


def test_the_subject_is_head_tree_contract_and_version() -> None:
    world = World(goal_document())
    loaded, snapshot = world.goal("issue-4"), world.snapshot(world.base, ())
    subject = observing.subject_of(loaded, snapshot, world.base, "1.2")
    assert subject == Subject("h" * 40, subject.tree, loaded.contract, "1.2")
    assert len(subject.tree or "") == 64


def test_where_git_cannot_answer_there_is_no_tree() -> None:
    world = World(goal_document())
    world.problems = ("a merge is under way",)
    snapshot = world.snapshot(world.base, ())
    assert observing.subject_of(world.goal("issue-4"), snapshot, world.base, "0").tree is None


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        (".decisions/issue-4.md", False),
        (".decisions/session-2026-11-21.md", False),
        (".decisions/plan.md", False),
        (".decisions/other.md", True),
        ("src/a", True),
    ],
)
def test_flows_own_journals_are_no_part_of_the_subject(path: str, counts: bool) -> None:
    world = World(goal_document())
    world.document["scope"]["journal"] = ".decisions/plan.md"
    before = look(world).subject.tree
    world.changes = (changed(path, untracked=False),)
    assert (look(world).subject.tree != before) is counts


def test_the_journal_folder_is_the_one_that_was_pinned() -> None:
    world = World(goal_document())
    world.base = world.base._replace(journal_dir="docs/log")
    world.changes = (changed("docs/log/issue-4.md"),)
    assert run(world).verdict == "achieved"
    world.changes = (changed(".decisions/issue-4.md"),)
    assert run(world).verdict == "blocked"


# --- what a killed evaluation left ----------------------------------------------------------------

CACHE = "lib/__pycache__/a.pyc"


@pytest.mark.parametrize("problems", [(), ("a merge is under way",)])
@pytest.mark.parametrize("base", [None, "v1"])
@pytest.mark.parametrize("dry", [True, False])
def test_a_killed_evaluations_caches_are_kept_as_by_products(
    dry: bool, base: str | None, problems: tuple[str, ...]
) -> None:
    world = World(goal_document())
    world.base = world.base._replace(by_products={"old": "digest"})
    world.changes = (changed(CACHE), changed("lib/evil.py"), changed("b.pyc", untracked=False))
    world.unfinished = frozenset()
    world.problems = problems
    look(world, dry_run=dry, base=base)
    if dry or base or problems:
        assert world.kept == []
    else:
        assert [(a, b, c.by_products) for a, b, c in world.kept] == [
            ("issue-4", "run-1", {"old": "digest", CACHE: "100644:new"})
        ]


def test_the_subject_is_taken_with_those_caches_left_out() -> None:
    world = World(goal_document())
    clean = look(world).subject.tree
    world.changes, world.unfinished = (changed(CACHE),), frozenset()
    assert look(world).subject.tree == clean


@pytest.mark.parametrize("unfinished", [None, frozenset({CACHE})])
def test_caches_that_were_there_before_are_somebodys(unfinished: Any) -> None:
    world = World(goal_document())
    world.changes, world.unfinished = (changed(CACHE),), unfinished
    look(world)
    assert world.kept == []


# --- after ----------------------------------------------------------------------------------------


def test_by_products_are_recorded_and_named() -> None:
    world = World(goal_document())
    world.base = world.base._replace(by_products={"old": "digest"})
    world.during["AC1"] = lambda: setattr(world, "changes", (changed("z.log"), changed("a.log")))
    verdict = run(world)
    assert [(a, b, c.by_products) for a, b, c in world.kept] == [
        ("issue-4", "run-1", {"old": "digest", "z.log": "100644:new", "a.log": "100644:new"})
    ]
    assert verdict.warnings == ("left behind by the commands, not counted: a.log, z.log",)


def test_a_by_product_of_another_range_is_not_recorded() -> None:
    world = World(goal_document())
    world.during["AC1"] = lambda: setattr(world, "changes", (changed("a.log"),))
    verdict = run(world, base="v1")
    assert world.kept == []
    assert "a.log" in verdict.warnings[0]
    assert verdict.verdict == "achieved"


def test_a_known_by_product_is_warned_about_once() -> None:
    world = World(goal_document())
    world.changes = (changed("a.log", "first"),)
    world.base = world.base._replace(by_products={"a.log": "100644:first"})
    world.during["AC1"] = lambda: setattr(world, "changes", (changed("a.log", "second"),))
    verdict = run(world)
    assert verdict.verdict == "achieved"
    assert sum("a.log" in warning for warning in verdict.warnings) == 1
    assert world.base.by_products == {"a.log": "100644:second"}


def test_a_commit_while_commands_run_makes_it_stale() -> None:
    world = World(goal_document())
    world.during["AC1"] = lambda: setattr(world, "head", "i" * 40)
    verdict = run(world)
    assert verdict.verdict == "not_achieved"
    assert "changed while the commands ran: HEAD" in verdict.reason


def test_a_staged_journal_while_commands_run_does_not() -> None:
    world = World(goal_document())
    world.during["AC1"] = lambda: setattr(
        world, "changes", (changed(".decisions/issue-4.md", untracked=False),)
    )
    assert run(world).verdict == "achieved"


def test_git_that_breaks_while_commands_run_makes_it_stale() -> None:
    world = World(goal_document())
    world.during["AC1"] = lambda: setattr(world, "problems", ("a merge is under way",))
    verdict = run(world)
    assert verdict.verdict == "not_achieved"
    assert verdict.criterion_results[0].status == "evidence_collected"
    assert "changed while the commands ran: a merge is under way" in verdict.reason


@pytest.mark.parametrize("after", [(), ("still",)])
def test_git_that_could_not_answer_before_cannot_say_what_moved(after: tuple[str, ...]) -> None:
    world = World(goal_document())
    world.problems = ("a merge is under way",)

    def during() -> None:
        world.problems = after
        world.changes = (changed("out.log"),)

    world.during["AC1"] = during
    verdict = run(world)
    assert verdict.verdict == "not_achieved"
    assert verdict.criterion_results[0].status == "pass"
    assert "changed while" not in verdict.reason
    assert "out.log" not in world.base.by_products, "it may have been there before"
    assert world.began_with == []


def test_an_edit_beside_a_by_product_still_counts() -> None:
    world = World(goal_document())
    entry = ContentState("100644", "old")
    world.changes = (PathChange("src/a", entry, entry, entry, ContentState("100644", "mine")),)

    def during() -> None:
        world.changes = (
            PathChange("src/a", entry, entry, entry, ContentState("100644", "other")),
            changed("out.log"),
        )

    world.during["AC1"] = during
    verdict = run(world)
    assert "changed while the commands ran: src/a" in verdict.reason
    assert "out.log" not in verdict.reason


def test_nothing_is_looked_at_again_where_nothing_ran() -> None:
    world = World(goal_document(criterion("FZ1", None)))
    run(world)
    assert world.log.count("snapshot") == 1


# --- the boundary ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "verdict"), [("src/a", "achieved"), ("src/key.pem", "blocked"), ("b.env", "blocked")]
)
def test_the_goals_paths_decide(path: str, verdict: str) -> None:
    world = World(goal_document(allowed=["src/**", "*.env"], denied_paths=["*.pem"]))
    world.base = world.base._replace(denied=("*.pem", "*.env"))
    world.limits = EvaluationLimits(1, 600, ("*.env",))
    world.changes = (changed(path),)
    assert run(world).verdict == verdict


def test_changed_guards_wait_for_a_person_who_approves_them_as_they_are() -> None:
    world = World(goal_document(criterion("AC1")))
    world.guards = {"hooks/pre-commit": "d1"}
    verdict = run(world)
    assert verdict.verdict == "needs_human_review"
    assert "hooks/pre-commit" in verdict.reason
    approve(world.desk(), "issue-4", "guards", PersonsWord("sam", None, "ours"))
    assert run(world).verdict == "achieved"
    world.guards = {"hooks/pre-commit": "d2"}
    assert run(world).verdict == "needs_human_review"


def test_a_lost_baseline_is_one_more_changed_guard() -> None:
    world = World(goal_document())
    world.recorded = False
    world.base = Baseline(BASE, {}, {}, {}, {}, {})
    world.guards = {"hooks/x": "d"}
    reason = run(world).reason
    assert f"changed since activation: hooks/x, {observing.LOST}" in reason


def test_protected_files_that_changed_are_reported() -> None:
    world = World(goal_document(protected_paths=["src/tests/**"]))
    world.changes = (changed("src/tests/a"), changed("src/b"))
    facts = look(world)
    assert observing.boundary(facts, Drift(), world.tools()).protected_changed == ("src/tests/a",)


def test_old_and_new_by_products_are_both_warned_about() -> None:
    world = World(goal_document())
    world.changes = (changed("old.log", "1"),)
    world.base = world.base._replace(by_products={"old.log": "100644:1"})
    world.during["AC1"] = lambda: setattr(
        world, "changes", (changed("old.log", "1"), changed("new.log"))
    )
    assert run(world).warnings == (
        "left by Flow's own commands and not counted: old.log",
        "left behind by the commands, not counted: new.log",
    )


def test_approved_guards_are_none_that_changed() -> None:
    world = World(goal_document())
    world.guards = {"hooks/x": "d"}
    assert observing.boundary(look(world), Drift(), world.tools()).guards_changed == ("hooks/x",)
    approve(world.desk(), "issue-4", "guards", PersonsWord("sam", None, "ok"))
    assert observing.boundary(look(world), Drift(), world.tools()).guards_changed == ()
