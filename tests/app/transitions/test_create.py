"""Creating a goal and moving its base, with everything outside faked."""

from __future__ import annotations

from typing import Any

import pytest

from flow.app.ports import Artifact, Move
from flow.app.transitions import create
from flow.app.transitions.create import Outside, Rebase
from flow.core.boundary.changes import Baseline
from flow.core.drafting.defaults import not_trusted
from flow.core.goal.lifecycle import TERMINAL
from flow.core.tool_calls.speaker import Speaker
from flow.errors import ContractError, PersonNeeded, StateError
from tests.app.fakes import BASE, Shop, World, criterion, goal_document

OTHER = "c" * 40


def fresh(*criteria: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A goal document as a person writes it: no run, no base."""
    document = goal_document(*criteria, **more)
    document["scope"] = {"repo": "demo", "branch": "main"}
    return document


def other() -> dict[str, Any]:
    """The document of a goal that is there already, ``issue-3``."""
    document = goal_document()
    document["metadata"]["id"] = "issue-3"
    return document


def make(
    shop: Shop, document: dict[str, Any], *, as_draft: bool | None = False, **more: Any
) -> create.Created:
    new = create.NewGoal(repr(document), "mine.yaml", "a file", as_draft, **more)
    return create.create_goal(shop, new)


RUN = "2026-11-21T120000Z-issue-4"


def test_a_goal_is_written_active_pinned_trusted_and_journalled() -> None:
    shop = Shop()
    created = make(shop, fresh())
    (text, run_id, baseline, artifact, event) = shop.written[0]
    assert text["lifecycle"]["status"] == "active"
    assert text["scope"] == {"repo": "demo", "branch": "main", "run_id": RUN, "base_commit": BASE}
    assert (run_id, baseline) == (RUN, shop.base)
    assert artifact == Artifact("goal-created", {"goal_id": "issue-4", "source": "a file"})
    assert event == {
        "type": "created",
        "to": "active",
        "source": "a file",
        "by": "A Tester",
        "said_from": "terminal",
        "base_commit": BASE,
    }
    assert created == create.Created(
        "issue-4", "active", ".flow/goals/issue-4.goal.yaml", RUN, BASE, ()
    )
    assert created.to_document() == {
        "goal_id": "issue-4",
        "status": "active",
        "file": ".flow/goals/issue-4.goal.yaml",
        "run_id": RUN,
        "base_commit": BASE,
        "warnings": [],
    }
    assert shop.log == ["trust", "write"]
    ((trusted, how),) = shop.trusts
    assert how == "flow goal create"
    assert dict(trusted.document) == text  # the contract as it is written, with its base
    assert set(shop.names) == {"mine.yaml"}


def test_a_draft_is_neither_pinned_nor_trusted() -> None:
    shop = Shop()
    shop.committed = [Outside("docs/x", "not in allowed_paths", ())]
    created = make(shop, fresh(), as_draft=True)
    (text, run_id, baseline, _, event) = shop.written[0]
    assert (created.status, created.run_id, created.base_commit) == ("draft", RUN, None)
    assert text["lifecycle"]["status"] == "draft"
    assert (run_id, baseline, event["to"]) == (RUN, None, "draft")
    assert (shop.pinned, shop.trusts) == ([], [])


@pytest.mark.parametrize("status", ["draft", "active"])
def test_only_a_goal_that_begins_may_be_refused_beside_an_open_one(status: str) -> None:
    shop = Shop()
    shop.speaker = Speaker("agent")
    shop.others = [other()]
    document = fresh(status=status)
    if status == "draft":
        assert make(shop, document, as_draft=None).status == "draft"
    else:
        with pytest.raises(PersonNeeded):
            make(shop, document, as_draft=None)
        assert shop.written == []


def test_with_defaults_that_nobody_trusts_nothing_is_trusted_or_run_and_that_is_told() -> None:
    shop = Shop()
    shop.defaults_known, shop.passing = False, ("grep -q a b",)
    created = make(shop, fresh(criterion("AC1", "grep -q a b")))
    assert (created.status, shop.trusts, shop.asked) == ("active", [], [])
    assert created.warnings == (not_trusted("issue-4"),)
    assert make(shop, fresh(), as_draft=True).warnings == ()


def test_where_every_goal_is_trusted_unknown_defaults_need_no_word() -> None:
    shop = Shop()
    shop.defaults_known, shop.all_trusted = False, True
    created = make(shop, fresh())
    assert (created.warnings, shop.trusts) == ((), [])


def test_a_copy_of_a_contract_that_nobody_trusts_is_not_trusted_and_nothing_of_it_runs() -> None:
    shop = Shop()
    shop.others, shop.passing = [other()], ("grep -q a b",)
    created = make(shop, fresh(criterion("AC1", "grep -q a b")), from_goal="issue-3")
    assert (created.status, shop.trusts, shop.asked) == ("active", [], [])
    assert created.warnings == (create.unread_contract("issue-4", "issue-3"),)
    assert make(shop, fresh(), as_draft=True, from_goal="issue-3").warnings == ()


def test_what_cannot_be_written_beside_a_goal_is_a_warning() -> None:
    shop = Shop()
    shop.beside = ("the schema for editors is not",)
    assert make(shop, fresh()).warnings == shop.beside


def test_a_run_and_a_source_that_the_goal_names_are_kept() -> None:
    document = fresh()
    document["scope"]["run_id"] = "my-run"
    document["objective"]["source"] = "issue 4"
    shop = Shop()
    assert make(shop, document).run_id == "my-run"
    assert shop.written[0][1] == "my-run"
    assert shop.written[0][3].fields["source"] == "issue 4"
    assert shop.written[0][4]["source"] == "a file"


def test_what_a_new_goal_must_not_claim_is_named_at_once() -> None:
    document = fresh(criterion("AC1", status="pass"), status="achieved", turns=2)
    shop = Shop()
    with pytest.raises(ContractError) as caught:
        make(shop, document)
    assert [(f.file, f.key) for f in caught.value.faults] == [
        ("mine.yaml", "lifecycle.status"),
        ("mine.yaml", "lifecycle.turns_evaluated"),
        ("mine.yaml", "objective.acceptance_criteria[0].status"),
    ]
    assert shop.written == []
    assert {fault.remedy for fault in caught.value.faults} == {"leave it out; Flow writes it"}


@pytest.mark.parametrize(("branch", "fine"), [("main", True), (None, True), ("other", False)])
def test_a_goal_for_another_branch_is_refused(branch: str | None, fine: bool) -> None:
    shop = Shop(branch=branch)
    if fine:
        assert make(shop, fresh()).status == "active"
    else:
        with pytest.raises(StateError, match=r"main.*other"):
            make(shop, fresh())
        assert shop.written == []


def test_commits_outside_the_paths_ask_from_where_to_count() -> None:
    shop = Shop()
    shop.committed = [
        Outside("docs/x", "not in allowed_paths", ("abc1234 Docs", "def5678 Older")),
        Outside("y", "not in allowed_paths", ()),
    ]
    with pytest.raises(StateError) as caught:
        make(shop, fresh())
    error = caught.value.to_dict()
    assert error["code"] == "outside_base"
    assert error["key"] == "constraints.allowed_paths"
    assert error["value"] == "docs/x"
    assert "docs/x (abc1234 Docs), y" in str(error["message"])
    assert (shop.trusts, shop.written) == ([], [])


def test_a_base_that_a_person_named_is_taken_as_it_is() -> None:
    shop = Shop()
    shop.committed = [Outside("docs/x", "not in allowed_paths", ())]
    assert make(shop, fresh(), base="HEAD").status == "active"
    assert shop.pinned == [("issue-4", "HEAD")]


def test_without_git_there_is_no_base() -> None:
    shop = Shop()
    shop.base = shop.base._replace(base_commit=None)
    assert make(shop, fresh()).base_commit is None
    assert "base_commit" not in shop.written[0][0]["scope"]


def test_the_readers_warnings_come_before_the_lints() -> None:
    shop = Shop()
    shop.warnings = ("unknown key",)
    shop.missing = ["no program 'x'"]
    created = make(shop, fresh(allowed=()))
    assert created.warnings == (
        "unknown key",
        "no program 'x'",
        "constraints.allowed_paths is empty: every path may be changed",
    )
    assert created.to_document()["warnings"] == list(created.warnings)


@pytest.mark.parametrize(
    ("rows", "kind", "count"),
    [
        ([criterion("AC1")], "deterministic", 0),
        ([criterion("AC1"), criterion("AC2", None)], "deterministic", 1),
        ([criterion("AC1"), criterion("AC2", None)], "hybrid", 0),
        ([criterion("AC1"), criterion("AC2", None)], "flow_verdict_judge", 0),
        ([criterion("AC1"), criterion("AC2", None, evidence_paths=["d"])], "hybrid", 0),
        ([criterion("AC1"), criterion("AC2", None, evidence_command="d")], "hybrid", 0),
        ([criterion("AC1"), criterion("AC2", None, must_pass=False)], "hybrid", 0),
        ([criterion("AC1"), criterion("AC2", None, scorecard="notes")], "hybrid", 0),
        ([criterion("AC1"), criterion("AC2", None, scorecard={})], "hybrid", 0),
        ([criterion("AC1"), criterion("AC2", None, debate={"solution": "d"})], "hybrid", 0),
        ([criterion("AC1"), criterion("AC2", None, debate="code")], "hybrid", 1),
        ([criterion("AC1"), criterion("AC2", None, debate={}, evidence_command="d")], "hybrid", 1),
        (
            [criterion("AC1"), criterion("AC2", None, debate=True, evidence_paths=["d"])],
            "hybrid",
            0,
        ),
        ([criterion("AC1"), criterion("AC2", None, scorecard={}, rubric="code")], "hybrid", 0),
        ([criterion("AC1"), criterion("AC2", None, scorecard={})], "deterministic", 1),
        ([criterion("AC1"), criterion("AC2", None, must_pass=False)], "deterministic", 0),
    ],
)
def test_a_criterion_nobody_can_prove_is_asked_about(
    rows: list[dict[str, Any]], kind: str, count: int
) -> None:
    goal = World(goal_document(*rows, kind=kind)).goal("issue-4").goal
    found = create.lint_goal(goal, [])
    assert len(found) == count
    assert all(line.startswith("AC2: ") for line in found)


def test_a_command_that_became_a_fuzzy_text_is_asked_about() -> None:
    rows = [criterion("AC1", None, text="ready :: make"), criterion("AC2", None, text="a::b")]
    goal = World(goal_document(*rows, kind="hybrid")).goal("issue-4").goal
    (warning,) = create.lint_goal(goal, [])
    assert warning.startswith("AC1: ' :: ' is part of the text, so what follows it is no command")
    many = World(goal_document(*rows, kind="deterministic")).goal("issue-4").goal
    assert create.lint_goal(many, [])[0].startswith("AC1, AC2: no command proves them and ")


# --- rebase ---------------------------------------------------------------------------------------


def plan(world: World, branch: str | None = "main", theirs: tuple[str, ...] = ("a",)) -> Rebase:
    new = Baseline(OTHER, {}, {}, {}, {}, {})

    def rebased(goal: Any, old: Baseline) -> tuple[Baseline, tuple[str, ...]]:
        assert (goal.id, old) == ("issue-4", world.base)
        return new, theirs

    return create.plan_rebase(world.desk(), "issue-4", rebased, branch)


def test_planning_a_rebase_writes_nothing() -> None:
    world = World(goal_document())
    made = plan(world, theirs=("a", "b\x1b"))
    assert world.log == ["finish"]
    assert made == Rebase(
        "issue-4",
        BASE,
        OTHER,
        ("a", "b\x1b"),
        Baseline(OTHER, {}, {}, {}, {}, {}),
        world.goal("issue-4"),
    )
    assert made.to_document() == {
        "goal_id": "issue-4",
        "old_base": BASE,
        "new_base": OTHER,
        "stops_counting": ["a", "b\\x1b"],
    }


@pytest.mark.parametrize("key", ["run_id", "base_commit"])
def test_a_goal_without_a_pin_cannot_be_rebased(key: str) -> None:
    world = World(goal_document())
    del world.document["scope"][key]
    with pytest.raises(StateError, match="no pinned base") as caught:
        plan(world)
    assert caught.value.to_dict()["key"] == "scope.base_commit"


@pytest.mark.parametrize("status", sorted(TERMINAL))
def test_a_closed_goal_keeps_its_base(status: str) -> None:
    with pytest.raises(StateError, match="moving its base"):
        plan(World(goal_document(status=status)))


def test_rebasing_on_another_branch_is_refused() -> None:
    with pytest.raises(StateError) as caught:
        plan(World(goal_document()), branch="other")
    assert caught.value.code == "wrong_branch"


@pytest.mark.parametrize("status", ["active", "waiting_for_user", "waiting_for_ci", "blocked"])
def test_an_accepted_rebase_moves_the_pin_and_nothing_else(status: str) -> None:
    world = World(goal_document(status=status))
    made = plan(world, theirs=("a", "b\x1b"))
    trusted: list[tuple[str | None, str]] = []
    create.do_rebase(world.desk(), made, lambda goal, how: trusted.append((goal.base_commit, how)))
    assert world.kept == [("issue-4", "run-1", made.baseline)]
    assert (
        world.moves
        == [
            Move(
                to=status,  # type: ignore[arg-type]
                reason=f"base moved from {BASE[:12]} to {OTHER[:12]}",
                artifact=Artifact(
                    "contract-amended",
                    {
                        "goal_id": "issue-4",
                        "change": "scope.base_commit",
                        "from": BASE,
                        "to": OTHER,
                        "by": "sam",
                        "stops_counting": ["a", "b\\x1b"],
                    },
                ),
                event={"type": "rebased", "from": BASE, "to": OTHER, "files": 2, "by": "sam"},
                scope={"base_commit": OTHER},
            )
        ]
    )
    assert world.document["lifecycle"]["status"] == status
    assert trusted == [(OTHER, "flow goal rebase")]


@pytest.mark.parametrize(
    ("count", "named"), [(0, "none"), (1, ["f0"]), (201, [f"f{n}" for n in range(200)])]
)
def test_the_journal_names_at_most_200_files(count: int, named: Any) -> None:
    world = World(goal_document())
    create.do_rebase(
        world.desk(), plan(world, theirs=tuple(f"f{n}" for n in range(count))), lambda *_: None
    )
    assert world.journal[0].fields["stops_counting"] == named
    assert world.events[0]["files"] == count


def test_a_base_that_is_gone_is_none_in_the_journal() -> None:
    world = World(goal_document())
    made = plan(world)._replace(old_base=None, new_base=None)
    create.do_rebase(world.desk(), made, lambda *_: None)
    fields = world.journal[0].fields
    assert (fields["from"], fields["to"]) == ("none", "none")
    assert world.moves[0].reason == "base moved from none to none"


def test_a_goal_that_moved_since_the_plan_is_not_rebased() -> None:
    world = World(goal_document())
    made = plan(world)
    world.document["objective"]["outcome"] = "another"
    with pytest.raises(StateError):
        create.do_rebase(world.desk(), made, lambda *_: pytest.fail("trusted"))


def test_an_untrusted_contract_keeps_its_base() -> None:
    world = World(goal_document())
    desk = world.desk()._replace(trusted=lambda _loaded: (False, "it has changed"))
    moved = Baseline(OTHER, {}, {}, {}, {}, {})
    with pytest.raises(PersonNeeded, match="it has changed") as caught:
        create.plan_rebase(desk, "issue-4", lambda *_: (moved, ()), "main")
    assert caught.value.code == "not_trusted"
    assert world.kept == []


def test_what_changes_while_the_base_is_moved_is_not_trusted() -> None:
    world = World(goal_document())
    made = plan(world)
    world.edit_after_move()
    trusted: list[str] = []
    create.do_rebase(world.desk(), made, lambda goal, _how: trusted.append(goal.digest()))
    assert trusted == [made.loaded.goal.pinned_at(OTHER).digest()]
    assert trusted != [world.goal("issue-4").contract]
