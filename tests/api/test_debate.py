"""``flow.debate``, ``hold`` for a goal's evaluation, and debates over the real CLI and SDKs."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest

import flow
from flow import NoUsableAnswer, adebate, debate
from flow.adapters.debates.context import DebateContext
from flow.adapters.judges.asking import BackendJudge
from flow.adapters.judges.budget import Budget
from flow.app.judging.debate_calls import hold_plan
from flow.app.judging.debate_plan import DebatePlan
from flow.app.judging.port import JudgeAnswer, NoAnswer, Usage
from flow.core.judging.common.question import Question
from flow.core.judging.debate.result import document
from flow.core.untrusted.fences import FencedPart
from flow.errors import InputError, RefusedError
from tests.adapters.judges.scene import KEY, NO_PROXIES, Sleeper
from tests.support import ROOT, GitRepo
from tests.support.debate_judge import reply
from tests.support.judges.judge_servers import ChatApi, chat
from tests.support.judges.messages_api import MessagesApi, structured

SOLUTION = "def area(r):\n    return 3.14 * r * r\n"
QUOTE = "return 3.14 * r * r"
VERIFIED = [{"question": f"q{n}", "answer": f"a{n}"} for n in range(5)]


@pytest.fixture
def place(repo: GitRepo, monkeypatch: pytest.MonkeyPatch) -> GitRepo:
    """A checkout with a solution, which is the working directory."""
    repo.commit("start", **{"src/area.py": SOLUTION})
    monkeypatch.chdir(repo.path)
    return repo


def says(a: float, b: float, *quotes: str, **more: Any) -> dict[str, Any]:
    return reply({"a": a, "b": b}, *(quotes or (QUOTE,)), **more)


def plan(prompt: str, turns: Mapping[str, Any]) -> Any:
    """What a plan holds for the turn that a prompt is about."""
    found = re.search(r"You are Judge (\d+) (?:evaluating|in debate round (\d+))", prompt)
    assert found
    turn = f"debate {found[2]}" if found[2] else "assess"
    said = turns.get(f"{found[1]}/{turn}", turns.get(turn))
    if "BEGIN draft of Judge" in prompt:
        return {"verification": VERIFIED, **said}
    return said


def scripted(**turns: Any) -> Callable[[str], Any]:
    """A judge as a plain function."""
    named = {key.replace("_", " "): value for key, value in turns.items()}
    return lambda prompt: plan(prompt, named)


AGREE = scripted(assess=says(4, 4))
WORD = "a:1,b:1"


def test_a_debate_from_python(place: GitRepo) -> None:
    first = scripted(assess=says(2, 4), debate_1=says(4, 4, "def area(r):"))
    result = debate("src/area.py", "areas", WORD, backends=[first, AGREE_LATER])
    assert result.consensus is True
    assert bool(result) is True
    assert (result.rounds, result.overall, result.recommendation) == (1, 4.0, "pass")
    assert result.scores == {"a": 4.0, "b": 4.0}
    assert (result.strengths, result.weaknesses) == (("short",), ("no tests",))
    assert result.report.startswith("# Consensus Evaluation Report\n")
    assert result.disagreements == ()
    assert result.document["debate_summary"]["rounds"] == 1
    assert [path.rpartition("/")[0] for path in result.reports] == [".specs/reports"] * 2
    assert all((place.path / path).is_file() for path in result.reports)
    with pytest.raises(FrozenInstanceError):
        result.rounds = 2  # type: ignore[misc]


AGREE_LATER = scripted(assess=says(5, 4), debate_1=says(4, 4, "def area(r):"))


def test_no_consensus_is_false_and_a_vote_without_one_is_not(place: GitRepo) -> None:
    panel = [
        scripted(assess=says(s, 4), **{f"debate_{n}": says(s, 4) for n in (1, 2, 3)})
        for s in (2, 5)
    ]
    apart = debate("src/area.py", "areas", WORD, backends=panel, rounds=2)
    assert (bool(apart), apart.consensus, apart.rounds, apart.scores) == (False, False, 2, None)
    assert apart.needs_human_review
    assert apart.disagreements[0]["criterion"] == "a"
    vote = debate("src/area.py", "areas", WORD, backends=panel, mode="vote")
    assert (bool(vote), vote.consensus, vote.rounds) == (True, False, 0)
    assert vote.scores == {"a": 3.5, "b": 4.0}


@pytest.mark.parametrize(
    "criteria",
    [
        "a:3,b:1",
        {"a": 3, "b": 1},
        {"a": 0.75, "b": 0.25},
        [("a", 3), ("b", "1")],
        (("a", 3, "first"), ["b", 1, "second"]),
    ],
)
def test_criteria_in_every_form(criteria: Any, place: GitRepo) -> None:
    result = debate("src/area.py", "areas", criteria, backends=[scripted(assess=says(4, 2))])
    assert result.overall == 3.5
    assert [c["weight"] for c in result.document["criteria"]] == [0.75, 0.25]


@pytest.mark.parametrize(
    "wrong",
    [
        {"criteria": ["a"]},
        {"criteria": [("a",)]},
        {"criteria": {}},
        {"criteria": {"a": True}},
        {"criteria": {1: 1}},
        {"criteria": {"a": float("nan")}},
        {"criteria": "a:1", "kind": "code"},
        {"kind": "poem"},
        {"mode": "fight"},
        {"judges": 1},
        {"judges": 2.0},
        {"judges": True},
        {"rounds": -1},
        {"rounds": None},
        {"backends": [AGREE, AGREE], "judges": 3},
        {"backends": [3]},
        {"task": ""},
        {"task": None},
        {"task": "x" * 100_001},
        {"task": "x" * 50_000},
        {"solution": []},
        {"solution": "absent"},
        {"solution": "absent/*"},
    ],
)
def test_wrong_calls(wrong: dict[str, Any], place: GitRepo) -> None:
    call = {"solution": "src/area.py", "task": "areas", "backends": [AGREE], **wrong}
    with pytest.raises(InputError) as caught:
        debate(**call)
    assert caught.value.fault.key
    assert not (place.path / ".specs").exists()


def test_no_judge_is_configured(place: GitRepo) -> None:
    with pytest.raises(NoUsableAnswer) as caught:
        debate("src/area.py", "areas")
    assert caught.value.code == "not_configured"


def test_a_judge_that_raises_is_missing(place: GitRepo) -> None:
    def broken(prompt: str) -> Any:
        raise RuntimeError("no \x1b[2J")

    result = debate(Path("src/area.py"), "areas", WORD, backends=[AGREE, broken])
    assert result.consensus is False
    (missing,) = result.document["missing"]
    assert (missing["judge"], missing["kind"]) == (2, "error")
    assert "\x1b" not in result.report


def test_a_debate_in_asynchronous_code(place: GitRepo) -> None:
    seen = set()

    async def judge(prompt: str) -> Any:
        seen.add(threading.get_ident())
        await asyncio.sleep(0)
        return plan(prompt, {"assess": says(4, 4)})

    async def both() -> Any:
        return await adebate("src/area.py", "areas", WORD, backends=[judge], judges=2)

    result = asyncio.run(both())
    assert result.consensus
    assert seen == {threading.get_ident()}


def test_another_folder_and_several_files(place: GitRepo, tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    place.write("src/more.py", "x = 1\n")
    result = debate(
        ["area.py", Path("more.py")], "areas", WORD, backends=[AGREE], cwd=str(place.path / "src")
    )
    assert result.reports[0].startswith(".specs/reports/area-src-and-1-more-")
    assert result.document["solution"] == ["src/area.py", "src/more.py"]


def test_the_names_are_loaded_when_they_are_used() -> None:
    loaded = "print('flow.api_debate' in sys.modules)"
    code = f"import sys, flow; {loaded}; flow.debate; {loaded}"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "True"]
    assert {"debate", "adebate", "DebateResult"} <= set(flow.__all__)
    assert flow.DebateResult.__doc__


# --- hold: plain values -------------------------------------------------------------------------


def context(tmp_path: Path, **more: Any) -> DebateContext:
    (tmp_path / "top").mkdir(exist_ok=True)
    top = str(tmp_path / "top")
    return DebateContext(
        top, None, None, str(tmp_path / "state"), "reports", more.get("environ", {}), 60
    )


class Same:
    """One judge for every seat."""

    name = "same"

    def __init__(self, **turns: Any) -> None:
        self.turns = {key.replace("_", " "): value for key, value in turns.items()}

    def __call__(self, question: Question, *, seconds: float) -> JudgeAnswer | NoAnswer:
        assert seconds == 60
        return JudgeAnswer(plan(question.system + question.prompt, self.turns), Usage("same"))


def debated(text: str = SOLUTION, **more: Any) -> DebatePlan:
    from flow.core.judging.debate import criteria as debate_criteria

    part = FencedPart("solution", text, "src/area.py")
    return DebatePlan("areas", (part,), "area-src", debate_criteria.parse(WORD), **more)


def test_hold_with_plain_values(tmp_path: Path) -> None:
    held = hold_plan(context(tmp_path), debated(), [Same(assess=says(4, 4))] * 3)
    assert held.consensus
    assert len(list((tmp_path / "top/reports").glob("area-src-*.md"))) == 3


def test_hold_with_a_judge_that_cannot_be_asked(tmp_path: Path) -> None:
    nobody = NoAnswer("no_key", "no key is set", Usage("openai:m"))
    held = hold_plan(context(tmp_path), debated(), [Same(assess=says(4, 4)), nobody])
    assert not held.decided
    assert [(s.judge, s.kind) for s in held.silent] == [(2, "no_key")]
    again = hold_plan(context(tmp_path), debated(), [Same(assess=says(4, 4))] * 2)
    assert again.calls == 4  # another panel is another debate
    assert again.consensus


def test_hold_masks_what_the_environment_knows(tmp_path: Path) -> None:
    value = "zq7-Kp2vLx9-Wm4tRn8"
    judge = Same(assess=says(4, 4, f"key = '{value}' # here"))
    place = context(tmp_path, environ={"API_KEY": value})
    held = hold_plan(place, debated(f"key = '{value}' # here\n"), [judge] * 2)
    assert held.consensus
    for path in (tmp_path / "top/reports").glob("*.md"):
        assert value not in path.read_text()


def test_the_state_must_not_lie_in_the_checkout(tmp_path: Path) -> None:
    place = context(tmp_path)
    inside = place._replace(checkout=place.top, state_dir=str(tmp_path / "top" / "state"))
    with pytest.raises(RefusedError) as caught:
        hold_plan(inside, debated(), [Same(assess=says(4, 4))] * 2)
    assert caught.value.code == "unsafe_state_dir"


def test_names_that_are_all_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from flow.adapters.debates import reports as debates_reports
    from flow.adapters.fs import clock

    monkeypatch.setattr(clock, "today", lambda: "2026-01-05")
    monkeypatch.setattr(debates_reports, "MOST_NAMES", 2)
    for _ in range(2):
        hold_plan(context(tmp_path), debated(), [Same(assess=says(4, 4))] * 2)
    with pytest.raises(RefusedError, match="2 debates of this name"):
        hold_plan(context(tmp_path), debated(), [Same(assess=says(4, 4))] * 2)


def test_a_report_that_would_grow_too_large_ends_the_debate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from flow.adapters.debates import reports as debates_reports

    monkeypatch.setattr(debates_reports, "LIMIT", 6_000)
    panel = [Same(assess=says(s, 4), debate_1=says(s, 4, "def area(r):")) for s in (2, 5)]
    long = says(2, 4, strengths=["x" * 390 + str(n) for n in range(9)])
    panel[0].turns["debate 1"] = long
    held = hold_plan(context(tmp_path), debated(), panel)
    assert not held.consensus
    assert "larger than 6000 bytes" in held.altered[0][1]


# --- what a debate costs, over all its runs -----------------------------------------------------


class Paid:
    """A backend whose answers cost ``dollars`` each, or nobody knows what."""

    name, model, tells_cost = "paid", None, True

    def __init__(self, dollars: float | None, **turns: Any) -> None:
        self.dollars, self.turns = dollars, turns
        self.asked: list[str] = []

    def ask(self, call: Any) -> JudgeAnswer | NoAnswer:
        found = re.search(r"You are Judge (\d+)", call.question.system + call.question.prompt)
        assert found
        self.asked.append(found[1])
        usage = Usage("paid", cost_usd=self.dollars)
        if found[1] not in self.turns.get("only", found[1]):
            return NoAnswer("refused", "not this one", usage)
        return JudgeAnswer(plan(call.question.system + call.question.prompt, self.turns), usage)

    def panel(self, most: float | None) -> list[Any]:
        """Two seats of a new run, with one budget."""
        budget, clock = Budget(most), Sleeper().clock
        return [
            BackendJudge(self, work=None, budget=budget, clock=clock, environ={}) for _ in range(2)
        ]


ALL = {"assess": says(4, 4)}


@pytest.mark.parametrize(
    ("most", "asked", "kinds"),
    [
        (None, 2, []),
        (0.7, 2, []),
        (0.6, 2, ["cost_limit"]),  # its second answer is too much
        (0.5, 1, ["cost_limit"]),
        (0.3, 0, ["cost_limit"]),
    ],
)
def test_what_earlier_runs_of_a_debate_cost_counts(
    most: float | None, asked: int, kinds: list[str], tmp_path: Path
) -> None:
    first = hold_plan(context(tmp_path), debated(), Paid(0.1, **ALL, only="1").panel(9))
    assert (first.cost_usd, first.earlier_usd) == (pytest.approx(0.3), None)
    paid = Paid(0.2, **ALL)
    later = hold_plan(context(tmp_path), debated(), paid.panel(most))
    assert paid.asked == ["2"] * asked
    assert [silent.kind for silent in later.silent] == kinds
    assert later.earlier_usd == pytest.approx(0.3)
    assert document(later)["cost_usd_earlier"] == pytest.approx(0.3)
    if not asked:
        assert "0.3 of them in earlier runs of this debate" in later.silent[0].reason
    if kinds:  # once there is more to spend, it goes on
        again = hold_plan(context(tmp_path), debated(), paid.panel(9))
        assert again.consensus
        assert again.earlier_usd == pytest.approx(0.3 + 0.2 * asked)


@pytest.mark.parametrize("change", ["altered", "gone", "forged", "all gone"])
def test_no_change_of_the_reports_makes_a_debate_cheaper(change: str, tmp_path: Path) -> None:
    hold_plan(context(tmp_path), debated(), Paid(0.1, **ALL, only="1").panel(9))
    (report,) = (tmp_path / "top/reports").iterdir()
    if change == "altered":
        report.write_text(report.read_text().replace("4/5", "5/5"))
    elif change == "forged":
        report.with_name(report.name.replace(".1.md", ".2.md")).write_text(report.read_text())
    else:
        report.unlink()
    if change == "all gone":
        report.parent.rmdir()
    paid = Paid(0.1, **ALL)
    later = hold_plan(context(tmp_path), debated(), paid.panel(0.3))
    assert (paid.asked, later.decided) == ([], False)
    rich = hold_plan(context(tmp_path), debated(), Paid(0.1, **ALL).panel(0.7))
    assert rich.consensus
    assert rich.earlier_usd == pytest.approx(0.3)


def test_an_earlier_answer_that_told_no_cost_stops_one_with_a_limit(tmp_path: Path) -> None:
    hold_plan(context(tmp_path), debated(), Paid(None, **ALL, only="1").panel(None))
    paid = Paid(0.1, **ALL)
    later = hold_plan(context(tmp_path), debated(), paid.panel(9))
    assert paid.asked == []
    assert "maxCostUsd is set, but an earlier answer did not tell" in later.silent[0].reason
    assert hold_plan(context(tmp_path), debated(), Paid(0.1, **ALL).panel(None)).consensus


LINES = ["nan", "-1", "true", '"0"', "[]", "1e400", "1" + "0" * 400, "{}"]


@pytest.mark.parametrize("written", LINES)
def test_a_cost_in_the_record_that_is_none_stops_it_too(written: str, tmp_path: Path) -> None:
    hold_plan(context(tmp_path), debated(), Paid(0.1, **ALL, only="1").panel(9))
    book = tmp_path / "state" / "debates.jsonl"
    text = book.read_text()
    assert text.count('"cost_usd":0.1') == 3
    book.write_text(text.replace('"cost_usd":0.1', f'"cost_usd":{written}', 1))
    paid = Paid(0.1, **ALL)
    assert not hold_plan(context(tmp_path), debated(), paid.panel(9)).decided
    assert paid.asked == []


# --- the real CLI and SDKs on loopback ----------------------------------------------------------

TURNS = {
    "assess": says(3, 4),
    "2/assess": says(5, 4),
    "debate 1": says(4, 4, "def area(r):"),
}


def _held(place: GitRepo, home: Path, backend: str, url: str, key: str) -> flow.DebateResult:
    judge = {"backend": backend, "model": "model-1", "baseUrl": url, "timeoutSeconds": 90}
    (home / ".claude").mkdir(exist_ok=True)
    settings = {"flow": {"goals": {"judge": judge}}}
    (home / ".claude" / "settings.flow.json").write_text(json.dumps(settings))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(key, KEY)
        for name in NO_PROXIES:
            patch.delenv(name, raising=False)
        return debate("src/area.py", "areas", WORD, judges=2)


def _check(result: flow.DebateResult, calls: int) -> None:
    assert result.consensus, result.report
    assert (result.rounds, result.scores) == (1, {"a": 4.0, "b": 4.0})
    assert calls == 6  # two assessments, two checks, two debates
    assert not any("verification" in warning for warning in result.document["warnings"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "backend", [pytest.param("claude", marks=pytest.mark.needs_tool("claude")), "anthropic"]
)
def test_a_debate_of_the_cli_and_of_the_anthropic_sdk(
    backend: str, place: GitRepo, home: Path
) -> None:
    with MessagesApi(lambda call: structured(plan(call.system + call.prompt, TURNS))) as api:
        result = _held(place, home, backend, api.url, "ANTHROPIC_API_KEY")
    _check(result, len(api.calls))
    assert KEY not in result.report


@pytest.mark.slow
def test_a_debate_of_the_openai_sdk(place: GitRepo, home: Path) -> None:
    def answer(body: dict[str, Any]) -> Any:
        words = "\n".join(message["content"] for message in body["messages"])
        return chat(json.dumps(plan(words, TURNS)))

    with ChatApi(answer) as api:
        result = _held(place, home, "openai", f"{api.url}/v1", "OPENAI_API_KEY")
    _check(result, len(api.calls))
