"""``from flow import scorecard``, what auto mode calls, and real backends over loopback."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import flow
from flow import NoUsableAnswer, Scorecard, ScoredDimension, ascorecard, scorecard, scorecards
from flow.adapters.transcripts import reader
from flow.app.judging import scoring
from flow.app.judging.scoring import ScoredCard, ScoreRequest
from flow.core.judging.scorecard.model import NAMES
from flow.errors import FlowError, InputError, StateError
from flow.wiring.judging.scorecards import Scoring
from tests.adapters.judges.scene import KEY, NO_PROXIES
from tests.support import ROOT, GitRepo, run_flow
from tests.support.judges.messages_api import STRUCTURED, MessagesApi, structured
from tests.support.judges.rubric_replies import Scripted
from tests.support.judges.score_replies import reply

QUOTE = "2 files changed"
GOOD = reply({"completeness": 4.0}, QUOTE)


@pytest.fixture
def place(repo: GitRepo, monkeypatch: pytest.MonkeyPatch, home: Path) -> GitRepo:
    """A checkout with a transcript in it; the process works there."""
    repo.commit("start", **{"run.txt": f"commit my work\n{QUOTE}\n"})
    monkeypatch.chdir(repo.path)
    return repo


def files(place: GitRepo) -> list[str]:
    folder = place.path / ".flow/scores"
    return sorted(os.listdir(folder)) if folder.is_dir() else []


def test_a_scorecard(place: GitRepo) -> None:
    found = scorecard("commit", file="run.txt", backend=Scripted(GOOD))
    assert isinstance(found, Scorecard)
    assert (found.skill, found.composite, found.grade) == ("commit", 7.15, "B-")
    assert [d.name for d in found.dimensions] == list(NAMES)
    assert found.dimensions[1] == ScoredDimension(
        "completeness", 4.0, 0.2, "The completeness of it shows in the output.", (QUOTE,)
    )
    assert found.critical_issues == (
        "Completeness 4.0/10: The completeness of it shows in the output.",
    )
    assert found.recommendations == ("Completeness: name what is missing.",)
    assert found.transcript == "run.txt"
    assert found.file == f".flow/scores/{files(place)[0]}"
    assert json.loads((place.path / found.file).read_text()) == found.to_document()


def test_a_history_says_how_many_older_cards_it_lacks(
    place: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [scorecard("commit", file="run.txt", backend=Scripted(GOOD)).file for _ in range(3)]
    assert (len(scorecards("commit")["cards"]), scorecards("commit")["warnings"]) == (3, [])
    monkeypatch.setattr(scoring, "WHOLE", 1)
    found = scorecards("commit")
    assert [f"{found['folder']}/{card['file']}" for card in found["cards"]] == made[-1:]
    assert found["warnings"] == ["2 older cards are not in this history"]


def test_a_function_a_path_object_and_no_storing(place: GitRepo) -> None:
    prompts = []

    def judge(prompt: str) -> dict[str, Any]:
        prompts.append(prompt)
        return reply(8.0, QUOTE, rows={"safety": {"evidence": []}})

    path = place.path / "run.txt"
    found = scorecard("commit", file=path, rubric="code", backend=judge, store=False)
    assert found.file is None
    assert files(place) == []
    assert found.unsupported == ("safety",)
    assert len(prompts) == 2
    assert found.rubric == "rubric-code.md"


def test_a_scorecard_in_asynchronous_code(place: GitRepo) -> None:
    seen: list[tuple[int, str]] = []

    async def judge(prompt: str) -> dict[str, Any]:
        seen.append((threading.get_ident(), prompt))
        await asyncio.sleep(0)
        return GOOD

    async def ask() -> list[Scorecard]:
        more = {"file": "run.txt", "rubric": "ops", "backend": judge, "cwd": str(place.path)}
        return await asyncio.gather(
            ascorecard("commit", **more), ascorecard("tidy", **more, samples=3, store=False)
        )

    stored, loose = asyncio.run(ask())
    assert (stored.composite, stored.rubric, loose.file) == (7.15, "rubric-ops.md", None)
    assert files(place) == [os.path.basename(stored.file or "")]
    assert {ident for ident, _ in seen} == {threading.get_ident()}  # the loop's own thread
    assert len(seen) == 4


def test_both_calls_take_the_same(place: GitRepo) -> None:
    import inspect

    assert inspect.signature(ascorecard) == inspect.signature(scorecard)
    with pytest.raises(NoUsableAnswer, match="no judge is configured"):
        asyncio.run(ascorecard("commit", file="run.txt"))
    with pytest.raises(InputError):
        asyncio.run(ascorecard("commit", file="missing.txt", backend=Scripted(GOOD)))
    assert "ascorecard" in flow.__all__


def test_another_folder(place: GitRepo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    path = place.path / "run.txt"
    assert scorecard("commit", file=path, backend=Scripted(GOOD), cwd=str(place.path)).file
    found = scorecards("commit", cwd=str(place.path))
    assert [card["composite"] for card in found["cards"]] == [7.15]


def test_a_quote_may_hold_the_marks_of_a_saved_text(place: GitRepo) -> None:
    place.write("run.md", "**User:** /commit\n\n    $ git commit -m x\n    2 files changed\n")
    quotes = ("$ git commit -m x", "**User:** /commit")
    for quote in quotes:
        judge = Scripted(reply(8.0, quote))
        assert not scorecard("commit", file="run.md", backend=judge).unsupported
    judge = Scripted(reply(8.0, "**Human:** /commit"))
    with pytest.raises(NoUsableAnswer, match="rests on true quotes"):
        scorecard("commit", file="run.md", backend=judge)


def test_a_file_that_is_gone_is_quoted_as_it_was_read(place: GitRepo) -> None:
    transcript = reader.read("run.txt", "commit")
    (place.path / "run.txt").unlink()
    card = score(ScoreRequest("commit", transcript=transcript, backend=Scripted(GOOD)))
    assert not any(row.get("unsupported") for row in card.document["dimensions"].values())


def test_what_it_raises(place: GitRepo) -> None:
    with pytest.raises(InputError):
        scorecard("commit", file="missing.txt", backend=Scripted(GOOD))
    with pytest.raises(InputError, match="number of samples"):
        scorecard("commit", file="run.txt", backend=Scripted(GOOD), samples=0)
    with pytest.raises(NoUsableAnswer) as caught:
        scorecard("commit", file="run.txt", backend=Scripted("took too long"))
    assert caught.value.code == "timeout"
    with pytest.raises(NoUsableAnswer, match="not usable: the reply has no dimensions"):
        scorecard("commit", file="run.txt", backend=Scripted({}))
    with pytest.raises(NoUsableAnswer, match="no judge is configured"):
        scorecard("commit", file="run.txt")
    assert files(place) == []


def test_what_a_judge_function_raises_is_the_cause(place: GitRepo) -> None:
    def broken(_: str) -> dict[str, Any]:
        raise ZeroDivisionError

    with pytest.raises(NoUsableAnswer) as caught:
        scorecard("commit", file="run.txt", backend=broken)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_importing_flow_costs_nothing_and_names_are_lazy() -> None:
    program = (
        "import sys, flow\nassert 'flow.api_scorecard' not in sys.modules\n"
        "flow.scorecard\nassert 'flow.api_scorecard' in sys.modules\n"
        "assert 'flow.api_judge' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": ROOT})
    assert done.returncode == 0
    assert {"scorecard", "scorecards", "Scorecard", "ScoredDimension"} <= set(flow.__all__)


# --- each execution once, as auto mode wants it ---------------------------------------------------


def score(request: ScoreRequest, **more: Any) -> ScoredCard:
    return scoring.score_and_store(Scoring(), request, **more)


def scored(execution: str, skill: str) -> str | None:
    port = Scoring()
    return scoring.card_of(port, port.cards_folder(), skill, execution)


def request(**more: Any) -> ScoreRequest:
    given = {"skill": "commit", "file": "run.txt", "backend": Scripted(GOOD), "once": True}
    return ScoreRequest(**{**given, **more})


def test_an_execution_is_scored_once(place: GitRepo) -> None:
    execution = reader.read("run.txt", "commit").execution
    assert scored(execution, "commit") is None
    card = score(request())
    assert card.document["execution"] == execution
    assert scored(execution, "commit") == card.file
    judge = Scripted(GOOD)
    with pytest.raises(StateError) as caught:
        score(request(backend=judge))
    assert (caught.value.code, caught.value.fault.file) == ("already_scored", card.file)
    assert judge.questions == []
    assert score(request(once=False)).file != card.file  # a person may ask again


def test_a_run_scored_by_its_short_name_is_known_by_its_plugins(place: GitRepo) -> None:
    card = score(request())
    execution = card.document["execution"]
    assert scored(execution, "git:commit") == card.file
    with pytest.raises(StateError):
        score(request(skill="git:commit"))
    later = score(request(skill="git:commit", once=False))
    assert later.document["history"]["cards"] == 0  # the first is its own
    assert scored(execution, "commit") in (card.file, later.file)


def test_an_odd_execution_is_known_again(place: GitRepo) -> None:
    odd = reader.read("run.txt", "commit")._replace(execution="a\ud800\x1b" + "x" * 900)
    card = score(request(transcript=odd))
    assert scored(odd.execution, "commit") == card.file
    with pytest.raises(StateError, match="scored already"):
        score(request(transcript=odd))


def test_of_two_at_once_one_stores(place: GitRepo) -> None:
    """Both have looked before either has stored."""
    meeting = threading.Barrier(2, timeout=60)
    outcomes: list[str] = []

    class Slow(Scripted):
        def __call__(self, question: Any, *, seconds: float) -> Any:
            meeting.wait()
            return super().__call__(question, seconds=seconds)

    def one() -> None:
        try:
            outcomes.append(str(score(request(backend=Slow(GOOD))).file))
        except FlowError as error:
            outcomes.append(error.code)

    workers = [threading.Thread(target=one) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(files(place)) == 1
    assert sorted(outcomes) == sorted([f".flow/scores/{files(place)[0]}", "already_scored"])


def test_a_transcript_that_was_read_already(place: GitRepo) -> None:
    transcript = reader.read("run.txt", "commit")
    told: list[str] = []
    card = score(request(file=None, transcript=transcript), progress=told.append)
    assert card.document["transcriptPath"] == transcript.path
    assert told == ["scorecard commit: asking scripted"]


# --- real backends --------------------------------------------------------------------------------


def through(place: GitRepo, home: Path, api: MessagesApi, backend: str) -> Any:
    settings = {"backend": backend, "baseUrl": api.url, "model": "claude-sonnet-4-5"}
    (home / ".claude").mkdir(exist_ok=True)
    own = home / ".claude/settings.flow.json"
    own.write_text(json.dumps({"flow": {"goals": {"judge": settings}}}))
    return run_flow(
        "judge", "scorecard", "commit", "--file", "run.txt", "--json",
        cwd=place.path, env={**NO_PROXIES, "ANTHROPIC_API_KEY": KEY},
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    "backend",
    [
        pytest.param("claude", marks=pytest.mark.needs_tool("claude")),
        "anthropic",
    ],
)
def test_a_real_client_over_loopback(backend: str, place: GitRepo, home: Path) -> None:
    unfounded = reply(9.0, QUOTE, rows={"safety": {"evidence": ["nobody said so"]}})
    with MessagesApi(structured(unfounded), structured(GOOD)) as api:
        done = through(place, home, api, backend)
    assert done.status == 0, done
    card = done.json
    assert (card["composite"], card["grade"]) == (7.15, "B-")
    assert card["judge"]["calls"] == 2
    assert card["judge"]["inputTokens"] >= 2000
    first, second = api.calls[0], api.calls[-1]
    assert QUOTE in first.prompt
    assert "Sent back" in second.prompt
    if backend == "claude":
        assert first.tools == [STRUCTURED]


@pytest.mark.slow
@pytest.mark.needs_tool("claude")
def test_a_real_reply_of_the_wrong_shape_is_no_card(place: GitRepo, home: Path) -> None:
    with MessagesApi(structured({"dimensions": {}, "recommendations": []})) as api:
        done = through(place, home, api, "claude")
    assert done.status == 4, done
    assert files(place) == []
