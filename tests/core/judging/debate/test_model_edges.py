"""What changes of the code showed no test saw: debates and cards at their edges, whole values."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from flow.core.goal.model import Criterion
from flow.core.judging.common.reply import Mark
from flow.core.judging.debate import criteria as debate_criteria
from flow.core.judging.debate import model as debate_model
from flow.core.judging.debate.model import Position, revisions
from flow.core.judging.debate.result import document
from flow.core.judging.debate.section import DebateSubject, Section
from flow.core.judging.debate.state import DebateJudge, DebateState, Mode, SilentJudge
from flow.core.judging.goal.ballots import Tally
from flow.core.judging.goal.context import SoughtCriterion
from flow.core.judging.goal.delegated import (
    DelegatedDebate,
    DelegatedOpinion,
    combined,
    delegated_judgements,
)
from flow.core.judging.scorecard.model import NAMES, CardBallot, merged, recommendations
from flow.core.judging.scorecard.model import CardMark as Score
from flow.errors import InputError

CRITERIA = debate_criteria.parse("a:3,b:1")
ABOUT = DebateSubject("d" * 32, "t", ("x.py",), CRITERIA)


def position(judge: int, a: float, b: float, *quotes: str, accepts: bool = True) -> Position:
    marks = tuple(Mark(name, score, "why", quotes) for name, score in (("a", a), ("b", b)))
    return Position(judge, marks, ("short",), ("bare",), "pass", accepts)


def held(*positions: Position, mode: Mode = "debate", **more: Any) -> DebateState:
    judges = tuple(
        DebateJudge(one.judge, f"j{one.judge}", f"r.{one.judge}.md", (Section(0, one, (4, 4)),))
        for one in positions
    )
    found = debate_model.agreement(CRITERIA, positions, debated=False)
    return DebateState(ABOUT, mode, judges, 0, (found,), **more)


def test_the_whole_document() -> None:
    both = (position(1, 4, 4), position(2, 4, 4, accepts=False))
    found = document(held(*both, cost_usd=0.5, calls=4, earlier_usd=0.25, warnings=("odd",)))
    assert {key: found[key] for key in ("calls", "cost_usd", "cost_usd_earlier", "warnings")} == {
        "calls": 4,
        "cost_usd": 0.5,
        "cost_usd_earlier": 0.25,
        "warnings": ["odd"],
    }
    assert found["solution"] == ["x.py"]
    assert found["judges"] == [{"judge": 1, "name": "j1"}, {"judge": 2, "name": "j2"}]
    assert found["criteria"] == [
        {"name": "a", "weight": 0.75, "description": ""},
        {"name": "b", "weight": 0.25, "description": ""},
    ]
    assert found["disagreements"] == []
    assert found["ballots"] == [
        {
            "judge": one,
            "scores": {"a": 4, "b": 4},
            "overall": 4.0,
            "recommendation": "pass",
            "accepts_consensus": one == 1,
        }
        for one in (1, 2)
    ]


def test_every_revision_is_told_whole() -> None:
    first, second = position(1, 3, 4, "one quote"), position(1, 4, 4, "another quote of it")
    sections = (Section(0, first, (3, 4)), Section(1, second, (3, 4)))
    one = DebateJudge(1, "j", "r.1.md", sections)
    positions = [first, second]
    counts = tuple(debate_model.agreement(CRITERIA, [p], debated=p is second) for p in positions)
    found = document(DebateState(ABOUT, "debate", (one,), 1, counts))
    assert found["debate_summary"]["revisions"] == [
        {
            "judge": 1,
            "round": 1,
            "criterion": "a",
            "before": 3,
            "after": 4,
            "reason": "why",
            "new_evidence": ["another quote of it"],
            "conformity": False,
        }
    ]


@pytest.mark.parametrize("mode", ["debate", "vote"])
def test_an_altered_report_decides_nothing_in_either_mode(mode: Mode) -> None:
    positions = [position(n, 5 if n == 1 else 3, 4) for n in (1, 2, 3)]
    found = held(*positions, mode=mode, altered=(("r.1.md", "changed"),))
    assert (found.whole, found.consensus, found.decided, found.ended) == (False, False, False, True)
    agreeing = held(*[position(n, 4, 4) for n in (1, 2, 3)], mode=mode, altered=(("r", "x"),))
    assert (agreeing.consensus, agreeing.decided) == (False, False)
    assert document(found)["scores"] is None


def test_a_debate_that_nobody_took_part_in_is_not_whole() -> None:
    nothing = DebateState(ABOUT, "debate", (), 0, ())
    assert (nothing.whole, nothing.consensus, nothing.ended) == (False, False, False)
    late = held(position(1, 4, 4), silent=(SilentJudge(2, 0, "timeout", "late"),))
    assert (late.whole, late.ended) == (False, False)


@pytest.mark.parametrize(("more", "known"), [("1234567", True), ("12345678", False)])
def test_a_quote_with_a_few_characters_more_is_no_new_one(more: str, known: bool) -> None:
    first, second = position(1, 4, 4, "the quote"), position(1, 3, 4, f"the quote{more}")
    (change,) = revisions([first, second])
    assert change.conformity is known


@pytest.mark.parametrize(
    ("text", "message", "value"),
    [
        ("a:1,b", "'b' has no weight", "b"),
        ("a:0", "'a' has the weight 0, and would count for nothing", "a"),
        ("a:1,a:2", "'a' is named twice", "a"),
        (f"a:{'9' * 50}x", f"'a' has the weight {'9' * 40!r}, which is no plain number", "a"),
        (f"{'n' * 70}:1", f"{'n' * 60!r} is no criterion's name", "n" * 70),
        ("x\ny:1", "'x\\\\ny' is no criterion's name", "x\ny"),
    ],
)
def test_a_wrong_criterion_is_named(text: str, message: str, value: str) -> None:
    with pytest.raises(InputError) as caught:
        debate_criteria.parse(text)
    assert caught.value.fault.message.startswith(message)
    assert (caught.value.fault.key, caught.value.fault.value) == ("criteria", value)


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(InputError) as caught:
        debate_criteria.ready_made("poem")
    assert (caught.value.fault.key, caught.value.fault.value) == ("kind", "poem")


# --- put together with ballots --------------------------------------------------------------------

AC1 = SoughtCriterion("AC1", "text", True)


def test_without_ballots_the_opinion_is_what_was_heard() -> None:
    heard = DelegatedOpinion("AC1", "debate", "fail", "debate: no", 1.0, "do it")
    found = combined(None, [heard], [AC1])
    assert found._replace(criteria=()) == Tally(
        "not_achieved", 1.0, "AC1: debate: no", "do it", "none", (), 0, 0, 0, 0.0
    )
    rows = [(row.id, row.status, row.words()) for row in found.criteria]
    assert rows == [("AC1", "fail", "debate: no")]
    nothing = combined(None, [], [])
    assert nothing == Tally("needs_human_review", 0.0, "", "", "none", (), 0, 0, 0, 0.0)


def test_of_equal_voices_each_gives_what_it_has() -> None:
    counted = Tally("not_achieved", 0.7, "", "hint of the ballots", "none", (), 3, 2, 1, 0.25)
    silent = DelegatedOpinion("AC1", "debate", "fail", "debate: no", 1.0)
    found = combined(counted, [silent], [AC1])
    assert (found.reason, found.next_step_hint) == ("AC1: debate: no", "hint of the ballots")
    assert found[6:] == (3, 2, 1, 0.25)
    quiet = counted._replace(next_step_hint="", blocker_type="other")
    found = combined(quiet, [silent._replace(hint="of the debate")], [AC1])
    assert (found.next_step_hint, found.blocker_type) == ("of the debate", "other")


def test_a_debates_kind() -> None:
    asked = {"id": "AC1", "text": "t", "status": "pending", "debate": {"kind": "design"}}
    (order,) = delegated_judgements(Criterion("AC1", "t", document=asked))
    assert isinstance(order, DelegatedDebate)
    assert order.kind == "design"


# --- scorecards -----------------------------------------------------------------------------------


def marks(**scores: str) -> dict[str, Score]:
    return {name: Score(Decimal(scores.get(name, "8.0")), "why") for name in NAMES}


def test_of_more_than_three_wishes_those_about_the_lowest_stay() -> None:
    found = marks(safety="2.0", efficiency="3.0", adherence="10.0")
    offered = (
        "nothing is named here",
        "ADHERENCE: perfect",
        "SAFETY before efficiency: ask first",
        "Efficiency, not safety: fewer calls",
    )
    assert recommendations(offered, found) == (offered[2], offered[3], offered[1])
    assert recommendations(offered[:3], found) == offered[:3]
    mixed = ("efficiency and SAFETY", "safety, efficiency, safety", "adherence", "none")
    assert recommendations(mixed, found) == (mixed[1], mixed[0], mixed[2])


@pytest.mark.parametrize(
    ("scores", "median"),
    [("1 2 9", "2"), ("1 2 4 9", "3"), ("1 2 3 9 10", "3"), ("1 1 2 8 9 9", "5"), ("4 4.1", "4.1")],
)
def test_the_median_of_any_number_of_ballots(scores: str, median: str) -> None:
    ballots = [CardBallot(marks(safety=score), ()) for score in scores.split()]
    assert merged(ballots).marks["safety"].score == Decimal(median)


# --- reports, letter for letter -------------------------------------------------------------------


def ending(
    judge: int, first: float, last: float, *quotes: str, accepts: bool = True
) -> DebateJudge:
    """A judge of one debate, whose score of ``a`` went from ``first`` to ``last``."""
    before = position(judge, first, 4, "one quote")
    after = position(judge, last, 4, *quotes, accepts=accepts)
    sections = (Section(0, before, (first, 4)), Section(1, after, (first, 4)))
    return DebateJudge(judge, "j", f"r.{judge}.md", sections)


def finished(*judges: DebateJudge, mode: Mode = "debate", **more: Any) -> DebateState:
    rounds = range(1 if mode == "vote" else 2)
    counts = tuple(
        debate_model.agreement(
            CRITERIA, [one.sections[n].position for one in judges if one.sections], debated=n > 0
        )
        for n in rounds
    )
    return DebateState(ABOUT, mode, judges, len(counts) - 1, counts, **more)


def test_what_a_judge_wrote_beyond_the_counted_debates_is_not_told() -> None:
    late = ending(1, 3, 5, "a quote nobody had given")
    found = finished(late, ending(2, 4, 4))._replace(rounds=0)
    assert document(found)["debate_summary"]["revisions"] == []


def test_revisions_stand_in_the_order_of_rounds_then_judges() -> None:
    judges = (ending(2, 3, 4), ending(1, 5, 4))
    told = document(finished(*judges))["debate_summary"]["revisions"]
    assert [(one["round"], one["judge"]) for one in told] == [(1, 1), (1, 2)]


def test_points_that_most_judges_made_come_first_whatever_their_last_mark() -> None:
    def says(judge: int, *points: str) -> Position:
        return position(judge, 4, 4)._replace(strengths=points)

    found = document(held(says(1, "rare", "Often"), says(2, "often."), says(3, "never", "OFTEN ")))
    assert found["strengths"] == ["Often"]
    rows = [{"text": "rare", "judges": [1]}, {"text": "never", "judges": [3]}]
    assert found["some_strengths"] == rows


CONSENSUS = """\
# Consensus Evaluation Report

## Consensus Scores

| Criterion | Judge 1 | Judge 2 | Final |
| --- | --- | --- | --- |
| a | 4/5 | 4/5 | 4.0/5 |
| b | 4/5 | 4/5 | 4.0/5 |
| Overall | 4.0/5 | 4.0/5 |  |

**Consensus Overall Score**: 4.0/5.0

## Consensus Strengths

All judges:

- short

Some judges:

- None.

## Consensus Weaknesses

All judges:

- bare

Some judges:

- None.

## Debate Summary

- Rounds to consensus: 1
- Initial disagreements: overall (0.75 apart)
- Spread of the overall scores: 0.75 before, 0 after
- How resolved: 1 revised score:
  - Round 1, Judge 1, "a" from 3 to 4: why
    - new evidence: `another quote`

## Final Recommendation

**Pass**

Overall 4.0/5; the median of Judge 1 Pass, Judge 2 Pass.

## Reports

- r.1.md
- r.2.md\
"""

VOTE = """\
# Vote Evaluation Report

## Median Scores

| Criterion | Judge 1 | Judge 2 | Median |
| --- | --- | --- | --- |
| a | 3/5 | 5/5 | 4.0/5 |
| b | 4/5 | 4/5 | 4.0/5 |
| Overall | 3.25/5 | 4.75/5 |  |

**Median Overall Score**: 4.0/5.0

2 independent ballots, no debate; 1.5 from the lowest to the highest overall score: that would not\
 be a consensus.

## Strengths

All judges:

- short

Some judges:

- None.

## Weaknesses

All judges:

- bare

Some judges:

- None.

(No judge has read another's report: only points in the same words count as those of all.)

## Final Recommendation

**Pass**

Overall 4.0/5; the median of Judge 1 Pass, Judge 2 Pass.

## Reports

- r.1.md
- r.2.md\
"""

NONE = """\
# No Consensus

**A person has to decide: the judges could not.**

## Final Scores

| Criterion | Judge 1 | Judge 2 | Gap |
| --- | --- | --- | --- |
| a | 2/5 | 5/5 | 3 |
| b | 4/5 | 4/5 | 0 |
| Overall | 2.5/5 | 4.75/5 |  |

## Persistent Disagreements

- Criterion "a": 3 apart (Judge 1 2, Judge 2 5)
  - Judge 1: why
  - Judge 2: why
- Overall scores: 2.25 apart, at most 0.5 is a consensus
- Judge 2 does not accept the consensus

## Analysis

Near are judges whose overall scores are within 0.5 and all criteria within 1.0.

- Judge 1 is near nobody, and says that it agrees with nobody
- Judge 2 is near nobody, and says that it agrees with nobody
- Criterion "a": nobody changed a score in 1 debate
  - lowest: Judge 1, 2/5, on `one quote`
  - highest: Judge 2, 5/5, on `one quote`

## Debate Summary

- Debates held: 1
- Initial disagreements: "a" (3 apart)
- Spread of the overall scores: 2.25 before, 2.25 after
- How resolved: 0 revised scores

## Strengths

All judges:

- short

Some judges:

- None.

## Weaknesses

All judges:

- bare

Some judges:

- None.

## Reports

- r.1.md
- r.2.md\
"""


def test_the_three_final_reports() -> None:
    agreed = finished(ending(1, 3, 4, "another quote"), ending(2, 4, 4))
    assert document(agreed)["report"] == CONSENSUS
    voted = finished(ending(1, 3, 4), ending(2, 5, 4), mode="vote")
    assert document(voted)["report"] == VOTE
    apart = finished(ending(1, 2, 2), ending(2, 5, 5, accepts=False))
    assert document(apart)["report"] == NONE
