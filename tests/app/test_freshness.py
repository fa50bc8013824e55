"""What makes evidence stale, and that what is stale never counts (SPEC 10, HAZARD H95)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from flow.app import overview
from flow.app.evaluation.current_files import CurrentFiles
from flow.app.evaluation.evaluate import examine
from flow.app.evaluation.values import Request
from flow.app.judging import reviewing
from flow.app.transitions import closing as transitions_closing
from flow.core.evidence.freshness import WORDS, freshness
from flow.core.evidence.model import Subject, evidence_from_document
from flow.core.instant import SKEW, ahead, seconds
from flow.errors import GitError, StaleProposal
from tests.app.fakes import NOW, World, changed, criterion, goal_document, sidecar

if TYPE_CHECKING:
    from collections.abc import Callable

    from flow.core.evidence.model import Evidence

LATER = "2026-11-21T12:05:00Z"
EARLIER = "2026-11-21T11:00:00Z"
REF = sidecar("run-1", "evidence-ac1-eval-1")


def measured() -> World:
    """A goal whose one criterion has passed."""
    world = World(goal_document(criterion("AC1")))
    examine(Request("issue-4"), world.tools())
    return world


def altered(evidence: Evidence, at: str = NOW, **subject: Any) -> Evidence:
    """``evidence`` with another stamp."""
    document = evidence.document
    body = document["evidence"]
    stamp = {k: v for k, v in {**body["subject"], **subject}.items() if v is not None}
    return evidence_from_document(
        {
            **document,
            "metadata": {**document["metadata"], "created_at": at},
            "evidence": {**body, "subject": stamp},
        }
    )


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({}, ()),
        ({"head": "0" * 40}, ()),
        ({"tree": "0" * 64}, ("tree",)),
        ({"tree": "0" * 64, "head": "0" * 40}, ("head", "tree")),
        ({"contract": "0" * 64}, ("contract",)),
        ({"flow_version": "0.0.9"}, ("flow_version",)),
        ({"tree": "0" * 64, "contract": "0" * 64}, ("tree", "contract")),
        ({"tree": None}, ("unstamped",)),
        ({"at": LATER}, ("future",)),
        ({"at": LATER, "tree": "0" * 64}, ("tree", "future")),
        ({"at": EARLIER}, ()),
        ({"at": "2026-11-21T13:00:30+01:00"}, ()),  # within what clocks may differ
    ],
)
def test_what_makes_it_stale(change: dict[str, Any], why: tuple[str, ...]) -> None:
    world = measured()
    loaded = world.goal("issue-4")
    found = freshness(
        altered(world.evidence[REF], **change),
        CurrentFiles(world.desk(), loaded).subject,
        loaded.goal,
        NOW,
        moved=False,
    )
    assert found.why == why
    assert found.fresh is (not why)
    assert found.text == ", ".join(WORDS[word] for word in found.why)


def test_git_that_cannot_answer_leaves_nothing_fresh() -> None:
    world = measured()
    world.problems = ("a merge is under way",)
    assert CurrentFiles(world.desk(), world.goal("issue-4")).freshness_at(REF).why == ("unknown",)


def test_a_base_that_cannot_be_found_leaves_nothing_fresh() -> None:
    world = measured()

    def fail(*_: object) -> Any:
        raise GitError("the base is gone")

    desk = world.desk()._replace(baseline=fail)
    assert CurrentFiles(desk, world.goal("issue-4")).freshness_at(REF).why == ("unknown",)


def test_what_was_taken_out_or_altered_is_said() -> None:
    world = measured()
    world.altered.add(REF)
    present = CurrentFiles(world.desk(), world.goal("issue-4"))
    assert present.freshness_at(REF).why == ("missing",)
    world.taken_out.add(REF)
    assert present.freshness_at(REF).why == ("moved",)
    del world.document["scope"]["run_id"]
    assert CurrentFiles(world.desk(), world.goal("issue-4")).freshness_at(REF).why == ("missing",)
    moved = freshness(
        world.evidence[REF], present.subject, world.goal("issue-4").goal, NOW, moved=True
    )
    assert moved.why == ("moved",)


@pytest.mark.parametrize(
    ("digest", "why"), [(None, ("contract",)), ("same", ()), ("0" * 64, ("contract",))]
)
def test_an_approval_is_of_a_wording_not_of_the_contract(
    digest: str | None, why: tuple[str, ...]
) -> None:
    world = measured()
    loaded = world.goal("issue-4")
    own = loaded.goal.criteria[0].digest
    body = {
        "type": "human_approval",
        "proves": ["AC1"],
        "criterion_digest": own if digest == "same" else digest,
        "subject": {"tree": "t", "contract": "another", "flow_version": "another"},
    }
    document = {**world.evidence[REF].document, "evidence": body}
    found = freshness(
        evidence_from_document(document),
        Subject(None, "t", loaded.contract, "0"),
        loaded.goal,
        NOW,
        moved=False,
    )
    assert found.why == why


# --- never counted --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"at": LATER}, f"evidence {REF} is dated in the future"),
        ({"flow_version": "0.0.9"}, f"evidence {REF} was measured by Flow 0.0.9, and this is 0"),
    ],
)
def test_a_proposal_that_rests_on_it_is_refused(change: dict[str, Any], words: str) -> None:
    world = measured()
    world.evidence[REF] = altered(world.evidence[REF], **change)
    proposal = str((world.live or {})["proposal_id"])
    with pytest.raises(StaleProposal) as caught:
        transitions_closing.confirm(world.desk(), "issue-4", proposal, None, "a test")
    assert words in str(caught.value)
    said = overview.status_document(world.desk(), world.goal("issue-4"), (True, ""), pending=False)
    assert said["proposal"]["moved"] == [words]
    assert said["criteria"][0]["fresh"] is False


@pytest.mark.parametrize("change", [{"at": LATER}, {"flow_version": "0.0.9"}, {"contract": "0"}])
def test_it_is_not_reused_and_no_judge_gets_it_as_a_result(change: dict[str, Any]) -> None:
    world = measured()
    world.evidence[REF] = altered(world.evidence[REF], **change)
    case = reviewing.review_case(world.desk(), world.goal("issue-4"), version="0", now=NOW)
    assert case.measurement.rows[0].outcome == "not_run"
    again = examine(Request("issue-4", reuse={"AC1": REF}), world.tools())
    assert again.evaluation is not None
    assert again.evaluation.measurement.reused == ()


def edit(world: World) -> Callable[[], None]:
    def change() -> None:
        world.changes = (changed("src/a.py", untracked=False),)

    return change


@pytest.mark.parametrize("quiet", [True, False])
def test_what_was_measured_while_files_changed_never_counts(quiet: bool) -> None:
    """Put back as they were, the files fit its stamp again."""
    world = World(goal_document(criterion("AC1"), criterion("AC2")))
    world.during["AC2"] = edit(world)
    first = examine(Request("issue-4", quiet=quiet), world.tools())
    assert first.verdict.proposed_transition is None
    assert [line for line in world.log if line.startswith("discount")] == [
        "discount evidence-ac1-eval-1: src/a.py",
        "discount evidence-ac2-eval-1: src/a.py",
    ]
    world.changes = ()
    world.during.clear()
    refs = {r.criterion_id: r.evidence_ref or "" for r in first.verdict.criterion_results}
    again = examine(Request("issue-4", reuse=refs), world.tools())
    assert again.evaluation is not None
    assert again.evaluation.measurement.reused == ()


def test_evidence_that_was_reused_is_not_taken_out_again() -> None:
    world = World(goal_document(criterion("AC1"), criterion("AC2")))
    examine(Request("issue-4"), world.tools())
    world.evidence[sidecar("run-1", "evidence-ac2-eval-1")] = altered(
        world.evidence[sidecar("run-1", "evidence-ac2-eval-1")], tree="0" * 64
    )
    world.during["AC2"] = edit(world)
    examine(Request("issue-4", reuse={}), world.tools())
    assert [line for line in world.log if line.startswith("discount")] == [
        "discount evidence-ac2-eval-2: src/a.py"
    ]


# --- moments --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1969-12-31T23:59:59Z", -1),
        ("2000-02-29T00:00:00Z", 951782400),
        ("2000-03-01T00:00:00z", 951868800),
        ("2100-03-01T00:00:00Z", 4107542400),
        ("2026-11-21T13:00:00+01:00", 1795262400),
        ("2026-11-21T06:30:00.5-05:30", 1795262400),
    ],
)
def test_seconds_of_a_text(text: str, expected: int) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize(("more", "expected"), [(0, False), (SKEW, False), (SKEW + 1, True)])
def test_clocks_may_differ_a_little(more: int, expected: bool) -> None:
    minutes, rest = divmod(more, 60)
    assert ahead(f"2026-11-21T12:{minutes:02}:{rest:02}Z", NOW) is expected
