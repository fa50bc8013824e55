"""From a caller's arguments to a debate, without a checkout."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from flow.app.judging import debate_calls
from flow.app.judging.debate import Written
from flow.app.judging.debate_calls import DebateCall, Spent
from flow.app.judging.port import JudgeAnswer, NoAnswer, Usage
from flow.core.judging.common.question import Question
from flow.core.untrusted.fences import FencedPart
from flow.errors import InputError, NoUsableAnswer
from tests.support.debate_judge import reply

SOLUTION = "the password is hunter2, and this line is long enough to quote\n"
QUOTE = "this line is long enough to quote"
VERIFIED = [{"question": f"q{n}", "answer": f"a{n}"} for n in range(5)]
SILENT = NoAnswer("no_key", "no key is set", Usage("openai"))


class Judge:
    """Gives the same opinion to every question."""

    name = "same"

    def __init__(self) -> None:
        self.prompts: list[str] = []

    def __call__(self, question: Question, *, seconds: float) -> JudgeAnswer:
        self.prompts.append(question.prompt)
        value = reply({"a": 4, "b": 4}, QUOTE, verification=VERIFIED)
        return JudgeAnswer(value, Usage("same", cost_usd=0.5))


class Reports:
    """Report files in memory."""

    def __init__(self, spent: Spent) -> None:
        self.texts: dict[int, str] = {}
        self.costs: list[float | None] = []
        self.ended = False
        self._spent = spent

    def path(self, judge: int) -> str:
        return f"reports/x.{judge}.md"

    def load(self, judge: int) -> Written | None:
        return Written(self.texts[judge], True) if judge in self.texts else None

    def append(self, judge: int, text: str) -> None:
        self.texts[judge] = self.texts.get(judge, "") + text

    def paid(self, _judge: int, cost_usd: float | None) -> None:
        self.costs.append(cost_usd)

    def spent(self) -> Spent:
        return self._spent

    def end(self) -> None:
        self.ended = True


class Folder:
    """The folder of a caller and of the reports; notes what it is asked for."""

    seconds = 60.0

    def __init__(self, *panel: Any, spent: Spent = Spent()) -> None:  # noqa: B008
        self.context, self.judges = self, panel
        self.reports = Reports(spent)
        self.backends: list[Any] = []
        self.charged: list[Spent] = []
        self.names: list[str] = []

    def read_solution(self, solution: Any) -> Any:
        return (FencedPart("solution", SOLUTION, solution),), "x", ("2 binary files",)

    def panel(self, backends: Sequence[Any]) -> list[Any]:
        self.backends += backends
        return [self.judges[number % len(self.judges)] for number in range(len(backends))]

    def nonce(self, _content: str) -> str:
        return "e" * 32

    def run_in_threads(self, calls: Sequence[Callable[[], Any]]) -> list[Any]:
        return [call() for call in calls]

    def redact_text(self, text: str) -> str:
        return text.replace("hunter2", "***")

    def redact(self, data: bytes) -> bytes:
        return data.replace(b"hunter2", b"***")

    def charge(self, _judges: Any, spent: Spent) -> None:
        self.charged.append(spent)

    @contextmanager
    def claim_reports(
        self, name: str, _debate: str, judges: int, warn: Callable[[str], None]
    ) -> Iterator[Reports]:
        self.names.append(f"{name} {judges}")
        warn("an old report was passed over")
        yield self.reports


CALL = DebateCall("x.txt", "keep the hunter2 secret", "a:1,b:1")


def test_one_backend_is_all_judges_and_what_was_left_out_is_told() -> None:
    judge = Judge()
    folder = Folder(judge)
    held = debate_calls.debate(CALL, lambda: folder)
    assert (folder.backends, folder.names) == ([None] * 3, ["x 3"])
    assert held.consensus
    assert held.warnings[:2] == ("2 binary files", "an old report was passed over")
    assert (len(folder.reports.texts), folder.reports.ended) == (3, True)
    assert folder.reports.costs == [0.5] * 6


def test_no_secret_reaches_a_judge_or_a_report() -> None:
    judge = Judge()
    folder = Folder(judge)
    debate_calls.debate(CALL, lambda: folder)
    texts = [*judge.prompts, *folder.reports.texts.values()]
    assert not any("hunter2" in text for text in texts)
    assert any("the password is ***" in text for text in texts)


def test_earlier_runs_are_charged_and_told() -> None:
    folder = Folder(Judge(), spent=Spent(0.25))
    assert debate_calls.debate(CALL, lambda: folder).earlier_usd == 0.25
    assert folder.charged == [Spent(0.25)]
    assert debate_calls.debate(CALL, lambda: Folder(Judge())).earlier_usd is None


def test_where_nobody_can_be_asked_no_report_is_claimed() -> None:
    folder = Folder(SILENT)
    with pytest.raises(NoUsableAnswer, match="no key is set"):
        debate_calls.debate(CALL, lambda: folder)
    assert folder.names == []
    held = debate_calls.debate(CALL, lambda: Folder(SILENT, Judge()))
    assert not held.decided


@pytest.mark.parametrize(
    "wrong",
    [
        {"mode": "quarrel"},
        {"judges": 1},
        {"rounds": 11},
        {"kind": "code"},
        {"backends": ["a", "b"], "judges": 3},
    ],
)
def test_a_wrong_call_looks_at_no_folder(wrong: dict[str, Any]) -> None:
    def folder() -> Any:
        raise AssertionError("looked at")

    with pytest.raises(InputError):
        debate_calls.debate(CALL._replace(**wrong), folder)


def test_a_missing_task_asks_nobody() -> None:
    folder = Folder(Judge())
    with pytest.raises(InputError, match="the task is missing"):
        debate_calls.debate(CALL._replace(task=" "), lambda: folder)
    assert folder.backends == []


def test_what_is_spent_adds_up_and_the_unknown_stays_unknown() -> None:
    assert Spent(0.1).plus(Spent(0.2, True)) == Spent(0.3, True)
