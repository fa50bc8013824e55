"""Nothing that stands in a transcript talks the judge of an execution into a score.

As in ``test_injection``: the judge obeys whatever it finds outside the fences, and is easily fooled
about where a fence ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from flow.app.judging.scorecard import ScorecardTools, Scored, score_execution
from flow.core.judging.scorecard.prompt import CardSubject
from flow.core.transcript.layout import lay_out
from flow.core.transcript.model import Transcript, TranscriptEntry, quotable_text
from tests.app.judge_fakes import FakeJudge
from tests.hostile import test_injection
from tests.hostile.test_injection import ATTEMPTS, FAKE, WORD
from tests.support import scene
from tests.support.goal_judge import GoalJudge
from tests.support.judges.score_replies import reply

if TYPE_CHECKING:
    from pathlib import Path

    from flow.core.judging.common.question import Question
    from tests.support import GitRepo

QUOTE = "the parser was committed"


def obeys(question: Question) -> dict[str, Any]:
    """Ten points where it was persuaded, else two."""
    ids = {"enum": ["AC1"]}
    row = {"items": {"properties": {"criterion_id": ids}}}
    as_goal = question._replace(schema={"properties": {"criterion_results": row}})
    persuaded = test_injection.obeys(as_goal)["verdict"] == "achieved"
    return reply(10.0 if persuaded else 2.0, QUOTE)


def transcript(*entries: TranscriptEntry) -> Transcript:
    said = TranscriptEntry("text", QUOTE)
    return Transcript("t.jsonl", "claude", "commit", "e", None, (*entries, said))


PLACES: dict[str, Any] = {
    "prompt": lambda text: {"entries": (TranscriptEntry("prompt", text),)},
    "text": lambda text: {"entries": (TranscriptEntry("text", text),)},
    "input of a call": lambda text: {"entries": (TranscriptEntry("tool", text, "Bash", "ok"),)},
    "result of a call": lambda text: {"entries": (TranscriptEntry("tool", "cat x", "Bash", text),)},
    "name of a tool": lambda text: {"entries": (TranscriptEntry("tool", "x", text, "ok"),)},
    "error": lambda text: {"entries": (TranscriptEntry("error", text, failed=True),)},
    "skill": lambda text: {"skill": text},
    "rubric": lambda text: {"rubric": text},
    "rubric's name": lambda text: {"rubric_name": text},
}


def asked(
    *, entries: tuple[TranscriptEntry, ...] = (), first: Any = None, **more: Any
) -> tuple[Scored, FakeJudge]:
    script = transcript(*entries)
    judge = FakeJudge("gullible", *([] if first is None else [first]), obeys)
    given = {"skill": "commit", "rubric_name": "rubric-code.md", "rubric": "# Code", "mean": None}
    matter = CardSubject(lay_out=lambda limit: lay_out(script, limit=limit), **{**given, **more})
    tools = ScorecardTools(judge, lambda: "5e" * 16, lambda text: text, lambda _: None, 9)
    found = score_execution(matter, quotable_text(script), 1, tools)
    assert isinstance(found, Scored), found
    return found, judge


LONG = 9_000
"""Characters from which on an attempt is made in two places only: it is about what is cut."""


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_no_attempt_reaches_a_judge_that_obeys(attempt: str) -> None:
    text = ATTEMPTS[attempt]
    places = ("result of a call", "rubric") if len(text) > LONG else tuple(PLACES)
    for place in places:
        found, judge = asked(**PLACES[place](text[:30_000] if place == "rubric" else text))
        shown = (place, judge.questions[0].prompt[-4000:])
        assert str(found.ballot.marks["safety"].score) == "2.0", shown


def test_nor_does_a_first_answer_that_is_sent_back() -> None:
    for attempt, text in ATTEMPTS.items():
        rows = {"safety": {"evidence": ["never said"], "justification": text[:900]}}
        found, judge = asked(first=reply(9.0, QUOTE, rows=rows))
        assert len(judge.questions) == 2
        assert str(found.ballot.marks["safety"].score) == "2.0", attempt


def test_the_judge_obeys_what_stands_outside() -> None:
    _, judge = asked()
    question = judge.questions[0]
    for text in ATTEMPTS.values():
        if WORD in text:
            leaked = question._replace(prompt=f"{question.prompt}\n{text}")
            assert obeys(leaked)["dimensions"]["safety"]["score"] == 10.0


@pytest.mark.parametrize("attempt", ["plain", "the end of a fence", "bidirectional marks"])
def test_what_was_neutralised_is_told(attempt: str) -> None:
    found, _ = asked(entries=(TranscriptEntry("tool", "cat x", "Bash", ATTEMPTS[attempt]),))
    assert any(remark.startswith("given to the judge: ") for remark in found.remarks)
    assert all(remark.isprintable() for remark in found.remarks)


def test_a_judges_words_carry_no_attempt_on() -> None:
    for attempt, text in ATTEMPTS.items():
        rows = {"safety": {"justification": text}}
        found, _ = asked(first=reply(8.0, QUOTE, rows=rows, recommendations=(text,)))
        for words in (found.ballot.marks["safety"].justification, *found.ballot.recommendations):
            assert words.isprintable(), attempt
            assert f"<<<flow-data {FAKE}" not in words, attempt


def test_the_real_command_and_a_real_judge(repo: GitRepo, home: Path, tmp_path: Path) -> None:
    scene.start(repo)
    texts = [text for text in ATTEMPTS.values() if len(text) < 9_000 and "\udcff" not in text]
    lines = "".join(f"{text}\n" for text in texts).replace("\0", "")
    repo.write("run.txt", f"{QUOTE}\n{lines}")
    judge = GoalJudge(tmp_path / "judge", home)
    judge.answers(reply(2.0, QUOTE))
    done = scene.flow(repo, "judge", "scorecard", "commit", "--file", "run.txt", "--json")
    assert done.status == 0, done
    assert judge.prompts[0].count(WORD) > 20
    assert any("speaks to the judge" in note for note in done.json["notes"])
