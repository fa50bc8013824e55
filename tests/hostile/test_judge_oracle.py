"""However a reply leans, a judge never raises a result: Flow against an oracle in plain code.

A reply is drawn as a plan (who is quoted, how numbers are written, which fields there are, how all
of it is laid out), written as bytes, and read as a backend's answer is read. The oracle knows from
the plan alone whether ``achieved`` is earned, and has to agree in both directions.

``--long`` tries 20,000 of them.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any, NamedTuple

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from flow.adapters.judges.reply_json import read_reply
from flow.app.judging.rubric_criteria import _applied
from flow.core.decision.decide import NoOpinion, Opinion, decide
from flow.core.judging.common.question import Unusable
from flow.core.judging.goal import ballots
from flow.core.judging.goal import reply as goal_reply
from flow.core.judging.goal.context import ContextItem, JudgeContext, SoughtCriterion
from flow.core.judging.goal.prompt import goal_question
from flow.core.judging.rubric import reply as rubric_reply
from flow.core.judging.rubric.model import Rubric, RubricCriterion, result
from flow.core.judging.scorecard import reply as scorecard_reply
from flow.core.judging.scorecard.model import NAMES
from flow.core.untrusted.fences import FencedPart
from tests.support.effort import examples

# --- what the judge is given ---------------------------------------------------------------------

OWN = {
    "AC1": "alpha bravo charlie delta\nyes\necho foxtrot golf hotel\n",
    "AC2": "india juliett kilo lima\nok\nmike november oscar papa\n",
}
SOUGHT = (SoughtCriterion("AC1", "reads well", True), SoughtCriterion("AC2", "is short", True))
TRUE = {
    "AC1": ["alpha bravo charlie", "echo  foxtrot\tgolf", "delta yes echo", '"golf hotel"', "yes"],
    "AC2": ["india juliett", "kilo lima\nok mike", "oscar papa", "'ok'", "november oscar"],
}
ELSEWHERE = [
    "the outcome itself",
    "docs/alpha.md",
    "recorded by somebody else",
    "source: docs/alpha.md",
]
INVENTED = [
    "alpha bravo delta",
    "ALPHA BRAVO CHARLIE",
    "\u0430lpha bravo charlie",
    "alpha\u200bbravo charlie",
    "never said anywhere",
    "echo foxtrot ... hotel",
    "bytes left out here",
    "[flow: 9 bytes left out here]",
    "<<<flow-data",
]
TOO_SHORT = ["", " ", "alp", "e", "…", '"', "o p"]


def _prompt() -> Any:
    items = (
        *(
            ContextItem(id, "file", FencedPart("", text, "docs/alpha.md"))
            for id, text in OWN.items()
        ),
        *(
            ContextItem(
                id, "a sidecar", FencedPart("", "recorded by somebody else", "theirs"), counts=False
            )
            for id in OWN
        ),
    )
    contract = (FencedPart("outcome", "the outcome itself"),)
    return goal_question(
        JudgeContext("g", 1, SOUGHT, contract, "report", items, (), None, 5), "ab" * 16
    )


PROMPT = _prompt()


# --- plans ---------------------------------------------------------------------------------------


class Quote(NamedTuple):
    text: str
    kind: str  # true, elsewhere, invented, short


class RowPlan(NamedTuple):
    id: str
    quotes: tuple[Quote, ...]
    status: str
    spoiled: str = ""  # a field that is left out, or added where it begins with +


class ReplyPlan(NamedTuple):
    rows: tuple[RowPlan, ...]
    verdict: str
    blocker: str
    confidence: str  # as JSON
    envelope: str  # %s is the object
    spoiled: str = ""
    shuffled: int = 0


def quotes_of(id: str) -> st.SearchStrategy[tuple[Quote, ...]]:
    other = "AC2" if id == "AC1" else "AC1"
    long_ones = [text for text in TRUE[other] if len(text.strip("'\" ")) >= 8]
    one = st.one_of(
        st.sampled_from(TRUE[id]).map(lambda text: Quote(text, "true")),
        st.sampled_from(INVENTED).map(lambda text: Quote(text, "invented")),
        st.integers(0, 10**6).map(lambda n: Quote(f"invented number {n}", "invented")),
        st.sampled_from(ELSEWHERE + long_ones).map(lambda text: Quote(text, "elsewhere")),
        st.sampled_from(TOO_SHORT).map(lambda text: Quote(text, "short")),
    )
    honest = st.lists(
        st.sampled_from(TRUE[id]).map(lambda text: Quote(text, "true")), min_size=1, max_size=3
    )
    return st.one_of(honest, honest, st.lists(one, max_size=8)).map(tuple)


def row_plans(id: str) -> st.SearchStrategy[RowPlan]:
    return st.builds(
        RowPlan,
        st.sampled_from([id] * 30 + [f"{id} ", id.lower(), "AC9", "ＡＣ１"]),
        quotes_of(id),
        st.sampled_from(["pass"] * 20 + ["fail", "incomplete", "PASS", "passed", "pass ", ""]),
        st.sampled_from([""] * 40 + ["status", "evidence", "reason", "+score", "+verdict"]),
    )


NUMBERS = [
    *("0.6", "0.60", "6e-1", "0.6000000000000000000000000", "1", "1.0", "0.9", "0.75", "0.95"),
    *("0.5" + "9" * n for n in (1, 5, 14, 15, 16, 17, 20, 40)),
    *("1." + "0" * n + "1" for n in (1, 15, 16, 30)),
    *("0", "-0.0", "0.4", "-1", "2", "1e400", "1e-400", "NaN", "Infinity", "true", "null", '"0.9"'),
    *("[0.9]", "0." + "9" * 90, "100", "0.6e0", "06e-1", ".9", "+0.9", "0x1", "1_0"),
]
ENVELOPES = ["%s"] * 90 + [
    "\ufeff%s",
    "Here it is: %s",
    "```json\n%s\n```",
    "%s %s",
    "[%s]",
    '{"result": %s}',
    "%s\nand so on",
    " \n%s\n ",
    "%s}",
]


VERDICTS = ["achieved"] * 20 + ["not_achieved", "blocked", "needs_human_review", "ACHIEVED"]
SPOILED = [""] * 40 + ["reason", "verdict", "confidence", "+score", "+", "=verdict", "=confidence"]


@st.composite
def reply_plans(draw: st.DrawFn) -> ReplyPlan:
    rows = [draw(row_plans(id)) for id in OWN]
    change = draw(st.sampled_from(["as it is"] * 12 + ["turned", "twice", "one less", "none"]))
    rows = {
        "turned": rows[::-1],
        "twice": [*rows, rows[0]],
        "one less": rows[:1],
        "none": [],
    }.get(change, rows)
    return ReplyPlan(
        tuple(rows),
        draw(st.sampled_from(VERDICTS)),
        draw(st.sampled_from(["none"] * 20 + ["missing_dep", "None", ""])),
        draw(
            st.one_of(
                st.sampled_from(["0.9", "0.8", "0.6"]),
                st.sampled_from(NUMBERS),
                st.decimals(0, 1, places=3).map(str),
            )
        ),
        draw(st.sampled_from(ENVELOPES)),
        draw(st.sampled_from(SPOILED)),
        draw(st.integers(0, 5)),
    )


def written(plan: ReplyPlan) -> bytes:
    """The reply of a plan, as a backend gets it."""
    rows = []
    for row in plan.rows:
        fields: dict[str, Any] = {
            "criterion_id": row.id,
            "evidence": [quote.text for quote in row.quotes],
            "reason": "so",
            "status": row.status,
        }
        _spoil(fields, row.spoiled)
        rows.append(json.dumps(fields, ensure_ascii=plan.shuffled % 2 == 0))
    members = {
        "criterion_results": f"[{', '.join(rows)}]",
        "reason": '"because"',
        "next_step_hint": '""',
        "blocker_type": json.dumps(plan.blocker),
        "confidence": plan.confidence,
        "verdict": json.dumps(plan.verdict),
    }
    order = list(members)
    order = order[plan.shuffled :] + order[: plan.shuffled]
    texts = [f'"{key}": {members[key]}' for key in order if key != plan.spoiled]
    if plan.spoiled.startswith("+"):
        texts.append(f'"{plan.spoiled[1:]}": 1')
    if plan.spoiled.startswith("="):  # the same key twice: readers that keep the last are fooled
        texts.append(f'"{plan.spoiled[1:]}": {members[plan.spoiled[1:]]}')
    return plan.envelope.replace("%s", "{" + ", ".join(texts) + "}").encode("utf-8")


def _spoil(fields: dict[str, Any], how: str) -> None:
    if how.startswith("+"):
        fields[how[1:]] = 1
    elif how:
        del fields[how]


# --- the oracle ----------------------------------------------------------------------------------


def number(text: str) -> Fraction | None:
    """A JSON number from 0 to 1, exactly; None for anything else."""
    try:
        value = json.loads(text, parse_float=Fraction, parse_constant=lambda _: None)
    except ValueError:
        return None
    if isinstance(value, bool) or not isinstance(value, int | Fraction) or len(text) > 64:
        return None
    if text == "1e-400":
        return None  # below what any number of Flow's can be
    return Fraction(value) if 0 <= value <= 1 else None


def earned(plan: ReplyPlan) -> Fraction | None:
    """The confidence of a reply that earns ``achieved``; None where it does not."""
    clean = plan.envelope.strip(" \n") == "%s" and not plan.spoiled
    confidence = number(plan.confidence)
    if not clean or confidence is None or (plan.verdict, plan.blocker) != ("achieved", "none"):
        return None
    if sorted(row.id for row in plan.rows) != list(OWN):
        return None
    for row in plan.rows:
        kinds = {" ".join(quote.text.split()): quote.kind for quote in row.quotes}
        true = sum(kind == "true" for kind in kinds.values())
        invented = sum(kind == "invented" for kind in kinds.values())
        if row.spoiled or row.status != "pass" or not true or invented > true:
            return None
    return confidence


def opinion(plans: list[ReplyPlan]) -> Opinion | NoOpinion:
    """What Flow makes of the replies."""
    usable = []
    for plan in plans:
        value = read_reply(written(plan), goal_reply.reply_schema(SOUGHT))
        if isinstance(value, Unusable):
            continue
        found = goal_reply.read_reply(value, "j", SOUGHT, PROMPT)
        if isinstance(found, goal_reply.Ballot):
            usable.append(found)
    counted = ballots.tally(usable, len(plans), SOUGHT)
    if counted is None:
        return NoOpinion("none")
    return Opinion(counted.verdict, counted.confidence, blocker_type=counted.blocker_type)


def check(plans: list[ReplyPlan]) -> bool:
    """Whether the replies achieve; fails where Flow and the oracle differ."""
    said = opinion(plans)
    earning = [found for plan in plans if (found := earned(plan)) is not None]
    enough = (
        2 * len(earning) > len(plans)
        and max(earning) - min(earning) <= Fraction(4, 10)
        and sum(earning, Fraction(0)) / len(plans) >= Fraction(6, 10)
    )
    for candidate in ("pass+fuzzy", "pass", "incomplete", "fail"):
        for kind, trigger in (("hybrid", "manual"), ("flow_verdict_judge", "manual")):
            decision = decide(
                candidate,  # type: ignore[arg-type]
                violation=False,
                evaluator_type=kind,
                trigger=trigger,
                judge=said if candidate.startswith("pass") else None,
            )
            asked = candidate == "pass+fuzzy" or (candidate == "pass" and kind != "hybrid")
            if candidate in ("incomplete", "fail"):
                assert decision.proposed is None
            elif asked:
                assert (decision.proposed == "achieved") is enough, (plans, said, decision)
    blocked = decide(
        "pass+fuzzy", violation=True, evaluator_type="hybrid", trigger="manual", judge=said
    )
    assert blocked.proposed is None
    return enough


FEW = examples(150, long=20_000)


@FEW
@given(st.lists(reply_plans(), min_size=1, max_size=3))
def test_a_reply_achieves_exactly_what_it_earns(plans: list[ReplyPlan]) -> None:
    event("achieved" if check(plans) else "not achieved")


GOOD = ReplyPlan(
    tuple(RowPlan(id, (Quote(TRUE[id][0], "true"),), "pass") for id in OWN),
    "achieved",
    "none",
    "0.9",
    "%s",
)


def test_an_honest_reply_achieves() -> None:
    assert check([GOOD])
    assert check([GOOD] * 3)
    assert not check([GOOD, GOOD._replace(verdict="no"), GOOD._replace(envelope="[%s]")])


@pytest.mark.parametrize("text", NUMBERS)
def test_every_way_to_write_a_number(text: str) -> None:
    found = number(text)
    assert check([GOOD._replace(confidence=text)]) is (found is not None and found * 10 >= 6)


@pytest.mark.parametrize("text", [*ELSEWHERE, *INVENTED, *TOO_SHORT])
def test_every_quote_that_is_none(text: str) -> None:
    row = GOOD.rows[0]._replace(quotes=(Quote(text, "invented"),))
    assert not check([GOOD._replace(rows=(row, GOOD.rows[1]))])


# --- rubrics, scorecards -------------------------------------------------------------------------

RUBRIC = Rubric("R", [RubricCriterion("a", "x", 3), RubricCriterion("b", "y", 2, 0.5)], 0.7)
MARKS = st.lists(st.tuples(st.sampled_from(NUMBERS), quotes_of("AC1")), min_size=2, max_size=2)


@FEW
@given(MARKS)
def test_a_rubric_passes_exactly_what_is_earned(marks: list[tuple[str, tuple[Quote, ...]]]) -> None:
    texts = [
        json.dumps({"name": name, "evidence": [q.text for q in quotes], "reasoning": "r"})[:-1]
        + f', "score": {score}}}'
        for name, (score, quotes) in zip("ab", marks, strict=True)
    ]
    raw = f'{{"criteria": [{", ".join(texts)}], "reasoning": "r", "suggestions": []}}'
    value = read_reply(raw.encode(), {"type": "object"})
    scores = [number(score) for score, _ in marks]
    found: Any = value
    if not isinstance(value, Unusable):
        found = rubric_reply.read_reply(RUBRIC, value, [OWN["AC1"]])
    if not isinstance(found, rubric_reply.RubricBallot):
        assert None in scores
        return
    assert None not in scores
    first, second = scores
    assert first is not None
    assert second is not None
    judged = result(RUBRIC, [found])
    reached = (3 * first + 2 * second) / 5 >= Fraction(7, 10) and second >= Fraction(1, 2)
    assert judged.passed is reached
    ballot = goal_reply.read_reply(
        read_reply(written(GOOD), goal_reply.reply_schema(SOUGHT)),
        "j",
        SOUGHT,
        PROMPT,  # type: ignore[arg-type]
    )
    assert isinstance(ballot, goal_reply.Ballot)
    after = _applied(ballot, SOUGHT[0], "R", RUBRIC, judged)
    if after.verdict == "achieved":
        assert reached
    if not reached:
        assert after.verdict == "not_achieved"
    if reached and all(quotes and all(q.kind == "true" for q in quotes) for _, quotes in marks):
        assert after.verdict == "achieved"
    if not any(q.kind == "true" for _, quotes in marks for q in quotes):
        assert after.verdict != "achieved"


@pytest.mark.parametrize("text", NUMBERS)
def test_a_card_takes_scores_in_tenths_only_as_they_are_written(text: str) -> None:
    mark = '{"evidence": ["alpha bravo charlie"], "justification": "it says so", "score": %s}'
    marks = ", ".join(f'"{name}": {mark % ("7.5" if name != NAMES[0] else text)}' for name in NAMES)
    raw = f'{{"dimensions": {{{marks}}}, "recommendations": []}}'
    value = read_reply(raw.encode(), {"type": "object"})
    quotes = scorecard_reply.Quotes(OWN["AC1"])
    found = (
        value
        if isinstance(value, Unusable)
        else scorecard_reply.read_reply(value, quotes.occurs, compared=False)
    )
    assert isinstance(found, scorecard_reply.CardBallot) is (text in ("1", "1.0", "2"))


@pytest.mark.parametrize(
    ("true", "invented", "fault"), [(1, 0, False), (1, 1, False), (1, 2, True), (2, 3, True)]
)
def test_a_dimension_whose_quotes_are_mostly_invented_is_a_fault(
    true: int, invented: int, fault: bool
) -> None:
    evidence = TRUE["AC1"][:true] + INVENTED[:invented]
    mark = {"evidence": evidence, "justification": "it says so", "score": 7.5}
    value = {"dimensions": dict.fromkeys(NAMES, mark), "recommendations": []}
    found = scorecard_reply.read_reply(
        value, scorecard_reply.Quotes(OWN["AC1"]).occurs, compared=True
    )
    assert isinstance(found, scorecard_reply.CardBallot)
    assert {bool(one.fault) for one in found.marks.values()} == {fault}
