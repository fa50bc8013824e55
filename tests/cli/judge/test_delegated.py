"""What a card or a debate proves of a criterion, cell by cell; the ways there are in
``test_goal_apart``."""

from __future__ import annotations

import os
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from flow.app.judging import delegated
from flow.app.judging import delegated_debate as by_debate
from flow.app.judging import delegated_scorecard as by_scorecard
from flow.app.judging.port import JudgeAnswer, NoAnswer, Usage
from flow.app.judging.scoring import ScoredCard
from flow.core.judging.common.question import Question
from flow.core.judging.goal.delegated import DelegatedDebate, DelegatedOpinion, DelegatedScorecard
from flow.core.judging.scorecard.model import DIMENSIONS, GRADES
from flow.wiring.context import Context
from flow.wiring.judging.goal import Delegation
from tests.support import GitRepo
from tests.support.debate_judge import reply as opinion
from tests.support.judges.score_replies import reply as card_of
from tests.support.sessions import SessionFile, folder

NAMES = [name for name, _, _ in GRADES]
WEIGHTS = {one.name: float(one.weight) for one in DIMENSIONS}
CRITERION: Any = SimpleNamespace(id="AC2")


def graded(grade: str, least: str = "B-", doubted: tuple[str, ...] = ()) -> DelegatedOpinion:
    document = {
        "skill": "notes",
        "grade": grade,
        "composite": 7.2,
        "rubricUsed": "rubric-code.md",
        "criticalIssues": ["Safety 2.0/10: x"],
        "recommendations": ["one", "two"],
        "judge": {"costUsd": 0.5},
        "dimensions": {name: {"weight": weight} for name, weight in WEIGHTS.items()},
    }
    card = ScoredCard(document, ".flow/scores/x.json", ("odd",))
    return by_scorecard._graded_card(
        CRITERION, DelegatedScorecard("notes", least), card, doubted, "fake"
    )


@pytest.mark.parametrize("least", NAMES)
def test_every_grade_against_the_lowest_that_passes(least: str) -> None:
    for at, grade in enumerate(NAMES):
        found = graded(grade, least)
        passed = at <= NAMES.index(least)
        assert found.status == ("pass" if passed else "fail")
        assert found.hint == ("" if passed else "one; two")
        assert found.confidence == 1.0
        how = "at least" if passed else "below"
        assert found.reason == f"scorecard: grade {grade} (7.20) of notes, {how} {least}"


@pytest.mark.parametrize("name", WEIGHTS)
def test_each_dimension_without_evidence_takes_its_weight(name: str) -> None:
    assert graded("A", doubted=(name,)).confidence == pytest.approx(1 - WEIGHTS[name])
    assert graded("D", doubted=(name,)).confidence == 1.0  # a fail is sure of itself
    assert f"; {name} without evidence in the transcript" in graded("A", doubted=(name,)).reason


def test_what_is_recorded_of_a_card() -> None:
    assert graded("B").document == {
        "card": ".flow/scores/x.json",
        "skill": "notes",
        "grade": "B",
        "min_grade": "B-",
        "composite": 7.2,
        "rubric": "rubric-code.md",
        "critical_issues": ["Safety 2.0/10: x"],
        "cost_usd": 0.5,
    }
    assert (graded("B").remarks, graded("B").judges) == (("odd",), ("fake",))


CREATED = "2026-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("began", "file", "why"),
    [
        (CREATED, None, ""),
        ("2026-02-01T00:00:00Z", None, ""),
        ("2025-12-31T23:59:58Z", None, ""),  # clocks differ a little
        ("2025-12-31T00:00:00Z", None, "before the goal was made"),
        (None, None, "is not known"),
        ("soon", None, "cannot be told"),
        ("2026-13-41T00:00:00Z", None, "cannot be told"),
        (None, "run.md", ""),
    ],
)
def test_an_execution_from_before_the_goal(began: str | None, file: str | None, why: str) -> None:
    goal = SimpleNamespace(created_at=CREATED)
    case: Any = SimpleNamespace(facts=SimpleNamespace(loaded=SimpleNamespace(goal=goal)))
    transcript: Any = SimpleNamespace(started_at=began)
    found = by_scorecard._why_older(case, DelegatedScorecard(None, file=file), transcript)
    assert (why in found) if why else found == ""


# --- debates --------------------------------------------------------------------------------------


def document(*said: str, recommendation: str = "pass", **more: Any) -> dict[str, Any]:
    final = [{"judge": n, "recommendation": one} for n, one in enumerate(said, 1)]
    return {
        "final": final,
        "overall": 4.0,
        "recommendation": recommendation,
        "rounds": 2,
        "weaknesses": ["a", "b"],
        "some_weaknesses": [{"text": "c", "judges": [1]}, {"text": "d", "judges": [2]}],
        "support": 1.0,
        "debate_summary": {"revisions": more.pop("revisions", [])},
        **more,
    }


def decided(order: DelegatedDebate, found: dict[str, Any], *without: int) -> DelegatedOpinion:
    heard = DelegatedOpinion(
        "AC2", "debate", None, "debate: x", document={"without_quotes": list(without)}
    )
    return by_debate._decided(heard, found, order)


ORDER = DelegatedDebate(("x",), "t")


@pytest.mark.parametrize(
    ("least", "recommendation", "passed"),
    [
        (None, "pass", True),
        (4, "pass", True),
        (3.9, "pass", True),
        (4.1, "pass", False),
        (None, "needs_revision", False),
        (None, "fail", False),
        (1, "fail", False),
    ],
)
def test_recommendation_and_score_decide(
    least: float | None, recommendation: str, passed: bool
) -> None:
    order = ORDER._replace(min_score=least)
    found = decided(order, document(*[recommendation] * 3, recommendation=recommendation))
    assert found.status == ("pass" if passed else "fail")
    assert found.confidence == 1.0
    assert found.hint == ("" if passed else "a; b; c")
    below = f", below {least:g}" if least == 4.1 else ""
    how = f"consensus after 2 debates: {recommendation}, 4.00 of 5{below}"
    assert found.reason == f"debate: {how}"
    vote = decided(order._replace(mode="vote"), document("pass", "pass", "pass"))
    assert vote.reason.startswith("debate: vote: pass")


def test_a_score_just_below_the_least_does_not_look_like_it() -> None:
    order, just = ORDER._replace(min_score=3.5), document("pass", "pass", "pass", overall=3.496)
    assert decided(order, just).reason.endswith("pass, 3.496 of 5, below 3.5")
    assert decided(ORDER, just).reason.endswith("pass, 3.50 of 5")
    far = document("pass", "pass", "pass", overall=3.494)
    assert decided(order, far).reason.endswith("pass, 3.49 of 5, below 3.5")


@pytest.mark.parametrize(
    ("rounds", "after"), [(0, "before any debate"), (1, "after 1 debate"), (3, "after 3 debates")]
)
def test_how_many_debates_it_took(rounds: int, after: str) -> None:
    found = document("pass", "pass", "pass", rounds=rounds)
    assert decided(ORDER, found).reason == f"debate: consensus {after}: pass, 4.00 of 5"


def test_who_counts_as_agreeing() -> None:
    three = ("pass", "pass", "fail")
    assert decided(ORDER, document(*three)).confidence == 0.6667
    gave_in = [
        {"judge": 1, "conformity": True},
        {"judge": 1, "conformity": False},
        {"judge": 2, "conformity": False},
    ]
    assert decided(ORDER, document(*three, revisions=gave_in)).confidence == 0.3333
    assert decided(ORDER, document("pass", "pass")).confidence == 0.6667  # one took no part
    found = decided(ORDER, document("pass", "pass", "pass"), 2, 3)
    assert found.confidence == 0.3333
    assert found.reason.endswith("; nothing of the solution is quoted by judge 2, 3")
    failed = decided(ORDER, document(*["fail"] * 3, recommendation="fail"), 1, 2, 3)
    assert failed.confidence == 1.0  # a refusal needs no quote


def test_which_judges_quoted_nothing() -> None:
    def judge(number: int, *turns: tuple[tuple[str, ...], ...]) -> Any:
        sections = [
            SimpleNamespace(
                position=SimpleNamespace(marks=[SimpleNamespace(evidence=e) for e in turn])
            )
            for turn in turns
        ]
        return SimpleNamespace(number=number, sections=sections)

    held: Any = SimpleNamespace(
        judges=[
            judge(1, ((), ("quote",))),
            judge(2, ((), ()), ((), ())),
            judge(3, (("quote",), ()), ((), ())),
            judge(4),
        ]
    )
    assert by_debate._without_quotes(held) == [2, 4]


SHARE = "only 49% of the scores' weight rests on true quotes"


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"altered": [{"file": "r.md"}]}, "a report was altered: r.md"),
        ({"missing": [{"judge": 2, "reason": "late"}]}, "judge 2 gave no usable answer: late"),
        (
            {"disagreements": [{"criterion": "a"}, {"criterion": None}, {"criterion": "b"}]},
            "no consensus on a, b after 2 debates",
        ),
        ({"disagreements": [{"criterion": None}]}, "no consensus after 2 debates"),
        (
            {"disagreements": [{"criterion": "a"}], "support": 0.499},
            "no consensus on a after 2 debates: " + SHARE,
        ),
    ],
)
def test_why_nothing_was_decided(more: dict[str, Any], why: str) -> None:
    found = document("pass", **{"altered": [], "missing": [], "disagreements": [], **more})
    assert by_debate._why_undecided(found) == why


# --- both, with real files ------------------------------------------------------------------------

QUOTE = "3 changes listed"
FOUND = "The list is complete."
VERIFIED = [{"question": f"q{n}", "answer": f"a{n}"} for n in range(5)]
ABSENT = NoAnswer("no_key", "no key is set", Usage("openai:m"))


class Judge:
    """One that says the same of everything."""

    def __init__(self, name: str, says: dict[str, Any]) -> None:
        self.name, self.says = name, says
        self.prompts: list[str] = []
        self.seconds: set[float] = set()

    def __call__(self, question: Question, *, seconds: float) -> JudgeAnswer:
        self.prompts.append(question.prompt)
        self.seconds.add(seconds)
        return JudgeAnswer(self.says, Usage(self.name, cost_usd=0.5))


class Told:
    """Hears who is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, float]] = []

    def asking(self, judge: str, what: str, seconds: float) -> None:
        self.asked.append((judge, what, seconds))


@pytest.fixture
def place(repo: GitRepo) -> GitRepo:
    """A checkout with a transcript, a solution, and files that no judge may see."""
    run = f"**User:** /notes\n\n**Assistant:** Written: {QUOTE}.\n"
    files = {"src/run.md": run, "src/notes.md": f"# Notes\n\n{FOUND}\n", "src/empty.md": ""}
    more = {".decisions/issue-7.md": "decided\n", "log/7.md": "a journal\n", "src/x.md": "x\n"}
    repo.commit("start", **files, **more)
    return repo


def case(trigger: str = "manual", **more: Any) -> Any:
    denied = more.pop("denied_context", ["src/x.md"])
    goal = SimpleNamespace(
        id="greet",
        created_at=CREATED,
        journal="log/7.md",
        document={"evaluator": {"denied_context": denied}},
    )
    baseline = SimpleNamespace(scores_dir="cards/", reports_dir="reports", journal_dir=".decisions")
    facts = SimpleNamespace(loaded=SimpleNamespace(goal=goal), baseline=baseline)
    return SimpleNamespace(facts=facts, request=SimpleNamespace(trigger=trigger))


def hear(
    place: GitRepo, order: Any, *panel: Any, record: bool = True, **more: Any
) -> tuple[DelegatedOpinion, Told]:
    told = Told()
    parts = Context(str(place.path), os.environ)
    seconds = more.pop("seconds", 9.0)
    judge = delegated.Delegate(Delegation(parts), panel, told, record)  # type: ignore[arg-type]
    return judge(case(**more), CRITERION, order, seconds), told


CARD = DelegatedScorecard("notes", "B", "src/run.md")
DEBATE = DelegatedDebate(("src/notes.md",), "write the notes", "clear:1", judges=2)


def scorer() -> Judge:
    return Judge("scorer", card_of(8.0, QUOTE))


def debater(name: str = "one", score: float = 4) -> Judge:
    return Judge(name, opinion({"clear": score}, FOUND, verification=VERIFIED))


def test_a_card_is_heard(place: GitRepo) -> None:
    first, second = scorer(), scorer()
    found, told = hear(place, CARD, first, first, second)
    assert (found.id, found.way, found.status) == ("AC2", "scorecard", "pass")
    assert told.asked == [("scorer", "AC2, scorecard", 9.0)]
    assert len(first.prompts) == 1
    assert second.prompts == []
    assert found.document["card"].startswith("cards/notes-")
    assert found.document["cost_usd"] == 0.5
    assert found.document["duration_seconds"] >= 0
    assert (place.path / found.document["card"]).is_file()


def test_a_run_in_the_sessions_is_heard(place: GitRepo, home: Path) -> None:
    session = SessionFile(folder(home, place.path) / "s1.jsonl")
    session.command("other").says(f"Another: {QUOTE}.")
    session.command("notes").says(f"Written: {QUOTE}.")
    found, _ = hear(place, DelegatedScorecard("/notes"), scorer())
    assert (found.status, found.document["skill"]) == ("pass", "notes")
    session.command("third").says(f"The last: {QUOTE}.")
    found, _ = hear(place, DelegatedScorecard(None), scorer())
    assert found.document["skill"] == "third"


def test_a_debate_is_heard(place: GitRepo) -> None:
    one, two = debater("one"), debater("two")
    found, told = hear(place, DEBATE, one, one, two)
    assert (found.id, found.way, found.status) == ("AC2", "debate", "pass")
    assert told.asked == [("2 judges", "AC2, debate", 9.0)]
    assert (found.judges, one.seconds) == (("one", "two"), {9.0})
    assert found.document["reports"][0].startswith("reports/notes-src-")
    assert found.document["cost_usd"] == 2.0
    assert found.document["left_out"] == []
    assert "BEGIN solution>>>\nsource: src/notes.md\n" in one.prompts[0]


def test_several_files_and_what_is_left_out(place: GitRepo) -> None:
    place.write("src/long.md", "y" * 200_000)
    everything = DEBATE._replace(solution=("src/*.md", ".decisions/*", "log/*"), criteria=None)
    names = [c["name"] for c in by_debate_criteria()]
    judge = Judge("one", opinion(dict.fromkeys(names, 4), FOUND, verification=VERIFIED))
    found, _ = hear(place, everything, judge)
    assert found.status == "pass"
    prompt = judge.prompts[0]
    assert "BEGIN solution, part 1 of 3, shortened>>>\nsource: src/long.md\n" in prompt
    assert "part 2 of 3>>>\nsource: src/notes.md\n" in prompt
    assert "decided" not in prompt
    assert "a journal" not in prompt
    assert "source: src/x.md" not in prompt
    assert any("bytes within src/long.md" in note for note in found.document["left_out"])
    assert any(note.startswith("not in the solution: ") for note in found.remarks)
    assert "long-src-and-2-more-" in found.document["reports"][0]


def by_debate_criteria() -> list[dict[str, str]]:
    from flow.core.judging.debate.criteria import ready_made

    return [{"name": one.name} for one in ready_made("code")]


@pytest.mark.parametrize(
    ("order", "panel", "more", "why"),
    [
        (CARD, [scorer()], {"trigger": "stop-hook"}, "not in the Stop hook"),
        (CARD, [scorer()], {"record": False}, "it leaves files behind"),
        (CARD, [], {}, "no judge can be asked"),
        (CARD, [ABSENT], {}, "openai:m cannot be asked: no key is set"),
        (CARD._replace(rubric="./x.md"), [scorer()], {}, "by its name, not by a path"),
        (CARD._replace(rubric="run.md"), [scorer()], {}, "no rubric"),
        (CARD._replace(file="src/x.md"), [scorer()], {}, "denied_context keeps its transcript"),
        (CARD._replace(file="src/../src/x.md"), [scorer()], {}, "denied_context keeps"),
        (CARD._replace(file="log/7.md"), [scorer()], {}, "denied_context keeps"),
        (CARD._replace(file=".decisions/issue-7.md"), [scorer()], {}, "denied_context keeps"),
        (CARD._replace(file=".git/config"), [scorer()], {}, "of Flow's or git's own"),
        (CARD._replace(file="./.flow/x"), [scorer()], {}, "of Flow's or git's own"),
        (CARD._replace(file="none.md"), [scorer()], {}, "its transcript is not there (write none"),
        (DelegatedScorecard("notes"), [scorer()], {}, "no run of 'notes'"),
        (DEBATE, [], {}, "no judge can be asked"),
        (DEBATE._replace(judges=1), [debater()], {}, "one judge holds no debate"),
        (DEBATE._replace(solution=("none",)), [debater()], {}, "names no file that may be read"),
        (DEBATE._replace(solution=("src/empty.md",)), [debater()], {}, "names no file that may"),
        (DEBATE, [debater(), ABSENT], {}, "judge 2 gave no usable answer: no key is set"),
        (DEBATE, [debater(score=1), debater("b")], {}, "no consensus on clear after 3 debates"),
    ],
)
def test_what_comes_to_nothing_says_why(
    order: Any, panel: list[Any], more: dict[str, Any], why: str, place: GitRepo
) -> None:
    found, told = hear(place, order, *panel, **more)
    assert (found.id, found.way, found.status) == ("AC2", order.way, None)
    assert why in found.reason
    assert found.reason.startswith(f"{order.way}: ")
    assert found.confidence == 0.0
    if "Stop hook" in why or "leaves files" in why:
        assert "flow goal evaluate greet has it judged" in found.reason
        assert told.asked == []


def test_a_vote_of_one_is_held(place: GitRepo) -> None:
    found, _ = hear(place, DEBATE._replace(judges=1, mode="vote"), debater())
    assert (found.status, found.confidence) == ("pass", 1.0)


VOTE = {"mode": "vote"}
REFUSES: dict[str, Any] = {"recommendation": "fail"}
SILENT = NoAnswer("failed", "it ended with 1", Usage("one"))


def says(score: float, *quotes: str, **more: Any) -> dict[str, Any]:
    """An opinion that looked at its draft again."""
    return opinion({"clear": score}, *(quotes or (FOUND,)), verification=VERIFIED, **more)


class Debater(Judge):
    """One of several that say what a plan has for the judge and the turn, or for the turn alone."""

    def __init__(self, plan: dict[str, Any]) -> None:
        super().__init__("one", {})
        self.plan = plan

    def __call__(self, question: Question, *, seconds: float) -> JudgeAnswer | NoAnswer:  # type: ignore[override]
        begun = re.match(r"You are Judge (\d+) (in debate round )?", question.system)
        assert begun
        turn = "debate" if begun[2] else "assess"
        reply = self.plan.get(f"{begun[1]}/{turn}", self.plan.get(turn))
        assert reply is not None, f"nobody expects {begun[0]}"
        return reply if isinstance(reply, NoAnswer) else JudgeAnswer(reply, Usage("one"))


COMES_TO: dict[str, tuple[dict[str, Any], dict[str, Any], str | None, float]] = {
    # of the contract, the judges' plan: what it is for the criterion, confidence
    "all agree": ({}, {"assess": says(4)}, "pass", 1.0),
    "all refuse": ({}, {"assess": says(2, **REFUSES)}, "fail", 1.0),
    "revise": ({}, {"assess": says(4, recommendation="needs_revision")}, "fail", 1.0),
    "two of three pass": (
        {},
        {"assess": says(4), "3/assess": says(4, recommendation="needs_revision")},
        "pass",
        0.6667,
    ),
    "nobody quotes anything that is there": (
        {},
        {"assess": says(5, "All is perfect here."), "debate": says(5, "All is perfect here.")},
        None,
        0.0,
    ),
    "one of three quotes nothing": (
        VOTE,
        {"assess": says(4), "2/assess": says(4, "never there")},
        "pass",
        0.6667,
    ),
    "at the score": ({"min_score": 4}, {"assess": says(4)}, "pass", 1.0),
    "below the score": ({"min_score": 4.1}, {"assess": says(4)}, "fail", 1.0),
    "too far apart": (
        {},
        {"assess": says(4), "1/assess": says(1), "1/debate": says(1), "debate": says(4)},
        None,
        0.0,
    ),
    "one does not accept": (
        {},
        {
            "assess": says(4),
            "2/assess": says(2),
            "debate": says(4),
            "2/debate": says(4, accepts=False),
        },
        None,
        0.0,
    ),
    "one says nothing": ({}, {"assess": says(4), "2/assess": SILENT}, None, 0.0),
    "a vote": (VOTE, {"assess": says(4)}, "pass", 1.0),
    "a vote of two thirds": (
        VOTE,
        {"assess": says(5), "1/assess": says(1, **REFUSES)},
        "pass",
        0.6667,
    ),
    "a vote of one third": (
        VOTE,
        {"assess": says(1, **REFUSES), "1/assess": says(5)},
        "fail",
        0.6667,
    ),
    "a vote with one absent": (VOTE, {"assess": says(4), "2/assess": SILENT}, "pass", 0.6667),
    "a vote that half took part in": (
        {**VOTE, "judges": 2},
        {"assess": says(4), "2/assess": SILENT},
        None,
        0.0,
    ),
    "a vote of two that differ": (
        {**VOTE, "judges": 2},
        {"assess": says(4), "2/assess": says(4, **REFUSES)},
        "fail",
        0.5,
    ),
    "one gave in": (
        {"judges": 2},
        {"assess": says(4), "2/assess": says(2), "debate": says(4)},
        "pass",
        0.5,
    ),
}


@pytest.mark.parametrize("name", COMES_TO)
def test_what_a_debate_comes_to(name: str, place: GitRepo) -> None:
    """The verdict that follows is in ``test_goal_apart``."""
    contract, plan, status, confidence = COMES_TO[name]
    request = DEBATE._replace(**{"judges": 3, "rounds": 1, **contract})
    found, _ = hear(place, request, Debater(plan))
    assert (found.status, found.confidence) == (status, confidence), found.reason


def test_a_hard_link_may_be_another_file(place: GitRepo, tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text(f"**User:** /notes\n\n**Assistant:** {QUOTE}\n")
    (place.path / "hard.md").hardlink_to(tmp_path / "other.md")
    found, _ = hear(place, CARD._replace(file="hard.md"), scorer())
    assert "several hard links" in found.reason


def test_words_lose_their_power_and_their_length(place: GitRepo) -> None:
    judge = scorer()
    judge.says = card_of(4.0, QUOTE, recommendations=("x\x1b[2J\u202e" + "y" * 900,))
    found, _ = hear(place, CARD, judge)
    assert found.status == "fail"
    assert found.hint.isprintable()
    assert len(found.hint) <= 500
